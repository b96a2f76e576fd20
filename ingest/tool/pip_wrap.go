package tool

import (
	"slices"
	"strings"
	"unicode/utf8"

	"pulltrail/ingest/evidence"
)

// longLine is a "Successfully installed …" that PowerShell may have wrapped at
// the width of its window, in the middle of a version:
//
//	Successfully installed acme-trace-1.4.2 aiohttp-3.9.0 anyio-4.2.0 litellm-1.10
//	7.0 openai-1.99.9
type longLine struct {
	mark   evidence.Mark
	text   string // behind "Successfully "
	indent int
	width  int // runes of the piece before the last
}

// The lines that may be wrapped: windows are no narrower, and a list is no
// longer.
const (
	minWidth = 60
	maxLong  = 64 << 10
)

// holdLong keeps a list that is long enough to be wrapped.
func (p *pip) holdLong(text string, indent int, gem bool, o *evidence.Out) bool {
	width := indent + len("Successfully ") + utf8.RuneCountInString(text)
	if gem || width < minWidth || !strings.HasPrefix(text, "installed ") || distList(text[len("installed "):], p.plan...) == nil {
		return false
	}
	p.long = &longLine{o.Mark(), text, indent, width}
	return true
}

// goesOn adds a line to the list that is held, or reads the list.
func (p *pip) goesOn(l *evidence.Line, text []byte, o *evidence.Out) bool {
	if !l.Echo && utf8.RuneCount(l.Text) <= p.long.width && len(p.long.text) < maxLong {
		if joined, ok := joinList(p.long.text, string(text)); ok {
			p.long.text = joined
			return true
		}
	}
	p.endLong(o)
	return false
}

// joinList joins a list and the line behind it, when the line holds nothing but
// the rest of the list: each word names a version once the cut word is whole
// again.
func joinList(list, next string) (joined string, ok bool) {
	words := strings.Fields(next)
	before := strings.Fields(list)
	if len(words) == 0 {
		return "", false
	}
	isDist := func(w string) bool { _, _, ok := evidence.SplitDist(w); return ok }
	last := before[len(before)-1]
	apart := isDist(words[0]) && isDist(last) // wrapped between two words
	whole := !apart && isDist(last+words[0])
	if !whole && !apart || slices.ContainsFunc(words[1:len(words)-min(1, len(words)-1)], func(w string) bool { return !isDist(w) }) {
		return "", false
	}
	if apart {
		return list + " " + next, true
	}
	return list + next, true
}

// endLong reads the list that is held.
func (p *pip) endLong(o *evidence.Out) {
	if p.long == nil {
		return
	}
	p.successfully(p.long.text, p.long.indent, false, o)
	p.long = nil
}
