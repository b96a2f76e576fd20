package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// JSONLines is a log of which each line is an object with a text and a time, as
// loggers write it and log stores export it.
// https://cloud.google.com/logging/docs/reference/v2/rest/v2/LogEntry
// https://docs.datadoghq.com/logs/log_configuration/attributes_naming_convention/
var JSONLines = evidence.Format{
	Name:   "json-lines",
	Shape:  evidence.FrameShape,
	Title:  "Lines in objects with a text and a time (Cloud Logging, Datadog, loggers)",
	Proves: "the time of each line, where it has one with a zone",
	Cannot: "who wrote it: its labels are anybody's",
	Doc:    "https://cloud.google.com/logging/docs/reference/v2/rest/v2/LogEntry",
	Sample: "written by hand after the documentation",
	Claim:  claimJSONLines,
	New:    func() evidence.Peeler { return &jsonLines{} },
}

// jsonTexts and jsonTimes are the names of the fields.
var (
	jsonTexts = map[string]bool{"message": true, "msg": true, "textPayload": true, "line": true, "log": true, "text": true, "content": true, "event": true, "_raw": true}
	jsonTimes = map[string]bool{"timestamp": true, "time": true, "ts": true, "@timestamp": true, "datetime": true, "_time": true}
)

// claimJSONLines wants two kinds of lines that no other program than a tool here
// prints.
func claimJSONLines(h *evidence.Head) bool {
	if len(h.Bytes) == 0 || h.Bytes[0] != '{' || !mentionsTool(h.Bytes) {
		return false
	}
	kinds := map[string]bool{}
	var buf []byte
	for line := range bytes.Lines(h.Bytes) {
		written, _ := jsonLine(line)
		if written == nil || !mentionsTool(written) {
			continue
		}
		var text []byte
		ok := false
		if text, buf, ok = evidence.UnquoteJSON(written, buf); ok && toolLines().Match(text) {
			kinds[string(kindOf(text))] = true
		}
	}
	return len(kinds) > 1
}

// jsonLine returns the text and the time of a line as they are written, nil when it
// is no such object:
//
//	{"insertId":"a1","textPayload":"Collecting litellm","timestamp":"2026-10-21T12:04:51.123Z"}
//	{"level":"info","ts":1792584291.25,"msg":"Collecting litellm"}
func jsonLine(line []byte) (text, stamp []byte) {
	f := evidence.JSONFields(line)
	for f.Next() {
		switch {
		case jsonTexts[string(f.Key)] && text == nil && len(f.Value) > 1 && f.Value[0] == '"':
			text = f.Value
		case jsonTimes[string(f.Key)]:
			stamp = bytes.Trim(f.Value, `"`)
		}
	}
	if !f.Whole() {
		return nil, nil
	}
	return text, stamp
}

type jsonLines struct{ buf []byte }

// Peel takes the object off.
func (j *jsonLines) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	child := s.Child(o, nil)
	written, stamp := jsonLine(l.Text)
	if written == nil {
		return child
	}
	text, buf, ok := evidence.UnquoteJSON(written, j.buf)
	if j.buf = buf; !ok {
		return child
	}
	read := evidence.ISOStamp
	if epochLen(stamp) == len(stamp) {
		read = sinceEpoch
	}
	if len(stamp) > 0 {
		child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], stamp...), Read: read}
		l.Stamp = child.Last
	}
	l.Strip(bytes.TrimRight(text, "\r\n"))
	return child
}
