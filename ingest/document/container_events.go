package document

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// containerEvent is what Docker or Podman did to a container or image.
type containerEvent struct {
	kind, action string
	id           string // of the container or image; Docker's pull has the reference here
	name         string // the container's name, or the image's
	image        string // of a container, as typed
	span         timeline.Span
	role         timeline.Role // of image IDs
}

// engineEvents is what is remembered of the events of one engine.
type engineEvents struct {
	ids   map[string]string // name of a container → its whole ID
	order []string
}

// maxContainers bounds the containers whose names are remembered.
const maxContainers = 1024

// record makes events of what happened.
func (m *engineEvents) record(e *containerEvent, o *evidence.Out) {
	o.Seen(timeline.Images)
	switch e.kind {
	case "container":
		if e.action == "start" {
			m.start(e, o)
		} else if command, ok := strings.CutPrefix(e.action, "exec_start: "); ok {
			m.exec(e, command, o)
		} else if timeline.SHA256(e.id) != "" && e.name != "" {
			m.remember(e.name, e.id)
		}
	case "image":
		e.imageEvent(o)
	}
}

func (m *engineEvents) remember(name, id string) {
	if m.ids == nil {
		m.ids = map[string]string{}
	}
	if _, have := m.ids[name]; !have {
		if m.order = append(m.order, name); len(m.order) > maxContainers {
			delete(m.ids, m.order[0])
			m.order = m.order[1:]
		}
	}
	m.ids[name] = id
}

// start is the one event of a container that proves that it ran: create, init,
// attach and exec do not.
func (m *engineEvents) start(e *containerEvent, o *evidence.Out) {
	item, ok := imageItem(imageName(e.image, ""))
	if d := timeline.SHA256(e.image); d != "" {
		item, ok = timeline.Item{Digests: []timeline.Digest{{Value: d, Role: e.role}}}, true
	}
	if !ok {
		return
	}
	if e.span == (timeline.Span{}) {
		e.span = o.Mark().Span()
	}
	if id := m.container(e); id != "" {
		o.Event(timeline.Event{Action: timeline.Run, Subject: onHost(o, id, e.span), Items: []timeline.Item{item}, Span: e.span})
	}
}

// exec is a command that somebody ran in a container.
func (m *engineEvents) exec(e *containerEvent, command string, o *evidence.Out) {
	if e.span == (timeline.Span{}) {
		e.span = o.Mark().Span()
	}
	if id, span := m.container(e), e.span; id != "" {
		o.Ran(onHost(o, id, span), evidence.Stamp{Read: func([]byte, *evidence.Times) timeline.Span { return span }}, []byte(command))
	}
}

// container is the short ID, else the name, of the event's container. A page
// or pager may have cut the ID in the middle:
//
//	container start 0fdb...ff37 (image=alpine:latest, name=test)
func (m *engineEvents) container(e *containerEvent) string {
	if len(e.id) >= 12 && !strings.Contains(e.id, ".") {
		return e.id[:12]
	}
	head, tail, _ := strings.Cut(e.id, "...")
	if whole := m.ids[e.name]; whole != "" && strings.HasPrefix(whole, head) && strings.HasSuffix(whole, tail) {
		return whole[:12]
	}
	return e.name
}

// imageActions are the events of images that say something of them.
var imageActions = map[string]timeline.Action{
	"pull": timeline.Pull, "push": timeline.Push, "tag": timeline.Tag, "build": timeline.Build, "delete": timeline.Remove, "remove": timeline.Remove,
	"load": timeline.Present, "loadfromarchive": timeline.Present, "import": timeline.Present,
}

func (e *containerEvent) imageEvent(o *evidence.Out) {
	action, known := imageActions[e.action]
	if !known {
		return
	}
	item, named := imageItem(e.id)
	if !named {
		item, named = imageItem(imageName(e.name, ""))
	}
	if d := timeline.SHA256(e.id); d != "" {
		item.Digests = append(item.Digests, timeline.Digest{Value: d, Role: e.role})
	}
	if !named && len(item.Digests) == 0 {
		return
	}
	o.Event(timeline.Event{Action: action, Items: []timeline.Item{item}, Span: e.span})
}

// engineKinds are the things that events are of.
var engineKinds = map[string]bool{
	"container": true, "image": true, "network": true, "volume": true, "plugin": true, "daemon": true, "pod": true,
	"system": true, "secret": true, "service": true, "node": true, "config": true, "builder": true, "machine": true, "artifact": true,
}

// parseText reads an event as it is printed. separator tells the two engines
// apart: it stands between date and time.
//
//	2026-10-21T12:04:51.795031609+02:00 container start 0fdb48addc82871e… (image=alpine:latest, name=test)
//	2026-10-21T12:04:43.118203913Z image pull redis:7.4 (name=redis)
//	2026-10-21 12:04:51.973661968 +0200 CEST container start 34503c192940 (image=docker.io/library/alpine:latest, name=friendly_allen)
//	2026-10-21 12:04:51.973661968 +0000 UTC m=+0.081612 image pull 9c6f07244728… docker.io/library/alpine:latest
func (e *containerEvent) parseText(text []byte, separator byte, o *evidence.Out) bool {
	text = bytes.TrimLeft(text, " \t")
	if len(text) < 30 || text[10] != separator {
		return false
	}
	m, n := evidence.ParseISO(text)
	if n == 0 {
		return false
	}
	rest := bytes.TrimLeft(text[n:], " ")
	for skipped := 0; separator == ' ' && skipped < 2; skipped++ { // CEST m=+0.081612
		word, more, _ := bytes.Cut(rest, []byte(" "))
		if engineKinds[string(word)] {
			break
		}
		rest = bytes.TrimLeft(more, " ")
	}
	if !e.parseEvent(rest) {
		return false
	}
	e.span = m.Span(string(text[:n]), &o.Times)
	return true
}

// parseEvent reads what stands behind the time.
func (e *containerEvent) parseEvent(text []byte) bool {
	kind, rest, _ := bytes.Cut(text, []byte(" "))
	if !engineKinds[string(kind)] {
		return false
	}
	head, attributes, attributed := bytes.Cut(rest, []byte(" ("))
	words := strings.Fields(string(head))
	if n := len(words) - 1; n > 1 && words[0] == "exec_start:" && attributed {
		// container exec_start: /bin/sh -c pip install litellm 0fdb48addc82871e… (image=alpine:latest, name=test)
		words = []string{strings.Join(words[:n], " "), words[n]}
	}
	switch {
	case len(words) == 2 && attributed:
		e.name, e.image = attribute(attributes, "name"), attribute(attributes, "image")
	case len(words) == 3 && string(kind) == "image" && shortID(words[1]) != "":
		e.name = words[2]
	case len(words) == 2 && string(kind) == "image" && timeline.SHA256(words[1]) != "": // one that had lost its names
	default:
		return false
	}
	e.kind, e.action, e.id = string(kind), words[0], words[1]
	return true
}

// attribute returns one of "image=alpine:latest, name=test)".
func attribute(attributes []byte, name string) string {
	text := ", " + string(attributes)
	_, rest, ok := strings.Cut(text, ", "+name+"=")
	if !ok {
		return ""
	}
	end := strings.Index(rest, ", ")
	if end < 0 {
		end = len(strings.TrimSuffix(rest, ")"))
	}
	return rest[:end]
}
