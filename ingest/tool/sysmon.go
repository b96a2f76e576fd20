package tool

import (
	"bytes"
	"html"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Sysmon is what Sysmon for Linux writes to the system log, and events of Sysmon
// for Windows as XML (wevtutil qe, Get-WinEvent with ToXml).
// https://github.com/microsoft/SysmonForLinux
// https://learn.microsoft.com/en-us/sysinternals/downloads/sysmon
var Sysmon = evidence.Format{
	Name:   "sysmon-linux",
	Shape:  evidence.ToolShape,
	Title:  "Sysmon (Linux, Windows as XML), processes in Windows' security log as XML",
	Proves: "which commands were run on which host, when: what they were told to fetch; which hosts it looked up or connected to",
	Cannot: "what a command got",
	Doc:    "https://github.com/microsoft/SysmonForLinux",
	Sample: "written by hand after its output",
	Starts: []string{"<Event>", "<Event "},
	Tool:   func() evidence.Parser { return &sysmon{} },
}

type sysmon struct{ contacts evidence.Contacts }

// Line reads one event; those of other kinds than a new process, a connection or a
// look-up are passed over:
//
//	<Event><System><Provider Name="Linux-Sysmon" …/><EventID>1</EventID>…<TimeCreated SystemTime="2026-10-21T12:30:16.754997Z"/>…<Computer>prod-3</Computer>…
//	</System><EventData>…<Data Name="UtcTime">2026-10-21 12:30:16.750</Data>…<Data Name="CommandLine">pip install -q litellm</Data>…</EventData></Event>
//	<Event xmlns='http://schemas.microsoft.com/win/2004/08/events/event'><System><Provider Name='Microsoft-Windows-Sysmon' …/><EventID>1</EventID>…<Data Name='CommandLine'>…
func (s *sysmon) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := evidence.TrimIndent(l.Text)
	head := text[:min(len(text), 300)]
	windows := bytes.Contains(head, []byte("Microsoft-Windows-Sysmon")) || bytes.Contains(head, []byte("Microsoft-Windows-Security-Auditing"))
	if !windows && !bytes.Contains(head, []byte("Linux-Sysmon")) {
		return evidence.Miss
	}
	if bytes.Contains(head, []byte("Name='")) { // Windows writes single quotes
		text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("='"), []byte(`="`)), []byte("'>"), []byte(`">`))
		text = bytes.ReplaceAll(text, []byte("'/>"), []byte(`"/>`))
	}
	o.Seen("")
	var who timeline.Subject
	if name := between(text, "<Computer>", "</Computer>"); len(name) > 0 {
		who = timeline.Subject{Kind: timeline.Host, ID: string(name)}
	}
	stamp := evidence.Stamp{Text: between(text, `SystemTime="`, `"`), Read: evidence.ISOStamp}
	var e winEvent
	for _, name := range []string{"CommandLine", "QueryName", "DestinationHostname", "DestinationIp"} {
		e.take(name, html.UnescapeString(string(between(text, `<Data Name="`+name+`">`, "</Data>"))))
	}
	e = e.of(string(between(text, "<EventID>", "</EventID>")), "")
	if endpoint := evidence.Endpoint(e.contacted); endpoint != "" && !who.IsZero() {
		s.contacts.Add(o, who, endpoint, evidence.ISOStamp(stamp.Text, &o.Times))
	}
	if windows {
		e.command = windowsCommand(e.command)
	}
	o.Ran(who, stamp, []byte(e.command))
	return evidence.Done
}

func between(text []byte, from, to string) []byte {
	_, rest, ok := bytes.Cut(text, []byte(from))
	inner, _, ends := bytes.Cut(rest, []byte(to))
	if !ok || !ends {
		return nil
	}
	return inner
}

// End makes the events of what was counted.
func (s *sysmon) End(_ timeline.OpState, o *evidence.Out) { s.contacts.Settle(o) }
