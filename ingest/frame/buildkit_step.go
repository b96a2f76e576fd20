package frame

import (
	"bytes"
	"strconv"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// step is one numbered step of a build.
type step struct {
	name        string // the header as printed
	instruction string // the header in its one spelling
	mark        evidence.Mark
	done        bool

	from     string          // image of a FROM step, as printed
	cut      bool            // a digest stood behind it, and was cut off
	settled  bool            // its event is made
	pulled   bool            // and says that it came over
	resolved bool            // a row "resolve … done" was seen
	rows     map[string]bool // what came over: true when it is done
	layers   bool            // something larger than a manifest came, or was unpacked

	pushing string // image of a step that pushes it with docker
	named   []string
	out     produced
}

// produced is what an export step says of its image.
type produced struct {
	index     string
	manifests []string
	configs   []string
	reported  bool // an event on the image was made
}

func appendInt(b []byte, n int) []byte { return strconv.AppendInt(b, int64(n), 10) }

// statusWords start the rows of a step; nothing else that starts with them is
// a header.
var statusWords = []string{
	"sha256:", "resolve ", "extracting ", "transferring ", "exporting layers", "exporting manifest ",
	"exporting config ", "exporting attestation ", "naming to ", "writing ", "unpacking to ", "pushing layers", "pushing manifest ",
	"preparing ", "sending tarball", "reading from stdin",
}

func isStatus(rest []byte) bool {
	for _, w := range statusWords {
		if bytes.HasPrefix(rest, []byte(w)) {
			return !bytes.HasPrefix(rest, []byte("resolve image config"))
		}
	}
	return false
}

// inBrackets reports whether rest is "[stage 1/2] something".
func inBrackets(rest []byte) bool {
	if len(rest) == 0 || rest[0] != '[' {
		return false
	}
	i := bytes.Index(rest, []byte("] "))
	return i > 0 && i+2 < len(rest)
}

// isHeader tells a header from a row of a step that is known.
func isHeader(st *step, rest []byte) bool {
	if inBrackets(rest) || bytes.HasPrefix(rest, []byte("FROM ")) || bytes.HasPrefix(rest, []byte("docker-image://")) {
		return true
	}
	return (st == nil || st.name == "" || st.name == string(rest)) && !isStatus(rest)
}

// isBuildKit tells the first line of a build from a line of some list that
// counts with "#1".
func isBuildKit(n int, rest []byte) bool {
	return n == 0 && bytes.HasPrefix(rest, []byte("building with ")) ||
		n > 0 && (inBrackets(rest) || logSeconds(rest) > 0 || ending(rest) != "" || isStatus(rest) ||
			bytes.HasPrefix(rest, []byte("FROM ")) || bytes.HasPrefix(rest, []byte("docker-image://")) ||
			bytes.HasPrefix(rest, []byte("exporting to ")) || bytes.HasPrefix(rest, []byte("resolve image config ")))
}

// logSeconds returns the length of "12.34" that a line of a step's output
// starts with, 0 when it starts with none.
func logSeconds(rest []byte) int {
	dot := -1
	for i, c := range rest {
		switch {
		case c >= '0' && c <= '9':
		case c == '.' && dot < 0 && i > 0:
			dot = i
		case c == ' ' && dot > 0 && i > dot+1:
			return i
		default:
			return 0
		}
	}
	if dot > 0 && len(rest) > dot+1 {
		return len(rest)
	}
	return 0
}

// ending returns how a step ended, "" when the row is no end.
func ending(rest []byte) string {
	word, after, _ := bytes.Cut(rest, []byte(" "))
	switch string(bytes.TrimSuffix(word, []byte(":"))) {
	case "DONE":
		if len(after) == 0 || after[len(after)-1] == 's' && after[0] >= '0' && after[0] <= '9' {
			return "DONE"
		}
	case "CACHED":
		if len(after) == 0 {
			return "CACHED"
		}
	case "CANCELED":
		if len(after) == 0 {
			return "CANCELED"
		}
	case "ERROR":
		return "ERROR"
	}
	return ""
}

// status reads a row of a step. The printer repeats a row when it is done.
//
//	#6 resolve docker.io/library/ubuntu:22.04@sha256:7790… done
//	#6 sha256:bccd… 29.54MB / 29.54MB 2.4s done
//	#6 extracting sha256:bccd… 0.4s done
//	#10 exporting manifest sha256:a595… done
//	#10 exporting config sha256:e39d… 0.0s done
//	#10 exporting manifest list sha256:4b71… done
//	#10 writing image sha256:3bc7… done
//	#10 naming to ghcr.io/acme/svc:edge done
//	#10 pushing manifest for ghcr.io/acme/svc:edge@sha256:a595… 0.2s done
func (st *step) status(b *build, rest []byte, o *evidence.Out) {
	text := string(rest)
	done := strings.HasSuffix(text, " done")
	word, args, _ := strings.Cut(text, " ")
	switch word {
	case "resolve":
		st.resolved = st.resolved || done
	case "extracting":
		st.row(firstWord(args), done)
		st.layers = true
	case "exporting":
		if done {
			st.exporting(args, o)
		}
	case "writing":
		if id, ok := strings.CutPrefix(args, "image "); ok && done {
			st.exporting("config "+id, o)
		}
	case "naming":
		if ref, ok := strings.CutPrefix(args, "to "); ok {
			st.naming(b, firstWord(ref), done, o)
		}
	case "pushing":
		if ref, ok := strings.CutPrefix(args, "manifest for "); ok && done {
			st.pushed(b, firstWord(ref), o)
		}
	default:
		if strings.HasPrefix(word, "sha256:") && strings.Contains(args, " / ") {
			st.row(word, done)
			st.layers = st.layers || large(args)
		}
	}
}

// maxLayers bounds the rows of a FROM step that are remembered.
const maxLayers = 1024

func (st *step) row(digest string, done bool) {
	if st.rows == nil {
		st.rows = map[string]bool{}
	}
	if _, known := st.rows[digest]; known || len(st.rows) < maxLayers {
		st.rows[digest] = done
	}
}

// large tells a layer from a manifest or config, which come also when nothing
// else does: "29.54MB / 29.54MB 2.4s done". The smallest layers are small too,
// but an image has a large one or is unpacked.
func large(sizes string) bool {
	_, total, _ := strings.Cut(sizes, " / ")
	total = firstWord(total)
	if number, ok := strings.CutSuffix(total, "kB"); ok {
		n, err := strconv.ParseFloat(number, 64)
		return err == nil && n >= 64
	}
	return strings.HasSuffix(total, "MB") || strings.HasSuffix(total, "GB")
}

// exporting reads what an export wrote, and links what holds what.
func (st *step) exporting(args string, o *evidence.Out) {
	kind, rest, _ := strings.Cut(args, " ")
	digest := timeline.SHA256(firstWord(strings.TrimPrefix(rest, "list ")))
	if digest == "" || len(st.out.manifests)+len(st.out.configs) > maxLayers {
		return
	}
	switch {
	case kind == "manifest" && strings.HasPrefix(rest, "list "):
		st.out.index = digest
		for _, m := range st.out.manifests {
			o.Link(timeline.Holds, digest, m)
		}
	case kind == "manifest":
		st.out.manifests = append(st.out.manifests, digest)
	case kind == "config":
		if n := len(st.out.manifests); n > len(st.out.configs) {
			o.Link(timeline.Holds, st.out.manifests[n-1], digest)
		}
		st.out.configs = append(st.out.configs, digest)
	}
}

// digests lists what is known of the image, the one to name it by first: the
// index, else the manifest, else the image ID.
func (p *produced) digests() []timeline.Digest {
	var all []timeline.Digest
	if p.index != "" {
		all = append(all, timeline.Digest{Value: p.index, Role: timeline.Index})
	}
	for _, m := range p.manifests {
		all = append(all, timeline.Digest{Value: m, Role: timeline.Manifest})
	}
	for _, c := range p.configs {
		all = append(all, timeline.Digest{Value: c, Role: timeline.Config})
	}
	return all
}

// naming records one build for each name, when the name was given.
func (st *step) naming(b *build, ref string, done bool, o *evidence.Out) {
	name := timeline.NormalizeImage(ref)
	switch {
	case name == "":
	case !done:
		if len(st.named) < maxLayers {
			st.named = append(st.named, name)
		}
	case !b.told["build "+name]:
		b.told["build "+name] = true
		b.exported, st.out.reported = true, true
		digests := st.out.digests()
		o.Emit(timeline.Build, b.op, timeline.Item{Artifact: name, Digests: digests})
		if len(digests) > 0 {
			o.Link(timeline.Names, name, digests[0].Value)
		}
	}
}

// pushed records that the registry took the image.
func (st *step) pushed(b *build, ref string, o *evidence.Out) {
	image, ok := timeline.ParseImage(ref)
	if !ok || b.told["push "+ref] {
		return
	}
	b.told["push "+ref] = true
	b.exported, st.out.reported = true, true
	item := timeline.Item{Artifact: image.String()}
	if image.Digest != "" {
		item.Digests = []timeline.Digest{{Value: image.Digest}}
		for _, d := range st.out.digests() {
			if d.Value == image.Digest {
				item.Digests[0] = d
			}
		}
	}
	o.Emit(timeline.Push, b.op, item)
	if image.Digest != "" && image.Tag != "" {
		o.Link(timeline.Names, image.Name+":"+image.Tag, image.Digest)
	}
}

// finished makes the events of a step that ended well.
func (st *step) finished(b *build, atOnce bool, o *evidence.Out) {
	if st.from != "" && (!st.settled || st.layers && !st.pulled) {
		st.base(b, atOnce, o)
	}
	for _, name := range st.named {
		st.naming(b, name, true, o)
	}
	st.named = nil
	if st.pushing != "" {
		st.pushed(b, st.pushing, o)
	}
	if len(st.out.digests()) > 0 && !st.out.reported {
		st.out.reported = true
		b.exported = true
		o.Emit(timeline.Build, b.op, timeline.Item{Digests: st.out.digests()})
	}
}

// base says what a FROM step proves. Layers that all came over are a pull. No
// layers: what was there at once without asking a registry is in the store,
// what was only resolved may still lie elsewhere, and comes over when a later
// step needs it: the printer returns to the step. A FROM without digest is an
// image of the local store.
func (st *step) base(b *build, atOnce bool, o *evidence.Out) {
	for _, done := range st.rows {
		if !done {
			return // the printer comes back to it
		}
	}
	st.settled = true
	switch {
	case st.layers:
		st.pulled = true
		b.image(o, timeline.Pull, st.from, nil)
	case len(st.rows) == 0 && atOnce && !st.resolved, !st.cut && !strings.Contains(st.from, "@"):
		b.image(o, timeline.Present, st.from, nil)
	case len(st.rows) == 0 && atOnce:
		b.image(o, timeline.Cached, st.from, nil)
	default:
		b.image(o, timeline.Resolve, st.from, nil)
	}
}
