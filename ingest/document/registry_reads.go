package document

import (
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// The bounds of what is remembered of the reads of a registry.
const (
	maxReads = 512             // manifests, and blobs
	late     = 2 * time.Second // how much earlier than its manifest a blob may be stamped
	blobTime = 2 * time.Minute // between a manifest and the first blob of its pull
)

// registryReads joins what a registry says of its readers: a manifest and a
// blob of the same repository for the same client are a pull, a manifest alone
// is a check.
type registryReads struct {
	manifests []*registryRead // oldest first
	blobs     []registryRead
}

// registryRead is one manifest or blob that was read.
type registryRead struct {
	client, repository string
	at                 int64 // ns
	pulled             bool
	mark               evidence.Mark
	event              timeline.Event
}

// with reports whether the blob belongs to a pull of the manifest.
func (r *registryRead) with(blob *registryRead) bool {
	gap := blob.at - r.at
	return r.client == blob.client && r.repository == blob.repository && gap >= -int64(late) && gap <= int64(blobTime)
}

// manifest keeps the read of a manifest that the current line tells of. client
// is all that is known of the reader.
func (m *registryReads) manifest(client, repository string, e timeline.Event, o *evidence.Out) {
	r := &registryRead{client: client, repository: repository, at: e.Span.From, mark: o.Mark(), event: e}
	for i := range m.blobs {
		r.pulled = r.pulled || r.with(&m.blobs[i])
	}
	if len(m.manifests) >= maxReads {
		m.manifests[0].emit(o)
		m.manifests = m.manifests[1:]
	}
	m.manifests = append(m.manifests, r)
}

// blob says that a blob was read.
func (m *registryReads) blob(client, repository string, at int64) {
	b := registryRead{client: client, repository: repository, at: at}
	for _, r := range m.manifests {
		r.pulled = r.pulled || r.with(&b)
	}
	if len(m.blobs) >= maxReads {
		m.blobs = m.blobs[1:]
	}
	m.blobs = append(m.blobs, b)
}

// settle makes events of all that is open.
func (m *registryReads) settle(o *evidence.Out) {
	for _, r := range m.manifests {
		r.emit(o)
	}
	m.manifests, m.blobs = nil, nil
}

func (r *registryRead) emit(o *evidence.Out) {
	r.event.Action = timeline.Check
	if r.pulled {
		r.event.Action = timeline.Pull
	}
	o.At(r.mark, r.event)
}

// recentIDs tells records that came before: a registry sends its events again
// until one delivery is answered.
type recentIDs struct {
	seen  map[string]bool
	order []string
}

// maxIDs bounds the identities that are remembered.
const maxIDs = 8192

// again reports whether the identity was seen before, and remembers it.
func (r *recentIDs) again(id string) bool {
	if id == "" || r.seen[id] {
		return id != ""
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	if r.order = append(r.order, id); len(r.order) > maxIDs {
		delete(r.seen, r.order[0])
		r.order = r.order[1:]
	}
	r.seen[id] = true
	return false
}

// registryImage is an image in a registry's own words: the repository has no
// host but the registry's, and none is ever Docker Hub's. A digest goes before
// a tag only in what is compared: both are kept.
func registryImage(host, repository, tag, digest string, role timeline.Role) timeline.Item {
	name := repository
	if host != "" {
		name = host + "/" + repository
	}
	item := timeline.Item{Artifact: name}
	if tag != "" {
		item.Artifact += ":" + tag
	}
	if d := timeline.SHA256(digest); d != "" {
		item.Artifact += "@" + d
		item.Digests = []timeline.Digest{{Value: d, Role: role}}
	}
	return item
}
