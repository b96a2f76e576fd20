package matchers

import (
	"cmp"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"pulltrail/timeline"
)

const schemaName = "pulltrail.incident/1"

// The kinds of incident.
const (
	MaliciousRelease = "malicious-release"
	EngineFlaw       = "engine-flaw"
	VendorBreach     = "vendor-breach"
)

// Words that an incident file may use.
var (
	triggers       = []string{"install", "import", "interpreter-start", "start", "unknown"}
	digestRoles    = []string{"index", "manifest", "config", "layer", "diff", "file"}
	indicatorTypes = []string{
		"domain", "ip", "url", "file", "sha256", "process", "env", "user-agent", "git-commit",
		"repo-name", "k8s", "log-literal", "context",
	}
	rotationClasses = []string{
		"cloud-instance-role", "cloud-static-key", "cloud-secret-store", "llm-provider-key",
		"gateway-master-key", "gateway-virtual-key", "database-credential", "process-environment", "ssh-key", "git-token",
		"ci-secret", "package-publish-token", "registry-credential", "all-secrets", "password-manager",
		"kubernetes-credential", "vault-token", "signing-key", "tls-key", "infra-state", "dotenv-file", "shell-history",
		"assistant-credential", "wallet", "browser-store", "saas-token", "account-password",
	}
)

// Forms of values.
var (
	slugForm      = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*$`)
	dayForm       = regexp.MustCompile(`^\d{4}-\d\d-\d\d$`)
	timeForm      = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`)
	channelForm   = regexp.MustCompile(`^[a-z0-9.-]+(/[a-z0-9.-]+)?$`)
	purlForm      = regexp.MustCompile(`^pkg:[a-z][a-z0-9.+-]*/[^@?#\s]+$`)
	versionForm   = regexp.MustCompile(`^(\*|[0-9A-Za-z][\w.+~:!-]*)$`)
	rangeForm     = regexp.MustCompile(`^(<=|>=|<|>)[\w.+~:!-]+(,(<=|>=|<|>)[\w.+~:!-]+)*$`)
	tagForm       = regexp.MustCompile(`^\w[\w.-]{0,127}$`)
	movingForm    = regexp.MustCompile(`^[\w*][\w.*-]{0,127}$`)
	digestForm    = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	hexForm       = regexp.MustCompile(`^[0-9a-f]{64}$`)
	commitForm    = regexp.MustCompile(`^[0-9a-f]{40}$`)
	ownerForm     = regexp.MustCompile(`^[\w.-]+/[\w.-]+$`)
	platformForm  = regexp.MustCompile(`^[a-z0-9]+/[a-z0-9_]+(/[a-z0-9]+)?$`)
	domainForm    = regexp.MustCompile(`^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)+$`)
	urlForm       = regexp.MustCompile(`^[a-z][a-z0-9+.-]*://[^\s"<>]+$`)
	httpsForm     = regexp.MustCompile(`^https://[^\s"<>]+$`)
	referenceForm = regexp.MustCompile(`^(https://[^\s"<>]+|[^:/]*:? '.+'.*)$`)
	sentenceEnd   = regexp.MustCompile(`\.(\s|$)`)
)

const (
	topKeys = "schema id title kind aliases published summary references channels packages images actions indicators " +
		"complete response_order rotation not_affected disagreements unknown hits misses"
	citeKeys = " note disputed"
)

// keysOfKind are the keys that one kind of incident has more.
var keysOfKind = map[string]string{EngineFlaw: "engines", VendorBreach: "vendors"}

func (l *loader) incident(n *yaml.Node) *Incident {
	f := l.mapping(n, "incident", topKeys, "engines vendors")
	if f == nil {
		return nil
	}
	inc := &Incident{
		Schema:    l.oneOf(f["schema"], "schema", schemaName),
		ID:        l.like(f["id"], "id", slugForm, "small letters, digits, . and -"),
		Title:     l.text(f["title"], "title"),
		Kind:      l.oneOf(f["kind"], "kind", MaliciousRelease, EngineFlaw, VendorBreach),
		Aliases:   l.texts(f["aliases"], "aliases", l.text),
		Published: l.day(f["published"], "published"),
		Summary:   l.text(f["summary"], "summary"),
		References: l.texts(f["references"], "references", func(n *yaml.Node, what string) string {
			return l.like(n, what, referenceForm, "an https address, or a document without one as kind: 'title'")
		}),
	}
	l.head(f, inc)
	l.lists(f, inc)
	l.samples(f, inc)
	return inc
}

// head checks what the first keys say together.
func (l *loader) head(f fields, inc *Incident) {
	l.references = len(inc.References)
	if f["references"] != nil && l.references == 0 {
		l.bad(f["references"], "references: want at least one: every fact says where it was read")
	}
	if id := idOf(l.name); inc.ID != "" && inc.ID != id {
		l.bad(f["id"], "id: %q differs from the file name: want %q, or rename the file", inc.ID, id)
	}
	if len(sentenceEnd.FindAllString(inc.Summary, -1)) > 2 {
		l.bad(f["summary"], "summary: want two sentences at most")
	}
	for kind, key := range keysOfKind {
		switch {
		case inc.Kind == kind && f[key] == nil:
			l.bad(f["kind"], "%s is missing: an incident of kind %s has it", key, kind)
		case inc.Kind != "" && inc.Kind != kind && f[key] != nil:
			l.bad(f[key], "%s: only for an incident of kind %s", key, kind)
		}
	}
	if f["complete"] != nil {
		c := l.mapping(f["complete"], "complete", "versions tags digests commits", "")
		inc.Complete = Completeness{
			Versions: l.flag(c["versions"], "complete.versions"), Tags: l.flag(c["tags"], "complete.tags"),
			Digests: l.flag(c["digests"], "complete.digests"), Commits: l.flag(c["commits"], "complete.commits"),
		}
	}
}

func (l *loader) lists(f fields, inc *Incident) {
	inc.Channels = entries(l, f, "channels", l.channel)
	for _, c := range inc.Channels {
		l.channels = append(l.channels, c.Name)
	}
	inc.Packages = entries(l, f, "packages", l.pkg)
	inc.Images = entries(l, f, "images", l.image)
	inc.Actions = entries(l, f, "actions", l.action)
	inc.Indicators = entries(l, f, "indicators", l.indicator)
	inc.ResponseOrder = entries(l, f, "response_order", l.step)
	inc.Rotation = entries(l, f, "rotation", l.rotation)
	inc.NotAffected = entries(l, f, "not_affected", l.notAffected)
	inc.Engines = entries(l, f, "engines", l.engine)
	inc.Vendors = entries(l, f, "vendors", l.vendor)
	inc.Disagreements = l.texts(f["disagreements"], "disagreements", l.text)
	inc.Unknown = l.texts(f["unknown"], "unknown", l.text)
	l.twice(f["channels"], "name", len(inc.Channels), func(i int) []string { return []string{inc.Channels[i].Name} })
	l.twice(f["packages"], "version", len(inc.Packages), func(i int) []string {
		var out []string
		for _, v := range inc.Packages[i].Versions {
			out = append(out, inc.Packages[i].PURL+"@"+v)
		}
		return out
	})
}

// entries reads a list of mappings.
func entries[T any](l *loader, f fields, key string, read func(n *yaml.Node, what string) T) []T {
	out := []T{}
	l.each(f[key], key, func(n *yaml.Node, what string) { out = append(out, read(n, what)) })
	return out
}

// twice reports what more than one entry of a list claims.
func (l *loader) twice(list *yaml.Node, what string, n int, claims func(i int) []string) {
	first := map[string]int{}
	for i := range n {
		for _, c := range claims(i) {
			if line, ok := first[c]; ok && c != "" {
				l.bad(list.Content[i], "%s %s twice, first on line %d", what, c, line)
				continue
			}
			first[c] = list.Content[i].Line
		}
	}
}

func (l *loader) channel(n *yaml.Node, what string) Channel {
	f := l.mapping(n, what, "name windows", "")
	c := Channel{
		Name:    l.like(f["name"], what+".name", channelForm, "a word such as npm, or npm/squawk with a qualifier"),
		Windows: entries(l, f, "windows", func(n *yaml.Node, w string) Window { return l.window(n, what+"."+w) }),
	}
	if f["windows"] != nil && len(c.Windows) == 0 {
		l.bad(f["windows"], "%s.windows: want at least one; from: null and to: null when nobody knows", what)
	}
	return c
}

// precisions are the steps of a window's ends, with the end of the text of a
// time that is no finer.
var precisions = map[string]struct {
	length time.Duration
	ending string
}{"second": {time.Second, "Z"}, "minute": {time.Minute, ":00Z"}, "hour": {time.Hour, ":00:00Z"}, "day": {24 * time.Hour, "T00:00:00Z"}}

func (l *loader) window(n *yaml.Node, what string) Window {
	f := l.mapping(n, what, "from to precision basis source", citeKeys)
	w := Window{
		Cite: l.cite(f, what), Precision: l.oneOf(f["precision"], what+".precision", "second", "minute", "hour", "day"),
		Basis: l.oneOf(f["basis"], what+".basis", "stated", "outer-bound", "derived"),
	}
	w.From = l.time(f["from"], what+".from", w.Precision, timeline.Beginning)
	w.To = l.time(f["to"], what+".to", w.Precision, timeline.Forever)
	if w.To < w.From {
		l.bad(f["to"], "%s: ends before it starts", what)
	}
	if w.To != timeline.Forever {
		w.To += int64(precisions[w.Precision].length) - 1
	}
	return w
}

func (l *loader) time(n *yaml.Node, what, precision string, unknown int64) int64 {
	if n == nil || n.ShortTag() == "!!null" {
		return unknown
	}
	text := l.like(n, what, timeForm, "UTC to the second, such as 2026-10-21T11:39:00Z, or null for unknown")
	if text == "" {
		return unknown
	}
	if !strings.HasSuffix(text, precisions[precision].ending) {
		l.bad(n, "%s: %s is finer than its precision, %s: want ...%s", what, text, precision, precisions[precision].ending)
	}
	t, err := timeline.ParseTime(text, unknown)
	if err != nil {
		l.bad(n, "%s: %v", what, err)
		return unknown
	}
	return t
}

func (l *loader) day(n *yaml.Node, what string) string {
	s := l.like(n, what, dayForm, "a day such as 2026-10-21")
	if _, err := time.Parse(time.DateOnly, s); s != "" && err != nil {
		l.bad(n, "%s: %s is no day of the calendar", what, s)
	}
	return s
}

// cite reads where a fact was read. Without source it is that of the entry
// around it, which the caller sets.
func (l *loader) cite(f fields, what string) Cite {
	c := Cite{Note: l.text(f["note"], what+".note"), Disputed: l.flag(f["disputed"], what+".disputed")}
	n := f["source"]
	if n == nil {
		return c
	}
	if n.ShortTag() == "!!int" {
		i, err := strconv.Atoi(n.Value)
		if err != nil || i < 0 || i >= l.references {
			l.bad(n, "%s.source: %s is no reference: there are 0 to %d", what, n.Value, l.references-1)
		}
		c.Source.Index = i
		return c
	}
	c.Source.URL = l.like(n, what+".source", httpsForm, "the number of a reference (0 is the first), or an https address")
	return c
}

// citeWithin is cite for a part of an entry.
func (l *loader) citeWithin(f fields, what string, around Cite) Cite {
	c := l.cite(f, what)
	if f["source"] == nil {
		c.Source = around.Source
	}
	c.Disputed = c.Disputed || around.Disputed
	return c
}

// declared reads the channel of a package, image or action.
func (l *loader) declared(n *yaml.Node, what string) string {
	s := l.text(n, what+".channel")
	if s != "" && !slices.Contains(l.channels, s) {
		l.bad(n, "%s.channel: %q is not declared: channels has %s", what, s, cmp.Or(strings.Join(l.channels, ", "), "none"))
	}
	return s
}

func (l *loader) indicator(n *yaml.Node, what string) Indicator {
	f := l.mapping(n, what, "type value source", citeKeys)
	i := Indicator{Type: l.oneOf(f["type"], what+".type", indicatorTypes...), Cite: l.cite(f, what)}
	value := what + ".value"
	switch i.Type {
	case "sha256":
		i.Value = l.like(f["value"], value, hexForm, "64 hex digits")
	case "git-commit":
		i.Value = l.like(f["value"], value, commitForm, "40 hex digits")
	case "domain":
		i.Value = l.like(f["value"], value, domainForm, "a domain in small letters, *. before it for its subdomains alone")
	case "url":
		i.Value = l.like(f["value"], value, urlForm, "an address with its scheme")
	default:
		i.Value = l.text(f["value"], value)
	}
	if i.Type == "ip" && i.Value != "" {
		if _, err := netip.ParseAddr(i.Value); err != nil {
			l.bad(f["value"], "%s: %q: want one IP address", value, i.Value)
		}
	}
	return i
}

func (l *loader) step(n *yaml.Node, what string) Step {
	f := l.mapping(n, what, "step source", citeKeys)
	return Step{l.text(f["step"], what+".step"), l.cite(f, what)}
}

func (l *loader) rotation(n *yaml.Node, what string) Rotation {
	f := l.mapping(n, what, "class scope why source", citeKeys)
	return Rotation{
		l.oneOf(f["class"], what+".class", rotationClasses...),
		l.oneOf(f["scope"], what+".scope", "job", "container", "host", "org"), l.text(f["why"], what+".why"), l.cite(f, what),
	}
}

func (l *loader) notAffected(n *yaml.Node, what string) NotAffected {
	f := l.mapping(n, what, "what source", citeKeys)
	return NotAffected{l.text(f["what"], what+".what"), l.cite(f, what)}
}
