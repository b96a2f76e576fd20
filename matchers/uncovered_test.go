package matchers

import "testing"

func TestPiecesOfRotatedLogs(t *testing.T) {
	for name, want := range map[string][2]string{
		"/var/log/syslog":           {"syslog.1 (or .1.gz)", ""},
		"logs.tgz!var/log/syslog.1": {"syslog.2", "syslog"},
		"syslog.2.gz":               {"syslog.3.gz", "syslog.1.gz"},
		"access.log.10.gz":          {"access.log.11.gz", "access.log.9.gz"},
		"access.log-20261021.gz":    {"access.log of the day before 20261021", "access.log of the day after 20261021"},
		"messages":                  {"messages.1 (or .1.gz)", ""},
		"dist-info.tgz":             {"", ""},
		"":                          {"", ""},
	} {
		if before, after := pieces(name); before != want[0] || after != want[1] {
			t.Errorf("%s: before it %q, after it %q", name, before, after)
		}
	}
}

func TestWhereLogsAre(t *testing.T) {
	for id, want := range map[string]string{
		"github:acme/api/runs/812/attempts/2/jobs/build": "gh api repos/acme/api/actions/runs/812/attempts/2/logs > run.zip, then 'pulltrail ingest run.zip --subject job:github:acme/api/runs/812/attempts/2' (its job build)",
		"github:acme/api/runs/812":                       "gh api repos/acme/api/actions/runs/812/attempts/1/logs > run.zip, then 'pulltrail ingest run.zip --subject job:github:acme/api/runs/812'",
		"gitlab:group/sub/project/jobs/991":              "GET /api/v4/projects/group%2Fsub%2Fproject/jobs/991/trace, then 'pulltrail ingest FILE --subject job:gitlab:group/sub/project/jobs/991'",
		"buildkite:acme/api/builds/27/jobs/0190":         "GET /v2/organizations/acme/pipelines/api/builds/27/jobs/0190/log, then 'pulltrail ingest FILE --subject job:buildkite:acme/api/builds/27/jobs/0190'",
		"circleci:acme/api/jobs/812":                     "GET /api/v1.1/project/gh/acme/api/812 and what each output_url of it gives, then 'pulltrail ingest FILE --subject job:circleci:acme/api/jobs/812'",
		"jenkins:ci.acme.example/api/a%2Fb/7":            "GET https://ci.acme.example/job/api/job/a%252Fb/7/consoleText, then 'pulltrail ingest FILE --subject job:jenkins:ci.acme.example/api/a%2Fb/7'",
		"jenkins:ci.acme.example/team/api/812":           "GET https://ci.acme.example/job/team/job/api/812/consoleText, then 'pulltrail ingest FILE --subject job:jenkins:ci.acme.example/team/api/812'",
		"jenkins:x/1":                                    "from its CI server, then 'pulltrail ingest FILE --subject job:jenkins:x/1'",
	} {
		if got := logPath(id); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", id, got, want)
		}
	}
}
