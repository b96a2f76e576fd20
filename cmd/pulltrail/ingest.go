package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	_ "time/tzdata" // --zone works on machines without a zone database

	"github.com/spf13/cobra"

	"pulltrail/ingest"
	"pulltrail/ingest/evidence"
	"pulltrail/reports"
	"pulltrail/timeline"
)

func (a *app) ingestCmd() *cobra.Command {
	var subject, zone, covers, format string
	var skews []string
	var keep bool
	c := &cobra.Command{
		Use:   "ingest PATH...",
		Short: "Read evidence into the case: files, folders, archives, objects",
		Long: `Read evidence into the case: files, folders, archives, '-' for standard input, and

  s3://BUCKET/KEY         credentials, region, endpoint as the AWS tools find them
  gs://BUCKET/KEY         'gcloud auth application-default login',
                          GOOGLE_APPLICATION_CREDENTIALS
  azblob://CONTAINER/KEY  AZURE_STORAGE_ACCOUNT and _KEY or _SAS_TOKEN or
                          'az login'; or AZURE_STORAGE_CONNECTION_STRING
  https://HOST/PATH       no credentials; the address may be signed

A KEY that ends in / is all below it, one that ends in * all that begins so. Each
object is kept in the case as it came, with its address, without a query, in the
custody log; what has not changed is not fetched again. What is absent, denied or
expired, and a list that breaks off, is a gap that 'match' and 'coverage' know.

Exit code 0: everything was read; 3: something is partial or unread, or could not
be had; 1: failure, what was read before it stays.`,
		Args: wants("PATH...: files, folders, archives, addresses of objects, or - for standard input", cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			opt := ingest.Options{Format: format, Keep: keep, Parser: version, Command: a.commandLine(), Stdin: &stdin{ctx: c.Context(), r: a.in}}
			var err error
			if subject != "" {
				if opt.Subject, err = timeline.ParseSubject(subject); err != nil {
					return usage("--subject: %v", err)
				}
			}
			if zone != "" {
				if opt.Zone, err = time.LoadLocation(zone); err != nil || zone == "Local" {
					return usage("--zone %q: want an IANA name such as Europe/Berlin or UTC", zone)
				}
			}
			if covers != "" {
				if opt.Covers, err = timeline.ParseSpan(covers); err != nil || !strings.Contains(covers, "/") {
					return usage("--covers %q: want FROM/TO in RFC 3339, such as 2026-10-21T00:00:00Z/2026-10-22T00:00:00Z", covers)
				}
			}
			for _, text := range skews {
				if opt.Skew == nil {
					opt.Skew = evidence.Skew{}
				}
				if err := opt.Skew.ParseSkew(text); err != nil {
					return usage("--skew %v", err)
				}
			}
			return a.ingest(c, args, opt)
		},
	}
	c.Flags().StringVar(&subject, "subject", "", "KIND:ID of inputs that name none; it gets a verdict even if nothing is found")
	c.Flags().StringVar(&zone, "zone", "", "IANA zone of times without one")
	c.Flags().StringVar(&covers, "covers", "", "FROM/TO that the input covers, as you state; bounds every inexact time in it")
	c.Flags().StringSliceVar(&skews, "skew", nil, "HOST=+90s: the clock of HOST is so far ahead of the true time (-90s: behind); taken off its times")
	c.Flags().StringVar(&format, "format", "", "read as this format ('pulltrail formats' lists them)")
	c.Flags().BoolVar(&keep, "keep", false, "keep the bytes of each file in the case, as they are and whatever they hold")
	return c
}

func (a *app) ingest(c *cobra.Command, paths []string, opt ingest.Options) error {
	paths, stores, err := addresses(paths)
	if err != nil {
		return err
	}
	db, err := timeline.Create(a.caseDir)
	if err != nil {
		return err
	}
	if err := db.Starts(opt.Command); err != nil {
		return errors.Join(err, db.Close())
	}
	p := a.newProgress()
	if p != nil {
		opt.Progress = p.show
	}
	defer spareMemory(ingestMemory)()
	res, err := ingest.Run(c.Context(), db, paths, opt)
	p.clear()
	var refused []timeline.Inquiry
	if err == nil && len(stores) > 0 {
		var more ingest.Result
		more, refused, err = a.fetched(c.Context(), db, stores, opt)
		p.clear()
		res.Files = append(res.Files, more.Files...)
	}
	if c.Context().Err() == nil { // a failure is told; who was interrupted may never see that much is missing
		db.Ended(opt.Command)
	}
	// What was read is said when it is written for good.
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err := errors.Join(a.printFiles(res.Files), a.printRefused(refused)); err != nil {
		return err
	}
	if !a.json && len(res.Files)+len(refused) > 1 {
		fmt.Fprint(a.out, inAll(res.Files, len(refused), c.Name() == "ingest"))
	}
	switch {
	case len(res.Files) > 0 || len(refused) > 0:
	case len(stores) > 0:
		fmt.Fprintln(a.err, "pulltrail: the store holds nothing by that name")
	default:
		fmt.Fprintln(a.err, "pulltrail: no file is in "+reports.Text(strings.Join(paths, ", "))+": links are not followed, name what they point to")
	}
	if len(res.Files) == 0 || !res.Complete() || len(refused) > 0 {
		return exitError(exitIncomplete)
	}
	return nil
}

// printFiles says what became of each file.
func (a *app) printFiles(files []ingest.File) error {
	fresh := map[string]string{} // by the bytes
	for _, f := range files {
		if f.Changed && f.SHA256 != "" {
			fresh[f.SHA256] = f.Path
		}
	}
	for _, f := range files {
		if !a.json {
			fmt.Fprintf(a.out, "%-8s %-24s %6d %-6s  %s\n", f.State, f.Format, f.Events, events(f.Events), reports.Text(f.Path+because(f, fresh[f.SHA256])))
			continue
		}
		if err := a.printJSON(a.out, map[string]any{
			"path": f.Path, "sha256": f.SHA256, "format": f.Format, "state": f.State,
			"why": f.Why, "events": f.Events, "skipped": f.Skipped, "changed": f.Changed,
		}); err != nil {
			return err
		}
	}
	return nil
}

// inAll says in a line how many files were read and how many objects could not be
// had, and what to do about these and, where they should have subjects, about those
// that say not whose they are.
func inAll(files []ingest.File, refused int, subjects bool) string {
	states := map[timeline.State]int{}
	var found int64
	nameless := 0
	for _, f := range files {
		states[f.State]++
		found += f.Events
		if f.Claim == f.Path && !f.Explicit && f.Events > 0 {
			nameless++
		}
	}
	text := count(len(files), "file") + ":"
	for _, state := range []timeline.State{timeline.Read, timeline.Partial, timeline.Unread} {
		if n := states[state]; n > 0 {
			text += fmt.Sprintf(" %d %s,", n, state)
		}
	}
	text = strings.TrimSuffix(text, ",")
	if refused > 0 {
		text += fmt.Sprintf("; %d not had", refused)
	}
	text += fmt.Sprintf("; %d %s\n", found, events(found))
	if states[timeline.Read] < len(files) || refused > 0 {
		text += "'pulltrail coverage INCIDENT' says what to do about what was not read whole\n"
	}
	if subjects && nameless > 0 {
		text += fmt.Sprintf("%d name no host or job: read them again with --subject KIND:ID, they then stand under its name, not under their path\n", nameless)
	}
	return text
}

func events(n int64) string {
	if n == 1 {
		return "event"
	}
	return "events"
}

// stdin is standard input that an interrupt ends: a read that waits for a
// terminal or a pipe cannot be called off, but it can be left behind.
type stdin struct {
	ctx context.Context
	r   io.Reader
	buf [64 << 10]byte
}

// Read must not be called again after an error.
func (s *stdin) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := s.r.Read(s.buf[:min(len(p), len(s.buf))])
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, s.buf[:r.n]), r.err
	case <-s.ctx.Done():
		return 0, s.ctx.Err()
	}
}

// because says why a file is not read whole, and why it changed nothing. same is
// the path of a file of this run that has the same bytes.
func because(f ingest.File, same string) string {
	s := ""
	if f.Why != "" {
		s = ": " + f.Why
	}
	switch {
	case f.Changed:
	case same != "":
		s += " (the same bytes as " + same + ")"
	default:
		s += " (was in the timeline already)"
	}
	return s
}
