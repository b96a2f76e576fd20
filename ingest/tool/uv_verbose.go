package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// uvDebug are messages of uv --verbose that name a version.
var uvDebug = []struct {
	start  string
	action timeline.Action
}{
	{"Selecting: ", timeline.Resolve},
	{"Identified uncached distribution: ", timeline.Resolve},
	{"Requirement already installed: ", timeline.Present},
	{"Requirement already cached: ", timeline.Cached},
	{"Registry requirement already cached: ", timeline.Cached},
}

// debug reads lines of uv --verbose:
//
//	DEBUG Selecting: litellm==1.107.0 [compatible] (litellm-1.107.0-py3-none-any.whl)
//	DEBUG Registry requirement already cached: litellm==1.107.0
func (u *uv) debug(rest string, o *evidence.Out) evidence.Result {
	for _, d := range uvDebug {
		text, ok := strings.CutPrefix(rest, d.start)
		if !ok {
			continue
		}
		r, after, ok := evidence.ParseRequirement(text)
		if !ok || r.Version == "" || after != "" && after[0] != ' ' {
			return evidence.Miss
		}
		if u.op == nil {
			u.begin(uvBegun, o)
		}
		o.Emit(d.action, u.op, timeline.Item{Artifact: timeline.PURL("pypi", "", r.Name, r.Version)})
		return evidence.Done
	}
	return evidence.Miss
}
