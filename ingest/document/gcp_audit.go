package document

import (
	"bytes"
	"net/netip"
	"net/url"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// GCPAudit is what Cloud Audit Logs hold of Google Artifact Registry, as
// 'gcloud logging read' and sinks write it. Entries of other services are
// passed over.
// https://cloud.google.com/artifact-registry/docs/audit-logging
var GCPAudit = evidence.Format{
	Name:   "gcp-audit",
	Shape:  evidence.ToolShape,
	Title:  "Google Artifact Registry (Cloud Audit Logs)",
	Proves: "which account and address read, checked or pushed which image, or fetched which Python package; a pull is a manifest and a blob of the same caller",
	Cannot: "anything while Data Access logs are off, which is the default",
	Doc:    "https://cloud.google.com/artifact-registry/docs/audit-logging",
	Sample: "written by hand after the documentation",
	Claim:  func(h *evidence.Head) bool { return bytes.Contains(h.Bytes, []byte(`google.cloud.audit.AuditLog`)) },
	Fields: [][]string{{"protoPayload", "logName"}, {"protoPayload", "insertId"}, {"protoPayload", "timestamp"}},
	Tool:   func() evidence.Parser { return &gcpAudit{} },
}

type gcpAudit struct {
	reads registryReads
	ids   recentIDs
}

// Line reads one entry:
//
//	{"protoPayload":{"serviceName":"artifactregistry.googleapis.com","methodName":"Docker-GetManifest","status":{},"authenticationInfo":{"principalEmail":"node@acme.example"},
//	"requestMetadata":{"callerIp":"10.0.4.7"},"request":{"requestMethod":"GET","requestUrl":"/v2/acme-prod/images/gateway/manifests/1.4"},
//	"resourceLocation":{"currentLocations":["europe-west3"]}},"timestamp":"2026-10-21T12:50:15.079183701Z"}
func (g *gcpAudit) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	p := v.get("protoPayload")
	if p.kind() != '{' {
		return evidence.Miss
	}
	o.Seen("")
	code, _ := p.get("status", "code").integer()
	if p.get("serviceName").text() != "artifactregistry.googleapis.com" || code != 0 || g.again(v) {
		return evidence.Done
	}
	e := timeline.Event{Span: v.get("timestamp").stamp(o)}
	if e.Span == (timeline.Span{}) {
		e.Span = o.Mark().Span()
	}
	account, address := p.get("authenticationInfo", "principalEmail").text(), p.get("requestMetadata", "callerIp").text()
	reader := address + " " + account
	if _, err := netip.ParseAddr(address); err == nil {
		e.Subject = timeline.Subject{Kind: timeline.Client, ID: address}
	} else if account != "" { // "gcp-internal-ip", "private"
		e.Subject = timeline.Subject{Kind: timeline.Client, ID: account}
	}
	tool, method, _ := strings.Cut(p.get("methodName").text(), "-")
	switch tool {
	case "Docker":
		g.docker(p, method, reader, e, o)
	case "Python":
		gcpPython(p, method, e, o)
	default:
		gcpDeleted(p, tool, e, o)
	}
	return evidence.Done
}

// again reports whether the entry was read: logs are exported more than once.
func (g *gcpAudit) again(v value) bool {
	id := v.get("insertId").text()
	return id != "" && g.ids.again(id+v.get("timestamp").text())
}

// docker reads a request of a registry's client. The path has the project and
// the repository before the image:
//
//	/v2/acme-prod/images/gateway/manifests/sha256:a28c…   /v2/acme-prod/images/gateway/blobs/sha256:9b32…
func (g *gcpAudit) docker(p value, method, reader string, e timeline.Event, o *evidence.Out) {
	path, ok := strings.CutPrefix(p.get("request", "requestUrl").text(), "/v2/")
	if !ok {
		return
	}
	path, _, _ = strings.Cut(path, "?")
	host := ""
	for location := range p.get("resourceLocation", "currentLocations").elements() {
		host = location.text() + "-docker.pkg.dev"
	}
	if i := strings.LastIndex(path, "/blobs/"); i > 0 && method == "ServeBlob" {
		g.reads.blob(reader, host+"/"+path[:i], e.Span.From)
		return
	}
	i := strings.LastIndex(path, "/manifests/")
	if i <= 0 {
		return
	}
	repository, ref := path[:i], path[i+len("/manifests/"):]
	tag, digest := ref, ""
	if digest = timeline.SHA256(ref); digest != "" {
		tag = ""
	} else if strings.Contains(ref, ":") {
		return
	}
	e.Items = []timeline.Item{registryImage(host, repository, tag, digest, timeline.NoRole)}
	switch method {
	case "GetManifest":
		g.reads.manifest(reader, host+"/"+repository, e, o)
	case "HeadManifest":
		e.Action = timeline.Check
		o.Event(e)
	case "PutManifest":
		e.Action = timeline.Push
		o.Event(e)
	case "DeleteManifest":
		e.Action = timeline.Remove
		o.Event(e)
	}
}

// gcpPython reads a request of pip. The file's name ends its path:
//
//	/acme-prod/pypi-mirror/packages/litellm/litellm-1.107.0-py3-none-any.whl   /acme-prod/pypi-mirror/simple/litellm/
func gcpPython(p value, method string, e timeline.Event, o *evidence.Out) {
	url := p.get("request", "requestUrl").text()
	path, _, _ := strings.Cut(url, "?")
	switch method {
	case "InstallPackage":
		d, ok := evidence.ParseDist(path)
		if !ok {
			return
		}
		e.Action = timeline.Download
		if d.Metadata {
			e.Action = timeline.Resolve
		}
		e.Items = []timeline.Item{{Artifact: timeline.PURL("pypi", "", d.Name, d.Version)}}
	case "PackageVersions":
		path = strings.TrimSuffix(path, "/")
		name := path[strings.LastIndexByte(path, '/')+1:]
		if !evidence.IsDistName(name) {
			return
		}
		e.Action = timeline.Resolve
		e.Items = []timeline.Item{{Artifact: timeline.PURL("pypi", "", name, "")}}
	default:
		return
	}
	o.Event(e)
}

// gcpDeleted reads the deletion of one version of an image; that of a whole image
// names no digest. The name of the image may have a slash in it, escaped.
//
//	"methodName":"google.devtools.artifactregistry.v1.ArtifactRegistry.DeleteVersion",
//	"resourceName":"projects/acme-prod/locations/europe-west3/repositories/images/packages/team%2Fgateway/versions/sha256:a28c…"
func gcpDeleted(p value, method string, e timeline.Event, o *evidence.Out) {
	w := strings.Split(p.get("resourceName").text(), "/")
	if !strings.HasSuffix(method, ".ArtifactRegistry.DeleteVersion") || len(w) != 10 || w[0] != "projects" || w[2] != "locations" || w[8] != "versions" {
		return
	}
	name, err := url.PathUnescape(w[7])
	digest := timeline.SHA256(w[9])
	if err != nil || digest == "" {
		return
	}
	e.Action = timeline.Remove
	e.Items = []timeline.Item{registryImage(w[3]+"-docker.pkg.dev", w[1]+"/"+w[5]+"/"+name, "", digest, timeline.NoRole)}
	o.Event(e)
}

// End makes the events of manifests whose blobs were waited for.
func (g *gcpAudit) End(_ timeline.OpState, o *evidence.Out) { g.reads.settle(o) }
