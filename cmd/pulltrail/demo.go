package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pulltrail/reports"
	"pulltrail/testdata/demo"
)

func (a *app) demoCmd() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "demo",
		Short: "Do the whole job on built-in evidence, offline",
		Long: `Do the whole job on the evidence of a made-up company, offline: write it to DIR,
read it into a case there, ask who pulled LiteLLM 1.107.0, and write the report;
then ask what lies under its AI feature: engine cache, gateway keys, trace store.
Each command is printed before it runs. Running it again starts anew.`,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.demo(c.Context(), dir)
		},
	}
	c.Flags().StringVar(&dir, "dir", "./pulltrail-demo", "where to write the evidence and the case")
	return c
}

// demoCases are the cases that the steps of the demo make.
var demoCases = []string{"pulltrail-case", "complete.case", "layers.case"}

func (a *app) demo(ctx context.Context, dir string) error {
	self, err := program()
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "incident", "steps.txt")); err == nil { // an earlier demo
		for _, c := range demoCases {
			if err := os.RemoveAll(filepath.Join(dir, c)); err != nil {
				return fmt.Errorf("demo: %w", err)
			}
		}
	}
	if err := demo.Write(dir); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	back, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	if err := os.Chdir(dir); err != nil {
		return fmt.Errorf("demo: %w", err)
	}
	defer os.Chdir(back)                           //nolint:errcheck // the process ends
	if err := os.Setenv(caseEnv, ""); err != nil { // the steps make cases of their own
		return fmt.Errorf("demo: %w", err)
	}
	fmt.Fprintf(a.out, "The evidence of Acme, a made-up company, 20 to 22 October 2026, is in %s.\nWho pulled LiteLLM 1.107.0?\n\n$ cd %[1]s\n", reports.Text(dir))
	steps, err := demo.Steps("incident")
	if err != nil {
		return err
	}
	for _, step := range steps {
		if err := a.demoStep(ctx, step, step[0] == "ingest"); err != nil {
			return err
		}
	}
	if err := a.demoLayers(ctx); err != nil {
		return err
	}
	code, err := a.demoComplete(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, `
The report is %s. In the other half of the evidence nothing is missing, and nothing came:
'pulltrail match litellm-1.107.0 --case complete.case' ends with exit code %d.

What to type next:
  cd %s%s
  pulltrail explain prod-3                    every line behind a verdict
  pulltrail explain prod-7                    why a moving tag is clear here
  pulltrail coverage litellm-1.107.0          what was not seen, and how to close it
  pulltrail rotate status                     how far each credential has come
  pulltrail match pkg:pypi/lite-llm@1.107.0   a question of your own
  pulltrail explain gpu-1 --case layers.case  why an engine is exposed
`, reports.Text(filepath.Join(dir, "responder.md")), code, reports.Text(dir), self)
	return nil
}

// demoStep prints a command and runs it. What a command says is its exit code
// too: only a failure or wrong usage ends the demo. Of many files read, those
// that were not read whole are named, and how many there are in all.
func (a *app) demoStep(ctx context.Context, args []string, short bool) error {
	fmt.Fprintf(a.out, "$ pulltrail %s\n", strings.Join(args, " "))
	out := a.out
	var b bytes.Buffer
	if short {
		out = &b
	}
	code := run(ctx, args, strings.NewReader(""), out, a.err)
	if short {
		several := strings.Count(b.String(), "\n") > 1
		for line := range strings.Lines(b.String()) {
			if !several || !strings.HasPrefix(line, "read ") && !strings.Contains(line, " name no host or job: ") {
				fmt.Fprint(a.out, line)
			}
		}
	}
	switch code {
	case exitOK, exitIncomplete, exitExposed, exitPossible:
		return nil
	}
	return fmt.Errorf("demo: 'pulltrail %s' ended with exit code %d", strings.Join(args, " "), code)
}

// demoLayers asks what lies under the AI feature.
func (a *app) demoLayers(ctx context.Context) error {
	steps, err := demo.Steps("layers")
	if err != nil {
		return err
	}
	fmt.Fprint(a.out, "\nA week later, a customer asks: your AI feature shares a cache, a key store and a trace store.\nWho else is in them?\n\n")
	for _, step := range steps {
		if err := a.demoStep(ctx, step, step[0] == "ingest"); err != nil {
			return err
		}
	}
	return nil
}

// demoComplete does the other half without a word and returns the exit code of
// its answer.
func (a *app) demoComplete(ctx context.Context) (code int, err error) {
	steps, err := demo.Steps("complete")
	if err != nil {
		return 0, err
	}
	for _, args := range steps {
		var out bytes.Buffer
		if code = run(ctx, args, strings.NewReader(""), &out, a.err); code != exitOK {
			return code, fmt.Errorf("demo: 'pulltrail %s' ended with exit code %d:\n%s", strings.Join(args, " "), code, out.String())
		}
	}
	return code, nil
}

// program tells how to call this program from another folder, when it is not
// found by its name.
func program() (string, error) {
	if !strings.ContainsRune(os.Args[0], filepath.Separator) {
		return "", nil
	}
	self, err := filepath.Abs(os.Args[0])
	if err != nil {
		return "", fmt.Errorf("demo: %w", err)
	}
	return fmt.Sprintf("; alias pulltrail=%s", reports.Text(self)), nil
}
