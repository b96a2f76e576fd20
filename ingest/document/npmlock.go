package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// NPMLock is npm's lock file in all of its versions: package-lock.json,
// npm-shrinkwrap.json and the hidden lock in node_modules.
// https://docs.npmjs.com/cli/configuring-npm/package-lock-json
var NPMLock = evidence.Format{
	Name:   "npm-lock",
	Shape:  evidence.DocumentShape,
	Title:  "package-lock.json, npm-shrinkwrap.json, node_modules/.package-lock.json",
	Proves: "the exact versions that a project asks for; in node_modules, which are in place",
	Cannot: "that they were installed, or when; that a command used the file",
	Doc:    "https://github.com/npm/cli/blob/latest/docs/lib/content/configuring-npm/package-lock-json.md",
	Sample: "npm 11.19.1 run for this project",
	Claim:  claimNPMLock,
	Read:   readNPMLock,
}

// claimNPMLock wants the version of the format, and the form that npm gives to
// packages: bun's lock has the same version, and arrays.
//
//	{"name": "app", "version": "1.0.0", "lockfileVersion": 3, "requires": true, "packages": {
func claimNPMLock(h *evidence.Head) bool {
	v := value{h.Bytes, 0, len(h.Bytes)}
	if v.kind() != '{' || v.has("workspaces") {
		return false
	}
	if h.Name == "package-lock.json" || h.Name == "npm-shrinkwrap.json" || h.Name == ".package-lock.json" {
		return true
	}
	return v.has("lockfileVersion") && (v.get("packages").kind() == '{' || v.get("dependencies").kind() == '{')
}

// npmLock is a lock file while it is read.
type npmLock struct {
	d      *evidence.Doc
	o      *evidence.Out
	action timeline.Action
}

func readNPMLock(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	l := npmLock{d, o, timeline.Require}
	if d.Name == ".package-lock.json" {
		l.action = timeline.Present
	}
	o.Seen("")
	for _, v := range all {
		if packages := v.get("packages"); packages.kind() == '{' {
			l.packages(packages)
		} else {
			l.tree(v.get("dependencies"), 0)
		}
	}
	return err
}

// packages reads versions 2 and 3. The folder of an alias is not the name of
// its package; what lies outside node_modules is the project's own.
//
//	"node_modules/cache": {
//	  "name": "keyv",
//	  "version": "6.0.0",
//	  "resolved": "https://registry.npmjs.tld/keyv/-/keyv-6.0.0.tgz",
//	  "integrity": "sha512-…"
//	}
func (l *npmLock) packages(v value) {
	for path, entry := range v.fields() {
		i := strings.LastIndex(path, "node_modules/")
		if i < 0 {
			continue
		}
		name := path[i+len("node_modules/"):]
		var version, resolved value
		link := false
		for key, field := range entry.fields() {
			switch key {
			case "name":
				name = field.text()
			case "version":
				version = field
			case "resolved":
				resolved = field
			case "link":
				link = field.isTrue()
			}
		}
		if !link {
			l.emit(name, version, resolved)
		}
	}
}

// maxLockDepth bounds the nesting of version 1.
const maxLockDepth = 64

// tree reads version 1, where a package holds those below it.
//
//	"cache": {
//	  "version": "npm:keyv@6.0.0",
//	  "resolved": "https://registry.npmjs.tld/keyv/-/keyv-6.0.0.tgz",
//	  "requires": { … },
//	  "dependencies": { … }
//	}
func (l *npmLock) tree(v value, depth int) {
	if depth >= maxLockDepth {
		l.o.Cut("the lock nests packages deeper than is read")
		return
	}
	for name, entry := range v.fields() {
		var version, resolved, below value
		for key, field := range entry.fields() {
			switch key {
			case "version":
				version = field
			case "resolved":
				resolved = field
			case "dependencies":
				below = field
			}
		}
		l.emit(name, version, resolved)
		l.tree(below, depth+1)
	}
}

// emit records an entry on the line of its version. Of a repository the commit
// says what it is.
func (l *npmLock) emit(name string, version, resolved value) {
	if version.kind() == 0 {
		return
	}
	at(l.d, l.o, version)
	it, ok := evidence.NPMRequirement(name, version.text())
	if !ok {
		if !strings.HasPrefix(version.text(), "file:") {
			l.o.Skip("a package without a name or version")
		}
		return
	}
	if from, is := evidence.NPMRequirement(name, resolved.text()); is && len(from.Digests) > 0 {
		it.Ref, it.Digests = from.Ref, from.Digests
	}
	l.o.Emit(l.action, nil, it)
	// What is fetched is what stands at the address, whatever the entry is called.
	if from, is := tarballAt(resolved.text()); is && from.Artifact != it.Artifact {
		l.o.Emit(l.action, nil, from)
	}
}
