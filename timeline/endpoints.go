package timeline

import (
	"fmt"
	"slices"
)

// Endpoints yields of each of the subjects the first endpoint (domain:, ip:,
// url:), by name, that it contacted and that is wanted, whenever that was.
func (db *DB) Endpoints(subjects []Subject, want func(endpoint string) bool, yield func(who Subject, endpoint string)) error {
	if len(subjects) == 0 {
		return nil
	}
	ids, err := db.numbersOf(subjects)
	if err != nil {
		return fmt.Errorf("read contacts: %w", err)
	}
	contacts, named, err := db.contacts(ids)
	if err != nil {
		return fmt.Errorf("read contacts: %w", err)
	}
	first := make(map[int64]string, len(named)) // of what is wanted
	for bundle, list := range named {
		for _, endpoint := range list {
			if old, ok := first[bundle]; (!ok || endpoint < old) && want(endpoint) {
				first[bundle] = endpoint
			}
		}
	}
	for part := range slices.Chunk(subjects, chunk/2) {
		part = slices.Clone(part)
		slices.SortFunc(part, Subject.Compare)
		for _, who := range slices.Compact(part) {
			least, some := "", false
			for _, bundle := range contacts[who] {
				if endpoint, ok := first[bundle]; ok && (!some || endpoint < least) {
					least, some = endpoint, true
				}
			}
			if some {
				yield(who, least)
			}
		}
	}
	return nil
}

// contacts reads the bundles that subjects contacted, and the endpoints in them:
// few, and contacted by many.
func (db *DB) contacts(ids []int64) (contacts map[Subject][]int64, named map[int64][]string, err error) {
	r, err := db.known()
	if err != nil {
		return nil, nil, err
	}
	if len(ids) > chunk {
		go db.ahead().whole("event_contact")
	}
	contacts, named = make(map[Subject][]int64, len(ids)), map[int64][]string{}
	var wanted []int64
	// The condition on the action is that of the index event_contact.
	err = db.each(func(row rawRow) {
		var bundles []int64
		numbers(row.text(1), func(bundle int64) {
			bundles = append(bundles, bundle)
			if _, ok := named[bundle]; !ok {
				named[bundle] = nil
				wanted = append(wanted, bundle)
			}
		})
		contacts[r.of(row.int(0))] = bundles
	}, `SELECT e.subject,group_concat(DISTINCT e.bundle) FROM event e JOIN source s ON s.id=e.source AND s.complete=1
		WHERE e.action = 14 AND e.subject`+inList+" GROUP BY e.subject", idList(ids))
	if err != nil {
		return nil, nil, err
	}
	err = db.each(func(row rawRow) { named[row.int(0)] = append(named[row.int(0)], row.text(1)) },
		`SELECT b.bundle,a.text FROM bundle_item b JOIN item i ON i.id=b.item JOIN artifact a ON a.id=i.artifact WHERE b.bundle`+inList, idList(wanted))
	return contacts, named, err
}
