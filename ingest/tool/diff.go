package tool

import (
	"bytes"
	"strconv"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Diff is a unified difference, as git diff and diff -u print it. Its lines are
// those of some file: a requirement or a log in it says nothing of this
// machine.
// https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html
var Diff = evidence.Format{
	Name:   "unified-diff",
	Shape:  evidence.ToolShape,
	Title:  "unified differences (git diff, diff -u)",
	Proves: "nothing: it keeps the lines of files that are compared from being read as output",
	Cannot: "what was installed from either side",
	Doc:    "https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html",
	Sample: "git 2.39 run for this project",
	Starts: []string{"@@ -"},
	Tool:   func() evidence.Parser { return &diff{} },
}

// diff counts the lines of a hunk that are still to come on either side.
type diff struct{ before, after int }

// Line reads the head of a hunk and as many lines as it says:
//
//	@@ -1,3 +1,3 @@
//	 fastapi==0.110.0
//	-litellm==1.106.2
//	+litellm==1.107.0
//
// The hunk may be cut off (git diff | head), and then other lines follow: none
// that starts in another way is taken, and none that traces a command which
// fetches something.
func (d *diff) Line(l *evidence.Line, _ *evidence.Out) evidence.Result {
	if before, after, ok := hunk(l.Text); ok {
		d.before, d.after = before, after
		return d.more()
	}
	if d.before <= 0 && d.after <= 0 || l.Echo {
		return evidence.Miss
	}
	sign := byte(' ')
	if len(l.Text) > 0 {
		sign = l.Text[0]
	}
	switch sign {
	case ' ':
		d.before--
		d.after--
	case '-':
		d.before--
	case '+':
		if command, ok := traced(l.Text); ok && commandAsks(command) {
			d.before, d.after = 0, 0
			return evidence.Miss
		}
		d.after--
	case '\\': // \ No newline at end of file
	default:
		d.before, d.after = 0, 0
		return evidence.Miss
	}
	return d.more()
}

func (d *diff) more() evidence.Result {
	if d.before > 0 || d.after > 0 {
		return evidence.More
	}
	return evidence.Done
}

// commandAsks reports whether some command of the line fetches anything.
func commandAsks(line string) bool {
	commands, _, _ := shellCommands(line)
	for _, c := range commands {
		name, args := unwrap(c.words)
		if fetchers[name] || shells[name] || askOf(name, args) != nil {
			return true
		}
	}
	return len(asked(line, 0)) > 0
}

// hunk reads "@@ -1,3 +1,3 @@ some text"; a count that is left out is 1.
func hunk(line []byte) (before, after int, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte("@@ -"))
	if !ok {
		return 0, 0, false
	}
	old, rest, _ := bytes.Cut(rest, []byte(" +"))
	now, _, ok := bytes.Cut(rest, []byte(" @@"))
	before, okOld := hunkCount(old)
	after, okNow := hunkCount(now)
	return before, after, ok && okOld && okNow
}

func hunkCount(text []byte) (int, bool) {
	at, count, counted := bytes.Cut(text, []byte(","))
	if _, err := strconv.ParseUint(string(at), 10, 31); err != nil {
		return 0, false
	}
	if !counted {
		return 1, true
	}
	n, err := strconv.ParseUint(string(count), 10, 31)
	return int(n), err == nil
}

// End forgets the hunk.
func (d *diff) End(timeline.OpState, *evidence.Out) { d.before, d.after = 0, 0 }
