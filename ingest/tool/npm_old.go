package tool

import (
	"bytes"
	"path"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// npmEars is how many lines of other programs npm's rows are waited for: those
// of npm 1 and 2 have no word that they begin with.
const npmEars = 400

// hear has the tool see all lines for a while.
func (n *npm) hear(o *evidence.Out) {
	if n.ears == 0 {
		o.Listen()
	}
	n.ears = npmEars
}

// deafen counts the lines that were none of npm's.
func (n *npm) deafen(o *evidence.Out) {
	if n.ears > 0 && n.asks.phase == npmIdle {
		if n.ears--; n.ears == 0 {
			o.Deafen()
		}
	}
}

// commanded looks at a command that begins: npm 1 and 2 may print rows behind
// one that installs, and what npm publish says is of another kind.
func (n *npm) commanded(text []byte, o *evidence.Out) {
	words := bytes.Fields(text)
	if len(words) < 2 || string(words[0]) != "npm" {
		return
	}
	n.sends, n.packed = false, ""
	for _, w := range words[1:] {
		switch string(w) {
		case "install", "i", "update", "up", "add":
			n.hear(o)
			return
		case "publish":
			n.sends = true
			return
		}
	}
}

// root reads the package that stands over a tree of npm 1 and 2, behind which is
// the folder that it was installed to:
//
//	express@4.9.5 node_modules/express
//	grunt-cli@0.1.13 /usr/local/lib/node_modules/grunt-cli
//	debug@2.0.0 node_modules\express\node_modules\debug
func (n *npm) root(text []byte, o *evidence.Out) evidence.Result {
	id, folder, ok := bytes.Cut(text, []byte(" "))
	if !ok || !bytes.Contains(folder, []byte("node_modules")) || bytes.IndexByte(folder, ' ') >= 0 {
		return evidence.Miss
	}
	name, version, ok := evidence.SplitNPM(string(id))
	if !ok || !strings.HasSuffix("/"+path.Clean(strings.ReplaceAll(string(folder), `\`, "/")), "/node_modules/"+name) {
		return evidence.Miss
	}
	op := n.begin(o)
	n.ended = timeline.OpDone
	op.Answer()
	n.hear(o)
	o.Emit(timeline.Install, op, evidence.NPMItem(name, version))
	return evidence.Done
}

// notice looks for what npm pack and npm publish say of the archive that they
// made: the package that is named behind it was sent, not installed.
//
//	npm notice 📦  @acme/web@2.0.1
//	npm notice package: @acme/web@2.0.1                                              6
//	npm notice Publishing to https://registry.npmjs.tld/ with tag latest and public access
func (n *npm) notice(text string, o *evidence.Out) evidence.Result {
	mark, id, _ := strings.Cut(text, " ")
	id = strings.TrimSpace(id)
	switch _, _, ok := evidence.SplitNPM(id); {
	case ok && (mark == "package:" || mark[0] >= 0x80): // a parcel, however it was encoded
		n.packed = id
	case strings.HasPrefix(text, "Publishing to "):
		n.sends = true
	default:
		return evidence.Miss
	}
	o.Seen("")
	return evidence.Done
}

// sent reports whether npm publish printed the package that it sent:
//
//   - @acme/web@2.0.1
func (n *npm) sent(id string) bool {
	sent := n.sends || n.packed == strings.TrimSpace(id)
	if sent {
		n.sends, n.packed = false, ""
	}
	return sent
}
