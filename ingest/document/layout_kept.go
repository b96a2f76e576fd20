package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// KeptArchive reads the path of a file in which a package manager keeps a package
// that came over, apart from what is installed; ok is false for any other file.
//
//	.yarn/berry/cache/axios-npm-1.14.1-3a1a1f5b2c-10c0.zip
//	.bun/install/cache/axios@1.14.1@@@1/package.json
//	.local/share/pnpm/store/v10/index/3a/1f5b2c-axios@1.14.1.json
//	.cache/deno/npm/registry.acme.example/axios/1.14.1/package.json
//	opt/conda/pkgs/litellm-1.107.0-pyhd8ed1ab_0.conda   …/pkgs/litellm-1.107.0-pyhd8ed1ab_0/info/index.json
//	registry/cache/index.crates.acme-6f17d22bba15001f/serde-1.0.203.crate
//	.cache/uv/wheels-v5/pypi/litellm/1.107.0-py3-none-any.http
func KeptArchive(path string) (artifact string, ok bool) {
	dir, file, _ := cutLast(path)
	switch {
	case strings.HasSuffix(file, ".conda"), strings.HasSuffix(file, ".tar.bz2"), strings.HasSuffix(file, ".crate"), strings.HasSuffix(file, ".gem"),
		strings.HasSuffix(file, ".zip") && strings.HasSuffix(dir, "berry/cache"): // a project's own is what it runs from
		p, ok := laidElement(path, file)
		return p.artifact, ok
	case file == "package.json":
		if p, ok := bunCached(dir); ok {
			return p, true
		}
		return denoCached(dir)
	case file == "index.json" && strings.HasSuffix(dir, "/info"):
		dir = strings.TrimSuffix(dir, "/info")
		parent, name, _ := cutLast(dir)
		n, v, ok := condaArchive(name + ".conda")
		return timeline.PURL("conda", "", n, v), ok && (parent == "pkgs" || strings.HasSuffix(parent, "/pkgs"))
	case strings.HasSuffix(file, ".json") && strings.Contains(dir, "/index/"):
		return pnpmKept(dir, strings.TrimSuffix(file, ".json"))
	case strings.HasSuffix(file, ".http"):
		p, ok := uvCached(path)
		return p.artifact, ok
	}
	return "", false
}

// yarnZip reads the name of an archive of Yarn's cache. That of a package with a
// scope does not tell where the scope ends: only the archive does.
// https://yarnpkg.com/features/caching
//
//	axios-npm-1.14.1-3a1a1f5b2c-10c0.zip    axios-npm-1.14.1-3a1a1f5b2c-3a1a1f5b2c.zip
func yarnZip(file string) (name, version string, ok bool) {
	name, rest, ok := strings.Cut(strings.TrimSuffix(file, ".zip"), "-npm-")
	w := strings.Split(rest, "-")
	if !ok || len(w) < 2 || strings.HasPrefix(name, "@") || !evidence.IsNPMName(name) {
		return "", "", false
	}
	if len(w) > 2 {
		w = w[:len(w)-1]
	}
	version = strings.Join(w[:len(w)-1], "-")
	return name, version, evidence.IsSemver(version)
}

// bunCached reads .bun/install/cache/axios@1.14.1@@@1.
// https://bun.sh/docs/pm/global-cache
func bunCached(dir string) (string, bool) {
	_, entry, in := strings.Cut(dir, "install/cache/")
	entry, _, _ = strings.Cut(entry, "@@")
	name, version, ok := evidence.SplitNPM(entry)
	if !in || !ok {
		return "", false
	}
	return timeline.PURL("npm", "", name, version), true
}

// denoCached reads deno/npm/registry.acme.example/axios/1.14.1.
func denoCached(dir string) (string, bool) {
	_, rest, in := strings.Cut("/"+dir, "/npm/")
	_, rest, named := strings.Cut(rest, "/") // the host
	name, version, ok := cutLast(rest)
	if !in || !named || !ok || !evidence.IsNPMName(name) || !evidence.IsSemver(version) {
		return "", false
	}
	return timeline.PURL("npm", "", name, version), true
}

// pnpmKept reads the index of pnpm's store, from version 10 on; older ones have
// no names.
func pnpmKept(dir, file string) (string, bool) {
	hash, entry, ok := strings.Cut(file, "-")
	name, version, is := evidence.SplitNPM(strings.ReplaceAll(entry, "+", "/"))
	if !ok || !is || strings.Trim(hash, "0123456789abcdef") != "" || !strings.Contains(dir, "store/") {
		return "", false
	}
	return timeline.PURL("npm", "", name, version), true
}
