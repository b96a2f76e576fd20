package matchers

import (
	"fmt"
	"slices"

	"pulltrail/timeline"
)

// carriers are the images that carry the release on, although the incident does
// not list them. From their first one on, who pulls images can get it, whatever
// channels the incident has.
type carriers struct {
	from, to int64 // from the first image to the last line that speaks of one
	example  string
}

// carriers sums up the images that were found exposed; nil without any.
func (s *spreader) carriers() *carriers {
	var c *carriers
	for subject, r := range s.reach {
		stands := r.strongest()
		if subject.Kind != timeline.Image || stands[0].via == "" {
			continue
		}
		since := stands[len(stands)-1].since
		if c == nil {
			c = &carriers{from: since, to: timeline.Beginning, example: subject.String()}
		}
		c.from = min(c.from, since)
		c.example = min(c.example, subject.String())
		for _, d := range s.identity(subject) {
			for _, f := range s.images.holders[d] {
				if f.Span.To != timeline.Forever {
					c.to = max(c.to, f.Span.To)
				}
			}
		}
	}
	if c != nil {
		if c.from == timeline.Beginning {
			c.from, _, _ = s.q.union()
		}
		c.to = max(c.to, c.from)
	}
	return c
}

// imageWords are the channels of an inventory that images come from.
var imageWords = []string{"dockerhub", "ecr", "ecr-public", "gar", "gcr", "ghcr", "hosted", "mcr", "quay"}

// carried says why a host may have got an image that carries the release, ""
// when evidence covers its pulls for as long as one is known to be served, or
// when it has no images.
func (c *covers) carried(s timeline.Subject) string {
	x := c.m.carriers
	if x == nil || s.Kind != timeline.Host {
		return ""
	}
	if had := c.had[s.ID]; had != nil && !slices.ContainsFunc(imageWords, func(w string) bool { return had[w] }) {
		return ""
	}
	var spans []timeline.Span
	for _, r := range c.m.people.rowsOf(s) {
		if r.Topic != timeline.Everything && r.Topic != timeline.Images {
			continue
		}
		if r.Whole {
			return ""
		}
		spans = append(spans, r.Span)
	}
	if d, said := c.m.said[s][noWord+string(timeline.Images)]; said && len(spans) == 0 { // evidence of images is stronger
		spans = append(spans, spanOf(d))
	}
	if len(holes("", spans, x.from, x.to)) == 0 {
		return ""
	}
	return fmt.Sprintf("an image carries it on (%s), from %s, and nothing that was read covers which images this host pulled until %s",
		short(x.example), timeline.FormatTime(x.from), timeline.FormatTime(x.to))
}
