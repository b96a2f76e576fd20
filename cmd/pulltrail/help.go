package main

import (
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// rootHelp is the way through the verbs, and what their exit codes say.
const rootHelp = `Who pulled the compromised release? Answers from the logs you already have.

  pulltrail ingest LOGS...              read them into a case
  pulltrail match litellm-1.107.0       who was exposed; see 'incidents'
  pulltrail coverage litellm-1.107.0    what was not seen, and how to close it
  pulltrail explain host:web1           every line behind a verdict
  pulltrail report responder -o r.html  write it down

'pulltrail demo' does all of it with evidence of its own.

Exit codes:
  0   done, everything read; of 'match': every subject clear, evidence complete
  1   failure            2   usage             130  interrupted: run it again
  3   something was not read or cannot be told; of 'match': nothing found, and
      the evidence is not complete
  5   'verify': a hash does not hold
  10  'match', 'canary run': somebody exposed or pulled
  11  'match', 'canary run': somebody possible, nobody more
  12  'rotate verify': something is open`

// helpWidth is how wide the narrowest terminal is that people still use.
const helpWidth = 80

// narrow makes the help of a verb, and of those below it, fit a terminal: flags
// and paragraphs are wrapped, tables and examples stay as they are.
func narrow(c *cobra.Command) {
	if !c.HasParent() { // those below it use the same
		c.SetUsageTemplate(strings.ReplaceAll(c.UsageTemplate(), "Flags.FlagUsages", "Flags.FlagUsagesWrapped 80"))
	}
	c.Long = reflow(c.Long)
	for _, sub := range c.Commands() {
		narrow(sub)
	}
}

// reflow wraps the paragraphs of a text in which some line is too wide.
// Indented lines are tables or examples.
func reflow(text string) string {
	var out []string
	for _, part := range strings.Split(text, "\n\n") {
		wide, indented := false, false
		for line := range strings.Lines(part) {
			wide = wide || utf8.RuneCountInString(strings.TrimRight(line, "\n")) >= helpWidth
			indented = indented || strings.HasPrefix(line, " ")
		}
		if wide && !indented {
			part = wrapped(strings.Fields(part))
		}
		out = append(out, part)
	}
	return strings.Join(out, "\n\n")
}

func wrapped(words []string) string {
	var b strings.Builder
	width := 0
	for _, word := range words {
		n := utf8.RuneCountInString(word)
		switch {
		case width == 0:
		case width+1+n >= helpWidth:
			b.WriteByte('\n')
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += n
	}
	return b.String()
}
