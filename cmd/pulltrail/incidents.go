package main

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"pulltrail/matchers"
	"pulltrail/reports"
	"pulltrail/timeline"
)

// incidentJSON is one row of 'incidents --json'.
type incidentJSON struct {
	ID        string             `json:"id"`
	Published string             `json:"published"`
	Kind      string             `json:"kind"`
	Title     string             `json:"title"`
	Aliases   []string           `json:"aliases"`
	Channels  []matchers.Channel `json:"channels"`
	Revision  string             `json:"revision"`
}

func (a *app) incidentsCmd() *cobra.Command {
	c := &cobra.Command{
		Use:   "incidents [WORD]",
		Short: "List the known incidents; show, check or import one",
		Long: `List the incidents that 'pulltrail match' knows, newest first; with WORD those
that name it, a package or an image too ('pulltrail incidents litellm').

'pulltrail incidents show ID' prints the facts of one. An incident of your own
is a file: 'pulltrail incidents check FILE' tells what is wrong with it, and
'pulltrail match FILE' asks it. 'pulltrail incidents import PATH' makes drafts of
OSV records.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && len(c.SuggestionsFor(args[0])) == 0 {
				return nil
			}
			return unknownVerb(c, args)
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.incidents(strings.Join(args, "")) },
	}
	c.SuggestionsMinimumDistance = 2
	c.AddCommand(
		&cobra.Command{
			Use:   "show INCIDENT",
			Short: "Print the facts of an incident: id, alias, FILE.yaml",
			Args:  usageOf(cobra.ExactArgs(1)),
			RunE:  func(_ *cobra.Command, args []string) error { return a.showIncident(args[0]) },
		},
		&cobra.Command{
			Use:   "check FILE...",
			Short: "Check incident files: their form, and their own hits and misses",
			Args:  usageOf(cobra.MinimumNArgs(1)),
			RunE:  func(_ *cobra.Command, args []string) error { return a.checkIncidents(args) },
		},
		a.importCmd())
	return c
}

func (a *app) incidents(word string) error {
	var all []*matchers.Incident
	for _, id := range matchers.Library() {
		inc, err := matchers.Find(id)
		if err != nil {
			return err
		}
		if holds(word, namesOf(inc)...) {
			all = append(all, inc)
		}
	}
	if len(all) == 0 {
		return usage("no incident names %q: 'pulltrail incidents' lists all", word)
	}
	slices.SortFunc(all, func(x, y *matchers.Incident) int {
		return cmp.Or(strings.Compare(y.Published, x.Published), strings.Compare(x.ID, y.ID))
	})
	out := bufio.NewWriter(a.out)
	for _, inc := range all {
		if a.json {
			row := incidentJSON{inc.ID, inc.Published, inc.Kind, inc.Title, inc.Aliases, inc.Channels, inc.Revision}
			if err := a.printJSON(out, row); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(out, "%-32s %s  %s\n", inc.ID, inc.Published, reports.Text(inc.Title))
		for _, line := range served(inc) {
			fmt.Fprintf(out, "    %s\n", line)
		}
	}
	return out.Flush()
}

// namesOf are the names of an incident and of what it lists.
func namesOf(inc *matchers.Incident) []string {
	names := append([]string{inc.ID, inc.Title}, inc.Aliases...)
	for i := range inc.Packages {
		names = append(names, inc.Packages[i].PURL)
	}
	for i := range inc.Images {
		names = append(names, inc.Images[i].Repository)
	}
	for i := range inc.Actions {
		names = append(names, inc.Actions[i].Repository)
	}
	for i := range inc.Engines {
		names = append(names, inc.Engines[i].PURL)
	}
	for i := range inc.Vendors {
		names = append(names, inc.Vendors[i].Name)
	}
	return names
}

// served says where a release was served and when, channels with the same
// window on one line. Of windows that disagree it is the union.
func served(inc *matchers.Incident) []string {
	var order []string
	channels := map[string][]string{}
	for _, c := range inc.Channels {
		union := c.Windows[0]
		for _, w := range c.Windows[1:] {
			if w.From < union.From {
				union.From = w.From
			}
			if w.To > union.To {
				union.To = w.To
			}
			if w.Precision != union.Precision {
				union.Precision = "minute"
			}
		}
		when := windowText(union)
		if channels[when] == nil {
			order = append(order, when)
		}
		channels[when] = append(channels[when], c.Name)
	}
	lines := make([]string, len(order))
	for i, when := range order {
		lines[i] = strings.Join(channels[when], " ") + ": " + when
	}
	return lines
}

// windowText prints a window in UTC, as fine as it is known.
func windowText(w matchers.Window) string {
	from, to := timeText(w.From, w.Precision), timeText(w.To, w.Precision)
	switch {
	case from == "" && to == "":
		return "at an unknown time"
	case from == "":
		return "until " + to + ", no start is known"
	case to == "":
		return "from " + from + ", no end is known"
	case from == to:
		return from
	}
	if day, clock, ok := strings.Cut(to, " "); ok && strings.HasPrefix(from, day+" ") {
		to = clock
	}
	return from + " to " + to
}

// timeText is "" for an unknown end.
func timeText(ns int64, precision string) string {
	if ns == timeline.Beginning || ns == timeline.Forever {
		return ""
	}
	layout := map[string]string{"day": time.DateOnly, "second": time.DateTime}[precision]
	return time.Unix(0, ns).UTC().Format(cmp.Or(layout, "2006-01-02 15:04"))
}

func (a *app) checkIncidents(files []string) error {
	failed := 0
	for _, file := range files {
		inc, err := matchers.LoadFile(file)
		if err != nil {
			a.complain(err)
			failed++
			continue
		}
		errs := matchers.SelfTest(inc)
		for _, err := range errs {
			a.complain(fmt.Errorf("%s: %w", file, err))
		}
		if len(errs) > 0 {
			failed++
			continue
		}
		if a.json {
			if err := a.printJSON(a.out, map[string]any{"file": file, "id": inc.ID, "revision": inc.Revision}); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintf(a.out, "%s: ok, %s, %s, %s\n", reports.Text(file), count(len(inc.Packages)+len(inc.Images)+len(inc.Actions), "entry"),
			count(len(inc.Hits), "hit"), count(len(inc.Misses), "miss"))
	}
	if failed > 0 {
		return fmt.Errorf("%d of %s refused", failed, count(len(files), "file"))
	}
	return nil
}
