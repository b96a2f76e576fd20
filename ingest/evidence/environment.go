package evidence

import (
	"slices"
	"strings"

	"pulltrail/timeline"
)

// Makes says that the subject of the current line makes the environment that it
// installs packages of the kind into, or may have made it: what it uses of that
// came on lines of its own.
func (o *Out) Makes(kind string) {
	key := seenKey{o.Subject(), timeline.MadeHere(kind)}
	if !ofJob(key.subject) || o.made[key] || len(o.made) >= maxStreams {
		return
	}
	if o.made == nil {
		o.made = map[seenKey]bool{}
	}
	o.made[key] = true
	if key.subject.Kind == timeline.Job && o.line != nil { // steps may have logs of their own
		o.Cover(timeline.Coverage{Subject: key.subject, Topic: key.topic, Span: o.run(o.span()), Why: "an environment is made"})
	}
}

// UsesInstalled says that the subject of the current line runs what is installed
// in an environment. Where no line of it made one, somebody else did: another
// job whose files it got, or one that ran at the same place before. where names
// it.
//
//	source .venv/bin/activate
func (o *Out) UsesInstalled(kind, where string) {
	who := o.Subject()
	key := seenKey{who, timeline.Topic(timeline.EnvironmentEnd + kind)}
	if !ofJob(who) || o.made[seenKey{who, timeline.MadeHere(kind)}] || o.made[key] || len(o.made) >= maxStreams {
		return
	}
	if o.made == nil {
		o.made = map[seenKey]bool{}
	}
	o.made[key] = true
	o.Seen(timeline.Topic(kind))
	o.Emit(timeline.Opaque, nil, timeline.Item{Artifact: timeline.Ecosystem(kind), Ref: timeline.EnvironmentEnd + Redact(where)})
}

// ofJob reports whether a subject may be a job.
func ofJob(who timeline.Subject) bool { return who.Kind == timeline.Job || who.Kind == timeline.Source }

// brought is the topic under which it is kept that files came; see Brought.
const brought = timeline.EnvironmentEnd

// Brought says that the subject of the current line got files of another job, or
// out of a cache, and nothing says which.
func (o *Out) Brought() {
	if o.made == nil {
		o.made = map[seenKey]bool{}
	}
	if who := o.Subject(); ofJob(who) && len(o.made) < maxStreams {
		o.made[seenKey{who, brought}] = true
	}
}

// HasBrought reports whether files came; see Brought.
func (o *Out) HasBrought() bool { return len(o.made) > 0 && o.made[seenKey{o.Subject(), brought}] }

// Restored says that packages of those kinds, installed by somebody else, came
// out of a cache, and that nothing says which.
func (o *Out) Restored(key string, kinds []string) { o.RestoredAt(o.Mark(), key, kinds) }

// RestoredAt is Restored for a remembered line.
func (o *Out) RestoredAt(m Mark, key string, kinds []string) {
	var items []timeline.Item
	for _, kind := range kinds {
		o.Seen(timeline.Topic(kind))
		items = append(items, timeline.Item{Artifact: timeline.Ecosystem(kind), Ref: timeline.CacheEnd + Redact(key)})
	}
	if items != nil {
		o.At(m, timeline.Event{Action: timeline.Opaque, Items: items})
	}
}

// InstalledAt lists the kinds of packages that are installed at a path; none for
// one at which a package manager keeps the files that it fetched: what it takes
// from there it prints.
//
//	.venv    node_modules    ~/.cache/pip    ~/.local/bin/trivy-bin
func InstalledAt(path string) (kinds []string) {
	path = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(path)), "/")
	if path == "vendor" || strings.HasSuffix(path, "/vendor") {
		kinds = append(kinds, "composer")
	}
	if last := path[strings.LastIndexByte(path, '/')+1:]; last == "bin" || strings.HasSuffix(last, "-bin") || strings.Contains(path, "/bin/") || strings.Contains(path, "toolcache") {
		kinds = append(kinds, "github") // programs, as releases have them
	}
	if path == "~/.local" || strings.HasSuffix(path, "/.local") || strings.HasSuffix(path, ".local/bin") || strings.HasSuffix(path, ".local/lib") {
		kinds = append(kinds, "pypi") // pip install --user
	}
	for _, p := range installedPaths {
		if !strings.Contains(path, p.part) {
			continue
		}
		for _, kind := range p.kinds {
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	return kinds
}

// installedPaths are parts of paths at which packages are installed.
var installedPaths = []struct {
	part  string
	kinds []string
}{
	{"venv", []string{"pypi"}},
	{"virtualenv", []string{"pypi"}},
	{"site-packages", []string{"pypi"}},
	{"pypoetry", []string{"pypi"}},
	{".tox", []string{"pypi"}},
	{".nox", []string{"pypi"}},
	{"pythonlocation", []string{"pypi"}},
	{"toolcache/python", []string{"pypi"}},
	{"pipx", []string{"pypi"}},
	{"share/uv/tools", []string{"pypi"}},
	{"share/hatch", []string{"pypi"}},
	{".pyenv", []string{"pypi"}},
	{"share/mise", []string{"pypi", "npm"}},
	{".asdf", []string{"pypi", "npm"}},
	{".nvm", []string{"npm"}},
	{"npm-global", []string{"npm"}},
	{"conda", []string{"conda", "pypi"}},
	{"micromamba", []string{"conda", "pypi"}},
	{".pixi", []string{"conda", "pypi"}},
	{"node_modules", []string{"npm"}},
	{".pnp.", []string{"npm"}},
	{"pre-commit", []string{"pypi", "npm"}},
	{"vendor/bundle", []string{"gem"}},
	{".gem", []string{"gem"}},
	{"go/pkg/mod", []string{"golang"}},
	{".m2", []string{"maven"}},
	{".gradle", []string{"maven"}},
	{".ivy2", []string{"maven"}},
	{"coursier", []string{"maven"}},
	{".nuget", []string{"nuget"}},
}
