package timeline

import (
	"fmt"
	"strings"
)

// Action is what one line or record proves. A stronger action is never written
// than the line proves.
type Action uint8

// The actions, from an ask to a trace of use. Cases and the conditions of indexes
// hold their numbers: a new one stands before endOfActions.
const (
	NoAction Action = iota
	Require         // a requirement, pin, range, lock entry or command names it
	Resolve         // a resolver chose it, metadata only
	Check           // a presence check that moved no bytes
	Cached          // reused from a cache
	Download        // the package file came over
	Pull            // the image came over
	Present         // seen in place
	Install         // installed, unpacked, or its install script was run
	Build           // image produced
	Push            // image pushed
	Tag             // name bound to a digest
	Run             // a container, process or CI action started from it
	Remove          // uninstalled, replaced, deleted: it was there
	Contact         // a name looked up, an address or URL connected, a file seen
	Opaque          // a command that may have fetched packages but printed no versions
	Hold            // the subject holds a secret of this name
	endOfActions
)

var actionNames = [endOfActions]string{
	"", "require", "resolve", "check", "cached", "download", "pull", "present", "install",
	"build", "push", "tag", "run", "remove", "contact", "opaque", "hold",
}

// String returns the action's word in the notation, "" for NoAction.
func (a Action) String() string {
	if a < endOfActions {
		return actionNames[a]
	}
	return fmt.Sprintf("action(%d)", uint8(a))
}

// ParseAction is the inverse of String.
func ParseAction(s string) (Action, error) {
	for i, name := range actionNames {
		if i > 0 && name == s {
			return Action(i), nil
		}
	}
	return NoAction, fmt.Errorf("unknown action %q: one of %s", s, strings.Join(actionNames[1:], " "))
}

// Kind is the kind of a subject.
type Kind string

// The kinds of subject.
const (
	Host      Kind = "host"
	Container Kind = "container"
	Job       Kind = "job"
	Image     Kind = "image"
	Client    Kind = "client" // an address or user in a log that no inventory maps yet
	Cache     Kind = "cache"
	Source    Kind = "source" // evidence that names nobody
)

var kinds = []Kind{Host, Container, Job, Image, Client, Cache, Source}

// Subject is who or what an event speaks of: stable and readable, such as
// {job, github:acme/api/runs/812/attempts/2/jobs/build}.
type Subject struct {
	Kind Kind
	ID   string // without the kind
}

// IsZero reports whether no subject was named.
func (s Subject) IsZero() bool { return s.Kind == "" }

// String returns "kind:id".
func (s Subject) String() string { return string(s.Kind) + ":" + s.ID }

// Compare orders subjects by kind and id.
func (s Subject) Compare(o Subject) int {
	if c := strings.Compare(string(s.Kind), string(o.Kind)); c != 0 {
		return c
	}
	return strings.Compare(s.ID, o.ID)
}

// ParseSubject reads "kind:id".
func ParseSubject(text string) (Subject, error) {
	kind, id, _ := strings.Cut(text, ":")
	for _, k := range kinds {
		if string(k) == kind && id != "" {
			return Subject{k, id}, nil
		}
	}
	return Subject{}, fmt.Errorf("subject %q: want KIND:ID with KIND one of host, container, job, image, client, cache, source", text)
}

// Role says what a digest is the hash of. Equal digests match whatever the
// role; only inequality needs the same role.
type Role string

// The roles of a digest.
const (
	NoRole   Role = ""
	Index    Role = "index"
	Manifest Role = "manifest"
	Config   Role = "config" // the image ID
	Layer    Role = "layer"
	Diff     Role = "diff"
	File     Role = "file"
	Commit   Role = "commit"
)

// Digest is a hash with its role: "sha256:<64 hex>", or 40 hex for a commit.
type Digest struct {
	Value string
	Role  Role
}

// Item is one thing that an event speaks of. A line that names sixty packages
// is one event with sixty items.
type Item struct {
	Artifact string // purl, image reference, secret:, domain:, ip:, url:, file:; "" when unknown
	Ref      string // what was asked: a range, tag or branch; never an answer
	Digests  []Digest
}

// Origin leads to the bytes that prove an event.
type Origin struct {
	Path   string // path of the source as given, with "!member" for archive members
	Line   int64  // physical line, 1-based; 0 when the format has no lines
	Offset int64  // byte offset of that line in the decoded member
	Text   string // redacted excerpt
}

// Event is one thing that one line or record proves.
type Event struct {
	Action  Action
	Subject Subject
	Items   []Item
	Span    Span
	Op      int64 // groups the lines of one invocation inside a source; 0 is none
	Origin
}

// Relation is the kind of a Link.
type Relation string

// The relations.
const (
	On      Relation = "on"      // job or container → host
	Is      Relation = "is"      // client → host, pod container → container
	Names   Relation = "names"   // repo:tag → digest
	Holds   Relation = "holds"   // index → manifest → config → diff
	Uses    Relation = "uses"    // job → cache key that it got, workflow; container → part of its host
	Saves   Relation = "saves"   // job → cache key that it wrote
	Mirrors Relation = "mirrors" // prefix → upstream
)

// Ends of links that are no digest, image or subject start with one of these.
const (
	DiffEnd     = "diff:"        // before the digest of an unpacked layer: an image of one layer is not the layer
	HostEnd     = "host-access:" // before what a container can reach of its host: privileged, pid, or a path
	CacheEnd    = "cache:"       // before the key of a cache; SharedCache before one that is not of one project
	SharedCache = CacheEnd + "image/"

	// EnvironmentEnd stands before the place of installed packages that a job
	// uses, in the Ref of what it did not see come.
	EnvironmentEnd = "environment:"
)

// MadeHere is the topic of a job that makes the environment which it installs
// packages of the kind into.
func MadeHere(kind string) Topic { return Topic(madeHere + kind) }

// Covers reports whether evidence of the topic may show that nothing came.
func (t Topic) Covers() bool {
	return t != StepRan && t != StepSeen && !strings.HasPrefix(string(t), madeHere)
}

// Link is a relation between two identities, seen at some time. The ends are
// "kind:id" for subjects, a digest, an image reference or a key.
type Link struct {
	Relation Relation
	From, To string
	Span     Span
	Origin
}

// FetchedKinds are the purl types of packages whose fetching the log of a job
// shows: by the output of the program, or at least by its command, which is
// opaque then. Of packages of another type a whole log without them says nothing.
// Those of "generic" and "github" are files with an address.
var FetchedKinds = strings.Fields(`
	alpm apk brew cargo chocolatey cocoapods composer conan conda cpan deb gem generic github golang hackage helm hex
	huggingface luarocks maven npm nuget oci opam pub pypi rpm scoop swift terraform vscode-extension winget`)

// Topic is what a source speaks of: "pypi", "npm", "images",
// "github-actions", … or Everything.
type Topic string

// The topics that formats agree on. A package ecosystem's topic is its purl
// type.
const (
	Everything    Topic = "*"
	Images        Topic = "images" // pulls and runs of container images
	PyPI          Topic = "pypi"
	NPM           Topic = "npm"
	GitHubActions Topic = "github-actions"

	// Extensions are those of VS Code and of editors made from it.
	Extensions Topic = VSCodeExtension
	// JenkinsPlugins has no package type to be called after: a list of them says
	// nothing of other generic packages.
	JenkinsPlugins Topic = "jenkins-marketplace"

	// StepRan and StepSeen cover nothing: the first is when a step of a job ran,
	// as a record of the job says, the second when one began in its log.
	StepRan  Topic = "step-ran"
	StepSeen Topic = "step-seen"

	// madeHere covers nothing either: see MadeHere.
	madeHere = "made-here:"
)

// Coverage says that a source speaks of a topic for a subject over a span.
type Coverage struct {
	Subject Subject
	Topic   Topic
	Span    Span
	Whole   bool   // the subject's whole life is in the source: start and end marks were seen
	Why     string // one sentence
}

// Expected is evidence that a record (an API answer, an inventory, a later
// attempt's number) says must exist.
type Expected struct {
	// Subject must have evidence. A GitHub job without "/jobs/NAME" is a whole
	// attempt: any evidence of one of its jobs answers it. A record of a GitHub
	// job may not name its repository: "github:*/runs/ID/…" then stands for
	// the repository that other evidence gives to that run id, which is unique
	// on its server.
	Subject Subject
	Channel string // a channel word, "" for all
	Span    Span   // when it lived; Always when not known
	Reason  string // why it is missing, when the record itself says so: expired, denied, absent, failed, unfinished; "" = only expected
	Detail  string // HTTP status or the sentence for people
	Origin
}

// Unfinished is the Reason of what went on when its record was made.
const Unfinished = "unfinished"

// Skip is a record that could not be understood.
type Skip struct {
	Reason string
	Origin
}

// OpState says how an invocation ended.
type OpState string

// The ends of an operation.
const (
	OpOpen   OpState = "open"   // no end was seen: the log stops or the tool prints none
	OpDone   OpState = "done"   // the tool said that it finished
	OpFailed OpState = "failed" // the tool said that it failed
	OpCut    OpState = "cut"    // the log ends inside it
	OpCached OpState = "cached" // not run: a cached result was reused
)

// Op is one invocation of a tool.
type Op struct {
	Number  int64
	Parent  int64 // the build or step it belongs to, 0 is none
	Tool    string
	Command string // as echoed, redacted; "" when unknown
	State   OpState
}

// State is how much of a source was understood.
type State string

// The states of a source.
const (
	Read    State = "read"
	Partial State = "partial" // something was skipped or cut
	Unread  State = "unread"  // no format claims it, or no line was recognised
)
