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

// osqueryPackages are the tables of packages and how their rows are read.
// https://osquery.io/schema/5.19.0/#python_packages
//
//	{"name": "litellm", "version": "1.107.0", "summary": "…", "path": "/usr/lib/python3/dist-packages"}
//	{"name": "nrwl.angular-console", "version": "18.95.0", "publisher": "nrwl", "installed_at": "1779108003123", …}
//	{"name": "xz-libs", "version": "5.6.1", "release": "1.fc40", "arch": "x86_64", "epoch": "0", …}
var osqueryPackages = map[string]func(name, version string, row value) (timeline.Item, bool){
	"python_packages": func(name, version string, _ value) (timeline.Item, bool) {
		return timeline.Item{Artifact: timeline.PURL("pypi", "", name, version)}, evidence.IsDistName(name) && evidence.IsVersion(version)
	},
	"vscode_extensions": func(name, version string, _ value) (timeline.Item, bool) {
		it, ok := evidence.ExtensionItem(name, version, "")
		return it, ok && version != ""
	},
	"npm_packages": func(name, version string, _ value) (timeline.Item, bool) {
		return evidence.NPMItem(name, version), evidence.IsNPMName(name) && evidence.IsSemver(version)
	},
	"deb_packages": func(name, version string, row value) (timeline.Item, bool) {
		return evidence.SystemItem("deb", "", name, row.get("arch").text(), version), evidence.IsDebName(name) && evidence.IsDebVersion(version)
	},
	"rpm_packages": func(name, version string, row value) (timeline.Item, bool) {
		if release := row.get("release").text(); release != "" {
			version += "-" + release
		}
		if epoch := row.get("epoch").text(); epoch != "" {
			version = epoch + ":" + version
		}
		return evidence.RPMItem(name, version, row.get("arch").text())
	},
}

// row reads one row: of a package, an image or container of Docker, or of a
// process. A row that is gone proves that the thing was there.
func (q *osqueryRow) row(v value, gone bool, o *evidence.Out) {
	action := timeline.Present
	if gone {
		action = timeline.Remove
	}
	e := timeline.Event{Action: action, Subject: q.who, Span: q.span}
	for table, read := range osqueryPackages {
		if !strings.HasSuffix(q.table, table) {
			continue
		}
		item, ok := read(v.get("name").text(), v.get("version").text(), v)
		if !ok {
			o.Skip("no name and version of a package")
			return
		}
		e.Items = []timeline.Item{item}
		o.Event(e)
		if n, timed := v.get("installed_at").integer(); timed && n > 0 { // of this version, in milliseconds
			e.Action, e.Span = timeline.Install, evidence.Epoch(n, time.Millisecond, string(v.get("installed_at").raw()))
			o.Event(e)
		}
		return
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
