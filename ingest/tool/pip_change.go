package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// found is an installation that pip is about to remove.
type found struct {
	name, version string
	mark          evidence.Mark
}

// foundExisting reads "Found existing installation: litellm 1.105.4". Behind
// the version, rests of a progress bar may stand ("1.68.0m╺━━"), in which case
// another line must name it.
func (p *pip) foundExisting(rest []byte, o *evidence.Out) evidence.Result {
	rest, ok := bytes.CutPrefix(rest, []byte("existing installation: "))
	if !ok {
		return evidence.Miss
	}
	name, version, _ := strings.Cut(string(rest), " ")
	if !evidence.IsDistName(name) {
		return evidence.Miss
	}
	p.dropFound(o)
	p.begin(installing, p.indent, o)
	p.ends = true
	if v, clean := cleanVersion(version); clean {
		p.found = found{name, v, o.Mark()}
	}
	return evidence.Done
}

// cleanVersion cuts rests of a progress bar off a version; clean is false when
// they cannot be told from it.
func cleanVersion(text string) (version string, clean bool) {
	n := 0
	for n < len(text) && (text[n] == '.' || text[n] == '+' || text[n] == '!' || text[n] == '_' || text[n] == '-' ||
		text[n] >= '0' && text[n] <= '9' || text[n] >= 'a' && text[n] <= 'z' || text[n] >= 'A' && text[n] <= 'Z') {
		n++
	}
	return text[:n], evidence.IsVersion(text[:n]) && (n == len(text) || text[n] != ';')
}

// uninstalling reads "Uninstalling litellm-1.105.4:"; the colon shows where the
// version ends.
func (p *pip) uninstalling(rest []byte, o *evidence.Out) evidence.Result {
	dist, _, ok := bytes.Cut(rest, []byte(":"))
	if !ok {
		return evidence.Miss
	}
	name, version, ok := evidence.SplitDist(string(dist))
	if !ok {
		return evidence.Miss
	}
	p.begin(installing, p.indent, o)
	p.ends = true
	p.found = found{name, version, o.Mark()}
	return evidence.Done
}

// proceed reads the question of an uninstall, which the answer follows on the
// same line when nothing was typed into the log:
//
//	Proceed (Y/n)?   Successfully uninstalled litellm-1.107.0
func (p *pip) proceed(rest []byte, o *evidence.Out) evidence.Result {
	_, dist, ok := bytes.Cut(rest, []byte("Successfully uninstalled "))
	if !ok {
		return evidence.Miss
	}
	return p.uninstalled(string(dist), o)
}

// dropFound says of an installation whose removal was not confirmed that it is
// there. It belongs to no invocation: it is no answer to what was asked.
func (p *pip) dropFound(o *evidence.Out) {
	if p.found.name != "" {
		o.At(p.found.mark, timeline.Event{Action: timeline.Present, Items: []timeline.Item{
			{Artifact: timeline.PURL("pypi", "", p.found.name, p.found.version)},
		}})
	}
	p.found = found{}
}

// uninstalled reads "Successfully uninstalled litellm-1.105.4".
func (p *pip) uninstalled(dist string, o *evidence.Out) evidence.Result {
	name, version := p.found.name, p.found.version
	if name == "" || dist != name && !strings.HasPrefix(dist, name+"-"+version) { // before pip 6 the name alone
		i := strings.IndexAny(dist+" ", " [;:")
		var ok bool
		if name, version, ok = evidence.SplitDist(asciiPart(dist[:min(i, len(dist))])); !ok {
			return evidence.Miss
		}
	}
	p.found = found{}
	op := p.begin(installing, p.indent, o)
	p.ends = true
	o.Emit(timeline.Remove, op, timeline.Item{Artifact: timeline.PURL("pypi", "", name, version)})
	return evidence.Done
}

// asciiPart returns what stands before the first byte that is not ASCII.
func asciiPart(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return s[:i]
		}
	}
	return s
}

// successfully reads the last lines of an invocation:
//
//	Successfully installed acme-tokens-0.9.3 litellm-1.107.0
//	Successfully downloaded litellm openai
func (p *pip) successfully(text string, indent int, gem bool, o *evidence.Out) evidence.Result {
	verb, rest, _ := strings.Cut(text, " ")
	switch verb {
	case "uninstalled":
		return p.uninstalled(rest, o)
	case "downloaded":
		if p.op == nil {
			return evidence.Miss
		}
		p.finish(timeline.OpDone, o)
		return evidence.Done
	case "installed":
		return p.installed(rest, indent, gem, o)
	}
	return evidence.Miss
}

func (p *pip) installed(text string, indent int, gem bool, o *evidence.Out) evidence.Result {
	if p.old && !gem {
		return p.installedOld(text, o)
	}
	items := distList(text, p.plan...)
	if items == nil || gem {
		return evidence.Miss
	}
	if len(items) == 1 && !p.collected && p.phase != installing && (p.op != nil || !o.Awaited("pip")) {
		p.hold(items[0], text, o)
		return evidence.More
	}
	if p.op != nil && o.Overtaken(p.op) && indent <= p.indent {
		p.finish(timeline.OpOpen, o)
	}
	nested := p.op != nil && indent > p.indent
	op := p.begin(max(p.phase, resolving), indent, o)
	mark := o.Mark()
	if p.long != nil {
		mark = p.long.mark
	}
	o.At(mark, timeline.Event{Action: timeline.Install, Op: op.Number, Items: items})
	if lost := p.lacking(items); !nested && lost != nil {
		o.At(mark, timeline.Event{Action: timeline.Opaque, Op: op.Number, Items: lost})
	}
	if !nested { // a build environment of its own is no end
		p.finish(timeline.OpDone, o)
	}
	return evidence.Done
}

// heldGem is a "Successfully installed x-1" with nothing of pip before it.
// RubyGems and CPAN write the same words; the next line tells.
type heldGem struct {
	mark evidence.Mark
	op   *evidence.Op // stored only when it turns out to be pip's
	item timeline.Item
	text string // as written: the name of a gem is not spelled anew
}

// hold keeps an installation until the next line is there.
func (p *pip) hold(it timeline.Item, written string, o *evidence.Out) {
	op := p.op
	if op == nil || len(p.gems) > 0 {
		op = o.Invocation("pip")
	}
	mark := o.Mark()
	if p.long != nil {
		mark = p.long.mark
	}
	p.gems = append(p.gems, heldGem{mark, op, it, written})
}

// afterGem are the beginnings of lines that RubyGems prints behind an installed
// gem.
var afterGem = []string{"Parsing documentation ", "Installing ri ", "Done installing ", "Building native ", "Fetching", "installing "}

// moreGems looks at the line behind held ones: Miss when it must still be read.
func (p *pip) moreGems(text []byte, o *evidence.Out) evidence.Result {
	if rest, ok := bytes.CutPrefix(text, []byte("Successfully installed ")); ok && bytes.IndexByte(rest, ' ') < 0 {
		if items := distList(string(rest)); items != nil {
			p.hold(items[0], string(rest), o)
			return evidence.More
		}
	}
	isGem := bytes.HasSuffix(text, []byte(" gem installed")) || bytes.HasSuffix(text, []byte(" gems installed")) ||
		bytes.HasSuffix(text, []byte(" distribution installed")) || bytes.HasSuffix(text, []byte(" distributions installed"))
	for _, w := range afterGem {
		isGem = isGem || bytes.HasPrefix(text, []byte(w))
	}
	if isGem {
		if sureGem(text) {
			p.emitGems(o)
		}
		p.gems = nil
		return evidence.Miss
	}
	p.releaseGems(o)
	return evidence.Miss
}

// sureGem reports whether a line is RubyGems' own: CPAN's are alike.
func sureGem(text []byte) bool {
	return bytes.Contains(text, []byte(" gem")) || bytes.HasSuffix(text, []byte(".gem")) || bytes.HasPrefix(text, []byte("Parsing documentation ")) ||
		bytes.HasPrefix(text, []byte("Installing ri ")) || bytes.HasPrefix(text, []byte("Done installing "))
}

// emitGems emits what turned out to be of RubyGems.
func (p *pip) emitGems(o *evidence.Out) {
	op := o.Invocation("gem")
	op.Answer()
	o.Seen("gem")
	for _, h := range p.gems {
		if it, ok := gemFile(h.text); ok {
			o.At(h.mark, timeline.Event{Action: timeline.Install, Op: op.Number, Items: []timeline.Item{it}})
		}
	}
	o.Close(op, timeline.OpDone)
}

// releaseGems emits what turned out to be of pip.
func (p *pip) releaseGems(o *evidence.Out) {
	for _, h := range p.gems {
		if p.op != h.op {
			p.finish(timeline.OpOpen, o)
		}
		p.op = h.op
		p.begin(installing, 0, o)
		o.At(h.mark, timeline.Event{Action: timeline.Install, Op: h.op.Number, Items: []timeline.Item{h.item}})
		p.finish(timeline.OpDone, o)
	}
	p.gems = nil
}
