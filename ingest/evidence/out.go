package evidence

import (
	"bytes"
	"strings"

	"pulltrail/timeline"
)

// flushRows is how many rows an Out gathers before it hands them on.
const flushRows = 2000

// Out is where frames, tools and documents put what they find in one source.
// It knows the current line and stream, so that a parser only says what the
// line proves.
type Out struct {
	// Times says how to read clocks without zone or year in this source.
	Times Times
	// Claim is what --subject said; zero when nothing did.
	Claim timeline.Subject
	// Store is where the secrets that a list names are kept, as the person who
	// reads it says; "" when nobody did.
	Store string

	path    string
	line    *Line
	stream  *Stream
	frame   int // number of the frame at work
	at      int // number of the tool at work
	claimed int // 1 + number of the frame that claimed the source
	tools   []Tooling
	asks    func(command string) []timeline.Item
	feed    func(*Line, *Stream)
	ops     int64
	sink    func(*timeline.Batch) error
	err     error
	batch   timeline.Batch
	seen    map[seenKey]bool
	stands  map[timeline.Subject]*stands // nil without --covers
	marks   int64                        // lines that a frame or a tool understood
	made    map[seenKey]bool             // see Makes and UsesInstalled
	saw     seenKey                      // the last one: mostly it is said again
	events  int64
	skipped int64
	unnamed bool // some event fell to the claim or to source:<path>
	first   int64
	last    int64
	partial string
	texts   bool                // its lines hold what people asked: see Format.Texts
	absent  string              // a local time that its zone never had
	steps   []timeline.Step     // where clocks were set
	booted  map[string]int64    // lines at which hosts were started
	lastWho [2]timeline.Subject // as found, and as it is kept
}

type seenKey struct {
	subject timeline.Subject
	topic   timeline.Topic
}

// Mark is a line remembered for an event that is made later.
type Mark struct {
	origin  timeline.Origin
	span    timeline.Span // as its clock shows it
	subject timeline.Subject
	ahead   int64 // how far that clock is ahead
}

// Mark remembers the current line.
func (o *Out) Mark() Mark {
	who := o.Subject()
	return Mark{o.origin(), o.run(o.span()), who, o.ahead(who)}
}

// Span returns the time of the remembered line.
func (m Mark) Span() timeline.Span { return m.span }

// Until returns the mark with a span that also reaches to the other's end: the
// thing happened somewhere between the two lines.
func (m Mark) Until(other Mark) Mark {
	if m.span.To < other.span.To {
		m.span.To, m.span.Clock = other.span.To, timeline.Section
	}
	return m
}

// Stream returns the stream of the current line.
func (o *Out) Stream() *Stream { return o.stream }

// AskNext has the frame at work see the next line of s, whatever it starts
// with: a line that is cut in two goes on there.
func (o *Out) AskNext(s *Stream) { s.next = o.frame + 1 }

// Feed sends a line that the frame at work made into s as if it were read now:
// one that it held back, or one of several that a record holds. The frame may
// feed the stream that it peels; it is then asked again.
func (o *Out) Feed(l *Line, s *Stream) { o.feed(l, s) }

// Ran sends a command that a sensor or a history recorded through the tools
// that read commands: nothing of its output is known. who is whose command it
// was, zero for the subject of the current line; stamp is when.
func (o *Out) Ran(who timeline.Subject, stamp Stamp, command []byte) {
	if len(command) == 0 {
		return
	}
	l := Line{Echo: true, Stamp: stamp}
	if o.line != nil {
		l.No, l.Off = o.line.No, o.line.Off
	}
	if l.Stamp.Read == nil && o.line != nil {
		l.Stamp = o.line.Stamp
	}
	s := &Stream{Parent: o.stream, Subject: who, OpParent: o.stream.OpParent}
	for text := range bytes.SplitSeq(bytes.ReplaceAll(command, []byte("\\\n"), []byte(" ")), []byte("\n")) {
		l.Text = text
		o.feed(&l, s)
	}
	s.end(o, timeline.OpOpen)
}

// Enter makes s the stream that the current line belongs to: a frame calls it
// before it makes events of its own, when a child stream has a subject.
func (o *Out) Enter(s *Stream) { o.stream = s }

// Asks says what a shell command may fetch: the packages that it names, else
// their ecosystem; nothing when no tool knows it.
func (o *Out) Asks(command string) []timeline.Item {
	if o.asks == nil {
		return nil
	}
	return o.asks(command)
}

// Path returns the path of the source or archive member being read.
func (o *Out) Path() string { return o.path }

// Subject returns the subject of the current line: what the evidence names,
// else what --subject said, else source:<path>.
func (o *Out) Subject() timeline.Subject {
	if w := o.stream.Who(); !w.IsZero() {
		return w
	}
	if !o.Claim.IsZero() {
		return o.Claim
	}
	return timeline.Subject{Kind: timeline.Source, ID: o.path}
}

func (o *Out) origin() timeline.Origin {
	at := o.place()
	if o.line != nil {
		at.Text = Excerpt(o.line.Text)
	}
	return at
}

// place is the origin of the current line without an excerpt of it.
func (o *Out) place() timeline.Origin {
	if o.line == nil {
		return timeline.Origin{Path: o.path}
	}
	return timeline.Origin{Path: o.path, Line: o.line.No, Offset: o.line.Off}
}

// span reads the clock of the current line. A skew that is stated is not taken
// off yet: that happens once, where a span leaves an Out.
func (o *Out) span() timeline.Span {
	ahead := o.ahead(timeline.Subject{})
	if o.line == nil || o.line.Stamp.Read == nil {
		return o.Times.bound(timeline.Always(), ahead)
	}
	if o.stands != nil { // only --covers makes years
		o.Times.order = o.stream.order()
	}
	s := o.line.Stamp.Read(o.line.Stamp.Text, &o.Times)
	o.Times.order = nil
	if o.line.Stamp.Inherited && s.Clock == timeline.Exact {
		s.Clock = timeline.Inherited
	}
	return o.Times.bound(s, ahead)
}

// Emit records what the current line proves.
func (o *Out) Emit(a timeline.Action, op *Op, items ...timeline.Item) {
	e := timeline.Event{Action: a, Items: items}
	if op != nil {
		e.Op = op.Number
	}
	o.Event(e)
}

// Event records an event of the current line. Subject, time and origin are
// filled in where the parser left them empty.
func (o *Out) Event(e timeline.Event) {
	ahead := o.ahead(e.Subject)
	if e.Span == (timeline.Span{}) {
		e.Span = o.run(o.span())
	} else {
		e.Span = o.Times.bound(e.Span, ahead)
	}
	e.Span = corrected(e.Span, ahead)
	if e.Origin == (timeline.Origin{}) {
		e.Origin = o.origin()
	}
	if e.Subject.IsZero() {
		e.Subject = o.Subject()
	}
	o.add(e)
}

// At records an event of a remembered line.
func (o *Out) At(m Mark, e timeline.Event) {
	e.Origin = m.origin
	ahead := m.ahead
	if host := clockOf(e.Subject); host != "" {
		ahead = o.Times.Skew.of(host)
	}
	if e.Span == (timeline.Span{}) {
		e.Span = m.span
	} else {
		e.Span = o.Times.bound(e.Span, ahead)
	}
	e.Span = corrected(e.Span, ahead)
	if e.Subject.IsZero() {
		e.Subject = m.subject
	}
	o.add(e)
}

func (o *Out) add(e timeline.Event) {
	if e.Path == "" {
		e.Path = o.path
	}
	if len(o.steps) > 0 {
		e.Span = o.widened(&e)
	}
	o.claims(e.Subject)
	o.conceal(&e)
	if e.Span.From != timeline.Beginning {
		o.first = min(o.first, e.Span.From)
	}
	if e.Span.To != timeline.Forever {
		o.last = max(o.last, e.Span.To)
	}
	o.marks++
	o.events++
	o.batch.Events = append(o.batch.Events, e)
	o.flush(flushRows)
}

// Made is how many events were recorded so far: where it grew, something was
// understood.
func (o *Out) Made() int64 { return o.events }

// Seen says that the current line is understood, and that its source speaks of
// the topic for the line's subject; topic "" only says the former, and so does
// any topic in a log that holds excerpts.
func (o *Out) Seen(topic timeline.Topic) {
	o.marks++
	if topic != "" && !o.stream.excerpts() {
		o.SeenFor(o.Subject(), topic)
	}
}

// SeenFor says that the source speaks of the topic for a subject, in a log of
// excerpts too: a daemon writes all that it does to the system log.
func (o *Out) SeenFor(who timeline.Subject, topic timeline.Topic) {
	if key := (seenKey{who, topic}); key != o.saw && len(o.seen) < maxStreams {
		o.seen[key] = true
		o.saw = key
	}
}

// Skip keeps the current line as one that could not be understood; the source
// becomes partial.
func (o *Out) Skip(reason string) {
	o.skipped++
	s := timeline.Skip{Reason: Redact(Clean(reason)), Origin: o.place()}
	if !o.texts {
		s.Origin = o.origin()
	}
	o.batch.Skips = append(o.batch.Skips, s)
	o.flush(flushRows)
}

// Cut says that the source lacks something: its state is partial, with the
// reason.
func (o *Out) Cut(reason string) {
	if o.partial == "" {
		o.partial = Redact(Clean(reason))
	}
}

// Gap reports whether something of the source is missing so far: a record was
// skipped, or a cut was seen.
func (o *Out) Gap() bool { return o.skipped > 0 || o.partial != "" }

// Link records a relation that the current line proves.
func (o *Out) Link(r timeline.Relation, from, to string) { o.LinkOver(o.span(), r, from, to) }

// LinkOver records a relation that the current record proves for a span that it
// names itself.
func (o *Out) LinkOver(span timeline.Span, r timeline.Relation, from, to string) {
	o.unnamed = o.unnamed || strings.HasPrefix(from, string(timeline.Source)+":")
	span = corrected(span, o.ahead(timeline.Subject{}))
	o.batch.Links = append(o.batch.Links, timeline.Link{Relation: r, From: Redact(Clean(from)), To: Redact(Clean(to)), Span: written(span), Origin: o.origin()})
	o.flush(flushRows)
}

// ByPath says that what the source proves depends on its path: the same bytes
// at another one are another source.
func (o *Out) ByPath() { o.unnamed = true }

// Hold records the names of secrets that the subject of the current line
// holds. Values are never passed.
func (o *Out) Hold(names ...string) {
	for _, n := range names {
		if n, _, _ = strings.Cut(n, " "); n != "" { // a name is one word
			o.Emit(timeline.Hold, nil, timeline.Item{Artifact: "secret:" + n})
		}
	}
}

// Credential records what a list says of a secret, and that the subject of the
// current line holds it. Values are never passed.
func (o *Out) Credential(c timeline.Credential) {
	if c.Name = Redact(Clean(c.Name)); c.Name == "" {
		return
	}
	if c.Subject.IsZero() {
		c.Subject = o.Subject()
	}
	if c.Store == "" {
		c.Store = o.Store
	}
	o.Event(timeline.Event{Action: timeline.Hold, Subject: c.Subject, Items: []timeline.Item{{Artifact: "secret:" + c.Name}}})
	c.Subject, c.Origin = o.named(c.Subject), o.origin()
	for _, text := range []*string{&c.Store, &c.Part, &c.Class, &c.Owner, &c.Provider, &c.Alias, &c.Team, &c.Customer} {
		*text = Redact(Clean(*text))
	}
	o.batch.Credentials = append(o.batch.Credentials, c)
	o.flush(flushRows)
}

// Cover records what the source covers.
func (o *Out) Cover(c timeline.Coverage) {
	c.Span = corrected(c.Span, o.ahead(c.Subject))
	o.cover(c)
}

func (o *Out) cover(c timeline.Coverage) {
	c.Subject, c.Why = o.named(c.Subject), Redact(Clean(c.Why))
	o.batch.Coverage = append(o.batch.Coverage, c)
}

// Expect records evidence that must exist. No span means that it is not known
// when it lived.
func (o *Out) Expect(x timeline.Expected) {
	if x.Span == (timeline.Span{}) {
		x.Span = timeline.Always()
	}
	if x.Origin == (timeline.Origin{}) {
		x.Origin = o.origin()
	}
	x.Subject, x.Detail = o.named(x.Subject), Redact(Clean(x.Detail))
	o.marks++
	o.batch.Expected = append(o.batch.Expected, x)
}

// SetLine gives a document the line that its next events stand on.
func (o *Out) SetLine(no, off int64, text []byte) {
	o.line = &Line{Text: text, No: no, Off: off}
}

// claims notes that something fell to what --subject said, or to nobody.
func (o *Out) claims(who timeline.Subject) {
	o.unnamed = o.unnamed || who.Kind == timeline.Source || who == o.Claim
}

func (o *Out) flush(rows int) {
	b := &o.batch
	if len(b.Events)+len(b.Links)+len(b.Skips)+len(b.Ops)+len(b.Credentials)+len(b.Settings)+len(b.Requests)+len(b.Canaries) < rows || o.err != nil {
		return
	}
	o.err = o.sink(b)
	*b = timeline.Batch{
		Events: b.Events[:0], Links: b.Links[:0], Skips: b.Skips[:0], Ops: b.Ops[:0],
		Credentials: b.Credentials[:0], Settings: b.Settings[:0], Requests: b.Requests[:0],
		Canaries: b.Canaries[:0],
	}
}
