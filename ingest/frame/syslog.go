package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Syslog is a file of the system log, in any of the spellings that rsyslog,
// syslog-ng and journalctl write: RFC 3164 and RFC 5424 with or without a
// priority, and lines stamped with ISO 8601. One file may hold many hosts.
// https://www.rfc-editor.org/rfc/rfc3164 https://www.rfc-editor.org/rfc/rfc5424
// https://www.freedesktop.org/software/systemd/man/latest/journalctl.html
var Syslog = evidence.Format{
	Name:   "syslog",
	Shape:  evidence.FrameShape,
	Title:  "syslog and journalctl text",
	Proves: "time, host and program of each line",
	Cannot: "the year and zone of RFC 3164 times (--zone and --covers supply them); that the log is whole",
	Doc:    "https://www.rfc-editor.org/rfc/rfc5424",
	Sample: "written by hand after the RFCs and the manual of journalctl",
	Claim:  claimSyslog,
	First:  "<123456789[JFMASONDTW acdefgjklmnopsw\xd0",
	Looks:  looksSyslog,
	New:    func() evidence.Peeler { return &syslog{} },
}

// maxPrograms bounds the processes of one log whose lines are kept apart; the
// oldest is closed.
const maxPrograms = 512

// syslogLine is a line taken apart.
type syslogLine struct {
	stamp              []byte
	read               func([]byte, *evidence.Times) timeline.Span
	yearless           bool
	host, program, pid []byte // each may be empty
	text               []byte
}

// claimSyslog wants the header on the first line that is none of journalctl's
// own.
func claimSyslog(h *evidence.Head) bool {
	rest := h.Bytes
	for range 5 {
		line, more, _ := bytes.Cut(rest, []byte("\n"))
		rest = more
		line = bytes.TrimRight(line, "\r")
		if len(line) > 0 && !journalNote(line) {
			h, ok := parseSyslog(line)
			return ok && (len(h.program) > 0 || h.yearless && namesProgram(more))
		}
	}
	return false
}

// namesProgram reports whether one of the lines has a program behind its host,
// or is the one that stands for lines that came again: programs also write a
// time alone, and what follows that is no host.
//
//	Oct 21 12:04:51 Collecting litellm
func namesProgram(lines []byte) bool {
	for line := range bytes.Lines(lines) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			if h, ok := parseSyslog(line); ok && (len(h.program) > 0 || len(h.host) == 0) {
				return true
			}
		}
	}
	return false
}

// journalNote reports whether the line is one that journalctl writes about the
// log itself:
//
//	-- Logs begin at Wed 2026-10-21 00:00:01 UTC, end at Wed 2026-10-21 16:00:00 UTC. --
//	-- Boot 2a9a0b466cc24dc6b24d8ddea42e83fa --
func journalNote(line []byte) bool {
	if !bytes.HasPrefix(line, []byte("-- ")) {
		return false
	}
	for _, w := range []string{"Logs begin at ", "Journal begins at ", "Boot ", "Reboot --", "No entries --", "cursor: "} {
		if bytes.HasPrefix(line[3:], []byte(w)) {
			return true
		}
	}
	return false
}

// parseSyslog takes a header off. ok without a program means that stamp and
// host fit, and that more must speak for it.
//
//	<34>Oct 21 12:04:51 prod-3 deploy[41]: text
//	<30>1 2026-10-21T12:04:51.251122+00:00 prod-3 dockerd 901 - - text
//	2026-10-21T12:04:51+0200 prod-3 dockerd[901]: text
//	Wed 2026-10-21 12:04:51 UTC prod-3 dockerd[901]: text
//	1792584291.251122 prod-3 dockerd[901]: text
func parseSyslog(line []byte) (h syslogLine, ok bool) {
	text := line
	if text[0] == '<' {
		n := bytes.IndexByte(text[:min(len(text), 5)], '>')
		if n < 2 || !number(text[1:n]) || n+1 == len(text) {
			return h, false
		}
		text = text[n+1:]
		if bytes.HasPrefix(text, []byte("1 ")) {
			return parse5424(text[2:])
		}
	}
	n := h.clock(text)
	if n == 0 || n == len(text) {
		return h, false
	}
	if text[n] == ':' && h.yearless {
		// Mar 11 09:39:39: --- last message repeated 5 times ---
		return h, bytes.Contains(text[n:], []byte("last message repeated"))
	}
	if text[n] != ' ' {
		return h, false
	}
	host, rest, _ := bytes.Cut(text[n+1:], []byte(" "))
	if h.yearless && bytes.HasSuffix(host, []byte("]:")) { // Pi-hole's log has no host
		h.text = text[n+1:]
		h.tag()
		return h, len(h.pid) > 0
	}
	if !hostName(host) || string(host) == "AM" || string(host) == "PM" {
		return h, false
	}
	h.host, h.text = host, rest
	h.tag()
	if string(host) == "Package" && string(h.program) == "operations" {
		return h, false // "Package operations: 1 install" is of poetry or composer, behind a time
	}
	if text[0] == '[' && len(h.pid) == 0 && string(h.program) != "kernel" {
		return h, false // dmesg has no host
	}
	return h, true
}

// tag splits "dockerd[901]: text" off the rest of a line. Without a tag the
// program stays empty.
func (h *syslogLine) tag() {
	text := h.text
	n := 0
	for n < len(text) && n < 64 && tagByte(text[n]) {
		n++
	}
	end := n
	var pid []byte
	if n > 0 && n < len(text) && text[n] == '[' {
		i := bytes.IndexByte(text[n:min(len(text), n+24)], ']')
		if i < 0 {
			return
		}
		pid, end = text[n+1:n+i], n+i+1
	}
	if n == 0 || end >= len(text) || text[end] != ':' || end+1 < len(text) && text[end+1] != ' ' || levelWord(text[:n]) ||
		len(bytes.Trim(text[:n], "0123456789/.")) == 0 {
		return // "STEP 1/2: FROM scratch" is of a builder
	}
	h.program, h.pid = text[:n], pid
	h.text = text[end+1:]
	if len(h.text) > 0 {
		h.text = h.text[1:]
	}
}

func tagByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || bytes.IndexByte([]byte("_./@()+-\\"), c) >= 0
}

// parse5424 reads what follows "<PRI>1 ".
func parse5424(text []byte) (h syslogLine, ok bool) {
	stamp, rest, _ := bytes.Cut(text, []byte(" "))
	if len(stamp) > 1 {
		if _, n := evidence.ParseISO(stamp); n != len(stamp) {
			return h, false
		}
		h.stamp, h.read = stamp, evidence.ISOStamp
	} else if string(stamp) != "-" {
		return h, false
	}
	field := func() []byte {
		var f []byte
		f, rest, ok = bytes.Cut(rest, []byte(" "))
		if string(f) == "-" {
			return nil
		}
		return f
	}
	h.host, h.program, h.pid = field(), field(), field()
	field() // the kind of message
	if !ok {
		return h, false
	}
	n := structuredLen(rest)
	if n == 0 {
		return h, false
	}
	h.text = bytes.TrimPrefix(bytes.TrimPrefix(rest[n:], []byte(" ")), []byte("\xef\xbb\xbf"))
	return h, true
}

// structuredLen returns the length of RFC 5424's structured data: "-" or
// [id name="value"]…, in which a closing bracket is escaped.
func structuredLen(b []byte) int {
	if len(b) > 0 && b[0] == '-' {
		return 1
	}
	n := 0
	for n < len(b) && b[n] == '[' {
		i := n + 1
		for i < len(b) && b[i] != ']' {
			if b[i] == '\\' {
				i++
			}
			i++
		}
		if i >= len(b) {
			return 0
		}
		n = i + 1
	}
	return n
}

// hostName reports whether a word can be the name or address of a host, and is
// not the level that many programs write behind their time.
func hostName(w []byte) bool {
	if len(w) == 0 || len(w) > 255 || levelWord(w) {
		return false
	}
	plain := false
	for i, c := range w {
		switch {
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
			plain = true
		case c == '-' || c == '.' || c == '_' || c == ':':
			if i == len(w)-1 {
				return false
			}
		default:
			return false
		}
	}
	return plain
}

var levelWords = [][]byte{
	[]byte("trace"), []byte("debug"), []byte("info"), []byte("notice"), []byte("warn"), []byte("warning"),
	[]byte("error"), []byte("err"), []byte("fatal"), []byte("critical"), []byte("crit"), []byte("severe"), []byte("panic"),
	[]byte("log"), []byte("stdout"), []byte("stderr"), []byte("ddebug"), []byte("subdebug"), // dnf
}

func levelWord(w []byte) bool {
	if len(w) > 8 {
		return false
	}
	for _, l := range levelWords {
		if bytes.EqualFold(w, l) {
			return true
		}
	}
	return false
}

func number(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

type syslog struct {
	logs map[*evidence.Stream]*syslogFile
}

// syslogFile is one log in the stream above.
type syslogFile struct {
	last *evidence.Stream // of the last line: lines without header continue it
	host []byte           // of the last line
	key  []byte           // of the last line's stream
	next []byte           // key of the line at work
	keys []string         // of the open streams, oldest first
}

// Peel takes the header off. A line without one continues the line before it
// when the file is a syslog file.
func (f *syslog) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	log := f.logs[s]
	h, ok := syslogLine{}, false
	if len(l.Text) > 0 {
		h, ok = parseSyslog(l.Text)
	}
	if ok && len(h.program) == 0 && len(l.Text) > 0 && l.Text[0] != '<' {
		// Without a program only the file itself, or the host of the line
		// before, can say that this is a header.
		ok = o.IsClaimed(s) && (h.yearless || log != nil && bytes.Equal(log.host, h.host))
	}
	if !ok {
		if !o.IsClaimed(s) {
			return nil
		}
		if journalNote(l.Text) {
			return s
		}
		if log == nil || log.last == nil {
			return nil
		}
		l.Stamp = log.last.Last
		l.Stamp.Inherited = true
		return log.last
	}
	if len(h.host) == 0 && len(h.program) == 0 && h.yearless {
		return s // "last message repeated"
	}
	if log == nil {
		if f.logs == nil {
			f.logs = map[*evidence.Stream]*syslogFile{}
		}
		log = &syslogFile{}
		f.logs[s] = log
	}
	child := log.stream(&h, s, o)
	child.Last.Text = append(child.Last.Text[:0], h.stamp...)
	child.Last.Read = h.read
	if h.read != nil && !(h.yearless && l.Stamp.Read != nil) {
		l.Stamp = child.Last
	}
	l.Text = plainMessage(h.text)
	if command := loggedCommand(h.program, h.text); command != nil {
		l.Text, l.Echo = command, true
	}
	log.last = child
	return child
}

// plainMessage undoes what daemons do to a message so that it is one line of
// print: rsyslog writes control characters as their number, and both count what
// came again.
// https://www.rsyslog.com/doc/configuration/global/index.html
//
//	Collecting litellm#012  Downloading litellm-1.107.0-py3-none-any.whl (12.5 MB)#012Successfully installed litellm-1.107.0
//	message repeated 2 times: [ Successfully installed litellm-1.107.0]
func plainMessage(text []byte) []byte {
	if rest, ok := bytes.CutPrefix(text, []byte("message repeated ")); ok {
		if _, inner, ok := bytes.Cut(rest, []byte(" times: [")); ok {
			text = bytes.TrimPrefix(bytes.TrimSuffix(inner, []byte("]")), []byte(" "))
		}
	}
	if !bytes.Contains(text, []byte("#01")) {
		return text
	}
	for _, c := range []struct{ written, plain string }{{"#012", "\n"}, {"#015", ""}, {"#011", "\t"}} {
		text = bytes.ReplaceAll(text, []byte(c.written), []byte(c.plain))
	}
	return bytes.TrimRight(text, "\n")
}

// loggedCommand is the command that sudo, doas, cron, snoopy or a shell that logs
// its history say they run, nil for none:
//
//	deploy : TTY=pts/0 ; PWD=/srv ; USER=root ; COMMAND=/usr/bin/docker pull redis:7
//	(root) CMD (docker pull redis:7)
//	deploy ran command docker pull redis:7 as root from /srv
//	[login:deploy sid:1 tty:/dev/pts/0 uid:deploy(1000) cwd:/srv]: docker pull redis:7
//	HISTORY: PID=812 UID=0 docker pull redis:7
func loggedCommand(program, text []byte) []byte {
	switch string(program) {
	case "sudo":
		if _, command, ok := bytes.Cut(text, []byte(" ; COMMAND=")); ok {
			return command
		}
	case "CRON", "cron", "crond", "CROND", "/usr/sbin/cron", "/usr/sbin/crond":
		if _, command, ok := bytes.Cut(text, []byte(") CMD (")); ok {
			return bytes.TrimSuffix(command, []byte(")"))
		}
	case "doas":
		if _, command, ok := bytes.Cut(text, []byte(" ran command ")); ok {
			command, _, _ = bytes.Cut(command, []byte(" from /"))
			return command[:max(0, bytes.LastIndex(command, []byte(" as ")))]
		}
	case "snoopy":
		if head, command, ok := bytes.Cut(text, []byte("]: ")); ok && bytes.HasPrefix(head, []byte("[")) {
			return command
		}
	case "bash", "-bash", "sh", "-sh":
		if head, command, ok := bytes.Cut(text, []byte(" UID=")); ok && bytes.HasPrefix(head, []byte("HISTORY: PID=")) {
			_, command, _ = bytes.Cut(command, []byte(" "))
			return command
		}
	}
	return nil
}

// stream returns the stream of one process on one host.
func (log *syslogFile) stream(h *syslogLine, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	key := append(log.next[:0], h.host...)
	key = append(append(key, 0), h.program...)
	key = append(append(key, 0), h.pid...)
	if log.next = key; log.last != nil && bytes.Equal(key, log.key) {
		return log.last
	}
	log.key = append(log.key[:0], key...)
	log.host = append(log.host[:0], h.host...)
	child := s.Child(o, key)
	if child.Last.Read != nil || len(child.Last.Text) > 0 {
		return child
	}
	child.Program = string(h.program)
	child.Excerpts = true
	child.Subject = hostSubject(s, h.host)
	log.keys = append(log.keys, string(key))
	if len(log.keys) > maxPrograms {
		s.Drop(o, []byte(log.keys[0]))
		log.keys = log.keys[1:]
	}
	return child
}

// hostSubject is the host that a log names, unless the evidence around it
// names a job or container: there the name is only that of its machine.
func hostSubject(above *evidence.Stream, name []byte) timeline.Subject {
	if k := above.Who().Kind; k != "" && k != timeline.Host {
		return timeline.Subject{}
	}
	if len(name) == 0 || bytes.Equal(name, []byte("localhost")) || bytes.HasPrefix(name, []byte("localhost.")) {
		return timeline.Subject{}
	}
	return timeline.Subject{Kind: timeline.Host, ID: string(name)}
}
