package services

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// unsigned says what is wrong with who asks, "" for nothing: a store computes
// the signature itself, from what reached it.
func (o *Objects) unsigned(r *http.Request) string {
	switch {
	case o.SAS != "":
		if !strings.Contains(r.URL.RawQuery, o.SAS) {
			return "AuthenticationFailed"
		}
	case o.Secret == "":
	case o.Kind == "s3":
		return o.sigV4(r)
	case o.Kind == "azblob":
		return o.sharedKey(r)
	case r.Header.Get("Authorization") != "Bearer "+o.Secret:
		return "forbidden"
	}
	return ""
}

// encoded is a text as AWS signs it.
func encoded(text string) string {
	return strings.NewReplacer("+", "%20", "%7E", "~", "*", "%2A").Replace(url.QueryEscape(text))
}

// sigV4 checks a signature of AWS.
//
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
func (o *Objects) sigV4(r *http.Request) string {
	var scope, names, got string
	_, rest, _ := strings.Cut(r.Header.Get("Authorization"), "Credential="+o.Key+"/")
	for i, field := range strings.Split(rest, ", ") {
		switch i {
		case 0:
			scope = field
		case 1:
			names = strings.TrimPrefix(field, "SignedHeaders=")
		default:
			got = strings.TrimPrefix(field, "Signature=")
		}
	}
	part := strings.Split(scope, "/")
	if len(part) != 4 {
		return "InvalidAccessKeyId"
	}
	path := strings.ReplaceAll(encoded(r.URL.Path), "%2F", "/")
	var query []string
	for name, values := range r.URL.Query() {
		for _, v := range values {
			query = append(query, encoded(name)+"="+encoded(v))
		}
	}
	slices.Sort(query)
	canonical := r.Method + "\n" + path + "\n" + strings.Join(query, "&") + "\n"
	for name := range strings.SplitSeq(names, ";") {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		canonical += name + ":" + strings.TrimSpace(value) + "\n"
	}
	canonical += "\n" + names + "\n" + r.Header.Get("X-Amz-Content-Sha256")
	sum := sha256.Sum256([]byte(canonical))
	key := []byte("AWS4" + o.Secret)
	for _, p := range part {
		key = mac(key, p)
	}
	if want := hex.EncodeToString(mac(key, fmt.Sprintf("AWS4-HMAC-SHA256\n%s\n%s\n%x", r.Header.Get("X-Amz-Date"), scope, sum))); got != want {
		return "SignatureDoesNotMatch"
	}
	return ""
}

func mac(key []byte, text string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

// sharedKey checks a signature of Azure.
//
// https://learn.microsoft.com/en-us/rest/api/storageservices/authorize-with-shared-key
func (o *Objects) sharedKey(r *http.Request) string {
	h := r.Header
	text := r.Method + "\n\n\n\n\n\n\n" + h.Get("If-Modified-Since") + "\n" + h.Get("If-Match") + "\n" + h.Get("If-None-Match") + "\n\n\n" +
		"x-ms-date:" + h.Get("X-Ms-Date") + "\nx-ms-version:" + h.Get("X-Ms-Version") + "\n/" + o.Key + r.URL.EscapedPath()
	var query []string
	for name, values := range r.URL.Query() {
		query = append(query, "\n"+strings.ToLower(name)+":"+strings.Join(values, ","))
	}
	slices.Sort(query)
	key, err := base64.StdEncoding.DecodeString(o.Secret)
	if err != nil {
		return "InvalidKey"
	}
	want := "SharedKey " + o.Key + ":" + base64.StdEncoding.EncodeToString(mac(key, text+strings.Join(query, "")))
	if h.Get("Authorization") != want {
		return "AuthenticationFailed"
	}
	return ""
}
