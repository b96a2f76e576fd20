package matchers

import (
	"slices"

	"pulltrail/timeline"
)

// clientMap says which hosts an address stood for.
type clientMap map[string][]timeline.InventoryRow

func newClientMap(rows []timeline.InventoryRow) clientMap {
	c := clientMap{}
	for _, r := range rows {
		if r.Address != "" {
			c[r.Address] = append(c[r.Address], r)
		}
	}
	return c
}

// at lists the hosts that may have had the address during the span; sure says
// that it is one host, for the whole span.
func (c clientMap) at(address string, s timeline.Span) (hosts []string, sure bool) {
	for _, r := range c[address] {
		if s.Overlaps(r.Span.From, r.Span.To) && !slices.Contains(hosts, r.Host) {
			hosts = append(hosts, r.Host)
		}
	}
	return hosts, len(hosts) == 1 && c.during(address, hosts[0], s)
}

// during reports whether the host had the address for the whole span.
func (c clientMap) during(address, host string, s timeline.Span) bool {
	for _, r := range c[address] {
		if r.Host == host && s.Within(r.Span.From, r.Span.To) {
			return true
		}
	}
	return false
}

// settled reports whether the address stood for one host from one instant to
// another, so that the host answers for it.
func (c clientMap) settled(address string, from, to int64) (host string, ok bool) {
	hosts, sure := c.at(address, timeline.Span{From: from, To: to})
	if !sure {
		return "", false
	}
	return hosts[0], true
}
