package matchers

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"pulltrail/timeline"
)

// pkg reads a package with its bad versions.
func (l *loader) pkg(n *yaml.Node, what string) Package {
	f := l.mapping(n, what, "purl channel versions role trigger source", "safe files"+citeKeys)
	p := Package{
		PURL:     l.purl(f["purl"], what+".purl"),
		Channel:  l.declared(f["channel"], what),
		Versions: l.texts(f["versions"], what+".versions", l.version),
		Safe:     l.texts(f["safe"], what+".safe", l.version),
		Role:     l.oneOf(f["role"], what+".role", "payload", "puller"),
		Trigger:  l.oneOf(f["trigger"], what+".trigger", triggers...),
		Cite:     l.cite(f, what),
	}
	if f["versions"] != nil && len(p.Versions) == 0 {
		l.bad(f["versions"], `%s.versions: want at least one, or ["*"] for all of them inside the windows`, what)
	}
	for _, v := range p.Safe {
		if v == "*" || slices.Contains(p.Versions, v) {
			l.bad(f["safe"], "%s.safe: %q cannot be both bad and safe", what, v)
		}
	}
	p.Files = entries(l, f, "files", func(n *yaml.Node, w string) PackageFile {
		w = what + "." + w
		f := l.mapping(n, w, "name sha256", "source"+citeKeys)
		return PackageFile{
			l.text(f["name"], w+".name"), l.like(f["sha256"], w+".sha256", hexForm, "64 hex digits"),
			l.citeWithin(f, w, p.Cite),
		}
	})
	return p
}

// purl reads a package URL without a version, in its one spelling.
func (l *loader) purl(n *yaml.Node, what string) string {
	s := l.like(n, what, purlForm, "a package URL without version, such as pkg:pypi/name or pkg:npm/%40scope/name")
	if s == "" {
		return ""
	}
	parts := timeline.Split(s)
	if want := timeline.PURL(parts.Type, "", parts.Name, ""); parts.Type == "pypi" && s != want {
		l.bad(n, "%s: %q is not normalised: write %s", what, s, want)
	}
	return s
}

// version reads one entry of versions or safe.
func (l *loader) version(n *yaml.Node, what string) string {
	s := l.text(n, what)
	form := versionForm
	if isRange(s) {
		form = rangeForm
	}
	if s != "" && !form.MatchString(s) {
		l.bad(n, "%s: %q: want a version, a range such as >=1.95.6,<1.95.8, or *", what, s)
	}
	return s
}

// image reads an image repository with its bad tags and digests.
func (l *loader) image(n *yaml.Node, what string) Image {
	f := l.mapping(n, what, "repository channel tags digests source", "moving_tags"+citeKeys)
	im := Image{
		Repository: l.repository(f["repository"], what+".repository"),
		Channel:    l.declared(f["channel"], what),
		Tags:       l.texts(f["tags"], what+".tags", l.form(tagForm, "a tag")),
		MovingTags: l.texts(f["moving_tags"], what+".moving_tags", l.form(movingForm, "a tag, * for any characters")),
		Cite:       l.cite(f, what),
	}
	im.Digests = entries(l, f, "digests", func(n *yaml.Node, w string) ImageDigest {
		w = what + "." + w
		f := l.mapping(n, w, "digest role", "platform source"+citeKeys)
		d := ImageDigest{
			Digest: l.like(f["digest"], w+".digest", digestForm, "sha256: and 64 hex digits"),
			Role:   timeline.Role(l.oneOf(f["role"], w+".role", digestRoles...)), Cite: l.citeWithin(f, w, im.Cite),
		}
		if f["platform"] != nil {
			d.Platform = l.like(f["platform"], w+".platform", platformForm, "os/architecture such as linux/amd64")
		}
		return d
	})
	if f["tags"] != nil && f["digests"] != nil && len(im.Tags)+len(im.MovingTags)+len(im.Digests) == 0 {
		l.bad(n, "%s: neither tag nor digest: nothing could match", what)
	}
	return im
}

func (l *loader) repository(n *yaml.Node, what string) string {
	s := l.text(n, what)
	if s == "" {
		return ""
	}
	ref, ok := timeline.ParseImage(s)
	switch {
	case !ok || ref.Digest != "" || s != ref.Name && strings.HasSuffix(s, ":"+ref.Tag):
		l.bad(n, "%s: %q: want host/path without tag and digest, such as ghcr.io/owner/name", what, s)
	case s != ref.Name:
		l.bad(n, "%s: %q is not normalised: write %s", what, s, ref.Name)
	}
	return s
}

// action reads a CI action whose refs were moved.
func (l *loader) action(n *yaml.Node, what string) CIAction {
	f := l.mapping(n, what, "repository channel refs commits source", "safe_commits"+citeKeys)
	commit := l.form(commitForm, "40 hex digits")
	a := CIAction{
		Repository:  l.like(f["repository"], what+".repository", ownerForm, "owner/name"),
		Channel:     l.declared(f["channel"], what),
		Refs:        l.texts(f["refs"], what+".refs", l.text),
		Commits:     l.texts(f["commits"], what+".commits", commit),
		SafeCommits: l.texts(f["safe_commits"], what+".safe_commits", commit),
		Cite:        l.cite(f, what),
	}
	for _, c := range a.SafeCommits {
		if c != "" && slices.Contains(a.Commits, c) {
			l.bad(f["safe_commits"], "%s.safe_commits: %s cannot be both bad and safe", what, c)
		}
	}
	return a
}

// form checks the entries of a list of texts.
func (l *loader) form(form *regexp.Regexp, want string) func(n *yaml.Node, what string) string {
	return func(n *yaml.Node, what string) string { return l.like(n, what, form, want) }
}

func (l *loader) engine(n *yaml.Node, what string) Engine {
	f := l.mapping(n, what, "purl affected when fixed checks source", citeKeys)
	e := Engine{
		PURL: l.purl(f["purl"], what+".purl"), Checks: l.texts(f["checks"], what+".checks", l.text),
		When: map[string]any{}, Fixed: map[string]string{}, Cite: l.cite(f, what),
	}
	if f["affected"] != nil {
		e.Affected = l.release(f["affected"], what+".affected")
	}
	l.pairs(f["when"], what+".when", func(key string, n *yaml.Node, what string) {
		switch {
		case key == "disaggregation":
			e.When[key] = l.flag(n, what)
		case key == "transfer_backends":
			e.When[key] = l.texts(n, what, l.backend)
		case n.Kind == yaml.SequenceNode:
			e.When[key] = l.texts(n, what, l.text)
		case n.ShortTag() == "!!bool":
			e.When[key] = l.flag(n, what)
		default:
			e.When[key] = l.text(n, what)
		}
	})
	l.pairs(f["fixed"], what+".fixed", func(key string, n *yaml.Node, what string) { e.Fixed[key] = l.release(n, what) })
	return e
}

// releaseForm is a version of an engine or a range of them: engines come as Python
// packages. What is none would have no version affected, and every node clear.
var releaseForm = regexp.MustCompile(`^(?:\*|(?:[<>=!~^]=?=? ?)?v?[0-9][0-9A-Za-z.!+*-]*(?:, ?(?:[<>=!~^]=?=? ?)?v?[0-9][0-9A-Za-z.!+*-]*)*)$`)

func (l *loader) release(n *yaml.Node, what string) string {
	return l.like(n, what, releaseForm, "a version or a range, such as 1.2.3 or >=1.2,<1.5")
}

// backendForm is the name of a backend as engines write it on their command line.
var backendForm = regexp.MustCompile(`^[a-z][a-z0-9_-]*$`)

func (l *loader) backend(n *yaml.Node, what string) string {
	return l.like(n, what, backendForm, "the name of a backend in small letters, as in --disaggregation-transfer-backend")
}

// pairs reads a mapping whose keys are free.
func (l *loader) pairs(n *yaml.Node, what string, read func(key string, n *yaml.Node, what string)) {
	if n == nil {
		return
	}
	if n.Kind != yaml.MappingNode {
		l.bad(n, "%s: want a mapping, {} for none", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		name := l.text(key, what+" key")
		if seen[name] || name == "<<" {
			l.bad(key, "%s: key %s twice or merged", what, name)
		}
		seen[name] = true
		read(name, n.Content[i+1], what+"."+name)
	}
}

func (l *loader) vendor(n *yaml.Node, what string) Vendor {
	f := l.mapping(n, what, "name domains what source", "windows"+citeKeys)
	return Vendor{
		Name:    l.text(f["name"], what+".name"),
		Domains: l.texts(f["domains"], what+".domains", l.form(domainForm, "a domain in small letters")),
		What:    l.text(f["what"], what+".what"), Cite: l.cite(f, what),
		Windows: entries(l, f, "windows", func(n *yaml.Node, w string) Window { return l.window(n, what+"."+w) }),
	}
}

// samples reads the lines that the file tests itself with.
func (l *loader) samples(f fields, inc *Incident) {
	verdicts := []string{string(Exposed), string(Pulled), string(Possible)}
	inc.Hits = l.texts(f["hits"], "hits", func(n *yaml.Node, what string) string {
		s := l.text(n, what)
		verdict, line, ok := strings.Cut(s, ": ")
		if s != "" && (!ok || !slices.Contains(verdicts, verdict)) {
			l.bad(n, "%s: want a verdict before the line: one of %s", what, strings.Join(verdicts, ", "))
		} else {
			l.sample(n, what, line)
		}
		return s
	})
	inc.Misses = l.texts(f["misses"], "misses", func(n *yaml.Node, what string) string {
		s := l.text(n, what)
		l.sample(n, what, s)
		return s
	})
	named := len(inc.Packages)+len(inc.Images)+len(inc.Actions)+len(inc.Indicators)+len(inc.Engines) > 0 ||
		slices.ContainsFunc(inc.Vendors, func(v Vendor) bool { return len(v.Domains) > 0 })
	if named && f["hits"] != nil && len(inc.Hits) == 0 {
		l.bad(f["hits"], "hits: want at least one line that must match, with its verdict")
	}
	if f["misses"] != nil && len(inc.Misses) == 0 {
		l.bad(f["misses"], "misses: want at least one line that must not match")
	}
}

func (l *loader) sample(n *yaml.Node, what, line string) {
	if line == "" {
		return
	}
	e, err := timeline.ParseNotation(line)
	if err != nil {
		l.bad(n, "%s: %v", what, err)
		return
	}
	if err := checkArtifact(e.Items[0].Artifact); err != nil {
		l.bad(n, "%s: %v", what, err)
	}
}

// checkArtifact refuses what no event could name.
func checkArtifact(artifact string) error {
	switch p := timeline.Split(artifact); {
	case p.Type == "image" && timeline.NormalizeImage(artifact) == "":
		return fmt.Errorf("%q is neither a package URL, nor an image, nor secret:, domain:, ip:, url: or file", artifact)
	case strings.HasPrefix(artifact, "pkg:") && (p.Type == "" || p.Name == "" || strings.ContainsAny(artifact, "?#") ||
		p.Version == "" && strings.HasPrefix(p.Name, "@") && !strings.Contains(p.Name, "/")):
		return fmt.Errorf("%q: want a package URL as pkg:type/name@version", artifact)
	}
	return nil
}
