package matchers

import (
	"slices"
	"strings"

	"pulltrail/timeline"
)

// TraceUse is one thing that tells that a subject sends traces somewhere, or
// could.
type TraceUse struct {
	Subject timeline.Subject
	How     TraceMeans
	Product string // of whose vendor it is, "" for a host of one's own or one that is not known
	Domain  string // of that product
	Host    string // that is set or was contacted, "" when the evidence does not show it
	Span    timeline.Span
}

// TraceMeans is how it is known.
type TraceMeans string

// The means, what says most first.
const (
	TraceContact TraceMeans = "contact"
	TraceSetting TraceMeans = "setting"
	TraceSDK     TraceMeans = "SDK"
	TraceKey     TraceMeans = "key"
)

// TraceUses lists what the timeline knows of where traces are sent.
func TraceUses(db *timeline.DB) ([]TraceUse, error) {
	var all []TraceUse
	add := func(who timeline.Subject, how TraceMeans, p *product, host string, span timeline.Span) {
		u := TraceUse{Subject: who, How: how, Host: host, Span: span}
		if p != nil {
			u.Product = p.name
			if len(p.domains) > 0 {
				u.Domain = p.domains[0]
			}
		}
		all = append(all, u)
	}
	settings, err := db.Settings()
	if err != nil {
		return nil, err
	}
	for _, s := range settings {
		if s.Name != timeline.TraceExporter {
			continue
		}
		e := timeline.ParseTraceExport(s.Value)
		p := productAt(e.Host)
		if e.Host == "" {
			p = productOf(e.Setting)
		}
		add(s.Subject, TraceSetting, p, e.Host, s.Span)
	}
	kinds := []string{"pypi", "npm", "secret", "domain", "url"}
	err = db.FactsAbout(kinds, func(p timeline.Parts) bool { return traceProduct(p) != nil }, func(f *timeline.Fact) error {
		p := traceProduct(f.Parts)
		switch {
		case f.Parts.Type == "secret":
			add(f.Subject, TraceKey, p, "", f.Span)
		case f.Parts.Type == "domain" || f.Parts.Type == "url":
			add(f.Subject, TraceContact, p, contactHost(f.Parts), f.Span)
		case !asks(f.Action):
			add(f.Subject, TraceSDK, p, "", f.Span)
		}
		return nil
	})
	slices.SortFunc(all, func(a, b TraceUse) int {
		if c := compareSubjects(a.Subject, b.Subject); c != 0 {
			return c
		}
		return strings.Compare(string(a.How)+a.Product+a.Host, string(b.How)+b.Product+b.Host)
	})
	return all, err
}

// traceProduct is the product that an artifact tells of, nil for none.
func traceProduct(p timeline.Parts) *product {
	switch p.Type {
	case "secret":
		return productOf(p.Name)
	case "domain", "url":
		return productAt(contactHost(p))
	}
	return sdkOf(p)
}

func contactHost(p timeline.Parts) string {
	if p.Type == "url" {
		return hostOf(p.Name)
	}
	return p.Name
}
