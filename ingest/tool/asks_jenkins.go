package tool

import (
	"path"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// pluginTool is whose output answers what Jenkins' plugin managers are told.
const pluginTool = "jenkins-plugin-cli"

// pluginManagerAsk reads Jenkins' plugin installation manager, which prints the
// versions of what comes only when it is told to (--list, --verbose).
// https://github.com/jenkinsci/plugin-installation-manager-tool#cli-options
//
//	jenkins-plugin-cli --plugins "git:5.2.1 mailer" --verbose
//	jenkins-plugin-cli -f /usr/share/jenkins/ref/plugins.txt
func pluginManagerAsk(_ string, args []string) *ask {
	if slices.ContainsFunc(args, func(w string) bool {
		return w == "--help" || w == "-h" || w == "--version" || w == "--no-download" || w == "--available-updates"
	}) {
		return nil
	}
	a := &ask{tool: pluginTool, kind: timeline.JenkinsPlugin}
	at := ""
	for _, w := range args {
		switch {
		case strings.HasPrefix(w, "-"):
			flag, value, ok := strings.Cut(w, "=")
			if at = flag; ok {
				a.plugins(at, value)
			}
		default:
			a.plugins(at, w)
		}
	}
	if len(a.items) == 0 && !a.unnamed {
		return nil
	}
	a.unnamed = true // what those need
	return a
}

// plugins reads a word behind an option.
func (a *ask) plugins(option, w string) {
	switch option {
	case "-p", "--plugins":
		for _, name := range strings.Fields(w) {
			a.name(pluginWord(name))
		}
	case "-f", "--plugin-file":
		a.unnamed = true
	}
}

// pluginWord reads how a plugin is asked for: an id and perhaps a version, or a
// word for the newest, and where its file is.
//
//	git:5.2.1    mailer    mailer:latest    acme:1.0:https://mirror.acme.example/acme.hpi
func pluginWord(w string) (timeline.Item, bool) {
	if variable(w) {
		return timeline.Item{}, false
	}
	id, rest, _ := strings.Cut(w, ":")
	version, _, _ := strings.Cut(rest, ":")
	if it, ok := evidence.JenkinsPlugin(id, version); ok {
		return it, true
	}
	it, ok := evidence.JenkinsPlugin(id, "")
	it.Ref = evidence.Redact(rest)
	return it, ok
}

// oldPluginsAsk reads the script of older images of Jenkins.
//
//	install-plugins.sh git:4.2.0 mailer
func oldPluginsAsk(_ string, args []string) *ask {
	a := &ask{tool: pluginTool, kind: timeline.JenkinsPlugin, unnamed: true}
	for _, w := range args {
		a.name(pluginWord(w))
	}
	return a
}

// javaAsk reads the programs of Jenkins that are started as a file.
//
//	java -jar jenkins-plugin-manager-2.13.2.jar --plugins mailer:1.34 -d plugins
//	java -jar jenkins-cli.jar -s https://ci.acme.example/ install-plugin mailer -restart
func javaAsk(_ string, args []string) *ask {
	i := slices.Index(args, "-jar")
	if i < 0 || i+1 >= len(args) {
		return nil
	}
	switch jar := path.Base(args[i+1]); {
	case strings.HasPrefix(jar, "jenkins-plugin-manager"):
		return pluginManagerAsk("", args[i+2:])
	case strings.HasPrefix(jar, "jenkins-cli"):
		return jenkinsCLIAsk(args[i+2:])
	}
	return nil
}

// jenkinsCLIAsk reads the command that has a Jenkins install plugins; it prints
// no versions.
// https://www.jenkins.io/doc/book/managing/cli/
func jenkinsCLIAsk(args []string) *ask {
	_, plain := splitFlags(args, wordSet("-s -i -auth -webSocket -user -logger -name"))
	i := slices.Index(plain, "install-plugin")
	if i < 0 {
		return nil
	}
	a := &ask{tool: pluginTool, kind: timeline.JenkinsPlugin, unnamed: true, quiet: true}
	for _, w := range plain[i+1:] {
		if strings.Contains(w, "://") || strings.HasSuffix(w, ".hpi") || strings.HasSuffix(w, ".jpi") || w == "=" {
			continue // a file, of what it likes
		}
		a.name(pluginWord(w))
	}
	return a
}
