package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Containerd is containerd's own log on a Kubernetes node.
// https://github.com/containerd/containerd/blob/main/docs/cri/architecture.md
var Containerd = evidence.Format{
	Name:   "containerd",
	Shape:  evidence.ToolShape,
	Title:  "containerd log",
	Proves: "pulls for Kubernetes with tag, digest, image ID and exact time; images that were named on the node",
	Cannot: "pulls by ctr, nerdctl or dockerd, which it does not log: it covers a host only when it serves Kubernetes there",
	Doc:    "https://github.com/containerd/containerd/blob/main/docs/cri/architecture.md",
	Sample: "written by hand after the source of the CRI plugin",
	Starts: append([]string{`time="`, `{"`}, terminalStarts...),
	Looks:  looksDaemon,
	Tool:   func() evidence.Parser { return &containerd{} },
}

// maxPulls bounds the pulls whose second line is waited for.
const maxPulls = 256

type containerd struct {
	line   daemonLine
	serves bool   // the log is a daemon's that serves Kubernetes
	pulls  recent // reference → digest of the image ID, pulls that have their event
	begun  begunPulls
}

// Line reads one line.
func (c *containerd) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	ours := containerdLine(l.Text)
	program := o.Stream().Program
	if program != "containerd" && !ours {
		return evidence.Miss
	}
	c.serves = c.serves || ours && (program == "containerd" || program == "")
	if c.serves {
		o.SeenFor(o.Subject(), timeline.Images)
	}
	if !bytes.Contains(l.Text, []byte("mage")) || !c.line.parse(l.Text) {
		return evidence.Done
	}
	c.message(string(c.line.msg), o)
	return evidence.Done
}

// containerdLine reports whether the line is one of the CRI plugin's.
func containerdLine(text []byte) bool {
	message := saying(text)
	for _, w := range []string{"PullImage ", "Pulled image ", "RunPodSandbox ", "StartContainer ", "StopPodSandbox ", "ImageCreate event "} {
		if says(message, w) {
			return true
		}
	}
	return false
}

// message reads the messages about images:
//
//	Pulled image "registry.k8s.io/pause:3.9" with image id "sha256:…", repo tag "registry.k8s.io/pause:3.9", repo digest "registry.k8s.io/pause@sha256:…", size "30978722" in 1.067043121s
//	PullImage "registry.k8s.io/pause:3.9"
//	PullImage "registry.k8s.io/pause:3.9" returns image reference "sha256:…"
//	ImageCreate event name:"registry.k8s.io/pause:3.9" labels:{…}
//	ImageCreate event &ImageCreate{Name:registry.k8s.io/pause:3.9,Labels:map[string]string{…},XXX_unrecognized:[],}
func (c *containerd) message(msg string, o *evidence.Out) {
	if rest, ok := strings.CutPrefix(msg, `Pulled image "`); ok {
		ref, rest, _ := strings.Cut(rest, `"`)
		_, id, _ := strings.Cut(rest, `image id "`)
		_, repo, _ := strings.Cut(rest, `repo digest "`)
		id, _, _ = strings.Cut(id, `"`)
		repo, _, _ = strings.Cut(repo, `"`)
		c.begun.end(ref)
		_, digest, _ := strings.Cut(repo, "@")
		c.pull(ref, digest, id, o)
		return
	}
	if rest, ok := strings.CutPrefix(msg, `PullImage "`); ok {
		ref, rest, _ := strings.Cut(rest, `"`)
		_, id, returns := strings.Cut(rest, ` returns image reference "`)
		id, _, _ = strings.Cut(id, `"`)
		item, ok := image(ref, "")
		switch {
		case rest == "" && ok:
			c.begun.begin(ref, &c.line, item, o)
			return
		case returns && c.pulls.get(ref) != id:
			c.pull(ref, "", id, o)
		}
		c.begun.end(ref) // it failed, or it is done
		return
	}
	ref, whole := "", false
	if rest, ok := strings.CutPrefix(msg, `ImageCreate event name:"`); ok {
		ref, _, whole = strings.Cut(rest, `"`)
	} else if rest, ok := strings.CutPrefix(msg, "ImageCreate event &ImageCreate{Name:"); ok {
		ref, _, whole = strings.Cut(rest, ",")
	}
	if item, ok := image(ref, ""); ok && whole && !strings.HasPrefix(ref, "sha256:") {
		c.line.event(o, timeline.Present, item)
	}
}

func (c *containerd) pull(ref, digest, id string, o *evidence.Out) {
	item, ok := image(ref, digest)
	if !ok {
		return
	}
	c.pulls.put(ref, id)
	if config := timeline.SHA256(id); config != "" {
		item.Digests = append(item.Digests, timeline.Digest{Value: config, Role: timeline.Config})
	}
	c.line.event(o, timeline.Pull, item)
}

// End tells of pulls that never ended.
func (c *containerd) End(_ timeline.OpState, o *evidence.Out) { c.begun.flush(o) }

// recent is a small memory of pairs; the oldest is forgotten.
type recent struct {
	pairs map[string]string
	order []string
}

func (r *recent) get(key string) string { return r.pairs[key] }

func (r *recent) put(key, value string) {
	if r.pairs == nil {
		r.pairs = map[string]string{}
	}
	if _, have := r.pairs[key]; !have {
		r.order = append(r.order, key)
		if len(r.order) > maxPulls {
			delete(r.pairs, r.order[0])
			r.order = r.order[1:]
		}
	}
	r.pairs[key] = value
}
