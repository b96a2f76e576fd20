package matchers

import (
	"cmp"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"pulltrail/timeline"
)

// Reasons of gaps of a channel, each with its own way to be closed.
const (
	reasonMissing  = "missing"       // nothing was read of it
	reasonUnstated = "uncovered"     // evidence of it was read, and nothing says what time that covers
	reasonOther    = "other-channel" // what was read of it speaks of other channels alone
	reasonLate     = "starts-late"
	reasonEarly    = "ends-early"
	reasonHole     = "hole"
	reasonRotated  = "rotated" // a piece of a rotated log was read, and the one before or after it is missing
	reasonDisputed = "contradicted"
	reasonUnseen   = "unseen" // commands ran that do not say what they fetched
)

// lack is the gap of a channel that is not covered for a subject.
func (c *covers) lack(a *about, ch *asked, why string, open []Hole) Gap {
	s, channel := a.subject, ch.name
	g := Gap{Subject: s.String(), Channel: channel, Reason: reasonUnstated, Detail: why}
	rows, spoken := speaking(a, ch)
	switch {
	case why != "" && why == c.mute(a, ch):
		g.Reason = reasonUnseen
		g.Fix = "find out what came: the lock file at that commit, a list of what is installed; where that is nothing listed, 'pulltrail state " +
			SubjectWord + " no-" + c.wordOf(channel) + " --by NAME'"
	case len(rows) > 0 && len(open) > 0:
		var piece string
		g.Reason, piece = c.where(rows, open, ch.from, ch.to)
		g.Detail = why + "; not seen: " + spansText(open)
		g.Fix = c.fetch(s, channel)
		if piece != "" {
			g.Fix = "ingest the piece " + piece + "; or " + g.Fix
		}
	case len(spoken) > 0:
		g.Reason = reasonOther
		g.Detail = "what was read of it speaks of " + strings.Join(spoken, ", ") + " alone"
		g.Fix = c.fetch(s, channel)
	case !c.m.people.named(s) && len(a.rows) == 0 && (s.Kind == timeline.Host || s.Kind == timeline.Job):
		g.Reason = reasonMissing
		g.Fix = c.fetch(s, channel)
	default:
		g.Fix = c.fetch(s, channel)
	}
	if alike := c.m.alike[s.ID]; s.Kind == timeline.Host && len(alike) > 0 {
		g.Detail += "; it may be the same machine as host:" + strings.Join(alike, ", host:")
		g.Fix += "; " + sayWhich(s.ID, alike[0])
	}
	return g
}

// speaking lists the rows that speak of a channel for a subject, and the topics
// of the others.
func speaking(a *about, ch *asked) (rows []timeline.CoverageRow, others []string) {
	for _, r := range a.rows {
		switch {
		case ch.topics[r.Topic]:
			rows = append(rows, r)
		case !slices.Contains(others, string(r.Topic)):
			others = append(others, string(r.Topic))
		}
	}
	slices.Sort(others)
	return rows, others
}

// where tells how what was read lies to the window, and which piece of a rotated
// log is missing, "" when nothing speaks of one.
func (c *covers) where(rows []timeline.CoverageRow, open []Hole, from, to int64) (reason, piece string) {
	first := slices.MinFunc(rows, func(a, b timeline.CoverageRow) int { return cmp.Compare(a.Span.From, b.Span.From) })
	last := slices.MaxFunc(rows, func(a, b timeline.CoverageRow) int { return cmp.Compare(a.Span.To, b.Span.To) })
	late, early := open[0].From == from && first.Span.From > from, open[len(open)-1].To == to && last.Span.To < to
	switch {
	case late:
		reason = reasonLate
		if before, after := pieces(c.m.source(first.Source).Path); before != "" {
			piece = "before it, " + before
			if after != "" {
				reason = reasonRotated
			}
		}
	case early:
		reason = reasonEarly
		if _, after := pieces(c.m.source(last.Source).Path); after != "" {
			reason, piece = reasonRotated, "after it, "+after
		}
	default:
		reason = reasonHole
	}
	return reason, piece
}

// rotated is the name of a piece of a log as logrotate and others call it:
// syslog.1, syslog.2.gz, access.log-20261021.gz.
// https://man7.org/linux/man-pages/man8/logrotate.8.html
var rotated = regexp.MustCompile(`^(.*?)(?:\.(\d{1,3})|-(20\d{6}))(\.gz|\.xz|\.zst|\.bz2)?$`)

// pieces names the pieces of a rotated log before and after one: of syslog.2
// those are syslog.3 and syslog.1. Of a log that is written now nothing comes
// after; of a piece that is called by its day neither name is known.
func pieces(name string) (before, after string) {
	name = path.Base(name[strings.LastIndexByte(name, '!')+1:])
	m := rotated.FindStringSubmatch(name)
	switch {
	case m == nil && (strings.HasSuffix(name, ".log") || strings.HasSuffix(name, "log") || name == "messages"):
		return name + ".1 (or .1.gz)", ""
	case m == nil:
		return "", ""
	case m[3] != "":
		return m[1] + " of the day before " + m[3], m[1] + " of the day after " + m[3]
	}
	n, _ := strconv.Atoi(m[2]) // three digits at most
	after = m[1]
	if n > 1 {
		after += "." + strconv.Itoa(n-1) + m[4]
	}
	return m[1] + "." + strconv.Itoa(n+1) + m[4], after
}

// spansText prints holes to the second.
func spansText(open []Hole) string {
	var parts []string
	for i, h := range open {
		if i == 3 {
			parts = append(parts, "and more")
			break
		}
		w := Window{From: h.From, To: h.To}
		parts = append(parts, windowText(&w))
	}
	return strings.Join(parts, ", ")
}

// fetch says what to bring to close the gap of a channel: the command, or the
// path of the API. What depends on the kind alone is made once.
func (c *covers) fetch(s timeline.Subject, channel string) string {
	switch s.Kind {
	case timeline.Host:
	case timeline.Job:
		return "fetch the whole log of the job, from its first line to its end mark: " + logPath(s.ID)
	case timeline.Image:
		return "ingest an SBOM or the layers of exactly this image's digest"
	case timeline.Container:
		return "ingest an SBOM or the layers of exactly its image's digest; what it fetched while it ran only its own log shows"
	case timeline.Client:
		return fetchOfClient(s.ID)
	case timeline.Source:
		return "ingest it again with --subject to say whose evidence it is"
	case timeline.Cache:
		return "find out what it fetched in the window"
	}
	if c.fetches == nil {
		c.fetches = map[string]string{}
	}
	text, ok := c.fetches[channel]
	if !ok {
		text = c.fetchOfHost(channel)
		c.fetches[channel] = text
	}
	return text
}

// fetchOfClient says what to bring of a client: an address, a user, or a tenant of
// a gateway.
func fetchOfClient(id string) string {
	if strings.HasPrefix(id, "tenant/") {
		return "a tenant has no log of its own: bring those of the gateway and the engines that answered it"
	}
	if _, err := netip.ParseAddr(id); err != nil {
		return "find out on which hosts it works, and ingest their evidence"
	}
	return "map the address to a host with 'pulltrail inventory', and ingest that host's evidence"
}

// wordOf is how a statement names a channel that a host does not have.
func (c *covers) wordOf(channel string) string {
	if c.m.q.topics[channel][timeline.Images] {
		return "docker"
	}
	return base(channel)
}

// SubjectWord stands for the gap's own subject in what closes it.
const SubjectWord = "SUBJECT"

// fetchOfHost says where a host keeps what speaks of a channel, and how to bring
// it in. With an hour on both sides of the window a quiet log is told from a cut
// one. One text serves all hosts.
func (c *covers) fetchOfHost(channel string) string {
	since, covers := "", ""
	if from, to, ok := c.m.q.union(channel); ok && from != timeline.Beginning && to != timeline.Forever {
		a, b := time.Unix(0, from).Add(-time.Hour).UTC(), time.Unix(0, to).Add(time.Hour).UTC().Truncate(time.Second)
		since = " --since '" + a.Format(time.DateTime) + " UTC' --until '" + b.Format(time.DateTime) + " UTC'"
		covers = " --covers " + a.Format(time.RFC3339) + "/" + b.Format(time.RFC3339)
	}
	bring := "bring its package manager's logs of the whole window"
	switch topics := c.m.q.topics[channel]; {
	case base(channel) == "hosted":
		bring = "a hosted model leaves nothing on a machine: bring what was kept of requests to it in the window, such as spend logs of the gateway"
	case topics[timeline.Images]:
		bring = "journalctl -u docker -u containerd -u crio -o short-iso-precise" + since + " > FILE"
	case topics[timeline.PyPI]:
		bring = "pip keeps no log: bring the *.dist-info of what is installed, deploy logs and shell histories of the window"
	case topics[timeline.NPM]:
		bring = "bring ~/.npm/_logs, lock files and the package.json files in node_modules"
	case topics[timeline.Extensions]:
		bring = "bring extensions.json and .obsolete of ~/.vscode/extensions (.vscode-server, .cursor, .windsurf, .vscode-oss) and the editor's logs of the window (sharedprocess.log, remoteagent.log, exthost.log)"
	case base(channel) == string(timeline.JenkinsPlugins):
		bring = "bring the answer of /pluginManager/api/json?depth=1 of the Jenkins, and its proxy's access log of the window"
	case topics["deb"]:
		bring = "bring /var/log/dpkg.log* and /var/log/apt/history.log*"
	case topics["rpm"]:
		bring = "bring /var/log/dnf.rpm.log* and what 'rpm -qa --last' prints"
	}
	return bring + ", then 'pulltrail ingest FILE --subject " + SubjectWord + covers + "'; or 'pulltrail state " + SubjectWord + " no-" + c.wordOf(channel) + " --by NAME'"
}

// logPath is where a job's log is had: the command or the path of the API.
// https://docs.github.com/en/rest/actions/workflow-runs
// https://docs.gitlab.com/api/jobs/
func logPath(id string) string {
	if rest, ok := strings.CutPrefix(id, "github:"); ok {
		if repo, run, ok := strings.Cut(rest, "/runs/"); ok {
			run, job, _ := strings.Cut(run, "/jobs/")
			if repo == "*" {
				repo = "OWNER/REPO"
			}
			text := "gh api repos/" + repo + "/actions/runs/" + run + "/logs > run.zip"
			if !strings.Contains(run, "/attempts/") {
				text = "gh api repos/" + repo + "/actions/runs/" + run + "/attempts/1/logs > run.zip"
			}
			text += ", then 'pulltrail ingest run.zip --subject job:github:" + repo + "/runs/" + run + "'"
			if job != "" {
				text += " (its job " + job + ")"
			}
			return text
		}
	}
	if rest, ok := strings.CutPrefix(id, "gitlab:"); ok {
		if project, job, ok := strings.Cut(rest, "/jobs/"); ok {
			return "GET /api/v4/projects/" + strings.ReplaceAll(project, "/", "%2F") + "/jobs/" + job + "/trace, then 'pulltrail ingest FILE --subject job:" + id + "'"
		}
	}
	return logElsewhere(id) + ", then 'pulltrail ingest FILE --subject job:" + id + "'"
}

// logElsewhere is where other services have a job's log.
// https://buildkite.com/docs/apis/rest-api/jobs
// https://circleci.com/docs/api/v1/index.html#single-job
func logElsewhere(id string) string {
	service, rest, _ := strings.Cut(id, ":")
	switch service {
	case "buildkite":
		org, build, ok := strings.Cut(rest, "/")
		pipeline, build, also := strings.Cut(build, "/builds/")
		if ok && also {
			return "GET /v2/organizations/" + org + "/pipelines/" + pipeline + "/builds/" + build + "/log"
		}
	case "circleci":
		if project, job, ok := strings.Cut(rest, "/jobs/"); ok {
			if strings.Count(project, "/") == 1 {
				project = "gh/" + project
			}
			return "GET /api/v1.1/project/" + project + "/" + job + " and what each output_url of it gives"
		}
	case "jenkins":
		// host/folder/job/812
		if words := strings.Split(rest, "/"); len(words) > 2 && strings.ContainsAny(words[0], ".:") {
			for i := range words[1:] {
				words[i+1] = url.PathEscape(words[i+1]) // a branch's name has %2F for a slash
			}
			return "GET https://" + words[0] + "/job/" + strings.Join(words[1:len(words)-1], "/job/") + "/" + words[len(words)-1] + "/consoleText"
		}
	}
	return "from its CI server"
}

// jobsPath is where the list of an attempt's jobs is had.
func jobsPath(id string) string {
	repo, run, ok := strings.Cut(strings.TrimPrefix(id, "github:"), "/runs/")
	if !ok {
		return "from its CI server"
	}
	number, _, _ := strings.Cut(run, "/")
	text := "gh api repos/" + repo + "/actions/runs/" + number + " > run.json; gh api --paginate repos/" + repo + "/actions/runs/" + number
	if _, attempt, ok := strings.Cut(run, "/attempts/"); ok {
		text += "/attempts/" + attempt
	}
	return text + "/jobs > jobs.json"
}

// answeredFor reports whether a channel is covered for a subject, with what a
// person stated of it.
func (c *covers) answeredFor(a *about, ch *asked) (bool, string, []Hole) {
	d, said := c.without(a.subject, ch.name)
	if !said {
		return c.channel(a, ch)
	}
	channel := ch.name
	if against := c.contradicts(a, channel, d); against != "" {
		_, why, open := c.channel(a, ch)
		c.gaps = append(c.gaps, Gap{
			Subject: a.subject.String(), Channel: channel, Reason: reasonDisputed, Detail: saying(d) + "; " + against + " shows otherwise",
			Fix: "find out which is true; --withdraw takes the statement back",
		})
		return false, why, open
	}
	if when := spanOf(d); !ch.windows || when.From <= ch.from && when.To >= ch.to {
		return true, saying(d), nil
	}
	row := timeline.CoverageRow{Coverage: timeline.Coverage{Subject: a.subject, Topic: timeline.Topic(base(channel)), Span: spanOf(d)}}
	a.rows = append(a.rows, row)
	covered, why, open := c.channel(a, ch)
	return covered, why + "; in part as " + saying(d), open
}
