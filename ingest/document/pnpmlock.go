package document

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// PnpmLock is pnpm's lock file.
// https://pnpm.io/git#lockfiles
var PnpmLock = evidence.Format{
	Name:   "pnpm-lock",
	Shape:  evidence.DocumentShape,
	Title:  "pnpm-lock.yaml",
	Proves: "the exact versions that a project asks for",
	Cannot: "that they were installed, or when; that a command used the file",
	Doc:    "https://github.com/pnpm/spec/blob/master/lockfile/9.0.md",
	Sample: "pnpm 8 and 9.15.9 run for this project",
	Claim:  claimPnpmLock,
	Read:   readPnpmLock,
}

// claimPnpmLock wants the file's name or the version of the format at the top.
//
//	lockfileVersion: '9.0'
func claimPnpmLock(h *evidence.Head) bool {
	return h.Name == "pnpm-lock.yaml" || bytes.HasPrefix(h.Bytes, []byte("lockfileVersion: "))
}

// readPnpmLock reads the keys of "packages", which name every version once.
// Between 5 and 9 their form changed; a package that comes from elsewhere has
// name and version below:
//
//	packages:
//
//	  /@acme/ui/1.2.3_react@18.2.0:                              5
//	  /@acme/ui@1.2.3(react@18.2.0):                             6
//	  '@acme/ui@1.2.3':                                          9
//	  https://codeload.github.tld/acme/ui/tar.gz/4f2b9c1…:
//	    name: '@acme/ui'
//	    version: 1.2.3
func readPnpmLock(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	var e pnpmEntry
	inside := false
	off := 0
	for line := range bytes.Lines(d.Data) {
		text := strings.TrimRight(string(line), "\r\n")
		depth := len(text) - len(strings.TrimLeft(text, " "))
		switch {
		case text == "" || depth == len(text):
		case depth == 0:
			e.emit(d, o)
			e, inside = pnpmEntry{}, strings.TrimSuffix(text, ":") == "packages"
		case inside && depth == 2:
			e.emit(d, o)
			e = pnpmKey(strings.TrimSpace(text))
			e.off = off
		case inside && depth == 4:
			key, val, _ := strings.Cut(strings.TrimSpace(text), ": ")
			val = strings.Trim(val, `'"`)
			switch key {
			case "name":
				e.name = val
			case "version":
				e.version = val
			}
		}
		off += len(line)
	}
	e.emit(d, o)
	return nil
}

// pnpmEntry is one entry of "packages".
type pnpmEntry struct {
	key, name, version string
	off                int
}

// pnpmKey reads name and version out of a key.
func pnpmKey(text string) pnpmEntry {
	key, _, _ := strings.Cut(text, ": ")
	key = strings.Trim(strings.TrimSuffix(key, ":"), `'"`)
	e := pnpmEntry{key: key}
	key, _, _ = strings.Cut(strings.TrimPrefix(key, "/"), "(") // peers
	if name, version, ok := evidence.SplitNPM(key); ok {
		e.name, e.version = name, version
		return e
	}
	i := strings.LastIndexByte(key, '/') // 5; the host of another registry may stand before it
	if i < 0 {
		return e
	}
	name, version := key[:i], key[i+1:]
	if j := strings.IndexByte(version, '_'); j > 0 {
		version = version[:j]
	}
	if host, rest, ok := strings.Cut(name, "/"); ok && !strings.HasPrefix(host, "@") && strings.Contains(host, ".") {
		name = rest
	}
	if evidence.IsNPMName(name) && evidence.IsSemver(version) {
		e.name, e.version = name, version
	}
	return e
}

// emit records the entry on the line of its key.
func (e *pnpmEntry) emit(d *evidence.Doc, o *evidence.Out) {
	if e.key == "" || strings.HasPrefix(e.key, "file:") || strings.Contains(e.key, "@file:") || strings.HasPrefix(e.key, "link:") {
		return
	}
	onLine(d, o, e.off)
	if !evidence.IsNPMName(e.name) || !evidence.IsSemver(e.version) {
		o.Skip("an entry without a name or version")
		return
	}
	it := evidence.NPMItem(e.name, e.version)
	if commit := e.key[strings.LastIndexAny(e.key, "/#")+1:]; timeline.IsCommit(commit) {
		it.Digests = []timeline.Digest{{Value: commit, Role: timeline.Commit}}
	}
	o.Emit(timeline.Require, nil, it)
}
