package registry

import (
	"context"
	"strings"

	"pulltrail/ingest/collect"
	"pulltrail/timeline"
)

// accept are the manifests that are read. The schema before them has no digest
// that its bytes prove.
var accept = strings.Join([]string{
	"application/vnd.oci.image.index.v1+json", "application/vnd.docker.distribution.manifest.list.v2+json",
	"application/vnd.oci.image.manifest.v1+json", "application/vnd.docker.distribution.manifest.v2+json",
}, ", ")

// configs are the types of an image's config; others are of charts and the
// like.
var configs = map[string]bool{
	"application/vnd.oci.image.config.v1+json": true, "application/vnd.docker.container.image.v1+json": true,
}

// descriptor names other content.
type descriptor struct {
	MediaType   string            `json:"mediaType"`
	Digest      string            `json:"digest"`
	Size        int64             `json:"size"`
	Annotations map[string]string `json:"annotations"`
}

// manifest is an index or a manifest.
type manifest struct {
	Manifests []descriptor `json:"manifests"`
	Config    descriptor   `json:"config"`
	Layers    []descriptor `json:"layers"`
}

// tag asks what a tag names now. Its address and the hash of its bytes prove
// the name.
func (c *collector) tag(ctx context.Context, repo, tag string) error {
	name := timeline.Subject{Kind: timeline.Image, ID: timeline.NormalizeImage(c.opt.Host + "/" + repo + ":" + tag)}
	want := collect.Want{Kind: "manifest", Name: tag + ".json", Reading: timeline.Whole, About: name}
	var m manifest
	a, ok, err := c.ask(ctx, "/v2/"+repo+"/manifests/"+tag, nil, want, accept, &m)
	if !ok || err != nil {
		return err
	}
	if c.first(repo, "sha256:"+a.SHA256) {
		c.below(repo, &m)
		if !c.dry {
			c.pool.Add(func(ctx context.Context) error { return c.referrers(ctx, repo, "sha256:"+a.SHA256) })
		}
	}
	return nil
}

// first reports whether a digest of a repository is asked for the first time.
func (c *collector) first(repo, digest string) bool {
	_, before := c.done.LoadOrStore(repo+"@"+digest, true)
	return !before
}

// below asks for what a manifest names.
func (c *collector) below(repo string, m *manifest) {
	for _, d := range m.Manifests {
		if d.Annotations["vnd.docker.reference.type"] != "" {
			continue // an attestation: no image
		}
		if digest := timeline.SHA256(d.Digest); digest != "" && c.first(repo, digest) {
			c.pool.Add(func(ctx context.Context) error { return c.child(ctx, repo, digest) })
		}
	}
	config := timeline.SHA256(m.Config.Digest)
	if config == "" || !configs[m.Config.MediaType] {
		return
	}
	// A config is the same in all repositories, and so is a layer.
	if !c.dry && c.first("", config) {
		c.pool.Add(func(ctx context.Context) error { return c.config(ctx, repo, config) })
	}
	for _, layer := range m.Layers {
		digest := timeline.SHA256(layer.Digest)
		if !c.opt.Content || digest == "" || !c.first("", digest) {
			continue
		}
		c.layers.Add(1)
		c.bytes.Add(layer.Size)
		if !c.dry {
			c.pool.Add(func(ctx context.Context) error { return c.layer(ctx, repo, digest, config) })
		}
	}
}

// layerKind is what layers are in the ledger, and mostLayer how many bytes of one
// are taken.
const (
	layerKind = "layer"
	mostLayer = 32 << 30
)

// layer asks for a layer of the image with this config. It is kept as it came:
// its bytes have the digest, and its packages can be listed again.
func (c *collector) layer(ctx context.Context, repo, digest, config string) error {
	want := byDigest(layerKind, digest)
	want.Name, want.Reading, want.Raw, want.Signed, want.Most = strings.TrimPrefix(digest, "sha256:"), timeline.NoReading, true, true, mostLayer
	want.About = timeline.Subject{Kind: timeline.Image, ID: config}
	_, _, err := c.ask(ctx, "/v2/"+repo+"/blobs/"+digest, nil, want, "*/*", nil)
	return err
}

// byDigest is what asking for content by its digest wants.
func byDigest(kind, digest string) collect.Want {
	hex := strings.TrimPrefix(digest, "sha256:")
	return collect.Want{
		Kind: kind, Version: collect.Lasting, Name: hex + ".json", Reading: timeline.Whole, SHA256: hex,
		About: timeline.Subject{Kind: timeline.Image, ID: digest},
	}
}

func (c *collector) child(ctx context.Context, repo, digest string) error {
	var m manifest
	_, ok, err := c.ask(ctx, "/v2/"+repo+"/manifests/"+digest, nil, byDigest("manifest", digest), accept, &m)
	if ok {
		c.below(repo, &m)
	}
	return err
}

// maxManifest is more than registries take.
const maxManifest = 16 << 20

// config asks for a config, which registries often have in a store on another
// host: that gets no token.
func (c *collector) config(ctx context.Context, repo, digest string) error {
	want := byDigest("config", digest)
	want.Signed, want.Most = true, maxManifest
	_, _, err := c.ask(ctx, "/v2/"+repo+"/blobs/"+digest, nil, want, "*/*", nil)
	return err
}

// referrers asks what refers to a manifest: signatures, SBOMs. Older registries
// do not know the question, which is no gap: there such things are tags.
//
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md#listing-referrers
func (c *collector) referrers(ctx context.Context, repo, digest string) error {
	want := collect.Want{Kind: "referrers", NoGap: []timeline.Reply{timeline.Absent, timeline.Failed}}
	var m manifest
	_, ok, err := c.ask(ctx, "/v2/"+repo+"/referrers/"+digest, nil, want, "application/vnd.oci.image.index.v1+json", &m)
	if !ok || err != nil {
		return err
	}
	for _, d := range m.Manifests {
		if digest := timeline.SHA256(d.Digest); digest != "" && c.first(repo, digest) {
			c.pool.Add(func(ctx context.Context) error { return c.child(ctx, repo, digest) })
		}
	}
	return nil
}
