package matchers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// ruleCutID is the rule of an image of which only the first digits of its ID are
// known, and they are those of a bad one.
const ruleCutID = "cut-image-id"

const cutDigits = 12

// cutID is the ID of an image as lists and people write it, "" for none.
//
//	CONTAINER ID   IMAGE          COMMAND     CREATED      STATUS      PORTS     NAMES
//	9f2c11aa03bd   9a9f8683fe54   "gateway"   2 days ago   Up 2 days             gw
//	docker run -d --name gw 9a9f8683fe54
func cutID(f *timeline.Fact) string {
	id := f.Item.Ref
	if f.Item.Artifact != "" {
		if f.Parts.Type != "image" || f.Parts.Digest != "" {
			return ""
		}
		id = strings.TrimPrefix(f.Parts.Name, "docker.io/library/")
	}
	if len(id) != cutDigits || timeline.SHA256(id+strings.Repeat("0", 64-cutDigits)) == "" {
		return ""
	}
	return id
}

// cut finds the facts on images of which lists show the first digits of one of
// those digests.
func (m *matching) cut(digests map[string]judged) error {
	full := map[string]string{}
	var names []string
	for _, d := range slices.Sorted(maps.Keys(digests)) {
		if hex := strings.TrimPrefix(d, "sha256:"); len(hex) == 64 && full[hex[:cutDigits]] == "" {
			full[hex[:cutDigits]] = d
			names = append(names, "docker.io/library/"+hex[:cutDigits])
		}
	}
	if len(full) == 0 {
		return nil
	}
	facts, err := m.r.called(slices.Sorted(maps.Keys(full)))
	if err != nil {
		return err
	}
	named, err := m.r.named(names)
	if err != nil {
		return err
	}
	for _, f := range append(facts, named...) {
		d := full[cutID(f)]
		if d == "" || f.Action == timeline.Contact {
			continue
		}
		j := digests[d]
		j.Fact, j.key, j.rule, j.verdict = f, "digest/"+d, ruleCutID, Possible
		j.because = fmt.Sprintf("%s an image whose ID begins with %s: so does that of %s", verb(f.Action), cutID(f), j.because)
		m.place(f, []judged{j})
	}
	return nil
}

// cutOfListed is cut for what the incident lists, and for what is known to be
// the same image.
func (m *matching) cutOfListed() error {
	digests := map[string]judged{}
	for d, k := range m.q.learned {
		digests[d] = judged{channel: k.channel, because: k.says}
	}
	for d, r := range m.q.digests {
		if r.image {
			digests[d] = judged{channel: r.channel, because: short(r.what) + ", which the incident lists"}
		}
	}
	return m.cut(digests)
}
