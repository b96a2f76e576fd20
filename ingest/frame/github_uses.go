package frame

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// inputs is where a line stands among the settings of an action's step.
type inputs struct {
	with bool // below with:, not env:
	told bool // the setting at work is a command, which may go on in the next lines
	code bool // and one of JavaScript
	php  bool // and sets up PHP
	pip  bool // the setting at work lists packages of Python, or files that do
	step bool // the step is an action's
}

// begins notes which action runs now.
func (in *inputs) begins(a evidence.CIAction) {
	*in = inputs{step: true, code: strings.EqualFold(a.Name, "github-script"), php: strings.EqualFold(a.Name, "setup-php")}
}

// command takes the command off a setting that an action is told to run; nil
// when the line holds none. What it prints stands in the step's output.
//
//	command: pip install -q -r requirements.txt        (nick-fields/retry)
//	runCmd: make test                                  (devcontainers/ci)
//	inlineScript: az bicep build -f main.bicep         (azure/cli)
//	script: await exec.exec('pip', ['install', 'x'])   (actions/github-script)
func (in *inputs) command(text []byte) []byte {
	name, value, ok := bytes.Cut(text, []byte(":"))
	switch {
	case !in.step || !in.with:
		return nil
	case ok && settingName(name):
		plain := strings.ToLower(string(bytes.ReplaceAll(bytes.ReplaceAll(name[2:], []byte("-"), nil), []byte("_"), nil)))
		in.told, in.pip = ranInputs[plain], pipInputs[plain]
		text = value
		if in.php && plain == "tools" {
			return composerInput(value)
		}
	}
	if in.pip {
		return pipInput(bytes.TrimSpace(text))
	}
	if text = bytes.TrimSpace(text); !in.told || len(text) == 0 {
		return nil
	}
	if in.code {
		return []byte("node -e '" + string(bytes.ReplaceAll(text, []byte("'"), []byte(`"`))) + "'")
	}
	return text
}

// pipInputs are names of settings that list what pip is to install, without
// their hyphens.
var pipInputs = map[string]bool{
	"pipinstall": true, "piprequirements": true, "pippackages": true, "pipdependencies": true, "requirements": true, "requirementsfile": true,
	"requirementspath": true, "requirementstxt": true, "pythonpackages": true, "pythonrequirements": true,
}

// composerInput is the command that the tools stand for which setup-php has
// Composer install: those that are called like a package. Others are archives.
//
//	tools: composer:v2, phpunit, vimeo/psalm, acme/lint:1.2
//
// https://github.com/shivammathur/setup-php#wrench-tools-support
func composerInput(value []byte) []byte {
	var names []byte
	for word := range bytes.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ' ' }) {
		if bytes.IndexByte(word, '/') > 0 {
			names = append(append(names, ' '), word...)
		}
	}
	if names == nil {
		return nil
	}
	return append([]byte("composer global require"), names...)
}

// pipInput is the command that such a setting stands for.
//
//	requirements: requirements.txt    pip-install: -r requirements.txt
func pipInput(value []byte) []byte {
	switch text := string(value); {
	case text == "", text == "true", text == "false", text == "|", strings.HasPrefix(text, "{"), strings.HasPrefix(text, "["):
		return nil
	case strings.HasSuffix(text, ".txt") && !strings.Contains(text, " "), strings.HasSuffix(text, ".in"), strings.HasSuffix(text, ".toml"):
		return []byte("pip install -r " + text)
	default:
		return []byte("pip install " + text)
	}
}

// input hands on the command of a setting.
func (j *githubJob) input(l *evidence.Line) bool {
	command := j.inputs.command(l.Text)
	if command == nil {
		return false
	}
	l.Text, l.Echo, l.Flat, l.Given = command, true, false, true
	return true
}

// settingName reports whether text is how the runner prints the name of a
// setting: two blanks and a word.
func settingName(text []byte) bool {
	return len(text) > 2 && text[0] == ' ' && text[1] == ' ' && text[2] != ' ' && text[2] != '-' && !bytes.ContainsAny(text[2:], " \t'\"$/(=")
}

// ranInputs are names of settings whose value actions run, without their hyphens.
var ranInputs = map[string]bool{
	"command": true, "commands": true, "cmd": true, "run": true, "runcmd": true, "runcommand": true, "script": true, "scripts": true,
	"inlinescript": true, "install": true, "installcommand": true, "installcmd": true, "buildcommand": true, "testcommand": true,
	"precommand": true, "postcommand": true, "prebuild": true, "prepare": true, "setup": true, "setupcommand": true, "exec": true,
	"customcommand": true, "beforescript": true, "preinstall": true, "shellcommand": true,
}

// ours is an action of the repository or of its owner whose step has begun: a
// program of theirs, as a script is, of which nobody knows what it runs. One
// that is made of steps shows them, and prints nothing before the first:
//
//	##[group]Run ./.github/actions/prepare
//	##[endgroup]
//	##[group]Run pip install -r requirements.txt
type ours struct {
	uses string
	at   evidence.Mark
}

// isOurs reports whether an action belongs to the owner of the repository that
// the job is of. Who publishes actions for everybody has them in jobs of their
// own too.
func isOurs(a evidence.CIAction, job timeline.Subject) bool {
	project, ok := strings.CutPrefix(job.ID, "github:")
	owner, _, _ := strings.Cut(project, "/")
	return ok && job.Kind == timeline.Job && strings.EqualFold(owner, a.Owner) && !publishers[strings.ToLower(owner)]
}

var publishers = map[string]bool{
	"actions": true, "github": true, "docker": true, "azure": true, "aws-actions": true, "google-github-actions": true, "hashicorp": true,
	"astral-sh": true, "pypa": true, "gradle": true, "ruby": true, "pnpm": true, "denoland": true, "oven-sh": true, "prefix-dev": true,
	"conda-incubator": true, "mamba-org": true, "codecov": true, "aquasecurity": true, "anchore": true, "sigstore": true, "pre-commit": true,
}

// printed tells, once the step prints something of its own, that a program ran
// which may have installed anything.
func (j *githubJob) printed(text []byte, o *evidence.Out) {
	if bytes.HasPrefix(text, []byte("##[group]Run ")) || bytes.HasPrefix(text, []byte("##[endgroup]")) || string(text) == "Post job cleanup." {
		return
	}
	o.At(j.ours.at, timeline.Event{Action: timeline.Opaque, Items: []timeline.Item{{Artifact: timeline.Anything}}})
	j.ours = ours{}
}
