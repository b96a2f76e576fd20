package ingest

import (
	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// put hands on what was found, but for what it covers. Where it stands is told
// without secrets: members of archives are called as their writer likes.
func (s *source) put(b *timeline.Batch) error {
	for i := range b.Events {
		s.conceal(&b.Events[i].Origin)
	}
	for i := range b.Links {
		s.conceal(&b.Links[i].Origin)
	}
	for i := range b.Expected {
		s.conceal(&b.Expected[i].Origin)
	}
	for i := range b.Skips {
		s.conceal(&b.Skips[i].Origin)
	}
	s.covers = append(s.covers, b.Coverage...)
	b.Coverage = nil
	return s.write(b)
}

// conceal takes secrets out of a path. The next row mostly has the same one.
func (s *source) conceal(o *timeline.Origin) {
	if s.shown[0] != o.Path {
		s.shown = [2]string{o.Path, evidence.ConcealPath(o.Path)}
	}
	o.Path = s.shown[1]
}

// prove keeps what a member covers that was read whole and has the checksum that
// its archive names, whatever becomes of the rest. That is only said of logs
// that show by themselves that they are whole: of another, a part may stand in
// a member that was lost. from is where its coverage begins in s.covers.
func (s *source) prove(from int) {
	rest := s.covers[:from]
	for _, c := range s.covers[from:] {
		if c.Whole && c.Topic == timeline.Everything {
			s.proved = append(s.proved, c)
		} else {
			rest = append(rest, c)
		}
	}
	s.covers = rest
}
