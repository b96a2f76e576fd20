package frame

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Kaniko is the log of kaniko's executor, which builds an image inside a
// container.
//
// Its own lines have a mark, those of the commands that it runs have none and
// stay in the stream. The base of a stage came over when its root file system
// was unpacked and a later line follows; a base that was only retrieved is a
// manifest. A RUN whose layer is in kaniko's cache is printed too, although
// nothing runs: "Using caching version" and "Found cached layer" tell. The
// number in brackets is seconds since the start, and no clock.
//
// https://github.com/GoogleContainerTools/kaniko#readme
// https://github.com/GoogleContainerTools/kaniko/blob/main/pkg/executor/build.go
var Kaniko = evidence.Format{
	Name:   "kaniko",
	Shape:  evidence.FrameShape,
	Title:  "kaniko executor",
	Proves: "base images that were unpacked or only looked up; which steps ran and which came from the cache; images pushed, with digests",
	Cannot: "digests of base images; when a cached layer was made; times",
	Doc:    "https://github.com/GoogleContainerTools/kaniko#readme",
	Sample: "written by hand after public logs",
	First:  "I",
	Looks:  func(text []byte) bool { return bytes.HasPrefix(text, []byte("INFO[")) },
	New:    func() evidence.Peeler { return &kaniko{builds: map[*evidence.Stream]*kanikoBuild{}} },
}

type kaniko struct {
	builds map[*evidence.Stream]*kanikoBuild
	order  []*evidence.Stream
}

// kanikoBuild is one run of the executor in one stream.
type kanikoBuild struct {
	op        *evidence.Op
	outer     int64 // the operation that the stream's commands belonged to before
	retrieved []retrieved
	base      string         // image of the stage; "" for one that builds on another stage
	unpacking *evidence.Mark // the root file system of base is being unpacked
	told      map[string]bool
	pushing   []string // names that the image is pushed to
	pushed    bool
	running   string // a RUN of which no line says what was run yet
	at        evidence.Line
	made      int64 // events before it
}

// retrieved is an image whose manifest was asked for.
type retrieved struct {
	image string
	mark  evidence.Mark
	local bool // it lay in the cache directory
	used  bool // an event was made
}

// kanikoStarts are the lines that a run of the executor is recognised by.
var kanikoStarts = [...]string{"Resolved base name ", "Retrieving image ", "Downloading base image ", "Using dockerignore file: ", "Built cross stage deps: "}

// Peel takes "INFO[0004] " off.
func (k *kaniko) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	rest, ok := bytes.CutPrefix(l.Text, []byte("INFO["))
	if !ok {
		return nil
	}
	_, rest, ok = bytes.Cut(rest, []byte("] "))
	if !ok {
		return nil
	}
	text := string(bytes.TrimRight(rest, " "))
	b := k.builds[s]
	starts := false
	for _, w := range kanikoStarts {
		starts = starts || strings.HasPrefix(text, w)
	}
	if b == nil && !starts {
		return nil // other Go programs write such lines too
	}
	if b == nil || b.pushed && starts {
		b = k.begin(s, o)
	}
	if !b.line(text, l, s, o) {
		return nil
	}
	return s
}

// begin starts a run in s.
func (k *kaniko) begin(s *evidence.Stream, o *evidence.Out) *kanikoBuild {
	if before := k.builds[s]; before != nil {
		before.finish(s, o)
	} else {
		if len(k.order) >= maxSteps {
			k.End(o)
		}
		k.order = append(k.order, s)
	}
	b := &kanikoBuild{op: o.NewOp("kaniko", ""), outer: s.OpParent, told: map[string]bool{}}
	s.Spoken()
	s.Step(o)
	s.OpParent = b.op.Number
	k.builds[s] = b
	return b
}

// End ends the runs that the source ended with.
func (k *kaniko) End(o *evidence.Out) {
	for _, s := range k.order {
		k.builds[s].finish(s, o)
	}
	clear(k.builds)
	k.order = nil
}

func (b *kanikoBuild) finish(s *evidence.Stream, o *evidence.Out) {
	b.unshown(s, o)
	s.Step(o)
	s.OpParent = b.outer
	for _, r := range b.retrieved {
		if !r.used {
			b.image(timeline.Resolve, r.image, r.mark, o)
		}
	}
	how := timeline.OpOpen
	if b.pushed {
		how = timeline.OpDone
	}
	o.Close(b.op, how)
}

// image records an event on an image once for each run.
func (b *kanikoBuild) image(a timeline.Action, image string, mark evidence.Mark, o *evidence.Out) {
	key := a.String() + " " + image
	if b.told[key] {
		return
	}
	b.told[key] = true
	o.At(mark, timeline.Event{Action: a, Op: b.op.Number, Items: []timeline.Item{{Artifact: image}}})
}

// line reads what the executor says; it reports whether the line is one that
// tells something.
//
//	INFO[0000] Retrieving image nginx:alpine from registry index.docker.io
//	INFO[0000] Image already in cache: python:3.10-slim
//	INFO[0001] Building stage 'nginx:alpine' [idx: '0', base-idx: '-1']
//	INFO[0001] Unpacking rootfs as cmd RUN pip install litellm requires it.
//	INFO[0002] Using caching version of cmd: RUN pip install litellm
//	INFO[0004] RUN pip install litellm
//	INFO[0004] Running: [/bin/sh -c pip install litellm]
//	INFO[0009] Pushing image to registry.acme.example/acme/api:1.4.0
//	INFO[0010] Pushed registry.acme.example/acme/api@sha256:9c9b…
//	INFO[0010] Pushed image to 1 destinations
func (b *kanikoBuild) line(text string, l *evidence.Line, s *evidence.Stream, o *evidence.Out) bool {
	b.unpacked(o)
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "RUN", "COPY", "ADD", "WORKDIR", "ENV", "USER", "Taking", "Pushing", "Pushed", "Building":
		b.unshown(s, o)
	}
	switch word {
	case "Retrieving", "Downloading":
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, "base "), "image ")
		b.retrieve(strings.TrimPrefix(rest, "manifest "), o)
	case "Image":
		if ref, ok := strings.CutPrefix(rest, "already in cache: "); ok {
			b.cached(timeline.NormalizeImage(ref), o)
		}
	case "Building":
		if stage, ok := strings.CutPrefix(rest, "stage '"); ok {
			s.Step(o)
			b.base = ""
			if ref, tail, _ := strings.Cut(stage, "'"); strings.Contains(tail, "base-idx: '-1'") {
				b.base = timeline.NormalizeImage(ref)
			}
		}
	case "Unpacking":
		if strings.HasPrefix(rest, "rootfs as cmd ") {
			mark := o.Mark()
			b.unpacking = &mark
		}
	case "Using":
		if cmd, ok := strings.CutPrefix(rest, "caching version of cmd: "); ok {
			b.reused(cmd, l, s, o)
		}
	case "Running:":
		b.running = ""
		if cmd, ok := strings.CutPrefix(rest, "["); ok {
			feedCommand(kanikoCommand(strings.TrimSuffix(cmd, "]")), l, s, o)
		}
	case "RUN", "COPY", "ADD", "WORKDIR", "ENV", "USER", "Taking":
		s.Step(o)
		if word == "RUN" && !b.told[evidence.Instruction(text)] {
			b.running, b.at = rest, *l
			b.at.Text, b.made = nil, o.Made()
		}
	case "Pushing":
		if ref, ok := strings.CutPrefix(rest, "image to "); ok && len(b.pushing) < maxLayers {
			b.pushing = append(b.pushing, ref)
		}
	case "Pushed":
		b.push(rest, o)
	default:
		return false
	}
	return true
}

// unshown reads the command of a RUN that the log shows alone: what else the
// executor says of it was filtered out.
func (b *kanikoBuild) unshown(s *evidence.Stream, o *evidence.Out) {
	if b.running == "" {
		return
	}
	if s.Step(o); o.Made() == b.made { // its output did not tell either
		feedCommand(b.running, &b.at, s, o)
	}
	b.running = ""
}

// feedCommand hands a command on that the executor runs.
func feedCommand(command string, l *evidence.Line, s *evidence.Stream, o *evidence.Out) {
	echo := *l
	echo.Text, echo.Echo, echo.Flat = []byte(command), true, false
	o.Feed(&echo, s)
}

// kanikoCommand takes the shell off the words that the executor runs, which it
// prints without quotes; a RUN that is a list has none.
//
//	/bin/sh -c pip install litellm
//	/bin/bash -eo pipefail -c pip install litellm
//	pip install litellm
func kanikoCommand(words string) string {
	fields := strings.Fields(words)
	if len(fields) == 0 || !strings.HasSuffix(fields[0], "sh") {
		return words
	}
	at := len(fields[0])
	for _, w := range fields[1:] {
		at += strings.Index(words[at:], w) + len(w)
		if w[0] == '-' && w[len(w)-1] == 'c' {
			return words[at:]
		}
	}
	return words
}

// retrieve notes an image whose manifest is asked for.
func (b *kanikoBuild) retrieve(ref string, o *evidence.Out) {
	ref = firstWord(ref)
	image := timeline.NormalizeImage(ref)
	if image == "" || ref == "scratch" || len(b.retrieved) >= maxLayers {
		return
	}
	for _, r := range b.retrieved {
		if r.image == image {
			return
		}
	}
	o.Seen(timeline.Images)
	b.retrieved = append(b.retrieved, retrieved{image: image, mark: o.Mark()})
}

// cached records an image that lay in the cache directory.
func (b *kanikoBuild) cached(image string, o *evidence.Out) {
	for i := range b.retrieved {
		if r := &b.retrieved[i]; r.image == image {
			r.local, r.used = true, true
			b.image(timeline.Cached, image, o.Mark(), o)
		}
	}
}

// unpacked records the base of a stage when a line follows the unpacking. Old
// releases do not name the stage's image: it is known when there is only one.
func (b *kanikoBuild) unpacked(o *evidence.Out) {
	if b.unpacking == nil {
		return
	}
	mark := *b.unpacking
	b.unpacking = nil
	for i := range b.retrieved {
		r := &b.retrieved[i]
		if (r.image == b.base || len(b.retrieved) == 1) && !r.local {
			r.used = true
			b.image(timeline.Pull, r.image, mark, o)
		}
	}
}

// reused records a step whose layer came from the cache; its command did not
// run.
func (b *kanikoBuild) reused(cmd string, l *evidence.Line, s *evidence.Stream, o *evidence.Out) {
	instruction := evidence.Instruction(cmd)
	command, ok := strings.CutPrefix(instruction, "RUN ")
	if !ok || b.told[instruction] {
		return
	}
	b.told[instruction] = true
	child := s.Child(o, []byte("cached"))
	child.OpParent = b.op.Number
	echo := *l
	echo.Text, echo.Echo = []byte(command), true
	o.Feed(&echo, child)
	reused(timeline.Item{Ref: instruction}, b.op, child, o)
	child.Reused(o)
}

// push records that the registry took the image.
func (b *kanikoBuild) push(ref string, o *evidence.Out) {
	if strings.HasPrefix(ref, "image to ") && strings.HasSuffix(ref, " destinations") {
		b.pushedAll(o)
		return
	}
	image, ok := timeline.ParseImage(ref)
	if !ok || image.Digest == "" {
		return
	}
	b.pushed = true
	o.Seen(timeline.Images)
	o.Emit(timeline.Push, b.op, timeline.Item{Artifact: image.String(), Digests: []timeline.Digest{{Value: image.Digest}}})
	for _, name := range b.pushing {
		if to, ok := timeline.ParseImage(name); ok && to.Name == image.Name && to.Tag != "" {
			o.Link(timeline.Names, to.Name+":"+to.Tag, image.Digest)
		}
	}
}

// pushedAll records the names that an old release pushed to; it prints no digest.
func (b *kanikoBuild) pushedAll(o *evidence.Out) {
	for _, name := range b.pushing {
		if image := timeline.NormalizeImage(name); image != "" && !b.pushed {
			o.Seen(timeline.Images)
			b.image(timeline.Push, image, o.Mark(), o)
		}
	}
	b.pushed = b.pushed || len(b.pushing) > 0
}
