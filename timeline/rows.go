package timeline

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
)

// SourceRow is a source as it was read.
type SourceRow struct {
	ID int64
	SourceInfo
}

// Sources returns the complete sources by path.
func (db *DB) Sources() ([]SourceRow, error) {
	return readSources(context.Background(), db.sql)
}

func readSources(ctx context.Context, q reading) ([]SourceRow, error) {
	rows, err := q.QueryContext(ctx, `SELECT id,sha256,claim,path,format,state,why,bytes,events,skipped,t0,t1,zone,covers,skew,parser,command,read_at
		FROM source WHERE complete=1 ORDER BY path,claim,sha256`)
	if err != nil {
		return nil, fmt.Errorf("read sources: %w", err)
	}
	defer rows.Close()
	var out []SourceRow
	for rows.Next() {
		var r SourceRow
		var state string
		var t0, t1 sql.NullInt64
		if err := rows.Scan(&r.ID, &r.SHA256, &r.Claim, &r.Path, &r.Format, &state, &r.Why, &r.Bytes, &r.Events, &r.Skipped,
			&t0, &t1, &r.Zone, &r.Covers, &r.Skew, &r.Parser, &r.Command, &r.ReadAt); err != nil {
			return nil, fmt.Errorf("read sources: %w", err)
		}
		var s Span
		setSpan(&s, t0, t1, "")
		r.State, r.First, r.Last = State(state), s.From, s.To
		out = append(out, r)
	}
	return out, rows.Err()
}

// Subjects returns every subject that some complete source names or that a
// person claimed, by kind and id. Hosts of the inventory are not in it.
func (db *DB) Subjects() ([]Subject, error) {
	rows, err := db.sql.Query(`SELECT DISTINCT u.kind,u.name FROM subject u WHERE
		u.id IN (SELECT n.subject FROM named n JOIN source s ON s.id=n.source AND s.complete=1)
		OR u.id IN (SELECT c.subject FROM claimed c JOIN source s ON s.id=c.source AND s.complete=1)
		OR u.id IN (SELECT c.subject FROM coverage c JOIN source s ON s.id=c.source AND s.complete=1)
		ORDER BY u.kind,u.name`)
	if err != nil {
		return nil, fmt.Errorf("read subjects: %w", err)
	}
	defer rows.Close()
	var out []Subject
	for rows.Next() {
		var kind string
		var s Subject
		if err := rows.Scan(&kind, &s.ID); err != nil {
			return nil, fmt.Errorf("read subjects: %w", err)
		}
		s.Kind = Kind(kind)
		out = append(out, s)
	}
	return out, rows.Err()
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
	rows, err := db.sql.Query(`SELECT l.source,s.sha256,l.relation,l.a,l.b,l.t0,l.t1,l.clock,l.written,p.text,l.line,l.off,l.excerpt
		FROM link l JOIN source s ON s.id=l.source AND s.complete=1 JOIN path p ON p.id=l.path
		WHERE l.relation IN (?`+strings.Repeat(",?", len(args)-1)+`) ORDER BY l.id`, args...)
	if err != nil {
		return nil, fmt.Errorf("read links: %w", err)
	}
	defer rows.Close()
	var out []LinkRow
	for rows.Next() {
		var l LinkRow
		var relation, clock string
		var t0, t1 sql.NullInt64
		if err := rows.Scan(&l.Source, &l.SHA256, &relation, &l.From, &l.To, &t0, &t1, &clock, &l.Span.Written,
			&l.Path, &l.Line, &l.Offset, &l.Text); err != nil {
			return nil, fmt.Errorf("read links: %w", err)
		}
		l.Relation = Relation(relation)
		setSpan(&l.Span, t0, t1, clock)
		out = append(out, l)
	}
	return out, rows.Err()
}

// CoverageRow is a coverage statement with its source.
type CoverageRow struct {
	Source int64
	Coverage
}

// Coverages returns what the complete sources cover.
func (db *DB) Coverages() ([]CoverageRow, error) {
	rows, err := db.sql.Query(`SELECT c.source,u.kind,u.name,c.topic,c.t0,c.t1,c.whole,c.why FROM coverage c
		JOIN source s ON s.id=c.source AND s.complete=1 JOIN subject u ON u.id=c.subject ORDER BY c.rowid`)
	if err != nil {
		return nil, fmt.Errorf("read coverage: %w", err)
	}
	defer rows.Close()
	var out []CoverageRow
	for rows.Next() {
		var c CoverageRow
		var kind, topic string
		var t0, t1 sql.NullInt64
		if err := rows.Scan(&c.Source, &kind, &c.Subject.ID, &topic, &t0, &t1, &c.Whole, &c.Why); err != nil {
			return nil, fmt.Errorf("read coverage: %w", err)
		}
		c.Subject.Kind, c.Topic = Kind(kind), Topic(topic)
		setSpan(&c.Span, t0, t1, "")
		out = append(out, c)
	}
	return out, rows.Err()
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
	rows, err := db.sql.Query(`SELECT e.source,s.sha256,u.kind,u.name,e.channel,e.t0,e.t1,e.reason,e.detail,p.text,e.line FROM expected e
		JOIN source s ON s.id=e.source AND s.complete=1 JOIN subject u ON u.id=e.subject JOIN path p ON p.id=e.path
		UNION ALL
		SELECT 0,'',substr(claim,1,instr(claim,':')-1),substr(claim,instr(claim,':')+1),'',t0,t1,outcome,detail,url,0
		FROM inquiry WHERE gap=1 AND claim<>''`)
	if err != nil {
		return nil, fmt.Errorf("read expected evidence: %w", err)
	}
	defer rows.Close()
	var out []ExpectedRow
	for rows.Next() {
		var x ExpectedRow
		var kind string
		var t0, t1 sql.NullInt64
		if err := rows.Scan(&x.Source, &x.SHA256, &kind, &x.Subject.ID, &x.Channel, &t0, &t1, &x.Reason, &x.Detail, &x.Path, &x.Line); err != nil {
			return nil, fmt.Errorf("read expected evidence: %w", err)
		}
		x.Subject.Kind = Kind(kind)
		setSpan(&x.Span, t0, t1, "")
		out = append(out, x)
	}
	return out, rows.Err()
}

// OpKey names an operation in the case.
type OpKey struct{ Source, Number int64 }

// Ops returns the operations of one source by number.
func (db *DB) Ops(source int64) (map[int64]Op, error) {
	rows, err := db.sql.Query("SELECT number,parent,tool,command,state FROM op WHERE source=?", source)
	if err != nil {
		return nil, fmt.Errorf("read operations: %w", err)
	}
	defer rows.Close()
	out := map[int64]Op{}
	for rows.Next() {
		var o Op
		var state string
		if err := rows.Scan(&o.Number, &o.Parent, &o.Tool, &o.Command, &state); err != nil {
			return nil, fmt.Errorf("read operations: %w", err)
		}
		o.State = OpState(state)
		out[o.Number] = o
	}
	return out, rows.Err()
}

// Inventory returns the inventory and its mirrors.
func (db *DB) Inventory() ([]InventoryRow, []Mirror, error) {
	rows, err := db.sql.Query(`SELECT address,host,t0,t1,service,owner,customer,egress,channels,file,line FROM inventory ORDER BY id`)
	if err != nil {
		return nil, nil, fmt.Errorf("read inventory: %w", err)
	}
	defer rows.Close()
	var hosts []InventoryRow
	for rows.Next() {
		var r InventoryRow
		var channels string
		var t0, t1 sql.NullInt64
		if err := rows.Scan(&r.Address, &r.Host, &t0, &t1, &r.Service, &r.Owner, &r.Customer, &r.Egress, &channels, &r.File, &r.Line); err != nil {
			return nil, nil, fmt.Errorf("read inventory: %w", err)
		}
		r.Channels = strings.Fields(channels)
		setSpan(&r.Span, t0, t1, "")
		hosts = append(hosts, r)
	}
	if err := rows.Err(); err != nil {
		return nil, nil, fmt.Errorf("read inventory: %w", err)
	}
	mirrors, err := db.mirrors()
	return hosts, mirrors, err
}

func (db *DB) mirrors() ([]Mirror, error) {
	rows, err := db.sql.Query("SELECT prefix,upstream,file,line FROM mirror ORDER BY prefix")
	if err != nil {
		return nil, fmt.Errorf("read inventory: %w", err)
	}
	defer rows.Close()
	var out []Mirror
	for rows.Next() {
		var m Mirror
		if err := rows.Scan(&m.Prefix, &m.Upstream, &m.File, &m.Line); err != nil {
			return nil, fmt.Errorf("read inventory: %w", err)
		}
		out = append(out, m)
	}
	return out, rows.Err()
}

// SkipRow is a record that was not understood, with its source.
type SkipRow struct {
	Source int64
	Skip
}

// Skips returns what was not understood, in reading order.
func (db *DB) Skips() ([]SkipRow, error) {
	rows, err := db.sql.Query(`SELECT k.source,p.text,k.line,k.off,k.reason,k.excerpt FROM skip k
		JOIN source s ON s.id=k.source AND s.complete=1 JOIN path p ON p.id=k.path ORDER BY k.rowid`)
	if err != nil {
		return nil, fmt.Errorf("read skips: %w", err)
	}
	defer rows.Close()
	var out []SkipRow
	for rows.Next() {
		var k SkipRow
		if err := rows.Scan(&k.Source, &k.Path, &k.Line, &k.Offset, &k.Reason, &k.Text); err != nil {
			return nil, fmt.Errorf("read skips: %w", err)
		}
		out = append(out, k)
	}
	return out, rows.Err()
}
