package tool

import (
	"net/url"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// pathKind is what a path of a package index leads to.
type pathKind uint8

const (
	noPath pathKind = iota
	indexPage
	metadata  // only what is written about a file
	wholeFile // the package itself
)

// packagePath reads a path by its shape:
//
//	/packages/23/bd/18d1…/litellm-1.107.0-py3-none-any.whl[.metadata]
//	/repository/pypi/packages/litellm/1.107.0/litellm-1.107.0.tar.gz     Nexus
//	/api/pypi/all/packages/packages/23/bd/…/litellm-1.107.0.tar.gz      Artifactory
//	/pypi/team/simple/litellm/1.107.0/litellm-1.107.0.tar.gz            CodeArtifact
//	/root/pypi/+f/36e/ec59b63bb852e/litellm-1.107.0.tar.gz              devpi
//	/simple/litellm/   /root/pypi/+simple/litellm/   /pypi/litellm/json
//	/@acme/ui/-/ui-1.2.3.tgz   /left-pad/-/left-pad-1.3.0.tgz
//
// and of other ecosystems what systemPath knows.
func packagePath(path string) (item timeline.Item, kind pathKind) {
	if dir, file, ok := strings.Cut(path, "/-/"); ok && strings.HasSuffix(file, ".tgz") {
		return npmFile(dir, file)
	}
	last := path[strings.LastIndexByte(path, '/')+1:]
	if d, ok := evidence.ParseDist(last); ok && (d.Wheel || slices.ContainsFunc(indexFolders, func(f string) bool { return strings.Contains(path, f) })) {
		kind = wholeFile
		if d.Metadata {
			kind = metadata
		}
		return timeline.Item{Artifact: timeline.PURL("pypi", "", d.Name, d.Version)}, kind
	}
	w := strings.Split(strings.Trim(path, "/"), "/")
	n := len(w)
	name := ""
	switch {
	case n >= 2 && (w[n-2] == "simple" || w[n-2] == "+simple"):
		name = w[n-1]
	case n == 3 && w[0] == "pypi" && w[2] == "json", n == 4 && w[0] == "pypi" && w[3] == "json":
		name = w[1]
	}
	if evidence.IsDistName(name) {
		return timeline.Item{Artifact: timeline.PURL("pypi", "", name, "")}, indexPage
	}
	if item, ok := npmPage(path, w); ok {
		return item, indexPage
	}
	if item, kind := composerPath(w); kind != noPath {
		return item, kind
	}
	if item, ok := githubArchive(w); ok {
		return item, wholeFile
	}
	return systemPath(path, last, w)
}

// indexFolders stand in the paths of archives that an index serves; others serve
// files of the same shape.
var indexFolders = []string{"/packages/", "/+f/", "/simple/", "/pypi/", "/python/"}

// npmFile reads a tarball's path; the file must repeat the package's name, which
// in stores of Artifactory and GitLab it does with its scope:
//
//	/@acme/ui/-/ui-1.2.3.tgz
//	/api/v4/projects/17/packages/npm/@acme/ui/-/@acme/ui-1.2.3.tgz
//	/api/packages/acme/npm/@acme%2fui/-/1.2.3/ui-1.2.3.tgz               Gitea
func npmFile(dir, file string) (timeline.Item, pathKind) {
	dir, file = unescapedPath(unescapedPath(dir)), unescapedPath(unescapedPath(file)) // S3 escapes what it was asked once more
	w := strings.Split(strings.TrimPrefix(dir, "/"), "/")
	name := w[len(w)-1]
	scope := ""
	if len(w) > 1 && strings.HasPrefix(w[len(w)-2], "@") {
		scope = w[len(w)-2]
		file = strings.TrimPrefix(file, scope+"/")
	}
	if folder, inner, ok := strings.Cut(file, "/"); ok && strings.HasSuffix(inner, "-"+folder+".tgz") {
		file = inner
	}
	version, ok := strings.CutPrefix(strings.TrimSuffix(file, ".tgz"), name+"-")
	if !ok || name == "" || version == "" || version[0] < '0' || version[0] > '9' || strings.ContainsAny(version, "/ ") {
		return timeline.Item{}, noPath
	}
	return timeline.Item{Artifact: timeline.PURL("npm", scope, name, version)}, wholeFile
}

func unescapedPath(path string) string {
	if p, err := url.PathUnescape(path); err == nil {
		return p
	}
	return path
}

// npmPage reads the path of a package's page where the path alone tells that it
// is one: a scope whose slash is escaped, as npm's clients write it, or a
// repository of npm packages in Artifactory.
//
//	/repository/npm-all/@acme%2fui    /api/npm/npm-remote/left-pad
func npmPage(path string, w []string) (timeline.Item, bool) {
	n := len(w)
	last := w[n-1]
	at := strings.Index(path, "api/npm/")
	scoped := strings.HasPrefix(last, "@") && (strings.Contains(last, "%2f") || strings.Contains(last, "%2F"))
	if !scoped && at < 0 || strings.Contains(path, "/-/") {
		return timeline.Item{}, false
	}
	name := unescapedPath(last)
	if !scoped {
		_, rest, _ := strings.Cut(path[at+len("api/npm/"):], "/") // behind the repository
		name = unescapedPath(strings.Trim(rest, "/"))
	}
	if !evidence.IsNPMName(name) || strings.HasSuffix(name, ".tgz") {
		return timeline.Item{}, false
	}
	return timeline.Item{Artifact: timeline.PURL("npm", "", name, "")}, true
}

// npmClient reads the path of a package's page that a client of npm asked for,
// whatever the path: such clients ask a registry for nothing else. One version
// of a package has a page too.
//
//	/left-pad   /npm/@acme/ui   /left-pad/1.3.0   /left-pad/latest
func npmClient(path string) (timeline.Item, bool) {
	if strings.Contains(path, "/-/") || strings.HasSuffix(path, ".tgz") {
		return timeline.Item{}, false
	}
	w := strings.Split(strings.TrimPrefix(unescapedPath(path), "/"), "/")
	n := len(w)
	version := ""
	if n > 1 && (evidence.IsSemver(w[n-1]) || w[n-1] == "latest") {
		if version = w[n-1]; version == "latest" {
			version = ""
		}
		n--
	}
	name := w[n-1]
	if n > 1 && strings.HasPrefix(w[n-2], "@") {
		name = w[n-2] + "/" + name
	}
	if !evidence.IsNPMName(name) {
		return timeline.Item{}, false
	}
	return timeline.Item{Artifact: timeline.PURL("npm", "", name, version)}, true
}
