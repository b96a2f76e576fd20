package matchers

import (
	"iter"
	"maps"
	"net/netip"
	"path"
	"slices"
	"strings"

	"pulltrail/timeline"
)

// question is an incident made ready to be asked of facts.
type question struct {
	inc        *Incident
	windows    map[string][]Window
	packages   map[string][]*packageRule // by "type/name"
	engines    map[string][]*engineRule  // by "type/name"
	images     map[string][]*imageRule   // by host/path
	imagePaths map[string][]*imageRule   // by path without host: unmapped mirrors and registries' own logs
	imageBases map[string][]*imageRule   // by the last name of the path: copies
	actions    map[string]*CIAction      // by owner/name in lower case
	digests    map[string]*digestRule
	learned    map[string]kin                     // digests of images that are known to be bad by another digest or by a name
	indicators map[string][]*Indicator            // by type
	topics     map[string]map[timeline.Topic]bool // what evidence speaks of a channel
	ecosystems map[string]string                  // purl type → a channel that serves it
	vendors    map[*Indicator]*Vendor             // whose domain an indicator is
	sold       map[*product]*Vendor               // products of breached vendors
	unnamed    bool                               // nothing says what the vendor is to be told by
	mirrors    []timeline.Mirror
	listed     map[string][]string // keys of packages by channel, see served
	several    bool                // sources give different windows: say whose one it is
	whens      map[lie]string      // see when
}

type packageRule struct {
	*Package
	versions *versionSet
	known    map[string]rating // versions repeat: each is compared once
}

// rating is how a version stands to a rule.
type rating struct{ safe, exact, local bool }

func (r *packageRule) rate(version string) rating {
	s, ok := r.known[version]
	if !ok {
		s = rating{r.versions.Safe(version), r.versions.Exact(version), r.versions.Local(version)}
		r.known[version] = s
	}
	return s
}

type imageRule struct{ *Image }

type engineRule struct {
	*Engine
	affected *versionSet
}

type digestRule struct {
	channel, what string
	role          timeline.Role
	cite          Cite
	image         bool // the digest of an image, so that a mere "present" is a store
}

// newQuestion compiles an incident. mirrors are those of the inventory.
func newQuestion(inc *Incident, mirrors []timeline.Mirror) *question {
	q := &question{
		inc: inc, windows: map[string][]Window{}, packages: map[string][]*packageRule{},
		engines: map[string][]*engineRule{}, images: map[string][]*imageRule{}, imagePaths: map[string][]*imageRule{}, imageBases: map[string][]*imageRule{}, actions: map[string]*CIAction{},
		digests: map[string]*digestRule{}, indicators: map[string][]*Indicator{},
		topics: map[string]map[timeline.Topic]bool{}, ecosystems: map[string]string{}, mirrors: mirrors,
	}
	for _, c := range inc.Channels {
		q.windows[c.Name] = append(q.windows[c.Name], c.Windows...)
		q.several = q.several || len(q.windows[c.Name]) > 1
	}
	for i := range inc.Packages {
		q.addPackage(&inc.Packages[i])
	}
	for i := range inc.Images {
		q.addImage(&inc.Images[i])
	}
	for i := range inc.Engines {
		e := &inc.Engines[i]
		parts := timeline.Split(e.PURL)
		key := packageKey(parts)
		q.engines[key] = append(q.engines[key], &engineRule{e, newVersionSet(parts.Type, []string{e.Affected}, nil)})
	}
	for i := range inc.Actions {
		a := &inc.Actions[i]
		q.actions[strings.ToLower(a.Repository)] = a
		q.topic(a.Channel, timeline.GitHubActions)
		for _, c := range a.Commits {
			q.digests[c] = &digestRule{a.Channel, a.Repository + "@" + c, timeline.Commit, a.Cite, false}
		}
	}
	for i := range inc.Indicators {
		in := &inc.Indicators[i]
		q.indicators[in.Type] = append(q.indicators[in.Type], in)
		switch in.Type {
		case "sha256":
			q.digests[timeline.SHA256(in.Value)] = &digestRule{"", "a file of the incident", timeline.File, in.Cite, false}
		case "git-commit":
			if q.digests[in.Value] == nil {
				q.digests[in.Value] = &digestRule{"", "commit " + in.Value, timeline.Commit, in.Cite, false}
			}
		}
	}
	q.addVendors()
	q.settleProducts()
	delete(q.digests, "")
	for _, c := range inc.Channels {
		if q.topics[c.Name] == nil {
			q.topic(c.Name, timeline.Topic(base(c.Name)))
		}
	}
	return q
}

// addVendors looks for contacts with the domains of breached vendors.
func (q *question) addVendors() {
	q.vendors = map[*Indicator]*Vendor{}
	for i := range q.inc.Vendors {
		v := &q.inc.Vendors[i]
		for _, d := range v.Domains {
			in := &Indicator{Type: "domain", Value: d, Cite: v.Cite}
			q.indicators["domain"] = append(q.indicators["domain"], in)
			q.vendors[in] = v
		}
	}
}

func (q *question) topic(channel string, t timeline.Topic) {
	if q.topics[channel] == nil {
		q.topics[channel] = map[timeline.Topic]bool{}
	}
	q.topics[channel][t] = true
}

// base is a channel's word without its qualifier.
func base(channel string) string {
	word, _, _ := strings.Cut(channel, "/")
	return word
}

// packageKey is how a package is looked up. A distribution's package stands for
// any distribution, so those of their package managers go by the last element of
// the name.
func packageKey(p timeline.Parts) string {
	name := p.Name
	switch p.Type {
	case "deb", "rpm", "apk", "alpm":
		name = path.Base(name)
	}
	return p.Type + "/" + name
}

func (q *question) addPackage(p *Package) {
	parts := timeline.Split(p.PURL)
	v := newVersionSet(parts.Type, p.Versions, p.Safe)
	key := packageKey(parts)
	q.packages[key] = append(q.packages[key], &packageRule{p, v, map[string]rating{}})
	q.topic(p.Channel, timeline.Topic(parts.Type))
	if q.ecosystems[parts.Type] == "" {
		q.ecosystems[parts.Type] = p.Channel
	}
	for _, f := range p.Files {
		if d := timeline.SHA256(f.SHA256); d != "" {
			q.digests[d] = &digestRule{p.Channel, f.Name, timeline.File, p.Cite, false}
		}
	}
}

func (q *question) addImage(im *Image) {
	r := &imageRule{im}
	ref, ok := timeline.ParseImage(im.Repository)
	name := im.Repository
	if ok {
		name = ref.Name
	}
	q.images[name] = append(q.images[name], r)
	q.imageBases[path.Base(name)] = append(q.imageBases[path.Base(name)], r)
	_, p, _ := strings.Cut(name, "/")
	if strings.Contains(p, "/") {
		q.imagePaths[p] = append(q.imagePaths[p], r)
	}
	q.topic(im.Channel, timeline.Images)
	if some := timeline.Split(timeline.SomeImage).Type; q.ecosystems[some] == "" {
		q.ecosystems[some] = im.Channel
	}
	for _, d := range im.Digests {
		cite := d.Cite
		cite.Disputed = cite.Disputed || im.Disputed
		q.digests[d.Digest] = &digestRule{im.Channel, im.Repository + "@" + d.Digest, d.Role, cite, true}
	}
}

// served lists the keys of the listed packages of a channel, in order.
func (q *question) served(channel string) []string {
	if q.listed == nil {
		q.listed = map[string][]string{}
		for key, rules := range q.packages {
			for _, r := range rules {
				if list := q.listed[r.Channel]; len(list) == 0 || list[len(list)-1] != key {
					q.listed[r.Channel] = append(list, key)
				}
			}
		}
		for _, list := range q.listed {
			slices.Sort(list)
		}
	}
	return q.listed[channel]
}

// publicHosts serve names of their own: the same path there is another image,
// not a mirror.
var publicHosts = map[string]bool{
	"docker.io": true, "ghcr.io": true, "quay.io": true, "gcr.io": true,
	"public.ecr.aws": true, "registry.k8s.io": true, "mcr.microsoft.com": true, "lscr.io": true, "registry.gitlab.com": true,
}

// imageRules finds the rules for an image name: as written or through a mirror
// of the inventory; else, by its path, through a mirror that nobody mapped.
func (q *question) imageRules(name string) (rules []*imageRule, mapped bool) {
	if r := q.images[name]; r != nil {
		return r, true
	}
	if up := q.upstream(name); up != "" {
		return q.images[up], true
	}
	host, p, _ := strings.Cut(name, "/")
	if publicHosts[host] {
		return nil, false
	}
	if !strings.ContainsAny(host, ".:") && host != "localhost" {
		p = name // a registry's own log names no host
	}
	for p != "" {
		if r := q.imagePaths[p]; r != nil {
			return r, false
		}
		_, p, _ = strings.Cut(p, "/")
	}
	return nil, false
}

// upstream is the name of an image where the mirrors of the inventory get it
// from, "" when none is of its prefix. The longest prefix counts, and a mirror
// may have another mirror before it.
func (q *question) upstream(name string) string {
	up := ""
	for range len(q.mirrors) { // no longer way leads back to itself
		best, rest := (*timeline.Mirror)(nil), ""
		for i := range q.mirrors {
			m := &q.mirrors[i]
			if r, ok := strings.CutPrefix(name, strings.TrimSuffix(m.Prefix, "/")+"/"); ok && (best == nil || len(m.Prefix) > len(best.Prefix)) {
				best, rest = m, r
			}
		}
		if best == nil {
			break
		}
		up = strings.TrimSuffix(best.Upstream, "/") + "/" + rest
		if ref, ok := timeline.ParseImage(up); ok {
			up = ref.Name
		}
		if q.images[up] != nil {
			break
		}
		name = up
	}
	return up
}

// types lists the types of artifacts that can matter to the incident.
func (q *question) types() []string {
	kinds := map[string]bool{}
	for _, rules := range []iter.Seq[string]{maps.Keys(q.packages), maps.Keys(q.engines)} {
		for key := range rules {
			kind, _, _ := strings.Cut(key, "/")
			kinds[kind] = true
		}
	}
	for kind, of := range repackers {
		for _, r := range of {
			kinds[kind] = kinds[kind] || len(q.packages) > 0 && kinds[r.kind]
		}
	}
	maps.DeleteFunc(kinds, func(_ string, wanted bool) bool { return !wanted })
	if len(q.images) > 0 {
		kinds["image"] = true
	}
	if len(q.actions) > 0 {
		kinds["github"] = true
	}
	if q.tracesMatter() {
		kinds["pypi"], kinds["npm"], kinds["secret"] = true, true, true
	}
	for kind := range q.indicators {
		kinds[kind] = true
		kinds["url"] = kinds["url"] || kind == "domain" // a URL at a domain
	}
	return slices.Sorted(maps.Keys(kinds))
}

// wants reports whether an artifact can matter to the incident, by type and
// name.
func (q *question) wants(p timeline.Parts) bool {
	switch p.Type {
	case "image":
		rules, _ := q.imageRules(p.Name)
		return rules != nil || q.imageBases[path.Base(p.Name)] != nil
	case "domain", "ip", "url", "file":
		return q.indicated(p) != nil
	case "secret":
		return q.aboutTraces(p)
	}
	key := packageKey(p)
	if q.repackaged(p) != nil {
		return true
	}
	return q.aboutTraces(p) || q.packages[key] != nil || q.engines[key] != nil || p.Type == "github" && q.actions[p.Name] != nil
}

// indicated finds the indicator that names an endpoint.
func (q *question) indicated(p timeline.Parts) *Indicator {
	for _, in := range q.indicators[p.Type] {
		if glob(in.Value, p.Name) || p.Type == "file" && isFile(in.Value, p.Name) || p.Type == "ip" && sameAddress(in.Value, p.Name) || p.Type == "domain" && strings.HasSuffix(strings.ToLower(p.Name), "."+strings.TrimPrefix(strings.ToLower(in.Value), "*.")) {
			return in
		}
	}
	if p.Type != "url" && p.Type != "domain" {
		return nil
	}
	if p.Type == "url" { // a URL at an indicated domain is a connection to it
		host := strings.ToLower(hostOf(p.Name))
		for _, in := range q.indicators["domain"] {
			d := strings.TrimPrefix(strings.ToLower(in.Value), "*.")
			if host == d || strings.HasSuffix(host, "."+d) {
				return in
			}
		}
	}
	return nil
}

// isFile reports whether a path is that of an indicator which gives less than all
// of it: the name alone, or a path below some home or some variable's folder.
//
//	litellm_init.pth   .github/workflows/x.yml   ~/.local/bin/monitor.sh   %TEMP%\6202033.vbs
func isFile(indicator, file string) bool {
	if strings.HasPrefix(indicator, "~/") {
		return glob("*"+indicator[1:], file)
	}
	if rest, ok := strings.CutPrefix(indicator, "%"); ok {
		_, below, ok := strings.Cut(rest, "%")
		return ok && len(below) > 1 && glob("*"+strings.ToLower(below), strings.ToLower(file))
	}
	if strings.ContainsAny(indicator, `\*`) || strings.HasPrefix(indicator, "/") {
		return false
	}
	return strings.HasSuffix(file, "/"+indicator) || strings.HasSuffix(file, `\`+indicator)
}

// sameAddress reports whether two texts are one IP address: IPv6 has many ways
// to write each.
func sameAddress(a, b string) bool {
	x, err := netip.ParseAddr(a)
	y, other := netip.ParseAddr(b)
	return err == nil && other == nil && x.Unmap() == y.Unmap()
}

func hostOf(url string) string {
	if i := strings.Index(url, "://"); i >= 0 {
		url = url[i+3:]
	}
	if i := strings.IndexAny(url, "/?#"); i >= 0 {
		url = url[:i]
	}
	url = url[strings.LastIndexByte(url, '@')+1:]
	if i := strings.LastIndexByte(url, ':'); i > strings.LastIndexByte(url, ']') {
		url = url[:i]
	}
	return url
}

// glob matches text with * for any run of characters.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	if !strings.HasPrefix(text, parts[0]) {
		return false
	}
	text = text[len(parts[0]):]
	for _, p := range parts[1 : len(parts)-1] {
		i := strings.Index(text, p)
		if i < 0 {
			return false
		}
		text = text[i+len(p):]
	}
	return strings.HasSuffix(text, parts[len(parts)-1])
}
