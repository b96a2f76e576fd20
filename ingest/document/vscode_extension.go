package document

import (
	"path"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/pkglist"
	"pulltrail/timeline"
)

// ExtensionState is what an editor keeps of its extensions in their folder:
// extensions.json says which there are, .obsolete which are to be deleted.
// https://code.visualstudio.com/docs/editor/extension-marketplace#_where-are-extensions-installed
var ExtensionState = evidence.Format{
	Name:   "vscode-extensions",
	Shape:  evidence.DocumentShape,
	Title:  "extensions.json and .obsolete of VS Code, code-server, VSCodium, Cursor, Windsurf",
	Proves: "which extensions are in place, and when each of these versions was installed; that one was updated; which were there and are to be deleted",
	Cannot: "which versions an update replaced: the editor updates by itself, its logs tell",
	Doc:    "https://code.visualstudio.com/docs/editor/extension-marketplace#_where-are-extensions-installed",
	Sample: "written by hand after the source of VS Code",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		if h.Name == ".obsolete" {
			return ok
		}
		return ok && v.get("identifier", "id").text() != "" && v.has("version") && (v.has("location") || v.has("relativeLocation") || v.has("metadata"))
	},
	Read: readExtensionState,
}

// readExtensionState reads either file. The time is of the version that is in
// place, in milliseconds since 1970 (UTC); 0 is none.
//
//	[{"identifier": {"id": "nrwl.angular-console", "uuid": "…"}, "version": "18.95.0", "location": {…},
//	  "metadata": {"installedTimestamp": 1779108003123, "source": "gallery", "targetPlatform": "universal", "updated": true}}]
//	{"nrwl.angular-console-18.94.0": true}
func readExtensionState(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	o.Seen("")
	for _, v := range all {
		if !v.has("identifier") {
			obsolete(d, o, v)
			continue
		}
		id := v.get("identifier", "id")
		at(d, o, id)
		meta := v.get("metadata")
		it, ok := evidence.ExtensionItem(id.text(), v.get("version").text(), meta.get("targetPlatform").text())
		if !ok || v.get("version").text() == "" {
			o.Skip("an extension without name or version")
			continue
		}
		o.Emit(timeline.Present, nil, it)
		if n, timed := meta.get("installedTimestamp").integer(); timed && n > 0 {
			span := evidence.Epoch(n, time.Millisecond, string(meta.get("installedTimestamp").raw()))
			o.Event(timeline.Event{Action: timeline.Install, Items: []timeline.Item{it}, Span: span})
			if before, ok := evidence.ExtensionItem(id.text(), "", ""); ok && meta.get("updated").isTrue() {
				// Which version it replaced is not said, nor since when that was there.
				span.From, span.Clock = timeline.Beginning, timeline.Section
				o.Event(timeline.Event{Action: timeline.Remove, Items: []timeline.Item{before}, Span: span})
			}
		}
	}
	return err
}

func obsolete(d *evidence.Doc, o *evidence.Out, v value) {
	for folder, field := range v.fields() {
		at(d, o, field)
		if it, ok := evidence.ExtensionFolder(folder); ok {
			o.Emit(timeline.Remove, nil, it)
		} else {
			o.Skip("no name and version of an extension")
		}
	}
}

// ExtensionManifest is the package.json of an extension that an editor unpacked,
// and of one in its file (.vsix).
// https://code.visualstudio.com/api/references/extension-manifest
var ExtensionManifest = evidence.Format{
	Name:   "vscode-extension",
	Shape:  evidence.DocumentShape,
	Title:  "package.json of an editor's extension",
	Proves: "an extension is in place",
	Cannot: "when it was installed; that it was started",
	Doc:    "https://code.visualstudio.com/api/references/extension-manifest",
	Sample: "written by hand after the documentation",
	Claim:  isExtensionManifest,
	Read:   readExtensionManifest,
	Place:  placeExtension,
	Topic:  timeline.Extensions,
}

// isExtensionManifest wants the publisher too: a project may lie in any folder.
func isExtensionManifest(h *evidence.Head) bool {
	v, ok := headRecord(h)
	return ok && placeExtension(h.Path) && v.has("publisher") && v.has("engines")
}

// placeExtension wants the folder of an extension, or its file; that of one which
// came with the editor has no version in its name:
//
//	home/mia/.vscode/extensions/nrwl.angular-console-18.95.0/package.json
//	usr/lib/code-server/lib/vscode/extensions/git/package.json
//	acme.tools-1.5.0.vsix!extension/package.json
func placeExtension(name string) bool {
	dir, ok := strings.CutSuffix(name, "/package.json")
	if !ok || placeNodePackage(name) {
		return false
	}
	if strings.HasSuffix(dir, ".vsix!extension") {
		return true
	}
	_, ok = evidence.ExtensionFolder(path.Base(dir))
	return ok || path.Base(path.Dir(dir)) == "extensions"
}

// readExtensionManifest takes name and version, and the folder's where the file
// does not say them: a hard link in a layer has no content.
//
//	{"publisher": "nrwl", "name": "angular-console", "version": "18.95.0", "engines": {"vscode": "^1.80.0"}, …
func readExtensionManifest(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	v := value{d.Data, 0, len(d.Data)}
	version := v.get("version")
	if len(d.Data) > 0 && (!v.has("publisher") || !v.has("engines")) {
		return nil // of something else that lies in a folder of such a name
	}
	it, ok := evidence.ExtensionItem(v.get("publisher").text()+"."+v.get("name").text(), version.text(), "")
	if ok = ok && version.text() != ""; ok {
		at(d, o, version)
	} else if it, ok = evidence.ExtensionFolder(path.Base(path.Dir(d.Path))); ok {
		o.SetLine(1, 0, nil)
	} else {
		o.SetLine(1, 0, nil)
		if len(d.Data) > 0 {
			o.Skip("no name and version of an extension")
		}
		return nil
	}
	o.Emit(timeline.Present, nil, it)
	return nil
}

// ExtensionList is what an editor lists of its extensions, with versions, or the
// names of their folders.
// https://code.visualstudio.com/docs/editor/command-line#_working-with-extensions
var ExtensionList = evidence.Format{
	Name:   "vscode-extension-list",
	Shape:  evidence.DocumentShape,
	Title:  "code --list-extensions --show-versions; a list of extensions' folders",
	Proves: "which extensions are in place",
	Cannot: "when they were installed; which versions were there before",
	Doc:    "https://code.visualstudio.com/docs/editor/command-line#_working-with-extensions",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		least := 3 // npm's lists look alike: lodash.merge@4.6.2
		if n := strings.ToLower(h.Name); strings.Contains(n, "extension") || strings.Contains(n, "vscode") || strings.Contains(n, "code-server") {
			least = 1
		}
		return extensionRows.claims(h, least)
	},
	Read: extensionRows.read,
}

var extensionRows = rowList{
	none: func(line string) bool {
		return strings.HasPrefix(line, "Extensions installed on ") || line == "extensions.json" || line == ".obsolete" || line == ".init-default-profile-extensions"
	},
	row: func(line string) ([]timeline.Item, bool) {
		if items, ok := pkglist.Extension(line); ok {
			return items, true
		}
		it, ok := evidence.ExtensionFolder(strings.TrimSuffix(line, "/"))
		return []timeline.Item{it}, ok
	},
}
