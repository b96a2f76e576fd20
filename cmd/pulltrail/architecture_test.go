package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// layers are the arrows: what of the project a package may import. The longest
// prefix of a package's path counts; a path with "/..." allows what is below.
//
//	cmd → reports → matchers → timeline        cmd → ingest → timeline
var layers = map[string][]string{
	"timeline":            {},
	"ingest/evidence":     {"timeline"},
	"ingest/frame":        {"timeline", "ingest/evidence"},
	"ingest/pkglist":      {"timeline", "ingest/evidence"},
	"ingest/tool":         {"timeline", "ingest/evidence", "ingest/pkglist"},
	"ingest/document":     {"timeline", "ingest/evidence", "ingest/pkglist"},
	"ingest/collect":      {"timeline"},
	"ingest/image":        {"timeline"},
	"ingest/proxydb":      {},
	"ingest/canary":       {"timeline", "ingest/collect"},
	"ingest":              {"timeline", "ingest/..."},
	"matchers":            {"timeline"},
	"reports":             {"timeline", "matchers"},
	"testdata":            {},
	"testdata/collecting": {"timeline", "ingest", "ingest/collect", "testdata/services"}, // what tests of collectors share
	"testdata/bench":      {"timeline", "matchers"},                                      // it writes a large timeline, and asks as an incident does
	"cmd":                 {"timeline", "ingest", "ingest/...", "matchers", "reports", "testdata/..."},

	// Each collector is a package of its own, with the client library it needs.
	"ingest/collect/github":   {"timeline", "ingest/collect"},
	"ingest/collect/objects":  {"timeline", "ingest/collect"},
	"ingest/collect/gitlab":   {"timeline", "ingest/collect"},
	"ingest/collect/registry": {"timeline", "ingest/collect"},

	"ingest/collect/buildkite":  {"timeline", "ingest/collect"},
	"ingest/collect/circleci":   {"timeline", "ingest/collect"},
	"ingest/collect/kubernetes": {"timeline", "ingest/collect", "ingest/evidence"}, // what a login plugin complains of is redacted
	"ingest/collect/jenkins":    {"timeline", "ingest/collect"},
}

// owners are heavy dependencies, and the one package that imports each.
var owners = map[string]string{
	"database/sql":                              "timeline",
	"github.com/mattn/go-sqlite3":               "timeline",
	"github.com/spf13/cobra":                    "cmd/pulltrail",
	"golang.org/x/term":                         "cmd/pulltrail",
	"github.com/pelletier/go-toml":              "ingest/document",
	"github.com/google/go-containerregistry":    "ingest/image",
	"github.com/google/go-github":               "ingest/collect/github",
	"github.com/jackc/pgx":                      "ingest/proxydb",
	"github.com/aws/aws-sdk-go-v2":              "ingest/collect/objects",
	"golang.org/x/oauth2":                       "ingest/collect/objects",
	"github.com/Masterminds/semver":             "matchers",
	"github.com/aquasecurity/go-pep440-version": "matchers",
	"github.com/therootcompany/xz":              "ingest",
}

// drawers are package and file names that say nothing of what is inside.
var drawers = regexp.MustCompile(`(?i)^(util|utils|utilities|common|helper|helpers|misc|shared|base|tools?_?helpers?)(_test)?(\.go)?$`)

// maxLines is what a file may have before a newcomer fears it.
const maxLines = 500

// source is one Go file of the project.
type source struct {
	file    string // slash-separated, from the root of the project
	pkg     string // directory
	test    bool
	imports []string
	lines   int
}

func TestArchitecture(t *testing.T) {
	files := sources(t, "../..")
	if len(files) < 10 {
		t.Fatalf("%d files found: the walk is broken", len(files))
	}
	for _, problem := range broken(files) {
		t.Error(problem)
	}
}

// broken returns what is against the rules.
func broken(files []source) []string {
	var problems []string
	importers := map[string]map[string]bool{} // heavy dependency → packages
	for _, f := range files {
		if f.lines >= maxLines {
			problems = append(problems, f.file+": "+strconv.Itoa(f.lines)+" lines: cut it where its subject changes")
		}
		for part := range strings.SplitSeq(f.file, "/") {
			if drawers.MatchString(part) {
				problems = append(problems, f.file+": "+part+" says nothing of what is inside")
			}
		}
		for _, imp := range f.imports {
			if inner, ok := strings.CutPrefix(imp, "pulltrail/"); ok && inner != f.pkg && !allowed(f, inner) {
				problems = append(problems, f.file+": "+f.pkg+" may not import "+inner)
			}
			if heavy := owned(imp); heavy != "" && !f.test {
				if importers[heavy] == nil {
					importers[heavy] = map[string]bool{}
				}
				importers[heavy][f.pkg] = true
			}
		}
	}
	for _, heavy := range slices.Sorted(maps.Keys(importers)) {
		pkgs := slices.Sorted(maps.Keys(importers[heavy]))
		if owner := owners[heavy]; !slices.Equal(pkgs, []string{owner}) {
			problems = append(problems, heavy+" is for one package alone ("+owner+"), but imported by "+strings.Join(pkgs, ", "))
		}
	}
	return problems
}

// allowed reports whether the arrows let a file import a package of the
// project. Tests of formats may read through the engine.
func allowed(f source, imported string) bool {
	layer := f.pkg
	for ; layer != "."; layer = path.Dir(layer) {
		if _, ok := layers[layer]; ok {
			break
		}
	}
	if f.test && (strings.HasPrefix(f.pkg, "ingest/") && imported == "ingest" || slices.Contains([]string{"testdata/collecting", "testdata/secrets", "testdata/services"}, imported)) {
		return true
	}
	return slices.ContainsFunc(layers[layer], func(rule string) bool {
		below, ok := strings.CutSuffix(rule, "...")
		return rule == imported || ok && strings.HasPrefix(imported, below)
	})
}

// owned returns the heavy dependency that an import is a part of.
func owned(imp string) string {
	for heavy := range owners {
		if imp == heavy || strings.HasPrefix(imp, heavy+"/") {
			return heavy
		}
	}
	return ""
}

// sources parses the imports of every Go file below root.
func sources(t *testing.T, root string) []source {
	t.Helper()
	var files []source
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != root && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(name, ".go") {
			return nil
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), name, data, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		f := source{file: filepath.ToSlash(rel), pkg: path.Dir(filepath.ToSlash(rel)), test: strings.HasSuffix(name, "_test.go"), lines: bytes.Count(data, []byte("\n"))}
		for _, imp := range parsed.Imports {
			p, err := strconv.Unquote(imp.Path.Value)
			if err != nil {
				return err
			}
			f.imports = append(f.imports, p)
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestArchitectureIsChecked breaks each rule once: a check that cannot fail
// checks nothing.
func TestArchitectureIsChecked(t *testing.T) {
	for _, c := range []struct {
		name string
		file source
		want string
	}{
		{"timeline is the bottom", source{pkg: "timeline", imports: []string{"pulltrail/matchers"}}, "may not import matchers"},
		{"ingest knows no incident", source{pkg: "ingest", imports: []string{"pulltrail/matchers"}}, "may not import matchers"},
		{"nor does a format", source{pkg: "ingest/tool", imports: []string{"pulltrail/matchers"}}, "may not import matchers"},
		{"formats do not know each other", source{pkg: "ingest/tool", imports: []string{"pulltrail/ingest/frame"}}, "may not import ingest/frame"},
		{"a format does not know the engine", source{pkg: "ingest/document", imports: []string{"pulltrail/ingest"}}, "may not import ingest"},
		{"the leaf is a leaf", source{pkg: "ingest/evidence", imports: []string{"pulltrail/ingest/tool"}}, "may not import ingest/tool"},
		{"matchers read no log", source{pkg: "matchers", imports: []string{"pulltrail/ingest/evidence"}}, "may not import ingest/evidence"},
		{"also in tests", source{pkg: "matchers", test: true, imports: []string{"pulltrail/ingest"}}, "may not import ingest"},
		{"reports read no log", source{pkg: "reports", imports: []string{"pulltrail/ingest"}}, "may not import ingest"},
		{"a new package is placed first", source{pkg: "engine", imports: []string{"pulltrail/timeline"}}, "may not import timeline"},
		{"one owner of SQL", source{pkg: "matchers", imports: []string{"database/sql"}}, "database/sql is for one package"},
		{"one owner of cobra", source{pkg: "ingest", imports: []string{"github.com/spf13/cobra/doc"}}, "cobra is for one package"},
		{"no drawer", source{file: "ingest/util/x.go", pkg: "ingest/util"}, "says nothing"},
		{"no drawer file", source{file: "ingest/helpers_test.go", pkg: "ingest"}, "says nothing"},
		{"no long file", source{file: "ingest/x.go", pkg: "ingest", lines: maxLines}, "500 lines"},
	} {
		if got := broken([]source{c.file}); len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: got %q, want one with %q", c.name, got, c.want)
		}
	}
	two := []source{{pkg: "ingest", imports: []string{"github.com/google/go-github/v60/github"}}, {pkg: "reports", imports: []string{"github.com/google/go-github/v60/github"}}}
	if got := broken(two); len(got) != 1 || !strings.Contains(got[0], "imported by ingest, reports") {
		t.Errorf("two owners: got %q", got)
	}
}
