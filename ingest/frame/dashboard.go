package frame

import (
	"bytes"
	"regexp"
	"strconv"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Dashboard is output as the pages of hosting platforms show it for copying:
// each line begins with the time of whoever looked at it.
// https://render.com/docs/logging https://docs.netlify.com/site-deploys/deploy-logs/
// https://docs.digitalocean.com/products/app-platform/how-to/view-logs/
var Dashboard = evidence.Format{
	Name:   "dashboard-lines",
	Shape:  evidence.FrameShape,
	Title:  "Lines copied from a platform's page (Render, Netlify, DigitalOcean App Platform, Codespaces)",
	Proves: "which component wrote a line; month, day and time, or less, of each line; with date and zone in Codespaces",
	Cannot: "the zone, which is that of the reader: state it with --zone; the year, and Netlify's date: --covers",
	Doc:    "https://render.com/docs/logging",
	Sample: "written by hand after public logs",
	First:  "JFMASOND0123456789",
	Looks:  looksDashboard,
	Common: true,
	New:    func() evidence.Peeler { return &dashboard{} },
}

// looksDashboard is quick: what stands behind the time tells.
func looksDashboard(text []byte) bool {
	switch {
	case len(text) < 16:
		return false
	case text[0] > '9':
		head := text[:min(len(text), 32)]
		return text[3] == ' ' && (text[5] == ' ' || text[6] == ' ') && (bytes.Contains(head, []byte("M  ")) || bytes.Contains(head, []byte(" [")))
	case text[1] == ':', text[2] == ':':
		return bytes.Contains(text[7:12], []byte("M: "))
	}
	return text[10] == ' ' && text[4] == '-' && len(text) > 24 && text[23] == 'Z' && text[24] == ':'
}

// The lines:
//
//	Jan 6 01:33:34 PM  #4 DONE 0.0s
//	Apr 01 19:00:52 [worker] │ INFO[0000] Retrieving image manifest python:3.11-slim
//	3:20:19 PM: Installing dependencies
//	2026-10-21 12:04:51.913Z: #5 extracting sha256:1ab2…
var (
	renderLine     = regexp.MustCompile(`^([A-Z][a-z]{2} \d{1,2} \d{2}:\d{2}:\d{2} [AP]M)  ()`)
	appLine        = regexp.MustCompile(`^([A-Z][a-z]{2} \d{1,2} \d{2}:\d{2}:\d{2}) \[([\w.-]+)\] (?:│ ?)?(?: › )?`)
	netlifyLine    = regexp.MustCompile(`^(\d{1,2}:\d{2}:\d{2} [AP]M): ()`)
	codespacesLine = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{3}Z): ()`)
	codespacesEnd  = regexp.MustCompile(`\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}\.\d{3}Z: ?$`)
)

var dashboardLines = []struct {
	line *regexp.Regexp
	read func([]byte, *evidence.Times) timeline.Span
}{{renderLine, dashboardStamp}, {appLine, dashboardStamp}, {netlifyLine, dateless}, {codespacesLine, evidence.ISOStamp}}

type dashboard struct {
	last *evidence.Stream // of the last line of Codespaces: others go on in it
	in   *evidence.Stream
}

// Peel takes the time off. Codespaces stamps what came at once, which may be
// several lines.
func (d *dashboard) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	for _, form := range dashboardLines {
		m := form.line.FindSubmatch(l.Text)
		if m == nil {
			continue
		}
		child := s.Child(o, m[2])
		child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], m[1]...), Read: form.read}
		if l.Stamp.Read == nil {
			l.Stamp = child.Last
		}
		l.Text = l.Text[len(m[0]):]
		if form.line == codespacesLine {
			l.Text = codespacesEnd.ReplaceAll(l.Text, nil)
			d.last, d.in = child, s
			o.AskNext(s)
		}
		return child
	}
	if d.last == nil || d.in != s {
		return nil
	}
	if l.Stamp.Read == nil {
		l.Stamp = d.last.Last
		l.Stamp.Inherited = true
	}
	l.Text = codespacesEnd.ReplaceAll(l.Text, nil)
	o.AskNext(s)
	return d.last
}

// dashboardStamp reads "Jan 6 01:33:34 PM" and "Apr 01 19:00:52".
func dashboardStamp(text []byte, t *evidence.Times) timeline.Span {
	words := bytes.Fields(text)
	day, _ := strconv.Atoi(string(words[1]))
	at, err := time.Parse(time.TimeOnly, string(words[2]))
	month := evidence.Month(words[0])
	if err != nil || month == 0 || day < 1 || day > 31 {
		return timeline.Always()
	}
	hour := at.Hour()
	if len(words) == 4 {
		hour %= 12
		if words[3][0] == 'P' {
			hour += 12
		}
	}
	m := evidence.Moment{Month: month, Day: day, Hour: hour, Minute: at.Minute(), Sec: at.Second(), Resolution: time.Second}
	return m.Span(string(text), t)
}
