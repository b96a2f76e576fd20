package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// CircleCIVariables is what the API says of the environment variables of a
// context or a project.
// https://circleci.com/docs/api/v2/index.html#tag/Context
var CircleCIVariables = evidence.Format{
	Name:   "circleci-variables",
	Shape:  evidence.DocumentShape,
	Title:  "CircleCI API: environment variables of a context or project",
	Proves: "names of the variables; of contexts also when each was made and changed",
	Cannot: "whose they are: say it with --store; which jobs use a context",
	Doc:    "https://circleci.com/docs/api/v2/index.html#tag/Context",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		if !ok {
			return false
		}
		for first := range v.get("items").elements() {
			return isCircleVariable(first)
		}
		return isCircleVariable(v)
	},
	Read: readCircleCIVariables,
}

// isCircleVariable wants the fields of a context's variable, or those of a
// project's, whose value is masked.
func isCircleVariable(v value) bool {
	if v.has("variable") && v.has("context_id") {
		return true
	}
	if !v.has("name") || !strings.HasPrefix(v.get("value").text(), "xxxx") {
		return false
	}
	for key := range v.fields() {
		switch key {
		case "name", "value", "created_at", "created-at":
		default:
			return false
		}
	}
	return true
}

// readCircleCIVariables reads a page of variables:
//
//	{"items": [{"variable": "NPM_TOKEN", "context_id": "0c1f…", "created_at": "2025-03-04T10:00:00.000Z", "updated_at": "2026-01-10T08:00:00.000Z"}], "next_page_token": null}
//	{"items": [{"name": "DATABASE_URL", "value": "xxxx1234"}], "next_page_token": null}
func readCircleCIVariables(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	o.Seen("")
	circleItems(d, o, all, circleVariable)
	return err
}

func circleVariable(d *evidence.Doc, o *evidence.Out, v value) {
	name := v.get("variable")
	c := timeline.Credential{Provider: "circleci", Created: jsonTime(v.get("created_at")), Updated: jsonTime(v.get("updated_at"))}
	switch {
	case name.text() == "":
		name = v.get("name")
	case d.Asked != 0: // the collector calls the list by the context's name
		c.Part = "context " + d.Dir
	default:
		c.Part = "context " + v.get("context_id").text()
	}
	at(d, o, name)
	if c.Name = name.text(); c.Name == "" {
		o.Skip("a variable without a name")
		return
	}
	o.Credential(c)
}
