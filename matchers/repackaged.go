package matchers

import (
	"fmt"
	"path"
	"strings"

	"pulltrail/timeline"
)

// A release of a project is packed again for other package managers, from the
// archive that was published first: what was in it is in there too, and an
// incident seldom names these.
//
//	conda-forge/noarch::litellm-1.107.0-pyhd8ed1ab_0    py3-litellm-1.107.0-r0    python3-litellm 1.107.0-1
//
// https://conda-forge.org/docs/maintainer/adding_pkgs/
// https://www.debian.org/doc/packaging-manuals/python-policy/#module-package-names

// repackers are the kinds of packages that hold others, by how they call them.
var repackers = map[string][]struct{ prefix, kind string }{
	"conda": {{"", "pypi"}},
	"brew":  {{"", "pypi"}, {"", "npm"}},
	"apk":   {{"py3-", "pypi"}, {"nodejs-", "npm"}},
	"alpm":  {{"python-", "pypi"}, {"nodejs-", "npm"}},
	"deb":   {{"python3-", "pypi"}, {"python-", "pypi"}, {"node-", "npm"}},
	"rpm":   {{"python3-", "pypi"}, {"python-", "pypi"}, {"nodejs-", "npm"}},
}

// repackaged finds the rule of a listed package that another package may hold.
func (q *question) repackaged(p timeline.Parts) *packageRule {
	if len(repackers[p.Type]) == 0 || q.packages[packageKey(p)] != nil {
		return nil
	}
	for _, r := range repackers[p.Type] {
		name, ok := strings.CutPrefix(path.Base(p.Name), r.prefix)
		if !ok || name == "" {
			continue
		}
		if rules := q.packages[packageKey(timeline.Split(timeline.PURL(r.kind, "", name, "")))]; rules != nil {
			return rules[0]
		}
	}
	return nil
}

// quickly are those that pack a release within hours, by machines.
var quickly = map[string]bool{"conda": true, "brew": true}

const ruleRepackaged = "may-be-repackaged"

// upstream is the version that was packed: without an epoch before it, and
// without the number of the packing behind it.
//
//	1:1.107.0-1~bpo12+1    1.107.0+dfsg-2    1.107.0-r0    1.107.0_1
func upstream(kind, version string) string {
	switch kind {
	case "conda":
		return version
	case "brew":
		version, _, _ = strings.Cut(version, "_")
		return version
	}
	if epoch, rest, ok := strings.Cut(version, ":"); ok && strings.Trim(epoch, "0123456789") == "" {
		version = rest
	}
	if i := strings.LastIndexByte(version, '-'); i > 0 {
		version = version[:i]
	}
	version, _, _ = strings.Cut(version, "+dfsg")
	version, _, _ = strings.Cut(version, "+ds")
	return version
}

// judgeRepackaged judges a package that may hold a listed one.
func (q *question) judgeRepackaged(f *timeline.Fact, r *packageRule) judged {
	j := judged{Fact: f, channel: r.Channel, key: packageKey(f.Parts)}
	w := q.during(r.Channel, f.Span)
	switch v := upstream(f.Parts.Type, f.Parts.Version); {
	case f.Action == timeline.Contact || r.versions.Any():
	case v == "" && asks(f.Action) && w != nil && quickly[f.Parts.Type] && r.versions.Admits(f.Item.Ref):
		j.rule, j.verdict, j.ask = ruleRepackaged, Unknown, true
		j.because = fmt.Sprintf("%s %s %s, and no line of the same command says which version came; %s's packages are made of those of %s", verb(f.Action), short(f.Item.Artifact), q.when(w, f.Span), f.Parts.Type, r.PURL)
	case v != "" && r.versions.Exact(v):
		j.rule, j.verdict, j.ask = ruleRepackaged, Possible, asks(f.Action) && f.Action != timeline.Require
		j.because = fmt.Sprintf("%s %s, which has the name and the release of %s@%s for another package manager; the incident does not say whether it was made of that", verb(f.Action), short(f.Item.Artifact), r.PURL, v)
	default:
		j.rule, j.answer = ruleRepackaged, v != "" && !asks(f.Action) // to its own kind of package manager alone
	}
	return j
}
