package tool

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// toolEvents reads a text through one tool; a line that starts with "> " is an
// echoed command. It returns "action line artifact digests".
func toolEvents(t *testing.T, f evidence.Format, text string) []string {
	t.Helper()
	var out []string
	m := evidence.NewMachine([]evidence.Format{f})
	r := m.NewReading("x.log", timeline.Subject{}, timeline.Subject{}, evidence.Times{}, func(b *timeline.Batch) error {
		for _, e := range b.Events {
			s := fmt.Sprintf("%s %d %s", e.Action, e.Line, e.Items[0].Artifact)
			for _, d := range e.Items[0].Digests {
				s += " " + d.Value[:10] + " " + string(d.Role)
			}
			out = append(out, strings.TrimSpace(s))
		}
		return nil
	})
	for i, line := range strings.Split(text, "\n") {
		command, echo := strings.CutPrefix(line, "> ")
		r.Line(&evidence.Line{Text: []byte(command), No: int64(i + 1), Echo: echo})
	}
	if _, err := r.Finish(timeline.Span{}); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDockerArgument(t *testing.T) {
	for _, c := range []struct {
		args, image string
		detached    bool
	}{
		{"redis:7", "redis:7", false},
		{"-d redis:7", "redis:7", true},
		{"-dit --rm redis:7 sh -d", "redis:7", true},
		{"--detach --name x -p 1:2 -e A=b redis:7", "redis:7", true},
		{"--detach=false redis:7", "redis:7", false},
		{"-itv /d:/d redis:7", "redis:7", false},
		{"-v/d:/d -u1000:1000 redis:7", "redis:7", false},
		{"-t -d -u 1000:1000 -w /ws --volumes-from abc -e ******** redis:7 cat", "redis:7", true},
		{"--network=ci -- redis:7", "redis:7", false},
		{"-d", "", true},
		{"-d --new-option redis:7 sh", "", false},
		{"--name", "", false},
	} {
		image, detached := dockerArgument(strings.Fields(c.args))
		if image != c.image || detached != c.detached {
			t.Errorf("docker run %s: got %q, detached %t", c.args, image, detached)
		}
	}
}

func TestDocker(t *testing.T) {
	id1, id2 := strings.Repeat("ab", 32), strings.Repeat("cd", 32)
	for _, c := range []struct {
		about, text string
		want        []string
	}{
		{"a detached run that answers", "> docker run -d redis:7\n" + id1, []string{"run 2 docker.io/library/redis:7"}},
		{"a run in the foreground prints what it likes", "> docker run redis:7\n" + id1, nil},
		{"an ID that nobody asked for", id1, nil},
		{
			"a script that was echoed as a whole", "> docker network create ci\n> docker run -d redis:7\n> docker run -d postgres:16\nok\n" + id2 + "\n" + id1 + "\n" + strings.Repeat("ef", 32),
			[]string{"run 6 docker.io/library/redis:7", "run 7 docker.io/library/postgres:16"},
		},
		{"a script with branches", "> if test -n \"$A\"; then\n> docker run -d redis:7\n> else\n> docker run -d postgres:16\n> fi\n" + id1, nil},
		{
			"a run that failed", "> docker run -d redis:7\n> docker run -d postgres:16\ndocker: Error response from daemon: Conflict.\n" + id1,
			[]string{"run 4 docker.io/library/postgres:16"},
		},
		{"create is no run, start is one", "> docker create redis:7\n" + id1 + "\n> docker start " + id1 + "\n" + id1, []string{"run 4 docker.io/library/redis:7"}},
		{"a digest of something else", "Digest: sha256:" + id1 + "\n1\n2\n3\n4\n5\n6\n7\n8\n9\nStatus: Downloaded newer image for redis:7", []string{"pull 11 docker.io/library/redis:7"}},
		{"all tags", "Status: Downloaded newer image for ubuntu", []string{"pull 1 docker.io/library/ubuntu"}},
		{"another status", "Status: Downloaded newer image for \nStatus: ok", nil},
		{"a pull that never ended", "Using default tag: latest\nlatest: Pulling from library/redis\na3ed95caeb02: Pulling fs layer", []string{"resolve 2 library/redis:latest"}},
		{"a push without its first line", "1: digest: sha256:" + id1 + " size: 3", nil},
		{"a push", "The push refers to repository [quay.io/a/b]\n\n1: digest: sha256:" + id1 + " size: 3", []string{"push 3 quay.io/a/b:1 sha256:aba"}},
	} {
		if got := toolEvents(t, Docker, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.about, got, c.want)
		}
	}
}

func FuzzDocker(f *testing.F) {
	f.Add("> docker run -d redis:7\n" + strings.Repeat("ab", 32))
	f.Add("The push refers to repository [quay.io/a/b]\n1: digest: sha256:" + strings.Repeat("ab", 32) + " size: 3")
	f.Add("Unable to find image 'x' locally\nlatest: Pulling from library/x\nDigest: sha256:00\nStatus: Downloaded newer image for x")
	f.Add("> sudo docker -- 'a\n> docker run -\n> docker image\n> docker start && docker create x ||")
	f.Fuzz(func(t *testing.T, text string) {
		if n := len(toolEvents(t, Docker, text)); n > 2*(strings.Count(text, "\n")+1) {
			t.Errorf("%d events of %q", n, text)
		}
	})
}
