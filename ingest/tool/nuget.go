package tool

import (
	"bytes"
	"net/url"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// NuGet is what a restore prints, with dotnet, msbuild and nuget.exe, and what
// dotnet lists of a project. Only at verbosity normal does dotnet name packages.
// https://learn.microsoft.com/en-us/dotnet/core/tools/dotnet-restore
// https://learn.microsoft.com/en-us/nuget/reference/cli-reference/cli-ref-restore
var NuGet = evidence.Format{
	Name:   "nuget",
	Shape:  evidence.ToolShape,
	Title:  "dotnet restore, nuget restore, dotnet list package",
	Proves: "packages that came over, out of the cache of HTTP answers, and that were unpacked, with versions; tools installed; versions that a project was restored with",
	Cannot: "packages that lay in the folder of packages already; what a restore at verbosity minimal fetched",
	Doc:    "https://learn.microsoft.com/en-us/dotnet/core/tools/dotnet-restore",
	Sample: "written by hand after public reports",
	Starts: []string{
		"OK http", "CACHE http", "Installed ", "Added package '", "Removed package '", "Successfully installed '", "Successfully uninstalled '",
		"Tool '", "Project '", "Project `", "info : ", "[Inf] ",
	},
	Looks: looksNuGet,
	Tool:  func() evidence.Parser { return &nuget{} },
}

// looksNuGet looks for what follows the first word.
func looksNuGet(text []byte) bool {
	head := text[:min(len(text), 1000)]
	switch text[0] {
	case 'O', 'C':
		return bytes.Contains(head, []byte(".nupkg"))
	case 'I':
		return bytes.Contains(head, []byte(" with content hash "))
	case 'i':
		return bytes.Contains(head, []byte(" with content hash ")) || bytes.Contains(head, []byte(".nupkg"))
	case 'P':
		return bytes.Contains(head, []byte("has the following "))
	}
	return bytes.IndexByte(head, '\'') > 0
}

type nuget struct {
	listed int // 1 + where versions stand in the rows of dotnet list package; 0: none is read
	wait   int // lines until such a list has to begin
}

// Line reads one line.
//
//	OK https://mirror.acme.example/v3-flatcontainer/newtonsoft.json/13.0.1/newtonsoft.json.13.0.1.nupkg 40ms
//	CACHE https://mirror.acme.example/v3-flatcontainer/newtonsoft.json/13.0.1/newtonsoft.json.13.0.1.nupkg
//	Installed Newtonsoft.Json 13.0.1 from https://mirror.acme.example/v3/index.json with content hash ppPFpBcvxdsfUonNcvITKqLl3bqxWbDCZIzDWHzjpdAHRFfZe0Dw9HmA0+za13IdyrgJwpkDTDA9fHaxOrt20A==.
//	Added package 'Newtonsoft.Json.13.0.1' to folder '/srv/ci/packages' from source 'https://mirror.acme.example/v3/index.json'
//	Successfully installed 'Newtonsoft.Json 13.0.1' to /srv/ci/packages
//	Tool 'dotnet-ef' (version '8.0.4') was successfully installed.
func (n *nuget) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return evidence.Miss
	}
	if n.listed > 0 || n.wait > 0 {
		if r := n.row(string(l.Text), o); r != evidence.Miss {
			return r
		}
		n.listed, n.wait = 0, 0
	}
	text := string(bytes.TrimSpace(l.Text))
	for _, logger := range [...]string{"info : ", "[Inf] "} {
		if rest, ok := strings.CutPrefix(text, logger); ok {
			text = strings.TrimSpace(rest)
		}
	}
	first, rest, _ := strings.Cut(text, " ")
	switch first {
	case "OK", "CACHE":
		return nugetFetched(first == "CACHE", rest, o)
	case "Installed":
		if w := strings.Fields(rest); len(w) > 6 && w[2] == "from" && strings.Contains(rest, " with content hash ") {
			return nugetSays(timeline.Install, w[0], w[1], o)
		}
	case "Added", "Removed":
		id, place, ok := inQuotes(rest, "package '")
		action := timeline.Install
		if first == "Removed" {
			action = timeline.Remove
		}
		if name, version, is := splitNuGet(id); ok && is && (strings.HasPrefix(place, " to folder '") || strings.HasPrefix(place, " from folder '")) {
			return nugetSays(action, name, version, o)
		}
	case "Successfully":
		action, end := timeline.Install, " to "
		id, place, ok := inQuotes(rest, "installed '")
		if !ok {
			action, end = timeline.Remove, " from "
			id, place, ok = inQuotes(rest, "uninstalled '")
		}
		if name, version, is := strings.Cut(id, " "); ok && is && strings.HasPrefix(place, end) {
			return nugetSays(action, name, version, o)
		}
	case "Tool":
		return nugetTool(rest, o)
	case "Project":
		return n.list(rest)
	}
	return evidence.Miss
}

// inQuotes returns what stands in quotes behind a word, and what follows it.
func inQuotes(text, word string) (inner, rest string, ok bool) {
	rest, ok = strings.CutPrefix(text, word)
	inner, rest, closed := strings.Cut(rest, "'")
	return inner, rest, ok && closed
}

// splitNuGet splits Name.1.2.3 at the longest version behind it.
func splitNuGet(id string) (name, version string, ok bool) {
	for i := 1; i+1 < len(id); i++ {
		if id[i] == '.' && isDecimal(id[i+1]) && strings.Count(id[i+1:], ".") > 0 && evidence.IsNuGetVersion(id[i+1:]) {
			return id[:i], id[i+1:], true
		}
	}
	return "", "", false
}

func nugetSays(action timeline.Action, name, version string, o *evidence.Out) evidence.Result {
	it, ok := evidence.NuGet(name, version)
	if !ok || version == "" {
		return evidence.Miss
	}
	o.Seen("nuget")
	o.Emit(action, nil, it)
	return evidence.Done
}

// nugetFetched reads the answer to a request for an archive.
func nugetFetched(cached bool, rest string, o *evidence.Out) evidence.Result {
	address, _, _ := strings.Cut(rest, " ")
	u, err := url.Parse(address)
	if err != nil {
		return evidence.Miss
	}
	it, kind := packagePath(u.EscapedPath())
	if kind != wholeFile || !strings.HasPrefix(it.Artifact, "pkg:nuget/") {
		return evidence.Miss
	}
	action := timeline.Download
	if cached {
		action = timeline.Cached
	}
	o.Seen("nuget")
	o.Emit(action, nil, it)
	return evidence.Done
}

// nugetTool reads what dotnet tool prints.
//
//	Tool 'dotnet-ef' (version '8.0.4') was successfully installed.
//	Tool 'dotnet-ef' was successfully updated from version '7.0.1' to version '8.0.4'.
func nugetTool(rest string, o *evidence.Out) evidence.Result {
	name, rest, _ := inQuotes(rest, "'")
	if version, after, ok := inQuotes(rest, " (version '"); ok && strings.HasPrefix(after, ") was successfully installed") {
		return nugetSays(timeline.Install, name, version, o)
	}
	old, rest, ok := inQuotes(rest, " was successfully updated from version '")
	if version, _, is := inQuotes(rest, " to version '"); ok && is && nugetSays(timeline.Remove, name, old, o) == evidence.Done {
		return nugetSays(timeline.Install, name, version, o)
	}
	return evidence.Miss
}

// list reads the head of dotnet list package.
// https://learn.microsoft.com/en-us/dotnet/core/tools/dotnet-list-package
//
//	Project 'Api' has the following package references
//	   [net8.0]:
//	   Top-level Package      Requested   Resolved
//	   > Newtonsoft.Json      13.0.1      13.0.3
//	Project `Api` has the following vulnerable packages
func (n *nuget) list(rest string) evidence.Result {
	_, what, ok := strings.Cut(rest, " has the following ")
	if !ok || what != "package references" && !strings.HasSuffix(what, " packages") && !strings.HasPrefix(what, "updates to its packages") {
		return evidence.Miss
	}
	n.wait = 3
	return evidence.More
}

// row reads a line of such a list.
func (n *nuget) row(line string, o *evidence.Out) evidence.Result {
	text := strings.TrimSpace(line)
	switch {
	case strings.HasPrefix(text, "Top-level Package "), strings.HasPrefix(text, "Transitive Package "):
		if n.listed = 1 + strings.Index(line, " Resolved") + 1; n.listed == 1 {
			return evidence.Miss
		}
		return evidence.More
	case strings.HasPrefix(text, "> ") && n.listed > 0 && len(line) > n.listed:
		name, _, _ := strings.Cut(text[2:], " ")
		version, _, _ := strings.Cut(line[n.listed-1:], " ")
		if it, ok := evidence.NuGet(name, version); ok && version != "" && line[n.listed-2] == ' ' {
			o.Seen("")
			o.Emit(timeline.Resolve, nil, it)
		}
		return evidence.More
	case text == "" && n.listed > 0, strings.HasPrefix(line, "   ") && n.listed > 0: // the second line of an advisory
		return evidence.More
	case text == "" || strings.HasPrefix(text, "[") && strings.Contains(text, "]:"):
		if n.wait--; n.wait < 0 && n.listed == 0 {
			return evidence.Miss
		}
		n.wait = max(n.wait, 0)
		return evidence.More
	}
	return evidence.Miss
}

// End does nothing: each line stands for itself.
func (n *nuget) End(timeline.OpState, *evidence.Out) { *n = nuget{} }
