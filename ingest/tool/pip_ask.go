package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// heldAsk is a "Collecting x" without version or origin. Other programs collect
// things too, so the next line decides.
type heldAsk struct {
	mark   evidence.Mark
	op     *evidence.Op // stored only when it turns out to be pip's
	item   timeline.Item
	indent int
}

// prose reports whether what stands behind "Collecting" goes on as a sentence: a
// word that is no file and no address, and another one that does not say from
// where.
//
//	Collecting coverage data for 445 shards
func prose(text []byte) bool {
	n := bytes.IndexByte(text, ' ')
	if n <= 0 || n+1 == len(text) {
		return false
	}
	for _, c := range text[:n] {
		if !letter(c) && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return letter(text[n+1]) && !bytes.HasPrefix(text[n:], []byte(" from "))
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// collecting reads a question: the range in Ref, no version unless it is a pin.
//
//	Collecting litellm>=1.100 (from -r requirements.txt (line 1))
//	Collecting acme-tokens>=0.9
//	Collecting git+https://git.acme.example/router.git
func (p *pip) collecting(text string, indent int, o *evidence.Out) evidence.Result {
	it, sure, ok := requirementItem(text)
	if !ok {
		return evidence.Miss
	}
	if !sure && p.op == nil && !o.Awaited("pip") {
		p.asked = &heldAsk{o.Mark(), o.Invocation("pip"), it, indent}
		return evidence.More
	}
	if !strings.Contains(text, "(from ") {
		p.next(timeline.Split(it.Artifact).Name, o)
	}
	op := p.begin(resolving, indent, o)
	p.collected = true
	o.Emit(timeline.Require, op, it)
	return evidence.Done
}

// next ends an invocation that found all that its command names in place, when
// something else is asked for and another command waits: where nothing is to do
// pip prints no last line. name is "" for a folder.
//
//	Requirement already satisfied: pip in ./venv/lib/python3.12/site-packages (25.2)
//	Obtaining file:///srv/ci/job/router
func (p *pip) next(name string, o *evidence.Out) {
	if p.op == nil || p.collected || !p.ends || p.op.Command == "" || !o.Awaited("pip") {
		return
	}
	for w := range strings.FieldsSeq(p.op.Command) {
		r, _, ok := evidence.ParseRequirement(strings.Trim(w, `'"`))
		switch {
		case strings.HasPrefix(w, "-r"), strings.HasPrefix(w, "--req"), strings.HasPrefix(w, "-e"), strings.HasPrefix(w, "--ed"), strings.ContainsAny(w, "/$"), strings.HasPrefix(w, "."):
			return // it may be of that one
		case name != "" && ok && timeline.PURL("pypi", "", r.Name, "") == timeline.PURL("pypi", "", name, ""):
			return
		}
	}
	p.finish(timeline.OpOpen, o)
}

// requirementItem reads what stands behind "Collecting". sure says that the
// line can be of pip only.
func requirementItem(text string) (it timeline.Item, sure, ok bool) {
	if d, is := evidence.ParseDist(firstWord(text)); is {
		it = distItem(d)
		it.Ref = evidence.Redact(firstWord(text))
		return it, true, true
	}
	if word := firstWord(text); strings.Contains(word, "://") {
		// A repository or archive whose package is not named yet.
		it = timeline.Item{Artifact: timeline.Ecosystem("pypi"), Ref: evidence.Redact(word)}
		if _, egg, named := strings.Cut(word, "#egg="); named && evidence.IsDistName(egg) {
			it.Artifact = timeline.PURL("pypi", "", egg, "")
		}
		return it, strings.HasPrefix(word, "git+"), true
	}
	r, rest, is := evidence.ParseRequirement(text)
	if !is || rest != "" && !strings.HasPrefix(rest, " (from ") && !strings.HasPrefix(rest, " from ") && rest[0] != ';' && !strings.HasPrefix(rest, " ;") {
		return it, false, false
	}
	return r.Item(), r.Spec != "" || r.URL != "" || rest != "", true
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	return word
}

// afterAsk are the beginnings of lines that follow a question of pip.
var afterAsk = []string{
	"Downloading ", "Using cached ", "Collecting ", "Requirement already ", "Obtaining ", "Processing ",
	"Cloning ", "Running command ", "Successfully installed ", "Looking in ",
	"WARNING: ", "INFO: pip ", "ERROR: ", "Installing ", "Could not find ",
}

// release decides about the held question when the next line is there.
func (p *pip) release(l *evidence.Line, text []byte, o *evidence.Out) {
	for _, w := range afterAsk {
		if !l.Echo && bytes.HasPrefix(text, []byte(w)) {
			p.confirm(o)
			return
		}
	}
	p.asked = nil
}

func (p *pip) confirm(o *evidence.Out) {
	h := p.asked
	p.asked = nil
	p.op, p.indent = h.op, h.indent
	p.begin(resolving, h.indent, o)
	p.collected = true
	o.At(h.mark, timeline.Event{Action: timeline.Require, Op: h.op.Number, Items: []timeline.Item{h.item}})
}

// satisfied reads what the environment has already; the version stands in the
// last parentheses, where there is one.
//
//	Requirement already satisfied: litellm>=1.100 in ./venv/lib/python3.11/site-packages (from acme) (1.107.0)
//	Requirement already satisfied, skipping upgrade: six in /opt/conda/lib/python3.7/site-packages (1.14.0)
//	Requirement already up-to-date: pip in ./venv/lib/python2.7/site-packages (20.0.2)
func (p *pip) satisfied(rest string, indent int, o *evidence.Out) evidence.Result {
	if !strings.HasPrefix(rest, "already ") {
		return evidence.Miss
	}
	_, text, ok := strings.Cut(rest, ": ")
	if !ok {
		return evidence.Miss
	}
	r, _, ok := evidence.ParseRequirement(text)
	if !ok {
		return evidence.Miss
	}
	op := p.begin(resolving, indent, o)
	p.ends = true
	open := strings.LastIndexByte(text, '(')
	if open < 0 {
		return evidence.Done
	}
	version, _, closed := strings.Cut(text[open+1:], ")")
	if !closed || !evidence.IsVersion(version) {
		return evidence.Done
	}
	o.Emit(timeline.Present, op, timeline.Item{Artifact: timeline.PURL("pypi", "", r.Name, version), Ref: r.Spec})
	return evidence.Done
}

// processing reads local files, and wheels that pip built before and kept:
//
//	Processing ./wheels/litellm-1.107.0-py3-none-any.whl
//	Processing /home/ci/.cache/pip/wheels/ab/cd/ef/gast-0.2.2-py3-none-any.whl
func (p *pip) processing(rest []byte, indent int, o *evidence.Out) evidence.Result {
	file, _, _ := bytes.Cut(rest, []byte(" ("))
	d, ok := evidence.ParseDist(string(file))
	if !ok || !d.Wheel && p.op == nil && !o.Awaited("pip") {
		// A folder: what is in it is named when it is installed.
		if p.op == nil && !o.Awaited("pip") || !bytes.ContainsAny(rest, `/\.`) {
			return evidence.Miss
		}
		p.next("", o)
		p.begin(resolving, indent, o)
		p.collected = true
		return evidence.Done
	}
	p.begin(resolving, indent, o)
	p.collected = true
	action := timeline.Require
	if bytes.Contains(file, []byte("/pip/wheels/")) || bytes.Contains(file, []byte(`\pip\cache\wheels\`)) {
		action = timeline.Cached
	}
	p.once(action, o, distItem(d))
	return evidence.Done
}

// obtaining reads editable installs:
//
//	Obtaining file:///srv/ci/job/router
//	Obtaining acme-router from git+https://git.acme.example/router.git#egg=acme-router
//	Obtaining dependency information for litellm from http://mirror.acme.example/litellm-1.107.0-py3-none-any.whl.metadata
func (p *pip) obtaining(text string, indent int, o *evidence.Out) evidence.Result {
	if strings.HasPrefix(text, "dependency information for ") {
		p.begin(resolving, p.indent, o)
		return evidence.Done
	}
	name, from, named := strings.Cut(text, " from ")
	if !strings.HasPrefix(text, "file://") && !(named && strings.Contains(from, "+") && evidence.IsDistName(name)) {
		return evidence.Miss
	}
	p.next("", o)
	op := p.begin(resolving, indent, o)
	p.collected = true
	if named && evidence.IsDistName(name) {
		o.Emit(timeline.Require, op, timeline.Item{Artifact: timeline.PURL("pypi", "", name, ""), Ref: evidence.Redact(firstWord(from))})
	}
	return evidence.Done
}
