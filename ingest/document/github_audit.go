package document

import (
	"strconv"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// GitHubAudit is the audit log of an organisation or enterprise, as the API, an
// export or a stream has it.
// https://docs.github.com/en/enterprise-cloud@latest/organizations/keeping-your-organization-secure/managing-security-settings-for-your-organization/audit-log-events-for-your-organization
var GitHubAudit = evidence.Format{
	Name:   "github-audit",
	Shape:  evidence.ToolShape,
	Title:  "GitHub audit log",
	Proves: "names of the secrets that a job was given, when, and on which self-hosted runner",
	Cannot: "what the job did with them; what packages were published: those entries are read past",
	Doc:    "https://docs.github.com/en/enterprise-cloud@latest/rest/orgs/orgs#get-the-audit-log-for-an-organization",
	Sample: "written by hand after the documentation",
	Fields: [][]string{{"@timestamp", "action", "_document_id"}, {"@timestamp", "action", "org"}, {"@timestamp", "action", "secrets_passed"}},
	Tool:   func() evidence.Parser { return &githubAudit{} },
}

type githubAudit struct{}

// Line reads one entry:
//
//	{"@timestamp":1792584291000,"_document_id":"x","action":"workflows.prepared_workflow_job","actor":"dev","org":"acme","repo":"acme/api","workflow_run_id":812,"run_attempt":1,"job_name":"build","secrets_passed":["PYPI_TOKEN"],"is_hosted_runner":true,"runner_name":"GitHub Actions 7"}
func (*githubAudit) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if !isRecord(l) {
		return evidence.Miss
	}
	v := recordOf(l)
	at, ok := v.get("@timestamp").integer()
	if !ok {
		return evidence.Miss
	}
	o.Seen("")
	if v.get("action").text() != "workflows.prepared_workflow_job" {
		return evidence.Done
	}
	repo, job := v.get("repo").text(), v.get("job_name").text()
	run, _ := v.get("workflow_run_id").integer() // 0: it does not say
	attempt, _ := v.get("run_attempt").integer() // 0: it does not say
	if run <= 0 || attempt <= 0 || job == "" || strings.Count(repo, "/") != 1 {
		o.Skip("which job it speaks of does not stand in it")
		return evidence.Done
	}
	who := timeline.Subject{Kind: timeline.Job, ID: "github:" + repo + "/runs/" + strconv.FormatInt(run, 10) + "/attempts/" + strconv.FormatInt(attempt, 10) + "/jobs/" + job}
	span := evidence.Epoch(at, time.Millisecond, string(v.get("@timestamp").raw()))
	var items []timeline.Item
	for s := range v.get("secrets_passed").elements() {
		if name := s.text(); secretName.MatchString(name) {
			items = append(items, timeline.Item{Artifact: "secret:" + name})
		}
	}
	if len(items) > 0 {
		o.Event(timeline.Event{Action: timeline.Hold, Subject: who, Span: span, Items: items})
	}
	if runner := v.get("runner_name").text(); runner != "" && string(v.get("is_hosted_runner").raw()) == "false" {
		o.LinkOver(span, timeline.On, who.String(), timeline.Subject{Kind: timeline.Host, ID: runner}.String())
	}
	return evidence.Done
}

// End has nothing to do: each entry stands alone.
func (*githubAudit) End(timeline.OpState, *evidence.Out) {}
