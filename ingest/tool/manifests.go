package tool

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// The bounds of what is remembered of a registry's log.
const (
	maxManifests = 512             // requests for manifests
	twinTime     = 2 * time.Second // between the two lines of one request
	blobTime     = 2 * time.Minute // between a manifest and the first blob of its pull
)

// manifests joins the requests to a registry: a manifest and then a blob for
// the same client are a pull, and the two lines that distribution writes of
// one request are one.
type manifests struct {
	open   []*manifest // oldest first
	told   map[string]bool
	pushed []pushed // blobs that came or were there already, oldest first
}

// pushed is a blob that a client wrote, or asked for before it would.
type pushed struct {
	client, name, digest string
	at                   int64
}

// manifest is a request for one manifest that was answered.
type manifest struct {
	name, ref string
	method    string
	status    int
	size      int64
	host      string
	role      timeline.Role
	client    string // what the lines name; the logrus line knows the forwarded address
	peer      string // what the other line names
	writers   uint8  // 1 combined, 2 logrus
	pulled    bool
	blobs     []string // what the client got, or wrote, of the same repository with it
	t         transfer
	at        int64 // ns, for comparing
}

// request reads the path behind /v2/; it reports whether it is a registry's.
//
//	/v2/acme/billing-api/manifests/1.4.0   /v2/acme/tiny/blobs/sha256:9b32…
func (m *manifests) request(r *request, path []byte, o *evidence.Out) bool {
	if len(r.host) == 0 {
		r.host = mirrored(r.uri)
	}
	if i := bytes.LastIndex(path, []byte("/manifests/")); i > 0 {
		name, ref := string(path[:i]), string(path[i+len("/manifests/"):])
		if !repository(name) || !reference(ref) {
			return false
		}
		m.manifest(r, name, ref, o)
		return true
	}
	if i := bytes.LastIndex(path, []byte("/blobs/sha256:")); i > 0 && repository(string(path[:i])) {
		m.blob(r, string(path[:i]), timeline.SHA256(string(path[i+len("/blobs/"):])), o)
		return true
	}
	if i := bytes.Index(path, []byte("/blobs/uploads/")); i > 0 && repository(string(path[:i])) {
		if string(r.method) == "PUT" && r.status == 201 {
			m.push(r, string(path[:i]), uploadDigest(r.uri))
		}
		return true
	}
	return false
}

// mirrored is the registry that containerd wants from a mirror, nil when the
// request names none.
// https://github.com/containerd/containerd/blob/main/docs/hosts.md
//
//	GET /v2/acme/api/manifests/1.4?ns=ghcr.io
func mirrored(uri []byte) []byte {
	_, query, _ := bytes.Cut(uri, []byte("?"))
	for part := range bytes.SplitSeq(query, []byte("&")) {
		if host, ok := bytes.CutPrefix(part, []byte("ns=")); ok && bytes.IndexByte(host, '.') > 0 && bytes.IndexFunc(host, notHostname) < 0 {
			return host
		}
	}
	return nil
}

func notHostname(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != ':'
}

// uploadDigest is the digest that ends the upload of a blob.
//
//	PUT /v2/acme/base/blobs/uploads/7699af…?_state=y54x…&digest=sha256%3A8f7d5cdc…
func uploadDigest(uri []byte) string {
	_, query, _ := bytes.Cut(uri, []byte("?"))
	for part := range bytes.SplitSeq(query, []byte("&")) {
		if digest, ok := bytes.CutPrefix(part, []byte("digest=sha256")); ok {
			hex := strings.TrimPrefix(strings.TrimPrefix(string(digest), "%3A"), ":")
			return timeline.SHA256("sha256:" + strings.TrimPrefix(hex, "%3a"))
		}
	}
	return ""
}

// maxBlobs bounds the blobs that are remembered, of a manifest and of all.
const maxBlobs = 128

// push notes a blob that will be part of the manifest that the client writes
// next.
func (m *manifests) push(r *request, name, digest string) {
	if digest == "" {
		return
	}
	if len(m.pushed) >= maxBlobs {
		m.pushed = append(m.pushed[:0], m.pushed[maxBlobs/2:]...)
	}
	m.pushed = append(m.pushed, pushed{string(r.client), name, digest, r.span.From})
}

// wrote lists the blobs that a client wrote into a repository since the
// manifest that it wrote there before.
func (m *manifests) wrote(x *manifest) {
	kept := m.pushed[:0]
	for _, b := range m.pushed {
		mine := b.client == x.client && b.name == x.name
		if mine && x.at-b.at <= int64(blobTime) && x.at-b.at >= -int64(twinTime) {
			x.add(b.digest)
		}
		if !mine {
			kept = append(kept, b)
		}
	}
	m.pushed = kept
}

func (x *manifest) add(digest string) {
	if digest != "" && len(x.blobs) < maxBlobs && !slices.Contains(x.blobs, digest) {
		x.blobs = append(x.blobs, digest)
	}
}

// manifest keeps a request that was answered well, once.
func (m *manifests) manifest(r *request, name, ref string, o *evidence.Out) {
	method := string(r.method)
	switch {
	case method == "GET" && (r.status == 200 || r.status == 304 || r.redirects()):
	case method == "HEAD" && (r.status == 200 || r.status == 304):
	case method == "PUT" && r.status == 201:
	default:
		return
	}
	x := &manifest{
		name: name, ref: ref, method: method, status: r.status, size: r.size, host: string(r.host),
		client: string(r.client), writers: 1, at: r.span.From,
	}
	if r.logrus {
		x.writers = 2
	}
	if strings.HasPrefix(ref, "sha256:") {
		x.role = manifestRole(r.contentType)
	}
	if twin := m.twin(x); twin != nil {
		twin.merge(x)
		return
	}
	if method == "PUT" {
		m.wrote(x)
	}
	x.t = transfer{o.Mark(), r.subject(o), r.span}
	if len(m.open) >= maxManifests {
		m.open[0].emit(o)
		m.open = m.open[1:]
	}
	m.open = append(m.open, x)
}

// manifestRole tells an index from a manifest by the type that was answered.
func manifestRole(contentType []byte) timeline.Role {
	switch {
	case bytes.Contains(contentType, []byte("image.index")), bytes.Contains(contentType, []byte("manifest.list")):
		return timeline.Index
	case bytes.Contains(contentType, []byte("manifest.v")):
		return timeline.Manifest
	}
	return timeline.NoRole
}

// twin finds the other writer's line of the same request: the one of the same
// client first, for a proxy may stand between.
func (m *manifests) twin(x *manifest) *manifest {
	var other *manifest
	for i := len(m.open) - 1; i >= 0; i-- {
		y := m.open[i]
		if y.writers&x.writers != 0 || y.writers == 3 || y.method != x.method || y.status != x.status || y.size != x.size ||
			y.name != x.name || y.ref != x.ref || abs(y.at-x.at) > int64(twinTime) {
			continue
		}
		if y.client == x.client {
			return y
		}
		if other == nil {
			other = y
		}
	}
	return other
}

func abs(n int64) int64 {
	if n < 0 {
		return -n
	}
	return n
}

// merge adds what the second line of the request knows.
func (x *manifest) merge(y *manifest) {
	logrus, combined := x, y
	if y.writers == 2 {
		logrus, combined = y, x
	}
	x.writers = 3
	x.host, x.role = logrus.host, logrus.role
	x.client, x.peer = logrus.client, combined.client
	if x.client == "" || strings.HasPrefix(x.client, "127.") || x.client == "::1" {
		x.client, x.peer = combined.client, logrus.client
	}
}

// blob says that a client fetched a blob of a repository: what it read of
// manifests there just before were pulls. A redirect to the store counts, its
// bytes go past the registry.
//
// Its digest belongs to the manifest when the client read only one there, by
// tag and perhaps the one of its platform by digest: it is the image ID or a
// layer.
func (m *manifests) blob(r *request, name, digest string, o *evidence.Out) {
	if string(r.method) == "HEAD" && r.status == 200 {
		m.push(r, name, digest)
	}
	if string(r.method) != "GET" || r.status != 200 && r.status != 206 && r.status != 307 && r.status != 302 {
		return
	}
	client := string(r.client)
	var read []*manifest
	tags := map[string]bool{}
	for i := len(m.open) - 1; i >= 0; i-- {
		x := m.open[i]
		if x.method == "GET" && x.status == 200 && x.name == name && (x.client == client || x.peer == client && x.writers == 3) &&
			r.span.From-x.at <= int64(blobTime) && r.span.From-x.at >= -int64(twinTime) {
			x.pulled = true
			read = append(read, x)
			tags[x.ref] = true
		}
	}
	if read == nil {
		m.unread(r, name, digest, o)
	}
	byDigest := 0
	for ref := range tags {
		if strings.HasPrefix(ref, "sha256:") {
			byDigest++
		}
	}
	if byDigest > 1 || len(tags)-byDigest > 1 {
		return // of which image it is nothing says
	}
	for _, x := range read {
		x.add(digest)
	}
}

// unread says once that a client got blobs of a repository of which it read no
// manifest in this log: which image that was is not known.
func (m *manifests) unread(r *request, name, digest string, o *evidence.Out) {
	if len(r.host) > 0 {
		name = string(r.host) + "/" + name
	}
	who := r.subject(o)
	key := who.ID + " " + name
	if m.told[key] || len(m.told) >= maxTold || digest == "" {
		return
	}
	if m.told == nil {
		m.told = map[string]bool{}
	}
	m.told[key] = true
	o.Event(timeline.Event{Action: timeline.Check, Subject: who, Span: r.span, Items: []timeline.Item{{Artifact: name, Digests: []timeline.Digest{{Value: digest}}}}})
}

// maxTold bounds the clients and repositories of which that is said.
const maxTold = 4096

// settle makes events of all that is open.
func (m *manifests) settle(o *evidence.Out) {
	for _, x := range m.open {
		x.emit(o)
	}
	m.open = nil
}

func (x *manifest) emit(o *evidence.Out) {
	action := timeline.Check
	switch {
	case x.method == "PUT":
		action = timeline.Push
	case x.pulled:
		action = timeline.Pull
	}
	name := x.name
	if x.host != "" {
		name = x.host + "/" + name
	}
	item := timeline.Item{Artifact: name + ":" + x.ref}
	if d := timeline.SHA256(x.ref); d != "" {
		item = timeline.Item{Artifact: name + "@" + d, Digests: []timeline.Digest{{Value: d, Role: x.role}}}
	}
	for _, blob := range x.blobs {
		item.Digests = append(item.Digests, timeline.Digest{Value: blob, Role: timeline.Layer})
	}
	if x.client != "" {
		x.t.subject = timeline.Subject{Kind: timeline.Client, ID: x.client}
	}
	x.t.emit(action, item, o)
}

// repository reports whether text is the name of a repository.
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pulling-manifests
func repository(text string) bool {
	if text == "" || len(text) > 255 {
		return false
	}
	for i := range len(text) {
		c := text[i]
		letter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !letter && (c != '/' && c != '.' && c != '_' && c != '-' || i == 0 || i == len(text)-1) {
			return false
		}
	}
	return true
}

// reference reports whether text is a tag or a whole sha256 digest.
func reference(text string) bool {
	if strings.HasPrefix(text, "sha256:") {
		return timeline.SHA256(text) != ""
	}
	if text == "" || len(text) > 128 {
		return false
	}
	for i := range len(text) {
		c := text[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_') && (i == 0 || c != '.' && c != '-') {
			return false
		}
	}
	return true
}
