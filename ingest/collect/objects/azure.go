package objects

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"pulltrail/ingest/collect"
)

// azureBlobs is a container of Azure.
//
// https://learn.microsoft.com/en-us/rest/api/storageservices/list-blobs
type azureBlobs struct{ base *url.URL }

// azureVersion is the version of the protocol.
const azureVersion = "2023-11-03"

// azureAccount is what the environment says of an account, with the names that
// Azure's own tools have: AZURE_STORAGE_CONNECTION_STRING, or
// AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_KEY or AZURE_STORAGE_SAS_TOKEN.
type azureAccount struct{ name, key, sas, endpoint string }

func azureEnvironment() (a azureAccount, err error) {
	a = azureAccount{name: os.Getenv("AZURE_STORAGE_ACCOUNT"), key: os.Getenv("AZURE_STORAGE_KEY"), sas: os.Getenv("AZURE_STORAGE_SAS_TOKEN")}
	suffix := "core.windows.net"
	// https://learn.microsoft.com/en-us/azure/storage/common/storage-configure-connection-string
	for field := range strings.SplitSeq(os.Getenv("AZURE_STORAGE_CONNECTION_STRING"), ";") {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "AccountName":
			a.name = value
		case "AccountKey":
			a.key = value
		case "SharedAccessSignature":
			a.sas = value
		case "BlobEndpoint":
			a.endpoint = strings.TrimSuffix(value, "/")
		case "EndpointSuffix":
			suffix = value
		}
	}
	if a.endpoint == "" && a.name == "" {
		return a, errors.New("nothing says which account it is of: set AZURE_STORAGE_ACCOUNT, or AZURE_STORAGE_CONNECTION_STRING")
	}
	if a.endpoint == "" {
		a.endpoint = "https://" + a.name + ".blob." + suffix
	}
	return a, nil
}

// connectAzure finds a container. Without a key or a signature in the
// environment the login is that of 'az login'.
func connectAzure(ctx context.Context, container string) (store, *url.URL, func(*http.Request) error, error) {
	a, err := azureEnvironment()
	if err != nil {
		return nil, nil, nil, err
	}
	base, err := url.Parse(a.endpoint)
	if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" {
		return nil, nil, nil, errors.New("the endpoint of the blobs is no address: see AZURE_STORAGE_CONNECTION_STRING")
	}
	base.Path += "/" + container
	s := &azureBlobs{base}
	switch {
	case a.key != "":
		key, err := base64.StdEncoding.DecodeString(a.key)
		if err != nil || a.name == "" {
			return nil, nil, nil, errors.New("the account key is not base64, or the name of the account is not said: see AZURE_STORAGE_KEY, AZURE_STORAGE_ACCOUNT")
		}
		return s, base, func(r *http.Request) error { sharedKey(r, a.name, key, time.Now()); return nil }, nil
	case a.sas != "":
		return s, base, func(r *http.Request) error {
			r.URL.RawQuery = strings.TrimPrefix(r.URL.RawQuery+"&"+strings.TrimPrefix(a.sas, "?"), "&")
			return nil
		}, nil
	}
	login := &azureLogin{}
	return s, base, login.sign, login.find(ctx)
}

// azureLogin has the token of 'az login'.
type azureLogin struct {
	mu    sync.Mutex
	token string
	until time.Time
}

// azureTokenLasts is less than the hour or more that a token lasts.
const azureTokenLasts = 4 * time.Minute // 'az' gives out a token until five minutes before its end

func (a *azureLogin) find(ctx context.Context) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Now().Before(a.until) {
		return nil
	}
	t, err := collect.Helped(ctx, "az", "account", "get-access-token", "--resource", "https://storage.azure.com/", "--query", "accessToken", "--output", "tsv")
	if err != nil || t == "" {
		return errors.Join(errors.New("nobody is logged in: 'az login', or set AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or AZURE_STORAGE_CONNECTION_STRING"), err)
	}
	a.token, a.until = t, time.Now().Add(azureTokenLasts)
	return nil
}

func (a *azureLogin) sign(r *http.Request) error {
	if err := a.find(r.Context()); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	r.Header.Set("Authorization", "Bearer "+a.token)
	return nil
}

// sharedKey signs a request that has no body.
//
// https://learn.microsoft.com/en-us/rest/api/storageservices/authorize-with-shared-key
func sharedKey(r *http.Request, account string, key []byte, now time.Time) {
	r.Header.Set("X-Ms-Date", now.UTC().Format(http.TimeFormat))
	text := []string{r.Method, "", "", "", "", "", "", r.Header.Get("If-Modified-Since"), r.Header.Get("If-Match"), r.Header.Get("If-None-Match"), "", ""}
	var headers []string
	for name := range r.Header {
		if low := strings.ToLower(name); strings.HasPrefix(low, "x-ms-") {
			headers = append(headers, low+":"+strings.TrimSpace(r.Header.Get(name)))
		}
	}
	slices.Sort(headers)
	text = append(append(text, headers...), "/"+account+r.URL.EscapedPath())
	query := r.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		values := query[name]
		slices.Sort(values)
		text = append(text, strings.ToLower(name)+":"+strings.Join(values, ","))
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.Join(text, "\n")))
	r.Header.Set("Authorization", "SharedKey "+account+":"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}

func (a *azureBlobs) list(prefix, place string) *http.Request {
	q := url.Values{"restype": {"container"}, "comp": {"list"}}
	if prefix != "" {
		q.Set("prefix", prefix)
	}
	if place != "" {
		q.Set("marker", place)
	}
	r := request(a.base, "", "", q)
	r.Header.Set("X-Ms-Version", azureVersion)
	return r
}

// azurePage is a page of a list.
//
//	<EnumerationResults ContainerName="logs"><Blobs><Blob><Name>a/b.json</Name><Properties><Etag>0x8CBFF45D8A29A19</Etag>
//	<Content-Length>434</Content-Length></Properties></Blob></Blobs><NextMarker>2!80!MDAw…</NextMarker></EnumerationResults>
type azurePage struct {
	XMLName xml.Name `xml:"EnumerationResults"`
	Next    *string  `xml:"NextMarker"`
	Blobs   []struct {
		Name struct {
			Encoded bool   `xml:"Encoded,attr"`
			Text    string `xml:",chardata"`
		} `xml:"Name"`
		Etag string `xml:"Properties>Etag"`
		Size int64  `xml:"Properties>Content-Length"`
		Kind string `xml:"Properties>ResourceType"`
	} `xml:"Blobs>Blob"`
}

func (a *azureBlobs) page(body io.Reader) (objects []object, place string, err error) {
	var p azurePage
	if err := xml.NewDecoder(body).Decode(&p); err != nil {
		return nil, "", errors.New("it is no list of Azure's blobs")
	}
	if p.Next == nil {
		return nil, "", errors.New("it does not say whether it goes on")
	}
	for _, b := range p.Blobs {
		name := b.Name.Text
		if b.Name.Encoded {
			if name, err = url.PathUnescape(name); err != nil {
				return nil, "", errors.New("a name in it is not encoded as the list says")
			}
		}
		if b.Kind == "directory" {
			continue
		}
		objects = append(objects, object{name, b.Etag, b.Size})
	}
	return objects, *p.Next, nil
}

func (a *azureBlobs) get(o object) *http.Request {
	r := request(a.base, "/"+o.key, "/"+escape(o.key), nil)
	r.Header.Set("X-Ms-Version", azureVersion)
	if o.version != "" {
		r.Header.Set("If-Match", `"`+strings.Trim(o.version, `"`)+`"`)
	}
	return r
}
