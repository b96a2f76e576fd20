package timeline

import (
	"fmt"
	"slices"
	"strings"
)

// Endpoints yields the distinct endpoints (domain:, ip:, url:) that each of the
// subjects contacted, whenever that was.
func (db *DB) Endpoints(subjects []Subject, yield func(who Subject, endpoint string)) error {
	for part := range slices.Chunk(subjects, chunk/2) {
		args := make([]any, 0, 2*len(part))
		for _, s := range part {
			args = append(args, string(s.Kind), s.ID)
		}
		// The condition on the action is that of the index event_contact.
		rows, err := db.sql.Query("SELECT w.kind,w.name,a.text FROM (SELECT DISTINCT e.subject AS subject,e.bundle AS bundle FROM (VALUES (?,?)"+
			strings.Repeat(",(?,?)", len(part)-1)+`) v CROSS JOIN subject w ON w.kind=v.column1 AND w.name=v.column2
			CROSS JOIN event e ON e.subject=w.id JOIN source s ON s.id=e.source AND s.complete=1 WHERE e.action = 14) d
			JOIN subject w ON w.id=d.subject JOIN bundle_item b ON b.bundle=d.bundle JOIN item i ON i.id=b.item JOIN artifact a ON a.id=i.artifact
			ORDER BY w.kind,w.name,a.text`, args...)
		if err != nil {
			return fmt.Errorf("read contacts: %w", err)
		}
		for rows.Next() {
			var who Subject
			var kind, endpoint string
			if err := rows.Scan(&kind, &who.ID, &endpoint); err != nil {
				rows.Close()
				return fmt.Errorf("read contacts: %w", err)
			}
			who.Kind = Kind(kind)
			yield(who, endpoint)
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return fmt.Errorf("read contacts: %w", err)
		}
	}
	return nil
}
