package tool

import (
	"bytes"
	"net/url"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Wget is what GNU wget prints of a file that it fetches, in any language.
// https://www.gnu.org/software/wget/manual/wget.html
var Wget = evidence.Format{
	Name:   "wget",
	Shape:  evidence.ToolShape,
	Title:  "wget output",
	Proves: "files of packages that came over, and when (local time)",
	Cannot: "what wget -q fetched; what was done with the file",
	Doc:    "https://www.gnu.org/software/wget/manual/wget.html",
	Sample: "GNU wget 1.21 run for this project",
	Starts: []string{"--20", "20", "Location: "},
	Tool:   func() evidence.Parser { return &wget{} },
}

type wget struct{ item timeline.Item } // of the file that is asked for

// Line reads one line; times are local and have no zone:
//
//	--2026-10-21 12:04:51--  https://mirror.acme.example/packages/litellm-1.107.0-py3-none-any.whl
//	Location: https://files.acme.example/packages/23/bd/litellm-1.107.0-py3-none-any.whl [following]
//	2026-10-21 12:04:53 (6.1 MB/s) - ‘litellm-1.107.0-py3-none-any.whl’ saved [8123456/8123456]
//	2026-10-21 12:04:53 URL:https://mirror.acme.example/packages/litellm-1.107.0-py3-none-any.whl [8123456/8123456] -> "x.whl" [1]
func (w *wget) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := string(bytes.TrimSpace(l.Text))
	if l.Echo {
		return evidence.Miss
	}
	if rest, ok := strings.CutPrefix(text, "--"); ok {
		_, n := evidence.ParseISO([]byte(rest))
		address, ok := strings.CutPrefix(rest[n:], "--  ")
		if n == 0 || !ok {
			return evidence.Miss
		}
		w.asks(address, true)
		return evidence.Done
	}
	if rest, ok := strings.CutPrefix(text, "Location: "); ok {
		address, ok := strings.CutSuffix(rest, " [following]")
		if ok {
			w.asks(address, false)
		}
		return evidence.Miss
	}
	m, n := evidence.ParseISO([]byte(text))
	if n == 0 || n == len(text) {
		return evidence.Miss
	}
	span := o.Mark().Span()
	if l.Stamp.Read == nil {
		span = m.Span(text[:n], &o.Times)
	}
	return w.saved(text[n+1:], span, o)
}

// asks notes the file that an address names. A redirect to a store of objects
// names none: what was asked for stands.
func (w *wget) asks(address string, first bool) {
	if u, err := url.Parse(address); err == nil {
		if item, kind := packagePath(u.EscapedPath()); kind == wholeFile {
			w.item = item
			return
		}
	}
	if first && !strings.Contains(address, "X-Amz-") && !strings.Contains(address, "sig=") {
		w.item = timeline.Item{}
	}
}

// saved reads the line that ends a file: all of it came when both counts are
// the same, or one is not known.
func (w *wget) saved(text string, span timeline.Span, o *evidence.Out) evidence.Result {
	name := ""
	if address, ok := strings.CutPrefix(text, "URL:"); ok {
		address, name, ok = strings.Cut(address, " [")
		if !ok || !strings.Contains(name, "] -> ") {
			return evidence.Miss
		}
		w.asks(address, true)
		name, _, _ = strings.Cut(name, "]")
	} else {
		speed, rest, ok := strings.Cut(text, ") - ")
		i := strings.LastIndexByte(rest, '[')
		if !ok || speed[0] != '(' || i < 0 || !strings.HasSuffix(rest, "]") {
			return evidence.Miss
		}
		name = rest[i+1 : len(rest)-1]
		if w.item.Artifact == "" {
			w.item = quotedFile(rest[:i])
		}
	}
	got, all, both := strings.Cut(name, "/")
	item := w.item
	w.item = timeline.Item{}
	if !allDigits([]byte(got)) || both && all != got || item.Artifact == "" {
		return evidence.Miss
	}
	o.Event(timeline.Event{Action: timeline.Download, Span: span, Items: []timeline.Item{item}})
	return evidence.Done
}

// quotedFile reads the name of a wheel between the quotes of some language.
func quotedFile(text string) timeline.Item {
	file := strings.TrimLeft(text, "\"'`‘’“”«»„ \u00a0")
	if i := strings.Index(file, ".whl"); i > 0 {
		if d, ok := evidence.ParseDist(file[strings.LastIndexByte(file[:i], '/')+1 : i+4]); ok {
			return timeline.Item{Artifact: timeline.PURL("pypi", "", d.Name, d.Version)}
		}
	}
	return timeline.Item{}
}

// End forgets what was asked for.
func (w *wget) End(timeline.OpState, *evidence.Out) { w.item = timeline.Item{} }
