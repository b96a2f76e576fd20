package ingest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"pulltrail/ingest/evidence"
)

// readObjects lists what a source holds as "line@offset what text".
func readObjects(t testing.TB, text string, buffer int, lists ...string) []string {
	t.Helper()
	in := newObjects(bufio.NewReaderSize(strings.NewReader(text), buffer), lists, 0)
	var all []string
	var l evidence.Line
	for {
		what, err := in.read(&l)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		body := strings.Join(strings.Fields(string(l.Text)), "")
		all = append(all, fmt.Sprintf("%d@%d %s %.40s", l.No, l.Off, [...]string{"object", "stray", "too big", "broken", "cut"}[what], body))
	}
}

func TestObjects(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"one on each line", "{\"a\":1}\n{\"a\":\"}{\\\"\"}\r\n\n{\"a\":[]}", []string{"1@0 object {\"a\":1}", "2@8 object {\"a\":\"}{\\\"\"}", "4@23 object {\"a\":[]}"}},
		{"printed one after the other", "{\n \"a\": {\n  \"b\": 1\n }\n}\n{\n \"a\": 2\n}\n", []string{"1@0 object {\"a\":{\"b\":1}}", "6@24 object {\"a\":2}"}},
		{"glued", `{"a":1}{"a":2}`, []string{`1@0 object {"a":1}`, `1@0 object {"a":2}`}},
		{"an array", "[\n{\"a\":1},\n{\"a\":2}\n]\n", []string{"2@2 object {\"a\":1}", "3@11 object {\"a\":2}"}},
		{
			"envelopes", "{\"v\":1,\"list\":[{\"a\":1},{\"a\":{\"list\":[{}]}}],\"more\":[],\"list\": [ {\"a\":3}]}\n{\"list\":[]}\n{\"list\":[1,2]}",
			[]string{"1@0 object {\"a\":1}", "1@0 object {\"a\":{\"list\":[{}]}}", "1@0 object {\"a\":3}", "2@74 object {\"list\":[]}", "3@86 object {\"list\":[1,2]}"},
		},
		{"an array of envelopes", `[{"list":[{"a":1}]},{"list":[{"a":2}],"x":"}"}]`, []string{`1@0 object {"a":1}`, `1@0 object {"a":2}`}},
		{"text between", "json\n{\"a\":1}\nsome [text] {\n{\"a\":2}\nend", []string{"1@0 stray json", "2@5 object {\"a\":1}", "3@13 stray some[text]{", "4@27 object {\"a\":2}", "5@35 stray end"}},
		{
			"a broken line is lost alone", "{\"a\":1}\n{\"a\":\"unfinished\n{\"a\":2}\n{\"a\":[1\n{\"a\":3}\n",
			[]string{"1@0 object {\"a\":1}", "2@8 broken {\"a\":\"unfinished", "3@25 object {\"a\":2}", "4@33 broken {\"a\":[1", "5@41 object {\"a\":3}"},
		},
		{"a cut", "{\"a\":1}\n{\"a\":{\"b\":", []string{"1@0 object {\"a\":1}", "2@8 cut {\"a\":{\"b\":"}},
		{"a cut between elements", "{\"list\":[{\"a\":1},\n", []string{"1@0 object {\"a\":1}", "2@18 cut "}},
		{"a cut behind a list", `{"list":[{"a":1}]`, []string{`1@0 object {"a":1}`, `1@0 cut {`}},
		{"a sequence with marks (RFC 7464)", "\x1e{\"a\":1}\n\x1e{\"a\":2}\n", []string{"1@0 object {\"a\":1}", "2@9 object {\"a\":2}"}},
		{"nothing", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, buffer := range []int{16, 17, 23, 4096} {
				if got := readObjects(t, c.text, buffer, "list"); !slices.Equal(got, c.want) {
					t.Errorf("buffer of %d: got\n%s\nwant\n%s", buffer, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
				}
			}
		})
	}
}

// TestHugeObject is skipped over; only its head is held.
func TestHugeObject(t *testing.T) {
	in := newObjects(bufio.NewReader(io.MultiReader(strings.NewReader(`{"a":1}{"a":"`), io.LimitReader(letters{}, 3*maxObject), strings.NewReader(`"}{"a":3}`))), nil, 0)
	var l evidence.Line
	var got []found
	for {
		what, err := in.read(&l)
		if err != nil {
			break
		}
		got = append(got, what)
	}
	if !slices.Equal(got, []found{object, tooBig, object}) || cap(in.buf) > 2*maxObject {
		t.Errorf("found %v, %d bytes held", got, cap(in.buf))
	}
}

// TestLargestObject is held where the format says that its records are large.
func TestLargestObject(t *testing.T) {
	in := newObjects(bufio.NewReader(io.MultiReader(strings.NewReader(`{"a":"`), io.LimitReader(letters{}, maxObject), strings.NewReader(`"}`))), nil, 2*maxObject)
	var l evidence.Line
	if what, err := in.read(&l); err != nil || what != object || len(l.Text) != maxObject+len(`{"a":""}`) {
		t.Errorf("found %v (%v) of %d bytes", what, err, len(l.Text))
	}
}

type letters struct{}

func (letters) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// FuzzObjects reads any bytes through buffers of two sizes: what is found must
// not depend on them.
func FuzzObjects(f *testing.F) {
	for _, s := range []string{"{\"a\":1}\n{\"list\":[{}]}", "[{\"a\":1},\n{\"a\":\"\n{", "json\n{\n \"a\":[]}", "{\"list\": [ {\"a\":1} ], \"list\":[{\"b\""} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		small, large := readObjects(t, text, 16, "list"), readObjects(t, text, 4096, "list")
		if !slices.Equal(small, large) {
			t.Errorf("%q: %q with a small buffer, %q with a large one", text, small, large)
		}
	})
}
