package tool

import (
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Scanners show tables of packages that they found in something else than the
// job that runs them: in an image, in the files of a project, in an environment.
var (
	trivyList   = &listKind{tool: "trivy", fact: trivyFact, within: anyLine}
	anchoreList = &listKind{tool: "grype", fact: anchoreFact}
	pipAudits   = &listKind{tool: "pip-audit", fact: pipAuditFact}
	osvList     = &listKind{tool: "osv-scanner", fact: osvFact, within: anyLine}
	snykList    = &listKind{tool: "snyk", fact: snykFact, within: anyLine}
)

// scan is what a command has a scanner look at, and how far its table was read.
type scan struct {
	what  scanned
	image string // the image, where the command or the output names it; "": it is not known which

	kind          string // purl type of the table at work
	place         bool   // whose packages are in place
	columns       []int  // where name, version and what else is wanted stand
	name, version string // of the row before: a cell that is the same is left blank
}

// scanned is what a scanner looks at.
type scanned uint8

const (
	somethingScanned scanned = iota // it cannot be told
	imageScanned
	projectScanned     // files of a project: what they say is asked for
	environmentScanned // what is in place where the job ran
)

// blur forgets what two scans of one script look at: their tables cannot be told
// apart.
func (t *listing) blur(l *list) {
	for _, other := range t.lists {
		if other.kind == l.kind && other.scan.what == imageScanned {
			l.scan.image, other.scan.image = "", ""
		}
		if other.kind == l.kind && other.scan.what != l.scan.what {
			l.scan.what, other.scan.what = somethingScanned, somethingScanned
		}
	}
}

// found is the event of a package that is in what was scanned, or that a lock
// file of it names.
func (l *list) found(place bool, it timeline.Item, o *evidence.Out) timeline.Event {
	e := timeline.Event{Action: timeline.Present, Items: []timeline.Item{it}}
	switch what := l.scan.what; {
	case !place || what == projectScanned:
		e.Action = timeline.Require
		if what == imageScanned {
			e.Subject = l.image(o)
		}
	case what == environmentScanned:
	default:
		e.Subject = l.image(o)
	}
	return e
}

// image is the image that was scanned; of what nobody names, the source.
func (l *list) image(o *evidence.Out) timeline.Subject {
	if l.scan.image == "" {
		return timeline.Subject{Kind: timeline.Source, ID: o.Path()}
	}
	return timeline.Subject{Kind: timeline.Image, ID: l.scan.image}
}

// cells splits a row of a drawn table; ok is false for what is none, and for the
// lines between rows.
func cells(row string) (cells []string, ok bool) {
	text, mark := strings.TrimSpace(row), "│"
	if !strings.HasPrefix(text, mark) {
		if mark = "|"; !strings.HasPrefix(text, mark) {
			return nil, false
		}
	}
	if strings.Contains(text, "──") || strings.Contains(text, "+--") || !strings.HasSuffix(text, mark) {
		return nil, false
	}
	cells = strings.Split(text, mark)
	cells = cells[1 : len(cells)-1]
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells, true
}

// head looks for the columns of a table by their names; nil when it is no head.
func head(cells []string, names ...string) []int {
	var at []int
	for _, name := range names {
		i := slices.IndexFunc(cells, func(c string) bool { return strings.EqualFold(c, name) })
		if i < 0 {
			return nil
		}
		at = append(at, i)
	}
	return at
}

// trivyFact reads Trivy's tables. What a table is of stands over it; a cell that
// is the same as the one above is blank.
// https://trivy.dev/latest/docs/configuration/reporting/#table
//
//	registry.acme.example/api:1.4 (debian 12.5)
//	Python (python-pkg)
//	requirements.txt (pip)
//	│   Library    │ Vulnerability  │ Severity │ Status │ Installed Version │ Fixed Version │ Title │
//	│ litellm (METADATA) │ CVE-2026-1 │ CRITICAL │ fixed  │ 1.107.0           │ 1.107.1       │ …     │
func trivyFact(l *list, row string, o *evidence.Out) (e timeline.Event, ok bool) {
	s := &l.scan
	c, drawn := cells(row)
	if !drawn {
		text := strings.TrimSpace(row)
		if strings.HasPrefix(text, "┌") || strings.HasPrefix(text, "╭") { // another table begins
			s.columns = nil
			return e, l.begun
		}
		target, of, is := strings.Cut(strings.TrimSuffix(text, ")"), " (")
		if i := strings.LastIndex(text, " ("); i > 0 && is {
			target, of = text[:i], strings.TrimSuffix(text[i+2:], ")")
		}
		if !is || !strings.HasSuffix(text, ")") || len(text) > 400 {
			return e, false
		}
		return e, s.over(target, of)
	}
	if at := head(c, "Library", "Installed Version"); at != nil {
		s.columns, s.name, s.version = at, "", ""
		return e, true
	}
	if head(c, "Target", "Type") != nil {
		s.columns, s.kind = nil, ""
		return e, true
	}
	if s.columns == nil || s.kind == "" || len(c) <= slices.Max(s.columns) {
		return e, l.begun
	}
	name, version := c[s.columns[0]], c[s.columns[1]]
	if name == "" && version == "" {
		return e, true
	}
	if name != "" {
		s.name, _, _ = strings.Cut(name, " (")
	}
	if version != "" {
		s.version = version
	}
	if it, is := evidence.ScannedPackage(s.kind, s.name, s.version); is {
		e = l.found(s.place, it, o)
	}
	return e, true
}

// over reads what stands over a table: the image with its distribution, or a file
// or a language with its type.
func (s *scan) over(target, of string) bool {
	system, _, version := strings.Cut(of, " ")
	if version {
		if i := strings.LastIndexByte(of, ' '); i > 0 {
			system = of[:i]
		}
	}
	kind, place, ok := evidence.TrivyKind(system)
	if !ok {
		return false
	}
	if version {
		image := scannedImage(target)
		if s.what == imageScanned && image != "" && s.image != "" && image != s.image {
			return false // of another scan
		}
		if s.what == imageScanned && image != "" {
			s.image = image
		}
	}
	s.kind, s.place, s.columns = kind, place, nil
	return true
}

// anchoreKinds are the types of packages in the tables of Grype and Syft; of Java
// these show no groups.
var anchoreKinds = map[string]string{
	"python": "pypi", "npm": "npm", "gem": "gem", "go-module": "golang", "rust-crate": "cargo", "php-composer": "composer", "dotnet": "nuget",
	"deb": "deb", "rpm": "rpm", "apk": "apk", "conda": "conda",
}

// anchoreFact reads the tables of Grype and Syft, whose columns begin where their
// names do.
// https://github.com/anchore/grype
//
//	NAME      INSTALLED  FIXED IN  TYPE    VULNERABILITY        SEVERITY  EPSS          RISK
//	litellm   1.107.0    1.107.1   python  GHSA-53mr-6c8q-9789  Critical  0.1% (20th)   1.2
//	NAME      VERSION    TYPE
func anchoreFact(l *list, row string, o *evidence.Out) (e timeline.Event, ok bool) {
	s := &l.scan
	if strings.HasPrefix(row, "NAME ") {
		s.columns = nil
		installed := max(strings.Index(row, " INSTALLED"), strings.Index(row, " VERSION"))
		if kind := strings.Index(row, " TYPE"); installed > 0 && kind > installed {
			s.columns = []int{installed + 1, kind + 1}
		}
		return e, s.columns != nil
	}
	if s.columns == nil {
		return e, false
	}
	if len(row) <= s.columns[1] || row[s.columns[0]-1] != ' ' || row[s.columns[1]-1] != ' ' {
		return e, false
	}
	name := strings.TrimSpace(row[:s.columns[0]])
	version, _, _ := strings.Cut(row[s.columns[0]:], " ")
	kind, _, _ := strings.Cut(row[s.columns[1]:], " ")
	if strings.Contains(name, " ") || kind == "" {
		return e, false
	}
	if it, is := evidence.ScannedPackage(anchoreKinds[kind], name, version); is && anchoreKinds[kind] != "" {
		e = l.found(true, it, o)
	}
	return e, true
}

// pipAuditFact reads pip-audit's table. A second one lists what was skipped.
// https://github.com/pypa/pip-audit#usage
//
//	Name  Version ID             Fix Versions
//	----- ------- -------------- ------------
//	flask 0.5     PYSEC-2019-179 1.0
func pipAuditFact(l *list, row string, o *evidence.Out) (e timeline.Event, ok bool) {
	s := &l.scan
	w := strings.Fields(row)
	switch {
	case len(w) > 3 && w[0] == "Name" && w[1] == "Version" && w[2] == "ID":
		s.columns = []int{0, 1}
		return e, true
	case s.columns == nil:
		return e, false
	case row != "" && strings.Trim(row, "- ") == "":
		return e, true
	case len(w) < 3 || strings.Count(w[2], "-") < 2 || !evidence.IsDistName(w[0]) || !evidence.IsVersion(w[1]):
		s.columns = nil
		return e, false
	}
	e = l.found(true, timeline.Item{Artifact: timeline.PURL("pypi", "", w[0], w[1])}, o)
	if e.Action == timeline.Require {
		e.Action = timeline.Resolve // what the list asks for it has resolved
	}
	return e, true
}

// osvEcosystems are those of OSV in tables.
// https://ossf.github.io/osv-schema/#defined-ecosystems
var osvEcosystems = map[string]string{
	"PyPI": "pypi", "npm": "npm", "RubyGems": "gem", "crates.io": "cargo", "Packagist": "composer", "Maven": "maven", "NuGet": "nuget", "Go": "golang",
	"Hex": "hex", "Pub": "pub",
}

// osvFact reads OSV-Scanner's table of a project. A module of Go is written
// without the v of its version.
// https://google.github.io/osv-scanner/output/
//
//	│ OSV URL                             │ CVSS │ ECOSYSTEM │ PACKAGE │ VERSION │ SOURCE           │
//	│ https://osv.dev/GHSA-53mr-6c8q-9789 │ 9.8  │ PyPI      │ litellm │ 1.107.0 │ requirements.txt │
func osvFact(l *list, row string, o *evidence.Out) (e timeline.Event, ok bool) {
	s := &l.scan
	c, drawn := cells(row)
	if !drawn {
		if text := strings.TrimSpace(row); strings.HasPrefix(text, "┌") || strings.HasPrefix(text, "╭") { // another table begins
			s.columns = nil
		}
		return e, false
	}
	if at := head(c, "Ecosystem", "Package", "Version", "Source"); at != nil {
		s.columns = at
		return e, true
	}
	if s.columns == nil || len(c) <= slices.Max(s.columns) {
		return e, l.begun
	}
	kind, version := osvEcosystems[c[s.columns[0]]], c[s.columns[2]]
	if kind == "golang" && !strings.HasPrefix(version, "v") {
		version = "v" + version
	}
	if it, is := evidence.ScannedPackage(kind, c[s.columns[1]], version); is && kind != "" && !inPlace(c[s.columns[3]]) {
		e = l.found(false, it, o)
	}
	return e, true
}

// inPlace reports whether a file that a scanner read lists what is installed:
// OSV-Scanner looks at images too, and does not say in the table which.
func inPlace(source string) bool {
	return strings.Contains(source, "lib/apk/db/") || strings.Contains(source, "lib/dpkg/") || strings.Contains(source, "site-packages") ||
		strings.Contains(source, "dist-packages") || strings.Contains(source, "node_modules/")
}

// snykLanguages are the languages in the names of Snyk's advisories.
var snykLanguages = map[string]string{
	"PYTHON": "pypi", "JS": "npm", "JAVA": "maven", "RUBY": "gem", "GOLANG": "golang", "DOTNET": "nuget", "PHP": "composer", "RUST": "cargo", "HEX": "hex",
}

// snykFact reads what snyk test says of the packages of a project.
// https://docs.snyk.io/developer-tools/snyk-cli/commands/test
//
//	✗ Improper Input Validation [High Severity][https://security.acme.example/vuln/SNYK-PYTHON-FLASK-42185] in flask@0.5
func snykFact(l *list, row string, o *evidence.Out) (e timeline.Event, ok bool) {
	text := strings.TrimSpace(row)
	rest, is := strings.CutPrefix(text, "✗ ")
	if !is {
		rest, is = strings.CutPrefix(text, "x ")
	}
	_, rest, severe := strings.Cut(rest, " Severity][")
	address, rest, in := strings.Cut(rest, "] in ")
	at := strings.LastIndexByte(rest, '@')
	_, advisory, named := strings.Cut(address, "SNYK-")
	if !is || !severe || !in || !named || at <= 0 {
		return e, false
	}
	language, _, _ := strings.Cut(advisory, "-")
	kind, version := snykLanguages[language], rest[at+1:]
	if it, is := evidence.ScannedPackage(kind, rest[:at], version); is && kind != "" {
		e = l.found(false, it, o)
	}
	return e, true
}
