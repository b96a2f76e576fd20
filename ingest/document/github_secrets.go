package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// GitHubSecrets is what the API, or gh secret list --json, says of secrets.
// https://docs.github.com/en/rest/actions/secrets
var GitHubSecrets = evidence.Format{
	Name:   "github-secrets",
	Shape:  evidence.DocumentShape,
	Title:  "GitHub API: secrets of a repository, environment or organisation",
	Proves: "names of secrets, when each was made and when its value was set last",
	Cannot: "whose they are, unless the organisation's: say it with --store; which workflows read them; whether the old value still works",
	Doc:    "https://docs.github.com/en/rest/actions/secrets",
	Sample: "written by hand after the documentation",
	Claim:  claimGitHubSecrets,
	Read:   readGitHubSecrets,
}

func claimGitHubSecrets(h *evidence.Head) bool {
	v := value{h.Bytes, 0, len(h.Bytes)}
	if v.kind() == '{' && v.has("secrets") && v.has("total_count") {
		for s := range v.get("secrets").elements() {
			return s.has("name") && s.has("updated_at")
		}
		return v.get("secrets").kind() == '['
	}
	v, ok := headRecord(h)
	return ok && isGHSecret(v)
}

// isGHSecret wants the fields that gh prints, and no others.
//
//	[{"name":"NPM_TOKEN","updatedAt":"2026-05-01T08:00:00Z"}]
func isGHSecret(v value) bool {
	if !v.has("name") || !v.has("updatedAt") {
		return false
	}
	for key := range v.fields() {
		switch key {
		case "name", "updatedAt", "visibility", "numSelectedRepos", "selectedReposURL":
		default:
			return false
		}
	}
	return true
}

// readGitHubSecrets reads a page of the API, or several:
//
//	{"total_count": 2, "secrets": [{"name": "NPM_TOKEN", "created_at": "2025-08-10T14:59:22Z", "updated_at": "2026-01-10T14:59:22Z"}]}
//	{"name": "X", …, "visibility": "selected", "selected_repositories_url": "https://api.github.com/orgs/acme/actions/secrets/X/repositories"}
func readGitHubSecrets(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	o.Seen("")
	one := func(v value) {
		name := v.get("name")
		at(d, o, name)
		if name.text() == "" {
			o.Skip("a secret without a name")
			return
		}
		c := timeline.Credential{Name: name.text(), Provider: "github", Created: jsonTime(v.get("created_at")), Updated: jsonTime(v.get("updated_at"))}
		if c.Updated == 0 {
			c.Updated = jsonTime(v.get("updatedAt"))
		}
		for _, key := range []string{"selected_repositories_url", "selectedReposURL"} {
			if _, rest, ok := strings.Cut(v.get(key).text(), "/orgs/"); ok {
				org, _, _ := strings.Cut(rest, "/")
				c.Store = "github:" + org
			}
		}
		o.Credential(c)
	}
	for _, v := range all {
		if v.get("secrets").kind() != '[' {
			one(v)
			continue
		}
		for s := range v.get("secrets").elements() {
			one(s)
		}
	}
	return err
}
