package document

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// all lists the formats of this package.
var all = []evidence.Format{
	Container, Image, DockerList, Pods, DistInfo, EggInfo, CondaMeta, NodePackage, DpkgStatus, APKInstalled, Freeze, Requirements, PipShow, PipList, PipReport, PyProject, UVLock, PoetryLock, PyLock,
	CycloneDX, SPDX, ImageIndex, ImageManifest, ImageConfig, History,
	GitHubRun, GitHubJobs, HTTPAnswer, GitHubWorkflow,
	CIConfig, GitHubSecrets, GitLabVariables, CircleCISecrets, CircleCIJob, CircleCIVariables, BuildkiteBuild, BuildkiteLog, BuildkiteSecrets, JenkinsBuild, JenkinsCredentials, AWSReport, LiteLLMConfig, LiteLLMTables, LiteLLMDatabase, KubernetesSecrets, ComposeFile, SystemdUnit, DotEnv, Environment, CredentialList,
}

// reading is what a format made of a document.
type reading struct {
	events []timeline.Event
	skips  []timeline.Skip
	links  []timeline.Link
	covers []timeline.Coverage
	err    error
}

func (r reading) lines() []string {
	var all []string
	for _, e := range r.events {
		all = append(all, timeline.Notation(e)...)
	}
	return all
}

func newDoc(path, data string) *evidence.Doc {
	sum := sha256.Sum256([]byte(data))
	return &evidence.Doc{Head: newHead(path, data), Data: []byte(data), SHA256: "sha256:" + hex.EncodeToString(sum[:])}
}

func newHead(path, data string) evidence.Head {
	return evidence.Head{Path: path, Name: filepath.Base(path), Dir: filepath.Base(filepath.Dir(path)), Bytes: []byte(data[:min(len(data), 64<<10)])}
}

var machine = evidence.NewMachine(nil)

func read(f evidence.Format, path, data, claim string) (r reading) {
	var who timeline.Subject
	if claim != "" {
		who, _ = timeline.ParseSubject(claim)
	}
	in := machine.NewReading(path, who, timeline.Subject{}, evidence.Times{}, func(b *timeline.Batch) error {
		r.events = append(r.events, b.Events...)
		r.skips = append(r.skips, b.Skips...)
		r.links = append(r.links, b.Links...)
		r.covers = append(r.covers, b.Coverage...)
		return nil
	})
	r.err = f.Read(newDoc(path, data), &in.Out)
	if _, err := in.Finish(timeline.Span{}); err != nil {
		r.err = err
	}
	return r
}

// samplesOf returns path and content of the samples of a format.
func samplesOf(t testing.TB, f evidence.Format) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir("../../testdata/formats/"+f.Name, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".golden") {
			return err
		}
		data, err := os.ReadFile(path)
		found[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestClaims reads the samples of every format against all others: each is
// claimed by its own format alone.
func TestClaims(t *testing.T) {
	for _, f := range all {
		for path, data := range samplesOf(t, f) {
			h := newHead(path, data)
			for _, other := range all {
				if got, want := other.Claim(&h), other.Name == f.Name; got != want {
					t.Errorf("%s claims %s: %v, want %v", other.Name, path, got, want)
				}
			}
		}
	}
}

// hostile are documents that somebody could have prepared, or that were cut.
var hostile = []string{
	"", " ", "null", "[]", "{}", "[null]", "[[]]", "true", "\"x\"", "{", "[", "[{", "{\"", "{\"Id\":", "{\"Id\"", "[{\"Id\":\"", "}{", "]", ",", ":", "{,}", "{\"a\":}",
	"{\"Id\":1e999,\"RepoTags\":-1,\"State\":[],\"Image\":{}}",
	`[{"Id":null,"RepoTags":{},"RepoDigests":"x","State":{"Running":"yes","StartedAt":5},"Image":7,"Config":{"Env":{"A":"b"},"Image":[]}}]`,
	`{"kind":"Pod","apiVersion":"v1","metadata":null,"spec":{"containers":[null,1,{"name":5}]},"status":{"containerStatuses":"x"}}`,
	`{"kind":"PodList","apiVersion":"v1","items":{"a":1}}`,
	`{"bomFormat":"CycloneDX","metadata":{"component":[]},"components":[1,null,{"purl":5},{"purl":"pkg:"},{"purl":"pkg:pypi/"},{"purl":"pkg:pypi/%zz@1"}],"compositions":5}`,
	`{"SPDXID":"SPDXRef-DOCUMENT","packages":[null,{"externalRefs":{}}],"relationships":{},"documentDescribes":5}`,
	`{"schemaVersion":2,"manifests":[{"digest":5,"mediaType":1}],"config":[],"layers":{}}`,
	`{"architecture":1,"os":2,"history":[null,{"created":99999999999999999999,"created_by":["x"]}],"rootfs":{"diff_ids":[1,"sha256:zz"]}}`,
	strings.Repeat("[", 20000), strings.Repeat(`{"components":[`, 20000), strings.Repeat(`{"Id":`, 20000),
	"[[package]]\nname = 5\nversion = []\n[[package]]\nname = \"x\"\nversion = \"1\"\nwheels = {}\nsource = 7\n",
	"[project]\ndependencies = \"x\"\n[tool.poetry.dependencies]\nx = 5\n", "[[[", "a = ", "a.b.c = 1\na.b = {", "= = =",
	"Name: \nVersion: \n", "Package Version\n------- -------\nx\n", "x==\n-e\n@\n[]\n; x\n\\\n", "\\", "-r", "--hash=sha256:00",
	"IMAGE 0", "IMAGE  CREATED BY  SIZE\nx", "ID CREATED  CREATED BY \nx y", "IMAGE  CREATED  CREATED BY  SIZE\n\n \nx\n\xff",
	"Metadata-Version: 2.1\nName:\nVersion:\n", ",,,\nx.pth\nx.pth,sha256=!!\n", "\xff\xfe\x00", "\r\n\r\n",
}

// TestHostile gives every format what no tool wrote: nothing strong may come of
// it, and nothing may break.
func TestHostile(t *testing.T) {
	for _, f := range all {
		for _, data := range hostile {
			h := newHead("x-1.0.dist-info/METADATA", data)
			f.Claim(&h)
			for _, path := range []string{"x", "x-1.0.dist-info/direct_url.json", "x-1.0.dist-info/RECORD", "x-1.0.dist-info/METADATA"} {
				for _, e := range read(f, path, data, "host:h").events {
					if e.Action != timeline.Present && e.Action != timeline.Require {
						t.Errorf("%s makes %v of %.60q", f.Name, timeline.Notation(e), data)
					}
				}
			}
		}
	}
}

// TestNestedTooDeep reads no deeper than the bound: each level is walked again.
func TestNestedTooDeep(t *testing.T) {
	data := `{"bomFormat":"CycloneDX","components":` + strings.Repeat(`[{"purl":"pkg:pypi/x@1","components":`, 2000) + "[]" + strings.Repeat("}]", 2000) + "}"
	r := read(CycloneDX, "x", data, "")
	if len(r.skips) != 1 || len(r.events) != maxNesting+1 {
		t.Errorf("%d skips, %d events", len(r.skips), len(r.events))
	}
}

// TestCut keeps what stood before a cut, and says that something is missing.
func TestCut(t *testing.T) {
	for _, f := range []evidence.Format{Container, Image, Pods, CycloneDX, SPDX, SPDXTags} {
		for path, data := range samplesOf(t, f) {
			whole := read(f, path, data, "host:h")
			cut := read(f, path, data[:len(data)*3/4], "host:h")
			if cut.err == nil {
				t.Errorf("%s: a cut is no error", path)
			}
			if len(cut.events) > len(whole.events) {
				t.Errorf("%s: %d events when cut, %d whole", path, len(cut.events), len(whole.events))
			}
			if f.Name == "cyclonedx" || f.Name == "spdx" || f.Name == "spdx-tag-value" {
				if len(cut.covers) > 0 {
					t.Errorf("%s: a list that is cut covers nothing", path)
				}
			}
		}
	}
}

func TestEvents(t *testing.T) {
	const id = "4f1c9d2e7ab05c83d6f1e0b9a8c7d6e5f4a3b2c1d0e9f8a7b6c5d4e3f2a1b0c9"
	for _, c := range []struct {
		name, path, data, claim string
		format                  evidence.Format
		want                    []string
	}{
		{
			"an old Docker's image ID is no digest, and its short form no name", "config.json",
			`{"State":{"Running":true,"StartedAt":"2016-01-07T16:49:08.6Z"},"ID":"` + id + `","Config":{"Image":"577149231a20"},` +
				`"Image":"577149231a2084bf93bd3b39cf13f7b9c29627571632e3d385b31b363fb469f3"}`, "host:dock1", Container,
			[]string{"2016-01-07T16:49:08.6Z run container:dock1/4f1c9d2e7ab0 - config.json:1"},
		},
		{
			"a digest in the name of the image", "c.json",
			`{"State":{"Running":true,"StartedAt":"2026-10-21T12:00:00Z"},"Id":"` + id + `","Image":"x","Config":{"Image":"ghcr.io/acme/gw@sha256:` + id + `"}}`, "", Container,
			[]string{"2026-10-21T12:00:00Z run container:4f1c9d2e7ab0 ghcr.io/acme/gw@sha256:" + id + " c.json:1 digest=sha256:" + id},
		},
		{
			"folder and headers of two spellings", "v/x-1.0.dist-info/METADATA", "Metadata-Version: 2.1\r\nName: X\r\nVersion: 1.0.0\r\n\r\nVersion: 9\r\n", "host:h", DistInfo,
			[]string{".. present host:h pkg:pypi/x@1.0.0 v/x-1.0.dist-info/METADATA:3"},
		},
		{
			"a file that runs at every start", "v/x-1.0.dist-info/RECORD",
			"x.pth,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\nx-1.0.dist-info/RECORD,,\n", "host:h", DistInfo,
			[]string{
				".. present host:h pkg:pypi/x@1.0 v/x-1.0.dist-info/RECORD:2",
				".. present host:h file:x.pth v/x-1.0.dist-info/RECORD:1 digest=sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 role=file",
			},
		},
		{
			"a list of no image by digest belongs to the claim", "b.json",
			`{"bomFormat":"CycloneDX","metadata":{"component":{"type":"container","name":"ghcr.io/acme/gw","version":"1.4"}},"components":[{"purl":"pkg:pypi/x@1"}]}`,
			"image:ghcr.io/acme/gw:1.4", CycloneDX,
			[]string{".. present image:ghcr.io/acme/gw:1.4 pkg:pypi/x@1 b.json:1"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := read(c.format, c.path, c.data, c.claim).lines()
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

// TestIncompleteListClearsNothing: a list with a package that cannot be told
// may hold any package.
func TestIncompleteListClearsNothing(t *testing.T) {
	const head = `{"bomFormat":"CycloneDX","metadata":{"component":{"type":"container","version":"sha256:77b20c37f36f178f2101aaf714e756c134bda38f0103511cf2bcc47ca8ec9a04"}},`
	for data, covers := range map[string]bool{
		head + `"components":[{"type":"library","purl":"pkg:pypi/x@1"}]}`:                                                              true,
		head + `"components":[{"type":"library","purl":"pkg:pypi/x@1"},{"type":"library","name":"y"}]}`:                                false,
		head + `"components":[{"type":"library","purl":"pkg:pypi/x@1"},{"type":"library","purl":"y"}]}`:                                false,
		head + `"components":[{"type":"library","purl":"pkg:pypi/x@1"}],"compositions":[{"aggregate":"incomplete_first_party_only"}]}`: false,
	} {
		if r := read(CycloneDX, "b.json", data, ""); (len(r.covers) > 0) != covers {
			t.Errorf("covers %v for %s", r.covers, data)
		}
	}
}

func TestHoldsSecret(t *testing.T) {
	for env, want := range map[string]bool{
		"OPENAI_API_KEY=x": true, "DB_PASSWORD=x": true, "GITHUB_TOKEN=": true, "SENTRY_DSN=x": true, "DATABASE_URL=x": true, "PGPASS=x": true,
		"AWS_SECRET_ACCESS_KEY=x": true, "UPSTREAM=https://u:p@mirror.acme.example": true, "STRIPE_KEY=x": true,
		"PATH=/usr/bin": false, "LOG_LEVEL=info": false, "GPG_KEY=A035C8C19219BA821ECEA86B64E628F8D684696D": false, "KEYBOARD=us": false,
		"HOME=/root": false, "": false, "PYTHON_VERSION=3.12": false, "MONKEY_MODE=1": false,
	} {
		name, val, _ := strings.Cut(env, "=")
		if got := holdsSecret(name, val); got != want {
			t.Errorf("holdsSecret(%q) = %v", env, got)
		}
	}
}
