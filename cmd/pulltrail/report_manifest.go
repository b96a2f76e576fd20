package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"pulltrail/reports"
	"pulltrail/timeline"
)

// manifest makes the manifest of the case, with the bytes of its custody log. A
// log whose chain does not hold gives none.
func (a *app) manifest(db *timeline.DB, opt reportOptions) (*reports.Manifest, []byte, error) {
	asOf, err := reports.AsOf(opt.asOf, os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return nil, nil, usage("%v", err)
	}
	sources, err := db.Sources()
	if err != nil {
		return nil, nil, err
	}
	log, err := timeline.CustodyLog(a.caseDir)
	if err != nil {
		return nil, nil, err
	}
	custody, err := timeline.ParseCustody(log)
	if err != nil {
		return nil, nil, err
	}
	if custody.Bad != nil || custody.Torn > 0 {
		return nil, nil, errors.New("the custody log does not hold: 'pulltrail verify' says where")
	}
	return reports.NewManifest(sources, custody, asOf), log, nil
}

func (a *app) reportManifest(w io.Writer, form string, opt reportOptions) error {
	db, err := timeline.Open(a.caseDir)
	if err != nil {
		return err
	}
	defer db.Close()
	m, _, err := a.manifest(db, opt)
	if err != nil {
		return err
	}
	return reports.ManifestReport(w, form, m)
}

// reportBundle writes the bundle.
func (a *app) reportBundle(opt reportOptions) error {
	var others []reports.File
	for _, path := range opt.add {
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("--add: %w", err)
		}
		others = append(others, reports.File{Name: "reports/" + filepath.Base(path), Data: data})
	}
	db, res, err := a.ask(opt.incident)
	if err != nil {
		return err
	}
	defer db.Close()
	m, log, err := a.manifest(db, opt)
	if err != nil {
		return err
	}
	doc, err := reports.NewDocument(res)
	if err != nil {
		return err
	}
	doc.AsOf = m.AsOf
	sum := ""
	if err := a.writeTo(opt.output, func(w io.Writer) (err error) {
		sum, err = reports.WriteBundle(w, m, log, doc, others)
		return err
	}); err != nil {
		return err
	}
	fmt.Fprintf(a.err, "SHA-256 of its manifest, to be told another way: %s\n", sum)
	return nil
}

// verifyBundle checks a bundle, and files of evidence against it, without a
// case.
func (a *app) verifyBundle(path string, evidence []string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("read bundle: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read bundle: %w", err)
	}
	b, err := reports.VerifyBundle(f, st.Size())
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, name := range evidence {
		if err := checkEvidence(b, name); err != nil {
			return err
		}
	}
	if !a.json {
		fmt.Fprintf(a.out, "manifest: SHA-256 %s\n", b.Sum)
	}
	return a.verified(b.Verification)
}

func checkEvidence(b *reports.Bundle, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("read evidence: %w", err)
	}
	defer f.Close()
	return b.Evidence(name, f)
}
