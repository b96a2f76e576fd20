package document

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// oidcToken is the secret with which a job that may write id-token gets tokens
// of clouds.
// https://docs.github.com/en/actions/reference/security/oidc
const oidcToken = "ACTIONS_ID_TOKEN_REQUEST_TOKEN"

// workflowJob is a job as a workflow file has it.
type workflowJob struct {
	key   string
	name  *regexp.Regexp // what the API calls it: a matrix makes several of one
	exact bool           // it is called nothing else
	held  []heldName
	uses  string // the reusable workflow that it calls
	all   bool   // and which gets every secret
	env   string // environment
	line  int    // of env
	seen  int    // nodes, those that aliases bring again included
}

// heldName is the name of a secret, and where it stands.
type heldName struct {
	name string
	line int
	text string
	path string // of a called workflow, "" for the file itself
}

// holders says which of the jobs that ran held which secrets, by the file of
// the commit that ran. Of the steps it says nothing: the log knows what they
// were.
func holders(d *evidence.Doc, root *yaml.Node, o *evidence.Out) {
	jobs := workflowJobs(root)
	for _, name := range d.Jobs {
		who := timeline.Subject{Kind: timeline.Job, ID: o.Claim.ID + "/jobs/" + name}
		caller, inner, called := strings.Cut(name, " / ")
		fits := fitting(jobs, name, false)
		if called {
			fits = append(fits, fitting(jobs, caller, true)...)
		}
		if len(fits) == 0 {
			o.SetLine(0, 0, nil)
			o.Cut(fmt.Sprintf("job %q is none of its jobs: which secrets it held is not known", name))
			continue
		}
		names := fits[0].names(d, inner, o)
		for _, j := range fits[1:] {
			other := j.names(d, inner, o)
			both := func(h heldName) bool { return !hasName(other, h.name) }
			if before := len(names); len(slices.DeleteFunc(slices.Clone(names), both)) < before || len(other) > before {
				o.Cut(fmt.Sprintf("job %q may be %q or %q: what only one of them holds is left out", name, fits[0].key, j.key))
			}
			names = slices.DeleteFunc(names, both)
		}
		for _, h := range names {
			h.emit(who, d, o)
		}
		if j := fits[0]; len(fits) == 1 && j.env != "" {
			o.SetLine(int64(j.line), 0, []byte("environment: "+j.env))
			o.Link(timeline.Uses, who.String(), "environment:"+j.env)
		}
	}
}

func hasName(all []heldName, name string) bool {
	return slices.ContainsFunc(all, func(h heldName) bool { return h.name == name })
}

func (h heldName) emit(who timeline.Subject, d *evidence.Doc, o *evidence.Out) {
	o.SetLine(int64(h.line), int64(d.LineStart(h.line)), []byte(h.text))
	e := timeline.Event{Action: timeline.Hold, Subject: who, Items: []timeline.Item{{Artifact: "secret:" + h.name}}}
	if h.path != "" {
		e.Origin = timeline.Origin{Path: h.path, Line: int64(h.line), Text: evidence.Excerpt([]byte(h.text))}
	}
	o.Event(e)
}

// fitting lists the jobs that the API may have given a name: those whose name it
// is, else those whose name is made when they run. calls tells that only those
// count that call another workflow.
func fitting(jobs []*workflowJob, name string, calls bool) (fits []*workflowJob) {
	exact := false
	for _, j := range jobs {
		if (j.uses != "") != calls || !j.name.MatchString(name) {
			continue
		}
		if j.exact && !exact {
			exact, fits = true, nil
		}
		if j.exact || !exact {
			fits = append(fits, j)
		}
	}
	return fits
}

// names are the secrets of a job; of one that calls a workflow and hands every
// secret on, those too that the called job reads.
func (j *workflowJob) names(d *evidence.Doc, inner string, o *evidence.Out) []heldName {
	names := slices.Clone(j.held)
	if j.uses == "" || !j.all {
		return names
	}
	called := d.Called[strings.TrimPrefix(withoutRef(j.uses), "./")]
	if called == nil {
		o.Cut(fmt.Sprintf("job %q hands every secret to %s, which is not here", j.key, j.uses))
		return names
	}
	var root yaml.Node
	if err := yaml.Unmarshal(called.Data, &root); err != nil {
		o.Cut(called.Path + ": not YAML: " + err.Error())
		return names
	}
	for _, c := range fitting(workflowJobs(&root), inner, false) {
		for _, h := range c.held {
			if h.path = called.Path; !hasName(names, h.name) {
				names = append(names, h)
			}
		}
	}
	return names
}

func withoutRef(uses string) string {
	path, _, _ := strings.Cut(uses, "@")
	return path
}

// workflowJobs reads the jobs of a file. What stands above them is every job's.
func workflowJobs(root *yaml.Node) (jobs []*workflowJob) {
	top := root
	if top.Kind == yaml.DocumentNode && len(top.Content) == 1 {
		top = top.Content[0]
	}
	var common workflowJob
	common.secrets(child(top, "env"), 0)
	common.variables(child(top, "env"))
	permissions := child(top, "permissions")
	eachField(child(top, "jobs"), func(name, node *yaml.Node) {
		key := name.Value
		j := &workflowJob{key: key, held: slices.Clone(common.held)}
		j.name, j.exact = jobName(key, node)
		j.secrets(node, 0)
		own := child(node, "permissions")
		if own == nil {
			own = permissions
		}
		j.oidc(own)
		if n := child(node, "uses"); n != nil {
			j.uses = n.Value
		}
		if n := child(node, "secrets"); n != nil && n.Value == "inherit" {
			j.all = true
		}
		if n := child(node, "environment"); n != nil {
			if named := child(n, "name"); named != nil {
				n = named
			}
			if j.env, j.line = n.Value, n.Line; strings.Contains(j.env, "${{") {
				j.env = ""
			}
		}
		jobs = append(jobs, j)
	})
	return jobs
}

var expression = regexp.MustCompile(`\$\{\{.*?\}\}`)

// jobName matches what the API calls a job: its name, in which expressions stand
// for anything, or its key; a matrix adds its values.
//
//	test (3.11, ubuntu-24.04)
func jobName(key string, node *yaml.Node) (pattern *regexp.Regexp, exact bool) {
	text := key
	if n := child(node, "name"); n != nil && n.Value != "" {
		text = n.Value
	}
	parts := expression.Split(text, -1)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	text = strings.Join(parts, ".*")
	matrix := child(child(node, "strategy"), "matrix") != nil
	if len(parts) == 1 && matrix {
		text += `( \(.*\))?`
	}
	return regexp.MustCompile("^(?:" + text + ")$"), len(parts) == 1 && !matrix
}

// secrets gathers what a part of the file reads or sets: secrets in expressions,
// and variables whose name says that they hold one.
//
//	TOKEN: ${{ secrets.PYPI_TOKEN }}
func (j *workflowJob) secrets(n *yaml.Node, depth int) {
	if n = target(n); n == nil || depth > maxYAMLDepth || j.seen > maxFields {
		return
	}
	j.seen++
	for _, m := range secretExpression.FindAllStringSubmatch(n.Value, -1) {
		j.add(m[1], n)
	}
	env := n.Kind == yaml.MappingNode
	for i, c := range n.Content {
		j.secrets(c, depth+1)
		if env && i%2 == 1 && n.Content[i-1].Value == "env" {
			j.variables(c)
		}
	}
}

func (j *workflowJob) variables(env *yaml.Node) {
	eachField(env, func(key, n *yaml.Node) {
		if val := scalarText(n); val != "" && secretName.MatchString(key.Value) && !strings.Contains(val, "${{") && holdsSecret(key.Value, val) {
			j.add(key.Value, key)
		}
	})
}

// secretName is what GitHub lets a secret, and a shell a variable, be called.
// https://docs.github.com/en/actions/reference/security/secrets
var secretName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,254}$`)

func (j *workflowJob) add(name string, n *yaml.Node) {
	if !hasName(j.held, name) && len(j.held) < maxHeld {
		j.held = append(j.held, heldName{name: name, line: n.Line, text: "secret " + name})
	}
}

// maxHeld bounds the names of one job.
const maxHeld = 1000

// oidc looks whether the job may ask for tokens of clouds.
//
//	permissions:
//	  id-token: write
func (j *workflowJob) oidc(permissions *yaml.Node) {
	if permissions == nil {
		return
	}
	n := child(permissions, "id-token")
	if n != nil && n.Value == "write" || permissions.Value == "write-all" {
		if n == nil {
			n = permissions
		}
		j.add(oidcToken, n)
		j.held[len(j.held)-1].text = "id-token: write"
	}
}
