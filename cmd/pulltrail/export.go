package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pulltrail/reports"
	"pulltrail/timeline"
)

// exportNames lists the exports.
var exportNames = []string{"csv", "timesketch", "openvex"}

// exportOptions is what was asked of an export.
type exportOptions struct{ incident, output, asOf, author string }

func (a *app) exportCmd() *cobra.Command {
	var opt exportOptions
	c := &cobra.Command{
		Use:   "export NAME",
		Short: "Write the case for another tool: " + strings.Join(exportNames, ", "),
		Long: `Write the case for another tool:

  csv         every event, one row for each thing that it names
  timesketch  the events that have a time, for Timesketch; -o ending in .jsonl or
              .csv. Events inside the windows of --incident are tagged
  openvex     what is known of each subject as OpenVEX statements. -o FILE.json
              for all, -o DIR/ for a file for each service of the inventory; needs
              --as-of, for a statement says when it was made, and --author`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(exportNames, args[0]) {
				return usage("want the NAME of one export, of %s; got %q", strings.Join(exportNames, ", "), strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if opt.output == "" {
				return usage("export needs -o FILE ('-' for standard output)")
			}
			if args[0] == "openvex" {
				return a.exportVEX(opt)
			}
			return a.exportEvents(args[0], opt)
		},
	}
	c.Flags().StringVar(&opt.incident, "incident", "", "id, alias, FILE.yaml or purl with version (openvex: default the one matched last)")
	c.Flags().StringVarP(&opt.output, "output", "o", "", "file to write, of openvex also a directory; '-' for standard output")
	c.Flags().StringVar(&opt.asOf, "as-of", "", "time of the statements, RFC 3339 (or $SOURCE_DATE_EPOCH)")
	c.Flags().StringVar(&opt.author, "author", "", "who makes the statements: a name, or an address")
	return c
}

// exportEvents writes the events of the case.
func (a *app) exportEvents(name string, opt exportOptions) error {
	form := strings.TrimPrefix(filepath.Ext(opt.output), ".")
	if name == "timesketch" && form != "jsonl" && form != "csv" {
		if opt.output != "-" {
			return usage("-o %s: Timesketch reads .jsonl and .csv", opt.output)
		}
		form = "jsonl"
	}
	var windows []timeline.Span
	if opt.incident != "" {
		inc, err := a.incident(opt.incident)
		if err != nil {
			return err
		}
		for _, c := range inc.Channels {
			for _, w := range c.Windows {
				windows = append(windows, timeline.Span{From: w.From, To: w.To})
			}
		}
	}
	db, err := timeline.Open(a.caseDir)
	if err != nil {
		return err
	}
	defer db.Close()
	events := func(yield func(timeline.Fact) error) error { return db.Timeline(timeline.Filter{}, yield) }
	timeless := 0
	err = a.writeTo(opt.output, func(w io.Writer) (err error) {
		if name == "csv" {
			return reports.ExportCSV(w, events)
		}
		timeless, err = reports.Timesketch(w, form, events, windows)
		return err
	})
	if err == nil && timeless > 0 {
		fmt.Fprintf(a.err, "%d events have no time and are not in it: 'pulltrail export csv' has them\n", timeless)
	}
	return err
}

// exportVEX writes one document, or one for each service.
func (a *app) exportVEX(opt exportOptions) error {
	when, err := reports.AsOf(opt.asOf, os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return usage("%v", err)
	}
	if when == "" || opt.author == "" {
		return usage("openvex needs --as-of TIME and --author NAME: a statement says when it was made, and by whom")
	}
	db, res, err := a.ask(opt.incident)
	if err != nil {
		return err
	}
	db.Close()
	if !strings.HasSuffix(opt.output, string(filepath.Separator)) {
		return a.writeTo(opt.output, func(w io.Writer) error { return reports.OpenVEX(w, res, "", true, opt.author, when) })
	}
	if err := os.MkdirAll(opt.output, 0o700); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	for _, service := range reports.Services(res) {
		path := filepath.Join(opt.output, reports.VEXFile(service))
		if err := a.writeTo(path, func(w io.Writer) error { return reports.OpenVEX(w, res, service, false, opt.author, when) }); err != nil {
			return err
		}
	}
	return nil
}

// writeTo writes a file that is there whole or not at all; "-" is standard
// output.
func (a *app) writeTo(path string, write func(io.Writer) error) error {
	if path == "-" {
		return write(a.out)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".pulltrail-*")
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("write %s: there is no directory %s: make it first", path, filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(f.Name()) //nolint:errcheck // after the rename there is nothing
	if err := errors.Join(write(f), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	about := ""
	if a.asked != "" { // it may be that of the last question, which was not named
		about = ", of " + a.asked
	}
	fmt.Fprintf(a.err, "wrote %s\n", reports.Text(path+about))
	return nil
}
