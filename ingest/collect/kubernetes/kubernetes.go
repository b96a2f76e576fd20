// Package kubernetes collects what a cluster says of itself now: nodes with the
// images in their stores, pods with the digests that they run, events, and the
// names of secrets and config maps. Values of secrets are never asked for.
//
// It asks the API server itself: five kinds of list. client-go for the same adds
// 7 MB, and decodes what is to be kept as it came.
//
// https://kubernetes.io/docs/reference/using-api/api-concepts/
package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"pulltrail/ingest/collect"
	"pulltrail/timeline"
)

// Options say what to collect.
type Options struct {
	Context    *Context
	Namespaces []string // none: all
}

// Target names what is collected, for the ledger.
func (o Options) Target() string {
	return collect.TargetOf(o.Context.Server, o.Namespaces)
}

// Connect are the options of a session with the cluster but for the token and
// the case.
func Connect(o Options) (collect.Options, error) {
	way, err := o.Context.network()
	return collect.Options{Collector: "kubernetes", Target: o.Target(), Base: o.Context.Server, Dial: way}, err
}

// resource is a list that is asked for.
type resource struct {
	name       string
	namespaced bool
	metadata   bool // no more than names and dates
	reading    timeline.Reading
}

// metadataOnly asks for nothing of an object but its metadata.
//
// https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
const metadataOnly = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

// resources are in the order in which they are asked for: events are gone first.
var resources = []resource{
	{name: "events", namespaced: true, reading: timeline.PageOf},
	{name: "pods", namespaced: true, reading: timeline.PageOf},
	{name: "nodes", reading: timeline.PageOf},
	{name: "secrets", namespaced: true, metadata: true, reading: timeline.PageOf},
	{name: "configmaps", namespaced: true, metadata: true},
}

// pageSize is how many objects a page has; renewals how often a list is begun
// anew that outlived the memory of the server.
const (
	pageSize = 250
	renewals = 3
)

// Plan is what a dry run found.
type Plan struct {
	Objects int64
	Calls   int64 // that the collection takes at least
	Hidden  int64 // lists that were refused
}

type collector struct {
	s    *collect.Session
	opt  Options
	pool *collect.Pool
	dry  bool

	objects, calls, hidden atomic.Int64
}

// Collect asks for all that the cluster has now.
func Collect(ctx context.Context, s *collect.Session, opt Options) error {
	return (&collector{s: s, opt: opt}).run(ctx)
}

// DryRun asks how long the lists are.
func DryRun(ctx context.Context, s *collect.Session, opt Options) (Plan, error) {
	c := &collector{s: s, opt: opt, dry: true}
	err := c.run(ctx)
	return Plan{c.objects.Load(), c.calls.Load(), c.hidden.Load()}, err
}

func (c *collector) run(ctx context.Context) error {
	return collect.Run(ctx, c.s.Workers(), func(_ context.Context, p *collect.Pool) error {
		c.pool = p
		for _, r := range slices.Backward(resources) { // the pool takes what came last
			if !r.namespaced || len(c.opt.Namespaces) == 0 {
				p.Add(func(ctx context.Context) error { return c.everywhere(ctx, r) })
				continue
			}
			for _, namespace := range c.opt.Namespaces {
				c.within(r, namespace)
			}
		}
		return nil
	})
}

// within asks for a list of one namespace.
func (c *collector) within(r resource, namespace string) {
	c.pool.Add(func(ctx context.Context) error {
		_, err := c.list(ctx, r, namespace, nil)
		return err
	})
}

// everywhere asks for a list of all namespaces, and where that is denied for
// those that can be seen: each that is denied is a gap by name.
func (c *collector) everywhere(ctx context.Context, r resource) error {
	var covered []timeline.Reply
	if r.namespaced {
		covered = []timeline.Reply{timeline.Denied}
	}
	reply, err := c.list(ctx, r, "", covered)
	if err != nil || reply != timeline.Denied || !r.namespaced {
		return err
	}
	var names []string
	_, err = c.pages(ctx, resource{name: "namespaces", metadata: true}, "", nil, func(in *list) {
		for _, item := range in.Items {
			names = append(names, item.Metadata.Name)
		}
	})
	for _, name := range names {
		c.within(r, name)
	}
	return err
}

// list asks for a list, or in a dry run for how long it is.
func (c *collector) list(ctx context.Context, r resource, namespace string, covered []timeline.Reply) (timeline.Reply, error) {
	return c.pages(ctx, r, namespace, covered, func(in *list) {
		n := int64(len(in.Items)) + in.Metadata.Remaining
		c.objects.Add(n)
		c.calls.Add(max(1, (n+pageSize-1)/pageSize))
	})
}

// list is what is looked at of a page.
//
//	{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"10245","continue":"eyJ2Ijoi…","remainingItemCount":753},"items":[…]}
type list struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Continue  string `json:"continue"`
		Remaining int64  `json:"remainingItemCount"`
	} `json:"metadata"`
	Items []struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
	} `json:"items"`
}

// pages goes through a list. The server forgets after some minutes where a list
// was: what comes behind is then 410 Gone, and the list is begun anew.
//
// https://kubernetes.io/docs/reference/using-api/api-concepts/#retrieving-large-results-sets-in-chunks
func (c *collector) pages(ctx context.Context, r resource, namespace string, covered []timeline.Reply, page func(in *list)) (timeline.Reply, error) {
	place := ""
	for n, again, seen := 1, 0, map[string]bool{}; ; n++ {
		if seen[place] {
			return "", fmt.Errorf("%s: the pages of the list go in a circle: it cannot be had whole", c.named(r, namespace))
		}
		seen[place] = true
		want := c.want(r, namespace, n, again)
		want.NoGap = covered
		if n > 1 && again < renewals {
			want.NoGap = append(slices.Clone(covered), timeline.Expired)
		}
		in, a, err := c.page(ctx, r, namespace, place, want)
		switch {
		case err != nil:
			return "", err
		case a.Reply == timeline.Expired && n > 1 && again < renewals:
			c.s.Say("%s: the server forgot where the list was: it is begun anew", c.named(r, namespace))
			n, place, seen = 0, "", map[string]bool{}
			again++
			continue
		case in == nil:
			c.hidden.Add(1)
			return a.Reply, nil
		}
		page(in)
		if place = in.Metadata.Continue; place == "" || c.dry && r.name != "namespaces" {
			return timeline.Obtained, nil
		}
	}
}

// named is a list in words.
func (c *collector) named(r resource, namespace string) string {
	text := r.name
	if r.namespaced && namespace == "" {
		text += " of all namespaces"
	} else if namespace != "" {
		text += " of namespace " + namespace
	}
	return text + " of " + c.opt.Context.Name
}

// path is where a list stands.
func path(r resource, namespace string) string {
	if namespace == "" {
		return "/api/v1/" + r.name
	}
	return "/api/v1/namespaces/" + url.PathEscape(namespace) + "/" + r.name
}

// want is what a page is asked for. The token that leads to it is in no address:
// a page is known by its number.
func (c *collector) want(r resource, namespace string, n, again int) collect.Want {
	w := collect.Want{Kind: r.name, Name: r.name + ".json", Reading: r.reading, JSON: true, Detail: c.named(r, namespace)}
	query := url.Values{"page": {strconv.Itoa(n)}}
	if again > 0 {
		query.Set("again", strconv.Itoa(again))
	}
	w.As = c.s.Base() + path(r, namespace) + "?" + query.Encode()
	if r.metadata {
		w.Keep = namesAlone
	}
	return w
}

// page asks for a page; nil when it was refused.
func (c *collector) page(ctx context.Context, r resource, namespace, place string, want collect.Want) (*list, *collect.Answer, error) {
	query := url.Values{"limit": {strconv.Itoa(pageSize)}}
	if c.dry && r.name != "namespaces" {
		query.Set("limit", "1")
	}
	if place != "" {
		query.Set("continue", place)
	}
	want.Accept = "application/json"
	if r.metadata {
		want.Accept = metadataOnly
	}
	a, ok, err := c.s.Get(ctx, path(r, namespace), query, want, nil)
	if !ok || err != nil {
		return nil, a, err
	}
	var in list
	if err := a.Decode(&in); err != nil || !strings.HasSuffix(in.Kind, "List") {
		return nil, a, fmt.Errorf("%s: it is no list of Kubernetes: is %s the API server?", want.As, c.s.Base())
	}
	return &in, a, nil
}

// partial is what is kept of a list of metadata: names and dates. Annotations
// are not, for 'kubectl apply' puts the whole object into one of them, values and
// all; nor labels.
type partial struct {
	Kind     string `json:"kind"`
	Version  string `json:"apiVersion"`
	Metadata struct {
		Version   string `json:"resourceVersion"`
		Continue  string `json:"continue,omitempty"`
		Remaining int64  `json:"remainingItemCount,omitempty"`
	} `json:"metadata"`
	Items []struct {
		Metadata struct {
			Name      string  `json:"name"`
			Namespace string  `json:"namespace,omitempty"`
			UID       string  `json:"uid,omitempty"`
			Created   string  `json:"creationTimestamp,omitempty"`
			Deleted   string  `json:"deletionTimestamp,omitempty"`
			Managed   []field `json:"managedFields,omitempty"`
		} `json:"metadata"`
	} `json:"items"`
}

// field says who set which keys, and when.
type field struct {
	Manager   string `json:"manager"`
	Operation string `json:"operation"`
	Time      string `json:"time,omitempty"`
	Fields    struct {
		Data map[string]struct{} `json:"f:data,omitempty"`
	} `json:"fieldsV1"`
}

// namesAlone keeps names and dates. A server that sends whole objects, which have
// values, is refused.
func namesAlone(body []byte) ([]byte, error) {
	var in partial
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	if in.Kind != "PartialObjectMetadataList" {
		return nil, fmt.Errorf("the server sent a %s", in.Kind)
	}
	return json.Marshal(in)
}
