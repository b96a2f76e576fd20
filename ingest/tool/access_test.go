package tool

import (
	"slices"
	"testing"
)

func TestPackagePath(t *testing.T) {
	const whole, meta, index, none = wholeFile, metadata, indexPage, noPath
	for path, want := range map[string]struct {
		artifact string
		kind     pathKind
	}{
		"/packages/23/bd/18d1/litellm-1.107.0-py3-none-any.whl":                   {"pkg:pypi/litellm@1.107.0", whole},
		"/packages/23/bd/18d1/litellm-1.107.0-py3-none-any.whl.metadata":          {"pkg:pypi/litellm@1.107.0", meta},
		"/repository/all/packages/python-dateutil/2.9/python-dateutil-2.9.zip":    {"pkg:pypi/python-dateutil@2.9", whole},
		"/whl/cu118/torch-2.0.1%2Bcu118-cp310-cp310-linux_x86_64.whl":             {"pkg:pypi/torch@2.0.1+cu118", whole},
		"/root/pypi/+f/36e/ec59/simplejson-3.3.1.tar.gz":                          {"pkg:pypi/simplejson@3.3.1", whole},
		"/pypi/team/simple/litellm/1.107.0/litellm-1.107.0.tar.gz":                {"pkg:pypi/litellm@1.107.0", whole},
		"/downloads/toolkit-1.0.tar.gz":                                           {"", none},
		"/packages/23/bd/litellm-1.107.0-py3-none-any.whl.asc":                    {"", none},
		"/p2/laravel-lang/lang.json":                                              {"pkg:composer/laravel-lang/lang", index},
		"/p2/laravel-lang/lang~dev.json":                                          {"pkg:composer/laravel-lang/lang", index},
		"/p2/packages.json":                                                       {"", none},
		"/repository/packagist/symfony/console/v7.2.1/symfony-console-v7.2.1.zip": {"pkg:composer/symfony/console@v7.2.1", whole},
		"/dists/acme/billing/2.1.0.0/r4f2c9ab.zip":                                {"pkg:composer/acme/billing@2.1.0", whole},
		"/downloads/acme/billing/2.1.0.0/r4f2c9ab.zip":                            {"", none},
		"/repos/Acme/build/tarball/0e58ed8671d6b60d0890c21b07f8835ace038e67":      {"pkg:github/acme/build@0e58ed8671d6b60d0890c21b07f8835ace038e67", whole},
		"/Acme/build/legacy.tar.gz/0e58ed8671d6b60d0890c21b07f8835ace038e67":      {"pkg:github/acme/build@0e58ed8671d6b60d0890c21b07f8835ace038e67", whole},
		"/acme/forms/zip/refs/tags/v2.1.0":                                        {"pkg:github/acme/forms", whole},
		"/repos/acme/build/zip/v1":                                                {"", none},
		"/acme/build/tarball/v1":                                                  {"", none},
		"/simple/LiteLLM/":                                                        {"pkg:pypi/litellm", index},
		"/root/pypi/+simple/litellm":                                              {"pkg:pypi/litellm", index},
		"/simple/":                                                                {"", none},
		"/simple/a/b/":                                                            {"", none},
		"/pypi/litellm/1.107.0/json":                                              {"pkg:pypi/litellm", index},
		"/@acme/ui/-/ui-1.2.3.tgz":                                                {"pkg:npm/%40acme/ui@1.2.3", whole},
		"/repository/npm/@acme%2fui/-/ui-1.2.3-rc.1.tgz":                          {"pkg:npm/%40acme/ui@1.2.3-rc.1", whole},
		"/left-pad/-/right-pad-1.0.0.tgz":                                         {"", none},
		"/acme/app/-/archive/app-main.tgz":                                        {"", none},
		"/api/npm/npm-remote/@acme/ui/-/@acme/ui-1.2.3.tgz":                       {"pkg:npm/%40acme/ui@1.2.3", whole},
		"/api/packages/acme/npm/@acme%2fui/-/1.2.3/ui-1.2.3.tgz":                  {"pkg:npm/%40acme/ui@1.2.3", whole},
		"/%2540acme/ui/-/ui-1.2.3.tgz":                                            {"pkg:npm/%40acme/ui@1.2.3", whole},
		"/api/npm/npm-remote/left-pad":                                            {"pkg:npm/left-pad", index},
		"/repository/npm-all/@acme%2Fui":                                          {"pkg:npm/%40acme/ui", index},
		"/repository/npm-all/left-pad":                                            {"", none}, // by its path alone
		"/debian/pool/main/c/curl/curl_7.88.1-10%2bdeb12u5_amd64.deb":             {"pkg:deb/curl@7.88.1-10+deb12u5?arch=amd64", whole},
		"/pool/main/g/gone/gone_1.0_all.deb":                                      {"pkg:deb/gone@1.0?arch=all", whole},
		"/Packages/curl-7.76.1-26.el9.x86_64.rpm":                                 {"pkg:rpm/curl@7.76.1-26.el9?arch=x86_64", whole},
		"/Packages/curl-7.76.1-26.el9.src.rpm":                                    {"", none},
		"/v3.19/main/x86_64/curl-8.5.0-r0.apk":                                    {"pkg:apk/alpine/curl@8.5.0-r0?arch=x86_64", whole},
		"/download/app-1.2.apk":                                                   {"", none},
		"/v3-flatcontainer/newtonsoft.json/13.0.1/newtonsoft.json.13.0.1.nupkg":   {"pkg:nuget/newtonsoft.json@13.0.1", whole},
		"/api/nuget/acme/Acme.Lib.2.1.0.4.nupkg":                                  {"pkg:nuget/Acme.Lib@2.1.0.4", whole},
		"/nuget/acme.lib.2.1.0.snupkg":                                            {"", none}, // its symbols
		"/flat2/acme.lib/2.1.0/acme.lib.nuspec":                                   {"", none},
		"/gems/rake-13.0.6.gem":                                                   {"pkg:gem/rake@13.0.6", whole},
		"/api/v1/crates/serde/1.0.203/download":                                   {"pkg:cargo/serde@1.0.203", whole},
		"/maven2/org/acme/lib/1.2/lib-1.2.jar":                                    {"pkg:maven/org.acme/lib@1.2", whole},
		"/maven2/org/acme/lib/1.2/lib-1.2.pom":                                    {"pkg:maven/org.acme/lib@1.2", meta},
		"/maven2/org/acme/lib/1.2/other-1.2.jar":                                  {"", none},
		"/github.com/!acme/lib/@v/v1.2.3.zip":                                     {"pkg:golang/github.com/Acme/lib@v1.2.3", whole},
		"/repository/go/github.com/acme/lib/@v/v1.2.3.mod":                        {"pkg:golang/github.com/acme/lib@v1.2.3", meta},
		"/github.com/acme/lib/@v/list":                                            {"pkg:golang/github.com/acme/lib", index},
	} {
		item, kind := packagePath(path)
		if kind != none && !serves([]byte(path)) {
			t.Errorf("%s is passed over", path)
		}
		if kind != want.kind || item.Artifact != want.artifact {
			t.Errorf("%s: %s %d", path, item.Artifact, kind)
		}
	}
}

// TestWeakAnswers holds requests whose answer moved nothing that the log shows:
// they are asks, and never nothing.
func TestWeakAnswers(t *testing.T) {
	const wheel, sha = "/packages/ab/litellm-1.107.0-py3-none-any.whl", "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	for _, c := range []struct {
		about, request, rest string
		want                 []string
	}{
		{"sent to a store", "GET " + wheel, `302 0 "-" "pip/25.2"`, []string{"resolve 1 pkg:pypi/litellm@1.107.0"}},
		{"broke off", "GET " + wheel, `499 1000 "-" "pip/25.2"`, []string{"resolve 1 pkg:pypi/litellm@1.107.0"}},
		{"not there", "GET " + wheel, `404 0 "-" "pip/25.2"`, nil},
		{"a page that moved", "GET /simple/litellm", `301 0 "-" "pip/25.2"`, nil},
		{"for somebody behind a proxy", "GET " + wheel, `200 12000000 "-" "pip/25.2" "10.20.9.5, 10.0.0.3"`, []string{"download 1 pkg:pypi/litellm@1.107.0", "resolve 1 pkg:pypi/litellm@1.107.0"}},
		{"for nobody else", "GET " + wheel, `200 12000000 "-" "pip/25.2" "-"`, []string{"download 1 pkg:pypi/litellm@1.107.0"}},
		{"a manifest elsewhere", "GET /v2/berriai/litellm/manifests/main-latest", `307 0 "-" "docker/27"`, []string{"check 1 berriai/litellm:main-latest"}},
		{"a blob of an image whose manifest is not in the log", "GET /v2/berriai/litellm/blobs/" + sha, `200 4000 "-" "docker/27"`, []string{"check 1 berriai/litellm " + sha[:10]}},
	} {
		text := `10.0.0.1 - - [21/Oct/2026:12:40:11 +0000] "` + c.request + ` HTTP/1.1" ` + c.rest
		if got := toolEvents(t, Access, text); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.about, got, c.want)
		}
	}
}

// TestNotCombined holds lines that come close to an access line.
func TestNotCombined(t *testing.T) {
	for _, line := range []string{
		`10.0.2.1:59838 - - [Tue, 16 Apr 2024 06:21:39 UTC] "GET /readiness HTTP/1.1" kube-probe/1.27`,
		`127.0.0.1:39759 [09/Dec/2013:12:59:46.633] lb default/i8 0/51536/1/48082/99627 200 83285 - - ---- 87/87/87/1/0 0/0 "GET / HTTP/1.1"`,
		`[21/Oct/2026:12:10:03 +0000] "GET /simple/litellm/ HTTP/1.1" x`,
		`10.0.0.1 - - [32/Oct/2026:12:10:03 +0000] "GET / HTTP/1.1" 200 1`,
		`10.0.0.1 - - [21/Oct/2026:12:10:03 +00:00:00] "GET / HTTP/1.1" 200 1`,
		`10.0.0.1 x y [21/Oct/2026:12:10:03 +0000] "GET / HTTP/1.1" 200 1`,
		`10.0.0.1 - - [21/Oct/2026:12:10:03 +0000] "GET / HTTP/1.1" 2000 1`,
		`10.0.0.1 - - [21/Oct/2026:12:10:03 +0000] "GET / HTTP/1.1`,
		`10.0.0.1 - - [`, `[`, `- `, `10`,
	} {
		var r request
		if r.combined([]byte(line)) {
			t.Errorf("%q was read as %s %s %d", line, r.method, r.uri, r.status)
		}
	}
}

func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"10.20.0.31:54492": "10.20.0.31", "[2001:db8::1]:42144": "2001:db8::1", "2001:db8::1": "2001:db8::1",
		"127.0.0.1": "127.0.0.1", "runner": "runner", "": "", "[": "[",
	} {
		if got := string(address([]byte(text))); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
