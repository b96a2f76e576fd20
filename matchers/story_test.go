package matchers

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pulltrail/timeline"
)

// TestStories runs testdata/match/*.txt: each story is a timeline in one-line
// notation and the verdicts that must follow.
//
//	incident ID                     the question
//	source NAME [STATE] [CLAIM]     a source; what follows is in it
//	event NOTATION [op=N]           an event
//	op N STATE [PARENT]             an operation
//	tool N TOOL [PARENT]            an operation of a tool, done
//	link RELATION FROM TO [SPAN]    a relation
//	covers SUBJECT TOPIC SPAN|whole|whole:SPAN
//	setting SUBJECT NAME VALUE [TIME]
//	request NODE TENANT PROMPT/CACHED START FIRST END [failed|stored|gateway|decode|MODEL...]
//	claimed SUBJECT                 named with --subject
//	expect-evidence SUBJECT SPAN [REASON|detail=TEXT]
//	collected COLLECTOR TARGET SPAN STATE
//	host ADDRESS NAME [CHANNELS...] an inventory row; mirror PREFIX UPSTREAM
//	verdict VERDICT SUBJECT         must hold; "none" is no finding
//	complete true|false             must hold
//	because TEXT                    the last verdict's sentence holds TEXT
//
// A blank line and "---" start a new story.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("../testdata/match/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i, story := range strings.Split(string(data), "\n---\n") {
			name, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(story), "# "), "\n")
			t.Run(fmt.Sprintf("%s/%d %s", filepath.Base(file), i+1, name), func(t *testing.T) { runStory(t, story) })
		}
	}
}

type story struct {
	t        *testing.T
	db       *timeline.DB
	w        *timeline.SourceWriter
	info     timeline.SourceInfo
	batch    timeline.Batch
	hosts    []timeline.InventoryRow
	mirrors  []timeline.Mirror
	incident string
	lines    int64 // of settings and requests
	result   *Result
	last     *Finding
}

func runStory(t *testing.T, text string) {
	db, err := timeline.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	s := &story{t: t, db: db}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		verb, rest, _ := strings.Cut(line, " ")
		s.do(verb, strings.TrimSpace(rest))
	}
}

func (s *story) do(verb, rest string) {
	s.t.Helper()
	w := strings.Fields(rest)
	switch verb {
	case "incident":
		s.incident = rest
	case "source":
		s.source(w)
	case "event":
		s.event(rest)
	case "op":
		o := timeline.Op{State: timeline.OpState(w[1])}
		s.scan(w[0], &o.Number)
		if len(w) > 2 {
			s.scan(w[2], &o.Parent)
		}
		s.batch.Ops = append(s.batch.Ops, o)
	case "tool":
		o := timeline.Op{State: timeline.OpDone, Tool: w[1]}
		s.scan(w[0], &o.Number)
		if len(w) > 2 {
			s.scan(w[2], &o.Parent)
		}
		s.batch.Ops = append(s.batch.Ops, o)
	case "link":
		l := timeline.Link{Relation: timeline.Relation(w[0]), From: w[1], To: w[2], Span: timeline.Always()}
		if len(w) > 3 {
			l.Span = s.span(w[3])
		}
		s.batch.Links = append(s.batch.Links, l)
	case "covers":
		span, whole := strings.CutPrefix(w[2], "whole")
		c := timeline.Coverage{Subject: s.subject(w[0]), Topic: timeline.Topic(w[1]), Whole: whole, Why: "the story says so"}
		if c.Span = timeline.Always(); w[2] != "whole" {
			c.Span = s.span(strings.TrimPrefix(span, ":"))
		}
		s.batch.Coverage = append(s.batch.Coverage, c)
	case "setting":
		x := timeline.Setting{Subject: s.subject(w[0]), Name: timeline.SettingName(w[1]), Value: w[2], Span: timeline.Always()}
		if len(w) > 3 {
			x.Span = s.span(w[3])
		}
		s.lines++
		x.Origin = timeline.Origin{Path: s.info.Path, Line: s.lines, Text: rest}
		s.batch.Settings = append(s.batch.Settings, x)
	case "request":
		s.request(w)
	case "claimed":
		s.batch.Claimed = append(s.batch.Claimed, s.subject(rest))
	case "expect-evidence":
		x := timeline.Expected{Subject: s.subject(w[0]), Span: s.span(w[1])}
		for _, more := range w[2:] {
			var ok bool
			if x.Detail, ok = strings.CutPrefix(more, "detail="); !ok {
				x.Reason, x.Detail = more, ""
			}
		}
		s.batch.Expected = append(s.batch.Expected, x)
	case "collected":
		c := timeline.Collection{Collector: w[0], Target: w[1] + " at https://api.acme.example", Span: s.span(w[2]), Command: "story"}
		if err := s.db.BeginCollection(&c); err != nil {
			s.t.Fatal(err)
		}
		if err := s.db.EndCollection(c.ID, timeline.CollectionState(w[3])); err != nil {
			s.t.Fatal(err)
		}
	case "host":
		s.hosts = append(s.hosts, timeline.InventoryRow{Address: w[0], Host: w[1], Span: timeline.Always(), Channels: w[2:]})
	case "mirror":
		s.mirrors = append(s.mirrors, timeline.Mirror{Prefix: w[0], Upstream: w[1]})
	default:
		s.check(verb, rest, w)
	}
}

// request reads a request; "-" is an unknown time.
func (s *story) request(w []string) {
	r := timeline.Request{Node: s.subject(w[0]), Tenant: strings.Trim(w[1], "-"), Streamed: true}
	prompt, cached, _ := strings.Cut(w[2], "/")
	s.scan(prompt, &r.Prompt)
	s.scan(cached, &r.Cached)
	for i, at := range []*int64{&r.Start, &r.First, &r.End} {
		if w[3+i] != "-" {
			*at = s.span(w[3+i]).From
		}
	}
	r.Span = timeline.Span{From: r.Start, To: r.End, Clock: timeline.Exact}
	for _, flag := range w[6:] {
		switch flag {
		case "failed":
			r.Failed = true
		case "stored":
			r.Stored = true
		case "gateway":
			r.Gateway = true
		case "decode":
			r.Decode = true
		default:
			r.Model = flag
		}
	}
	s.lines++
	r.ID = fmt.Sprintf("r%d", s.lines)
	r.Origin = timeline.Origin{Path: s.info.Path, Line: s.lines}
	s.batch.Requests = append(s.batch.Requests, r)
}

func (s *story) source(w []string) {
	s.finish()
	s.info = timeline.SourceInfo{
		SHA256: fmt.Sprintf("%064x", len(w[0])*31+int(w[0][0])+int(w[0][len(w[0])-1])*7), Path: w[0], State: timeline.Read,
		First: timeline.Beginning, Last: timeline.Forever,
	}
	if len(w) > 1 {
		s.info.State = timeline.State(w[1])
	}
	if len(w) > 2 {
		s.info.Claim = w[2]
	}
	var err error
	if s.w, err = s.db.Begin(); err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) event(rest string) {
	s.t.Helper()
	if s.w == nil {
		s.source([]string{"log"})
	}
	var op int64
	if head, n, ok := strings.Cut(rest, " op="); ok {
		s.scan(n, &op)
		rest = head
	}
	e, err := timeline.ParseNotation(rest)
	if err != nil {
		s.t.Fatal(err)
	}
	e.Op = op
	if e.Path == "" {
		e.Path, e.Line = s.info.Path, int64(len(s.batch.Events)+1)
	}
	s.batch.Events = append(s.batch.Events, e)
}

func (s *story) finish() {
	s.t.Helper()
	if s.w == nil {
		return
	}
	if err := s.w.Write(&s.batch); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.w.Finish(s.info); err != nil {
		s.t.Fatal(err)
	}
	s.w, s.batch = nil, timeline.Batch{}
}

func (s *story) match() *Result {
	s.t.Helper()
	if s.result != nil {
		return s.result
	}
	s.finish()
	if err := s.db.SetInventory(s.hosts, s.mirrors, timeline.SourceInfo{}); err != nil {
		s.t.Fatal(err)
	}
	inc, err := Find(s.incident)
	if err != nil {
		s.t.Fatal(err)
	}
	if s.result, err = Match(s.db, inc); err != nil {
		s.t.Fatal(err)
	}
	return s.result
}

func (s *story) check(verb, rest string, w []string) {
	s.t.Helper()
	res := s.match()
	switch verb {
	case "verdict":
		s.last = nil
		for i := range res.Findings {
			if res.Findings[i].Subject.String() == w[1] {
				s.last = &res.Findings[i]
			}
		}
		got := "none"
		if s.last != nil {
			got = string(s.last.Verdict)
		}
		if got != w[0] {
			s.t.Errorf("%s is %s, should be %s", w[1], got, w[0])
			if s.last != nil {
				s.t.Logf("%s: %s", s.last.Rule, s.last.Because)
			}
		}
	case "complete":
		if fmt.Sprint(res.Complete) != rest {
			s.t.Errorf("complete is %t; gaps: %+v", res.Complete, res.Gaps)
		}
	case "because":
		if s.last == nil || !strings.Contains(s.last.Because, rest) {
			s.t.Errorf("the reason should hold %q: %+v", rest, s.last)
		}
	default:
		s.t.Fatalf("unknown verb %q", verb)
	}
}

func (s *story) subject(text string) timeline.Subject {
	s.t.Helper()
	sub, err := timeline.ParseSubject(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return sub
}

func (s *story) span(text string) timeline.Span {
	s.t.Helper()
	sp, err := timeline.ParseSpan(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return sp
}

func (s *story) scan(text string, n *int64) {
	s.t.Helper()
	if _, err := fmt.Sscan(text, n); err != nil {
		s.t.Fatal(err)
	}
}
