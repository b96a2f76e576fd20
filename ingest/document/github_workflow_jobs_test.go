package document

import (
	"slices"
	"testing"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// held reads a workflow file for jobs that ran, and lists who held what.
func held(t *testing.T, text string, called map[string]*evidence.Doc, jobs ...string) (got []string, partial string) {
	t.Helper()
	claim := timeline.Subject{Kind: timeline.Job, ID: "github:acme/api/runs/8/attempts/1"}
	r := evidence.NewMachine(nil).NewReading("ci.yml", claim, timeline.Subject{}, evidence.Times{}, func(b *timeline.Batch) error {
		for _, e := range b.Events {
			got = append(got, e.Subject.ID[len(claim.ID)+len("/jobs/"):]+": "+e.Items[0].Artifact)
		}
		for _, l := range b.Links {
			got = append(got, l.From[len("job:"+claim.ID+"/jobs/"):]+": "+l.To)
		}
		return nil
	})
	d := &evidence.Doc{Head: evidence.Head{Name: "ci.yml"}, Data: []byte(text), Jobs: jobs, Called: called}
	if err := readGitHubWorkflow(d, &r.Out); err != nil {
		t.Fatal(err)
	}
	totals, err := r.Finish(timeline.Span{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	return got, totals.Partial
}

func TestWorkflowHolders(t *testing.T) {
	const deploy = `on:
  workflow_call:
jobs:
  push:
    runs-on: ubuntu-24.04
    steps:
      - run: push
        env: {KEY: "${{ secrets.DEPLOY_KEY }}"}
  notify:
    runs-on: ubuntu-24.04
    steps:
      - run: "echo ${{ secrets['SLACK'] }}"
`
	called := map[string]*evidence.Doc{".github/workflows/deploy.yml": {Head: evidence.Head{Path: "deploy.yml"}, Data: []byte(deploy)}}
	for _, c := range []struct {
		name, text string
		jobs       []string
		want       []string
		partial    string
	}{
		{
			"a matrix", "jobs:\n  test:\n    strategy: {matrix: {v: [1, 2]}}\n    steps: [{env: {A: '${{ secrets.ONE }}'}}]\n  tester:\n    steps: [{env: {A: '${{ secrets.TWO }}'}}]\n",
			[]string{"test (1)", "test (2)", "tester"},
			[]string{"test (1): secret:ONE", "test (2): secret:ONE", "tester: secret:TWO"},
			"",
		},
		{
			"a name with an expression", "jobs:\n  a:\n    name: build ${{ matrix.os }}\n    steps: [{run: '${{ secrets.A }}'}]\n  b:\n    name: build docs\n    steps: [{run: '${{ secrets.B }}'}]\n",
			[]string{"build linux", "build docs"},
			[]string{"build docs: secret:B", "build linux: secret:A"},
			"",
		},
		{
			"two that may be meant", "jobs:\n  a:\n    name: x ${{ a }}\n    steps: [{run: '${{ secrets.BOTH }} ${{ secrets.A }}'}]\n  b:\n    name: ${{ b }}\n    steps: [{run: '${{ secrets.BOTH }}'}]\n",
			[]string{"x 1"},
			[]string{"x 1: secret:BOTH"},
			`job "x 1" may be "a" or "b": what only one of them holds is left out`,
		},
		{"none", "jobs:\n  a: {steps: []}\n", []string{"b"}, nil, `job "b" is none of its jobs: which secrets it held is not known`},
		{
			"a called workflow gets what it is given", "jobs:\n  ship:\n    uses: ./.github/workflows/deploy.yml\n    secrets: {DEPLOY_KEY: '${{ secrets.PROD_KEY }}'}\n",
			[]string{"ship / push", "ship / notify"},
			[]string{"ship / notify: secret:PROD_KEY", "ship / push: secret:PROD_KEY"},
			"",
		},
		{
			"or everything", "jobs:\n  ship:\n    uses: ./.github/workflows/deploy.yml\n    secrets: inherit\n",
			[]string{"ship / push", "ship / notify"},
			[]string{"ship / notify: secret:SLACK", "ship / push: secret:DEPLOY_KEY"},
			"",
		},
		{
			"which is not here", "jobs:\n  ship:\n    uses: acme/shared/.github/workflows/x.yml@v1\n    secrets: inherit\n",
			[]string{"ship / push"},
			nil, `job "ship" hands every secret to acme/shared/.github/workflows/x.yml@v1, which is not here`,
		},
		{
			"tokens of clouds", "permissions: write-all\njobs:\n  a: {steps: []}\n  b: {permissions: {contents: read}, steps: []}\n  c: {permissions: {id-token: write}, environment: {name: production}, steps: []}\n",
			[]string{"a", "b", "c"},
			[]string{"a: secret:ACTIONS_ID_TOKEN_REQUEST_TOKEN", "c: environment:production", "c: secret:ACTIONS_ID_TOKEN_REQUEST_TOKEN"},
			"",
		},
		{
			"variables", "env: {DB_PASSWORD: example, MODE: fast}\njobs:\n  a: {env: {API_KEY: example, X: 1}, steps: []}\n",
			[]string{"a"},
			[]string{"a: secret:API_KEY", "a: secret:DB_PASSWORD"},
			"",
		},
	} {
		got, partial := held(t, c.text, called, c.jobs...)
		if !slices.Equal(got, c.want) || partial != c.partial {
			t.Errorf("%s: got %q (%s), want %q (%s)", c.name, got, partial, c.want, c.partial)
		}
	}
}
