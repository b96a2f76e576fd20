package evidence_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// noted is a tool that makes an event of every record it is given.
type noted struct{ name string }

func (n noted) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if strings.Contains(string(l.Text), `"refuse"`) {
		return evidence.Miss
	}
	o.Emit(timeline.Present, nil, timeline.Item{Artifact: "file:" + n.name + string(l.Text)})
	return evidence.Done
}

func (noted) End(timeline.OpState, *evidence.Out) {}

func recordTool(name string, fields [][]string, lists ...string) evidence.Format {
	return evidence.Format{Name: name, Shape: evidence.ToolShape, Fields: fields, Lists: lists, Tool: func() evidence.Parser { return noted{name} }}
}

// TestRecords gives lines to two tools of records: the names at the top of an
// object decide, then the lists of an envelope.
func TestRecords(t *testing.T) {
	formats := []evidence.Format{
		recordTool("one", [][]string{{"a", "b"}, {"c"}}, "list"),
		recordTool("two", [][]string{{"a", "d"}, {"b"}}, "list", "more"),
	}
	m := evidence.NewMachine(formats)
	for line, want := range map[string][]string{
		`{"a":1,"b":2}`:                    {`one{"a":1,"b":2}`},
		`{"a":1,"d":{"b":1}}`:              {`two{"a":1,"d":{"b":1}}`},
		`  {"c":1}`:                        {`one  {"c":1}`},
		`{"a":"refuse","b":1}`:             nil,
		`{"a":1}`:                          nil,
		`{"x":{"a":1,"b":2}}`:              nil,
		`{"a":1,"b":2`:                     nil,
		`{"list":[{"c":1},{"b":2},3]}`:     {`one{"c":1}`, `two{"b":2}`},
		`{"x":1,"more":[{"c":1},{"b":2}]}`: {`two{"b":2}`},
		`{"list":{"c":1}}`:                 nil,
		`text {"c":1}`:                     nil,
	} {
		got := events(t, m, func(r *evidence.Reading) { r.Line(&evidence.Line{Text: []byte(line), No: 1}) })
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", line, got, want)
		}
	}
}

func TestClaimsRecords(t *testing.T) {
	f := recordTool("one", [][]string{{"a", "b"}}, "list")
	for head, want := range map[string]bool{
		`{"a":1,"b":2}`:                    true,
		"\n [ {\"a\":1,\"b\":\"cut":        true,
		`{"x":1,"list":[{"a":1,"b":{"c":`:  true,
		`{"x":1,"list":[{"a":1}],"b":1}`:   false,
		`{"x":{"a":1,"b":2}}`:              false,
		`[1,{"a":1,"b":2}]`:                false,
		`"a","b"`:                          false,
		``:                                 false,
		`[`:                                false,
		`{"list":[`:                        false,
		`{"a":1,"x":{"b":1}}{"a":1,"b":1}`: false,
		"text\n{\"a\":1,\"b\":2}":          false,
	} {
		if got := f.ClaimsRecords(&evidence.Head{Bytes: []byte(head)}); got != want {
			t.Errorf("%q: %v, want %v", head, got, want)
		}
	}
	f.Claim = func(*evidence.Head) bool { return false }
	if f.ClaimsRecords(&evidence.Head{Bytes: []byte(`{"a":1,"b":2}`)}) {
		t.Error("a claim that says no counts")
	}
}

// TestStray skips what a claimed source holds beside its records.
func TestStray(t *testing.T) {
	m := evidence.NewMachine([]evidence.Format{recordTool("one", [][]string{{"a"}}, "list")})
	skips := 0
	r := m.NewReading("x", timeline.Subject{}, timeline.Subject{}, evidence.Times{}, func(b *timeline.Batch) error {
		skips += len(b.Skips)
		return nil
	})
	for _, object := range []string{`{"a":1}`, `{"b":1}`, `{"list":[]}`, `{"list":[1]}`} {
		r.Record(&evidence.Line{Text: []byte(object), No: 1})
	}
	r.Stray(&evidence.Line{Text: []byte("text"), No: 2})
	if _, err := r.Finish(timeline.Span{}); err != nil || skips != 3 {
		t.Errorf("%d skips, %v", skips, err)
	}
}

// TestContacts counts by subject, endpoint and hour.
func TestContacts(t *testing.T) {
	m := evidence.NewMachine(nil)
	var c evidence.Contacts
	got := events(t, m, func(r *evidence.Reading) {
		r.SetLine(1, 0, []byte("line"))
		for i, minute := range []int64{0, 30, 59, 60, 61} {
			who := timeline.Subject{Kind: timeline.Client, ID: fmt.Sprint(i % 2)}
			c.Add(&r.Out, who, "domain:a.example", evidence.Epoch(minute*60+1792584000, 1e9, ""))
		}
		c.Settle(&r.Out)
	})
	if want := []string{"0", "1", "1", "0"}; len(got) != len(want) {
		t.Errorf("%d events: %q", len(got), got)
	}
	for host, want := range map[string]string{
		"Files.Acme.example.": "domain:files.acme.example", "files.acme.example:443": "domain:files.acme.example", "10.0.4.7": "ip:10.0.4.7", "10.0.4.7:80": "ip:10.0.4.7",
		"[2001:db8::1]:443": "ip:2001:db8::1", "2001:db8::1": "ip:2001:db8::1", "localhost": "", "": "", "a b.c": "", "x.y:z": "", "-": "",
	} {
		if got := evidence.Endpoint(host); got != want {
			t.Errorf("Endpoint(%q) = %q, want %q", host, got, want)
		}
	}
}

// events reads and returns the artifacts, in order, without "file:".
func events(t *testing.T, m *evidence.Machine, read func(*evidence.Reading)) []string {
	t.Helper()
	var all []string
	r := m.NewReading("x", timeline.Subject{}, timeline.Subject{}, evidence.Times{}, func(b *timeline.Batch) error {
		for _, e := range b.Events {
			for _, it := range e.Items {
				all = append(all, strings.TrimPrefix(it.Artifact, "file:"))
			}
		}
		return nil
	})
	read(r)
	if _, err := r.Finish(timeline.Span{}); err != nil {
		t.Fatal(err)
	}
	return all
}
