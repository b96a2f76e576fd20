package document

import (
	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// GitLabVariables is what the API says of CI/CD variables and of tokens.
// https://docs.gitlab.com/api/project_level_variables/
var GitLabVariables = evidence.Format{
	Name:   "gitlab-variables",
	Shape:  evidence.DocumentShape,
	Title:  "GitLab API: CI/CD variables, access tokens and deploy tokens",
	Proves: "names of variables that hold secrets; of tokens also when they were made and used last, and whether they work",
	Cannot: "when the value of a variable was set: the API gives no date; whose they are: say it with --store",
	Doc:    "https://docs.gitlab.com/api/project_level_variables/",
	Sample: "written by hand after the documentation",
	Claim:  claimGitLabVariables,
	Read:   readGitLabVariables,
}

func claimGitLabVariables(h *evidence.Head) bool {
	v, ok := headRecord(h)
	return ok && (v.has("key") && v.has("variable_type") && v.has("protected") || isGitLabToken(v))
}

func isGitLabToken(v value) bool {
	return v.has("scopes") && v.has("revoked") && v.has("expires_at") && v.has("name")
}

// readGitLabVariables reads variables, whose values the API prints, and tokens:
//
//	[{"variable_type":"env_var","key":"NPM_TOKEN","value":"…","protected":false,"masked":true,"environment_scope":"*"}]
//	[{"id":42,"name":"deploy","revoked":false,"created_at":"2025-03-04T10:00:00Z","scopes":["api"],"last_used_at":"2026-10-21T12:00:00Z","active":true,"expires_at":"2027-01-31"}]
func readGitLabVariables(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	o.Seen("")
	for _, v := range all {
		if isGitLabToken(v) {
			at(d, o, v.get("name"))
			o.Credential(gitLabToken(v))
			continue
		}
		key := v.get("key")
		at(d, o, key)
		hidden := v.get("masked").isTrue() || v.get("hidden").isTrue()
		switch name := key.text(); {
		case name == "":
			o.Skip("a variable without a key")
		case hidden || holdsSecret(name, v.get("value").text()):
			c := timeline.Credential{Name: name, Provider: "gitlab"}
			if scope := v.get("environment_scope").text(); scope != "*" {
				c.Part = scope
			}
			o.Credential(c)
		}
	}
	return err
}

func gitLabToken(v value) timeline.Credential {
	c := timeline.Credential{
		Name: v.get("name").text(), Provider: "gitlab", Class: "git-token", Part: "token",
		Created: jsonTime(v.get("created_at")), Used: jsonTime(v.get("last_used_at")), Expires: jsonTime(v.get("expires_at")),
	}
	switch {
	case v.get("revoked").isTrue() || v.get("expired").isTrue() || v.has("active") && !v.get("active").isTrue():
		c.State = timeline.Inactive
	default:
		c.State = timeline.Active
	}
	return c
}
