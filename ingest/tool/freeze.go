package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// listing reads the answer of a command that lists what is installed: pip
// freeze, pip list, pip show and uv's same commands. Without the command the
// rows prove nothing: a requirements file looks the same.
// https://pip.pypa.io/en/stable/cli/pip_freeze/
type listing struct {
	op      *evidence.Op
	rows    rowKind
	waiting int    // lines that may still come before the first row
	name    string // of pip show, whose version comes in the next lines
	begun   bool
}

type rowKind uint8

const (
	noRows     rowKind = iota
	freezeRows         // litellm==1.107.0
	listRows           // litellm      1.107.0
	showRows           // Name: litellm, Version: 1.107.0
)

// maxWaiting bounds the lines between the command and its first row: warnings,
// lines of the runner.
const maxWaiting = 20

// asked reports whether a command lists packages, and waits for its rows.
func (t *listing) asked(name string, args []string, muted bool, o *evidence.Out) bool {
	if name == "uv" {
		_, args = leadingFlags(args, pipValued)
		if len(args) == 0 || args[0] != "pip" {
			return false
		}
		args = args[1:]
	} else if !isPip(name) {
		return false
	}
	f, plain := splitFlags(args, wordSet("--format --path --exclude --python -r --requirement --cache-dir -f -p"))
	if len(plain) == 0 || f.has("--help", "-h") {
		return false
	}
	var rows rowKind
	switch plain[0] {
	case "freeze":
		rows = freezeRows
	case "list", "ls":
		rows = listRows
		if format := f["--format"]; format != nil && format[0] != "columns" {
			rows = freezeRows
		}
	case "show":
		rows = showRows
	default:
		return false
	}
	t.stop(o)
	if muted || rows == showRows && f.has("--files", "-f") && len(plain) == 1 {
		return true
	}
	t.op, t.rows, t.waiting = o.NewOp("pip", name+" "+strings.Join(args, " ")), rows, maxWaiting
	o.Listen()
	return true
}

// stop ends the list.
func (t *listing) stop(o *evidence.Out) {
	if t.rows == noRows {
		return
	}
	if t.begun {
		o.Close(t.op, timeline.OpDone)
	}
	*t = listing{}
	o.Deafen()
}

// line reads one row.
func (t *listing) line(text []byte, o *evidence.Out) evidence.Result {
	if t.rows == noRows {
		return evidence.Miss
	}
	row := string(bytes.TrimRight(text, " \t"))
	var name, version string
	var ok bool
	switch t.rows {
	case freezeRows:
		name, version, ok = freezeRow(row)
	case listRows:
		name, version, ok = t.listRow(row)
	case showRows:
		name, version, ok = t.showRow(row)
	}
	if !ok {
		return t.other(row, o)
	}
	t.begun = true
	o.Seen(timeline.PyPI)
	if version != "" {
		o.Emit(timeline.Present, t.op, timeline.Item{Artifact: timeline.PURL("pypi", "", name, version)})
	}
	return evidence.Done
}

// other decides whether a line that is no row ends the list.
func (t *listing) other(row string, o *evidence.Out) evidence.Result {
	switch {
	case row == "" || strings.HasPrefix(row, "#") || strings.HasPrefix(row, "WARNING: ") || strings.HasPrefix(row, "[notice]"):
	case t.rows == showRows && t.begun:
	case t.begun || t.waiting == 0:
		t.stop(o)
	default:
		t.waiting--
	}
	return evidence.Miss
}

// freezeRow reads a row of pip freeze. A file or repository has no version
// unless its name says it.
//
//	litellm==1.107.0
//	litellm @ file:///srv/ci/job/wheels/litellm-1.107.0-py3-none-any.whl#sha256=2e37b770…
//	-e git+https://git.acme.example/router.git@4f2c#egg=acme_router
func freezeRow(row string) (name, version string, ok bool) {
	if strings.HasPrefix(row, "-e ") {
		return "", "", true
	}
	r, rest, ok := evidence.ParseRequirement(row)
	if !ok || rest != "" || r.URL == "" && r.Version == "" {
		return "", "", false
	}
	return r.Name, r.Version, true
}

// listRow reads a row of pip list, behind its head:
//
//	Package      Version
//	------------ -----------
//	litellm      1.107.0
func (t *listing) listRow(row string) (name, version string, ok bool) {
	words := strings.Fields(row)
	if len(words) < 2 {
		return "", "", t.begun && strings.Trim(row, "-") == "" && row != ""
	}
	if words[0] == "Package" && words[1] == "Version" || t.begun && strings.Trim(row, "- ") == "" {
		return "", "", true
	}
	if version, is := strings.CutPrefix(words[1], "("); is && len(words) == 2 { // pip 9: litellm (1.107.0)
		words[1] = strings.TrimSuffix(version, ")")
	} else if !t.begun {
		return "", "", false
	}
	return words[0], words[1], evidence.IsDistName(words[0]) && evidence.IsVersion(words[1])
}

// showRow reads pip show: Name, Version and other fields for each package.
func (t *listing) showRow(row string) (name, version string, ok bool) {
	if v, is := strings.CutPrefix(row, "Name: "); is && evidence.IsDistName(v) {
		t.name = v
		return v, "", true
	}
	if v, is := strings.CutPrefix(row, "Version: "); is && t.name != "" && evidence.IsVersion(v) {
		name, t.name = t.name, ""
		return name, v, true
	}
	return "", "", false
}
