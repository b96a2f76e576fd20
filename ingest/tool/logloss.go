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
	Title:  "lines that the system log threw away (journald, rsyslog, syslog-ng)",
	Proves: "that the log is not whole: its source is partial",
	Cannot: "what the lost lines said, and when the loss began",
	Doc:    "https://www.freedesktop.org/software/systemd/man/latest/journald.conf.html",
	Sample: "written by hand after the sources of journald, rsyslog and syslog-ng",
	Starts: []string{"Suppressed ", "imuxsock", "imjournal", "Forwarding to syslog missed ", "Failed to write entry (", "Destination queue full, dropping "},
	Tool:   func() evidence.Parser { return logLoss{} },
}

type logLoss struct{}

// Line reads one line:
//
//	Suppressed 1200 messages from docker.service
//	imuxsock lost 500 messages from pid 812 due to rate-limiting
//	imuxsock[pid: 812, name: dockerd]: begin to drop messages due to rate-limiting
//	imjournal: 5000 messages lost due to rate-limiting (20000 allowed within 600 seconds)
//	Forwarding to syslog missed 27 messages.
//	Failed to write entry (22 items, 758 bytes), ignoring: No space left on device
//	Destination queue full, dropping messages; queue_len='10000', log_fifo_size='10000', count='4', persist_name='x'
func (logLoss) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	program := o.Stream().Program
	text := bytes.TrimSpace(l.Text)
	switch {
	case program == "systemd-journald" || program == "systemd-journal":
		if !journalLost(text) {
			return evidence.Miss
		}
	case program == "rsyslogd" && bytes.Contains(text, []byte("rate-limiting")):
	case program == "syslog-ng" && bytes.HasPrefix(text, []byte("Destination queue full, dropping ")):
	default:
		return evidence.Miss
	}
	o.Seen("")
	o.Cut("the system log threw lines away: " + evidence.Excerpt(text))
	return evidence.Done
}

// journalLost reports whether journald says that entries are lost.
func journalLost(text []byte) bool {
	rest, suppressed := bytes.CutPrefix(text, []byte("Suppressed "))
	if !suppressed {
		return bytes.HasPrefix(text, []byte("Forwarding to syslog missed ")) ||
			bytes.HasPrefix(text, []byte("Failed to write entry (")) && bytes.Contains(text, []byte("ignoring"))
	}
	n, from, ok := bytes.Cut(rest, []byte(" messages from "))
	_, err := strconv.Atoi(string(n))
	return ok && err == nil && len(from) > 0
}

// End has nothing to do: each line stands alone.
func (logLoss) End(_ timeline.OpState, _ *evidence.Out) {}
