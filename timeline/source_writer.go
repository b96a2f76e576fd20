package timeline

import (
	"errors"
	"fmt"
	"syscall"

	sqlite3 "github.com/mattn/go-sqlite3"
)

// SourceWriter takes what is read from one source. It is safe to use several
// at once, each from one goroutine.
type SourceWriter struct {
	w      *writer
	id     int64
	events struct{ from, to int64 } // numbers of the first and last, 0 when there is none
	named  map[int64]bool           // subjects of its events
}

// Begin starts a source; nothing of it is visible before Finish.
func (db *DB) Begin() (*SourceWriter, error) {
	w := db.w
	w.mu.Lock()
	defer w.mu.Unlock()
	id, err := w.exec(`INSERT INTO source(sha256,claim,path,format,state,why,bytes,events,skipped,zone,covers,skew,parser,command,read_at,complete)
		VALUES('','','','','unread','',0,0,0,'','','','','',0,0)`)
	if err != nil {
		return nil, w.failed(err)
	}
	return &SourceWriter{w: w, id: id}, nil
}

// failed says of an error where it happened, and what to do.
func (w *writer) failed(err error) error {
	var lite sqlite3.Error
	if errors.As(err, &lite) && lite.Code == sqlite3.ErrFull || errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w in %s: %w: make room and run the same command again, what is finished stays", ErrWrite, w.dir, err)
	}
	return fmt.Errorf("%w in %s: %w", ErrWrite, w.dir, err)
}

// ErrWrite is returned when the case cannot be written: nothing more will be.
var ErrWrite = errors.New("write timeline")

// Write stores a batch.
func (s *SourceWriter) Write(b *Batch) error {
	s.w.mu.Lock()
	defer s.w.mu.Unlock()
	if err := s.write(b); err != nil {
		return s.w.failed(err)
	}
	if s.w.pending >= flushEvery {
		if err := s.w.commit(); err != nil {
			return s.w.failed(err)
		}
	}
	return nil
}

func (s *SourceWriter) write(b *Batch) error {
	for i := range b.Events {
		if err := s.event(&b.Events[i]); err != nil {
			return err
		}
	}
	for i := range b.Links {
		if err := s.link(&b.Links[i]); err != nil {
			return err
		}
	}
	for _, o := range b.Ops {
		if err := s.w.put(s.w.ops, s.id, o.Number, o.Parent, o.Tool, o.Command, string(o.State)); err != nil {
			return err
		}
	}
	for _, k := range b.Skips {
		path, err := s.w.path(k.Path)
		if err != nil {
			return err
		}
		if err := s.w.put(s.w.skips, s.id, path, k.Line, k.Offset, k.Reason, k.Text); err != nil {
			return err
		}
	}
	for i := range b.Settings {
		if err := s.setting(&b.Settings[i]); err != nil {
			return err
		}
	}
	for i := range b.Requests {
		if err := s.request(&b.Requests[i]); err != nil {
			return err
		}
	}
	for i := range b.Canaries {
		if err := s.canary(&b.Canaries[i]); err != nil {
			return err
		}
	}
	for i := range b.Credentials {
		if err := s.credential(&b.Credentials[i]); err != nil {
			return err
		}
	}
	for _, k := range b.Steps {
		if err := s.step(k); err != nil {
			return err
		}
	}
	return s.writeCoverage(b)
}

func (s *SourceWriter) writeCoverage(b *Batch) error {
	for _, c := range b.Coverage {
		subject, err := s.w.subject(c.Subject)
		if err != nil {
			return err
		}
		if _, err := s.w.exec("INSERT INTO coverage(source,subject,topic,t0,t1,whole,why) VALUES(?,?,?,?,?,?,?)",
			s.id, subject, string(c.Topic), end(c.Span.From), end(c.Span.To), c.Whole, c.Why); err != nil {
			return err
		}
	}
	for _, x := range b.Expected {
		subject, err := s.w.subject(x.Subject)
		if err != nil {
			return err
		}
		path, err := s.w.path(x.Path)
		if err != nil {
			return err
		}
		if _, err := s.w.exec("INSERT INTO expected(source,subject,channel,t0,t1,reason,detail,path,line) VALUES(?,?,?,?,?,?,?,?,?)",
			s.id, subject, x.Channel, end(x.Span.From), end(x.Span.To), x.Reason, x.Detail, path, x.Line); err != nil {
			return err
		}
	}
	for _, c := range b.Claimed {
		subject, err := s.w.subject(c)
		if err != nil {
			return err
		}
		if _, err := s.w.exec("INSERT OR IGNORE INTO claimed(source,subject) VALUES(?,?)", s.id, subject); err != nil {
			return err
		}
	}
	return nil
}

// name numbers a subject, and stores that the source speaks of it.
func (s *SourceWriter) name(who Subject) (int64, error) {
	subject, err := s.w.subject(who)
	if err != nil || s.named[subject] {
		return subject, err
	}
	if len(s.named)%maxInterned == 0 {
		s.named = map[int64]bool{}
	}
	s.named[subject] = true
	return subject, s.w.put(s.w.named, s.id, subject)
}

func (s *SourceWriter) event(e *Event) error {
	name := s.name
	if e.Action == Hold && e.Subject.Kind == Source {
		name = s.w.subject // who only keeps secrets and has no name is nobody who could have met a release
	}
	subject, err := name(e.Subject)
	if err != nil {
		return err
	}
	bundle, err := s.w.bundle(e.Items)
	if err != nil {
		return err
	}
	path, err := s.w.path(e.Path)
	if err != nil {
		return err
	}
	s.w.lastEvent++
	if s.events.from == 0 {
		s.events.from = s.w.lastEvent
	}
	s.events.to = s.w.lastEvent
	from := end(e.Span.From)
	to := from
	if e.Span.To != e.Span.From {
		to = end(e.Span.To)
	}
	return s.w.put(s.w.events, s.w.lastEvent, s.id, int64(e.Action), subject, bundle, from, to,
		string(e.Span.Clock), e.Span.Written, e.Op, path, e.Line, e.Offset, e.Text)
}

func (s *SourceWriter) link(l *Link) error {
	path, err := s.w.path(l.Path)
	if err != nil {
		return err
	}
	return s.w.put(s.w.links, s.id, string(l.Relation), l.From, l.To, end(l.Span.From), end(l.Span.To),
		string(l.Span.Clock), l.Span.Written, path, l.Line, l.Offset, l.Text)
}
