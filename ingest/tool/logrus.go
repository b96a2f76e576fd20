package tool

import (
	"bytes"
	"regexp"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// logfmt walks over key=value pairs as logrus writes them; what stands between
// them is passed over.
// https://pkg.go.dev/github.com/sirupsen/logrus#TextFormatter
type logfmt struct {
	key, value []byte // value as written, with its quotes
	rest       []byte
}

func (f *logfmt) next() bool {
	for len(f.rest) > 0 {
		f.rest = bytes.TrimLeft(f.rest, " ")
		n := bytes.IndexAny(f.rest, "= ")
		if n < 0 {
			return false
		}
		if f.rest[n] == ' ' {
			f.rest = f.rest[n:]
			continue
		}
		f.key, f.rest = f.rest[:n], f.rest[n+1:]
		end := bytes.IndexByte(f.rest, ' ')
		if len(f.rest) > 0 && f.rest[0] == '"' {
			end = quoted(f.rest)
		}
		if end < 0 {
			end = len(f.rest)
		}
		f.value, f.rest = f.rest[:end], f.rest[end:]
		return true
	}
	return false
}

// quoted returns the length of the quoted string that b starts with, -1 when
// it does not end: a pager cut the line.
func quoted(b []byte) int {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// plain drops the quotes around a value.
func plain(value []byte) []byte {
	if len(value) > 1 && value[0] == '"' && value[len(value)-1] == '"' {
		return value[1 : len(value)-1]
	}
	return value
}

// daemonLine is a line of a container runtime:
//
//	time="2026-10-21T12:44:02.118203913Z" level=info msg="image pulled" digest="sha256:…" remote="docker.io/library/redis:7.4"
//	{"digest":"sha256:…","level":"info","msg":"image pulled","remote":"docker.io/library/redis:7.4","time":"2026-10-21T12:44:02.118203913Z"}
//	INFO[2026-10-21T12:44:02.118203913Z] image pulled                                  digest="sha256:…" remote="docker.io/library/redis:7.4"
type daemonLine struct {
	stamp, msg, digest, remote, id []byte
	buf                            []byte
}

// parse reads the line; msg is unquoted.
func (d *daemonLine) parse(text []byte) bool {
	*d = daemonLine{buf: d.buf}
	if stamp, rest, ok := terminalLine(text); ok {
		d.stamp, d.msg = stamp, rest
		if n := terminalFields.FindIndex(rest); n != nil {
			d.msg = bytes.TrimRight(rest[:n[0]], " ")
			for f := (logfmt{rest: rest[n[0]:]}); f.next(); {
				d.field(f.key, f.value)
			}
		}
		return len(d.msg) > 0
	}
	if text = bytes.TrimLeft(text, " \t"); text[0] == '{' {
		for f := evidence.JSONFields(text); f.Next(); {
			d.field(f.Key, f.Value)
		}
	} else {
		for f := (logfmt{rest: text}); f.next(); {
			d.field(f.key, f.value)
		}
	}
	if len(d.msg) > 0 && d.msg[0] == '"' {
		if text, buf, ok := evidence.UnquoteJSON(d.msg, d.buf); ok {
			d.msg, d.buf = text, buf
		} else {
			d.msg = d.msg[1:] // cut
		}
	}
	return len(d.stamp) > 0 && len(d.msg) > 0
}

// terminalLine takes apart how logrus writes to a terminal with whole times.
//
//	INFO[2026-10-21 12:04:58.101288731Z] Pulled image: quay.io/calico/cni@sha256:…    id=e9cc… name=/runtime.v1.ImageService/PullImage
func terminalLine(text []byte) (stamp, rest []byte, ok bool) {
	if len(text) < 20 || text[4] != '[' || text[5] != '2' || text[9] != '-' {
		return nil, nil, false
	}
	return bytes.Cut(text[5:], []byte("] "))
}

// terminalFields is where the fields behind a message on a terminal begin.
var terminalFields = regexp.MustCompile(` [A-Za-z_.]+=`)

// terminalStarts are the levels that lines here have there.
var terminalStarts = []string{"INFO[2", "DEBU[2"}

func (d *daemonLine) field(key, value []byte) {
	switch string(key) {
	case "time":
		d.stamp = plain(value)
	case "msg":
		d.msg = value
	case "digest":
		d.digest = plain(value)
	case "remote":
		d.remote = plain(value)
	case "id":
		d.id = plain(value)
	}
}

// looksDaemon reports whether a line that may be an object can be a daemonLine:
// programs of all kinds log in JSON.
func looksDaemon(text []byte) bool {
	return text[0] != '{' || bytes.Contains(text, []byte(`"time":"`)) || bytes.Contains(text, []byte(`"remote":"`))
}

// saying is the message of a line and what stands behind it, in either
// spelling, nil when there is none; cheap, before the line is taken apart.
func saying(text []byte) []byte {
	if _, rest, ok := terminalLine(text); ok {
		return rest
	}
	i := bytes.Index(text, []byte(`msg`))
	for i >= 0 {
		rest := text[i+3:]
		if bytes.HasPrefix(rest, []byte(`="`)) {
			return rest[2:]
		}
		if i > 0 && text[i-1] == '"' && bytes.HasPrefix(rest, []byte(`":"`)) {
			return rest[3:]
		}
		k := bytes.Index(rest, []byte(`msg`))
		if k < 0 {
			break
		}
		i += 3 + k
	}
	return nil
}

// says reports whether a message starts with words.
func says(message []byte, words string) bool {
	return len(message) >= len(words) && string(message[:len(words)]) == words
}

// event records an event at the line's own time, which is finer than that of
// the frame and has its zone.
func (d *daemonLine) event(o *evidence.Out, a timeline.Action, items ...timeline.Item) {
	o.Event(timeline.Event{Action: a, Items: items, Span: d.span(o)})
}

// span is the line's own time, zero when it has none.
func (d *daemonLine) span(o *evidence.Out) timeline.Span {
	span := evidence.ISOStamp(d.stamp, &o.Times)
	if span.From == timeline.Beginning {
		return timeline.Span{}
	}
	return span
}

// image makes an item of a reference as a daemon writes it and the digest that
// the registry answered with, if any. A digest that the line cut is none, and
// what was asked by digest has no tag.
func image(ref, digest string) (timeline.Item, bool) {
	name, at, byDigest := strings.Cut(ref, "@")
	r, ok := timeline.ParseImage(name)
	if !ok {
		return timeline.Item{}, false
	}
	if byDigest && strings.LastIndexByte(name, ':') <= strings.LastIndexByte(name, '/') {
		r.Tag = ""
	}
	r.Digest = timeline.SHA256(digest)
	if r.Digest == "" {
		r.Digest = timeline.SHA256(at)
	}
	item := timeline.Item{Artifact: r.String()}
	if r.Digest != "" {
		item.Digests = []timeline.Digest{{Value: r.Digest}}
	}
	return item, true
}
