package frame

import (
	"bytes"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// collapsed is what a runner puts behind the first line of a command of several
// lines. The others are not shown: they are a script that nobody sees, unless
// that line makes the shell trace them.
//
//	$ set -e # collapsed multi-line command
//	$ set -ex # collapsed multi-line command
//
// https://docs.gitlab.com/ci/yaml/script/#split-long-commands
func (t *trace) collapsed(l *evidence.Line, o *evidence.Out) {
	first, ok := bytes.CutSuffix(bytes.TrimRight(l.Text, " \r"), []byte("# collapsed multi-line command"))
	if !ok || traces(string(first)) {
		return
	}
	o.Event(timeline.Event{Action: timeline.Opaque, Items: []timeline.Item{{Artifact: timeline.Anything}}})
}

// traces reports whether a command makes the shell print each command.
//
//	set -euxo pipefail    set -o xtrace
func traces(command string) bool {
	words := strings.Fields(command)
	if len(words) < 2 || words[0] != "set" {
		return false
	}
	return slices.ContainsFunc(words[1:], func(w string) bool {
		return w == "xtrace" || strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.Contains(w, "x")
	})
}
