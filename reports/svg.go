package reports

import (
	"fmt"
	"html"
	htmltemplate "html/template"
	"math"
	"slices"
	"strings"
)

const (
	maxTimeline = 40 // subjects on the picture, the strongest first
	maxLanes    = 8  // channels on the picture
)

// chart draws the timeline of a document: a lane for each channel with its
// windows, a row for each subject with what was seen of it and what was not.
// Texts stand beside the track where there is room, above it where there is
// not. It holds no clock: the same document gives the same bytes.
type chart struct {
	d      *Document
	wide   bool
	ax     axis
	width  float64
	height float64
	top    float64            // of the rows
	at     map[string]float64 // finding → middle of its row
	b      strings.Builder
}

// drawing is the timeline as SVG, "" when nothing has a time.
func drawing(d *Document, wide bool) htmltemplate.HTML {
	c := &chart{d: d, wide: wide, width: 360, at: map[string]float64{}}
	x0, x1 := 8.0, 322.0
	if wide {
		c.width, x0, x1 = 1040, 376, 990
	}
	rows := d.first(maxTimeline)
	from, to := windowsOf(d.Incident.Windows, nil)
	var ok bool
	if c.ax, ok = newAxis(from, to, instants(rows, max(to-from, 0)), x0, x1); !ok {
		return ""
	}
	lanes := c.lanes()
	c.top = 26 + lanes
	c.height = c.top + float64(len(rows))*c.pitch() + 50
	c.open(len(rows))
	c.scale()
	c.drawLanes()
	for i := range rows {
		c.row(&rows[i], c.top+float64(i)*c.pitch())
	}
	c.arrows(rows)
	if n := d.subjects() - len(rows); n > 0 {
		c.f(`<text class="dim" x="8" y="%.1f">and %d more subjects</text>`, c.height-4, n)
	}
	c.b.WriteString("</svg>")
	return htmltemplate.HTML(c.b.String()) //nolint:gosec // every text in it went through text()
}

func (c *chart) f(format string, args ...any) { fmt.Fprintf(&c.b, format, args...) }

// text makes a string of the evidence fit for the picture.
func text(s string) string { return html.EscapeString(Text(s)) }

func (c *chart) pitch() float64 {
	if c.wide {
		return 26
	}
	return 40
}

// track is the middle of the track of a row.
func (c *chart) track(y float64) float64 {
	if c.wide {
		return y + 13
	}
	return y + 27
}

// instants are the times that the axis has to show: both ends of what is
// narrow beside the window, the known end of what has one.
func instants(rows []Finding, length int64) []int64 {
	var out []int64
	for i := range rows {
		for j := range rows[i].Evidence {
			e := &rows[i].Evidence[j]
			from, to := nanoseconds(e.From, math.MinInt64), nanoseconds(e.To, math.MaxInt64)
			switch {
			case from == math.MinInt64 && to == math.MaxInt64:
			case to == math.MaxInt64:
				out = append(out, from)
			case from == math.MinInt64:
				out = append(out, to)
			case to-from <= max(length, day):
				out = append(out, from, to)
			}
		}
	}
	return out
}

// windowsOf is the union of the windows, of some channels or of all.
func windowsOf(windows []Window, channels map[string]bool) (from, to int64) {
	from, to = math.MaxInt64, math.MinInt64
	for _, w := range windows {
		if channels == nil || channels[w.Channel] {
			from, to = min(from, nanoseconds(w.From, math.MinInt64)), max(to, nanoseconds(w.To, math.MaxInt64))
		}
	}
	if from > to {
		return math.MinInt64, math.MaxInt64
	}
	return from, to
}

// open begins the picture: size, name, the pattern of what was not seen.
func (c *chart) open(rows int) {
	class := "narrow"
	if c.wide {
		class = "wide"
	}
	c.f(`<svg class="%s" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" role="group" aria-label="Timeline of %d of %d subjects, UTC">`,
		class, c.width, c.height, rows, c.d.subjects())
	c.f(`<defs><pattern id="hatch-%s" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern>`, class)
	c.f(`<marker id="tip-%s" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>`, class)
}

// scale draws the ticks of every panel through all rows, and the breaks.
func (c *chart) scale() {
	bottom := c.height - 48
	for i, p := range c.ax.panels {
		if !p.main {
			c.f(`<rect class="off" x="%.1f" y="4" width="%.1f" height="%.1f"/>`, p.x0, p.x1-p.x0, bottom-4)
		}
		apart := 64.0
		if !p.main {
			apart = 52
		}
		for _, t := range p.ticks(apart) {
			c.f(`<line class="grid" x1="%.1f" y1="20" x2="%.1f" y2="%.1f"/>`, t.x, t.x, bottom)
			anchor := "middle"
			if t.x > p.x1-18 && i == len(c.ax.panels)-1 && !c.wide {
				anchor = "end"
			}
			c.f(`<text class="dim" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, t.x, bottom+14, anchor, t.text)
			if t.date != "" {
				c.f(`<text class="dim" x="%.1f" y="%.1f" text-anchor="%s">%s</text>`, t.x, bottom+28, anchor, t.date)
			}
		}
		c.f(`<line class="edge" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, p.x0, bottom, p.x1, bottom)
		if i > 0 {
			x := p.x0 - breakWidth/2
			c.f(`<path class="edge" d="M%.1f %.1fl4 -8M%.1f %.1fl4 -8"/>`, x-5, bottom+4, x+1, bottom+4)
		}
		if !p.main {
			word := "later"
			if i == 0 {
				word = "earlier"
			}
			c.f(`<text class="dim" x="%.1f" y="14" text-anchor="middle">%s</text>`, (p.x0+p.x1)/2, word)
		}
	}
	c.f(`<text class="dim" x="%.1f" y="%.1f">UTC</text>`, map[bool]float64{true: c.ax.x0 - 60, false: c.ax.x1 + 8}[c.wide], bottom+14)
	c.f(`<text class="dim" x="%.1f" y="14" text-anchor="middle">%s</text>`, c.noTime(), map[bool]string{true: "no time", false: "none"}[c.wide])
}

// noTime is the column of marks whose time is not known.
func (c *chart) noTime() float64 {
	if c.wide {
		return c.width - 24
	}
	return c.width - 18
}

// laneHeight is what the windows of a channel take; each has a bar of its own,
// since sources may disagree.
func (c *chart) laneHeight(windows int) float64 {
	h := 8 + 5*float64(min(windows, 5))
	if c.wide {
		return max(h, 18)
	}
	return h + 14
}

// byChannel lists the channels and the windows of each, in the incident's order.
func (c *chart) byChannel() (names []string, windows map[string][]Window) {
	windows = map[string][]Window{}
	for _, w := range c.d.Incident.Windows {
		if windows[w.Channel] == nil {
			names = append(names, w.Channel)
		}
		windows[w.Channel] = append(windows[w.Channel], w)
	}
	return names, windows
}

func (c *chart) lanes() float64 {
	names, windows := c.byChannel()
	h := 0.0
	for _, n := range names[:min(len(names), maxLanes)] {
		h += c.laneHeight(len(windows[n]))
	}
	if len(names) > maxLanes {
		h += 16
	}
	return h + 6
}

func (c *chart) drawLanes() {
	names, windows := c.byChannel()
	y := 22.0
	for i, n := range names {
		if i == maxLanes {
			c.f(`<text class="dim" x="8" y="%.1f">and %d more channels</text>`, y+12, len(names)-maxLanes)
			return
		}
		h := c.laneHeight(len(windows[n]))
		label := "served on " + n
		bars := y + (h-5*float64(min(len(windows[n]), 5)))/2
		if c.wide {
			c.f(`<text x="8" y="%.1f">%s</text>`, y+h/2+4, text(middle(label, 54)))
		} else {
			c.f(`<text x="8" y="%.1f">%s</text>`, y+11, text(middle(label, 46)))
			bars = y + 15
		}
		for j, w := range windows[n] {
			x0, x1 := c.interval(w.From, w.To)
			c.f(`<rect class="lane" x="%.1f" y="%.1f" width="%.1f" height="4"><title>%s</title></rect>`,
				x0, bars+5*float64(min(j, 4)), x1-x0, text(n+": "+window(w)+" ("+w.Basis+")"))
			c.openEnds(w, bars+5*float64(min(j, 4)))
		}
		y += h
	}
}

// openEnds marks a window whose start or end is not known at the edge.
func (c *chart) openEnds(w Window, y float64) {
	if w.From == nil {
		c.f(`<path class="lane" d="M%.1f %.1fl-6 4l6 4z"/>`, c.ax.x0, y-2)
	}
	if w.To == nil {
		c.f(`<path class="lane" d="M%.1f %.1fl6 4l-6 4z"/>`, c.ax.x1, y-2)
	}
}

// interval is where a span stands on the axis, at least two pixels wide.
func (c *chart) interval(from, to *string) (x0, x1 float64) {
	x0, x1 = c.ax.x(nanoseconds(from, math.MinInt64)), c.ax.x(nanoseconds(to, math.MaxInt64))
	return x0, max(x1, x0+2)
}

// row draws one subject: who, the windows that its verdict speaks of, what was
// not covered, what was seen.
func (c *chart) row(f *Finding, y float64) {
	mid := c.track(y)
	c.at[f.ID] = mid
	c.f(`<line class="grid" x1="8" y1="%.1f" x2="%.1f" y2="%.1f"/>`, y, c.width-4, y)
	label := named(f.Subject, 39)
	ly := y + 17
	if !c.wide {
		ly = y + 13
	}
	c.f(`<text class="v %s" x="8" y="%.1f">%s %s</text>`, f.Verdict, ly, signs[f.Verdict], f.Verdict)
	c.f(`<a href="#i-%s"><text x="88" y="%.1f">%s<title>%s</title></text></a>`, f.ID, ly, text(label), text(who(f)))
	for _, w := range c.speaksOf(f) {
		x0, x1 := c.ax.x(w[0]), c.ax.x(w[1])
		c.f(`<rect class="band" x="%.1f" y="%.1f" width="%.1f" height="20"/>`, x0, mid-10, max(x1-x0, 2))
	}
	for _, h := range f.Uncovered {
		x0, x1 := c.interval(h.From, h.To)
		c.f(`<rect x="%.1f" y="%.1f" width="%.1f" height="20" fill="url(#hatch-%s)"><title>%s</title></rect>`,
			x0, mid-10, x1-x0, map[bool]string{true: "wide", false: "narrow"}[c.wide], text("not covered: "+strings.Join(h.Channels, ", ")))
	}
	c.marks(f, mid)
}

// speaksOf lists the windows of the channels that the verdict speaks of, those
// that overlap joined.
func (c *chart) speaksOf(f *Finding) [][2]int64 {
	accused := map[string]bool{}
	for ch, v := range f.Channels {
		if v == f.Verdict {
			accused[ch] = true
		}
	}
	var out [][2]int64
	for _, w := range c.d.Incident.Windows {
		if accused[w.Channel] || len(accused) == 0 {
			out = append(out, [2]int64{nanoseconds(w.From, math.MinInt64), nanoseconds(w.To, math.MaxInt64)})
		}
	}
	slices.SortFunc(out, func(a, b [2]int64) int {
		if a[0] != b[0] {
			return map[bool]int{true: -1, false: 1}[a[0] < b[0]]
		}
		return 0
	})
	joined := out[:0]
	for _, w := range out {
		if n := len(joined) - 1; n >= 0 && w[0] <= joined[n][1] {
			joined[n][1] = max(joined[n][1], w[1])
			continue
		}
		joined = append(joined, w)
	}
	return joined
}

// arrows draws derived exposure: from the finding that it follows from.
func (c *chart) arrows(rows []Finding) {
	class := map[bool]string{true: "wide", false: "narrow"}[c.wide]
	for i := range rows {
		to, ok := c.deciding(&rows[i])
		for _, via := range rows[i].Via {
			j := slices.IndexFunc(rows, func(f Finding) bool { return f.ID == via })
			if j < 0 || !ok {
				continue
			}
			from, ok := c.deciding(&rows[j])
			if !ok {
				continue
			}
			y0, y1 := c.at[via], c.at[rows[i].ID]
			bend := (y0 + y1) / 2
			c.f(`<path class="via" marker-end="url(#tip-%s)" d="M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f"><title>%s</title></path>`,
				class, from, y0+7*sign(y1-y0), from, bend, to, bend, to, y1-8*sign(y1-y0), text(rows[i].Subject.ID+" follows from "+rows[j].Subject.ID))
		}
	}
}

func sign(x float64) float64 {
	if x < 0 {
		return -1
	}
	return 1
}

// named is the name of a subject in at most n characters. Of a job the words
// between its numbers say nothing that the numbers do not:
//
//	job:github:acme/api/runs/812/attempts/2/jobs/build → job:github:acme/api/812/2/build
func named(s Subject, n int) string {
	id := s.ID
	if s.Kind == "job" && len(id)+len("job:") > n {
		for _, word := range []string{"/runs/", "/attempts/", "/jobs/"} {
			id = strings.Replace(id, word, "/", 1)
		}
	}
	return middle(s.Kind+":"+id, n)
}

// middle shortens a text to n characters: its head and its tail say most.
func middle(s string, n int) string {
	r := []rune(Text(s))
	if len(r) <= n {
		return string(r)
	}
	head := n / 2
	return string(r[:head]) + "…" + string(r[len(r)-(n-head-1):])
}
