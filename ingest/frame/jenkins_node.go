package frame

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// node links the build with the machine that it ran on, where --subject names
// the build. A pod that was made for the build dies with it, and is none.
//
//	Running on agent-7 in /var/lib/jenkins/workspace/api
//	Building remotely on agent-7 (linux docker) in workspace /var/lib/jenkins/workspace/api
//	Agent api-12-x7k2p-8dz4q is provisioned from template api_12-x7k2p
//
// https://plugins.jenkins.io/kubernetes/
func (j *jenkins) node(text string, o *evidence.Out) {
	if rest, ok := strings.CutPrefix(text, "Agent "); ok {
		if name, _, ok := strings.Cut(rest, " is provisioned from template "); ok && !strings.Contains(name, " ") {
			j.fresh = name
		}
		return
	}
	name, ok := jenkinsNode(text)
	if !ok || o.Claim.Kind != timeline.Job || j.nodes > maxSteps || name == j.fresh && name != "" {
		return
	}
	if name == "" { // the controller: its own server's
		server, _, _ := strings.Cut(strings.TrimPrefix(o.Claim.ID, "jenkins:"), "/")
		name = server + "/built-in"
	}
	j.nodes++
	o.Link(timeline.On, o.Claim.String(), timeline.Subject{Kind: timeline.Host, ID: name}.String())
}

// jenkinsNode is the node that a line names, "" for the controller, which has
// had several names.
//
//	Running on Jenkins in /var/jenkins_home/workspace/api
//	Building on the built-in node in workspace /var/lib/jenkins/workspace/api
//	Building in workspace /var/lib/jenkins/workspace/api
func jenkinsNode(text string) (name string, ok bool) {
	switch {
	case strings.HasPrefix(text, "Building in workspace "), strings.HasPrefix(text, "Building on the built-in node in workspace "), strings.HasPrefix(text, "Building on master in workspace "):
		return "", true
	}
	rest, ok := strings.CutPrefix(text, "Running on ")
	if !ok {
		if rest, ok = strings.CutPrefix(text, "Building remotely on "); !ok {
			return "", false
		}
	}
	name, rest, _ = strings.Cut(rest, " ")
	if name == "the" && strings.HasPrefix(rest, "built-in node in ") || (name == "Jenkins" || name == "built-in" || name == "master") && strings.HasPrefix(rest, "in ") {
		return "", true
	}
	return name, name != "" && (strings.HasPrefix(rest, "in ") || strings.Contains(rest, ") in "))
}
