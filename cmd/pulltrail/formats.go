package main

import (
	"bufio"
	"fmt"

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
		Use:   "formats",
		Short: "List what can be read: what each format proves, and what it cannot",
		Long: `List what can be read.

  frame     takes one layer off a line and knows when and where; frames nest
  tool      knows what one line says, in any frame or in none
  document  is read whole: what is in place, not when it came

'ingest' tells the format from the content; 'ingest --format NAME' forces one.`,
		RunE: func(*cobra.Command, []string) error { return a.formats() },
	}
}

func (a *app) formats() error {
	if a.json {
		for _, f := range ingest.Formats {
			row := formatJSON{f.Name, string(f.Shape), f.Title, f.Proves, f.Cannot, f.Doc, f.Sample}
			if err := a.printJSON(a.out, row); err != nil {
				return err
			}
		}
		return nil
	}
	out := bufio.NewWriter(a.out)
	for _, shape := range []evidence.Shape{evidence.FrameShape, evidence.ToolShape, evidence.DocumentShape} {
		for _, f := range ingest.Formats {
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
