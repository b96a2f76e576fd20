package frame

import (
	"bytes"
	"regexp"
	"slices"
	"sync"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// ShellSession is what was copied from a terminal: prompts, what was typed
// behind them, and what was shown.
// https://www.gnu.org/software/bash/manual/html_node/Controlling-the-Prompt.html
var ShellSession = evidence.Format{
	Name:   "shell-session",
	Shape:  evidence.FrameShape,
	Title:  "Text copied from a terminal, with prompts",
	Proves: "which command a line of output is of; in a transcript of PowerShell between which local times",
	Cannot: "the time of other copies, and the host: what a prompt says of it is anybody's choice; what was left out of the copy",
	Doc:    "https://www.gnu.org/software/bash/manual/html_node/Controlling-the-Prompt.html",
	Sample: "written by hand after the prompts that distributions and shells come with",
	Claim:  claimShellSession,
	New:    func() evidence.Peeler { return &shellSession{} },
}

// prompts are those that distributions and shells come with, an environment's
// name in parentheses before them. A lone "$", "#", "%" or ">" is none: texts of
// all kinds have it.
//
//	root@4f3c21aab0:/app# pip install litellm
//	[ec2-user@ip-10-0-0-1 app]$ pip install litellm
//	(venv) dev@laptop gateway % uv sync
//	laptop:gateway dev$ pip install litellm
//	(venv) PS C:\work> pip install litellm
//	C:\work>pip install litellm
//	➜  gateway git:(main) ✗ uv add litellm
//	❯ uv add litellm
//	λ uv add litellm
//	(.venv) $ pip install litellm
var prompts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\([\w.@:/ -]{1,60}\) ?)*(?:` +
		`[\w.-]+@[\w.-]+:[^\s$#%>]{0,200}[$#%] |` +
		`\[[\w.-]+@[\w.-]+ [^\]]{0,200}\][$#] |` +
		`[\w.-]+@[\w.-]+ [^\s$#%]{1,200} [%$#] |` +
		`[\w.-]+:[^\s$#%:]{1,200} [\w.-]+\$ |` +
		`(?:PS )?[A-Za-z]:\\[^<>|"*?]{0,200}> ?|` +
		`➜ {1,2}[^\s]{1,100} (?:git:\([^)\s]{1,100}\) )?(?:✗ )?|` +
		`[❯λ] ` +
		`)|^(?:\([\w.@:/-]{1,60}\) ?)+(?:[$#%>]|λ) `)
})

// promptCommand returns what was typed behind a prompt; nil when the line has
// none.
func promptCommand(line []byte) []byte {
	head := line[:min(len(line), 512)]
	if len(line) < 4 || !endsPrompt(head) {
		return nil
	}
	m := prompts().FindIndex(head)
	if m == nil {
		return nil
	}
	command := bytes.TrimLeft(line[m[1]:], " ")
	if len(command) == 0 || !letterOrPath(command[0]) {
		return nil
	}
	return command
}

// endsPrompt is a quick look for what prompts end with: most lines have none.
func endsPrompt(line []byte) bool {
	for i, c := range line {
		switch c {
		case '$', '#', '%':
			if i+1 < len(line) && line[i+1] == ' ' {
				return true
			}
		case '>', "➜"[0], "λ"[0]: // as "❯" begins
			return true
		}
	}
	return false
}

func letterOrPath(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '.' || c == '/' || c == '~' || c == '_'
}

// typedPrograms are those of which a claim of text is made.
var typedPrograms = regexp.MustCompile(`^(?:sudo (?:-\w+ )*)?(?:\S*[/\\])?(?:pip[\d.]*|python[\d.]*|py|uvx?|poetry|pipenv|pdm|pipx|conda|(?:micro)?mamba|hatch|tox|nox|rye|pixi|` +
	`docker(?:-compose)?|podman|buildah|nerdctl|crictl|ctr|k3s|oc|crane|skopeo|helm|kubectl|npm|npx|pnpm|yarn|bun|apt(?:-get)?|apk|dnf|yum|gem|cargo|go|make|ovsx|jenkins-plugin-cli)(?:\.exe)? ` +
	`|^(?:sudo (?:-\w+ )*)?(?:\S*[/\\])?(?:code|code-insiders|code-server|codium|cursor|windsurf|openvscode-server)(?:\.cmd)? (?:.* )?--(?:(?:un)?install|list|update)-extension`)

// claimShellSession wants a prompt with a command behind it that tools here
// know: much text has something that looks like a prompt.
func claimShellSession(h *evidence.Head) bool {
	for line := range bytes.Lines(h.Bytes) {
		if bytes.IndexByte(line, 0x1b) >= 0 {
			line = evidence.StripEscapes(bytes.Clone(line))
		}
		if command := promptCommand(bytes.TrimRight(line, "\r\n")); command != nil && typedPrograms.Match(command) {
			return true
		}
	}
	return false
}

// shellSession is a session; stamp is when it was, where it says so.
type shellSession struct{ stamp evidence.Stamp }

// transcriptTime is the time in the head and at the end of a transcript of
// PowerShell, in any language; it is local and has no zone.
// https://learn.microsoft.com/powershell/module/microsoft.powershell.host/start-transcript
//
//	**********************
//	Windows PowerShell transcript start
//	Start time: 20261021143000
//	…
//	End time: 20261021143105
var transcriptTime = regexp.MustCompile(`(?m)^[^:\n]+: (\d{14})\r?$`)

// Start looks for the times of a transcript, both of them: when a command ran
// between them is not known.
func (p *shellSession) Start(h *evidence.Head, _ *evidence.Stream, _ *evidence.Out) {
	if !bytes.HasPrefix(bytes.TrimPrefix(h.Bytes, []byte("\xef\xbb\xbf")), []byte("**********")) {
		return
	}
	if all := transcriptTime.FindAllSubmatch(h.Bytes, -1); len(all) > 1 {
		p.stamp = evidence.Stamp{Text: slices.Concat(all[0][1], []byte(" "), all[len(all)-1][1]), Read: transcriptSpan}
	}
}

func transcriptSpan(text []byte, t *evidence.Times) timeline.Span {
	began, ended := transcriptMoment(text[:14], t), transcriptMoment(text[15:], t)
	began.To = max(began.To, ended.To)
	if began.Clock == timeline.Exact {
		began.Clock = timeline.Section
	}
	return began
}

func transcriptMoment(text []byte, t *evidence.Times) timeline.Span {
	d := string(text)
	return evidence.ISOStamp([]byte(d[:4]+"-"+d[4:6]+"-"+d[6:8]+"T"+d[8:10]+":"+d[10:12]+":"+d[12:14]), t)
}

// Peel puts one mark in the place of all prompts.
func (p *shellSession) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	child := s.Child(o, nil)
	if p.stamp.Read != nil && l.Stamp.Read == nil {
		l.Stamp = p.stamp
	}
	unprompt(l)
	return child
}

// unprompt puts the mark of a command in the place of a prompt.
func unprompt(l *evidence.Line) {
	if command := promptCommand(l.Text); command != nil {
		l.Text = append([]byte("$ "), command...)
	}
}
