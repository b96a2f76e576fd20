package document

import (
	"regexp"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// laid is a package that a path names.
type laid struct {
	place    string // the part of the path that names it
	artifact string
}

// laidOut reads the path of a file or folder of a package manager.
//
//	…/site-packages/litellm-1.107.0.dist-info/METADATA     litellm-1.107.0-py3.11.egg-info
//	…/pip/wheels/e9/ba/…/acme_httpkit-2.5.0-py3-none-any.whl
//	…/uv/wheels-v5/pypi/litellm/1.107.0-py3-none-any.http
//	…/uv/sdists-v9/pypi/docopt/0.6.2/Cs0l…
//	…/node_modules/.pnpm/@acme+ui@1.2.3_react@18.2.0/node_modules/…
//	…/pkg/mod/github.com/pkg/errors@v0.9.1/…    …/cache/download/github.com/pkg/errors/@v/v0.9.1.zip
//	…/registry/cache/index.crates.acme-6f17d22bba15001f/serde-1.0.203.crate
//	…/specifications/rake-13.0.6.gemspec
//	…/.vscode/extensions/nrwl.angular-console-18.95.0/main.js    …/acme.tools-1.5.0.vsix
//	…/.yarn/cache/axios-npm-1.14.1-3a1a1f5b2c-10c0.zip
//	…/conda-meta/numpy-1.26.4-py311h64a7726_0.json   …/pkgs/numpy-1.26.4-py311h64a7726_0.conda
func laidOut(path string) (laid, bool) {
	path = strings.TrimSuffix(strings.ReplaceAll(path, `\`, "/"), "/")
	for i := 0; i < len(path); {
		end := len(path)
		if n := strings.IndexByte(path[i:], '/'); n >= 0 {
			end = i + n
		}
		if p, ok := laidElement(path[:end], path[i:end]); ok {
			return p, true
		}
		i = end + 1
	}
	if p, ok := uvCached(path); ok {
		return p, true
	}
	return goCached(path)
}

// laidElement reads one element of a path; upTo is the path that it ends.
func laidElement(upTo, name string) (laid, bool) {
	python := func(n, v string, ok bool) (laid, bool) {
		return laid{upTo, timeline.PURL("pypi", "", n, v)}, ok
	}
	dir := strings.TrimSuffix(upTo, name)
	switch {
	case strings.HasSuffix(name, ".dist-info"):
		n, v, ok := strings.Cut(strings.TrimSuffix(name, ".dist-info"), "-")
		return python(n, v, ok && evidence.IsDistName(n) && evidence.IsVersion(v))
	case strings.HasSuffix(name, ".egg-info"):
		w := strings.Split(strings.TrimSuffix(name, ".egg-info"), "-")
		return python(w[0], w[min(1, len(w)-1)], len(w) > 1 && evidence.IsDistName(w[0]) && evidence.IsVersion(w[1]))
	case strings.HasSuffix(name, ".whl"):
		d, ok := evidence.ParseDist(name)
		return python(d.Name, d.Version, ok)
	case strings.HasSuffix(dir, "/.pnpm/"):
		entry, _, _ := strings.Cut(strings.Replace(name, "+", "/", 1), "_")
		entry, _, _ = strings.Cut(entry, "(")
		n, v, ok := evidence.SplitNPM(entry)
		return laid{upTo, timeline.PURL("npm", "", n, v)}, ok
	case strings.HasSuffix(name, ".crate"):
		n, v, ok := evidence.SplitDist(strings.TrimSuffix(name, ".crate"))
		return laid{upTo, timeline.PURL("cargo", "", n, v)}, ok
	case strings.HasSuffix(name, ".gemspec") && strings.Contains(dir, "specifications/"), strings.HasSuffix(name, ".gem"):
		n, v, ok := evidence.SplitDist(strings.TrimSuffix(strings.TrimSuffix(name, "spec"), ".gem"))
		return laid{upTo, timeline.PURL("gem", "", n, v)}, ok
	case strings.HasSuffix(name, ".conda"), strings.HasSuffix(dir, "pkgs/") && strings.HasSuffix(name, ".tar.bz2"):
		n, v, ok := condaArchive(name)
		return laid{upTo, timeline.PURL("conda", "", n, v)}, ok
	case strings.HasSuffix(dir, "conda-meta/") && strings.HasSuffix(name, ".json"):
		n, v, ok := condaArchive(strings.TrimSuffix(name, ".json") + ".conda")
		return laid{upTo, timeline.PURL("conda", "", n, v)}, ok
	case strings.HasSuffix(name, ".zip") && strings.Contains(name, "-npm-") && strings.HasSuffix(dir, "/cache/"):
		n, v, ok := yarnZip(name)
		return laid{upTo, timeline.PURL("npm", "", n, v)}, ok
	case strings.HasSuffix(name, ".vsix"), strings.HasSuffix(dir, "/extensions/"), strings.HasSuffix(dir, "CachedExtensionVSIXs/"):
		it, ok := evidence.ExtensionFolder(strings.TrimSuffix(name, ".vsix"))
		return laid{upTo, it.Artifact}, ok
	case strings.Contains(name, "@v") && strings.Contains(dir, "pkg/mod/"):
		_, module, _ := strings.Cut(upTo, "pkg/mod/")
		module, v, _ := strings.Cut(module, "@")
		return goLaid(upTo, module, v)
	}
	return laid{}, false
}

// uvEntry is a file of uv's cache; its buckets have versions. Older ones repeat
// the name in the file.
// https://docs.astral.sh/uv/concepts/cache/
var uvEntry = regexp.MustCompile(`(?:^|[/!])(?:wheels|sdists|built-wheels)-v\d+/(?:pypi|index/[0-9a-f]+)/([A-Za-z0-9._-]+)/([^/]+)`)

func uvCached(path string) (laid, bool) {
	m := uvEntry.FindStringSubmatchIndex(path)
	if m == nil {
		return laid{}, false
	}
	place, name, file := path[:m[1]], path[m[2]:m[3]], path[m[4]:m[5]]
	for _, end := range []string{".http", ".msgpack", ".rev", ".lock", ".whl"} {
		file = strings.TrimSuffix(file, end)
	}
	file = strings.TrimPrefix(file, strings.ReplaceAll(name, "-", "_")+"-")
	version, _, _ := strings.Cut(file, "-")
	place = strings.TrimSuffix(place, path[m[4]:m[5]]) + version
	return laid{place, timeline.PURL("pypi", "", name, version)}, evidence.IsDistName(name) && evidence.IsVersion(version)
}

// goCached reads the files of modules that came over.
func goCached(path string) (laid, bool) {
	_, rest, ok := strings.Cut(path, "cache/download/")
	module, file, in := strings.Cut(rest, "/@v/")
	version, zip := strings.CutSuffix(file, ".zip")
	if !ok || !in || !zip {
		return laid{}, false
	}
	return goLaid(path, module, version)
}

// goLaid spells a module as it is written: in paths a letter in upper case has a
// mark before it. https://go.dev/ref/mod#module-cache
func goLaid(place, module, version string) (laid, bool) {
	var b strings.Builder
	for i := 0; i < len(module); i++ {
		if module[i] == '!' && i+1 < len(module) {
			i++
			b.WriteString(strings.ToUpper(module[i : i+1]))
			continue
		}
		b.WriteByte(module[i])
	}
	host, _, _ := strings.Cut(module, "/")
	ok := strings.Contains(host, ".") && len(version) > 5 && version[0] == 'v' && strings.Count(version, ".") > 1 && !strings.ContainsAny(module+version, "@#%? ")
	return laid{place, "pkg:golang/" + b.String() + "@" + version}, ok
}

// UVCache is an entry of uv's cache that is data: its path names the package.
// https://docs.astral.sh/uv/concepts/cache/
var UVCache = evidence.Format{
	Name:   "uv-cache",
	Shape:  evidence.DocumentShape,
	Title:  "entries of uv's cache",
	Proves: "packages that uv fetched or built and keeps, by the names of its files",
	Cannot: "when they came; into which environments they were put",
	Doc:    "https://docs.astral.sh/uv/concepts/cache/",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		_, ok := uvCached(h.Path)
		return ok && (strings.HasSuffix(h.Name, ".http") || strings.HasSuffix(h.Name, ".msgpack") || strings.HasSuffix(h.Name, ".rev"))
	},
	Read: func(d *evidence.Doc, o *evidence.Out) error {
		p, _ := uvCached(d.Path)
		o.SetLine(1, 0, nil)
		o.Seen("")
		o.Emit(timeline.Present, nil, timeline.Item{Artifact: p.artifact})
		return nil
	},
	Data: true,
}
