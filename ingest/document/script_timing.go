package document

import (
	"strconv"
	"strings"

	"pulltrail/ingest/evidence"
)

// ScriptTiming is the file in which script(1) notes when the bytes of its
// recording came. It holds no text.
// https://man7.org/linux/man-pages/man1/script.1.html
var ScriptTiming = evidence.Format{
	Name:   "script-timing",
	Shape:  evidence.DocumentShape,
	Title:  "timing file of script(1)",
	Proves: "nothing by itself: the recording beside it holds the text",
	Cannot: "what was shown; times are not taken over to the recording",
	Doc:    "https://man7.org/linux/man-pages/man1/script.1.html",
	Sample: "util-linux 2.38 run for this project",
	Claim: func(h *evidence.Head) bool {
		n := 0
		return everyLine(h, func(line string) bool {
			n++
			return isTiming(line)
		}) && n > 0
	},
	Read: func(_ *evidence.Doc, o *evidence.Out) error {
		o.Seen("")
		return nil
	},
}

// isTiming reads a row of the old kind or of the new one:
//
//	0.210586 40
//	O 0.010159 4
//	H 0.000000 START_TIME 2026-10-21 12:04:51+00:00
func isTiming(line string) bool {
	w := strings.Fields(line)
	if len(w) > 2 && len(w[0]) == 1 && strings.IndexByte("HOIS", w[0][0]) >= 0 {
		return isDelay(w[1]) && (w[0] == "H" || w[0] == "S" || strings.Trim(w[2], "0123456789") == "")
	}
	return len(w) == 2 && isDelay(w[0]) && strings.Trim(w[1], "0123456789") == ""
}

func isDelay(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	whole, part, ok := strings.Cut(text, ".")
	return err == nil && ok && len(part) == 6 && strings.Trim(whole+part, "0123456789") == ""
}
