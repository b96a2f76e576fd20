package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Nomad is the log of Nomad's agent, of which the Docker driver says what it
// pulled; only at level DEBUG.
// https://developer.hashicorp.com/nomad/docs/drivers/docker
var Nomad = evidence.Format{
	Name:   "nomad",
	Shape:  evidence.ToolShape,
	Title:  "log of Nomad's agent",
	Proves: "images that the Docker driver of a client pulled",
	Cannot: "digests; anything at a level above DEBUG",
	Doc:    "https://developer.hashicorp.com/nomad/docs/drivers/docker",
	Sample: "written by hand after public reports",
	Starts: []string{"[DEBUG] client.driver_mgr.docker: docker pull succeeded: ", "client.driver_mgr.docker: docker pull succeeded: "},
	Tool:   func() evidence.Parser { return nomadAgent{} },
}

type nomadAgent struct{}

// Line reads one line; in the journal it stands without time and level too.
//
//	[DEBUG] client.driver_mgr.docker: docker pull succeeded: driver=docker image_ref=registry.acme.example/api:1.4
func (nomadAgent) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	_, rest, ok := strings.Cut(string(l.Text), " image_ref=")
	ref, _, _ := strings.Cut(strings.Trim(rest, `"`), " ")
	image, named := timeline.ParseImage(ref)
	if l.Echo || !ok || !named {
		return evidence.Miss
	}
	item := timeline.Item{Artifact: image.String()}
	if image.Digest != "" {
		item.Digests = []timeline.Digest{{Value: image.Digest}}
	}
	o.Seen(timeline.Images)
	o.Emit(timeline.Pull, nil, item)
	return evidence.Done
}

// End does nothing: each line stands for itself.
func (nomadAgent) End(timeline.OpState, *evidence.Out) {}
