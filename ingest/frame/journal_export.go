package frame

import (
	"bytes"
	"encoding/binary"

	"pulltrail/ingest/evidence"
)

// JournalExport is the systemd journal in its export format, as journalctl -o
// export and systemd-journal-remote write it.
// https://systemd.io/JOURNAL_EXPORT_FORMATS/
var JournalExport = evidence.Format{
	Name:   "journald-export",
	Shape:  evidence.FrameShape,
	Title:  "systemd journal in the export format",
	Proves: "time (UTC, µs), host and program of each entry; container and image of the lines that Docker's journald driver writes",
	Cannot: "that the journal is whole: it is rotated by size",
	Doc:    "https://systemd.io/JOURNAL_EXPORT_FORMATS/",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		return bytes.HasPrefix(h.Bytes, []byte("__CURSOR=")) || bytes.HasPrefix(h.Bytes, []byte("__REALTIME_TIMESTAMP="))
	},
	First: "_",
	New:   func() evidence.Peeler { return &journalExport{journal: journal{images: map[string]bool{}}} },
}

// journalExport gathers the fields of an entry.
type journalExport struct {
	journal
	entryFields journalEntry
	message     []byte // decoded
	fields      int
	no, off     int64 // of the line with the message
	binary      binaryField
}

// binaryField is a value that follows its name with its length. Escape
// sequences were taken out of the lines already: where the value ends is told
// by the offset of the lines, not by what is left of them.
type binaryField struct {
	name  string // "": none is being read
	raw   []byte // what came of it, its length first
	begin int64  // offset of its length, -1 before its first line
	end   int64  // offset of its last byte's successor, -1 when that is not known
}

// Peel takes one field; an empty line ends the entry:
//
//	__REALTIME_TIMESTAMP=1792584291904275
//	_HOSTNAME=prod-3
//	SYSLOG_IDENTIFIER=dockerd
//	MESSAGE=Collecting litellm
//
// A value of several lines follows its name with its length, eight bytes.
func (j *journalExport) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	if j.binary.name != "" && j.binary.takes(l) {
		if len(j.binary.raw) > maxPart {
			o.Skip("a field of more than 1 MiB")
			j.binary.name = ""
		}
		return s
	}
	if j.binary.name != "" {
		j.field(j.binary.name, j.binary.value(), l)
		j.binary.name = ""
	}
	if len(l.Text) == 0 {
		if j.fields == 0 {
			return s
		}
		return j.finish(l, s, o)
	}
	name, value, plain := bytes.Cut(l.Text, []byte("="))
	switch {
	case !fieldName(name):
		o.Skip("no field of a journal entry")
	case !plain:
		j.binary = binaryField{name: string(name), raw: j.binary.raw[:0], begin: -1, end: -1}
	default:
		j.field(string(name), value, l)
	}
	j.fields++
	return s
}

func fieldName(name []byte) bool {
	for _, c := range name {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return len(name) > 0 && len(name) <= 64
}

// takes adds a line to the value; false when it stands behind it.
func (b *binaryField) takes(l *evidence.Line) bool {
	if b.begin < 0 {
		b.begin = l.Off
	} else {
		name, _, plain := bytes.Cut(l.Text, []byte("="))
		if b.end >= 0 && l.Off > b.end || b.end < 0 && len(b.raw) > 8 && (len(l.Text) == 0 || plain && fieldName(name)) {
			return false
		}
		b.raw = append(b.raw, '\n')
	}
	b.raw = append(b.raw, l.Text...)
	if b.end < 0 && len(b.raw) >= 8 {
		if n := binary.LittleEndian.Uint64(b.raw); n < 1<<32 {
			b.end = b.begin + 8 + int64(n)
		}
	}
	return true
}

// value is the text without its length.
func (b *binaryField) value() []byte {
	if b.end >= 0 {
		return b.raw[8:]
	}
	return bytes.TrimLeftFunc(b.raw, func(r rune) bool { return r < ' ' })
}

func (j *journalExport) field(name string, value []byte, l *evidence.Line) {
	e := &j.entryFields
	keep := func(to *[]byte) { *to = append((*to)[:0], value...) }
	switch name {
	case "__REALTIME_TIMESTAMP":
		keep(&e.stamp)
	case "__MONOTONIC_TIMESTAMP":
		keep(&e.monotonic)
	case "_BOOT_ID":
		keep(&e.boot)
	case "_SOURCE_REALTIME_TIMESTAMP":
		keep(&e.source)
	case "_HOSTNAME":
		keep(&e.host)
	case "SYSLOG_IDENTIFIER":
		keep(&e.program)
	case "_COMM":
		keep(&e.comm)
	case "_PID":
		keep(&e.pid)
	case "CONTAINER_ID_FULL":
		keep(&e.container)
	case "IMAGE_NAME":
		keep(&e.image)
	case "CONTAINER_PARTIAL_MESSAGE":
		keep(&e.partial)
	case "MESSAGE":
		keep(&j.message)
		j.no, j.off = l.No, l.Off
	}
}

// finish hands the message of the entry on.
func (j *journalExport) finish(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	e := j.entryFields
	message := bytes.Clone(j.message)
	no, off := j.no, j.off
	j.entryFields, j.message, j.fields, j.no = journalEntry{}, nil, 0, 0
	if !number(e.stamp) {
		o.Skip("no whole journal entry")
		return s
	}
	if no > 0 {
		l.No, l.Off = no, off
	}
	l.Flat = false
	return j.entry(&e, message, l, s, o)
}

// End reads an entry that no empty line ends.
func (j *journalExport) End(o *evidence.Out) {
	if j.fields > 0 || j.parts.open() {
		o.Cut("the journal ends inside an entry")
	}
}
