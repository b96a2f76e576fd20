package document

import (
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// LiteLLMHealth is what a LiteLLM proxy answers when it is asked whether it is
// ready: /health/readiness.
// https://docs.litellm.ai/docs/proxy/health
var LiteLLMHealth = evidence.Format{
	Name:   "litellm-health",
	Shape:  evidence.ToolShape,
	Title:  "Readiness of a LiteLLM proxy",
	Proves: "the version of the proxy that runs",
	Cannot: "when the answer was given, unless it stands in a log; which image or environment it runs from",
	Doc:    "https://docs.litellm.ai/docs/proxy/health",
	Sample: "written by hand after the documentation",
	Fields: [][]string{{"status", "litellm_version"}},
	Tool:   func() evidence.Parser { return litellmHealth{} },
}

type litellmHealth struct{}

// Line reads one answer:
//
//	{"status":"healthy","db":"connected","cache":null,"litellm_version":"1.107.0","success_callbacks":["langfuse"]}
func (litellmHealth) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	v := recordOf(l)
	version := v.get("litellm_version").text()
	if !evidence.IsVersion(version) || !strings.Contains(version, ".") {
		return evidence.Miss
	}
	o.Emit(timeline.Present, nil, timeline.Item{Artifact: timeline.PURL("pypi", "", "litellm", version)})
	return evidence.Done
}

// End has nothing to do: an answer stands alone.
func (litellmHealth) End(timeline.OpState, *evidence.Out) {}
