package tool

import (
	"bytes"
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
	{"Identified uncached requirement: ", timeline.Resolve},
	{"Sending fresh GET request for: ", timeline.Download},
	{"Requirement already installed: ", timeline.Present},
	{"Requirement already cached: ", timeline.Cached},
	{"Registry requirement already cached: ", timeline.Cached},
}

// debug reads lines of uv --verbose:
//
//	DEBUG Selecting: litellm==1.107.0 [compatible] (litellm-1.107.0-py3-none-any.whl)
//	DEBUG Registry requirement already cached: litellm==1.107.0
//	DEBUG Sending fresh GET request for: https://mirror.acme.example/23/bd/litellm-1.107.0-py3-none-any.whl
//	0.004809s   0ms DEBUG uv_installer::plan Identified uncached requirement: litellm==1.107.0
func (u *uv) debug(rest string, o *evidence.Out) evidence.Result {
	for _, d := range uvDebug {
		text, ok := strings.CutPrefix(rest, d.start)
		if !ok {
			continue
		}
		if d.action == timeline.Download {
			return u.requested(text, o)
		}
		r, after, ok := evidence.ParseRequirement(text)
		if !ok || r.Version == "" || after != "" && after[0] != ' ' {
			return evidence.Miss
		}
		u.going(o)
		o.Emit(d.action, u.op, timeline.Item{Artifact: timeline.PURL("pypi", "", r.Name, r.Version)})
		return evidence.Done
	}
	return evidence.Miss
}

// going sees that an invocation is open for a line that may be its first.
func (u *uv) going(o *evidence.Out) {
	if u.op != nil && o.Overtaken(u.op) {
		u.finish(timeline.OpOpen, o)
	}
	if u.op == nil {
		u.begin(uvBegun, o)
	}
}

// requested reads which file uv asked an index for.
func (u *uv) requested(url string, o *evidence.Out) evidence.Result {
	d, ok := evidence.ParseDist(url)
	if !ok {
		return evidence.Miss // a page of the index
	}
	u.going(o)
	action := timeline.Download
	if d.Metadata {
		action = timeline.Resolve
	}
	o.Emit(action, u.op, distItem(d))
	return evidence.Done
}

// timed takes the time since uv began, and the module that speaks, off a
// message of its log:
//
//	0.129843s   0ms DEBUG uv_client::cached_client Found fresh response for: https://mirror.acme.example/simple/idna/
func timed(text []byte) []byte {
	if len(text) == 0 || text[0] < '0' || text[0] > '9' {
		return nil
	}
	i := bytes.Index(text[:min(len(text), 40)], []byte("s DEBUG "))
	if i < 0 {
		return nil
	}
	text = text[i+len("s "):]
	module, rest, _ := bytes.Cut(text[len("DEBUG "):], []byte(" "))
	if bytes.Contains(module, []byte("::")) {
		text = append([]byte("DEBUG "), rest...)
	}
	return text
}
