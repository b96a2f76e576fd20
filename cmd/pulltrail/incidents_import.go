package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pulltrail/matchers"
	"pulltrail/reports"
)

func (a *app) importCmd() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "import PATH...",
		Short: "Make draft incidents of OSV records: files, folders, zip archives",
		Long: `Make a draft incident of each OSV record (https://ossf.github.io/osv-schema/), such
as the MAL records of malicious packages: FILE.json, a folder of them, or a zip
archive. Each becomes ID.yaml in the directory of -o, and no file is overwritten.

A record does not say when a release was served, so the windows of a draft are
open: 'pulltrail match ID.yaml' answers at once, and whatever asked for a listed
package at any time is possible. Read the file, fill in what stands under
unknown, and match again; 'pulltrail diff' says what that changed.`,
		Args: wants("PATH...: OSV records, folders or zip archives of them", cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return a.importIncidents(c, args, dir) },
	}
	c.Flags().StringVarP(&dir, "output", "o", ".", "directory of the drafts")
	return c
}

// imported counts what became of the records.
type imported struct{ written, same, withdrawn, refused int }

func (a *app) importIncidents(c *cobra.Command, paths []string, dir string) error {
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return usage("-o %s: want a directory that exists", dir)
	}
	var n imported
	var errs []error
	for _, path := range paths {
		errs = append(errs, matchers.ReadOSV(path, func(name string, data []byte, err error) bool {
			var d *matchers.Draft
			if err == nil {
				d, err = matchers.DraftOSV(data)
			}
			if err == nil {
				err = a.writeDraft(dir, d, &n)
			}
			if errors.Is(err, matchers.ErrWithdrawn) {
				n.withdrawn++
			} else if err != nil {
				n.refused++
			}
			if err != nil {
				a.complain(fmt.Errorf("%s: %w", name, err))
			}
			return c.Context().Err() == nil
		}))
	}
	fmt.Fprintf(a.err, "%d written, %d were there already, %d withdrawn, %d refused\n", n.written, n.same, n.withdrawn, n.refused)
	if n.refused > 0 {
		errs = append(errs, fmt.Errorf("%s refused", count(n.refused, "record")))
	}
	return errors.Join(errs...)
}

// writeDraft writes a new file, and leaves one that is there as it is.
func (a *app) writeDraft(dir string, d *matchers.Draft, n *imported) error {
	path := filepath.Join(dir, d.Incident.ID+".yaml")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		old, err := os.ReadFile(path)
		if err == nil && bytes.Equal(old, d.YAML) {
			n.same++
			return nil
		}
		return fmt.Errorf("%s is there already and says something else: move it, or name another directory with -o", path)
	}
	if err == nil {
		_, err = f.Write(d.YAML)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("write draft: %w", err)
	}
	n.written++
	if a.json {
		return a.printJSON(a.out, map[string]any{
			"file": path, "id": d.Incident.ID, "title": d.Incident.Title, "revision": d.Incident.Revision,
			"complete": d.Incident.Complete, "unknown": d.Incident.Unknown,
		})
	}
	fmt.Fprintf(a.out, "%s: %s; every window is open\n", reports.Text(path), reports.Text(named(d.Incident)))
	return nil
}

// named says what an incident lists.
func named(inc *matchers.Incident) string {
	var words []string
	for _, p := range inc.Packages {
		words = append(words, fmt.Sprintf("%s of %s", count(len(p.Versions), "entry"), p.PURL))
	}
	for _, action := range inc.Actions {
		words = append(words, "the action "+action.Repository)
	}
	return strings.ReplaceAll(firstOf(words, 3), "1 entry of", "1 version of")
}
