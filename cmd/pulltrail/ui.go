package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"pulltrail/ingest"
	"pulltrail/ingest/evidence"
	"pulltrail/matchers"
	"pulltrail/reports"
)

// version is set by the build; it stands in every source that is read.
var version = "dev"

// Exit codes, the outside contract.
const (
	exitOK          = 0
	exitFailure     = 1
	exitUsage       = 2
	exitIncomplete  = 3
	exitMismatch    = 5
	exitExposed     = 10
	exitPossible    = 11
	exitOpen        = 12
	exitInterrupted = 130
)

// caseEnv names the directory of the case where --case does not.
const caseEnv = "PULLTRAIL_CASE"

// errUsage marks what the user has to say differently.
var errUsage = errors.New("usage")

// exitError carries an exit code that is no failure: the answer itself.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// app is what every verb shares.
type app struct {
	in       io.Reader
	out, err io.Writer
	caseDir  string
	json     bool
	args     []string // the command line, for the record
	asked    string   // id of the incident that was matched, "" before
}

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	a := &app{in: in, out: &output{Writer: out}, err: errw, args: args}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(a.out)
	root.SetErr(errw)
	return a.exit(ctx, root.ExecuteContext(ctx))
}

// output remembers that something could not be printed: an answer that nobody got
// is a failure, whatever it says.
type output struct {
	io.Writer
	failed error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	if o.failed == nil {
		o.failed = err
	}
	return n, err
}

// exit is the one switch from error to exit code.
func (a *app) exit(ctx context.Context, err error) int {
	var code exitError
	if out, ok := a.out.(*output); ok && out.failed != nil && (err == nil || errors.As(err, &code)) {
		err = out.failed
	}
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case ctx.Err() != nil:
		fmt.Fprintln(a.err, "pulltrail: interrupted; the same command again goes on where it stopped")
		return exitInterrupted
	case errors.Is(err, errUsage), errors.Is(err, ingest.ErrFormat), errors.Is(err, matchers.ErrUnknownIncident):
		fmt.Fprintln(a.err, "pulltrail: "+reports.Text(strings.TrimPrefix(err.Error(), "usage: ")))
		return exitUsage
	}
	a.complain(err)
	return exitFailure
}

// complain prints an error, each of several on a line of its own.
func (a *app) complain(err error) {
	if several, ok := err.(interface{ Unwrap() []error }); ok {
		var last error
		for _, e := range several.Unwrap() {
			if last == nil || e.Error() != last.Error() {
				a.complain(e)
			}
			last = e
		}
		return
	}
	fmt.Fprintln(a.err, "pulltrail: "+reports.Text(err.Error()))
}

// printJSON prints a value as one line.
func (a *app) printJSON(w io.Writer, v any) error {
	line, err := reports.JSON(v)
	if err != nil {
		return err
	}
	_, err = w.Write(line)
	return err
}

func usage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUsage, fmt.Sprintf(format, args...))
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "pulltrail",
		Short:         "Who pulled the compromised release? Answers from the logs you already have",
		Long:          rootHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version,
		Args:          unknownVerb,
		RunE: func(c *cobra.Command, _ []string) error {
			return c.Help()
		},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%s: see '%s --help'", err, c.CommandPath())
	})
	dir := os.Getenv(caseEnv)
	if dir == "" {
		dir = "./pulltrail-case"
	}
	root.PersistentFlags().StringVar(&a.caseDir, "case", dir, "directory of the case ($PULLTRAIL_CASE)")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON")
	root.SuggestionsMinimumDistance = 2
	cobra.EnableCommandSorting = false // they stand in the order of the work
	for _, g := range a.verbs() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, verb := range g.verbs {
			verb.Args = usageOf(verb.Args)
			verb.GroupID = g.title
			root.AddCommand(verb)
		}
		root.SetHelpCommandGroupID(g.title) // the last
		root.SetCompletionCommandGroupID(g.title)
	}
	a.completions(root)
	narrow(root)
	return root
}

// usageOf makes a wrong number of arguments a usage error; nil takes none.
func usageOf(args cobra.PositionalArgs) cobra.PositionalArgs {
	if args == nil {
		args = cobra.NoArgs
	}
	return func(c *cobra.Command, given []string) error {
		if err := args(c, given); errors.Is(err, errUsage) {
			return err
		} else if err != nil {
			return usage("%s: %v: see '%s --help'", c.CommandPath(), err, c.CommandPath())
		}
		return nil
	}
}

func unknownVerb(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if like := c.SuggestionsFor(args[0]); len(like) > 0 {
		return usage("unknown verb %q: did you mean '%s %s'?", args[0], c.CommandPath(), like[0])
	}
	return usage("unknown verb %q: see '%s --help'", args[0], c.CommandPath())
}

// verbGroup is some of the verbs, for the help.
type verbGroup struct {
	title string
	verbs []*cobra.Command
}

// verbs lists the verbs, in the order of the help.
func (a *app) verbs() []verbGroup {
	return []verbGroup{
		{"Evidence", []*cobra.Command{a.ingestCmd(), a.collectCmd(), a.inventoryCmd(), a.stateCmd()}},
		{"The answer", []*cobra.Command{a.matchCmd(), a.coverageCmd(), a.explainCmd(), a.diffCmd(), a.timelineCmd(), a.sqlCmd()}},
		{"What follows from it", []*cobra.Command{a.reportCmd(), a.rotateCmd(), a.dispositionCmd(), a.exportCmd(), a.verifyCmd()}},
		{"More", []*cobra.Command{a.demoCmd(), a.incidentsCmd(), a.formatsCmd(), a.canaryCmd()}},
	}
}

// maxCommand bounds the command line that is recorded with each source: a shell
// can make one of many thousand files.
const maxCommand = 1000

// commandLine is the command line for the record, secrets hidden.
func (a *app) commandLine() string {
	words := []string{"pulltrail"}
	for _, word := range a.args {
		words = append(words, queryless(word))
	}
	line := evidence.Redact(strings.Join(words, " "))
	if len(line) > maxCommand {
		line = fmt.Sprintf("%s… (%d bytes more)", strings.ToValidUTF8(line[:maxCommand], ""), len(line)-maxCommand)
	}
	return line
}

// terminal reports whether w is a terminal that may get colour and progress.
func terminal(w io.Writer) bool {
	if o, ok := w.(*output); ok {
		w = o.Writer
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}
