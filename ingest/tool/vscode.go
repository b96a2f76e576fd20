package tool

import (
	"bytes"
	"path"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// VSCode is what VS Code and the editors made from it print and log when they
// install extensions: the command line, servers (code-server, remote hosts, dev
// containers) and the logs of an editor's processes; and ovsx get.
// https://code.visualstudio.com/docs/editor/command-line#_working-with-extensions
var VSCode = evidence.Format{
	Name:   "vscode",
	Shape:  evidence.ToolShape,
	Title:  "extensions of VS Code, code-server, VSCodium, Cursor, Windsurf: output and logs",
	Proves: "extensions that came over, were unpacked, found in place, started or removed; what was begun and has no end is asked for",
	Cannot: "on the command line: extensions that another one brings along, which are not printed; the version of one that is started, or installed from a file",
	Doc:    "https://code.visualstudio.com/docs/editor/command-line#_working-with-extensions",
	Sample: "written by hand after the source of VS Code and lines in public reports",
	Starts: []string{
		"Installing extension", "Installing builtin extension", "Installing the extension", "Extension '", "Extension installed successfully: ",
		"Extracted extension to ", "Renamed to ", "Downloaded extension", "Started downloading extension", "Downloading ", "Updating the extension '", "Updating extension '",
		"Update extensions: ", "No extension to update", "Uninstalling extension", "A newer version of extension '", "Deleted ", "Marked extension as ",
		"Auto updating extension", "Failed Installing Extensions: ", "Error while installing the extension", "Cancelled installing extension '", "ExtensionService#",
	},
	Looks: func(text []byte) bool {
		return bytes.Contains(text, []byte("xtension")) || bytes.Contains(text, []byte(".vsix"))
	},
	Tool: func() evidence.Parser { return &vscode{} },
}

type vscode struct {
	op       *evidence.Op
	begun    []begunExtension
	unpacked map[string]bool // artifacts that lines before said are unpacked, and whether they are in place by now
	logs     bool            // each extension is told of, those too that others bring along
}

// begunExtension is an installation of which no end was seen yet.
type begunExtension struct {
	key     string // name in lower case
	mark    evidence.Mark
	item    timeline.Item
	removed timeline.Item // of an update: what was there
	op      int64
	ends    bool // that nothing went wrong is all that its end shows
}

// maxExtensions bounds what is remembered of one stream.
const maxExtensions = 1024

// Line reads one line, of the command line or of a log.
func (v *vscode) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return evidence.Miss
	}
	text := string(bytes.TrimSpace(l.Text))
	if v.quoted(text, o) || v.logged(text, o) {
		return evidence.Done
	}
	return evidence.Miss
}

// quoted reads what the command line says of an extension whose name stands in
// quotes.
//
//	Installing extensions...
//	Installing extension 'nrwl.angular-console' v18.95.0...
//	Extension 'nrwl.angular-console' v18.95.0 was successfully installed.
//	Extension 'acme.tools-1.2.3.vsix' was successfully installed.
//	Extension 'nrwl.angular-console' v18.94.0 is already installed. Use '--force' option to update to latest version or provide '@<version>' …
//	Extension 'nrwl.angular-console@18.94.0' is already installed.
//	A newer version of extension 'nrwl.angular-console' v18.95.0 is already installed. Use '--force' option to downgrade to older version.
//	Updating the extension 'nrwl.angular-console' to the version 18.95.0
//	Updating extension 'nrwl.angular-console' from version 18.94.0 to version 18.95.0
//	Extension 'nrwl.angular-console' was successfully uninstalled!
func (v *vscode) quoted(text string, o *evidence.Out) bool {
	if strings.HasPrefix(text, "Installing extensions") && strings.HasSuffix(text, "...") || strings.HasPrefix(text, "Update extensions: ") {
		v.begin(o)
		return true
	}
	if text == "No extension to update" {
		v.begin(o).Answer()
		return true
	}
	if rest, ok := strings.CutPrefix(text, "Failed Installing Extensions: "); ok {
		for name := range strings.SplitSeq(rest, ", ") {
			v.drop(name)
		}
		return true
	}
	head, rest, ok := strings.Cut(text, " '")
	name, rest, closed := strings.Cut(rest, "'")
	if !ok || !closed {
		return false
	}
	switch head {
	case "Installing extension", "Installing builtin extension":
		return strings.HasSuffix(rest, "...") && v.installing(name, strings.TrimSuffix(rest, "..."), v.begin, o)
	case "Cancelled installing extension":
		v.drop(name)
		return true
	case "Updating the extension":
		version, is := strings.CutPrefix(rest, " to the version ")
		it, known := evidence.ExtensionItem(name, version, "")
		if !is || !known || version == "" {
			return false
		}
		o.Emit(timeline.Resolve, v.begin(o), it)
		return true
	case "Updating extension":
		return v.updating(name, rest, o)
	case "A newer version of extension":
		return v.present(name, rest, o)
	case "Extension":
		return v.said(name, rest, o)
	}
	return false
}

// said reads what follows "Extension 'NAME'".
func (v *vscode) said(name, rest string, o *evidence.Out) bool {
	switch {
	case rest == " was successfully uninstalled!":
		it, ok := evidence.ExtensionItem(name, "", "")
		if ok {
			o.Emit(timeline.Remove, v.begin(o), it)
		}
		return ok
	case strings.HasSuffix(rest, " was successfully installed."):
		return v.installed(name, strings.TrimSuffix(rest, " was successfully installed."), o)
	case strings.HasPrefix(rest, " not found."):
		v.drop(name)
		return true
	}
	return v.present(name, rest, o)
}

// installed reads the end of an installation. Older editors print no version;
// of a file they know the name.
func (v *vscode) installed(name, rest string, o *evidence.Out) bool {
	op := v.begin(o)
	if file, ok := strings.CutSuffix(name, ".vsix"); ok && rest == "" {
		if it, known := evidence.ExtensionFolder(file); known {
			op.Answer()
			o.Emit(timeline.Install, op, it)
			return true
		}
		o.Emit(timeline.Opaque, op, timeline.Item{Artifact: timeline.Ecosystem(timeline.VSCodeExtension), Ref: evidence.Redact(name)})
		return true
	}
	version, is := strings.CutPrefix(rest, " v")
	it, ok := evidence.ExtensionItem(name, version, "")
	if !ok || rest != "" && !is {
		return false
	}
	v.drop(name)
	if version == "" {
		o.Emit(timeline.Opaque, op, it)
		return true
	}
	op.Answer()
	if v.unpacked[it.Artifact] { // a line of its log says the same
		return true
	}
	if o.Emit(timeline.Install, op, it); !v.logs && isPack(name) {
		o.Emit(timeline.Opaque, op, timeline.Item{Artifact: timeline.Ecosystem(timeline.VSCodeExtension), Ref: "extensionPack"})
	}
	return true
}

// isPack reports whether an extension is called after the others that it brings
// along: vscjava.vscode-java-pack.
// https://code.visualstudio.com/blogs/2017/03/07/extension-pack-roundup
func isPack(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, "pack") || strings.Contains(name, "extension-pack")
}

// present reads that an extension is installed already. Told to take the newest,
// an editor says so without a version: the newest it is.
func (v *vscode) present(name, rest string, o *evidence.Out) bool {
	rest, _, _ = strings.Cut(rest, " is already installed.")
	id, version, at := strings.Cut(name, "@")
	if !at {
		version = strings.TrimPrefix(rest, " v")
	} else if rest != "" {
		return false
	}
	it, ok := evidence.ExtensionItem(id, version, "")
	if !ok || !at && rest != "" && rest == version {
		return false
	}
	op := v.begin(o)
	if v.drop(id); version == "" {
		o.Emit(timeline.Opaque, op, it)
		return true
	}
	op.Answer()
	o.Emit(timeline.Check, op, it)
	o.Emit(timeline.Present, op, it)
	return true
}

// installing remembers an installation that begins.
func (v *vscode) installing(name, rest string, begin func(*evidence.Out) *evidence.Op, o *evidence.Out) bool {
	it, ok := evidence.ExtensionItem(name, strings.TrimPrefix(rest, " v"), "")
	if !ok {
		return false
	}
	b := begunExtension{item: it}
	if begin != nil {
		b.op = begin(o).Number
	}
	v.start(name, b, o)
	return true
}

// updating reads an update of which only a failure is told.
func (v *vscode) updating(name, rest string, o *evidence.Out) bool {
	rest = strings.Replace(rest, " from prerelease version ", " from version ", 1)
	from, to, ok := strings.Cut(strings.TrimPrefix(rest, " from version "), " to version ")
	old, was := evidence.ExtensionItem(name, from, "")
	it, is := evidence.ExtensionItem(name, to, "")
	if !ok || !was || !is || from == "" || to == "" {
		return false
	}
	op := v.begin(o)
	op.Answer()
	o.Emit(timeline.Resolve, op, it)
	v.start(name, begunExtension{item: it, removed: old, op: op.Number, ends: true}, o)
	return true
}

func (v *vscode) begin(o *evidence.Out) *evidence.Op {
	if v.op != nil && o.Overtaken(v.op) {
		v.End(timeline.OpDone, o)
	}
	if v.op == nil {
		v.op = o.Invocation(extensionTool)
	}
	o.Seen(timeline.Extensions)
	return v.op
}

// start remembers what begins on the current line.
func (v *vscode) start(name string, b begunExtension, o *evidence.Out) {
	b.key, b.mark = strings.ToLower(name), o.Mark()
	if len(v.begun) >= maxExtensions {
		v.settle(v.begun[0], o)
		v.begun = v.begun[1:]
	}
	for i := range v.begun {
		if v.begun[i].key == b.key && !v.begun[i].ends {
			return // told of once more
		}
	}
	v.begun = append(v.begun, b)
}

// drop forgets an installation that has ended.
func (v *vscode) drop(name string) {
	name = strings.ToLower(name)
	for i := range v.begun {
		if v.begun[i].key == name {
			v.begun = append(v.begun[:i], v.begun[i+1:]...)
			return
		}
	}
}

// settle records what has no end.
func (v *vscode) settle(b begunExtension, o *evidence.Out) {
	if !b.ends {
		o.At(b.mark, timeline.Event{Action: timeline.Opaque, Op: b.op, Items: []timeline.Item{b.item}})
		return
	}
	o.At(b.mark, timeline.Event{Action: timeline.Install, Op: b.op, Items: []timeline.Item{b.item}})
	o.At(b.mark, timeline.Event{Action: timeline.Remove, Op: b.op, Items: []timeline.Item{b.removed}})
}

// End records what has no end, and closes what is open.
func (v *vscode) End(how timeline.OpState, o *evidence.Out) {
	for _, b := range v.begun {
		v.settle(b, o)
	}
	v.begun, v.unpacked, v.logs = nil, nil, false
	o.Close(v.op, how)
	v.op = nil
}

// folderItem is the extension whose folder or file a path ends in.
//
//	file:///home/mia/.vscode/extensions/nrwl.angular-console-18.95.0
func folderItem(where string) (timeline.Item, bool) {
	return evidence.ExtensionFolder(strings.TrimSuffix(path.Base(strings.ReplaceAll(where, `\`, "/")), ".vsix"))
}
