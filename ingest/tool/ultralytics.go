package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Ultralytics is the line with which ultralytics begins whatever it does.
// https://docs.ultralytics.com/usage/cli/
var Ultralytics = evidence.Format{
	Name:   "ultralytics",
	Shape:  evidence.ToolShape,
	Title:  "first line of a run of Ultralytics",
	Proves: "the version that runs",
	Cannot: "when and from where it was installed",
	Doc:    "https://docs.ultralytics.com/usage/cli/",
	Sample: "written by hand after logs in public issues",
	Starts: []string{"Ultralytics "},
	Tool:   func() evidence.Parser { return ultralytics{} },
}

type ultralytics struct{}

// Line reads one line; before 8.1 the name of the model stood before the version:
//
//	Ultralytics 8.3.41 🚀 Python-3.11.10 torch-2.5.1+cu124 CUDA:0 (NVIDIA A100-SXM4-40GB, 40514MiB)
//	Ultralytics YOLOv8.0.196 🚀 Python-3.10.12 torch-2.0.1+cu118 CPU
func (ultralytics) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	w := strings.Fields(string(bytes.TrimSpace(l.Text)))
	if l.Echo || len(w) < 4 {
		return evidence.Miss
	}
	version := strings.TrimPrefix(w[1], "YOLOv")
	if !strings.HasPrefix(w[3], "Python-") && !strings.HasPrefix(w[2], "Python-") || strings.Count(version, ".") < 2 || !evidence.IsVersion(version) {
		return evidence.Miss
	}
	o.Emit(timeline.Present, nil, timeline.Item{Artifact: timeline.PURL("pypi", "", "ultralytics", version)})
	return evidence.Done
}

// End has nothing to do: the line stands alone.
func (ultralytics) End(timeline.OpState, *evidence.Out) {}
