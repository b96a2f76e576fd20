package main

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pulltrail/matchers"
	"pulltrail/reports"
	"pulltrail/timeline"
)

// reportHelp is what --help says of the reports.
const reportHelp = `Write a report:

  responder   what to do first, verdicts with their evidence, the timeline, what
              could not be seen, how to reproduce
  rotation    what to do first, then each credential by name that was within
              reach: class, where held, who exposes it, owner, when a new value
              is safe, and how far its rotation has come. Never a value
  customer    a folder for each customer (-o DIR/): what happened, were you
              exposed, measures, what to do, how it is known, the fields of GDPR
              Art. 33(3). Of findings it says verdicts, numbers, windows and
              channels, of credentials the class; a report in which another
              customer or anything internal is named is not written
  questionnaire  the layers under an AI feature (inference engine and KV cache,
              gateway and key store, trace store): who operates each, who shares
              it, its version or configuration, each as stated or with the date of
              the evidence (engines, tenants, settings, SDKs and contacts of trace
              stores), what to confirm, what to tell the customer; subprocessors,
              those too that only the evidence shows, and a paragraph for the
              agreement. For all, or for one --customer. Without -o it prints the
              table of the layers
  manifest    every source with its hash, claim, parser, and the entry of the
              custody log that recorded it. -o FILE.zip packs it with the log, the
              findings and reports (--add FILE): 'pulltrail verify FILE.zip' checks
              that without the case

The ending of the file chooses the form: .html is one page that needs nothing
else, .md Markdown, .csv a table in UTF-8 (in Excel: Data, From Text/CSV), .json
the data that the others are made of, as --schema describes it; match --json
writes that of responder.
The same case gives the same bytes: there is no clock in a report but --as-of
($SOURCE_DATE_EPOCH).

What only people know stands in tenancy.yaml. Only schema and company.name are
required; what nobody answers is "not confirmed", and what is past its review_by
at --as-of (else on the day on which evidence was read last) is shown as stale:

  schema: pulltrail.tenancy/1
  company: {name: Acme AI, contact: privacy@acme.example, dpo: dpo@acme.example}
  nature: what happened, as you put it
  consequences: what may follow
  measures: [{day: 2026-10-22, what: the library was pinned}]
  advice: [what a customer should do]
  layers:                    # layer: inference, gateway or traces
    - layer: traces
      operator: a vendor
      shared: all customers
      partition: one project per customer
      version: "2026.9"
      told: section 4 of the terms
      region: eu-central-1
      retention: 30 days
      vendors: [Tracebox]
      confirm: [who can read a trace]
      as_of: 2026-09-30
      review_by: 2026-12-31
  customers:                 # layers: only what differs for this one
    - {name: initech, contact: sec@initech.example, region: eu-central-1,
       data: [names], persons: "about 1,200", records: "about 4,000", layers: []}
  subprocessors:
    - {name: Tracebox, purpose: traces, region: eu-central-1, data: prompts,
       since: 2025-01-01, review_by: 2026-12-31}
  dpa: {version: "3", signed: 2025-05-05, paragraph: your own, for the draft}`

func (a *app) reportCmd() *cobra.Command {
	var opt reportOptions
	c := &cobra.Command{
		Use:   "report NAME",
		Short: "Write " + strings.Join(reports.Names(), ", "),
		Long:  reportHelp,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(reports.Names(), args[0]) {
				return usage("want the NAME of one report, of %s; got %q", strings.Join(reports.Names(), ", "), strings.Join(args, " "))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if opt.schema {
				return a.printSchema(args[0])
			}
			return a.report(args[0], opt)
		},
	}
	c.Flags().StringVar(&opt.incident, "incident", "", incidentHelp)
	c.Flags().StringVarP(&opt.output, "output", "o", "", "file to write, of customer a directory; '-' for standard output")
	c.Flags().StringVar(&opt.asOf, "as-of", "", "time to print as the report's own, RFC 3339")
	c.Flags().StringVar(&opt.tenancy, "tenancy", "", "tenancy.yaml: what only people know (customer, questionnaire)")
	c.Flags().StringVar(&opt.customer, "customer", "", "whom a questionnaire is for; without it, it names no customer")
	c.Flags().StringArrayVar(&opt.add, "add", nil, "file to put into the bundle of report manifest -o FILE.zip, such as a report; again for more")
	c.Flags().BoolVar(&opt.schema, "schema", false, "print the JSON Schema of the report's JSON")
	c.Flags().StringVar(&opt.phase, "phase", reports.Phases[0], "of the report to customers: "+strings.Join(reports.Phases, ", "))
	return c
}

// reportOptions is what was asked of a report.
type reportOptions struct {
	incident, output, asOf, tenancy, phase, customer string

	add    []string // files to put into a bundle
	schema bool     // print what its JSON looks like
}

// printSchema prints the JSON Schema of a report, or of diff.
func (a *app) printSchema(name string) error {
	s, err := reports.JSONSchema(name)
	if err != nil {
		return err
	}
	_, err = a.out.Write(s)
	return err
}

func (a *app) report(name string, opt reportOptions) error {
	defer spareMemory(answerMemory)()
	if name == "customer" {
		return a.reportCustomers(opt)
	}
	if name == "manifest" && strings.HasSuffix(opt.output, ".zip") {
		return a.reportBundle(opt)
	}
	if len(opt.add) > 0 {
		return usage("--add is for report manifest -o FILE.zip")
	}
	output := opt.output
	switch {
	case output == "" && a.json:
		output = "-"
	case output == "" && name == "questionnaire":
		return a.printLayers(opt)
	}
	if output == "" {
		return usage("report needs -o FILE, such as -o %s.md", name)
	}
	form := strings.TrimPrefix(filepath.Ext(output), ".")
	if output == "-" {
		form = "md"
		if a.json {
			form = "json"
		}
	}
	if !slices.Contains(reports.Forms(), form) {
		return usage("-o %s: want an ending of %s", output, strings.Join(reports.Forms(), ", "))
	}
	return a.writeTo(output, func(w io.Writer) error { return a.renderReport(w, name, form, opt) })
}

// renderReport writes a report once it is whole and was checked.
func (a *app) renderReport(w io.Writer, name, form string, opt reportOptions) error {
	switch name {
	case "questionnaire":
		return a.reportQuestionnaire(w, form, opt)
	case "manifest":
		return a.reportManifest(w, form, opt)
	}
	return a.writeReport(w, name, form, opt)
}

// writeReport asks the case and writes what a report says.
func (a *app) writeReport(w io.Writer, name, form string, opt reportOptions) error {
	asOf, err := reports.AsOf(opt.asOf, os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return usage("%v", err)
	}
	db, res, err := a.ask(opt.incident)
	if err != nil {
		return err
	}
	defer db.Close()
	if name == "responder" {
		return reports.Responder(w, form, res, asOf)
	}
	at, err := timeline.ParseTime(asOf, 0)
	if err != nil {
		return err
	}
	rows, err := matchers.PlanRotation(db, res, at)
	if err != nil {
		return err
	}
	return reports.RotationReport(w, form, res, rows, asOf)
}

// lastFile names, in the case, the incident that was matched last, so that
// explain and report need not be told again.
const lastFile = "last-incident"

// question is the incident to ask: what was named, else the one matched last.
func (a *app) question(named string) (string, error) {
	if named != "" {
		return named, nil
	}
	b, err := os.ReadFile(filepath.Join(a.caseDir, lastFile))
	if err != nil || len(b) == 0 {
		return "", usage("name the question with --incident, or run 'pulltrail match INCIDENT' first")
	}
	return string(b), nil
}

// remember notes what was asked. A case that cannot be written is no reason to
// refuse an answer.
func (a *app) remember(incident string, inc *matchers.Incident) {
	if strings.HasSuffix(incident, ".yaml") {
		if abs, err := filepath.Abs(incident); err == nil {
			incident = abs
		}
	} else if !strings.Contains(incident, "@") {
		incident = inc.ID
	}
	_ = os.WriteFile(filepath.Join(a.caseDir, lastFile), []byte(incident), 0o600)
}
