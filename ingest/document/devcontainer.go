package document

import (
	"bytes"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// DevContainer is how a project describes its development container, and which
// extensions it recommends to its people's editors.
// https://containers.dev/implementors/json_reference/
// https://code.visualstudio.com/docs/editor/extension-marketplace#_workspace-recommended-extensions
var DevContainer = evidence.Format{
	Name:   "devcontainer",
	Shape:  evidence.DocumentShape,
	Title:  "devcontainer.json, .vscode/extensions.json, *.code-workspace",
	Proves: "which extensions, image and packages a project asks for",
	Cannot: "that anybody installed them, and which versions",
	Doc:    "https://containers.dev/implementors/json_reference/",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		plain := withoutComments(h.Bytes)
		v := value{plain, 0, len(plain)}
		switch {
		case v.kind() != '{':
			return false
		case h.Name == "devcontainer.json" || h.Name == ".devcontainer.json":
			return true
		case strings.HasSuffix(h.Name, ".code-workspace"):
			return v.has("folders")
		}
		return v.get("recommendations").kind() == '[' && (h.Name == "extensions.json" || v.has("unwantedRecommendations"))
	},
	Read: readDevContainer,
}

// readDevContainer reads all of these files. They are JSON with comments.
//
//	"customizations": {"vscode": {"extensions": ["nrwl.angular-console", "-dbaeumer.vscode-eslint"]}}
//	"extensions": ["nrwl.angular-console"]                        (older ones)
//	"extensions": {"recommendations": ["nrwl.angular-console"]}   (*.code-workspace)
//	"recommendations": ["nrwl.angular-console"]
//	"postCreateCommand": "npm ci && code --install-extension nrwl.angular-console@18.95.0"
func readDevContainer(d *evidence.Doc, o *evidence.Out) error {
	plain := withoutComments(d.Data)
	v := value{plain, 0, len(plain)}
	o.Seen("")
	for _, list := range []value{v.get("extensions"), v.get("recommendations"), v.get("extensions", "recommendations")} {
		wantedExtensions(d, o, list)
	}
	for _, editor := range v.get("customizations").fields() {
		wantedExtensions(d, o, editor.get("extensions"))
	}
	if image := v.get("image"); timeline.NormalizeImage(image.text()) != "" && !strings.Contains(image.text(), "$") {
		at(d, o, image)
		o.Emit(timeline.Require, nil, timeline.Item{Artifact: timeline.NormalizeImage(image.text())})
	}
	for key, command := range v.fields() {
		if strings.HasSuffix(key, "Command") {
			containerCommand(d, o, command, 0)
		}
	}
	return nil
}

// wantedExtensions reads a list; what has a hyphen before it is not wanted.
func wantedExtensions(d *evidence.Doc, o *evidence.Out, list value) {
	if list.kind() != '[' {
		return
	}
	for e := range list.elements() {
		id, version, _ := strings.Cut(e.text(), "@")
		it, ok := evidence.ExtensionItem(id, version, "")
		if !ok {
			it, ok = evidence.ExtensionItem(id, "", "")
			it.Ref = evidence.Redact(version)
		}
		if ok {
			at(d, o, e)
			o.Emit(timeline.Require, nil, it)
		}
	}
}

// containerCommand reads a command that is run in the container: a line, words,
// or several by name.
func containerCommand(d *evidence.Doc, o *evidence.Out, v value, depth int) {
	line := v.text()
	switch v.kind() {
	case '[':
		line = strings.Join(v.texts(), " ")
	case '{':
		for _, command := range v.fields() {
			if depth < 2 {
				containerCommand(d, o, command, depth+1)
			}
		}
		return
	}
	if items := slices.DeleteFunc(o.Asks(line), nameless); len(items) > 0 {
		at(d, o, v)
		o.Emit(timeline.Require, nil, items...)
	}
}

// withoutComments writes blanks over the comments of a JSON text, so that all
// else stays where it is.
// https://code.visualstudio.com/docs/languages/json#_json-with-comments
func withoutComments(text []byte) []byte {
	out := bytes.Clone(text)
	for i := 0; i < len(text); {
		end := len(text)
		switch {
		case text[i] == '"':
			i = skipString(text, i)
			continue
		case bytes.HasPrefix(text[i:], []byte("//")):
			if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
				end = i + n
			}
		case bytes.HasPrefix(text[i:], []byte("/*")):
			if n := bytes.Index(text[i+2:], []byte("*/")); n >= 0 {
				end = i + 2 + n + 2
			}
		default:
			i++
			continue
		}
		for ; i < end; i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
		}
	}
	return out
}
