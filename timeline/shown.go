package timeline

import (
	"fmt"
	"strconv"
)

// Shown returns where it stands that a package of the type, or an image for
// "image", came to a subject or was there in the span; "" when nothing that was
// read shows one. What was only asked for shows nothing.
func (db *DB) Shown(who Subject, kind string, when Span) (place string, err error) {
	err = db.each(func(row rawRow) { place = row.text(0) + ":" + strconv.FormatInt(row.int(1), 10) }, `
		SELECT p.text, e.line FROM subject s JOIN named n ON n.subject = s.id JOIN event e ON e.source = n.source AND e.subject = s.id
		JOIN bundle_item b ON b.bundle = e.bundle JOIN item i ON i.id = b.item JOIN artifact a ON a.id = i.artifact JOIN path p ON p.id = e.path
		WHERE s.kind = ? AND s.name = ? AND a.type = ? AND e.action BETWEEN ? AND ?
		AND (e.t0 IS NULL OR e.t0 <= ?) AND (e.t1 IS NULL OR e.t1 >= ?)
		ORDER BY p.text, e.line LIMIT 1`,
		string(who.Kind), who.ID, kind, int64(Cached), int64(Remove), when.To, when.From)
	if err != nil {
		return "", fmt.Errorf("read timeline: %w", err)
	}
	return place, nil
}
