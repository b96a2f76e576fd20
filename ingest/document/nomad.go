package document

import (
	"cmp"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// NomadAllocation is what Nomad says of allocations: alloc status, as text and JSON,
// and the answers of its API.
// https://developer.hashicorp.com/nomad/commands/alloc/status
// https://developer.hashicorp.com/nomad/api-docs/allocations#read-allocation
var NomadAllocation = evidence.Format{
	Name:   "nomad-alloc",
	Shape:  evidence.DocumentShape,
	Title:  "Nomad allocations (nomad alloc status, as text or JSON)",
	Proves: "which image the tasks of an allocation ran, when and on which client, where the job or an event names it; that it was fetched for that",
	Cannot: "digests; events that Nomad has dropped: it keeps the last ten of a task",
	Doc:    "https://developer.hashicorp.com/nomad/commands/alloc/status",
	Sample: "written by hand after the documentation and public reports",
	Claim: func(h *evidence.Head) bool {
		if v, ok := headRecord(h); ok {
			return v.has("TaskStates") && (v.has("NodeID") || v.has("ClientStatus"))
		}
		return strings.HasPrefix(string(h.Bytes[:min(len(h.Bytes), 3)]), "ID ") && strings.Contains(string(h.Bytes), "\nEval ID ") && strings.Contains(string(h.Bytes), "\nNode ID ")
	},
	Read: readNomad,
}

// nomadTask is a task with what its events say, oldest first.
type nomadTask struct {
	alloc, node, name string
	image             string // as it is asked for
	fetched           timeline.Span
}

func (t *nomadTask) container() timeline.Subject {
	return timeline.Subject{Kind: timeline.Container, ID: joinNonEmpty(t.node, t.name+"-"+t.alloc)}
}

// downloading is an event of the driver, which begins to fetch an image that the
// client does not have.
func (t *nomadTask) downloading(image string, span timeline.Span) {
	t.image, t.fetched = cmp.Or(image, t.image), span
}

// started is the start of a task: what was fetched for it is there.
func (t *nomadTask) started(o *evidence.Out, span timeline.Span) {
	item, ok := imageItem(t.image)
	if !ok {
		return
	}
	item.Ref = t.image
	if t.fetched != (timeline.Span{}) {
		pulled := t.fetched
		pulled.To, pulled.Clock = span.To, timeline.Section
		e := timeline.Event{Action: timeline.Pull, Span: pulled, Items: []timeline.Item{item}}
		if t.node != "" {
			e.Subject = timeline.Subject{Kind: timeline.Host, ID: t.node}
		}
		o.Event(e)
		t.fetched = timeline.Span{}
	}
	o.Event(timeline.Event{Action: timeline.Run, Subject: t.container(), Span: span, Items: []timeline.Item{item}})
	if t.node != "" {
		o.LinkOver(span, timeline.On, t.container().String(), "host:"+t.node)
	}
}

func readNomad(d *evidence.Doc, o *evidence.Out) error {
	if strings.HasPrefix(string(d.Data), "ID ") {
		return readNomadText(d, o)
	}
	all, err := records(d)
	o.Seen("")
	for _, v := range all {
		images := map[string]string{}
		for group := range v.get("Job", "TaskGroups").elements() {
			for task := range group.get("Tasks").elements() {
				images[task.get("Name").text()] = task.get("Config", "image").text()
			}
		}
		for name, state := range v.get("TaskStates").fields() {
			nomadState(d, o, state, &nomadTask{alloc: v.get("ID").text(), node: v.get("NodeName").text(), name: name, image: images[name]})
		}
	}
	return err
}

// nomadState reads the events of one task.
//
//	"TaskStates": {"redis": {"State": "running", "Events": [
//	  {"Type": "Driver", "Time": 1792584280000000000, "DisplayMessage": "Downloading image", "Details": {"image": "redis:7"}},
//	  {"Type": "Started", "Time": 1792584291000000000, "DisplayMessage": "Task started by client"}]}}
func nomadState(d *evidence.Doc, o *evidence.Out, state value, t *nomadTask) {
	for e := range state.get("Events").elements() {
		ns, ok := e.get("Time").integer()
		if !ok || ns <= 0 {
			continue
		}
		span := timeline.At(time.Unix(0, ns), string(e.get("Time").raw()))
		at(d, o, e.get("Time"))
		switch message := e.get("DisplayMessage").text(); e.get("Type").text() {
		case "Driver":
			if strings.HasPrefix(message, "Downloading image") || strings.HasPrefix(e.get("DriverMessage").text(), "Downloading image") {
				t.downloading(e.get("Details", "image").text(), span)
			}
		case "Started":
			t.started(o, span)
		}
	}
}

// readNomadText reads alloc status, in which the newest event of a task stands
// first.
//
//	Node Name           = client-3
//	Task "redis" is "running"
//	Recent Events:
//	Time                  Type      Description
//	2026-10-21T12:04:51Z  Started   Task started by client
//	2026-10-21T12:04:40Z  Driver    Downloading image redis:7
func readNomadText(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	var t nomadTask
	var events []logicalLine
	flush := func() {
		for i := len(events) - 1; i >= 0; i-- {
			w := strings.Fields(events[i].text)
			span := evidence.ISOStamp([]byte(w[0]), &o.Times)
			if span.Clock == timeline.Unset {
				continue
			}
			onLine(d, o, events[i].off)
			switch {
			case w[1] == "Driver" && len(w) > 4 && w[2] == "Downloading" && w[3] == "image":
				t.downloading(w[4], span)
			case w[1] == "Started":
				t.started(o, span)
			}
		}
		events = nil
	}
	for _, line := range logicalLines(d) {
		key, val, _ := strings.Cut(line.text, "= ")
		switch strings.TrimSpace(key) {
		case "ID":
			flush()
			t = nomadTask{alloc: strings.TrimSpace(val)}
		case "Node Name":
			t.node = strings.TrimSpace(val)
		}
		if rest, ok := strings.CutPrefix(line.text, `Task "`); ok {
			flush()
			t.name, _, _ = strings.Cut(rest, `"`)
			t.image, t.fetched = "", timeline.Span{}
		}
		if w := strings.Fields(line.text); len(w) > 2 && len(w[0]) > 15 && w[0][4] == '-' && strings.Contains(w[0], "T") {
			events = append(events, line)
		}
	}
	flush()
	return nil
}
