package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Composer is the output of composer install, update, require and create-project.
// https://getcomposer.org/doc/03-cli.md
var Composer = evidence.Format{
	Name:   "composer",
	Shape:  evidence.ToolShape,
	Title:  "Composer output",
	Proves: "packages of PHP that came over, were installed, replaced and removed, with versions",
	Cannot: "the hash of what came: composer.lock has the commit",
	Doc:    "https://getcomposer.org/doc/03-cli.md",
	Sample: "written by hand after the documentation",
	Starts: []string{
		"- Installing ", "- Downloading ", "- Upgrading ", "- Updating ", "- Downgrading ", "- Locking ", "- Syncing ", "- Removing ", "- Uninstalling ",
		"Loading composer repositories ", "Verifying lock file contents ", "Lock file operations: ", "Package operations: ", "Nothing to install", "Generating ",
		"Installation failed, ", "Downloading: ", "Loading from cache", "Cloning ", "Checking out ", "Extracting archive",
	},
	Tool: func() evidence.Parser { return &composerOutput{} },
}

type composerOutput struct {
	op   *evidence.Op
	rows bool         // there were some
	lock bool         // the rows are of the lock file, and not of what is in place
	held *composerRow // an installation of which the next line tells that it was one
}

// composerRow is one operation on one package.
type composerRow struct {
	mark           evidence.Mark
	verb           string
	old, now       timeline.Item
	how            string // what stands behind the colon
	replaces, path bool   // it comes from a folder beside the project
}

// Line reads one line.
//
//	Loading composer repositories with package information
//	Package operations: 2 installs, 1 update, 0 removals
//	  - Installing laravel-lang/lang (15.29.5): Extracting archive
//	Nothing to install, update or remove
//	Generating optimized autoload files
func (c *composerOutput) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := string(bytes.TrimSpace(l.Text))
	if l.Echo {
		return evidence.Miss
	}
	if rest, ok := strings.CutPrefix(text, "- "); ok {
		return c.row(rest, o)
	}
	if c.held != nil && fetchedHow(text) {
		c.held.how = text
		c.settle(o)
		return evidence.Done
	}
	c.settle(o)
	word, _, _ := strings.Cut(text, " ")
	switch word {
	case "Loading":
		if !strings.HasPrefix(text, "Loading composer ") {
			return evidence.Miss
		}
		c.begin(o)
	case "Verifying":
		c.begin(o)
	case "Lock":
		c.begin(o)
		c.lock = true
	case "Package": // poetry says it too
		if c.op == nil && !o.Awaited("composer") {
			return evidence.Miss
		}
		c.begin(o)
		c.lock = false
	case "Nothing":
		if !strings.HasSuffix(text, "to install, update or remove") && !strings.HasSuffix(text, "to install or update") {
			return evidence.Miss
		}
		c.begin(o)
		c.op.Answer()
		c.End(timeline.OpDone, o)
	case "Generating":
		if c.op == nil || !strings.HasSuffix(text, "autoload files") {
			return evidence.Miss
		}
		c.op.Answer()
		c.End(timeline.OpDone, o)
	case "Installation":
		if c.op == nil {
			return evidence.Miss
		}
		c.End(timeline.OpFailed, o)
	default:
		return evidence.Miss
	}
	return evidence.Done
}

// row reads what stands behind the dash of an operation:
//
//   - Locking laravel-lang/lang (15.29.5)
//   - Downloading laravel-lang/lang (15.29.5)
//   - Installing laravel-lang/lang (15.29.5): Extracting archive
//   - Upgrading symfony/console (v7.2.0 => v7.2.1): Extracting archive
//   - Updating symfony/console (v3.4.0 => v3.4.1): Loading from cache
//   - Installing acme/billing (dev-main 1c9f2ab): Cloning 1c9f2ab from cache
//   - Installing acme/forms (dev-main): Symlinking from ../forms
//   - Removing doctrine/cache (1.13.0)
func (c *composerOutput) row(text string, o *evidence.Out) evidence.Result {
	r, ok := parseComposerRow(text)
	if !ok {
		return evidence.Miss
	}
	c.settle(o)
	c.begin(o)
	r.mark = o.Mark()
	c.held, c.rows = r, true
	if r.how != "" || r.verb != "Installing" && r.verb != "Updating" {
		c.settle(o)
	}
	return evidence.Done
}

func parseComposerRow(text string) (*composerRow, bool) {
	verb, rest, _ := strings.Cut(text, " ")
	name, rest, ok := strings.Cut(rest, " (")
	versions, after, closed := strings.Cut(rest, ")")
	if !ok || !closed {
		return nil, false
	}
	r := &composerRow{verb: verb, how: strings.TrimSpace(strings.TrimPrefix(after, ":"))}
	old, now, replaces := strings.Cut(versions, " => ")
	if !replaces {
		now = old
	}
	r.replaces = replaces
	r.path = strings.HasPrefix(r.how, "Symlinking ") || strings.HasPrefix(r.how, "Mirroring ") || strings.HasPrefix(r.how, "Junctioning ")
	var valid bool
	if r.old, valid = composerItem(name, old); !valid {
		return nil, false
	}
	r.now, valid = composerItem(name, now)
	return r, valid
}

// settle records what came of the row that is held. Without what was done for it
// a row says what was chosen: of a dry run, of the lock, of a package that has no
// files.
func (c *composerOutput) settle(o *evidence.Out) {
	r := c.held
	if r == nil {
		return
	}
	c.held = nil
	emit := func(a timeline.Action, it timeline.Item) {
		o.At(r.mark, timeline.Event{Action: a, Op: c.op.Number, Items: []timeline.Item{it}})
	}
	switch r.verb {
	case "Locking":
		emit(timeline.Resolve, r.now)
	case "Downloading", "Syncing":
		emit(timeline.Download, r.now)
	case "Removing", "Uninstalling":
		if !c.lock {
			emit(timeline.Remove, r.now)
		}
	case "Installing", "Upgrading", "Updating", "Downgrading":
		switch {
		case r.path:
		case r.how == "":
			emit(timeline.Resolve, r.now)
		case r.how == "Source already present":
			emit(timeline.Present, r.now)
		default:
			if r.replaces && r.old.Artifact != r.now.Artifact {
				emit(timeline.Remove, r.old)
			}
			emit(timeline.Install, r.now)
		}
	}
}

// fetchedHow reports whether a line says what was done for the row above it, as
// releases before 1.8 print it:
//
//   - Installing monolog/monolog (1.24.0)
//     Downloading: 100%
func fetchedHow(text string) bool {
	for _, w := range []string{"Downloading: ", "Loading from cache", "Cloning ", "Checking out ", "Extracting archive"} {
		if strings.HasPrefix(text, w) {
			return true
		}
	}
	return false
}

// composerItem is a package of Packagist. A branch is followed by its commit:
//
//	15.29.5    v7.2.1    dev-main 1c9f2ab    2.x-dev 77fd0e1
//
// https://getcomposer.org/doc/articles/versions.md
func composerItem(name, version string) (timeline.Item, bool) {
	version, commit, _ := strings.Cut(version, " ")
	number := strings.TrimPrefix(version, "v")
	if number == "" || !isDecimal(number[0]) && !strings.HasPrefix(number, "dev-") || strings.ContainsAny(version, "`'\",;") {
		return timeline.Item{}, false
	}
	it, ok := evidence.Composer(name, version)
	it.Ref = commit
	return it, ok
}

// begin opens the invocation.
func (c *composerOutput) begin(o *evidence.Out) {
	if c.op != nil && o.Overtaken(c.op) {
		c.End(timeline.OpOpen, o)
	}
	if c.op == nil {
		c.op = o.Invocation("composer")
	}
	o.Seen("composer")
}

// End closes what is open.
func (c *composerOutput) End(how timeline.OpState, o *evidence.Out) {
	c.settle(o)
	if c.op != nil {
		if c.rows && strings.Contains(c.op.Command, "--dry-run") {
			c.op.Answer() // nothing comes, and no last line is printed
		}
		o.Close(c.op, how)
	}
	*c = composerOutput{}
}
