package document

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// contentList is what a content list (SBOM) has said so far. It is bound to
// images by digest alone: a tag moves.
type contentList struct {
	d      *evidence.Doc
	o      *evidence.Out
	images []string        // digests of what the list is of
	topics map[string]bool // package types seen
	partly bool            // a component could not be understood, or the list says that it is not complete
}

// digestIn finds a digest in a name, a version, a package URL or a namespace.
//
//	sha256:af1c…, pkg:oci/litellm@sha256%3A3b91…?repository_url=…, https://…/spdxdocs/kosha256:3b91…
var digestIn = regexp.MustCompile(`sha256(?::|%3[Aa]|-|=)([0-9a-f]{64})(?:[^0-9a-f]|$)`)

// of says that the list is of the image that a text names by digest.
func (c *contentList) of(text string) {
	if m := digestIn.FindStringSubmatch(text); m != nil && !slices.Contains(c.images, "sha256:"+m[1]) {
		c.images = append(c.images, "sha256:"+m[1])
	}
}

// each runs f for every image that the list is of, or for the claim when it
// names none.
func (c *contentList) each(f func()) {
	if len(c.images) == 0 {
		f()
		return
	}
	for _, digest := range c.images {
		about(c.o, timeline.Subject{Kind: timeline.Image, ID: digest}, f)
	}
}

// component records one package. where is the value that proves it.
func (c *contentList) component(where value, purl, version string, digests []timeline.Digest) {
	artifact, kind := normalizePURL(purl, version)
	at(c.d, c.o, where)
	if artifact == "" {
		c.partly = true
		c.o.Skip("a component with a broken package URL")
		return
	}
	c.topics[kind] = true
	c.each(func() {
		c.o.Emit(timeline.Present, nil, timeline.Item{Artifact: artifact, Digests: digests})
	})
}

// cover says for which kinds of package the list is the whole content of its
// images; only then can it clear.
func (c *contentList) cover() {
	c.o.Seen("")
	if c.partly {
		return
	}
	kinds := make([]string, 0, len(c.topics))
	for kind := range c.topics {
		if kind != "generic" { // names no ecosystem: that some are listed says nothing of others
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	for _, digest := range c.images {
		for _, kind := range kinds {
			c.o.Cover(timeline.Coverage{
				Subject: timeline.Subject{Kind: timeline.Image, ID: digest}, Topic: timeline.Topic(kind),
				Span: timeline.Always(), Whole: true, Why: "a content list of exactly this digest",
			})
		}
	}
}

// normalizePURL spells a package URL as the timeline does; of the qualifiers
// the architecture stays. "" is for what is none.
// https://github.com/package-url/purl-spec
func normalizePURL(text, version string) (artifact, kind string) {
	rest, ok := strings.CutPrefix(text, "pkg:")
	if !ok {
		return "", ""
	}
	rest, _, _ = strings.Cut(rest, "#")
	rest, qualifiers, _ := strings.Cut(rest, "?")
	kind, rest, ok = strings.Cut(strings.TrimLeft(rest, "/"), "/")
	if !ok || kind == "" {
		return "", ""
	}
	if i := strings.LastIndexByte(rest, '@'); i > strings.LastIndexByte(rest, '/')+1 {
		version, rest = rest[i+1:], rest[:i]
	} else {
		version = url.PathEscape(version)
	}
	name, errName := url.PathUnescape(rest)
	v, errVersion := url.PathUnescape(version)
	name = strings.Trim(name, "/")
	if errName != nil || errVersion != nil || name == "" {
		return "", ""
	}
	namespace := ""
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		namespace, name = name[:i], name[i+1:]
	}
	kind = strings.ToLower(kind)
	artifact = timeline.PURL(kind, namespace, name, v)
	if q, err := url.ParseQuery(qualifiers); err == nil && q.Get("arch") != "" {
		artifact += "?arch=" + url.QueryEscape(q.Get("arch"))
	}
	return artifact, kind
}

// statement unwraps an in-toto statement: its subjects are what the list in it
// is of.
// https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md
func (c *contentList) statement(v value) value {
	if !v.has("predicateType") {
		return v
	}
	for s := range v.get("subject").elements() {
		if digest := timeline.SHA256(s.get("digest", "sha256").text()); digest != "" {
			c.of(digest)
		}
	}
	return v.get("predicate")
}

// predicate returns the predicate of a statement of the given kind, v itself
// when it is no statement.
func predicate(v value, kind string) value {
	if !v.has("predicateType") {
		return v
	}
	if strings.Contains(strings.ToLower(v.get("predicateType").text()), kind) {
		return v.get("predicate")
	}
	return value{}
}
