package frame

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// DockerBuild is the log of the builders that print step after step: docker
// build without BuildKit, buildah bud and podman build.
//
// The lines of a step have no mark of their own, so they stay in the stream; a
// step's header ends what the step before had open. Operations are those of
// BuildKit: the build is one, its steps' commands have it as parent, and
// "Using cache" closes them as cached.
//
// https://docs.docker.com/reference/cli/docker/build-legacy/
// https://github.com/containers/buildah/blob/main/docs/buildah-build.1.md
var DockerBuild = evidence.Format{
	Name:   "docker-build",
	Shape:  evidence.FrameShape,
	Title:  "docker build without BuildKit, buildah bud, podman build",
	Proves: "the step a line belongs to; base images that lay in the local store; steps reused from the cache; names and (buildah, podman) IDs of the images built",
	Cannot: "digests of images that docker built; when a cached layer was made",
	Doc:    "https://docs.docker.com/reference/cli/docker/build-legacy/",
	Sample: "buildah 1.28.2; docker's written by hand",
	First:  "S[- C",
	Looks:  looksStep,
	New:    func() evidence.Peeler { return &dockerBuild{builds: map[*evidence.Stream]*stepBuild{}} },
}

// looksStep knows the first bytes of a header; inside a build every line counts.
func looksStep(text []byte) bool {
	return len(text) > 4 && (text[0] == 'S' && text[1]|0x20 == 't' || text[0] == '[' && (text[4] == ']' || text[4] == '/' || text[3] == '/' || text[2] == '/'))
}

type dockerBuild struct {
	builds map[*evidence.Stream]*stepBuild
}

// stepBuild is one build in one stream.
type stepBuild struct {
	op          *evidence.Op
	outer       int64 // the operation that the stream's commands belonged to before
	stage       string
	stages      map[string]bool // names given with AS
	instruction string
	base        string // image of the FROM step that the next line tells about
	baseMark    evidence.Mark
	committed   bool
	commit      evidence.Mark
	name        string // behind COMMIT
	tagged      []named

	last, total int    // number of the step at work, and how many there are, in its stage
	lost        string // a step that did not come
}

type named struct {
	image string
	mark  evidence.Mark
}

// stepHeader takes a header apart: which stage, the number of the step, the
// instruction.
//
//	Step 2/32 : RUN apt-get update
//	STEP 2/4: ADD base.tar /
//	[1/2] STEP 3/3: RUN pip install litellm
//	STEP 1: FROM docker.io/library/alpine
func stepHeader(text []byte) (stage, number, instruction string, ok bool) {
	if bytes.HasPrefix(text, []byte("[")) {
		i := bytes.Index(text, []byte("] STEP "))
		if i < 4 || i > 8 {
			return "", "", "", false
		}
		stage, text = string(text[1:i]), text[i+2:]
	}
	rest, docker := bytes.CutPrefix(text, []byte("Step "))
	if !docker {
		var buildah bool
		if rest, buildah = bytes.CutPrefix(text, []byte("STEP ")); !buildah {
			return "", "", "", false
		}
	}
	head, tail, found := bytes.Cut(rest, []byte(": "))
	head = bytes.TrimSuffix(head, []byte(" "))
	if !found || len(head) > 9 || strings.Trim(string(head), "0123456789/") != "" || !isInstruction(tail) {
		return "", "", "", false
	}
	number, _, _ = strings.Cut(string(head), "/")
	return stage, number, string(tail), true
}

// isInstruction reports whether text starts with a word of a Dockerfile.
// https://docs.docker.com/reference/dockerfile/
func isInstruction(text []byte) bool {
	word, _, _ := bytes.Cut(text, []byte(" "))
	switch strings.ToUpper(string(word)) {
	case "FROM", "RUN", "COPY", "ADD", "ARG", "ENV", "LABEL", "WORKDIR", "USER", "CMD", "ENTRYPOINT", "EXPOSE", "VOLUME",
		"SHELL", "STOPSIGNAL", "HEALTHCHECK", "ONBUILD", "MAINTAINER":
		return true
	}
	return false
}

// Peel reads the builder's own lines.
func (d *dockerBuild) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	b := d.builds[s]
	if stage, number, instruction, ok := stepHeader(l.Text); ok {
		if b == nil || b.committed || number == "1" && stage == b.stage {
			b = d.begin(s, o)
		}
		b.count(stage, number, l.Text)
		b.header(stage, instruction, l, s, o)
		return s
	}
	if b == nil {
		return nil
	}
	own := b.own(l, s, o)
	if b.op.State == timeline.OpDone {
		s.OpParent = b.outer
		delete(d.builds, s)
		o.Unwatch(s)
	}
	if !own {
		return nil
	}
	return s
}

// begin starts a build in s.
func (d *dockerBuild) begin(s *evidence.Stream, o *evidence.Out) *stepBuild {
	if old := d.builds[s]; old != nil {
		old.finish(s, timeline.OpOpen, o)
	}
	if len(d.builds) >= maxSteps {
		for stream, b := range d.builds {
			b.finish(stream, timeline.OpOpen, o)
			delete(d.builds, stream)
			o.Unwatch(stream)
		}
	}
	s.Spoken()
	s.Step(o)
	o.Watch(s)
	b := &stepBuild{op: o.NewOp("docker-build", ""), outer: s.OpParent, stages: map[string]bool{}}
	d.builds[s] = b
	return b
}

// End ends what is open: the source is over.
func (d *dockerBuild) End(o *evidence.Out) {
	for s, b := range d.builds {
		b.finish(s, timeline.OpCut, o)
	}
	clear(d.builds)
}

func (b *stepBuild) finish(s *evidence.Stream, how timeline.OpState, o *evidence.Out) {
	s.OpParent = b.outer
	if len(b.tagged) > 0 {
		b.built("", o)
		return
	}
	o.Close(b.op, how)
}

// count notes the number of a step: each comes, one after the other.
func (b *stepBuild) count(stage, number string, text []byte) {
	k, err := strconv.Atoi(number)
	if err != nil {
		return
	}
	if stage != b.stage || k == 1 {
		b.last = 0
	}
	switch {
	case b.lost != "" || k == b.last+1 || k == b.last:
	case b.last == 0:
		b.lost = fmt.Sprintf("the first step in the log is number %d", k)
	default:
		b.lost = fmt.Sprintf("step %d follows on step %d", k, b.last)
	}
	_, rest, _ := bytes.Cut(text[:min(len(text), 30)], []byte("/"))
	rest, _, _ = bytes.Cut(rest, []byte(":"))
	b.total, _ = strconv.Atoi(string(bytes.TrimSpace(rest)))
	b.last = k
}

// header starts a step.
func (b *stepBuild) header(stage, instruction string, l *evidence.Line, s *evidence.Stream, o *evidence.Out) {
	b.found(o) // buildah prints nothing for a base image that it has
	s.Step(o)
	s.OpParent = b.op.Number
	b.stage, b.instruction = stage, evidence.Instruction(instruction)
	word, args, _ := strings.Cut(b.instruction, " ")
	switch word {
	case "RUN":
		if strings.HasPrefix(args, "<<") { // a here-document: only its first words are printed
			args = "sh here-document"
		}
		echo := *l
		echo.Text, echo.Echo = []byte(args), true
		o.Feed(&echo, s)
	case "ADD":
		if strings.Contains(args, "://") {
			echo := *l
			echo.Text, echo.Echo = []byte("curl "+args), true
			o.Feed(&echo, s)
		}
	case "FROM":
		b.from(args, o)
		o.AskNext(s)
	}
}

// from notes the base image, unless it is an earlier stage.
func (b *stepBuild) from(args string, o *evidence.Out) {
	words := strings.Fields(args)
	for len(words) > 0 && strings.HasPrefix(words[0], "--") {
		words = words[1:]
	}
	b.base = ""
	if len(words) == 0 {
		return
	}
	if words[0] != "scratch" && !b.stages[strings.ToLower(words[0])] {
		b.base, b.baseMark = timeline.NormalizeImage(words[0]), o.Mark()
	}
	if len(words) == 3 && strings.EqualFold(words[1], "as") && len(b.stages) < maxSteps {
		b.stages[strings.ToLower(words[2])] = true
	}
}

// found records that the base image was in the local store: the builder went
// on without pulling it.
func (b *stepBuild) found(o *evidence.Out) {
	if b.base != "" {
		o.At(b.baseMark, timeline.Event{Action: timeline.Present, Op: b.op.Number, Items: []timeline.Item{{Artifact: b.base}}})
		b.base = ""
	}
}

// pulled notes that the base image is coming. Before version 1.16 buildah did not
// say of which image it copies the layers: the header did.
//
//	STEP 1: FROM golang:1.10-alpine
//	Getting image source signatures
func (b *stepBuild) pulled(l *evidence.Line, s *evidence.Stream, o *evidence.Out) {
	if b.base != "" && string(bytes.TrimSpace(l.Text)) == "Getting image source signatures" {
		named := *l
		named.Text = []byte("Trying to pull " + b.base + "...")
		o.Feed(&named, s)
	}
	b.base = ""
}

// own reads the other lines of the builder.
//
//	---> Using cache
//	--> Using cache f50b59b0dbb30902a4e32cdb3b060a2cc4c8d94fbb9737012466079f6a9ba334
//	 ---> b4adc22212f1
//	Successfully built 1424886bb090
//	[2/2] COMMIT registry.acme.example:5000/acme/billing-api:1.4.0
//	STEP 4: COMMIT registry.acme.example:5000/acme/billing-api:1.4.0
//	Successfully tagged registry.acme.example:5000/acme/billing-api:1.4.0
//	86ef8cc668aa295e6c8797f64a0ac2068d026b28cb7b811e899e0a30cd55609d
func (b *stepBuild) own(l *evidence.Line, s *evidence.Stream, o *evidence.Out) bool {
	text := bytes.TrimSpace(l.Text)
	arrow, isArrow := cutArrow(text)
	switch {
	case isArrow:
		b.arrow(arrow, s, o)
		return true
	case bytes.HasPrefix(text, []byte("Successfully built ")) && hexWord(text[len("Successfully built "):], 12):
		s.Step(o)
		b.committed = true
		switch {
		case b.lost != "":
			o.Cut("lines of a build are missing: " + b.lost)
		case b.last < b.total:
			o.Cut(fmt.Sprintf("lines of a build are missing: it was built, and of %d steps number %d is the last in the log", b.total, b.last))
		}
		o.AskNext(s)
		return true
	case bytes.HasPrefix(text, []byte("Successfully tagged ")):
		if name := timeline.NormalizeImage(string(text[len("Successfully tagged "):])); name != "" && len(b.tagged) < maxSteps {
			b.tagged = append(b.tagged, named{name, o.Mark()})
		}
		b.committed = true
		o.AskNext(s)
		return true
	case isCommit(text):
		b.found(o)
		s.Step(o)
		_, name, _ := bytes.Cut(text, []byte("COMMIT"))
		b.committed, b.commit, b.name = true, o.Mark(), timeline.NormalizeImage(string(bytes.TrimSpace(name)))
		o.AskNext(s)
		return true
	case b.committed && hexWord(text, 64):
		b.built("sha256:"+string(text), o)
		return true
	}
	b.pulled(l, s, o)
	if b.committed {
		o.AskNext(s) // before its ID an older buildah tells of the layers that it copies
	}
	if len(b.tagged) > 0 {
		b.built("", o)
	}
	return false
}

// arrow reads what a step came to.
func (b *stepBuild) arrow(result []byte, s *evidence.Stream, o *evidence.Out) {
	if id, cached := bytes.CutPrefix(result, []byte("Using cache")); cached {
		if strings.HasPrefix(b.instruction, "RUN ") {
			item := timeline.Item{Ref: b.instruction}
			if sha := timeline.SHA256(string(bytes.TrimSpace(id))); sha != "" {
				item.Digests = []timeline.Digest{{Value: sha, Role: timeline.Config}}
			}
			reused(item, b.op, s, o)
			s.Reused(o)
		}
		return
	}
	if !bytes.HasPrefix(result, []byte("Running in ")) {
		b.found(o)
	}
	if b.committed {
		o.AskNext(s)
	}
}

// built records the image under each of its names.
func (b *stepBuild) built(id string, o *evidence.Out) {
	var digests []timeline.Digest
	if id != "" {
		digests = []timeline.Digest{{Value: id, Role: timeline.Config}}
	}
	if len(b.tagged) == 0 {
		b.tagged = append(b.tagged, named{b.name, b.commit})
	}
	for _, n := range b.tagged {
		o.At(n.mark, timeline.Event{Action: timeline.Build, Op: b.op.Number, Items: []timeline.Item{{Artifact: n.image, Digests: digests}}})
		if n.image != "" && id != "" {
			o.Link(timeline.Names, n.image, id)
		}
	}
	b.tagged = nil
	o.Close(b.op, timeline.OpDone)
}

func cutArrow(text []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(text, []byte("---> "))
	if !ok {
		rest, ok = bytes.CutPrefix(text, []byte("--> "))
	}
	return rest, ok
}

// isCommit reports whether text is "COMMIT x", "[2/2] COMMIT x" or "STEP 4: COMMIT x".
func isCommit(text []byte) bool {
	if number, rest, ok := bytes.Cut(text, []byte(": ")); ok && bytes.HasPrefix(number, []byte("STEP ")) && len(number) < 10 {
		text = rest
	}
	if bytes.HasPrefix(text, []byte("[")) {
		if i := bytes.IndexByte(text, ']'); i > 0 && i < 8 {
			text = bytes.TrimPrefix(text[i+1:], []byte(" "))
		}
	}
	return bytes.HasPrefix(text, []byte("COMMIT ")) || string(text) == "COMMIT"
}

// hexWord reports whether text is n lower-case hexadecimal digits.
func hexWord(text []byte, n int) bool {
	if len(text) != n {
		return false
	}
	for _, c := range text {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
