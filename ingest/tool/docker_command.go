package tool

import (
	"path"
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
	if !strings.Contains(line, "docker") {
		d.forked = d.forked || conditional(firstWord(line))
		return
	}
	words := shellWords(strings.TrimLeft(line, "$+ "))
	for len(words) > 0 {
		end := 0
		for end < len(words) && !separator(words[end]) {
			end++
		}
		d.command(words[:end], o)
		d.forked = d.forked || end < len(words) && words[end] == "||"
		words = words[min(end+1, len(words)):]
	}
}

func conditional(word string) bool {
	switch word {
	case "if", "elif", "else", "case", "for", "while", "until":
		return true
	}
	return false
}

func separator(word string) bool {
	switch word {
	case "&&", "||", ";", "|", "&":
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
	if len(words) < 2 || path.Base(words[0]) != "docker" {
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
		op := dockerOp(image, o)
		op.Answer()
		o.Seen(timeline.Images)
		o.Emit(timeline.Run, op, timeline.Item{Artifact: image})
		o.Close(op, timeline.OpDone)
	}
	d.rest(o)
	return evidence.Done
}

// dockerFlags are the options of docker run and pull that take no value; all
// others do.
var dockerFlags = map[string]bool{"detach": true, "interactive": true, "tty": true, "rm": true, "privileged": true, "init": true,
	"publish-all": true, "read-only": true, "no-healthcheck": true, "oom-kill-disable": true, "disable-content-trust": true,
	"sig-proxy": true, "quiet": true, "all-tags": true, "use-api-socket": true, "help": true}

// dockerShort are the short ones among them.
const dockerShort = "ditPqa"

// dockerArgument finds the image among the arguments of docker run, create or
// pull, and whether the container goes to the background.
func dockerArgument(args []string) (image string, detached bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		long, isLong := strings.CutPrefix(a, "--")
		switch {
		case isLong && long == "":
			if i+1 < len(args) {
				return args[i+1], detached
			}
		case isLong:
			name, value, given := strings.Cut(long, "=")
			detached = detached || name == "detach" && value != "false"
			if !given && !dockerFlags[name] {
				i++
			}
		case len(a) > 1 && a[0] == '-':
			takes := shortTakes(a[1:])
			flags := a[1:]
			if takes >= 0 {
				flags = a[1 : 1+takes]
				if takes == len(a)-2 {
					i++ // its value is the next word
				}
			}
			detached = detached || strings.Contains(flags, "d")
		default:
			return a, detached
		}
	}
	return "", detached
}

// shortTakes returns the index of the first letter that takes a value, -1 when
// none does: in -itv /a:/b it is v.
func shortTakes(flags string) int {
	for i := range len(flags) {
		if strings.IndexByte(dockerShort, flags[i]) < 0 {
			return i
		}
	}
	return -1
}

// shellWords splits a line as a shell does: quotes hold words together,
// separators stand alone. Nothing is expanded.
func shellWords(line string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	open := false
	flush := func() {
		if open {
			words = append(words, word.String())
		}
		word.Reset()
		open = false
	}
	for i, r := range line {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				word.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, open = r, true
		case r == ' ' || r == '\t':
			flush()
		case r == ';' || r == '|' || r == '&':
			if !open && len(words) > 0 && i > 0 && line[i-1] == byte(r) {
				words[len(words)-1] += string(r) // the second half of && or ||
				continue
			}
			flush()
			words = append(words, string(r))
		default:
			word.WriteRune(r)
			open = true
		}
	}
	flush()
	return words
}
