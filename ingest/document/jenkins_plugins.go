package document

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// JenkinsPluginList is what Jenkins says of its plugins: the answer of its API,
// and what jenkins-cli.jar list-plugins prints.
// https://www.jenkins.io/doc/book/managing/plugins/
var JenkinsPluginList = evidence.Format{
	Name:   "jenkins-plugins",
	Shape:  evidence.DocumentShape,
	Title:  "Jenkins API: plugins (pluginManager)",
	Proves: "which plugins are installed",
	Cannot: "when they were installed; which versions were there before",
	Doc:    "https://www.jenkins.io/doc/book/managing/plugins/",
	Sample: "written by hand after the documentation of Jenkins' API",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		if !ok {
			return false
		}
		for p := range v.get("plugins").elements() {
			return p.get("shortName").text() != ""
		}
		return v.get("_class").text() == "hudson.LocalPluginManager"
	},
	Read: readJenkinsPlugins,
}

// readJenkinsPlugins reads the answer of /pluginManager/api/json?depth=1.
//
//	{"_class": "hudson.LocalPluginManager", "plugins": [{"active": true, "enabled": true, "shortName": "checkmarx-ast-scanner", "version": "2026.5.09", …}]}
func readJenkinsPlugins(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	o.Seen(timeline.JenkinsPlugins)
	for _, v := range all {
		for p := range v.get("plugins").elements() {
			version := p.get("version")
			at(d, o, p.get("shortName"))
			it, ok := evidence.JenkinsPlugin(p.get("shortName").text(), version.text())
			if !ok || version.text() == "" {
				o.Skip("a plugin without id or version")
				continue
			}
			o.Emit(timeline.Present, nil, it)
		}
	}
	return err
}

// JenkinsPluginFile is a list of the plugins that an installation asks for.
// https://github.com/jenkinsci/plugin-installation-manager-tool#plugin-input-format
var JenkinsPluginFile = evidence.Format{
	Name:   "jenkins-plugins-txt",
	Shape:  evidence.DocumentShape,
	Title:  "plugins.txt and plugins.yaml of jenkins-plugin-cli",
	Proves: "which plugins are asked for, with exact versions where it says them",
	Cannot: "that they were installed, or when; which others these need",
	Doc:    "https://github.com/jenkinsci/plugin-installation-manager-tool#plugin-input-format",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		switch h.Name {
		case "plugins.yaml", "plugins.yml":
			return bytes.Contains(h.Bytes, []byte("artifactId:"))
		case "plugins.txt":
			return pluginRows.claims(h, 1)
		}
		return false
	},
	Read: func(d *evidence.Doc, o *evidence.Out) error {
		if strings.HasSuffix(d.Name, ".txt") {
			return pluginRows.read(d, o)
		}
		return readPluginsYAML(d, o)
	},
}

// pluginRows are the rows of plugins.txt:
//
//	git:5.2.1
//	mailer                # the newest
//	acme-tools:1.0:https://mirror.acme.example/acme-tools.hpi
var pluginRows = rowList{
	none: func(line string) bool { return strings.HasPrefix(line, "#") },
	event: func(line string, _ *evidence.Times) (timeline.Event, bool) {
		line, _, _ = strings.Cut(line, " #")
		id, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		version, _, _ := strings.Cut(rest, ":")
		it, ok := wantedPlugin(id, version)
		return timeline.Event{Action: timeline.Require, Items: []timeline.Item{it}}, ok
	},
}

// wantedPlugin is a plugin that is asked for, at a version or in other words
// (latest).
func wantedPlugin(id, version string) (timeline.Item, bool) {
	if it, ok := evidence.JenkinsPlugin(id, version); ok {
		return it, true
	}
	it, ok := evidence.JenkinsPlugin(id, "")
	it.Ref = evidence.Redact(version)
	return it, ok
}

// readPluginsYAML reads the other form, in which the version stands below the id.
//
//	plugins:
//	  - artifactId: git
//	    source:
//	      version: 5.2.1
func readPluginsYAML(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	id, version, off := "", "", 0
	tell := func() {
		if it, ok := wantedPlugin(id, version); ok {
			onLine(d, o, off)
			o.Emit(timeline.Require, nil, it)
		}
		id, version = "", ""
	}
	for _, line := range logicalLines(d) {
		text, _, _ := strings.Cut(line.text, " #")
		key, val, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(text, "- ")), ":")
		val = strings.Trim(strings.TrimSpace(val), `"'`)
		switch key {
		case "artifactId":
			tell()
			id, off = val, line.off
		case "version":
			version = val
		}
	}
	tell()
	return nil
}

// JenkinsPluginManifest is the manifest in the file of a plugin (.hpi, .jpi), and
// in its folder.
// https://www.jenkins.io/doc/developer/plugin-development/
var JenkinsPluginManifest = evidence.Format{
	Name:   "jenkins-plugin-manifest",
	Shape:  evidence.DocumentShape,
	Title:  "META-INF/MANIFEST.MF of a Jenkins plugin",
	Proves: "a plugin is in place",
	Cannot: "when it was installed; that Jenkins loaded it",
	Doc:    "https://www.jenkins.io/doc/developer/plugin-development/",
	Sample: "written by hand after the documentation of Maven's HPI plugin",
	Claim: func(h *evidence.Head) bool {
		return h.Name == "MANIFEST.MF" && bytes.Contains(h.Bytes, []byte("\nPlugin-Version: ")) && bytes.Contains(h.Bytes, []byte("\nShort-Name: "))
	},
	Read: func(d *evidence.Doc, o *evidence.Out) error {
		o.Seen("")
		id, version, off := "", "", 0
		for _, line := range logicalLines(d) {
			if rest, ok := strings.CutPrefix(line.text, "Short-Name: "); ok {
				id = rest
			}
			if rest, ok := strings.CutPrefix(line.text, "Plugin-Version: "); ok {
				version, _, _ = strings.Cut(rest, " ") // behind it stands who built it
				off = line.off
			}
		}
		onLine(d, o, off)
		if it, ok := evidence.JenkinsPlugin(id, version); ok {
			o.Emit(timeline.Present, nil, it)
		} else {
			o.Skip("a plugin without id or version")
		}
		return nil
	},
}
