package objects

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/config"
)

// s3Objects is a bucket of S3, or of a store that speaks as S3 does.
//
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
type s3Objects struct{ base *url.URL }

// connectS3 finds a bucket. Endpoint, region and credentials are those of the
// SDK: environment, profile, SSO, web identity, role of the machine.
func connectS3(ctx context.Context, bucket string, way http.RoundTripper) (store, *url.URL, func(*http.Request) error, error) {
	c, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("configuration of AWS: %w", err)
	}
	endpoint := os.Getenv("AWS_ENDPOINT_URL_S3")
	if endpoint == "" && c.BaseEndpoint != nil {
		endpoint = *c.BaseEndpoint
	}
	region := c.Region
	if endpoint == "" {
		if found := bucketRegion(ctx, way, "https://s3.amazonaws.com/"+url.PathEscape(bucket)); found != "" {
			region = found
		}
		if region == "" {
			return nil, nil, nil, errors.New("nothing says in which region the bucket is: set AWS_REGION")
		}
		endpoint = "https://s3." + region + ".amazonaws.com"
		if strings.HasPrefix(region, "cn-") {
			endpoint += ".cn"
		}
	}
	base, err := url.Parse(strings.TrimSuffix(endpoint, "/"))
	if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" {
		return nil, nil, nil, errors.New("the endpoint of S3 is no address: see AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL")
	}
	if region == "" {
		region = "us-east-1" // what stores elsewhere take
	}
	base.Path += "/" + bucket
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true })
	return &s3Objects{base}, base, func(r *http.Request) error {
		if c.Credentials == nil {
			return errors.New("there are none: 'aws login', 'aws sso login', or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
		}
		keys, err := c.Credentials.Retrieve(r.Context())
		if err != nil {
			return err
		}
		r.Header.Set("X-Amz-Content-Sha256", unsignedPayload)
		return signer.SignHTTP(r.Context(), keys, r, unsignedPayload, "s3", region, time.Now())
	}, nil
}

// unsignedPayload stands for the hash of a body: there is none.
const unsignedPayload = "UNSIGNED-PAYLOAD"

// regionPatience is how long the question for a region may take.
const regionPatience = 10 * time.Second

// bucketRegion asks, without credentials, where a bucket is; "" when that is not
// told. Also a refusal says it.
//
// https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html
func bucketRegion(ctx context.Context, way http.RoundTripper, address string) string {
	ctx, stop := context.WithTimeout(ctx, regionPatience)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, address, http.NoBody)
	if err != nil {
		return ""
	}
	resp, err := way.RoundTrip(r)
	if err != nil {
		return ""
	}
	resp.Body.Close()
	region := resp.Header.Get("X-Amz-Bucket-Region")
	for _, c := range region {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return ""
		}
	}
	return region
}

func (s *s3Objects) list(prefix, place string) *http.Request {
	q := url.Values{"list-type": {"2"}, "encoding-type": {"url"}, "prefix": {prefix}}
	if place != "" {
		q.Set("continuation-token", place)
	}
	return request(s.base, "", "", q)
}

// s3Page is a page of a list.
//
//	<ListBucketResult><KeyCount>2</KeyCount><IsTruncated>true</IsTruncated><NextContinuationToken>1ueGcx…</NextContinuationToken>
//	<Contents><Key>AWSLogs/x.json.gz</Key><ETag>"fba9dede5f27731c9771645a39863328"</ETag><Size>434234</Size></Contents></ListBucketResult>
type s3Page struct {
	XMLName   xml.Name `xml:"ListBucketResult"`
	Truncated *bool    `xml:"IsTruncated"`
	Next      string   `xml:"NextContinuationToken"`
	Encoding  string   `xml:"EncodingType"`
	Contents  []struct {
		Key  string `xml:"Key"`
		ETag string `xml:"ETag"`
		Size int64  `xml:"Size"`
	} `xml:"Contents"`
}

func (s *s3Objects) page(body io.Reader) (objects []object, place string, err error) {
	var p s3Page
	if err := xml.NewDecoder(body).Decode(&p); err != nil {
		return nil, "", errors.New("it is no list of S3")
	}
	if p.Truncated == nil || *p.Truncated != (p.Next != "") {
		return nil, "", errors.New("it does not say whether it goes on")
	}
	for _, o := range p.Contents {
		if p.Encoding == "url" {
			if o.Key, err = url.QueryUnescape(o.Key); err != nil {
				return nil, "", errors.New("a key in it is not encoded as the list says")
			}
		}
		objects = append(objects, object{o.Key, o.ETag, o.Size})
	}
	return objects, p.Next, nil
}

func (s *s3Objects) get(o object) *http.Request {
	r := request(s.base, "/"+o.key, "/"+escape(o.key), nil)
	if o.version != "" {
		r.Header.Set("If-Match", o.version)
	}
	return r
}

// escape encodes a key as it is signed: everything but what is unreserved.
//
// https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
func escape(key string) string {
	var b strings.Builder
	for i := range len(key) {
		switch c := key[i]; {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c >= '0' && c <= '9', strings.IndexByte("-._~/", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
