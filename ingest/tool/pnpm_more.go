package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// looksPnpm tells the lines of a project's folder, and of a script, from what
// else begins with a dot.
func looksPnpm(text []byte) bool {
	if text[0] != '.' && text[0] != 'n' {
		return true
	}
	return bytes.Contains(text, []byte(" | Progress: ")) || bytes.Contains(text, []byte(" |  +")) || bytes.Contains(text, []byte("/node_modules/"))
}

// Hears knows what pnpm says of one of several projects.
func (p *pnpm) Hears(text []byte) bool { return bytes.Contains(text, []byte(" | ")) }

// inProject reads what stands behind the folder of a project:
//
//	.                                        |  +1251 -3 ++++++++++--
//	packages/web                             | Progress: resolved 12, reused 2, downloaded 10, added 10, done
func (p *pnpm) inProject(rest string, o *evidence.Out) evidence.Result {
	if counts, ok := strings.CutPrefix(rest, "Progress: "); ok {
		return p.progress(counts, o)
	}
	end := strings.LastIndexAny(strings.TrimRight(rest, "+-"), "0123456789") + 1
	if end < 2 || rest[0] != '+' && rest[0] != '-' {
		return evidence.Miss
	}
	before, had := p.fetched, p.counted
	if p.packages(rest[:end], o) != evidence.Done {
		return evidence.Miss
	}
	if had != nil {
		p.fetched += before // each project has its own count
	}
	return evidence.Done
}

// deprecated reads packages that were chosen:
//
//	WARN  deprecated har-validator@5.1.5: this library is no longer supported
//	WARN  2 deprecated subdependencies found: glob@7.2.3, rimraf@3.0.2
func (p *pnpm) deprecated(rest string, o *evidence.Out) evidence.Result {
	list, ok := strings.CutPrefix(rest, "deprecated ")
	if ok {
		list, _, _ = strings.Cut(list, ": ")
	} else if _, list, ok = strings.Cut(rest, " deprecated subdependencies found: "); !ok {
		return evidence.Miss
	}
	var items []timeline.Item
	for id := range strings.SplitSeq(list, ", ") {
		if name, version, ok := evidence.SplitNPM(strings.TrimSpace(id)); ok {
			items = append(items, evidence.NPMItem(name, version))
		}
	}
	if len(items) == 0 {
		return evidence.Miss
	}
	p.begin(o)
	o.Emit(timeline.Resolve, p.op, items...)
	return evidence.Done
}

// script reads that a package's script ran, where its folder in the store names
// the version:
//
//	.../esbuild@0.19.12/node_modules/esbuild postinstall$ node install.js
//	node_modules/.pnpm/@acme+ui@1.2.3_react@18.2.0/node_modules/@acme/ui: Running postinstall script...
func (p *pnpm) script(text string, o *evidence.Out) evidence.Result {
	folder, rest, _ := strings.Cut(text, " ")
	store, name, ok := strings.Cut(strings.TrimSuffix(folder, ":"), "/node_modules/")
	if before, inner, nested := strings.Cut(name, "/node_modules/"); nested {
		store, name = before, inner // node_modules/.pnpm/… itself
	}
	script, _, echoed := strings.Cut(rest, "$ ")
	runs := strings.HasPrefix(rest, "Running ") && strings.Contains(rest, "install script...") ||
		echoed && strings.HasSuffix(script, "install") && !strings.Contains(script, " ")
	if !ok || !runs || !evidence.IsNPMName(name) {
		return evidence.Miss
	}
	id := store[strings.LastIndexByte(store, '/')+1:]
	version, named := strings.CutPrefix(id, strings.ReplaceAll(name, "/", "+")+"@")
	version, _, _ = strings.Cut(version, "_") // what it was joined with
	version, _, _ = strings.Cut(version, "(")
	if !named || !evidence.IsSemver(version) {
		return evidence.Miss
	}
	p.begin(o)
	if key := name + "@" + version; !p.built[key] && len(p.built) < maxNPMNames {
		if p.built == nil {
			p.built = map[string]bool{}
		}
		p.built[key] = true
		p.named++
		o.Emit(timeline.Install, p.op, evidence.NPMItem(name, version))
	}
	return evidence.Done
}

// listed reads a row of pnpm list:
//
//	axios 1.14.1
//	├── follow-redirects 1.15.6
func (p *pnpm) listed(text string, o *evidence.Out) evidence.Result {
	if strings.HasSuffix(text, "ependencies:") {
		return evidence.More
	}
	w := strings.Fields(strings.TrimLeft(text, "│├└┬─ "))
	if len(w) < 2 || !evidence.IsNPMName(w[0]) || !evidence.IsSemver(w[1]) {
		if len(w) < 2 || !strings.Contains(w[1], ":") { // a link, an alias
			p.rows = false
			return evidence.Miss
		}
		return evidence.More
	}
	o.Seen("")
	o.Emit(timeline.Present, nil, evidence.NPMItem(w[0], w[1]))
	return evidence.More
}
