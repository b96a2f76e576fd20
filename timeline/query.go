package timeline

import (
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Fact is one item of one event, with everything that a finding shows of it.
type Fact struct {
	Event   int64 // id; facts of one event share it
	Action  Action
	Subject Subject
	Item    Item
	Parts   Parts // of Item.Artifact
	Span    Span
	Source  int64 // SourceRow.ID
	SHA256  string
	Op      int64
	Origin
}

const factColumns = `e.id,e.action,u.kind,u.name,a.text,a.type,a.name,a.version,i.ref,i.digests,
	e.t0,e.t1,e.clock,e.written,e.source,s.sha256,e.op,p.text,e.line,e.off,e.excerpt`

const factJoins = ` JOIN source s ON s.id=e.source AND s.complete=1 JOIN subject u ON u.id=e.subject
	JOIN item i ON i.id=b.item JOIN artifact a ON a.id=i.artifact
	JOIN path p ON p.id=e.path `

func (db *DB) facts(yield func(Fact) error, query string, args ...any) error {
	same := interned{} // of some texts there are few
	var last Fact      // facts of one event stand together
	err := db.rows(func(row rawRow) error {
		f := Fact{
			Event: row.int(0), Item: Item{Artifact: row.text(4), Ref: row.text(8), Digests: parseDigests(row.text(9))},
			Parts: Parts{Type: same.of(row.text(5)), Name: row.text(6), Version: row.text(7)},
		}
		if f.Parts.Type == "image" {
			_, f.Parts.Digest, _ = strings.Cut(f.Item.Artifact, "@")
		}
		if f.Event == last.Event {
			item, parts := f.Item, f.Parts
			f = last
			f.Item, f.Parts = item, parts
			return yield(f)
		}
		f.Action, f.Subject = Action(row.int(1)), Subject{Kind(same.of(row.text(2))), row.text(3)}
		f.Span = row.span(10, same.of(row.text(12)))
		f.Span.Written = row.text(13)
		f.Source, f.SHA256, f.Op = row.int(14), same.of(row.text(15)), row.int(16)
		f.Origin = Origin{Path: same.of(row.text(17)), Line: row.int(18), Offset: row.int(19), Text: row.text(20)}
		last = f
		return yield(f)
	}, query, args...)
	if err != nil {
		return fmt.Errorf("read timeline: %w", err)
	}
	return nil
}

func parseDigests(text string) []Digest {
	var out []Digest
	for line := range strings.Lines(text) {
		value, role, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		out = append(out, Digest{value, Role(role)})
	}
	return out
}

func setSpan(s *Span, t0, t1 sql.NullInt64, clock string) {
	s.From, s.To, s.Clock = Beginning, Forever, Clock(clock)
	if t0.Valid {
		s.From = t0.Int64
	}
	if t1.Valid {
		s.To = t1.Int64
	}
}

// FactsAbout yields every fact on an artifact of one of the types whose type
// and name want accepts. It sees each name once, whatever its versions and
// however many events name it.
func (db *DB) FactsAbout(types []string, want func(Parts) bool, yield func(Fact) error) error {
	for _, t := range types {
		var names []any
		rows, err := db.sql.Query("SELECT DISTINCT name FROM artifact WHERE type=?", t)
		if err != nil {
			return fmt.Errorf("read timeline: %w", err)
		}
		for rows.Next() {
			p := Parts{Type: t}
			if err := rows.Scan(&p.Name); err != nil {
				return fmt.Errorf("read timeline: %w", errors.Join(err, rows.Close()))
			}
			if want(p) {
				names = append(names, p.Name)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return fmt.Errorf("read timeline: %w", err)
		}
		items := "SELECT i.id FROM artifact n CROSS JOIN item i ON i.artifact=n.id WHERE n.type='" + strings.ReplaceAll(t, "'", "''") + "' AND n.name IN "
		if err := db.factsIn(items, names, yield); err != nil {
			return err
		}
	}
	return nil
}

// FactsWith yields every fact that carries one of the digests, whatever it
// calls them.
func (db *DB) FactsWith(digests []string, yield func(Fact) error) error {
	args := make([]any, len(digests))
	for i, d := range digests {
		args[i] = d
	}
	return db.factsIn(`SELECT d.item FROM item_digest d WHERE d.value IN `, args, yield)
}

// chunk is how many values one statement takes.
const chunk = 500

func (db *DB) factsIn(items string, args []any, yield func(Fact) error) error {
	for len(args) > 0 {
		part := args[:min(chunk, len(args))]
		args = args[len(part):]
		query := "SELECT " + factColumns + " FROM bundle_item b JOIN event e ON e.bundle=b.bundle" + factJoins +
			"WHERE b.item IN (" + items + "(?" + strings.Repeat(",?", len(part)-1) + ")) ORDER BY e.id, i.id"
		if err := db.facts(yield, query, part...); err != nil {
			return err
		}
	}
	return nil
}

// FactsOf yields the facts of one action. It is fast for opaque and hold, which
// have an index.
func (db *DB) FactsOf(yield func(Fact) error, a Action) error {
	return db.facts(yield, "SELECT "+factColumns+" FROM event e JOIN bundle_item b ON b.bundle=e.bundle"+factJoins+
		"WHERE e.action = "+strconv.Itoa(int(a))+" ORDER BY e.id, i.id")
}

// Filter narrows the timeline; zero fields do not.
type Filter struct {
	Subject  string // glob on id or kind:id
	Artifact string // glob; without a version it fits any
	Action   Action
	From, To int64  // both zero: any time
	Source   string // glob on the path
	Limit    int
}

// Timeline yields events in order of time, those without a time last.
func (db *DB) Timeline(f Filter, yield func(Fact) error) error {
	where, args := "1", []any{}
	add := func(cond string, a ...any) { where += " AND " + cond; args = append(args, a...) }
	// Names are looked up where each stands once; the events of their bundles and
	// of their sources have indexes.
	if f.Subject != "" {
		const whose = "(SELECT u.id FROM subject u WHERE u.name GLOB ? OR u.kind||':'||u.name GLOB ?)"
		add("e.subject IN "+whose, f.Subject, f.Subject)
		if f.Artifact == "" {
			add("e.source IN (SELECT n.source FROM named n WHERE n.subject IN "+whose+")", f.Subject, f.Subject)
		}
	}
	items, itemArgs := "", []any{}
	if f.Artifact != "" {
		items = " AND (a.text GLOB ? OR a.text GLOB ? OR a.text GLOB ?)"
		itemArgs = []any{f.Artifact, f.Artifact + "@*", f.Artifact + ":*"}
		add("e.bundle IN (SELECT b.bundle FROM artifact a CROSS JOIN item i ON i.artifact=a.id CROSS JOIN bundle_item b ON b.item=i.id WHERE 1"+items+")", itemArgs...)
	}
	if f.Action != NoAction {
		add("e.action=?", int64(f.Action))
	}
	if f.From != 0 || f.To != 0 {
		add("(e.t0 IS NULL OR e.t0 <= ?) AND (e.t1 IS NULL OR e.t1 >= ?)", f.To, f.From)
	}
	if f.Source != "" {
		add("e.path IN (SELECT p.id FROM path p WHERE p.text GLOB ?)", f.Source)
	}
	const order, limit = " ORDER BY e.t0 IS NULL, e.t0, e.source, e.id", " LIMIT ?"
	last := ""
	if f.Limit > 0 { // of each of the first events there is a row
		where = "e.id IN (SELECT e.id FROM event e WHERE " + where + " AND e.source IN (SELECT s.id FROM source s WHERE s.complete=1)" + order + limit + ")"
		args = append(args, f.Limit)
		last, itemArgs = limit, append(itemArgs, f.Limit)
	}
	return db.facts(yield, "SELECT "+factColumns+" FROM event e CROSS JOIN bundle_item b ON b.bundle=e.bundle"+factJoins+
		"WHERE "+where+items+order+", i.id"+last, append(args, itemArgs...)...)
}

// FactsOfOps yields the facts of some operations of one source.
func (db *DB) FactsOfOps(source int64, ops []int64, yield func(Fact) error) error {
	if len(ops) == 0 {
		return nil
	}
	args := []any{source}
	for _, o := range ops {
		args = append(args, o)
	}
	return db.facts(yield, "SELECT "+factColumns+" FROM event e JOIN bundle_item b ON b.bundle=e.bundle"+factJoins+
		"WHERE e.source=? AND e.op IN (?"+strings.Repeat(",?", len(ops)-1)+") ORDER BY e.id, i.id", args...)
}
