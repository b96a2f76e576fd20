package tool

import (
	"bytes"
	"encoding/hex"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// EasyInstall is what setuptools prints of what a project needs: python setup.py
// install, develop and test, and the installer that came before pip.
// https://setuptools.pypa.io/en/latest/deprecated/easy_install.html
var EasyInstall = evidence.Format{
	Name:   "easy-install",
	Shape:  evidence.ToolShape,
	Title:  "setup.py install and develop, easy_install",
	Proves: "what was asked for, chosen, fetched and installed, with versions; what was there already",
	Cannot: "what --quiet installed",
	Doc:    "https://setuptools.pypa.io/en/latest/deprecated/easy_install.html",
	Sample: "written by hand after public logs",
	Starts: []string{
		"Searching for ", "Best match: ", "Downloading http", "Adding ", "Installed ", "Using ", "Processing ", "Finished processing dependencies",
	},
	Looks: looksEasyInstall,
	Tool:  func() evidence.Parser { return &easyInstall{} },
}

// looksEasyInstall tells lines of setuptools from those of other programs that
// begin with the same word.
func looksEasyInstall(text []byte) bool {
	switch text[0] {
	case 'A':
		return bytes.HasSuffix(text, pthFile)
	case 'I':
		return bytes.HasSuffix(text, []byte(".egg"))
	case 'U', 'D':
		return false // until it has begun
	case 'P':
		return bytes.HasPrefix(text, []byte("Processing dependencies for "))
	}
	return true
}

var pthFile = []byte(" to easy-install.pth file")

type easyInstall struct {
	op   *evidence.Op
	best timeline.Item // the match that was chosen last, and not yet installed
}

// Line reads one line:
//
//	Searching for simplejson>=3.8
//	Best match: simplejson 3.8.0
//	Downloading https://mirror.acme.example/packages/source/s/simplejson/simplejson-3.8.0.tar.gz#sha256=0f2d…
//	Adding simplejson 3.8.0 to easy-install.pth file
//	Installed /usr/lib/python2.7/site-packages/simplejson-3.8.0-py2.7-linux-x86_64.egg
//	Using /usr/lib/python3.8/site-packages
//	Finished processing dependencies for acme==1.0
func (e *easyInstall) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		return evidence.Miss
	}
	word, rest, _ := strings.Cut(string(bytes.TrimSpace(l.Text)), " ")
	if e.op == nil && (word == "Using" || word == "Downloading" || word == "Processing" && !strings.HasPrefix(rest, "dependencies for ")) {
		return evidence.Miss
	}
	switch word {
	case "Searching":
		return e.searching(strings.TrimPrefix(rest, "for "), o)
	case "Best":
		return e.chose(strings.TrimPrefix(rest, "match: "), true, o)
	case "Adding":
		rest, ok := strings.CutSuffix(rest, string(pthFile))
		if !ok {
			return evidence.Miss
		}
		return e.chose(rest, false, o)
	case "Downloading":
		return e.download(rest, o)
	case "Installed":
		return e.placed(rest, timeline.Install, o)
	case "Using":
		return e.placed(rest, timeline.Present, o)
	case "Processing":
		e.begin(o)
		return evidence.Done
	case "Finished":
		if e.op == nil {
			return evidence.Miss
		}
		e.close(timeline.OpDone, o)
		return evidence.Done
	}
	return evidence.Miss
}

// searching reads what is asked for, in the words of a requirement.
func (e *easyInstall) searching(text string, o *evidence.Out) evidence.Result {
	r, rest, ok := evidence.ParseRequirement(text)
	if !ok || rest != "" {
		return evidence.Miss
	}
	o.Emit(timeline.Require, e.begin(o), r.Item())
	return evidence.Done
}

// chose keeps a match, a name and a version: the next lines tell what becomes of
// it. Of one that was not searched for, the project itself, nothing was resolved.
func (e *easyInstall) chose(text string, searched bool, o *evidence.Out) evidence.Result {
	name, version, _ := strings.Cut(text, " ")
	if !evidence.IsDistName(name) || !evidence.IsVersion(version) {
		return evidence.Miss
	}
	op := e.begin(o)
	e.best = timeline.Item{Artifact: timeline.PURL("pypi", "", name, version)}
	if searched {
		o.Emit(timeline.Resolve, op, e.best)
	}
	return evidence.Done
}

// download reads the address of an archive, and the hash behind it.
func (e *easyInstall) download(address string, o *evidence.Out) evidence.Result {
	d, ok := evidence.ParseDist(address)
	if !ok {
		return evidence.Miss
	}
	it := distItem(d)
	if _, sum, ok := strings.Cut(address, "#sha256="); ok && len(sum) == 64 {
		if _, err := hex.DecodeString(sum); err == nil {
			it.Digests = []timeline.Digest{{Value: "sha256:" + sum, Role: timeline.File}}
		}
	}
	o.Emit(timeline.Download, e.begin(o), it)
	return evidence.Done
}

// placed reads where a package is: the egg's name says which, or the match does.
func (e *easyInstall) placed(path string, action timeline.Action, o *evidence.Out) evidence.Result {
	it := e.best
	d, egg := evidence.ParseDist(path)
	if egg = egg && strings.HasSuffix(path, ".egg"); egg {
		it = distItem(d)
	}
	if it.Artifact == "" || !egg && !strings.HasPrefix(path, "/") && !strings.Contains(path, `:\`) {
		return evidence.Miss
	}
	e.best = timeline.Item{}
	o.Emit(action, e.begin(o), it)
	return evidence.Done
}

func (e *easyInstall) begin(o *evidence.Out) *evidence.Op {
	if e.op != nil && o.Overtaken(e.op) {
		e.close(timeline.OpOpen, o)
	}
	if e.op == nil {
		e.op = o.Invocation("easy_install")
		o.Heed()
	}
	o.Seen(timeline.PyPI)
	return e.op
}

func (e *easyInstall) close(how timeline.OpState, o *evidence.Out) {
	if e.op != nil {
		if how == timeline.OpDone {
			e.op.Answer()
		}
		o.Close(e.op, how)
	}
	*e = easyInstall{}
}

// End closes what is open.
func (e *easyInstall) End(how timeline.OpState, o *evidence.Out) { e.close(how, o) }
