package frame

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

func FuzzGitHub(f *testing.F) { fuzz(f, GitHub) }

// githubLines gives each line a time; lines that start with '|' get none.
func githubLines(lines ...string) string {
	var b strings.Builder
	for i, l := range lines {
		if rest, ok := strings.CutPrefix(l, "|"); ok {
			b.WriteString(rest + "\n")
		} else {
			fmt.Fprintf(&b, "2026-10-20T09:14:%02d.0000003Z %s\n", i, l)
		}
	}
	return b.String()
}

// readGitHub reads a job's log through the frame and shell, and lists "action line
// what".
func readGitHub(t *testing.T, text string) (events []string, totals evidence.Totals, covers int) {
	t.Helper()
	tool := evidence.Format{
		Name: "shell", Shape: evidence.ToolShape, Starts: []string{"got "}, Commands: true,
		Tool: func() evidence.Parser { return shell{} },
	}
	m := evidence.NewMachine([]evidence.Format{GitHub, tool})
	r := m.NewReading("0_build.txt", timeline.Subject{}, timeline.Subject{}, evidence.Times{}, func(b *timeline.Batch) error {
		for _, e := range b.Events {
			what := e.Items[0].Artifact
			if what == "" {
				what = e.Items[0].Ref
			}
			events = append(events, fmt.Sprintf("%s %d %s", e.Action, e.Line, what))
		}
		for _, c := range b.Coverage {
			if c.Whole {
				covers++
			}
		}
		return nil
	})
	r.Claimed(GitHub.Name, &evidence.Head{Path: "0_build.txt", Name: "0_build.txt", Bytes: []byte(text)})
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		r.Line(&evidence.Line{Text: []byte(line), No: int64(i + 1)})
	}
	totals, err := r.Finish(timeline.Span{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(events)
	return events, totals, covers
}

func TestGitHubSteps(t *testing.T) {
	for _, c := range []struct {
		about string
		lines []string
		want  []string
	}{
		{
			"the script repeats the title: one command",
			[]string{"##[group]Run get a", "get a", "get b", "shell: bash", "##[endgroup]", "got b"},
			[]string{"install 6 got b", "opaque 3 get b", "require 1 get a", "require 3 get b"},
		},
		{"a title alone", []string{"##[group]Run get a", "##[endgroup]", "got a"}, []string{"install 3 got a", "require 1 get a"}},
		{"a title whose script is missing", []string{"##[group]Run get a", "got a"}, []string{"install 2 got a", "require 1 get a"}},
		{
			"a command of two lines",
			[]string{"##[group]Run get a \\", "get a \\", "  b", "shell: bash", "##[endgroup]", "got b"},
			[]string{"install 6 got b", "require 3 get a    b"},
		},
		{
			"settings are no output",
			[]string{"##[group]Run get a", "get a", "shell: bash", "env:", "  X: got z", "|got y", "##[endgroup]"},
			[]string{"opaque 1 get a", "require 1 get a"},
		},
		{"a message without a stamp is output", []string{"##[group]Run get a", "##[endgroup]", "|got a"}, []string{"install 3 got a", "require 1 get a"}},
		{
			"an action at no known commit",
			[]string{"##[group]Run acme/a/b@v1", "with:", "  token: ***", "##[endgroup]"},
			[]string{"hold 3 secret:token", "run 1 pkg:github/acme/a"},
		},
		{
			"an action at its commit",
			[]string{"Download action repository 'acme/a@v1' (SHA:08eba0b27e820071cde6df949e0beb9ba4906955)", "##[group]Run acme/a@v1"},
			[]string{"run 2 pkg:github/acme/a@08eba0b27e820071cde6df949e0beb9ba4906955"},
		},
		{
			"what looks like an action, but is a script",
			[]string{"##[group]Run ./a/b@v1", "./a/b@v1", "shell: bash", "##[endgroup]"},
			[]string{"opaque 2 ./a/b@v1", "require 2 ./a/b@v1"},
		},
		{
			"colours whose first byte was lost",
			[]string{"##[group]Run true", "[36;1mtrue[0m", "[36;1mget a[0m", "shell: bash", "##[endgroup]"},
			[]string{"opaque 1 true", "opaque 3 get a", "require 1 true", "require 3 get a"},
		},
		{
			"what pip is to install",
			[]string{"##[group]Run acme/prepare@v1", "with:", "  requirements: dev.txt", "  python-packages: a b", "  requirements: false", "##[endgroup]"},
			[]string{"opaque 3 pip install -r dev.txt", "opaque 4 pip install a b", "require 3 pip install -r dev.txt", "require 4 pip install a b", "run 1 pkg:github/acme/prepare"},
		},
		{
			"what Composer is to install",
			[]string{"##[group]Run shivammathur/setup-php@v2", "with:", "  tools: composer:v2, phpunit, vimeo/psalm:5", "  php-version: 8.4", "##[endgroup]"},
			[]string{"opaque 3 composer global require vimeo/psalm:5", "require 3 composer global require vimeo/psalm:5", "run 1 pkg:github/shivammathur/setup-php"},
		},
		{"a local action", []string{"##[group]Run ./.github/actions/x", "with:", "  a: b", "##[endgroup]"}, nil},
		{"an image as a step", []string{"##[group]Run docker://alpine:3.20", "##[endgroup]"}, []string{"run 1 docker.io/library/alpine:3.20"}},
		{
			"an action's own commands",
			[]string{"[command]/usr/bin/get a", "##[command]get b"},
			[]string{"opaque 1 /usr/bin/get a", "opaque 2 get b", "require 1 /usr/bin/get a", "require 2 get b"},
		},
		{
			"a container that did not start",
			[]string{
				"##[group]Starting db service container", "##[command]/usr/bin/docker pull acme/db:1",
				"##[command]/usr/bin/docker start 463c009f7949d9e30456244c5b75329d3f2cd485ffd70f58079c3f90234ce487", "Error response from daemon: no space", "##[endgroup]",
			},
			[]string{"opaque 2 /usr/bin/docker pull acme/db:1", "require 2 /usr/bin/docker pull acme/db:1"},
		},
	} {
		if got, _, _ := readGitHub(t, githubLines(c.lines...)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.about, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func TestGitHubCoverage(t *testing.T) {
	start, named, step, end := "Current runner version: '2.332.0'", "Complete job name: build", "##[group]Run get a", "Cleaning up orphan processes"
	for _, c := range []struct {
		about   string
		lines   []string
		covers  int
		partial bool
	}{
		{"whole", []string{start, named, step, end, "##[warning]old"}, 1, false},
		{"without its end", []string{start, named, step}, 0, true},
		{"without its start", []string{step, end}, 0, true},
		{"cut while the job is set up", []string{start, "Secret source: Actions"}, 0, true},
		{"the step file that sets up", []string{start, named}, 0, false},
		{"the step file that cleans up", []string{end}, 0, false},
		{"an excerpt", []string{step, "got a"}, 0, false},
		{"no step at all", []string{start, named, end}, 1, false},
		{"no step, and an action for one", []string{start, "Download action repository 'actions/checkout@v4' (SHA:11bd71901bbe5b1630ceea73d27597364c9af683)", named, end}, 0, true},
		{"two logs in one file", []string{start, named, step, end, start, named, step, end}, 1, false},
		{"two logs, the first one cut", []string{start, named, step, start, named, step, end}, 0, true},
	} {
		_, totals, covers := readGitHub(t, githubLines(c.lines...))
		if covers != c.covers || (totals.Partial != "") != c.partial {
			t.Errorf("%s: %d rows of coverage, %q", c.about, covers, totals.Partial)
		}
	}
}

func TestGitHubLogsThatMeet(t *testing.T) {
	start, end := []string{"Current runner version: '2.332.0'", "Complete job name: build", "##[group]Run true", "##[endgroup]"}, []string{"Cleaning up orphan processes"}
	whole := slices.Concat(start, end)
	for _, c := range []struct {
		about  string
		lines  []string
		covers int
	}{
		{"one", whole, 1},
		{"two whole ones", slices.Concat(whole, whole), 1},
		{"the first without its end", slices.Concat(start, whole), 0},
		{"the first without its start", slices.Concat(start[1:], end, whole), 0},
		{"the first without its end, the second without its first line", slices.Concat(start, start[1:], end), 0},
		{"the second without its start", slices.Concat(whole, start[1:], end), 0},
		{"the second with only its last steps", slices.Concat(whole, start[2:], end), 0},
	} {
		if _, totals, covers := readGitHub(t, githubLines(c.lines...)); covers != c.covers || (totals.Partial == "") != (c.covers > 0) {
			t.Errorf("%s: covers %d, partial %q", c.about, covers, totals.Partial)
		}
	}
}
