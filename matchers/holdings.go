package matchers

import (
	"slices"
	"strings"

	"pulltrail/timeline"
)

// holdings are the links that say what images hold, by digest. There are many,
// and few matter to a question: they are read for the digests that are asked
// for, all of them once many were.
type holdings struct {
	some func(ends []string, yield func(from, to string)) error
	all  func(yield func(from, to string)) error

	read     map[string]bool     // digests whose links were read
	whole    bool                // all were
	cost     int                 // of reading so far
	up, down map[string][]string // parent → children, and back
	diffs    map[string][]string // image → unpacked layers that it holds
	onDiff   map[string][]string // and back
	err      error
}

func newHoldings(r *record) *holdings {
	return &holdings{
		some: r.holdsSome, all: r.holdsAll, read: map[string]bool{},
		up: map[string][]string{}, down: map[string][]string{}, diffs: map[string][]string{}, onDiff: map[string][]string{},
	}
}

// costs of reading: a statement is as dear as the links of so many digests, and
// beyond that many in all it is cheaper to read everything.
const (
	costOfStatement = 10
	costOfAll       = 20_000
)

// want reads the links of digests.
func (h *holdings) want(digests ...string) {
	if h.whole || h.err != nil {
		return
	}
	var ends []string
	for _, d := range digests {
		if !h.read[d] {
			h.read[d] = true
			ends = append(ends, d)
		}
	}
	if len(ends) == 0 {
		return
	}
	if h.cost += costOfStatement + len(ends); h.cost > costOfAll {
		h.everything()
		return
	}
	wanted := make(map[string]bool, len(ends))
	for _, d := range ends {
		wanted[d] = true
		ends = append(ends, timeline.DiffEnd+d)
	}
	h.err = h.some(ends, func(from, to string) {
		diff, isDiff := strings.CutPrefix(to, timeline.DiffEnd)
		down, up := h.down, h.up
		if isDiff {
			down, up, to = h.diffs, h.onDiff, diff
		}
		if wanted[from] {
			down[from] = append(down[from], to)
		}
		if wanted[to] {
			up[to] = append(up[to], from)
		}
	})
	for d := range wanted {
		for _, ends := range []map[string][]string{h.down, h.up, h.diffs, h.onDiff} {
			once(ends, d)
		}
	}
}

func (h *holdings) everything() {
	h.whole = true
	for _, ends := range []map[string][]string{h.down, h.up, h.diffs, h.onDiff} {
		clear(ends)
	}
	h.err = h.all(func(from, to string) {
		down, up := h.down, h.up
		if diff, ok := strings.CutPrefix(to, timeline.DiffEnd); ok {
			down, up, to = h.diffs, h.onDiff, diff
		}
		down[from] = append(down[from], to)
		up[to] = append(up[to], from)
	})
	for _, ends := range []map[string][]string{h.down, h.up, h.diffs, h.onDiff} {
		for d := range ends {
			once(ends, d)
		}
	}
}

// once puts the ends of a digest in order; two documents may say the same.
func once(ends map[string][]string, d string) {
	if len(ends[d]) > 1 {
		slices.Sort(ends[d])
		ends[d] = slices.Compact(ends[d])
	}
}

func (h *holdings) parents(d string) []string {
	h.want(d)
	return h.up[d]
}

// held lists what an index or a manifest holds.
func (h *holdings) held(d string) []string {
	h.want(d)
	return h.down[d]
}

// layers are the unpacked layers of an image.
func (h *holdings) layers(image string) []string {
	h.want(image)
	return h.diffs[image]
}

// with lists the images that hold an unpacked layer.
func (h *holdings) with(diff string) []string {
	h.want(diff)
	return h.onDiff[diff]
}

// same lists the digests that are one image with d: what it holds down to the
// config, and what holds it. Layers are not followed: many images share them.
// From an index only a single manifest is the image; with several it is not
// known which one came.
func (h *holdings) same(d string) []string {
	out, seen := []string{d}, map[string]bool{d: true}
	for i := 0; i < len(out); i++ {
		h.want(out[i:]...)
		next := h.up[out[i]]
		if kids := h.down[out[i]]; len(kids) == 1 {
			next = append(next[:len(next):len(next)], kids...)
		}
		for _, n := range next {
			if !seen[n] && len(out) < 64 {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	return out
}

// builtOn lists the images that have all layers of an image.
func (h *holdings) builtOn(image string) []string {
	layers := h.layers(image)
	if len(layers) == 0 {
		return nil
	}
	h.want(layers...)
	fewest := slices.MinFunc(layers, func(a, b string) int { return len(h.with(a)) - len(h.with(b)) })
	h.want(h.with(fewest)...)
	var out []string
	for _, id := range h.with(fewest) {
		has := map[string]bool{}
		for _, d := range h.layers(id) {
			has[d] = true
		}
		if id != image && !slices.ContainsFunc(layers, func(d string) bool { return !has[d] }) {
			out = append(out, id)
		}
	}
	return out
}
