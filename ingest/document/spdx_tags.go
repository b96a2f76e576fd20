package document

import (
	"bytes"
	"errors"
	"strings"

	"pulltrail/ingest/evidence"
)

// SPDXTags is a content list in the tag-value form of SPDX 2.
// https://spdx.github.io/spdx-spec/v2.3/
var SPDXTags = evidence.Format{
	Name:   "spdx-tag-value",
	Shape:  evidence.DocumentShape,
	Title:  "SPDX 2 SBOM (tag-value)",
	Proves: "which packages are in an image, when the list names it by digest; a complete list of exactly that digest can clear",
	Cannot: "when they came; what an image of the same tag holds",
	Doc:    "https://spdx.github.io/spdx-spec/v2.3/",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		return bytes.HasPrefix(bytes.TrimLeft(h.Bytes, " \t\r\n"), []byte("SPDXVersion: SPDX-2"))
	},
	Read: readSPDXTags,
}

// readSPDXTags reads a list as whole only when relationships stand behind its
// last package: one that was cut off has none there.
func readSPDXTags(d *evidence.Doc, o *evidence.Out) error {
	list, whole := jsonOfTags(d)
	all, err := documents(list)
	if err == nil && !whole {
		err = errors.New("no relationship stands behind the last package: the list may have been cut off")
	}
	return spdxLists(list, o, all, err)
}

// jsonOfTags respells the list as its JSON form:
//
//	SPDXVersion: SPDX-2.3
//	PackageName: litellm
//	SPDXID: SPDXRef-Package-python-litellm-5b1f
//	PackageVersion: 1.107.0
//	ExternalRef: PACKAGE-MANAGER purl pkg:pypi/litellm@1.107.0
//	Relationship: SPDXRef-DOCUMENT DESCRIBES SPDXRef-ContainerImage-5b1f
func jsonOfTags(d *evidence.Doc) (list *evidence.Doc, whole bool) {
	t := &tags{respelled: respelled{line: 1}}
	t.out.WriteString(`{"SPDXID":"SPDXRef-DOCUMENT","spdxVersion":"SPDX-2"`)
	quoted := false
	no := 0
	for line := range bytes.Lines(d.Data) {
		no++
		text := string(bytes.TrimRight(line, "\r\n"))
		if quoted { // <text>…</text> may hold several lines
			quoted = !strings.Contains(text, "</text>")
			continue
		}
		key, val, ok := strings.Cut(text, ": ")
		if !ok || strings.HasPrefix(text, "#") {
			continue
		}
		if strings.HasPrefix(val, "<text>") && !strings.Contains(val, "</text>") {
			quoted = true
		}
		t.tag(key, strings.TrimSpace(val), no)
	}
	t.close()
	return t.doc(d), t.related && bytes.HasSuffix(d.Data, []byte("\n"))
}

// tags knows where in the JSON it is.
type tags struct {
	respelled
	inPackages, inPackage bool
	refs, sums            []line
	relations             [][]string
	related               bool // one stands behind the last package
}

// line is a value with its line: those of a package's lists are written
// together, on the line of each.
type line struct {
	words []string
	no    int
}

func (t *tags) tag(key, val string, no int) {
	switch key {
	case "DocumentNamespace":
		if !t.inPackages {
			t.field("documentNamespace", val, no)
		}
	case "PackageName":
		t.endPackage()
		if !t.inPackages {
			t.out.WriteString(`,"packages":[{"name":`)
		} else {
			t.out.WriteString(`,{"name":`)
		}
		t.inPackages, t.inPackage, t.related = true, true, false
		t.on(no)
		t.text(val)
	case "SPDXID":
		if t.inPackage {
			t.field("SPDXID", val, no)
		}
	case "PackageVersion":
		if t.inPackage {
			t.field("versionInfo", val, no)
		}
	case "PrimaryPackagePurpose":
		if t.inPackage {
			t.field("primaryPackagePurpose", val, no)
		}
	case "ExternalRef":
		if w := strings.Fields(val); t.inPackage && len(w) == 3 {
			t.refs = append(t.refs, line{w, no})
		}
	case "PackageChecksum":
		if algorithm, sum, ok := strings.Cut(val, ": "); t.inPackage && ok {
			t.sums = append(t.sums, line{[]string{algorithm, sum}, no})
		}
	case "Relationship":
		if w := strings.Fields(val); len(w) == 3 {
			t.relations = append(t.relations, w)
			t.related = true
		}
	case "FileName", "SnippetSPDXID", "LicenseID":
		t.endPackage()
	}
}

func (t *tags) field(name, val string, no int) {
	t.out.WriteByte(',')
	t.on(no)
	t.text(name)
	t.out.WriteByte(':')
	t.text(val)
}

// endPackage writes the lists of the package.
func (t *tags) endPackage() {
	if !t.inPackage {
		return
	}
	t.list("checksums", t.sums, "algorithm", "checksumValue")
	t.list("externalRefs", t.refs, "referenceCategory", "referenceType", "referenceLocator")
	t.out.WriteByte('}')
	t.inPackage, t.refs, t.sums = false, nil, nil
}

func (t *tags) list(name string, of []line, keys ...string) {
	if len(of) == 0 {
		return
	}
	t.out.WriteString(`,"` + name + `":[`)
	for i, l := range of {
		if i > 0 {
			t.out.WriteByte(',')
		}
		t.on(l.no)
		t.object(keys, l.words)
	}
	t.out.WriteByte(']')
}

func (t *tags) object(keys, words []string) {
	t.out.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			t.out.WriteByte(',')
		}
		t.text(key)
		t.out.WriteByte(':')
		t.text(words[i])
	}
	t.out.WriteByte('}')
}

// close writes the relations and the end.
func (t *tags) close() {
	t.endPackage()
	if t.inPackages {
		t.out.WriteByte(']')
	}
	t.out.WriteString(`,"relationships":[`)
	for i, w := range t.relations {
		if i > 0 {
			t.out.WriteByte(',')
		}
		t.object([]string{"spdxElementId", "relationshipType", "relatedSpdxElement"}, w)
	}
	t.out.WriteString("]}")
}
