package document

import (
	"bytes"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Quay is the usage log of Quay: the answers of its API, and the rows that it
// exports.
// https://docs.projectquay.io/use_quay.html
var Quay = evidence.Format{
	Name:   "quay-usage-log",
	Shape:  evidence.ToolShape,
	Title:  "Quay usage logs (API, export)",
	Proves: "who read the manifest of, or pushed, which repository, by tag or by digest, from which address",
	Cannot: "that layers came over; the repository, when the log was asked for one; the registry's host",
	Doc:    "https://docs.projectquay.io/use_quay.html",
	Sample: "written by hand after the documentation and the source",
	Claim: func(h *evidence.Head) bool {
		return bytes.Contains(h.Bytes, []byte(`_repo"`)) || bytes.Contains(h.Bytes, []byte(`_tag"`))
	},
	Fields: [][]string{{"kind", "datetime"}, {"kind_id", "metadata_json", "datetime"}},
	Lists:  []string{"logs"},
	Tool:   func() evidence.Parser { return &quay{} },
}

type quay struct{}

// quayKinds are the entries that speak of images. A pull is logged when the
// manifest is read; nothing tells whether layers were.
var quayKinds = map[string]timeline.Action{
	"push_repo": timeline.Push, "pull_repo": timeline.Check, "repo_verb": timeline.Check,
	"delete_tag": timeline.Remove, "create_tag": timeline.Tag, "move_tag": timeline.Tag,
}

// Line reads one entry:
//
//	{"kind":"pull_repo","datetime":"Wed, 21 Oct 2026 12:04:51 -0000","metadata":{"namespace":"acme","repo":"api","tag":"1.4"},"performer":{"name":"acme+ci"},"ip":"10.0.4.7"}
//	{"kind":"pull_repo","datetime":"2026-10-21T12:04:51.118","repository":"api","account":"acme","metadata_json":"{\"manifest_digest\": \"sha256:c371…\"}","ip":"10.0.4.7"}
//	{"kind":"pull_repo","datetime":"2026-10-21 12:04:51.118","account":"acme","performer":"acme+ci","metadata_json":{"repo":"api","tag":"1.4"},"ip":"10.0.4.7"}
func (*quay) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	span, ok := quayTime(v.get("datetime").text(), o)
	if !ok {
		return evidence.Miss
	}
	o.Seen("")
	more := v.get("metadata")
	if text := v.get("metadata_json").text(); text != "" {
		more = value{[]byte(text), 0, len(text)}
	} else if object := v.get("metadata_json"); object.kind() == '{' { // as it goes to Splunk
		more = object
	}
	action, known := quayKinds[v.get("kind").text()]
	namespace, name := more.get("namespace").text(), more.get("repo").text()
	if repository := v.get("repository"); repository.kind() == '"' {
		namespace, name = named(v.get("account")), repository.text()
	} else if repository.kind() == '{' {
		namespace, name = named(repository.get("namespace")), named(repository)
	}
	tag, digest := more.get("tag").text(), timeline.SHA256(more.get("manifest_digest").text())
	if !known || name == "" || tag == "" && digest == "" {
		return evidence.Done // asked for one repository, entries do not name it
	}
	if namespace != "" && !strings.Contains(name, "/") {
		name = namespace + "/" + name
	}
	e := timeline.Event{Action: action, Span: span, Items: []timeline.Item{registryImage("", name, tag, digest, timeline.NoRole)}}
	if ip := v.get("ip").text(); ip != "" {
		e.Subject = timeline.Subject{Kind: timeline.Client, ID: ip}
	} else if user := named(v.get("performer")); user != "" {
		e.Subject = timeline.Subject{Kind: timeline.Client, ID: user}
	}
	o.Event(e)
	return evidence.Done
}

// named is a name that stands alone or in an object.
func named(v value) string {
	for _, field := range []string{"name", "username"} {
		if v.get(field).text() != "" {
			return v.get(field).text()
		}
	}
	return v.text()
}

// quayTime reads the time of the API (RFC 2822) and that of exports, which is
// UTC without saying so.
func quayTime(text string, o *evidence.Out) (timeline.Span, bool) {
	if at, err := time.Parse("Mon, 02 Jan 2006 15:04:05 -0700", text); err == nil {
		return evidence.Epoch(at.Unix(), time.Second, text), true
	}
	m, n := evidence.ParseISO([]byte(text))
	m.HasOffset = true
	return m.Span(text, &o.Times), n > 0
}

// End has nothing to do: each entry stands alone.
func (*quay) End(timeline.OpState, *evidence.Out) {}
