package pkglist

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Extension reads a row of what an editor prints of its extensions, with their
// versions.
// https://code.visualstudio.com/docs/editor/command-line#_working-with-extensions
//
//	nrwl.angular-console@18.95.0
func Extension(row string) (items []timeline.Item, ok bool) {
	id, version, ok := strings.Cut(row, "@")
	if !ok || version == "" {
		return nil, false
	}
	it, ok := evidence.ExtensionItem(id, version, "")
	return []timeline.Item{it}, ok
}
