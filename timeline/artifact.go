package timeline

import (
	"net/url"
	"regexp"
	"strings"
)

// PURL builds a package URL (https://github.com/package-url/purl-spec) with
// the name normalised for its type. version and namespace may be empty.
func PURL(kind, namespace, name, version string) string {
	switch kind {
	case "pypi":
		name = normalizePyPI(name)
	case "npm":
		if ns, n, ok := strings.Cut(name, "/"); ok && namespace == "" && strings.HasPrefix(ns, "@") {
			namespace, name = ns, n
		}
	case "github", "composer", VSCodeExtension:
		namespace, name = strings.ToLower(namespace), strings.ToLower(name)
	}
	name, version = escapePURL(name), escapePURL(version)
	if namespace == "" && version != "" {
		return "pkg:" + kind + "/" + name + "@" + version
	}
	var b strings.Builder
	b.WriteString("pkg:" + kind + "/")
	if namespace != "" {
		for part := range strings.SplitSeq(namespace, "/") {
			b.WriteString(escapePURL(part) + "/")
		}
	}
	b.WriteString(name)
	if version != "" {
		b.WriteString("@" + version)
	}
	return b.String()
}

// escapePURL percent-encodes what the purl specification asks for, colon and
// plus left as they are: both are common in versions and harmless.
func escapePURL(s string) string {
	i := 0
	for i < len(s) && purlByte(s[i]) {
		i++
	}
	if i == len(s) {
		return s
	}
	return strings.NewReplacer("%2B", "+", "%3A", ":", "%21", "!", "+", "%20").Replace(url.QueryEscape(s))
}

func purlByte(c byte) bool {
	switch c {
	case '-', '.', '_', '~', ':', '+', '!':
		return true
	}
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// normalizePyPI is PEP 503: lower case, runs of - _ . become one hyphen, so
// LiteLLM is litellm, but lite_llm is lite-llm, another project.
func normalizePyPI(name string) string {
	normal := true
	for i := 0; i < len(name) && normal; i++ {
		c := name[i]
		normal = c != '_' && c != '.' && (c < 'A' || c > 'Z') && (c != '-' || i+1 == len(name) || name[i+1] != '-')
	}
	if normal {
		return name
	}
	b := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c == '-' || c == '_' || c == '.':
			if len(b) > 0 && b[len(b)-1] == '-' {
				continue
			}
			c = '-'
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return string(b)
}

// ImageRef is an image name taken apart.
type ImageRef struct {
	Name   string // host/path, docker.io/library/busybox for busybox
	Tag    string
	Digest string
}

// String returns host/path[:tag][@digest].
func (r ImageRef) String() string {
	s := r.Name
	if r.Tag != "" {
		s += ":" + r.Tag
	}
	if r.Digest != "" {
		s += "@" + r.Digest
	}
	return s
}

// imageRef is the grammar of https://github.com/distribution/reference.
var imageRef = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9.-]*(?::\d{1,5})?/|\[[0-9a-fA-F]*:[0-9a-fA-F:]+\](?::\d{1,5})?/)?` +
	`([a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*)` +
	`(?::([A-Za-z0-9_][A-Za-z0-9_.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}))?$`)

// ParseImage takes an image reference apart as a client would: no host means
// Docker Hub, no tag and no digest means latest. ok is false for what is no
// reference; a 64-hex image ID is none.
func ParseImage(text string) (ref ImageRef, ok bool) {
	m := imageRef.FindStringSubmatch(text)
	if m == nil || len(text) > 512 || len(text) == 64 && isHex(text) {
		return ImageRef{}, false
	}
	if m[2] == "sha256" && m[1] == "" && len(m[3]) == 64 && isHex(m[3]) {
		return ImageRef{}, false // a digest alone
	}
	host, path := strings.TrimSuffix(m[1], "/"), m[2]
	if host != "" && !strings.ContainsAny(host, ".:") && host != "localhost" {
		if host != strings.ToLower(host) || strings.HasSuffix(host, "-") {
			return ImageRef{}, false // no part of a path either
		}
		host, path = "", host+"/"+path
	}
	switch host = strings.TrimSuffix(strings.ToLower(host), ":443"); host { // the port that it has without one
	case "", "index.docker.io", "registry-1.docker.io", "docker.io":
		host = "docker.io"
		if !strings.Contains(path, "/") {
			path = "library/" + path
		}
	}
	ref = ImageRef{Name: host + "/" + path, Tag: m[3], Digest: m[4]}
	if ref.Tag == "" && ref.Digest == "" {
		ref.Tag = "latest"
	}
	return ref, true
}

// NormalizeImage is the one spelling of an image reference, "" for what is
// none.
func NormalizeImage(text string) string {
	ref, ok := ParseImage(text)
	if !ok {
		return ""
	}
	return ref.String()
}

func isHex(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return s != ""
}

// SHA256 returns "sha256:<64 hex>" for a whole SHA-256 with or without its
// algorithm name, and "" for anything else: a cut digest is none.
func SHA256(text string) string {
	hex := strings.ToLower(strings.TrimPrefix(text, "sha256:"))
	if len(hex) != 64 || !isHex(hex) {
		return ""
	}
	return "sha256:" + hex
}

// IsCommit reports whether text is a full 40-hex commit.
func IsCommit(text string) bool { return len(text) == 40 && isHex(text) }

// Parts is an artifact taken apart for comparison.
type Parts struct {
	Type    string // purl type, "image", or secret, domain, ip, url, file
	Name    string // purl: [namespace/]name decoded; image: host/path; else the value
	Version string // version, or the image's tag
	Digest  string // digest inside an image reference
}

// endpoints are the artifact schemes that are neither package nor image.
var endpoints = []string{"secret", "domain", "ip", "url", "file"}

// Ecosystem is the artifact of events that name no package, only where it would
// come from: pkg:pypi for a "pip install -r requirements.txt" without output.
// Split gives such an artifact a Type and no Name.
func Ecosystem(kind string) string { return "pkg:" + kind }

// BuildRequirements is the Ref of what a build fetched into an environment of its
// own: the tools that the build of a package needs, of which pip, uv and build
// print no versions. https://peps.python.org/pep-0517/
const BuildRequirements = "build-system.requires"

// VSCodeExtension is the type of extensions of VS Code and of editors made from
// it, whose names are compared without case.
// https://github.com/package-url/purl-spec/blob/main/types-doc/vscode-extension-definition.md
const VSCodeExtension = "vscode-extension"

// JenkinsPlugin is the type of Jenkins' plugins: they have none of their own.
const JenkinsPlugin = "generic"

// SomeImage stands for images that a command may have pulled and did not name,
// as an ecosystem stands for packages.
const SomeImage = "pkg:oci"

// Anything stands for whatever a command may have fetched that runs others which
// no line shows: packages of any ecosystem, and images. A Ref says that packages
// of one ecosystem alone are meant.
const Anything = "pkg:any"

// Split takes an artifact of the timeline apart.
func Split(artifact string) Parts {
	for _, scheme := range endpoints {
		if value, ok := strings.CutPrefix(artifact, scheme+":"); ok {
			return Parts{Type: scheme, Name: value}
		}
	}
	if rest, ok := strings.CutPrefix(artifact, "pkg:"); ok {
		return splitPURL(rest)
	}
	p := Parts{Type: "image", Name: artifact}
	p.Name, p.Digest, _ = strings.Cut(p.Name, "@")
	if i := strings.LastIndexByte(p.Name, ':'); i > strings.LastIndexByte(p.Name, '/') {
		p.Name, p.Version = p.Name[:i], p.Name[i+1:]
	}
	return p
}

func splitPURL(rest string) Parts {
	rest, _, _ = strings.Cut(rest, "#")
	rest, _, _ = strings.Cut(rest, "?")
	kind, name, _ := strings.Cut(rest, "/")
	p := Parts{Type: strings.ToLower(kind), Name: name}
	if i := strings.LastIndexByte(name, '@'); i > strings.LastIndexByte(name, '/')+1 {
		p.Name, p.Version = name[:i], name[i+1:]
	}
	if s, err := url.PathUnescape(p.Name); err == nil {
		p.Name = s
	}
	if s, err := url.PathUnescape(p.Version); err == nil {
		p.Version = s
	}
	switch p.Type {
	case "pypi":
		p.Name = normalizePyPI(p.Name)
	case "github", "composer", "nuget", "chocolatey", VSCodeExtension:
		p.Name = strings.ToLower(p.Name)
	}
	return p
}
