package timeline

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
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
	return list(ctx, q, "sources", func(row scanner) (r SourceRow, err error) {
		var state string
		var t0, t1 sql.NullInt64
		err = row.Scan(&r.ID, &r.SHA256, &r.Claim, &r.Path, &r.Format, &state, &r.Why, &r.Bytes, &r.Events, &r.Skipped,
			&t0, &t1, &r.Zone, &r.Covers, &r.Skew, &r.Parser, &r.Command, &r.ReadAt)
		var s Span
		setSpan(&s, t0, t1, "")
		r.State, r.First, r.Last = State(state), s.From, s.To
		return r, err
	}, `SELECT id,sha256,claim,path,format,state,why,bytes,events,skipped,t0,t1,zone,covers,skew,parser,command,read_at
		FROM source WHERE complete=1 ORDER BY path,claim,sha256`)
}

// Ops returns the operations of one source by number.
func (db *DB) Ops(source int64) (map[int64]Op, error) {
	out := map[int64]Op{}
	same := interned{}
	err := db.each(func(row rawRow) {
		n := row.int(0)
		out[n] = Op{Number: n, Parent: row.int(1), Tool: same.of(row.text(2)), Command: same.of(row.text(3)), State: OpState(same.of(row.text(4)))}
	}, "SELECT number,parent,tool,command,state FROM op WHERE source=?", source)
	if err != nil {
		return nil, fmt.Errorf("read operations: %w", err)
	}
	return out, nil
}

// OpKey names an operation in the case.
type OpKey struct{ Source, Number int64 }

// SomeOps returns those of some operations that are stored.
func (db *DB) SomeOps(keys []OpKey) (map[OpKey]Op, error) {
	out := make(map[OpKey]Op, len(keys))
	const half = 32 // bits: two numbers go into one
	joint := make([]int64, 0, len(keys))
	for _, k := range keys {
		if k.Source>>half == 0 && k.Number>>half == 0 { // else there are too many: it is found among those of its source
			joint = append(joint, k.Source<<half|k.Number)
		}
	}
	slices.Sort(joint)
	joint = slices.Compact(joint)
	parts := slices.Collect(slices.Chunk(joint, eventsPart))
	var mu sync.Mutex
	err := atOnce(len(parts), func(i int) error {
		same := interned{}
		return db.each(func(row rawRow) {
			k := OpKey{row.int(0), row.int(1)}
			op := Op{Number: k.Number, Parent: row.int(2), Tool: same.of(row.text(3)), Command: same.of(row.text(4)), State: OpState(same.of(row.text(5)))}
			mu.Lock()
			out[k] = op
			mu.Unlock()
		}, `SELECT o.source,o.number,o.parent,o.tool,o.command,o.state FROM json_each(?) j
			CROSS JOIN op o ON o.source=j.value>>32 AND o.number=j.value&0xffffffff`, idList(parts[i]))
	})
	if err != nil {
		return nil, fmt.Errorf("read operations: %w", err)
	}
	return out, nil
}

// Inventory returns the inventory and its mirrors.
func (db *DB) Inventory() ([]InventoryRow, []Mirror, error) {
	ctx := context.Background()
	hosts, err := list(ctx, db.sql, "inventory", func(row scanner) (r InventoryRow, err error) {
		var channels string
		var t0, t1 sql.NullInt64
		err = row.Scan(&r.Address, &r.Host, &t0, &t1, &r.Service, &r.Owner, &r.Customer, &r.Egress, &channels, &r.File, &r.Line)
		r.Channels = strings.Fields(channels)
		setSpan(&r.Span, t0, t1, "")
		return r, err
	}, "SELECT address,host,t0,t1,service,owner,customer,egress,channels,file,line FROM inventory ORDER BY id")
	if err != nil {
		return nil, nil, err
	}
	mirrors, err := list(ctx, db.sql, "inventory", func(row scanner) (m Mirror, err error) {
		err = row.Scan(&m.Prefix, &m.Upstream, &m.File, &m.Line)
		return m, err
	}, "SELECT prefix,upstream,file,line FROM mirror ORDER BY prefix")
	return hosts, mirrors, err
}

// SkipRow is a record that was not understood, with its source.
type SkipRow struct {
	Source int64
	Skip
}

// Skips returns what was not understood, in reading order.
func (db *DB) Skips() ([]SkipRow, error) {
	return list(context.Background(), db.sql, "skips", func(row scanner) (k SkipRow, err error) {
		err = row.Scan(&k.Source, &k.Path, &k.Line, &k.Offset, &k.Reason, &k.Text)
		return k, err
	}, `SELECT k.source,p.text,k.line,k.off,k.reason,k.excerpt FROM skip k
		JOIN source s ON s.id=k.source AND s.complete=1 JOIN path p ON p.id=k.path ORDER BY k.rowid`)
}
