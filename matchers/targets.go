package matchers

import (
	"errors"
	"regexp"
	"slices"
	"strconv"
	"time"

	"go.yaml.in/yaml/v4"

	"pulltrail/timeline"
)

// TargetsSchema is the version of the file that says what the canary tries.
const TargetsSchema = "pulltrail.canary-targets/1"

// Targets are the endpoints that the canary asks, and what it may spend.
type Targets struct {
	MaxTokens       int64 // of prompts and replies of a run together
	MaxPromptTokens int64 // of one prompt
	MaxRequests     int64 // of a run
	Targets         []CanaryTarget
}

// CanaryTarget is one endpoint that speaks the chat API of OpenAI. Counts are
// tokens.
type CanaryTarget struct {
	Name, URL, Model string
	Subject          timeline.Subject // the only engine behind it; zero when it is not stated
	PromptTokens     int64            // of a long prompt
	LimitTokens      int64            // longest prompt that it may take
	PrefillRate      int64            // tokens a second that it reads at most, 0 when it is not stated
	ReplyTokens      int64            // most of a reply
	Timeout          time.Duration    // of one request
	Tenants          []CanaryTenant
}

// CanaryTenant is a test tenant, and where its key is: in a variable of the
// environment or in a file.
type CanaryTenant struct{ Name, TokenEnv, TokenFile string }

// Bounds on what the file may ask for.
const (
	leastPrompt  = 10_000 // the first token of a shorter one says nothing: see minRead
	mostTokens   = 10_000_000
	mostReply    = 4096
	defaultReply = 256
	mostTimeout  = time.Hour
	defaultWait  = 2 * time.Minute
)

// LoadTargets reads the file at path. Every fault is reported with file and
// line, and with what is allowed there.
func LoadTargets(path string) (*Targets, error) {
	data, err := readFile("targets", path)
	if err != nil {
		return nil, err
	}
	return ParseTargets(path, data)
}

// ParseTargets reads a file of targets; name is its path, for errors.
func ParseTargets(name string, data []byte) (*Targets, error) {
	l := &loader{name: name, schema: TargetsSchema}
	root := l.document(data)
	if root == nil {
		return nil, errors.Join(l.err(), errors.New("no targets: 'pulltrail canary run --help' shows a file"))
	}
	t := l.targets(root)
	if err := l.err(); err != nil {
		return nil, err
	}
	return t, nil
}

var (
	plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)
	envName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

func (l *loader) targets(root *yaml.Node) *Targets {
	t := &Targets{}
	f := l.mapping(root, "targets file", "schema limits targets", "")
	if f == nil {
		return t
	}
	if f["schema"] != nil {
		l.oneOf(f["schema"], "schema", TargetsSchema)
	}
	if f["limits"] != nil {
		m := l.mapping(f["limits"], "limits", "max_tokens max_prompt_tokens max_requests", "")
		t.MaxTokens = l.count(m["max_tokens"], "limits.max_tokens", 1, 1000*mostTokens)
		t.MaxPromptTokens = l.count(m["max_prompt_tokens"], "limits.max_prompt_tokens", 1, mostTokens)
		t.MaxRequests = l.count(m["max_requests"], "limits.max_requests", 1, 1_000_000)
	}
	l.each(f["targets"], "targets", func(n *yaml.Node, what string) {
		c := l.target(n, what)
		if slices.ContainsFunc(t.Targets, func(o CanaryTarget) bool { return o.Name == c.Name }) {
			l.bad(n, "%s: target %q stands in the list twice", what, c.Name)
		}
		t.Targets = append(t.Targets, c)
	})
	if f["targets"] != nil && len(t.Targets) == 0 {
		l.bad(f["targets"], "targets: want one at least")
	}
	return t
}

func (l *loader) target(n *yaml.Node, what string) CanaryTarget {
	m := l.mapping(n, what, "name url model prompt_tokens limit_tokens tenants", "subject prefill_rate reply_tokens timeout")
	c := CanaryTarget{
		Name: l.like(m["name"], what+".name", plainName, "letters, digits, '.', '_' and '-'"), URL: l.text(m["url"], what+".url"), Model: l.text(m["model"], what+".model"),
		PromptTokens: l.count(m["prompt_tokens"], what+".prompt_tokens", leastPrompt, mostTokens), LimitTokens: l.count(m["limit_tokens"], what+".limit_tokens", leastPrompt, mostTokens),
		PrefillRate: l.count(m["prefill_rate"], what+".prefill_rate", 1, 1000*mostTokens),
		ReplyTokens: defaultReply, Timeout: defaultWait,
	}
	if m["reply_tokens"] != nil {
		c.ReplyTokens = l.count(m["reply_tokens"], what+".reply_tokens", 1, mostReply)
	}
	if s := l.text(m["timeout"], what+".timeout"); s != "" {
		d, err := time.ParseDuration(s)
		if err != nil || d <= 0 || d > mostTimeout {
			l.bad(m["timeout"], "%s.timeout: %q: want a time such as 90s or 5m, of an hour at most", what, s)
		}
		c.Timeout = d
	}
	if s := l.text(m["subject"], what+".subject"); s != "" {
		var err error
		if c.Subject, err = timeline.ParseSubject(s); err != nil {
			l.bad(m["subject"], "%s.subject: %v", what, err)
		}
	}
	if c.PromptTokens > 0 && c.LimitTokens > 0 && c.PromptTokens+c.ReplyTokens+c.PromptTokens/20 > c.LimitTokens {
		l.bad(m["prompt_tokens"], "%s: a prompt of %d tokens and its reply do not fit into limit_tokens, %d: a twentieth of room is needed", what, c.PromptTokens, c.LimitTokens)
	}
	l.tenantsOf(&c, m["tenants"], what+".tenants")
	return c
}

func (l *loader) tenantsOf(c *CanaryTarget, n *yaml.Node, what string) {
	l.each(n, what, func(n *yaml.Node, what string) {
		m := l.mapping(n, what, "name", "token_env token_file")
		who := CanaryTenant{
			Name:     l.like(m["name"], what+".name", plainName, "letters, digits, '.', '_' and '-'"),
			TokenEnv: l.text(m["token_env"], what+".token_env"), TokenFile: l.text(m["token_file"], what+".token_file"),
		}
		if who.TokenEnv != "" && !envName.MatchString(who.TokenEnv) { // perhaps the key itself: it is not repeated
			l.bad(m["token_env"], "%s.token_env: want the name of a variable of the environment, never the key itself", what)
		}
		if (who.TokenEnv == "") == (who.TokenFile == "") {
			l.bad(n, "%s: want token_env or token_file, one of them: a key never stands in this file", what)
		}
		if slices.ContainsFunc(c.Tenants, func(o CanaryTenant) bool { return o.Name == who.Name }) {
			l.bad(n, "%s: tenant %q stands in the list twice", what, who.Name)
		}
		c.Tenants = append(c.Tenants, who)
	})
	if n != nil && len(c.Tenants) < 2 {
		l.bad(n, "%s: want two at least, with keys of their own: nothing can cross from one tenant to itself", what)
	}
}

// count reads a whole number of a range; 0 for a key that is missing.
func (l *loader) count(n *yaml.Node, what string, least, most int64) int64 {
	if n == nil {
		return 0
	}
	v, err := strconv.ParseInt(n.Value, 10, 64)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil || v < least || v > most {
		l.bad(n, "%s: want a whole number from %d to %d", what, least, most)
		return 0
	}
	return v
}
