package matchers

import (
	"hash/maphash"
	"iter"
	"maps"
	"math/bits"
	"slices"
	"sort"
	"strings"

	"pulltrail/timeline"
)

// about is what is known of one subject.
type about struct {
	subject timeline.Subject
	asked   bool // it gets a verdict
	on      string
	judged  []judged
	cleared []cleared
	missing *timeline.ExpectedRow  // a record says that it existed, and its evidence is not whole
	rows    []timeline.CoverageRow // what sources say that they cover of it
}

// people are the subjects of a case. Nearly all are those that evidence speaks
// of: they stand in one list, by kind and id, and are searched.
type people struct {
	known  []about
	places placesOf
	others map[timeline.Subject]*about
}

// newPeople takes the subjects, and what sources say that they cover of each.
func newPeople(r *record) *people {
	p := &people{known: make([]about, len(r.subjects)), others: map[timeline.Subject]*about{}}
	rows := r.coverage
	for i, s := range r.subjects {
		for len(rows) > 0 && rows[0].Subject != s && compareSubjects(rows[0].Subject, s) < 0 {
			rows = rows[1:] // read after the subjects were
		}
		n := 0
		for n < len(rows) && rows[n].Subject == s {
			n++
		}
		p.known[i] = about{subject: s, rows: rows[:n:n]}
		rows = rows[n:]
	}
	p.places = newPlaces(r.subjects)
	return p
}

// place is where a subject stands among those that evidence speaks of.
func (p *people) place(s timeline.Subject) (int, bool) {
	for at := p.places.start(s); ; at++ {
		i := p.places.slots[at&p.places.mask] - 1
		if i < 0 {
			return 0, false
		}
		if p.known[i].subject == s {
			return int(i), true
		}
	}
}

// placesOf finds places in a list by hash: a search of the list itself looks at
// a dozen names, each somewhere else in memory.
type placesOf struct {
	slots []int32 // places, from 1 on
	mask  uint64
	seed  maphash.Seed
}

func newPlaces(of []timeline.Subject) placesOf {
	size := 1 << bits.Len(uint(2*len(of)))
	p := placesOf{make([]int32, size), uint64(size - 1), maphash.MakeSeed()}
	for i, s := range of {
		at := p.start(s)
		for p.slots[at&p.mask] != 0 {
			at++
		}
		p.slots[at&p.mask] = int32(i) + 1 //nolint:gosec // there are not that many subjects
	}
	return p
}

func (p *placesOf) start(s timeline.Subject) uint64 { return maphash.String(p.seed, s.ID) }

// of is what is known of a subject, which gets a verdict from now on.
func (p *people) of(s timeline.Subject) *about {
	if i, ok := p.place(s); ok {
		p.known[i].asked = true
		return &p.known[i]
	}
	a := p.others[s]
	if a == nil {
		a = &about{subject: s, asked: true}
		p.others[s] = a
	}
	return a
}

// find is what is known of a subject that gets a verdict, nil of another one.
func (p *people) find(s timeline.Subject) *about {
	if i, ok := p.place(s); !ok {
		return p.others[s]
	} else if p.known[i].asked {
		return &p.known[i]
	}
	return nil
}

// held is what is known of a subject, nil when nothing is; whether it gets a
// verdict or not.
func (p *people) held(s timeline.Subject) *about {
	if i, ok := p.place(s); ok {
		return &p.known[i]
	}
	return p.others[s]
}

// rowsOf is what sources say that they cover of a subject.
func (p *people) rowsOf(s timeline.Subject) []timeline.CoverageRow {
	if a := p.held(s); a != nil {
		return a.rows
	}
	return nil
}

// named reports whether some source speaks of a subject.
func (p *people) named(s timeline.Subject) bool {
	_, ok := p.place(s)
	return ok
}

// hasJobs reports whether some source speaks of a job of an attempt.
func (p *people) hasJobs(attempt string) bool {
	prefix := attempt + "/jobs/"
	first := timeline.Subject{Kind: timeline.Job, ID: prefix}
	i, _ := sort.Find(len(p.known), func(i int) int { return compareSubjects(first, p.known[i].subject) })
	return i < len(p.known) && p.known[i].subject.Kind == timeline.Job && strings.HasPrefix(p.known[i].subject.ID, prefix)
}

// hasJobsAt is hasJobs of the subject at a place. Its jobs stand soon after it.
func (p *people) hasJobsAt(i int) bool {
	id := p.known[i].subject.ID
	for range 4 {
		if i++; i == len(p.known) || p.known[i].subject.Kind != timeline.Job {
			return false
		}
		rest, ok := strings.CutPrefix(p.known[i].subject.ID, id)
		if !ok || rest > "/jobs0" { // '0' comes after '/'
			return false
		}
		if strings.HasPrefix(rest, "/jobs/") {
			return true
		}
	}
	return p.hasJobs(id)
}

// all yields those who get a verdict, in any order.
func (p *people) all() iter.Seq[*about] {
	return func(yield func(*about) bool) {
		for i := range p.known {
			if a := &p.known[i]; a.asked && !yield(a) {
				return
			}
		}
		for _, a := range p.others {
			if !yield(a) {
				return
			}
		}
	}
}

// sorted lists those who get a verdict, by kind and id.
func (p *people) sorted() []*about {
	others := slices.SortedFunc(maps.Values(p.others), func(a, b *about) int { return compareSubjects(a.subject, b.subject) })
	out := make([]*about, 0, len(p.known)+len(others))
	for i := range p.known {
		for len(others) > 0 && compareSubjects(others[0].subject, p.known[i].subject) < 0 {
			out, others = append(out, others[0]), others[1:]
		}
		if p.known[i].asked {
			out = append(out, &p.known[i])
		}
	}
	return append(out, others...)
}
