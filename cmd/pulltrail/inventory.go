package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"pulltrail/ingest"
	"pulltrail/matchers"
	"pulltrail/reports"
	"pulltrail/timeline"
)

func (a *app) inventoryCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "inventory FILE",
		Short: "Say which hosts there are, their addresses and channels",
		Long: `Read the inventory of the case from a CSV file ('-' for standard input); it
replaces the one before. The header is required:

  address,host,from,to,service,owner,customer,egress,channels
  10.20.9.5,edge05,,,gateway,platform,,,pypi dockerhub ghcr
  mirror,harbor.acme.example/hub,docker.io

One row for each address a host had; from and to in RFC 3339, empty when not
known. Hosts that share an address are behind NAT. channels are words apart by
blanks, all that the host has; a host whose channels are not stated is never
counted as whole. A mirror row says where images below a prefix come from.`,
		Args: wants("one FILE, or - for standard input", cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error { return a.inventory(args[0]) },
	}
}

func (a *app) inventory(path string) error {
	in := a.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("read inventory: %w: 'pulltrail inventory --help' shows what it holds", err)
		}
		defer f.Close()
		in = f
	}
	h := &hashed{r: in, h: sha256.New()}
	rows, mirrors, err := ingest.ReadInventory(path, h)
	if err == nil {
		_, err = io.Copy(io.Discard, h)
	}
	if err != nil {
		return err
	}
	db, err := timeline.Create(a.caseDir)
	if err != nil {
		return err
	}
	err = db.SetInventory(rows, mirrors, timeline.SourceInfo{
		SHA256: hex.EncodeToString(h.h.Sum(nil)), Bytes: h.n, Path: filepath.ToSlash(path), Parser: version, Command: a.commandLine(),
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	a.warnChannels(rows)
	return a.printInventory(a.out, rows, mirrors)
}

// warnChannels names words for channels that nobody knows: what a host does
// not have is only believed when all of its words are understood.
func (a *app) warnChannels(rows []timeline.InventoryRow) {
	for _, r := range rows {
		for _, word := range r.Channels {
			if matchers.KnownChannel(word) {
				continue
			}
			hint := "the channels of an incident are in 'pulltrail incidents show ID'"
			if near := matchers.NearChannel(word); near != "" {
				hint = fmt.Sprintf("did you mean %s?", near)
			}
			fmt.Fprintf(a.err, "%s:%d: %s: channel %q is in no built-in incident, so the channels of this host count as not stated; %s\n",
				reports.Text(r.File), r.Line, reports.Text(r.Host), reports.Text(word), hint)
		}
	}
}

// hashed hashes and counts what is read.
type hashed struct {
	r io.Reader
	h hash.Hash
	n int64
}

func (r *hashed) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	r.h.Write(p[:n])
	r.n += int64(n)
	return n, err
}

// printInventory prints what was read.
func (a *app) printInventory(out io.Writer, rows []timeline.InventoryRow, mirrors []timeline.Mirror) error {
	addresses, hosts, stated := map[string]bool{}, []string{}, map[string]bool{}
	for _, r := range rows {
		if _, seen := stated[r.Host]; !seen {
			hosts = append(hosts, r.Host)
		}
		stated[r.Host] = stated[r.Host] || len(r.Channels) > 0
		if r.Address != "" {
			addresses[r.Address] = true
		}
	}
	silent := []string{}
	for _, h := range hosts {
		if !stated[h] {
			silent = append(silent, h)
		}
	}
	if a.json {
		return a.printJSON(out, map[string]any{"hosts": len(hosts), "addresses": len(addresses), "mirrors": len(mirrors), "channels_not_stated": silent})
	}
	fmt.Fprintf(out, "%s, %s, %s\n", count(len(hosts), "host"), count(len(addresses), "address"), count(len(mirrors), "mirror"))
	if len(silent) > 0 {
		fmt.Fprintf(out, "channels not stated, so never counted as whole: %s\n", reports.Text(firstOf(silent, 10)))
	}
	return nil
}

// count prints a number with its word.
func count(n int, word string) string {
	switch {
	case n == 1:
		return "1 " + word
	case strings.HasSuffix(word, "s"):
		return fmt.Sprintf("%d %ses", n, word)
	case strings.HasSuffix(word, "y"):
		return fmt.Sprintf("%d %sies", n, strings.TrimSuffix(word, "y"))
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// firstOf lists the first words and says how many there are more.
func firstOf(words []string, most int) string {
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
}
