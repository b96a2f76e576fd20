package evidence

import "slices"

// Records are lines that are JSON objects. A tool that reads them lists in
// Format.Fields the names that its records have, and in Format.Lists those of
// the arrays that hold them in an envelope; its parser gets one whole object as
// the text of a line, wherever it stood: on a line of its own in any frame, one
// of many that are printed one after the other over several lines, or an
// element of an array.

// maxNames bounds the names of fields that the table of records knows.
const maxNames = 256

// names is a set of field names of the table.
type names [maxNames / 64]uint64

func (n *names) add(i int)      { n[i/64] |= 1 << (i % 64) }
func (n *names) has(i int) bool { return n[i/64]&(1<<(i%64)) != 0 }

func (n *names) holds(other *names) bool {
	for i := range n {
		if n[i]&other[i] != other[i] {
			return false
		}
	}
	return true
}

// recordTable finds the tools that a record may belong to by the names of its
// fields: one walk over the object, whatever the number of tools.
type recordTable struct {
	number map[string]int
	sets   []recordSet
	lists  []recordList
}

type recordSet struct {
	need names
	tool int
}

type recordList struct {
	name int
	tool int
}

// add takes a tool up.
func (t *recordTable) add(f *Format, tool int) {
	for _, set := range f.Fields {
		s := recordSet{tool: tool}
		for _, name := range set {
			s.need.add(t.name(name))
		}
		t.sets = append(t.sets, s)
	}
	for _, name := range f.Lists {
		t.lists = append(t.lists, recordList{t.name(name), tool})
	}
}

func (t *recordTable) name(s string) int {
	if t.number == nil {
		t.number = map[string]int{}
	}
	n, have := t.number[s]
	if !have {
		n = len(t.number)
		if n == maxNames {
			panic("evidence: more names of fields than the table of records holds")
		}
		t.number[s] = n
	}
	return n
}

// namesOf walks over an object. whole is false when it does not end.
func (t *recordTable) namesOf(object []byte) (has names, whole bool) {
	f := JSONFields(object)
	for more := true; more; {
		more = f.Next()
		if n, known := t.number[string(f.Key)]; known {
			has.add(n)
		}
	}
	return has, f.Whole()
}

// may reports whether an object may be a record of a tool, or hold some.
func (t *recordTable) may(object []byte) bool {
	has, whole := t.namesOf(object)
	if !whole || has == (names{}) {
		return false
	}
	for i := range t.sets {
		if has.holds(&t.sets[i].need) {
			return true
		}
	}
	return slices.ContainsFunc(t.lists, func(l recordList) bool { return has.has(l.name) })
}

// fits reports whether an object with these fields may be a record of the tool.
func (t *recordTable) fits(tool int, has *names) bool {
	for i := range t.sets {
		if s := &t.sets[i]; s.tool == tool && has.holds(&s.need) {
			return true
		}
	}
	return false
}

// objects gives an object to the tools whose records have its fields, else the
// elements of the lists in it. It reports whether a tool took any.
func (r *Reading) objects(text []byte, l *Line, s *Stream) bool {
	t := &r.machine.records
	has, whole := t.namesOf(text)
	if !whole || has == (names{}) {
		return false
	}
	for i := range t.sets {
		if set := &t.sets[i]; has.holds(&set.need) && r.ask(set.tool, l, s) {
			return true
		}
	}
	took := false
	for _, list := range t.lists {
		if has.has(list.name) {
			took = r.elements(text, list, l, s) || took
		}
	}
	return took
}

// elements gives the elements of a list in an envelope to its tool.
func (r *Reading) elements(envelope []byte, list recordList, l *Line, s *Stream) bool {
	t := &r.machine.records
	took := false
	for f := JSONFields(envelope); f.Next(); {
		if n, known := t.number[string(f.Key)]; !known || n != list.name {
			continue
		}
		for e := JSONElements(f.Value); e.Next(); {
			has, whole := t.namesOf(e.Value)
			if !whole || !t.fits(list.tool, &has) {
				continue
			}
			sub := *l
			sub.Text = e.Value
			r.line = &sub
			took = r.ask(list.tool, &sub, s) || took
			r.line = l
		}
	}
	return took
}

// Record takes one JSON object of a source that a tool claimed, wherever it
// stood in the source. What no tool takes is skipped.
func (r *Reading) Record(l *Line) {
	r.line, r.stream = l, r.root
	if r.claimed > 0 { // a frame of records
		before := r.marks
		if r.dispatch(l, r.root, 0); r.marks == before {
			r.line, r.stream = l, r.root
			r.Skip("no record of this format")
		}
		return
	}
	if !r.objects(l.Text, l, r.root) && !r.machine.records.empty(l.Text) {
		r.Skip("no record of this format")
	}
}

// empty reports whether the object is an envelope with an empty list.
func (t *recordTable) empty(envelope []byte) bool {
	for f := JSONFields(envelope); f.Next(); {
		if n, known := t.number[string(f.Key)]; known && t.isList(n) && len(f.Value) > 1 && f.Value[0] == '[' && skipBlank(f.Value[1:])[0] == ']' {
			return true
		}
	}
	return false
}

func (t *recordTable) isList(name int) bool {
	for _, l := range t.lists {
		if l.name == name {
			return true
		}
	}
	return false
}

// Stray takes a line of such a source that is no JSON.
func (r *Reading) Stray(l *Line) {
	before := r.marks
	r.Line(l)
	if r.marks == before {
		r.line = l
		r.Skip("neither a record nor a line of this format")
	}
}

// Elements walks over the elements of one JSON array without allocating.
type Elements struct {
	Value []byte // as written

	rest  []byte
	begun bool
}

// JSONElements starts at the array that text begins with.
func JSONElements(text []byte) Elements { return Elements{rest: skipBlank(text)} }

// Next goes to the next element; false at the end, and where the text is no
// JSON.
func (e *Elements) Next() bool {
	open := byte(',')
	if !e.begun {
		open, e.begun = '[', true
	}
	if len(e.rest) == 0 || e.rest[0] != open {
		return false
	}
	e.rest = skipBlank(e.rest[1:])
	n := valueLen(e.rest)
	if n == 0 {
		return false
	}
	e.Value = e.rest[:n]
	e.rest = skipBlank(e.rest[n:])
	return true
}

// ClaimsRecords reports whether the source begins with a record of the format,
// alone, in an array or in an envelope, and Claim, if there is one, agrees.
func (f *Format) ClaimsRecords(h *Head) bool {
	text := skipBlank(h.Bytes)
	if len(f.Fields) == 0 || len(text) == 0 || text[0] != '{' && text[0] != '[' {
		return false
	}
	var t recordTable
	t.add(f, 0)
	return t.claims(text) && (f.Claim == nil || f.Claim(h))
}

func (t *recordTable) claims(text []byte) bool {
	if text[0] == '[' {
		if text = skipBlank(text[1:]); len(text) == 0 || text[0] != '{' {
			return false
		}
	}
	if has, _ := t.namesOf(text); t.fits(0, &has) {
		return true
	}
	f := JSONFields(text)
	for f.Next() {
		if t.firstOf(&f) {
			return true
		}
	}
	return t.firstOf(&f) // the head ends inside the list
}

// firstOf reports whether the field is a list whose first element is a record.
func (t *recordTable) firstOf(f *Fields) bool {
	n, known := t.number[string(f.Key)]
	if !known || len(f.Value) == 0 || f.Value[0] != '[' {
		return false
	}
	for _, l := range t.lists {
		if l.name == n {
			has, _ := t.namesOf(skipBlank(f.Value[1:]))
			return t.fits(l.tool, &has)
		}
	}
	return false
}
