package document

import (
	"bytes"
	"strconv"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// recordOf is the JSON object that is the text of a line.
func recordOf(l *evidence.Line) value { return value{l.Text, 0, len(l.Text)} }

// isRecord reports whether a line is a record, not text.
func isRecord(l *evidence.Line) bool {
	text := evidence.TrimIndent(l.Text)
	return len(text) > 0 && text[0] == '{'
}

// raw is the value as written, without blanks around it and without quotes.
func (v value) raw() []byte {
	return bytes.Trim(bytes.TrimSpace(v.doc[v.off:v.end]), `"`)
}

// integer reads a whole number, also one that a tool in between wrote as text
// or with an exponent.
func (v value) integer() (n int64, ok bool) {
	raw := string(v.raw())
	n, err := strconv.ParseInt(raw, 10, 64)
	if err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil || f < -1e18 || f > 9.2e18 {
		return 0, false
	}
	return int64(f), true
}

// number reads a number, also one that stands in a text.
func (v value) number() (f float64, ok bool) {
	f, err := strconv.ParseFloat(string(v.raw()), 64)
	return f, err == nil && f < 1e9
}

// stamp reads an ISO 8601 time, the zero span when there is none: the line's
// own clock then holds.
func (v value) stamp(o *evidence.Out) timeline.Span {
	text := v.text()
	if text == "" {
		return timeline.Span{}
	}
	if s := evidence.ISOStamp([]byte(text), &o.Times); s.Clock != timeline.Unset || s.Written != "" {
		return s
	}
	return timeline.Span{}
}

// imageItem is an image as a daemon or client names it, with the digest in the
// name; ok is false for what is no reference, such as an image ID.
func imageItem(ref string) (item timeline.Item, ok bool) {
	r, ok := timeline.ParseImage(ref)
	if !ok {
		return item, false
	}
	item.Artifact = r.String()
	if r.Digest != "" {
		item.Digests = []timeline.Digest{{Value: r.Digest}}
	}
	return item, true
}

// onHost names a container of the host that the line belongs to, if it names
// one, and links it there.
func onHost(o *evidence.Out, id string, span timeline.Span) timeline.Subject {
	who := timeline.Subject{Kind: timeline.Container, ID: id}
	if host := o.Subject(); host.Kind == timeline.Host {
		who.ID = host.ID + "/" + id
		o.LinkOver(span, timeline.On, who.String(), host.String())
	}
	return who
}

// contacted counts a contact of an address with a host.
func contacted(c *evidence.Contacts, client, host string, span timeline.Span, o *evidence.Out) {
	if endpoint := evidence.Endpoint(host); endpoint != "" && client != "" {
		c.Add(o, timeline.Subject{Kind: timeline.Client, ID: client}, endpoint, span)
	}
}
