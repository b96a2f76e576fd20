package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Golang is what the go command prints of modules. It prints a module only when
// it is not in its cache.
// https://go.dev/ref/mod
var Golang = evidence.Format{
	Name:   "golang",
	Shape:  evidence.ToolShape,
	Title:  "go get, install, build and mod",
	Proves: "modules that came over, and versions that were chosen",
	Cannot: "modules that the cache had; that code of a module was built in",
	Doc:    "https://go.dev/ref/mod",
	Sample: "go 1.26 run for this project",
	Starts: []string{"go: "},
	Looks:  namesVersion,
	Tool:   func() evidence.Parser { return &golang{} },
}

type golang struct{ op *evidence.Op }

// Line reads one line.
//
//	go: downloading github.com/pkg/errors v0.9.1
//	go: extracting github.com/pkg/errors v0.8.1
//	go: finding github.com/pkg/errors v0.8.1
//	go: added github.com/pkg/errors v0.9.1
//	go: downgraded github.com/pkg/errors v0.9.1 => v0.8.1
//	go: found github.com/acme/x/y in github.com/acme/x v1.2.3
func (g *golang) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	w := strings.Fields(string(bytes.TrimSpace(l.Text)))
	if l.Echo || len(w) < 4 {
		return evidence.Miss
	}
	action, module, version := timeline.Resolve, w[2], w[3]
	switch w[1] {
	case "downloading", "extracting":
		action = timeline.Download
	case "finding", "added":
	case "upgraded", "downgraded":
		if len(w) != 6 || w[4] != "=>" {
			return evidence.Miss
		}
		version = w[5]
	case "found":
		if len(w) != 6 || w[3] != "in" {
			return evidence.Miss
		}
		module, version = w[4], w[5]
	default:
		return evidence.Miss
	}
	it, ok := goModule(module, version)
	if !ok {
		return evidence.Miss
	}
	if g.op != nil && o.Overtaken(g.op) {
		g.End(timeline.OpDone, o)
	}
	if g.op == nil {
		g.op = o.Invocation("go")
	}
	o.Seen("golang")
	o.Emit(action, g.op, it)
	return evidence.Done
}

// End closes what is open.
func (g *golang) End(how timeline.OpState, o *evidence.Out) {
	o.Close(g.op, how)
	g.op = nil
}

// goModule is a module at a version: v1.2.3, v0.0.0-20240101000000-abcdefabcdef,
// v2.0.0+incompatible.
func goModule(path, version string) (timeline.Item, bool) {
	host, _, _ := strings.Cut(path, "/")
	if !strings.Contains(host, ".") || len(version) < 6 || version[0] != 'v' || !isDecimal(version[1]) || strings.Count(version, ".") < 2 ||
		strings.ContainsAny(path+version, "\"'()<>|@?#%,") {
		return timeline.Item{}, false
	}
	return timeline.Item{Artifact: "pkg:golang/" + path + "@" + version}, true
}
