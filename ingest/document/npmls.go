package document

import (
	"net/url"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// NPMList is what npm ls --json and pnpm ls --json print.
// https://docs.npmjs.com/cli/commands/npm-ls
// https://pnpm.io/cli/list
var NPMList = evidence.Format{
	Name:   "npm-ls",
	Shape:  evidence.DocumentShape,
	Title:  "npm ls --json, pnpm ls --json",
	Proves: "the packages in the tree of a project, or installed globally, with versions",
	Cannot: "when they came; what lies deeper than was asked for (--all, --depth)",
	Doc:    "https://github.com/npm/cli/blob/latest/docs/lib/content/commands/npm-ls.md",
	Sample: "npm 11.19.1 and pnpm 9.15.9 run for this project",
	Claim:  claimNPMList,
	Read:   readNPMList,
}

// claimNPMList wants dependencies that are objects with a version, or with what
// was asked and is missing: those of a package.json are texts, and a lock names
// its version.
func claimNPMList(h *evidence.Head) bool {
	v := value{h.Bytes, 0, len(h.Bytes)}
	for project := range v.elements() { // pnpm lists projects
		if isNPMList(h, project) {
			return true
		}
	}
	return isNPMList(h, v)
}

func isNPMList(h *evidence.Head, v value) bool {
	if v.kind() != '{' || v.has("lockfileVersion") || h.Name == "package.json" || h.Name == "package-lock.json" || h.Name == "npm-shrinkwrap.json" {
		return false
	}
	for _, list := range [...]string{"dependencies", "devDependencies"} {
		for _, entry := range v.get(list).fields() {
			return entry.kind() == '{' && (entry.has("overridden") || entry.has("resolved") || entry.has("missing") || entry.has("from"))
		}
	}
	return false
}

func readNPMList(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen("")
	l := npmList{d, o}
	for _, v := range all {
		if v.kind() == '{' {
			l.project(v)
		}
		for project := range v.elements() {
			l.project(project)
		}
	}
	return err
}

type npmList struct {
	d *evidence.Doc
	o *evidence.Out
}

func (l *npmList) project(v value) {
	for _, list := range [...]string{"dependencies", "devDependencies", "optionalDependencies", "unsavedDependencies"} {
		l.tree(v.get(list), 0)
	}
}

// tree reads packages with those below them. What is missing has no version;
// what is linked is the project's own.
//
//	"axios": {
//	  "version": "1.14.1",
//	  "resolved": "https://registry.npmjs.tld/axios/-/axios-1.14.1.tgz",
//	  "overridden": false,
//	  "dependencies": { … }
//	}
func (l *npmList) tree(v value, depth int) {
	if depth >= maxLockDepth {
		l.o.Cut("the list nests packages deeper than is read")
		return
	}
	for name, entry := range v.fields() {
		version, resolved := entry.get("version"), entry.get("resolved").text()
		own := strings.HasPrefix(resolved, "file:") || strings.HasPrefix(version.text(), "link:") || entry.get("missing").isTrue()
		if is := packedName(resolved, version.text()); is != "" {
			name = is // of an alias what it stands for
		}
		if !own && evidence.IsNPMName(name) && evidence.IsSemver(version.text()) {
			at(l.d, l.o, version)
			l.o.Emit(timeline.Present, nil, evidence.NPMItem(name, version.text()))
		}
		l.tree(entry.get("dependencies"), depth+1)
	}
}

// packedName reads the name of a package from where its archive lies, which
// repeats name and version; "" when it does not.
func packedName(address, version string) string {
	dir, file, ok := strings.Cut(address, "/-/")
	if plain, err := url.PathUnescape(dir); err == nil {
		dir = plain
	}
	w := strings.Split(dir, "/")
	name := w[len(w)-1]
	if !ok || version == "" || file != name+"-"+version+".tgz" {
		return ""
	}
	if len(w) > 1 && strings.HasPrefix(w[len(w)-2], "@") {
		name = w[len(w)-2] + "/" + name
	}
	return name
}
