package timeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestEndpoints asks for the contacts of more subjects than one statement takes.
func TestEndpoints(t *testing.T) {
	dir := t.TempDir()
	db := create(t, dir)
	w, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	var asked []Subject
	b := &Batch{}
	for i := range 2*chunk + 7 {
		who := Subject{Host, fmt.Sprintf("h%04d", i)}
		asked = append(asked, who)
		for range 2 { // the same again counts once
			b.Events = append(b.Events, Event{Action: Contact, Subject: who, Span: Always(), Items: []Item{{Artifact: "ip:203.0.113.7"}, {Artifact: "domain:a.example"}}})
		}
		b.Events = append(b.Events, Event{Action: Install, Subject: who, Span: Always(), Items: []Item{{Artifact: "pkg:npm/x@1"}}})
	}
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Finish(SourceInfo{SHA256: sha("x"), Path: "x", State: Read}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ kind, first string }{{"", "domain:a.example"}, {"ip:", "ip:203.0.113.7"}, {"url:", ""}} {
		got := map[Subject][]string{}
		wanted := func(endpoint string) bool { return strings.HasPrefix(endpoint, c.kind) }
		if err := db.Endpoints(asked, wanted, func(who Subject, endpoint string) { got[who] = append(got[who], endpoint) }); err != nil {
			t.Fatal(err)
		}
		for _, who := range asked {
			if want := strings.Fields(c.first); !slices.Equal(got[who], want) {
				t.Fatalf("%s contacted %q, want %q", who, got[who], want)
			}
		}
	}
	anything := func(string) bool { return true }
	if err := db.Endpoints(nil, anything, func(Subject, string) { t.Error("somebody was asked for") }); err != nil {
		t.Error(err)
	}
}
