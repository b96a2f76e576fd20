package reports

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"pulltrail/matchers"
	"pulltrail/timeline"
)

// customerKeys are the credentials of one class.
type customerKeys struct {
	class   string
	own     bool // the customer's, as a list says
	verdict matchers.Verdict
	count   int
	states  map[matchers.State]int
	rows    []*matchers.Credential
}

// categories groups the credentials within reach by class: the customer's own,
// and those that no list gives to any customer, where its systems or shared
// ones put them within reach.
func (x *customerWriter) categories() []customerKeys {
	groups := map[string]*customerKeys{}
	for i := range x.c.Rows {
		row := &x.c.Rows[i]
		own, foreign := false, false
		for j := range row.Records {
			owner := row.Records[j].Customer
			own = own || owner == x.doc.Name
			foreign = foreign || owner != "" && owner != x.doc.Name
		}
		near := slices.ContainsFunc(row.By, func(e matchers.Exposer) bool { return x.mine[e.Subject.String()] })
		if !own && (foreign || !near) {
			continue
		}
		key := fmt.Sprintf("%t %s", !own, row.Class)
		g := groups[key]
		if g == nil {
			g = &customerKeys{class: row.Class, own: own, verdict: row.Verdict, states: map[matchers.State]int{}}
			groups[key] = g
		}
		if weight(row.Verdict) < weight(g.verdict) {
			g.verdict = row.Verdict
		}
		g.count++
		g.states[row.State]++
		g.rows = append(g.rows, row)
	}
	var out []customerKeys
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		out = append(out, *groups[key])
	}
	slices.SortStableFunc(out, func(a, b customerKeys) int { // the strongest first; the customer's before others
		if a.own != b.own {
			return map[bool]int{true: -1, false: 1}[a.own]
		}
		return weight(a.verdict) - weight(b.verdict)
	})
	return out
}

// data adds categories: of personal data as people state them, of credentials
// by class.
func (x *customerWriter) data() {
	x.say(secData, "categories of personal data", strings.Join(x.tenant.Data, "; "))
	x.say(secData, "region", x.tenant.Region)
	for _, k := range x.keys {
		item := "credentials of ours on those systems"
		if k.own {
			item = "credentials of yours"
		}
		var states []string
		for _, s := range matchers.States {
			if k.states[s] > 0 {
				states = append(states, fmt.Sprintf("%d %s", k.states[s], s))
			}
		}
		x.add(CustomerRow{Section: secData, Item: item, Answer: classText(k.class) + ", within reach; rotation: " + strings.Join(states, ", "), Verdict: string(k.verdict), Count: k.count})
	}
	if len(x.keys) == 0 {
		x.say(secData, "credentials", "none was within reach, as far as the evidence shows")
	}
}

// measure is something that was done on a day.
type measure struct {
	day   string // "" when not stated
	what  string
	count int
}

// measures adds what was done, with its day: rotations, systems that were
// stopped, findings that somebody assessed, and what the tenancy file says.
func (x *customerWriter) measures() {
	all := map[string]*measure{}
	note := func(at int64, day, what string, n int) {
		if at != 0 {
			day = strings.SplitN(timeline.FormatTime(at), "T", 2)[0]
		}
		key := day + "\x00" + what
		if all[key] == nil {
			all[key] = &measure{day: day, what: what}
		}
		all[key].count += n
	}
	for _, m := range x.c.Tenancy.Measures {
		note(0, m.Day, m.What, 0)
	}
	for _, k := range x.keys {
		for _, row := range k.rows {
			if d, ok := row.Last(timeline.Rotated); ok {
				what := "credentials of the class " + k.class + " were replaced"
				if row.State == matchers.Verified {
					what += ", and lists show it"
				}
				note(d.At, "", what, 1)
			}
			if d, ok := row.Last(timeline.Waived); ok && row.State == matchers.WaivedState {
				note(0, "", "credentials of the class "+k.class+" stay as they are until "+stamp(d.Until)+", with approval", 1)
			}
		}
	}
	for _, d := range x.c.Decisions {
		if d.Act == timeline.Stopped && x.mine[d.About] && (d.Incident == "" || d.Incident == x.doc.Incident.ID) {
			note(d.At, "", "systems were stopped or rebuilt", 1)
		}
	}
	for _, f := range slices.Concat(x.own, x.shared) {
		if len(f.Dispositions) > 0 {
			note(f.Dispositions[len(f.Dispositions)-1].At, "", "findings were assessed by a person", 1)
		}
	}
	list := slices.Collect(maps.Values(all))
	slices.SortFunc(list, func(a, b *measure) int { return cmp.Or(strings.Compare(a.day, b.day), strings.Compare(a.what, b.what)) })
	for _, m := range list {
		x.add(CustomerRow{Section: secMeasures, Item: cmp.Or(m.day, "day not stated"), Answer: m.what, Count: m.count})
	}
	if len(list) == 0 {
		x.say(secMeasures, "measures", "")
	}
}

// advice adds what the customer should do: what follows from the credentials,
// and what people say.
func (x *customerWriter) advice() {
	for _, k := range x.keys {
		open := 0
		for _, row := range k.rows {
			if !row.State.Done() {
				open++
			}
		}
		if k.own && open > 0 {
			x.add(CustomerRow{Section: secDo, Item: "replace", Answer: "Replace your credentials of the class " + classText(k.class) + ", and look at how they were used since the window opened.", Count: open})
		}
	}
	for _, a := range x.c.Tenancy.Advice {
		x.say(secDo, "we advise", a)
	}
	if len(x.c.Tenancy.Advice) == 0 {
		x.say(secDo, "we advise", "")
	}
}

// classWords say what a class of credentials is, where its name does not.
var classWords = map[string]string{
	"cloud-instance-role":   "what a machine may do in the cloud",
	"cloud-static-key":      "keys of a cloud account",
	"cloud-secret-store":    "a store of secrets",
	"llm-provider-key":      "keys for a provider of models",
	"gateway-master-key":    "the administrator's keys of the gateway",
	"gateway-virtual-key":   "keys with which a customer or service uses the gateway",
	"database-credential":   "logins of databases",
	"process-environment":   "what a program was given when it was started",
	"git-token":             "tokens for source code",
	"ci-secret":             "secrets of build jobs",
	"package-publish-token": "tokens that publish packages",
	"registry-credential":   "logins of image registries",
	"all-secrets":           "every secret within reach",
	"kubernetes-credential": "logins of clusters",
	"vault-token":           "tokens for a store of secrets",
	"infra-state":           "states of infrastructure, which hold secrets",
	"dotenv-file":           "files of settings, which hold secrets",
	"assistant-credential":  "logins of assistants",
	"browser-store":         "what browsers keep",
	"saas-token":            "tokens for other services",
}

// classText is a class with what it is.
func classText(class string) string {
	if words := classWords[class]; words != "" {
		return class + " (" + words + ")"
	}
	return class
}

// known adds what the verdicts stand on, in numbers: how many files were read,
// and how many systems were judged by them.
func (x *customerWriter) known() {
	states := map[timeline.State]int{}
	for i := range x.c.Result.Sources {
		states[x.c.Result.Sources[i].State]++
	}
	text := fmt.Sprintf("%d read whole", states[timeline.Read])
	if n := states[timeline.Partial]; n > 0 {
		text += fmt.Sprintf(", %d in part", n)
	}
	if n := states[timeline.Unread]; n > 0 {
		text += fmt.Sprintf(", %d could not be read", n)
	}
	x.add(CustomerRow{Section: secKnown, Item: "files of evidence", Answer: text + "; the SHA-256 of each is on record", Count: len(x.c.Result.Sources)})
	for _, part := range []struct {
		item string
		n    int
	}{{"systems of yours that were judged", len(x.own)}, {"systems that several customers may share, judged", len(x.shared)}} {
		if part.n > 0 {
			x.add(CustomerRow{Section: secKnown, Item: part.item, Answer: "each by lines of that evidence; where none answers, the verdict is unknown and never clear", Count: part.n})
		}
	}
	x.say(secKnown, "facts of the incident", "the file of published facts whose SHA-256 stands above; the verdicts can be made again from it and the evidence")
}

// unseen adds what the evidence does not answer, and what is not known of the
// incident.
func (x *customerWriter) unseen() {
	for _, part := range []struct {
		item string
		all  []*matchers.Finding
	}{{"systems of yours", x.own}, {"systems that several customers may share", x.shared}} {
		n := map[string]int{}
		for _, f := range part.all {
			for c, v := range f.Channels {
				if v == matchers.Unknown {
					n[c]++
				}
			}
		}
		for _, c := range slices.Sorted(maps.Keys(n)) {
			x.add(CustomerRow{Section: secUnseen, Item: part.item, Answer: "no evidence answers for the channel " + c, Count: n[c]})
		}
	}
	if !x.c.Result.Complete {
		x.say(secUnseen, "evidence", "it is not complete: whoever is not said to be exposed is not thereby clear")
	}
	for _, l := range newIncident(x.c.Result.Incident).Limits {
		x.say(secUnseen, "not known of the incident", l.Text)
	}
}

// changed compares with the answer before, in numbers.
func (x *customerWriter) changed() {
	c := x.c.Changed
	if c == nil {
		x.say(secChanged, "earlier answer", "none is stored")
		return
	}
	if len(c.Incident) > 0 {
		x.say(secChanged, "published facts", "the facts of the incident were revised")
	}
	n := map[[2]string]int{}
	for _, v := range c.Changed {
		subject, err := timeline.ParseSubject(v.Subject)
		if err == nil && (x.mine[v.Subject] || x.customerOf(subject, "") == x.doc.Name) {
			n[[2]string{cmp.Or(v.Before.Verdict, "not seen"), cmp.Or(v.After.Verdict, "not seen")}]++
		}
	}
	keys := slices.SortedFunc(maps.Keys(n), func(a, b [2]string) int { return cmp.Or(strings.Compare(a[1], b[1]), strings.Compare(a[0], b[0])) })
	for _, k := range keys {
		x.add(CustomerRow{Section: secChanged, Item: "systems", Answer: k[0] + " before, " + k[1] + " now", Count: n[k]})
	}
	if len(keys) == 0 {
		x.say(secChanged, "systems", "no verdict changed")
	}
}

// article33 adds what a notification of a personal data breach has to hold.
// https://eur-lex.europa.eu/eli/reg/2016/679/oj, Article 33(3)
func (x *customerWriter) article33() {
	t := x.c.Tenancy
	x.say(secArt33, "(a) nature of the breach", t.Nature)
	x.say(secArt33, "(a) categories of personal data", strings.Join(x.tenant.Data, "; "))
	x.say(secArt33, "(a) categories and approximate number of data subjects", x.tenant.Persons)
	x.say(secArt33, "(a) approximate number of records", x.tenant.Records)
	x.say(secArt33, "(b) data protection officer or contact point", cmp.Or(t.Company.DPO, t.Company.Contact))
	x.say(secArt33, "(c) likely consequences", t.Consequences)
	taken := ""
	if n := slices.IndexFunc(x.doc.Rows, func(r CustomerRow) bool { return r.Section == secMeasures && r.Answer != notConfirmed }); n >= 0 {
		taken = "see measures"
	}
	x.say(secArt33, "(d) measures taken or proposed", taken)
}
