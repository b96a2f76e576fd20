package tool

import (
	"bytes"
	"net/netip"
	"strconv"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Access is the access log of a web server, package mirror or registry: the
// combined lines of nginx, Apache and CNCF distribution, and the logrus lines
// that distribution writes of the same requests.
// https://httpd.apache.org/docs/current/logs.html#combined
// https://nginx.org/en/docs/http/ngx_http_log_module.html
// https://distribution.github.io/distribution/about/configuration/#log
var Access = evidence.Format{
	Name:  "access-log",
	Shape: evidence.ToolShape,
	Title: "Access log of a mirror or registry (nginx, Apache, CNCF distribution)",
	Proves: "which client fetched which package file, index page, image manifest and layers, when; " +
		"whole files apart from parts and look-ups",
	Cannot: "who stands behind an address (inventory), what was fetched past this server, what became of it",
	Doc:    "https://httpd.apache.org/docs/current/logs.html#combined",
	Sample: "made by nginx 1.22.1, Python http.server and docker-registry 2.8.2 and 3.0.0",
	Starts: accessStarts(),
	Looks:  looksAccess,
	Tool:   func() evidence.Parser { return &access{} },
}

// accessStarts lists what an access line can start with: an address, a host
// name, the date where the client is left out, and the starts of logrus lines.
func accessStarts() []string {
	starts := []string{`time="`, `{"`, "INFO[", "WARN[", "ERRO[", "DEBU[", "- ", "::"}
	const first, second = "0123456789abcdefghijklmnopqrstuvwxyz", "0123456789abcdefghijklmnopqrstuvwxyz.-:"
	for _, a := range first {
		for _, b := range second {
			starts = append(starts, string(a)+string(b))
		}
	}
	for d := '0'; d <= '3'; d++ {
		starts = append(starts, "["+string(d))
	}
	return starts
}

// maxColumns is longer than what stands before the date of an access line.
const maxColumns = 512

// looksAccess wants a date in brackets, and the identity that nobody gives, "-",
// in front of the user: the first column, or the second or third. The other forms
// have starts of their own.
func looksAccess(text []byte) bool {
	switch text[0] {
	case '{', 'I', 'W', 'E', 'D':
		return looksLogrus(text)
	case '[':
		return true
	case 't':
		if bytes.HasPrefix(text, []byte(`time="`)) {
			return true
		}
	case 'p':
		if bytes.HasPrefix(text, []byte("pulp [")) {
			return true
		}
	}
	if dateless(text) > 0 {
		return true
	}
	open := bytes.IndexByte(text[:min(len(text), maxColumns)], '[')
	if open < 0 || open+1 == len(text) || text[open+1] < '0' || text[open+1] > '9' {
		return false
	}
	rest := text
	for range 3 {
		if len(rest) > 1 && rest[0] == '-' && rest[1] == ' ' {
			return true
		}
		i := bytes.IndexByte(rest, ' ')
		if i < 0 {
			break
		}
		if rest = evidence.TrimIndent(rest[i:]); len(rest) == len(text)-open {
			return true // an address alone
		}
	}
	return bytes.IndexByte(text[:min(len(text), 64)], '\t') >= 0 // columns with tabs between
}

// request is one request as a server logged it. Its slices are parts of the
// line.
type request struct {
	client      []byte // address, else user; nil when the line names neither
	method, uri []byte
	status      int
	size        int64 // bytes of the answer's body, -1 when not logged
	span        timeline.Span
	date        []byte // when span is not read yet: the time as written,
	moment      evidence.Moment
	forwarded   []byte // the client that a proxy in front names, when logged
	host        []byte // the name that the client asked for, when logged
	contentType []byte
	agent       []byte // what holds the name of the client's program, when logged
	broken      bool   // the connection went away before the end
	logrus      bool
	noted       bool // the writer is Python's http.server, which never logs sizes
}

type access struct {
	files     files
	manifests manifests
}

// Line reads one line.
func (a *access) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	var r request
	switch text[0] {
	case '{', 'I', 'W', 'E', 'D':
		if is, whole := r.logrusLine(text, o); !is {
			return evidence.Miss
		} else if !whole {
			return evidence.Done
		}
	case 't':
		if is, whole := r.logrusLine(text, o); is && !whole {
			return evidence.Done
		} else if !is && !r.combined(text) {
			return evidence.Miss
		}
	default:
		if !r.combined(text) {
			return evidence.Miss
		}
	}
	a.request(&r, o)
	return evidence.Done
}

// combined reads
//
//	10.20.0.17 - ci [21/Oct/2026:12:10:03 +0000] "GET /simple/litellm/ HTTP/1.1" 200 1555 "-" "pip/24.2 {…}"
//
// with a virtual host in front or without the client; what follows the size is
// not needed. Nexus puts the request's size before that of the answer.
//
// Pulp puts its own name, with the number of the request, before it.
func (r *request) combined(text []byte) bool {
	if bytes.HasPrefix(text, []byte("pulp [")) {
		_, text, _ = bytes.Cut(text, []byte("]: "))
		if len(text) == 0 {
			return false
		}
	}
	if i := dateless(text); i > 0 {
		r.client = text[:i-4]
		if _, err := netip.ParseAddr(string(r.client)); err != nil {
			return false
		}
		return r.answered(text[i:])
	}
	open := 0
	if text[0] != '[' {
		// The column before the user is an identity that nobody asks for.
		if open = bytes.IndexByte(text[:min(len(text), maxColumns)], '['); open < 0 || !r.who(text[:open]) {
			return false
		}
	}
	date, _, ok := bytes.Cut(text[open+1:min(len(text), open+42)], []byte("] "))
	if !ok {
		return false
	}
	rest := text[open+1+len(date)+2:]
	if len(rest) == 0 {
		return false
	}
	if rest[0] != '"' { // the host that was asked for, or what the cache did
		i := bytes.Index(rest[:min(len(rest), maxClient)], []byte(" \""))
		if i < 0 || bytes.IndexByte(rest[:i], ' ') >= 0 || !upperWord(rest[i+2:]) {
			return false
		}
		rest = rest[i+1:]
	}
	rest = rest[1:]
	if r.moment, ok = accessTime(date); !ok {
		return false
	}
	r.date = date
	r.noted = bytes.IndexByte(date, ' ') > 0 && bytes.IndexByte(date, '+') < 0 && bytes.IndexByte(date, '-') < 0
	return r.answered(rest)
}

// answered reads what stands behind the quote before the request.
func (r *request) answered(rest []byte) (ok bool) {
	end := 0
	for end < len(rest) && rest[end] != '"' {
		if rest[end] == '\\' {
			end++
		}
		end++
	}
	if end+5 > len(rest) || rest[end+1] != ' ' {
		return false
	}
	if r.status, ok = status(rest[end+2:]); !ok {
		return false
	}
	r.method, r.uri, _ = bytes.Cut(rest[:end], []byte(" "))
	r.uri, _, _ = bytes.Cut(r.uri, []byte(" "))
	size, more, _ := bytes.Cut(bytes.TrimLeft(rest[end+5:], " "), []byte(" "))
	r.size = length(size)
	if second, _, _ := bytes.Cut(more, []byte(" ")); string(size) == "-" && length(second) >= 0 {
		r.size = length(second) // Nexus
	}
	if string(size) == "-" && r.size < 0 && !r.noted {
		r.size = 0 // how Apache writes none
	}
	r.agent, r.forwarded = more, forwardedFor(more)
	return true
}

// redirects reports whether the answer sends the client elsewhere: to the store
// where the file is.
func (r *request) redirects() bool {
	return r.status == 301 || r.status == 302 || r.status == 303 || r.status == 307 || r.status == 308
}

// status reads the three digits of an HTTP status.
func status(b []byte) (int, bool) {
	if len(b) < 3 || len(b) > 3 && b[3] != ' ' {
		return 0, false
	}
	n := length(b[:3])
	return int(n), n >= 100 && n < 600
}

// length reads a number of bytes, -1 when it is none.
func length(b []byte) int64 {
	if len(b) == 0 || len(b) > 15 {
		return -1
	}
	n := int64(0)
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int64(c-'0')
	}
	return n
}

// accessTime reads "21/Oct/2026:12:10:03 +0000", the same with a blank and
// without a zone as Python's servers write it, and ISO 8601.
func accessTime(b []byte) (m evidence.Moment, ok bool) {
	if len(b) < 20 || b[2] != '/' {
		m, n := evidence.ParseISO(b)
		return m, n > 0 && n == len(b)
	}
	if b[6] != '/' || b[11] != ':' && b[11] != ' ' || b[14] != ':' || b[17] != ':' {
		return m, false
	}
	day, year, hour, minute, sec := length(b[:2]), length(b[7:11]), length(b[12:14]), length(b[15:17]), length(b[18:20])
	m = evidence.Moment{
		Year: int(year), Month: evidence.Month(b[3:6]), Day: int(day), Hour: int(hour), Minute: int(minute), Sec: int(sec), Resolution: time.Second,
	}
	if m.Month == 0 || day < 1 || day > 31 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || sec < 0 || sec > 60 || year < 1 {
		return m, false
	}
	zone := b[20:]
	if len(zone) == 0 {
		return m, true
	}
	if len(zone) != 6 || zone[0] != ' ' || zone[1] != '+' && zone[1] != '-' {
		return m, false
	}
	hours, minutes := length(zone[2:4]), length(zone[4:6])
	m.Offset, m.HasOffset = time.Duration(hours)*time.Hour+time.Duration(minutes)*time.Minute, true
	if zone[1] == '-' {
		m.Offset = -m.Offset
	}
	return m, hours >= 0 && minutes >= 0
}

// subject is the client of a request; where the line names none, that of the
// line. A server's log covers nothing for its clients: they can fetch past it.
func (r *request) subject(o *evidence.Out) timeline.Subject {
	if len(r.client) == 0 {
		return o.Subject()
	}
	// What a server that listens for both protocols calls a client with an old address.
	return timeline.Subject{Kind: timeline.Client, ID: string(bytes.TrimPrefix(r.client, []byte("::ffff:")))}
}

// asksNPM reports whether a client of npm got an answer: npm, yarn, pnpm and bun.
func (r *request) asksNPM() bool {
	agent := r.agent[:min(len(r.agent), 64)] // it stands first: yarn/1.22.22 npm/? node/v20
	return (r.status == 200 || r.status == 304) && (bytes.Contains(agent, []byte("npm/")) || bytes.Contains(agent, []byte("Bun/")))
}

// request says what a request means, by the shape of its path alone: mirrors
// have any name.
func (a *access) request(r *request, o *evidence.Out) {
	path := r.uri
	if i := bytes.Index(path, []byte("://")); i > 0 && i < 8 {
		rest := path[i+3:]
		j := bytes.IndexByte(rest, '/')
		if j < 0 {
			return
		}
		path = rest[j:]
	}
	if i := bytes.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	if len(path) == 0 || path[0] != '/' || !serves(path) && !r.asksNPM() {
		return
	}
	if r.date != nil {
		r.span = r.moment.Span(string(r.date), &o.Times)
	}
	if i := bytes.Index(path, []byte("/v2/")); i >= 0 {
		if a.manifests.request(r, path[i+4:], o) {
			return
		}
	}
	a.files.request(r, string(path), o)
}

// serves reports whether a path can be one of a registry or a package index: a
// manifest or a blob, a file with a dash and a dot in its name, a page, the files
// of a repository.
func serves(path []byte) bool {
	file := path[bytes.LastIndexByte(path, '/')+1:]
	if bytes.IndexByte(file, '.') >= 0 && (bytes.IndexByte(file, '-') >= 0 || bytes.IndexByte(file, '_') >= 0) || bytes.IndexByte(file, '%') >= 0 {
		return true
	}
	if bytes.HasSuffix(file, []byte("pi")) || bytes.HasSuffix(file, []byte("ackage")) || bytes.HasSuffix(file, []byte("nupkg")) { // mailer.hpi, vspackage, Microsoft.….VSIXPackage
		return true
	}
	return bytes.Contains(path, []byte("/manifests/")) || bytes.Contains(path, []byte("/blobs/")) ||
		bytes.Contains(path, []byte("simple/")) || bytes.Contains(path, []byte("/json")) ||
		bytes.Contains(path, []byte("/p2/")) || bytes.Contains(path, []byte("/dists/")) || bytes.Contains(path, []byte("ball/")) || bytes.Contains(path, []byte("zip/")) || bytes.Contains(path, []byte(".gz/")) ||
		bytes.IndexByte(path, '@') >= 0 && bytes.Contains(path, []byte("/@v/")) || string(file) == "download" ||
		bytes.HasPrefix(path, []byte("/api/npm/")) || bytes.HasPrefix(path, []byte("/artifactory/api/npm/"))
}

// End settles what waited for a later line.
func (a *access) End(_ timeline.OpState, o *evidence.Out) {
	a.files.settle(o)
	a.manifests.settle(o)
}

// looksLogrus wants the end of http.request.uri or of go.version, which begin with
// letters that are rare: they are found fast.
func looksLogrus(text []byte) bool {
	return bytes.Contains(text, []byte("quest.uri")) || bytes.Contains(text, []byte("version"))
}

// logrusLine reads what distribution writes of a request:
//
//	time="2026-10-21T12:05:01.654053401Z" level=info msg="response completed" … http.request.method=GET http.request.uri=/v2/acme/tiny/manifests/1.0 …
//	{…,"http.request.method":"GET","http.request.uri":"/v2/acme/tiny/manifests/1.0",…,"msg":"response completed","time":"2026-10-21T12:30:02.144660872Z"}
//	INFO[0037] response completed    http.request.method=GET …
//
// is tells that it is a line of a registry, whole that it is a request with an
// answer.
func (r *request) logrusLine(text []byte, o *evidence.Out) (is, whole bool) {
	if !bytes.Contains(text, []byte("http.request.uri")) {
		return bytes.Contains(text, []byte("instance.id")) && bytes.Contains(text, []byte("go.version")), false
	}
	r.logrus, r.size = true, -1
	r.span = timeline.Span{}
	done := false
	field := func(key, value []byte) {
		switch string(key) {
		case "time":
			r.span = evidence.ISOStamp(value, &o.Times)
		case "msg":
			done = string(value) == "response completed"
		case "http.request.method":
			r.method = value
		case "http.request.uri":
			r.uri = value
		case "http.request.host":
			r.host = value
		case "http.request.remoteaddr":
			r.client = address(value)
		case "http.response.contenttype":
			r.contentType = value
		case "http.response.status":
			r.status, _ = status(value)
		case "http.response.written":
			r.size = length(value)
		}
	}
	if text[0] == '{' {
		f := evidence.JSONFields(text)
		for f.Next() {
			field(f.Key, plain(f.Value))
		}
	} else {
		if text[0] != 't' {
			_, message, _ := bytes.Cut(text, []byte("] "))
			done = bytes.HasPrefix(message, []byte("response completed  "))
		}
		for f := (logfmt{rest: text}); f.next(); {
			field(f.key, plain(f.value))
		}
	}
	return true, done && r.status > 0 && len(r.uri) > 0
}

// address drops the port: "10.20.0.31:54492", "[2001:db8::1]:42144".
func address(b []byte) []byte {
	if len(b) > 0 && b[0] == '[' {
		if i := bytes.IndexByte(b, ']'); i > 0 {
			return b[1:i]
		}
		return b
	}
	if i := bytes.IndexByte(b, ':'); i > 0 && bytes.IndexByte(b[i+1:], ':') < 0 {
		if _, err := strconv.ParseUint(string(b[i+1:]), 10, 16); err == nil {
			return b[:i]
		}
	}
	return b
}
