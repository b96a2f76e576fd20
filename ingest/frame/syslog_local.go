package frame

import (
	"bytes"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// localMonths are the months as journalctl writes them where a locale is set,
// lower case and without a full stop; those that English has too are missing.
var localMonths = map[string]int{
	"jän": 1, "januar": 1, "janv": 1, "ene": 1, "gen": 1, "sty": 1, "янв": 1,
	"févr": 2, "fev": 2, "lut": 2, "фев": 2,
	"mär": 3, "märz": 3, "mars": 3, "mrt": 3, "мар": 3,
	"avril": 4, "abr": 4, "kwi": 4, "апр": 4,
	"mai": 5, "mag": 5, "mei": 5, "maj": 5, "мая": 5, "май": 5,
	"juin": 6, "giu": 6, "juni": 6, "cze": 6, "июн": 6,
	"juil": 7, "lug": 7, "juli": 7, "lip": 7, "июл": 7,
	"août": 8, "ago": 8, "sie": 8, "авг": 8,
	"sept": 9, "set": 9, "wrz": 9, "сен": 9,
	"okt": 10, "ott": 10, "out": 10, "paź": 10, "окт": 10,
	"lis": 11, "ноя": 11,
	"déc": 12, "dez": 12, "dic": 12, "gru": 12, "дек": 12,
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}

// localParts takes a time of a locale apart; month is 0 when it is none, or as
// English has it.
//
//	okt 21 12:04:51        août 05 12:04:51        10月 21 12:04:51         4月 10 20:34:37
func localParts(text []byte) (month int, rest []byte, n int) {
	start := 0
	for start < len(text) && start < 2 && text[start] == ' ' {
		start++
	}
	space := bytes.IndexByte(text[start:min(len(text), start+12)], ' ')
	if space < 3 {
		return 0, nil, 0
	}
	space += start
	clock := text[space+1:]
	if len(clock) > 0 && clock[0] == ' ' && len(clock) > 1 && clock[1] != ' ' && len(clock) > 2 && clock[2] == ' ' {
		clock = clock[1:] // a day below ten
	}
	day := bytes.IndexByte(clock[:min(len(clock), 3)], ' ')
	if day < 1 || len(clock) < day+9 || clock[day+3] != ':' || clock[day+6] != ':' || !number(clock[:day]) {
		return 0, nil, 0
	}
	word := text[start:space]
	if digits, ok := bytes.CutSuffix(word, []byte("月")); ok || bytes.HasSuffix(word, []byte("월")) {
		if !ok {
			digits = bytes.TrimSuffix(word, []byte("월"))
		}
		if number(digits) && len(digits) < 3 {
			month = int(integer(digits))
		}
	} else if start == 0 && evidence.Month(word) == 0 {
		month = localMonths[strings.ToLower(strings.TrimSuffix(string(word), "."))]
	}
	if month > 12 {
		month = 0
	}
	return month, clock[:day+9], len(text) - len(clock) + day + 9
}

// localClock returns the length of such a time at the start of text, 0 for none.
func localClock(text []byte) int {
	if i := bytes.IndexByte(text[:min(len(text), 24)], ':'); i < 6 || i+3 >= len(text) || text[i+3] != ':' {
		return 0 // most lines have no clock there
	}
	month, _, n := localParts(text)
	if month == 0 {
		return 0
	}
	return n
}

// localStamp reads such a time.
func localStamp(text []byte, t *evidence.Times) timeline.Span {
	month, rest, _ := localParts(text)
	at, err := time.Parse("2 15:04:05", string(rest))
	if err != nil || month == 0 {
		return timeline.Always()
	}
	m := evidence.Moment{Month: month, Day: at.Day(), Hour: at.Hour(), Minute: at.Minute(), Sec: at.Second(), Resolution: time.Second}
	return m.Span(strings.TrimSpace(string(text)), t)
}
