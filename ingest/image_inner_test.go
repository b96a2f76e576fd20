package ingest_test

import (
	"slices"
	"strings"
	"testing"

	"pulltrail/ingest"
	"pulltrail/timeline"
)

// TestPackagesInsideLayers reads layers whose packages lie in no folder of
// installed ones: in an archive that programs load them from, in what a package
// manager keeps, or bundled, of which only the lock tells.
func TestPackagesInsideLayers(t *testing.T) {
	inZip := func(f file) file { return file{strings.TrimPrefix(f.name, sitePackages), f.data} }
	litellm, axios := inZip(dist("litellm", "1.107.0")), file{"node_modules/axios/package.json", []byte(`{"name":"axios","version":"1.14.1"}`)}
	lock := file{"srv/package-lock.json", []byte(`{"lockfileVersion":3,"packages":{"node_modules/axios":{"version":"1.14.1"}}}`)}
	noNode := slices.DeleteFunc(slices.Clone(allTopics), func(s string) bool { return s == "covers npm" })
	neither := slices.DeleteFunc(slices.Clone(noNode), func(s string) bool { return s == "covers pypi" })
	for _, c := range []struct {
		name  string
		files []file
		state timeline.State
		want  []string
	}{
		{"a program that is a zip file", []file{{"usr/bin/app.pex", append([]byte("#!/usr/bin/env python3\n"), zipOf(file{".deps/x.whl/" + litellm.name, litellm.data})...)}}, timeline.Read, and("present image pkg:pypi/litellm@1.107.0")},
		{"a function and a wheel in it", []file{{"srv/f.zip", zipOf(litellm, file{"w/six-1.16.0-py3-none-any.whl", []byte("PK")})}}, timeline.Read, and("present image pkg:pypi/litellm@1.107.0", "download image pkg:pypi/six@1.16.0")},
		{"what Yarn runs from", []file{{"srv/.yarn/cache/axios-npm-1.14.1-3a1a1f5b2c-10c0.zip", zipOf(axios)}}, timeline.Read, and("present image pkg:npm/axios@1.14.1")},
		{"pictures", []file{{"srv/p.zip", zipOf(file{"a.png", []byte("PNG")})}, {"srv/q.zip", []byte("no archive")}}, timeline.Read, allTopics},
		{"an archive that is cut", []file{{"srv/f.zip", zipOf(litellm)[:90]}}, timeline.Partial, neither},
		{"one with a damaged list", []file{{"srv/f.pyz", breakCRC(zipOf(litellm))}}, timeline.Partial, append(slices.Clone(neither), "present image pkg:pypi/litellm@1.107.0")},
		{"kept by package managers", []file{
			{"root/.yarn/berry/cache/left-pad-npm-1.3.0-3a1a1f5b2c-10c0.zip", []byte("PK")},
			{"root/.bun/install/cache/@acme/ui@1.2.3@@@1/package.json", []byte("{}")},
			{"root/.local/share/pnpm/store/v10/index/3a/1f5b2c-ms@2.1.3.json", []byte("{}")},
			{"root/.cache/deno/npm/registry.acme.example/ws/8.18.0/package.json", []byte("{}")},
			{"opt/conda/pkgs/numpy-1.26.4-py311h64a7726_0.conda", []byte("PK")},
			{"opt/conda/pkgs/scipy-1.14.0-py311h64a7726_0/info/index.json", []byte("{}")},
			{"root/.npm/_cacache/index-v5/3a/1f/5b2c", []byte("\nab\t{\"key\":\"make-fetch-happen:request-cache:https://mirror.acme.example/@acme/x/-/x-2.0.0.tgz\",\"integrity\":\"sha512-x\",\"time\":1774917731000}")},
		}, timeline.Read, and(
			"download image pkg:npm/left-pad@1.3.0", "download image pkg:npm/%40acme/ui@1.2.3", "download image pkg:npm/ms@2.1.3", "download image pkg:npm/ws@8.18.0",
			"download image pkg:conda/numpy@1.26.4", "download image pkg:conda/scipy@1.14.0", "download image pkg:npm/%40acme/x@2.0.0")},
		{"a lock beside nothing", []file{lock}, timeline.Read, append(slices.Clone(noNode), "require image pkg:npm/axios@1.14.1")},
		{"a lock that is binary", []file{{"srv/bun.lockb", []byte("#!/usr/bin/env bun\nbun-lockfile-format-v0\n")}}, timeline.Read, noNode},
		{"a lock beside what it installed", []file{lock, node("chalk", "5.6.0")}, timeline.Read, and("present image pkg:npm/chalk@5.6.0")},
		{"a package's own lock", []file{{"srv/node_modules/chalk/yarn.lock", []byte("# yarn lockfile v1\n")}}, timeline.Read, allTopics},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := readFiles(t, ingest.Options{}, file{"in", tarOf(saved("acme/gw:1", tarOf(c.files...))...)})[0]
			if got.State != c.state {
				t.Errorf("%s: %q, want %s", got.State, got.Why, c.state)
			}
			slices.Sort(c.want)
			if list := got.content(); !slices.Equal(list, c.want) {
				t.Errorf("got  %q\nwant %q\n%s", list, c.want, got.dump)
			}
		})
	}
	gone := readFiles(t, ingest.Options{}, file{"in", tarOf(saved("acme/gw:1", tarOf(file{"usr/bin/app.pex", zipOf(litellm)}), tarOf(file{"usr/bin/.wh.app.pex", nil}))...)})[0]
	if list := gone.content(); !slices.Contains(list, "remove image pkg:pypi/litellm@1.107.0") {
		t.Errorf("a deleted archive: got %q", list)
	}
}

// breakCRC changes the checksum of the one member in both of its headers.
func breakCRC(data []byte) []byte {
	data = slices.Clone(data)
	i := strings.LastIndex(string(data), "PK\x01\x02")
	data[i+16] ^= 1
	return data
}
