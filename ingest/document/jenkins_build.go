package document

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// JenkinsBuild is what the API says of builds: one, or those of a job.
// https://www.jenkins.io/doc/book/using/remote-access-api/
var JenkinsBuild = evidence.Format{
	Name:   "jenkins-build",
	Shape:  evidence.DocumentShape,
	Title:  "Jenkins API: a build, or the builds of a job",
	Proves: "that a build ran, when, and on which node: it must have a log; of a list, which builds were deleted",
	Cannot: "what the build did",
	Doc:    "https://www.jenkins.io/doc/book/using/remote-access-api/",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		return ok && (isJenkinsBuild(v) || isJenkinsJob(v))
	},
	Read: readJenkinsBuild,
}

func isJenkinsBuild(v value) bool {
	return v.has("number") && v.has("timestamp") && v.has("duration") && jenkinsName(v.get("url").text()) != ""
}

func isJenkinsJob(v value) bool {
	return v.has("nextBuildNumber") && (v.get("allBuilds").kind() == '[' || v.get("builds").kind() == '[')
}

// jenkinsName is HOST/FOLDER/JOB, with /NUMBER for a build, out of the address
// of a job or a build; "" for another address.
//
//	https://ci.acme.example/job/team/job/api/812/
func jenkinsName(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	base, rest, ok := strings.Cut(u.Path, "/job/")
	if !ok {
		return ""
	}
	return u.Host + base + "/" + strings.ReplaceAll(strings.Trim(rest, "/"), "/job/", "/")
}

// readJenkinsBuild reads builds, or jobs with their builds:
//
//	{"_class": "org.jenkinsci.plugins.workflow.job.WorkflowRun", "building": false, "duration": 61234, "number": 812, "result": "SUCCESS",
//	 "timestamp": 1792584291123, "url": "https://ci.acme.example/job/team/job/api/812/"}
//	{"url": "https://ci.acme.example/job/team/job/api/", "nextBuildNumber": 813, "firstBuild": {"number": 640},
//	 "allBuilds": [{"number": 812, "timestamp": 1792584291123, "duration": 61234, "building": false}]}
func readJenkinsBuild(d *evidence.Doc, o *evidence.Out) error {
	all, err := records(d)
	if len(all) > 0 {
		o.Seen("")
	}
	for _, v := range all {
		at(d, o, v)
		name := jenkinsName(v.get("url").text())
		if name == "" && d.Asked != 0 { // the collector asked for it by its name
			o.ByPath()
			name = jenkinsName(strings.TrimSuffix(strings.SplitN(d.Path, "?", 2)[0], "/api/json"))
		}
		switch {
		case name == "":
			o.Skip("neither a build nor a job of Jenkins: its address is not known")
		case isJenkinsBuild(v):
			name = name[:strings.LastIndexByte(name, '/')]
			readJenkinsRun(d, o, name, v)
		case isJenkinsJob(v):
			list := v.get("allBuilds")
			if list.kind() != '[' {
				list = v.get("builds")
			}
			var runs []jenkinsRun
			for b := range list.elements() {
				if run, ok := readJenkinsRun(d, o, name, b); ok {
					runs = append(runs, run)
				}
			}
			if !d.Page {
				at(d, o, v)
				jenkinsDeleted(o, name, v, runs)
			}
		}
	}
	return err
}

// jenkinsRun is a build that a list has.
type jenkinsRun struct {
	number int64
	span   timeline.Span
}

// readJenkinsRun expects the log of a build. Lists may show builds without
// their times: those are only named.
func readJenkinsRun(d *evidence.Doc, o *evidence.Out, job string, v value) (run jenkinsRun, ok bool) {
	number := v.get("number")
	at(d, o, number)
	run.number, ok = number.integer()
	begun, timed := v.get("timestamp").integer()
	if !ok || run.number < 1 {
		o.Skip("a build without a number")
		return run, false
	}
	if !timed || begun <= 0 || begun > 1<<43 {
		return run, false
	}
	run.span = timeline.Span{From: begun * int64(time.Millisecond), To: timeline.Forever, Clock: timeline.Section}
	duration, _ := v.get("duration").integer()
	if ended := !v.get("building").isTrue() && !v.get("inProgress").isTrue(); ended && duration >= 0 && duration < 1<<43 {
		run.span.To = run.span.From + duration*int64(time.Millisecond) + int64(time.Millisecond) - 1
	}
	if d.Window != (timeline.Span{}) && !run.span.Overlaps(d.Window.From, d.Window.To) {
		return run, true // not what was asked for
	}
	build := jenkinsSubject(job, run.number)
	o.Expect(timeline.Expected{Subject: build, Span: run.span, Detail: fmt.Sprintf("build %d of %s", run.number, job)})
	if node := v.get("builtOn").text(); node != "" { // "" is the controller
		o.LinkOver(run.span, timeline.On, build.String(), timeline.Subject{Kind: timeline.Host, ID: node}.String())
	}
	return run, true
}

func jenkinsSubject(job string, number int64) timeline.Subject {
	return timeline.Subject{Kind: timeline.Job, ID: "jenkins:" + job + "/" + strconv.FormatInt(number, 10)}
}

// lasting is how long a build that was deleted may have run.
const lasting = int64(24 * time.Hour)

// maxDeleted bounds how many builds of a job are named one by one as deleted.
const maxDeleted = 100

// jenkinsDeleted expects the builds whose numbers a whole list lacks: they were
// deleted, mostly by the rotation of logs. They began between those beside them.
// https://www.jenkins.io/doc/book/pipeline/syntax/#options (buildDiscarder)
func jenkinsDeleted(o *evidence.Out, job string, v value, runs []jenkinsRun) {
	if len(runs) == 0 {
		return
	}
	next, ok := v.get("nextBuildNumber").integer()
	first, known := v.get("firstBuild", "number").integer()
	if !ok {
		next = runs[0].number + 1
	}
	named := 0
	gone := func(from, to int64, span timeline.Span) {
		for n := to; n >= from; n-- {
			if named++; named > maxDeleted {
				o.Cut(fmt.Sprintf("builds %d to %d of %s were deleted too", from, n, job))
				return
			}
			o.Expect(timeline.Expected{
				Subject: jenkinsSubject(job, n), Span: span, Reason: string(timeline.Expired),
				Detail: fmt.Sprintf("build %d of %s is not in the list: it was deleted", n, job),
			})
		}
	}
	later := timeline.Span{From: timeline.Beginning, To: timeline.Forever, Clock: timeline.Section}
	for _, run := range runs { // newest first
		if run.number >= next {
			continue
		}
		gone(run.number+1, next-1, timeline.Span{From: run.span.From, To: later.To, Clock: timeline.Section})
		next, later.To = run.number, run.span.From+lasting
	}
	if known && first == next {
		gone(1, next-1, later)
	}
}
