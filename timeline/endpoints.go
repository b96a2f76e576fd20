package timeline

import (
	"fmt"
	"slices"
	"strings"
)

// Endpoints yields the distinct endpoints (domain:, ip:, url:) that each of the
// subjects contacted, whenever that was, in order.
func (db *DB) Endpoints(subjects []Subject, yield func(who Subject, endpoint string)) error {
	named := map[int64][]string{} // endpoints by bundle: few, and contacted by many
	for part := range slices.Chunk(subjects, chunk/2) {
		if err := db.endpoints(part, named, yield); err != nil {
			return fmt.Errorf("read contacts: %w", err)
		}
	}
	return nil
}

func (db *DB) endpoints(subjects []Subject, named map[int64][]string, yield func(Subject, string)) error {
	args := make([]any, 0, 2*len(subjects))
	for _, s := range subjects {
		args = append(args, string(s.Kind), s.ID)
	}
	type contacts struct {
		who     Subject
		bundles []int64
	}
	var all []contacts
	var wanted []any
	// The condition on the action is that of the index event_contact.
	err := db.each(func(row rawRow) {
		c := contacts{who: Subject{Kind(row.text(0)), row.text(1)}}
		numbers(row.text(2), func(bundle int64) {
			c.bundles = append(c.bundles, bundle)
			if _, ok := named[bundle]; !ok {
				named[bundle] = nil
				wanted = append(wanted, bundle)
			}
		})
		all = append(all, c)
	}, "SELECT w.kind,w.name,group_concat(DISTINCT e.bundle) FROM (VALUES (?,?)"+strings.Repeat(",(?,?)", len(subjects)-1)+`) v
		CROSS JOIN subject w ON w.kind=v.column1 AND w.name=v.column2
		CROSS JOIN event e ON e.subject=w.id JOIN source s ON s.id=e.source AND s.complete=1 WHERE e.action = 14
		GROUP BY w.id ORDER BY w.kind,w.name`, args...)
	if err != nil {
		return err
	}
	for part := range slices.Chunk(wanted, chunk) {
		if err := db.each(func(row rawRow) { named[row.int(0)] = append(named[row.int(0)], row.text(1)) },
			`SELECT b.bundle,a.text FROM bundle_item b JOIN item i ON i.id=b.item JOIN artifact a ON a.id=i.artifact
			WHERE b.bundle IN (?`+strings.Repeat(",?", len(part)-1)+")", part...); err != nil {
			return err
		}
	}
	for _, c := range all {
		var list []string
		for _, bundle := range c.bundles {
			list = append(list, named[bundle]...)
		}
		slices.Sort(list)
		for _, endpoint := range slices.Compact(list) {
			yield(c.who, endpoint)
		}
	}
	return nil
}
