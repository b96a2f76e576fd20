package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// DNF5 is the progress of dnf5, which cuts names at the width of a window; what
// was downloaded tells the rest of them.
// https://dnf5.readthedocs.io/en/latest/
var DNF5 = evidence.Format{
	Name:   "dnf5",
	Shape:  evidence.ToolShape,
	Title:  "dnf5 output",
	Proves: "packages fetched, installed and removed, with versions",
	Cannot: "packages whose names are cut, and that came from its cache",
	Doc:    "https://github.com/rpm-software-management/dnf5",
	Sample: "written by hand after its output",
	Starts: []string{"[1", "[2", "[3", "[4", "[5", "[6", "[7", "[8", "[9", "[ ", "Complete!"},
	Looks: func(text []byte) bool {
		return text[0] == 'C' || bytes.Contains(text, []byte("100% |"))
	},
	Tool: func() evidence.Parser { return &dnf5{} },
}

type dnf5 struct {
	op   *evidence.Op
	came []string // names as they were downloaded
	rows []dnf5Row
}

type dnf5Row struct {
	mark evidence.Mark
	name string
	gone bool
}

// Line reads one line:
//
//	[1/1] curl-0:8.6.0-8.fc40.x86_64        100% |   1.2 MiB/s | 300.4 KiB |  00m00s
//	[3/4] Installing curl-0:8.6.0-8.fc40.x8 100% |  12.0 MiB/s | 730.0 KiB |  00m00s
//	[4/4] Removing curl-0:8.5.0-1.fc40.x86_ 100% |  12.0 MiB/s | 730.0 KiB |  00m00s
//	Complete!
func (d *dnf5) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := string(bytes.TrimSpace(l.Text))
	if l.Echo {
		return evidence.Miss
	}
	if text == "Complete!" {
		if d.op == nil {
			return evidence.Miss
		}
		d.finish(o)
		return evidence.Done
	}
	count, rest, ok := strings.Cut(text, "] ")
	head, _, done := strings.Cut(rest, " 100% |")
	w := strings.Fields(head)
	if !ok || !done || text[0] != '[' || strings.Trim(count[1:], " 0123456789/") != "" || len(w) == 0 {
		return evidence.Miss
	}
	switch {
	case len(w) == 1:
		it, named := evidence.NEVRA(w[0])
		if !named || !strings.Contains(w[0], ":") {
			return evidence.Miss
		}
		d.begin(o)
		if len(d.came) < maxNPMNames {
			d.came = append(d.came, w[0])
		}
		o.Emit(timeline.Download, d.op, it)
	case len(w) == 2 && (w[0] == "Installing" || w[0] == "Upgrading" || w[0] == "Reinstalling" || w[0] == "Downgrading" || w[0] == "Removing") && strings.Contains(w[1], ":"):
		d.begin(o)
		if len(d.rows) < maxNPMNames {
			d.rows = append(d.rows, dnf5Row{o.Mark(), w[1], w[0] == "Removing"})
		}
	default:
		return evidence.Miss
	}
	return evidence.Done
}

func (d *dnf5) begin(o *evidence.Out) {
	if d.op != nil && o.Overtaken(d.op) {
		d.End(timeline.OpOpen, o)
	}
	if d.op == nil {
		d.op = o.Invocation("dnf")
	}
	o.Seen("rpm")
}

// whole returns the name that a row cuts: the one that was downloaded and begins
// so, else the row's own when nothing is missing of it.
func (d *dnf5) whole(name string) (timeline.Item, bool) {
	found := ""
	for _, c := range d.came {
		if strings.HasPrefix(c, name) {
			if found != "" && found != c {
				return timeline.Item{}, false
			}
			found = c
		}
	}
	if found == "" {
		_, arch, _ := strings.Cut(name[strings.LastIndexByte(name, '-')+1:], ".")
		switch arch[strings.LastIndexByte(arch, '.')+1:] {
		case "x86_64", "noarch", "aarch64", "i686", "ppc64le", "s390x":
			found = name
		}
	}
	return evidence.NEVRA(found)
}

// finish makes the events of a transaction that is complete.
func (d *dnf5) finish(o *evidence.Out) {
	for _, row := range d.rows {
		it, ok := d.whole(row.name)
		if !ok {
			continue
		}
		action := timeline.Install
		if row.gone {
			action = timeline.Remove
		}
		d.op.Answer()
		o.At(row.mark, timeline.Event{Action: action, Op: d.op.Number, Items: []timeline.Item{it}})
	}
	o.Close(d.op, timeline.OpDone)
	*d = dnf5{}
}

// End forgets rows of a transaction that is not complete.
func (d *dnf5) End(how timeline.OpState, o *evidence.Out) {
	o.Close(d.op, how)
	*d = dnf5{}
}
