package document

import (
	"net/url"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// GitHubPackages is what the API says of the versions of a container package:
// the images of ghcr.io, or of an enterprise server's registry.
// https://docs.github.com/en/rest/packages/packages
var GitHubPackages = evidence.Format{
	Name:   "github-packages",
	Shape:  evidence.DocumentShape,
	Title:  "GitHub API: versions of a container package",
	Proves: "which digest each tag of an image stands for when the list was made, and since when at the earliest",
	Cannot: "who pushed or pulled it; what tags stood for before",
	Doc:    "https://docs.github.com/en/rest/packages/packages#list-package-versions-for-a-package-owned-by-an-organization",
	Sample: "written by hand after the documentation",
	Claim:  claimGitHubPackages,
	Read:   readGitHubPackages,
}

// claimGitHubPackages wants the fields that only such a version has.
func claimGitHubPackages(h *evidence.Head) bool {
	v, ok := headRecord(h)
	return ok && v.has("name") && v.has("metadata") && v.has("package_html_url") && v.get("metadata").has("package_type")
}

// readGitHubPackages reads a page of the API, or several:
//
//	[{"id": 836, "name": "sha256:b3d3…", "url": "https://api.github.com/orgs/acme/packages/container/api/versions/836",
//	  "package_html_url": "https://github.com/orgs/acme/packages/container/package/api", "created_at": "2026-10-21T12:10:00Z",
//	  "updated_at": "2026-10-21T12:10:02Z", "metadata": {"package_type": "container", "container": {"tags": ["1.4", "latest"]}}}]
func readGitHubPackages(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	o.Seen("")
	for _, v := range all {
		digest := timeline.SHA256(v.get("name").text())
		at(d, o, v.get("name"))
		name, ok := githubImage(v.get("url").text())
		if v.get("metadata", "package_type").text() != "container" {
			continue
		}
		if digest == "" || !ok {
			o.Skip("a version without a digest, or without an address that names its package")
			continue
		}
		span := timeline.Always()
		if from := v.get("updated_at").stamp(o); from.Clock == timeline.Exact {
			span.From, span.Clock = from.From, timeline.Section // the list is of some time later
		}
		for tag := range v.get("metadata", "container", "tags").elements() {
			if image := timeline.NormalizeImage(name + ":" + tag.text()); image != "" {
				o.LinkOver(span, timeline.Names, image, digest)
			}
		}
	}
	return err
}

// githubImage is the image that an address of the API speaks of:
//
//	https://api.github.com/orgs/acme/packages/container/api/versions/836
//	https://github.acme.example/api/v3/orgs/acme/packages/container/team%2Fapi/versions/836
func githubImage(address string) (name string, ok bool) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return "", false
	}
	words := strings.Split(strings.TrimPrefix(u.EscapedPath(), "/api/v3"), "/") // "", orgs, acme, packages, container, api, versions, 836
	if len(words) < 7 || words[3] != "packages" || words[4] != "container" {
		return "", false
	}
	pkg, err := url.PathUnescape(words[5])
	if err != nil || pkg == "" || words[2] == "" {
		return "", false
	}
	host := "containers." + u.Host
	if u.Host == "api.github.com" {
		host = "ghcr.io"
	}
	return host + "/" + strings.ToLower(words[2]) + "/" + strings.ToLower(pkg), true
}
