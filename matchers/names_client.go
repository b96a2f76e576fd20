package matchers

import (
	"fmt"
	"net/netip"
	"strings"

	"pulltrail/timeline"
)

// namesakes raises hosts that are called like a client that is accused, where a
// registry or proxy writes names in place of addresses: it may be that machine.
//
//	build-7.acme.example - - [21/Oct/2026:12:31:41 +0000] "GET /packages/…/litellm-1.107.0-py3-none-any.whl HTTP/1.1" 200 …
func (m *matching) namesakes() {
	hosts := map[string][]timeline.Subject{}
	for a := range m.people.all() {
		if a.subject.Kind == timeline.Host {
			short := shortName(a.subject.ID)
			hosts[short] = append(hosts[short], a.subject)
		}
	}
	type raise struct {
		to timeline.Subject
		j  judged
	}
	var all []raise
	for a := range m.people.all() {
		if a.subject.Kind != timeline.Client || len(a.judged) == 0 || !machineName(a.subject.ID) {
			continue
		}
		for _, host := range hosts[shortName(a.subject.ID)] {
			if _, other := m.said[host][notWord+a.subject.ID]; other || !sameDomain(host.ID, a.subject.ID) {
				continue
			}
			for _, j := range a.judged {
				if j.verdict == "" || j.verdict == Clear || j.verdict == Unknown {
					continue
				}
				j.verdict, j.rule, j.ask, j.answer, j.via = Possible, ruleAlike, false, false, findingID(m.q.inc.ID, a.subject)
				j.because = fmt.Sprintf("may be the machine that is called %s, which %s; 'pulltrail state %s not=%s --by NAME' says that it is not", a.subject, j.because, host, a.subject.ID)
				all = append(all, raise{host, j})
				break
			}
		}
	}
	for _, r := range all {
		to := m.of(r.to)
		to.judged = append(to.judged, r.j)
	}
}

// machineName reports whether a client is written as the name of a machine in a
// domain: other names may be those of people.
func machineName(client string) bool {
	_, err := netip.ParseAddr(client)
	return err != nil && strings.Contains(client, ".") && !strings.ContainsAny(client, "@/ :")
}

// sameDomain reports whether two names of one machine can be: with domains on
// both sides those must be alike.
func sameDomain(a, b string) bool {
	_, da, full := strings.Cut(strings.ToLower(a), ".")
	_, db, other := strings.Cut(strings.ToLower(b), ".")
	return !full || !other || da == db
}
