package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// composerPath reads what is asked of an index of Composer, and the archives of
// those that store them; mostly these come from the host of the repository.
//
//	/p2/laravel-lang/lang.json    /p2/laravel-lang/lang~dev.json
//	/repository/packagist/symfony/console/v7.2.1/symfony-console-v7.2.1.zip       Nexus
//	/dists/acme/billing/2.1.0.0/r4f2c9ab.zip                                       Private Packagist
//
// https://packagist.org/apidoc
func composerPath(w []string) (timeline.Item, pathKind) {
	n := len(w)
	if n < 3 {
		return timeline.Item{}, noPath
	}
	if short, ok := strings.CutSuffix(w[n-1], ".json"); ok && w[n-3] == "p2" {
		short = strings.TrimSuffix(unescapedPath(short), "~dev")
		if it, ok := evidence.Composer(w[n-2]+"/"+short, ""); ok {
			return it, indexPage
		}
		return timeline.Item{}, noPath
	}
	if n < 4 || !strings.HasSuffix(w[n-1], ".zip") {
		return timeline.Item{}, noPath
	}
	vendor, short, version := w[n-4], w[n-3], unescapedPath(w[n-2])
	named := unescapedPath(w[n-1]) == vendor+"-"+short+"-"+version+".zip"
	if !named && (n < 5 || w[n-5] != "dists") {
		return timeline.Item{}, noPath
	}
	if !named && strings.Count(version, ".") == 3 { // of the release, as Composer compares it
		version = strings.TrimSuffix(version, ".0")
	}
	it, ok := composerItem(vendor+"/"+short, version)
	if !ok {
		return timeline.Item{}, noPath
	}
	return it, wholeFile
}

// githubArchive reads the path of a repository's files at a commit, tag or branch,
// as the runner fetches actions and Composer packages, and the path of the host
// that it is sent on to:
//
//	/repos/acme/build-action/tarball/0e58ed8671d6b60d0890c21b07f8835ace038e67
//	/acme/build-action/legacy.tar.gz/0e58ed8671d6b60d0890c21b07f8835ace038e67
//	/acme/forms/zip/refs/tags/v2.1.0
//
// https://docs.github.com/en/rest/repos/contents#download-a-repository-archive-tar
func githubArchive(w []string) (timeline.Item, bool) {
	api := len(w) > 4 && w[0] == "repos"
	if api {
		w = w[1:]
	}
	if len(w) < 4 {
		return timeline.Item{}, false
	}
	switch w[2] {
	case "tarball", "zipball":
		if !api {
			return timeline.Item{}, false
		}
	case "tar.gz", "zip", "legacy.tar.gz", "legacy.zip":
		if api {
			return timeline.Item{}, false
		}
	default:
		return timeline.Item{}, false
	}
	ref := unescapedPath(strings.Join(w[3:], "/"))
	ref = strings.TrimPrefix(strings.TrimPrefix(ref, "refs/tags/"), "refs/heads/")
	a, ok := evidence.ParseCIAction([]byte(w[0] + "/" + w[1] + "@" + ref))
	if !ok {
		return timeline.Item{}, false
	}
	return a.Item(""), true
}
