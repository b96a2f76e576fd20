package timeline

import (
	"math/rand"
	"reflect"
	"strings"
	"testing"
)

func TestNotation(t *testing.T) {
	at, err := ParseSpan("2026-10-21T12:04:51Z")
	if err != nil {
		t.Fatal(err)
	}
	subject := Subject{Job, "github:acme/api/runs/812/attempts/2/jobs/build"}
	for _, c := range []struct {
		event Event
		want  string
	}{
		{
			Event{
				Action: Install, Subject: subject, Span: at, Items: []Item{{Artifact: "pkg:pypi/litellm@1.107.0"}},
				Origin: Origin{Path: "run.zip!0_build.txt", Line: 412},
			},
			"2026-10-21T12:04:51Z install job:github:acme/api/runs/812/attempts/2/jobs/build pkg:pypi/litellm@1.107.0 run.zip!0_build.txt:412",
		},
		{
			Event{Action: Require, Subject: Subject{Host, "prod 3"}, Span: Always(), Items: []Item{{Artifact: "pkg:npm/%40scope/a", Ref: ">=5, <6"}}},
			".. require host:prod%203 pkg:npm/%40scope/a ref=>=5,%20<6",
		},
		{
			Event{
				Action: Pull, Subject: Subject{Host, "h"}, Span: Span{From: Beginning, To: at.To, Clock: Unset},
				Items: []Item{{Artifact: "ghcr.io/a/b:v1", Digests: []Digest{{"sha256:aa", Index}, {"sha256:bb", NoRole}}}},
			},
			"../2026-10-21T12:04:51Z pull host:h ghcr.io/a/b:v1 digest=sha256:aa role=index digest=sha256:bb",
		},
		{Event{Action: Opaque, Subject: Subject{Host, "h"}, Span: at, Items: []Item{{}}}, "2026-10-21T12:04:51Z opaque host:h -"},
		{
			Event{Action: Present, Subject: Subject{Host, "h"}, Span: at, Items: []Item{{Artifact: "file:/a%20b%"}}, Origin: Origin{Path: "a:5"}},
			"2026-10-21T12:04:51Z present host:h file:/a%2520b% a:5:0",
		},
		{
			Event{Action: Present, Subject: Subject{Host, "h"}, Span: at, Items: []Item{{Artifact: "x\u00a0\x1b\n"}}, Origin: Origin{Path: "ref=a b", Line: 1}},
			"2026-10-21T12:04:51Z present host:h x\u00a0%1B%0A ./ref=a%20b:1",
		},
	} {
		if got := Notation(c.event); len(got) != 1 || got[0] != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
		back, err := ParseNotation(c.want)
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		if strings.HasPrefix(c.event.Path, "ref=") {
			c.event.Path = "./" + c.event.Path
		}
		if !reflect.DeepEqual(back, c.event) {
			t.Errorf("%s is read as\n%+v, want\n%+v", c.want, back, c.event)
		}
	}
}

func TestParseNotationRefuses(t *testing.T) {
	for _, line := range []string{
		"", "2026-10-21T12:04:51Z install host:h", "yesterday install host:h a", "2026-10-21T12:04:51 install host:h a",
		"2026-10-21T12:04:51Z got host:h a", "2026-10-21T12:04:51Z install h a", "2026-10-21T12:04:51Z install host: a",
		"2026-10-21T12:04:51Z install who:h a", "2026-10-21T12:04:51Z install host:h a b c",
		"2026-10-21T12:04:51Z/2026-10-21T12:04:50Z install host:h a",
	} {
		if e, err := ParseNotation(line); err == nil {
			t.Errorf("%q is read as %+v", line, e)
		}
	}
}

// Whatever an event says, its notation says the same.
func TestNotationRoundTrip(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	pieces := []string{"a", "%", "2", "0", "5", "%20", "%25", "%7f", " ", "\n", "\x00", "\x7f", ":", "=", "/", "@", "ref=", "\u00a0", "é", "\xff", "+", "-"}
	word := func(prefix string) string {
		var b strings.Builder
		b.WriteString(prefix)
		for range r.Intn(8) {
			b.WriteString(pieces[r.Intn(len(pieces))])
		}
		return b.String()
	}
	for range 20_000 {
		e := Event{
			Action: Action(1 + r.Intn(int(endOfActions)-1)), Subject: Subject{kinds[r.Intn(len(kinds))], word("s")},
			Span: Span{From: r.Int63n(1 << 62), Clock: Exact}, Items: []Item{{Artifact: word("a"), Ref: word("")}},
		}
		e.Span.To = e.Span.From
		if r.Intn(2) == 0 {
			e.Span = Span{From: -r.Int63n(1 << 60), To: r.Int63n(1 << 60), Clock: Section}
		}
		if r.Intn(2) == 0 {
			e.Path, e.Line = word("p"), r.Int63n(3)
		}
		for range r.Intn(3) {
			e.Items[0].Digests = append(e.Items[0].Digests, Digest{word("d"), []Role{NoRole, Index, Commit}[r.Intn(3)]})
		}
		line := Notation(e)[0]
		back, err := ParseNotation(line)
		if err != nil || !reflect.DeepEqual(back, e) {
			t.Fatalf("%q is read as\n%+v (%v), want\n%+v", line, back, err, e)
		}
	}
}

func FuzzNotation(f *testing.F) {
	f.Add("2026-10-21T12:04:51Z install job:x pkg:pypi/litellm@1.107.0 run.zip!0_build.txt:412")
	f.Add("../.. pull host:a%20b ghcr.io/a/b:v1 digest=sha256:aa role=index ref=latest")
	f.Add(".. opaque host:h - a:0:0")
	f.Fuzz(func(t *testing.T, line string) {
		e, err := ParseNotation(line)
		if err != nil {
			return
		}
		printed := Notation(e)
		if len(printed) != 1 {
			t.Fatalf("%q is %d lines", line, len(printed))
		}
		again, err := ParseNotation(printed[0])
		if err != nil {
			t.Fatalf("%q is printed as %q: %v", line, printed[0], err)
		}
		// A path that could be taken for a field gets "./" once.
		again.Path = strings.TrimPrefix(again.Path, "./")
		e.Path = strings.TrimPrefix(e.Path, "./")
		if !reflect.DeepEqual(again, e) && e.Items[0].Artifact != "-" {
			t.Fatalf("%q is printed as %q, read as\n%+v, was\n%+v", line, printed[0], again, e)
		}
	})
}
