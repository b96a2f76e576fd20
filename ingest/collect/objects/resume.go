package objects

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxResumed is how often one object that breaks off is gone on with.
const maxResumed = 20

// resumed is the content of an object that goes on where the connection broke,
// as long as it is the same object: archives may have gigabytes.
//
// https://www.rfc-editor.org/rfc/rfc9110#name-range-requests
type resumed struct {
	t    *transport
	r    *http.Request // as it was made, without credentials
	by   string        // header that tells one content from another
	tag  string        // what stands in it
	body io.ReadCloser

	at, last int64 // how much was read, and when it last broke off
	times    int
}

// resumable makes an answer one that is gone on with, where the store says what
// content it has.
func (t *transport) resumable(r *http.Request, resp *http.Response) {
	by, tag := generation, resp.Header.Get(generation)
	if tag == "" {
		if by, tag = "Etag", resp.Header.Get("Etag"); !strings.HasPrefix(tag, `"`) {
			return // none, or a weak one
		}
	}
	if resp.StatusCode == http.StatusOK {
		resp.Body = &resumed{t: t, r: r, by: by, tag: tag, body: resp.Body, last: -1}
	}
}

// generation is the header of Google, whose ETags are not those of HTTP.
const generation = "X-Goog-Generation"

// Read reads on. What cannot be gone on with ends with the error that broke it
// off: the session asks for the object anew.
func (b *resumed) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.at += int64(n)
	if err == nil || errors.Is(err, io.EOF) || b.at == b.last || b.times == maxResumed || b.r.Context().Err() != nil {
		return n, err
	}
	b.times, b.last = b.times+1, b.at
	if b.goOn() != nil {
		return n, err
	}
	return n, nil
}

// goOn asks for the rest.
func (b *resumed) goOn() error {
	r := b.r.Clone(b.r.Context())
	r.Header.Set("Range", fmt.Sprintf("bytes=%d-", b.at))
	if b.by == generation {
		q := r.URL.Query()
		q.Set("ifGenerationMatch", b.tag)
		r.URL.RawQuery = q.Encode()
	} else {
		r.Header.Set("If-Match", b.tag)
	}
	resp, err := b.t.send(r)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusPartialContent || resp.Header.Get(b.by) != b.tag ||
		!strings.HasPrefix(resp.Header.Get("Content-Range"), fmt.Sprintf("bytes %d-", b.at)) {
		resp.Body.Close()
		return errors.New("the store does not go on")
	}
	b.body.Close()
	b.body = resp.Body
	return nil
}

// Close ends the reading.
func (b *resumed) Close() error { return b.body.Close() }
