// Package objects collects files from object stores: those of S3, of Google
// Cloud Storage and of Azure, and any https server. What lies below a prefix is
// listed page by page; each object is kept as it came.
//
// The requests are few and made here, so that limits, gaps and the ledger are
// those of every collector; only the credentials come from the SDKs. Measured
// with gocloud.dev 0.49 in their place: a program that opens and lists a bucket
// of each store has 76 MB and 86 modules, where these credentials add 5.6 MB and
// 16 modules.
package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"

	"pulltrail/ingest/collect"
	"pulltrail/timeline"
)

// Location is what a word of the command line names: one object, or all whose
// names begin alike.
type Location struct {
	Scheme string // s3, gs, azblob, https; http for this machine alone
	Bucket string // or host
	Key    string // of the object, or what the keys begin with
	Many   bool   // it ends in / or *

	// Conceal takes secrets out of a key before it is written down; nil: none is
	// looked for.
	Conceal func(key string) string

	address *url.URL // of https: with the query, which may be a signature
}

// Is reports whether a word is an address, and no path.
func Is(word string) bool {
	scheme, _, ok := strings.Cut(word, "://")
	return ok && scheme != "" && !strings.ContainsAny(scheme, `/\.`)
}

// Parse reads an address. Errors do not show a query.
func Parse(word string) (Location, error) {
	bare, _, _ := strings.Cut(word, "?")
	scheme, rest, _ := strings.Cut(word, "://")
	l := Location{Scheme: strings.ToLower(scheme)}
	switch l.Scheme {
	case "s3", "gs", "azblob":
	case "https", "http":
		return l.web(word, bare)
	default:
		return l, fmt.Errorf("%s: want s3://BUCKET/KEY, gs://BUCKET/KEY, azblob://CONTAINER/KEY or https://HOST/PATH", bare)
	}
	l.Bucket, l.Key, _ = strings.Cut(rest, "/")
	if l.Bucket == "" || strings.ContainsAny(l.Bucket, "?#@:%\\ ") {
		return l, fmt.Errorf("%s: %q is no name of a bucket", bare, l.Bucket)
	}
	if raw, ok := strings.CutSuffix(l.Key, "*"); ok {
		l.Key, l.Many = raw, true
	} else {
		l.Many = l.Key == "" || strings.HasSuffix(l.Key, "/")
	}
	return l, nil
}

func (l Location) web(word, bare string) (Location, error) {
	u, err := url.Parse(word)
	switch {
	case err != nil || u.Host == "":
		return l, fmt.Errorf("%s: it is no address", bare)
	case u.User != nil:
		return l, errors.New("an address with a name and a password is not taken: everybody on the machine sees it. Use one that is signed")
	case u.Path == "" || strings.HasSuffix(u.Path, "/"):
		return l, fmt.Errorf("%s: it names no file, and no list of files is had over https", bare)
	case l.Scheme == "http" && !collect.Loopback(u.Hostname()):
		return l, fmt.Errorf("%s: want https (http is for this machine alone)", bare)
	}
	l.Bucket, l.Key, l.address = u.Host, strings.TrimPrefix(u.Path, "/"), u
	return l, nil
}

// String is the address without a query.
func (l Location) String() string {
	if l.Many {
		return l.of(l.Key) + "*"
	}
	return l.of(l.Key)
}

// of is the address of an object.
func (l Location) of(key string) string {
	if l.Conceal != nil {
		key = l.Conceal(key)
	}
	u := url.URL{Scheme: l.Scheme, Host: l.Bucket, Path: "/" + key}
	return strings.NewReplacer("!", "%21", "*", "%2A").Replace(u.String())
}

// object is one that a list names.
type object struct {
	key     string
	version string // changes when the content does
	size    int64
}

// store is what the stores differ in.
type store interface {
	// list is the request for a page of a list, whose place an earlier page named.
	list(prefix, place string) *http.Request
	// page reads a page; place is where the next one begins, "" for none.
	page(body io.Reader) (objects []object, place string, err error)
	// get is the request for an object, which has to have its version, if it has one.
	get(o object) *http.Request
}

// Source is where objects come from: the way to the store, and how it is asked.
type Source struct {
	Location
	Options collect.Options // but for the case and the record
	store   store
}

// Collected are the rows of the ledger that a collection leaves.
type Collected struct {
	Objects []timeline.Inquiry // obtained, now or before
	Refused []timeline.Inquiry
}

type collector struct {
	s     *collect.Session
	src   *Source
	about timeline.Subject
	seen  map[string]bool // places of the list that were asked for, one after the other

	mu  sync.Mutex
	out Collected
}

// Kind is what objects are in the ledger.
const Kind = "object"

// most bytes of an object are taken.
const most = 64 << 30

// Collect fetches the object, or all that the location names. about is whose
// evidence is missing when one is refused; zero: nobody's in particular.
func Collect(ctx context.Context, s *collect.Session, src *Source, about timeline.Subject) (Collected, error) {
	c := &collector{s: s, src: src, about: about, seen: map[string]bool{}}
	err := collect.Run(ctx, s.Workers(), func(ctx context.Context, p *collect.Pool) error {
		if !src.Many {
			return c.object(ctx, object{key: src.Key})
		}
		return c.pages(ctx, p, "", 1)
	})
	byURL := func(a, b timeline.Inquiry) int { return strings.Compare(a.URL, b.URL) }
	slices.SortFunc(c.out.Objects, byURL)
	slices.SortFunc(c.out.Refused, byURL)
	return c.out, err
}

// pages asks for a page of the list, and adds the next one before its objects: the
// pool takes what came last, so that no more than a page of names is held. A page
// that cannot be had is a gap, for nobody knows what it and those behind it name.
func (c *collector) pages(ctx context.Context, p *collect.Pool, place string, n int) error {
	if c.seen[place] {
		return fmt.Errorf("%s: the pages of the list go in a circle: it cannot be had whole", c.src)
	}
	c.seen[place] = true
	a, err := c.s.Ask(c.src.store.list(c.src.Key, place).WithContext(ctx), collect.Want{
		Kind: "objects", As: fmt.Sprintf("%s?page=%d", c.src.of(c.src.Key), n), About: c.about, XML: c.src.Scheme != "gs",
		Detail: fmt.Sprintf("page %d of the list of %s, and what follows it", n, c.src),
	})
	if err != nil {
		return err
	}
	if a.Reply != timeline.Obtained {
		c.add(a)
		return nil
	}
	objects, next, err := c.page(a)
	if err != nil {
		return fmt.Errorf("%s: page %d of the list: %w", c.src, n, err)
	}
	if next != "" {
		p.Add(func(ctx context.Context) error { return c.pages(ctx, p, next, n+1) })
	}
	for _, o := range slices.Backward(objects) {
		p.Add(func(ctx context.Context) error { return c.object(ctx, o) })
	}
	return nil
}

func (c *collector) page(a *collect.Answer) ([]object, string, error) {
	in, err := a.Open()
	if err != nil {
		return nil, "", err
	}
	defer in.Close()
	return c.src.store.page(in)
}

// object fetches one object. One of a list stands as long as its version is the
// same; of another one the store is asked whether it changed.
func (c *collector) object(ctx context.Context, o object) error {
	if strings.HasSuffix(o.key, "/") && o.size == 0 {
		return nil // what consoles make of a folder
	}
	want := collect.Want{
		Kind: Kind, Name: path.Base(o.key), As: c.src.of(o.key), Reading: timeline.Whole, About: c.about,
		Version: o.version, Size: o.size, Fresh: o.version == "", Raw: true, Most: most, Signed: c.src.address != nil,
	}
	a, err := c.s.Ask(c.src.store.get(o).WithContext(ctx), want)
	if err == nil {
		c.add(a)
	}
	return err
}

func (c *collector) add(a *collect.Answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.Reply == timeline.Obtained {
		c.out.Objects = append(c.out.Objects, a.Inquiry)
	} else {
		c.out.Refused = append(c.out.Refused, a.Inquiry)
	}
}
