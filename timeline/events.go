package timeline

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
)

// Facts on many events are read in two steps: the numbers of the events from an
// index that has nothing else, and then their rows, in order, so that each page
// is read once, and on several connections, so that the disk is kept busy.

// idList writes numbers as json_each reads them: one argument holds any number.
func idList(ids []int64) string {
	b := make([]byte, 0, 8*len(ids)+2)
	b = append(b, '[')
	for i, id := range ids {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, id, 10)
	}
	return string(append(b, ']'))
}

// inList is a condition on numbers that idList wrote.
const inList = " IN (SELECT value FROM json_each(?))"

// found are events, and what of the sets that they name was asked for.
type found struct {
	ids   []int64
	items map[int64][]int64 // by bundle, in order
}

// eventsOn finds the events that name one of the items that a query gives.
func (db *DB) eventsOn(f *found, items string, args ...any) error {
	bundles := map[int64][]int64{}
	err := db.each(func(row rawRow) {
		bundles[row.int(0)] = append(bundles[row.int(0)], row.int(1))
	}, "SELECT bundle,item FROM bundle_item WHERE item IN ("+items+")", args...)
	if err != nil || len(bundles) == 0 {
		return err
	}
	list := make([]int64, 0, len(bundles))
	for b, of := range bundles {
		slices.Sort(of)
		list = append(list, b)
	}
	slices.Sort(list)
	f.items = bundles
	return db.each(func(row rawRow) { f.ids = append(f.ids, row.int(0)) }, "SELECT id FROM event WHERE bundle"+inList, idList(list))
}

// eventsPart is how many events one statement reads.
const eventsPart = 400

// eventsAtOnce bounds how many facts are held before they are yielded.
const eventsAtOnce = 64 * eventsPart

// factsOfEvents yields the facts of events in the order of their numbers; of
// sets whose items are not given, all of them. Who is given a fact may keep it.
func (db *DB) factsOfEvents(f *found, yield func(*Fact) error) error {
	slices.Sort(f.ids)
	f.ids = slices.Compact(f.ids)
	db.askFor("event", f.ids)
	for some := range slices.Chunk(f.ids, eventsAtOnce) {
		parts := slices.Collect(slices.Chunk(some, eventsPart))
		read := make([]pending, len(parts))
		if err := atOnce(len(parts), func(i int) error { return db.readEvents(parts[i], f.items, &read[i]) }); err != nil {
			return fmt.Errorf("read timeline: %w", err)
		}
		for i := range read {
			if err := db.lookUp(&read[i]); err != nil {
				return fmt.Errorf("read timeline: %w", err)
			}
			for k := range read[i].facts {
				if err := yield(&read[i].facts[k]); err != nil {
					return err
				}
			}
			read[i] = pending{}
		}
	}
	return nil
}

// askFor has the system read rows of a table, where they are many enough for
// that to be worth it.
func (db *DB) askFor(table string, ids []int64) {
	if len(ids) > 64 {
		go db.ahead().rows(table, ids)
	}
}

// atOnce runs a function for each of so many numbers, several at once: twice as
// many as there are cores, for half of them wait for the disk.
func atOnce(n int, run func(i int) error) error {
	if n == 1 {
		return run(0)
	}
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	workers := make([]func() error, min(n, 2*runtime.GOMAXPROCS(0), readers))
	for w := range workers {
		workers[w] = func() error {
			for i := range next {
				if err := run(i); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return together(workers...)
}

// readEvents reads the rows of events.
func (db *DB) readEvents(ids []int64, items map[int64][]int64, p *pending) error {
	same := interned{}
	p.facts = make([]Fact, 0, len(ids))
	var whole []int64 // sets of which nothing is given
	known := map[int64]bool{}
	var bundles []int64
	err := db.each(func(row rawRow) {
		bundle := row.int(3)
		bundles = append(bundles, bundle)
		if items[bundle] == nil && !known[bundle] {
			known[bundle] = true
			whole = append(whole, bundle)
		}
		p.add(row, same)
	}, "SELECT e.id,e.action,e.subject,e.bundle,"+eventColumns+" FROM event e"+factJoins+"WHERE e.id"+inList+" ORDER BY e.id", idList(ids))
	if err != nil {
		return err
	}
	if len(whole) > 0 {
		of := make(map[int64][]int64, len(whole))
		for b, list := range items {
			of[b] = list
		}
		if err := db.each(func(row rawRow) { of[row.int(0)] = append(of[row.int(0)], row.int(1)) },
			"SELECT bundle,item FROM bundle_item WHERE bundle"+inList+" ORDER BY bundle,item", idList(whole)); err != nil {
			return err
		}
		items = of
	}
	p.spread(bundles, items)
	return nil
}

// spread makes a fact of each item of the events.
func (p *pending) spread(bundles []int64, items map[int64][]int64) {
	one := true
	for _, b := range bundles {
		one = one && len(items[b]) == 1
	}
	if one {
		for i, b := range bundles {
			p.things[i] = items[b][0]
		}
		return
	}
	var out pending
	for i, b := range bundles {
		for _, item := range items[b] {
			out.facts = append(out.facts, p.facts[i])
			out.subjects, out.paths = append(out.subjects, p.subjects[i]), append(out.paths, p.paths[i])
			out.things = append(out.things, item)
		}
	}
	*p = out
}

// bySubject finds the events of subjects under a condition that has an index by
// subject.
func (db *DB) bySubject(subjects []Subject, where string, yield func(*Fact) error) error {
	if len(subjects) == 0 {
		return nil
	}
	ids, err := db.numbersOf(subjects)
	if err != nil {
		return fmt.Errorf("read timeline: %w", err)
	}
	var f found
	// Without the index, while a new case is loaded, this is one scan for all of them.
	if err := db.each(func(row rawRow) { f.ids = append(f.ids, row.int(0)) },
		"SELECT e.id FROM event e WHERE "+where+" AND e.subject"+inList, idList(ids)); err != nil {
		return fmt.Errorf("read timeline: %w", err)
	}
	return db.factsOfEvents(&f, yield)
}

// numbersOf are the numbers of subjects, in order; those that the case does not
// know are left out.
func (db *DB) numbersOf(subjects []Subject) ([]int64, error) {
	r, err := db.known()
	if err != nil {
		return nil, err
	}
	out := make([]int64, 0, len(subjects))
	for _, s := range subjects {
		if id, ok := r.number(s); ok {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
