package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// poetryVerbose are the beginnings of what -vv and -vvv print of the search for
// versions.
var poetryVerbose = []string{"PyPI: ", "Source (", "1: selecting ", "2: selecting ", "3: selecting "}

// resolved reads what the resolver looked at, chose, and fetched to look into it:
//
//	PyPI: Getting info for wcwidth (0.1.7) from PyPI
//	PyPI: Downloading wheel: wcwidth-0.1.7-py2.py3-none-any.whl
//	Source (acme): Downloading sdist: router-1.0.2.tar.gz                            1.2 and newer
//	   1: selecting wcwidth (0.1.7)
//	   1: selecting cachecontrol[filecache] (0.12.11)
//
// The project itself is selected first: nothing is known of it but a name and a
// version, which do no harm.
func (p *poetry) resolved(text string, o *evidence.Out) evidence.Result {
	from, what, _ := strings.Cut(text, ": ")
	action := timeline.Resolve
	var it timeline.Item
	if _, file, ok := strings.Cut(what, ": "); ok && (strings.HasPrefix(what, "Downloading wheel: ") || strings.HasPrefix(what, "Downloading sdist: ")) {
		d, is := evidence.ParseDist(file)
		if !is {
			return evidence.Miss
		}
		action, it = timeline.Download, distItem(d)
	} else {
		what, getting := strings.CutPrefix(what, "Getting info for ")
		what, selecting := strings.CutPrefix(what, "selecting ")
		name, version, ok := strings.Cut(what, " (")
		version, _, closed := strings.Cut(version, ")")
		name, _, _ = strings.Cut(name, "[") // extras
		if selecting != isDecimal(from[0]) || !selecting && !getting || !ok || !closed || !evidence.IsDistName(name) || !evidence.IsVersion(version) {
			return evidence.Miss
		}
		it = timeline.Item{Artifact: timeline.PURL("pypi", "", name, version)}
	}
	o.Seen(timeline.PyPI)
	o.Emit(action, nil, it)
	return evidence.Done
}
