package tool

import (
	"bytes"
	"path"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Podman is what podman, buildah and skopeo print when they pull, push and copy:
// the text of the containers/image library. The line "Writing manifest to image
// destination" ends a copy; the same text comes when every layer was there
// already, so a pull may have moved little. A push and a copy of skopeo print no
// name: only their command has it, and where several were printed before the
// first of them ran, none.
//
// https://github.com/containers/image/blob/main/copy/copy.go
// https://docs.podman.io/en/latest/markdown/podman-pull.1.html
// https://github.com/containers/skopeo/blob/main/docs/skopeo-copy.1.md
var Podman = evidence.Format{
	Name:     "podman",
	Shape:    evidence.ToolShape,
	Title:    "podman and buildah pull and push, skopeo copy",
	Proves:   "images that were pulled, with their image ID, and pushed when the command was printed too; containers started in the background",
	Cannot:   "the digest of a tag that was pulled; whether layers came over or were there already",
	Doc:      "https://docs.podman.io/en/latest/markdown/podman-pull.1.html",
	Sample:   "podman 4.3.1, buildah 1.28.2",
	Starts:   []string{"Trying to pull ", "Getting image ", "Copying ", "Writing manifest ", "Storing ", "Successfully pushed ", "Pulling image ", "Image pull complete", "podman ", "buildah ", "skopeo ", "$ podman ", "$ sudo podman ", "sudo podman ", "$ buildah ", "$ sudo buildah ", "$ skopeo ", "$ sudo skopeo ", "+ podman ", "+ buildah ", "+ skopeo "},
	Commands: true,
	Tool:     func() evidence.Parser { return &podman{} },
}

type podman struct {
	action  timeline.Action // Pull or Push, NoAction when no name is known
	image   string
	source  string // image in a registry that skopeo copies from
	begun   evidence.Mark
	command bool // begun by a command: nothing that is printed says the name
	unsure  bool // another command was printed before this one's output
	copying bool // "Getting image source signatures": the manifest was got
	list    bool // several images of an index are copied
	config  string
	short   string // the beginning of the image ID, where a terminal shows no more
	run     string // image that "podman run -d" was told to run
	written evidence.Mark
	done    bool // the manifest was written; the ID may follow
}

// Line reads one line.
func (p *podman) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimSpace(l.Text)
	if l.Echo {
		if p.done {
			p.finish(o)
		}
		p.commands(string(text), o)
		return evidence.Miss
	}
	if p.done {
		if bytes.HasPrefix(text, []byte("Storing signatures")) {
			return evidence.More
		}
		id := timeline.SHA256(string(text))
		if id != "" && (p.config == "" || p.config == id) && (p.short == "" && p.run == "" || p.short != "" && strings.HasPrefix(id, p.short)) {
			p.config = id
			p.finish(o)
			return evidence.Done
		}
		p.finish(o)
	}
	if p.run != "" && len(text) == 64 && isHex(text) {
		return p.started(o)
	}
	return p.line(text, o)
}

// started reads the ID of a container that answers "podman run -d".
func (p *podman) started(o *evidence.Out) evidence.Result {
	op := commandOn(p.run, "podman", o)
	op.Answer()
	o.Seen(timeline.Images)
	o.Emit(timeline.Run, op, timeline.Item{Artifact: p.run})
	o.Close(op, timeline.OpDone)
	p.run = ""
	o.Deafen()
	return evidence.Done
}

// line reads a line of a copy.
//
//	Trying to pull registry.acme.example:5000/acme/billing-api:1.4.0...
//	Getting image source signatures
//	Copying blob sha256:dbef…
//	Copying config sha256:86ef8cc668aa295e6c8797f64a0ac2068d026b28cb7b811e899e0a30cd55609d
//	Writing manifest to image destination
//	Storing signatures
//	86ef8cc668aa295e6c8797f64a0ac2068d026b28cb7b811e899e0a30cd55609d
func (p *podman) line(text []byte, o *evidence.Out) evidence.Result {
	whole := string(text)
	// podman before 1.7 printed no end of line behind the name.
	whole, glued := strings.CutSuffix(whole, "...Getting image source signatures")
	if glued {
		whole += "..."
	}
	word, rest, _ := strings.Cut(whole, " ")
	switch {
	case word == "Trying" && strings.HasSuffix(rest, "..."):
		image := timeline.NormalizeImage(strings.TrimSuffix(strings.TrimPrefix(rest, "to pull "), "..."))
		if image == "" {
			return evidence.Miss
		}
		p.giveUp(o)
		p.begin(timeline.Pull, image, o)
		p.copying = glued
	case word == "Pulling":
		p.giveUp(o)
		image, named := strings.CutSuffix(strings.TrimPrefix(rest, "image "), " ...")
		if image = timeline.NormalizeImage(image); image == "" || !named {
			return evidence.Miss
		}
		p.begin(timeline.Pull, image, o)
	case word == "Image":
		return p.complete(rest, o)
	case word == "Getting" && rest == "image list signatures":
		p.copying, p.list = true, true
	case word == "Getting" && rest == "image source signatures":
		p.copying = true
	case word == "Copying" && strings.HasPrefix(rest, "config ") && !p.list:
		word := strings.TrimPrefix(firstWord(rest[len("config "):]), "sha256:")
		if p.config = timeline.SHA256(word); p.config == "" && len(word) >= 8 && isHex([]byte(word)) {
			p.short = "sha256:" + word
		}
	case word == "Copying" && (strings.HasPrefix(rest, "blob ") || strings.HasPrefix(rest, "config ") || strings.HasPrefix(rest, "image ")):
	case word == "Writing" && rest == "manifest to image destination" && !p.list, word == "Writing" && rest == "manifest list to image destination":
		return p.wrote(o)
	case word == "Storing" && rest == "signatures" && p.copying && !p.list && p.image != "":
		return p.wrote(o) // the line before was not printed: an excerpt
	case word == "Writing" && p.list, word == "Storing" && strings.HasSuffix(rest, "signatures"):
	case word == "Successfully" && strings.HasPrefix(rest, "pushed "):
		return p.pushed(rest[len("pushed "):], o)
	case word == "podman", word == "buildah", word == "skopeo", word == "sudo", word == "$", word == "+":
		p.commands(string(text), o)
		return evidence.Miss
	default:
		return evidence.Miss
	}
	return evidence.Done
}

// complete reads the last line of a pull by OpenShift 3, which goes through docker.
//
//	Pulling image docker.io/library/centos@sha256:822d… ...
//	Pulled 1/1 layers, 100% complete
//	Extracting
//	Image pull complete
func (p *podman) complete(rest string, o *evidence.Out) evidence.Result {
	if rest != "pull complete" || p.image == "" || p.action != timeline.Pull || p.copying {
		return evidence.Miss
	}
	p.written = o.Mark()
	p.finish(o)
	return evidence.Done
}

func (p *podman) begin(a timeline.Action, image string, o *evidence.Out) {
	*p = podman{action: a, image: image, begun: o.Mark(), run: p.run}
}

// wrote reads the line that ends a copy. Without a name it is the commit of a
// build, or a copy of something else.
func (p *podman) wrote(o *evidence.Out) evidence.Result {
	if p.image == "" || !p.copying || p.unsure {
		*p = podman{}
		return evidence.Done
	}
	p.written, p.done = o.Mark(), true
	return evidence.More
}

// finish makes the event of a copy that ended.
func (p *podman) finish(o *evidence.Out) {
	item := timeline.Item{Artifact: p.image}
	if p.config != "" {
		item.Digests = []timeline.Digest{{Value: p.config, Role: timeline.Config}}
	}
	op := commandOn(p.image, "podman", o)
	op.Answer()
	o.Seen(timeline.Images)
	o.At(p.written, timeline.Event{Action: p.action, Op: op.Number, Items: []timeline.Item{item}})
	if p.source != "" {
		o.At(p.written, timeline.Event{Action: timeline.Resolve, Op: op.Number, Items: []timeline.Item{{Artifact: p.source}}})
	}
	if d := timeline.Split(p.image).Digest; d != "" && p.config != "" {
		o.Link(timeline.Holds, d, p.config)
	}
	o.Close(op, timeline.OpDone)
	*p = podman{run: p.run}
}

// giveUp records a pull whose manifest was got and that did not end.
func (p *podman) giveUp(o *evidence.Out) {
	if p.action == timeline.Pull && p.copying && !p.unsure {
		op := commandOn(p.image, "podman", o)
		o.At(p.begun, timeline.Event{Action: timeline.Resolve, Op: op.Number, Items: []timeline.Item{{Artifact: p.image}}})
		o.Close(op, timeline.OpOpen)
	}
	*p = podman{run: p.run}
}

// pushed reads OpenShift's line.
//
//	Successfully pushed registry.acme.example:5000/acme/api@sha256:77b2…
func (p *podman) pushed(ref string, o *evidence.Out) evidence.Result {
	image := timeline.NormalizeImage(ref)
	if !strings.Contains(ref, "@sha256:") || image == "" {
		return evidence.Miss
	}
	*p = podman{}
	o.Seen(timeline.Images)
	o.Emit(timeline.Push, nil, timeline.Item{Artifact: image})
	return evidence.Done
}

// commands reads a line of shell.
//
//	buildah push --tls-verify=false acme/api:1.4.0 docker://registry.acme.example:5000/acme/api:1.4.0
func (p *podman) commands(line string, o *evidence.Out) {
	if !strings.Contains(line, "podman") && !strings.Contains(line, "buildah") && !strings.Contains(line, "skopeo") {
		return
	}
	commands, _, _ := shellCommands(strings.TrimLeft(line, "$+ "))
	for _, c := range commands {
		p.commanded(c.words, o)
	}
}

// commanded notes a push or a copy. Any other command ends what was open.
func (p *podman) commanded(words []string, o *evidence.Out) {
	for len(words) > 1 && (words[0] == "sudo" || strings.Contains(words[0], "=")) {
		words = words[1:]
	}
	if len(words) < 3 {
		return
	}
	program := path.Base(words[0])
	if program != "podman" && program != "buildah" && program != "skopeo" {
		return
	}
	if words[1] == "image" {
		words = words[1:]
	}
	before := *p
	p.run = ""
	p.giveUp(o)
	last := words[len(words)-1]
	switch {
	case program == "podman" && words[1] == "run":
		if image, detached := dockerArgument(words[2:]); detached {
			p.run = timeline.NormalizeImage(image)
			o.Listen()
		}
		return
	case strings.HasPrefix(last, "-"):
	case program == "skopeo" && words[1] == "copy" && len(words) > 3:
		p.copies(words[len(words)-2], last, o)
	case program != "skopeo" && words[1] == "push":
		if scheme, rest, ok := strings.Cut(last, ":"); ok && !strings.HasPrefix(rest, "//") && localTransport(scheme) {
			return
		}
		if image := timeline.NormalizeImage(strings.TrimPrefix(last, "docker://")); image != "" {
			p.begin(timeline.Push, image, o)
		}
	}
	p.command = p.image != ""
	waiting := before.command && !before.copying
	p.unsure = waiting && (before.unsure || before.image != p.image || before.source != p.source)
}

// copies notes what skopeo copies, and whether a registry is read or written.
//
//	skopeo copy docker://docker.io/library/redis:7.4 docker://registry.acme.example/redis:7.4
func (p *podman) copies(from, to string, o *evidence.Out) {
	from, read := strings.CutPrefix(from, "docker://")
	to, written := strings.CutPrefix(to, "docker://")
	source, target := timeline.NormalizeImage(from), timeline.NormalizeImage(to)
	switch {
	case written && target != "":
		p.begin(timeline.Push, target, o)
		if read {
			p.source = source
		}
	case read && !written && source != "":
		p.begin(timeline.Pull, source, o)
	}
}

// localTransport reports whether a destination is no registry.
func localTransport(scheme string) bool {
	switch scheme {
	case "dir", "docker-archive", "docker-daemon", "oci", "oci-archive", "containers-storage":
		return true
	}
	return false
}

// End ends a step.
func (p *podman) End(_ timeline.OpState, o *evidence.Out) {
	if p.done {
		p.finish(o)
	}
	p.giveUp(o)
}
