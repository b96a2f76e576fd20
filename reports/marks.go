package reports

import (
	"fmt"
	htmltemplate "html/template"
	"math"
)

// shape is how an action looks: what it proves, told without colour.
type shape struct {
	path  string // around 0,0
	class string // "" filled, "ring" hollow, "line" strokes
	words string
}

var (
	came      = shape{"M-5.5 -4.5h11l-5.5 9.5z", "", "pulled or downloaded"}
	installed = shape{"M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z", "", "installed"}
	ran       = shape{"M-4.5 -5.5l9.5 5.5l-9.5 5.5z", "", "ran"}
	seen      = shape{"M-4.5 -4.5h9v9h-9z", "", "seen in place"}
	made      = shape{"M0 -6l6 6l-6 6l-6 -6z", "", "built, pushed or tagged"}
	asked     = shape{"M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", "ring", "asked for, or a command that shows no version"}
	removed   = shape{"M-4.5 -4.5l9 9M-4.5 4.5l9 -9", "line", "removed"}
	contacted = shape{"M-5 0h10M0 -5v10", "line", "contacted"}
)

// shapes are the shapes of the actions.
var shapes = map[string]shape{
	"download": came, "pull": came, "install": installed, "run": ran, "present": seen, "build": made, "push": made, "tag": made,
	"require": asked, "resolve": asked, "check": asked, "cached": asked, "opaque": asked, "remove": removed, "contact": contacted,
}

// legendEntry is a picture with its meaning.
type legendEntry struct {
	Picture htmltemplate.HTML
	Words   string
}

// legend explains the picture.
func legend() []legendEntry {
	var out []legendEntry
	add := func(body, words string) {
		out = append(out, legendEntry{htmltemplate.HTML(`<svg viewBox="-9 -7 18 14" aria-hidden="true">` + body + `</svg>`), words}) //nolint:gosec // constants
	}
	for _, s := range []shape{installed, ran, came, seen, made, asked, removed, contacted} {
		add(`<path class="m `+s.class+` ctx" d="`+s.path+`"/>`, s.words)
	}
	add(`<rect class="band" x="-9" y="-7" width="18" height="14"/>`, "served, by what the verdict speaks of")
	add(`<rect x="-9" y="-7" width="18" height="14" fill="url(#hatch-legend)"/><defs><pattern id="hatch-legend" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><line class="hatch" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>`, "not covered by evidence")
	add(`<path class="bar ctx" d="M-7 0H7M-3 -4L-7 0L-3 4M3 -4L7 0L3 4"/>`, "some time in a span; an arrow where its end is not known")
	add(`<path class="via" d="M-8 4C-2 4 0 -4 7 -4"/>`, "exposure that follows")
	return out
}

// marks draws what was seen of a subject: what accuses nobody first, what
// decides last.
func (c *chart) marks(f *Finding, mid float64) {
	drawn := map[string]bool{}
	for _, accusing := range []bool{false, true} {
		for i := len(f.Evidence) - 1; i >= 0; i-- {
			e := &f.Evidence[i]
			if (e.Verdict != "") == accusing {
				c.mark(e, mid, drawn)
			}
		}
	}
}

// mark draws one line of evidence, once for each place and look.
func (c *chart) mark(e *Evidence, mid float64, drawn map[string]bool) {
	s, ok := shapes[e.Action]
	if !ok {
		s = asked
	}
	class := e.Verdict
	if class == "" {
		class = "ctx"
	}
	from, to := nanoseconds(e.From, math.MinInt64), nanoseconds(e.To, math.MaxInt64)
	x0, x1 := c.ax.x(from), c.ax.x(to)
	x := x0
	switch {
	case from == math.MinInt64 && to == math.MaxInt64:
		x, x0, x1 = c.noTime(), 0, 0
	case from == math.MinInt64:
		x = x1
	}
	key := fmt.Sprintf("%s %s %.0f %.0f", class, s.words, x0/3, x1/3)
	if drawn[key] {
		return
	}
	drawn[key] = true
	if x1-x0 > 8 {
		c.f(`<path class="bar %s" d="M%.1f %.1fH%.1f`, class, x0, mid, x1)
		if from == math.MinInt64 {
			c.f(`M%.1f %.1fl-4 4l4 4`, x0+4, mid-4)
		}
		if to == math.MaxInt64 {
			c.f(`M%.1f %.1fl4 4l-4 4`, x1-4, mid-4)
		}
		c.b.WriteString(`"/>`)
	}
	c.f(`<path class="m %s %s" transform="translate(%.1f %.1f)" d="%s">`, s.class, class, x, mid, s.path)
	if c.wide {
		c.f(`<title>%s</title>`, text(e.Action+" "+e.Artifact+", "+when(*e)+", "+place(*e)))
	}
	c.b.WriteString(`</path>`)
}

// deciding is where the mark stands that decides a finding.
func (c *chart) deciding(f *Finding) (x float64, ok bool) {
	if len(f.Evidence) == 0 {
		return 0, false
	}
	e := &f.Evidence[0]
	switch {
	case e.From == nil && e.To == nil:
		return c.noTime(), true
	case e.From == nil:
		return c.ax.x(nanoseconds(e.To, math.MaxInt64)), true
	}
	return c.ax.x(nanoseconds(e.From, math.MinInt64)), true
}
