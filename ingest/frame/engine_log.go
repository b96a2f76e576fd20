package frame

import (
	"bytes"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// SGLangLog is the log of an SGLang server: a local time and the ranks of the
// process, in brackets.
// https://docs.sglang.io/advanced_features/server_arguments.html
var SGLangLog = evidence.Format{
	Name:   "sglang-log",
	Shape:  evidence.FrameShape,
	Title:  "SGLang server log",
	Proves: "local time of each line; tensor, pipeline and data ranks are kept apart",
	Cannot: "the zone (state it with --zone); the day, in releases before 2025",
	Doc:    "https://docs.sglang.io/advanced_features/server_arguments.html",
	Sample: "written by hand after lines in public reports",
	First:  "[",
	Looks:  func(text []byte) bool { return len(text) > 9 && (text[5] == '-' || text[3] == ':') },
	Common: true,
	Cuts:   true,
	Texts:  true,
	New:    func() evidence.Peeler { return sglangLog{} },
}

type sglangLog struct{}

// Peel takes time and ranks off:
//
//	[2026-05-20 08:02:44 PP0 ATTN_CP0 TP0] Prefill batch, #new-seq: 1, …
//	[2026-08-28 21:19:23] server_args=ServerArgs(model_path='…')
//	[16:43:29 TP0] Prefill batch. #new-seq: 1, …
func (sglangLog) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	text := l.Text[1:]
	read := evidence.ISOStamp
	m, n := evidence.ParseISO(text)
	switch {
	case n == len("2026-05-20 08:02:44") && !m.HasOffset && text[10] == ' ':
	case clockLen(text) == len("16:43:29"):
		n, read = len("16:43:29"), dateless
	default:
		return nil
	}
	end := bytes.IndexByte(text, ']')
	if end < n || end+2 > len(text) || text[end+1] != ' ' || !ranks(text[n:end]) {
		return nil
	}
	child := s.Child(o, text[n:end])
	if l.Stamp.Read == nil { // a frame around it knows the zone
		child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], text[:n]...), Read: read}
		l.Stamp = child.Last
	}
	l.Text = text[end+2:]
	return child
}

// ranks reports whether text is words such as " TP0" or " ATTN_CP7": capitals
// and then a number.
func ranks(text []byte) bool {
	for len(text) > 0 {
		if text[0] != ' ' {
			return false
		}
		i := 1
		for i < len(text) && (text[i] >= 'A' && text[i] <= 'Z' || text[i] == '_') {
			i++
		}
		word := i - 1
		for i < len(text) && text[i] >= '0' && text[i] <= '9' {
			i++
		}
		if word == 0 || i == word+1 {
			return false
		}
		text = text[i:]
	}
	return true
}

// VLLMLog is the log of a vLLM server.
// https://docs.vllm.ai/en/latest/usage/troubleshooting.html
var VLLMLog = evidence.Format{
	Name:   "vllm-log",
	Shape:  evidence.FrameShape,
	Title:  "vLLM server log",
	Proves: "local month, day and time of each line",
	Cannot: "the year and the zone: state them with --covers and --zone",
	Doc:    "https://docs.vllm.ai/en/latest/usage/troubleshooting.html",
	Sample: "written by hand after lines in public reports",
	First:  "IWED(",
	Looks:  looksVLLM,
	Common: true,
	Cuts:   true,
	Texts:  true,
	New:    func() evidence.Peeler { return vllmLog{} },
}

type vllmLog struct{}

// looksVLLM wants a level in front of a digit, or a process.
func looksVLLM(text []byte) bool {
	if text[0] == '(' {
		return bytes.Contains(text, []byte("pid="))
	}
	const longest = len("WARNING ")
	i := bytes.IndexByte(text[:min(len(text), longest)], ' ')
	return i > 0 && i+1 < len(text) && text[i+1] >= '0' && text[i+1] <= '9' && vllmLevel(text[:i])
}

// Peel takes the process, level, time and place in the code off:
//
//	INFO 02-19 23:56:55 kv_cache_utils.py:524] GPU KV cache size: 2,042,016 tokens
//	(APIServer pid=3646) INFO 05-19 10:13:31 [loggers.py:271] Engine 000: Avg prompt throughput: 12068.8 tokens/s, …
func (vllmLog) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	text := l.Text
	var process []byte
	if text[0] == '(' {
		end := bytes.Index(text, []byte(") "))
		if end < 0 || !bytes.Contains(text[:end], []byte("pid=")) {
			return nil
		}
		process, text = text[1:end], text[end+2:]
	}
	level, rest, ok := bytes.Cut(text, []byte{' '})
	if !ok || !vllmLevel(level) {
		return nil
	}
	n := monthDayLen(rest)
	if n == 0 || len(rest) == n || rest[n] != ' ' {
		return nil
	}
	place, message, ok := bytes.Cut(bytes.TrimPrefix(rest[n+1:], []byte{'['}), []byte("] "))
	if !ok || !bytes.Contains(place, []byte(".py:")) || bytes.IndexByte(place, ' ') >= 0 {
		return nil
	}
	child := s.Child(o, process)
	if l.Stamp.Read == nil {
		child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], rest[:n]...), Read: monthDayStamp}
		l.Stamp = child.Last
	}
	l.Text = message
	return child
}

func vllmLevel(b []byte) bool {
	switch string(b) {
	case "INFO", "WARNING", "ERROR", "DEBUG":
		return true
	}
	return false
}

// monthDayLen is the length of "05-19 10:13:31" at the start of text, 0 when
// something else stands there.
func monthDayLen(text []byte) int {
	const n = len("05-19 10:13:31")
	if len(text) < n || text[2] != '-' || text[5] != ' ' || clockLen(text[6:]) != 8 ||
		!number(text[:2]) || !number(text[3:5]) {
		return 0
	}
	if m, d := integer(text[:2]), integer(text[3:5]); m < 1 || m > 12 || d < 1 || d > 31 {
		return 0
	}
	return n
}

// monthDayStamp reads "05-19 10:13:31", local time without a year.
func monthDayStamp(text []byte, t *evidence.Times) timeline.Span {
	n := func(at int) int { return int(integer(text[at : at+2])) }
	return evidence.Moment{Month: n(0), Day: n(3), Hour: n(6), Minute: n(9), Sec: n(12), Resolution: time.Second}.Span(string(text), t)
}
