package tool

import (
	"regexp"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// systemPath reads the paths of ecosystems whose files name themselves in full:
//
//	/debian/pool/main/c/curl/curl_7.88.1-10%2bdeb12u5_amd64.deb
//	/9/BaseOS/x86_64/os/Packages/curl-7.76.1-26.el9.x86_64.rpm
//	/alpine/v3.19/main/x86_64/curl-8.5.0-r0.apk
//	/gems/rake-13.0.6.gem
//	/api/v1/crates/serde/1.0.203/download    /crates/serde/serde-1.0.203.crate
//	/maven2/org/acme/lib/1.2/lib-1.2.jar
//	/v3-flatcontainer/newtonsoft.json/13.0.1/newtonsoft.json.13.0.1.nupkg
//	/github.com/acme/lib/@v/v1.2.3.zip
//	/conda-forge/linux-64/numpy-2.3.4-py313h0_0.conda    /conda-forge/noarch/six-1.16.0-pyh6c4a22f_0.tar.bz2
//	/download/plugins/mailer/1.34/mailer.hpi
func systemPath(path, last string, w []string) (timeline.Item, pathKind) {
	if dir, file, ok := strings.Cut(path, "/@v/"); ok {
		return goPath(dir, file)
	}
	n := len(w)
	if it, kind := extensionPath(w, last); kind != noPath {
		return it, kind
	}
	if last == "download" && n >= 4 && w[n-4] == "crates" {
		return crateFile(w[n-3] + "-" + w[n-2])
	}
	dot := strings.LastIndexByte(last, '.')
	if dot < 0 {
		return timeline.Item{}, noPath
	}
	stem, ok := last[:dot], false
	var it timeline.Item
	switch last[dot:] {
	case ".deb", ".udeb":
		it, ok = debFile(unescapedPath(stem))
	case ".rpm":
		if it, ok = evidence.NEVRA(unescapedPath(stem)); strings.HasSuffix(stem, ".src") {
			ok = false
		}
	case ".apk":
		if n > 1 {
			it, ok = apkFile(unescapedPath(stem), w[n-2])
		}
	case ".gem":
		it, ok = gemFile(stem)
	case ".conda", ".bz2":
		if n > 1 && (w[n-2] == "noarch" || condaPlatform.MatchString(w[n-2])) {
			it, ok = condaFile(strings.TrimSuffix(unescapedPath(stem), ".tar"))
		}
	case ".crate":
		return crateFile(stem)
	case ".nupkg":
		return nugetFile(unescapedPath(stem), w)
	case ".hpi", ".jpi":
		return pluginFile(w)
	case ".jar", ".war", ".ear", ".aar", ".pom":
		if it, ok = mavenFile(w); ok && last[dot:] == ".pom" {
			return it, metadata
		}
	}
	if !ok {
		return timeline.Item{}, noPath
	}
	return it, wholeFile
}

// condaPlatform is the folder of a channel that holds packages of one platform.
// https://docs.conda.io/projects/conda-build/en/stable/concepts/generating-index.html
var condaPlatform = regexp.MustCompile(`^(linux|osx|win|freebsd|emscripten|wasi|zos)-[a-z0-9_]+$`)

// condaFile splits name-version-build.
func condaFile(stem string) (timeline.Item, bool) {
	name, version, ok := evidence.SplitCondaBuild(stem)
	if !ok {
		return timeline.Item{}, false
	}
	return evidence.CondaItem(name, version), true
}

// debFile splits name_version_architecture.
// https://www.debian.org/doc/debian-policy/ch-binary.html
func debFile(stem string) (timeline.Item, bool) {
	w := strings.Split(stem, "_")
	if len(w) != 3 || !evidence.IsDebName(w[0]) || !evidence.IsDebVersion(w[1]) || w[2] == "" || strings.Trim(w[2], "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
		return timeline.Item{}, false
	}
	return debItem("", w[0], w[2], w[1]), true
}

// apkFile splits name-version-rN, in a folder that has the architecture's name:
// what Android calls so has neither.
func apkFile(stem, folder string) (timeline.Item, bool) {
	i := strings.LastIndex(stem, "-r")
	if i < 0 || !allDigits([]byte(stem[i+2:])) {
		return timeline.Item{}, false
	}
	j := strings.LastIndexByte(stem[:i], '-')
	if j < 0 || !isAPKName(stem[:j]) || !isAPKVersion(stem[j+1:]) || strings.Trim(folder, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
		return timeline.Item{}, false
	}
	return evidence.SystemItem("apk", "alpine", stem[:j], folder, stem[j+1:]), true
}

// crateFile splits name-version.
// https://doc.rust-lang.org/cargo/reference/registry-index.html
func crateFile(text string) (timeline.Item, pathKind) {
	for i := 1; i+1 < len(text); i++ {
		if text[i] == '-' && isDecimal(text[i+1]) && evidence.IsSemver(text[i+1:]) && evidence.IsDistName(text[:i]) {
			return timeline.Item{Artifact: timeline.PURL("cargo", "", text[:i], text[i+1:])}, wholeFile
		}
	}
	return timeline.Item{}, noPath
}

// nugetFile reads the name of an archive of NuGet, in a folder of its version and
// name or without.
// https://learn.microsoft.com/en-us/nuget/api/package-base-address-resource
func nugetFile(stem string, w []string) (timeline.Item, pathKind) {
	if strings.HasSuffix(stem, ".symbols") {
		return timeline.Item{}, noPath
	}
	name, version, ok := splitNuGet(stem)
	if n := len(w); n > 2 && strings.EqualFold(unescapedPath(w[n-3])+"."+unescapedPath(w[n-2]), stem) {
		name, version, ok = unescapedPath(w[n-3]), unescapedPath(w[n-2]), true
	}
	it, is := evidence.NuGet(name, version)
	if !ok || !is {
		return timeline.Item{}, noPath
	}
	return it, wholeFile
}

// topDomains begin the groups of Maven packages; what stands before is where the
// repository is.
var topDomains = []string{"org", "com", "net", "io", "dev", "de", "fr", "uk", "ru", "cn", "jp", "ch", "at", "nl", "be", "eu", "us", "edu", "gov", "me", "tech", "app", "cloud", "jakarta", "javax", "software", "info", "se", "no", "pl", "it", "es", "br", "in", "au", "ca", "ai", "co"}

// mavenFile reads the layout of Maven repositories. The group begins with a
// domain, or is the artifact's own name (junit/junit).
// https://maven.apache.org/repository/layout.html
func mavenFile(w []string) (timeline.Item, bool) {
	n := len(w)
	if n < 4 {
		return timeline.Item{}, false
	}
	from := slices.IndexFunc(w[:n-3], func(s string) bool { return slices.Contains(topDomains, s) })
	if from < 0 && w[n-4] == w[n-3] {
		from = n - 4
	}
	if from < 0 {
		return timeline.Item{}, false
	}
	return mavenPath(strings.Join(w[from:], "/"))
}

// goPath reads what is asked of a module proxy. A capital letter is written with
// an exclamation mark before it.
// https://go.dev/ref/mod#goproxy-protocol
func goPath(dir, file string) (timeline.Item, pathKind) {
	dir = strings.Trim(unescapedPath(dir), "/")
	for _, mount := range [...]string{"repository/", "api/go/"} { // Nexus, Artifactory: and a repository's name
		if rest, ok := strings.CutPrefix(dir[max(strings.Index(dir, mount), 0):], mount); ok {
			_, dir, _ = strings.Cut(rest, "/")
		}
	}
	w := strings.Split(dir, "/")
	for len(w) > 1 && !strings.Contains(w[0], ".") {
		w = w[1:]
	}
	module := strings.Join(w, "/")
	var plain strings.Builder
	for i := 0; i < len(module); i++ {
		if module[i] == '!' && i+1 < len(module) && module[i+1] >= 'a' && module[i+1] <= 'z' {
			i++
			plain.WriteByte(module[i] - 'a' + 'A')
			continue
		}
		plain.WriteByte(module[i])
	}
	if file == "list" {
		if !strings.Contains(w[0], ".") || strings.ContainsAny(module, "\"'()<>|@?#%, ") {
			return timeline.Item{}, noPath
		}
		return timeline.Item{Artifact: "pkg:golang/" + plain.String()}, indexPage
	}
	kind := wholeFile
	file = unescapedPath(file)
	version, ok := strings.CutSuffix(file, ".zip")
	if !ok {
		kind = metadata
		if version, ok = strings.CutSuffix(file, ".mod"); !ok {
			version, ok = strings.CutSuffix(file, ".info")
		}
	}
	item, is := goModule(plain.String(), strings.ReplaceAll(version, "!", ""))
	if !ok || !is {
		return timeline.Item{}, noPath
	}
	return item, kind
}
