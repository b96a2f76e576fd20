package reports

import (
	"io"
	"net/url"
	"slices"
	"strings"

	"pulltrail/matchers"
)

// vex is an OpenVEX document.
// https://github.com/openvex/spec/blob/main/OPENVEX-SPEC.md
type vex struct {
	Context    string         `json:"@context"`
	ID         string         `json:"@id"`
	Author     string         `json:"author"`
	Role       string         `json:"role,omitempty"`
	Timestamp  string         `json:"timestamp"`
	Version    int            `json:"version"`
	Tooling    string         `json:"tooling"`
	Statements []vexStatement `json:"statements"`
}

type vexStatement struct {
	Vulnerability vulnerability `json:"vulnerability"`
	Products      []product     `json:"products"`
	Status        string        `json:"status"`
	Justification string        `json:"justification,omitempty"`
	Impact        string        `json:"impact_statement,omitempty"`
	Action        string        `json:"action_statement,omitempty"`
	Notes         string        `json:"status_notes,omitempty"`
}

type vulnerability struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Aliases     []string `json:"aliases,omitempty"`
}

type product struct {
	ID          string            `json:"@id"`
	Identifiers map[string]string `json:"identifiers,omitempty"`
	Hashes      map[string]string `json:"hashes,omitempty"`
}

// Services lists the services that findings belong to by the inventory, in
// order; "" stands for those of none.
func Services(res *matchers.Result) []string {
	var out []string
	for _, f := range res.Findings {
		if !slices.Contains(out, f.Service) {
			out = append(out, f.Service)
		}
	}
	slices.Sort(out)
	return out
}

// OpenVEX writes what is known of the subjects of one service, all of them when
// every is set. A verdict that could change with more evidence is under
// investigation; clear is not affected. asOf is required: a statement says when
// it was made.
func OpenVEX(w io.Writer, res *matchers.Result, service string, every bool, author, asOf string) error {
	inc := res.Incident
	doc := vex{
		Context: "https://openvex.dev/ns/v0.2.0", Author: author, Timestamp: asOf, Version: 1, Tooling: "pulltrail", Statements: []vexStatement{},
	}
	for i := range res.Findings {
		f := &res.Findings[i]
		if !every && f.Service != service {
			continue
		}
		s := vexStatement{
			Vulnerability: vulnerability{Name: inc.ID, Description: inc.Title, Aliases: inc.Aliases},
			Products:      []product{newProduct(f)},
		}
		switch v := settled(f); v {
		case matchers.Exposed, matchers.Pulled:
			s.Status = "affected"
			s.Action = "Contain it, replace the release, and rotate what was within its reach: see the rotation report."
			s.Notes = f.Because
		case matchers.Possible, matchers.Unknown:
			s.Status, s.Notes = "under_investigation", f.Because
		case matchers.Clear:
			s.Status, s.Impact = "not_affected", f.Because
			s.Justification = "component_not_present"
			if inc.Kind != matchers.MaliciousRelease {
				s.Justification = "vulnerable_code_not_in_execute_path"
			}
		}
		doc.Statements = append(doc.Statements, s)
	}
	body, err := JSON(doc)
	if err != nil {
		return err
	}
	doc.ID = "urn:pulltrail:vex:" + hashOf(body)
	return WriteJSON(w, doc)
}

// settled is the verdict of a finding, unknown for one that is clear while some
// channel of the incident was not seen: that is no statement to give away.
func settled(f *matchers.Finding) matchers.Verdict {
	for _, v := range f.Channels {
		if f.Verdict == matchers.Clear && v != matchers.Clear {
			return matchers.Unknown
		}
	}
	return f.Verdict
}

// newProduct names a subject as a product: an image by its digest, everything
// else by a name that is this organisation's own.
func newProduct(f *matchers.Finding) product {
	p := product{ID: "urn:pulltrail:" + string(f.Subject.Kind) + ":" + url.PathEscape(f.Subject.ID)}
	if hash, ok := strings.CutPrefix(f.Subject.ID, "sha256:"); ok && f.Subject.Kind == "image" {
		p.ID = "pkg:oci/image@sha256%3A" + hash
		p.Identifiers = map[string]string{"purl": p.ID}
		p.Hashes = map[string]string{"sha-256": hash}
	}
	return p
}

// VEXFile is the name of a service's file.
func VEXFile(service string) string {
	if service == "" {
		return "no-service.openvex.json"
	}
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, service)
	if name != service {
		name += "-" + hashOf([]byte(service))[:8] // two services never share a file
	}
	return name + ".openvex.json"
}
