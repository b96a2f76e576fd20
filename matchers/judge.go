package matchers

import (
	"fmt"
	"strings"

	"pulltrail/timeline"
)

// judged is what one fact says of the incident, standing alone.
type judged struct {
	*timeline.Fact
	channel string
	key     string  // what asks and answers meet on: package, image or action
	verdict Verdict // "" when it accuses nobody
	ask     bool    // an answer of the same operation, or the content of its digest, can take the verdict back
	answer  bool    // positive record of something else: it answers asks
	rule    string
	because string
	via     string // finding that this follows from
	fault   string // what is wrong with its clock, "" when nothing is seen
	part    string // what part it has in the finding, "" for the usual words
}

// judge says what a fact means: the strongest of what its rules say.
func (q *question) judge(f *timeline.Fact) []judged {
	var out []judged
	if f.Action == timeline.Hold {
		return q.judgeTraces(f)
	}
	for _, d := range f.Item.Digests {
		if r := q.digests[d.Value]; r != nil {
			out = append(out, q.judgeDigest(f, d, r))
		} else if j, ok := q.judgeSame(f, d); ok {
			out = append(out, j)
		}
	}
	switch f.Parts.Type {
	case "image":
		rules, mapped := q.imageRules(f.Parts.Name)
		for _, r := range rules {
			out = append(out, q.judgeImage(f, r, mapped))
		}
		if r := q.copied(f.Parts); r != nil {
			out = append(out, q.judgeCopy(f, r))
		}
	case "domain", "ip", "url", "file":
		if in := q.indicated(f.Parts); in != nil {
			out = append(out, q.judgeEndpoint(f, in))
		}
	default:
		out = append(out, q.judgeTraces(f)...)
		for _, r := range q.packages[packageKey(f.Parts)] {
			out = append(out, q.judgePackage(f, r))
		}
		if r := q.repackaged(f.Parts); r != nil && f.Parts.Name != "" {
			out = append(out, q.judgeRepackaged(f, r))
		}
		for _, r := range q.engines[packageKey(f.Parts)] {
			out = append(out, q.judgeEngine(f, r))
		}
		if f.Parts.Type == "github" && q.actions[f.Parts.Name] != nil {
			out = append(out, q.judgeAction(f, q.actions[f.Parts.Name]))
		}
		if f.Action == timeline.Opaque && f.Item.Artifact == timeline.Anything {
			return q.judgeUnseen(f)
		}
		hidden := f.Action == timeline.Opaque && q.ecosystems[f.Parts.Type] != "" && !strings.Contains(f.Text, "--no-deps")
		if hidden && (f.Parts.Name == "" || f.Subject.Kind != timeline.Image && out == nil) {
			out = append(out, q.judgeEcosystem(f)...)
		}
	}
	return out
}

// exact is the verdict of an exact match by action.
func exact(a timeline.Action, image bool) Verdict {
	switch a {
	case timeline.Install, timeline.Remove, timeline.Build, timeline.Push, timeline.Tag, timeline.Run:
		return Exposed
	case timeline.Present:
		if image {
			return Pulled // an image merely in a store
		}
		return Exposed
	case timeline.Download, timeline.Pull, timeline.Cached:
		return Pulled
	}
	return Possible
}

// asks reports whether an action only asks.
func asks(a timeline.Action) bool {
	return a == timeline.Require || a == timeline.Resolve || a == timeline.Check || a == timeline.Opaque
}

// exactly fills in an exact match.
func (q *question) exactly(j judged, image bool, rule, what string, cite Cite) judged {
	j.rule = rule
	j.verdict = exact(j.Action, image)
	j.ask = asks(j.Action) && j.Action != timeline.Require
	j.because = fmt.Sprintf("%s %s, %s", verb(j.Action), what, q.lists())
	if w := q.during(j.channel, j.Span); w == nil && len(q.windows[j.channel]) > 0 {
		if j.fault = q.early(&j); j.fault != "" {
			j.because += "; " + j.fault
		} else {
			j.because += "; outside its window, but an exact match counts at any time"
		}
	}
	if cite.Disputed {
		j.verdict, j.ask = Possible, false
		j.because += "; sources dispute it"
	}
	return j
}

// lists says who names what was found: an incident, or a question of the user's
// own.
func (q *question) lists() string {
	if strings.HasPrefix(q.inc.ID, "pkg:") {
		return "which is what was asked for"
	}
	return "which the incident lists"
}

func verb(a timeline.Action) string {
	switch a {
	case timeline.Require:
		return "asks for"
	case timeline.Resolve:
		return "resolved to"
	case timeline.Check:
		return "checked for"
	case timeline.Cached:
		return "took from a cache"
	case timeline.Download:
		return "downloaded"
	case timeline.Pull:
		return "pulled"
	case timeline.Present:
		return "holds"
	case timeline.Install:
		return "installed"
	case timeline.Build:
		return "built"
	case timeline.Push:
		return "pushed"
	case timeline.Tag:
		return "tagged"
	case timeline.Run:
		return "ran"
	case timeline.Remove:
		return "removed, so it was there,"
	case timeline.Contact:
		return "contacted"
	case timeline.Opaque:
		return "ran a command that may have fetched"
	}
	return a.String()
}

func (q *question) judgeDigest(f *timeline.Fact, d timeline.Digest, r *digestRule) judged {
	j := judged{Fact: f, channel: r.channel, key: "digest/" + d.Value}
	image := r.image || f.Parts.Type == "image"
	j = q.exactly(j, image, "exact-digest", short(f.Item.Artifact)+" with digest "+d.Value, r.cite)
	if f.Action == timeline.Contact && f.Parts.Type == "file" && !r.cite.Disputed { // its bytes lay there
		j.verdict = Exposed
		if r.channel != "" { // a file of the release, as it is served
			j.verdict = Pulled
		}
		j.because = "held" + strings.TrimPrefix(j.because, verb(f.Action))
	}
	return j
}

func (q *question) judgePackage(f *timeline.Fact, r *packageRule) judged {
	j := judged{Fact: f, channel: r.Channel, key: packageKey(f.Parts)}
	w := q.during(r.Channel, f.Span)
	v := f.Parts.Version
	is := r.rate(v)
	switch {
	case f.Action == timeline.Contact:
	case v == "":
		return q.judgeUnpinned(j, r, w)
	case is.safe:
		j.answer = !asks(f.Action)
	case r.versions.Any() && !r.versions.Exact(v):
		if w != nil {
			j.rule, j.verdict, j.ask = "any-version-in-window", Possible, asks(f.Action)
			j.because = fmt.Sprintf("%s %s %s; every version of that time is suspect", verb(f.Action), short(f.Item.Artifact), q.when(w, f.Span))
		} else {
			j.answer = !asks(f.Action)
		}
	case is.exact:
		return q.exactly(j, false, "exact-version", short(f.Item.Artifact), r.Cite)
	case is.local:
		j.rule, j.verdict = "local-version", Possible
		build := "a local build"
		if released[f.Parts.Type] {
			build = "a distribution's own build, which may be repaired,"
		}
		j.because = fmt.Sprintf("%s %s, %s of a listed version", verb(f.Action), short(f.Item.Artifact), build)
	case !q.inc.Complete.Versions && q.since(r.Channel, f.Span) && !asks(f.Action):
		j.rule, j.verdict = "unlisted-version", Unknown
		j.because = fmt.Sprintf("%s %s, and the incident's list of versions is not complete", verb(f.Action), short(f.Item.Artifact))
	default:
		j.answer = !asks(f.Action)
	}
	return j
}

// judgeUnpinned judges a fact that names the package without a version.
func (q *question) judgeUnpinned(j judged, r *packageRule, w *Window) judged {
	if j.Item.Ref != "" && asks(j.Action) && !r.versions.Admits(j.Item.Ref) {
		return j
	}
	if w == nil {
		return j
	}
	j.rule, j.verdict, j.ask = "unpinned-in-window", Possible, true
	asked := "without a version"
	if j.Item.Ref != "" && asks(j.Action) {
		asked = "as " + j.Item.Ref
	}
	j.because = fmt.Sprintf("%s %s %s %s, and no line of the same command says which version came", verb(j.Action), short(j.Item.Artifact), asked, q.when(w, j.Span))
	return j
}

// judgeEngine judges an engine whose flaw depends on version and configuration
// together: an affected version alone is possible at most.
func (q *question) judgeEngine(f *timeline.Fact, r *engineRule) judged {
	j := judged{Fact: f, key: packageKey(f.Parts)}
	v := f.Parts.Version
	switch {
	case v == "" || asks(f.Action) || f.Action == timeline.Contact:
	case r.affected.Exact(v):
		j.rule, j.verdict = ruleEngine, Possible
		j.because = fmt.Sprintf("%s %s, an affected version (%s); whether its configuration is affected is not in the evidence", verb(f.Action), short(f.Item.Artifact), r.Affected)
	default:
		j.answer = true
	}
	return j
}

func (q *question) judgeImage(f *timeline.Fact, r *imageRule, mapped bool) judged {
	j := judged{Fact: f, channel: r.Channel, key: "image/" + f.Parts.Name}
	s := f.Span
	if f.Action == timeline.Run || f.Action == timeline.Present {
		s.From = timeline.Beginning // it was pulled at some time before it was seen
	}
	w := q.during(r.Channel, s)
	tag := f.Parts.Version
	listed := contains(r.Tags, tag)
	moving := tag != "" && matchesAny(r.MovingTags, tag)
	switch {
	case f.Action == timeline.Contact:
	case !mapped && (listed || moving && w != nil):
		j.rule, j.verdict, j.ask = "unmapped-mirror", Possible, true
		j.because = fmt.Sprintf("%s %s, whose path is that of %s; no inventory row says what that registry mirrors", verb(f.Action), short(f.Item.Artifact), r.Repository)
	case !mapped && q.since(r.Channel, f.Span) && (!asks(f.Action) || f.Span.From != timeline.Beginning) && !q.inc.Complete.Tags && !q.otherDigest(f, r):
		j.rule, j.verdict, j.ask = "unmapped-mirror", Unknown, true
		j.because = fmt.Sprintf("%s %s, whose path is that of %s; no inventory row says what that registry mirrors, and the incident's lists of tags and digests are not complete", verb(f.Action), short(f.Item.Artifact), r.Repository)
	case !mapped:
	case listed:
		return q.exactly(j, true, "release-tag", short(f.Item.Artifact), r.Cite)
	case q.otherDigest(f, r):
		j.answer = !asks(f.Action)
	case moving && w != nil:
		j.rule, j.verdict, j.ask = "moving-tag-in-window", Possible, true
		j.because = fmt.Sprintf("%s %s, a moving tag, %s; what it pointed at then is not known", verb(f.Action), short(f.Item.Artifact), q.when(w, s))
	case !moving && tag != "" && q.inc.Complete.Tags:
		j.answer = !asks(f.Action)
	case q.since(r.Channel, f.Span) && (!asks(f.Action) || f.Span.From != timeline.Beginning): // a file that names it asked nobody
		j.rule, j.verdict, j.ask = "unlisted-tag", Unknown, true
		j.because = fmt.Sprintf("%s %s, and the incident's lists of tags and digests of that repository are not complete", verb(f.Action), short(f.Item.Artifact))
	default:
		j.ask = !asks(f.Action) // nothing is said of it, but the content of its digest can answer
	}
	return j
}

// otherDigest reports whether the fact carries a digest of a role that the
// incident lists in full for the repository, and another value.
func (q *question) otherDigest(f *timeline.Fact, r *imageRule) bool {
	if !q.inc.Complete.Digests {
		return false
	}
	for _, d := range f.Item.Digests {
		if d.Role == timeline.Layer || d.Role == timeline.Diff {
			continue // an image has many: another one is not another image
		}
		for _, bad := range r.Digests {
			if d.Role != timeline.NoRole && d.Role == bad.Role {
				return true // a bad value was judged by its digest
			}
		}
	}
	return false
}

func (q *question) judgeAction(f *timeline.Fact, a *CIAction) judged {
	j := judged{Fact: f, channel: a.Channel, key: "action/" + f.Parts.Name}
	commit := commitOf(f)
	w := q.during(a.Channel, f.Span)
	switch {
	case commit != "" && contains(a.Commits, commit): // judged by its digest or version
		return q.exactly(j, false, "exact-commit", f.Parts.Name+" at "+commit, a.Cite)
	case commit != "" && (contains(a.SafeCommits, commit) || q.inc.Complete.Commits):
		j.answer = true
	case commit != "" && w != nil && f.Item.Ref != commit && len(a.Refs) > 0 && matchesAny(a.Refs, f.Item.Ref):
		j.rule, j.verdict = "moved-ref-in-window", Possible
		j.because = fmt.Sprintf("%s %s@%s %s, a ref that was moved, and got a commit that the incident does not list; its list is not complete", verb(f.Action), f.Parts.Name, f.Item.Ref, q.when(w, f.Span))
	case commit != "" && q.since(a.Channel, f.Span):
		j.rule, j.verdict = "unlisted-commit", Unknown
		j.because = fmt.Sprintf("%s %s at a commit that the incident does not list, and its list is not complete", verb(f.Action), f.Parts.Name)
	case commit == "" && w != nil && (len(a.Refs) == 0 || matchesAny(a.Refs, f.Item.Ref)):
		j.rule, j.verdict, j.ask = "moved-ref-in-window", Possible, true
		j.because = fmt.Sprintf("%s %s@%s %s, and no line says which commit came", verb(f.Action), f.Parts.Name, f.Item.Ref, q.when(w, f.Span))
	}
	return j
}

// commitOf is the commit that a fact shows: its version, a digest, or a ref
// that is a commit itself.
func commitOf(f *timeline.Fact) string {
	if timeline.IsCommit(f.Parts.Version) {
		return f.Parts.Version
	}
	for _, d := range f.Item.Digests {
		if timeline.IsCommit(d.Value) {
			return d.Value
		}
	}
	if timeline.IsCommit(f.Item.Ref) {
		return f.Item.Ref
	}
	return ""
}

func (q *question) judgeEndpoint(f *timeline.Fact, in *Indicator) judged {
	if v := q.vendors[in]; v != nil {
		return judgeVendor(f, in, v)
	}
	j := judged{Fact: f, key: "indicator/" + in.Value, rule: "indicator", verdict: Exposed}
	j.because = fmt.Sprintf("%s %s, an indicator of the incident (%s)", verb(f.Action), short(f.Item.Artifact), in.Type)
	if f.Parts.Type == "domain" || in.Disputed {
		j.verdict = Possible
		j.because += "; a name look-up alone is no connection"
	}
	return j
}

// judgeVendor judges a contact with a breached vendor: what was sent to it in
// its window may have been read. What was sent before may have been kept there,
// so that only a contact after the window says nothing.
func judgeVendor(f *timeline.Fact, in *Indicator, v *Vendor) judged {
	j := judged{Fact: f, key: "vendor/" + in.Value}
	within := len(v.Windows) == 0
	for _, w := range v.Windows {
		within = within || f.Span.From <= w.To
	}
	if !within {
		return j
	}
	j.rule, j.verdict = "vendor-contact", Exposed
	j.because = fmt.Sprintf("%s %s, of %s, from which %s were taken", verb(f.Action), short(f.Item.Artifact), v.Name, v.What)
	if f.Parts.Type == "domain" || in.Disputed {
		j.verdict = Possible
		j.because += "; a name look-up alone sends nothing"
	}
	return j
}

// judgeEcosystem judges a command that may have fetched packages or images and
// named none, for each channel that serves them. Whether the project is known
// to use a listed package is decided later.
func (q *question) judgeEcosystem(f *timeline.Fact) []judged {
	topic := timeline.Topic(f.Parts.Type)
	if f.Item.Artifact == timeline.SomeImage {
		topic = timeline.Images
	}
	builds := f.Item.Ref == timeline.BuildRequirements
	switch {
	case builds && !q.buildsFetch():
		return nil
	case strings.HasPrefix(f.Item.Ref, timeline.CacheEnd):
		return q.judgeRestored(f)
	case strings.HasPrefix(f.Item.Ref, timeline.EnvironmentEnd):
		return q.judgeFound(f)
	}
	var out []judged
	for _, c := range q.inc.Channels {
		w := q.during(c.Name, f.Span)
		if w == nil || !q.topics[c.Name][topic] {
			continue
		}
		j := judged{Fact: f, channel: c.Name, key: "ecosystem/" + f.Parts.Type, rule: "opaque-in-window", verdict: Unknown, ask: true}
		j.because = "ran " + quoteCommand(f) + " " + q.when(w, f.Span) + ", and the log does not show " + what(topic)
		if builds {
			j.because = fmt.Sprintf("had fetched what the build of a package needs %s (%s), of which no versions are printed, and builds use what the incident lists", q.when(w, f.Span), quoteCommand(f))
		}
		if w.open() {
			j.rule = ruleOpenWindow
		}
		out = append(out, j)
	}
	return out
}

// ruleOpenWindow is the rule of a command that named no package, in a window of
// which an end is not known.
const ruleOpenWindow = "opaque-in-open-window"

// what names what a command fetched.
func what(t timeline.Topic) string {
	if t == timeline.Images {
		return "which images came"
	}
	return "which packages came"
}

func quoteCommand(f *timeline.Fact) string {
	if f.Text != "" {
		return "“" + f.Text + "”"
	}
	return "a command of " + f.Parts.Type
}

// cite names the reference of a fact: its address where it has one.
func (q *question) cite(c Cite) string {
	if c.Source.URL != "" {
		return c.Source.URL
	}
	if i := c.Source.Index; i >= 0 && i < len(q.inc.References) && strings.HasPrefix(q.inc.References[i], "https://") {
		return q.inc.References[i]
	}
	return fmt.Sprintf("reference %d of the incident", c.Source.Index)
}

// short is an artifact as people say it: the evidence has the whole digest.
func short(artifact string) string {
	if artifact == "" {
		return "something"
	}
	const head = len("sha256:") + 12
	if i := strings.Index(artifact, "sha256:"); i >= 0 && len(artifact) > i+head {
		return artifact[:i+head] + "…"
	}
	return artifact
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if s != "" && x == s {
			return true
		}
	}
	return false
}

func matchesAny(globs []string, s string) bool {
	for _, g := range globs {
		if glob(g, strings.TrimPrefix(s, "refs/tags/")) {
			return true
		}
	}
	return false
}
