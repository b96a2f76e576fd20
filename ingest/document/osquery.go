package document

import (
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Osquery is the results log of osquery: one event per line, snapshots and
// batches.
// https://osquery.readthedocs.io/en/stable/deployment/logging/
var Osquery = evidence.Format{
	Name:   "osquery-results",
	Shape:  evidence.ToolShape,
	Title:  "osquery results log",
	Proves: "packages, images and containers that a host's tables list; commands that its process events show",
	Cannot: "when what was already there had come; the meaning of queries whose name does not end in their table's",
	Doc:    "https://osquery.readthedocs.io/en/stable/deployment/logging/",
	Sample: "written by hand after the documentation",
	Fields: [][]string{{"name", "unixTime", "hostIdentifier"}, {"name", "unixTime", "hostname"}},
	Tool:   func() evidence.Parser { return &osquery{} },
}

type osquery struct{}

// Line reads one result:
//
//	{"name":"pack_ir_python_packages","hostIdentifier":"prod-3","unixTime":1792585800,"columns":{"name":"litellm","version":"1.107.0","path":"/usr/lib/python3/dist-packages"},"action":"added"}
//	{"action":"snapshot","snapshot":[{"name":"litellm","version":"1.107.0"}],"name":"python_packages","hostIdentifier":"prod-3","unixTime":"1792585800"}
//	{"diffResults":{"added":[{…}],"removed":[{…}]},"name":"processes","hostname":"prod-3","unixTime":"1792585800"}
func (*osquery) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	n, ok := v.get("unixTime").integer()
	table := v.get("name").text()
	if !ok || table == "" {
		return evidence.Miss
	}
	o.Seen("")
	q := osqueryRow{table: table, span: evidence.Epoch(n, time.Second, string(v.get("unixTime").raw()))}
	for _, name := range []string{"hostIdentifier", "hostname"} {
		if host := v.get(name).text(); host != "" {
			q.who = timeline.Subject{Kind: timeline.Host, ID: host}
			break
		}
	}
	if columns := v.get("columns"); columns.kind() == '{' {
		q.row(columns, v.get("action").text() == "removed", o)
	}
	for row := range v.get("snapshot").elements() {
		q.row(row, false, o)
	}
	for row := range v.get("diffResults", "added").elements() {
		q.row(row, false, o)
	}
	for row := range v.get("diffResults", "removed").elements() {
		q.row(row, true, o)
	}
	return evidence.Done
}

// osqueryRow is what the rows of one result share.
type osqueryRow struct {
	table string
	who   timeline.Subject
	span  timeline.Span
}

// osqueryPackages are the tables of packages and the kind of their purls.
var osqueryPackages = map[string]string{"python_packages": "pypi", "npm_packages": "npm", "deb_packages": "deb", "rpm_packages": "rpm"}

// row reads one row: of a package, an image or container of Docker, or of a
// process. A row that is gone proves that the thing was there.
func (q *osqueryRow) row(v value, gone bool, o *evidence.Out) {
	action := timeline.Present
	if gone {
		action = timeline.Remove
	}
	e := timeline.Event{Action: action, Subject: q.who, Span: q.span}
	for table, kind := range osqueryPackages {
		name, version := v.get("name").text(), v.get("version").text()
		if strings.HasSuffix(q.table, table) && name != "" && version != "" {
			e.Items = []timeline.Item{{Artifact: timeline.PURL(kind, "", name, version)}}
			o.Event(e)
			return
		}
	}
	switch {
	case strings.HasSuffix(q.table, "docker_images"):
		id := timeline.SHA256(v.get("id").text())
		for tag := range strings.SplitSeq(v.get("tags").text(), ",") {
			item, ok := imageItem(strings.TrimSpace(tag))
			if id != "" {
				item.Digests = append(item.Digests, timeline.Digest{Value: id})
			}
			if ok || id != "" {
				e.Items = append(e.Items, item)
			}
		}
		if len(e.Items) > 0 {
			o.Event(e)
		}
	case strings.HasSuffix(q.table, "docker_containers"):
		q.container(v, e, o)
	case v.get("cmdline").text() != "" && !gone:
		q.process(v, o)
	}
}

func (q *osqueryRow) container(v value, e timeline.Event, o *evidence.Out) {
	id := shortID(v.get("id").text())
	item, ok := imageItem(imageName(v.get("image").text(), v.get("image_id").text()))
	if d := timeline.SHA256(v.get("image_id").text()); d != "" {
		item.Digests, ok = append(item.Digests, timeline.Digest{Value: d}), true
	}
	if id == "" || !ok {
		return
	}
	if q.who.Kind == timeline.Host {
		e.Subject = timeline.Subject{Kind: timeline.Container, ID: q.who.ID + "/" + id}
		o.LinkOver(q.span, timeline.On, e.Subject.String(), q.who.String())
	}
	e.Action, e.Items = timeline.Present, []timeline.Item{item}
	o.Event(e)
}

// process reads a command; tables of events have its own time.
func (q *osqueryRow) process(v value, o *evidence.Out) {
	span := q.span
	if n, ok := v.get("time").integer(); ok && n > 0 {
		span = evidence.Epoch(n, time.Second, string(v.get("time").raw()))
	}
	o.Ran(q.who, evidence.Stamp{Read: func([]byte, *evidence.Times) timeline.Span { return span }}, []byte(v.get("cmdline").text()))
}

// End has nothing to do: each result stands alone.
func (*osquery) End(timeline.OpState, *evidence.Out) {}
