package evidence

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"pulltrail/timeline"
)

// Skew says how far the clocks of hosts are ahead of the true time, as the
// operator states with --skew: what web1 writes at 12:01:30 with web1=+90s
// happened at 12:00:00.
type Skew map[string]time.Duration

// maxSkew bounds a declared skew: ten years, for a clock that was never set.
const maxSkew = 10 * 366 * 24 * time.Hour

// ParseSkew reads HOST=+90s into the skew: a duration with its sign, such as
// +90s, -1h30m or +36h.
func (k Skew) ParseSkew(text string) error {
	host, value, ok := strings.Cut(text, "=")
	host = strings.TrimPrefix(host, string(timeline.Host)+":")
	d, err := time.ParseDuration(value)
	if !ok || host == "" || err != nil || strings.ContainsAny(host, " \t/,") || d > maxSkew || d < -maxSkew {
		return fmt.Errorf("%q: want HOST=DURATION, such as web1=+90s for a clock that is 90 seconds ahead, web1=-1h30m for one behind", text)
	}
	if old, twice := k[host]; twice && old != d {
		return fmt.Errorf("%q: %s is said to be %+v ahead already", text, host, old)
	}
	k[host] = d
	return nil
}

// String prints "web1=+1m30s,web2=-5s", sorted.
func (k Skew) String() string {
	words := make([]string, 0, len(k))
	for host, d := range k {
		sign := "+"
		if d < 0 {
			sign = ""
		}
		words = append(words, host+"="+sign+d.String())
	}
	slices.Sort(words)
	return strings.Join(words, ",")
}

// of is how many nanoseconds the clock of a host is ahead.
func (k Skew) of(host string) int64 {
	if d, ok := k[host]; ok {
		return int64(d)
	}
	for h, d := range k {
		if strings.EqualFold(h, host) {
			return int64(d)
		}
	}
	return 0
}

// clockOf names the host whose clock a subject's own times are of, "" when that
// is not known.
func clockOf(who timeline.Subject) string {
	switch who.Kind {
	case timeline.Host:
		return who.ID
	case timeline.Container:
		if host, _, ok := strings.Cut(who.ID, "/"); ok && host != "k8s" {
			return host
		}
	}
	return ""
}

// ahead is how far the clock is ahead that wrote the times of the current line
// for a subject: that of the subject's own host, else of the host whose log it
// is, else of the one that --subject names.
func (o *Out) ahead(who timeline.Subject) int64 {
	if len(o.Times.Skew) == 0 {
		return 0
	}
	if host := clockOf(who); host != "" {
		return o.Times.Skew.of(host)
	}
	for s := o.stream; s != nil; s = s.Parent {
		if host := clockOf(s.Subject); host != "" {
			return o.Times.Skew.of(host)
		}
	}
	return o.Times.Skew.of(clockOf(o.Claim))
}

// corrected takes off a span by how much its clock was ahead. The text as it is
// written stays.
func corrected(s timeline.Span, ahead int64) timeline.Span {
	if ahead == 0 {
		return s
	}
	s.From, s.To = back(s.From, ahead, timeline.Beginning), back(s.To, ahead, timeline.Forever)
	if s.Clock == timeline.Exact || s.Clock == timeline.Inherited {
		s.Clock = timeline.Skewed
	}
	return s
}

// back moves one end, unless it is unknown or would leave what times can be.
func back(ns, ahead, unknown int64) int64 {
	if ns == timeline.Beginning || ns == timeline.Forever {
		return ns
	}
	if ahead > 0 && ns < math.MinInt64+ahead+1 || ahead < 0 && ns > math.MaxInt64+ahead-1 {
		return unknown
	}
	return ns - ahead
}
