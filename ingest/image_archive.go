package ingest

import (
	"archive/tar"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"path"
	"slices"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/image"
	"pulltrail/timeline"
)

// maxHeld bounds the events of layers that are held until the images of the
// archive are known.
const maxHeld = 500_000

// imageArchive is the archive of images that a tar archive or folder turns out
// to be.
type imageArchive struct {
	*image.Archive
	held int
}

// part reads a member whose name is that of a part of an image archive; ours is
// false for what is read as any other member.
func (s *source) part(a *imageArchive, name string, r io.Reader, at where) (err error) {
	kind, promised := image.PartOf(name)
	if kind == image.Old {
		return nil
	}
	blob := &hashed{r: r, h: sha256.New()}
	b := bufio.NewReaderSize(blob, 64<<10)
	head, _ := b.Peek(tarBlock) // the error comes again with the next read
	if first := bytes.TrimLeft(head, " \t\r\n"); len(first) > 0 && (first[0] == '{' || first[0] == '[') {
		return s.imageDocument(a, name, promised, b, at, kind == image.List)
	}
	if kind == image.List {
		return s.open(b, at)
	}
	content, ok := s.layerContent(b, head, blob)
	if !ok {
		if promised != "" && inLayout(name) {
			// What is no layer is none that an image needs, if it is whole.
			return s.promised(b, blob, promised, at)
		}
		return s.open(b, at)
	}
	l, err := s.layer(a, content, at)
	if err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, b); err != nil {
		return err
	}
	l.Digest = blob.sum()
	if content.hashed == blob {
		l.Diff = l.Digest
	}
	return s.walked(a, l, promised, at)
}

// walked keeps a layer that was walked, when it is what its name says.
func (s *source) walked(a *imageArchive, l *image.Layer, promised string, at where) error {
	if promised != "" && promised != l.Digest {
		l.Broken = fmt.Sprintf("damaged: its bytes have the digest %s", l.Digest)
		l.Diff = l.Digest // no image's
	}
	if gap := at.from.gap(); gap != nil {
		l.Broken, at.from.told = gap.Error(), true
	}
	if l.Broken != "" {
		if err := s.broken(at.path, errors.New(l.Broken)); err != nil {
			return err
		}
	}
	if a.AddLayer(l) {
		a.held += len(l.Events)
	}
	return nil
}

// promised reads a member to its end and compares it with its name.
func (s *source) promised(r io.Reader, h *hashed, want string, at where) error {
	if _, err := io.Copy(io.Discard, r); err != nil {
		return err
	}
	if got := h.sum(); got != want {
		return s.broken(at.path, fmt.Errorf("damaged: its bytes have the digest %s", got))
	}
	return nil
}

// imageDocument reads a JSON document of an image archive: as the document that
// it is, and for what it says of the archive.
func (s *source) imageDocument(a *imageArchive, name, promised string, r io.Reader, at where, list bool) error {
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	if err != nil {
		return err
	}
	if len(data) > maxDocument {
		return s.broken(at.path, fmt.Errorf("a document of more than %d MiB", maxDocument>>20))
	}
	sum := sha256.Sum256(data)
	digest := "sha256:" + hex.EncodeToString(sum[:])
	if promised != "" && promised != digest {
		return s.broken(at.path, fmt.Errorf("damaged: its bytes have the digest %s", digest))
	}
	if err := a.Add(name, at.path, digest, data, list); err != nil {
		return s.broken(at.path, err)
	}
	if inLayout(name) && s.claim(newHead(at.path, data[:min(len(data), headSize)])) == nil {
		return nil // a signature or a statement of its own kind
	}
	return s.member(bytes.NewReader(data), at)
}

// inLayout tells a blob of an OCI layout: blobs/sha256/54c8….
func inLayout(name string) bool { return path.Base(path.Dir(name)) == "sha256" }

// hashed hashes what is read.
type hashed struct {
	r io.Reader
	h hash.Hash
}

func (h *hashed) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	h.h.Write(p[:n])
	return n, err
}

func (h *hashed) sum() string { return "sha256:" + hex.EncodeToString(h.h.Sum(nil)) }

// content is what a layer holds, unpacked.
type content struct {
	*bufio.Reader
	hashed *hashed
	from   *metered // nil for a layer that is not compressed
}

// layerContent opens a blob as a layer: a tar archive, compressed or not. A
// layer without files is two blocks of zeros.
func (s *source) layerContent(b *bufio.Reader, head []byte, blob *hashed) (content, bool) {
	z, name, err := decompressor(b, head)
	if err != nil {
		return content{}, false
	}
	c := content{Reader: b, hashed: blob}
	if z != nil {
		c.from = &metered{r: z, b: &s.budget, what: name}
		c.hashed = &hashed{r: c.from, h: sha256.New()}
		c.Reader = bufio.NewReaderSize(c.hashed, 64<<10)
		head, _ = c.Peek(tarBlock)
	}
	return c, isTar(head) || len(head) == tarBlock && len(bytes.Trim(head, "\x00")) == 0
}

// layer walks a layer: it opens the lists of packages among its files and notes
// what it deletes of lower layers.
// https://github.com/opencontainers/image-spec/blob/main/layer.md
func (s *source) layer(a *imageArchive, c content, at where) (*image.Layer, error) {
	l := &image.Layer{Path: at.path, Unsure: map[timeline.Topic]string{}}
	w := &walk{s: s, l: l, formats: imageFormats(), room: maxHeld - a.held}
	tr := tar.NewReader(c)
	for l.Broken == "" {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			l.Broken = fmt.Sprintf("tar: %v", cut(err))
			break
		}
		if s.ctx.Err() != nil {
			return nil, s.ctx.Err()
		}
		if err := w.file(h, tr); err != nil {
			return nil, err
		}
	}
	if _, err := io.Copy(io.Discard, c); err != nil {
		return nil, err
	}
	if gap := c.from.gap(); gap != nil {
		l.Broken = gap.Error()
	}
	if s.budget.over != nil && l.Broken == "" {
		l.Broken = s.budget.over.Error()
	}
	l.Diff = c.hashed.sum()
	return l, nil
}

// imageFormats are the formats that list what is installed.
func imageFormats() []*evidence.Format {
	var all []*evidence.Format
	for i := range Formats {
		if Formats[i].Place != nil {
			all = append(all, &Formats[i])
		}
	}
	return all
}

// listedTopics are the kinds of packages that the walk of a layer looks for.
func listedTopics() []timeline.Topic {
	var all []timeline.Topic
	for _, f := range imageFormats() {
		if !slices.Contains(all, f.Topic) {
			all = append(all, f.Topic)
		}
	}
	return all
}
