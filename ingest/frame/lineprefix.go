package frame

import (
	"bytes"
	"regexp"
	"strings"
	"sync"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// LinePrefix is text whose lines have something in front of them that no other
// format knows: a time without a zone, a level, the name of a machine, target or
// step.
// https://developer.hashicorp.com/packer/docs/commands/build
// https://www.jetbrains.com/help/teamcity/build-log.html
var LinePrefix = evidence.Format{
	Name:   "line-prefix",
	Shape:  evidence.FrameShape,
	Title:  "Lines behind a time without a zone, a level or a name (TeamCity, Bamboo, Packer, Vagrant, Terraform, act, Earthly, stern, loggers)",
	Proves: "what the tools say behind it; the local time, where there is one",
	Cannot: "the time zone: state it with --zone; what the name stands for",
	Doc:    "https://www.jetbrains.com/help/teamcity/build-log.html",
	Sample: "written by hand after the documentation of these programs",
	Claim:  func(h *evidence.Head) bool { return prefixOf(h.Bytes) != nil },
	New:    func() evidence.Peeler { return &linePrefix{} },
}

// prefixShape is one way to begin lines. The groups "time" and "name" are taken
// where a shape has them.
type prefixShape struct {
	begins *regexp.Regexp
	clock  func(text []byte, t *evidence.Times) timeline.Span
}

// prefixShapes are tried in this order. They are large, and made ready when they
// are first wanted.
//
//	[12:04:51]W:	 [Step 1/2] Collecting litellm                                 (TeamCity)
//	build	21-Oct-2026 12:04:51	Collecting litellm                             (Bamboo)
//	[2026-10-21 12:04:51.123456] Collecting litellm
//	2026-10-21 12:04:51,123 - builder - INFO - Collecting litellm
//	2026-10-21T12:04:51.000000+00:00 app[api]: Collecting litellm            (Heroku)
//	Oct 21 12:04:51 Collecting litellm                                        (ts)
//	[INFO] Collecting litellm
//	==> amazon-ebs: Collecting litellm                                         (Packer)
//	    default: Collecting litellm                                            (Vagrant)
//	null_resource.app (remote-exec): Collecting litellm                        (Terraform)
//	[CI/build]   | Collecting litellm                                          (act)
//	             +deps | Collecting litellm                                    (Earthly)
//	build-1234: Collecting litellm                                             (argo logs)
//	web-7d9c-x2x4l app Collecting litellm                                      (stern)
//	ai/web-7d9c-x2x4l[app]: Collecting litellm                                 (kail)
//	> Collecting litellm                                                       (quoted in a letter)
//	Wed, 21 Oct 2026 12:04:51 GMT Collecting litellm                           (the page of a GitHub job, with its times)
//	build.log:12:Collecting litellm                                            (grep -n)
//	    12 | Collecting litellm                                                (cat -n, a page's line numbers)
var prefixShapes = sync.OnceValue(func() []prefixShape {
	return []prefixShape{
		{regexp.MustCompile(`^\[(?P<time>\d\d:\d\d:\d\d)\][A-Za-z]?(?: ?:)?[ \t]*(?:\[(?P<name>[^\]\n]{1,100})\] )?`), dateless},
		{regexp.MustCompile(`^(?:(?:simple|build|command|error)\t)?(?P<time>\d\d-[A-Z][a-z]{2}-\d{4} \d\d:\d\d:\d\d)\t`), bambooTime},
		{regexp.MustCompile(`^\[(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?)\]:? ` + bareLevel), evidence.ISOStamp},
		{regexp.MustCompile(`^(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?)(?: UTC)?(?::? (?:[-|] )?|\t)` + bareLevel), evidence.ISOStamp},
		{regexp.MustCompile(`^\[(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?)\]:? ` + levelOrName), evidence.ISOStamp},
		{regexp.MustCompile(`^(?P<time>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z| ?[+-]\d\d:?\d\d)?)(?: UTC)?(?::? (?:[-|] )?|\t)` + levelOrName), evidence.ISOStamp},
		{regexp.MustCompile(`^(?P<time>[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT) `), webStamp},
		{regexp.MustCompile(`^(?P<time>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [AP]M) {1,3}` + levelOrName), dateless},
		{regexp.MustCompile(`^(?P<time>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d) ` + levelOrName), yearlessStamp},
		{regexp.MustCompile(`^(?P<time>\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?):? ` + levelOrName), dateless},
		{regexp.MustCompile(`^` + level), nil},
		{regexp.MustCompile(`^(?:==>|   ) (?P<name>[\w.-]{1,80}): `), nil},
		{regexp.MustCompile(`^(?P<name>[\w.\[\]"-]{1,160} \((?:remote|local)-exec\)): `), nil},
		{regexp.MustCompile(`^\[(?P<name>[^\]\n]{1,120})\] {1,3}\|  ?`), nil},
		{regexp.MustCompile(`^(?:[\w./-]{1,120}\.(?:log|txt):)?\d{1,7}[:-]`), nil},
		{regexp.MustCompile(`^ *\d{1,7}(?:\t| [|│] ?|[|│] ?| )`), nil},
		{regexp.MustCompile(`^ *(?P<name>\+?[\w./*-]{1,80}) +\| `), nil},
		{regexp.MustCompile(`^\[(?P<name>[A-Za-z][^\]\n]{0,119})\](?: out: | run: | |: )`), nil},
		{regexp.MustCompile(`^(?P<name>[\w.-]{1,80}): `), nil},
		{regexp.MustCompile(`^(?P<name>[a-z0-9][a-z0-9.]*-[a-z0-9.-]{1,200} [a-z0-9][a-z0-9-]{0,62}) `), nil},
		{regexp.MustCompile(`^(?P<name>[a-z0-9-]{1,63}/[a-z0-9.-]{1,200}\[[a-z0-9-]{1,63}\]): `), nil},
		{regexp.MustCompile(`^>(?: >)* `), nil},
	}
})

const (
	bareLevel   = `(?:(?:\[?[\w./-]{1,60}\]? )?-? ?(?:[\w./:-]{1,80} - )?` + level + `)?`
	level       = `(?:\[(?:INFO|DEBUG|NOTICE|info|debug)\] |(?:INFO|DEBUG|NOTICE|info|debug)(?:: | - |\s+))`
	levelOrName = `(?:(?:\[?[\w./-]{1,60}\]? )?-? ?(?:[\w./:-]{1,80} - )?` + level + `(?:[\w./:-]{1,80}[:-] )?|(?P<name>[a-z]{2,12}\[[\w.-]{1,60}\]): )?`
)

// ownFrames are prefixes that frames take off in any source.
var ownFrames = regexp.MustCompile(`^(?:\[?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)\]?[ \t]|\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] |\[\d\d:\d\d:\d\d\] |` +
	`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \[(?:info|trace|debug|warning|error|critical)\] |\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}\] \[\w+\] \[info\] |\[\d{1,11} ms\] |` +
	`\d\d:\d\d:\d\d(?:\.\d{3} |  |(?:\.\d{3})?\t)|remote: |[A-Z][a-z]{2} \d{1,2} \d\d:\d\d:\d\d [AP]M  +)$`)

// prefixOf returns the shape of the lines of a text, nil when they have none.
// Two kinds of lines of a tool must stand behind it: a program that tells of an
// installation writes one. Where a tool's lines stand alone too, a name before
// others is no prefix.
func prefixOf(head []byte) *prefixShape {
	if !mentionsTool(head) {
		return nil
	}
	alone := false
	kinds := map[*prefixShape]map[string]bool{}
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, "\r\n")
		if bytes.IndexByte(line, 0x1b) >= 0 {
			line = evidence.StripEscapes(bytes.Clone(line))
		}
		if bytes.HasPrefix(line, []byte("Attaching to ")) {
			return nil // docker compose
		}
		if !mentionsTool(line) {
			continue
		}
		if toolLines().Match(line) {
			alone = true
		} else if shape, kind := shapeOf(line); shape != nil {
			if kinds[shape] == nil {
				kinds[shape] = map[string]bool{}
			}
			kinds[shape][kind] = true
		}
	}
	shapes := prefixShapes()
	for i := range shapes {
		if shape := &shapes[i]; len(kinds[shape]) > 1 && (shape.clock != nil || !alone) {
			return shape
		}
	}
	return nil
}

// shapeOf returns the shape that a line of a tool has, and the first word of
// what the tool says.
func shapeOf(line []byte) (shape *prefixShape, kind string) {
	shapes := prefixShapes()
	for i := range shapes {
		shape := &shapes[i]
		m := shape.begins.FindIndex(line[:min(len(line), maxPrefix)])
		if m == nil || m[1] == 0 || !toolLines().Match(line[m[1]:]) {
			continue
		}
		if ownFrames.Match(bytes.TrimSuffix(line[:m[1]], []byte("DEBUG "))) { // uv's own word
			return nil, ""
		}
		return shape, string(kindOf(line[m[1]:]))
	}
	return nil, ""
}

// maxPrefix bounds what stands before a line.
const maxPrefix = 400

type linePrefix struct{ shape *prefixShape }

// Start finds the shape of the lines.
func (p *linePrefix) Start(h *evidence.Head, _ *evidence.Stream, _ *evidence.Out) {
	p.shape = prefixOf(h.Bytes)
}

// Peel takes the prefix off.
func (p *linePrefix) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	if p.shape == nil {
		return s.Child(o, nil)
	}
	head := l.Text[:min(len(l.Text), maxPrefix)]
	m := p.shape.begins.FindSubmatchIndex(head)
	if m == nil {
		return s.Child(o, nil)
	}
	group := func(name string) []byte {
		if i := p.shape.begins.SubexpIndex(name); i > 0 && m[2*i] >= 0 {
			return head[m[2*i]:m[2*i+1]]
		}
		return nil
	}
	child := s.Child(o, group("name"))
	if stamp := group("time"); p.shape.clock != nil && stamp != nil {
		child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], stamp...), Read: p.shape.clock}
		l.Stamp = child.Last
	}
	l.Text = l.Text[m[1]:]
	return child
}

// webStamp reads Wed, 21 Oct 2026 12:04:51 GMT.
func webStamp(text []byte, t *evidence.Times) timeline.Span {
	at, err := time.Parse(time.RFC1123, string(text))
	if err != nil {
		return timeline.Always()
	}
	s := evidence.ISOStamp([]byte(at.UTC().Format(time.RFC3339)), t)
	s.Written = strings.Clone(string(text))
	return s
}

// bambooTime reads 21-Oct-2026 12:04:51, a local time.
func bambooTime(text []byte, t *evidence.Times) timeline.Span {
	at, err := time.Parse("02-Jan-2006 15:04:05", string(text))
	if err != nil {
		return timeline.Always()
	}
	s := evidence.ISOStamp([]byte(at.Format("2006-01-02 15:04:05")), t)
	s.Written = strings.Clone(string(text))
	return s
}
