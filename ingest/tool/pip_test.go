package tool

import (
	"slices"
	"strings"
	"testing"

	"pulltrail/ingest/evidence"
)

func TestPip(t *testing.T) {
	for _, c := range []struct {
		about, text string
		want        []string
	}{
		{"the question alone, cut off", "Collecting litellm", []string{"require 1 pkg:pypi/litellm"}},
		{"another program collects", "Collecting litellm\nall collected", nil},
		{"a known command collects", "Collecting litellm>=1.100 (from x)\nall", []string{"require 1 pkg:pypi/litellm"}},
		{"an installation alone", "Successfully installed litellm-1.107.0", []string{"install 1 pkg:pypi/litellm@1.107.0"}},
		{"a sentence that begins like it", "Successfully installed litellm-1.107.0 would be bad", nil},
		{"a warning that got into the line", "Successfully installed litellm-1.107.0 WARNING: Running pip as root", []string{"install 1 pkg:pypi/litellm@1.107.0"}},
		{"gems", "Successfully installed a-1.0\nSuccessfully installed b_c-2.0\n2 gems installed", []string{"install 1 pkg:gem/a@1.0", "install 2 pkg:gem/b_c@2.0"}},
		{"a gem that is being fetched", "Fetching: a-1.0.gem (100%)\nSuccessfully installed a-1.0\nwhatever", nil},
		{"a cut last word", "Successfully installed a-1.0 litellm-1.", []string{"install 1 pkg:pypi/a@1.0"}},
		{"a download printed twice", "  Downloading a-1.0-py3-none-any.whl (1 kB)\n  Downloading a-1.0-py3-none-any.whl (1 kB)", []string{"download 1 pkg:pypi/a@1.0"}},
		{"a cut file name", "  Downloading a-1.0-py3-none-a", nil},
		{"rests of a bar that no other line explains", "Found existing installation: a 0.48b0;237m━━", nil},
		{"a removal that was not confirmed", "Found existing installation: a 1.0\nProceed (Y/n)? n", []string{"present 1 pkg:pypi/a@1.0"}},
		{
			"a list that was wrapped in the middle of a version", "Collecting a\nSuccessfully installed acme-trace-1.4.2 aiohttp-3.9.0 annotated-0.7.0 lit-1.10\n7.0 openai-1.99.9\ndone",
			[]string{"require 1 pkg:pypi/a", "install 2 pkg:pypi/acme-trace@1.4.2"},
		},
		{
			"a version in the last parentheses only", "Requirement already satisfied: a>=1 in x (from b) (1.2)\nRequirement already satisfied: c in y (from d->e)",
			[]string{"present 1 pkg:pypi/a@1.2"},
		},
	} {
		if got := toolEvents(t, Pip, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.about, got, c.want)
		}
	}
}

// TestPipOtherPrograms wants nothing of Python from words that other programs
// share.
func TestPipOtherPrograms(t *testing.T) {
	const text = `Fetching: knapsack-1.16.0.gem (100%)
Successfully installed knapsack-1.16.0
1 gem installed
Successfully installed dpl-1.10.14
Parsing documentation for dpl-1.10.14
1 gem installed
Successfully installed multipart-post-2.1.1
Successfully installed faraday-0.17.0
2 gems installed
Successfully set up CPython (3.9.25)
Successfully built deadbeef
Successfully installed 3 packages
Collecting package metadata (current_repodata.json): ...working... done
Collecting results
all results collected
Collecting environment information...
collecting ... collected 12 items
Downloading archive: https://mirror.acme.example/python/3.8.tar.bz2
Downloading https://mirror.acme.example/dist/cmake-3.2.1.tar.gz
Downloading from central: https://mirror.acme.example/org/x/x-1.0.jar
Processing triggers for libc-bin (2.36-9) ...
Processing /srv/data/set-1.0.tar.gz
Saved ./report-1.0.zip
Would install 3 packages
ERROR: something else.
Found existing alias for "pip install". You should use: "pip"
Requirement already granted
Uninstalling old things: done
Obtaining lock from server`
	gems := []string{"install 4 pkg:gem/dpl@1.10.14", "install 7 pkg:gem/multipart-post@2.1.1", "install 8 pkg:gem/faraday@0.17.0"}
	if got := toolEvents(t, Pip, text); !slices.Equal(got, gems) {
		t.Errorf("got %q, want %q", got, gems)
	}
	satisfied := "Requirement already satisfied: a in x (1.2)\n"
	want := []string{"present 1 pkg:pypi/a@1.2", "install 2 pkg:gem/dpl@1.10.14"}
	if got := toolEvents(t, Pip, satisfied+"Successfully installed dpl-1.10.14\nParsing documentation for dpl-1.10.14"); !slices.Equal(got, want) {
		t.Errorf("a gem behind an invocation that had nothing to do: got %q", got)
	}
}

func TestUV(t *testing.T) {
	for _, c := range []struct {
		about, text string
		want        []string
	}{
		{
			"colours inside a row are gone, the header too", "Resolved 153 packages in 412ms\n   ━━ 3.1/12.5 MB\n - litellm==1.106.2\n + litellm==1.107.0",
			[]string{"remove 3 pkg:pypi/litellm@1.106.2", "install 4 pkg:pypi/litellm@1.107.0"},
		},
		{"rows without a header are only named", " + a==1\n - b==1\n + b==2\n - c==1\ndone", []string{"resolve 1 pkg:pypi/a@1", "remove 2 pkg:pypi/b@1", "resolve 3 pkg:pypi/b@2"}},
		{"a list in an environment file", "dependencies:\n  - litellm==1.107.0\n  - openai==1.99.9\nname: x", nil},
		{"a count at the end of the log", "Installed 3 packages in 4ms", []string{"opaque 1 pkg:pypi"}},
		{"executables", "Installed 1 executable: ruff", nil},
		{"rows of a plan", "Would uninstall 1 package\nWould install 1 package\n - a==1\n + a==2", []string{"present 3 pkg:pypi/a@1", "resolve 4 pkg:pypi/a@2"}},
		{"a removal under its header", "Uninstalled 1 package in 3ms\n - a==1", []string{"remove 2 pkg:pypi/a@1"}},
		{"a lock's words without a lock", "Added image v1", nil},
		{"an interpreter is no package", "Downloading cpython-3.12.9-linux-x86_64-gnu (20.0MiB)", nil},
	} {
		if got := toolEvents(t, UV, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.about, got, c.want)
		}
	}
}

// fuzzTool wants no more events than lines: each says one thing, and two where
// a row replaces.
func fuzzTool(f *testing.F, format evidence.Format, seeds ...string) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n := len(toolEvents(t, format, text)); n > 2*(strings.Count(text, "\n")+1) {
			t.Errorf("%d events of %q", n, text)
		}
	})
}

func FuzzPip(f *testing.F) {
	fuzzTool(f, Pip, "Collecting a>=1 (from b)\n  Downloading a-1-py3-none-any.whl.metadata (1 kB)\nSuccessfully installed a-1 b-2",
		"Collecting x\nSuccessfully installed x-1\nSuccessfully installed y-1\n> pip\n1 gem installed",
		"Found existing installation: a 1.0m━\nUninstalling a-1.0:━\nProceed (Y/n)? Successfully uninstalled a-1.0m",
		"Processing ./a.tar.gz\nSaved ./a-1.zip\nUsing pip 1 from x\nERROR: No matching distribution \na 1 requires b<1, but you have b 2.")
}

func FuzzUV(f *testing.F) {
	fuzzTool(f, UV, "Resolved 2 packages in 1s\nInstalled 1 package in 1s\n - a==1\n + a==2\nDEBUG Selecting: a==1 [x]",
		" - a==1\n - b==1\n + b==2 (from git+https://x)\nWould install 1 package\n> x\nBuilt a==1\nDownloading a (1.0MiB)")
}

func FuzzPoetry(f *testing.F) {
	fuzzTool(f, Poetry, "Package operations: 1 install, 0 updates, 0 removals\n  - Installing a (1)\n  • Updating b (1 -> 2): x\n- Removing c (1 4f2c)",
		"No dependencies to install or update\n- Downgrading a (2 -> ")
}
