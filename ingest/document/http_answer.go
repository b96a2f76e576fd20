package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// HTTPAnswer is an answer of an API saved as evidence: status line, headers and
// body, or the body alone where it says that it is an error.
// https://docs.github.com/en/rest/using-the-rest-api/troubleshooting-the-rest-api
var HTTPAnswer = evidence.Format{
	Name:   "http-answer",
	Shape:  evidence.DocumentShape,
	Title:  "HTTP answer saved as evidence",
	Proves: "that a log or record is expired (410), denied (401, 403, 429) or absent (404)",
	Cannot: "what the missing evidence would have said",
	Doc:    "https://www.rfc-editor.org/rfc/rfc9110#name-status-codes",
	Sample: "written by hand after the documentation",
	Claim:  claimHTTPAnswer,
	Read:   readHTTPAnswer,
}

func claimHTTPAnswer(h *evidence.Head) bool {
	return statusOf(h.Bytes) != 0 || isAPIError(h.Bytes)
}

// statusOf reads a status line; 0 when there is none.
//
//	HTTP/2.0 410 Gone
func statusOf(text []byte) int {
	if !bytes.HasPrefix(text, []byte("HTTP/")) {
		return 0
	}
	line, _, _ := bytes.Cut(text[:min(len(text), 200)], []byte("\n"))
	words := strings.Fields(string(line))
	if len(words) < 2 || len(words[1]) != 3 || len(words[0]) > len("HTTP/1.1") {
		return 0
	}
	n, err := strconv.Atoi(words[1])
	if err != nil || n < 100 || n > 599 {
		return 0
	}
	return n
}

// apiError is the body of an error answer of the GitHub API.
//
//	{"message":"Not Found","documentation_url":"https://docs.github.com/rest","status":"404"}
type apiError struct {
	Message string `json:"message"`
	Doc     string `json:"documentation_url"`
	Status  any    `json:"status"`
}

func isAPIError(head []byte) bool {
	head = bytes.TrimSpace(head)
	if len(head) < 2 || len(head) > 4096 || head[0] != '{' {
		return false
	}
	var e apiError
	return json.Unmarshal(head, &e) == nil && e.Message != "" && e.Doc != ""
}

// errNoGap is returned for an answer that says nothing about missing evidence.
var errNoGap = errors.New("an HTTP answer that is no error, with a body of no known kind")

// readHTTPAnswer tells which evidence is missing, and why. An answer that is no
// error holds the record that was asked for.
func readHTTPAnswer(d *evidence.Doc, o *evidence.Out) error {
	status, line := statusOf(d.Data), d.Data
	body := d.Data
	if status != 0 {
		line, _, _ = bytes.Cut(d.Data, []byte("\n"))
		body = afterHeaders(d.Data)
	}
	line = bytes.TrimSpace(line)
	o.SetLine(1, 0, line)
	if status >= 300 && status < 400 {
		return errors.New("a redirect: what it leads to was not fetched")
	}
	if status != 0 && status < 400 {
		if isGitHubRun(body) || isGitHubJobs(body) {
			return readGitHub(d, int64(len(d.Data)-len(body)), o)
		}
		return errNoGap
	}
	var e apiError
	_ = json.Unmarshal(body, &e) // the status line alone is enough
	if status == 0 {
		status = statusInside(e)
	}
	detail := fmt.Sprintf("HTTP %d", status)
	if e.Message != "" {
		detail += ": " + e.Message
	}
	o.Expect(timeline.Expected{Subject: o.Subject(), Reason: reasonOf(status), Detail: detail})
	return nil
}

// afterHeaders returns the body: what follows the first empty line.
func afterHeaders(data []byte) []byte {
	for rest := data; ; {
		line, after, ok := bytes.Cut(rest, []byte("\n"))
		if !ok {
			return nil
		}
		if rest = after; len(bytes.TrimSpace(line)) == 0 {
			return rest
		}
	}
}

// statusInside reads the status that newer answers repeat in their body, else
// what their message says.
func statusInside(e apiError) int {
	if s, ok := e.Status.(string); ok {
		if n, err := strconv.Atoi(s); err == nil && n >= 400 && n <= 599 {
			return n
		}
	}
	switch {
	case strings.HasPrefix(e.Message, "Not Found"):
		return 404
	case strings.HasPrefix(e.Message, "Bad credentials"), strings.HasPrefix(e.Message, "Requires authentication"):
		return 401
	}
	return 403
}

// reasonOf says in a word why evidence cannot be had.
func reasonOf(status int) string {
	switch status {
	case 410:
		return "expired"
	case 404:
		return "absent"
	case 401, 403, 407, 429, 451:
		return "denied"
	}
	return "failed"
}
