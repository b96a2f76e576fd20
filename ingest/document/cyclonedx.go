package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// CycloneDX is a content list in CycloneDX's JSON, alone or in an in-toto
// statement.
// https://cyclonedx.org/docs/1.6/json/
var CycloneDX = evidence.Format{
	Name:   "cyclonedx",
	Shape:  evidence.DocumentShape,
	Title:  "CycloneDX SBOM (JSON)",
	Proves: "which packages are in an image, when the list names it by digest; a complete list of exactly that digest can clear",
	Cannot: "when they came; what an image of the same tag holds",
	Doc:    "https://cyclonedx.org/docs/1.6/json/",
	Sample: "written by hand after the documentation",
	Claim:  claimCycloneDX,
	Read:   readCycloneDX,
}

// claimCycloneDX wants the word that the schema demands.
//
//	"bomFormat": "CycloneDX", "specVersion": "1.6",
func claimCycloneDX(h *evidence.Head) bool {
	v, ok := headRecord(h)
	return ok && predicate(v, "cyclonedx").get("bomFormat").text() == "CycloneDX"
}

func readCycloneDX(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	for _, v := range all {
		c := &contentList{d: d, o: o, topics: map[string]bool{}, partly: err != nil}
		v = c.statement(v)
		if v.get("bomFormat").text() != "CycloneDX" {
			at(d, o, v)
			o.Skip("no CycloneDX list")
			continue
		}
		root := v.get("metadata", "component")
		c.rootImage(root)
		for list := range v.get("compositions").elements() {
			if strings.HasPrefix(list.get("aggregate").text(), "incomplete") {
				c.partly = true
			}
		}
		c.components(root.get("components"), 0)
		c.components(v.get("components"), 0)
		c.cover()
	}
	return err
}

// rootImage looks for the digest of what the list describes. Trivy writes the
// digests as properties, Syft the manifest's as version, both as package URL.
//
//	{"type": "container", "name": "ghcr.io/acme/gw", "version": "sha256:af1c…"}
//	{"name": "aquasecurity:trivy:RepoDigest", "value": "ghcr.io/acme/gw@sha256:8f45…"}
func (c *contentList) rootImage(root value) {
	purl := root.get("purl").text()
	isImage := root.get("type").text() == "container" || strings.HasPrefix(purl, "pkg:oci/") || strings.HasPrefix(purl, "pkg:docker/")
	if !isImage {
		return
	}
	c.of(root.get("version").text())
	c.of(purl)
	c.of(root.get("name").text())
	c.of(root.get("bom-ref").text())
	for p := range root.get("properties").elements() {
		if name := p.get("name").text(); strings.HasSuffix(name, ":RepoDigest") || strings.HasSuffix(name, ":ImageID") {
			c.of(p.get("value").text())
		}
	}
}

// maxNesting bounds how deep components may stand in components.
const maxNesting = 16

func (c *contentList) components(list value, depth int) {
	for comp := range list.elements() {
		purl := comp.get("purl")
		if purl.text() != "" {
			c.component(purl, purl.text(), comp.get("version").text(), cyclonedxHashes(comp))
		} else if t := comp.get("type").text(); t == "library" || t == "framework" || t == "" {
			// A package without URL is listed, but which one it is stays unknown.
			c.partly = true
		}
		inner := comp.get("components")
		if inner.kind() != '[' {
			continue
		}
		if depth == maxNesting {
			at(c.d, c.o, inner)
			c.o.Skip("components nested too deep")
			c.partly = true
			continue
		}
		c.components(inner, depth+1)
	}
}

func cyclonedxHashes(comp value) []timeline.Digest {
	var all []timeline.Digest
	for h := range comp.get("hashes").elements() {
		if digest := timeline.SHA256(h.get("content").text()); digest != "" && h.get("alg").text() == "SHA-256" {
			all = append(all, timeline.Digest{Value: digest, Role: timeline.File})
		}
	}
	return all
}
