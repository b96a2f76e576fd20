package timeline

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// A query for facts selects these columns of event e and bundle_item b; what
// the numbers in them stand for is looked up apart, each once.
const factColumns = "e.id,e.action,e.subject,b.item," + eventColumns

// eventColumns are the rest of those of an event.
const eventColumns = "e.t0,e.t1,e.clock,e.written,e.source,e.op,e.path,e.line,e.off,e.excerpt"

// factJoins leaves out the events of sources that are not complete.
const factJoins = " JOIN source s ON s.id=e.source AND s.complete=1 "

// thing is an item with its artifact taken apart.
type thing struct {
	item  Item
	parts Parts
}

// lookups are what numbers in events stand for, as far as it was asked for.
type lookups struct {
	mu       sync.Mutex
	subjects lookup[Subject]
	things   lookup[thing]
	paths    lookup[string]
}

// lookup is the part of a table that was asked for.
type lookup[T any] struct {
	known  map[int64]T
	wanted []int64
}

// want has a number looked up with the next ones.
func (l *lookup[T]) want(id int64) {
	if _, ok := l.known[id]; ok {
		return
	}
	if l.known == nil {
		l.known = map[int64]T{}
	}
	var none T
	l.known[id] = none
	l.wanted = append(l.wanted, id)
}

// fetch looks up what is wanted. query takes a list of numbers at its end and
// gives them in its first column.
func (l *lookup[T]) fetch(db *DB, query string, read func(rawRow) T) error {
	for len(l.wanted) > 0 {
		n := min(chunk, len(l.wanted))
		args := make([]any, n)
		for i, id := range l.wanted[:n] {
			args[i] = id
		}
		l.wanted = l.wanted[n:]
		err := db.each(func(row rawRow) { l.known[row.int(0)] = read(row) }, query+" IN (?"+strings.Repeat(",?", n-1)+")", args...)
		if err != nil {
			l.known, l.wanted = nil, nil // some of it was only wanted
			return err
		}
	}
	return nil
}

// forget makes room when there is too much.
func (l *lookup[T]) forget() {
	if len(l.known) > maxInterned {
		l.known = nil
	}
}

// pending are the rows of facts that are yielded together.
type pending struct {
	facts                   []Fact
	subjects, things, paths []int64        // of each
	sums                    lookup[string] // of sources: their numbers are given away again
}

// pendingRows is how many facts are looked up at once.
const pendingRows = 1000

// add takes a row of factColumns.
func (p *pending) add(row rawRow, same interned) {
	f := Fact{
		Event: row.int(0), Action: Action(row.int(1)), Span: row.span(4, same.of(row.text(6))), Source: row.int(8), Op: row.int(9),
		Origin: Origin{Line: row.int(11), Offset: row.int(12), Text: row.text(13)},
	}
	f.Span.Written = row.text(7)
	p.facts = append(p.facts, f)
	p.subjects, p.things = append(p.subjects, row.int(2)), append(p.things, row.int(3))
	p.paths = append(p.paths, row.int(10))
}

// facts yields the facts of a query that selects factColumns.
func (db *DB) facts(yield func(Fact) error, query string, args ...any) error {
	var p pending
	same := interned{}
	err := db.rows(func(row rawRow) error {
		p.add(row, same)
		if len(p.facts) < pendingRows {
			return nil
		}
		return db.yieldFacts(&p, yield)
	}, query, args...)
	if err == nil {
		err = db.yieldFacts(&p, yield)
	}
	var stopped stop
	if errors.As(err, &stopped) {
		return stopped.error
	}
	if err != nil {
		return fmt.Errorf("read timeline: %w", err)
	}
	return nil
}

// stop is an error of who is given the facts.
type stop struct{ error }

// yieldFacts fills in what the numbers of facts stand for, and yields them.
func (db *DB) yieldFacts(p *pending, yield func(Fact) error) error {
	if err := db.lookUp(p); err != nil {
		return err
	}
	for i := range p.facts {
		if err := yield(p.facts[i]); err != nil {
			return stop{err}
		}
	}
	p.facts, p.subjects, p.things, p.paths = p.facts[:0], p.subjects[:0], p.things[:0], p.paths[:0]
	return nil
}

func (db *DB) lookUp(p *pending) error {
	who, err := db.rosters.held()
	if err != nil {
		return err
	}
	l := &db.lookups
	l.mu.Lock()
	defer l.mu.Unlock()
	l.subjects.forget()
	l.things.forget()
	l.paths.forget()
	for i := range p.facts {
		if who.of(p.subjects[i]).IsZero() {
			l.subjects.want(p.subjects[i])
		}
		l.things.want(p.things[i])
		l.paths.want(p.paths[i])
		p.sums.want(p.facts[i].Source)
	}
	same := interned{}
	err = errors.Join(
		l.subjects.fetch(db, "SELECT id,kind,name FROM subject WHERE id", func(row rawRow) Subject {
			return Subject{Kind(same.of(row.text(1))), row.text(2)}
		}),
		l.things.fetch(db, "SELECT i.id,a.text,a.type,a.name,a.version,i.ref,i.digests FROM item i JOIN artifact a ON a.id=i.artifact WHERE i.id", newThing),
		l.paths.fetch(db, "SELECT id,text FROM path WHERE id", func(row rawRow) string { return row.text(1) }),
		p.sums.fetch(db, "SELECT id,sha256 FROM source WHERE id", func(row rawRow) string { return row.text(1) }),
	)
	if err != nil {
		return err
	}
	for i := range p.facts {
		f := &p.facts[i]
		of := l.things.known[p.things[i]]
		f.Item, f.Parts, f.Subject = of.item, of.parts, who.of(p.subjects[i])
		if f.Subject.IsZero() {
			f.Subject = l.subjects.known[p.subjects[i]]
		}
		f.Path, f.SHA256 = l.paths.known[p.paths[i]], p.sums.known[f.Source]
	}
	return nil
}

func newThing(row rawRow) thing {
	t := thing{
		item:  Item{Artifact: row.text(1), Ref: row.text(5), Digests: parseDigests(row.text(6))},
		parts: Parts{Type: row.text(2), Name: row.text(3), Version: row.text(4)},
	}
	if t.parts.Type == "image" {
		_, t.parts.Digest, _ = strings.Cut(t.item.Artifact, "@")
	}
	return t
}
