package timeline

import (
	"database/sql"
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
func (db *DB) FactsAbout(types []string, want func(Parts) bool, yield func(*Fact) error) error {
	for _, t := range types {
		var names []any
		err := db.each(func(row rawRow) {
			if p := (Parts{Type: t, Name: row.text(0)}); want(p) {
				names = append(names, p.Name)
			}
		}, "SELECT DISTINCT name FROM artifact WHERE type=?", t)
		if err != nil {
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
func (db *DB) FactsWith(digests []string, yield func(*Fact) error) error {
	args := make([]any, len(digests))
	for i, d := range digests {
		args[i] = d
	}
	return db.factsIn(`SELECT d.item FROM item_digest d WHERE d.value IN `, args, yield)
}

// chunk is how many values one statement takes.
const chunk = 500

func (db *DB) factsIn(items string, args []any, yield func(*Fact) error) error {
	for len(args) > 0 {
		part := args[:min(chunk, len(args))]
		args = args[len(part):]
		var f found
		if err := db.eventsOn(&f, items+"(?"+strings.Repeat(",?", len(part)-1)+")", part...); err != nil {
			return fmt.Errorf("read timeline: %w", err)
		}
		if err := db.factsOfEvents(&f, yield); err != nil {
			return err
		}
	}
	return nil
}

// FactsOf yields the facts of one action. It is fast for opaque and hold, which
// have an index.
func (db *DB) FactsOf(a Action, yield func(Fact) error) error {
	return db.facts(yield, "SELECT "+factColumns+" FROM event e JOIN bundle_item b ON b.bundle=e.bundle"+factJoins+
		"WHERE e.action = "+strconv.Itoa(int(a))+" ORDER BY e.id, b.item")
}

// Filter narrows the timeline; zero fields do not.
type Filter struct {
	Subject  string // glob on id or kind:id
	Artifact string // glob; without a version it fits any
	Action   Action
	From, To int64  // nanoseconds since 1970 UTC; both zero: any time
	Source   string // glob on the path
	Limit    int    // how many rows at the most; 0: all
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
	if items != "" {
		items = " AND b.item IN (SELECT i.id FROM artifact a CROSS JOIN item i ON i.artifact=a.id WHERE 1" + items + ")"
	}
	return db.facts(yield, "SELECT "+factColumns+" FROM event e CROSS JOIN bundle_item b ON b.bundle=e.bundle"+factJoins+
		"WHERE "+where+items+order+", b.item"+last, append(args, itemArgs...)...)
}

// FactsOfOps yields the facts of some operations of one source.
func (db *DB) FactsOfOps(source int64, ops []int64, yield func(*Fact) error) error {
	if len(ops) == 0 {
		return nil
	}
	var f found
	if err := db.each(func(row rawRow) { f.ids = append(f.ids, row.int(0)) },
		"SELECT id FROM event WHERE source=? AND op"+inList, source, idList(ops)); err != nil {
		return fmt.Errorf("read timeline: %w", err)
	}
	return db.factsOfEvents(&f, yield)
}
