package tool

import (
	"pulltrail/ingest/evidence"
)

// winEvent is what an event of Windows tells of a process or a connection.
type winEvent struct{ computer, command, contacted string }

// windowsEvent reads an event as Winlogbeat ships it: a process that was made
// (Security 4688, Sysmon 1), a name that was looked up or a connection (Sysmon 22
// and 3).
// https://www.elastic.co/guide/en/beats/winlogbeat/current/exported-fields-winlog.html
// https://learn.microsoft.com/en-us/sysinternals/downloads/sysmon#events
func windowsEvent(object []byte) (w winEvent) {
	id := ""
	var data winEvent
	for f := evidence.JSONFields(object); f.Next(); {
		switch string(f.Key) {
		case "computer_name":
			w.computer = string(unescaped(f.Value))
		case "event_id":
			id = string(plain(f.Value))
		case "event_data":
			for d := evidence.JSONFields(f.Value); d.Next(); {
				data.take(string(d.Key), string(unescaped(d.Value)))
			}
		}
	}
	return data.of(id, w.computer)
}

// take notes one of the fields of an event.
func (w *winEvent) take(name, text string) {
	switch name {
	case "CommandLine":
		w.command = text
	case "QueryName", "DestinationHostname":
		if text != "" && text != "-" {
			w.contacted = text
		}
	case "DestinationIp":
		if w.contacted == "" {
			w.contacted = text
		}
	}
}

// of keeps what an event of the kind is about.
func (w winEvent) of(id, computer string) winEvent {
	switch id {
	case "1", "4688":
		return winEvent{computer: computer, command: w.command}
	case "3", "22":
		return winEvent{computer: computer, contacted: w.contacted}
	}
	return winEvent{computer: computer}
}
