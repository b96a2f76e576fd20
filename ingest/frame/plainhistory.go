package frame

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
)

// PlainHistory is the history of a shell that keeps no times.
// https://www.gnu.org/software/bash/manual/html_node/Bash-History-Facilities.html
var PlainHistory = evidence.Format{
	Name:   "plain-history",
	Shape:  evidence.FrameShape,
	Title:  "Shell history without times (.bash_history, .ash_history, .zsh_history)",
	Proves: "which commands were typed: what they were told to fetch",
	Cannot: "when; that a command succeeded; the host, unless --subject host:… names it; files that have another name",
	Doc:    "https://www.gnu.org/software/bash/manual/html_node/Bash-History-Facilities.html",
	Sample: "written by hand after the manual",
	Claim:  claimPlainHistory,
	New:    func() evidence.Peeler { return &plainHistory{} },
}

// claimPlainHistory goes by the file's name: the lines are any commands. Times may
// begin later: somebody set HISTTIMEFORMAT.
func claimPlainHistory(h *evidence.Head) bool {
	name := strings.TrimPrefix(h.Name, ".")
	switch name {
	case "bash_history", "sh_history", "ash_history", "zsh_history", "ksh_history", "histfile", "zhistory":
	default:
		return false
	}
	return !isHistoryTime(h.Bytes)
}

// isHistoryTime reports whether a line holds the time of a command, which the
// history with times reads:
//
//	#1792585800
//	: 1792585801:0;docker pull ghcr.io/acme/api:main
func isHistoryTime(line []byte) bool {
	return bytes.HasPrefix(line, []byte("#1")) || bytes.HasPrefix(line, []byte(": 1"))
}

type plainHistory struct{ timed bool }

// Peel says that each line is a command, up to the first that has a time.
func (p *plainHistory) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	p.timed = p.timed || isHistoryTime(l.Text)
	l.Echo = !p.timed
	return s.Child(o, nil)
}
