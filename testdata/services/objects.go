package services

import (
	"crypto/md5" //nolint:gosec // what stores make ETags of
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Objects is a stand-in for the stores of S3, Google Cloud Storage and Azure: one
// bucket that each of them shows in its own way. Who signs wrong is refused.
type Objects struct {
	API, Other *httptest.Server // Other is a host that some objects are said to be at
	Kind       string           // s3, gs, azblob, https
	Bucket     string
	Key        string // name of the key, or account
	Secret     string // with which requests are signed; "" for all: nobody has to
	SAS        string // in place of Secret, for azblob
	PerPage    int

	Keys    map[string]string // name → content
	Status  map[string]int    // name → what is answered in place of the content
	Code    string            // of such answers, in XML
	Moved   map[string]bool   // these are at Other
	Pages   map[int]int       // number of a page → status
	Busy    int               // so many requests are told to slow down first
	Cut     map[string]int    // so many answers are cut off
	Half    int               // so many pages end in the middle, and nothing says so
	NoRange bool              // it sends all of an object, whatever was asked for
	Endless bool              // the list never ends
	On      func(n int)       // is told the number of each request, from 1

	mu   sync.Mutex
	seen []Seen
}

// Start starts the servers.
func (o *Objects) Start() {
	o.Other = httptest.NewServer(o.seeing("other", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, o.Keys[strings.TrimPrefix(r.URL.Path, "/")])
	}))
	o.API = httptest.NewUnstartedServer(o.seeing("api", o.api)) // it hands out addresses of the other
	o.API.Start()
}

// Close stops them.
func (o *Objects) Close() {
	o.API.Close()
	o.Other.Close()
}

// Requests returns what each host saw since the last time.
func (o *Objects) Requests() []Seen {
	o.mu.Lock()
	defer o.mu.Unlock()
	seen := o.seen
	o.seen = nil
	return seen
}

func (o *Objects) seeing(host string, f http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		o.mu.Lock()
		o.seen = append(o.seen, Seen{host, r.Method, r.URL.String(), r.Header.Clone()})
		n := len(o.seen)
		o.mu.Unlock()
		if o.On != nil {
			o.On(n)
		}
		f(w, r)
	}
}

func (o *Objects) refuse(w http.ResponseWriter, status int, code string) {
	if o.Kind == "gs" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"code":%d,"message":%q}}`, status, code)
		return
	}
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>%s</Code><Message>StringToSign %s</Message></Error>", code, o.Secret)
}

// busy tells whether a request is to come again later.
func (o *Objects) busy() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.Busy--
	return o.Busy >= 0
}

func (o *Objects) api(w http.ResponseWriter, r *http.Request) {
	if why := o.unsigned(r); why != "" {
		o.refuse(w, http.StatusForbidden, why)
		return
	}
	if o.busy() {
		o.refuse(w, http.StatusServiceUnavailable, map[string]string{"azblob": "ServerBusy"}[o.Kind]+map[string]string{"s3": "SlowDown"}[o.Kind])
		return
	}
	root := map[string]string{"s3": "/" + o.Bucket, "azblob": "/acct/" + o.Bucket, "gs": "/storage/v1/b/" + o.Bucket + "/o", "https": ""}[o.Kind]
	rest, ok := strings.CutPrefix(r.URL.Path, root)
	key, one := strings.CutPrefix(rest, "/")
	switch {
	case !ok || rest != "" && !one:
		o.refuse(w, http.StatusNotFound, "NoSuchBucket")
	case one:
		o.object(w, r, key)
	default:
		o.list(w, r.URL.Query())
	}
}

// version is the ETag of an object, or its generation.
func (o *Objects) version(key string) string {
	sum := md5.Sum([]byte(o.Keys[key])) //nolint:gosec // see above
	if o.Kind == "gs" {
		return strconv.Itoa(int(sum[0])<<16 + int(sum[1])<<8 + int(sum[2]))
	}
	return fmt.Sprintf("%q", fmt.Sprintf("%x", sum))
}

func (o *Objects) object(w http.ResponseWriter, r *http.Request, key string) {
	content, ok := o.Keys[key]
	version := o.version(key)
	match, etag := r.Header.Get("If-Match"), version
	if o.Kind == "gs" {
		etag = "CJ" + version + "EAE="
		match = r.URL.Query().Get("ifGenerationMatch")
	}
	switch {
	case o.Moved[key]:
		http.Redirect(w, r, o.Other.URL+"/"+key+"?X-Amz-Signature=s3cr3t", http.StatusTemporaryRedirect)
	case o.Status[key] != 0:
		o.refuse(w, o.Status[key], o.Code)
	case !ok:
		o.refuse(w, http.StatusNotFound, "NoSuchKey")
	case match != "" && match != version:
		o.refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
	case r.Header.Get("If-None-Match") == etag:
		w.WriteHeader(http.StatusNotModified)
	default:
		w.Header().Set("ETag", etag)
		if o.Kind == "gs" {
			w.Header().Set("X-Goog-Generation", version)
		}
		if strings.HasSuffix(key, ".json") {
			w.Header().Set("Content-Type", "application/json")
		}
		status := http.StatusOK
		if rest, ok := strings.CutPrefix(r.Header.Get("Range"), "bytes="); ok && !o.NoRange {
			at, _ := strconv.Atoi(strings.TrimSuffix(rest, "-"))
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, len(content)-1, len(content)))
			content, status = content[min(at, len(content)):], http.StatusPartialContent
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		w.WriteHeader(status)
		if o.cuts(key) {
			content = content[:len(content)/2]
		}
		fmt.Fprint(w, content)
	}
}

func (o *Objects) cuts(key string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.Cut[key] == 0 {
		return false
	}
	o.Cut[key]--
	return true
}

// list answers a page of the list.
func (o *Objects) list(w http.ResponseWriter, q url.Values) {
	place := q.Get("continuation-token") + q.Get("pageToken") + q.Get("marker")
	from, _ := strconv.Atoi(strings.TrimPrefix(place, "place="))
	if status := o.Pages[from/o.PerPage+1]; status != 0 {
		o.refuse(w, status, "AccessDenied")
		return
	}
	keys := sorted(o.Keys, func(k string) bool { return strings.HasPrefix(k, q.Get("prefix")) })
	rest := keys[min(from, len(keys)):]
	next := ""
	if len(rest) > o.PerPage {
		rest, next = rest[:o.PerPage], fmt.Sprintf("place=%d", from+o.PerPage)
	}
	if o.Endless {
		next = "place=0"
	}
	o.mu.Lock()
	o.Half--
	half := o.Half >= 0
	o.mu.Unlock()
	if half {
		whole := httptest.NewRecorder()
		o.page(whole, rest, next)
		w.Header().Set("Content-Type", whole.Header().Get("Content-Type"))
		fmt.Fprint(w, whole.Body.String()[:whole.Body.Len()/2])
		return
	}
	o.page(w, rest, next)
}

func (o *Objects) page(w http.ResponseWriter, rest []string, next string) {
	switch o.Kind {
	case "gs":
		items := []map[string]string{}
		for _, k := range rest {
			items = append(items, map[string]string{"name": k, "generation": o.version(k), "size": strconv.Itoa(len(o.Keys[k]))})
		}
		page := map[string]any{"kind": "storage#objects", "items": items}
		if next != "" {
			page["nextPageToken"] = next
		}
		reply(w, page)
	case "azblob":
		o.azurePage(w, rest, next)
	default:
		o.s3Page(w, rest, next)
	}
}

func (o *Objects) s3Page(w http.ResponseWriter, keys []string, next string) {
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprintf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<ListBucketResult xmlns=\"http://s3.example/doc/2006-03-01/\"><Name>%s</Name><KeyCount>%d</KeyCount>"+
		"<EncodingType>url</EncodingType><IsTruncated>%t</IsTruncated>", o.Bucket, len(keys), next != "")
	if next != "" {
		fmt.Fprintf(w, "<NextContinuationToken>%s</NextContinuationToken>", next)
	}
	for _, k := range keys {
		fmt.Fprintf(w, "<Contents><Key>%s</Key><ETag>%s</ETag><Size>%d</Size></Contents>", url.QueryEscape(k), strings.ReplaceAll(o.version(k), `"`, "&quot;"), len(o.Keys[k]))
	}
	fmt.Fprint(w, "</ListBucketResult>")
}

func (o *Objects) azurePage(w http.ResponseWriter, keys []string, next string) {
	w.Header().Set("Content-Type", "application/xml")
	fmt.Fprintf(w, "\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ContainerName=%q><Blobs>", o.Bucket)
	for _, k := range keys {
		name := "<Name>" + k + "</Name>"
		if slices.ContainsFunc([]byte(k), func(c byte) bool { return c == '&' || c < ' ' }) {
			name = `<Name Encoded="true">` + encoded(k) + "</Name>"
		}
		fmt.Fprintf(w, "<Blob>%s<Properties><Etag>%s</Etag><Content-Length>%d</Content-Length><ResourceType>file</ResourceType></Properties></Blob>",
			name, strings.Trim(o.version(k), `"`), len(o.Keys[k]))
	}
	fmt.Fprintf(w, "</Blobs><NextMarker>%s</NextMarker></EnumerationResults>", next)
}
