// Package evidence is the leaf that the engine of package ingest and the
// formats share: what a line is, what a frame and a tool are, what a document
// is, and where their findings go.
//
// Lines are frames around tools. A frame takes one layer off a line and knows
// when and where (a GitHub timestamp, a syslog header, BuildKit's "#7 12.3"); a
// tool knows what one line says (pip, an access line). Frames nest and any tool
// may stand in any frame, so each is written once. Documents are read whole.
package evidence

import (
	"sort"

	"pulltrail/timeline"
)

// Line is one physical line on its way through the frames. Its slices are
// valid until the parser returns.
type Line struct {
	Text  []byte // what the frames left of it, without escape sequences
	No    int64  // physical line, 1-based
	Off   int64  // byte offset of the physical line in the decoded member
	Stamp Stamp  // the clock of the innermost frame that has one
	Echo  bool   // the text is a command that was given, not output
	Runs  bool   // and it runs now: what follows is its output
	Cut   bool   // the line goes on elsewhere or was cut off
	Open  []byte // escape sequence that the line ends inside of: no text, unless the line goes on
	Given bool   // it is a setting of a program, which may show the command itself when it runs it
	Flat  bool   // the text is known to hold no line end and no carriage return
}

// Stamp is a time as written. Read is called only when an event is made of the
// line; nil means that there is no clock.
type Stamp struct {
	Text []byte
	Read func(text []byte, t *Times) timeline.Span
	// Inherited marks the time of an earlier line.
	Inherited bool
}

// Peeler is a frame at work in one source.
type Peeler interface {
	// Peel takes the frame's layer off l.Text and returns the child stream that
	// the rest belongs to; s itself when the line is the frame's own and ends
	// here; nil when it is no line of this frame, and then nothing has changed.
	Peel(l *Line, s *Stream, o *Out) *Stream
}

// Ender is a Peeler that wants to know when the source is over.
type Ender interface{ End(o *Out) }

// Starter is a Peeler that looks at the head of the source before its first
// line when its format was claimed.
type Starter interface {
	Start(h *Head, s *Stream, o *Out)
}

// Skimmer is a Peeler that can take its layer off quickly: most lines of a log
// are a time and noise.
type Skimmer interface {
	// Skim is Peel for a line of which the frame only takes its layer off. It
	// returns nil when the line may be more to the frame than that: nothing has
	// changed then, and the line goes to Peel. s is the root of the source, which
	// the frame claimed.
	Skim(l *Line, s *Stream) *Stream

	// Skims returns the stream that the lines of s are in which Skim takes, nil
	// when they have to come one by one.
	Skims(s *Stream) *Stream
	// Rest is what Skim would leave of a line; ok is false when it would not take
	// it. Nothing changes: of many lines that are passed over, Skim sees the last.
	Rest(line []byte) (text []byte, ok bool)
}

// Result is what a tool says of a line.
type Result uint8

// The results.
const (
	Miss Result = iota // not a line of this tool: the next tool is asked
	Done               // understood
	More               // understood, and the next line of the stream is asked for, whatever it starts with
)

// Parser is a tool at work in one stream.
type Parser interface {
	Line(l *Line, o *Out) Result
	// End says that no further line of the invocation comes: open (a new
	// command or step began) or cut (the source ends).
	End(how timeline.OpState, o *Out)
}

// Hearer is a Parser that listens (Out.Listen) and can tell fast which lines are
// nothing to it.
type Hearer interface {
	// Hears reports whether the parser may want a line that starts with none of
	// its words. Line would miss all others, and remember nothing of them.
	Hears(text []byte) bool
}

// Shape tells lines from documents.
type Shape string

// The shapes.
const (
	FrameShape    Shape = "frame"
	ToolShape     Shape = "tool"
	DocumentShape Shape = "document"
)

// Format is one log format: one file of code, one row in the table, one folder
// of tests with the same name.
type Format struct {
	Name   string // slug
	Shape  Shape
	Title  string // what it is, for people
	Proves string // what it proves
	Cannot string // what it cannot
	Doc    string // link to its documentation
	Sample string // where its sample comes from

	// Claim tells from the head of a source that it is of this format. Claims
	// are unambiguous. A tool has none: it stands in any frame, or in none; that
	// of a tool with Fields only narrows what its records claim.
	Claim func(h *Head) bool

	// First lists the bytes that a line of the frame can start with. A frame that
	// reads only sources of its own has none.
	First string
	// Looks is a cheap test of a line that starts with one of First or Starts; it
	// gets a tool's line from its first word on. Without it the frame does not
	// know the line (but see Out.Watch), and neither does the tool while it has
	// taken no line of the stream (but see Out.Heed). nil: there is none.
	Looks func(text []byte) bool
	// Common tells that the frame's layer is written by programs of all kinds
	// (a time): lines are understood only when something inside is.
	Common bool
	// Cuts tells that the frame only cuts text off a line: no line end and no
	// carriage return is in the rest that was not in the line.
	Cuts bool
	New  func() Peeler // frame

	// Starts lists the words that a tool's lines start with, blanks before them
	// ignored; two bytes at least each.
	Starts []string
	// Fields lists sets of names: a JSON object that has all names of one set at
	// its top is given to the tool, or to the frame that claimed the source, as
	// one line. Lists names the arrays that hold
	// such objects in an envelope. See records.go.
	Fields [][]string
	Lists  []string
	// Commands tells that the tool reads echoed commands (Line.Echo) too.
	Commands bool
	Tool     func() Parser // tool
	// Asks says what a shell command may fetch: the packages that it names, else
	// their ecosystem. The tool that reads all commands has it; documents that
	// quote commands ask through Out.Asks.
	Asks func(command string) []timeline.Item

	Read func(d *Doc, o *Out) error // document
	// Data tells that its files may be no text: their path says what they are.
	Data bool

	// Texts tells that a log of the format holds what people asked and were
	// answered: of a line that is skipped no excerpt is kept.
	Texts bool
	// Largest bounds a record in bytes where the common bound is too low for what
	// programs write; 0: it is not.
	Largest int

	// Place tells from its path alone that a file lists what is installed where
	// it lies: of the layers of an image only such files are opened. Topic is
	// the kind of packages that it lists.
	Place func(path string) bool
	Topic timeline.Topic
}

// Head is the beginning of a source or archive member.
type Head struct {
	Path  string // as in Origin.Path
	Name  string // last element of the path
	Dir   string // the element before it, "" when there is none
	Bytes []byte // first 64 KiB at most, decoded to UTF-8, escape sequences left in
}

// Doc is a document. It is bounded, so it may be held.
type Doc struct {
	Head
	Data   []byte // all of it, decoded to UTF-8
	SHA256 string // "sha256:…" of Data
	Asked  int64  // ns: when a collector got it from the address that Path is; 0: none did
	Page   bool   // a collector fetched it as one of several pages, and knows whether it has all of them

	// Window is what a collector asked for with a list that holds more than that;
	// zero: all of it.
	Window timeline.Span

	// Of a workflow file that a collector fetched: the jobs that ran, and the
	// workflows that it calls, by repository and path, or path alone.
	Jobs   []string
	Called map[string]*Doc

	// Written is the document as it was written, when Data says the same in
	// another notation, line by line; nil: Data is it.
	Written *Doc

	starts []int // where each line starts, made when first asked for
}

// LineAt returns the 1-based line of a byte offset in Data.
func (d *Doc) LineAt(off int64) int64 {
	no, _, _ := d.LineBounds(int(min(off, int64(len(d.Data)))))
	return no
}

// LineBounds returns the 1-based line of a byte offset in Data, and where it
// starts and ends in Data, without its end mark.
func (d *Doc) LineBounds(off int) (no int64, start, end int) {
	d.findLines()
	i := sort.SearchInts(d.starts, off+1)
	i = max(i, 1)
	start, end = d.starts[i-1], len(d.Data)
	if i < len(d.starts) {
		end = d.starts[i] - 1
	}
	if end > start && d.Data[end-1] == '\r' {
		end--
	}
	return int64(i), start, end
}

// LineStart returns the offset in Data at which a 1-based line starts.
func (d *Doc) LineStart(no int) int {
	d.findLines()
	return d.starts[min(max(no, 1), len(d.starts))-1]
}

func (d *Doc) findLines() {
	if d.starts != nil {
		return
	}
	d.starts = append(d.starts, 0)
	for i, c := range d.Data {
		if c == '\n' {
			d.starts = append(d.starts, i+1)
		}
	}
}
