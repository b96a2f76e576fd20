package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"pulltrail/matchers"
	"pulltrail/reports"
	"pulltrail/timeline"
)

// reportCase asks the case what reports to customers are made of.
func (a *app) reportCase(opt reportOptions) (*reports.Case, error) {
	c := &reports.Case{Tenancy: &matchers.Tenancy{}, Phase: opt.phase}
	var err error
	if c.AsOf, err = reports.AsOf(opt.asOf, os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		return nil, usage("%v", err)
	}
	if !slices.Contains(reports.Phases, opt.phase) {
		return nil, usage("--phase %q: want one of %s", opt.phase, strings.Join(reports.Phases, ", "))
	}
	if opt.tenancy != "" {
		if c.Tenancy, err = matchers.LoadTenancy(opt.tenancy); err != nil {
			return nil, err
		}
	}
	db, res, err := a.ask(opt.incident)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	c.Result = res
	return c, a.fillCase(db, c)
}

// fillCase reads what stands beside the answer.
func (a *app) fillCase(db *timeline.DB, c *reports.Case) error {
	at, err := timeline.ParseTime(c.AsOf, 0)
	if err != nil {
		return err
	}
	if c.Rows, err = matchers.PlanRotation(db, c.Result, at); err != nil {
		return err
	}
	if c.Inventory, _, err = db.Inventory(); err != nil {
		return err
	}
	if c.Lists, err = db.Credentials(); err != nil {
		return err
	}
	if c.Settings, err = db.Settings(); err != nil {
		return err
	}
	if c.Canary, err = matchers.CanaryCells(db); err != nil {
		return err
	}
	if c.Traces, err = matchers.TraceUses(db); err != nil {
		return err
	}
	if c.Tenants, c.TenantsAt, err = db.Tenants(); err != nil {
		return err
	}
	if c.Decisions, err = db.Decisions(); err != nil {
		return err
	}
	err = db.FactsAbout([]string{"pypi", "image"}, func(p timeline.Parts) bool { return p.Name == "litellm" || strings.HasSuffix(p.Name, "/litellm") }, func(f *timeline.Fact) error {
		switch f.Action {
		case timeline.Present, timeline.Install, timeline.Run:
			c.Gateway = append(c.Gateway, *f)
		}
		return nil
	})
	if err != nil {
		return err
	}
	now := matchers.NewSide(c.Result)
	before, err := matchers.Previous(db, now)
	if errors.Is(err, matchers.ErrNoAnswer) {
		return nil
	}
	if err == nil {
		c.Changed, err = matchers.Compare(db, before, now)
	}
	return err
}

// reportQuestionnaire writes the questionnaire, of one customer or for all.
func (a *app) reportQuestionnaire(w io.Writer, form string, opt reportOptions) error {
	c, err := a.questionnaireCase(opt)
	if err != nil {
		return err
	}
	internal, err := reports.NewInternal(c)
	if err != nil {
		return err
	}
	return reports.QuestionnaireReport(w, form, c, opt.customer, internal)
}

// printLayers prints the table of the layers.
func (a *app) printLayers(opt reportOptions) error {
	c, err := a.questionnaireCase(opt)
	if err != nil {
		return err
	}
	return reports.LayersTable(a.out, c, opt.customer)
}

// questionnaireCase asks the case what a questionnaire is made of.
func (a *app) questionnaireCase(opt reportOptions) (*reports.Case, error) {
	c, err := a.reportCase(opt)
	if err != nil {
		return nil, err
	}
	if opt.customer != "" && !slices.Contains(c.Customers(), opt.customer) {
		return nil, usage("no customer %q: inventory, credential lists and tenancy.yaml know %s", opt.customer, cmp.Or(strings.Join(c.Customers(), ", "), "none"))
	}
	return c, nil
}

// reportCustomers writes a folder for each customer, or nothing when one of
// them would read what is not theirs.
func (a *app) reportCustomers(opt reportOptions) error {
	if opt.output == "" || opt.output == "-" {
		return usage("report customer needs -o DIR/: it writes a folder for each customer")
	}
	if form := filepath.Ext(opt.output); slices.Contains(reports.Forms(), strings.TrimPrefix(form, ".")) {
		return usage("-o %s: want a directory, such as %s/: it gets a folder for each customer, with all forms", opt.output, strings.TrimSuffix(opt.output, form))
	}
	c, err := a.reportCase(opt)
	if err != nil {
		return err
	}
	customers := c.Customers()
	if len(customers) == 0 {
		return usage("no customer is known: name them in the column 'customer' of the inventory, in credential lists or in tenancy.yaml")
	}
	internal, err := reports.NewInternal(c)
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	for _, name := range customers {
		for _, form := range reports.Forms() {
			var b bytes.Buffer
			if err := reports.CustomerReport(&b, form, c, name, internal); err != nil {
				return fmt.Errorf("customer %s: %w", name, err)
			}
			files[filepath.Join(opt.output, reports.CustomerFolder(name), "report."+form)] = b.Bytes()
		}
	}
	for path, data := range files {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return fmt.Errorf("write report: %w", err)
		}
	}
	fmt.Fprintf(a.err, "wrote %s in %s, of %s\n", count(len(customers), "customer"), reports.Text(opt.output), reports.Text(a.asked))
	return nil
}
