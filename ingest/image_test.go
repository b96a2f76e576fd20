package ingest_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/klauspost/compress/zstd"

	"pulltrail/ingest"
	"pulltrail/timeline"
)

const sitePackages = "usr/lib/python3.12/site-packages/"

func dist(name, version string) file {
	return file{sitePackages + name + "-" + version + ".dist-info/METADATA", []byte("Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n")}
}

func node(name, version string) file {
	return file{"srv/node_modules/" + name + "/package.json", []byte(`{"name":"` + name + `","version":"` + version + `"}`)}
}

func digestOf(data []byte) string { return fmt.Sprintf("sha256:%x", sha256.Sum256(data)) }

func blob(data []byte) file {
	return file{"blobs/sha256/" + strings.TrimPrefix(digestOf(data), "sha256:"), data}
}

func configOf(layers ...[]byte) []byte {
	var diffs []string
	for _, l := range layers {
		diffs = append(diffs, `"`+digestOf(l)+`"`)
	}
	return []byte(`{"architecture":"amd64","os":"linux","config":{},"rootfs":{"type":"layers","diff_ids":[` + strings.Join(diffs, ",") + `]}}`)
}

// saved is what docker save writes of one image.
func saved(tag string, layers ...[]byte) []file {
	config := blob(configOf(layers...))
	out := []file{{"manifest.json", []byte(`[{"Config":"` + config.name + `","RepoTags":["` + tag + `"],"Layers":[]}]`)}, config}
	for _, l := range layers {
		out = append(out, blob(l))
	}
	return out
}

func ociManifest(config []byte, layers ...[]byte) []byte {
	var list []string
	for _, l := range layers {
		list = append(list, fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":%d}`, types.OCILayer, digestOf(l), len(l)))
	}
	return fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":%q,"config":{"mediaType":%q,"digest":%q,"size":%d},"layers":[%s]}`,
		types.OCIManifestSchema1, types.OCIConfigJSON, digestOf(config), len(config), strings.Join(list, ","))
}

func ociIndex(manifests ...string) []byte {
	return fmt.Appendf(nil, `{"schemaVersion":2,"mediaType":%q,"manifests":[%s]}`, types.OCIImageIndex, strings.Join(manifests, ","))
}

func descriptor(t types.MediaType, data []byte, platform, more string) string {
	return fmt.Sprintf(`{"mediaType":%q,"digest":%q,"size":%d,"platform":{"architecture":"x","os":%q}%s}`, t, digestOf(data), len(data), platform, more)
}

// content lists what an outcome says of images, without paths: action, subject
// cut to 12 hex, artifact.
func (o outcome) content() []string {
	var out []string
	for line := range strings.Lines(o.dump) {
		words := strings.Fields(line)
		if words[0] == "covers" {
			out = append(out, "covers "+words[2])
		}
		if words[0] == "event" && (strings.HasPrefix(words[4], "pkg:") || strings.HasPrefix(words[4], "file:")) {
			out = append(out, words[2]+" "+strings.SplitN(words[3], ":", 2)[0]+" "+words[4])
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

var allTopics = []string{"covers apk", "covers composer", "covers conda", "covers deb", "covers npm", "covers pypi", "covers vscode-extension"}

func and(lines ...string) []string {
	all := append(slices.Clone(allTopics), lines...)
	slices.Sort(all)
	return all
}

func zst(data []byte) []byte {
	w, err := zstd.NewWriter(nil)
	check(err)
	return w.EncodeAll(data, nil)
}

func linked(name, to string) []byte { return link(name, to, tar.TypeLink) }

func symlinked(name, to string) []byte { return link(name, to, tar.TypeSymlink) }

func link(name, to string, kind byte) []byte {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	check(w.WriteHeader(&tar.Header{Name: name, Linkname: to, Typeflag: kind}))
	check(w.Close())
	return b.Bytes()
}

func TestImageArchives(t *testing.T) {
	base, app := tarOf(dist("pip", "25.2")), tarOf(dist("litellm", "1.107.0"), node("chalk", "5.6.1"))
	pip, litellm, chalk := "present image pkg:pypi/pip@25.2", "present image pkg:pypi/litellm@1.107.0", "present image pkg:npm/chalk@5.6.1"
	with := func(layers ...[]byte) []byte { return tarOf(saved("acme/gw:1", layers...)...) }
	without := func(n int) []byte {
		all := saved("acme/gw:1", base, app)
		return tarOf(slices.Delete(all, n, n+1)...)
	}
	reversed := saved("acme/gw:1", base, app)
	slices.Reverse(reversed)
	damaged := saved("acme/gw:1", base, app)
	damaged[3].data = bytes.Replace(damaged[3].data, []byte("Version: 1.107.0"), []byte("Version: 1.106.2"), 1)
	for _, c := range []struct {
		name  string
		data  []byte
		state timeline.State
		why   string
		want  []string
	}{
		{"two layers", with(base, app), timeline.Read, "", and(pip, litellm, chalk)},
		{"list last, config behind layers", tarOf(reversed...), timeline.Read, "", and(pip, litellm, chalk)},
		{"compressed as a whole", gz(with(base, app)), timeline.Read, "", and(pip, litellm, chalk)},
		{"inside another archive", tarOf(file{"image.tar", with(base, app)}), timeline.Read, "", and(pip, litellm, chalk)},
		{"a folder of it", tarOf(append(inDir("img", saved("acme/gw:1", base)...), file{"a.log", []byte(installed)})...), timeline.Read, "", and("install source pkg:pypi/idna@3.10", "require source pkg:pypi/idna", pip)},
		{"no packages", with(tarOf(file{"etc/motd", []byte("hi")})), timeline.Read, "", allTopics},
		{"a layer without files", with(base, make([]byte, 1024)), timeline.Read, "", and(pip)},
		{"no layers", with(), timeline.Read, "", allTopics},

		{"layer missing", without(3), timeline.Partial, "layer 2 of 2", []string{pip}},
		{"config missing", without(1), timeline.Partial, "is not in the archive", []string{
			"present source pkg:npm/chalk@5.6.1", "present source pkg:pypi/litellm@1.107.0", "present source pkg:pypi/pip@25.2",
		}},
		{"layer damaged", tarOf(damaged...), timeline.Partial, "damaged: its bytes have the digest sha256:", []string{
			"present image pkg:pypi/pip@25.2", "present source pkg:npm/chalk@5.6.1", "present source pkg:pypi/litellm@1.106.2",
		}},
		{"archive cut in a layer", cutBefore(with(base, app), "Version: 1.107.0"), timeline.Partial, "cut", []string{pip}},
		{"a layer that unpacks to too much", tarOf(saved("acme/gw:1", base, zst(tarOf(file{"zeros", make([]byte, 80<<20)})))...), timeline.Partial, "times its size", []string{pip}},
		{"layer cut", with(base, app[:540]), timeline.Partial, "cut", []string{pip}},
		{
			"one broken list", with(base, tarOf(dist("litellm", "1.107.0"), file{"srv/node_modules/x/package.json", []byte("{")})), timeline.Partial, "broken JSON",
			[]string{"covers apk", "covers composer", "covers conda", "covers deb", "covers pypi", "covers vscode-extension", litellm, pip},
		},

		{"deleted file", with(app, tarOf(file{sitePackages + "litellm-1.107.0.dist-info/.wh.METADATA", nil})), timeline.Read, "", and(litellm, chalk, "remove image pkg:pypi/litellm@1.107.0")},
		{"deleted folder above", with(app, tarOf(file{".wh.usr", nil})), timeline.Read, "", and(litellm, chalk, "remove image pkg:pypi/litellm@1.107.0")},
		{"emptied folder", with(app, tarOf(file{"srv/.wh..wh..opq", nil}, node("ms", "2.1.3"))), timeline.Read, "", and(litellm, chalk, "present image pkg:npm/ms@2.1.3", "remove image pkg:npm/chalk@5.6.1")},
		{
			"a wheel that was deleted was not uninstalled", with(tarOf(file{"w/litellm-1.107.0-py3-none-any.whl", []byte("PK")}), tarOf(file{".wh.w", nil})),
			timeline.Read, "", and("download image pkg:pypi/litellm@1.107.0"),
		},
		{"deleted only below", with(tarOf(file{".wh.usr", nil}), app), timeline.Read, "", and(litellm, chalk)},
		{"another name of the same start", with(app, tarOf(file{".wh.us", nil}, file{"srv/.wh.node", nil})), timeline.Read, "", and(litellm, chalk)},
		{"root emptied", with(app, tarOf(file{".wh..wh..opq", nil})), timeline.Read, "", and(litellm, chalk, "remove image pkg:npm/chalk@5.6.1", "remove image pkg:pypi/litellm@1.107.0")},

		{
			"a wheel, and a file that runs at every start", with(tarOf(file{"wheels/litellm-1.107.0-py3-none-any.whl", []byte("PK")}, file{sitePackages + "litellm_init.pth", nil}, file{"srv/notes.pth", nil})),
			timeline.Read, "", and("download image pkg:pypi/litellm@1.107.0", "present image file:/"+sitePackages+"litellm_init.pth"),
		},

		{"hard link that names its package", with(linked(sitePackages+"litellm-1.107.0.dist-info/METADATA", "cache/4f0c")), timeline.Read, "", and(litellm)},
		{
			"hard link that does not", with(linked("srv/node_modules/chalk/package.json", "store/4f0c")), timeline.Partial, "a link to a file",
			[]string{"covers apk", "covers composer", "covers conda", "covers deb", "covers pypi", "covers vscode-extension"},
		},
		{"symbolic link to a list that a cache holds", with(symlinked(sitePackages+"litellm-1.107.0.dist-info/METADATA", "/cache/4f0c")), timeline.Read, "", and(litellm)},
		{"symbolic link to the folder of one", with(symlinked(sitePackages+"litellm-1.107.0.dist-info", "../../../../cache/4f0c")), timeline.Read, "", and(litellm)},
		{
			"symbolic link to a package that is not named", with(symlinked("srv/node_modules/chalk/package.json", "/store/4f0c")), timeline.Partial, "a link to a file",
			[]string{"covers apk", "covers composer", "covers conda", "covers deb", "covers pypi", "covers vscode-extension"},
		},
		{"symbolic links to folders of packages", with(app, symlinked("a/node_modules/chalk", "../../srv/node_modules/chalk")), timeline.Read, "", and(litellm, chalk)},
		{"hard link to what was read", with(app, linked("a/node_modules/chalk/package.json", "srv/node_modules/chalk/package.json")), timeline.Read, "", and(litellm, chalk)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := readFiles(t, ingest.Options{}, file{"in", c.data})[0]
			if got.State != c.state || !strings.Contains(got.Why, c.why) {
				t.Errorf("%s: %q, want %s: %q", got.State, got.Why, c.state, c.why)
			}
			if list := got.content(); !slices.Equal(list, c.want) {
				t.Errorf("got  %q\nwant %q\n%s", list, c.want, got.dump)
			}
		})
	}
}

func inDir(dir string, files ...file) []file {
	out := slices.Clone(files)
	for i := range out {
		out[i].name = dir + "/" + out[i].name
	}
	return out
}

// TestImageIndex: an archive of one platform of many is whole; one that lacks
// all of them is not. A statement about an image is no image.
func TestImageIndex(t *testing.T) {
	layer := tarOf(dist("pip", "25.2"))
	config := configOf(layer)
	manifest := ociManifest(config, layer)
	statement := []byte(`{"_type":"https://in-toto.io/Statement/v0.1","predicateType":"https://slsa.dev/provenance/v0.2","subject":[]}`)
	about := []byte(`{"architecture":"unknown","os":"unknown","config":{},"rootfs":{"type":"layers","diff_ids":["` + digestOf(statement) + `"]}}`)
	attest := ociManifest(about, statement)
	ours := descriptor(types.OCIManifestSchema1, manifest, "linux", "")
	other := descriptor(types.OCIManifestSchema1, []byte("other"), "windows", "")
	attested := descriptor(types.OCIManifestSchema1, attest, "unknown", `,"annotations":{"vnd.docker.reference.type":"attestation-manifest"}`)
	index := ociIndex(ours, other, attested)
	root := ociIndex(descriptor(types.OCIImageIndex, index, "linux", `,"annotations":{"io.containerd.image.name":"docker.io/acme/gw:1","org.opencontainers.image.ref.name":"1"}`))
	layout := file{"oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)}
	whole := []file{layout, {"index.json", root}, blob(index), blob(manifest), blob(config), blob(layer), blob(attest), blob(about), blob(statement)}

	got := readFiles(t, ingest.Options{}, file{"in", tarOf(whole...)})[0]
	if want := and("present image pkg:pypi/pip@25.2"); got.State != timeline.Read || !slices.Equal(got.content(), want) {
		t.Errorf("%s %q: got %q, want %q", got.State, got.Why, got.content(), want)
	}
	if want := "present image:" + digestOf(config) + " docker.io/acme/gw:1 "; !strings.Contains(got.dump, want) {
		t.Errorf("no %q in\n%s", want, got.dump)
	}
	for name, files := range map[string][]file{
		"no manifest of the index": {layout, {"index.json", root}, blob(index)},
		"no index":                 {layout, {"index.json", root}, blob(manifest), blob(config), blob(layer)},
		"no config":                {layout, {"index.json", root}, blob(index), blob(manifest), blob(layer)},
	} {
		if got := readFiles(t, ingest.Options{}, file{"in", tarOf(files...)})[0]; got.State != timeline.Partial || !strings.Contains(got.Why, "not in the archive") && !strings.Contains(got.dump, "skip") {
			t.Errorf("%s: %s %q", name, got.State, got.Why)
		}
	}
}

// TestSharedLayer: a layer of two images is read once, and each of them has
// what it holds.
func TestSharedLayer(t *testing.T) {
	layer := tarOf(dist("pip", "25.2"))
	one, two := configOf(layer), configOf(layer, make([]byte, 1024))
	got := readFiles(t, ingest.Options{}, file{"in", tarOf(blob(one), blob(two), blob(layer), blob(make([]byte, 1024)))})[0]
	for _, config := range [][]byte{one, two} {
		if want := "present image:" + digestOf(config) + " pkg:pypi/pip@25.2 "; strings.Count(got.dump, want) != 1 {
			t.Errorf("want %q once in\n%s", want, got.dump)
		}
	}
}

// TestImageOfHost: an archive that was saved on a host shows that the host has
// the image.
func TestImageOfHost(t *testing.T) {
	layer := tarOf(dist("pip", "25.2"))
	got := readFiles(t, ingest.Options{Subject: timeline.Subject{Kind: timeline.Host, ID: "h"}}, file{"in", tarOf(saved("acme/gw:1", layer)...)})[0]
	for _, want := range []string{
		"present host:h docker.io/acme/gw:1 ", "present image:" + digestOf(configOf(layer)) + " pkg:pypi/pip@25.2 ",
	} {
		if !strings.Contains(got.dump, want) {
			t.Errorf("no %q in\n%s", want, got.dump)
		}
	}
}

// TestImageFolder reads a folder with a layer missing, and again when it is
// there; logs beside it are read as ever.
func TestImageFolder(t *testing.T) {
	layer := tarOf(dist("pip", "25.2"))
	config := configOf(layer)
	manifest := ociManifest(config, layer)
	t.Chdir(t.TempDir())
	write := func(f file) {
		check(os.MkdirAll(filepath.Dir(f.name), 0o700))
		check(os.WriteFile(f.name, f.data, 0o600))
	}
	root := ociIndex(descriptor(types.OCIManifestSchema1, manifest, "linux", ""))
	for _, f := range inDir("e/img", file{"oci-layout", []byte(`{"imageLayoutVersion":"1.0.0"}`)}, file{"index.json", root}, blob(manifest), blob(config)) {
		write(f)
	}
	write(file{"e/pip.log", []byte(installed)})
	db, err := timeline.Create("case")
	check(err)
	defer db.Close()
	for _, want := range []string{"partial changed", "read changed", "read same"} {
		res, err := ingest.Run(t.Context(), db, []string{"e"}, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(res.Files) != 2 {
			t.Fatalf("%d sources, want the layout and the log", len(res.Files))
		}
		got := string(res.Files[0].State) + map[bool]string{true: " changed", false: " same"}[res.Files[0].Changed]
		if got != want || res.Files[0].Path != "e/img/index.json" {
			t.Errorf("%s: %s %q, want %s", res.Files[0].Path, got, res.Files[0].Why, want)
		}
		write(inDir("e/img", blob(layer))[0])
	}
	var b bytes.Buffer
	check(db.Dump(&b))
	if want := "pkg:pypi/pip@25.2 e/img/" + blob(layer).name + "!" + dist("pip", "25.2").name + ":3"; !strings.Contains(b.String(), want) {
		t.Errorf("no %q in\n%s", want, b.String())
	}
}

// TestOtherWriters reads what go-containerregistry writes: its files have other
// names than those of docker.
func TestOtherWriters(t *testing.T) {
	layer := static.NewLayer(gz(tarOf(dist("pip", "25.2"))), types.DockerLayer)
	img, err := mutate.AppendLayers(empty.Image, compressedOnly{layer, tarOf(dist("pip", "25.2"))})
	check(err)
	ref, err := name.NewTag("ghcr.io/acme/gw:1")
	check(err)
	var b bytes.Buffer
	check(tarball.Write(ref, img, &b))
	got := readFiles(t, ingest.Options{}, file{"in", b.Bytes()})[0]
	if want := and("present image pkg:pypi/pip@25.2"); got.State != timeline.Read || !slices.Equal(got.content(), want) {
		t.Errorf("%s %q: got %q, want %q", got.State, got.Why, got.content(), want)
	}
}

// compressedOnly is a static layer that knows its diff ID.
type compressedOnly struct {
	v1.Layer
	content []byte
}

func (l compressedOnly) DiffID() (v1.Hash, error) { return v1.NewHash(digestOf(l.content)) }
