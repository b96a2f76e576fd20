package frame

import (
	"bytes"
	"strconv"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Travis is a job log of Travis CI: the time of a command is written behind its
// output.
// https://github.com/travis-ci/travis-build
var Travis = evidence.Format{
	Name:   "travis",
	Shape:  evidence.FrameShape,
	Title:  "Travis CI job log",
	Proves: "start and end of each timed command (UTC, ns), and the commands",
	Cannot: "the time of a line within its command; repository and job, which are not taken as a subject",
	Doc:    "https://github.com/travis-ci/travis-build/blob/master/lib/travis/build/bash/travis_time_finish.bash",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		return bytes.HasPrefix(h.Bytes, travisFold) || bytes.HasPrefix(h.Bytes, travisTime)
	},
	New: func() evidence.Peeler { return &travis{} },
}

var (
	travisFold = []byte("travis_fold:")
	travisTime = []byte("travis_time:")
)

// travis holds back the output of a command until its time is known.
type travis struct {
	held  []evidence.Line
	size  int
	timed bool   // inside a timed command
	last  []byte // finish of the last one
	child *evidence.Stream
}

// maxHeld bounds the output that is held back, in bytes.
const maxHeld = 8 << 20

// Peel reads the marks, each of which ends with a carriage return; several
// stand on one line:
//
//	travis_fold:start:install
//	travis_time:start:1601f628
//	travis_time:end:1601f628:start=1603288291256481119,finish=1603288292374790390,duration=1118309271,event=install
func (t *travis) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	t.child = s.Child(o, nil)
	marked := false
	for bytes.HasPrefix(l.Text, travisFold) || bytes.HasPrefix(l.Text, travisTime) {
		mark, rest, _ := bytes.Cut(l.Text, []byte("\r"))
		if after, ok := bytes.CutPrefix(mark, travisTime); ok {
			t.mark(after, o)
		}
		l.Text, marked = rest, true
	}
	l.Text = bytes.TrimRight(l.Text, "\r")
	if marked {
		o.Seen("")
		if len(l.Text) == 0 {
			return s
		}
	}
	if t.timed && t.size < maxHeld {
		held := *l
		held.Text, held.Open = append([]byte(nil), l.Text...), nil
		t.held, t.size = append(t.held, held), t.size+len(held.Text)
		return s
	}
	l.Stamp = t.after()
	return t.child
}

// mark reads the start or end of a timed command.
func (t *travis) mark(text []byte, o *evidence.Out) {
	if bytes.HasPrefix(text, []byte("start:")) {
		t.release(t.after(), o)
		t.child.Step(o)
		t.timed = true
		return
	}
	_, times, ok := bytes.Cut(text, []byte(":start="))
	if !bytes.HasPrefix(text, []byte("end:")) || !ok {
		return
	}
	times, _, _ = bytes.Cut(times, []byte(",duration="))
	start, finish, _ := bytes.Cut(times, []byte(",finish="))
	if !bytes.Equal(start, finish) || len(t.held) > 0 {
		t.release(evidence.Stamp{Text: append([]byte(nil), times...), Read: travisSpan}, o)
	}
	t.timed, t.last = false, append(t.last[:0], finish...)
}

// release hands on what was held back.
func (t *travis) release(stamp evidence.Stamp, o *evidence.Out) {
	held := t.held
	t.held, t.size = nil, 0
	for i := range held {
		held[i].Stamp = stamp
		o.Feed(&held[i], t.child)
	}
}

// after is the time of a line that is in no timed command: later than the last
// one.
func (t *travis) after() evidence.Stamp {
	if t.last == nil {
		return evidence.Stamp{}
	}
	return evidence.Stamp{Text: t.last, Read: travisSpan}
}

// End hands on the output of a command that has no end.
func (t *travis) End(o *evidence.Out) {
	if t.child != nil {
		t.release(t.after(), o)
	}
}

// travisSpan reads "START,finish=FINISH" in nanoseconds, or a start alone.
func travisSpan(text []byte, _ *evidence.Times) timeline.Span {
	start, finish, ok := bytes.Cut(text, []byte(",finish="))
	from, err := strconv.ParseInt(string(start), 10, 64)
	s := evidence.Epoch(from, time.Nanosecond, string(text))
	if err != nil || s.Clock != timeline.Exact {
		return timeline.Always()
	}
	s.To, s.Clock = timeline.Forever, timeline.Section
	if to, err := strconv.ParseInt(string(finish), 10, 64); ok && err == nil && to >= s.From {
		s.To = to
	}
	return s
}
