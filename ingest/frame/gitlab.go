package frame

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// GitLab is the trace of a GitLab CI job, with the time on every line
// (FF_TIMESTAMPS), with section marks only, or copied from the web page.
// https://docs.gitlab.com/ci/jobs/job_logs/
var GitLab = evidence.Format{
	Name:   "gitlab-trace",
	Shape:  evidence.FrameShape,
	Title:  "GitLab CI job trace",
	Proves: "time of each line (UTC, µs) or of its section's start, images that the job and its services ran in, the machine where no container is around it, the caches it used, start and end of the job",
	Cannot: "the job's name and number; whether an image came over or was there already",
	Doc:    "https://docs.gitlab.com/ci/jobs/job_logs/",
	Sample: "written by hand after the documentation",
	Claim:  claimGitLab,
	First:  "2",
	New:    func() evidence.Peeler { return &gitlab{traces: map[*evidence.Stream]*trace{}} },
}

// traceStamp is the length of "2026-10-21T12:50:05.094219Z", tracePrefix that
// of it with " 01O ": the number of the stream, O or E, and a plus when the
// line goes on from the one before.
const (
	traceStamp  = 27
	tracePrefix = traceStamp + 5
)

func gitlabStamp(text []byte) bool {
	if len(text) < tracePrefix || text[10] != 'T' || text[19] != '.' || text[26] != 'Z' || text[27] != ' ' ||
		text[30] != 'O' && text[30] != 'E' || text[31] != ' ' && text[31] != '+' || !hexWord(text[28:30], 2) {
		return false
	}
	_, n := evidence.ParseISO(text[:traceStamp])
	return n == traceStamp
}

const traceBegins = "Running with gitlab-" // gitlab-runner, gitlab-ci-multi-runner of old

// claimGitLab wants the prefix on the first line, or the runner's greeting near
// the beginning.
func claimGitLab(h *evidence.Head) bool {
	return gitlabStamp(h.Bytes) || bytes.Contains(h.Bytes[:min(len(h.Bytes), 512)], []byte(traceBegins))
}

type gitlab struct {
	traces   map[*evidence.Stream]*trace
	released bool // the line at work was held back and is whole now
}

// trace is what is known of one job.
type trace struct {
	text        *evidence.Stream
	section     []byte // epoch of the section's start, when no line has a time
	name        string // of the section
	first, last timeline.Span
	begun       bool
	ended       bool
	succeeded   bool
	commands    bool                     // one was echoed
	bare        bool                     // the executor puts nothing around the job
	open        []string                 // sections that have begun
	unpaired    string                   // a section that ends and did not begin
	held        *evidence.Line           // may go on in the next line
	free        []byte                   // its text is used again
	asked       map[string]evidence.Mark // images that are being pulled
	refused     string                   // image that the line before could not pull
	used        map[string]bool
	cache       string
	restored    map[string]evidence.Mark // caches that came, until the paths in them are told
}

// Peel takes time and section marks off.
func (g *gitlab) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	stamped := gitlabStamp(l.Text)
	if !stamped && !o.IsClaimed(s) {
		return nil
	}
	t := g.traces[s]
	if t == nil {
		if len(g.traces) >= maxSteps {
			clear(g.traces)
		}
		t = &trace{asked: map[string]evidence.Mark{}, used: map[string]bool{}}
		g.traces[s] = t
	}
	if stamped && !g.released {
		return g.join(t, l, s, o)
	}
	g.release(t, s, o)
	g.released = false
	t.text = s.Child(o, nil)
	switch {
	case stamped:
		l.Stamp = evidence.Stamp{Text: l.Text[:traceStamp], Read: evidence.ISOStamp}
		t.text.Last.Text = append(t.text.Last.Text[:0], l.Stamp.Text...)
		t.text.Last.Read = evidence.ISOStamp
		l.Text = l.Text[tracePrefix:]
	case t.section != nil:
		l.Stamp = evidence.Stamp{Text: t.section, Read: sectionStart}
	case t.text.Last.Read != nil:
		l.Stamp = t.text.Last
		l.Stamp.Inherited = true
	}
	t.marks(l, stamped, o)
	return t.line(l, o)
}

// join holds a line back until the next one shows that it is whole: the runner
// sends what there is, and says of the rest that it goes on ('+').
//
//	2026-01-21T09:47:05.094219Z 01O Successfully inst
//	2026-01-21T09:47:05.194219Z 01O+alled litellm-1.107.0
func (g *gitlab) join(t *trace, l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if l.Text[tracePrefix-1] == '+' && t.held != nil && len(t.held.Text) < maxJoined {
		copy(t.held.Text, l.Text[:traceStamp]) // whole when its last piece came
		t.held.Text = append(append(t.held.Text, t.held.Open...), l.Text[tracePrefix:]...)
		t.held.Open = append(t.held.Open[:0], l.Open...)
		t.held.No, t.held.Off = l.No, l.Off
		return s
	}
	g.release(t, s, o)
	t.held = &evidence.Line{Text: append(t.free[:0], l.Text...), No: l.No, Off: l.Off, Flat: l.Flat, Open: bytes.Clone(l.Open)}
	o.AskNext(s)
	return s
}

// release reads the line that was held back.
func (g *gitlab) release(t *trace, s *evidence.Stream, o *evidence.Out) {
	held := t.held
	if held == nil {
		return
	}
	t.held = nil
	g.released = true
	t.free = evidence.StripEscapes(held.Text)
	held.Text, held.Open = t.free, nil
	o.Feed(held, s)
	g.released = false
}

// sectionStart reads the time at which a section began; what stands in it
// happened later.
func sectionStart(text []byte, _ *evidence.Times) timeline.Span {
	n, err := strconv.ParseInt(string(text), 10, 64)
	s := evidence.Epoch(n, time.Second, string(text))
	if err != nil || s.Clock != timeline.Exact {
		return timeline.Always()
	}
	s.To, s.Clock = timeline.Forever, timeline.Section
	return s
}

// marks reads the section marks at the start of a line; the end of one and the
// start of the next often stand on one line, each behind a carriage return.
//
//	section_start:1768988825:prepare_executor[collapsed=true]
func (t *trace) marks(l *evidence.Line, stamped bool, o *evidence.Out) {
	for bytes.HasPrefix(l.Text, []byte("section_")) {
		mark, rest, ok := bytes.Cut(l.Text, []byte("\r"))
		if !ok {
			mark, rest = gluedMark(l.Text)
		}
		fields := bytes.SplitN(mark, []byte(":"), 3)
		if len(fields) != 3 || string(fields[0]) != "section_start" && string(fields[0]) != "section_end" {
			return
		}
		if !stamped {
			t.section = append([]byte(nil), fields[1]...)
			l.Stamp = evidence.Stamp{Text: t.section, Read: sectionStart}
		}
		name, _, _ := bytes.Cut(fields[2], []byte("["))
		t.name = string(name)
		t.pair(string(fields[0]) == "section_start")
		t.text.Step(o)
		l.Text = rest
	}
}

// runnerSections are the sections that the runner itself makes.
var runnerSections = []string{
	"prepare_executor", "prepare_script", "get_sources", "clear_worktree", "restore_cache", "download_artifacts", "resolve_secrets", "step_script", "build_script", "after_script",
	"archive_cache_on_failure", "archive_cache", "upload_artifacts_on_success", "upload_artifacts_on_failure", "cleanup_file_variables",
}

// gluedMark cuts a mark off a line of which the carriage return was lost when
// it was copied:
//
//	section_end:1768988830:prepare_executorsection_start:1768988830:prepare_scriptPreparing environment
//	section_end:1768988890:step_scriptJob succeeded
func gluedMark(line []byte) (mark, rest []byte) {
	for _, name := range runnerSections {
		i := bytes.Index(line[:min(len(line), 80)], []byte(":"+name))
		if n := i + 1 + len(name); i > 0 && bytes.Count(line[:i], []byte(":")) == 1 {
			if n < len(line) && line[n] == '[' {
				n += bytes.IndexByte(line[n:], ']') + 1
			}
			return line[:n], line[n:]
		}
	}
	return line, nil
}

// traceLimit begins what stands in place of the rest of a trace that is too
// long.
//
//	Job's log exceeded limit of 4194304 bytes.
//
// https://docs.gitlab.com/administration/instance_limits/#maximum-file-size-for-job-logs
const traceLimit = "Job's log exceeded limit of "

// pair follows which sections are open.
func (t *trace) pair(start bool) {
	if start {
		if len(t.open) < maxSteps {
			t.open = append(t.open, t.name)
		}
		return
	}
	if i := slices.Index(t.open, t.name); i >= 0 {
		t.open = slices.Delete(t.open, i, i+1)
	} else {
		t.unpaired = t.name
	}
}

// line reads what the runner itself says, and tells commands from output.
func (t *trace) line(l *evidence.Line, o *evidence.Out) *evidence.Stream {
	text := l.Text
	if len(text) < 2 {
		return t.text
	}
	if t.restored != nil && t.cache != "" && bytes.Contains(text, []byte(": found ")) {
		t.archived(string(text), o)
	}
	switch text[0] {
	case '$':
		if text[1] == ' ' && t.scripted() {
			l.Text, l.Echo, l.Runs = text[2:], true, true
			t.commands = true
		}
	case 'R':
		if bytes.HasPrefix(text, []byte(traceBegins)) {
			t.begun = true
			t.first = stampSpan(l, o)
		}
		t.machine(text, o)
	case 'J', 'E':
		if bytes.HasPrefix(text, []byte(traceLimit)) {
			o.Cut("GitLab kept no more of the trace than its limit: " + evidence.Excerpt(text))
		}
		if string(bytes.TrimSpace(text)) == "Job succeeded" || bytes.HasPrefix(text, []byte("ERROR: Job failed")) {
			t.ended, t.succeeded = true, text[0] == 'J'
			t.last = stampSpan(l, o)
			t.text.Step(o)
		}
	case 'P':
		if image, ok := bytes.CutPrefix(text, []byte("Pulling docker image ")); ok && len(t.asked) < maxSteps {
			if name := jobImage(string(image)); name != "" {
				t.asked[name] = o.Mark()
			}
		}
	case 'U':
		t.image(string(text), o)
		t.machine(text, o)
	case 'W':
		t.found(text, o)
	case 'C', 'S':
		t.caches(string(text), o)
	}
	return t.text
}

// stampSpan reads the time of a line that is not at work in its own stream yet.
func stampSpan(l *evidence.Line, o *evidence.Out) timeline.Span {
	if l.Stamp.Read == nil {
		return timeline.Always()
	}
	return l.Stamp.Read(l.Stamp.Text, &o.Times)
}

// scripted reports whether the runner echoes the job's commands here. A copy
// from the web page has no sections.
func (t *trace) scripted() bool {
	return t.name == "" || strings.HasSuffix(t.name, "_script")
}

// jobImage is the image named in "golang:1.24 ...", "" for an image ID.
func jobImage(text string) string {
	name := firstWord(text)
	if strings.HasPrefix(name, "sha256:") {
		return ""
	}
	return timeline.NormalizeImage(name)
}

// image reads which image a job or service runs in. The first digest is the
// image ID; old runners print no other.
//
//	Using docker image sha256:f610… for golang:1.24 with digest golang@sha256:c213… ...
func (t *trace) image(text string, o *evidence.Out) {
	rest, ok := strings.CutPrefix(text, "Using docker image ")
	if !ok {
		return
	}
	words := strings.Fields(rest)
	if len(words) < 3 || words[1] != "for" {
		return
	}
	name := jobImage(words[2])
	if name == "" {
		return
	}
	delete(t.asked, name)
	item := timeline.Item{Artifact: name}
	if len(words) > 5 && words[3] == "with" && words[4] == "digest" {
		_, digest, _ := strings.Cut(words[5], "@")
		if sha := timeline.SHA256(digest); sha != "" {
			item.Digests = append(item.Digests, timeline.Digest{Value: sha})
		}
	}
	if id := timeline.SHA256(words[0]); id != "" {
		item.Digests = append(item.Digests, timeline.Digest{Value: id, Role: timeline.Config})
	}
	if key := rest; !t.used[key] && len(t.used) < maxSteps {
		t.used[key] = true // it is printed again before the script
		o.Seen(timeline.Images)
		o.Emit(timeline.Present, nil, item)
	}
}

// found reads that an old runner could not pull, and took what its machine had. It
// names the image in the line before, and pulls one at a time.
//
//	WARNING: Cannot pull the latest version of image acme/ci:1 : Error: image acme/ci not found
//	WARNING: Locally found image will be used instead.
func (t *trace) found(text []byte, o *evidence.Out) {
	if rest, ok := bytes.CutPrefix(text, []byte("WARNING: Cannot pull the latest version of image ")); ok {
		t.refused = jobImage(string(rest))
		return
	}
	if t.refused != "" && bytes.HasPrefix(text, []byte("WARNING: Locally found image will be used instead.")) {
		delete(t.asked, t.refused)
		o.Seen(timeline.Images)
		o.Emit(timeline.Present, nil, timeline.Item{Artifact: t.refused})
	}
	t.refused = ""
}

// caches links the job with the cache that it got, and with the one it wrote.
//
//	Checking cache for v0-23-0-protected...
//	Successfully extracted cache
//	Creating cache v0-23-0-protected...
//	Created cache
func (t *trace) caches(text string, o *evidence.Out) {
	for _, head := range []string{"Checking cache for ", "Creating cache "} {
		if key, ok := strings.CutPrefix(text, head); ok {
			t.cache = strings.TrimSuffix(strings.TrimSpace(key), "...")
			return
		}
	}
	if t.cache == "" {
		return
	}
	switch strings.TrimSpace(text) {
	case "Successfully extracted cache":
		o.Link(timeline.Uses, o.Subject().String(), timeline.CacheEnd+t.cache)
		o.Brought()
		if t.restored == nil {
			t.restored = map[string]evidence.Mark{}
		}
		if len(t.restored) < maxNames {
			t.restored[t.cache] = o.Mark()
		}
		t.cache = ""
	case "Created cache":
		o.Link(timeline.Saves, o.Subject().String(), timeline.CacheEnd+t.cache)
		t.cache = ""
	}
}

// archived reads a path of the cache that is written, which were in it too when
// it came:
//
//	Creating cache default-1...
//	.venv/: found 2014 matching artifact files and directories
func (t *trace) archived(text string, o *evidence.Out) {
	path, _, _ := strings.Cut(text, ": found ")
	if mark, came := t.restored[t.cache]; came {
		o.RestoredAt(mark, t.cache, evidence.InstalledAt(path))
	}
}

// End says that a trace from the runner's greeting to its verdict is whole, and
// that one with only one of the two is cut.
func (g *gitlab) End(o *evidence.Out) {
	for s, t := range g.traces {
		g.release(t, s, o)
		for name, mark := range t.asked {
			o.At(mark, timeline.Event{Action: timeline.Resolve, Items: []timeline.Item{{Artifact: name}}})
		}
		switch {
		case t.begun && !t.ended:
			o.Cut(`the trace ends before the job does: neither "Job succeeded" nor "ERROR: Job failed" is there`)
		case !t.begun && t.ended:
			o.Cut(`the trace begins after the job does: its first line "Running with gitlab-runner" is missing`)
		case t.succeeded && !t.commands:
			o.Cut("the trace shows no command of a job that succeeded: lines were taken out of it")
		case t.succeeded && (len(t.open) > 0 || t.unpaired != ""):
			o.Cut("the section " + strings.Join(append(t.open, t.unpaired), " ") + " has no beginning or no end: lines were taken out of the trace")
		case t.begun && !o.Gap():
			t.cover(s, o)
		}
	}
}

func (t *trace) cover(s *evidence.Stream, o *evidence.Out) {
	who := s.Who()
	if who.IsZero() {
		who = o.Subject()
	}
	o.Cover(timeline.Coverage{
		Subject: who, Topic: timeline.Everything,
		Span:  timeline.Span{From: t.first.From, To: t.last.To, Clock: t.last.Clock},
		Whole: true, Why: "the job's trace runs from the runner's greeting to its verdict",
	})
}
