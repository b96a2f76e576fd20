package circleci

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"pulltrail/ingest/collect"
	"pulltrail/timeline"
)

// job is a job of a workflow.
type job struct {
	Number  int64      `json:"job_number"`
	Type    string     `json:"type"`
	Status  string     `json:"status"`
	Started *time.Time `json:"started_at"`
	Stopped *time.Time `json:"stopped_at"`
}

// record is what is kept of a job with its steps: not its parameters, and not
// what the addresses of outputs are signed with.
//
// https://circleci.com/docs/api/v1/index.html#single-job
type record struct {
	Number    int64   `json:"build_num"`
	VCS       string  `json:"vcs_type"`
	Owner     string  `json:"username"`
	Repo      string  `json:"reponame"`
	Lifecycle string  `json:"lifecycle"`
	Status    string  `json:"status"`
	Start     *string `json:"start_time"`
	Stop      *string `json:"stop_time"`
	Steps     []step  `json:"steps"`
}

type step struct {
	Name    string   `json:"name"`
	Actions []action `json:"actions"`
}

// action is what a step did in one container.
type action struct {
	Name      string     `json:"name"`
	Step      int        `json:"step"`
	Index     int        `json:"index"`
	Command   *string    `json:"bash_command"`
	Start     *time.Time `json:"start_time"`
	End       *time.Time `json:"end_time"`
	HasOutput bool       `json:"has_output"`
	Truncated bool       `json:"truncated"`
	OutputURL string     `json:"output_url,omitempty"`
}

// key names an action among those of its job.
func (a *action) key() string { return fmt.Sprintf("output-%d-%d", a.Step, a.Index) }

// work is a job on its way.
type work struct {
	c       *collector
	project string
	number  int64
	want    collect.Want // what all requests for it have
	ended   bool
	lost    bool              // its machine was, and with it what it printed last
	signed  map[string]string // where outputs are, as the last answer of the service said
}

// take collects a job that ran, unless that is over before the window.
func (c *collector) take(project string, j job) {
	if j.Number <= 0 || j.Type != "build" || j.Started == nil || j.Stopped != nil && j.Stopped.Before(c.from) {
		return
	}
	if !c.first(fmt.Sprintf("%s %d", project, j.Number)) {
		return
	}
	w := &work{c: c, project: project, number: j.Number, ended: j.Stopped != nil && c.s.Settled(*j.Stopped)}
	w.lost = j.Status == "infrastructure_fail" || j.Status == "terminated-unknown"
	w.want.Claim = timeline.Subject{Kind: timeline.Job, ID: fmt.Sprintf("%s/jobs/%d", store(project).ID, j.Number)}
	w.want.Span = timeline.Span{From: j.Started.UnixNano(), To: timeline.Forever, Clock: timeline.Section}
	w.want.Detail = fmt.Sprintf("job %d of %s", j.Number, project)
	if w.ended {
		w.want.Version = j.Status + " " + j.Stopped.UTC().Format(time.RFC3339)
		w.want.Span.To = j.Stopped.UnixNano()
	} else {
		c.unfinished.Add(1)
	}
	c.jobs.Add(1)
	c.pool.Add(w.collect)
}

// ask gets the record of the job, and remembers where its outputs are.
func (w *work) ask(ctx context.Context, fresh bool) (a *collect.Answer, r *record, err error) {
	want := w.want
	want.Kind, want.Again, want.About, want.Claim = "job", fresh, want.Claim, timeline.Subject{}
	want.Keep = func(body []byte) ([]byte, error) {
		var in record
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, err
		}
		w.signed = map[string]string{}
		for i := range in.Steps {
			for k := range in.Steps[i].Actions {
				a := &in.Steps[i].Actions[k]
				if a.OutputURL != "" {
					w.signed[a.key()], a.HasOutput, a.OutputURL = a.OutputURL, true, ""
				}
			}
		}
		return json.Marshal(in)
	}
	r = &record{}
	a, ok, err := w.c.s.Get(ctx, fmt.Sprintf("/v1.1/project/%s/%d", w.project, w.number), nil, want, r)
	if !ok || err != nil {
		return nil, nil, err
	}
	return a, r, nil
}

// collect gets the record of a job and what its steps printed. With all of that
// the record stands for the whole job.
func (w *work) collect(ctx context.Context) error {
	a, r, err := w.ask(ctx, false)
	if a == nil {
		return err
	}
	whole, outputs := w.ended && !w.lost, 0
	for i := range r.Steps {
		for k := range r.Steps[i].Actions {
			action := &r.Steps[i].Actions[k]
			if !action.HasOutput {
				continue
			}
			outputs++
			had, err := w.output(ctx, a, r.Steps[i].Name, action)
			if err != nil {
				return err
			}
			whole = whole && had
		}
	}
	want := w.want
	switch {
	case w.ended && outputs == 0: // the environment that is made for a job prints always
		want.Kind, want.Detail = "outputs", want.Detail+": its record has no step that printed anything"
		return w.c.s.Gone(a.URL+"#outputs", want)
	case !whole:
		return nil
	}
	want.Kind, want.Name, want.Reading = "outputs", "job.json", timeline.Entire
	return w.c.s.Also(a, a.URL+"#outputs", want)
}

// output gets what a step printed, from an address that the service signed.
func (w *work) output(ctx context.Context, a *collect.Answer, name string, action *action) (had bool, err error) {
	want := w.want
	want.Kind, want.Name, want.Reading, want.JSON, want.Most = "output", "output.json", timeline.Whole, true, maxOutput
	want.Detail += " (step “" + name + "”)"
	url := a.URL + "#" + action.key()
	known, err := w.c.s.Has(url, want)
	if err != nil {
		return false, err
	}
	if !known && w.signed == nil { // the record came from the ledger, and its addresses are not kept
		if again, _, err := w.ask(ctx, true); again == nil {
			return false, err
		}
	}
	signed := w.signed[action.key()]
	if !known && signed == "" {
		want.Detail += ": the service does not say any more where its output is"
		return false, w.c.s.Gone(url, want)
	}
	got, err := w.c.s.Signed(ctx, url, signed, want)
	if err != nil {
		return false, err
	}
	return got.Reply == timeline.Obtained, nil
}

// maxOutput bounds the output of one step, which is held to see that it is whole.
const maxOutput = 32 << 20
