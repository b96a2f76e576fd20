package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Dockerd is the Docker daemon's own log.
// https://docs.docker.com/engine/daemon/logs/
var Dockerd = evidence.Format{
	Name:   "dockerd",
	Shape:  evidence.ToolShape,
	Title:  "Docker daemon log",
	Proves: "pulls with tag, digest and exact time; with --covers, where it shows at least one pull, that there were no others",
	Cannot: "pulls by releases that log none: a log without any pull covers nothing; what containers did",
	Doc:    "https://docs.docker.com/engine/daemon/logs/",
	Sample: "written by hand after the daemon's source",
	Starts: append([]string{`time="`, `{"`, `level=info msg="image pulled"`}, terminalStarts...),
	Looks:  looksDaemon,
	Tool:   func() evidence.Parser { return &dockerd{} },
}

type dockerd struct {
	line  daemonLine
	known bool // a line that only the daemon writes was seen
}

// dockerdWords are messages that only the daemon writes.
var dockerdWords = []string{"Daemon has completed initialization", "Loading containers: ", `Docker daemon"`}

// Line reads one line:
//
//	time="2026-10-21T12:44:02.118203913Z" level=info msg="image pulled" digest="sha256:6ec1…" remote="docker.io/library/redis:7.4-alpine"
//	level=info msg="image pulled" remote="docker.io/library/redis:7.4-alpine"
func (d *dockerd) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	message := saying(l.Text)
	pulled := says(message, "image pulled\"") || says(message, "image pulled ")
	switch program := o.Stream().Program; {
	case program == "dockerd" || strings.HasSuffix(program, ".dockerd"):
		d.known = true
	case program == "":
		for _, w := range dockerdWords {
			d.known = d.known || says(message, w)
		}
	}
	if !d.known && !pulled {
		return evidence.Miss
	}
	if !pulled || !d.line.parse(l.Text) && len(d.line.remote) == 0 || string(d.line.msg) != "image pulled" {
		return evidence.Done
	}
	if item, ok := image(string(d.line.remote), string(d.line.digest)); ok {
		d.line.event(o, timeline.Pull, item)
		// Older releases log no pulls: only a log that shows one speaks of pulls,
		// so that its silence about others means something.
		o.SeenFor(o.Subject(), timeline.Images)
	}
	return evidence.Done
}

// End has nothing to do: each line stands alone.
func (d *dockerd) End(timeline.OpState, *evidence.Out) {}
