package tool

import (
	"net/url"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// npmVerbose is what npm's log messages say of one invocation.
type npmVerbose struct {
	versions map[string][2]string // folder: name and version; version "" when there are several
	added    []npmPlace
	scripts  []npmPlace
	own      map[string]bool // projects of one's own
	hits     []npmPlace      // tarballs said to be cached, which is only known later
	fetched  map[string]bool // artifacts that came over
	chosen   map[string]bool // name@version that were said to be chosen
	words    []string        // of the command, while it is printed
}

// npmPlace is a package whose event is made when the invocation ends.
type npmPlace struct {
	mark evidence.Mark
	text string // a folder's name, name@version or artifact
}

// message reads a message of a log level.
func (n *npm) message(level, text string, o *evidence.Out) evidence.Result {
	word, rest, _ := strings.Cut(text, " ")
	switch level {
	case "info":
		return n.info(word, rest, o)
	case "http":
		return n.http(word, rest, o)
	case "silly":
		return n.silly(word, rest, o)
	case "verbose":
		return n.detail(word, rest, o)
	case "warn":
		return n.warning(word, rest, o)
	case "notice":
		return n.notice(text, o)
	case "error":
		if n.op != nil && word == "code" {
			n.ended = timeline.OpFailed
			return evidence.Done
		}
	}
	return evidence.Miss
}

// info reads the start and end of an invocation, and the scripts that it runs:
//
//	npm info using npm@11.19.1
//	npm info lifecycle core-js@3.0.0~install: core-js@3.0.0                         6
//	npm info postinstall remove-element@0.0.0                                      2
//	npm info run esbuild@0.17.0 postinstall node_modules/esbuild node install.js   7 and newer
//	npm info ok
func (n *npm) info(word, rest string, o *evidence.Out) evidence.Result {
	switch word {
	case "it", "using":
		if strings.HasPrefix(rest, "npm@") && n.op != nil {
			n.finish(timeline.OpOpen, o)
		}
		return evidence.Done
	case "ok":
		if n.op != nil {
			n.ended = timeline.OpDone
			n.finish(timeline.OpDone, o)
		}
		return evidence.Done
	case "lifecycle":
		id, event, _ := strings.Cut(rest, "~")
		event, _, _ = strings.Cut(event, ":")
		return n.script(id, event, o)
	case "linkStuff", "install", "postinstall", "prepublish", "prepare", "preshrinkwrap", "shrinkwrap":
		return n.script(rest, word, o)
	case "run":
		words := strings.Fields(rest)
		if len(words) < 4 || !strings.Contains(words[2], "node_modules") || words[1] != "preinstall" && words[1] != "install" && words[1] != "postinstall" {
			return evidence.Miss
		}
		return n.script(words[0], words[1], o)
	}
	return evidence.Miss
}

// script notes a package whose scripts come up. Of a project of one's own they
// come up too, with scripts that no dependency has.
func (n *npm) script(id, event string, o *evidence.Out) evidence.Result {
	if _, _, ok := evidence.SplitNPM(id); !ok || len(n.verbose.scripts) >= maxNPMNames {
		return evidence.Miss
	}
	n.begin(o)
	switch event {
	case "install", "postinstall", "preinstall", "linkStuff":
		n.verbose.scripts = append(n.verbose.scripts, npmPlace{o.Mark(), id})
	case "prepublish", "prepare", "preshrinkwrap", "shrinkwrap":
		if n.verbose.own == nil {
			n.verbose.own = map[string]bool{}
		}
		n.verbose.own[id] = true
	}
	return evidence.Done
}

// http reads requests that were answered:
//
//	npm http fetch GET 200 https://registry.npmjs.tld/axios/-/axios-1.14.1.tgz 234ms (cache miss)
//	npm http 304 https://registry.npmjs.tld/webgl-workshop
//	npm http cache axios@https://registry.npmjs.tld/axios/-/axios-1.14.1.tgz 0ms (cache hit)
//
// The last is printed also before a tarball that is then fetched.
func (n *npm) http(word, rest string, o *evidence.Out) evidence.Result {
	status, address := "", ""
	for _, w := range strings.Fields(word + " " + rest) {
		switch {
		case len(w) == 3 && w[0] >= '1' && w[0] <= '5' && strings.Trim(w, "0123456789") == "":
			status = w
		case strings.Contains(w, "://"):
			address = w[strings.Index(w, "@http")+1:]
		}
	}
	item, kind := npmAddress(address)
	if kind == noPath || word != "cache" && status != "200" && status != "304" {
		return evidence.Miss
	}
	op := n.begin(o)
	if word == status {
		n.hear(o) // npm 1 or 2
	}
	v := &n.verbose
	switch {
	case kind == indexPage && status == "304":
		o.Emit(timeline.Check, op, item)
	case kind == indexPage:
		o.Emit(timeline.Resolve, op, item)
	case word == "cache":
		if len(v.hits) < maxNPMNames {
			v.hits = append(v.hits, npmPlace{o.Mark(), item.Artifact})
		}
	case strings.Contains(rest, "(cache hit)") || strings.Contains(rest, "(cache revalidated)"):
		o.Emit(timeline.Cached, op, item)
	default:
		if v.fetched == nil {
			v.fetched = map[string]bool{}
		}
		v.fetched[item.Artifact] = true
		if parts := timeline.Split(item.Artifact); parts.Version != "" {
			v.version(parts.Name, parts.Name, parts.Version)
		}
		o.Emit(timeline.Download, op, item)
	}
	return evidence.Done
}

// npmAddress reads the path of a tarball or of a package's page.
func npmAddress(address string) (timeline.Item, pathKind) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return timeline.Item{}, noPath
	}
	if item, kind := packagePath(u.EscapedPath()); kind == wholeFile && strings.HasPrefix(item.Artifact, "pkg:npm/") {
		return item, kind
	}
	words := strings.Split(strings.Trim(u.Path, "/"), "/")
	name := words[len(words)-1]
	if n := len(words); n > 1 && strings.HasPrefix(words[n-2], "@") {
		name = words[n-2] + "/" + name
	}
	if strings.Contains(u.Path, "/-/") || !evidence.IsNPMName(name) || strings.HasSuffix(name, ".tgz") {
		return timeline.Item{}, noPath
	}
	return timeline.Item{Artifact: timeline.PURL("npm", "", name, "")}, indexPage
}

// silly reads where packages are placed, and what was added when all is done:
//
//	npm silly placeDep ROOT har-validator@5.1.5 OK for: app@1.0.0 want: 5.1.5
//	npm silly audit   'har-schema': [ '2.0.0' ],
//	npm silly ADD node_modules/har-validator
//	npm silly resolveWithNewModule har-validator@5.1.5 checking installable status      5, 6
//	npm silly pacote version manifest for har-validator@5.1.5 fetched in 12ms           5, 6
//	npm silly decomposeActions fetch har-validator@5.1.5                                5, 6
//	npm silly extract har-validator@5.1.5 extracted to /srv/app/node_modules/.staging/har-validator-1d9a0bd7 (21ms)
//	npm silly saveTree └── har-validator@5.1.5                                          3 to 6, when all is done
//
// The versions of what a lock file names stand only in the query of the audit.
func (n *npm) silly(word, rest string, o *evidence.Out) evidence.Result {
	switch word {
	case "placeDep":
		w := strings.Fields(rest)
		if len(w) < 3 || w[2] != "OK" && w[2] != "REPLACE" {
			return evidence.Miss
		}
		name, version, ok := npmPackage(w[1])
		if !ok {
			return evidence.Miss
		}
		folder, _ := evidence.CutNPM(w[1])
		op := n.begin(o)
		n.verbose.version(folder, name, version)
		o.Emit(timeline.Resolve, op, evidence.NPMItem(name, version))
		return evidence.Done
	case "resolveWithNewModule", "decomposeActions", "pacote", "extract":
		return n.chose(word, rest, o)
	case "saveTree", "currentTree", "idealTree":
		return n.silentTree(word, rest, o)
	case "audit":
		return n.audited(rest)
	case "ADD", "CHANGE":
		i := strings.LastIndex(rest, "node_modules/")
		if i < 0 || len(n.verbose.added) >= maxNPMNames {
			return evidence.Miss
		}
		n.begin(o)
		n.verbose.added = append(n.verbose.added, npmPlace{o.Mark(), rest[i+len("node_modules/"):]})
		return evidence.Done
	}
	return evidence.Miss
}

// silentTree reads a row of the trees that npm 3 to 6 have in their logs: what was
// there, what they are about to make, and what they made.
//
//	npm silly idealTree +-- babylon@5.8.35
//	npm silly idealTree | `-- yargs@4.8.1
func (n *npm) silentTree(word, rest string, o *evidence.Out) evidence.Result {
	row := strings.TrimLeft(rest, "│├└┬─|+-` ")
	name, version, ok := npmPackage(strings.TrimSpace(row))
	if !ok || !treeRow(rest[:len(rest)-len(row)]) {
		return evidence.Miss
	}
	action := timeline.Present
	if word == "idealTree" {
		action = timeline.Resolve
	}
	o.Emit(action, n.begin(o), evidence.NPMItem(name, version))
	return evidence.Done
}

// chose reads what npm 6 and older say of the versions that they chose, and of
// what they unpacked.
func (n *npm) chose(word, rest string, o *evidence.Out) evidence.Result {
	switch word {
	case "pacote":
		rest = strings.TrimPrefix(rest, "version manifest for ")
	case "decomposeActions":
		_, rest, _ = strings.Cut(rest, " ")
	}
	id, rest, _ := strings.Cut(rest, " ")
	name, version, ok := npmPackage(id)
	unpacked := strings.HasPrefix(rest, "extracted to ")
	if !ok || word == "extract" && !unpacked {
		return evidence.Miss
	}
	n.begin(o)
	if unpacked {
		n.install(name, version, o.Mark(), o)
	} else if v := &n.verbose; !v.chosen[id] && len(v.chosen) < maxNPMNames {
		if v.chosen == nil {
			v.chosen = map[string]bool{}
		}
		v.chosen[id] = true
		o.Emit(timeline.Resolve, n.op, evidence.NPMItem(name, version))
	}
	return evidence.Done
}

// version notes which version a folder's name stands for.
func (v *npmVerbose) version(folder, name, version string) {
	if v.versions == nil {
		v.versions = map[string][2]string{}
	}
	if old, ok := v.versions[folder]; ok && old != [2]string{name, version} {
		v.versions[folder] = [2]string{name}
		return
	}
	if len(v.versions) < maxNPMNames {
		v.versions[folder] = [2]string{name, version}
	}
}

// audited reads one row of the packages whose advisories npm asks for: all of
// the tree that it is about to make.
func (n *npm) audited(row string) evidence.Result {
	name, versions, ok := strings.Cut(strings.TrimSpace(row), ": [")
	name = strings.Trim(name, `'"`)
	versions = strings.Trim(strings.TrimRight(strings.TrimSpace(versions), ",]"), ` '"`)
	if !ok || n.op == nil || !evidence.IsNPMName(name) {
		return evidence.Miss
	}
	if _, placed := n.verbose.versions[name]; evidence.IsSemver(versions) && !placed {
		n.verbose.version(name, name, versions)
	}
	return evidence.Done
}

// detail reads the command, which a debug log starts with, and the exit code:
//
//	npm verbose argv "install" "--loglevel" "http" "chalk@4"
//	npm verbose exit 1
func (n *npm) detail(word, rest string, o *evidence.Out) evidence.Result {
	switch word {
	case "cli":
		return n.command(rest, o)
	case "argv":
		return n.asked(rest, o)
	case "exit":
		if n.op == nil {
			return evidence.Miss
		}
		n.ended = timeline.OpFailed
		if rest == "0" || strings.HasPrefix(rest, "[ 0,") {
			n.ended = timeline.OpDone
		}
		return evidence.Done
	}
	return evidence.Miss
}

// asked reads the command; quiet options hide nothing from a log of all levels.
func (n *npm) asked(words string, o *evidence.Out) evidence.Result {
	if o.Awaited("npm") || n.op != nil {
		return evidence.Done
	}
	commands, _, _ := shellCommands("npm " + words)
	if len(commands) != 1 {
		return evidence.Miss
	}
	if a := npmAsk("npm", commands[0].words[1:]); a != nil {
		a.quiet = false
		a.emit(strings.Join(commands[0].words, " "), false, o)
	}
	return evidence.Done
}

// command reads the command as npm 8 and older print it, on one line or several:
//
//	npm verb cli [ '/usr/bin/node', '/usr/bin/npm', 'install', 'left-pad' ]
//	npm verb cli [
//	npm verb cli   'C:\\Program Files\\nodejs\\node.exe',
//	…
//	npm verb cli ]
func (n *npm) command(rest string, o *evidence.Out) evidence.Result {
	v := &n.verbose
	list, opens := strings.CutPrefix(rest, "[")
	if opens {
		v.words = []string{}
	} else if v.words == nil {
		return evidence.Miss
	}
	list, closes := strings.CutSuffix(strings.TrimSpace(list), "]")
	for part := range strings.SplitSeq(list, ",") {
		if w := strings.Trim(strings.TrimSpace(part), `'"`); w != "" && len(v.words) < maxNPMWords {
			v.words = append(v.words, w)
		}
	}
	if !closes {
		return evidence.Done
	}
	words := v.words
	if v.words = nil; len(words) > 2 { // node, and npm
		for i, w := range words[2:] {
			words[2+i] = shellWord(w)
		}
		return n.asked(strings.Join(words[2:], " "), o)
	}
	return evidence.Done
}

// maxNPMWords bounds the words of a command.
const maxNPMWords = 1000

// warning reads what was chosen, not yet installed:
//
//	npm warn deprecated har-validator@5.1.5: this library is no longer supported
//	npm warn exec The following package was not found and will be installed: cowsay@1.6.0
func (n *npm) warning(word, rest string, o *evidence.Out) evidence.Result {
	id := ""
	switch word {
	case "deprecated":
		id, _, _ = strings.Cut(rest, ": ")
	case "exec":
		_, id, _ = strings.Cut(rest, " will be installed: ")
	case "package.json", "engine", "peerDependencies": // npm WARN package.json app@1.0.0 No repository field.
		n.hear(o)
		return evidence.Done
	}
	name, version, ok := npmPackage(id)
	if !ok {
		return evidence.Miss
	}
	if word == "exec" {
		o.Seen(timeline.NPM)
		op := o.Invocation("npx")
		o.Emit(timeline.Resolve, op, evidence.NPMItem(name, version))
		o.Close(op, timeline.OpOpen)
		return evidence.Done
	}
	o.Emit(timeline.Resolve, n.begin(o), evidence.NPMItem(name, version))
	return evidence.Done
}

// settle makes events of what waited for the end.
func (v *npmVerbose) settle(n *npm, o *evidence.Out) {
	for _, s := range v.scripts {
		if name, version, ok := evidence.SplitNPM(s.text); ok && !v.own[s.text] {
			n.install(name, version, s.mark, o)
		}
	}
	for _, a := range v.added {
		if at := v.versions[a.text]; at[1] != "" {
			n.install(at[0], at[1], a.mark, o)
		}
		if n.counted == nil || len(v.added) > n.fetched {
			n.counted, n.fetched = &a.mark, len(v.added)
		}
	}
	for _, h := range v.hits {
		if !v.fetched[h.text] {
			o.At(h.mark, timeline.Event{Action: timeline.Cached, Op: n.op.Number, Items: []timeline.Item{{Artifact: h.text}}})
		}
	}
}
