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
	exitInterrupted = 130
)

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
}

// run is the whole program but for the process around it.
func run(ctx context.Context, args []string, in io.Reader, out, errw io.Writer) int {
	a := &app{in: in, out: out, err: errw, args: args}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(in)
	root.SetOut(out)
	root.SetErr(errw)
	return a.exit(ctx, root.ExecuteContext(ctx))
}

// exit is the one switch from error to exit code.
func (a *app) exit(ctx context.Context, err error) int {
	var code exitError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case ctx.Err() != nil:
		fmt.Fprintln(a.err, "pulltrail: interrupted; the same command again goes on where it stopped")
		return exitInterrupted
	case errors.Is(err, errUsage):
		fmt.Fprintln(a.err, "pulltrail: "+strings.TrimPrefix(err.Error(), "usage: "))
		return exitUsage
	}
	fmt.Fprintln(a.err, "pulltrail: "+err.Error())
	return exitFailure
}

func usage(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUsage, fmt.Sprintf(format, args...))
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "pulltrail",
		Short:         "Who pulled the compromised release? Answers from the logs you already have",
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version,
		Args:          cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return c.Help()
		},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage("%s: see '%s --help'", err, c.CommandPath())
	})
	dir := os.Getenv("PULLTRAIL_CASE")
	if dir == "" {
		dir = "./pulltrail-case"
	}
	root.PersistentFlags().StringVar(&a.caseDir, "case", dir, "directory of the case ($PULLTRAIL_CASE)")
	root.PersistentFlags().BoolVar(&a.json, "json", false, "print JSON")
	root.CompletionOptions.HiddenDefaultCmd = true
	for _, verb := range a.verbs() {
		if verb.Args == nil {
			verb.Args = cobra.NoArgs
		}
		root.AddCommand(verb)
	}
	return root
}

// verbs lists the verbs, in the order of the help.
func (a *app) verbs() []*cobra.Command {
	return []*cobra.Command{a.ingestCmd(), a.timelineCmd(), a.sqlCmd()}
}

// terminal reports whether w is a terminal that may get colour and progress.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}
