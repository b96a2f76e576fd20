package document

import (
	"fmt"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// BuildkiteLog is the log of a job as the REST API answers it when no text is
// asked for.
// https://buildkite.com/docs/apis/rest-api/jobs#get-a-jobs-log-output
var BuildkiteLog = evidence.Format{
	Name:   "buildkite-log",
	Shape:  evidence.DocumentShape,
	Title:  "Buildkite API: log of a job (JSON)",
	Proves: "what the job printed, and when (UTC, ms)",
	Cannot: "whether the job had ended: its record says that",
	Doc:    "https://buildkite.com/docs/apis/rest-api/jobs#get-a-jobs-log-output",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		return ok && v.has("content") && !buildkiteLogJob(v.get("url").text()).IsZero()
	},
	Read: readBuildkiteLog,
}

// buildkiteLogJob reads the job out of the address of its log, zero for another
// one.
//
//	https://api.buildkite.com/v2/organizations/acme/pipelines/api/builds/27/jobs/b63254c0-3271-4a98-8270-7cfbd6c2f14e/log
func buildkiteLogJob(url string) timeline.Subject {
	build := buildkiteName(url)
	_, job, ok := strings.Cut(url, "/jobs/")
	id, rest, _ := strings.Cut(job, "/")
	if build == "" || !ok || id == "" || rest != "log" {
		return timeline.Subject{}
	}
	return timeline.Subject{Kind: timeline.Job, ID: "buildkite:" + build + "/jobs/" + id}
}

// readBuildkiteLog reads the lines of a log:
//
//	{"url": "https://api.buildkite.com/v2/organizations/acme/…/log", "content": "\u001b_bk;t=1792584291123\u0007~~~ Running commands\r\n…", "size": 28, "header_times": [1792584291123]}
func readBuildkiteLog(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	for _, v := range all {
		content := v.get("content")
		at(d, o, v)
		job := buildkiteLogJob(v.get("url").text())
		if job.IsZero() || content.kind() != '"' {
			o.Skip("no log of a job of Buildkite")
			continue
		}
		// A log that says nothing of packages is of a job all the same.
		build, id, _ := strings.Cut(strings.TrimPrefix(job.ID, "buildkite:"), "/jobs/")
		o.Expect(timeline.Expected{Subject: job, Detail: fmt.Sprintf("job %s of %s", id, build)})
		text := content.text()
		if size, ok := v.get("size").integer(); ok && size != int64(len(text)) {
			o.Cut(fmt.Sprintf("it holds %d bytes of a log of %d", len(text), size))
		}
		no, start, _ := d.LineBounds(content.off)
		stream := &evidence.Stream{Parent: o.Stream(), Subject: job}
		for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
			l := evidence.Line{No: no, Off: int64(start)}
			l.Strip([]byte(strings.TrimRight(line, "\r")))
			o.Feed(&l, stream)
		}
		stream.Step(o)
	}
	return err
}
