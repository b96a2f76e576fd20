package tool

import (
	"bytes"
	"path"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Crictl is the answer of crictl pull. It is the same whether the image came
// over or was there.
// https://github.com/kubernetes-sigs/cri-tools/blob/master/docs/crictl.md
var Crictl = evidence.Format{
	Name:   "crictl",
	Shape:  evidence.ToolShape,
	Title:  "crictl pull",
	Proves: "images that a Kubernetes node has after it asked the registry, with their image ID",
	Cannot: "whether the image came over or was there already; its name, when the command is not shown",
	Doc:    "https://github.com/kubernetes-sigs/cri-tools/blob/master/docs/crictl.md",
	Sample: "written by hand after the source",
	Starts: []string{"Image is up to date for ", "crictl ", "sudo crictl ", "$ ", "+ ", "k3s crictl "},
	Looks: func(text []byte) bool {
		return bytes.Contains(text[:min(len(text), 256)], []byte("crictl ")) || text[0] == 'I'
	},
	Commands: true,
	Tool:     func() evidence.Parser { return &crictl{} },
}

type crictl struct{ wanted string }

// Line reads one line.
//
//	$ sudo k3s crictl pull ghcr.io/acme/api:1.4
//	Image is up to date for sha256:80d28bedfe5dec59da9ebf8e6260224ac9008ab5c11dbbe16ee3ba3e4439ac2c
//	Image is up to date for docker.io/library/busybox@sha256:141c…
func (c *crictl) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := string(bytes.TrimSpace(l.Text))
	ref, ok := strings.CutPrefix(text, "Image is up to date for ")
	if !ok {
		if strings.Contains(text, "crictl") {
			c.command(strings.TrimLeft(text, "$+ "))
		}
		return evidence.Miss // whoever reads commands may have it too
	}
	item := timeline.Item{Artifact: c.wanted}
	if id := timeline.SHA256(ref); id != "" {
		item.Digests = []timeline.Digest{{Value: id, Role: timeline.Config}}
	} else if image, ok := timeline.ParseImage(ref); ok && image.Digest != "" {
		item.Digests = []timeline.Digest{{Value: image.Digest}}
		if c.wanted == "" {
			item.Artifact = image.String()
		}
	} else {
		return evidence.Miss
	}
	op := commandOn(c.wanted, "crictl", o)
	op.Answer()
	o.Seen(timeline.Images)
	o.Emit(timeline.Check, op, item)
	o.Emit(timeline.Present, op, item)
	o.Close(op, timeline.OpDone)
	c.wanted = ""
	return evidence.Done
}

// command notes what is asked for.
func (c *crictl) command(line string) {
	commands, _, _ := shellCommands(line)
	for _, cmd := range commands {
		words := cmd.words
		for len(words) > 0 && (words[0] == "sudo" || path.Base(words[0]) == "k3s" || strings.Contains(words[0], "=")) {
			words = words[1:]
		}
		if len(words) < 2 || path.Base(words[0]) != "crictl" {
			continue
		}
		c.wanted = ""
		_, plain := splitFlags(words[1:], wordSet("-r --runtime-endpoint -i --image-endpoint -t --timeout -c --config --creds --auth --pod-config -a --annotation"))
		if len(plain) == 2 && plain[0] == "pull" {
			c.wanted = timeline.NormalizeImage(plain[1])
		}
	}
}

// End ends a step.
func (c *crictl) End(timeline.OpState, *evidence.Out) { c.wanted = "" }
