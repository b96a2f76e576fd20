package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// layerAnswers are the four questions of the table of layers, and what of a
// questionnaire answers each; the third takes whatever is left.
var layerAnswers = []struct {
	label     string
	questions []string
}{
	{"operated by", []string{"who operates it"}},
	{"shared by", []string{"who shares it", "how customers are kept apart"}},
	{"it runs", nil},
	{"told", []string{"what the customer is told"}},
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
		said := map[string]bool{} // what stands in several cells
		for _, r := range rows {
			of := slices.Contains(a.questions, r.Question) || a.questions == nil && !slices.Contains(taken, r.Question)
			switch {
			case !of || r.State == toDo || r.State == draft || said[r.Answer] && r.State == evidence:
			case r.State == notConfirmed:
				open = append(open, r.Question)
			default:
				said[r.Answer] = true
				lines = append(lines, answerLine(r, len(a.questions) != 1))
			}
		}
		switch {
		case len(open) > 0 && len(a.questions) == 1:
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

// answerLine is one answer with what it rests on, and its question where there
// are several.
func answerLine(r QuestionRow, several bool) string {
	s := r.Answer
	if several && r.Question != "who shares it" {
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
