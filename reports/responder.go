package reports

import (
	"embed"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"pulltrail/matchers"
	"pulltrail/timeline"
)

//go:embed templates/*.tmpl
var templates embed.FS

// Names lists the reports.
func Names() []string { return []string{"responder"} }

// Forms lists the file endings that a report can be written as.
func Forms() []string { return []string{"md", "json"} }

// AsOf is the time that a report prints as its own: --as-of, else
// SOURCE_DATE_EPOCH (https://reproducible-builds.org/specs/source-date-epoch/),
// else none.
func AsOf(flag, epoch string) (string, error) {
	if flag != "" {
		ns, err := timeline.ParseTime(flag, 0)
		if err != nil {
			return "", fmt.Errorf("--as-of: %w", err)
		}
		return timeline.FormatTime(ns), nil
	}
	if epoch == "" {
		return "", nil
	}
	n, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return "", fmt.Errorf("SOURCE_DATE_EPOCH %q: want seconds since 1970", epoch)
	}
	return time.Unix(n, 0).UTC().Format(time.RFC3339), nil
}

// Responder writes the report for the people who respond: counts, findings
// with evidence, what was not seen, how to reproduce.
func Responder(w io.Writer, form string, r *matchers.Result, asOf string) error {
	d, err := NewDocument(r)
	if err != nil {
		return err
	}
	if form == "json" {
		return WriteJSON(w, d)
	}
	t, err := template.New("responder.md.tmpl").Funcs(template.FuncMap{
		"md": Markdown, "span": span, "where": func(e Evidence) string { return where(&e) }, "sorted": func(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) },
		"meaning": func(v string) string { return meaning[v] }, "of": d.of, "window": window, "who": func(f Finding) string { return who(&f) },
		"decisive": func(f Finding) *Evidence { return f.decisive() }, "gaps": func() []Gap { return grouped(d.Coverage.Gaps) }, "channels": func(f Finding) []channelRow { return channelRows(&f) }, "brief": brief,
		"chronology": func() []moment { return chronology(r) },
		"take":       func(n int, e []Evidence) []Evidence { return e[:min(n, len(e))] },
		"cite":       func(c matchers.Cite) string { return cite(r.Incident, c) },
	}).ParseFS(templates, "templates/responder.md.tmpl")
	if err != nil {
		return fmt.Errorf("report responder: %w", err)
	}
	data := struct {
		*Document
		Inc      *matchers.Incident
		AsOf     string
		Verdicts []string
	}{d, r.Incident, asOf, verdicts}
	if err := t.Execute(w, data); err != nil {
		return fmt.Errorf("report responder: %w", err)
	}
	return nil
}

// channelRow is what a finding says of channels that it says the same of.
type channelRow struct{ Names, Verdict, Why string }

func channelRows(f *Finding) []channelRow {
	var out []channelRow
	for _, c := range slices.Sorted(maps.Keys(f.Channels)) {
		verdict, why := f.Channels[c], f.Reasons[c]
		i := slices.IndexFunc(out, func(r channelRow) bool { return r.Verdict == verdict && r.Why == why })
		if i < 0 {
			out = append(out, channelRow{c, verdict, why})
			continue
		}
		out[i].Names += ", " + c
	}
	return out
}

// brief is the head of a line: the file has the rest.
func brief(text string) string {
	const most = 160
	text = strings.TrimSpace(text)
	if r := []rune(text); len(r) > most {
		return string(r[:most]) + "…"
	}
	return text
}

// of lists the findings with a verdict.
func (d *Document) of(verdict string) []Finding {
	var out []Finding
	for _, f := range d.Findings {
		if f.Verdict == verdict {
			out = append(out, f)
		}
	}
	return out
}

// window prints a window as people read it, to its precision.
func window(w matchers.Window) string {
	text := func(ns int64) string {
		if ns == timeline.Beginning || ns == timeline.Forever {
			return "not known"
		}
		t := time.Unix(0, ns).UTC()
		switch w.Precision {
		case "day":
			return t.Format("2006-01-02")
		case "second":
			return t.Format("2006-01-02 15:04:05")
		}
		return t.Format("2006-01-02 15:04")
	}
	return text(w.From) + " to " + text(w.To) + " UTC"
}

func cite(inc *matchers.Incident, c matchers.Cite) string {
	if c.Source.URL != "" {
		return c.Source.URL
	}
	if c.Source.Index >= 0 && c.Source.Index < len(inc.References) {
		return inc.References[c.Source.Index]
	}
	return strings.TrimSpace(c.Note)
}
