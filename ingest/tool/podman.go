package tool

import (
	"bytes"
	"path"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Podman is what podman and buildah print when they pull and push: the text of
// the containers/image library. The line "Writing manifest to image
// destination" ends a copy; the same text comes when every layer was there
// already, so a pull may have moved little. A push prints no name: only its
// command has it.
//
// https://github.com/containers/image/blob/main/copy/copy.go
// https://docs.podman.io/en/latest/markdown/podman-pull.1.html
var Podman = evidence.Format{
	Name:     "podman",
	Shape:    evidence.ToolShape,
	Title:    "podman and buildah pull and push",
	Proves:   "images that were pulled, with their image ID, and pushed when the command was printed too",
	Cannot:   "the digest of a tag that was pulled; whether layers came over or were there already",
	Doc:      "https://docs.podman.io/en/latest/markdown/podman-pull.1.html",
	Sample:   "podman 4.3.1, buildah 1.28.2",
	Starts:   []string{"Trying to pull ", "Getting image ", "Copying ", "Writing manifest ", "Storing ", "Successfully pushed ", "podman ", "buildah ", "$ podman ", "$ buildah ", "+ podman ", "+ buildah "},
	Commands: true,
	Tool:     func() evidence.Parser { return &podman{} },
}

type podman struct {
	action  timeline.Action // Pull or Push, NoAction when no name is known
	image   string
	begun   evidence.Mark
	copying bool // "Getting image source signatures": the manifest was got
	list    bool // several images of an index are copied
	config  string
	written evidence.Mark
	done    bool // the manifest was written; the ID may follow
}

// Line reads one line.
func (p *podman) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimSpace(l.Text)
	if l.Echo {
		p.command(string(text), o)
		return evidence.Miss
	}
	if p.done {
		if bytes.HasPrefix(text, []byte("Storing signatures")) {
			return evidence.More
		}
		if id := timeline.SHA256(string(text)); id != "" && (p.config == "" || p.config == id) {
			p.config = id
			p.finish(o)
			return evidence.Done
		}
		p.finish(o)
	}
	return p.line(text, o)
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
	word, rest, _ := strings.Cut(string(text), " ")
	switch {
	case word == "Trying" && strings.HasSuffix(rest, "..."):
		image := timeline.NormalizeImage(strings.TrimSuffix(strings.TrimPrefix(rest, "to pull "), "..."))
		if image == "" {
			return evidence.Miss
		}
		p.giveUp(o)
		p.begin(timeline.Pull, image, o)
	case word == "Getting" && rest == "image list signatures":
		p.copying, p.list = true, true
	case word == "Getting" && rest == "image source signatures":
		p.copying = true
	case word == "Copying" && strings.HasPrefix(rest, "config ") && !p.list:
		p.config = timeline.SHA256(firstWord(rest[len("config "):]))
	case word == "Copying" && (strings.HasPrefix(rest, "blob ") || strings.HasPrefix(rest, "config ") || strings.HasPrefix(rest, "image ")):
	case word == "Writing" && rest == "manifest to image destination" && !p.list, word == "Writing" && rest == "manifest list to image destination":
		return p.wrote(o)
	case word == "Writing" && p.list, word == "Storing" && strings.HasSuffix(rest, "signatures"):
	case word == "Successfully" && strings.HasPrefix(rest, "pushed "):
		return p.pushed(rest[len("pushed "):], o)
	case word == "podman", word == "buildah", word == "$", word == "+":
		p.command(string(text), o)
		return evidence.Miss
	default:
		return evidence.Miss
	}
	return evidence.Done
}

func (p *podman) begin(a timeline.Action, image string, o *evidence.Out) {
	*p = podman{action: a, image: image, begun: o.Mark()}
}

// wrote reads the line that ends a copy. Without a name it is the commit of a
// build, or a copy of something else.
func (p *podman) wrote(o *evidence.Out) evidence.Result {
	if p.image == "" || !p.copying {
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
	if d := timeline.Split(p.image).Digest; d != "" && p.config != "" {
		o.Link(timeline.Holds, d, p.config)
	}
	o.Close(op, timeline.OpDone)
	*p = podman{}
}

// giveUp records a pull whose manifest was got and that did not end.
func (p *podman) giveUp(o *evidence.Out) {
	if p.action == timeline.Pull && p.copying {
		op := commandOn(p.image, "podman", o)
		o.At(p.begun, timeline.Event{Action: timeline.Resolve, Op: op.Number, Items: []timeline.Item{{Artifact: p.image}}})
		o.Close(op, timeline.OpOpen)
	}
	*p = podman{}
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

// command reads a line of shell.
//
//	buildah push --tls-verify=false acme/api:1.4.0 docker://registry.acme.example:5000/acme/api:1.4.0
func (p *podman) command(line string, o *evidence.Out) {
	commands, _, _ := shellCommands(strings.TrimLeft(line, "$+ "))
	for _, c := range commands {
		p.push(c.words, o)
	}
}

// push notes a push to a registry. Any other command ends what was open.
func (p *podman) push(words []string, o *evidence.Out) {
	for len(words) > 1 && (words[0] == "sudo" || strings.Contains(words[0], "=")) {
		words = words[1:]
	}
	if len(words) < 3 || path.Base(words[0]) != "podman" && path.Base(words[0]) != "buildah" {
		return
	}
	if words[1] == "image" {
		words = words[1:]
	}
	p.giveUp(o)
	if words[1] != "push" {
		return
	}
	last := words[len(words)-1]
	if scheme, rest, ok := strings.Cut(last, ":"); ok && !strings.HasPrefix(rest, "//") && localTransport(scheme) {
		return
	}
	if image := timeline.NormalizeImage(strings.TrimPrefix(last, "docker://")); image != "" && !strings.HasPrefix(last, "-") {
		p.begin(timeline.Push, image, o)
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
