package frame

import (
	"bytes"
	"strconv"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// BuildKitTerminal is what docker build shows on a terminal: the table of steps
// that is drawn again and again until it is FINISHED. Steps have no number and
// no end of their own, and text is cut at the width of the terminal.
//
// The rows are kept until the table is over, and are then read as the plain
// progress would have told them; see BuildKit for what comes of them. A digest
// that is cut is none; a name at the edge of the table may be cut, and none is
// taken from it unless a digest follows it.
//
// https://docs.docker.com/build/building/variables/#buildkit_progress
// https://github.com/moby/buildkit/blob/master/util/progress/progressui/display.go
var BuildKitTerminal = evidence.Format{
	Name:   "buildkit-terminal",
	Shape:  evidence.FrameShape,
	Title:  "BuildKit progress on a terminal (docker build, buildx, compose build)",
	Proves: "which images a build resolved, pulled, produced and pushed; which steps ran and which came from the cache",
	Cannot: "what a step printed; names and digests that are wider than the terminal; times",
	Doc:    "https://docs.docker.com/build/building/variables/#buildkit_progress",
	Sample: "written by hand after the printer's source",
	First:  " [=",
	Looks:  looksDrawn,
	New:    func() evidence.Peeler { return &terminal{builds: map[*evidence.Stream]*table{}} },
}

// looksDrawn knows the marks that rows and headings begin with.
func looksDrawn(text []byte) bool {
	for len(text) > 0 && text[0] == ' ' {
		text = text[1:]
	}
	return len(text) > 2 && (text[0] == '=' && text[1] == '>' || text[0] == '[' && text[1] == '+')
}

type terminal struct {
	builds map[*evidence.Stream]*table
	order  []*evidence.Stream                                          // of builds, as they came
	reads  func(l *evidence.Line, s *evidence.Stream) *evidence.Stream // reads the row that is fed
}

// table is one build in one stream.
type table struct {
	*build
	seconds  float64 // of the last heading
	heading  bool    // a heading was seen
	finished bool    // the last heading said so
	steps    []*shown
	named    map[string]*shown
	current  *shown
}

// shown is one step of the table as it was drawn last.
type shown struct {
	row
	state string // CACHED, ERROR, CANCELED
	over  bool   // a later step of the same stage was begun
	rows  []*row
}

// row is a line of the table without its marks and seconds.
type row struct {
	line    evidence.Line
	text    string
	seconds string
	edge    bool // the text reaches the edge: it may be cut
}

// Peel keeps the rows of a table.
//
//	[+] Building 12.3s (9/9) FINISHED                          docker:default
//	 => [internal] load metadata for docker.io/library/python:3.12-slim   0.9s
//	 => CACHED [2/4] WORKDIR /app                                         0.0s
//	 => => naming to registry.acme.example/api:1.4.0                      0.0s
func (t *terminal) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if t.reads != nil {
		return t.reads(l, s)
	}
	text := bytes.TrimLeft(l.Text, " ")
	if rest, ok := bytes.CutPrefix(text, []byte("[+] Building ")); ok {
		return t.head(string(rest), s, o)
	}
	rest, ok := bytes.CutPrefix(text, []byte("=> "))
	if !ok {
		return nil
	}
	b := t.builds[s]
	if b != nil && bytes.HasPrefix(rest, []byte("=> # ")) {
		return s // the last lines that a step printed, cut
	}
	r, ok := parseRow(l, rest)
	if !ok {
		return nil
	}
	sub, child := strings.CutPrefix(r.text, "=> ")
	if child {
		r.text = sub
		if b == nil || b.current == nil {
			return nil
		}
		b.current.add(r)
		return s
	}
	state := ""
	if word, name, _ := strings.Cut(r.text, " "); word == "CACHED" || word == "ERROR" || word == "CANCELED" {
		state, r.text = word, strings.TrimLeft(name, " ")
	}
	if b == nil && !inBrackets([]byte(r.text)) && !strings.HasPrefix(r.text, "exporting to ") {
		return nil
	}
	if b == nil || !b.heading && len(b.steps) > 1 && strings.HasSuffix(r.text, "] load build definition from Dockerfile") && b.named[r.text] != nil {
		b = t.begin(s, o)
	}
	s.Spoken() // the heading alone tells of no step
	b.draw(r, state)
	return s
}

// parseRow splits off the seconds at the end of a row.
func parseRow(l *evidence.Line, rest []byte) (*row, bool) {
	rest = bytes.TrimRight(rest, " \r")
	i := bytes.LastIndexByte(rest, ' ')
	if i <= 0 || i+1 >= len(rest) || rest[len(rest)-1] != 's' || logSeconds(rest[i+1:len(rest)-1]) == 0 {
		return nil, false
	}
	text := bytes.TrimRight(rest[:i], " ")
	r := &row{line: *l, text: string(text), seconds: string(rest[i+1:]), edge: i+1-len(text) <= 2}
	r.line.Text, r.line.Stamp.Text = bytes.Clone(l.Text), bytes.Clone(l.Stamp.Text)
	return r, len(text) > 0
}

// head reads the heading of a table. Its seconds grow from one drawing to the
// next.
func (t *terminal) head(rest string, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	number, rest, ok := strings.Cut(rest, "s (")
	seconds, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil {
		return nil
	}
	_, rest, _ = strings.Cut(rest, ")")
	b := t.builds[s]
	if b == nil || seconds < b.seconds || b.finished && seconds > b.seconds {
		b = t.begin(s, o)
	}
	b.heading, b.seconds, b.current = true, seconds, nil
	b.finished = strings.HasPrefix(strings.TrimLeft(rest, " "), "FINISHED")
	return s
}

// begin ends the table in s and starts the next one.
func (t *terminal) begin(s *evidence.Stream, o *evidence.Out) *table {
	if before := t.builds[s]; before != nil {
		t.end(before, s, o)
	} else {
		if len(t.order) >= maxSteps {
			t.End(o)
		}
		t.order = append(t.order, s)
	}
	b := &table{build: newBuild(o), named: map[string]*shown{}}
	t.builds[s] = b
	return b
}

// End reads the tables that the source ended with.
func (t *terminal) End(o *evidence.Out) {
	for _, s := range t.order {
		t.end(t.builds[s], s, o)
	}
	clear(t.builds)
	t.order = nil
}

// end reads a table that is over and closes its build.
func (t *terminal) end(b *table, s *evidence.Stream, o *evidence.Out) {
	t.read(b, s, o)
	b.drop(s, o)
	b.finish(o, timeline.OpOpen)
}

// draw keeps a step, in place of an earlier drawing of it.
func (b *table) draw(r *row, state string) {
	v := b.named[r.text]
	if v == nil {
		v = &shown{}
		if len(b.steps) < maxSteps {
			b.steps = append(b.steps, v)
			b.named[r.text] = v
		}
		if stage, later := stageOf(r.text); later {
			for _, before := range b.steps {
				if s, _ := stageOf(before.text); s == stage && before != v {
					before.over = true
				}
			}
		}
	}
	v.row, v.state, b.current = *r, state, v
}

// stageOf returns the stage of a step, and whether it is not the first one of
// the stage.
//
//	[build 2/5] RUN make
func stageOf(name string) (stage string, later bool) {
	in, _, ok := strings.Cut(strings.TrimPrefix(name, "["), "] ")
	if !ok || name[0] != '[' {
		return "", false
	}
	i := strings.LastIndexByte(in, ' ')
	number, _, ok := strings.Cut(in[i+1:], "/")
	return "[" + in[:max(i, 0)], ok && number != "1"
}

// add keeps a row below a step, in place of an earlier drawing of it.
func (v *shown) add(r *row) {
	key := r.key()
	for i, before := range v.rows {
		if before.key() == key {
			v.rows[i] = r
			return
		}
	}
	if len(v.rows) < maxLayers {
		v.rows = append(v.rows, r)
	}
}

// key tells rows apart: the row of a layer counts how much of it came.
func (r *row) key() string {
	if strings.HasPrefix(r.text, "sha256:") {
		return firstWord(r.text)
	}
	return r.text
}
