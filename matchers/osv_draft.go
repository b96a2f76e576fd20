package matchers

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"pulltrail/timeline"
)

// draft is an incident file on its way out: the keys in their order.
type draft struct {
	Schema        string         `yaml:"schema"`
	ID            string         `yaml:"id"`
	Title         string         `yaml:"title"`
	Kind          string         `yaml:"kind"`
	Aliases       []string       `yaml:"aliases"`
	Published     string         `yaml:"published"`
	Summary       string         `yaml:"summary"`
	References    []string       `yaml:"references"`
	Channels      []draftChannel `yaml:"channels"`
	Packages      []draftPackage `yaml:"packages"`
	Images        []string       `yaml:"images"`
	Actions       []draftAction  `yaml:"actions"`
	Indicators    []string       `yaml:"indicators"`
	Complete      draftComplete  `yaml:"complete"`
	ResponseOrder []string       `yaml:"response_order"`
	Rotation      []string       `yaml:"rotation"`
	NotAffected   []string       `yaml:"not_affected"`
	Disagreements []string       `yaml:"disagreements"`
	Unknown       []string       `yaml:"unknown"`
	Hits          []string       `yaml:"hits"`
	Misses        []string       `yaml:"misses"`

	record *osvRecord
	lost   []string // what of the record has no place in the file
}

type draftChannel struct {
	Name    string        `yaml:"name"`
	Windows []draftWindow `yaml:"windows"`
}

type draftWindow struct {
	From      *string `yaml:"from"`
	To        *string `yaml:"to"`
	Precision string  `yaml:"precision"`
	Basis     string  `yaml:"basis"`
	Source    int     `yaml:"source"`
	Note      string  `yaml:"note"`
}

type draftPackage struct {
	PURL     string   `yaml:"purl"`
	Channel  string   `yaml:"channel"`
	Versions []string `yaml:"versions"`
	Role     string   `yaml:"role"`
	Trigger  string   `yaml:"trigger"`
	Source   int      `yaml:"source"`
}

type draftAction struct {
	Repository string   `yaml:"repository"`
	Channel    string   `yaml:"channel"`
	Refs       []string `yaml:"refs"`
	Commits    []string `yaml:"commits"`
	Source     int      `yaml:"source"`
}

type draftComplete struct {
	Versions bool `yaml:"versions"`
	Tags     bool `yaml:"tags"`
	Digests  bool `yaml:"digests"`
	Commits  bool `yaml:"commits"`
}

func newDraft(r *osvRecord) (*draft, error) {
	id, err := slugOfID(r.ID)
	if err != nil {
		return nil, err
	}
	d := &draft{
		Schema: schemaName, ID: id, Kind: MaliciousRelease, Aliases: []string{}, Published: r.Published[:len("2006-01-02")],
		Summary:    sentences(r.Summary),
		References: []string{"OSV record: '" + strings.ReplaceAll(visible(r.ID, 100), "'", "") + "', modified " + visible(r.Modified, 40)},
		Channels:   []draftChannel{}, Packages: []draftPackage{}, Images: []string{}, Actions: []draftAction{}, Indicators: []string{},
		Complete:      draftComplete{Versions: true},
		ResponseOrder: []string{}, Rotation: []string{}, NotAffected: []string{}, Disagreements: []string{},
		Hits: []string{}, Misses: []string{}, record: r,
	}
	if d.Summary == "" {
		d.Summary = sentences(r.Details)
	}
	if d.Summary == "" {
		d.Summary = "The record has no summary."
	}
	d.Title = visible(strings.TrimSuffix(d.Summary, "."), 120)
	for _, a := range append([]string{r.ID}, r.Aliases...) {
		if a = visible(a, 100); a != "" && !slices.Contains(d.Aliases, a) && a != id {
			d.Aliases = append(d.Aliases, a)
		}
	}
	for _, ref := range r.References {
		if httpsForm.MatchString(ref.URL) && len(ref.URL) < 1000 && visible(ref.URL, 1000) == ref.URL && !slices.Contains(d.References, ref.URL) {
			d.References = append(d.References, ref.URL)
		}
	}
	return d, nil
}

// affected takes one package of the record.
func (d *draft) affected(a *osvAffected) {
	base, _, _ := strings.Cut(a.Package.Ecosystem, ":")
	eco, ok := ecosystems[base]
	name := a.Package.Name
	switch {
	case !ok:
		d.lose("%s of ecosystem %q, which has no place here", visible(name, 100), visible(a.Package.Ecosystem, 60))
		return
	case !packageName.MatchString(name):
		d.lose("a package of %s whose name is none: %q", base, visible(name, 100))
		return
	}
	if eco.kind == "github" {
		d.action(name, eco.channel)
		return
	}
	namespace := eco.namespace
	if eco.kind == "maven" {
		if group, artifact, ok := strings.Cut(name, ":"); ok {
			namespace, name = group, artifact
		}
	} else if i := strings.LastIndexByte(name, '/'); i > 0 && namespace == "" {
		namespace, name = name[:i], name[i+1:]
	}
	purl := timeline.PURL(eco.kind, namespace, name, "")
	if !purlForm.MatchString(purl) {
		d.lose("a package of %s whose name is none: %q", base, visible(a.Package.Name, 100))
		return
	}
	d.channel(eco.channel)
	versions := d.versions(a, eco.kind, purl)
	for i := range d.Packages {
		p := &d.Packages[i]
		if p.PURL == purl {
			p.Versions = merged(p.Versions, versions)
			return
		}
	}
	d.Packages = append(d.Packages, draftPackage{purl, eco.channel, merged(nil, versions), "payload", "unknown", 0})
}

func (d *draft) lose(format string, args ...any) {
	if d.lost = append(d.lost, fmt.Sprintf(format, args...)); len(d.lost) > 20 {
		d.lost = append(d.lost[:20], "and more of the kind")
	}
}

// versions lists what is bad of a package, "*" where the record does not say
// it in a way that can be compared.
func (d *draft) versions(a *osvAffected, kind, purl string) []string {
	var out []string
	for _, v := range a.Versions {
		if versionForm.MatchString(v) && v != "*" && len(v) < 200 {
			out = append(out, v)
			continue
		}
		d.Complete.Versions = false
		d.lose("version %q of %s, which has no place here", visible(v, 60), purl)
	}
	for i := range a.Ranges {
		r := &a.Ranges[i]
		if r.Type == "GIT" {
			d.lose("a range of commits of %s", visible(r.Repo, 200))
			continue
		}
		bounds, ok := r.bounds(kind)
		if !ok {
			d.Complete.Versions = false
			d.lose("a range of %s that cannot be compared: every version counts", purl)
			bounds = []string{"*"}
		}
		out = append(out, bounds...)
	}
	if len(out) == 0 {
		d.Complete.Versions = false
		d.lose("which versions of %s: the record names none, so every one counts", purl)
		return []string{"*"}
	}
	return out
}

func merged(had, more []string) []string {
	for _, v := range more {
		if !slices.Contains(had, v) {
			had = append(had, v)
		}
	}
	return had
}

func (d *draft) channel(name string) {
	if slices.ContainsFunc(d.Channels, func(c draftChannel) bool { return c.Name == name }) {
		return
	}
	d.Channels = append(d.Channels, draftChannel{name, []draftWindow{{
		Precision: "second", Basis: "outer-bound", Note: "the record does not say when it was served: every time counts until somebody finds out",
	}}})
}

// action takes an action of GitHub: which commits its bad tags stood for, a
// record does not say.
func (d *draft) action(name, channel string) {
	if !ownerForm.MatchString(name) {
		parts := strings.SplitN(name, "/", 3)
		if len(parts) < 2 || !ownerForm.MatchString(parts[0]+"/"+parts[1]) {
			d.lose("an action whose name is none: %q", visible(name, 100))
			return
		}
		name = parts[0] + "/" + parts[1]
	}
	if slices.ContainsFunc(d.Actions, func(a draftAction) bool { return a.Repository == name }) {
		return
	}
	d.channel(channel)
	d.Actions = append(d.Actions, draftAction{name, channel, []string{"*"}, []string{}, 0})
	d.lose("the bad commits of %s: every ref of it counts", name)
}

// finish writes the file and checks it as any other.
func (d *draft) finish() (*Draft, error) {
	d.Unknown = []string{
		"when each channel served it: the windows are open until somebody fills them in",
		"what it reads and where it sends it: response order, rotation and indicators are empty",
		"whether the record is right and lists everything: it was imported, and nobody reviewed it",
	}
	if !strings.HasPrefix(d.record.ID, "MAL-") {
		d.Unknown = append(d.Unknown, "whether it is a malicious release at all: the record is none of malicious packages")
	}
	for _, l := range d.lost {
		d.Unknown = append(d.Unknown, "not taken over from the record: "+visible(l, 300))
	}
	d.Unknown = merged(nil, d.Unknown)
	d.samples()
	body, err := yaml.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("write the incident: %w", err)
	}
	text := append([]byte("# A draft, made of the OSV record "+d.name()+". Read it, fill in what is under unknown, then match again.\n"), body...)
	inc, err := Load(d.ID+".yaml", text)
	if err != nil {
		return nil, fmt.Errorf("the record makes no incident: %w", err)
	}
	if errs := SelfTest(inc); len(errs) > 0 {
		return nil, fmt.Errorf("the record makes no incident: %w", errs[0])
	}
	return &Draft{inc, text}, nil
}

// name is the record's own name.
func (d *draft) name() string { return visible(d.record.ID, 100) }

// samples let the file test itself: with the first exact version, else with an
// ask that says none, and with a package that is not listed.
func (d *draft) samples() {
	at := d.Published + "T00:00:00Z "
	if len(d.Packages) == 0 {
		name := strings.ToLower(d.Actions[0].Repository)
		d.Hits = append(d.Hits, "possible: "+at+"download job:x pkg:github/"+name+" ref=v1")
		d.Misses = append(d.Misses, at+"download job:x pkg:github/"+name+"-not-listed ref=v1")
		return
	}
	hit := "possible: " + at + "opaque job:x " + d.Packages[0].PURL
	for _, p := range d.Packages {
		if i := slices.IndexFunc(p.Versions, func(v string) bool { return v != "*" && !isRange(v) }); i >= 0 {
			hit = "exposed: " + at + "install job:x " + releaseOf(p.PURL, "", p.Versions[i])
			break
		}
	}
	d.Hits = append(d.Hits, hit)
	d.Misses = append(d.Misses, at+"install job:x "+releaseOf(d.Packages[0].PURL, "-not-listed", "1.0"))
}

// releaseOf spells one version of a package, or of one whose name goes on.
func releaseOf(purl, more, version string) string {
	p := timeline.Split(purl)
	p.Name += more
	return purlOf(p, version)
}
