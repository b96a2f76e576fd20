package timeline

import "testing"

// TestUnreached checks that a collection that got no answer to anything is told
// from one that got some.
func TestUnreached(t *testing.T) {
	db, err := Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c := Collection{Collector: "github", Target: "acme/api"}
	if err := db.BeginCollection(&c); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		url   string
		reply Reply
		want  bool
	}{{"", "", false}, {"https://ci.acme.example/runs", Failed, true}, {"https://ci.acme.example/jobs", Absent, false}} {
		if step.url != "" {
			if err := db.Refuse(Inquiry{URL: step.url, Collection: c.ID, Kind: "runs", Reply: step.reply, Reading: NoReading}, "pulltrail", "test"); err != nil {
				t.Fatal(err)
			}
		}
		if last, ok, err := db.LastCollection(c.Collector, c.Target); err != nil || !ok || last.Unreached != step.want {
			t.Errorf("after %q: got %t, %t, %v, want %t", step.reply, last.Unreached, ok, err, step.want)
		}
	}
}
