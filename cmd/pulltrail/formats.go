package main

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pulltrail/ingest"
	"pulltrail/ingest/evidence"
)

// formatJSON is one row of 'formats --json'.
type formatJSON struct {
	Name   string `json:"name"`
	Shape  string `json:"shape"`
	Title  string `json:"title"`
	Proves string `json:"proves"`
	Cannot string `json:"cannot"`
	Doc    string `json:"doc"`
	Sample string `json:"sample"`
}

func (a *app) formatsCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "formats [WORD]",
		Short: "List what can be read: what each format proves, and what it cannot",
		Long: `List what can be read, with WORD only what names it ('pulltrail formats docker').

  frame     takes one layer off a line and knows when and where; frames nest
  tool      knows what one line says, in any frame or in none
  document  is read whole: what is in place, not when it came

'ingest' tells the format from the content; 'ingest --format NAME' forces one.`,
		Args: wants("at most one WORD to look for", cobra.MaximumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return a.formats(strings.Join(args, "")) },
	}
}

func (a *app) formats(word string) error {
	var formats []*evidence.Format
	for i := range ingest.Formats {
		f := &ingest.Formats[i]
		if holds(word, f.Name, f.Title, f.Proves) {
			formats = append(formats, f)
		}
	}
	if len(formats) == 0 {
		return usage("no format names %q: 'pulltrail formats' lists all", word)
	}
	if a.json {
		for _, f := range formats {
			row := formatJSON{f.Name, string(f.Shape), f.Title, f.Proves, f.Cannot, f.Doc, f.Sample}
			if err := a.printJSON(a.out, row); err != nil {
				return err
			}
		}
		return nil
	}
	out := bufio.NewWriter(a.out)
	for _, shape := range []evidence.Shape{evidence.FrameShape, evidence.ToolShape, evidence.DocumentShape} {
		for _, f := range formats {
			if f.Shape != shape {
				continue
			}
			fmt.Fprintf(out, "%-20s %-9s %s\n", f.Name, f.Shape, f.Title)
			for _, row := range [][2]string{{"proves", f.Proves}, {"cannot", f.Cannot}, {"about", f.Doc}, {"sample", f.Sample}} {
				if row[1] != "" {
					fmt.Fprintf(out, "    %-7s %s\n", row[0], row[1])
				}
			}
		}
	}
	return out.Flush()
}

// holds reports whether one of the texts holds a word, in any case.
func holds(word string, texts ...string) bool {
	word = strings.ToLower(word)
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(strings.ToLower(text), word) })
}
