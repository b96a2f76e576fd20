package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// GitRemote is what the other side of a git push prints: a platform builds what
// was pushed there, and its log comes back.
// https://git-scm.com/docs/gitprotocol-pack
var GitRemote = evidence.Format{
	Name:   "git-remote",
	Shape:  evidence.FrameShape,
	Title:  "Output of the other side of git push",
	Proves: "what a build that a push began printed",
	Cannot: "on which machine it ran: that is not the one which pushed",
	Doc:    "https://git-scm.com/docs/gitprotocol-pack",
	Sample: "written by hand after the documentation of platforms",
	First:  "r",
	Looks:  func(text []byte) bool { return bytes.HasPrefix(text, remoteMark) },
	Common: true,
	Cuts:   true,
	New:    func() evidence.Peeler { return gitRemote{} },
}

var remoteMark = []byte("remote: ")

type gitRemote struct{}

// Peel takes the mark off:
//
//	remote: -----> Installing requirements with pip
//	remote:        Collecting litellm==1.107.0
func (gitRemote) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	text, ok := bytes.CutPrefix(l.Text, remoteMark)
	if !ok {
		return nil
	}
	l.Text = text
	return s.Child(o, nil)
}
