package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// APK is the output of Alpine's package manager.
// https://wiki.alpinelinux.org/wiki/Alpine_Package_Keeper
var APK = evidence.Format{
	Name:   "apk",
	Shape:  evidence.ToolShape,
	Title:  "apk output",
	Proves: "packages installed, replaced and removed, with versions, when apk ends with OK",
	Cannot: "which of them were done when it does not",
	Doc:    "https://wiki.alpinelinux.org/wiki/Alpine_Package_Keeper",
	Sample: "written by hand after the documentation",
	Starts: []string{"fetch http", "(1", "(2", "(3", "(4", "(5", "(6", "(7", "(8", "(9", "( ", "OK: ", "ERROR: "},
	Tool:   func() evidence.Parser { return &apk{} },
}

// apk holds its rows until it says OK: each is printed before it is done.
type apk struct {
	op     *evidence.Op
	distro string
	rows   []apkRow
}

type apkRow struct {
	mark      evidence.Mark
	item, old timeline.Item
	gone      bool
}

// Line reads one line.
func (a *apk) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return evidence.Miss
	}
	text := string(bytes.TrimSpace(l.Text))
	switch text[0] {
	case 'f':
		// fetch http://dl-cdn.alpinelinux.tld/alpine/v3.12/main/x86_64/APKINDEX.tar.gz
		if !strings.HasSuffix(text, "/APKINDEX.tar.gz") {
			return evidence.Miss
		}
		if strings.Contains(text, "/alpine/") {
			a.distro = "alpine"
		}
		return evidence.Done
	case '(':
		return a.row(text, o)
	case 'O':
		// OK: 22 MiB in 20 packages
		if !strings.HasSuffix(text, " packages") || !strings.Contains(text, "iB in ") {
			return evidence.Miss
		}
		if a.op == nil && o.Awaited("apk") {
			a.op = o.Invocation("apk") // nothing was to do
		}
		o.Seen("apk")
		a.finish(true, timeline.OpDone, o)
		return evidence.Done
	}
	return evidence.Miss
}

// row reads one operation:
//
//	(1/6) Installing ca-certificates (20191127-r4)
//	( 2/10) Upgrading musl (1.1.24-r9 -> 1.1.24-r10)
//	(3/3) Purging curl (7.69.1-r1)
func (a *apk) row(text string, o *evidence.Out) evidence.Result {
	count, rest, ok := strings.Cut(text[1:], ") ")
	verb, rest, _ := strings.Cut(rest, " ")
	name, rest, versioned := strings.Cut(rest, " (")
	versions, closed := strings.CutSuffix(rest, ")")
	if !ok || !versioned || !closed || strings.Trim(count, "0123456789/ ") != "" || !strings.Contains(count, "/") || !isAPKName(name) {
		return evidence.Miss
	}
	old, version, replaced := strings.Cut(versions, " -> ")
	if !replaced {
		version = old
	}
	if !isAPKVersion(version) || !isAPKVersion(old) {
		return evidence.Miss
	}
	r := apkRow{mark: o.Mark(), item: evidence.SystemItem("apk", a.distro, name, "", version)}
	switch verb {
	case "Installing", "Reinstalling":
	case "Upgrading", "Downgrading", "Replacing":
		if replaced {
			r.old = evidence.SystemItem("apk", a.distro, name, "", old)
		}
	case "Purging":
		r.gone = true
	default:
		return evidence.Miss
	}
	if a.op != nil && o.Overtaken(a.op) {
		a.finish(false, timeline.OpOpen, o)
	}
	if a.op == nil {
		a.op = o.Invocation("apk")
		o.Seen("apk")
	}
	if len(a.rows) < maxNPMNames {
		a.rows = append(a.rows, r)
	}
	return evidence.Done
}

func isAPKName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._") == ""
}

func isAPKVersion(s string) bool {
	return s != "" && (s[0] >= '0' && s[0] <= '9' || s[0] == '.') && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789._-~") == ""
}

// finish ends the invocation. Without the last line its rows are plans.
func (a *apk) finish(ok bool, how timeline.OpState, o *evidence.Out) {
	if a.op == nil {
		return
	}
	emit := func(r apkRow, action timeline.Action, it timeline.Item) {
		o.At(r.mark, timeline.Event{Action: action, Op: a.op.Number, Items: []timeline.Item{it}})
	}
	for _, r := range a.rows {
		switch {
		case !ok && r.gone:
			emit(r, timeline.Present, r.item)
		case !ok:
			emit(r, timeline.Resolve, r.item)
		case r.gone:
			emit(r, timeline.Remove, r.item)
		default:
			emit(r, timeline.Install, r.item)
			if r.old.Artifact != "" && r.old.Artifact != r.item.Artifact {
				emit(r, timeline.Remove, r.old)
			}
		}
	}
	if ok {
		a.op.Answer()
	}
	o.Close(a.op, how)
	*a = apk{distro: a.distro}
}

// End ends the invocation.
func (a *apk) End(how timeline.OpState, o *evidence.Out) { a.finish(false, how, o) }
