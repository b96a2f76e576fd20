package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Wazuh is the alerts of Wazuh, which hold the line of a log, or the event, that
// an agent sent.
// https://documentation.wazuh.com/current/user-manual/manager/alert-management.html
var Wazuh = evidence.Format{
	Name:   "wazuh",
	Shape:  evidence.ToolShape,
	Title:  "Wazuh alerts (JSON)",
	Proves: "what the line or the Docker event in an alert proves, on which host (the agent's name), when",
	Cannot: "what no rule alerts of: the archives of Wazuh hold all events, in the same form",
	Doc:    "https://documentation.wazuh.com/current/user-manual/manager/alert-management.html",
	Sample: "written by hand after the documentation",
	Claim:  func(h *evidence.Head) bool { return strings.Contains(string(h.Bytes), `"manager"`) },
	Fields: [][]string{{"agent", "manager", "decoder"}, {"agent", "manager", "rule"}},
	Tool:   func() evidence.Parser { return &wazuh{} },
}

type wazuh struct{}

// Line reads one alert:
//
//	{"timestamp":"2026-10-21T12:20:01.123+0000","rule":{"id":"2902",…},"agent":{"id":"003","name":"web1"},"manager":{"name":"wazuh"},"full_log":"2026-10-21 12:20:00 status installed curl:amd64 7.81.0-1ubuntu1.10","decoder":{"name":"dpkg-decoder"},"location":"/var/log/dpkg.log"}
//	{…,"agent":{"name":"web1"},"decoder":{"name":"json"},"data":{"integration":"docker","docker":{"status":"start","Type":"container","Action":"start","Actor":{…},"timeNano":"1792584001123456768.000000",…}},"location":"Wazuh-Docker"}
//	{…,"agent":{"name":"WS01"},"data":{"win":{"system":{"eventID":"1",…},"eventdata":{"commandLine":"pip install litellm",…}}},"location":"EventChannel"}
func (*wazuh) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	host := v.get("agent", "name").text()
	if host == "" {
		return evidence.Miss
	}
	o.Seen("")
	child := o.Stream().Child(o, []byte(host))
	child.Subject = timeline.Subject{Kind: timeline.Host, ID: host}
	line := *l
	line.Stamp = evidence.Stamp{Text: []byte(v.get("timestamp").text()), Read: evidence.ISOStamp}
	if event := v.get("data", "docker"); event.kind() == '{' {
		line.Text = event.doc[event.off:event.end]
		o.Feed(&line, child)
		return evidence.Done
	}
	if command := v.get("data", "win", "eventdata", "commandLine").text(); command != "" {
		o.Ran(child.Subject, line.Stamp, []byte(strings.ReplaceAll(command, `\\`, `\`)))
		return evidence.Done
	}
	for record := range strings.SplitSeq(strings.ReplaceAll(v.get("full_log").text(), " type=", "\ntype="), "\n") { // of auditd's there are several
		if record = strings.TrimSpace(record); record != "" {
			line.Text = []byte(record)
			o.Feed(&line, child)
		}
	}
	return evidence.Done
}

// End has nothing to do: each alert stands alone.
func (*wazuh) End(timeline.OpState, *evidence.Out) {}
