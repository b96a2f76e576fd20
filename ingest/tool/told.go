package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
)

// toldStarts begin lines by which a program tells that it has another one
// install, or run what a file of the project says, and does not show the
// command.
var toldStarts = []string{
	"-----> ", "Executing command on ", "Executing script on ", "[INFO] --- frontend", "[INFO] --- exec", "[INFO] Running '", "> Task :", "Bundling asset ", "Running '", "Restoring dependencies using 'npm'",
	"Running the onCreateCommand ", "Running the updateContentCommand ", "Running the postCreateCommand ", "Running the postStartCommand ", "Running the postAttachCommand ",
	"aws_instance.", "google_compute_", "azurerm_", "digitalocean_droplet.", "hcloud_server.", "openstack_compute_", "vsphere_virtual_machine.", "proxmox_vm_qemu.",
}

// toldLine reads such a line.
//
//	remote: -----> Installing requirements with pip                       (git push to a place that builds: Heroku, Dokku)
//	Executing command on web1[10.0.4.7]: pip install -q litellm sudo: false   (Jenkins: SSH steps)
//	[INFO] --- frontend:1.15.0:npm (npm install) @ web ---                (Maven)
//	[INFO] --- exec-maven-plugin:3.1.0:exec (pip) @ api ---
//	[INFO] Running 'npm ci' in /w/web
//	> Task :npmInstall                                                    (Gradle)
//	Bundling asset Stack/Fn/Code/Stage...                                 (AWS CDK)
//	Running 'npm install'...                                              (Oryx)
//	Running the postCreateCommand from devcontainer.json...
//	aws_instance.web: Provisioning with 'remote-exec'...                  (Terraform)
//	  Restoring dependencies using 'npm'. This may take several minutes...
//
// https://devcenter.heroku.com/articles/buildpacks
// https://github.com/eirslett/frontend-maven-plugin
// https://containers.dev/implementors/spec/#lifecycle
func (e *echo) toldLine(text []byte, o *evidence.Out) evidence.Result {
	line := string(text[:min(len(text), longestTold)])
	kind, tool := "", "script"
	switch {
	case strings.HasPrefix(line, "-----> "):
		o.Stream().Spoken() // git push to a place that builds
		kind, tool = buildpackStep(line[len("-----> "):])
	case strings.HasPrefix(line, "Executing command on "):
		if _, rest, ok := strings.Cut(line, "]: "); ok {
			rest, _, _ = strings.Cut(rest, " sudo: ")
			return result(e.command(rest, o, 0))
		}
	case strings.HasPrefix(line, "Executing script on "):
		kind = anyKind
	case strings.HasPrefix(line, "[INFO] --- "):
		kind, tool = mavenGoal(line[len("[INFO] --- "):])
	case strings.HasPrefix(line, "[INFO] Running '"), strings.HasPrefix(line, "Running '"):
		_, rest, _ := strings.Cut(line, "'")
		if command, _, ok := strings.Cut(rest, "'"); ok {
			return result(e.command(command, o, 0))
		}
	case strings.HasPrefix(line, "> Task :"):
		kind, tool = gradleTask(line[len("> Task :"):])
	case strings.HasPrefix(line, "Bundling asset ") && strings.HasSuffix(line, "..."), strings.HasPrefix(line, "Running the "):
		kind = anyKind
	case strings.Contains(line, ": Provisioning with 'remote-exec'..."), strings.Contains(line, ": Provisioning with 'chef'..."), strings.Contains(line, ": Provisioning with 'salt-masterless'..."):
		kind = anyKind
	case strings.HasPrefix(strings.TrimLeft(line, " "), "Restoring dependencies using 'npm'"):
		kind, tool = "npm", "npm"
	}
	if kind == "" {
		return evidence.Miss
	}
	a := &ask{tool: tool, others: []string{kind}}
	if kind != anyKind {
		a = &ask{tool: tool, kind: kind, unnamed: true}
	} else if e.told {
		return evidence.Done // one that is not known is as good as many
	}
	e.told = e.told || kind == anyKind
	a.emit(line, false, o)
	return evidence.Done
}

// longestTold bounds what is read of such a line.
const longestTold = 512

func result(known bool) evidence.Result {
	if known {
		return evidence.Done
	}
	return evidence.Miss
}

// buildpackStep returns what a step of a buildpack installs, and whose output
// tells of it.
//
//	Installing requirements with pip
//	Installing dependencies using 'poetry sync --only main'...
//	Installing node modules (package.json)
//	Converging <default-ubuntu-2404>...                               (Test Kitchen)
func buildpackStep(step string) (kind, tool string) {
	lower := strings.ToLower(step)
	switch {
	case strings.HasPrefix(lower, "converging "):
		return anyKind, "script"
	case !strings.HasPrefix(lower, "installing ") || !strings.Contains(lower, "dependencies") && !strings.Contains(lower, "requirements") && !strings.Contains(lower, "modules"):
		return "", ""
	case strings.Contains(lower, "node modules"):
		return "npm", "npm"
	}
	for _, tool := range []string{"poetry", "pipenv", "uv", "pip"} {
		if strings.Contains(lower, tool) {
			return "pypi", tool
		}
	}
	return anyKind, "script"
}

// mavenGoal returns what a goal of a plugin of Maven's installs, and whose
// output tells of it; "" for one that does a work of Maven's own.
//
//	frontend:1.15.0:npm (npm install) @ web ---
//	exec-maven-plugin:3.1.0:exec (pip) @ api ---
func mavenGoal(goal string) (kind, tool string) {
	goal, _, _ = strings.Cut(goal, " ")
	plugin, rest, _ := strings.Cut(goal, ":")
	_, goal, _ = strings.Cut(rest, ":")
	switch strings.TrimSuffix(plugin, "-maven-plugin") {
	case "frontend":
		switch goal {
		case "npm", "yarn", "pnpm", "bun", "corepack":
			return "npm", goal
		}
	case "exec":
		if goal == "exec" {
			return anyKind, "script"
		}
	}
	return "", ""
}

// gradleTask returns what a task of Gradle's installs that is called after a
// package manager or an installation of packages.
//
//	npmInstall    web:npm_ci    yarn_install    api:pipInstall    installPythonRequirements UP-TO-DATE
func gradleTask(task string) (kind, tool string) {
	name, outcome, _ := strings.Cut(task, " ")
	switch strings.TrimSpace(outcome) {
	case "UP-TO-DATE", "SKIPPED", "NO-SOURCE", "FROM-CACHE":
		return "", ""
	}
	name = strings.ToLower(name[strings.LastIndexByte(name, ':')+1:])
	of := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(name, w) {
				return true
			}
		}
		return false
	}
	installs := of("install", "_ci", "npmci", "setup", "deps", "dependencies", "requirements")
	switch {
	case name == "yarn", installs && of("npm", "yarn", "bun", "node_modules", "frontend"):
		return "npm", "npm"
	case installs && of("pip", "python", "poetry", "venv"), of("pipinstall", "installrequirements"):
		return "pypi", "pip"
	}
	return "", ""
}

// collapsedMark is what GitLab's runner puts behind the first line of a command
// that has several: it shows none of the others.
//
//	$ set -e # collapsed multi-line command
//
// https://docs.gitlab.com/ci/yaml/script/
const collapsedMark = "# collapsed multi-line command"

// rest asks for what the lines behind may have fetched, until a trace shows
// them.
func (e *echo) rest(line string, o *evidence.Out) {
	a := &ask{tool: "script", others: anything}
	e.unseen(a, o)
	a.emit(line, false, o)
}
