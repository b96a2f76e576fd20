package reports

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"pulltrail/timeline"
)

// Members that every bundle has.
const (
	manifestMember = "manifest.json"
	custodyMember  = "custody.jsonl"
	findingsMember = "findings.json"
)

// Bounds of a bundle that comes from elsewhere.
const (
	maxMember  = 1 << 30
	maxMembers = 10_000
)

// File is a file that goes into a bundle.
type File struct {
	Name string
	Data []byte
}

// WriteBundle writes manifest, custody log, findings and other files as a zip
// that 'pulltrail verify' checks without the case. The same input gives the same
// bytes. It returns the SHA-256 of the manifest.
func WriteBundle(w io.Writer, m *Manifest, log []byte, findings *Document, others []File) (sum string, err error) {
	var b bytes.Buffer
	if err := WriteJSON(&b, findings); err != nil {
		return "", err
	}
	files := append([]File{{custodyMember, log}, {findingsMember, b.Bytes()}}, others...)
	for i, f := range files {
		if f.Name == manifestMember || slices.ContainsFunc(files[:i], func(o File) bool { return o.Name == f.Name }) {
			return "", fmt.Errorf("two files of the bundle are called %s", f.Name)
		}
		m.Members = append(m.Members, Member{f.Name, hashOf(f.Data), int64(len(f.Data))})
	}
	var first bytes.Buffer
	if err := ManifestReport(&first, "json", m); err != nil {
		return "", err
	}
	z := zip.NewWriter(w)
	for _, f := range append([]File{{manifestMember, first.Bytes()}}, files...) {
		out, err := z.CreateHeader(&zip.FileHeader{Name: f.Name, Method: zip.Deflate}) // without a time: there is no clock in it
		if err == nil {
			_, err = out.Write(f.Data)
		}
		if err != nil {
			return "", err
		}
	}
	return hashOf(first.Bytes()), z.Close()
}

// hashOf is the SHA-256 of bytes, 64 hex.
func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Bundle is a bundle that was checked.
type Bundle struct {
	*timeline.Verification
	Sum string // SHA-256 of its manifest

	files map[string][]byte
	m     Manifest
}

// VerifyBundle checks a bundle by itself: the hash of each member, the chain of
// the custody log, its head, and that every source of manifest and findings is
// recorded in it. An error means that it is no bundle.
func VerifyBundle(r io.ReaderAt, size int64) (*Bundle, error) {
	b := &Bundle{files: map[string][]byte{}, Verification: &timeline.Verification{Custody: &timeline.Custody{}}}
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("no bundle: %w; 'pulltrail report manifest -o FILE.zip' writes one", err)
	}
	if err := b.read(z); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(b.files[manifestMember], &b.m); err != nil || b.m.Schema != ManifestSchema {
		return nil, fmt.Errorf("no bundle: it holds no %s of the schema %s", manifestMember, ManifestSchema)
	}
	b.Sum = hashOf(b.files[manifestMember])
	b.members()
	b.chain()
	b.sources()
	b.findings()
	return b, nil
}

// read unpacks the members, in bounds.
func (b *Bundle) read(z *zip.Reader) error {
	if len(z.File) > maxMembers {
		return fmt.Errorf("no bundle: %d members", len(z.File))
	}
	left := int64(maxMember)
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			return fmt.Errorf("read bundle: %s: %w", f.Name, err)
		}
		data, err := io.ReadAll(io.LimitReader(in, left+1))
		in.Close()
		if left -= int64(len(data)); left < 0 {
			return errors.New("no bundle: larger than 1 GiB")
		}
		if _, twice := b.files[f.Name]; twice {
			b.bad("member", f.Name, "twice", "two members have the name")
			continue
		}
		if err != nil {
			b.bad("member", f.Name, "broken", err.Error())
		}
		b.files[f.Name] = data
	}
	return nil
}

func (b *Bundle) bad(what, name, state, detail string) {
	b.Checks = append(b.Checks, timeline.Checked{What: what, Outcome: timeline.Mismatch, State: state, Path: name, Detail: detail})
}

func (b *Bundle) good(what, name, state string) {
	b.Checks = append(b.Checks, timeline.Checked{What: what, Outcome: timeline.Good, State: state, Path: name})
}

func (b *Bundle) members() {
	listed := map[string]bool{manifestMember: true}
	for _, m := range b.m.Members {
		listed[m.Name] = true
		data, there := b.files[m.Name]
		switch {
		case !there:
			b.bad("member", m.Name, "missing", "the manifest lists it")
		case hashOf(data) != m.SHA256 || int64(len(data)) != m.Bytes:
			b.bad("member", m.Name, "changed", "its SHA-256 is not the one that the manifest lists")
		default:
			b.good("member", m.Name, "same")
		}
	}
	var more []string
	for name := range b.files {
		if !listed[name] {
			more = append(more, name)
		}
	}
	slices.Sort(more)
	for _, name := range more {
		b.bad("member", name, "added", "the manifest does not list it")
	}
	for _, name := range []string{custodyMember, findingsMember} {
		if !listed[name] {
			b.bad("member", name, "not listed", "every manifest lists it")
		}
	}
}

func (b *Bundle) chain() {
	c, err := timeline.ParseCustody(b.files[custodyMember])
	if err != nil {
		b.bad("log", custodyMember, "broken", err.Error())
		return
	}
	b.Custody = c
	switch {
	case c.Bad != nil:
		b.bad("log", custodyMember, "broken", fmt.Sprintf("entry %d: %s", c.Bad.N, c.Bad.Why))
	case c.Torn > 0:
		b.bad("log", custodyMember, "cut", fmt.Sprintf("its last line, %d bytes, has no end", c.Torn))
	case c.Head != b.m.Head || len(c.Entries) != b.m.Entries:
		b.bad("log", custodyMember, "another head", fmt.Sprintf("after entry %d its head is not the one that the manifest names", len(c.Entries)))
	default:
		b.good("log", custodyMember, "whole")
	}
}

// sources asks whether the log records each source of the manifest as it is.
func (b *Bundle) sources() {
	for i := range b.m.Rows {
		s := &b.m.Rows[i]
		info := timeline.SourceInfo{SHA256: s.SHA256, Claim: s.Claim, Path: s.Path}
		n := b.Custody.EntryOf(&info)
		if n == 0 || n != s.Entry {
			b.bad("source", s.Path, "not recorded", fmt.Sprintf("row %s: entry %d of the custody log does not record it so", s.ID, s.Entry))
			continue
		}
		b.good("source", s.Path, "recorded")
	}
}

// findings asks whether the findings stand on sources of the manifest alone.
func (b *Bundle) findings() {
	var d Document
	if err := json.Unmarshal(b.files[findingsMember], &d); err != nil {
		b.bad("findings", findingsMember, "broken", "it is no document of findings")
		return
	}
	known := map[string]bool{}
	for i := range b.m.Rows {
		known[b.m.Rows[i].SHA256] = true
	}
	for i := range d.Findings {
		for _, e := range d.Findings[i].Evidence {
			if e.Source != "" && !known[e.Source] {
				b.bad("findings", d.Findings[i].ID, "no source", e.Path+" stands in no row of the manifest")
			}
		}
	}
}

// Evidence looks for a file of evidence among the sources, by its hash.
func (b *Bundle) Evidence(path string, in io.Reader) error {
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return fmt.Errorf("read evidence %s: %w", path, err)
	}
	sum := hex.EncodeToString(h.Sum(nil))
	if slices.ContainsFunc(b.m.Rows, func(r ManifestRow) bool { return r.SHA256 == sum }) {
		b.good("evidence", path, "same")
	} else {
		b.bad("evidence", path, "not listed", "no source of the manifest has its SHA-256, "+sum)
	}
	return nil
}
