package tool

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ProcessEvents is what sensors on hosts record of processes, as objects or as
// rows of a table that was exported: Microsoft Defender's advanced hunting,
// CrowdStrike Falcon, SentinelOne, Carbon Black, Elastic; LAUREL, Tracee, Tetragon.
// https://learn.microsoft.com/en-us/defender-xdr/advanced-hunting-deviceprocessevents-table
// https://www.elastic.co/guide/en/ecs/current/ecs-process.html
var ProcessEvents = evidence.Format{
	Name:   "process-events",
	Shape:  evidence.ToolShape,
	Title:  "Processes that an endpoint sensor saw (Defender, CrowdStrike, SentinelOne, Carbon Black, ECS, LAUREL, Tracee, Tetragon)",
	Proves: "which commands were run on which host, when: what they were told to fetch",
	Cannot: "what a command got; events that the sensor dropped",
	Doc:    "https://learn.microsoft.com/en-us/defender-xdr/advanced-hunting-deviceprocessevents-table",
	Sample: "written by hand after the documentation",
	Fields: [][]string{
		{"DeviceName", "ProcessCommandLine"},
		{"event_simpleName", "ComputerName"},
		{"ComputerName", "CommandLine"},
		{"src.process.cmdline", "endpoint.name"},
		{"process_cmdline", "device_name"},
		{"@timestamp", "process", "host"},
		{"Computer", "CommandLine"},
		{"EXECVE", "ID"},
		{"eventName", "hostName", "args"},
		{"process_exec", "time"},
		{"@timestamp", "winlog"},
	},
	Tool: func() evidence.Parser { return &processEvents{} },
}

type processEvents struct{ contacts evidence.Contacts }

// Line reads one process:
//
//	{"Timestamp":"2026-10-21T12:10:03.655Z","DeviceName":"web1","ActionType":"ProcessCreated","ProcessCommandLine":"node /usr/bin/npm install left-pad@1.3.0",…}
//	{"event_simpleName":"ProcessRollup2","ComputerName":"WEB1","CommandLine":"pip install litellm","timestamp":"1792584603655",…}
//	{"@timestamp":"2026-10-21T12:10:03.655Z","host":{"name":"web1"},"process":{"command_line":"pip install litellm","name":"pip"},…}
//
// and a name that a process looked up:
//
//	{"event_simpleName":"DnsRequest","ComputerName":"WEB1","DomainName":"files.acme.example","timestamp":"1792584603655",…}
//
// and events of Windows as Winlogbeat ships them:
//
//	{"@timestamp":"2026-10-21T12:10:03.123Z","winlog":{"channel":"Security","event_id":"4688","computer_name":"WS01.acme.example","event_data":{"CommandLine":"pip install litellm",…}},"host":{"name":"ws01"},…}
//	{"@timestamp":"2026-10-21T12:10:04.123Z","winlog":{"channel":"Microsoft-Windows-Sysmon/Operational","event_id":22,"event_data":{"QueryName":"files.acme.example",…}},…}
func (p *processEvents) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	span := o.Mark().Span()
	command, host, domain := "", "", ""
	var pod timeline.Subject
	for f := evidence.JSONFields(evidence.TrimIndent(l.Text)); f.Next(); {
		switch key := string(f.Key); key {
		case "ProcessCommandLine", "CommandLine", "src.process.cmdline", "process_cmdline":
			command = string(unescaped(f.Value))
		case "DeviceName", "ComputerName", "endpoint.name", "device_name", "Computer", "NODE", "hostName", "node_name":
			host = string(unescaped(f.Value))
		case "EXECVE":
			command = argv(f.Value, "ARGV")
		case "args":
			command = traceeArgv(f.Value)
		case "ID":
			span = auditTime([]byte(strings.SplitN(string(plain(f.Value)), ":", 2)[0]), &o.Times)
		case "process_exec":
			command, pod = tetragonProcess(f.Value)
		case "winlog":
			w := windowsEvent(f.Value)
			command, domain = w.command, w.contacted
			if host == "" {
				host = w.computer
			}
		case "DomainName":
			domain = string(unescaped(f.Value))
		case "Timestamp", "@timestamp", "timestamp", "event.time", "device_timestamp", "TimeCreated", "time":
			span = jsonTime(plain(f.Value), &o.Times, span)
		case "process", "host":
			for q := evidence.JSONFields(f.Value); q.Next(); {
				switch {
				case key == "process" && string(q.Key) == "command_line":
					command = string(unescaped(q.Value))
				case key == "process" && string(q.Key) == "args" && command == "":
					command = argvOf(q.Value)
				case key == "host" && (string(q.Key) == "name" || string(q.Key) == "hostname" && host == ""):
					host = string(unescaped(q.Value))
				}
			}
		}
	}
	if host == "" {
		return evidence.Miss
	}
	o.Seen("")
	if strings.ContainsAny(host, " \t\n/") {
		return evidence.Done
	}
	who := timeline.Subject{Kind: timeline.Host, ID: host}
	if !pod.IsZero() {
		o.LinkOver(span, timeline.On, pod.String(), who.String())
		who = pod
	}
	if endpoint := evidence.Endpoint(domain); endpoint != "" {
		p.contacts.Add(o, who, endpoint, span)
	}
	stamp := evidence.Stamp{Read: func([]byte, *evidence.Times) timeline.Span { return span }}
	o.Ran(who, stamp, []byte(windowsCommand(command)))
	return evidence.Done
}

// windowsCommand spells a command of Windows as a shell of Unix would want it:
// paths with slashes, programs without their endings, npm by its name.
//
//	"C:\\Program Files\\nodejs\\node.exe" "C:\\Program Files\\nodejs\\node_modules\\npm\\bin\\npm-cli.js" install left-pad
//	C:\\Windows\\system32\\cmd.exe /d /s /c "npm install left-pad"
func windowsCommand(command string) string {
	if !strings.Contains(command, `:\`) && !strings.Contains(command, ".exe") && !strings.Contains(command, ".cmd") {
		return command
	}
	command = strings.ReplaceAll(command, `\`, "/")
	for _, ending := range [...]string{".exe", ".EXE", ".cmd", ".CMD"} {
		command = strings.ReplaceAll(command, ending+`"`, `"`)
		command = strings.ReplaceAll(command, ending+" ", " ")
	}
	command = strings.ReplaceAll(command, "/npm-cli.js", "/npm")
	command = strings.ReplaceAll(command, "/npx-cli.js", "/npx")
	if i := strings.Index(strings.ToLower(command), "cmd /"); i >= 0 {
		if _, inner, ok := strings.Cut(command[i:], "/c "); ok {
			return strings.Trim(strings.TrimSpace(inner), `"`)
		}
	}
	return command
}

// End makes the events of what was counted.
func (p *processEvents) End(_ timeline.OpState, o *evidence.Out) { p.contacts.Settle(o) }
