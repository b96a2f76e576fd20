package tool

import (
	"bytes"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Docker is what the docker command line client prints when it pulls, pushes,
// loads or runs an image. podman's own texts are others, and of nerdctl's only the ID
// of a container is read here.
//
// A pull is proven by its Status line; the Digest line before it belongs to it.
// The name of the registry stands in the Status line only. A container is
// proven to run when "docker run -d" was answered with its ID; a command alone
// proves nothing.
//
// https://docs.docker.com/reference/cli/docker/image/pull/
// https://github.com/docker/cli/tree/master/cli/command/image
var Docker = evidence.Format{
	Name:     "docker-cli",
	Shape:    evidence.ToolShape,
	Title:    "docker pull, push, run, load",
	Proves:   "images pulled, found up to date, pushed, loaded and removed, with digests; containers started in the background",
	Cannot:   "whether a digest is of an index or of a manifest; that a container ran in the foreground",
	Doc:      "https://docs.docker.com/reference/cli/docker/image/pull/",
	Sample:   "written by hand after the client's documentation",
	Starts:   dockerStarts,
	Commands: true,
	Tool:     func() evidence.Parser { return &docker{} },
}

var dockerStarts = []string{
	"Status: ", "Digest: sha256:", "Unable to find image '", "Using default tag: ", "The push refers to ",
	"Loaded image", "Untagged: ", "Deleted: sha256:", "docker: ", "docker ", "$ docker ", "+ docker ", "sudo docker ", "$ sudo docker ", "+ sudo docker ", "/usr/bin/docker ",
	"nerdctl ", "$ nerdctl ", "+ nerdctl ", "sudo nerdctl ", "$ sudo nerdctl ", "+ sudo nerdctl ",
	"ERROR: failed to ", "ERROR: Cannot ", "Cannot connect to the Docker ", "error during connect: ", "unable to prepare context: ",
	"unknown flag: ", "unknown shorthand flag: ", "Error response from daemon: ", "Sending build context to ", "Error: ",
}

// refusals are what a command prints that builds no image after all.
//
//	ERROR: failed to build: failed to solve: python:3.12-slim: failed to resolve source metadata
//	Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?
//	Error: no context directory and no Containerfile specified
var refusals = dockerStarts[len(dockerStarts)-10:]

type docker struct {
	wanted   string // image that a pull is about, when a line before it said so
	pull     dockerPull
	untagged bool   // an image lost its name, and may be deleted next
	digest   string // of the last Digest line
	at       int64  // its line
	pushes   string // repository that is being pushed

	asks    []dockerCommand     // commands that print a container's ID
	forked  bool                // some command runs only under a condition
	created map[string]string   // container ID → image
	seen    map[string]struct{} // IDs that were printed
}

// dockerPull is a pull that has begun.
type dockerPull struct {
	image  string
	digest string
	mark   evidence.Mark
}

// maxDocker bounds what is remembered of the commands of a step.
const maxDocker = 256

// Line reads one line.
func (d *docker) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimSpace(l.Text)
	if l.Echo {
		d.commands(string(text), o)
		return evidence.Miss // whoever reads commands may have it too
	}
	if len(text) < 4 {
		return evidence.Miss
	}
	if slices.ContainsFunc(refusals, func(w string) bool { return bytes.HasPrefix(text, []byte(w)) }) {
		o.Stream().Spoken()
		return d.listened(text, o)
	}
	switch text[0] {
	case 'S':
		if rest, ok := bytes.CutPrefix(text, []byte("Status: ")); ok {
			return d.status(string(rest), l, o)
		}
	case 'D':
		if rest, ok := bytes.CutPrefix(text, []byte("Digest: ")); ok {
			d.digest, d.at = timeline.SHA256(string(rest)), l.No
			if d.pull.image != "" {
				d.pull.digest = d.digest
				return evidence.Done
			}
			return evidence.Miss // helm and others print such a line too
		}
		if bytes.HasPrefix(text, []byte("Deleted: sha256:")) {
			return d.deleted(string(text), o)
		}
	case 'U':
		return d.absent(string(text), o)
	case 'T':
		return d.pushBegins(string(text), o)
	case 'L':
		return d.loaded(string(text), o)
	case '$', '+', '/':
		d.commands(string(text), o)
		return evidence.Miss
	case 'd', 'n', 's':
		if bytes.HasPrefix(text, []byte("docker: Error")) {
			d.asks = d.asks[min(1, len(d.asks)):]
			return evidence.Done
		}
		if program := bytes.TrimPrefix(text, []byte("sudo ")); bytes.HasPrefix(program, []byte("docker ")) || bytes.HasPrefix(program, []byte("nerdctl ")) {
			d.commands(string(text), o)
			return evidence.Miss
		}
	}
	return d.listened(text, o)
}

// absent reads what precedes a pull.
//
//	Unable to find image 'aquasec/trivy:latest' locally
//	Using default tag: latest
//	Untagged: acme/api:1.3.9
func (d *docker) absent(text string, o *evidence.Out) evidence.Result {
	if rest, ok := strings.CutPrefix(text, "Unable to find image '"); ok {
		name, _, _ := strings.Cut(rest, "'")
		d.wanted = timeline.NormalizeImage(name)
		o.Listen()
		return evidence.Done
	}
	if strings.HasPrefix(text, "Using default tag: ") {
		o.Listen()
		return evidence.Done
	}
	if name, ok := strings.CutPrefix(text, "Untagged: "); ok {
		if ref, ok := timeline.ParseImage(name); ok {
			item := timeline.Item{Artifact: ref.String()}
			if ref.Digest != "" {
				item.Digests = []timeline.Digest{{Value: ref.Digest}}
			}
			o.Emit(timeline.Remove, nil, item)
			d.untagged = true
			return evidence.Done
		}
	}
	return evidence.Miss
}

// deleted reads what 'docker rmi' deletes: first the image, by its ID, then
// layers that no other image has.
//
//	Untagged: acme/api:1.3.9
//	Deleted: sha256:a56145270ce6b3bebd1dd012b73948677dd618d496488bc608a3cb43ce3547dd
func (d *docker) deleted(text string, o *evidence.Out) evidence.Result {
	id := timeline.SHA256(strings.TrimPrefix(text, "Deleted: "))
	if id == "" {
		return evidence.Miss
	}
	if d.untagged {
		d.untagged = false
		o.Emit(timeline.Remove, nil, timeline.Item{Digests: []timeline.Digest{{Value: id}}})
	}
	return evidence.Done
}

// status reads the last line of a pull.
//
//	Status: Downloaded newer image for aquasec/trivy:latest
//	Status: Image is up to date for hello-world:latest
func (d *docker) status(rest string, l *evidence.Line, o *evidence.Out) evidence.Result {
	name, pulled := strings.CutPrefix(rest, "Downloaded newer image for ")
	if !pulled {
		var same bool
		if name, same = strings.CutPrefix(rest, "Image is up to date for "); !same {
			return evidence.Miss
		}
	}
	ref, ok := timeline.ParseImage(name)
	if !ok {
		return evidence.Miss
	}
	if !strings.ContainsAny(name[strings.LastIndexByte(name, '/')+1:], ":@") {
		ref.Tag = "" // --all-tags
	}
	item := timeline.Item{Artifact: ref.String()}
	// Digest and Status are printed together; an older digest is another's.
	if d.digest != "" && l.No > d.at && l.No-d.at <= 8 {
		item.Digests = []timeline.Digest{{Value: d.digest}}
		if ref.Tag != "" {
			o.Link(timeline.Names, ref.Name+":"+ref.Tag, d.digest)
		}
	}
	op := commandOn(ref.String(), "docker", o)
	op.Answer()
	o.Seen(timeline.Images)
	if pulled {
		o.Emit(timeline.Pull, op, item)
	} else {
		o.Emit(timeline.Check, op, item)
		o.Emit(timeline.Present, op, item)
	}
	o.Close(op, timeline.OpDone)
	d.pull, d.digest, d.wanted = dockerPull{}, "", ""
	d.rest(o)
	return evidence.Done
}

// commandOn returns the operation of the echoed command that names the image,
// or a new one.
func commandOn(image, tool string, o *evidence.Out) *evidence.Op {
	commands := o.Stream().Commands()
	for i := len(commands) - 1; i >= 0; i-- {
		for word := range strings.FieldsSeq(commands[i].Command) {
			if timeline.NormalizeImage(strings.Trim(word, `"'`)) == image {
				return commands[i]
			}
		}
	}
	return o.NewOp(tool, "")
}

// pushBegins reads the first line of a push; older clients write "a repository".
//
//	The push refers to repository [registry.acme.example/api]
func (d *docker) pushBegins(text string, o *evidence.Out) evidence.Result {
	rest, ok := strings.CutPrefix(text, "The push refers to ")
	_, repo, in := strings.Cut(rest, "repository [")
	repo, _, closed := strings.Cut(repo, "]")
	ref, valid := timeline.ParseImage(repo)
	if !ok || !in || !closed || !valid {
		return evidence.Miss
	}
	d.pushes = ref.Name
	o.Listen()
	return evidence.Done
}

// loaded reads the answer of docker load.
//
//	Loaded image: acme/api:1.4.0
//	Loaded image ID: sha256:86ef…
func (d *docker) loaded(text string, o *evidence.Out) evidence.Result {
	if ref, ok := strings.CutPrefix(text, "Loaded image: "); ok {
		if name := timeline.NormalizeImage(ref); name != "" {
			o.Emit(timeline.Present, nil, timeline.Item{Artifact: name})
			return evidence.Done
		}
	}
	if id, ok := strings.CutPrefix(text, "Loaded image ID: "); ok {
		if sha := timeline.SHA256(id); sha != "" {
			o.Emit(timeline.Present, nil, timeline.Item{Digests: []timeline.Digest{{Value: sha, Role: timeline.Config}}})
			return evidence.Done
		}
	}
	return evidence.Miss
}

// listened reads lines that start with a tag, a layer or an ID: they are this
// tool's only while a pull, a push or a start is under way.
//
//	latest: Pulling from aquasec/trivy
//	589002ba0eae: Pull complete
//	1.4.0: digest: sha256:e027… size: 3052
//	463c009f7949d9e30456244c5b75329d3f2cd485ffd70f58079c3f90234ce487
func (d *docker) listened(text []byte, o *evidence.Out) evidence.Result {
	if i := bytes.Index(text, []byte(": Pulling from ")); i > 0 {
		d.begins(string(text[:i]), string(text[i+len(": Pulling from "):]), o)
		return evidence.Done
	}
	if i := bytes.Index(text, []byte(": digest: sha256:")); i > 0 && d.pushes != "" {
		return d.pushed(string(text[:i]), string(text[i+len(": digest: "):]), o)
	}
	if len(text) > 14 && text[12] == ':' && text[13] == ' ' && isHex(text[:12]) {
		return evidence.Done
	}
	if len(text) == 64 && isHex(text) && len(d.asks)+len(d.created) > 0 {
		return d.started(string(text), o)
	}
	return evidence.Miss
}

func isHex(b []byte) bool {
	for _, c := range b {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// begins notes a pull. Its repository lacks the registry, so the name comes
// from what was asked for when that fits.
func (d *docker) begins(tag, repo string, o *evidence.Out) {
	d.unfinished(o)
	name := repo + ":" + tag
	if i := strings.Index(tag, "sha256:"); i >= 0 {
		name = repo + "@" + tag[i:]
	}
	if strings.HasSuffix(d.wanted, "/"+name) {
		name = d.wanted
	}
	d.pull = dockerPull{image: name, mark: o.Mark()}
	d.wanted = ""
}

// unfinished records that a pull was begun and never reported its end.
func (d *docker) unfinished(o *evidence.Out) {
	if d.pull.image == "" {
		return
	}
	item := timeline.Item{Artifact: d.pull.image}
	if d.pull.digest != "" {
		item.Digests = []timeline.Digest{{Value: d.pull.digest}}
	}
	o.At(d.pull.mark, timeline.Event{Action: timeline.Resolve, Items: []timeline.Item{item}})
	d.pull = dockerPull{}
}

// pushed reads the line that ends a push.
func (d *docker) pushed(tag, rest string, o *evidence.Out) evidence.Result {
	sha := timeline.SHA256(firstWord(rest))
	image, ok := timeline.ParseImage(d.pushes + ":" + tag)
	if sha == "" || !ok {
		return evidence.Miss
	}
	op := commandOn(image.String(), "docker", o)
	op.Answer()
	o.Seen(timeline.Images)
	o.Emit(timeline.Push, op, timeline.Item{Artifact: image.String(), Digests: []timeline.Digest{{Value: sha}}})
	o.Close(op, timeline.OpDone)
	o.Link(timeline.Names, image.String(), sha)
	return evidence.Done
}

// rest stops listening when nothing is under way.
func (d *docker) rest(o *evidence.Out) {
	if d.pull.image == "" && d.pushes == "" && len(d.asks) == 0 {
		o.Deafen()
	}
}

// End ends a step.
func (d *docker) End(_ timeline.OpState, o *evidence.Out) {
	d.unfinished(o)
	*d = docker{}
}
