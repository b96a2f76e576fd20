package document

import (
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Falco is the alerts of Falco in JSON.
// https://falco.org/docs/concepts/outputs/formatting/
var Falco = evidence.Format{
	Name:   "falco",
	Shape:  evidence.ToolShape,
	Title:  "Falco alerts (JSON)",
	Proves: "the image of a container in which a rule fired, and the command that made it fire",
	Cannot: "anything that no rule watches; the host",
	Doc:    "https://falco.org/docs/concepts/outputs/formatting/",
	Sample: "written by hand after the documentation",
	Fields: [][]string{{"output_fields", "rule", "priority"}},
	Tool:   func() evidence.Parser { return &falco{seen: map[string]bool{}} },
}

type falco struct {
	seen map[string]bool // container and image that have their event
}

// Line reads one alert. The host's name in it may be that of Falco's own
// container:
//
//	{"hostname":"97ade2b595f0","priority":"Warning","rule":"Launch Package Management Process in Container","time":"2026-10-21T12:54:26.271403849Z","output_fields":{
//	"container.id":"9656db3bb358","container.image.repository":"ghcr.io/acme/api","container.image.tag":"1.4","container.image.id":"16e0fa09…","evt.type":"execve","proc.cmdline":"pip install -q litellm"}}
func (f *falco) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	fields := v.get("output_fields")
	if fields.kind() != '{' || v.get("rule").text() == "" {
		return evidence.Miss
	}
	o.Seen("")
	span := falcoTime(v, o)
	var who timeline.Subject
	if id := shortID(fields.get("container.id").text()); id != "" {
		who = timeline.Subject{Kind: timeline.Container, ID: id}
		if host := o.Subject(); host.Kind == timeline.Host {
			who.ID = host.ID + "/" + id
		}
		if item, ok := falcoImage(fields); ok {
			f.present(who, item, span, o)
		}
	}
	if kind := fields.get("evt.type").text(); kind == "" || strings.HasPrefix(kind, "exec") || kind == "spawned_process" {
		stamp := evidence.Stamp{Read: func([]byte, *evidence.Times) timeline.Span { return span }}
		o.Ran(who, stamp, []byte(fields.get("proc.cmdline").text()))
	}
	return evidence.Done
}

// present records the image of a container once.
func (f *falco) present(who timeline.Subject, item timeline.Item, span timeline.Span, o *evidence.Out) {
	key := who.ID + " " + item.Artifact
	if f.seen[key] {
		return
	}
	if len(f.seen) < maxIDs {
		f.seen[key] = true
	}
	if host := o.Subject(); host.Kind == timeline.Host {
		o.LinkOver(span, timeline.On, who.String(), host.String())
	}
	o.Event(timeline.Event{Action: timeline.Present, Subject: who, Span: span, Items: []timeline.Item{item}})
}

// falcoTime reads the time of the alert, else that of the event in it.
func falcoTime(v value, o *evidence.Out) timeline.Span {
	if s := v.get("time").stamp(o); s != (timeline.Span{}) {
		return s
	}
	for _, name := range []string{"evt.time.iso8601", "evt.time"} {
		if n, ok := v.get("output_fields", name).integer(); ok {
			return evidence.Epoch(n, time.Nanosecond, string(v.get("output_fields", name).raw()))
		}
	}
	return o.Mark().Span()
}

// falcoImage reads the image's name and, where they are whole, its digests.
func falcoImage(fields value) (timeline.Item, bool) {
	name, tag := fields.get("container.image.repository").text(), fields.get("container.image.tag").text()
	if name != "" && tag != "" {
		name += ":" + tag
	}
	if name == "" {
		name = fields.get("container.image").text()
	}
	item, ok := imageItem(name)
	digests := append(fields.get("container.image.digest").texts(), fields.get("container.image.digest").text())
	for _, d := range digests {
		if d = timeline.SHA256(d); d != "" && !hasDigest(item.Digests, d) {
			item.Digests = append(item.Digests, timeline.Digest{Value: d})
		}
	}
	if id := timeline.SHA256(fields.get("container.image.id").text()); id != "" {
		item.Digests = append(item.Digests, timeline.Digest{Value: id, Role: timeline.Config})
	}
	return item, ok || len(item.Digests) > 0
}

// End has nothing to do: each alert stands alone.
func (*falco) End(timeline.OpState, *evidence.Out) {}
