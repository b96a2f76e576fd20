package tool

import (
	"slices"
	"testing"

	"pulltrail/ingest/evidence"
)

// TestLostRows takes rows out of what installers print: the lines that count or
// name them beforehand show it.
func TestLostRows(t *testing.T) {
	for _, c := range []struct {
		about  string
		format evidence.Format
		text   string
		want   []string
	}{
		{"uv, whole", UV, "Resolved 2 packages in 1ms\nInstalled 2 packages in 2ms\n - six==1.15.0\n + six==1.16.0\n + attrs==25.1.0", []string{"remove 3 pkg:pypi/six@1.15.0", "install 4 pkg:pypi/six@1.16.0", "install 5 pkg:pypi/attrs@25.1.0"}},
		{"uv, one row lost", UV, "Resolved 2 packages in 1ms\nInstalled 2 packages in 2ms\n + six==1.16.0", []string{"install 3 pkg:pypi/six@1.16.0", "opaque 2 pkg:pypi"}},
		{"poetry, whole", Poetry, "Package operations: 1 install, 1 update, 0 removals\n\n  - Installing six (1.16.0)\n  - Updating attrs (1.0 -> 25.1.0)", []string{"install 3 pkg:pypi/six@1.16.0", "remove 4 pkg:pypi/attrs@1.0", "install 4 pkg:pypi/attrs@25.1.0"}},
		{"poetry, one row lost", Poetry, "Package operations: 2 installs, 0 updates, 0 removals\n\n  - Installing six (1.16.0)", []string{"install 3 pkg:pypi/six@1.16.0", "opaque 1 pkg:pypi"}},
		{"poetry, one row skipped", Poetry, "Package operations: 2 installs, 0 updates, 0 removals, 1 skipped\n\n  - Installing six (1.16.0)\n  - Installing attrs (25.1.0)\n  - Installing x (1): Skipped for the following reason: Already installed", []string{"install 3 pkg:pypi/six@1.16.0", "install 4 pkg:pypi/attrs@25.1.0", "present 5 pkg:pypi/x@1"}},
		{"pdm, one row lost", PDM, "Synchronizing working set with resolved packages: 2 to add, 0 to update, 0 to remove\n  ✔ Install six 1.16.0 successful\n🎉 All complete!", []string{"install 2 pkg:pypi/six@1.16.0", "opaque 1 pkg:pypi"}},
		{"pip, one name lost", Pip, "Collecting six\nInstalling collected packages: litellm, six\nSuccessfully installed six-1.16.0", []string{"require 1 pkg:pypi/six", "install 3 pkg:pypi/six@1.16.0", "opaque 3 pkg:pypi/litellm"}},
		{"pip, names spelled in two ways", Pip, "Collecting PyYAML\nInstalling collected packages: PyYAML, zope.interface\nSuccessfully installed pyyaml-6.0.2 zope-interface-7.2", []string{"require 1 pkg:pypi/pyyaml", "install 3 pkg:pypi/pyyaml@6.0.2"}},
		{"conda, for pip", Conda, "Collecting package metadata: done\nInstalling pip dependencies: ...working... done", []string{"opaque 2 pkg:pypi"}},
	} {
		if got := toolEvents(t, c.format, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.about, got, c.want)
		}
	}
}
