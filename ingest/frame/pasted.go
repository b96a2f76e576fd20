package frame

import (
	"bytes"
	"html"
	"regexp"

	"pulltrail/ingest/evidence"
)

// Pasted is text that was copied from a page, a letter or a document which
// changed each line: all lines are indented, blanks are those that HTML does not
// break, characters are spelled as in HTML, of escape sequences the first
// character is lost.
// https://html.spec.whatwg.org/multipage/named-characters.html
// https://en.wikipedia.org/wiki/ANSI_escape_code#Control_Sequence_Introducer_commands
var Pasted = evidence.Format{
	Name:   "pasted",
	Shape:  evidence.FrameShape,
	Title:  "Text that was copied from a page, each line of it changed (indented, no-break spaces, HTML's spellings, rests of escape sequences)",
	Proves: "what the tools say in it",
	Cannot: "when and where it was written",
	Doc:    "https://html.spec.whatwg.org/multipage/named-characters.html",
	Sample: "written by hand after pages of trackers and wikis",
	Claim:  func(h *evidence.Head) bool { return pastedAs(h.Bytes) != nil },
	New:    func() evidence.Peeler { return &pasted{} },
}

// pastedShape is one way in which lines were changed.
type pastedShape struct {
	marks [][]byte
	plain func(line []byte) []byte // takes the change back; it may write to the line
}

var (
	noBreak = []byte("\u00a0")
	escRest = regexp.MustCompile(`\[(?:\d{1,3}(?:;\d{1,3}){0,4})?[mK]|\[\?25[hl]`)
)

// pastedShapes are tried in this order.
//
//	    $ pip install litellm                                    (all lines)
//	&nbsp;&nbsp;Downloading …, openssl 3.0.12 --&gt; 3.0.13
//	[0mCollecting litellm==1.105.0
var pastedShapes = []pastedShape{
	{[][]byte{noBreak}, func(line []byte) []byte { return bytes.ReplaceAll(line, noBreak, []byte(" ")) }},
	{[][]byte{[]byte("&gt;"), []byte("&lt;"), []byte("&amp;"), []byte("&nbsp;"), []byte("&quot;"), []byte("&#39;"), []byte("&#x27;")}, func(line []byte) []byte {
		return bytes.ReplaceAll([]byte(html.UnescapeString(string(line))), noBreak, []byte(" "))
	}},
	{[][]byte{[]byte("[0m"), []byte("[1m"), []byte("[3"), []byte("[9")}, func(line []byte) []byte { return escRest.ReplaceAll(line, nil) }},
}

// pastedAs returns the shape of a text, nil when it has none. A line must be
// changed, and one be of a tool once it is not.
func pastedAs(head []byte) *pastedShape {
	if !mentionsTool(head) && !bytes.Contains(head, noBreak) {
		return nil
	}
	if n := indentOf(head); n > 0 {
		return &pastedShape{plain: func(line []byte) []byte { return line[min(n, len(line)-len(bytes.TrimLeft(line, " \t"))):] }}
	}
	for i := range pastedShapes {
		if shape := &pastedShapes[i]; shape.marked(head) && shape.changes(head) {
			return shape
		}
	}
	return nil
}

// changes reports whether lines of a text have the shape, and some are a tool's.
func (p *pastedShape) changes(head []byte) bool {
	changed, tool := false, false
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, "\r\n")
		plain := line
		if p.marked(line) && bytes.IndexByte(line, 0x1b) < 0 {
			plain = p.plain(bytes.Clone(line))
			changed = changed || !bytes.Equal(plain, line)
		}
		tool = tool || mentionsTool(plain) && toolLines().Match(plain)
		if changed && tool {
			return true
		}
	}
	return false
}

func (p *pastedShape) marked(line []byte) bool {
	for _, m := range p.marks {
		if bytes.Contains(line, m) {
			return true
		}
	}
	return p.marks == nil
}

// indentOf returns by how much all lines of a text are indented, when a line of
// a tool is among them.
func indentOf(head []byte) int {
	least, tool := 0, false
	rest := head
	for len(rest) > 0 {
		line, after, whole := bytes.Cut(rest, []byte("\n"))
		rest = after
		text := bytes.TrimLeft(line, " \t")
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		n := len(line) - len(text)
		if n == 0 {
			return 0
		}
		if least == 0 || n < least {
			least = n
		}
		tool = tool || whole && mentionsTool(text) && toolLines().Match(text)
	}
	if !tool {
		return 0
	}
	return least
}

type pasted struct{ shape *pastedShape }

// Start finds how the lines were changed.
func (p *pasted) Start(h *evidence.Head, _ *evidence.Stream, _ *evidence.Out) {
	p.shape = pastedAs(h.Bytes)
}

// Peel takes the change back.
func (p *pasted) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	if p.shape != nil && p.shape.marked(l.Text) {
		l.Text = p.shape.plain(l.Text)
	}
	return s.Child(o, nil)
}
