package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// SPDX is a content list in SPDX 2 JSON: alone, in an in-toto statement, or as
// GitHub's dependency graph and 'docker buildx imagetools' wrap it.
// https://spdx.github.io/spdx-spec/v2.3/
var SPDX = evidence.Format{
	Name:   "spdx",
	Shape:  evidence.DocumentShape,
	Title:  "SPDX 2 SBOM (JSON)",
	Proves: "which packages are in an image, when the list names it by digest; a complete list of exactly that digest can clear",
	Cannot: "when they came; what an image of the same tag holds",
	Doc:    "https://spdx.github.io/spdx-spec/v2.3/",
	Sample: "written by hand after the documentation",
	Claim:  claimSPDX,
	Read:   readSPDX,
}

// claimSPDX wants the document's identifier or version, both of which the
// specification demands.
//
//	"spdxVersion": "SPDX-2.3", "SPDXID": "SPDXRef-DOCUMENT",
func claimSPDX(h *evidence.Head) bool {
	v, ok := headRecord(h)
	return ok && isSPDX(unwrapSPDX(predicate(v, "spdx")))
}

func isSPDX(v value) bool {
	return v.get("SPDXID").text() == "SPDXRef-DOCUMENT" || strings.HasPrefix(v.get("spdxVersion").text(), "SPDX-2")
}

// unwrapSPDX takes the wrappers off: {"sbom": …} and {"SPDX": …}.
func unwrapSPDX(v value) value {
	for _, name := range []string{"sbom", "SPDX"} {
		if inner := v.get(name); inner.kind() == '{' {
			return inner
		}
	}
	return v
}

func readSPDX(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	return spdxLists(d, o, all, err)
}

// spdxLists reads lists; err tells that something of them is missing.
func spdxLists(d *evidence.Doc, o *evidence.Out, all []value, err error) error {
	for _, v := range all {
		c := &contentList{d: d, o: o, topics: map[string]bool{}, partly: err != nil}
		v = unwrapSPDX(c.statement(v))
		if !isSPDX(v) {
			at(d, o, v)
			o.Skip("no SPDX list")
			continue
		}
		roots := spdxRoots(v)
		packages := v.get("packages")
		for p := range packages.elements() {
			if roots[p.get("SPDXID").text()] || p.get("primaryPackagePurpose").text() == "CONTAINER" {
				c.spdxImage(p)
			}
		}
		if len(c.images) == 0 {
			c.of(v.get("documentNamespace").text())
		}
		for p := range packages.elements() {
			c.spdxPackage(p, roots[p.get("SPDXID").text()])
		}
		c.cover()
	}
	return err
}

// spdxRoots finds the packages that the document describes.
//
//	"documentDescribes": ["SPDXRef-ContainerImage-5b1f"]
//	{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-…"}
func spdxRoots(v value) map[string]bool {
	roots := map[string]bool{}
	for _, id := range v.get("documentDescribes").texts() {
		roots[id] = true
	}
	for r := range v.get("relationships").elements() {
		if r.get("spdxElementId").text() == "SPDXRef-DOCUMENT" && r.get("relationshipType").text() == "DESCRIBES" {
			roots[r.get("relatedSpdxElement").text()] = true
		}
	}
	return roots
}

// spdxImage looks for the digest of an image that the list is of.
//
//	{"name": "ghcr.io/acme/gw", "versionInfo": "sha256:af1c…", "primaryPackagePurpose": "CONTAINER",
//	 "checksums": [{"algorithm": "SHA256", "checksumValue": "af1c…"}],
//	 "externalRefs": [{"referenceType": "purl", "referenceLocator": "pkg:oci/gw@sha256%3Aaf1c…"}]}
func (c *contentList) spdxImage(p value) {
	_, purl := spdxPURL(p)
	isImage := p.get("primaryPackagePurpose").text() == "CONTAINER" || strings.HasPrefix(purl, "pkg:oci/") || strings.HasPrefix(purl, "pkg:docker/")
	if !isImage {
		return
	}
	c.of(p.get("versionInfo").text())
	c.of(purl)
	c.of(p.get("name").text())
	for _, d := range spdxChecksums(p) {
		c.of(d.Value)
	}
	for _, text := range p.get("attributionTexts").texts() { // Trivy
		if digest, ok := strings.CutPrefix(text, "ImageID: "); ok {
			c.of(digest)
		} else if ref, ok := strings.CutPrefix(text, "RepoDigest: "); ok {
			c.of(ref)
		}
	}
}

// spdxPackage records a package. One without URL is listed, but which one it
// is stays unknown; images, applications and systems have none.
func (c *contentList) spdxPackage(p value, root bool) {
	where, purl := spdxPURL(p)
	if strings.HasPrefix(purl, "pkg:oci/") || strings.HasPrefix(purl, "pkg:docker/") {
		return
	}
	if purl == "" {
		purpose := p.get("primaryPackagePurpose").text()
		if !root && (purpose == "" || purpose == "LIBRARY" || purpose == "FRAMEWORK") {
			c.partly = true
		}
		return
	}
	c.component(where, purl, p.get("versionInfo").text(), spdxChecksums(p))
}

func spdxPURL(p value) (where value, purl string) {
	for ref := range p.get("externalRefs").elements() {
		if ref.get("referenceType").text() == "purl" {
			where = ref.get("referenceLocator")
			return where, where.text()
		}
	}
	return p, ""
}

func spdxChecksums(p value) []timeline.Digest {
	var all []timeline.Digest
	for sum := range p.get("checksums").elements() {
		if digest := timeline.SHA256(sum.get("checksumValue").text()); digest != "" && sum.get("algorithm").text() == "SHA256" {
			all = append(all, timeline.Digest{Value: digest, Role: timeline.File})
		}
	}
	return all
}
