package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// logged reads what the processes of an editor log (sharedprocess.log,
// remoteagent.log, exthost.log), and what a server prints. A path names the
// version; the name alone stands in the other lines.
//
//	Installing extension: nrwl.angular-console {"productVersion":{"version":"1.100.2"},…}
//	Auto updating extension nrwl.angular-console
//	Started downloading extension: nrwl.angular-console 18.95.0 file:///home/mia/.cursor-server/extensionsCache/…
//	Downloaded extension: nrwl.angular-console /home/mia/.config/Code/CachedExtensionVSIXs/nrwl.angular-console-18.95.0
//	Extracted extension to file:///home/mia/.vscode/extensions/nrwl.angular-console-18.95.0: nrwl.angular-console
//	Renamed to /home/mia/.vscode/extensions/nrwl.angular-console-18.95.0
//	Extension installed successfully: nrwl.angular-console file:///home/mia/.vscode/extensions/extensions.json
//	Deleted uninstalled extension from disk nrwl.angular-console /home/mia/.vscode/extensions/nrwl.angular-console-18.94.0
//	Marked extension as removed nrwl.angular-console-18.94.0
//	ExtensionService#_doActivateExtension nrwl.angular-console, startup: false, activationEvent: 'onStartupFinished'
//	Downloading checkmarx.ast-results-2.53.0 to /srv/ci/checkmarx.ast-results-2.53.0.vsix      (ovsx)
func (v *vscode) logged(text string, o *evidence.Out) bool {
	for _, l := range editorLines {
		if rest, ok := strings.CutPrefix(text, l.starts); ok {
			return l.read(v, rest, o)
		}
	}
	return false
}

// editorLines are the lines of logs by how they start, longer words first.
var editorLines = []struct {
	starts string
	read   func(v *vscode, rest string, o *evidence.Out) bool
}{
	{"Installing extension: ", (*vscode).toInstall},
	{"Installing the extension without checking dependencies and pack ", (*vscode).toInstall},
	{"Auto updating extension ", (*vscode).toInstall},
	{"Error while installing the extension", (*vscode).failing},
	{"Started downloading extension: ", (*vscode).fetching},
	{"Downloaded extension: ", (*vscode).fetched},
	{"Extracted extension to ", func(v *vscode, rest string, o *evidence.Out) bool {
		where, _, _ := strings.Cut(rest, ": ")
		return v.unpacks(where, o)
	}},
	{"Renamed to ", (*vscode).unpacks},
	{"Extension installed successfully: ", (*vscode).isInstalled},
	{"Deleted ", (*vscode).deleted},
	{"Marked extension as ", (*vscode).marked},
	{"ExtensionService#_doActivateExtension ", (*vscode).activated},
	{"Downloading ", (*vscode).ovsx},
}

// extensionID is the name at the start of a text, in any case.
func extensionID(rest string) (id string, it timeline.Item, ok bool) {
	id, _, _ = strings.Cut(rest, " ")
	id = strings.TrimRight(id, ",:")
	it, ok = evidence.ExtensionItem(id, "", "")
	return id, it, ok
}

func (v *vscode) toInstall(rest string, o *evidence.Out) bool {
	id, _, ok := extensionID(rest)
	v.logs = v.logs || ok
	return ok && v.installing(id, "", nil, o)
}

// failing keeps what was asked for: some of it may have come.
func (v *vscode) failing(rest string, _ *evidence.Out) bool {
	_, _, ok := extensionID(strings.TrimLeft(rest, ": "))
	return ok
}

func (v *vscode) fetching(rest string, o *evidence.Out) bool {
	w := strings.Fields(rest)
	if len(w) < 2 {
		return false
	}
	it, ok := evidence.ExtensionItem(w[0], w[1], "")
	if ok {
		o.Emit(timeline.Resolve, nil, it)
	}
	return ok
}

func (v *vscode) fetched(rest string, o *evidence.Out) bool {
	id, where, _ := strings.Cut(rest, " ")
	if _, _, ok := evidence.CutExtension(id); !ok {
		return false
	}
	if it, ok := folderItem(where); ok {
		o.Emit(timeline.Download, nil, it)
	}
	return true
}

// unpacks reads where an extension was put, which is told once or twice.
func (v *vscode) unpacks(where string, o *evidence.Out) bool {
	where = strings.TrimSpace(where)
	it, ok := folderItem(where)
	if !ok {
		return strings.Contains(where, "/extensions/.") // a folder that is renamed when it is full
	}
	v.logs = true
	if inPlace, told := v.unpacked[extensionKey(it)]; told && !inPlace {
		return true
	}
	if v.unpacked == nil || len(v.unpacked) >= maxExtensions {
		v.unpacked = map[string]bool{}
	}
	v.unpacked[extensionKey(it)] = false
	v.drop(strings.Replace(timeline.Split(it.Artifact).Name, "/", ".", 1))
	o.Seen(timeline.Extensions)
	if v.op == nil && o.Awaited(extensionTool) {
		v.begin(o)
	}
	if v.op != nil {
		v.op.Answer()
	}
	o.Emit(timeline.Install, v.op, it)
	return true
}

// isInstalled reads the end of an installation, whose version a line before it
// says.
func (v *vscode) isInstalled(rest string, o *evidence.Out) bool {
	id, it, ok := extensionID(rest)
	if !ok {
		return false
	}
	v.drop(id)
	known := false
	for artifact := range v.unpacked {
		if strings.HasPrefix(artifact, extensionKey(it)+"@") {
			known, v.unpacked[artifact] = true, true
		}
	}
	if !known {
		o.Emit(timeline.Opaque, v.op, it)
	}
	return true
}

// extensionKey is an extension without the platform that it was built for.
func extensionKey(it timeline.Item) string {
	artifact, _, _ := strings.Cut(it.Artifact, "?")
	return artifact
}

func (v *vscode) deleted(rest string, o *evidence.Out) bool {
	_, rest, ok := strings.Cut(rest, "from disk ")
	_, where, _ := strings.Cut(rest, " ")
	it, known := folderItem(where)
	if ok && known {
		o.Emit(timeline.Remove, nil, it)
	}
	return ok && known
}

func (v *vscode) marked(rest string, o *evidence.Out) bool {
	_, folder, _ := strings.Cut(rest, " ")
	it, ok := evidence.ExtensionFolder(folder)
	if ok {
		o.Emit(timeline.Remove, nil, it)
	}
	return ok
}

// activated reads that an extension was started; those of the editor itself are
// passed over.
func (v *vscode) activated(rest string, o *evidence.Out) bool {
	id, it, ok := extensionID(rest)
	if ok && !strings.HasPrefix(id, "vscode.") {
		o.Emit(timeline.Run, nil, it)
	}
	return ok
}

func (v *vscode) ovsx(rest string, o *evidence.Out) bool {
	name, file, ok := strings.Cut(rest, " to ")
	it, known := evidence.ExtensionFolder(name)
	if !ok || !known || !strings.HasSuffix(file, ".vsix") {
		return false
	}
	op := v.begin(o)
	op.Answer()
	o.Emit(timeline.Download, op, it)
	return true
}
