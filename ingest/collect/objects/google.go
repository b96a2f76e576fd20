package objects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/google"
)

// googleObjects is a bucket of Google Cloud Storage.
//
// https://cloud.google.com/storage/docs/json_api/v1/objects/list
type googleObjects struct{ base *url.URL }

// readOnly is what the token has to allow.
const readOnly = "https://www.googleapis.com/auth/devstorage.read_only"

// connectGoogle finds a bucket. The credentials are the default ones of the
// SDK: GOOGLE_APPLICATION_CREDENTIALS, gcloud, the account of the machine. An
// emulator gets none.
func connectGoogle(ctx context.Context, bucket string) (store, *url.URL, func(*http.Request) error, error) {
	base := &url.URL{Scheme: "https", Host: "storage.googleapis.com"}
	var tokens oauth2.TokenSource
	if host := os.Getenv("STORAGE_EMULATOR_HOST"); host != "" {
		if _, rest, ok := strings.Cut(host, "://"); ok {
			host = rest
		}
		base = &url.URL{Scheme: "http", Host: strings.TrimSuffix(host, "/")}
	} else {
		c, err := google.FindDefaultCredentials(ctx, readOnly)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("%w: 'gcloud auth application-default login', or GOOGLE_APPLICATION_CREDENTIALS", err)
		}
		tokens = oauth2.ReuseTokenSource(nil, c.TokenSource)
	}
	base.Path = "/storage/v1/b/" + bucket + "/o"
	return &googleObjects{base}, base, bearer(tokens), nil
}

// bearer puts a token into requests.
func bearer(tokens oauth2.TokenSource) func(*http.Request) error {
	if tokens == nil {
		return nil
	}
	return func(r *http.Request) error {
		t, err := tokens.Token()
		if err != nil {
			return errors.New("no token is given for them") // the error may show what was sent
		}
		t.SetAuthHeader(r)
		return nil
	}
}

func (g *googleObjects) list(prefix, place string) *http.Request {
	q := url.Values{"prefix": {prefix}, "fields": {"kind,nextPageToken,items(name,generation,size)"}}
	if place != "" {
		q.Set("pageToken", place)
	}
	return request(g.base, "", "", q)
}

// googlePage is a page of a list.
//
//	{"kind":"storage#objects","nextPageToken":"CgVhLmxvZw==","items":[{"name":"logs/a.json.gz","generation":"1761048000000000","size":"434"}]}
type googlePage struct {
	Kind  string `json:"kind"`
	Next  string `json:"nextPageToken"`
	Items []struct {
		Name       string `json:"name"`
		Generation string `json:"generation"`
		Size       string `json:"size"`
	} `json:"items"`
}

func (g *googleObjects) page(body io.Reader) (objects []object, place string, err error) {
	var p googlePage
	if err := json.NewDecoder(body).Decode(&p); err != nil || p.Kind != "storage#objects" {
		return nil, "", errors.New("it is no list of Google Cloud Storage")
	}
	for _, o := range p.Items {
		size, err := strconv.ParseInt(o.Size, 10, 64)
		if err != nil {
			return nil, "", errors.New("an object in it has no size")
		}
		objects = append(objects, object{o.Name, o.Generation, size})
	}
	return objects, p.Next, nil
}

// get asks for the bytes as they are stored: an object that is gzip by its
// metadata would be unpacked on the way.
//
// https://cloud.google.com/storage/docs/transcoding
func (g *googleObjects) get(o object) *http.Request {
	q := url.Values{"alt": {"media"}}
	if o.version != "" {
		q.Set("ifGenerationMatch", o.version)
	}
	r := request(g.base, "/"+o.key, "/"+url.PathEscape(o.key), q)
	r.Header.Set("Accept-Encoding", "gzip")
	return r
}
