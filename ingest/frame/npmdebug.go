package frame

import (
	"bytes"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// NPMDebug is the log that npm writes of each invocation, whatever its log
// level: a number before every message.
// https://docs.npmjs.com/cli/using-npm/logging
var NPMDebug = evidence.Format{
	Name:   "npm-debug-log",
	Shape:  evidence.FrameShape,
	Title:  "npm debug log (_logs/…-debug-0.log, npm-debug.log)",
	Proves: "when the invocation began (npm 7 and newer)",
	Cannot: "the time of a line; the host",
	Doc:    "https://github.com/npm/cli/blob/latest/docs/lib/content/using-npm/logging.md",
	Sample: "npm 11.19.1 run for this project",
	Claim:  claimNPMDebug,
	New:    func() evidence.Peeler { return &npmDebug{} },
}

// claimNPMDebug wants the first message of npm, or, of a log whose beginning is
// missing, two messages whose numbers and levels are such.
//
//	0 verbose cli /usr/bin/node /usr/bin/npm
//	0 info it worked if it ends with ok
//	896 http fetch GET 200 https://registry.npmjs.tld/left-pad/-/left-pad-1.3.0.tgz 44ms
//	897 timing reifyNode:node_modules/left-pad Completed in 50ms
func claimNPMDebug(h *evidence.Head) bool {
	if bytes.HasPrefix(h.Bytes, []byte("0 verbose cli ")) || bytes.HasPrefix(h.Bytes, []byte("0 info it worked if it ends with ok")) {
		return true
	}
	first, rest, _ := bytes.Cut(h.Bytes, []byte("\n"))
	second, _, _ := bytes.Cut(rest, []byte("\n"))
	a, ok := npmMessage(first)
	b, also := npmMessage(second)
	return ok && also && a <= b
}

// npmMessage returns the number of a message of npm's.
func npmMessage(line []byte) (number int64, ok bool) {
	line = bytes.TrimLeft(line, " ") // a letter or page indents it
	n := 0
	for n < len(line) && n < 8 && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	if n == 0 || n == len(line) || line[n] != ' ' {
		return 0, false
	}
	level, _, _ := bytes.Cut(line[n+1:], []byte(" "))
	switch string(level) {
	case "silly", "verbose", "info", "http", "timing", "notice", "warn", "error":
		return integer(line[:n]), true
	}
	return 0, false
}

type npmDebug struct{ begun evidence.Stamp }

// Start reads when npm began: it names its log files after that.
//
//	9 verbose logfile logs-max:10 dir:/home/dev/.npm/_logs/2026-11-30T11_20_29_812Z-
func (d *npmDebug) Start(h *evidence.Head, _ *evidence.Stream, _ *evidence.Out) {
	_, rest, _ := bytes.Cut(h.Bytes, []byte(" verbose logfile logs-max:"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	if i := bytes.LastIndexAny(line, `/\`); i >= 0 && len(line) >= i+26 && line[i+25] == '-' {
		d.begun = evidence.Stamp{Text: append([]byte(nil), line[i+1:i+25]...), Read: npmBegun}
	}
}

// Peel takes the number off. A message of several lines repeats it, older npm
// leaves it out.
func (d *npmDebug) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	n, text := 0, bytes.TrimLeft(l.Text, " ")
	for n < len(text) && n < 8 && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	if n > 0 && n < len(text) && text[n] == ' ' {
		l.Text = text[n+1:]
	}
	l.Stamp = d.begun
	return s.Child(o, nil)
}

// npmBegun reads the start of an invocation; what npm did came later.
func npmBegun(text []byte, _ *evidence.Times) timeline.Span {
	at, err := time.Parse("2006-01-02T15_04_05.000Z", string(text[:19])+"."+string(text[20:]))
	if err != nil || text[19] != '_' {
		return timeline.Always()
	}
	s := timeline.At(at, string(text))
	s.To, s.Clock = timeline.Forever, timeline.Section
	return s
}
