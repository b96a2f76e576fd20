package frame

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// shell stands for a tool that reads commands: each is an ask, and an opaque
// one when nothing answers it; "got X" answers.
type shell struct{}

func (shell) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		op, _ := o.Command("shell", string(l.Text), false, []timeline.Item{{Ref: string(l.Text)}})
		o.Emit(timeline.Require, op, timeline.Item{Ref: string(l.Text)})
		return evidence.Done
	}
	op := o.Invocation("shell")
	op.Answer()
	o.Emit(timeline.Install, op, timeline.Item{Ref: string(l.Text)})
	return evidence.Done
}

func (shell) End(timeline.OpState, *evidence.Out) {}

// read reads a text through the builders and shell.
func read(t *testing.T, text string) timeline.Batch {
	t.Helper()
	tool := evidence.Format{
		Name: "shell", Shape: evidence.ToolShape, Starts: []string{"got "}, Commands: true,
		Tool: func() evidence.Parser { return shell{} },
	}
	var all timeline.Batch
	m := evidence.NewMachine([]evidence.Format{BuildKit, DockerBuild, tool})
	r := m.NewReading("build.log", timeline.Subject{}, timeline.Subject{}, evidence.Times{}, func(b *timeline.Batch) error {
		all.Events = append(all.Events, b.Events...)
		all.Ops = append(all.Ops, b.Ops...)
		return nil
	})
	for i, line := range strings.Split(text, "\n") {
		r.Line(&evidence.Line{Text: []byte(line), No: int64(i + 1)})
	}
	if _, err := r.Finish(timeline.Span{}); err != nil {
		t.Fatal(err)
	}
	return all
}

// summary lists "action line ref op(state, of parent)".
func summary(b timeline.Batch) []string {
	ops := map[int64]timeline.Op{}
	for _, op := range b.Ops {
		ops[op.Number] = op
	}
	var out []string
	for _, e := range b.Events {
		op := ops[e.Op]
		out = append(out, fmt.Sprintf("%s %d %q %s of %s", e.Action, e.Line, e.Items[0].Ref, op.State, ops[op.Parent].Tool))
	}
	slices.Sort(out)
	return out
}

func TestBuildKitOperations(t *testing.T) {
	for _, c := range []struct {
		about, text string
		want        []string
	}{
		{"a reused step ran before", "#5 [2/2] RUN --mount=type=cache,target=/x pip install  x\n#5 CACHED\n#6 DONE 0.1s", []string{
			`cached 2 "RUN pip install x" cached of buildkit`,
			`opaque 1 "pip install x" cached of buildkit`,
			`require 1 "pip install x" cached of buildkit`,
		}},
		{"steps that print in turns", "#8 [a 1/2] RUN get a\n#8 ...\n\n#9 [b 1/2] RUN get b\n#9 0.1 got b\n#9 DONE 0.2s\n\n#8 [a 1/2] RUN get a\n#8 0.9 got a\n#8 DONE 1.0s", []string{
			`install 5 "got b" open of buildkit`,
			`install 9 "got a" open of buildkit`,
			`require 1 "get a" open of buildkit`,
			`require 4 "get b" open of buildkit`,
		}},
		{"a log that ends inside a step", "#8 [a 1/2] RUN get a\n#8 0.1 thinking\n#9 [b 1/2] RUN get b\n#9 0.1 got b\n#9 DONE 0.2s", []string{
			`install 4 "got b" open of buildkit`,
			`opaque 1 "get a" cut of buildkit`,
			`require 1 "get a" cut of buildkit`,
			`require 3 "get b" open of buildkit`,
		}},
		{"the next build has its own steps", "#1 [internal] load build definition from Dockerfile\n#1 DONE 0.0s\n#2 [1/1] RUN get a\n#2 DONE 0.1s\n" +
			"#1 [internal] load build definition from Dockerfile\n#1 DONE 0.0s\n#2 [1/1] RUN get a\n#2 0.1 got a\n#2 DONE 0.1s", []string{
			`install 8 "got a" open of buildkit`,
			`opaque 3 "get a" open of buildkit`,
			`require 3 "get a" open of buildkit`,
			`require 7 "get a" open of buildkit`,
		}},
		{"a command that goes on in the next line", "#1 [1/1] RUN get one and \nother\n#1 0.1 got one and one and ano\nther\n\n#1 DONE 0.1s", []string{
			`install 3 "got one and one and another" open of buildkit`,
			`require 1 "get one and other" open of buildkit`,
		}},
		{"what is no build", "#1 fix the build\n#12 [docs\n#123456 [1/2] RUN get a\n# 1 [1/2] RUN get a\n#1: DONE", nil},
	} {
		if got := summary(read(t, c.text)); !slices.Equal(got, c.want) {
			t.Errorf("%s: got\n%s\nwant\n%s", c.about, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// TestBuildKitBase checks what a FROM step proves.
func TestBuildKitBase(t *testing.T) {
	d := "sha256:" + strings.Repeat("ab", 32)
	row := "\n#5 sha256:" + strings.Repeat("cd", 32)
	for _, c := range []struct{ rows, want string }{
		{"\n#5 DONE 0.0s", "present"},
		{"\n#5 CACHED", "cached"},
		{"\n#5 DONE 0.1s", "resolve"},
		{"\n#5 resolve x@" + d + " done\n#5 DONE 0.0s", "cached"},
		{"\n#5 resolve x@" + d + " done", "resolve"},
		{row + " 1.13kB / 1.13kB done\n#5 DONE 0.3s", "resolve"},
		{row + " 29.5MB / 29.5MB 2.4s done\n#5 DONE 0.3s", "pull"},
		{row + " 32B / 32B done\n#5 extracting sha256:" + strings.Repeat("cd", 32) + " done\n#5 DONE 0.3s", "pull"},
		{row + " 10MB / 29.5MB 2.4s\n#5 DONE 0.3s", "resolve"},
		{row + " 29.5MB / 29.5MB 2.4s done\n#5 CANCELED", "resolve"},
		{row + " 29.5MB / 29.5MB 2.4s done", "resolve"},
	} {
		b := read(t, "#5 [1/2] FROM docker.io/library/x:1@"+d+c.rows)
		if len(b.Events) != 1 || b.Events[0].Action.String() != c.want || b.Events[0].Items[0].Artifact != "docker.io/library/x:1@"+d {
			t.Errorf("FROM with %q: got %v, want one %s", c.rows, b.Events, c.want)
		}
	}
}

func FuzzBuildKit(f *testing.F) {
	f.Add("#5 [2/2] RUN get a\n#5 0.1 got a\n#5 DONE 0.1s")
	f.Add("#1 [internal] load metadata for docker.io/library/x:1\n#6 naming to x\n#6 pushing manifest for x@sha256:00 done\n#6 DONE 1s")
	f.Add("#1 DONE \n\n#1 \n#1 CACHED\nx\n#0 building with x")
	f.Fuzz(func(t *testing.T, text string) {
		lines := int64(strings.Count(text, "\n") + 1)
		for _, e := range read(t, text).Events {
			if e.Line < 1 || e.Line > lines || len(e.Items) == 0 {
				t.Errorf("an event that stands nowhere: %+v", e)
			}
		}
	})
}
