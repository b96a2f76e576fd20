package tool

import (
	"path"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// dockerCommand is a command that answers with the ID of a container, or of
// something else when it names no image.
type dockerCommand struct {
	verb  string // run, create, start, other
	image string
	id    string // start: what is started
}

// commands notes what a line of shell asks docker for.
func (d *docker) commands(line string, o *evidence.Out) {
	if !strings.Contains(line, "docker") && !strings.Contains(line, "nerdctl") {
		d.forked = d.forked || conditional(firstWord(line))
		return
	}
	commands, _, _ := shellCommands(strings.TrimLeft(line, "$+ "))
	d.forked = d.forked || strings.Contains(line, "||")
	for _, c := range commands {
		if !c.muted { // what nobody sees is not waited for
			d.command(c.words, o)
		}
	}
}

func conditional(word string) bool {
	switch word {
	case "if", "elif", "else", "case", "for", "while", "until":
		return true
	}
	return false
}

// command notes one command.
func (d *docker) command(words []string, o *evidence.Out) {
	for len(words) > 0 && (strings.Contains(words[0], "=") || words[0] == "sudo" || words[0] == "exec") {
		words = words[1:]
	}
	if len(words) > 0 {
		d.forked = d.forked || conditional(words[0])
	}
	if len(words) < 2 {
		return
	}
	if program := path.Base(words[0]); program != "docker" && program != "nerdctl" {
		return
	}
	words = words[1:]
	if words[0] == "image" || words[0] == "container" {
		words = words[1:]
	}
	if len(words) < 2 {
		return
	}
	verb, args := words[0], words[1:]
	switch verb {
	case "pull":
		image, _ := dockerArgument(args)
		d.wanted = timeline.NormalizeImage(image)
		o.Listen()
	case "run", "create":
		image, detached := dockerArgument(args)
		d.wanted = timeline.NormalizeImage(image)
		if verb == "create" || detached {
			d.ask(dockerCommand{verb: verb, image: d.wanted})
		}
		o.Listen()
	case "start":
		d.ask(dockerCommand{verb: verb, id: args[len(args)-1]})
		o.Listen()
	case "top": // of what was started: its ID, which Jenkins does not print, is the answer
		if len(args[0]) == 64 && len(d.asks) > 0 && d.asks[0].verb == "run" {
			d.started(args[0], o)
		}
	case "network":
		if args[0] == "create" {
			d.ask(dockerCommand{verb: "other"})
		}
	}
}

func (d *docker) ask(c dockerCommand) {
	if len(d.asks) < maxDocker {
		d.asks = append(d.asks, c)
	}
}

// started reads an ID that answers a command. Under a condition it is not known
// which of several commands ran.
func (d *docker) started(id string, o *evidence.Out) evidence.Result {
	if _, known := d.seen[id]; known && (len(d.asks) == 0 || d.asks[0].verb != "start") {
		return evidence.Miss // docker stop, docker rm
	}
	if len(d.asks) == 0 {
		return evidence.Miss
	}
	a := d.asks[0]
	unsure := d.forked && len(d.asks) > 1
	d.asks = d.asks[1:]
	if len(d.seen) < maxDocker {
		if d.seen == nil {
			d.seen, d.created = map[string]struct{}{}, map[string]string{}
		}
		d.seen[id] = struct{}{}
		if a.verb == "create" && !unsure {
			d.created[id] = a.image
		}
	}
	image := a.image
	if a.verb == "start" {
		image = ""
		if a.id == id || strings.HasPrefix(a.id, "$") {
			image = d.created[id]
		}
	}
	if image != "" && !unsure && (a.verb == "run" || a.verb == "start") {
		op := commandOn(image, "docker", o)
		op.Answer()
		o.Seen(timeline.Images)
		o.Emit(timeline.Run, op, timeline.Item{Artifact: image})
		o.Close(op, timeline.OpDone)
	}
	d.rest(o)
	return evidence.Done
}

// dockerArgument finds the image among the arguments of docker run, create or
// pull, and whether the container goes to the background. An option that is not
// known may take a word, and then the image cannot be told.
func dockerArgument(args []string) (image string, detached bool) {
	f, plain := leadingFlags(args, runValued)
	for opt := range f {
		if !runValued[opt] && !runBare[opt] {
			return "", false
		}
	}
	if len(plain) > 0 {
		image = plain[0]
	}
	return image, f.has("-d") || f.has("--detach") && !slices.Contains(f["--detach"], "false")
}
