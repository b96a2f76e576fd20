package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Pacman is /var/log/pacman.log.
// https://man.archlinux.org/man/pacman.8
var Pacman = evidence.Format{
	Name:   "pacman-log",
	Shape:  evidence.ToolShape,
	Title:  "pacman.log",
	Proves: "packages installed, replaced and removed, with versions and time",
	Cannot: "the time zone in the logs of pacman 5.1 and older: state it with --zone",
	Doc:    "https://man.archlinux.org/man/pacman.8",
	Sample: "written by hand after the documentation",
	Starts: []string{"[ALPM]", "[PACMAN]", "[19", "[20"},
	Tool:   func() evidence.Parser { return pacman{} },
}

type pacman struct{}

// Line reads one line; a frame may have taken the time off:
//
//	[2024-03-28T19:02:11+0100] [ALPM] upgraded xz (5.4.6-1 -> 5.6.1-1)
//	[2017-01-08 10:21] [ALPM] installed tmux (2.3-1)
func (pacman) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimSpace(l.Text)
	if l.Echo {
		return evidence.Miss
	}
	span := timeline.Span{}
	if text[1] == '1' || text[1] == '2' {
		end := bytes.Index(text, []byte("] ["))
		if end < 17 || end > 32 {
			return evidence.Miss
		}
		written := append([]byte(nil), text[1:end]...)
		if len(written) == 16 {
			written = append(written, ":00"...)
		}
		m, n := evidence.ParseISO(written)
		if n != len(written) {
			return evidence.Miss
		}
		span = m.Span(string(text[1:end]), &o.Times)
		text = text[end+2:]
	}
	rest, ok := bytes.CutPrefix(text, []byte("[ALPM] "))
	if !ok {
		if bytes.HasPrefix(text, []byte("[PACMAN] ")) {
			o.Seen("alpm")
			return evidence.Done
		}
		return evidence.Miss
	}
	o.Seen("alpm")
	verb, row, _ := strings.Cut(string(rest), " ")
	name, row, _ := strings.Cut(row, " (")
	versions, closed := strings.CutSuffix(row, ")")
	old, now, replaced := strings.Cut(versions, " -> ")
	if !closed || !isAPKName(strings.ReplaceAll(name, "@", "")) || strings.ContainsAny(versions, "()") {
		return evidence.Done // "transaction started"
	}
	emit := func(a timeline.Action, version string) {
		o.Event(timeline.Event{Action: a, Span: span, Items: []timeline.Item{evidence.SystemItem("alpm", "", name, "", version)}})
	}
	switch {
	case verb == "installed" || verb == "reinstalled":
		emit(timeline.Install, old)
	case (verb == "upgraded" || verb == "downgraded") && replaced:
		emit(timeline.Install, now)
		emit(timeline.Remove, old)
	case verb == "removed":
		emit(timeline.Remove, old)
	}
	return evidence.Done
}

// End does nothing: each line stands for itself.
func (pacman) End(timeline.OpState, *evidence.Out) {}
