package main

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOrder reads the demo evidence in other orders, twice, and one file at a
// time: the answer and the report must be the same bytes.
func TestOrder(t *testing.T) {
	for _, name := range []string{"incident", "complete"} {
		h := newHalf(t, name)
		plain := h.steps
		_, want := h.answer(plain, "--json")
		wantReport := h.report(plain)
		if strings.Count(want, `"verdict"`) < 8 {
			t.Fatalf("%s: hardly an answer: %s", name, want)
		}
		last := len(plain) - 1 // match
		shuffled := append([][]string{}, plain...)
		rand.New(rand.NewPCG(21, 10)).Shuffle(last, func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] }) //nolint:gosec // an order, no secret
		twice := append(append([][]string{}, plain[:last]...), plain...)
		for how, steps := range map[string][][]string{"shuffled": shuffled, "twice": twice, "one file at a time": h.single()} {
			if _, got := h.answer(steps, "--json"); got != want {
				t.Errorf("%s, %s: another answer: %s", name, how, difference(want, got))
			}
			if got := h.report(steps); got != wantReport {
				t.Errorf("%s, %s: another report: %s", name, how, difference(wantReport, got))
			}
		}
	}
}

// report is the responder report after the steps.
func (h *half) report(steps [][]string) string {
	h.t.Helper()
	dir := h.t.TempDir()
	file := filepath.Join(dir, "r.md")
	c := filepath.Join(dir, "case")
	for _, s := range append(append([][]string{}, steps...), []string{"report", "responder", "--as-of", "2026-10-22T18:00:00Z", "-o", file}) {
		var out, errs strings.Builder
		if code := run(context.Background(), append(append([]string{}, s...), "--case", c), strings.NewReader(""), &out, &errs); code == exitFailure || code == exitUsage {
			h.t.Fatalf("%v: %s", s, errs.String())
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(data)
}

// single reads one file with each command, the last one first.
func (h *half) single() [][]string {
	h.t.Helper()
	var out [][]string
	for _, s := range h.steps[:len(h.steps)-1] {
		var flags []string
		for _, w := range s {
			if !strings.HasPrefix(w, h.dir) {
				flags = append(flags, w)
			}
		}
		one := &half{t: h.t, dir: h.dir, steps: [][]string{s}}
		for _, f := range one.files() {
			out = append([][]string{append(append([]string{}, flags...), f)}, out...)
		}
	}
	return append(out, h.steps[len(h.steps)-1])
}

// difference shows the first line that differs.
func difference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return "want " + w[i] + ", got " + g[i]
		}
	}
	return "one is longer"
}
