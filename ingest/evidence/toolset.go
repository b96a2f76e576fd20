package evidence

import "math/bits"

// toolSet is a set of tools of the table by their numbers.
type toolSet [2]uint64

// maxTools is how many tools a table can have.
const maxTools = len(toolSet{}) * 64

func (t *toolSet) add(i int)      { t[i/64] |= 1 << (i % 64) }
func (t *toolSet) drop(i int)     { t[i/64] &^= 1 << (i % 64) }
func (t *toolSet) has(i int) bool { return t[i/64]&(1<<(i%64)) != 0 }

// first returns the lowest tool that is in the set and not in the other, and
// takes it out; -1 when there is none.
func (t *toolSet) first(but *toolSet) int {
	for w := range t {
		if rest := t[w] &^ but[w]; rest != 0 {
			i := w*64 + bits.TrailingZeros64(rest)
			t.drop(i)
			return i
		}
	}
	return -1
}
