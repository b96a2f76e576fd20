package timeline

import (
	"sort"
	"sync"
)

// roster is whom the numbers in other tables mean, and which sources count.
type roster struct {
	subjects []Subject // by number; the zero Subject is none
	order    []int64   // the numbers, by kind and id
	complete []bool    // by number of the source
}

func (db *DB) readRoster() (*roster, error) {
	most := db.atMost("subject")
	r := &roster{subjects: make([]Subject, 0, most+1), order: make([]int64, 0, most)}
	kinds := interned{}
	// The index of the names has them in order.
	err := db.each(func(row rawRow) {
		id := row.int(0)
		for int64(len(r.subjects)) <= id {
			r.subjects = append(r.subjects, Subject{})
		}
		r.subjects[id] = Subject{Kind(kinds.of(row.text(1))), row.text(2)}
		r.order = append(r.order, id)
	}, "SELECT id,kind,name FROM subject ORDER BY kind,name")
	if err == nil {
		err = db.each(func(row rawRow) {
			for int64(len(r.complete)) <= row.int(0) {
				r.complete = append(r.complete, false)
			}
			r.complete[row.int(0)] = true
		}, "SELECT id FROM source WHERE complete=1")
	}
	return r, err
}

// counts reports whether a source is complete.
func (r *roster) counts(source int64) bool {
	return source >= 0 && source < int64(len(r.complete)) && r.complete[source]
}

// of is the subject of a number; one that came after the roster was read is
// none.
func (r *roster) of(id int64) Subject {
	if r == nil || id < 0 || id >= int64(len(r.subjects)) {
		return Subject{}
	}
	return r.subjects[id]
}

// arrange puts rows that are of subjects, by number, in the order of the
// subjects, those of one in the order they have; what is of nobody comes last.
func (r *roster) arrange(rows []ExpectedRow, numbers []int64) {
	next := make([]int32, max(1, len(r.subjects))) // of each subject, the place of its next row
	for _, id := range numbers {
		next[id]++
	}
	place := int32(0)
	for _, id := range r.order {
		n := next[id]
		next[id] = place
		place += n
	}
	next[0] = place
	from := make([]int, len(rows)) // what comes to each place
	for i, id := range numbers {
		from[next[id]] = i
		next[id]++
	}
	Permute(rows, from)
}

// Permute moves rows to their places: from says which comes to each. They are
// large, and each moves once.
func Permute[T any](rows []T, from []int) {
	for i := range rows {
		if from[i] == i {
			continue
		}
		first, at := rows[i], i // of a circle in which each goes to the place of the next
		for from[at] != i {
			next := from[at]
			rows[at] = rows[next]
			from[at], at = at, next
		}
		rows[at], from[at] = first, at
	}
}

// number is the number of a subject.
func (r *roster) number(s Subject) (int64, bool) {
	i, ok := sort.Find(len(r.order), func(i int) int { return s.Compare(r.subjects[r.order[i]]) })
	if !ok {
		return 0, false
	}
	return r.order[i], true
}

// rosters are the roster that a match reads once, for all its queries.
type rosters struct {
	mu  sync.Mutex
	now func() (*roster, error) // waits until it is read; nil: nobody wants one
}

// renew begins to read the roster.
func (db *DB) renew() {
	read := sync.OnceValues(db.readRoster)
	db.rosters.mu.Lock()
	db.rosters.now = read
	db.rosters.mu.Unlock()
	go func() { _, _ = read() }() // who needs it is told of the error
}

// held is the roster that was wanted, nil when none was.
func (r *rosters) held() (*roster, error) {
	r.mu.Lock()
	read := r.now
	r.mu.Unlock()
	if read == nil {
		return nil, nil //nolint:nilnil // not having one is no error
	}
	return read()
}

// known is the roster, read now when nobody wanted it before.
func (db *DB) known() (*roster, error) {
	r, err := db.rosters.held()
	if r != nil || err != nil {
		return r, err
	}
	db.renew()
	return db.rosters.held()
}
