package objects

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"pulltrail/ingest/collect"
)

// Connect finds the store of a location, and the credentials for it.
func (l Location) Connect(ctx context.Context) (*Source, error) {
	way := &transport{next: collect.Network()}
	var st store
	var err error
	switch l.Scheme {
	case "s3":
		st, way.base, way.sign, err = connectS3(ctx, l.Bucket, way.next)
	case "gs":
		st, way.base, way.sign, err = connectGoogle(ctx, l.Bucket)
	case "azblob":
		st, way.base, way.sign, err = connectAzure(ctx, l.Bucket)
	default:
		way.base = &url.URL{Scheme: l.Scheme, Host: l.Bucket}
		st = &web{l.address}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l, err)
	}
	return l.through(way, st), nil
}

// through is the source of a location that is reached one way.
func (l Location) through(way *transport, st store) *Source {
	return &Source{Location: l, store: st, Options: collect.Options{
		Collector: "objects", Target: l.String(), Base: way.base.Scheme + "://" + way.base.Host,
		Dial: way, Limited: busy, Denies: l.address != nil,
	}}
}

// transport puts credentials into requests to the store, and into no other.
type transport struct {
	next http.RoundTripper
	base *url.URL
	sign func(r *http.Request) error // nil: there are no credentials
}

// RoundTrip makes a request, whose answer is gone on with where it breaks off.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.send(r)
	if err == nil {
		t.resumable(r, resp)
	}
	return resp, err
}

// send makes a request. Credentials that the store does not take end the
// collection: every other object would be a gap.
func (t *transport) send(r *http.Request) (*http.Response, error) {
	if t.sign == nil || r.URL.Host != t.base.Host || r.URL.Scheme != t.base.Scheme {
		return t.next.RoundTrip(r)
	}
	r = r.Clone(r.Context())
	if err := t.sign(r); err != nil {
		return nil, &credentialError{err.Error()}
	}
	resp, err := t.next.RoundTrip(r)
	if err != nil || resp.StatusCode != http.StatusBadRequest && resp.StatusCode != http.StatusForbidden {
		return resp, err
	}
	head, _ := io.ReadAll(io.LimitReader(resp.Body, 8<<10)) // what there is of the message
	if code := collect.ErrorCode(head); slices.Contains(unusable, code) {
		resp.Body.Close()
		return nil, &credentialError{code}
	}
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), resp.Body), resp.Body}
	return resp, nil
}

// unusable are the codes of refusals that no object is the reason of.
//
// https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html
// https://learn.microsoft.com/en-us/rest/api/storageservices/common-rest-api-error-codes
var unusable = []string{
	"ExpiredToken", "InvalidToken", "TokenRefreshRequired", "InvalidAccessKeyId", "SignatureDoesNotMatch", "RequestTimeTooSkewed",
	"AuthorizationHeaderMalformed", "AuthenticationFailed", "InvalidAuthenticationInfo",
}

// credentialError ends a collection: the store does not take the credentials.
type credentialError struct{ why string }

func (e *credentialError) Error() string {
	return "the credentials for the store are of no use (" + e.why + "): log in anew and say the same command, it goes on where it stopped"
}

// Is makes it what a session takes for a refused token.
func (e *credentialError) Is(target error) bool { return target == collect.ErrToken }

// busy tells a store that asks for patience. S3 and Azure do so with a code and
// without a time.
//
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html
func busy(r *http.Response, body []byte, now time.Time) (until time.Time, hit bool) {
	if until, hit = collect.RateLimit(r, body, now); hit && r.Header.Get("Retry-After") != "" {
		return until, true
	}
	if code := collect.ErrorCode(body); code == "SlowDown" || code == "ServerBusy" {
		return now.Add(patience), true
	}
	return until, hit
}

// patience is how long a store that is busy is left alone.
const patience = 5 * time.Second

// request is a GET of a store. The bytes are wanted as they are stored.
func request(base *url.URL, path, escaped string, query url.Values) *http.Request {
	u := *base
	u.Path, u.RawPath, u.RawQuery = base.Path+path, base.EscapedPath()+escaped, query.Encode()
	return &http.Request{
		Method: http.MethodGet, URL: &u, Host: u.Host, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Accept-Encoding": {"identity"}},
	}
}

// web is any server that has files.
type web struct{ address *url.URL }

func (w *web) list(string, string) *http.Request {
	panic("a location of the web names one file")
}

func (w *web) page(io.Reader) ([]object, string, error) {
	panic("a location of the web names one file")
}

func (w *web) get(object) *http.Request {
	r := request(&url.URL{}, "", "", nil)
	u := *w.address
	u.Fragment = ""
	r.URL, r.Host = &u, u.Host
	return r
}
