package timeline

import "fmt"

// Step says that a clock was set while a log was written: what stands before
// that in the log may be of another time than its text says.
type Step struct {
	Path       string // of the log
	From, Line int64  // physical lines: since when the clock is known to have run, and where it was set
	Host       string // whose clock it is; "" when the log names nobody
	By         int64  // nanoseconds that it was put forward, negative for back
}

// Widen returns a span that holds the time as the clock showed it before the
// step, and as it shows it since.
func (k Step) Widen(s Span) Span {
	if s.Clock != Exact && s.Clock != Inherited || s.From == Beginning || s.To == Forever {
		return s
	}
	s.Clock = Stepped
	if k.By < 0 {
		s.From += k.By
	} else {
		s.To += k.By
	}
	return s
}

// step widens the events of the source that were written before the clock was
// set.
func (s *SourceWriter) step(k Step) error {
	if err := s.w.flush(); err != nil || s.events.from == 0 {
		return err
	}
	path, err := s.w.path(k.Path)
	if err == nil {
		err = s.w.flush()
	}
	if err != nil {
		return err
	}
	// While a new case is loaded, events have no index but their number.
	_, err = s.w.exec(`UPDATE event SET t0=t0+?1, t1=t1+?2, clock=?3 WHERE +source=?4 AND id BETWEEN ?5 AND ?6 AND path=?7
		AND line>=?8 AND line<?9 AND clock IN ('exact','inherited') AND t0 IS NOT NULL AND t1 IS NOT NULL
		AND (?10='' OR subject IN (SELECT id FROM subject WHERE kind='host' AND name=?10 OR kind='container' AND substr(name,1,length(?10)+1)=?10||'/'))`,
		min(k.By, 0), max(k.By, 0), string(Stepped), s.id, s.events.from, s.events.to, path, k.From, k.Line, k.Host)
	if err != nil {
		return fmt.Errorf("widen times: %w", err)
	}
	return nil
}
