package tool

import (
	"slices"
	"strings"
	"testing"
)

func TestPodman(t *testing.T) {
	id := strings.Repeat("ab", 32)
	const copied = "Getting image source signatures\nCopying blob sha256:00\nCopying config sha256:cd\nWriting manifest to image destination\nStoring signatures"
	for _, c := range []struct {
		about, text string
		want        []string
	}{
		{"a pull", "Trying to pull quay.io/a/b:1...\n" + copied + "\n" + id, []string{"pull 5 quay.io/a/b:1 sha256:aba config"}},
		{"a pull whose first line has no end", "Trying to pull quay.io/a/b:1..." + copied + "\n" + id, []string{"pull 4 quay.io/a/b:1 sha256:aba config"}},
		{"a pull of which the line before the last is missing", "Trying to pull quay.io/a/b:1...\nGetting image source signatures\nStoring signatures", []string{"pull 3 quay.io/a/b:1"}},
		{"a pull that is followed by something else", "Trying to pull quay.io/a/b:1...\n" + copied + "\nok", []string{"pull 5 quay.io/a/b:1"}},
		{"a registry that has no such image", "Trying to pull docker.io/a/b:1...\nTrying to pull quay.io/a/b:1...\n" + copied, []string{"pull 6 quay.io/a/b:1"}},
		{"a pull that stops", "Trying to pull quay.io/a/b:1...\nGetting image source signatures\nCopying blob sha256:00\nError: no space left", []string{"resolve 1 quay.io/a/b:1"}},
		{"the commit of a build", copied + "\n" + id, nil},
		{"a push", "> podman push localhost/b:1 quay.io/a/b:1\n" + copied, []string{"push 5 quay.io/a/b:1"}},
		{"a push to a folder", "> buildah push quay.io/a/b:1 dir:/tmp/b\n" + copied, nil},
		{"a push of an index", "> buildah push docker://quay.io/a/b:1\n" + copied + "\n> true", []string{"push 5 quay.io/a/b:1"}},
		{
			"a copy of an index", "Trying to pull quay.io/a/b:1...\nGetting image list signatures\n" + copied + "\n" + copied + "\nWriting manifest list to image destination\nStoring list signatures",
			[]string{"pull 13 quay.io/a/b:1"},
		},
		{"prose", "Trying to pull it off...\nWriting manifest to image destination\nCopying files", nil},
	} {
		if got := toolEvents(t, Podman, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.about, got, c.want)
		}
	}
}

func FuzzPodman(f *testing.F) {
	f.Add("Trying to pull quay.io/a/b:1...\nGetting image source signatures\nCopying config sha256:00\nWriting manifest to image destination\n" + strings.Repeat("ab", 32))
	f.Add("> podman push x\nGetting image list signatures\nWriting manifest list to image destination\nSuccessfully pushed x@sha256:00")
	f.Fuzz(func(t *testing.T, text string) {
		if n := len(toolEvents(t, Podman, text)); n > 2*(strings.Count(text, "\n")+1) {
			t.Errorf("%d events of %q", n, text)
		}
	})
}
