package frame

import (
	"bytes"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// CloudWatch is a log event of Amazon CloudWatch Logs, one object per line.
// https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilteredLogEvent.html
var CloudWatch = evidence.Format{
	Name:   "cloudwatch-event",
	Shape:  evidence.FrameShape,
	Title:  "CloudWatch Logs events",
	Proves: "time of each line (UTC, ms), log stream",
	Cannot: "which host or job a log stream belongs to",
	Doc:    "https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilteredLogEvent.html",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		line, _, _ := bytes.Cut(h.Bytes, []byte("\n"))
		var c cloudWatchLine
		return c.parse(line)
	},
	First: "{",
	Looks: func(text []byte) bool { return bytes.Contains(text, []byte(`Time"`)) }, // of ingestionTime: capitals are rare
	New:   func() evidence.Peeler { return &cloudWatch{} },
}

type cloudWatchLine struct{ message, stamp, stream, ingested []byte }

// parse reads
//
//	{"eventId":"36…","ingestionTime":1792584291413,"logStreamName":"api","message":"Collecting litellm","timestamp":1792584291365}
func (c *cloudWatchLine) parse(line []byte) bool {
	if len(line) == 0 || line[0] != '{' || !bytes.Contains(line, []byte(`"ingestionTime"`)) {
		return false
	}
	f := evidence.JSONFields(line)
	for f.Next() {
		switch string(f.Key) {
		case "message":
			c.message = f.Value
		case "timestamp":
			c.stamp = f.Value
		case "logStreamName":
			c.stream = f.Value
		case "ingestionTime":
			c.ingested = f.Value
		}
	}
	return f.Whole() && len(c.message) > 1 && c.message[0] == '"' && number(c.stamp) && number(c.ingested)
}

type cloudWatch struct{ buf []byte }

// Peel takes the event's fields off.
func (c *cloudWatch) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	var line cloudWatchLine
	if !line.parse(l.Text) {
		return nil
	}
	text, buf, _ := evidence.UnquoteJSON(line.message, c.buf)
	c.buf = buf
	child := s.Child(o, line.stream)
	child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], line.stamp...), Read: milliseconds}
	l.Stamp = child.Last
	l.Strip(bytes.TrimRight(text, "\r\n"))
	return child
}

func milliseconds(text []byte, _ *evidence.Times) timeline.Span {
	return evidence.Epoch(integer(text), time.Millisecond, string(text))
}

func microseconds(text []byte, _ *evidence.Times) timeline.Span {
	return evidence.Epoch(integer(text), time.Microsecond, string(text))
}

// integer reads a number of digits, -1 when it is none or too large.
func integer(b []byte) int64 {
	if !number(b) || len(b) > 18 {
		return -1
	}
	n := int64(0)
	for _, c := range b {
		n = n*10 + int64(c-'0')
	}
	return n
}
