package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// layerAnswers are the four questions of the table of layers, and what of a
// questionnaire answers each, the plain answer first; rest takes what is left.
var layerAnswers = []struct {
	label     string
	questions []string
	rest      bool
}{
	{"operated by", []string{asksOperator}, false},
	{"shared by", []string{asksShared, asksApart}, false},
	{"it runs", []string{asksVersion}, true},
	{"told", []string{asksTold}, false},
}

// LayersTable prints for a terminal what a questionnaire says of the layers under
// an AI feature: four answers each, with their day, on one screen. customer is
// "" for all.
func LayersTable(w io.Writer, c *Case, customer string) error {
	doc := newQuestionnaire(c, customer)
	for first, rest := 0, doc.Rows; first < len(rest); {
		layer := rest[first].Layer
		end := first
		for end < len(rest) && rest[end].Layer == layer {
			end++
		}
		if layer != subprocessors && layer != agreement {
			if err := layerTable(w, layer, rest[first:end]); err != nil {
				return err
			}
		}
		first = end
	}
	_, err := fmt.Fprintf(w, "Of all questions, %d not confirmed, %d stale; the whole of it: pulltrail report questionnaire -o layers.html\n", doc.Open, doc.Stale)
	return err
}

func layerTable(w io.Writer, layer string, rows []QuestionRow) error {
	var taken []string
	for _, a := range layerAnswers {
		taken = append(taken, a.questions...)
	}
	fmt.Fprintln(w, Text(layer))
	for _, a := range layerAnswers {
		var lines, open []string
		for _, r := range rows {
			of := slices.Contains(a.questions, r.Question) || a.rest && !slices.Contains(taken, r.Question)
			switch {
			case !of || r.State == toDo || r.State == draft || r.Question == asksVersion && answeredBelow(rows, r):
			case r.State == notConfirmed:
				open = append(open, r.Question)
			default:
				lines = append(lines, answerLine(r, r.Question != a.questions[0]))
			}
		}
		switch {
		case len(open) > 0 && len(a.questions) == 1 && !a.rest:
			lines = append(lines, notConfirmed)
		case len(open) > 0:
			lines = append(lines, notConfirmed+": "+strings.Join(open, "; "))
		}
		for i, line := range lines {
			label := a.label
			if i > 0 {
				label = ""
			}
			fmt.Fprintf(w, "  %-12s %s\n", label, Text(line))
		}
	}
	_, err := fmt.Fprintln(w)
	return err
}

// answeredBelow reports whether the evidence that stands for an answer has a row
// of its own, which says what it is of.
func answeredBelow(rows []QuestionRow, r QuestionRow) bool {
	return r.State == evidence && slices.ContainsFunc(rows, func(o QuestionRow) bool { return o.Question != r.Question && o.Answer == r.Answer })
}

// answerLine is one answer with what it rests on, named by its question where that
// is not plain.
func answerLine(r QuestionRow, named bool) string {
	s := r.Answer
	if named {
		s = r.Question + ": " + s
	}
	switch {
	case r.State == stale:
		return fmt.Sprintf("%s  (stated %s, stale since %s)", s, r.Date, r.ReviewBy)
	case r.State == stated && r.Date != "":
		return fmt.Sprintf("%s  (stated %s)", s, r.Date)
	}
	return s // evidence names its day itself
}
