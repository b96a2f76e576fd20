package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// CodeBuild is the log of a build of AWS CodeBuild, as its page and CloudWatch
// show it.
// https://docs.aws.amazon.com/codebuild/latest/userguide/view-build-details.html
var CodeBuild = evidence.Format{
	Name:   "codebuild",
	Shape:  evidence.FrameShape,
	Title:  "AWS CodeBuild log",
	Proves: "the commands of a build, and when each began",
	Cannot: "project and number of the build; when a line of output came; the time zone of the build's container: state it with --zone",
	Doc:    "https://docs.aws.amazon.com/codebuild/latest/userguide/view-build-details.html",
	Sample: "written by hand after public logs",
	Claim:  func(h *evidence.Head) bool { return codeBuildStamp(bytes.TrimLeft(h.Bytes, "\r\n ")) > 0 },
	First:  "[",
	Looks:  func(text []byte) bool { return codeBuildStamp(text) > 0 },
	New:    func() evidence.Peeler { return &codeBuild{steps: map[*evidence.Stream]*evidence.Stream{}} },
}

var codeBuildMark = []byte("[Container] ")

// codeBuildStamp returns the length of the mark and the time behind it:
//
//	[Container] 2026/10/21 12:04:51.038105 Running command pip install litellm
//	[Container] 2019/06/24 15:54:11 Entering phase INSTALL
func codeBuildStamp(line []byte) int {
	text, ok := bytes.CutPrefix(line, codeBuildMark)
	if !ok || len(text) < 19 || text[4] != '/' || text[7] != '/' || text[10] != ' ' {
		return 0
	}
	if _, n := evidence.ParseISO(codeBuildISO(text)); n > 0 {
		return len(codeBuildMark) + n
	}
	return 0
}

// codeBuildISO is a time of CodeBuild with dashes in its date.
func codeBuildISO(text []byte) []byte {
	iso := bytes.Clone(text[:min(len(text), 26)])
	iso[4], iso[7] = '-', '-'
	if end := bytes.IndexByte(iso[11:], ' '); end >= 0 {
		iso = iso[:11+end]
	}
	return iso
}

type codeBuild struct {
	steps map[*evidence.Stream]*evidence.Stream // with lines of the build, by what is around it
}

// Peel reads what CodeBuild itself says. What stands between two of its lines
// is the output of the command, and has no time of its own.
func (c *codeBuild) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	n := codeBuildStamp(l.Text)
	if n == 0 {
		return c.output(l, s, o)
	}
	child := s.Child(o, nil)
	c.steps[s] = child
	if l.Stamp.Read == nil || o.IsClaimed(s) {
		child.Last = evidence.Stamp{Text: append(child.Last.Text[:0], codeBuildISO(l.Text[len(codeBuildMark):])...), Read: evidence.ISOStamp}
		l.Stamp = child.Last
	}
	text := bytes.TrimPrefix(l.Text[n:], []byte(" "))
	command, runs := bytes.CutPrefix(text, []byte("Running command "))
	if !runs {
		child.Step(o)
		return s
	}
	l.Text = append([]byte("$ "), command...)
	return child
}

func (c *codeBuild) output(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	if !o.IsClaimed(s) {
		return nil
	}
	child := s.Child(o, nil)
	if child.Last.Read != nil {
		l.Stamp = evidence.Stamp{Text: child.Last.Text, Read: afterStart}
	}
	return child
}
