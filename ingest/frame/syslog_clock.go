package frame

import (
	"bytes"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// looksSyslog looks at the separators of the kinds of times.
func looksSyslog(text []byte) bool {
	switch {
	case text[0] == '<':
		return true
	case text[0] == '[':
		return monotonic(text) > 0
	case text[0] == ' ':
		return localClock(text) > 0
	case text[0] <= '9':
		return len(text) > 19 && (text[10] == 'T' || text[10] == '.' && text[17] == ' ' || localClock(text) > 0)
	}
	return len(text) > 15 && text[0] <= 'Z' && text[3] == ' ' || localClock(text) > 0
}

// clock reads the time that text starts with and returns its length.
func (h *syslogLine) clock(text []byte) int {
	if text[0] == '[' {
		n := monotonic(text)
		h.stamp, h.read = text[:n], sinceStart
		return n
	}
	if n := localClock(text); n > 0 {
		h.stamp, h.read, h.yearless = text[:n], localStamp, true
		return n
	}
	if text[0] <= '9' {
		if epochMicros(text) {
			h.stamp, h.read = text[:17], epochStamp
			return 17
		}
		m, n := evidence.ParseISO(text)
		// Finer times than microseconds are written by other programs.
		if n == 0 || text[10] != 'T' || m.Resolution < time.Microsecond {
			return 0
		}
		h.stamp, h.read = text[:n], evidence.ISOStamp
		return n
	}
	if len(text) > 15 && evidence.Month(text[:3]) > 0 && text[3] == ' ' && text[9] == ':' && text[12] == ':' {
		n := 15
		if text[n] == '.' { // journalctl -o short-precise
			for n++; n < len(text) && text[n] >= '0' && text[n] <= '9'; n++ {
			}
		}
		h.stamp, h.read, h.yearless = text[:n], yearlessStamp, true
		return n
	}
	if len(text) > 27 && text[3] == ' ' && text[8] == '-' && text[14] == ' ' {
		zone := bytes.IndexByte(text[24:min(len(text), 32)], ' ')
		if zone < 2 {
			return 0
		}
		h.stamp, h.read = text[4:24+zone], zoneNameStamp
		return 24 + zone
	}
	return 0
}

// epochMicros knows the time of journalctl -o short-unix:
//
//	1792584291.251122 prod-3 deploy[41]: text
func epochMicros(text []byte) bool {
	return len(text) > 17 && text[10] == '.' && text[17] == ' ' && number(text[:10]) && number(text[11:17])
}

// epochStamp reads seconds since 1970 with a fraction of six digits.
func epochStamp(text []byte, _ *evidence.Times) timeline.Span {
	digits := append(append(make([]byte, 0, 16), text[:10]...), text[11:]...)
	return evidence.Epoch(integer(digits), time.Microsecond, string(text))
}

// monotonic returns the length of the time of journalctl -o short-monotonic and
// short-delta: seconds since a start that is not known.
//
//	[    5.251122] prod-3 deploy[41]: text
//	[   65.251122 <   60.000000 >] prod-3 deploy[41]: text
func monotonic(text []byte) int {
	end := bytes.IndexByte(text[:min(len(text), 48)], ']')
	if end < 0 || text[0] != '[' {
		return 0
	}
	seconds := bytes.TrimLeft(text[1:end], " ")
	whole, rest, ok := bytes.Cut(seconds, []byte("."))
	if !ok || !number(whole) || len(rest) < 6 || !number(rest[:6]) || len(bytes.Trim(rest[6:], " <>.0123456789")) > 0 {
		return 0
	}
	return end + 1
}

// yearlessStamp reads "Oct 21 12:04:51", a day below ten with a blank, with or
// without a fraction.
func yearlessStamp(text []byte, t *evidence.Times) timeline.Span {
	at, err := time.Parse(time.Stamp, string(text))
	if err != nil {
		return timeline.Always()
	}
	m := evidence.Moment{Month: int(at.Month()), Day: at.Day(), Hour: at.Hour(), Minute: at.Minute(), Sec: at.Second(), Nano: at.Nanosecond(), Resolution: time.Second}
	return m.Span(string(text), t)
}

// zoneNameStamp reads "2026-10-21 12:04:51 CEST".
func zoneNameStamp(text []byte, t *evidence.Times) timeline.Span {
	m, n := evidence.ParseISO(text)
	if n == 0 {
		return timeline.Always()
	}
	return m.SpanNamed(string(bytes.TrimSpace(text[n:])), string(text), t)
}
