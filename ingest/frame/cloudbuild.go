package frame

import (
	"bytes"

	"pulltrail/ingest/evidence"
)

// CloudBuild is the log of a build of Google Cloud Build: each line names the
// step that wrote it.
// https://cloud.google.com/build/docs/view-build-results
var CloudBuild = evidence.Format{
	Name:   "cloud-build",
	Shape:  evidence.FrameShape,
	Title:  "Google Cloud Build log",
	Proves: "which step of the build wrote a line",
	Cannot: "time, and number of the build; the commands of its steps",
	Doc:    "https://cloud.google.com/build/docs/view-build-results",
	Sample: "written by hand after public logs",
	Claim: func(h *evidence.Head) bool {
		return bytes.HasPrefix(h.Bytes, []byte("starting build \"")) || bytes.HasPrefix(h.Bytes, []byte("Starting Step #0")) || cloudStep(h.Bytes) > 0
	},
	First: "S",
	Looks: func(text []byte) bool { return cloudStep(text) > 0 },
	Cuts:  true,
	New:   func() evidence.Peeler { return cloudBuild{} },
}

type cloudBuild struct{}

// cloudStep returns the length of the step's name in front of a line:
//
//	Step #0: Collecting litellm
//	Step #1 - "install deps": Collecting litellm
func cloudStep(line []byte) int {
	rest, ok := bytes.CutPrefix(line, []byte("Step #"))
	if !ok {
		return 0
	}
	n := len(rest) - len(bytes.TrimLeft(rest, "0123456789"))
	if n == 0 || n > 4 {
		return 0
	}
	rest = rest[n:]
	n += len("Step #")
	if name, ok := bytes.CutPrefix(rest, []byte(` - "`)); ok {
		end := bytes.Index(name[:min(len(name), 260)], []byte(`": `))
		if end < 0 {
			return 0
		}
		return n + 4 + end + 3
	}
	if bytes.HasPrefix(rest, []byte(": ")) {
		return n + 2
	}
	return 0
}

// Peel takes the step off.
func (cloudBuild) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	n := cloudStep(l.Text)
	if n == 0 {
		if o.IsClaimed(s) {
			return s.Child(o, nil)
		}
		return nil
	}
	child := s.Child(o, l.Text[:n])
	l.Text = l.Text[n:]
	return child
}
