package collect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// Want says what a request is for.
type Want struct {
	Kind string // runs, jobs, logs, …: a word for the ledger

	// Version of what is asked for. An answer of the same version is never asked
	// for again; "" is one that counts for this collection alone, such as a list
	// that grows; Lasting never changes.
	Version string

	Again   bool             // asked for once more, whatever the ledger has: what is not kept of the answer is needed
	Name    string           // what the answer would be called as a file
	Claim   timeline.Subject // whose evidence it is, where it does not say
	About   timeline.Subject // whose evidence is missing when it is refused; zero: that of Claim
	Reading timeline.Reading // is it for a format
	Span    timeline.Span    // when what is refused lived
	Signed  bool             // the service answers with a signed address on another host, which gets no token
	Raw     bool             // the answer is a file as it is, whatever its type says
	Accept  string           // the type that is asked for; "": any, of Raw text
	JSON    bool             // the answer is JSON, whatever its type says
	Zip     bool             // the answer is an archive: it must end like one
	Begins  string           // what the answer begins with; one that does not is as good as absent
	Ends    string           // what stands among its last bytes, in the same way
	XML     bool             // the answer is an XML document: it must be a whole one
	SHA256  string           // hex: what the bytes must have, where their address says it
	As      string           // what the ledger knows the request by; "": its address, without secrets
	Size    int64            // bytes that the answer must have, where a list says it; 0: not known
	Fresh   bool             // what was obtained in an earlier collection stands if the service says that it did not change
	Most    int64            // bytes; 0: maxAnswer, for Signed maxDownload
	NoGap   []timeline.Reply // refusals that are no gap: something else is asked for in its place, or not everybody may
	Detail  string           // what a gap says beside the status

	// Keep takes out of an answer what the case may hold, where it comes with values
	// of secrets; nil: all of it. What it refuses is a gap.
	Keep func(body []byte) ([]byte, error)

	held *timeline.Inquiry // what is kept already, and stands if it did not change
}

// Lasting is the version of what never changes.
const Lasting = "lasting"

// Bounds on an answer. One that is larger is a gap.
const (
	maxAnswer   = 32 << 20
	maxDownload = 4 << 30
)

type wantKey struct{}

// For says what the requests that are made with the context are for. Client
// libraries hand it on.
func For(ctx context.Context, w Want) context.Context { return context.WithValue(ctx, wantKey{}, w) }

func wanted(ctx context.Context) Want {
	w, _ := ctx.Value(wantKey{}).(Want)
	if w.Kind == "" {
		w.Kind = "list"
	}
	return w
}

// secretParameters are those of a query that hold a credential.
var secretParameters = []string{"token", "access_token", "private_token", "job_token", "key", "api_key", "apikey", "sig", "signature", "password", "secret", "client_secret"}

// Address is a URL as it may be written down: without name, password, fragment
// and parameters that hold a secret.
func Address(u *url.URL) string {
	clean := *u
	clean.User, clean.Fragment = nil, ""
	q := clean.Query()
	for name := range q {
		low := strings.ToLower(name)
		if slices.Contains(secretParameters, low) || strings.HasPrefix(low, "x-amz-") || strings.HasPrefix(low, "x-goog-") {
			q.Set(name, "REDACTED")
		}
	}
	clean.RawQuery = q.Encode()
	return strings.ReplaceAll(clean.String(), "!", "%21") // it separates members of archives
}

// address of a request: what the ledger knows it by. That of a query in the
// body has its hash.
func address(r *http.Request, body []byte) string {
	a := Address(r.URL)
	if r.Method == http.MethodGet {
		return a
	}
	sum := sha256.Sum256(body)
	return a + "#" + r.Method + "-" + hex.EncodeToString(sum[:8])
}
