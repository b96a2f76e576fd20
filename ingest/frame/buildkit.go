package frame

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// BuildKit is the plain progress of docker build, docker buildx, buildctl and
// docker compose build.
//
// A line belongs to a step (#8) of a build. Each step is a stream of its own,
// so that what two steps print in turns answers the ask of its own step only.
// The header of a RUN step is handed on as an echoed command. Operations:
//
//   - the build is one (tool "buildkit"), and all events on images carry it: what
//     FROM resolved or pulled, what was built, named and pushed;
//   - the commands echoed from RUN steps are operations with the build as parent.
//
// A step that was reused (CACHED) closes its commands with the state cached:
// the require of "pip install x" is there, nothing ran then, and an opaque event
// tells that it ran at some time before. The CACHED line is an event "cached" in the command's operation,
// without artifact, with the instruction in its one spelling as Ref
// (evidence.Instruction). So a matcher walks from the ask over its operation to
// the parent, from there to the build's digests, and compares the Ref with the
// history in the config of that image: when that layer was made, and what is in
// it.
//
// https://docs.docker.com/build/building/variables/#buildkit_progress
// https://github.com/moby/buildkit/blob/master/util/progress/progressui/printer.go
var BuildKit = evidence.Format{
	Name:   "buildkit",
	Shape:  evidence.FrameShape,
	Title:  "BuildKit plain progress (docker build, buildx, buildctl)",
	Proves: "which images a build resolved, pulled, produced and pushed, with digests; which step printed a line; which steps came from the cache",
	Cannot: "when a cached layer was made; the time of a line, unless a frame around it has a clock",
	Doc:    "https://github.com/moby/buildkit/blob/master/util/progress/progressui/printer.go",
	Sample: "written by hand after the printer's source",
	First:  "#",
	New:    func() evidence.Peeler { return &buildkit{builds: map[*evidence.Stream]*build{}} },
}

// maxSteps bounds the steps of a build and the builds of a source that are
// remembered.
const maxSteps = 4096

// maxJoined bounds a line that is put together again.
const maxJoined = 64 << 10

type buildkit struct {
	builds   map[*evidence.Stream]*build
	released bool // the line at work was held back and is whole now
}

// build is one build in one stream.
type build struct {
	op       *evidence.Op
	steps    map[int]*step
	asked    map[string]evidence.Mark // "load metadata for X", not answered yet
	told     map[string]bool          // events on images that were made
	highest  int
	width    int            // runes of the longest line, perhaps the width of a terminal
	held     *evidence.Line // may go on in the next line
	exported bool
	failed   bool
	unheaded int // the first step of which a line came before its header
}

// numbered splits "#7 text". At most five digits: issues have numbers too.
func numbered(text []byte) (n int, rest []byte, ok bool) {
	i := 1
	for ; i < len(text) && i < 6 && text[i] >= '0' && text[i] <= '9'; i++ {
		n = n*10 + int(text[i]-'0')
	}
	if len(text) == 0 || text[0] != '#' || i == 1 || i < len(text) && text[i] != ' ' {
		return 0, nil, false
	}
	return n, bytes.TrimPrefix(text[i:], []byte(" ")), true
}

// Peel takes "#7 12.34 " off.
func (k *buildkit) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	n, rest, ok := numbered(l.Text)
	if b := k.builds[s]; b != nil && b.held != nil {
		held := b.held
		b.held = nil
		if joined := !ok && len(l.Text) > 0 && len(held.Text) < maxJoined; joined {
			held.Strip(slices.Concat(held.Text, held.Open, l.Text, l.Open))
			if b.mayGoOn(l.Text) {
				b.held = held
				o.AskNext(s)
				return s
			}
			k.release(held, s, o)
			return s
		}
		k.release(held, s, o)
	}
	if !ok {
		return nil
	}
	b := k.builds[s]
	if b == nil {
		if !isBuildKit(n, rest) {
			return nil
		}
		b = k.begin(s, o)
	}
	if k.released {
		k.released = false
	} else if b.mayGoOn(l.Text) {
		held := *l
		held.Text, held.Open, held.Stamp.Text = bytes.Clone(l.Text), bytes.Clone(l.Open), bytes.Clone(l.Stamp.Text)
		b.held = &held
		o.AskNext(s)
		return s
	}
	return k.line(b, n, rest, l, s, o)
}

// mayGoOn reports whether the rest of a line may stand on the next one: where
// PowerShell writes down what a program printed, it wraps it at the width of
// its window, behind a blank or in the middle of a word.
func (b *build) mayGoOn(text []byte) bool {
	n := utf8.RuneCount(text)
	if n >= b.width {
		b.width = n
		return true
	}
	return len(text) > 0 && text[len(text)-1] == ' '
}

// release reads a line that was held back.
func (k *buildkit) release(held *evidence.Line, s *evidence.Stream, o *evidence.Out) {
	k.released = true
	o.Feed(held, s)
	k.released = false
}

// begin starts a build in s.
func (k *buildkit) begin(s *evidence.Stream, o *evidence.Out) *build {
	if len(k.builds) >= maxSteps {
		for stream, b := range k.builds {
			b.finish(o, timeline.OpOpen)
			delete(k.builds, stream)
		}
	}
	b := newBuild(o)
	k.builds[s] = b
	s.Spoken()
	return b
}

func newBuild(o *evidence.Out) *build {
	return &build{
		op: o.NewOp("buildkit", ""), steps: map[int]*step{},
		asked: map[string]evidence.Mark{}, told: map[string]bool{},
	}
}

// renew ends the build in s and starts the next one.
func (k *buildkit) renew(b *build, s *evidence.Stream, o *evidence.Out) *build {
	b.drop(s, o)
	b.finish(o, timeline.OpOpen)
	width := b.width
	b = k.begin(s, o)
	b.width = width
	return b
}

// drop ends the streams of the steps.
func (b *build) drop(s *evidence.Stream, o *evidence.Out) {
	for _, n := range slices.Sorted(maps.Keys(b.steps)) {
		s.Drop(o, appendInt(nil, n))
	}
}

// End ends what is open: the source is over.
func (k *buildkit) End(o *evidence.Out) {
	for s, b := range k.builds {
		if b.held != nil {
			held := b.held
			b.held = nil
			k.release(held, s, o)
			b = k.builds[s]
		}
		b.finish(o, timeline.OpCut)
	}
	clear(k.builds)
}

// finish makes the events of what stayed open and stores the operation.
func (b *build) finish(o *evidence.Out, how timeline.OpState) {
	open := false
	for _, n := range slices.Sorted(maps.Keys(b.steps)) {
		st := b.steps[n]
		open = open || !st.done
		if st.from != "" && !st.settled {
			b.image(o, timeline.Resolve, st.from, &st.mark)
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(b.asked)) {
		mark := b.asked[ref]
		b.image(o, timeline.Resolve, ref, &mark)
	}
	if lost := b.lost(); lost != "" && b.exported && !b.failed {
		o.Cut("lines of a build are missing: " + lost)
	}
	switch {
	case b.failed:
		how = timeline.OpFailed
	case b.exported:
		how = timeline.OpDone
	case !open:
		how = timeline.OpOpen
	}
	o.Close(b.op, how)
}

// image records an event on an image once for each build: a build for two
// platforms names each base twice. mark is the line when it is not the current
// one.
func (b *build) image(o *evidence.Out, a timeline.Action, ref string, mark *evidence.Mark) {
	name := timeline.NormalizeImage(ref)
	key := a.String() + " " + name
	if name == "" || b.told[key] {
		return
	}
	b.told[key] = true
	e := timeline.Event{Action: a, Op: b.op.Number, Items: []timeline.Item{{Artifact: name}}}
	if mark != nil {
		o.At(*mark, e)
		return
	}
	o.Seen(timeline.Images)
	o.Event(e)
}

// line reads one whole line of step n.
func (k *buildkit) line(b *build, n int, rest []byte, l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if n == 0 {
		// #0 building with "builder-1" instance using docker-container driver
		if bytes.HasPrefix(rest, []byte("building with ")) && len(b.steps) > 0 {
			k.renew(b, s, o)
		}
		return s
	}
	if seconds := logSeconds(rest); seconds > 0 {
		return b.log(n, rest, seconds, l, s, o)
	}
	rest = bytes.TrimRight(rest, " ") // a window that was copied has blanks up to its edge
	st := b.steps[n]
	if verb := ending(rest); verb != "" {
		b.ended(n, verb, rest, s, o)
		return s
	}
	if len(rest) == 0 || string(rest) == "..." {
		return s // the printer switches away from a step
	}
	if !isHeader(st, rest) {
		b.at(n).status(b, rest, o)
		return s
	}
	instruction := evidence.Instruction(string(rest))
	if st != nil && st.name != "" {
		again := n == 1 && b.highest > 1 && bytes.Contains(rest, []byte("[internal] load"))
		if !st.done || st.instruction == instruction && !again {
			return s // the printer switches back to a step
		}
		b = k.renew(b, s, o)
	}
	return b.header(n, rest, instruction, l, s, o)
}

// log hands a line on that a step printed. There is a limit to what a step may
// print, and to how fast:
//
//	#8 41.07 [output clipped, log limit 2MiB reached]
//	#8 3.120 [output clipped, log limit 200KiB/s reached]
func (b *build) log(n int, rest []byte, seconds int, l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	b.headless(b.at(n), n)
	if l.Stamp.Read == nil {
		l.Stamp = evidence.Stamp{Text: rest[:seconds], Read: sinceStart}
	}
	l.Text = bytes.TrimPrefix(rest[seconds:], []byte(" "))
	if bytes.HasPrefix(l.Text, []byte("[output clipped, log limit ")) {
		o.Cut("BuildKit did not print all that a step of the build did: " + evidence.Excerpt(l.Text))
	}
	return b.stream(n, s, o)
}

// sinceStart reads seconds since the start of a step, which is not known.
func sinceStart(text []byte, _ *evidence.Times) timeline.Span {
	return timeline.Span{From: timeline.Beginning, To: timeline.Forever, Clock: timeline.Relative, Written: string(text)}
}

// stream returns the stream of step n.
func (b *build) stream(n int, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	child := s.Child(o, appendInt(make([]byte, 0, 8), n))
	child.OpParent = b.op.Number
	return child
}

// at returns the step with number n.
func (b *build) at(n int) *step {
	st := b.steps[n]
	if st == nil {
		st = &step{}
		if len(b.steps) < maxSteps {
			b.steps[n] = st
		}
		b.highest = max(b.highest, n)
	}
	return st
}

// header starts a step.
//
//	#8 [3/4] RUN pip install --no-cache-dir litellm
//	#2 [internal] load metadata for docker.io/library/python:3.12-slim
//	#5 [1/4] FROM docker.io/library/python:3.12-slim@sha256:6e49…
//	#3 docker-image://docker.io/docker/dockerfile:1@sha256:93bf…
//	#12 [stage-0 5/17] COPY --from=composer:latest /usr/bin/composer /usr/bin/composer
//	#15 pushing registry.acme.example/api:1 with docker
//	#9 importing cache manifest from ghcr.io/acme/api:buildcache
//	#9 importing cache manifest from gha:8680939905724665080
//	#20 exporting to GitHub Actions Cache
func (b *build) header(n int, rest []byte, instruction string, l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	st := b.at(n)
	st.name, st.instruction, st.mark = string(rest), instruction, o.Mark()
	word, args, _ := strings.Cut(instruction, " ")
	switch {
	case word == "RUN":
		if strings.HasPrefix(args, "<<") { // a here-document: only its first words are printed
			args = "sh here-document"
		}
		l.Text, l.Echo = []byte(args), true
		return b.stream(n, s, o)
	case word == "FROM":
		st.from = firstWord(args)
	case strings.HasPrefix(word, "docker-image://"):
		st.from = strings.TrimPrefix(word, "docker-image://")
	case word == "ADD" && strings.Contains(args, "://"):
		l.Text, l.Echo = []byte("curl "+args), true
		return b.stream(n, s, o)
	case word == "COPY":
		if ref := copiedFrom(st.name); ref != "" {
			b.image(o, timeline.Require, ref, nil)
		}
	case strings.HasPrefix(instruction, "load metadata for "):
		if len(b.asked) < maxSteps {
			b.asked[strings.TrimPrefix(instruction, "load metadata for ")] = st.mark
		}
	case word == "pushing" && strings.HasSuffix(args, " with docker"):
		st.pushing = strings.TrimSuffix(args, " with docker")
	case strings.HasPrefix(instruction, "importing cache manifest from "):
		b.cache(o, timeline.Uses, firstWord(strings.TrimPrefix(instruction, "importing cache manifest from ")))
	case instruction == "exporting to GitHub Actions Cache", instruction == "exporting cache to GitHub Actions Cache":
		b.cache(o, timeline.Saves, "gha:")
	case strings.HasPrefix(instruction, "merging manifest list "):
		st.pushing = firstWord(strings.TrimPrefix(instruction, "merging manifest list "))
	}
	if st.from != "" {
		ref, ok := timeline.ParseImage(st.from)
		if !ok {
			st.from = ""
			return s
		}
		ref.Digest = ""
		delete(b.asked, ref.String())
	}
	return s
}

// cache links the build with a cache of layers. To which registry one is
// written is not printed.
// https://docs.docker.com/build/cache/backends/
func (b *build) cache(o *evidence.Out, r timeline.Relation, ref string) {
	end := timeline.CacheEnd + "buildkit-gha" // one for each repository
	if !strings.HasPrefix(ref, "gha:") {
		image := timeline.NormalizeImage(ref)
		if image == "" || !strings.ContainsAny(ref, "/") {
			return // a folder: "local:1204"
		}
		end = timeline.SharedCache + image
	}
	o.Link(r, o.Subject().String(), end)
}

// copiedFrom returns the image that COPY --from names, "" for a stage. The
// name of a stage has neither tag nor host.
func copiedFrom(header string) string {
	_, rest, ok := strings.Cut(header, "--from=")
	ref := firstWord(rest)
	if !ok || !strings.ContainsAny(ref, ":/@") {
		return ""
	}
	return ref
}

func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}

// ended ends step n.
//
//	#6 DONE 1.5s
//	#8 CACHED
//	#8 ERROR: process "/bin/sh -c pip install x" did not complete successfully: exit code: 1
//	#9 CANCELED
func (b *build) ended(n int, verb string, rest []byte, s *evidence.Stream, o *evidence.Out) {
	st := b.at(n)
	st.done = true
	b.headless(st, n)
	child := b.stream(n, s, o)
	switch verb {
	case "DONE":
		st.finished(b, string(rest) == "DONE 0.0s", o)
		child.Step(o)
	case "CACHED":
		if st.from != "" && !st.settled {
			st.settled = true
			b.image(o, timeline.Cached, st.from, nil)
		}
		if strings.HasPrefix(st.instruction, "RUN ") {
			reused(timeline.Item{Ref: st.instruction}, b.op, child, o)
		}
		child.Reused(o)
	default:
		b.failed = b.failed || verb == "ERROR"
		child.Step(o)
	}
}

// reused records that a RUN step came from the cache, in the operation of each
// of its commands; a step without known commands gets one of its own. The
// item's Ref is the instruction.
func reused(item timeline.Item, build *evidence.Op, child *evidence.Stream, o *evidence.Out) {
	commands := child.Commands()
	for _, op := range commands {
		o.Emit(timeline.Cached, op, item)
	}
	if len(commands) == 0 {
		op := o.NewOp(build.Tool, item.Ref)
		op.Parent = build.Number
		o.Emit(timeline.Cached, op, item)
		o.Close(op, timeline.OpCached)
	}
}
