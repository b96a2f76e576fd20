package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// DenoLock is Deno's lock file.
// https://docs.deno.com/runtime/fundamentals/modules/#integrity-checking-and-lock-files
var DenoLock = evidence.Format{
	Name:   "deno-lock",
	Shape:  evidence.DocumentShape,
	Title:  "deno.lock",
	Proves: "the exact versions of npm packages that a project asks for",
	Cannot: "that they were installed, or when; packages of other registries, of which no incident tells",
	Doc:    "https://docs.deno.com/runtime/fundamentals/modules/#integrity-checking-and-lock-files",
	Sample: "written by hand after the source",
	Claim: func(h *evidence.Head) bool {
		v := value{h.Bytes, 0, len(h.Bytes)}
		return v.kind() == '{' && (h.Name == "deno.lock" || v.has("version") && (v.has("specifiers") && (v.has("npm") || v.has("jsr")) || v.has("remote") && v.has("packages")))
	},
	Read: readDenoLock,
}

// readDenoLock reads the keys of "npm", behind which stand the peers of a
// package; before version 4 they stood one level deeper.
//
//	"npm": {"axios@1.14.1_debug@4.3.4": {"integrity": "sha512-…"}}
//	"packages": {"npm": {"axios@1.14.1": {"integrity": "sha512-…"}}}
//	"npm": {"packages": {"axios@1.14.1": {…}}}
func readDenoLock(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen("")
	for _, v := range all {
		for _, list := range []value{v.get("npm"), v.get("packages", "npm"), v.get("npm", "packages")} {
			for key, entry := range list.fields() {
				if entry.kind() != '{' || key == "packages" || key == "specifiers" {
					continue
				}
				at(d, o, entry)
				entry, _, _ := strings.Cut(key[min(1, len(key)):], "_")
				name, version, ok := evidence.SplitNPM(key[:min(1, len(key))] + entry)
				if !ok {
					o.Skip("a package without a name or version")
					continue
				}
				o.Emit(timeline.Require, nil, evidence.NPMItem(name, version))
			}
		}
	}
	return err
}
