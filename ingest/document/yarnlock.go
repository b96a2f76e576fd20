package document

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// YarnLock is the lock file of yarn, classic and later.
// https://classic.yarnpkg.com/lang/en/docs/yarn-lock/
var YarnLock = evidence.Format{
	Name:   "yarn-lock",
	Shape:  evidence.DocumentShape,
	Title:  "yarn.lock",
	Proves: "the exact versions that a project asks for",
	Cannot: "that they were installed, or when; that a command used the file",
	Doc:    "https://github.com/yarnpkg/website/blob/master/lang/en/docs/yarn-lock.md",
	Sample: "yarn 1.22.22 and 4 run for this project",
	Claim:  claimYarnLock,
	Read:   readYarnLock,
}

// claimYarnLock wants the file's name or the mark at its top.
//
//	# yarn lockfile v1
//	__metadata:
func claimYarnLock(h *evidence.Head) bool {
	top := h.Bytes[:min(len(h.Bytes), 512)]
	return h.Name == "yarn.lock" || bytes.HasPrefix(top, []byte("# ")) &&
		(bytes.Contains(top, []byte("\n# yarn lockfile v1")) || bytes.Contains(top, []byte("\n__metadata:\n")))
}

// readYarnLock reads the entries. The descriptor says what was asked, an alias
// under another name; newer files say what it was resolved to.
//
//	cache@npm:keyv@^6.0.0:
//	  version "6.0.0"
//	  resolved "https://registry.yarnpkg.tld/keyv/-/keyv-6.0.0.tgz#1f2e…"
//
//	"cache@npm:keyv@^6.0.0":
//	  version: 6.0.0
//	  resolution: "keyv@npm:6.0.0"
func readYarnLock(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	var e yarnEntry
	off := 0
	for line := range bytes.Lines(d.Data) {
		text := strings.TrimRight(string(line), "\r\n")
		switch {
		case text == "" || text[0] == '#':
		case text[0] != ' ':
			e.emit(d, o)
			e = yarnEntry{descriptor: strings.TrimSuffix(text, ":"), begun: off}
		case len(text) > 3 && text[:2] == "  " && text[2] != ' ':
			e.field(text[2:], off)
		}
		off += len(line)
	}
	e.emit(d, o)
	return nil
}

// yarnEntry is one entry of the lock.
type yarnEntry struct {
	descriptor, version, resolution string
	begun, off                      int
}

func (e *yarnEntry) field(text string, off int) {
	key, val, _ := strings.Cut(text, " ")
	val = strings.Trim(val, `"`)
	switch strings.TrimSuffix(key, ":") {
	case "version":
		e.version, e.off = val, off
	case "resolution", "resolved":
		e.resolution = val
	}
}

// emit records the entry on the line of its version.
func (e *yarnEntry) emit(d *evidence.Doc, o *evidence.Out) {
	if e.descriptor == "" || e.descriptor == "__metadata" {
		return
	}
	name, reference := e.resolved()
	if strings.HasPrefix(reference, "workspace:") || strings.HasPrefix(reference, "link:") || strings.HasPrefix(reference, "portal:") {
		return
	}
	if e.version == "" || !evidence.IsNPMName(name) || !evidence.IsSemver(e.version) {
		onLine(d, o, e.begun)
		o.Skip("an entry without a name or version")
		return
	}
	onLine(d, o, e.off)
	it := evidence.NPMItem(name, e.version)
	if from, ok := evidence.NPMRequirement(name, e.resolution); ok && len(from.Digests) > 0 {
		it.Ref, it.Digests = from.Ref, from.Digests
	}
	o.Emit(timeline.Require, nil, it)
}

// resolved returns the real name of the entry and what stands behind it.
func (e *yarnEntry) resolved() (name, reference string) {
	text := e.resolution
	if strings.Contains(text, "://") && !strings.HasPrefix(text, "@") || text == "" { // classic
		text, _, _ = strings.Cut(e.descriptor, ",")
		text = strings.Trim(text, `" `)
	}
	name, reference = evidence.CutNPM(text)
	if it, ok := strings.CutPrefix(reference, "npm:"); ok && strings.LastIndexByte(it, '@') > 0 {
		name, reference = evidence.CutNPM(it)
	}
	return name, reference
}
