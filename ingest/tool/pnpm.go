package tool

import (
	"strconv"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Pnpm is the output of pnpm install, add, update and remove.
// https://pnpm.io/cli/install
var Pnpm = evidence.Format{
	Name:   "pnpm",
	Shape:  evidence.ToolShape,
	Title:  "pnpm output",
	Proves: "the project's own dependencies that were installed and removed, with versions and what an alias stands for",
	Cannot: "the versions of what they depend on: pnpm-lock.yaml of that commit has them",
	Doc:    "https://github.com/pnpm/pnpm.io/blob/main/docs/cli/install.md",
	Sample: "pnpm 8 and 9.15.9 run for this project",
	Starts: []string{
		"Packages: ", "Progress: ", "Lockfile is", "Already up to date", "dependencies:", "devDependencies:", "optionalDependencies:", "peerDependencies:", "+ ", "- ", "Done in ",
		"Scope: all ", "Resolving: total ", ". ", "../", ".../", "node_modules/.pnpm/", "WARN ", "\u2009WARN", "Legend: production dependency",
	},
	Looks: looksPnpm,
	Tool:  func() evidence.Parser { return &pnpm{} },
}

type pnpm struct {
	op      *evidence.Op
	counted *evidence.Mark
	fetched int
	named   int
	rows    bool // the header of a list of packages was read
	headed  bool // the last line said that rows come
	spaced  bool // blank lines stand between the rows
	lists   bool // the list is what pnpm list prints
	done    bool
	so      *evidence.Mark // the last line that counted what had come so far
	came    int
	built   map[string]bool
}

// Line reads one line.
func (p *pnpm) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return evidence.Miss
	}
	text := strings.TrimSpace(strings.ReplaceAll(string(l.Text), "\u2009", " "))
	if p.lists && p.rows && text != "" {
		return p.listed(text, o)
	}
	if p.rows && text == "" && (p.headed || p.spaced) {
		p.headed, p.spaced = false, true // as each line of some copies is, with a blank one behind it
		return evidence.More
	}
	if p.headed = false; p.rows && (text == "" || text[0] != '+' && text[0] != '-') {
		p.rows, p.spaced = false, false
	}
	if project, rest, ok := strings.Cut(text, "| "); ok && !strings.ContainsAny(strings.TrimRight(project, " "), " :") {
		return p.inProject(strings.TrimSpace(rest), o)
	}
	word, rest, _ := strings.Cut(text, " ")
	switch word {
	case "Packages:":
		return p.packages(rest, o)
	case "Progress:", "Resolving:":
		return p.progress(rest, o)
	case "Scope:":
		p.begin(o)
		o.Listen() // projects' own lines begin with their folders
		return evidence.Done
	case "WARN":
		return p.deprecated(strings.TrimSpace(rest), o)
	case "Legend:":
		p.lists = true
		return evidence.Done
	case "Lockfile", "Already":
		return p.noted(text, o)
	case "dependencies:", "devDependencies:", "optionalDependencies:", "peerDependencies:":
		if p.op == nil && !p.lists || rest != "" {
			return evidence.Miss
		}
		p.rows, p.headed = true, true
		return evidence.More
	case "+", "-":
		return p.row(word, rest, o)
	case "Done":
		if p.op == nil || !strings.HasPrefix(rest, "in ") {
			return evidence.Miss
		}
		p.done = true
		p.finish(timeline.OpDone, o)
		return evidence.Done
	}
	return p.script(text, o)
}

func (p *pnpm) begin(o *evidence.Out) {
	if p.op != nil && o.Overtaken(p.op) {
		p.finish(timeline.OpOpen, o)
	}
	if p.op == nil {
		p.op = o.Invocation("pnpm")
		p.lists = false
	}
	o.Seen(timeline.NPM)
}

// packages reads how many packages are added and removed:
//
//	Packages: +12 -1
func (p *pnpm) packages(rest string, o *evidence.Out) evidence.Result {
	added := 0
	for w := range strings.FieldsSeq(rest) {
		n, err := strconv.Atoi(w)
		if err != nil {
			return evidence.Miss
		}
		added += max(n, 0)
	}
	p.begin(o)
	mark := o.Mark()
	p.counted, p.fetched = &mark, added
	return evidence.Done
}

// progress reads the counts, which are printed again and again:
//
//	Progress: resolved 12, reused 2, downloaded 10, added 10, done
//	Resolving: total 2096, reused 0, downloaded 1276                 1
func (p *pnpm) progress(rest string, o *evidence.Out) evidence.Result {
	if !strings.HasPrefix(rest, "resolved ") && !strings.HasPrefix(rest, "total ") {
		return evidence.Miss
	}
	p.begin(o)
	for part := range strings.SplitSeq(rest, ", ") {
		what, count, _ := strings.Cut(part, " ")
		if n, err := strconv.Atoi(count); err == nil && (what == "downloaded" || what == "added") && n > 0 {
			mark := o.Mark()
			p.so, p.came = &mark, max(p.came, n)
		}
	}
	if strings.HasSuffix(rest, ", done") {
		p.done = true
	}
	return evidence.Done
}

// noted reads what pnpm says of its lock file:
//
//	Lockfile is up to date, resolution step is skipped
//	Already up to date
func (p *pnpm) noted(text string, o *evidence.Out) evidence.Result {
	if !strings.HasPrefix(text, "Lockfile is up to date") && text != "Already up to date" {
		return evidence.Miss
	}
	p.begin(o)
	p.done = p.done || text[0] == 'A'
	return evidence.Done
}

// row reads one dependency of the project:
//
//	dependencies:
//	+ mime 4.1.2
//	+ har-validator 5.1.3 (5.1.5 is available)
//	+ cache <- left-pad 1.3.0
//	- acme-lib 0.0.1 <- packages/lib
func (p *pnpm) row(sign, rest string, o *evidence.Out) evidence.Result {
	words := strings.Fields(rest)
	if !p.rows || len(words) < 2 {
		return evidence.Miss
	}
	name, version := words[0], words[1]
	if version == "<-" {
		if len(words) < 4 {
			return evidence.More
		}
		name, version = words[2], words[3]
	} else if len(words) > 2 && words[2] == "<-" {
		return evidence.More // a folder of the workspace
	}
	if !evidence.IsNPMName(name) || !evidence.IsSemver(version) {
		return evidence.More // a link
	}
	if sign == "-" {
		o.Emit(timeline.Remove, p.op, evidence.NPMItem(name, version))
		return evidence.More
	}
	p.named++
	o.Emit(timeline.Install, p.op, evidence.NPMItem(name, version))
	return evidence.More
}

// finish ends the invocation. What was counted and not named is opaque.
func (p *pnpm) finish(how timeline.OpState, o *evidence.Out) {
	if p.op == nil {
		return
	}
	if p.counted == nil && p.so != nil {
		p.counted, p.fetched = p.so, p.came
	}
	if p.fetched > p.named {
		uncounted(p.op, p.counted, "npm", o)
	}
	if p.fetched > 0 || p.named > 0 {
		p.op.Answer()
	}
	if p.done && how == timeline.OpOpen {
		how = timeline.OpDone
	}
	o.Deafen()
	o.Close(p.op, how)
	*p = pnpm{}
}

// End ends the invocation.
func (p *pnpm) End(how timeline.OpState, o *evidence.Out) { p.finish(how, o) }
