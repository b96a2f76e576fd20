package collect

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	"pulltrail/timeline"
)

// idle is how long an answer may bring nothing.
const idle = 2 * time.Minute

// Network is what requests go through: certificates are checked, a proxy of the
// environment is used, no redirect is followed.
func Network() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 32
	return t
}

// once makes one attempt at a request.
func (s *Session) once(r *http.Request, body []byte, row *timeline.Inquiry, want Want) (*Answer, error) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if err := s.wait(r.Context()); err != nil {
		return nil, err
	}
	watch := newWatch(r.Context())
	defer watch.stop()
	req := r.Clone(watch.ctx)
	req.Header.Del("Authorization")
	req.Header.Set("User-Agent", "pulltrail/"+s.opt.Program)
	if body != nil {
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	want.condition(req.Header)
	if !s.opt.Token.IsZero() {
		s.opt.Authorize(req.Header, s.opt.Token.value)
	}
	s.count(func(st *Stats) { st.Calls++ })
	resp, err := s.opt.Dial.RoundTrip(req)
	switch {
	case errors.Is(err, ErrToken):
		return nil, fmt.Errorf("%w: %s", err, row.URL)
	case err != nil:
		return nil, &retry{why: watch.why(err)}
	}
	defer resp.Body.Close()
	s.gate.learn(resp.Header, s.opt.Now())
	row.Status = resp.StatusCode
	switch {
	case resp.StatusCode == http.StatusNotModified && want.held != nil:
		return &Answer{Inquiry: *want.held, s: s, unchanged: true}, nil
	case resp.StatusCode < 300:
		return s.save(resp, watch, row, want)
	case resp.StatusCode < 400 && want.Signed:
		return s.download(r.Context(), r.URL, resp.Header.Get("Location"), row, want)
	}
	return s.refused(resp, row, want)
}

// refused tells what a status other than success means.
func (s *Session) refused(resp *http.Response, row *timeline.Inquiry, want Want) (*Answer, error) {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 8<<10)) // what there is of the message
	row.Detail = status(resp, body)
	if until, hit := s.opt.Limited(resp, body, s.opt.Now()); hit {
		if s.gate.close(until) {
			s.Say("%s: %s: waiting until %s", s.base.Host, row.Detail, until.UTC().Format("15:04:05 UTC"))
		}
		return nil, &retry{why: row.Detail, status: resp.StatusCode, limited: true}
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized && s.opt.Denies:
		return s.refuse(row, timeline.Denied, want)
	case resp.StatusCode == http.StatusUnauthorized:
		return nil, fmt.Errorf("%w: %s", ErrToken, row.URL)
	case resp.StatusCode == http.StatusForbidden, resp.StatusCode == http.StatusUnavailableForLegalReasons:
		return s.refuse(row, timeline.Denied, want)
	case resp.StatusCode == http.StatusNotFound:
		return s.refuse(row, timeline.Absent, want)
	case resp.StatusCode == http.StatusGone:
		return s.refuse(row, timeline.Expired, want)
	case resp.StatusCode == http.StatusPreconditionFailed:
		row.Detail += ": it changed after it was listed: the same command again takes it as it is then"
		return s.refuse(row, timeline.Failed, want)
	case resp.StatusCode < 400:
		row.Detail += ": it has moved, and the token does not follow: ask for it by its new name"
		return s.refuse(row, timeline.Absent, want)
	case resp.StatusCode >= 500, resp.StatusCode == http.StatusRequestTimeout:
		return nil, &retry{why: row.Detail, status: resp.StatusCode}
	}
	return s.refuse(row, timeline.Failed, want)
}

// status is a refusal in words: its number, and what the service says of it.
//
//	{"message":"Resource not accessible by integration","documentation_url":"…"}
//	{"error":{"code":403,"message":"robot@acme.iam.gserviceaccount.example does not have storage.objects.list access…"}}
func status(resp *http.Response, body []byte) string {
	text := fmt.Sprintf("HTTP %d", resp.StatusCode)
	var said struct {
		Message any             `json:"message"`
		Error   json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return text + inXML(body)
	}
	var inner struct {
		Message any `json:"message"`
	}
	if err := json.Unmarshal(said.Error, &inner); said.Message == nil && err == nil {
		said.Message = inner.Message
	}
	if said.Message != nil {
		text += ": " + printable(fmt.Sprint(said.Message))
	}
	return text
}

// inXML is the code of a refusal in XML. The message beside it may show what was
// signed.
//
//	<Error><Code>AccessDenied</Code><Message>Access Denied</Message><RequestId>…</RequestId></Error>
func inXML(body []byte) string {
	if code := ErrorCode(body); code != "" {
		return ": " + printable(code)
	}
	return ""
}

// ErrorCode is the code of a refusal in XML, as stores of objects give it; ""
// for none. A body that is cut off may have one too.
func ErrorCode(body []byte) string {
	_, rest, is := bytes.Cut(body, []byte("<Error>"))
	_, rest, ok := bytes.Cut(rest, []byte("<Code>"))
	code, _, end := bytes.Cut(rest, []byte("</Code>"))
	if !is || !ok || !end || len(code) > 64 {
		return ""
	}
	return string(code)
}

// printable keeps what may stand in a sentence.
func printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	if len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "") + "…"
	}
	return s
}

// maxHops is how many redirects a signed address may lead to.
const maxHops = 3

// download gets what stands at an address that the service signed. It goes
// without the token, and without anything else that knows us.
// A location may be told from at.
func (s *Session) download(ctx context.Context, at *url.URL, location string, row *timeline.Inquiry, want Want) (*Answer, error) {
	for range maxHops {
		next, err := at.Parse(location)
		if err != nil || location == "" {
			return nil, &retry{why: "the service sent no address to get it from", status: row.Status}
		}
		if err := s.mayDownload(next); err != nil {
			row.Detail = err.Error()
			return s.refuse(row, timeline.Failed, want)
		}
		a, again, err := s.plain(ctx, next, row, want)
		if again == "" {
			return a, err
		}
		at, location = next, again
	}
	return nil, &retry{why: "the signed address leads on and on"}
}

// mayDownload keeps downloads on https; a service of this machine may send us
// to this machine.
func (s *Session) mayDownload(u *url.URL) error {
	if u.Scheme == "https" || u.Scheme == "http" && Loopback(u.Hostname()) && Loopback(s.base.Hostname()) {
		return nil
	}
	return fmt.Errorf("the service sent us to %s://%s, which is not https: not followed", u.Scheme, u.Host)
}

// plain makes a request without any credentials; again is where a redirect
// leads.
func (s *Session) plain(ctx context.Context, u *url.URL, row *timeline.Inquiry, want Want) (a *Answer, again string, err error) {
	watch := newWatch(ctx)
	defer watch.stop()
	req, err := http.NewRequestWithContext(watch.ctx, http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return nil, "", errors.New("the service sent an address that is none") // the error would show its signature
	}
	req.Header.Set("User-Agent", "pulltrail/"+s.opt.Program)
	req.Header.Set("Accept-Encoding", "identity") // the bytes as they are
	s.count(func(st *Stats) { st.Downloads++ })
	resp, err := s.opt.Dial.RoundTrip(req)
	if err != nil {
		return nil, "", &retry{why: u.Host + ": " + watch.why(err)}
	}
	defer resp.Body.Close()
	row.Status = resp.StatusCode
	switch {
	case resp.StatusCode < 300:
		a, err = s.save(resp, watch, row, want)
		return a, "", err
	case resp.StatusCode < 400 && resp.Header.Get("Location") != "":
		return nil, resp.Header.Get("Location"), nil
	}
	row.Detail = fmt.Sprintf("HTTP %d of %s, where the service sent us", resp.StatusCode, u.Host)
	switch resp.StatusCode {
	case http.StatusNotFound:
		a, err = s.refuse(row, timeline.Absent, want)
	case http.StatusGone:
		a, err = s.refuse(row, timeline.Expired, want)
	default: // a signature has run out, or the store is down: a new address may do
		err = &retry{why: row.Detail, status: resp.StatusCode}
	}
	return a, "", err
}

// leading are the headers that lead to more, or say what an answer is.
var leading = []string{"Link", "Content-Type", "X-Next-Page", "X-Total-Pages", "X-Total", "Docker-Content-Digest", "Etag", "Last-Modified"}

// save keeps an answer.
func (s *Session) save(resp *http.Response, watch *watch, row *timeline.Inquiry, want Want) (*Answer, error) {
	kept := http.Header{}
	for _, name := range leading {
		if v := resp.Header.Values(name); len(v) > 0 {
			kept[http.CanonicalHeaderKey(name)] = v
		}
	}
	row.Detail = ""
	most := want.Most
	if most == 0 {
		most = maxAnswer
		if want.Signed {
			most = maxDownload
		}
	}
	in := &intake{r: io.LimitReader(watch.reader(resp.Body), most+1)}
	if want.Keep != nil {
		return s.keepPart(in, most, watch, row, want, kept)
	}
	in.xml = want.XML
	isJSON := want.JSON || strings.Contains(resp.Header.Get("Content-Type"), "json") && !want.Raw
	if (isJSON || in.xml) && most <= maxAnswer {
		in.text = &bytes.Buffer{}
	}
	if want.Zip {
		in.end = &zipEnd{}
	}
	if want.Begins != "" || want.Ends != "" {
		in.ends = &bothEnds{begins: want.Begins, ends: want.Ends}
	}
	return s.keep(in, most, watch, row, want, kept)
}

// keepPart writes what the case may hold of an answer.
func (s *Session) keepPart(in *intake, most int64, watch *watch, row *timeline.Inquiry, want Want, leads http.Header) (*Answer, error) {
	body, err := io.ReadAll(in.r)
	if err != nil {
		return nil, &retry{why: "the answer broke off: " + watch.why(err), status: row.Status}
	}
	if !json.Valid(body) {
		return nil, &retry{why: "it is no whole JSON", status: row.Status}
	}
	part, err := want.Keep(body)
	if err != nil {
		row.Detail = "the answer is not what was asked for" // the error may show a part of it
		return s.refuse(row, timeline.Failed, want)
	}
	text := bytes.NewBuffer(nil)
	return s.keep(&intake{r: bytes.NewReader(part), text: text}, most, watch, row, want, leads)
}

// emptyList reports whether a text is a list without anything in it, bare or as
// Kubernetes has it.
//
//	[]
//	{"kind":"EventList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[]}
func emptyList(text []byte) bool {
	if len(text) > 1<<10 {
		return false
	}
	if string(bytes.TrimSpace(text)) == "[]" {
		return true
	}
	var list struct {
		Kind  string             `json:"kind"`
		Items *[]json.RawMessage `json:"items"`
	}
	return json.Unmarshal(text, &list) == nil && strings.HasSuffix(list.Kind, "List") && (list.Items == nil || len(*list.Items) == 0)
}

// keep writes what comes in into the case.
func (s *Session) keep(in *intake, most int64, watch *watch, row *timeline.Inquiry, want Want, leads http.Header) (*Answer, error) {
	a := &Answer{s: s}
	var out io.Writer
	var k *timeline.Keeper
	if s.db == nil {
		b := &bytes.Buffer{}
		out = b
		defer func() { a.body = b.Bytes() }()
	} else {
		var err error
		if k, err = s.db.Keep(); err != nil {
			return nil, err
		}
		defer k.Abort()
		out = k
	}
	sum, n, err := in.copy(out)
	switch {
	case errors.Is(err, errCase):
		return nil, err
	case err != nil:
		return nil, &retry{why: "the answer broke off after " + fmt.Sprint(n) + " bytes: " + watch.why(err), status: row.Status}
	case n > most:
		row.Detail = fmt.Sprintf("the answer has more than %d MiB", most>>20)
		return s.refuse(row, timeline.Failed, want)
	}
	if want.Size != 0 && n != want.Size {
		return nil, &retry{why: fmt.Sprintf("%d bytes came of the %d that the list says", n, want.Size), status: row.Status}
	}
	if want.SHA256 != "" && sum != want.SHA256 {
		row.Detail = "its bytes are others than its digest says: they have sha256:" + sum
		return s.refuse(row, timeline.Failed, want)
	}
	if in.ends != nil && in.ends.lacks() != "" {
		row.Detail = in.ends.lacks()
		return s.refuse(row, timeline.Absent, want)
	}
	if in.end != nil {
		leads[membersKey] = in.end.members()
	}
	head, err := json.Marshal(leads)
	if err != nil {
		return nil, err
	}
	row.Head = string(head)
	row.SHA256, row.Bytes, row.Reply = sum, n, timeline.Obtained
	if in.text != nil && emptyList(in.text.Bytes()) {
		row.Reading = timeline.NoReading // a list without anything in it is of every format
	}
	if k != nil {
		if err := k.Collect(*row, s.opt.Command, s.opt.Program); err != nil {
			return nil, err
		}
	}
	a.Inquiry = *row
	return a, nil
}
