package tool

import (
	"bytes"
	"strconv"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// LogLoss is what the system log says of lines that it threw away: a log that
// lacks lines covers nothing.
// https://www.freedesktop.org/software/systemd/man/latest/journald.conf.html
// https://www.rsyslog.com/doc/configuration/modules/imuxsock.html
var LogLoss = evidence.Format{
	Name:   "log-loss",
	Shape:  evidence.ToolShape,
	Title:  "lines that the system log threw away (journald, rsyslog)",
	Proves: "that the log is not whole: its source is partial",
	Cannot: "what the lost lines said, and when the loss began",
	Doc:    "https://www.freedesktop.org/software/systemd/man/latest/journald.conf.html",
	Sample: "written by hand after the sources of journald and rsyslog",
	Starts: []string{"Suppressed ", "imuxsock", "imjournal"},
	Tool:   func() evidence.Parser { return logLoss{} },
}

type logLoss struct{}

// Line reads one line:
//
//	Suppressed 1200 messages from docker.service
//	imuxsock lost 500 messages from pid 812 due to rate-limiting
//	imuxsock[pid: 812, name: dockerd]: begin to drop messages due to rate-limiting
//	imjournal: 5000 messages lost due to rate-limiting (20000 allowed within 600 seconds)
func (logLoss) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	program := o.Stream().Program
	text := bytes.TrimSpace(l.Text)
	switch {
	case program == "systemd-journald" || program == "systemd-journal":
		n, from, ok := bytes.Cut(bytes.TrimPrefix(text, []byte("Suppressed ")), []byte(" messages from "))
		if _, err := strconv.Atoi(string(n)); !ok || err != nil || len(from) == 0 {
			return evidence.Miss
		}
	case program == "rsyslogd" && bytes.Contains(text, []byte("rate-limiting")):
	default:
		return evidence.Miss
	}
	o.Seen("")
	o.Cut("the system log threw lines away: " + evidence.Excerpt(text))
	return evidence.Done
}

// End has nothing to do: each line stands alone.
func (logLoss) End(_ timeline.OpState, _ *evidence.Out) {}
