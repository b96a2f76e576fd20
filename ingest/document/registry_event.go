package document

import (
	"net"
	"net/url"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// registryEvent is one event as CNCF distribution sends it, and as registries
// made from it do.
type registryEvent struct {
	id, action        string
	host              string // of the registry, as the client asked for it
	repository, tag   string
	digest, mediaType string
	method            string
	client, agent     string // address of the client, else the user
	span              timeline.Span
}

// parse reads the event; ok is false for what is none.
func (e *registryEvent) parse(v value, o *evidence.Out) (ok bool) {
	target, request := v.get("target"), v.get("request")
	e.id, e.action, e.repository = v.get("id").text(), v.get("action").text(), target.get("repository").text()
	if e.action == "" || e.repository == "" || strings.ContainsAny(e.repository, " \n@") {
		return false
	}
	e.tag, e.digest, e.mediaType = target.get("tag").text(), target.get("digest").text(), target.get("mediaType").text()
	e.method, e.agent = request.get("method").text(), request.get("useragent").text()
	if e.host = request.get("host").text(); e.host == "" {
		if u, err := url.Parse(target.get("url").text()); err == nil {
			e.host = u.Host
		}
	}
	if e.client = hostOf(request.get("addr").text()); e.client == "" {
		e.client = v.get("actor", "name").text()
	}
	e.span = v.get("timestamp").stamp(o)
	return true
}

// hostOf drops the port of an address.
//
//	10.20.0.44:40380   [2001:db8::44]:40380   client.local
func hostOf(addr string) string {
	if host, _, err := net.SplitHostPort(addr); err == nil {
		return host
	}
	return strings.Trim(addr, "[]")
}

// subject is the client, or nobody: then the line's own subject holds.
func (e *registryEvent) subject() timeline.Subject {
	if e.client == "" {
		return timeline.Subject{}
	}
	return timeline.Subject{Kind: timeline.Client, ID: e.client}
}

// registryEvents makes events of those of one registry.
type registryEvents struct {
	reads registryReads
	ids   recentIDs
}

// record makes an event of what happened to a manifest. Blobs only tell a pull
// from a check, and a mount is no more than a blob.
//
// The registry's word for every answered GET and HEAD is pull: only GET counts.
func (m *registryEvents) record(e *registryEvent, o *evidence.Out) {
	if m.ids.again(e.id) {
		return
	}
	role := mediaRole(e.mediaType)
	isManifest := role == timeline.Index || role == timeline.Manifest
	made := timeline.Event{Subject: e.subject(), Span: e.span, Items: []timeline.Item{registryImage(e.host, e.repository, e.tag, e.digest, role)}}
	if made.Span == (timeline.Span{}) {
		made.Span = o.Mark().Span()
	}
	reader := e.client + " " + e.agent
	switch {
	case e.action == "pull" && isManifest && e.method == "HEAD":
		made.Action = timeline.Check
		o.Event(made)
	case e.action == "pull" && isManifest:
		m.reads.manifest(reader, e.repository, made, o)
	case e.action == "pull" && e.method != "HEAD":
		m.reads.blob(reader, e.repository, made.Span.From)
	case e.action == "push" && isManifest:
		made.Action = timeline.Push
		o.Event(made)
	case e.action == "delete" && (e.tag != "" || timeline.SHA256(e.digest) != ""):
		made.Action = timeline.Remove
		o.Event(made)
	}
}
