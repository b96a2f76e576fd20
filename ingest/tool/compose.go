package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Compose is the progress of docker compose pull and up. Newer releases name
// the image; older ones only the service, and a service is no image: that it
// was pulled is an opaque pull, unless the command that was echoed stands for
// it. A terminal draws the rows again and again.
//
// https://docs.docker.com/reference/cli/docker/compose/pull/
// https://github.com/docker/compose/blob/main/pkg/compose/pull.go
var Compose = evidence.Format{
	Name:   "docker-compose",
	Shape:  evidence.ToolShape,
	Title:  "docker compose pull and up",
	Proves: "images pulled, where the release names them; that some image was pulled for a service",
	Cannot: "digests; the images of services in older releases; whether layers came over or were there already",
	Doc:    "https://docs.docker.com/reference/cli/docker/compose/pull/",
	Sample: "written by hand after the source of docker compose",
	Starts: []string{"Image ", "[+] Pulling ", "[+] pull ", "[+] Running ", "[+] up ", "✔ ", "⠿ ", "Pulling ", "Status: "},
	Tool:   func() evidence.Parser { return &compose{} },
}

type compose struct {
	begun   map[string]evidence.Mark // images that are being pulled
	order   []string
	pulled  map[string]bool
	drawing bool          // "[+] Pulling 0/3" was seen
	unnamed bool          // a service was pulled, and an event made of it
	asked   string        // release 1: the image that is being pulled
	at      evidence.Mark // and its line
}

// Line reads one row.
//
//	Image postgres:15-alpine Pulling
//	✔ Image postgres:15-alpine Pulled                     3.2s
//	[+] Pulling 3/3
//	✔ web Pulled                                         17.6s
//	✔ redis 7 layers [⣿⣿⣿⣿⣿⣿⣿]      0B/0B      Pulled     5.2s
func (c *compose) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := bytes.TrimSpace(l.Text)
	if bytes.HasPrefix(text, []byte("[+] ")) {
		c.drawing = true
		return evidence.Done
	}
	if bytes.HasPrefix(text, []byte("Status: ")) {
		c.asked = "" // docker's own words say what came
		return evidence.Miss
	}
	words := strings.Fields(string(text))
	if words[0] == "Pulling" {
		return c.first(words, o)
	}
	if len(words) > 0 && (words[0] == "✔" || words[0] == "⠿") {
		words = words[1:]
	}
	if n := len(words); n > 1 && seconds(words[n-1]) {
		words = words[:n-1]
	}
	switch {
	case len(words) == 3 && words[0] == "Image":
		return c.image(words[1], words[2], o)
	case c.drawing && (len(words) == 2 && words[1] == "Pulled" || len(words) > 3 && words[2] == "layers" && words[len(words)-1] == "Pulled"):
		c.service(o)
		return evidence.Done
	case len(words) > 1 && c.drawing && (words[1] == "Pull" || words[1] == "Pulling" || words[0] == "Container" || words[0] == "Network" || words[0] == "Volume"):
		return evidence.Done
	}
	return evidence.Miss
}

// seconds reports whether a word is "17.6s".
func seconds(word string) bool {
	return len(word) > 1 && word[len(word)-1] == 's' && strings.Trim(word[:len(word)-1], "0123456789.") == ""
}

// first reads how release 1 begins a pull; only some of its outputs say how it
// ended.
//
//	Pulling db (postgres:15)...
func (c *compose) first(words []string, o *evidence.Out) evidence.Result {
	ref, ok := strings.CutSuffix(words[len(words)-1], ")...")
	name := timeline.NormalizeImage(strings.TrimPrefix(ref, "("))
	if len(words) != 3 || !ok || ref[0] != '(' || name == "" {
		return evidence.Miss
	}
	c.settle(o)
	c.asked, c.at = name, o.Mark()
	return evidence.Done
}

// settle says of a pull without an end that the registry was asked.
func (c *compose) settle(o *evidence.Out) {
	if c.asked != "" {
		o.At(c.at, timeline.Event{Action: timeline.Resolve, Items: []timeline.Item{{Artifact: c.asked}}})
		c.asked = ""
	}
}

// image reads what becomes of a named image.
func (c *compose) image(ref, what string, o *evidence.Out) evidence.Result {
	name := timeline.NormalizeImage(ref)
	if name == "" {
		return evidence.Miss
	}
	switch what {
	case "Pulling":
		if _, known := c.begun[name]; !known && len(c.begun) < maxDocker {
			if c.begun == nil {
				c.begun, c.pulled = map[string]evidence.Mark{}, map[string]bool{}
			}
			c.begun[name] = o.Mark()
			c.order = append(c.order, name)
			delete(c.pulled, name)
		}
	case "Pulled":
		if c.pulled[name] {
			return evidence.Done // drawn again
		}
		if c.pulled == nil {
			c.begun, c.pulled = map[string]evidence.Mark{}, map[string]bool{}
		}
		if len(c.pulled) < maxDocker {
			c.pulled[name] = true
		}
		delete(c.begun, name)
		op := commandOn(name, "docker", o)
		o.Seen(timeline.Images)
		o.Emit(timeline.Pull, op, timeline.Item{Artifact: name})
		o.Close(op, timeline.OpDone)
	case "Building", "Built", "Skipped", "Error", "Interrupted":
	default:
		return evidence.Miss
	}
	return evidence.Done
}

// service records that an image was pulled which nothing names, once for each
// step, and not when a command that was echoed tells so already.
func (c *compose) service(o *evidence.Out) {
	if c.unnamed {
		return
	}
	c.unnamed = true
	for _, op := range o.Stream().Commands() {
		if strings.Contains(op.Command, "compose") {
			return
		}
	}
	o.Emit(timeline.Opaque, nil, timeline.Item{Artifact: timeline.Ecosystem("oci")})
}

// End records pulls that were begun and did not end.
func (c *compose) End(_ timeline.OpState, o *evidence.Out) {
	c.settle(o)
	for _, name := range c.order {
		if mark, open := c.begun[name]; open {
			delete(c.begun, name)
			o.At(mark, timeline.Event{Action: timeline.Resolve, Items: []timeline.Item{{Artifact: name}}})
		}
	}
	*c = compose{}
}
