package reports

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"pulltrail/timeline"
)

// ManifestSchema is the version of the manifest. Fields may be added, never
// renamed.
const ManifestSchema = "pulltrail.manifest/1"

// Manifest lists what a case stands on: every source with its hash, and the
// head of the custody log in which it is recorded.
type Manifest struct {
	Schema  string        `json:"schema"`
	AsOf    string        `json:"as_of,omitempty"`
	Entries int           `json:"custody_entries"`
	Head    string        `json:"custody_head"` // SHA-256 of the last line of the log
	Members []Member      `json:"members"`      // of the bundle, but for the manifest itself
	Rows    []ManifestRow `json:"rows"`
}

// Member is a file of a bundle.
type Member struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
}

// ManifestRow is one source.
type ManifestRow struct {
	ID     string `json:"id"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Claim  string `json:"claim"`
	Format string `json:"format"` // the parser
	Parser string `json:"parser"` // version of the program
	State  string `json:"state"`
	Zone   string `json:"zone"`
	Covers string `json:"covers"`
	Skew   string `json:"skew"`
	Entry  int64  `json:"custody_entry"` // number of the entry that recorded it; 0: none did
}

// NewManifest makes the manifest of a case.
func NewManifest(sources []timeline.SourceRow, log *timeline.Custody, asOf string) *Manifest {
	m := &Manifest{Schema: ManifestSchema, AsOf: asOf, Entries: len(log.Entries), Head: log.Head, Members: []Member{}, Rows: []ManifestRow{}}
	for i := range sources {
		s := &sources[i]
		m.Rows = append(m.Rows, ManifestRow{
			ID: "row-" + strconv.Itoa(i+1), Path: s.Path, SHA256: s.SHA256, Bytes: s.Bytes, Claim: s.Claim, Format: s.Format, Parser: s.Parser,
			State: string(s.State), Zone: s.Zone, Covers: s.Covers, Skew: s.Skew, Entry: log.EntryOf(&s.SourceInfo),
		})
	}
	return m
}

// ManifestReport writes the manifest.
func ManifestReport(w io.Writer, form string, m *Manifest) error {
	r := report{name: "manifest", truth: m, page: m, funcs: words}
	table := [][]string{{"row", "path", "sha256", "bytes", "claim", "format", "parser", "state", "zone", "covers", "skew", "custody entry", "custody head"}}
	for i := range m.Rows {
		s := &m.Rows[i]
		r.ids = append(r.ids, s.ID)
		table = append(table, []string{
			s.ID, s.Path, s.SHA256, fmt.Sprint(s.Bytes), s.Claim, s.Format, s.Parser, s.State, s.Zone, s.Covers, s.Skew, fmt.Sprint(s.Entry), m.Head,
		})
	}
	r.table = slices.Values(table)
	return r.write(w, form)
}
