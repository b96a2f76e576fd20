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
	New:    func() evidence.Peeler { return plainHistory{} },
}

// claimPlainHistory goes by the file's name: the lines are any commands.
func claimPlainHistory(h *evidence.Head) bool {
	name := strings.TrimPrefix(h.Name, ".")
	switch name {
	case "bash_history", "sh_history", "ash_history", "zsh_history", "ksh_history", "histfile", "zhistory":
	default:
		return false
	}
	return !bytes.HasPrefix(h.Bytes, []byte("#1")) && !bytes.Contains(h.Bytes, []byte("\n#1")) &&
		!bytes.HasPrefix(h.Bytes, []byte(": 1")) && !bytes.Contains(h.Bytes, []byte("\n: 1"))
}

type plainHistory struct{}

// Peel says that each line is a command.
func (plainHistory) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	l.Echo = true
	return s.Child(o, nil)
}
