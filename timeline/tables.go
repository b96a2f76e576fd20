package timeline

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Tables are those that a match reads whole.
type Tables struct {
	Subjects []Subject     // by kind and id, as DB.Subjects
	Links    []LinkRow     // of the relations that were asked for
	Coverage []CoverageRow // in the order of the subjects, then in that they were read
	Expected []ExpectedRow // in the order of the subjects
	Sources  []SourceRow
}

// Tables reads them on several connections at once.
func (db *DB) Tables(relations ...Relation) (*Tables, error) {
	t := &Tables{}
	var r *roster
	if err := together(
		func() (err error) { r, err = db.known(); return err },
		func() (err error) { t.Sources, err = db.Sources(); return err },
	); err != nil {
		return nil, err
	}
	err := together(
		func() (err error) {
			if t.Coverage, err = db.coverages(r); err == nil {
				t.Subjects, err = db.living(r, t.Coverage)
			}
			return err
		},
		func() error {
			rows, who, err := db.expectations(r)
			r.arrange(rows, who)
			t.Expected = rows
			return err
		},
		func() (err error) { t.Links, err = db.Links(relations...); return err },
	)
	return t, err
}

// Prepare begins to read what a match needs, before it asks for it.
func (db *DB) Prepare() {
	db.renew()
	go db.ahead().whole("source", "sqlite_autoindex_subject_1", "artifact_name", "coverage", "expected", "link_placed", "event_opaque", "artifact", "item")
}

// together runs functions at once and waits for all.
func together(run ...func() error) error {
	errs := make([]error, len(run))
	var wg sync.WaitGroup
	for i, f := range run {
		wg.Go(func() { errs[i] = f() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// Subjects returns every subject that some complete source names or that a
// person claimed, by kind and id. Hosts of the inventory are not in it.
func (db *DB) Subjects() ([]Subject, error) {
	r, err := db.readRoster()
	if err != nil {
		return nil, fmt.Errorf("read subjects: %w", err)
	}
	covered, err := db.coverages(r)
	if err != nil {
		return nil, fmt.Errorf("read subjects: %w", err)
	}
	return db.living(r, covered)
}

// living are the subjects that are covered, claimed or named by complete
// sources.
func (db *DB) living(r *roster, covered []CoverageRow) ([]Subject, error) {
	alive, left := make([]bool, len(r.subjects)), len(r.order)
	mark := func(id int64) {
		if id < int64(len(alive)) && !alive[id] { // else it came after the roster was read
			alive[id] = true
			left--
		}
	}
	for _, id := range r.order {
		for ; len(covered) > 0 && covered[0].Subject == r.subjects[id]; covered = covered[1:] {
			mark(id)
		}
	}
	marks := func(row rawRow) {
		if r.counts(row.int(0)) {
			numbers(row.text(1), mark)
		}
	}
	// One row for each source: there are many subjects in one.
	err := db.each(marks, "SELECT source,group_concat(subject) FROM claimed GROUP BY source")
	// Nearly all are covered. Who is not is named by many sources, so that a few are
	// enough; that there is somebody else only all of them tell.
	for last, some := int64(len(r.complete))-1, int64(4); err == nil && last >= 0 && left > 0; last, some = last-some, 4*some {
		err = db.each(marks, "SELECT source,group_concat(subject) FROM named WHERE source BETWEEN ? AND ? GROUP BY source", last-some+1, last)
	}
	if err != nil {
		return nil, fmt.Errorf("read subjects: %w", err)
	}
	out := make([]Subject, 0, len(r.order)-left)
	for _, id := range r.order {
		if alive[id] {
			out = append(out, r.subjects[id])
		}
	}
	return out, nil
}

// atMost guesses how many rows a table has, to make room for them at once.
func (db *DB) atMost(table string) int {
	var last sql.NullInt64
	if err := db.sql.QueryRow("SELECT max(rowid) FROM " + table).Scan(&last); err != nil {
		return 0 // the query that reads them will say what is wrong
	}
	return int(min(last.Int64, 1<<18))
}

// LinkRow is a link with its source.
type LinkRow struct {
	Source int64
	SHA256 string
	Link
}

// Links returns the links of the relations, in the order they were read.
func (db *DB) Links(relations ...Relation) ([]LinkRow, error) {
	args := make([]any, len(relations))
	for i, r := range relations {
		args[i] = string(r)
	}
	which := "l.relation IN (?" + strings.Repeat(",?", len(args)-1) + ")"
	if !slices.Contains(relations, Holds) {
		which += " AND l.relation <> 'holds'" // as the index link_placed says it
	}
	var ids []int64
	err := db.each(func(row rawRow) { ids = append(ids, row.int(0)) }, "SELECT l.id FROM link l WHERE "+which, args...)
	if err != nil {
		return nil, fmt.Errorf("read links: %w", err)
	}
	slices.Sort(ids)
	db.askFor("link", ids)
	out := make([]LinkRow, 0, len(ids))
	same := interned{}
	err = db.each(func(row rawRow) {
		l := LinkRow{Source: row.int(0), SHA256: same.of(row.text(1)), Link: Link{
			Relation: Relation(same.of(row.text(2))), From: same.of(row.text(3)), To: same.of(row.text(4)), Span: row.span(5, same.of(row.text(7))),
			Origin: Origin{Path: same.of(row.text(9)), Line: row.int(10), Offset: row.int(11), Text: row.text(12)},
		}}
		l.Span.Written = row.text(8)
		out = append(out, l)
	}, `SELECT l.source,s.sha256,l.relation,l.a,l.b,l.t0,l.t1,l.clock,l.written,p.text,l.line,l.off,l.excerpt
		FROM link l JOIN source s ON s.id=l.source AND s.complete=1 JOIN path p ON p.id=l.path
		WHERE l.id`+inList+" ORDER BY l.id", idList(ids))
	if err != nil {
		return nil, fmt.Errorf("read links: %w", err)
	}
	return out, nil
}

// Pairs yields the ends of the links of a relation at least one end of which is
// among those named; links that say the same may come more than once.
func (db *DB) Pairs(relation Relation, ends []string, yield func(from, to string)) error {
	const query = "SELECT l.id FROM link l WHERE l.relation=?1 AND "
	if len(ends) > chunk {
		go db.ahead().whole("link_a", "link_b")
	}
	var ids []int64
	for part := range slices.Chunk(ends, chunk) {
		args := make([]any, 0, len(part)+1)
		args = append(args, string(relation))
		var list strings.Builder
		for i, e := range part {
			args = append(args, e)
			fmt.Fprintf(&list, ",?%d", i+2)
		}
		in := " IN (" + list.String()[1:] + ")"
		if err := db.each(func(row rawRow) { ids = append(ids, row.int(0)) }, query+"l.a"+in+" UNION ALL "+query+"l.b"+in, args...); err != nil {
			return fmt.Errorf("read links: %w", err)
		}
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	db.askFor("link", ids)
	if err := db.each(func(row rawRow) { yield(row.text(0), row.text(1)) },
		"SELECT l.a,l.b FROM link l JOIN source s ON s.id=l.source AND s.complete=1 WHERE l.id"+inList, idList(ids)); err != nil {
		return fmt.Errorf("read links: %w", err)
	}
	return nil
}

// AllPairs yields the ends of all links of a relation.
func (db *DB) AllPairs(relation Relation, yield func(from, to string)) error {
	err := db.each(func(row rawRow) { yield(row.text(0), row.text(1)) },
		"SELECT l.a,l.b FROM link l JOIN source s ON s.id=l.source AND s.complete=1 WHERE l.relation=?", string(relation))
	if err != nil {
		return fmt.Errorf("read links: %w", err)
	}
	return nil
}

// CoverageRow is a coverage statement with its source.
type CoverageRow struct {
	Source int64
	Coverage
}

// Coverages returns what the complete sources cover, by subject and then in the
// order they were read.
func (db *DB) Coverages() ([]CoverageRow, error) {
	r, err := db.readRoster()
	if err != nil {
		return nil, fmt.Errorf("read coverage: %w", err)
	}
	return db.coverages(r)
}

func (db *DB) coverages(r *roster) ([]CoverageRow, error) {
	// What a row says of whom. Texts are few, and stand here once.
	type text struct {
		topic Topic
		why   string
		whole bool
	}
	type statement struct {
		source, subject, from, to int64
		text                      int
	}
	var texts []text
	known := map[text]int{}
	read := make([]statement, 0, db.atMost("coverage"))
	count := make([]int32, len(r.subjects))
	err := db.each(func(row rawRow) {
		who := row.int(1)
		if !r.counts(row.int(0)) || r.of(who).IsZero() {
			return
		}
		span := row.span(3, "")
		says := text{Topic(row.text(2)), row.text(6), row.int(5) != 0}
		n, ok := known[says]
		if !ok {
			n = len(texts)
			texts, known[says] = append(texts, says), n
		}
		read = append(read, statement{row.int(0), who, span.From, span.To, n})
		count[who]++
	}, "SELECT source,subject,topic,t0,t1,whole,why FROM coverage ORDER BY rowid")
	if err != nil {
		return nil, fmt.Errorf("read coverage: %w", err)
	}
	place := int32(0) // count becomes the place of the next row of each subject
	for _, who := range r.order {
		n := count[who]
		count[who] = place
		place += n
	}
	out := make([]CoverageRow, len(read))
	for i := range read {
		s := &read[i]
		out[count[s.subject]] = CoverageRow{Source: s.source, Coverage: Coverage{
			Subject: r.subjects[s.subject], Topic: texts[s.text].topic, Span: Span{From: s.from, To: s.to}, Whole: texts[s.text].whole, Why: texts[s.text].why,
		}}
		count[s.subject]++
	}
	return out, nil
}

// ExpectedRow is an expectation with its source.
type ExpectedRow struct {
	Source int64
	SHA256 string
	Expected
}

// Expectations returns the evidence that records say must exist, and what
// collectors asked for and did not get, whose source is 0.
func (db *DB) Expectations() ([]ExpectedRow, error) {
	r, err := db.readRoster()
	if err != nil {
		return nil, fmt.Errorf("read expected evidence: %w", err)
	}
	rows, _, err := db.expectations(r)
	return rows, err
}

// expectations returns them with the numbers of their subjects, 0 where there is
// none.
func (db *DB) expectations(r *roster) (out []ExpectedRow, numbers []int64, err error) {
	out = make([]ExpectedRow, 0, db.atMost("expected"))
	numbers = make([]int64, 0, cap(out))
	same := interned{}
	err = db.each(func(row rawRow) {
		who := r.of(row.int(2))
		if who.IsZero() {
			return
		}
		numbers = append(numbers, row.int(2))
		out = append(out, ExpectedRow{Source: row.int(0), SHA256: same.of(row.text(1)), Expected: Expected{
			Subject: who, Channel: same.of(row.text(3)), Span: row.span(4, ""), Reason: same.of(row.text(6)), Detail: row.text(7),
			Origin: Origin{Path: same.of(row.text(8)), Line: row.int(9)},
		}})
	}, `SELECT e.source,s.sha256,e.subject,e.channel,e.t0,e.t1,e.reason,e.detail,p.text,e.line FROM expected e
		JOIN source s ON s.id=e.source AND s.complete=1 JOIN path p ON p.id=e.path ORDER BY e.rowid`)
	if err == nil {
		err = db.each(func(row rawRow) {
			kind, id, _ := strings.Cut(row.text(0), ":")
			numbers = append(numbers, 0)
			out = append(out, ExpectedRow{Expected: Expected{
				Subject: Subject{Kind(kind), id}, Span: row.span(1, ""), Reason: row.text(3), Detail: row.text(4), Origin: Origin{Path: row.text(5)},
			}})
		}, "SELECT claim,t0,t1,outcome,detail,url FROM inquiry WHERE gap=1 AND claim<>''")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read expected evidence: %w", err)
	}
	return out, numbers, nil
}
