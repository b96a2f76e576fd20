package tool

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ShellHistory is the history file of bash or zsh, when it holds times.
// https://www.gnu.org/software/bash/manual/html_node/Bash-History-Facilities.html
// https://zsh.sourceforge.io/Doc/Release/Options.html#History
var ShellHistory = evidence.Format{
	Name:   "shell-history",
	Shape:  evidence.ToolShape,
	Title:  "Shell history with times (bash, zsh)",
	Proves: "which commands were typed, when: what they were told to fetch",
	Cannot: "that a command succeeded; the host, unless --subject host:… names it; that nothing was edited",
	Doc:    "https://www.gnu.org/software/bash/manual/html_node/Bash-History-Facilities.html",
	Sample: "written by hand after the manuals",
	Starts: []string{"#1", ": 1"},
	Tool:   func() evidence.Parser { return &shellHistory{} },
}

type shellHistory struct {
	stamp   []byte // of the command at work; nil: none
	command []byte
	lines   int
	no, off int64
	zsh     bool
}

// Line reads one line. A command may go on over several:
//
//	#1792585800
//	pip install -q litellm
//	: 1792585801:0;docker pull ghcr.io/acme/api:main
func (h *shellHistory) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := l.Text
	if stamp := bashStamp(text); stamp != nil {
		h.flush(o)
		h.stamp, h.zsh = append([]byte{}, stamp...), false
		return evidence.More
	}
	if stamp, command, ok := zshEntry(text); ok {
		h.flush(o)
		h.stamp, h.zsh = append([]byte{}, stamp...), true
		return h.add(command, l, o)
	}
	if h.stamp == nil {
		return evidence.Miss
	}
	return h.add(text, l, o)
}

func (h *shellHistory) add(text []byte, l *evidence.Line, o *evidence.Out) evidence.Result {
	if h.lines == 0 {
		h.no, h.off = l.No, l.Off
	} else {
		h.command = append(h.command, '\n')
	}
	h.lines++
	goesOn := !h.zsh
	if h.zsh { // a line break in a command has a backslash before it
		cut, ok := bytes.CutSuffix(text, []byte(`\`))
		text, goesOn = cut, ok
	}
	h.command = append(h.command, text...)
	if !goesOn || h.lines > maxQuoted || len(h.command) > maxCommand {
		h.flush(o)
		return evidence.Done
	}
	return evidence.More
}

// flush passes the command on.
func (h *shellHistory) flush(o *evidence.Out) {
	if h.lines > 0 {
		o.SetLine(h.no, h.off, h.command)
		o.Ran(timeline.Subject{}, evidence.Stamp{Text: h.stamp, Read: historyTime}, h.command)
	}
	h.stamp, h.command, h.lines = nil, h.command[:0], 0
}

// bashStamp returns the seconds of "#1792585800", nil for another line.
func bashStamp(text []byte) []byte {
	text = bytes.TrimRight(text, " \t")
	if len(text) != 11 || text[0] != '#' || !allDigits(text[1:]) {
		return nil
	}
	return text[1:]
}

// zshEntry cuts ": 1792585801:0;command"; the stamp holds how many seconds it ran,
// too.
func zshEntry(text []byte) (stamp, command []byte, ok bool) {
	if len(text) < 15 || text[0] != ':' || text[1] != ' ' || !allDigits(text[2:12]) || text[12] != ':' {
		return nil, nil, false
	}
	took, command, ok := bytes.Cut(text[13:], []byte(";"))
	return text[2 : 13+len(took)], command, ok && allDigits(took)
}

func allDigits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// historyTime reads when a command began: what ran for minutes may have fetched
// something at any time until its end.
func historyTime(text []byte, _ *evidence.Times) timeline.Span {
	began, ran, _ := strings.Cut(string(text), ":")
	n, err := strconv.ParseInt(began, 10, 64)
	if err != nil {
		return timeline.Always()
	}
	s := evidence.Epoch(n, time.Second, began)
	if took, err := strconv.ParseInt(ran, 10, 32); err == nil && took >= 60 && s.Clock == timeline.Exact {
		s.To += took * int64(time.Second)
		s.Clock = timeline.Section
	}
	return s
}

// End passes the last command on.
func (h *shellHistory) End(_ timeline.OpState, o *evidence.Out) { h.flush(o) }
