package frame

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// fuzz feeds any bytes to a frame as a file that it claimed. Whatever comes,
// it must not panic, must not read more lines out of a file than bytes are in
// it, and a line that it leaves alone must be as it was.
func fuzz(f *testing.F, format evidence.Format) {
	samples, err := filepath.Glob("../../testdata/formats/" + format.Name + "/*")
	if err != nil || len(samples) == 0 {
		f.Fatalf("no samples of %s: %v", format.Name, err)
	}
	for _, s := range samples {
		data, err := os.ReadFile(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		format := format
		peel := format.New
		format.New = func() evidence.Peeler { return watched{peel(), t} }
		m := evidence.NewMachine([]evidence.Format{format})
		events := 0
		r := m.NewReading("x.log", timeline.Subject{}, timeline.Subject{}, evidence.Times{}, func(b *timeline.Batch) error {
			events += len(b.Events)
			return nil
		})
		r.Claimed(format.Name, &evidence.Head{Path: "x.log", Name: "x.log", Bytes: data})
		for i, line := range bytes.Split(data, []byte("\n")) {
			r.Line(&evidence.Line{Text: line, No: int64(i) + 1})
		}
		if _, err := r.Finish(timeline.Span{}); err != nil {
			t.Fatal(err)
		}
		if events > len(data) {
			t.Errorf("%d events out of %d bytes", events, len(data))
		}
	})
}

// watched is a frame whose promise is checked: what it leaves alone is as it
// was.
type watched struct {
	evidence.Peeler
	t *testing.T
}

func (w watched) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	text, stamp := string(l.Text), l.Stamp
	child := w.Peeler.Peel(l, s, o)
	if child == nil && (string(l.Text) != text || string(l.Stamp.Text) != string(stamp.Text)) {
		w.t.Errorf("a line that is not the frame's was changed from %q to %q", text, l.Text)
	}
	return child
}

func FuzzEditorLog(f *testing.F) { fuzz(f, EditorLog) }

func FuzzSyslog(f *testing.F)           { fuzz(f, Syslog) }
func FuzzJournalJSON(f *testing.F)      { fuzz(f, JournalJSON) }
func FuzzCRI(f *testing.F)              { fuzz(f, CRI) }
func FuzzDockerJSON(f *testing.F)       { fuzz(f, DockerJSON) }
func FuzzDockerAPI(f *testing.F)        { fuzz(f, DockerAPI) }
func FuzzCompose(f *testing.F)          { fuzz(f, Compose) }
func FuzzNPMDebug(f *testing.F)         { fuzz(f, NPMDebug) }
func FuzzPipLog(f *testing.F)           { fuzz(f, PipLog) }
func FuzzCloudWatch(f *testing.F)       { fuzz(f, CloudWatch) }
func FuzzGitRemote(f *testing.F)        { fuzz(f, GitRemote) }
func FuzzShellSession(f *testing.F)     { fuzz(f, ShellSession) }
func FuzzCodeBuild(f *testing.F)        { fuzz(f, CodeBuild) }
func FuzzCloudBuild(f *testing.F)       { fuzz(f, CloudBuild) }
func FuzzJSONLines(f *testing.F)        { fuzz(f, JSONLines) }
func FuzzLogAnswer(f *testing.F)        { fuzz(f, LogAnswer) }
func FuzzPasted(f *testing.F)           { fuzz(f, Pasted) }
func FuzzLinePrefix(f *testing.F)       { fuzz(f, LinePrefix) }
func FuzzTaskPrefix(f *testing.F)       { fuzz(f, TaskPrefix) }
func FuzzStamped(f *testing.F)          { fuzz(f, Stamped) }
func FuzzBuildKitTerminal(f *testing.F) { fuzz(f, BuildKitTerminal) }
func FuzzKaniko(f *testing.F)           { fuzz(f, Kaniko) }
func FuzzCTR(f *testing.F)              { fuzz(f, CTR) }
func FuzzDashboard(f *testing.F)        { fuzz(f, Dashboard) }
func FuzzContinued(f *testing.F)        { fuzz(f, Continued) }
func FuzzJournalVerbose(f *testing.F)   { fuzz(f, JournalVerbose) }
