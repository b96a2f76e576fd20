package matchers

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"testing"
	"time"

	"pulltrail/timeline"
)

// TestSize follows an exposure to many subjects: an image that thousands of
// hosts pulled and ran, and a row of images each built from the one before, the
// last of which is pulled by the first job. PULLTRAIL_SOAK makes it 100,000.
func TestSize(t *testing.T) {
	wide, deep := 1500, 60
	if os.Getenv("PULLTRAIL_SOAK") != "" {
		wide, deep = 50_000, 2000
	}
	h := &history{name: "size"}
	at := windowFrom
	digest := func(i int) string {
		sum := sha256.Sum256(fmt.Append(nil, "image", i))
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	image := func(i int) string { return fmt.Sprintf("registry.acme.example/row/img%d:1", i) }
	job := func(i int) timeline.Subject {
		return timeline.Subject{Kind: timeline.Job, ID: fmt.Sprintf("gitlab:acme/row/jobs/%d", i)}
	}
	for i := range deep {
		at += int64(time.Second)
		op := h.op("buildkit", 0, timeline.OpDone)
		from := (i + deep - 1) % deep
		h.event(at, timeline.Resolve, job(i), image(from), digest(from), op)
		if i == 0 {
			h.event(at, timeline.Install, job(0), "pkg:pypi/litellm@1.107.0", "", h.op("pip", op, timeline.OpDone))
		}
		h.event(at, timeline.Build, job(i), image(i), digest(i), op)
	}
	for i := range wide {
		at += int64(time.Second)
		host := timeline.Subject{Kind: timeline.Host, ID: fmt.Sprintf("h%d", i)}
		c := timeline.Subject{Kind: timeline.Container, ID: host.ID + "/0123456789ab"}
		h.event(at, timeline.Pull, host, image(deep/2), digest(deep/2), 0)
		h.event(at, timeline.Run, c, image(deep/2), digest(deep/2), 0)
		h.link(at, timeline.On, c.String(), host.String())
	}
	dir := t.TempDir()
	db, err := timeline.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	h.write(t, db)
	if err := db.Close(); err != nil { // now it has its indexes
		t.Fatal(err)
	}
	if db, err = timeline.Open(dir); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	begin := time.Now()
	res, err := Match(db, historyIncident())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d findings in %v", len(res.Findings), time.Since(begin))
	if res.Counts[Exposed] != wide+deep+1 || res.Counts[Pulled] != wide || res.Counts[Possible] != deep-1 {
		t.Errorf("counts are %v, want %d exposed, %d pulled, %d possible", res.Counts, wide+deep+1, wide, deep-1)
	}
}
