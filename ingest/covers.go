package ingest

import "pulltrail/timeline"

// put hands on what was found, but for what it covers.
func (s *source) put(b *timeline.Batch) error {
	s.covers = append(s.covers, b.Coverage...)
	b.Coverage = nil
	return s.write(b)
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
