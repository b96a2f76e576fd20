package matchers

import (
	"net/netip"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// egress says of each subject that may hold the release whether it could reach
// the internet: seen where evidence shows it, none where a person or the
// inventory states it, else unknown. A look-up of a name reaches nobody.
func (m *matching) egress(res *Result, endpoints func([]timeline.Subject, func(string) bool, func(timeline.Subject, string)) error) error {
	at := map[timeline.Subject]*Finding{}
	var asked []timeline.Subject
	for i := range res.Findings {
		f := &res.Findings[i]
		if f.Verdict == Unknown || f.Verdict == Clear {
			continue
		}
		at[f.Subject] = f
		asked = append(asked, f.Subject)
	}
	for _, row := range m.r.inventory {
		host := timeline.Subject{Kind: timeline.Host, ID: row.Host}
		client := timeline.Subject{Kind: timeline.Client, ID: row.Address}
		if _, only := m.clients.settled(row.Address, row.Span.From, row.Span.To); only && at[host] != nil && at[client] == nil {
			at[client] = at[host]
			asked = append(asked, client)
		}
	}
	return endpoints(asked, m.public, func(who timeline.Subject, endpoint string) {
		if f := at[who]; f.Egress != "seen" {
			f.reached("contacted " + endpoint)
		}
	})
}

// fetched is what a subject's own lines show of its way out.
func (m *matching) fetched(a *about, f *Finding) {
	if f.Verdict == Unknown || f.Verdict == Clear {
		return
	}
	for i := range a.judged {
		if where := m.fetchedFrom(a.judged[i].Fact); where != "" && a.judged[i].via == "" {
			f.reached(where)
			return
		}
	}
}

func (f *Finding) reached(how string) {
	if f.Egress == "none" {
		how += ", though " + f.EgressWhy
	}
	f.Egress, f.EgressWhy = "seen", how
}

// inventoryOf takes what the inventory says of a host, and what people state.
func (m *matching) inventoryOf(f *Finding) {
	if f.Subject.Kind == timeline.Host {
		for _, row := range m.byHost[f.Subject.ID] {
			f.Owner, f.Service = row.Owner, row.Service
		}
	}
	m.stated(f)
}

// stated takes what the inventory and people say of the way out.
func (m *matching) stated(f *Finding) {
	var rows []timeline.InventoryRow
	if f.Subject.Kind == timeline.Host {
		rows = m.byHost[f.Subject.ID]
	}
	for _, row := range rows {
		switch strings.ToLower(row.Egress) {
		case "none", "no", "false":
			f.Egress, f.EgressWhy = "none", "the inventory says that it has none"
		case "yes", "any", "internet", "seen", "true":
			f.Egress, f.EgressWhy = "seen", "the inventory says so"
		}
	}
	for word, d := range m.said[f.Subject] {
		if value, ok := strings.CutPrefix(word, egressWord); ok && (f.EgressWhy == "" || value == "seen" || f.Egress == "none") {
			f.Egress, f.EgressWhy = value, saying(d)
		}
	}
}

// fetchedFrom names the public registry that a subject's own line shows an image
// came from. A registry's log shows who asked it, not how they got there.
func (m *matching) fetchedFrom(f *timeline.Fact) string {
	if f.Action != timeline.Pull || f.Parts.Type != "image" || f.Subject.Kind == timeline.Client {
		return ""
	}
	host, _, _ := strings.Cut(f.Parts.Name, "/")
	if !publicHosts[host] || slices.ContainsFunc(m.q.mirrors, func(mi timeline.Mirror) bool { return strings.HasPrefix(f.Parts.Name, mi.Prefix) }) {
		return ""
	}
	return "pulled from " + host
}

// inside are the ends of names that only an own network has.
// https://www.rfc-editor.org/rfc/rfc6762#appendix-G
var inside = []string{".local", ".internal", ".lan", ".corp", ".home", ".home.arpa", ".intranet", ".private", ".svc", ".localdomain"}

// carrierNAT is the shared address space, https://www.rfc-editor.org/rfc/rfc6598.
var carrierNAT = netip.MustParsePrefix("100.64.0.0/10")

// public reports whether a contact went to an address of the internet.
func (m *matching) public(endpoint string) bool {
	kind, value, _ := strings.Cut(endpoint, ":")
	if kind == "url" {
		value = hostOf(value)
	} else if kind != "ip" {
		return false
	}
	value = strings.Trim(value, "[]")
	if a, err := netip.ParseAddr(value); err == nil {
		a = a.Unmap()
		return a.IsGlobalUnicast() && !a.IsPrivate() && !carrierNAT.Contains(a)
	}
	value = strings.ToLower(value)
	if !strings.Contains(value, ".") || kind == "ip" || slices.ContainsFunc(inside, func(end string) bool { return strings.HasSuffix(value, end) }) {
		return false
	}
	for _, mi := range m.q.mirrors {
		if host, _, _ := strings.Cut(mi.Prefix, "/"); strings.EqualFold(host, value) {
			return false
		}
	}
	return m.byHost[value] == nil
}
