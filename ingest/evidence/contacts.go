package evidence

import (
	"net/netip"
	"strconv"
	"strings"
	"time"

	"pulltrail/timeline"
)

// maxContacts bounds the endpoints that are counted at once.
const maxContacts = 16384

// Contacts counts the endpoints that a sensor saw: one event stands for all
// contacts of a subject with one endpoint in one hour.
type Contacts struct {
	seen  map[contactKey]*contact
	order []contactKey
}

type contactKey struct {
	who      timeline.Subject
	endpoint string
	hour     int64
}

type contact struct {
	mark  Mark
	span  timeline.Span
	count int
}

// Add counts what the current line tells of: who contacted the endpoint, a
// domain:, ip: or url:.
func (c *Contacts) Add(o *Out, who timeline.Subject, endpoint string, span timeline.Span) {
	key := contactKey{who, endpoint, span.From / int64(time.Hour)}
	if x := c.seen[key]; x != nil {
		x.span.From, x.span.To = min(x.span.From, span.From), max(x.span.To, span.To)
		if x.count++; x.span.From != x.span.To && x.span.Clock == timeline.Exact {
			x.span.Clock = timeline.Section
		}
		return
	}
	if len(c.order) >= maxContacts {
		c.Settle(o)
	}
	if c.seen == nil {
		c.seen = map[contactKey]*contact{}
	}
	c.seen[key] = &contact{mark: o.Mark(), span: span, count: 1}
	c.order = append(c.order, key)
}

// Settle makes the events of all that was counted.
func (c *Contacts) Settle(o *Out) {
	for _, key := range c.order {
		x := c.seen[key]
		if x.count > 1 {
			x.mark.origin.Text = "(" + strconv.Itoa(x.count) + " in this hour) " + x.mark.origin.Text
		}
		o.At(x.mark, timeline.Event{Action: timeline.Contact, Subject: key.who, Span: x.span, Items: []timeline.Item{{Artifact: key.endpoint}}})
	}
	c.seen, c.order = nil, nil
}

// Endpoint names a host as logs write it, with or without a port or a dot
// behind it: domain:files.acme.example, ip:10.0.4.7; "" for what is neither.
func Endpoint(host string) string {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if at, err := netip.ParseAddrPort(host); err == nil {
		return "ip:" + at.Addr().String()
	}
	if at, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return "ip:" + at.String()
	}
	if name, port, ok := strings.Cut(host, ":"); ok {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return ""
		}
		host = name
	}
	if host == "" || len(host) > 253 || strings.ContainsAny(host, "/ \t\"'<>()") || !strings.Contains(host, ".") {
		return ""
	}
	return "domain:" + host
}
