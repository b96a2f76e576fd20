package timeline

import (
	"time"
)

// Finish makes the source visible. When the same bytes with the same claim
// were read in the same way before, nothing changes and changed is false; a
// re-read in another way replaces the first.
func (s *SourceWriter) Finish(info SourceInfo) (changed bool, err error) {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	changed, err = s.finish(info)
	if err == nil {
		err = s.w.commit()
	}
	if err != nil {
		s.w.rollback() // nothing is half done
		s.w.broken = err
		return false, s.w.failed(err)
	}
	return changed, nil
}

func (s *SourceWriter) finish(info SourceInfo) (bool, error) {
	if err := s.w.begin(); err != nil {
		return false, err
	}
	old, err := s.same(info)
	if err != nil {
		return false, err
	}
	for _, o := range old {
		if !info.Again && o.sha256 == info.SHA256 && o.claim == info.Claim && o.zone == info.Zone && o.covers == info.Covers && o.skew == info.Skew && o.parser == info.Parser {
			return false, s.remove(s.id)
		}
	}
	var replaces []Identity
	for _, o := range old {
		if err := s.remove(o.id); err != nil {
			return false, err
		}
		replaces = append(replaces, identityOf(o.sha256, o.claim, info.Path))
	}
	if info.ReadAt == 0 {
		info.ReadAt = time.Now().UnixNano()
	}
	_, err = s.w.exec(`UPDATE source SET sha256=?,claim=?,path=?,format=?,state=?,why=?,bytes=?,events=?,skipped=?,
		t0=?,t1=?,zone=?,covers=?,skew=?,parser=?,command=?,read_at=?,complete=1 WHERE id=?`,
		info.SHA256, info.Claim, info.Path, info.Format, string(info.State), info.Why, info.Bytes, info.Events, info.Skipped,
		end(info.First), end(info.Last), info.Zone, info.Covers, info.Skew, info.Parser, info.Command, info.ReadAt, s.id)
	if err == nil {
		err = s.w.record(entryOf(&info, replaces))
	}
	return true, err
}

type oldSource struct {
	id                                        int64
	sha256, claim, zone, covers, skew, parser string
}

// same finds the complete sources that the new one repeats or replaces: the
// same bytes with the same claim; or the same bytes at the same path while
// nobody had said whose they are; or the same path that could not be opened
// before. Two explicit claims stand side by side.
func (s *SourceWriter) same(info SourceInfo) ([]oldSource, error) {
	q, err := s.w.stmt(`SELECT id,sha256,claim,zone,covers,skew,parser FROM source
		WHERE complete=1 AND sha256=?1 AND sha256<>'' AND (claim=?2 OR path=?3 AND claim IN (path, ''))
		UNION SELECT id,sha256,claim,zone,covers,skew,parser FROM source
		WHERE complete=1 AND path=?3 AND (sha256='' OR ?4 AND claim=?2)`)
	if err != nil {
		return nil, err
	}
	rows, err := q.Query(info.SHA256, info.Claim, info.Path, info.Later)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var old []oldSource
	for rows.Next() {
		var o oldSource
		if err := rows.Scan(&o.id, &o.sha256, &o.claim, &o.zone, &o.covers, &o.skew, &o.parser); err != nil {
			return nil, err
		}
		old = append(old, o)
	}
	return old, rows.Err()
}

func (s *SourceWriter) remove(id int64) error {
	if err := s.w.flush(); err != nil {
		return err
	}
	for _, table := range tablesOfSource {
		var err error
		if table == "event" && id == s.id { // while a new case is loaded, events have no index
			_, err = s.w.exec("DELETE FROM event WHERE +source=? AND id BETWEEN ? AND ?", id, s.events.from, s.events.to)
		} else {
			_, err = s.w.exec("DELETE FROM "+table+" WHERE source=?", id)
		}
		if err != nil {
			return err
		}
	}
	_, err := s.w.exec("DELETE FROM source WHERE id=?", id)
	return err
}

// Discard drops the source as if it had never been begun.
func (s *SourceWriter) Discard() error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if s.w.broken != nil {
		return nil // told already; the source goes when the case is opened again
	}
	if err := s.remove(s.id); err != nil {
		return s.w.failed(err)
	}
	return s.w.commit()
}
