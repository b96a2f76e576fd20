package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Conda is the output of conda, mamba and micromamba. pip, which they may run
// for what they have not, is a tool of its own.
// https://docs.conda.io/projects/conda/en/stable/commands/install.html
var Conda = evidence.Format{
	Name:   "conda",
	Shape:  evidence.ToolShape,
	Title:  "conda, mamba and micromamba output",
	Proves: "packages planned, downloaded, and installed or removed once the transaction is done, with versions",
	Cannot: "versions that a column cuts off and no plan names in full",
	Doc:    "https://docs.conda.io/projects/conda/en/stable/commands/install.html",
	Sample: "written by hand after public logs and the documentation",
	Starts: []string{
		"Collecting package metadata", "Solving environment", "## Package Plan", "The following ", "Downloading and Extracting Packages",
		"Preparing transaction:", "Verifying transaction:", "Executing transaction:", "done", "Package ", "Linking ", "Unlinking ", "Installing pip dependencies: ", "Installing pip packages: ", "Transaction ", "# All requested packages already installed",
	},
	Tool: func() evidence.Parser { return &conda{} },
}

// condaPart is the part of the output that a line stands in.
type condaPart uint8

const (
	condaElse     condaPart = iota
	condaTable              // what will be downloaded
	condaNew                // what will be installed or changed
	condaGone               // what will be removed
	condaProgress           // what is being downloaded
	condaMamba              // mamba's table of both
	condaExecutes           // the transaction
)

type conda struct {
	op        *evidence.Op
	part      condaPart
	listening bool
	planned   map[string]bool // name@version
	now, gone []timeline.Item // of the plan
	table     []string        // name-version of what will be downloaded, in full
	got       map[string]bool
	executed  bool
	pip       bool // it began to install for pip
}

// Line reads one line.
func (c *conda) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return evidence.Miss
	}
	text := string(bytes.TrimSpace(l.Text))
	if text == "" {
		return evidence.Miss
	}
	if r := c.heading(text, o); r != evidence.Miss {
		return r
	}
	if c.op == nil {
		return evidence.Miss
	}
	switch c.part {
	case condaTable:
		return c.tableRow(text, o)
	case condaNew, condaGone:
		return c.planRow(text, o)
	case condaProgress:
		return c.progress(text, o)
	case condaMamba:
		if r := c.mambaRow(text, o); r != evidence.Miss {
			return r
		}
		return c.came(text, o)
	case condaExecutes:
		// Messages of packages may stand between the line and its end.
		if text == "done" {
			c.execute(o)
			return evidence.Done
		}
	}
	return evidence.Miss
}

// heading reads the lines that part the output.
func (c *conda) heading(text string, o *evidence.Out) evidence.Result {
	if strings.Contains(text, "ransaction") || strings.HasPrefix(text, "Installing pip ") || strings.HasPrefix(text, "# All requested ") {
		ran(pipOfConda.tool, o)
	}
	switch {
	case strings.HasPrefix(text, "Installing pip dependencies: "): // what pip printed follows
		if !c.pip {
			c.pip = true
			o.Command("pip", "pip install", false, []timeline.Item{{Artifact: timeline.Ecosystem("pypi")}})
		}
	case strings.HasPrefix(text, "Installing pip packages: "):
		c.asksPip(strings.TrimPrefix(text, "Installing pip packages: "), o)
	case strings.HasPrefix(text, "Collecting package metadata") || strings.HasPrefix(text, "Solving environment"):
		if c.executed || c.planned != nil {
			c.finish(timeline.OpOpen, o)
		}
		c.begin(condaElse, o)
	case text == "## Package Plan ##":
		c.begin(condaElse, o)
	case text == "The following packages will be downloaded:":
		c.begin(condaTable, o)
	case text == "The following NEW packages will be INSTALLED:", text == "The following packages will be UPDATED:":
		c.begin(condaNew, o)
	case strings.HasPrefix(text, "Downloading and Extracting Packages"):
		c.begin(condaProgress, o)
	case strings.HasPrefix(text, "Package ") && strings.HasSuffix(strings.Join(strings.Fields(text), " "), "Version Build Channel Size"):
		c.begin(condaMamba, o)
	case c.op == nil && strings.HasPrefix(text, "Linking ") && linksDist(text):
		c.begin(condaElse, o) // what stood before was cut off
		return c.link(text, o)
	case c.op == nil: // apt says REMOVED and DOWNGRADED too
		return evidence.Miss
	case text == "The following packages will be REMOVED:":
		c.begin(condaGone, o)
	case strings.HasPrefix(text, "The following packages will be ") && strings.HasSuffix(text, ":"):
		c.begin(condaNew, o) // DOWNGRADED, SUPERSEDED by a higher-priority channel
	case strings.HasPrefix(text, "Preparing transaction:"), strings.HasPrefix(text, "Verifying transaction:"):
		c.part = condaElse
	case strings.HasPrefix(text, "Executing transaction:"):
		c.part = condaExecutes
		if strings.HasSuffix(text, " done") {
			c.execute(o)
		}
	case text == "Transaction finished":
		c.execute(o)
	case text == "# All requested packages already installed.":
		c.op.Answer()
		c.finish(timeline.OpDone, o)
	case strings.HasPrefix(text, "Linking "), strings.HasPrefix(text, "Unlinking "):
		return c.link(text, o)
	default:
		return evidence.Miss
	}
	return evidence.Done
}

func (c *conda) begin(part condaPart, o *evidence.Out) {
	if c.op != nil && o.Overtaken(c.op) {
		c.finish(timeline.OpOpen, o)
	}
	if c.op == nil {
		c.op = o.Invocation("conda")
	}
	c.part = part
	o.Seen("conda")
	if !c.listening && part != condaElse { // rows start with names
		o.Listen()
		c.listening = true
	}
}

// plan records a package that conda chose.
func (c *conda) plan(name, version string, o *evidence.Out) {
	key := name + "@" + version
	if c.planned[key] || len(c.planned) >= maxNPMNames {
		return
	}
	if c.planned == nil {
		c.planned = map[string]bool{}
	}
	c.planned[key] = true
	it := evidence.CondaItem(name, version)
	c.now = append(c.now, it)
	o.Emit(timeline.Resolve, c.op, it)
}

// tableRow reads what will be downloaded; a long name leaves no blank:
//
//	asn1crypto-1.0.1           |           py37_0         161 KB
//	conda-package-handling-1.6.0|   py37h7b6447c_0         797 KB
func (c *conda) tableRow(text string, o *evidence.Out) evidence.Result {
	id, rest, ok := strings.Cut(text, "|")
	id = strings.TrimSpace(id)
	name, version, split := evidence.SplitConda(id)
	if !ok || !split || len(strings.Fields(rest)) < 3 {
		return evidence.Miss
	}
	c.table = append(c.table, id)
	c.plan(name, version, o)
	return evidence.Done
}

// condaDist splits [channel::]name-version-build.
func condaDist(text string) (name, version string, ok bool) {
	if _, dist, is := strings.Cut(text, "::"); is {
		text = dist
	}
	return evidence.SplitCondaBuild(text)
}

// planRow reads what will change; a name that is too long ends in ~:
//
//	conda-package-han~ pkgs/main/linux-64::conda-package-handling-1.3.11-py37_0
//	asn1crypto                                  0.24.0-py37_0 --> 1.0.1-py37_0
//	asn1crypto: 0.24.0-py37_0 conda-forge
//	bzip2-1.0.8-h7b6447c_0
func (c *conda) planRow(text string, o *evidence.Out) evidence.Result {
	w := strings.Fields(text)
	if c.part == condaGone && len(w) == 1 {
		name, version, ok := condaDist(w[0])
		if ok {
			c.gone = append(c.gone, evidence.CondaItem(name, version))
			return evidence.Done
		}
		return evidence.Miss
	}
	if len(w) < 2 {
		return evidence.Miss
	}
	old, now := "", w[1]
	if len(w) >= 4 && w[2] == "-->" {
		old, now = w[1], w[3]
	}
	row := strings.TrimSuffix(w[0], ":")
	name, version, ok := c.side(row, now)
	if !ok {
		if strings.HasSuffix(row, "~") {
			return evidence.Done
		}
		return evidence.Miss
	}
	if c.part == condaGone {
		c.gone = append(c.gone, evidence.CondaItem(name, version))
		return evidence.Done
	}
	c.plan(name, version, o)
	if was, before, ok := c.side(name, old); ok && before != version {
		c.gone = append(c.gone, evidence.CondaItem(was, before))
	}
	return evidence.Done
}

// side reads one side of a change: version-build, or all of it.
func (c *conda) side(row, text string) (name, version string, ok bool) {
	if strings.Contains(text, "::") {
		return condaDist(text)
	}
	version, _, _ = strings.Cut(text, "-")
	name = row
	if cut, is := strings.CutSuffix(row, "~"); is {
		full, ok := c.whole(cut, version)
		if !ok {
			return "", "", false
		}
		name, _, _ = evidence.SplitConda(full)
	}
	return name, version, evidence.IsCondaName(name) && evidence.IsCondaVersion(version)
}

// whole finds the one package to be downloaded that begins and ends like this.
func (c *conda) whole(start, end string) (full string, ok bool) {
	for _, t := range c.table {
		if strings.HasPrefix(t, start) && strings.HasSuffix(t, end) {
			if full != "" && full != t {
				return "", false
			}
			full = t
		}
	}
	return full, full != ""
}

// condaColumn is where conda cuts the names in its progress.
const condaColumn = 20

// progress reads what came over, and its last line, when it is all there:
//
//	asn1crypto-1.0.1     | 161 KB    | ########## | 100%
//	ca-certificates-2019 | 132 KB    | ########## | 100%
func (c *conda) progress(text string, o *evidence.Out) evidence.Result {
	cells := strings.Split(text, "|")
	if len(cells) != 4 || !strings.HasSuffix(strings.TrimSpace(cells[1]), "B") {
		return evidence.Miss
	}
	id := strings.TrimSpace(cells[0])
	if strings.TrimSpace(cells[3]) != "100%" || c.got[id] {
		return evidence.Done
	}
	if len(c.got) < maxNPMNames {
		if c.got == nil {
			c.got = map[string]bool{}
		}
		c.got[id] = true
	}
	full := id
	if len(id) >= condaColumn {
		whole, ok := c.whole(id, "")
		if !ok {
			return evidence.Done // where the name ends is not known
		}
		full = whole
	}
	name, version, ok := evidence.SplitConda(full)
	if !ok {
		return evidence.Done
	}
	it := evidence.CondaItem(name, version)
	o.Emit(timeline.Download, c.op, it)
	if key := name + "@" + version; !c.planned[key] {
		if c.planned == nil {
			c.planned = map[string]bool{}
		}
		c.planned[key] = true
		c.now = append(c.now, it)
	}
	return evidence.Done
}

// mambaRow reads a row of mamba's plan:
//
//	Install:
//	──────────
//	  + numpy   1.26.4  py311h64a7726_0  conda-forge     8MB
func (c *conda) mambaRow(text string, o *evidence.Out) evidence.Result {
	w := strings.Fields(text)
	if len(w) < 4 || w[0] != "+" && w[0] != "-" || !evidence.IsCondaName(w[1]) || !evidence.IsCondaVersion(w[2]) {
		return evidence.Miss
	}
	if w[0] == "+" {
		c.plan(w[1], w[2], o)
	} else {
		c.gone = append(c.gone, evidence.CondaItem(w[1], w[2]))
	}
	return evidence.Done
}

// asksPip reads what micromamba has pip install, which prints on its own:
//
//	Installing pip packages: litellm==1.107.0, idna, git+https://git.acme.example/router
func (c *conda) asksPip(text string, o *evidence.Out) {
	var named []timeline.Item
	for word := range strings.SplitSeq(text, ", ") {
		if r, rest, ok := evidence.ParseRequirement(word); ok && strings.TrimSpace(rest) == "" {
			named = append(named, r.Item())
		}
	}
	op, _ := o.Command("pip", "pip install "+strings.ReplaceAll(text, ", ", " "), false, append(named, timeline.Item{Artifact: timeline.Ecosystem("pypi")}))
	o.Seen(timeline.PyPI)
	if named != nil {
		o.Emit(timeline.Require, op, named...)
	}
}

// linksDist knows a line of micromamba by the build behind the version: compilers
// link too.
//
//	Linking python-3.10.12-h01493a6_0_cpython
func linksDist(text string) bool {
	dist := strings.TrimPrefix(text, "Linking ")
	build := dist[strings.LastIndexByte(dist, '-')+1:]
	_, _, ok := condaDist(dist)
	return ok && strings.Contains(build, "_") && strings.ContainsAny(build, "0123456789")
}

// came reads a package that mamba fetched. The plan has its version.
//
//	numpy                                                8.1MB @  25.5MB/s  0.2s
func (c *conda) came(text string, o *evidence.Out) evidence.Result {
	w := strings.Fields(text)
	if len(w) != 5 || w[2] != "@" || !strings.HasSuffix(w[3], "/s") || !strings.HasSuffix(w[4], "s") {
		return evidence.Miss
	}
	for _, it := range c.now {
		if strings.HasPrefix(it.Artifact, timeline.PURL("conda", "", w[0], "")+"@") && !c.got[it.Artifact] {
			if c.got == nil {
				c.got = map[string]bool{}
			}
			c.got[it.Artifact] = true
			o.Emit(timeline.Download, c.op, it)
			return evidence.Done
		}
	}
	return evidence.Miss
}

// link reads what micromamba puts in place:
//
//	Linking numpy-1.26.4-py311h64a7726_0
func (c *conda) link(text string, o *evidence.Out) evidence.Result {
	verb, dist, _ := strings.Cut(text, " ")
	name, version, ok := condaDist(dist)
	if !ok {
		return evidence.Miss
	}
	it := evidence.CondaItem(name, version)
	drop := func(items []timeline.Item) []timeline.Item {
		kept := items[:0]
		for _, x := range items {
			if x.Artifact != it.Artifact {
				kept = append(kept, x)
			}
		}
		return kept
	}
	if verb == "Linking" {
		c.now = drop(c.now)
		o.Emit(timeline.Install, c.op, it)
	} else {
		c.gone = drop(c.gone)
		o.Emit(timeline.Remove, c.op, it)
	}
	c.op.Answer()
	return evidence.Done
}

// execute says that the transaction is done: the plan came true.
func (c *conda) execute(o *evidence.Out) {
	if len(c.now) > 0 {
		o.Emit(timeline.Install, c.op, c.now...)
		c.op.Answer()
	}
	if len(c.gone) > 0 {
		o.Emit(timeline.Remove, c.op, c.gone...)
	}
	c.executed = true
	c.finish(timeline.OpDone, o)
}

func (c *conda) finish(how timeline.OpState, o *evidence.Out) {
	if c.op == nil {
		return
	}
	if c.listening {
		o.Deafen()
	}
	o.Close(c.op, how)
	*c = conda{}
}

// End ends the invocation.
func (c *conda) End(how timeline.OpState, o *evidence.Out) { c.finish(how, o) }
