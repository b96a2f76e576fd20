package frame

import (
	"bytes"
	"slices"
)

// longestMark is longer than the marks that elided knows.
const longestMark = 80

// elided reports whether a line without the stamp that all others have is what
// people and viewers leave where they took lines out:
//
//	[...]
//	<snip>
//	... 2034 lines omitted ...
//	*** LOG TRUNCATED ***
//	Job's log exceeded limit of 4194304 bytes.
func elided(line []byte) bool {
	text := bytes.ToLower(bytes.TrimSpace(line[:min(len(line), longestMark+1)]))
	if len(text) == 0 || len(text) > longestMark {
		return false
	}
	switch string(text) {
	case "[...]", "[…]", "[..]", "(...)", "<...>", "--more--", "--- more ---":
		return true
	}
	words := bytes.FieldsFunc(text, func(r rune) bool { return (r < 'a' || r > 'z') && r < 0x80 })
	of := func(list ...string) bool {
		return slices.ContainsFunc(words, func(w []byte) bool { return slices.Contains(list, string(w)) })
	}
	marked := bytes.IndexByte([]byte("[(<*.-=_#~"), text[0]) >= 0
	return len(words) <= 8 && (marked && of("snip", "snipped", "truncated", "omitted", "elided", "skipped", "removed", "clipped", "cut") && (len(words) == 1 || of("log", "logs", "output", "line", "lines", "snip", "here", "bytes", "kb", "mb", "rest"))) ||
		of("log", "output") && bytes.Contains(text, []byte("exceeded limit"))
}
