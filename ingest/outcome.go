package ingest

import (
	"fmt"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// finish ends a log and counts what it came to.
func (s *source) finish(l *log) error {
	t, err := l.reading.Finish(s.g.opt.Covers)
	if err != nil {
		return err
	}
	s.add(t)
	run, _, _ := strings.Cut(s.g.opt.Subject.String(), "/jobs/")
	if who := l.reading.Who(); s.info.Explicit && strings.HasPrefix(who.String(), run+"/jobs/") {
		if err := s.claimSubject(who); err != nil {
			return err
		}
	}
	if l.format == nil {
		if t.Understood == 0 && t.Partial == "" {
			s.state(l.path, timeline.Unread, l.unread)
			return nil
		}
		if t.Understood > 0 {
			s.format(textFormat)
		}
	}
	s.settle(l, t)
	return nil
}

func (s *source) settle(l *log, t evidence.Totals) {
	name := l.path
	switch {
	case t.Partial != "":
		s.state(name, timeline.Partial, t.Partial)
	case t.Skipped > 0:
		s.state(name, timeline.Partial, fmt.Sprintf("%d records could not be understood", t.Skipped))
	default:
		s.state(name, timeline.Read, "")
	}
}

func (s *source) add(t evidence.Totals) {
	s.ops = t.Ops
	s.info.Events += t.Events
	s.info.Skipped += t.Skipped
	s.unnamed = s.unnamed || t.Unnamed
	if t.First != timeline.Beginning && (s.info.First == timeline.Beginning || t.First < s.info.First) {
		s.info.First = t.First
	}
	if t.Last != timeline.Forever && (s.info.Last == timeline.Forever || t.Last > s.info.Last) {
		s.info.Last = t.Last
	}
}

// broken records a member that could not be opened or decoded as a gap.
func (s *source) broken(name string, err error) error {
	s.state(name, timeline.Partial, err.Error())
	s.info.Skipped++
	return s.put(&timeline.Batch{Skips: []timeline.Skip{{Reason: evidence.Redact(evidence.Clean(err.Error())), Origin: timeline.Origin{Path: name}}}})
}
