package document

import (
	"bytes"
	"cmp"
	"fmt"
	"regexp"
	"slices"
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
	Title:  "Falco alerts (JSON, text)",
	Proves: "the image of a container in which a rule fired, and the command that made it fire",
	Cannot: "anything that no rule watches; the host",
	Doc:    "https://falco.org/docs/concepts/outputs/formatting/",
	Sample: "written by hand after the documentation",
	Starts: falcoStarts(),
	Looks: func(text []byte) bool {
		return bytes.HasSuffix(bytes.TrimRight(text, " \r"), []byte(")")) && bytes.Contains(text, []byte("container_id="))
	},
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
	if !isRecord(l) {
		return f.text(l, o)
	}
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

// text reads an alert as it stands in the system log and on the console: the time
// of the event, a priority, what the rule says with fields in brackets. The year
// and the zone are those of the line around it, which is then its time.
//
//	12:54:26.271403849: Error Package management process launched in container (user=root command=pip install -q litellm container_id=9656db3bb358 container_name=api image=ghcr.io/acme/api:1.4)
//	2026-10-21T12:54:26.271403849+0000: Warning Sensitive file opened … (… container_id=9656db3bb358 container_image_repository=ghcr.io/acme/api container_image_tag=1.4 k8s_pod_name=api)
//
// https://falco.org/docs/outputs/channels/
func (f *falco) text(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	span := o.Mark().Span()
	if m, n := evidence.ParseISO(text); n > 0 {
		span, text = m.Span(string(text[:n]), &o.Times), text[n:]
	} else if n := bytes.IndexByte(text[:min(len(text), 20)], ' '); n > 9 && text[2] == ':' && text[5] == ':' {
		text = text[n:]
	}
	priority, rest, ok := strings.Cut(strings.TrimLeft(string(text), ": "), " ")
	if !ok || !falcoPriorities[priority] {
		return evidence.Miss
	}
	o.Seen("")
	id := shortID(falcoField(rest, "container_id"))
	name, tag := falcoField(rest, "container_image_repository"), falcoField(rest, "container_image_tag")
	if name != "" && tag != "" {
		name += ":" + tag
	}
	item, named := falcoItem(cmp.Or(name, falcoField(rest, "image"), falcoField(rest, "container_image")))
	if id == "" {
		return evidence.Done
	}
	who := timeline.Subject{Kind: timeline.Container, ID: id}
	if host := o.Subject(); host.Kind == timeline.Host {
		who.ID = host.ID + "/" + id
	}
	if named {
		f.present(who, item, span, o)
	}
	stamp := evidence.Stamp{Read: func([]byte, *evidence.Times) timeline.Span { return span }}
	o.Ran(who, stamp, []byte(cmp.Or(falcoField(rest, "command"), falcoField(rest, "cmdline"))))
	return evidence.Done
}

// falcoField reads one of the fields in brackets: up to the name of the next.
func falcoField(text, name string) string {
	i := strings.Index(text, " "+name+"=")
	if i < 0 {
		if i = strings.Index(text, "("+name+"="); i < 0 {
			return ""
		}
	}
	rest := strings.TrimRight(text[i+len(name)+2:], " \r")
	rest = strings.TrimSuffix(rest, ")")
	if j := falcoNext.FindStringIndex(rest); j != nil {
		rest = rest[:j[0]]
	}
	if rest = strings.TrimSpace(rest); rest == "<NA>" || rest == "host" {
		return ""
	}
	return rest
}

// falcoNext is the name of a field that Falco's own rules print.
var falcoNext = regexp.MustCompile(` (?:[a-z0-9]+[._][a-z0-9_.]+|[a-z]{4,})=(?:[^=]|$)`)

// falcoPriorities are the words that an alert begins with.
// https://falco.org/docs/concepts/rules/basic-elements/
var falcoPriorities = map[string]bool{
	"Emergency": true, "Alert": true, "Critical": true, "Error": true, "Warning": true, "Notice": true, "Informational": true, "Debug": true,
}

// falcoStarts lists the hours that an alert begins with, the year, and what is
// left where a frame took the time off.
func falcoStarts() []string {
	starts := []string{"20", ": "}
	for h := range 24 {
		starts = append(starts, fmt.Sprintf("%02d:", h))
	}
	for word := range falcoPriorities {
		starts = append(starts, word+" ")
	}
	slices.Sort(starts)
	return starts
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
	item, ok := falcoItem(name)
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

// falcoItem is an image by a name that may be that of its repository alone: which
// tag it had, "latest" or another, is then not told.
func falcoItem(name string) (timeline.Item, bool) {
	item, ok := imageItem(name)
	if !strings.ContainsAny(name[strings.LastIndexByte(name, '/')+1:], ":@") {
		item.Artifact = strings.TrimSuffix(item.Artifact, ":latest")
	}
	return item, ok
}

// End has nothing to do: each alert stands alone.
func (*falco) End(timeline.OpState, *evidence.Out) {}
