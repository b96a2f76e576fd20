package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// MavenTree is what Maven and Gradle show of the packages of a build.
// https://maven.apache.org/plugins/maven-dependency-plugin/
// https://docs.gradle.org/current/userguide/viewing_debugging_dependencies.html
var MavenTree = evidence.Format{
	Name:   "maven-tree",
	Shape:  evidence.ToolShape,
	Title:  "mvn dependency:tree and dependency:list, gradle dependencies",
	Proves: "versions that were chosen for a build; of dependency:list and dependency:resolve that the files are there",
	Cannot: "of a tree, that a file came over; configurations of Gradle that are not shown",
	Doc:    "https://maven.apache.org/plugins/maven-dependency-plugin/",
	Sample: "written by hand after the documentation and public logs",
	Starts: []string{"[INFO] +- ", `[INFO] \- `, "[INFO] --- ", "[INFO] The following ", "+- ", `\- `, "+--- ", `\--- `},
	Looks: func(text []byte) bool {
		head := text[:min(len(text), 200)]
		return bytes.IndexByte(head, ':') > 0
	},
	Tool: func() evidence.Parser { return &mavenTree{} },
}

type mavenTree struct {
	files bool // the goal at work fetches what it lists
	rows  treeRows
}

// treeRows is what the next lines may be rows of.
type treeRows uint8

const (
	noRows treeRows = iota
	mavenRows
	mavenList
	gradleRows
)

// Line reads a head, or a row.
//
//	[INFO] --- maven-dependency-plugin:3.6.1:tree (default-cli) @ api ---
//	[INFO] +- org.slf4j:slf4j-api:jar:2.0.7:compile
//	[INFO] |  \- org.acme:trace:jar:linux-x86_64:1.4.0:runtime (optional)
//	+- org.slf4j:slf4j-api:jar:2.0.7:compile
//	[INFO] The following files have been resolved:
//	[INFO]    org.slf4j:slf4j-api:jar:2.0.7:compile -- module org.slf4j
//	+--- org.slf4j:slf4j-api:1.7.36 -> 2.0.7
//	|    \--- org.acme:trace:{strictly 1.4.0} -> 1.4.0 (*)
func (m *mavenTree) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo {
		m.rows = noRows
		return evidence.Miss
	}
	text := string(bytes.TrimRight(l.Text, " \t"))
	info, isMaven := strings.CutPrefix(strings.TrimLeft(text, " "), "[INFO] ")
	switch {
	case !isMaven:
		if r := m.tree(text, o); r != evidence.Miss {
			return r
		}
		return m.gradle(text, o)
	case strings.HasPrefix(info, "--- "):
		m.rows = noRows
		if goal, ok := dependencyGoal(info[4:]); ok {
			m.files = goal == "list" || strings.HasPrefix(goal, "resolve") || goal == "go-offline" || goal == "sources"
			o.Seen("")
			return evidence.Done
		}
		m.files = false
		return evidence.Miss
	case info == "The following files have been resolved:", info == "The following plugins have been resolved:":
		m.rows = mavenList
		o.Seen("")
		return evidence.More
	case m.rows == mavenList:
		return m.mavenRow(strings.TrimSpace(info), timeline.Present, o)
	}
	r := m.tree(info, o)
	if r == evidence.Miss {
		m.rows = noRows
	}
	return r
}

// tree reads a row of Maven's tree, which stands without the level in a file that
// it was written to. The first one is not indented.
func (m *mavenTree) tree(text string, o *evidence.Out) evidence.Result {
	rest := strings.TrimLeft(text, "| ")
	row, ok := strings.CutPrefix(rest, "+- ")
	if !ok {
		row, ok = strings.CutPrefix(rest, `\- `)
	}
	if !ok || m.rows != mavenRows && len(rest) < len(text) {
		return evidence.Miss
	}
	m.rows = mavenRows
	return m.mavenRow(row, timeline.Resolve, o)
}

// dependencyGoal is the goal of the plugin that shows packages.
func dependencyGoal(text string) (goal string, ok bool) {
	plugin, _, _ := strings.Cut(text, " ")
	w := strings.Split(plugin, ":")
	if len(w) != 3 || w[0] != "maven-dependency-plugin" && w[0] != "dependency" {
		return "", false
	}
	return w[2], true
}

// mavenScopes are the last word of coordinates.
var mavenScopes = wordSet("compile provided runtime test system import")

// mavenRow reads coordinates: group, name, type, a classifier perhaps, version
// and scope. A row in parentheses was left out for another.
func (m *mavenTree) mavenRow(row string, action timeline.Action, o *evidence.Out) evidence.Result {
	coordinates, note, _ := strings.Cut(row, " ")
	if inner, is := strings.CutPrefix(coordinates, "("); is && strings.Contains(note, "omitted for ") && strings.Count(inner, ":") > 3 {
		return evidence.More
	}
	if row == "" || row == "none" {
		return evidence.More
	}
	w := strings.Split(coordinates, ":")
	n := len(w)
	if n != 5 && n != 6 || !mavenScopes[w[n-1]] {
		m.rows = noRows
		return evidence.Miss
	}
	it, ok := evidence.Maven(w[0], w[1], w[n-2])
	if !ok {
		m.rows = noRows
		return evidence.Miss
	}
	if action == timeline.Present && !m.files {
		action = timeline.Resolve
	}
	o.Seen("")
	o.Emit(action, nil, it)
	return evidence.More
}

// gradle reads a row of Gradle's tree: what was asked, and behind an arrow what
// was chosen, where that is not the same.
func (m *mavenTree) gradle(text string, o *evidence.Out) evidence.Result {
	rest := strings.TrimLeft(text, "| ")
	row, ok := strings.CutPrefix(rest, "+--- ")
	if !ok {
		row, ok = strings.CutPrefix(rest, `\--- `)
	}
	if !ok || m.rows != gradleRows && strings.HasPrefix(text, "|") {
		m.rows = noRows
		return evidence.Miss
	}
	it, action, known := gradleRow(row)
	if !known {
		m.rows = noRows
		return evidence.Miss
	}
	m.rows = gradleRows
	o.Seen("")
	if it.Artifact != "" {
		o.Emit(action, nil, it)
	}
	return evidence.More
}

// gradleRow reads what stands behind the drawing; no artifact is in a row of the
// project's own parts, of a constraint, and of what could not be found.
//
//	org.slf4j:slf4j-api:1.7.36 -> 2.0.7 (*)
//	org.slf4j:slf4j-api -> 2.0.7
//	junit:junit:4.12 -> org.junit.vintage:junit-vintage-engine:5.10.2
//	org.slf4j:slf4j-api:2.0.7 (c)
//	org.slf4j:slf4j-api:2.+ (n)
//	org.acme:gone:1.0 FAILED
//	project :core
func gradleRow(row string) (it timeline.Item, action timeline.Action, known bool) {
	row, note := cutNote(row)
	if strings.HasPrefix(row, "project ") || row == "project" {
		return it, action, true
	}
	asked, chosen, moved := strings.Cut(row, " -> ")
	w := strings.SplitN(asked, ":", 3)
	if len(w) < 2 {
		return it, action, false
	}
	group, name, version := w[0], w[1], ""
	if len(w) == 3 {
		version = w[2]
	}
	if _, plain := evidence.Maven(group, name, ""); !plain || strings.ContainsRune(version, ' ') && version[0] != '{' && version[0] != '[' {
		return it, action, false
	}
	switch other := strings.Split(chosen, ":"); {
	case note == "(c)" || note == "FAILED" || strings.HasPrefix(chosen, "project "):
		return it, action, true
	case moved && len(other) == 3:
		group, name, version = other[0], other[1], other[2]
	case moved:
		version = chosen
	}
	action = timeline.Resolve
	ref := ""
	if note == "(n)" {
		action = timeline.Require
		if !exactMaven(version) {
			ref, version = version, ""
		}
	}
	if it, known = evidence.Maven(group, name, version); version == "" && note != "(n)" {
		return timeline.Item{}, action, known
	}
	it.Ref = ref
	return it, action, known
}

// exactMaven tells a version from a range, a prefix and a word that moves.
func exactMaven(text string) bool {
	return evidence.IsMavenVersion(text) && !strings.HasSuffix(text, "+") && !strings.HasPrefix(text, "latest.")
}

// cutNote splits off what Gradle notes behind a row.
func cutNote(row string) (rest, note string) {
	for _, note := range [...]string{"(*)", "(c)", "(n)", "FAILED"} {
		if rest, ok := strings.CutSuffix(row, " "+note); ok {
			return rest, note
		}
	}
	return row, ""
}

// End forgets what rows were of.
func (m *mavenTree) End(timeline.OpState, *evidence.Out) { *m = mavenTree{} }
