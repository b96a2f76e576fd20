package evidence

import (
	"bytes"
	"encoding/binary"
	"math"

	"pulltrail/timeline"
)

// Tooling is a tool of the table.
type Tooling struct {
	New      func() Parser
	Starts   []string
	Commands bool
	Texts    bool
}

// Machine is the table of frames and tools made ready for lines. It is shared
// by all workers and never changes.
type Machine struct {
	frames  []Format
	first   [256][]probe // frames by the first byte of a line
	tools   []Tooling
	words   [1 << 16]uint16 // by the first two bytes of a line, where in starts
	starts  [][]start       // the tools that may know it; the first is nobody
	records recordTable
	command []int // tools that read echoed commands
	asks    func(command string) []timeline.Item
	texts   map[string]bool // names of formats whose lines hold what people asked
}

// probe is a frame that may know a line by its first byte.
type probe struct {
	frame int
	looks func(text []byte) bool
}

// fits reports whether the frame may want a line of s.
func (p *probe) fits(text []byte, s *Stream) bool {
	return p.looks == nil || s.watch&(1<<p.frame) != 0 || p.looks(text)
}

// start is a word that lines of a tool start with.
type start struct {
	rest       []byte // of the word, behind its first two bytes
	word, mask uint64 // as much of it as a number holds
	looks      func(text []byte) bool
	tool       int
}

func newStart(word string, looks func(text []byte) bool, tool int) start {
	c := start{rest: []byte(word[2:]), looks: looks, tool: tool}
	for i, b := range c.rest[:min(len(c.rest), 8)] {
		c.word |= uint64(b) << (8 * i)
		c.mask |= 0xff << (8 * i)
	}
	return c
}

// fits reports whether a tool may want a line of s.
func (c *start) fits(text []byte, s *Stream) bool {
	if len(text) >= 2+8 {
		if binary.LittleEndian.Uint64(text[2:])&c.mask != c.word || len(c.rest) > 8 && !bytes.HasPrefix(text[2+8:], c.rest[8:]) {
			return false
		}
	} else if !bytes.HasPrefix(text[2:], c.rest) {
		return false
	}
	return c.looks == nil || s.took.has(c.tool) || c.looks(text)
}

// NewMachine makes the frames and tools among the formats ready.
func NewMachine(formats []Format) *Machine {
	m := &Machine{starts: [][]start{nil}, texts: map[string]bool{}}
	for _, f := range formats {
		m.texts[f.Name] = f.Texts
		switch f.Shape {
		case FrameShape:
			for i := range len(f.First) {
				m.first[f.First[i]] = append(m.first[f.First[i]], probe{len(m.frames), f.Looks})
			}
			m.frames = append(m.frames, f)
		case ToolShape:
			for _, w := range f.Starts {
				key := int(w[0])<<8 | int(w[1])
				if m.words[key] == 0 {
					m.words[key] = uint16(len(m.starts))
					m.starts = append(m.starts, nil)
				}
				at := &m.starts[m.words[key]]
				*at = append(*at, newStart(w, f.Looks, len(m.tools)))
			}
			m.records.add(&f, len(m.tools))
			if f.Commands {
				m.command = append(m.command, len(m.tools))
			}
			if f.Asks != nil {
				m.asks = f.Asks
			}
			if len(m.tools) == maxTools {
				panic("evidence: more tools than a stream can listen for")
			}
			m.tools = append(m.tools, Tooling{f.Tool, f.Starts, f.Commands, f.Texts})
		case DocumentShape: // documents are read whole
		}
	}
	return m
}

// Reading is one source or archive member on its way through the machine.
type Reading struct {
	Out
	machine *Machine
	peelers []Peeler
	skimmer Skimmer // the frame that claimed the source, if it is one
	root    *Stream
	passed  Line // the last one that was passed over
}

// maxDepth bounds how many frames stand around a tool.
const maxDepth = 8

// NewReading starts a source or member. base is its subject when the archive
// around it names one; sink takes what is found.
func (m *Machine) NewReading(path string, claim, base timeline.Subject, times Times, sink func(*timeline.Batch) error) *Reading {
	r := &Reading{machine: m, root: &Stream{Subject: base}}
	r.peelers = make([]Peeler, len(m.frames))
	r.Out = Out{
		Times: times, Claim: claim, path: path, tools: m.tools, asks: m.asks, sink: sink, seen: map[seenKey]bool{},
		first: math.MaxInt64, last: math.MinInt64, stream: r.root, feed: r.feed,
	}
	r.Times.absent = &r.absent
	if times.Covers != (timeline.Span{}) {
		r.stands = map[timeline.Subject]*stands{}
	}
	return r
}

// Claimed says which format claimed the source; frames may look at its head.
func (r *Reading) Claimed(name string, h *Head) {
	r.texts = r.machine.texts[name]
	for i, f := range r.machine.frames {
		if f.Name == name {
			r.claimed = i + 1
			r.frame = i
			p := r.peeler(i)
			if s, ok := p.(Starter); ok {
				s.Start(h, r.root, &r.Out)
			}
			if f.Cuts && !f.Common {
				r.skimmer, _ = p.(Skimmer)
			}
		}
	}
}

// StartOps has the operations numbered from n on: those of one source have one
// row of numbers, whatever its members.
func (r *Reading) StartOps(n int64) { r.ops = n }

// Member goes on with another member of an archive: the lines that come stand
// there.
func (r *Reading) Member(path string) { r.path = path }

// Who returns the subject that the source or member as a whole has; zero when
// it names none.
func (r *Reading) Who() timeline.Subject { return r.named(r.root.Who()) }

// IsClaimed reports whether the frame at work is the one that claimed the
// source: it then owns lines that do not look like its own.
func (o *Out) IsClaimed(s *Stream) bool { return s.Parent == nil && o.claimed == o.frame+1 }

func (r *Reading) peeler(i int) Peeler {
	if r.peelers[i] == nil {
		r.peelers[i] = r.machine.frames[i].New()
	}
	return r.peelers[i]
}

// Line takes one physical line.
func (r *Reading) Line(l *Line) {
	if !r.skim(l) {
		r.dispatch(l, r.root, 0)
	}
}

// feed takes a line that a frame made while it was at work on another.
func (r *Reading) feed(l *Line, s *Stream) {
	line, stream, frame, at := r.line, r.stream, r.frame, r.at
	depth := 0
	for p := s.Parent; p != nil; p = p.Parent {
		depth++
	}
	r.dispatch(l, s, depth)
	r.line, r.stream, r.frame, r.at = line, stream, frame, at
}

func (r *Reading) dispatch(l *Line, s *Stream, depth int) {
	if i := s.next - 1; i >= 0 {
		s.next = 0
		if r.peel(i, l, s, depth) {
			return
		}
	}
	if len(l.Text) > 0 && depth < maxDepth && !l.Echo {
		if r.claimed > 0 && depth == 0 {
			if r.peel(r.claimed-1, l, s, depth) {
				return
			}
		}
		probes := r.machine.first[l.Text[0]]
		for k := range probes {
			i := probes[k].frame
			if s.frames&(1<<i) == 0 && !(depth == 0 && i == r.claimed-1) && probes[k].fits(l.Text, s) && r.peel(i, l, s, depth) {
				return
			}
		}
	} else if depth == 0 && r.claimed > 0 && r.peel(r.claimed-1, l, s, depth) {
		return
	}
	if !l.Flat && bytes.IndexByte(l.Text, '\r') >= 0 {
		r.redraws(l, s, depth)
		return
	}
	r.tool(l, s)
}

// peel lets one frame try; it reports whether the line is done.
func (r *Reading) peel(i int, l *Line, s *Stream, depth int) bool {
	r.line, r.stream, r.frame = l, s, i
	child := r.peeler(i).Peel(l, s, &r.Out)
	if child == nil {
		return false
	}
	if !r.machine.frames[i].Common {
		r.marks++
	}
	if child == s {
		return true
	}
	if l.Flat = l.Flat && r.machine.frames[i].Cuts; l.Flat {
		r.dispatch(l, child, depth+1)
	} else {
		r.record(l, child, depth+1)
	}
	return true
}

// record gives a stream what a frame found in one physical line: a JSON string
// may hold several lines.
func (r *Reading) record(l *Line, s *Stream, depth int) {
	rest := l.Text
	for {
		i := bytes.IndexByte(rest, '\n')
		if i < 0 {
			l.Text = rest
			r.dispatch(l, s, depth)
			return
		}
		sub := *l
		sub.Text, rest = bytes.TrimRight(rest[:i], "\r"), rest[i+1:]
		r.dispatch(&sub, s, depth)
		if len(rest) == 0 {
			return
		}
	}
}

// redraws gives each piece between carriage returns to the tools on its own: a
// terminal would have shown them one after the other on one line.
func (r *Reading) redraws(l *Line, s *Stream, depth int) {
	rest := l.Text
	for len(rest) > 0 {
		piece := rest
		if i := bytes.IndexByte(rest, '\r'); i >= 0 {
			piece, rest = rest[:i], rest[i+1:]
		} else {
			rest = nil
		}
		if len(piece) == 0 {
			continue
		}
		sub := *l
		sub.Text = piece
		r.dispatch(&sub, s, max(depth, 1))
	}
}

func (r *Reading) tool(l *Line, s *Stream) {
	r.line, r.stream = l, s
	if r.stands != nil {
		r.note()
	}
	if i := s.more - 1; i >= 0 {
		s.more = 0
		r.at = i
		switch s.parsers[i].Line(l, &r.Out) {
		case More:
			s.more = i + 1
			r.marks++
			return
		case Done:
			r.marks++
			return
		case Miss:
		}
	}
	if l.Echo {
		for _, i := range r.machine.command {
			if r.ask(i, l, s) {
				return
			}
		}
		return
	}
	text := TrimIndent(l.Text)
	if len(text) < 2 {
		return
	}
	if text[0] == '{' && !s.prose && r.objects(text, l, s) {
		return
	}
	var asked toolSet
	words := r.machine.known(text)
	for i := range words {
		if c := &words[i]; !asked.has(c.tool) && c.fits(text, s) && (!s.prose || r.tools[c.tool].Commands) {
			asked.add(c.tool)
			if r.ask(c.tool, l, s) {
				return
			}
		}
	}
	if s.listen != (toolSet{}) && !s.prose {
		listen := s.listen
		for i := listen.first(&asked); i >= 0; i = listen.first(&asked) {
			if h, ok := s.parsers[i].(Hearer); ok && !h.Hears(l.Text) {
				continue
			}
			if r.ask(i, l, s) {
				return
			}
		}
	}
}

// ask gives the line to one tool; it reports whether the tool took it.
func (r *Reading) ask(i int, l *Line, s *Stream) bool {
	var p Parser
	if s.parsers != nil {
		p = s.parsers[i]
	}
	if p == nil {
		p = r.tools[i].New()
		if s.parsers == nil {
			s.parsers = make([]Parser, len(r.tools))
		}
		s.parsers[i] = p
	}
	r.at = i
	r.texts = r.texts || r.tools[i].Texts
	switch p.Line(l, &r.Out) {
	case More:
		s.more = i + 1
	case Done:
	case Miss:
		return false
	}
	s.took.add(i)
	r.marks++
	return true
}

// Totals is what a reading came to.
type Totals struct {
	Events, Skipped int64
	Ops             int64 // number of the last operation
	Understood      int64 // lines that a frame or tool understood
	First, Last     int64 // Beginning and Forever when no time was seen
	Unnamed         bool  // something fell to the claim or to source:<path>
	Partial         string
}

// Finish ends every stream and returns the totals. covers is the operator's
// claim of what the input covers, zero when there is none: a topic that the
// source speaks of is then covered for the subjects it speaks of.
func (r *Reading) Finish(covers timeline.Span) (Totals, error) {
	for i := len(r.peelers) - 1; i >= 0; i-- { // a job is whole when the builds in its log are
		if e, ok := r.peelers[i].(Ender); ok {
			r.frame, r.stream, r.line = i, r.root, nil
			e.End(&r.Out)
		}
	}
	r.line = nil
	r.root.end(&r.Out, timeline.OpCut)
	if covers != (timeline.Span{}) {
		for k := range r.seen {
			r.cover(r.stated(k, covers))
		}
	}
	if r.absent != "" {
		r.Cut(r.absent)
	}
	r.flush(0)
	t := Totals{r.events, r.skipped, r.ops, r.marks, timeline.Beginning, timeline.Forever, r.unnamed, r.partial}
	if r.first <= r.last {
		t.First, t.Last = r.first, r.last
	}
	return t, r.err
}

// stands is the first and the last time that lines about one subject show.
type stands struct{ from, to int64 }

// note keeps between which times lines stand, for what --covers states.
func (o *Out) note() {
	who := o.Subject()
	s := corrected(o.span(), o.ahead(who))
	at := o.stands[who]
	if at == nil {
		if len(o.stands) >= maxStreams {
			return
		}
		at = &stands{math.MaxInt64, math.MinInt64}
		o.stands[who] = at
	}
	at.from, at.to = min(at.from, s.From), max(at.to, s.To)
}

// stated is the coverage that --covers claims, as far as lines stand on both
// sides of it: a log that was cut at the end of a line looks like a quiet one,
// and the claim is about the log, not about what is left of it.
func (o *Out) stated(k seenKey, covers timeline.Span) timeline.Coverage {
	c := timeline.Coverage{Subject: k.subject, Topic: k.topic, Span: covers, Why: "stated with --covers, lines stand on both sides"}
	if at := o.stands[k.subject]; at != nil {
		c.Span.From, c.Span.To = max(covers.From, at.from), min(covers.To, at.to)
	}
	return c
}

// Err returns the first error of the sink.
func (r *Reading) Err() error { return r.err }
