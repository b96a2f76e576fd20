package reports

import (
	"fmt"
	htmltemplate "html/template"
	"io"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"time"

	"pulltrail/matchers"
	"pulltrail/timeline"
)

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

// responderPage is what the templates of the responder report see.
type responderPage struct {
	*Document
	Title    string
	Total    int               // findings
	Findings iter.Seq[Finding] // in place of those of the document
	Sections []section
	Strong   int // findings stronger than unknown
	Missing  int // gaps
	Gaps     []gapGroup
	Wide     htmltemplate.HTML // the timeline; empty when no line has a time
	Narrow   htmltemplate.HTML
	Moments  []moment
	Commands []string
}

// section lists the findings of one verdict.
type section struct {
	Verdict  string
	Meaning  string
	Count    int
	Findings iter.Seq[Finding]
}

// Responder writes the report for the people who respond: what to do first,
// counts, findings with evidence, what was not seen, how to reproduce.
func Responder(w io.Writer, form string, res *matchers.Result, asOf string) error {
	d, err := newLazy(res)
	if err != nil {
		return err
	}
	d.AsOf = asOf
	of := d.of
	if form == "html" { // the templates get nothing that has not passed the gate
		of = func(verdict string) iter.Seq[Finding] { return shownEach(d.of(verdict)) }
	}
	p := responderPage{
		Document: d, Title: d.Incident.Title, Total: len(res.Findings), Findings: of(""), Gaps: gapGroups(d.Coverage.Gaps), Commands: commands(d, "responder"),
		Moments: chronology(d), Missing: len(grouped(d.Coverage.Gaps)),
	}
	for _, v := range verdicts {
		p.Sections = append(p.Sections, section{Verdict: v, Meaning: d.meaning(v), Count: d.Counts[v], Findings: of(v)})
	}
	p.Strong = p.Total - d.Counts["unknown"] - d.Counts["clear"]
	r := report{name: "responder", truth: d, page: p, funcs: words, table: findingTable(d)}
	if form == "html" { // the other forms have no picture
		p.Wide, p.Narrow = drawing(d, true), drawing(d, false)
		r.page = p
	}
	for i := range res.Findings {
		r.ids = append(r.ids, res.Findings[i].ID)
	}
	return r.write(w, form)
}

// words are what the templates say with.
var words = template.FuncMap{
	"md":       Markdown,
	"code":     Text,
	"sum":      sum,
	"legend":   legend,
	"when":     when,
	"place":    place,
	"who":      func(f Finding) string { return who(&f) },
	"decisive": func(f Finding) *Evidence { return f.decisive() },
	"channels": func(f Finding) []channelRow { return channelRows(&f) },
	"window":   window,
	"brief":    brief,
	"sign":     func(verdict string) string { return signs[verdict] },
	"web":      func(s string) bool { return strings.HasPrefix(s, "https://") },
	"ranges":   ranges,
	"join":     strings.Join,
	"heading":  func(s string) string { return strings.ToUpper(s[:1]) + s[1:] },
	"head":     func(n int, e []Evidence) []Evidence { return e[:min(n, len(e))] },
	"tail":     func(n int, e []Evidence) []Evidence { return e[min(n, len(e)):] },
	"first":    func(n int, s []string) []string { return s[:min(n, len(s))] },
	"rest":     func(n int, s []string) []string { return s[min(n, len(s)):] },
	"add":      func(a, b int) int { return a + b },
	"plural": func(n int, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return strconv.Itoa(n) + " " + many
	},
}

// sum is a hash as Markdown code; what is none is text like any other.
func sum(s string) string {
	if s == "" || strings.Trim(s, "0123456789abcdef") != "" {
		return Markdown(s)
	}
	return "`" + s + "`"
}

// signs mark a verdict beside its colour.
var signs = map[string]string{"exposed": "■", "pulled": "▼", "possible": "◆", "unknown": "?", "clear": "✓"}

// when prints the time of a line to the second.
func when(e Evidence) string {
	s := seconds(e.From, e.To)
	switch {
	case s == "":
		return "time not known"
	case e.From == nil:
		return "until " + seconds(e.To, e.To)
	case e.To == nil:
		return "from " + seconds(e.From, e.From) + " on"
	}
	return strings.Replace(s, "/", " to ", 1)
}

// place is where a line stands.
func place(e Evidence) string {
	if e.Line > 0 {
		return fmt.Sprintf("%s:%d", e.Path, e.Line)
	}
	return e.Path
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

// ranges shortens numbered names: L1, L2, U1 to U11.
func ranges(ids []string) string {
	var out []string
	for i := 0; i < len(ids); {
		j := i
		for j+1 < len(ids) && ids[j+1][:1] == ids[i][:1] {
			j++
		}
		switch {
		case j-i > 1:
			out = append(out, ids[i]+" to "+ids[j])
		default:
			out = append(out, ids[i:j+1]...)
		}
		i = j + 1
	}
	return strings.Join(out, ", ")
}

// gapGroup is what is missing for one reason and closed in one way.
type gapGroup struct {
	Reason, Detail, Fix string
	Of                  []string // subjects with channels, or sources
}

// gapGroups joins gaps that one sentence explains and one closes.
func gapGroups(gaps []Gap) []gapGroup {
	var out []gapGroup
	at := map[gapKey]int{}
	single, many := common(grouped(gaps))
	for _, g := range single {
		key := gapKey{g.Reason, g.Detail, g.Fix}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, gapGroup{Reason: g.Reason, Detail: g.Detail, Fix: g.closed()})
		} else if out[i].Fix != g.closed() {
			out[i].Fix = g.Fix // one text serves several
		}
		out[i].Of = append(out[i].Of, g.of())
	}
	for _, same := range many {
		group := gapGroup{Reason: same[0].Reason, Detail: same[0].Detail}
		if same[0].Fix != "" {
			group.Fix = likewise + same[0].closed()
		}
		for _, g := range same {
			group.Of = append(group.Of, g.of())
		}
		out = append(out, group)
	}
	return out
}

// likewise stands before what closes the first of many gaps.
const likewise = "of the first, and of the others likewise: "

// of names what a gap is about, with the channel.
func (g Gap) of() string {
	of := g.head()
	if of == "" {
		of = "the case"
	}
	if g.Channel != "" {
		of += " (" + g.Channel + ")"
	}
	return of
}

type gapKey struct{ reason, detail, fix string }

// commands are what makes the same report again from the same files.
func commands(d *Document, name string) []string {
	var out []string
	for _, f := range d.Coverage.Inventory {
		out = append(out, "pulltrail inventory "+shell(f))
	}
	for _, group := range sameFlags(d.Coverage.Sources) {
		out = append(out, ingestCommand(group))
	}
	again := "pulltrail report " + name + " --incident " + shell(d.Incident.ID)
	if d.AsOf != "" {
		again += " --as-of " + d.AsOf
	}
	return append(out, "pulltrail match "+shell(d.Incident.ID), again+" -o "+name+".html")
}

// sameFlags groups sources that one command reads.
func sameFlags(sources []Source) [][]Source {
	var out [][]Source
	at := map[[4]string]int{}
	for _, s := range sources {
		if s.Claim == s.Path {
			s.Claim = ""
		}
		key := [4]string{s.Claim, s.Zone, s.Covers, s.Skew}
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], s)
	}
	return out
}

// ingestCommand reads a group of sources; of very many it names the first.
func ingestCommand(group []Source) string {
	const most = 200
	b := strings.Builder{}
	b.WriteString("pulltrail ingest")
	for _, flag := range [][2]string{{"--subject", group[0].Claim}, {"--zone", group[0].Zone}, {"--covers", group[0].Covers}, {"--skew", group[0].Skew}} {
		if flag[1] != "" {
			b.WriteString(" " + flag[0] + " " + shell(flag[1]))
		}
	}
	for i, s := range group {
		if i == most {
			fmt.Fprintf(&b, "  # and %d more, see the list of sources", len(group)-most)
			break
		}
		b.WriteString(" " + shell(s.Path))
	}
	return b.String()
}

// shell quotes a word for a POSIX shell where it needs it.
func shell(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._/:@=+,%", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// findingTable is the report as a table: one row for each finding.
func findingTable(d *Document) iter.Seq[[]string] {
	header := []string{
		"finding", "incident", "verdict", "kind", "subject", "on", "owner", "service", "egress", "rule", "because", "artifact",
		"from", "to", "channels", "path", "line", "text", "sha256", "lines of evidence", "limits", "all evidence complete", "disposition",
	}
	complete := map[bool]string{true: "yes", false: "no"}[d.Coverage.Complete]
	row := func(f *Finding) []string {
		var channels []string
		for _, c := range slices.Sorted(maps.Keys(f.Channels)) {
			channels = append(channels, c+"="+f.Channels[c])
		}
		e := f.decisive()
		line := ""
		if e == nil {
			e = &Evidence{}
		} else if e.Line > 0 {
			line = strconv.FormatInt(e.Line, 10)
		}
		return []string{
			f.ID, d.Incident.ID, f.Verdict, f.Subject.Kind, f.Subject.ID, f.Subject.On, f.Owner, f.Service, f.Egress, f.Rule,
			f.Because, f.Artifact, orEmpty(f.From), orEmpty(f.To), strings.Join(channels, " "), e.Path, line, e.Text, e.Source,
			strconv.Itoa(len(f.Evidence) + f.More), ranges(f.Limits), complete, f.disposition(),
		}
	}
	return func(yield func([]string) bool) {
		if !yield(header) {
			return
		}
		for f := range d.every() {
			if !yield(row(f)) {
				return
			}
		}
	}
}
