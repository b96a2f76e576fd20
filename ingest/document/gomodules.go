package document

import (
	"bytes"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// GoModules is go.mod, go.sum, and what go list -m all prints.
// https://go.dev/ref/mod#go-mod-file
var GoModules = evidence.Format{
	Name:   "go-modules",
	Shape:  evidence.DocumentShape,
	Title:  "go.mod, go.sum, go list -m all",
	Proves: "the versions of modules that a project asks for",
	Cannot: "that they came over or were built in; go.sum keeps versions that are not used any more",
	Doc:    "https://go.dev/ref/mod",
	Sample: "go 1.26 run for this project",
	Claim:  claimGoModules,
	Read:   readGoModules,
}

// GoBinary is what go version -m prints of programs.
// https://pkg.go.dev/cmd/go#hdr-Print_Go_version
var GoBinary = evidence.Format{
	Name:   "go-version",
	Shape:  evidence.DocumentShape,
	Title:  "go version -m",
	Proves: "which versions of modules are built into a program",
	Cannot: "that the program ran, or when it came",
	Doc:    "https://pkg.go.dev/cmd/go#hdr-Print_Go_version",
	Sample: "go 1.26 run for this project",
	Claim: func(h *evidence.Head) bool {
		return bytes.Contains(h.Bytes, []byte(": go1.")) && bytes.Contains(h.Bytes, []byte("\n\tpath\t"))
	},
	Read: readGoBinary,
}

func claimGoModules(h *evidence.Head) bool {
	if h.Name == "go.mod" || h.Name == "go.sum" {
		return true
	}
	n := 0
	return everyLine(h, func(line string) bool {
		w := strings.Fields(line)
		ok := len(w) == 0 || n == 0 && len(w) == 1 || len(w) > 1 && len(w) < 6 && strings.Contains(w[0], ".") && isGoVersion(w[1]) && (len(w) < 3 || strings.HasPrefix(w[2], "h1:") || w[2] == "=>")
		if len(w) > 0 {
			n++
		}
		return ok
	}) && n > 1
}

func isGoVersion(text string) bool {
	text = strings.TrimSuffix(text, "/go.mod")
	return len(text) > 5 && text[0] == 'v' && text[1] >= '0' && text[1] <= '9' && strings.Count(text, ".") > 1 && !strings.ContainsAny(text, "<>@,()\"'/")
}

// readGoModules reads one module for each line. In go.sum the line of a file
// go.mod alone says that a resolver read it.
//
//	require github.com/spf13/cobra v1.8.0
//		github.com/spf13/pflag v1.0.5 // indirect
//	github.com/spf13/cobra v1.8.0 h1:7aJaZx1B85qltLMc546zn58BxxfZdR/W22ej9CFoEf0=
//	github.com/spf13/cobra v1.8.0/go.mod h1:WXLWApfZ71AjXPya3WOlMsY9yMs7YeiHhFVlvLyhcho=
//	github.com/pkg/errors v0.9.1 => github.com/acme/errors v0.9.2
func readGoModules(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	block := ""
	for _, line := range logicalLines(d) {
		text, _, _ := strings.Cut(line.text, "//")
		w := strings.Fields(text)
		switch {
		case len(w) == 0:
			continue
		case len(w) == 2 && w[1] == "(":
			block = w[0]
			continue
		case w[0] == ")":
			block = ""
			continue
		case w[0] == "exclude", w[0] == "retract", block == "exclude", block == "retract":
			continue
		}
		if i := slices.Index(w, "=>"); i >= 0 {
			w = w[i+1:] // what stands in for the module
		}
		if len(w) > 2 && (w[0] == "require" || w[0] == "replace") {
			w = w[1:]
		}
		if len(w) < 2 || !isGoVersion(w[1]) || !strings.Contains(w[0], ".") {
			continue
		}
		onLine(d, o, line.off)
		version, metadata := strings.CutSuffix(w[1], "/go.mod")
		action := timeline.Require
		if metadata {
			action = timeline.Resolve
		}
		o.Emit(action, nil, timeline.Item{Artifact: "pkg:golang/" + w[0] + "@" + version})
	}
	return nil
}

// readGoBinary reads the modules of programs; one that was replaced was not
// built in.
//
//	/usr/local/bin/api: go1.22.3
//		path	acme.example/api
//		mod	acme.example/api	(devel)
//		dep	github.com/pkg/errors	v0.9.1	h1:FEBL…
//		=>	github.com/acme/errors	v0.9.2	h1:2BEJ…
func readGoBinary(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	lines := logicalLines(d)
	for i, line := range lines {
		w := strings.Fields(line.text)
		if len(w) < 3 || w[0] != "mod" && w[0] != "dep" && w[0] != "=>" || !isGoVersion(w[2]) || strings.Contains(w[2], "/") {
			continue
		}
		if i+1 < len(lines) && strings.HasPrefix(lines[i+1].text, "=>\t") && w[0] != "=>" {
			continue
		}
		onLine(d, o, line.off)
		o.Emit(timeline.Present, nil, timeline.Item{Artifact: "pkg:golang/" + w[1] + "@" + w[2]})
	}
	return nil
}
