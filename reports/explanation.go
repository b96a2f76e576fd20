package reports

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"pulltrail/matchers"
)

// Explanation prints one finding down to each line: file, line, byte offset,
// time as written and as understood, and the hash of the file.
func Explanation(w io.Writer, f Finding, incident string, gaps []matchers.Gap) error {
	fmt.Fprintf(w, "%s  %s:%s", f.Verdict, f.Subject.Kind, Text(f.Subject.ID))
	if f.Subject.On != "" {
		fmt.Fprintf(w, " on %s", Text(f.Subject.On))
	}
	fmt.Fprintf(w, "\nincident %s, finding %s, rule %s\n%s\n\nchannels\n", Text(incident), f.ID, f.Rule, Text(f.Because))
	for _, c := range slices.Sorted(maps.Keys(f.Channels)) {
		fmt.Fprintf(w, "  %-12s %-8s %s\n", Text(c), f.Channels[c], Text(f.Reasons[c]))
	}
	for _, d := range f.Dispositions {
		fmt.Fprintf(w, "\ndisposition of %s: %s\n", Text(d.Who), Text(d.Reason))
	}
	if f.Verdict != "clear" && f.Verdict != "unknown" {
		fmt.Fprintf(w, "\negress %s: %s\n", f.Egress, Text(f.egress()))
	}
	fmt.Fprintf(w, "\nevidence, %s\n", plural(len(f.Evidence), "line"))
	for i := range f.Evidence {
		explainLine(w, &f.Evidence[i])
	}
	for _, v := range f.Via {
		fmt.Fprintf(w, "\nfollows from finding %s\n", v)
	}
	first := true
	mine := make([]Gap, len(gaps))
	for i, g := range gaps {
		mine[i] = Gap(g)
	}
	for _, g := range grouped(mine) {
		if g.Subject != f.Subject.Kind+":"+f.Subject.ID {
			continue
		}
		if first {
			fmt.Fprint(w, "\nmissing\n")
			first = false
		}
		writeGap(w, g, toClose)
	}
	_, err := fmt.Fprintln(w)
	return err
}

// egress says what it means for a subject that may hold the release.
func (f *Finding) egress() string {
	switch f.Egress {
	case "none":
		return f.EgressBy
	case "seen":
		return f.EgressBy + "; assume that what was within reach is stolen"
	}
	return "nothing that was read says whether it could reach the internet; assume that it could"
}

func explainLine(w io.Writer, e *Evidence) {
	fmt.Fprintf(w, "\n  %s %s", e.Action, Text(short(e.Artifact)))
	if e.Ref != "" {
		fmt.Fprintf(w, " (asked: %s)", Text(e.Ref))
	}
	fmt.Fprintf(w, "  — %s\n", Text(e.Part))
	place := Text(e.Path)
	if e.Line > 0 {
		place += fmt.Sprintf(":%d (byte %d)", e.Line, e.Offset)
	}
	fmt.Fprintf(w, "    at    %s\n", place)
	when := span(e.From, e.To)
	if when == ".." {
		when = "not known"
	}
	fmt.Fprintf(w, "    time  %s", when)
	if when != "not known" {
		fmt.Fprintf(w, " (%s)", e.Clock)
	}
	if e.Written != "" && e.Written != when {
		fmt.Fprintf(w, ", written %s", Text(e.Written))
	}
	fmt.Fprintln(w)
	for _, d := range e.Digests {
		fmt.Fprintf(w, "    hash  %s\n", strings.TrimSpace(Text(d.Value)+" "+d.Role))
	}
	if e.Text != "" {
		fmt.Fprintf(w, "    text  %s\n", Text(strings.TrimSpace(e.Text)))
	}
	fmt.Fprintf(w, "    file  sha256 %s\n", e.Source)
}

func short(artifact string) string {
	if artifact == "" {
		return "-"
	}
	return artifact
}
