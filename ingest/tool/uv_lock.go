package tool

import (
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// uvLocks are the words before a change of a lock file, or what would change.
var uvLocks = wordSet("Added Updated Removed Add Update Remove")

// unsolved reads that nothing could be chosen, and nothing was installed:
//
//	× No solution found when resolving dependencies:
func (u *uv) unsolved(o *evidence.Out) evidence.Result {
	u.begin(uvResolved, o).Answer()
	u.finish(timeline.OpFailed, o)
	return evidence.Done
}

// locked reads the rows of uv lock, which installs nothing:
//
//	Added typing-extensions v4.10.0
//	Updated markupsafe v1.1.1 -> v2.1.5
//	Updated urllib3 v1.26.18, v2.1.0 -> v1.26.20, v2.2.3
//	Update six v1.16.0 -> v1.17.0                              --dry-run
//	Removed iniconfig v2.0.0
func (u *uv) locked(verb, rest string, o *evidence.Out) evidence.Result {
	words := strings.Fields(rest)
	if u.op == nil && verb == "Updated" {
		return u.upgraded(len(words) == 4 && words[2] == "->" && words[1][0] == 'v' && words[3][0] == 'v')
	}
	if u.op == nil || len(words) < 2 || !evidence.IsDistName(words[0]) {
		return evidence.Miss
	}
	versions := words[1:]
	at := slices.Index(words, "->")
	if update := verb == "Updated" || verb == "Update"; update != (at > 1) {
		return evidence.Miss
	} else if update {
		versions = words[at+1:]
	}
	var items []timeline.Item
	for _, v := range versions {
		version := strings.TrimPrefix(strings.TrimSuffix(v, ","), "v")
		if !evidence.IsVersion(version) {
			return evidence.Miss
		}
		items = append(items, timeline.Item{Artifact: timeline.PURL("pypi", "", words[0], version)})
	}
	op := u.begin(uvRows, o)
	if verb != "Removed" && verb != "Remove" && items != nil {
		o.Emit(timeline.Resolve, op, items...)
	}
	u.open = true
	return evidence.More
}

// upgraded reads the header of uv tool upgrade, when rows follow:
//
//	Updated litellm v1.106.2 -> v1.107.0
//	 - litellm==1.106.2
//	 + litellm==1.107.0
//	Installed 2 executables: litellm, litellm-proxy
//	Modified litellm environment
//	 - openai==1.98.0
func (u *uv) upgraded(header bool) evidence.Result {
	if !header || u.op != nil {
		return evidence.Miss
	}
	u.tool = true
	return evidence.More
}
