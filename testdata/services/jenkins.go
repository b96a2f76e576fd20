package services

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Jenkins is a stand-in for a Jenkins controller. Token is USER:TOKEN.
type Jenkins struct {
	Hosts
	Root    JenkinsItem
	Untimed bool // there is no Timestamper plugin
}

// JenkinsItem is a folder, a job, or a configuration of one.
type JenkinsItem struct {
	Name           string
	Items          []*JenkinsItem // not nil: it is a folder
	Configurations []*JenkinsItem
	Builds         []*JenkinsBuild // newest first
	Next           int64
	Credentials    []string // nil: the login may not see them
	Gone           int      // status in place of it
}

// JenkinsBuild is a build.
type JenkinsBuild struct {
	Number  int64
	Begun   time.Time
	Lasted  time.Duration // 0: it goes on
	Lines   []string
	Untimed bool // the plugin was not at work
	Gone    int  // status in place of its log
}

// Start starts the controller, below /jenkins.
func (j *Jenkins) Start() {
	j.start(j.api, http.NotFound)
}

var (
	jenkinsRange = regexp.MustCompile(`allBuilds\[[^]]*\]\{(\d+),(\d+)\}$`)
	jenkinsTree  = regexp.MustCompile(`jobs\[`)
)

// find walks along a path; rest is what it does not lead through.
func (j *Jenkins) find(words []string) (it *JenkinsItem, rest []string) {
	it = &j.Root
	for len(words) > 1 && words[0] == "job" {
		var next *JenkinsItem
		for _, x := range it.Items {
			if x.Name == words[1] {
				next = x
			}
		}
		if next == nil || next.Gone != 0 {
			return next, nil
		}
		it, words = next, words[2:]
	}
	for _, x := range it.Configurations {
		if len(words) > 0 && x.Name == words[0] {
			return x, words[1:]
		}
	}
	return it, words
}

func (j *Jenkins) api(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(j.Token)) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), "/jenkins/")
	words := strings.Split(path, "/")
	for i := range words {
		words[i], _ = url.PathUnescape(words[i])
	}
	it, rest := j.find(words)
	switch what := strings.Join(rest, "/"); {
	case !ok || it == nil:
		w.WriteHeader(http.StatusNotFound)
	case it.Gone != 0:
		w.WriteHeader(it.Gone)
	case what == "api/json" && jenkinsRange.MatchString(r.URL.Query().Get("tree")):
		it.list(w, r.URL.Query().Get("tree"))
	case what == "api/json":
		reply(w, it.record(len(jenkinsTree.FindAllString(r.URL.Query().Get("tree"), -1))))
	case strings.HasPrefix(what, "credentials/store/"):
		it.credentials(w, r)
	case len(rest) > 1:
		j.build(w, it, rest)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// record is an item with those below it, as deep as the tree goes; of the lowest
// only the names.
func (it *JenkinsItem) record(depth int) map[string]any {
	v := map[string]any{"_class": "hudson.model.FreeStyleProject", "name": it.Name}
	if depth < 0 {
		return v
	}
	if it.Items != nil {
		jobs := []any{}
		for _, x := range it.Items {
			jobs = append(jobs, x.record(depth-1))
		}
		v["_class"], v["jobs"] = "com.cloudbees.hudson.plugins.folder.Folder", jobs
		return v
	}
	v["nextBuildNumber"], v["lastBuild"] = it.Next, nil
	if len(it.Builds) > 0 {
		v["lastBuild"] = map[string]any{"_class": "x", "number": it.Builds[0].Number, "timestamp": it.Builds[0].Begun.UnixMilli()}
	}
	if it.Configurations != nil {
		var all []any
		for _, x := range it.Configurations {
			all = append(all, x.record(0))
		}
		v["activeConfigurations"] = all
	}
	return v
}

func (it *JenkinsItem) list(w http.ResponseWriter, tree string) {
	m := jenkinsRange.FindStringSubmatch(tree)
	from, _ := strconv.Atoi(m[1])
	to, _ := strconv.Atoi(m[2])
	n := len(it.Builds)
	builds := []any{}
	for _, b := range it.Builds[min(from, n):min(to, n)] {
		v := map[string]any{
			"_class": "x", "number": b.Number, "timestamp": b.Begun.UnixMilli(), "duration": b.Lasted.Milliseconds(), "building": b.Lasted == 0, "result": "SUCCESS", "builtOn": "",
		}
		if b.Lasted == 0 {
			v["result"] = nil
		}
		builds = append(builds, v)
	}
	v := map[string]any{"_class": "x", "nextBuildNumber": it.Next, "firstBuild": nil, "allBuilds": builds}
	if n > 0 {
		v["firstBuild"] = map[string]any{"_class": "x", "number": it.Builds[n-1].Number}
	}
	reply(w, v)
}

func (it *JenkinsItem) credentials(w http.ResponseWriter, r *http.Request) {
	if it.Credentials == nil || r.URL.Query().Get("depth") != "2" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	all := []any{}
	for _, id := range it.Credentials {
		all = append(all, map[string]any{"id": id, "typeName": "Secret text", "displayName": "s3cr3t", "description": "s3cr3t", "fullName": "system/_/" + id})
	}
	reply(w, map[string]any{"_class": "x", "domains": map[string]any{"_": map[string]any{"_class": "x", "credentials": all, "description": "s3cr3t", "global": true}}})
}

func (j *Jenkins) build(w http.ResponseWriter, it *JenkinsItem, rest []string) {
	for _, b := range it.Builds {
		if strconv.FormatInt(b.Number, 10) != rest[0] {
			continue
		}
		timed := rest[1] == "timestamps" && !j.Untimed
		switch {
		case b.Gone != 0:
			w.WriteHeader(b.Gone)
		case rest[1] == "consoleText" || timed:
			w.Header().Set("Content-Type", "text/plain")
			for i, line := range b.Lines {
				if timed && !b.Untimed {
					fmt.Fprint(w, b.Begun.Add(time.Duration(i)*time.Second).UTC().Format("[2006-01-02T15:04:05.000Z]"))
				}
				if timed {
					fmt.Fprint(w, " ")
				}
				fmt.Fprintln(w, line)
			}
		default:
			w.WriteHeader(http.StatusNotFound)
		}
		return
	}
	w.WriteHeader(http.StatusNotFound)
}
