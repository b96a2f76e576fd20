package matchers

import (
	"embed"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed incidents/*.yaml
var library embed.FS

// ErrUnknownIncident is returned for a name that no incident of the library
// has.
var ErrUnknownIncident = errors.New("unknown incident")

// Library returns the ids of the built-in incidents, sorted.
func Library() []string {
	entries, err := library.ReadDir("incidents")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = idOf(e.Name())
	}
	return ids
}

// Find returns the incident of that name: the id or an alias of a built-in
// one, the path of a file, or the incident of an ad-hoc question (a package
// URL with version, an image with tag or digest).
func Find(name string) (*Incident, error) {
	switch {
	case strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml"):
		return LoadFile(name)
	case strings.HasPrefix(name, "pkg:"):
		return adHocPackage(name)
	}
	if id := aliases()[strings.ToLower(name)]; id != "" {
		return builtIn(id)
	}
	if id := undated(name); id != "" {
		return builtIn(id)
	}
	if inc, ok := adHocImage(name); ok {
		return inc, nil
	}
	near := nearNames(name)
	if len(near) == 0 {
		return nil, fmt.Errorf("%w %q: 'pulltrail incidents' lists the known ones; FILE.yaml and pkg:TYPE/NAME@VERSION work too",
			ErrUnknownIncident, name)
	}
	return nil, fmt.Errorf("%w %q: did you mean %s? 'pulltrail incidents' lists all", ErrUnknownIncident, name, strings.Join(near, ", "))
}

// undated is the incident that is called so but for its month, "" where none is,
// or more than one.
//
//	shai-hulud-2    tanstack
func undated(name string) (id string) {
	for _, known := range Library() {
		if stem := monthEnd.ReplaceAllString(known, ""); stem != known && strings.EqualFold(stem, name) {
			if id != "" {
				return ""
			}
			id = known
		}
	}
	return id
}

// monthEnd is the month at the end of most ids.
var monthEnd = regexp.MustCompile(`-\d{4}-\d\d$`)

// builtIn loads one incident of the library; the others are not parsed.
func builtIn(id string) (*Incident, error) {
	file := path.Join("incidents", id+".yaml")
	data, err := library.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read incident %s: %w", id, err)
	}
	return Load(file, data)
}

// aliasLine is the line of an incident file that lists its other names, of
// which the head alone is read here:
//
//	aliases: [litellm-2026-10, litellm-v1.107.0]
var aliasLine = regexp.MustCompile(`(?m)^aliases: *\[([^\]]*)\]`)

// aliases maps every name of a built-in incident, in small letters, to its id.
var aliases = sync.OnceValue(func() map[string]string {
	names := map[string]string{}
	for _, id := range Library() {
		names[strings.ToLower(id)] = id
		data, err := library.ReadFile(path.Join("incidents", id+".yaml"))
		if err != nil {
			panic(err) // the file is part of the program
		}
		m := aliasLine.FindSubmatch(data)
		if m == nil {
			continue
		}
		for alias := range strings.SplitSeq(string(m[1]), ",") {
			if alias = strings.Trim(alias, " \t\r\n\"'"); alias != "" {
				names[strings.ToLower(alias)] = id
			}
		}
	}
	return names
})

// maxNear is how many names an error offers.
const maxNear = 5

// nearNames returns the incidents that somebody who typed name may have meant, best
// first.
func nearNames(name string) []string { return Near(name, maps.Keys(aliases())) }

// Near returns the first few of the known names that somebody who typed name may
// have meant, best first. Small letters are as good as capitals.
func Near(name string, names iter.Seq[string]) []string {
	type near struct {
		name     string
		distance int
	}
	var all []near
	name = strings.ToLower(name)
	for as := range names {
		known := strings.ToLower(as)
		// What is left out at the end is most often the version or the month.
		d := min(distance(name, known), distance(name, known[:min(len(known), len(name)+1)])+1)
		if len(name) >= 3 && (strings.Contains(known, name) || strings.Contains(name, known)) {
			d = min(d, 1)
		}
		if d <= 2 || d <= len(name)/3 {
			all = append(all, near{as, d})
		}
	}
	slices.SortFunc(all, func(a, b near) int {
		if a.distance != b.distance {
			return a.distance - b.distance
		}
		return strings.Compare(a.name, b.name)
	})
	var out []string
	for _, n := range all[:min(len(all), maxNear)] {
		out = append(out, n.name)
	}
	return out
}

// distance is the number of letters to insert, remove or exchange to make b of
// a; beyond 200 letters nobody mistyped a name.
func distance(a, b string) int {
	a, b = a[:min(len(a), 200)], b[:min(len(b), 200)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := corner
			if a[i] != b[j] {
				change++
			}
			corner = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
