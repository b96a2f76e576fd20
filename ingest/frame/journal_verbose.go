package frame

import (
	"bytes"
	"strconv"

	"pulltrail/ingest/evidence"
)

// JournalVerbose is the systemd journal as journalctl -o verbose prints it: a
// line with the time, and all fields of the entry below it.
// https://www.freedesktop.org/software/systemd/man/latest/journalctl.html
var JournalVerbose = evidence.Format{
	Name:   "journald-verbose",
	Shape:  evidence.FrameShape,
	Title:  "journalctl -o verbose",
	Proves: "time (UTC, µs), host and program of each entry; container and image of the lines that Docker's journald driver writes",
	Cannot: "that the journal is whole: it is rotated by size; messages that were no text",
	Doc:    "https://www.freedesktop.org/software/systemd/man/latest/journalctl.html",
	Sample: "systemd 252 run for this project",
	Claim:  claimJournalVerbose,
	New: func() evidence.Peeler {
		return &journalVerbose{journalExport: journalExport{journal: journal{images: map[string]bool{}}}}
	},
}

func claimJournalVerbose(h *evidence.Head) bool {
	rest := h.Bytes
	for range 5 {
		line, more, _ := bytes.Cut(rest, []byte("\n"))
		rest = more
		if line = bytes.TrimRight(line, "\r"); len(line) > 0 && !journalNote(line) {
			return verboseTime(line) != nil
		}
	}
	return false
}

// verboseTime returns the time of the line that begins an entry, in
// microseconds; nil when it is none. It stands in the cursor, in hexadecimal
// digits, whatever zone the time before it has:
//
//	Wed 2026-10-21 12:04:51.251122 UTC [s=5ebb23513d0b4cd59bc7c265976456c4;i=1;b=2a9a0b466cc24dc6b24d8ddea42e83fa;m=502032;t=65e588de8f3b2;x=ff3f80f448fcc334]
func verboseTime(line []byte) []byte {
	head, cursor, ok := bytes.Cut(line, []byte(" [s="))
	if !ok || len(head) < 26 || len(head) > 48 || head[3] != ' ' || head[8] != '-' {
		return nil
	}
	_, t, ok := bytes.Cut(cursor, []byte(";t="))
	t, _, end := bytes.Cut(t, []byte(";x="))
	if !ok || !end {
		return nil
	}
	us, err := strconv.ParseInt(string(t), 16, 64)
	if err != nil {
		return nil
	}
	return strconv.AppendInt(nil, us, 10)
}

// journalVerbose gathers the fields of an entry; the next one ends it.
type journalVerbose struct {
	journalExport
	in       *evidence.Stream
	name     string // of the field whose value may go on
	value    []byte
	released bool // the line at work is the message of the entry
	line     evidence.Line
}

// fieldIndent stands before a field, more of it before what its value goes on
// with.
const fieldIndent = "    "

// Peel takes one line of an entry:
//
//	_HOSTNAME=prod-3
//	MESSAGE=Collecting litellm
//	        Successfully installed litellm-1.107.0
func (j *journalVerbose) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	if j.released {
		j.released = false
		return j.finish(l, s, o)
	}
	j.in = s
	if t := verboseTime(l.Text); t != nil {
		j.release(o)
		j.fields = 1
		j.entryFields.stamp = t
		return s
	}
	rest, indented := bytes.CutPrefix(l.Text, []byte(fieldIndent))
	name, value, plain := bytes.Cut(rest, []byte("="))
	switch {
	case len(l.Text) == 0 && j.name != "":
		j.value = append(j.value, '\n')
	case len(l.Text) == 0 || journalNote(l.Text):
	case indented && j.name != "" && len(rest) > len(j.name) && len(bytes.TrimLeft(rest[:len(j.name)+1], " ")) == 0:
		if len(j.value)+len(rest) < maxPart {
			j.value = append(append(j.value, '\n'), rest[len(j.name)+1:]...)
		}
	case indented && plain && fieldName(name) && j.fields > 0:
		j.settle()
		j.name, j.value = string(name), append(j.value[:0], value...)
		if j.name == "MESSAGE" {
			j.no, j.off = l.No, l.Off
		}
		j.fields++
	default:
		o.Skip("no line of a journal entry")
	}
	return s
}

// settle keeps the field that was read.
func (j *journalVerbose) settle() {
	if j.name != "" && !blob(j.value) {
		j.field(j.name, j.value, &evidence.Line{No: j.no, Off: j.off})
	}
	j.name = ""
}

// blob knows what is printed for a value that is no text: [1.2K blob data].
func blob(value []byte) bool {
	return len(value) > 0 && value[0] == '[' && bytes.HasSuffix(value, []byte(" blob data]"))
}

// release reads the entry that is over.
func (j *journalVerbose) release(o *evidence.Out) {
	if j.fields == 0 {
		return
	}
	j.settle()
	j.released = true
	j.line = evidence.Line{No: j.no, Off: j.off}
	o.Feed(&j.line, j.in)
	j.released = false
}

// End reads the last entry.
func (j *journalVerbose) End(o *evidence.Out) {
	j.release(o)
	if j.parts.open() {
		o.Cut("the journal ends inside an entry")
	}
}
