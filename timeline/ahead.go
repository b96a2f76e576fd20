package timeline

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"sync"
)

// ahead asks the system for pages of the database file before SQLite wants them.
// SQLite reads one page after the other, and waits for each: of a case that is
// not in memory that is most of the time that a match takes. The pages that a
// query needs stand in the inner pages of its trees, which are few
// (https://www.sqlite.org/fileformat2.html#b_tree_pages). It is advice: what is
// read here never becomes an answer, and no error of it is one.
type ahead struct {
	file  *os.File
	size  int64 // of a page
	pages int64
	roots map[string]int64 // of tables and indexes, by name
}

// aheads makes it once, when it is first asked for.
type aheads struct {
	once sync.Once
	of   *ahead
}

// ahead is nil where the file cannot be read in this way.
func (db *DB) ahead() *ahead {
	db.aheads.once.Do(func() { db.aheads.of = newAhead(db) })
	return db.aheads.of
}

func newAhead(db *DB) *ahead {
	f, err := os.Open(filepath.Join(db.dir, "timeline.db"))
	if err != nil {
		return nil
	}
	a := &ahead{file: f, roots: map[string]int64{}}
	var head [100]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		f.Close()
		return nil
	}
	if a.size = int64(binary.BigEndian.Uint16(head[16:])); a.size == 1 {
		a.size = 65536
	}
	if s, err := f.Stat(); err == nil && a.size >= 512 {
		a.pages = s.Size() / a.size
	}
	err = db.each(func(row rawRow) { a.roots[row.text(0)] = row.int(1) }, "SELECT name,rootpage FROM sqlite_schema WHERE rootpage>0")
	if err != nil || a.pages == 0 {
		f.Close()
		return nil
	}
	return a
}

// close ends it; what still runs finds its file closed.
func (a *aheads) close() {
	a.once.Do(func() {})
	if a.of != nil {
		a.of.file.Close()
	}
}

// maxDepth is how deep a tree can be.
const maxDepth = 20

// whole asks for all pages of tables and indexes, one after the other, and
// returns how many those have.
func (a *ahead) whole(names ...string) (pages int) {
	if a == nil {
		return 0
	}
	page := make([]byte, a.size)
	for _, name := range names {
		level := []int64{a.roots[name]}
		for range maxDepth {
			var next []int64
			for _, n := range level {
				next = a.children(page, n, next)
			}
			a.ask(next)
			pages += len(next)
			if len(next) == 0 || !a.inner(page, next[0]) {
				break
			}
			level = next
		}
	}
	return pages
}

// rows asks for the pages of the rows of a table with these numbers, which are
// in order, and returns them.
func (a *ahead) rows(table string, ids []int64) []int64 {
	if a == nil {
		return nil
	}
	type part struct {
		page int64
		ids  []int64
	}
	page := make([]byte, a.size)
	level := []part{{a.roots[table], ids}}
	var pages []int64
	for range maxDepth {
		var next []part
		for _, p := range level {
			a.split(page, p.page, p.ids, func(child int64, of []int64) { next = append(next, part{child, of}) })
		}
		pages = make([]int64, len(next))
		for i := range next {
			pages[i] = next[i].page
		}
		a.ask(pages)
		if len(next) == 0 || !a.inner(page, pages[0]) {
			break
		}
		level = next
	}
	return pages
}

// Kinds of pages, and where in an inner page what begins.
const (
	innerIndex = 2
	innerTable = 5

	atCells = 3  // how many there are
	atLast  = 8  // the page after all cells
	atFirst = 12 // where each cell is, two bytes each
)

// inner reads an inner page; it reports false of any other.
func (a *ahead) inner(page []byte, n int64) bool {
	if n < 2 || n > a.pages { // the first has the schema
		return false
	}
	_, err := a.file.ReadAt(page, (n-1)*a.size)
	return err == nil && (page[0] == innerIndex || page[0] == innerTable)
}

// children lists the pages below an inner page.
func (a *ahead) children(page []byte, n int64, out []int64) []int64 {
	if int64(len(out)) > a.pages || !a.inner(page, n) {
		return out // a tree has no more pages than the file
	}
	for i := range int(binary.BigEndian.Uint16(page[atCells:])) {
		if c := cell(page, i); c != nil {
			out = append(out, int64(binary.BigEndian.Uint32(c)))
		}
	}
	return append(out, int64(binary.BigEndian.Uint32(page[atLast:])))
}

// split yields the pages below an inner page of a table with the rows that each
// has.
func (a *ahead) split(page []byte, n int64, ids []int64, yield func(child int64, of []int64)) {
	if !a.inner(page, n) || page[0] != innerTable {
		return
	}
	for i := range int(binary.BigEndian.Uint16(page[atCells:])) {
		c := cell(page, i)
		if c == nil || len(ids) == 0 {
			return
		}
		last := varint(c[4:]) // row of the child
		n := sort.Search(len(ids), func(i int) bool { return ids[i] > last })
		if n > 0 {
			yield(int64(binary.BigEndian.Uint32(c)), ids[:n])
		}
		ids = ids[n:]
	}
	if len(ids) > 0 {
		yield(int64(binary.BigEndian.Uint32(page[atLast:])), ids)
	}
}

// cell is a cell of an inner page, with what comes after it; nil where there can
// be none.
func cell(page []byte, i int) []byte {
	if atFirst+2*i+2 > len(page) {
		return nil
	}
	at := int(binary.BigEndian.Uint16(page[atFirst+2*i:]))
	if at < atFirst || at+5 > len(page) {
		return nil
	}
	return page[at:]
}

// varint reads a number as SQLite writes it: seven bits a byte, the first ones
// first, and eight in a ninth byte.
// https://www.sqlite.org/fileformat2.html#varint
func varint(b []byte) int64 {
	var n int64
	for i, c := range b[:min(9, len(b))] {
		if i == 8 {
			return n<<8 | int64(c)
		}
		n = n<<7 | int64(c&0x7f)
		if c < 0x80 {
			break
		}
	}
	return n
}

// ask asks for pages, in the order of the file, those that stand together at
// once; for none of them when they are in memory, as far as a few tell.
func (a *ahead) ask(pages []int64) {
	pages = slices.DeleteFunc(slices.Clone(pages), func(n int64) bool { return n < 1 || n > a.pages })
	slices.Sort(pages)
	if a.inMemory(pages) {
		return
	}
	const gap = 4 // pages between that are read as well rather than asked around
	for len(pages) > 0 {
		n := 1
		for n < len(pages) && pages[n]-pages[n-1] <= gap {
			n++
		}
		if !a.want((pages[0]-1)*a.size, (pages[n-1]-pages[0]+1)*a.size) {
			return
		}
		pages = pages[n:]
	}
}

// inMemory looks at some of the pages.
func (a *ahead) inMemory(pages []int64) bool {
	const some = 32
	for i := range some {
		if n := i * len(pages) / some; n < len(pages) && !a.has((pages[n]-1)*a.size) {
			return false
		}
	}
	return true
}
