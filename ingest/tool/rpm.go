package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// RPM is the output of dnf, yum and microdnf.
// https://dnf.readthedocs.io/en/latest/command_ref.html
var RPM = evidence.Format{
	Name:   "dnf",
	Shape:  evidence.ToolShape,
	Title:  "dnf, yum and microdnf output",
	Proves: "packages downloaded, installed, replaced and removed, with versions, once the transaction is complete",
	Cannot: "the distribution",
	Doc:    "https://dnf.readthedocs.io/en/latest/command_ref.html",
	Sample: "written by hand after the documentation",
	Starts: []string{
		"Installing", "Upgrading", "Updating", "Downgrading", "Reinstalling", "Erasing", "Removing", "Cleanup", "Running transaction", "Transaction test", "Complete", "(1", "(2", "(3", "(4", "(5", "(6", "(7", "(8", "(9", "Nothing to do", "Updating / installing...",
	},
	Tool: func() evidence.Parser { return &rpm{} },
}

// rpm holds its rows until the tool says that it is complete.
type rpm struct {
	op     *evidence.Op
	rows   []rpmRow
	direct bool // rows of rpm itself come
}

type rpmRow struct {
	mark evidence.Mark
	item timeline.Item
	gone bool
}

// rpmArchs are the architectures that may stand behind a release, which has dots
// too.
var rpmArchs = wordSet("noarch x86_64 i386 i586 i686 aarch64 armv7hl ppc64le s390x riscv64")

// placed reads a package that rpm -i or -U puts in its place, behind the line that
// says so:
//
//	Updating / installing...
//	   1:jq-1.6-9.el8                     ################################# [100%]
//	jq-1.6-9.el8.x86_64                   ########################################
func (r *rpm) placed(text string, o *evidence.Out) evidence.Result {
	id, bar, _ := strings.Cut(text, " ")
	bar = strings.TrimSpace(bar)
	if count, after, counted := strings.Cut(id, ":"); counted && strings.Trim(count, "0123456789") == "" {
		id = after
	}
	w := strings.Split(id, "-")
	if !strings.HasPrefix(bar, "####") || strings.HasSuffix(bar, "]") && !strings.HasSuffix(bar, "[100%]") || len(w) < 3 {
		r.direct = false
		o.Deafen()
		return evidence.Miss
	}
	release, arch := w[len(w)-1], ""
	if i := strings.LastIndexByte(release, '.'); i > 0 && rpmArchs[release[i+1:]] {
		release, arch = release[:i], release[i+1:]
	}
	it, ok := evidence.RPMItem(strings.Join(w[:len(w)-2], "-"), w[len(w)-2]+"-"+release, arch)
	if !ok {
		return evidence.Miss
	}
	o.Seen("rpm")
	o.Emit(timeline.Install, nil, it)
	return evidence.Done
}

// Line reads one line.
func (r *rpm) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return evidence.Miss
	}
	text := string(bytes.TrimSpace(l.Text))
	switch {
	case text == "Updating / installing...":
		r.direct = true
		o.Listen()
		return evidence.Done
	case r.direct:
		return r.placed(text, o)
	case text == "":
		return evidence.Miss
	case text[0] == '(':
		return r.download(text, o)
	case text == "Complete!" || text == "Complete.":
		if r.op == nil {
			return evidence.Miss
		}
		r.finish(true, timeline.OpDone, o)
		return evidence.Done
	case text == "Nothing to do." || text == "Nothing to do":
		if r.op == nil && !r.awaited(o) {
			return evidence.Miss
		}
		r.begin(o).Answer()
		r.finish(false, timeline.OpDone, o)
		return evidence.Done
	case text == "Running transaction" || strings.HasPrefix(text, "Running transaction check") || strings.HasPrefix(text, "Running transaction test"):
		r.begin(o)
		return evidence.Done
	}
	return r.row(text, o)
}

// rpmNames are the programs whose output this is.
var rpmNames = []string{"dnf", "yum", "microdnf"}

func (r *rpm) awaited(o *evidence.Out) bool {
	for _, name := range rpmNames {
		if o.Awaited(name) {
			return true
		}
	}
	return false
}

func (r *rpm) begin(o *evidence.Out) *evidence.Op {
	if r.op != nil && o.Overtaken(r.op) {
		r.finish(false, timeline.OpOpen, o)
	}
	if r.op == nil {
		name := rpmNames[0]
		for _, n := range rpmNames {
			if o.Awaited(n) {
				name = n
				break
			}
		}
		r.op = o.Invocation(name)
	}
	o.Seen("rpm")
	return r.op
}

// download reads a file that came over:
//
//	(1/2): libcurl-7.76.1-26.el9.x86_64.rpm         1.2 MB/s | 284 kB     00:00
func (r *rpm) download(text string, o *evidence.Out) evidence.Result {
	count, rest, ok := strings.Cut(text[1:], "): ")
	file, rest, _ := strings.Cut(rest, " ")
	id, isFile := strings.CutSuffix(file, ".rpm")
	it, named := evidence.NEVRA(id)
	if !ok || !isFile || !named || strings.Trim(count, "0123456789/") != "" || !strings.Contains(rest, "B") {
		return evidence.Miss
	}
	o.Emit(timeline.Download, r.begin(o), it)
	return evidence.Done
}

// rpmVerbs are the words of a transaction's rows, and whether the package went.
var rpmVerbs = map[string]bool{
	"Installing": false, "Upgrading": false, "Updating": false, "Downgrading": false, "Reinstalling": false,
	"Erasing": true, "Removing": true, "Cleanup": true,
}

// row reads one operation; it is printed when it begins:
//
//	Installing       : libcurl-7.76.1-26.el9.x86_64                        1/2
//	Cleanup          : openssl-1:3.0.7-6.el9_2.x86_64                      4/4
//	Installing: curl;7.76.1-26.el9;x86_64;ubi-9-baseos-rpms
func (r *rpm) row(text string, o *evidence.Out) evidence.Result {
	verb, rest, ok := strings.Cut(text, ":")
	gone, known := rpmVerbs[strings.TrimSpace(verb)]
	words := strings.Fields(rest)
	if !ok || !known || len(words) == 0 {
		return evidence.Miss
	}
	it, named := evidence.NEVRA(words[0])
	switch {
	case strings.Count(words[0], ";") == 3 && len(words) == 1: // microdnf
		w := strings.Split(words[0], ";")
		it, named = evidence.RPMItem(w[0], w[1], w[2])
	case len(words) != 2 || strings.Trim(words[1], "0123456789/") != "" || !strings.Contains(words[1], "/"):
		return evidence.Miss
	}
	if !named {
		return evidence.Miss
	}
	r.begin(o)
	if len(r.rows) < maxNPMNames {
		r.rows = append(r.rows, rpmRow{o.Mark(), it, gone})
	}
	return evidence.Done
}

// finish ends the invocation. Without its last line the rows are plans.
func (r *rpm) finish(ok bool, how timeline.OpState, o *evidence.Out) {
	if r.op == nil {
		return
	}
	for _, row := range r.rows {
		action := timeline.Install
		switch {
		case row.gone && ok:
			action = timeline.Remove
		case row.gone:
			action = timeline.Present
		case !ok:
			action = timeline.Resolve
		}
		o.At(row.mark, timeline.Event{Action: action, Op: r.op.Number, Items: []timeline.Item{row.item}})
	}
	if ok && len(r.rows) > 0 {
		r.op.Answer()
	}
	o.Close(r.op, how)
	*r = rpm{}
}

// End ends the invocation.
func (r *rpm) End(how timeline.OpState, o *evidence.Out) { r.finish(false, how, o) }
