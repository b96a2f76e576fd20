package tool

import (
	"slices"
	"strings"
)

// image notes what is pulled. A container made of an image that was just pulled
// asks for nothing more.
func (e *echo) image(a *ask, args []string) {
	name := a.items[0].Artifact
	if e.pulled[name] && !slices.Contains(args, "pull") && !slices.ContainsFunc(args, func(w string) bool { return strings.HasPrefix(w, "--pull") }) {
		a.items, a.none = nil, true
		return
	}
	if e.pulled == nil || len(e.pulled) > maxPulled {
		e.pulled = map[string]bool{}
	}
	e.pulled[name] = true
}

// maxPulled bounds the images remembered.
const maxPulled = 256
