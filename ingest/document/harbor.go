package document

import (
	"bytes"
	"cmp"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Harbor is Harbor's audit log as its API answers it and as it forwards it to
// a syslog server, and the payloads of its webhooks.
// https://goharbor.io/docs/latest/administration/audit-log
// https://goharbor.io/docs/latest/working-with-projects/project-configuration/configure-webhooks/
// https://github.com/goharbor/community/blob/main/proposals/new/webhook-event-format.md
var Harbor = evidence.Format{
	Name:   "harbor-audit",
	Shape:  evidence.ToolShape,
	Title:  "Harbor audit log (API, forwarded) and webhooks",
	Proves: "which user pushed, tagged, deleted or read the manifest of which image, when",
	Cannot: "that layers came over; addresses; the registry's host, but for webhooks",
	Doc:    "https://goharbor.io/docs/latest/administration/audit-log",
	Sample: "written by hand after the documentation and the source",
	Starts: []string{"20", "[INFO] ["},
	Fields: [][]string{{"operation", "resource", "op_time"}, {"type", "occur_at", "event_data"}, {"specversion", "type", "operator", "data"}, {"_gdch_service_name", "action", "resource"}},
	Tool:   func() evidence.Parser { return &harbor{} },
}

type harbor struct{}

// Line reads a record, or a line that was forwarded.
func (*harbor) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if !isRecord(l) {
		return harborText(l.Text, o)
	}
	v := recordOf(l)
	switch {
	case v.has("event_data"):
		n, _ := v.get("occur_at").integer()
		return harborHook(v, v.get("type").text(), v.get("event_data"), evidence.Epoch(n, time.Second, string(v.get("occur_at").raw())), o)
	case v.has("specversion"):
		kind, ok := strings.CutPrefix(v.get("type").text(), "harbor.")
		if !ok {
			return evidence.Miss
		}
		return harborHook(v, cloudEvents.Replace(kind), v.get("data"), v.get("time").stamp(o), o)
	case v.has("op_time"):
		return harborRow(v, o)
	}
	if v.get("resource").kind() != '"' || v.get("action").kind() != '"' {
		return evidence.Miss
	}
	harborEvent(v.get("action").text(), v.get("resource").text(), "", v.get("user", "identity").text(), v.get("time").stamp(o), o)
	return evidence.Done
}

// harborText reads a line that was forwarded; the inner time is the event's:
//
//	2026-10-21T12:55:38Z [INFO] [/pkg/audit/manager.go:75][operator="admin" time="2026-10-21 12:55:38.233227826 +0000 UTC m=+104113.873003495"]: action:create, resource:library/golang:1.18.3
//	… [INFO] [/pkg/audit/forward.go:60][action="pull" operator="robot$ci" resource="acme/api:1.4" resourceType="artifact" time="…"]: …
func harborText(text []byte, o *evidence.Out) evidence.Result {
	if !bytes.Contains(text, []byte(`operator="`)) || !bytes.Contains(text, []byte("/audit")) {
		return evidence.Miss
	}
	line := string(text)
	fields, message, ok := strings.Cut(line, "]: ")
	if !ok {
		return evidence.Miss
	}
	action, resource := quotedAfter(fields, `action="`), quotedAfter(fields, `resource="`)
	if _, rest, ok := strings.Cut(message, "action:"); ok {
		action, rest, _ = strings.Cut(rest, ", ")
		_, resource, _ = strings.Cut(rest, "resource:")
		resource, _, _ = strings.Cut(resource, ",")
	}
	if action == "" || resource == "" {
		return evidence.Miss
	}
	span := evidence.ISOStamp([]byte(quotedAfter(fields, ` time="`)), &o.Times)
	if span.Written == "" {
		span = timeline.Span{}
	}
	harborEvent(action, strings.TrimSpace(resource), quotedAfter(fields, `resourceType="`), quotedAfter(fields, `operator="`), span, o)
	return evidence.Done
}

// harborRow reads a row of the API; releases since 2.13 say whether it worked.
//
//	{"id":812,"username":"admin","resource":"acme/api:1.4","resource_type":"artifact","operation":"pull","op_time":"2026-10-21T12:04:51.118Z"}
func harborRow(v value, o *evidence.Out) evidence.Result {
	if v.get("resource").kind() != '"' || v.get("operation").text() == "" {
		return evidence.Miss
	}
	operation := v.get("operation").text()
	if result := v.get("operation_result"); result.kind() == 'f' {
		operation = "" // it was refused or failed
	}
	harborEvent(operation, v.get("resource").text(), v.get("resource_type").text(), v.get("username").text(), v.get("op_time").stamp(o), o)
	return evidence.Done
}

// harborActions are what operations prove. A pull is logged when the manifest
// is read; nothing tells whether layers were.
var harborActions = map[string]timeline.Action{"create": timeline.Push, "push": timeline.Push, "pull": timeline.Check, "delete": timeline.Remove}

func harborEvent(operation, resource, kind, user string, span timeline.Span, o *evidence.Out) {
	o.Seen("")
	action, known := harborActions[operation]
	item, ok := harborImage(resource)
	if !known || !ok || kind != "" && kind != "artifact" && kind != "tag" {
		return
	}
	if kind == "tag" && action == timeline.Push {
		action = timeline.Tag
	}
	e := timeline.Event{Action: action, Items: []timeline.Item{item}, Span: span}
	if user != "" {
		e.Subject = timeline.Subject{Kind: timeline.Client, ID: user}
	}
	o.Event(e)
}

// harborImage reads repository and tag or digest; a repository or project alone
// is no image.
//
//	library/golang:1.18.3   test01/photon:sha256:c371b24a…   acme/api@sha256:c371b24a…
func harborImage(resource string) (item timeline.Item, ok bool) {
	for _, separator := range []string{"@", ":"} {
		repository, digest, found := strings.Cut(resource, separator+"sha256:")
		if d := timeline.SHA256(digest); found && d != "" {
			repository, tag, _ := strings.Cut(repository, ":")
			return registryImage("", repository, tag, d, timeline.NoRole), repository != ""
		}
	}
	repository, tag, found := strings.Cut(resource, ":")
	if !found || tag == "" || !strings.Contains(repository, "/") || strings.ContainsAny(tag, ":/ ") {
		return item, false
	}
	return registryImage("", repository, tag, "", timeline.NoRole), true
}

// cloudEvents gives the kinds of CloudEvents the names that webhooks have else.
var cloudEvents = strings.NewReplacer("artifact.pushed", "PUSH_ARTIFACT", "artifact.pulled", "PULL_ARTIFACT", "artifact.deleted", "DELETE_ARTIFACT")

// harborHook reads the payload of a webhook, of which the second form is that of
// CloudEvents:
//
//	{"type":"PUSH_ARTIFACT","occur_at":1792584291,"operator":"admin","event_data":{"resources":[{"digest":"sha256:c371b24a…","tag":"1.4",
//	"resource_url":"harbor.acme.example/acme/api:1.4"}],"repository":{"repo_full_name":"acme/api",…}}}
//	{"specversion":"1.0","source":"/projects/1/webhook/policies/15","type":"harbor.artifact.pushed","time":"2026-10-21T12:04:51Z","data":{"resources":[…],"repository":{…}},"operator":"admin"}
func harborHook(v value, kind string, data value, span timeline.Span, o *evidence.Out) evidence.Result {
	if kind == "" {
		return evidence.Miss
	}
	o.Seen("")
	operation, what, _ := strings.Cut(strings.ToLower(kind), "_")
	action, known := harborActions[operation]
	if !known || what != "artifact" && what != "image" {
		return evidence.Done
	}
	e := timeline.Event{Action: action, Span: span}
	if user := v.get("operator").text(); user != "" {
		e.Subject = timeline.Subject{Kind: timeline.Client, ID: user}
	}
	repository := data.get("repository", "repo_full_name").text()
	for r := range data.get("resources").elements() {
		host, path, _ := strings.Cut(r.get("resource_url").text(), "/")
		path, _, _ = strings.Cut(path, "@")
		path, tag, _ := strings.Cut(path, ":")
		digest := timeline.SHA256(r.get("digest").text())
		if tag = cmp.Or(r.get("tag").text(), tag); tag == digest || strings.HasPrefix(tag, "sha256:") {
			tag = ""
		}
		if name := cmp.Or(repository, path); name != "" && (tag != "" || digest != "") {
			e.Items = append(e.Items, registryImage(host, name, tag, digest, timeline.NoRole))
		}
	}
	if len(e.Items) > 0 {
		o.Event(e)
	}
	return evidence.Done
}

// End has nothing to do: each event stands alone.
func (*harbor) End(timeline.OpState, *evidence.Out) {}
