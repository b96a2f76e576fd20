package document

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// GitHubRun is what the API says of workflow runs: one run, or a list.
// https://docs.github.com/en/rest/actions/workflow-runs
var GitHubRun = evidence.Format{
	Name:   "github-run",
	Shape:  evidence.DocumentShape,
	Title:  "GitHub API: workflow runs",
	Proves: "that a run was made, when, and how many attempts it had: each must have a log",
	Cannot: "which jobs an attempt had, and what they did",
	Doc:    "https://docs.github.com/en/rest/actions/workflow-runs",
	Sample: "written by hand after the documentation",
	Claim:  claimGitHubRun,
	Read:   func(d *evidence.Doc, o *evidence.Out) error { return readGitHub(d, 0, o) },
}

// GitHubJobs is what the API says of the jobs of a run: one job, or a list.
// https://docs.github.com/en/rest/actions/workflow-jobs
var GitHubJobs = evidence.Format{
	Name:   "github-jobs",
	Shape:  evidence.DocumentShape,
	Title:  "GitHub API: jobs of a workflow run",
	Proves: "that a job ran, when, and on which self-hosted runner: it must have a log",
	Cannot: "what the job did",
	Doc:    "https://docs.github.com/en/rest/actions/workflow-jobs",
	Sample: "written by hand after the documentation",
	Claim:  claimGitHubJobs,
	Read:   func(d *evidence.Doc, o *evidence.Out) error { return readGitHub(d, 0, o) },
}

// claimGitHubRun wants the keys that only a run has.
func claimGitHubRun(h *evidence.Head) bool { return isGitHubRun(h.Bytes) }

func isGitHubRun(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return false
	}
	return hasKey(head, "workflow_runs") || hasKey(head, "workflow_id") && hasKey(head, "run_number") && hasKey(head, "run_attempt")
}

// claimGitHubJobs wants the keys that only a job of a run has.
func claimGitHubJobs(h *evidence.Head) bool { return isGitHubJobs(h.Bytes) }

func isGitHubJobs(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if len(head) == 0 || head[0] != '{' && head[0] != '[' || hasKey(head, "workflow_runs") || hasKey(head, "workflow_id") {
		return false
	}
	if hasKey(head, "total_count") && hasKey(head, "jobs") {
		return hasKey(head, "run_id") || bytes.Contains(bytes.Join(bytes.Fields(head), nil), []byte(`"jobs":[]`))
	}
	return hasKey(head, "run_id") && hasKey(head, "steps") && hasKey(head, "started_at")
}

// hasKey reports whether a key of that name stands in JSON text.
func hasKey(text []byte, key string) bool {
	quoted := []byte(`"` + key + `"`)
	for {
		i := bytes.Index(text, quoted)
		if i < 0 {
			return false
		}
		text = text[i+len(quoted):]
		if rest := bytes.TrimLeft(text, " \t\r\n"); len(rest) > 0 && rest[0] == ':' {
			return true
		}
	}
}

// githubRecord is a run or a job; the fields of both.
type githubRecord struct {
	ID           int64        `json:"id"`
	RunID        int64        `json:"run_id"` // of jobs
	Name         string       `json:"name"`
	Attempt      int          `json:"run_attempt"`
	Status       string       `json:"status"`
	Conclusion   string       `json:"conclusion"`
	CreatedAt    string       `json:"created_at"`
	RunStartedAt string       `json:"run_started_at"`
	UpdatedAt    string       `json:"updated_at"`
	StartedAt    string       `json:"started_at"`
	CompletedAt  string       `json:"completed_at"`
	URL          string       `json:"url"`
	HTMLURL      string       `json:"html_url"`
	RunURL       string       `json:"run_url"`
	Runner       string       `json:"runner_name"`
	Labels       []string     `json:"labels"`
	Steps        []githubStep `json:"steps"`
	Repository   struct {
		FullName string `json:"full_name"`
	} `json:"repository"`
}

// githubStep is a step of a job.
type githubStep struct {
	Number      int    `json:"number"`
	Name        string `json:"name"`
	Status      string `json:"status"`
	Conclusion  string `json:"conclusion"`
	StartedAt   string `json:"started_at"`
	CompletedAt string `json:"completed_at"`
}

// githubAnswer reads the answers in one document: pages may follow each other.
type githubAnswer struct {
	d      *evidence.Doc
	o      *evidence.Out
	total  int64 // what the API says that there are
	listed int64
	runs   map[string]bool // runs whose earlier attempts are expected
}

// readGitHub reads the answer that stands from byte base of d on.
func readGitHub(d *evidence.Doc, base int64, o *evidence.Out) error {
	a := &githubAnswer{d: d, o: o, runs: map[string]bool{}}
	if err := a.values(d.Data[base:], base); err != nil {
		return fmt.Errorf("not the JSON of the GitHub API: %w", err)
	}
	o.Seen("")
	if a.total > a.listed && !d.Page {
		o.Cut(fmt.Sprintf("it lists %d of %d: fetch all pages and ingest them as one file", a.listed, a.total))
	}
	return nil
}

// values reads JSON values that follow each other.
func (a *githubAnswer) values(data []byte, base int64) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	for {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		if err := a.value(raw, base+dec.InputOffset()-int64(len(raw))); err != nil {
			return err
		}
	}
}

// value reads a list of records, a page of one, or a record.
func (a *githubAnswer) value(raw json.RawMessage, off int64) error {
	if len(raw) > 0 && raw[0] == '[' {
		return a.array(raw, off)
	}
	var page struct {
		Total int64           `json:"total_count"`
		Runs  json.RawMessage `json:"workflow_runs"`
		Jobs  json.RawMessage `json:"jobs"`
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return err
	}
	key, list := `"jobs"`, page.Jobs
	if page.Runs != nil {
		key, list = `"workflow_runs"`, page.Runs
	}
	if len(list) > 0 && list[0] == '[' {
		a.total = max(a.total, page.Total)
		at := max(bytes.Index(raw, []byte(key)), 0)
		at += max(bytes.IndexByte(raw[at:], '['), 0)
		return a.array(list, off+int64(at))
	}
	return a.record(raw, off)
}

// array reads the elements of a list.
func (a *githubAnswer) array(list json.RawMessage, off int64) error {
	dec := json.NewDecoder(bytes.NewReader(list))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		if err := a.value(raw, off+dec.InputOffset()-int64(len(raw))); err != nil {
			return err
		}
	}
	return nil
}

func (a *githubAnswer) record(raw json.RawMessage, off int64) error {
	a.listed++
	a.o.SetLine(a.d.LineAt(off), off, raw[:min(len(raw), 400)])
	var r githubRecord
	if err := json.Unmarshal(raw, &r); err != nil {
		a.o.Skip("a record that is none of the GitHub API: " + err.Error())
		return nil
	}
	switch {
	case r.ID == 0:
		a.o.Skip("neither a run nor a job: it has no id")
	case r.RunID != 0:
		a.job(&r)
	default:
		a.run(&r)
	}
	return nil
}

// maxAttempts bounds what a broken record can make us expect.
const maxAttempts = 1000

// run expects the logs of each attempt of a run.
func (a *githubAnswer) run(r *githubRecord) {
	a.o.Seen("")
	switch r.Conclusion {
	case "skipped", "startup_failure", "action_required":
		return // no job began
	}
	id := "github:" + repository(r) + "/runs/" + strconv.FormatInt(r.ID, 10) + "/attempts/"
	last := max(1, min(r.Attempt, maxAttempts))
	for k := 1; k <= last; k++ {
		span := between(cmp.Or(r.RunStartedAt, r.CreatedAt), r.UpdatedAt, r.Status)
		detail, reason := fmt.Sprintf("attempt %d of %d of run %d", k, last, r.ID), ""
		switch {
		case k < last:
			span = between(r.CreatedAt, r.RunStartedAt, "completed")
		case r.Status != "" && r.Status != "completed":
			detail, reason = detail+" was "+r.Status+" when the record was made, and may have had more jobs and lines since", timeline.Unfinished
		}
		a.o.Expect(timeline.Expected{Subject: timeline.Subject{Kind: timeline.Job, ID: id + strconv.Itoa(k)}, Span: span, Detail: detail, Reason: reason})
	}
}

// job expects the log of a job, and the attempts before it.
func (a *githubAnswer) job(r *githubRecord) {
	a.o.Seen("")
	if r.Name == "" {
		a.o.Skip("a job without a name")
		return
	}
	last := max(1, min(r.Attempt, maxAttempts))
	run := "github:" + repository(r) + "/runs/" + strconv.FormatInt(r.RunID, 10) + "/attempts/"
	for k := 1; k < last && !a.runs[run]; k++ {
		a.o.Expect(timeline.Expected{
			Subject: timeline.Subject{Kind: timeline.Job, ID: run + strconv.Itoa(k)},
			Span:    between("", r.StartedAt, "completed"), Detail: fmt.Sprintf("attempt %d of run %d came before attempt %d", k, r.RunID, last),
		})
	}
	a.runs[run] = true
	if r.Conclusion == "skipped" || r.Conclusion == "cancelled" && r.Runner == "" && len(r.Steps) == 0 {
		return // it never began, and has no log
	}
	job := timeline.Subject{Kind: timeline.Job, ID: run + strconv.Itoa(last) + "/jobs/" + r.Name}
	span := between(r.StartedAt, r.CompletedAt, r.Status)
	a.o.Expect(timeline.Expected{
		Subject: job, Span: span,
		Detail: fmt.Sprintf("job %d of run %d", r.ID, r.RunID),
	})
	for _, step := range r.Steps {
		at := between(step.StartedAt, step.CompletedAt, step.Status)
		if step.Conclusion == "success" && printsHead(step.Name) && at.From != timeline.Beginning && at.To != timeline.Forever {
			a.o.Cover(timeline.Coverage{Subject: job, Topic: timeline.StepRan, Span: at, Why: fmt.Sprintf("step %d “%s”", step.Number, evidence.Excerpt([]byte(step.Name)))})
		}
	}
	if r.Runner != "" && slices.Contains(r.Labels, "self-hosted") {
		a.o.LinkOver(span, timeline.On, job.String(), timeline.Subject{Kind: timeline.Host, ID: r.Runner}.String())
	}
}

// printsHead reports whether a step of this name is one of the workflow: they
// begin with "##[group]Run …" in the log. The runner's own do not, and those
// that were skipped or cancelled print nothing.
//
//	Set up job   Initialize containers   Build acme/lint@v1   Post Run actions/checkout@v4   Complete job
func printsHead(name string) bool {
	switch name {
	case "", "Set up job", "Complete job", "Initialize containers", "Stop containers", "Set up runner", "Complete runner":
		return false
	}
	for _, own := range []string{"Post ", "Pre "} {
		if strings.HasPrefix(name, own) {
			return false
		}
	}
	image := strings.HasPrefix(name, "Build ") || strings.HasPrefix(name, "Pull ")
	return !image || !strings.ContainsAny(name, "@/:")
}

// repository is owner/name; "*" when the record does not say, and then the
// run's id must do.
func repository(r *githubRecord) string {
	if r.Repository.FullName != "" {
		return r.Repository.FullName
	}
	for _, u := range []string{r.RunURL, r.HTMLURL, r.URL} {
		// https://host/owner/name/actions/runs/1, …/repos/owner/name/actions/jobs/1
		before, _, ok := strings.Cut(u, "/actions/")
		words := strings.Split(before, "/")
		if n := len(words); ok && n >= 5 && words[n-1] != "" && words[n-2] != "" {
			return words[n-2] + "/" + words[n-1]
		}
	}
	return "*"
}

// between is the span from one time to another; ends that are not known are
// open, and so is that of what has not ended.
func between(from, to, status string) timeline.Span {
	s := timeline.Always()
	var t evidence.Times
	if a := evidence.ISOStamp([]byte(from), &t); a.Clock == timeline.Exact {
		s.From, s.Clock = a.From, timeline.Section
	}
	if b := evidence.ISOStamp([]byte(to), &t); b.Clock == timeline.Exact && status == "completed" && b.To >= s.From {
		s.To, s.Clock = b.To, timeline.Section
	}
	return s
}
