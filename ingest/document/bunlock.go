package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// BunLock is bun's lock file in its text form.
// https://bun.sh/docs/install/lockfile
var BunLock = evidence.Format{
	Name:   "bun-lock",
	Shape:  evidence.DocumentShape,
	Title:  "bun.lock",
	Proves: "the exact versions that a project asks for",
	Cannot: "that they were installed, or when; the binary bun.lockb is not read, but what 'bun bun.lockb' prints of it, as yarn.lock",
	Doc:    "https://bun.sh/docs/pm/lockfile",
	Sample: "bun 1.3.0 run for this project",
	Claim:  claimBunLock,
	Read:   readBunLock,
}

// claimBunLock wants the file's name, or workspaces beside the version of the
// format.
//
//	{
//	  "lockfileVersion": 1,
//	  "workspaces": {
func claimBunLock(h *evidence.Head) bool {
	v := value{h.Bytes, 0, len(h.Bytes)}
	return v.kind() == '{' && (h.Name == "bun.lock" || v.has("lockfileVersion") && v.has("workspaces"))
}

// readBunLock reads the arrays of "packages"; the key is a folder, which is an
// alias' name. Commas stand behind the last element too: it is no strict JSON.
//
//	"cache": ["keyv@6.0.0", "", { "dependencies": { … } }, "sha512-…"],
func readBunLock(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	v := value{d.Data, 0, len(d.Data)}
	packages := v.get("packages")
	if packages.kind() == 0 {
		o.Cut("the lock has no list of packages")
	}
	for _, entry := range packages.fields() {
		for first := range entry.elements() {
			at(d, o, first)
			if name, version, ok := evidence.SplitNPM(first.text()); ok {
				o.Emit(timeline.Require, nil, evidence.NPMItem(name, version))
			} else if name, reference := evidence.CutNPM(first.text()); !strings.HasPrefix(reference, "workspace:") && !strings.HasPrefix(reference, "file:") && !strings.HasPrefix(reference, "link:") {
				if it, ok := evidence.NPMRequirement(name, reference); ok {
					o.Emit(timeline.Require, nil, it)
				} else {
					o.Skip("a package without a name or version")
				}
			}
			break
		}
	}
	return nil
}
