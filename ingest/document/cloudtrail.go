package document

import (
	"bytes"
	"net/netip"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// CloudTrail is what AWS CloudTrail logs of Amazon ECR: log files (Records),
// one event per line, lookup-events, and the events of EventBridge. Events of
// other services are passed over.
// https://docs.aws.amazon.com/AmazonECR/latest/userguide/logging-using-cloudtrail.html
// https://docs.aws.amazon.com/AmazonECR/latest/userguide/ecr-eventbridge.html
var CloudTrail = evidence.Format{
	Name:   "ecr-cloudtrail",
	Shape:  evidence.ToolShape,
	Title:  "Amazon ECR and CodeArtifact in AWS CloudTrail, ECR in EventBridge",
	Proves: "who read which manifest, fetched layers, pushed or deleted which image; a pull is a manifest and a layer of the same caller",
	Cannot: "the digest of what was asked by tag; a pull whose layers were in place; a look-up from a read",
	Doc:    "https://docs.aws.amazon.com/AmazonECR/latest/userguide/logging-using-cloudtrail.html",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		return bytes.Contains(h.Bytes, []byte(`amazonaws.com`)) || bytes.Contains(h.Bytes, []byte(`"aws.ecr"`))
	},
	Fields: [][]string{{"eventSource", "eventName", "eventTime"}, {"CloudTrailEvent"}, {"detail-type", "detail", "region"}},
	Lists:  []string{"Records", "Events"},
	Tool:   func() evidence.Parser { return &cloudTrail{} },
}

type cloudTrail struct {
	reads registryReads
	ids   recentIDs
}

// Line reads one event.
func (c *cloudTrail) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	if text := v.get("CloudTrailEvent").text(); text != "" {
		// The event stands in a string, as lookup-events prints it.
		v = value{[]byte(text), 0, len(text)}
	}
	switch v.get("detail-type").text() {
	case "":
	case "AWS API Call via CloudTrail":
		v = v.get("detail")
	default:
		eventBridge(v, o)
		return evidence.Done
	}
	source := v.get("eventSource").text()
	if source == "" {
		return evidence.Miss
	}
	if strings.HasPrefix(source, "ecr.") && !v.has("errorCode") && !c.ids.again(v.get("eventID").text()) {
		c.call(v, o)
	}
	if strings.HasPrefix(source, "codeartifact.") && !v.has("errorCode") && !c.ids.again(v.get("eventID").text()) {
		codeArtifact(v, o)
	}
	return evidence.Done
}

// codeArtifactKinds are the types of purls by CodeArtifact's formats.
var codeArtifactKinds = map[string]string{"pypi": "pypi", "npm": "npm", "maven": "maven", "nuget": "nuget", "cargo": "cargo", "ruby": "gem"}

// codeArtifact reads a file of a package that was sent.
//
//	{"eventTime":"2026-10-21T12:10:03Z","eventSource":"codeartifact.amazonaws.com","eventName":"GetPackageVersionAsset","sourceIPAddress":"10.0.4.7",
//	"requestParameters":{"asset":"litellm-1.107.0-py3-none-any.whl","domain":"acme","format":"pypi","repository":"all","package":"litellm","packageVersion":"1.107.0"},…}
//
// https://docs.aws.amazon.com/codeartifact/latest/ug/codeartifact-information-in-cloudtrail.html
func codeArtifact(v value, o *evidence.Out) {
	request := v.get("requestParameters")
	kind, known := codeArtifactKinds[request.get("format").text()]
	name, version, space := request.get("package").text(), request.get("packageVersion").text(), request.get("namespace").text()
	if v.get("eventName").text() != "GetPackageVersionAsset" || !known || name == "" || version == "" || strings.ContainsAny(name+version+space, " \t\n") {
		return
	}
	if kind == "npm" && space != "" && !strings.HasPrefix(space, "@") {
		space = "@" + space
	}
	span := v.get("eventTime").stamp(o)
	if span == (timeline.Span{}) {
		span = o.Mark().Span()
	}
	e := timeline.Event{Action: timeline.Download, Span: span, Items: []timeline.Item{{Artifact: timeline.PURL(kind, space, name, version)}}}
	if from := v.get("sourceIPAddress").text(); from != "" {
		e.Subject = timeline.Subject{Kind: timeline.Client, ID: from}
	}
	o.Event(e)
}

// call reads one call of the registry that was answered.
//
//	{"eventTime":"2026-10-21T12:23:20Z","eventSource":"ecr.amazonaws.com","eventName":"BatchGetImage","awsRegion":"eu-central-1","sourceIPAddress":"10.0.4.7",
//	"requestParameters":{"imageIds":[{"imageTag":"latest"}],"repositoryName":"gateway","registryId":"123456789012"},"responseElements":null,…}
func (c *cloudTrail) call(v value, o *evidence.Out) {
	request := v.get("requestParameters")
	repository := request.get("repositoryName").text()
	if repository == "" {
		return
	}
	account := request.get("registryId").text()
	if account == "" {
		account = v.get("recipientAccountId").text()
	}
	host := ecrHost(account, v.get("awsRegion").text())
	span := v.get("eventTime").stamp(o)
	if span == (timeline.Span{}) {
		span = o.Mark().Span()
	}
	client, reader := ecrCaller(v, span, o)
	made := timeline.Event{Subject: client, Span: span}
	switch v.get("eventName").text() {
	case "BatchGetImage":
		for id := range request.get("imageIds").elements() {
			made.Items = []timeline.Item{registryImage(host, repository, id.get("imageTag").text(), id.get("imageDigest").text(), timeline.NoRole)}
			c.reads.manifest(reader, host+"/"+repository, made, o)
		}
	case "GetDownloadUrlForLayer":
		c.reads.blob(reader, host+"/"+repository, span.From)
	case "PutImage":
		made.Action = timeline.Push
		made.Items = []timeline.Item{putImage(v, host, repository)}
		o.Event(made)
	case "BatchDeleteImage":
		made.Action = timeline.Remove
		for id := range v.get("responseElements", "imageIds").elements() {
			made.Items = append(made.Items, registryImage(host, repository, id.get("imageTag").text(), id.get("imageDigest").text(), timeline.NoRole))
		}
		if len(made.Items) > 0 {
			o.Event(made)
		}
	}
}

// ecrHost is the registry's name, which no event holds.
func ecrHost(account, region string) string {
	if account == "" || region == "" {
		return ""
	}
	host := account + ".dkr.ecr." + region + ".amazonaws.com"
	if strings.HasPrefix(region, "cn-") {
		host += ".cn"
	}
	return host
}

// ecrCaller is the address of the caller, else the user. reader is all that is
// known of them. An instance that calls from an address of its own network is
// that host.
func ecrCaller(v value, span timeline.Span, o *evidence.Out) (who timeline.Subject, reader string) {
	identity := v.get("userIdentity")
	address, arn := v.get("sourceIPAddress").text(), identity.get("arn").text()
	name := identity.get("userName").text()
	if name == "" {
		name = arn[strings.LastIndexByte(arn, ':')+1:]
	}
	reader = address + " " + identity.get("principalId").text() + " " + arn
	ip, err := netip.ParseAddr(address)
	if err != nil { // "AWS Internal", the name of a service
		if name == "" {
			name = address
		}
		if name == "" {
			return who, reader
		}
		return timeline.Subject{Kind: timeline.Client, ID: name}, reader
	}
	who = timeline.Subject{Kind: timeline.Client, ID: address}
	_, session, _ := strings.Cut(identity.get("principalId").text(), ":")
	if strings.HasPrefix(session, "i-") && ip.IsPrivate() && v.get("eventName").text() == "BatchGetImage" {
		o.LinkOver(span, timeline.Is, who.String(), "host:"+session)
	}
	return who, reader
}

// putImage is what was pushed: the digest that the registry answered with, and
// the image ID in the manifest, which stands in a string.
func putImage(v value, host, repository string) timeline.Item {
	request, id := v.get("requestParameters"), v.get("responseElements", "image", "imageId")
	tag, digest := id.get("imageTag").text(), id.get("imageDigest").text()
	if tag == "" {
		tag = request.get("imageTag").text()
	}
	if digest == "" {
		digest = request.get("imageDigest").text()
	}
	text := request.get("imageManifest").text()
	manifest := value{[]byte(text), 0, len(text)}
	mediaType := manifest.get("mediaType").text()
	if mediaType == "" {
		mediaType = request.get("imageManifestMediaType").text()
	}
	item := registryImage(host, repository, tag, digest, mediaRole(mediaType))
	if config := manifest.get("config"); mediaRole(config.get("mediaType").text()) == timeline.Config {
		if d := timeline.SHA256(config.get("digest").text()); d != "" {
			item.Digests = append(item.Digests, timeline.Digest{Value: d, Role: timeline.Config})
		}
	}
	return item
}

// eventBridge reads what ECR tells EventBridge itself:
//
//	{"detail-type":"ECR Image Action","source":"aws.ecr","account":"123456789012","time":"2026-10-21T12:54:25Z","region":"eu-central-1",
//	"detail":{"result":"SUCCESS","repository-name":"gateway","image-digest":"sha256:7f5b…","action-type":"PUSH","image-tag":"latest"}}
func eventBridge(v value, o *evidence.Out) {
	o.Seen("")
	detail := v.get("detail")
	host, repository := ecrHost(v.get("account").text(), v.get("region").text()), detail.get("repository-name").text()
	if v.get("source").text() != "aws.ecr" || repository == "" {
		return
	}
	e := timeline.Event{Span: v.get("time").stamp(o)}
	switch v.get("detail-type").text() {
	case "ECR Image Action":
		if detail.get("result").text() != "SUCCESS" {
			return
		}
		e.Action = map[string]timeline.Action{"PUSH": timeline.Push, "DELETE": timeline.Remove}[detail.get("action-type").text()]
	case "ECR Pull Through Cache Action":
		if detail.get("sync-status").text() == "SUCCESS" {
			e.Action, e.Subject = timeline.Pull, timeline.Subject{Kind: timeline.Cache, ID: host}
		}
	}
	if e.Action == timeline.NoAction {
		return
	}
	e.Items = []timeline.Item{registryImage(host, repository, detail.get("image-tag").text(), detail.get("image-digest").text(), mediaRole(detail.get("manifest-media-type").text()))}
	o.Event(e)
}

// End makes the events of manifests whose layers were waited for.
func (c *cloudTrail) End(_ timeline.OpState, o *evidence.Out) { c.reads.settle(o) }
