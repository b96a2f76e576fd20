package tool

import (
	"slices"

	"pulltrail/timeline"
)

// asked returns what a command line may fetch of packages, in order: those that
// its commands name, and the ecosystem of a command that names none; images too.
func asked(line string, depth int) []timeline.Item {
	var all []timeline.Item
	commands, _, _ := shellCommands(line)
	for _, c := range commands {
		for _, it := range askedBy(c, depth) {
			if !slices.ContainsFunc(all, func(x timeline.Item) bool { return x.Artifact == it.Artifact }) {
				all = append(all, it)
			}
		}
	}
	return all
}

// askedBy is asked for one simple command.
func askedBy(c shellCommand, depth int) []timeline.Item {
	if depth >= maxNesting {
		return nil
	}
	name, args := unwrap(c.words)
	if inner, ok := inside(name, args); ok {
		if len(inner) == 1 {
			return asked(inner[0], depth+1)
		}
		return askedBy(c.with(inner), depth+1)
	}
	var all []timeline.Item
	if a := askOf(name, args); a != nil && !a.none {
		all = append(all, a.items...)
		if !a.loud || a.quiet || c.muted {
			all = append(all, a.some()...)
		}
	}
	if after := behind(name, args); after != nil {
		all = append(all, askedBy(c.with(after), depth+1)...)
	} else if all == nil {
		if words, line := within(name, args); words != nil {
			return askedBy(c.with(words), depth+1)
		} else if line != "" {
			return asked(line, depth+1)
		}
	}
	return all
}
