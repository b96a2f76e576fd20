package tool

import (
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// DpkgLog is the log that dpkg keeps of what it does.
// https://manpages.debian.org/bookworm/dpkg/dpkg.1.en.html
var DpkgLog = evidence.Format{
	Name:   "dpkg-log",
	Shape:  evidence.ToolShape,
	Title:  "dpkg.log",
	Proves: "which package versions were unpacked, replaced and removed, when",
	Cannot: "the zone of its times; where a package came from; the distribution",
	Doc:    "https://manpages.debian.org/bookworm/dpkg/dpkg.1.en.html",
	Sample: "dpkg 1.21 run for this project, and by hand",
	Starts: []string{"20", "status ", "upgrade ", "remove ", "purge ", "install ", "configure ", "trigproc ", "startup ", "conffile "},
	Tool:   func() evidence.Parser { return &dpkgLog{} },
}

type dpkgLog struct {
	old  recent // package → the version that an upgrade or removal takes away
	done recent // package → the version that has its event
	open []begun
}

// begun is a package whose unpacking began.
type begun struct {
	name, version string
	mark          evidence.Mark
	span          timeline.Span
}

// Line reads one line; a frame may have taken the time off:
//
//	2026-10-21 14:36:29 status unpacked libgdbm6:amd64 1.23-3
//	2026-10-21 14:36:30 upgrade openssl:amd64 3.0.11-1 3.0.15-1
func (d *dpkgLog) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	var span timeline.Span
	if m, n := evidence.ParseISO(text); n == 19 && len(text) > 20 && text[10] == ' ' && text[19] == ' ' {
		span, text = m.Span(string(text[:n]), &o.Times), text[20:]
	}
	words := strings.Fields(string(text[:min(len(text), 500)]))
	if !dpkgLine(words) {
		return evidence.Miss
	}
	switch words[0] {
	case "install", "upgrade":
		d.done.put(words[1], "")
		if d.old.put(words[1], words[2]); len(d.open) < maxPulls {
			d.open = append(d.open, begun{words[1], words[3], o.Mark(), span})
		}
	case "remove", "purge":
		d.old.put(words[1], words[2])
	case "status":
		d.status(words[1], words[2], words[3], span, o)
	}
	return evidence.Done
}

// dpkgLine reports whether the words are a line of dpkg's.
func dpkgLine(words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "startup":
		return len(words) == 3 && (words[1] == "archives" || words[1] == "packages")
	case "conffile":
		return len(words) == 3 && strings.HasPrefix(words[1], "/")
	case "status", "install", "upgrade", "remove", "purge", "configure", "trigproc":
		at := 1
		if words[0] == "status" {
			at = 2
		}
		return len(words) == 4 && debName(words[at])
	}
	return false
}

// debName reports whether text is a package with its architecture.
func debName(text string) bool {
	name, arch, ok := strings.Cut(text, ":")
	return ok && len(name) > 1 && arch != "" && !strings.ContainsAny(text, "/=\"'(){}[]<>,;@ ") && (name[0] >= 'a' && name[0] <= 'z' || name[0] >= '0' && name[0] <= '9')
}

// status reads a state that was reached. Half-installed is none; the version
// that an upgrade replaces is said to be unpacked once more, and a package whose
// trigger ran to be installed:
//
//	2026-05-09 07:28:46 upgrade tzdata:all 2025b-0+deb12u1 2025b-0+deb12u2
//	2026-05-09 07:28:46 status unpacked tzdata:all 2025b-0+deb12u1
//	2026-05-09 07:28:50 status unpacked tzdata:all 2025b-0+deb12u2
func (d *dpkgLog) status(state, name, version string, span timeline.Span, o *evidence.Out) {
	old := d.old.get(name)
	event := func(a timeline.Action, version string) {
		o.Event(timeline.Event{Action: a, Span: span, Items: []timeline.Item{{Artifact: debPURL(name, version)}}})
	}
	switch state {
	case "unpacked", "installed":
		if d.done.get(name) == version {
			return
		}
		if !slices.ContainsFunc(d.open, func(b begun) bool { return b.name == name && b.version == version }) {
			if state == "installed" {
				d.done.put(name, version)
				event(timeline.Present, version)
			}
			return
		}
		d.done.put(name, version)
		d.open = slices.DeleteFunc(d.open, func(b begun) bool { return b.name == name })
		if old != "" && old != version && old != "<none>" {
			event(timeline.Remove, old)
		}
		event(timeline.Install, version)
	case "config-files", "not-installed":
		if old == "" || old == "<none>" {
			return
		}
		event(timeline.Remove, old)
		d.done.put(name, "")
	default:
		return
	}
	d.old.put(name, "")
}

// debPURL is a package as Debian's tools name it, name:architecture. They do
// not say of which distribution it is.
func debPURL(name, version string) string {
	name, arch, _ := strings.Cut(name, ":")
	p := timeline.PURL("deb", "", name, version)
	if arch != "" {
		p += "?arch=" + arch
	}
	return p
}

// End records what was only begun: that it was chosen.
func (d *dpkgLog) End(_ timeline.OpState, o *evidence.Out) {
	for _, b := range d.open {
		o.At(b.mark, timeline.Event{Action: timeline.Resolve, Span: b.span, Items: []timeline.Item{{Artifact: debPURL(b.name, b.version)}}})
	}
	d.open = nil
}
