package frame

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// headless notes that a step printed something or ended before its header came:
// the printer never writes in that order.
func (b *build) headless(st *step, n int) {
	if st.name == "" && b.unheaded == 0 {
		b.unheaded = n
	}
}

// lost says which step of a build lines are missing of; "" when none is. The
// printer counts the steps that it prints, so that each number comes, though in
// any order, and those of a stage are counted too: excerpts that people made to
// show something lack the one or the other.
func (b *build) lost() string {
	if b.unheaded > 0 {
		return fmt.Sprintf("of step #%d something stands in the log, and not how it begins", b.unheaded)
	}
	gap, in := false, map[string]map[int]bool{}
	total := map[string]int{}
	for n := 1; n < b.highest; n++ {
		gap = gap || b.steps[n] == nil
	}
	for _, st := range b.steps {
		if stage, k, of, ok := stageStep(st.name); ok {
			if in[stage] == nil {
				in[stage] = map[int]bool{}
			}
			in[stage][k] = true
			if before := total[stage]; before != 0 && before != of {
				return "" // several builds, or none
			}
			total[stage] = of
		}
	}
	for _, stage := range slices.Sorted(maps.Keys(in)) {
		for k := 1; gap && k <= total[stage]; k++ {
			if !in[stage][k] {
				return fmt.Sprintf("step [%s] of %d does not begin in the log", strings.TrimLeft(stage+" "+strconv.Itoa(k), " "), total[stage])
			}
		}
	}
	return ""
}

// stageStep reads which step of its stage a header is of.
//
//	[stage-0 5/17] COPY . .
//	[2/4] RUN make
func stageStep(name string) (stage string, k, of int, ok bool) {
	in, _, ok := strings.Cut(strings.TrimPrefix(name, "["), "] ")
	if !ok || name[0] != '[' {
		return "", 0, 0, false
	}
	i := strings.LastIndexByte(in, ' ')
	number, count, ok := strings.Cut(in[i+1:], "/")
	k, err := strconv.Atoi(number)
	of, more := strconv.Atoi(count)
	return in[:max(i, 0)], k, of, ok && err == nil && more == nil && k > 0 && of < maxSteps
}
