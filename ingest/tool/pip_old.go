package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// unpacking reads how pip before version 6 begins with each package:
//
//	Downloading/unpacking django
//	Downloading/unpacking pyflakes>=0.7.3 (from flake8)
//	Downloading/unpacking pip from http://mirror.acme.example/packages/b6/ac/pip-9.0.1-py2.py3-none-any.whl#md5=297dbd16
func (p *pip) unpacking(text string, indent int, o *evidence.Out) evidence.Result {
	it, _, ok := requirementItem(text)
	if !ok {
		return evidence.Miss
	}
	op := p.begin(resolving, indent, o)
	p.collected, p.old = true, true
	o.Emit(timeline.Require, op, it)
	if _, from, named := strings.Cut(text, " from "); named {
		if d, is := evidence.ParseDist(firstWord(from)); is {
			p.once(timeline.Download, o, distItem(d))
		}
	}
	return evidence.Done
}

// installedOld reads the last line of such an invocation. It has no versions:
// they are those of the files that came.
//
//	Successfully installed flake8 pyflakes pep8 mccabe
func (p *pip) installedOld(text string, o *evidence.Out) evidence.Result {
	var known, others []timeline.Item
	for _, name := range strings.Fields(text) {
		if !evidence.IsDistName(name) {
			return evidence.Miss
		}
		it := timeline.Item{Artifact: timeline.PURL("pypi", "", name, "")}
		if came := p.came(it.Artifact); came != "" {
			known = append(known, timeline.Item{Artifact: came})
		} else {
			others = append(others, it)
		}
	}
	if known != nil {
		o.Emit(timeline.Install, p.op, known...)
	}
	if others != nil {
		o.Emit(timeline.Opaque, p.op, others...)
	}
	p.finish(timeline.OpDone, o)
	return evidence.Done
}

// came returns the one version of a package that the invocation downloaded, ""
// when there is none or more.
func (p *pip) came(artifact string) (version string) {
	for s := range p.got {
		if s.action == timeline.Download && strings.HasPrefix(s.artifact, artifact+"@") {
			if version != "" {
				return ""
			}
			version = s.artifact
		}
	}
	return version
}

// alreadyHere reads what pip download found in its folder:
//
//	File was already downloaded /srv/wheels/litellm-1.107.0-py3-none-any.whl
func (p *pip) alreadyHere(rest []byte, o *evidence.Out) evidence.Result {
	file, ok := strings.CutPrefix(string(rest), "was already downloaded ")
	d, is := evidence.ParseDist(strings.TrimSpace(file))
	if !ok || !is || p.op == nil && !o.Awaited("pip") && !d.Wheel {
		return evidence.Miss
	}
	p.current(o)
	p.once(timeline.Cached, o, distItem(d))
	return evidence.Done
}
