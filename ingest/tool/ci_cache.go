package tool

import (
	"bytes"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// CICache is what CI systems say of the caches that a job got and wrote.
// https://circleci.com/docs/guides/optimize/caching/
// https://support.atlassian.com/bitbucket-cloud/docs/cache-dependencies/
// https://docs.travis-ci.com/user/caching/
// https://github.com/buildkite-plugins/cache-buildkite-plugin
// https://learn.microsoft.com/azure/devops/pipelines/release/caching
var CICache = evidence.Format{
	Name:   "ci-cache",
	Shape:  evidence.ToolShape,
	Title:  "caches of CircleCI, Bitbucket, Travis, Azure Pipelines and Buildkite's cache plugin",
	Proves: "which cache a job got or wrote; that packages which are installed were in it, where a path or a name tells so",
	Cannot: "which packages: the log of the job that wrote it may; of a cache whose paths are not printed, what was in it",
	Doc:    "https://circleci.com/docs/guides/optimize/caching/",
	Sample: "written by hand after public logs",
	Starts: []string{
		circleFound, "Stored Cache to ", `Cache "`, "found cache", "adding /", "Cache hit at ", azureHit,
		filesCame[0], filesCame[1], filesCame[2], filesCame[3], `Artifact "`,
	},
	Looks: func(text []byte) bool {
		switch text[0] {
		case 'a':
			return bytes.HasSuffix(text, []byte(" to cache"))
		case 'f':
			return string(bytes.TrimSpace(text)) == "found cache"
		}
		return true
	},
	Tool: func() evidence.Parser { return &ciCache{} },
}

const (
	circleFound = "Found a cache from build "
	azureHit    = "There is a cache hit: `"
)

// filesCame begin lines that tell of files of another job.
//
//	Downloading artifacts for install (991)...             (GitLab)
//	Artifact download completed successfully.              (actions/download-artifact)
//	Download artifact has finished successfully
//	Applying workspace layers                              (CircleCI)
//	Artifact "node_modules/**": Downloading                (Bitbucket)
var filesCame = []string{"Downloading artifacts for ", "Artifact download completed ", "Download artifact has finished ", "Applying workspace layers"}

type ciCache struct {
	key   string // CircleCI: of the cache whose paths follow
	mark  evidence.Mark
	kinds []string
	lines int

	travis bool // a cache was found: what is added to it was in it
}

// maxCachePaths bounds the lines that tell the paths of one cache.
const maxCachePaths = 200

// Line reads one line:
//
//	Found a cache from build 1204 at v1-deps-9f2c
//	Size: 45 MiB
//	Cached paths:
//	  * /home/circleci/project/.venv
//
//	Stored Cache to v1-deps-9f2c                          (CircleCI)
//	Cache "node": Extracted in 4 seconds                  (Bitbucket: node_modules)
//	found cache
//	adding /home/travis/build/acme/api/.venv to cache     (Travis)
//	Cache hit at file level, restoring node_modules...    (Buildkite)
//	There is a cache hit: `venv|Linux|9f2c`               (Azure)
func (c *ciCache) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := string(l.Text)
	if c.key != "" {
		if r := c.path(text, o); r != evidence.Miss {
			return r
		}
	}
	switch {
	case text == "":
		return evidence.Miss
	case strings.HasPrefix(text, circleFound):
		_, key, ok := strings.Cut(text[len(circleFound):], " at ")
		if key = strings.TrimSpace(key); !ok || key == "" || len(key) > 512 {
			return evidence.Miss
		}
		c.key, c.mark, c.kinds, c.lines = key, o.Mark(), nil, 0
		c.got(key, o)
		return evidence.More
	case strings.HasPrefix(text, `Artifact "`) && strings.HasSuffix(text, `": Downloading`),
		slices.ContainsFunc(filesCame, func(w string) bool { return strings.HasPrefix(text, w) }):
		o.Brought()
	case strings.HasPrefix(text, "Stored Cache to "):
		o.Seen("")
		o.Link(timeline.Saves, o.Subject().String(), timeline.CacheEnd+strings.TrimSpace(text[len("Stored Cache to "):]))
	case strings.HasPrefix(text, `Cache "`):
		name, what, ok := strings.Cut(text[len(`Cache "`):], `": Extracted in `)
		if !ok || what == "" {
			return evidence.Miss
		}
		c.got(name, o)
		kinds := evidence.InstalledAt(name)
		if name == "node" {
			kinds = []string{"npm"}
		}
		o.Restored(name, kinds)
	case text[0] == 'f':
		c.travis = true
	case text[0] == 'a':
		path, _, _ := strings.Cut(text[len("adding "):], " to cache")
		if !c.travis {
			return evidence.Miss
		}
		o.Restored(path, evidence.InstalledAt(path))
	case strings.HasPrefix(text, "Cache hit at "):
		_, path, ok := strings.Cut(text, " level, restoring ")
		if path = strings.TrimRight(path, ". "); !ok {
			return evidence.Miss
		}
		c.got(path, o)
		o.Restored(path, evidence.InstalledAt(path))
	case strings.HasPrefix(text, azureHit):
		key, _, _ := strings.Cut(text[len(azureHit):], "`")
		c.got(key, o)
		o.Restored(key, evidence.InstalledAt(key))
	default:
		return evidence.Miss
	}
	return evidence.Done
}

// got notes that a cache came.
func (c *ciCache) got(key string, o *evidence.Out) {
	o.Seen("")
	o.Brought()
	o.Link(timeline.Uses, o.Subject().String(), timeline.CacheEnd+key)
}

// path reads one of the paths that CircleCI lists; Miss when the list is over.
func (c *ciCache) path(text string, o *evidence.Out) evidence.Result {
	trimmed := strings.TrimSpace(text)
	switch c.lines++; {
	case c.lines > maxCachePaths:
	case strings.HasPrefix(trimmed, "* "):
		for _, kind := range evidence.InstalledAt(trimmed[2:]) {
			c.kinds = appendNew(c.kinds, kind)
		}
		return evidence.More
	case strings.HasPrefix(trimmed, "Size: "), trimmed == "Cached paths:", trimmed == "" && c.kinds == nil && c.lines < 4:
		return evidence.More
	}
	c.finish(o)
	return evidence.Miss
}

func (c *ciCache) finish(o *evidence.Out) {
	if c.key != "" {
		o.RestoredAt(c.mark, c.key, c.kinds)
	}
	c.key = ""
}

// End tells what a list at the end of the log held.
func (c *ciCache) End(_ timeline.OpState, o *evidence.Out) {
	c.finish(o)
	c.travis = false
}

func appendNew(list []string, word string) []string {
	for _, w := range list {
		if w == word {
			return list
		}
	}
	return append(list, word)
}
