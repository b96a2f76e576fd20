package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Pipenv is what pipenv prints. It has pip do the work, and says of it that it
// was done, without versions.
// https://pipenv.pypa.io/en/latest/cli.html
var Pipenv = evidence.Format{
	Name:   "pipenv",
	Shape:  evidence.ToolShape,
	Title:  "pipenv output",
	Proves: "that packages were installed, of which the command names one",
	Cannot: "versions, and what they depend on: with --verbose pip's output has them",
	Doc:    "https://pipenv.pypa.io/en/latest/cli.html",
	Sample: "written by hand after its source",
	Starts: []string{"Installing dependencies from Pipfile.lock", "Installing ", "\u2714 Installation Succeeded", "Installation Succeeded", "Error:  An error occurred while installing ", "\u2718 Installation Failed"},
	Tool:   func() evidence.Parser { return &pipenv{} },
}

type pipenv struct {
	name string // of the package that is being installed
	mark evidence.Mark
}

// Line reads one line.
//
//	Installing litellm...
//	✔ Installation Succeeded
//	Installing dependencies from Pipfile.lock (a1b2c3)...
func (p *pipenv) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := strings.ReplaceAll(string(bytes.TrimSpace(l.Text)), "…", "...") // old versions
	if l.Echo {
		return evidence.Miss
	}
	rest, begins := strings.CutPrefix(text, "Installing ")
	switch {
	case begins && strings.HasPrefix(rest, "dependencies from Pipfile.lock (") && (strings.HasSuffix(text, ")...") || strings.HasSuffix(text, ").")): // without Unicode
		p.opaque(o.Mark(), timeline.Ecosystem("pypi"), o)
		return evidence.Done
	case begins && strings.HasSuffix(rest, "..."):
		name := strings.TrimSuffix(rest, "...")
		name, _, _ = strings.Cut(name, "[")
		n := strings.IndexAny(name+"=", "=<>~!")
		if !evidence.IsDistName(name[:n]) {
			return evidence.Miss
		}
		p.name, p.mark = name[:n], o.Mark()
		return evidence.Miss // others install too: what follows tells
	case strings.HasSuffix(text, "Installation Succeeded") && p.name != "":
		p.opaque(p.mark, timeline.PURL("pypi", "", p.name, ""), o)
		p.name = ""
		return evidence.Done
	}
	p.name = ""
	return evidence.Miss
}

func (p *pipenv) opaque(mark evidence.Mark, artifact string, o *evidence.Out) {
	op := o.Invocation("pipenv")
	o.Seen(timeline.PyPI)
	o.At(mark, timeline.Event{Action: timeline.Opaque, Op: op.Number, Items: []timeline.Item{{Artifact: artifact}}})
	o.Close(op, timeline.OpDone)
}

// End forgets what was not said to be done.
func (p *pipenv) End(timeline.OpState, *evidence.Out) { p.name = "" }
