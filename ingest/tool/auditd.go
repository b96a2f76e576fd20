package tool

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Auditd is the log of the Linux audit daemon, as it stands in audit.log and
// as ausearch prints it raw.
// https://man7.org/linux/man-pages/man8/auditd.8.html
var Auditd = evidence.Format{
	Name:   "auditd",
	Shape:  evidence.ToolShape,
	Title:  "Linux audit log (auditd)",
	Proves: "which commands were run, when, and on which node if the log names it: what they were told to fetch; which RPM packages were installed, replaced and removed",
	Cannot: "what a command got; arguments longer than the kernel records",
	Doc:    "https://man7.org/linux/man-pages/man8/auditd.8.html",
	Sample: "written by hand after the manual",
	Starts: []string{"type=", "node=", "SOFTWARE_UPDATE pid=", "EXECVE argc="},
	Tool:   func() evidence.Parser { return &auditd{} },
}

type auditd struct {
	failed string // serial of the last call that failed
}

// Line reads one record. Arguments with blanks or quotes are written in hex:
//
//	type=EXECVE msg=audit(1792585800.123:77): argc=4 a0="/usr/bin/pip" a1="install" a2="-q" a3=6C6974656C6C6D3E3D3120
//	node=prod-3 type=SYSCALL msg=audit(1792585800.123:78): arch=c000003e syscall=59 success=no exit=-2 …
//	type=USER_CMD msg=audit(1792585801.001:79): pid=1 uid=0 msg='cwd="/root" cmd=70697020696E7374616C6C exe="/usr/bin/sudo" res=success'
func (a *auditd) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	var who timeline.Subject
	if kind, rest, _ := bytes.Cut(text, []byte(" ")); !bytes.Contains(kind, []byte("=")) {
		return journalled(string(kind), rest, l.Stamp, o)
	}
	if rest, ok := bytes.CutPrefix(text, []byte("node=")); ok {
		node, rest, ok := bytes.Cut(rest, []byte(" "))
		if !ok || len(node) == 0 || len(node) > 255 {
			return evidence.Miss
		}
		text, who = rest, timeline.Subject{Kind: timeline.Host, ID: string(node)}
	}
	kind, rest, ok := bytes.Cut(text, []byte(" msg=audit("))
	stamp, rest, closed := bytes.Cut(rest, []byte(")"))
	at, serial, numbered := stamp, []byte(nil), false
	if i := bytes.LastIndexByte(stamp, ':'); i > 0 {
		at, serial, numbered = stamp[:i], stamp[i+1:], true
	}
	kind, typed := bytes.CutPrefix(kind, []byte("type="))
	if !ok || !closed || !numbered || !typed {
		return evidence.Miss
	}
	o.Seen("")
	clock := evidence.Stamp{Text: at, Read: auditTime}
	switch string(kind) {
	case "SYSCALL":
		if bytes.Contains(rest, []byte(" success=no ")) {
			a.failed = string(serial)
		}
	case "EXECVE":
		if a.failed != string(serial) {
			o.Ran(who, clock, auditCommand(rest))
		}
	case "USER_CMD":
		if _, cmd, ok := bytes.Cut(rest, []byte(" cmd=")); ok {
			o.Ran(who, clock, []byte(auditValue(cmd)))
		}
	case "SOFTWARE_UPDATE":
		softwareUpdate(who, clock.Read(clock.Text, &o.Times), rest, o)
	}
	return evidence.Done
}

// journalled reads a record as the journal keeps it; the time is the entry's:
//
//	Oct 21 12:06:50 web1 audit[1184]: SOFTWARE_UPDATE pid=1184 uid=0 auid=0 ses=1 subj=… msg='op=install sw="jq-1.6-14.el9.x86_64" sw_type=rpm …'
//	Oct 21 12:06:51 web1 audit: EXECVE argc=3 a0="pip" a1="install" a2="litellm"
func journalled(kind string, rest []byte, stamp evidence.Stamp, o *evidence.Out) evidence.Result {
	switch {
	case kind == "SOFTWARE_UPDATE" && bytes.Contains(rest, []byte("sw_type=")):
		softwareUpdate(timeline.Subject{}, o.Mark().Span(), rest, o)
	case kind == "EXECVE" && bytes.HasPrefix(rest, []byte("argc=")):
		o.Ran(timeline.Subject{}, stamp, auditCommand(rest))
	default:
		return evidence.Miss
	}
	o.Seen("")
	return evidence.Done
}

// updates are what the record of a package tells; the first releases wrote one of
// what came alone, and no word for it.
var updates = map[string]timeline.Action{"": timeline.Install, "install": timeline.Install, "update": timeline.Install, "remove": timeline.Remove}

// softwareUpdate reads the record that rpm writes of each package. A long name
// takes the quote behind the folder away.
//
//	type=SOFTWARE_UPDATE msg=audit(1792585801.001:79): pid=76 uid=0 auid=1000 ses=2 subj=… msg='sw="jq-1:1.6-2.el7.noarch" sw_type=rpm key_enforce=0 gpg_res=1 root_dir="/" comm="yum" exe="/usr/bin/python2.7" hostname=? addr=? terminal=? res=success'
//	type=SOFTWARE_UPDATE msg=audit(1792585801.001:79): pid=77 uid=0 auid=1000 ses=3 msg='op=install sw="jq-1.6-14.el9.x86_64" sw_type=rpm key_enforce=0 gpg_res=1 root_dir="/" comm="dnf" exe="/usr/bin/python3.9" hostname=web1 addr=? terminal=pts/0 res=success'
//
// https://docs.redhat.com/en/documentation/red_hat_enterprise_linux/7/html/security_guide/sec-audit_record_types
func softwareUpdate(who timeline.Subject, span timeline.Span, record []byte, o *evidence.Out) {
	field := map[string]string{}
	for _, f := range auditFields(record) {
		key, raw, _ := bytes.Cut(bytes.TrimPrefix(f, []byte("msg='")), []byte("="))
		val, _, _ := strings.Cut(strings.TrimLeft(string(raw), `"'`), "'")
		field[string(key)] = strings.TrimRight(val, `"`)
	}
	action, known := updates[field["op"]]
	item, ok := evidence.NEVRA(field["sw"])
	if !known || !ok || field["sw_type"] != "rpm" || field["res"] != "success" || field["root_dir"] != "/" && field["root_dir"] != "" {
		return
	}
	o.Event(timeline.Event{Action: action, Subject: who, Span: span, Items: []timeline.Item{item}})
}

// auditDate reads a time as ausearch -i prints it in most places, month first; a
// day that could be a month has two meanings, and places no time.
//
//	msg=audit(10/21/2026 12:04:51.123:456)
func auditDate(seconds, written string, t *evidence.Times) timeline.Span {
	at, err := time.Parse("01/02/2006 15:04:05", seconds)
	if err != nil || at.Day() <= 12 {
		return timeline.Always()
	}
	m := evidence.Moment{Year: at.Year(), Month: int(at.Month()), Day: at.Day(), Hour: at.Hour(), Minute: at.Minute(), Sec: at.Second(), Resolution: time.Second}
	return m.Span(written, t)
}

// auditTime reads seconds since 1970 with a fraction.
func auditTime(text []byte, t *evidence.Times) timeline.Span {
	seconds, fraction, _ := strings.Cut(string(text), ".")
	if len(seconds) == 19 && seconds[2] == '/' {
		return auditDate(seconds, string(text), t)
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	ms, msErr := strconv.ParseInt((fraction + "000")[:3], 10, 64)
	if err != nil || msErr != nil || n > 1<<40 {
		return timeline.Always()
	}
	return evidence.Epoch(n*1000+ms, time.Millisecond, string(text))
}

// auditCommand joins the arguments to a line that a shell would read the same
// way. A long one comes in parts: a1[0]=… a1[1]=….
func auditCommand(record []byte) []byte {
	var words []string
	for _, field := range auditFields(record) {
		key, raw, _ := bytes.Cut(field, []byte("="))
		number, part, parts := strings.Cut(strings.TrimSuffix(string(key), "]"), "[")
		if len(number) < 2 || number[0] != 'a' || number[1] < '0' || number[1] > '9' || strings.Contains(number, "_len") {
			continue
		}
		if parts && part != "0" && len(words) > 0 {
			words[len(words)-1] += auditValue(raw)
			continue
		}
		words = append(words, auditValue(raw))
	}
	for i, w := range words {
		words[i] = shellWord(w)
	}
	return []byte(strings.Join(words, " "))
}

// auditFields cuts a record at blanks; what auditd adds behind a group
// separator repeats in words what stood in numbers.
func auditFields(record []byte) [][]byte {
	record, _, _ = bytes.Cut(record, []byte{0x1d})
	return bytes.Fields(record)
}

// auditValue reads a value: in quotes as it is, else in hex.
func auditValue(raw []byte) string {
	if len(raw) > 0 && raw[0] == '"' {
		text, _, _ := strings.Cut(string(raw[1:]), `"`)
		return text
	}
	raw, _, _ = bytes.Cut(raw, []byte(" "))
	text, err := hex.DecodeString(string(raw))
	if err != nil {
		return string(raw)
	}
	return strings.TrimRight(strings.ReplaceAll(string(text), "\x00", " "), " ")
}

// shellWord quotes an argument where a shell would not take it as it is.
func shellWord(w string) string {
	if w != "" && !strings.ContainsAny(w, " \t\n'\"\\$`;&|<>()*?[]{}#~!") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// End has nothing to do: each record stands alone.
func (a *auditd) End(timeline.OpState, *evidence.Out) {}
