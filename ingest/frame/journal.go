package frame

import (
	"bytes"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// JournalJSON is the systemd journal as journalctl -o json and -o json-pretty
// write it (json-seq and json-sse too), and as shippers forward it. Its text form is syslog.
// https://systemd.io/JOURNAL_EXPORT_FORMATS/
var JournalJSON = evidence.Format{
	Name:   "journald-json",
	Shape:  evidence.FrameShape,
	Title:  "systemd journal as JSON",
	Proves: "time (UTC, µs), host and program of each entry; container and image of the lines that Docker's journald driver writes",
	Cannot: "that the journal is whole: it is rotated by size",
	Doc:    "https://systemd.io/JOURNAL_EXPORT_FORMATS/",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		head := journalRecord(bytes.TrimLeft(h.Bytes[:min(len(h.Bytes), 16<<10)], " \t\r\n"))
		return len(head) > 0 && head[0] == '{' && bytes.Contains(head, []byte(journalKey))
	},
	First: "{\x1ed",
	Looks: func(text []byte) bool {
		return text[0] == '{' && bytes.Contains(text, []byte(journalKey[1:])) || text[0] == 0x1e || bytes.HasPrefix(text, []byte("data: {"))
	},
	New: func() evidence.Peeler { return &journal{images: map[string]bool{}} },
}

// journalKey is the field that every entry has.
const journalKey = `"__REALTIME_TIMESTAMP"`

// journalRecord takes off what -o json-seq (RFC 7464) and -o json-sse put in
// front of an entry.
func journalRecord(text []byte) []byte {
	if rest, ok := bytes.CutPrefix(text, []byte("data: {")); ok {
		return text[len(text)-len(rest)-1:]
	}
	return bytes.TrimPrefix(text, []byte{0x1e})
}

// maxImages bounds the images of containers that were seen in one source.
const maxImages = 4096

type journal struct {
	buf    []byte
	record []byte // a pretty entry up to the line at work
	inside bool
	parts  parts
	images map[string]bool // container and image that have their event
	clocks map[string]bootClock
}

// bootClock is by how much the clock of a host is ahead of the one that counts
// since its start, in microseconds.
type bootClock struct {
	boot        string
	ahead, last int64
}

// journalEntry is an entry taken apart; the values are as written.
type journalEntry struct {
	stamp, source, host, program, comm, pid, message []byte
	container, image, partial                        []byte
	monotonic, boot                                  []byte
}

func (e *journalEntry) parse(text []byte) bool {
	f := evidence.JSONFields(text)
	for f.Next() {
		v := f.Value
		switch string(f.Key) {
		case "__REALTIME_TIMESTAMP":
			e.stamp = unquoted(v)
		case "__MONOTONIC_TIMESTAMP":
			e.monotonic = unquoted(v)
		case "_BOOT_ID":
			e.boot = unquoted(v)
		case "_SOURCE_REALTIME_TIMESTAMP":
			e.source = unquoted(v)
		case "_HOSTNAME", "hostname", "host":
			if v[0] == '"' && len(e.host) == 0 {
				e.host = unquoted(v)
			}
		case "SYSLOG_IDENTIFIER":
			e.program = unquoted(v)
		case "_COMM":
			e.comm = unquoted(v)
		case "_PID":
			e.pid = unquoted(v)
		case "MESSAGE", "message":
			e.message = v
		case "CONTAINER_ID_FULL", "CONTAINER_ID":
			if len(v) > len(e.container) {
				e.container = unquoted(v)
			}
		case "IMAGE_NAME":
			e.image = unquoted(v)
		case "CONTAINER_PARTIAL_MESSAGE":
			e.partial = unquoted(v)
		}
	}
	return f.Whole() && number(e.stamp)
}

// unquoted drops quotes; a field that was given several times is an array.
func unquoted(v []byte) []byte { return bytes.Trim(v, `"[]`) }

// Peel takes one entry, or gathers the lines of a pretty one.
func (j *journal) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	text := journalRecord(l.Text)
	if j.inside || o.IsClaimed(s) && bytes.Equal(bytes.TrimSpace(text), []byte("{")) {
		if !o.IsClaimed(s) {
			return nil
		}
		j.inside = true
		if len(j.record)+len(text) > maxPart {
			o.Skip("an entry of more than 1 MiB")
			j.record, j.inside = j.record[:0], false
			return s
		}
		j.record = append(append(j.record, text...), '\n')
		if len(text) == 0 || text[0] != '}' {
			return s
		}
		text = j.record
		j.record, j.inside = j.record[:0], false
	} else if len(text) == 0 || text[0] != '{' || !bytes.Contains(text, []byte(journalKey)) {
		return nil
	}
	var e journalEntry
	if !e.parse(text) {
		if o.IsClaimed(s) {
			o.Skip("no whole journal entry")
			return s
		}
		return nil
	}
	message, ok := j.text(e.message)
	if !ok {
		message = nil
	}
	return j.entry(&e, message, l, s, o)
}

// entry hands the message of an entry on; nil is none.
func (j *journal) entry(e *journalEntry, message []byte, l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	program := e.program
	if len(program) == 0 {
		program = e.comm
	}
	if len(e.container) > 0 {
		// The daemon passes on what a container printed: not its own words.
		program = e.container
	}
	key := append(append(append([]byte{}, e.host...), 0), program...)
	child := s.Child(o, append(append(key, 0), e.pid...))
	stamp := e.stamp
	if number(e.source) {
		stamp = e.source // when the program wrote, not when the journal took it
	}
	child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], stamp...), Read: microseconds}
	l.Stamp = child.Last
	child.Excerpts = len(e.container) == 0
	j.who(e, child, s, o)
	j.clock(e, child, o)
	if len(e.container) == 0 {
		child.Program = string(program)
	}
	if message == nil {
		return s
	}
	if string(e.partial) == "true" {
		j.parts.add(key, message)
		return s
	}
	l.Strip(bytes.TrimRight(j.parts.take(key, message), "\r\n"))
	if command := loggedCommand(program, l.Text); command != nil {
		l.Text, l.Echo = command, true
	}
	return child
}

// clock tells of a clock that was set: within one start of a host it runs with
// the other that the journal has, which nobody sets. A journal that was printed
// backwards tells nothing of it.
// https://www.freedesktop.org/software/systemd/man/latest/systemd.journal-fields.html
func (j *journal) clock(e *journalEntry, child *evidence.Stream, o *evidence.Out) {
	since := integer(e.monotonic)
	if since < 0 || len(e.boot) == 0 {
		return
	}
	now := bootClock{string(e.boot), integer(e.stamp) - since, since}
	before, known := j.clocks[string(e.host)]
	o.Enter(child)
	switch by := now.ahead - before.ahead; {
	case !known:
		if j.clocks == nil {
			j.clocks = map[string]bootClock{}
		}
		if len(j.clocks) >= maxPrograms {
			return
		}
	case before.boot != now.boot:
		o.Booted()
	case since < before.last:
		return
	case by >= leastStep || by <= -leastStep:
		o.Stepped(time.Duration(by) * time.Microsecond)
	}
	j.clocks[string(e.host)] = now
}

// leastStep is a minute and a half in microseconds: less is how clocks are kept
// right.
const leastStep = 90_000_000

// who names the subject: the container whose output the entry is, else the
// host. A line of a container that names its image proves that the image is in
// place.
func (j *journal) who(e *journalEntry, child, s *evidence.Stream, o *evidence.Out) {
	host := hostSubject(s, e.host)
	if child.Subject.IsZero() {
		child.Subject = host
		if len(e.container) >= 12 && (s.Who().IsZero() || s.Who().Kind == timeline.Host) {
			id := string(e.container[:12])
			if !host.IsZero() {
				id = host.ID + "/" + id
			}
			child.Subject = timeline.Subject{Kind: timeline.Container, ID: id}
			if !host.IsZero() {
				o.Link(timeline.On, child.Subject.String(), host.String())
			}
		}
	}
	if len(e.image) == 0 || len(e.container) < 12 {
		return
	}
	seen := string(e.container) + " " + string(e.image)
	image := timeline.NormalizeImage(string(e.image))
	if image == "" || j.images[seen] || len(j.images) > maxImages {
		return
	}
	j.images[seen] = true
	o.Event(timeline.Event{Action: timeline.Present, Subject: child.Subject, Items: []timeline.Item{{Artifact: image}}})
}

// text reads MESSAGE: a string, or an array of bytes when it is no UTF-8, or
// null when it was too long to print.
func (j *journal) text(raw []byte) ([]byte, bool) {
	if len(raw) > 0 && raw[0] == '[' {
		out := j.buf[:0]
		for _, w := range bytes.Split(raw[1:len(raw)-1], []byte(",")) {
			n := integer(bytes.TrimSpace(w))
			if n < 0 || n > 255 {
				return nil, false
			}
			out = append(out, byte(n))
		}
		j.buf = out
		return out, true
	}
	text, buf, ok := evidence.UnquoteJSON(raw, j.buf)
	j.buf = buf
	return text, ok
}

// End says when the journal stops inside an entry.
func (j *journal) End(o *evidence.Out) {
	if j.inside || j.parts.open() {
		o.Cut("the journal ends inside an entry")
	}
}
