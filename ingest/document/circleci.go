package document

import (
	"bytes"
	"cmp"
	"strings"

	"go.yaml.in/yaml/v4"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// CircleCISecrets is what CircleCI-Env-Inspector prints: contexts and projects
// with the names of their variables, as JSON or as JavaScript shows objects.
// https://github.com/CircleCI-Public/CircleCI-Env-Inspector
var CircleCISecrets = evidence.Format{
	Name:   "circleci-env-inspector",
	Shape:  evidence.DocumentShape,
	Title:  "CircleCI-Env-Inspector output",
	Proves: "names of the variables of contexts and projects; of contexts also when each was made",
	Cannot: "when a variable of a project was set: CircleCI gives no date; which jobs use a context",
	Doc:    "https://github.com/CircleCI-Public/CircleCI-Env-Inspector",
	Sample: "written by hand after the tool's source",
	Claim: func(h *evidence.Head) bool {
		text := bytes.TrimLeft(h.Bytes, " \t\r\n")
		if len(text) == 0 || text[0] != '{' && text[0] != '[' {
			return false
		}
		has := func(key string) bool {
			return bytes.Contains(text, []byte(`"`+key+`":`)) || bytes.Contains(text, []byte(key+": ["))
		}
		return has("contexts") && has("projects") && (has("variables") || has("unavailable"))
	},
	Read: readCircleCI,
}

// readCircleCI reads one account, or several by their names:
//
//	{"contexts": [{"name": "publish", "variables": [{"variable": "NPM_TOKEN", "context_id": "…", "created_at": "2025-03-04T10:00:00.000Z"}]}],
//	 "projects": [{"name": "acme/api", "variables": [{"name": "DATABASE_URL", "value": "xxxx1234"}]}]}
//	[ { acme: { contexts: [ { name: 'publish', id: '…', variables: [ … ] } ], projects: [], unavailable: [] } } ]
func readCircleCI(d *evidence.Doc, o *evidence.Out) error {
	docs, err := yamlDocuments(d)
	if len(docs) > 0 {
		o.Seen("")
	}
	for _, root := range docs {
		list := items(root)
		if list == nil {
			list = []*yaml.Node{root}
		}
		for _, account := range list {
			if child(account, "contexts") != nil {
				circleAccount(d, o, account, "")
				continue
			}
			eachField(account, func(name, n *yaml.Node) { circleAccount(d, o, n, name.Value) })
		}
	}
	return err
}

func circleAccount(d *evidence.Doc, o *evidence.Out, n *yaml.Node, account string) {
	for _, context := range items(child(n, "contexts")) {
		store := "circleci:" + cmp.Or(account, circleOrg(scalarText(child(context, "url"))), "unknown")
		if o.Store != "" {
			store = o.Store
		}
		for _, v := range items(child(context, "variables")) {
			if name := child(v, "variable"); name != nil {
				created, _ := listTime(scalarText(child(v, "created_at")))
				onNode(d, o, name, "variable: "+name.Value)
				o.Credential(timeline.Credential{
					Name: name.Value, Provider: "circleci", Store: store, Part: "context " + scalarText(child(context, "name")), Created: created,
				})
			}
		}
	}
	for _, project := range items(child(n, "projects")) {
		for _, v := range items(child(project, "variables")) {
			if name := child(v, "name"); name != nil {
				onNode(d, o, name, "name: "+name.Value)
				o.Credential(timeline.Credential{Name: name.Value, Provider: "circleci", Store: "circleci:" + scalarText(child(project, "name"))})
			}
		}
	}
	for _, gone := range items(child(n, "unavailable")) {
		onNode(d, o, gone, scalarText(gone))
		o.Cut("not available to the tool: " + scalarText(gone))
	}
}

// circleOrg reads the organisation out of the address of a context.
//
//	https://app.circleci.com/settings/organization/github/acme/contexts/0c1f…
func circleOrg(url string) string {
	_, rest, ok := strings.Cut(url, "/organization/")
	parts := strings.Split(rest, "/")
	if !ok || len(parts) < 2 {
		return ""
	}
	return parts[1]
}
