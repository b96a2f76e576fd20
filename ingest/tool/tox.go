package tool

import (
	"bytes"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Tox is the output of tox, of which each line of its own begins with the
// environment.
// https://tox.wiki/en/latest/user_guide.html
var Tox = evidence.Format{
	Name:   "tox",
	Shape:  evidence.ToolShape,
	Title:  "tox output",
	Proves: "what each environment was told to install, and what was in it then, with versions, where tox lists it",
	Cannot: "what came: tox hides the output of pip",
	Doc:    "https://tox.wiki/en/latest/user_guide.html",
	Sample: "made with tox 3.28, and written by hand after the documentation of tox 4",
	Starts: toxStarts,
	Looks:  looksTox,
	Tool:   func() evidence.Parser { return &tox{} },
}

// toxStarts are the beginnings of names that environments have. Others are known
// once tox has built the package, or made an environment of these.
var toxStarts = []string{
	".pkg", "py", "lint", "docs", "test", "type", "style", "format", "cov", "flake8", "mypy", "check", "dev", "integration", "unit",
	"functional", "pep8", "black", "pre-commit", "ruff", "fix", "build", "GLOB sdist-make: ",
}

// looksTox knows the lines behind which commands or lists stand.
func looksTox(text []byte) bool {
	_, rest, ok := cutToxEnv(text)
	if !ok {
		return false
	}
	for _, w := range toxMarks {
		if bytes.HasPrefix(rest, w) {
			return true
		}
	}
	return false
}

// toxMarks follow the environment.
var toxMarks = [][]byte{
	[]byte("install_"), []byte("commands"), []byte("freeze> "), // tox 4
	[]byte("installdeps: "), []byte("inst: "), []byte("develop-inst: "), []byte("installed: "), []byte("run-test"), []byte("runtests: "), // tox 3
	[]byte("sdist-make: "),
}

// cutToxEnv cuts "py312: " of tox 4 and "py36 " of tox 3 off, and what tox -vv
// writes behind it.
//
//	py312: 1089 I install_deps> python -I -m pip install pytest [tox/tox_env/api.py:427]
func cutToxEnv(text []byte) (env, rest []byte, ok bool) {
	n := bytes.IndexByte(text[:min(len(text), 62)], ' ')
	if n < 2 {
		return nil, nil, false
	}
	env, rest = text[:n], text[n+1:]
	env, four := bytes.CutSuffix(env, []byte(":"))
	for _, c := range env {
		if !letter(c) && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' {
			return nil, nil, false
		}
	}
	if n := len(rest) - len(bytes.TrimLeft(rest, "0123456789")); four && n > 0 && n+3 < len(rest) && rest[n] == ' ' && rest[n+2] == ' ' {
		rest = rest[n+3:]
		if i := bytes.LastIndex(rest, []byte(" [tox/")); i > 0 {
			rest = rest[:i]
		}
	}
	return env, rest, true
}

type tox struct {
	frozen string // the environment whose list may stand on the next line
}

// Hears tells the lines of environments with any name.
func (t *tox) Hears(text []byte) bool { return t.frozen != "" || looksTox(text) }

// Line reads one line:
//
//	.pkg: install_requires> python -I -m pip install 'setuptools>=61'
//	py312: install_deps> python -I -m pip install litellm==1.107.0 pytest
//	py312: freeze> python -m pip freeze --all
//	py312: litellm==1.107.0,pip==24.0,pytest==8.3.3
//	py312: commands[0]> pip install -e .
//	py36 installdeps: pytest, litellm==1.107.0
//	py36 inst: /srv/ci/api/.tox/.tmp/package/1/api-0.1.zip
//	py36 installed: api==0.1,attrs==19.3.0,litellm==1.107.0
//	py36 run-test: commands[0] | python -m pip install -e .
func (t *tox) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	env, rest, ok := cutToxEnv(bytes.TrimSpace(l.Text))
	frozen := t.frozen
	t.frozen = ""
	if l.Echo || !ok {
		return evidence.Miss
	}
	if string(env) == frozen {
		if items := frozenList(string(rest)); items != nil {
			return t.list(items, o)
		}
	}
	name, text, _ := strings.Cut(string(rest), " ")
	switch {
	case name == "freeze>":
		t.frozen = string(env)
	case strings.HasPrefix(name, "install_") && strings.HasSuffix(name, ">"), strings.HasPrefix(name, "commands") && strings.HasSuffix(name, "]>"):
		t.ran(text, o)
	case name == "installdeps:":
		t.ran("pip install "+strings.ReplaceAll(text, ", ", " "), o)
	case name == "inst:", name == "develop-inst:":
		t.ran("pip install "+text, o)
	case name == "installed:":
		items := frozenList(text)
		if items == nil {
			return evidence.Miss
		}
		return t.list(items, o)
	case (strings.HasPrefix(name, "run-test") || name == "runtests:") && strings.HasPrefix(text, "commands["):
		_, command, _ := strings.Cut(text, " | ")
		t.ran(command, o)
	case name == "sdist-make:" && string(env) == "GLOB":
	default:
		return evidence.Miss
	}
	o.Seen(timeline.PyPI)
	o.Listen()
	if t.frozen != "" {
		return evidence.More
	}
	return evidence.Done
}

// ran hands a command on of which no output is known: tox hides it.
func (t *tox) ran(command string, o *evidence.Out) {
	o.Ran(timeline.Subject{}, evidence.Stamp{}, []byte(command))
}

// list records what an environment holds.
func (t *tox) list(items []timeline.Item, o *evidence.Out) evidence.Result {
	op := o.Invocation("tox")
	op.Answer()
	o.Seen(timeline.PyPI)
	o.Listen()
	o.Emit(timeline.Present, op, items...)
	o.Close(op, timeline.OpDone)
	return evidence.Done
}

// frozenList reads what pip freeze prints, with commas between the rows. A
// warning of pip may have got into it.
func frozenList(text string) []timeline.Item {
	var items []timeline.Item
	for row := range strings.SplitSeq(text, ",") {
		if found, ok := freezeRow(nil, row); ok {
			items = append(items, found...)
		}
	}
	if !slices.ContainsFunc(items, func(it timeline.Item) bool { return it.Artifact != "" }) {
		return nil
	}
	return items
}

// End forgets the list that did not come.
func (t *tox) End(timeline.OpState, *evidence.Out) { t.frozen = "" }
