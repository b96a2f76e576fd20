package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Composer is the output of composer install, update and require.
// https://getcomposer.org/doc/03-cli.md
var Composer = evidence.Format{
	Name:   "composer",
	Shape:  evidence.ToolShape,
	Title:  "composer output",
	Proves: "packages of PHP that came over, were installed, changed and removed, with versions",
	Cannot: "the commit that a version stood for: composer.lock and vendor/composer/installed.json have it",
	Doc:    "https://getcomposer.org/doc/03-cli.md",
	Sample: "written by hand after public logs",
	Starts: []string{
		"- Installing ", "- Downloading ", "- Upgrading ", "- Updating ", "- Downgrading ", "- Removing ", "- Uninstalling ", "- Locking ",
		"Nothing to install, update or remove", "Nothing to install or update", "Generating ", "Lock file operations: ", "Installing dependencies from lock file",
		"Failed to download ", "Updating dependencies", "Loading composer repositories",
	},
	Looks: looksComposer,
	Tool:  func() evidence.Parser { return &composerOutput{} },
}

// looksComposer reports whether a row may be composer's: its packages have a
// vendor, those of poetry have none.
func looksComposer(text []byte) bool {
	row, ok := bytes.CutPrefix(text, []byte("- "))
	if !ok {
		return true
	}
	i := bytes.IndexByte(row, '(')
	return i > 0 && bytes.IndexByte(row[:i], '/') > 0
}

type composerOutput struct {
	op *evidence.Op
}

// Line reads one line.
//
//	Installing dependencies from lock file (including require-dev)
//	  - Downloading symfony/console (v6.4.2)
//	  - Installing symfony/console (v6.4.2): Extracting archive
//	  - Upgrading symfony/console (v6.4.1 => v6.4.2): Extracting archive
//	  - Removing symfony/console (v6.4.2)
//	  - Locking symfony/console (v6.4.2)
//	Generating optimized autoload files
//	Nothing to install, update or remove
func (c *composerOutput) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return evidence.Miss
	}
	text := string(bytes.TrimSpace(l.Text))
	row, ok := strings.CutPrefix(text, "- ")
	switch {
	case ok:
		return c.row(row, o)
	case strings.HasPrefix(text, "Nothing to install"):
		c.begin(o)
		c.End(timeline.OpDone, o)
	case strings.HasPrefix(text, "Generating "):
		if c.op == nil || !strings.Contains(text, "autoload files") {
			return evidence.Miss
		}
		c.End(timeline.OpDone, o)
	case strings.HasPrefix(text, "Lock file operations: "):
		c.begin(o)
	default:
		return evidence.Miss // poetry says some of this too
	}
	return evidence.Done
}

func (c *composerOutput) begin(o *evidence.Out) {
	if c.op != nil && o.Overtaken(c.op) {
		c.End(timeline.OpOpen, o)
	}
	if c.op == nil {
		c.op = o.Invocation("composer")
		c.op.Answer() // it prints all that it does, or that there is nothing to do
	}
	o.Seen("composer")
}

// row reads one operation. What is done has a colon and how behind it; a dry run
// has none, and neither has a package without files. Composer 1 says
// behind the colon that it came: "Downloading (100%)", "Loading from cache".
func (c *composerOutput) row(row string, o *evidence.Out) evidence.Result {
	verb, rest, _ := strings.Cut(row, " ")
	name, rest, ok := strings.Cut(rest, " (")
	versions, how, closed := strings.Cut(rest, ")")
	old, version, changed := strings.Cut(versions, " => ")
	if !changed {
		old, version = "", versions
	}
	old, _, _ = strings.Cut(old, " ") // dev-main 1a2b3c4
	version, _, _ = strings.Cut(version, " ")
	it, named := evidence.Composer(name, version)
	was, _ := evidence.Composer(name, old)
	done := strings.HasPrefix(how, ": ") && !strings.Contains(how, "Skipp")
	if !ok || !closed || !named || version == "" {
		return evidence.Miss
	}
	action := timeline.Resolve
	switch verb {
	case "Locking", "Downloading": // it is begun
	case "Installing", "Upgrading", "Updating", "Downgrading":
		if done {
			action = timeline.Install
		}
		if done && changed && old != version {
			defer o.Emit(timeline.Remove, c.op, was)
		}
	case "Removing", "Uninstalling":
		action = timeline.Remove
	default:
		return evidence.Miss
	}
	c.begin(o)
	o.Emit(action, c.op, it)
	return evidence.Done
}

// End closes the invocation.
func (c *composerOutput) End(how timeline.OpState, o *evidence.Out) {
	if c.op != nil {
		o.Close(c.op, how)
		c.op = nil
	}
}
