package frame

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// read reads a table that is over, row by row.
func (t *terminal) read(b *table, s *evidence.Stream, o *evidence.Out) {
	for i, v := range b.steps {
		n := i + 1
		name, cut, ok := v.whole()
		if !ok {
			continue
		}
		t.feed(&v.row, s, o, func(l *evidence.Line, s *evidence.Stream) *evidence.Stream {
			child := b.header(n, []byte(name), evidence.Instruction(name), l, s, o)
			b.at(n).cut = cut
			return child
		})
		done := v.state == "" && (b.finished || !b.heading || v.over)
		for _, r := range v.rows {
			if done && !r.torn() {
				t.feed(r, s, o, func(_ *evidence.Line, s *evidence.Stream) *evidence.Stream {
					b.at(n).status(b.build, []byte(r.text+" done"), o)
					return s
				})
			}
		}
		verb := v.state
		if verb == "" {
			verb = "DONE"
		}
		if done || v.state != "" {
			t.feed(&v.row, s, o, func(_ *evidence.Line, s *evidence.Stream) *evidence.Stream {
				b.ended(n, verb, []byte(verb+" "+v.seconds), s, o)
				return s
			})
		}
	}
}

// feed has a kept row read as the line that it stood on.
func (t *terminal) feed(r *row, s *evidence.Stream, o *evidence.Out, reads func(*evidence.Line, *evidence.Stream) *evidence.Stream) {
	l := r.line
	t.reads = func(l *evidence.Line, s *evidence.Stream) *evidence.Stream {
		t.reads = nil
		return reads(l, s)
	}
	o.Feed(&l, s)
	t.reads = nil
}

// torn reports whether the text may lack its end.
func (r *row) torn() bool {
	if !r.edge {
		return false
	}
	word := r.text[strings.LastIndexByte(r.text, ' ')+1:]
	if i := strings.LastIndex(word, "sha256:"); i >= 0 {
		return timeline.SHA256(word[i:]) == ""
	}
	return !strings.HasPrefix(r.text, "sha256:") || !strings.HasSuffix(r.text, "B")
}

// whole returns what of the step's name is sure; cut says that a digest was cut
// off. The row "resolve" below a FROM has more room than the step itself.
func (v *shown) whole() (name string, cut, ok bool) {
	if !v.torn() {
		return v.text, false, true
	}
	start := strings.LastIndexByte(v.text, ' ') + 1
	for _, r := range v.rows {
		if ref, is := strings.CutPrefix(r.text, "resolve "); is && strings.HasPrefix(ref, v.text[start:]) && !r.torn() {
			return v.text[:start] + ref, false, true
		}
	}
	instruction := evidence.Instruction(v.text)
	if ref, _, pinned := strings.Cut(v.text[start:], "@"); pinned && strings.Contains(v.text[start:], "@s") && !strings.HasPrefix(instruction, "RUN ") {
		return v.text[:start] + ref, true, true
	}
	if strings.HasPrefix(instruction, "RUN ") {
		// The last word may be half a version: the command is known without it.
		return strings.TrimRight(v.text[:start], " "), false, true
	}
	return "", false, false
}
