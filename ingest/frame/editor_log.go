package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// EditorLog is the log of a process of VS Code or of an editor made from it, and
// what its dev containers print: a local time or the time since the start.
// https://github.com/microsoft/vscode/wiki/Log-Issues
var EditorLog = evidence.Format{
	Name:   "editor-log",
	Shape:  evidence.FrameShape,
	Title:  "logs of VS Code, code-server, VSCodium, Cursor, Windsurf and of dev containers",
	Proves: "local time of each line",
	Cannot: "the zone: state it with --zone; where a line has only the time since the start, the day",
	Doc:    "https://github.com/microsoft/vscode/wiki/Log-Issues",
	Sample: "written by hand after lines in public reports",
	First:  "12[",
	Looks:  looksEditorLog,
	Common: true,
	Cuts:   true,
	New:    func() evidence.Peeler { return editorLog{} },
}

// looksEditorLog wants a time with milliseconds and a bracket behind it, or the
// unit of the time since the start.
func looksEditorLog(text []byte) bool {
	if len(text) < 8 {
		return false
	}
	if text[0] == '[' {
		if n := sinceStartLen(text); n > 0 {
			return true
		}
		text = text[1:]
	}
	return len(text) > 26 && text[4] == '-' && text[10] == ' ' && text[19] == '.' && (text[24] == '[' || text[23] == ']')
}

type editorLog struct{}

// Peel takes time, process and level off:
//
//	2026-05-18 12:40:01.123 [info] Installing extension: nrwl.angular-console
//	[2026-05-18 12:40:01.123] [sharedprocess] [info] Installing extension: nrwl.angular-console
//	[61026 ms] [12:40:01] Extracted extension to file:///home/node/.vscode-server/extensions/nrwl.angular-console-18.95.0: …
//	[54086 ms] Start: Run in container: /home/vscode/.vscode-server/bin/1f0…/bin/code-server --install-extension nrwl.angular-console
func (editorLog) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	text := l.Text
	if n := sinceStartLen(text); n > 0 {
		l.Text = text[n:]
		if c := clockLen(l.Text[min(1, len(l.Text)):]); c == len("12:40:01") && bytes.HasPrefix(l.Text[c+1:], []byte("] ")) {
			l.Text = l.Text[c+len("[] "):]
		}
		l.Echo, l.Runs = startedBy(l)
		return s.Child(o, nil)
	}
	bracket := len(text) > 0 && text[0] == '['
	if bracket {
		text = text[1:]
	}
	m, n := evidence.ParseISO(text)
	if n != len("2026-05-18 12:40:01.123") || m.HasOffset || text[10] != ' ' {
		return nil
	}
	rest := text[n:]
	switch {
	case bracket:
		var ok bool
		if rest, ok = bytes.CutPrefix(rest, []byte("] [")); !ok {
			return nil
		}
		end := bytes.Index(rest, []byte("] ["))
		if end < 0 || end > 32 {
			return nil
		}
		rest = rest[end+len("] "):]
	case len(rest) == 0 || rest[0] != ' ':
		return nil
	default:
		rest = rest[1:]
	}
	rest, ok := cutLevel(rest)
	if !ok {
		return nil
	}
	child := s.Child(o, nil)
	if l.Stamp.Read == nil { // a frame around it knows the zone
		child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], text[:n]...), Read: evidence.ISOStamp}
		l.Stamp = child.Last
	}
	l.Text = rest
	return child
}

// cutLevel takes the level off.
func cutLevel(text []byte) (rest []byte, ok bool) {
	for _, level := range [...]string{"[info] ", "[trace] ", "[debug] ", "[warning] ", "[error] ", "[critical] "} {
		if rest, ok := bytes.CutPrefix(text, []byte(level)); ok {
			return rest, true
		}
	}
	return text, false
}

// sinceStartLen returns the length of "[61026 ms] ", 0 when there is none.
func sinceStartLen(text []byte) int {
	if len(text) == 0 || text[0] != '[' {
		return 0
	}
	n := 1
	for n < len(text) && n < 12 && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	if n == 1 || !bytes.HasPrefix(text[n:], []byte(" ms] ")) {
		return 0
	}
	return n + len(" ms] ")
}

// startedBy takes the words off that a dev container puts before a command which
// it runs. Of its commands few fetch anything; the others are programs of its own,
// some with a here-document in them.
func startedBy(l *evidence.Line) (echo, runs bool) {
	for _, mark := range [...]string{"Start: Run in container: ", "Start: Run: "} {
		command, ok := bytes.CutPrefix(l.Text, []byte(mark))
		if ok && !bytes.Contains(command, []byte("<<")) &&
			(bytes.Contains(command, []byte("--install-extension")) || bytes.HasPrefix(command, []byte("docker "))) {
			l.Text = command
			return true, true
		}
	}
	return l.Echo, l.Runs
}
