package tool

import (
	"bytes"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// JenkinsPlugins is the output of Jenkins' plugin installation manager, and of
// the scripts of images that came before it.
// https://github.com/jenkinsci/plugin-installation-manager-tool
var JenkinsPlugins = evidence.Format{
	Name:   "jenkins-plugin-cli",
	Shape:  evidence.ToolShape,
	Title:  "jenkins-plugin-cli and install-plugins.sh output",
	Proves: "plugins that are installed, chosen and fetched, with versions, where it was told to print them (--list, --verbose)",
	Cannot: "without --list and --verbose: anything",
	Doc:    "https://github.com/jenkinsci/plugin-installation-manager-tool",
	Sample: "written by hand after the source of the tool and lines in public reports",
	Starts: []string{
		"Downloading plugin", "Installed plugins:", "Bundled plugins:", "Set of all ", "All requested plugins:", "Plugins that will be downloaded:",
		"Resulting plugin list:", " ... skipping already installed:", "Done",
	},
	Looks: func(text []byte) bool { return bytes.Contains(text, []byte("lugin")) },
	Tool:  func() evidence.Parser { return &jenkinsPlugins{} },
}

type jenkinsPlugins struct {
	op     *evidence.Op
	rows   string // the heading whose rows follow
	coming []pluginRow
}

// pluginRow is a plugin that is put in place when the program is done.
type pluginRow struct {
	mark evidence.Mark
	item timeline.Item
}

// maxPlugins bounds what is remembered of one invocation.
const maxPlugins = 4096

// pluginLists are the headings and what their rows say.
var pluginLists = map[string]timeline.Action{
	"Installed plugins:": timeline.Present, "Bundled plugins:": timeline.Present,
	"Set of all requested plugins:": timeline.Resolve, "All requested plugins:": timeline.Resolve,
	"Set of all requested plugins that will be downloaded:": timeline.Resolve, "Plugins that will be downloaded:": timeline.Resolve,
	"Set of all existing plugins and plugins that will be downloaded:": timeline.Resolve, "Resulting plugin list:": timeline.Resolve,
}

// Line reads one line.
//
//	Installed plugins:
//	git 5.2.1
//	Plugins that will be downloaded:
//	checkmarx-ast-scanner 2026.5.09
//	Downloading plugin checkmarx-ast-scanner from url: https://mirror.acme.example/download/plugins/checkmarx-ast-scanner/2026.5.09/checkmarx-ast-scanner.hpi
//	Downloading plugin: mailer from https://mirror.acme.example/download/plugins/mailer/1.34/mailer.hpi
//	Done
func (j *jenkinsPlugins) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := string(bytes.TrimSpace(l.Text))
	_, heading := pluginLists[text]
	switch {
	case l.Echo:
		return evidence.Miss
	case heading:
		j.begin(o).Answer()
		j.rows = text
		return evidence.More
	case text == "" && j.rows != "":
		return evidence.More
	case text == "Done":
		if j.op == nil {
			return evidence.Miss
		}
		j.done(o)
		return evidence.Done
	case strings.HasPrefix(text, "Downloading plugin"):
		return j.fetching(strings.TrimPrefix(text, "Downloading plugin"), o)
	}
	return j.row(text, o)
}

// row reads a plugin under a heading.
func (j *jenkinsPlugins) row(text string, o *evidence.Out) evidence.Result {
	id, version, ok := strings.Cut(text, " ")
	it, is := evidence.JenkinsPlugin(id, version)
	if j.rows == "" || !ok || !is {
		j.rows = ""
		return evidence.Miss
	}
	o.Emit(pluginLists[j.rows], j.op, it)
	if strings.HasSuffix(j.rows, "will be downloaded:") && !strings.Contains(j.rows, "existing") {
		j.comes(it, o)
	}
	return evidence.More
}

// comes remembers a plugin that is put in place.
func (j *jenkinsPlugins) comes(it timeline.Item, o *evidence.Out) {
	same := func(r pluginRow) bool { return r.item.Artifact == it.Artifact }
	if len(j.coming) < maxPlugins && !slices.ContainsFunc(j.coming, same) {
		j.coming = append(j.coming, pluginRow{o.Mark(), it})
	}
}

// fetching reads what comes over; what is printed is begun.
func (j *jenkinsPlugins) fetching(rest string, o *evidence.Out) evidence.Result {
	id, where, ok := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(rest, ":"), " "), " from ")
	where = strings.TrimPrefix(where, "url: ")
	it, kind := pluginFile(strings.Split(where, "/"))
	if !ok || kind != wholeFile {
		if it, ok = evidence.JenkinsPlugin(id, ""); !ok || where == "" {
			return evidence.Miss
		}
		o.Emit(timeline.Opaque, j.begin(o), it)
		return evidence.Done
	}
	op := j.begin(o)
	op.Answer()
	o.Emit(timeline.Download, op, it)
	j.comes(it, o)
	return evidence.Done
}

// done records what is in place now.
func (j *jenkinsPlugins) done(o *evidence.Out) {
	for _, r := range j.coming {
		o.At(r.mark, timeline.Event{Action: timeline.Install, Op: j.op.Number, Items: []timeline.Item{r.item}})
	}
	j.coming = nil
	j.End(timeline.OpDone, o)
}

func (j *jenkinsPlugins) begin(o *evidence.Out) *evidence.Op {
	if j.op != nil && o.Overtaken(j.op) {
		j.End(timeline.OpDone, o)
	}
	if j.op == nil {
		j.op = o.Invocation(pluginTool)
	}
	o.Seen(timeline.JenkinsPlugins)
	return j.op
}

// End closes what is open.
func (j *jenkinsPlugins) End(how timeline.OpState, o *evidence.Out) {
	o.Close(j.op, how)
	*j = jenkinsPlugins{}
}

// pluginFile reads the path of a plugin's file on an update site, or in a
// repository of Maven:
//
//	/download/plugins/checkmarx-ast-scanner/2026.5.09/checkmarx-ast-scanner.hpi
//	/com/checkmarx/ast/checkmarx-ast-scanner/2026.5.09/checkmarx-ast-scanner-2026.5.09.hpi
//
// https://www.jenkins.io/templates/updates/
func pluginFile(w []string) (timeline.Item, pathKind) {
	n := len(w)
	if n < 3 {
		return timeline.Item{}, noPath
	}
	stem, hpi := strings.CutSuffix(w[n-1], ".hpi")
	if !hpi {
		if stem, hpi = strings.CutSuffix(w[n-1], ".jpi"); !hpi {
			return timeline.Item{}, noPath
		}
	}
	id, version := w[n-3], unescapedPath(w[n-2])
	it, ok := evidence.JenkinsPlugin(id, version)
	if !ok || version == "" || stem != id && stem != id+"-"+version && unescapedPath(stem) != id+"-"+version {
		return timeline.Item{}, noPath
	}
	return it, wholeFile
}
