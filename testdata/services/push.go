package services

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Layer is a layer of an image: files with their content.
type Layer map[string]string

// Dist is a layer in which a Python package is installed.
func Dist(name, version string) Layer {
	return Layer{fmt.Sprintf("usr/lib/python3/site-packages/%s-%s.dist-info/METADATA", name, version): fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, version)}
}

// pack returns the layer as a registry has it, and its diff ID.
func (l Layer) pack() (packed []byte, diff string, err error) {
	var b, z bytes.Buffer
	t := tar.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(l)) {
		if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(l[name]))}); err != nil {
			return nil, "", err
		}
		if _, err := t.Write([]byte(l[name])); err != nil {
			return nil, "", err
		}
	}
	if err := t.Close(); err != nil {
		return nil, "", err
	}
	g := gzip.NewWriter(&z)
	if _, err := g.Write(b.Bytes()); err != nil {
		return nil, "", err
	}
	err = g.Close()
	return z.Bytes(), digestOf(b.Bytes()), err
}

func digestOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Pushed is an image that was pushed, by its digests.
type Pushed struct {
	Manifest, Config string
	Layers           []string
}

// Push pushes an image into a registry of this machine that asks for no login.
//
// https://github.com/opencontainers/distribution-spec/blob/main/spec.md#push
func Push(registry, repo, tag string, layers ...Layer) (p Pushed, err error) {
	type descriptor struct {
		Type   string `json:"mediaType"`
		Digest string `json:"digest"`
		Size   int    `json:"size"`
	}
	base := registry + "/v2/" + repo
	var diffs []string
	var in []descriptor
	for _, l := range layers {
		packed, diff, err := l.pack()
		if err != nil {
			return p, err
		}
		if err := pushBlob(base, packed); err != nil {
			return p, err
		}
		diffs, p.Layers = append(diffs, diff), append(p.Layers, digestOf(packed))
		in = append(in, descriptor{"application/vnd.oci.image.layer.v1.tar+gzip", digestOf(packed), len(packed)})
	}
	config, err := json.Marshal(map[string]any{
		"created": "2026-10-21T12:00:00Z", "architecture": "amd64", "os": "linux", "config": map[string]any{}, "rootfs": map[string]any{"type": "layers", "diff_ids": diffs},
	})
	if err != nil {
		return p, err
	}
	if err := pushBlob(base, config); err != nil {
		return p, err
	}
	p.Config = digestOf(config)
	const kind = "application/vnd.oci.image.manifest.v1+json"
	manifest, err := json.Marshal(map[string]any{
		"schemaVersion": 2, "mediaType": kind, "config": descriptor{"application/vnd.oci.image.config.v1+json", p.Config, len(config)}, "layers": in,
	})
	if err != nil {
		return p, err
	}
	p.Manifest = digestOf(manifest)
	_, err = pushed(http.MethodPut, base+"/manifests/"+tag, kind, manifest, http.StatusCreated)
	return p, err
}

// pushBlob sends a blob in two steps, as every registry takes it.
func pushBlob(base string, data []byte) error {
	at, err := pushed(http.MethodPost, base+"/blobs/uploads/", "", nil, http.StatusAccepted)
	if err != nil {
		return err
	}
	q := at.Query()
	q.Set("digest", digestOf(data))
	at.RawQuery = q.Encode()
	_, err = pushed(http.MethodPut, at.String(), "application/octet-stream", data, http.StatusCreated)
	return err
}

// pushed makes a request and returns where its answer leads.
func pushed(method, address, kind string, body []byte, want int) (*url.URL, error) {
	r, err := http.NewRequest(method, address, bytes.NewReader(body)) //nolint:noctx // of a test, to this machine
	if err != nil {
		return nil, err
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != want {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
		return nil, fmt.Errorf("%s %s: HTTP %d: %s", method, address, resp.StatusCode, strings.TrimSpace(string(said)))
	}
	return r.URL.Parse(resp.Header.Get("Location"))
}
