package ingest_test

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pulltrail/ingest"
	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// wrapping writes lines as one frame would hold them.
type wrapping struct {
	frame string   // name in the table
	only  []string // tools that the frame can hold; nil: any
	wrap  func(lines []string) []string
}

// stamp is the time of line i.
func stamp(i int, layout string) string {
	return time.Date(2026, 10, 21, 12, 0, 0, 123_456_700, time.UTC).Add(time.Duration(i) * time.Second).Format(layout)
}

// prefixed puts a prefix before every line.
func prefixed(frame, head string, prefix func(i int) string) wrapping {
	return wrapping{frame: frame, wrap: func(lines []string) []string {
		var out []string
		if head != "" {
			out = append(out, head)
		}
		for i, l := range lines {
			out = append(out, prefix(i)+l)
		}
		return out
	}}
}

// fields writes every line as a JSON object.
func fields(frame string, object func(i int, line string) map[string]any) wrapping {
	return wrapping{frame: frame, wrap: func(lines []string) []string {
		var out []string
		for i, l := range lines {
			b, err := json.Marshal(object(i, l))
			if err != nil {
				panic(err)
			}
			out = append(out, string(b))
		}
		return out
	}}
}

// travisLog is one timed command: its time stands behind its output.
var travisLog = wrapping{frame: "travis", wrap: func(lines []string) []string {
	out := append([]string{"travis_fold:start:install\r\x1b[0Ktravis_time:start:1601f628\r\x1b[0K$ true\r"}, lines...)
	return append(out, "travis_time:end:1601f628:start=1792584000000000000,finish=1792584060000000000,duration=60000000000,event=install\r\x1b[0K")
}}

// event is one of a recording.
func event(i int, text string) string {
	b, err := json.Marshal([]any{float64(i) + 0.5, "o", text})
	if err != nil {
		panic(err)
	}
	return string(b)
}

const nano = "2006-01-02T15:04:05.000000000Z07:00"

// wrappings has at least one entry for every frame of the table.
var wrappings = map[string]wrapping{
	"github-job": prefixed("github-job", "", func(i int) string { return stamp(i, "2006-01-02T15:04:05.0000000Z") + " " }),
	"pip-log": {frame: "pip-log", only: []string{"pip"}, wrap: prefixed("pip-log", "2026-10-21T11:59:59,000 Using pip 24.2 from /opt/pip (python 3.13)",
		func(i int) string { return stamp(i, "2006-01-02T15:04:05,000") + " " }).wrap},
	"npm-debug-log": {frame: "npm-debug-log", only: []string{"npm"}, wrap: prefixed("npm-debug-log", "0 verbose cli /usr/bin/node /usr/bin/npm", func(i int) string { return fmt.Sprintf("%d ", i+1) }).wrap},
	"azure":         prefixed("azure-pipelines", stamp(0, "2006-01-02T15:04:05.0000000Z")+" ##[section]Starting: Bash", func(i int) string { return stamp(i, "2006-01-02T15:04:05.0000000Z") + " " }),
	"buildkite":     prefixed("buildkite", "", func(i int) string { return fmt.Sprintf("\x1b_bk;t=%d\x07", 1792584000000+i) }),
	"travis":        travisLog,
	"readthedocs":   prefixed("readthedocs", "[rtd-command-info] start-time: 2026-10-21T12:00:00.5Z, end-time: 2026-10-21T12:10:00.5Z, duration: 600, exit-code: 0\ntrue", func(int) string { return "" }),
	"clock":         prefixed("clock-lines", "", func(i int) string { return stamp(i, "15:04:05.000") + " " }),
	"syslog-3164":   prefixed("syslog", "", func(i int) string { return stamp(i, time.Stamp) + " prod-3 deploy[41]: " }),
	"syslog-5424":   prefixed("syslog", "", func(i int) string { return "<14>1 " + stamp(i, nano) + " prod-3 deploy 41 - - " }),
	"syslog-iso":    prefixed("syslog", "", func(i int) string { return stamp(i, "2006-01-02T15:04:05-0700") + " prod-3 deploy[41]: " }),
	"grafana":       prefixed("grafana-export", "", func(i int) string { return fmt.Sprintf("%d\t%s\t", 1792584000000+i, stamp(i, nano)) }),
	"editor":        prefixed("editor-log", "", func(i int) string { return stamp(i, "2006-01-02 15:04:05.000") + " [info] " }),
	"editor, old":   prefixed("editor-log", "", func(i int) string { return "[" + stamp(i, "2006-01-02 15:04:05.000") + "] [remoteagent] [info] " }),
	"dev container": prefixed("editor-log", "", func(i int) string { return fmt.Sprintf("[%d ms] ", 60995+i) }),
	"sglang":        prefixed("sglang-log", "", func(i int) string { return "[" + stamp(i, time.DateTime) + " DP0 TP0] " }),
	"vllm": prefixed("vllm-log", "", func(i int) string {
		return "(APIServer pid=7) INFO " + stamp(i, "01-02 15:04:05") + " [loggers.py:271] "
	}),
	"csv":           {frame: "csv-rows", only: []string{}, wrap: func(lines []string) []string { return lines }},
	"task prefix":   prefixed("task-prefix", "• Packages in scope: web", func(int) string { return "web:build: " }),
	"plain history": {frame: "plain-history", only: []string{}, wrap: func(lines []string) []string { return lines }},
	"yum log": {frame: "yum-log", only: []string{"rpm-log"}, wrap: prefixed("yum-log", "Oct 21 11:59:59 Erased: curl",
		func(i int) string { return stamp(i, time.Stamp) + " " }).wrap},
	"gitlab-pieces": {frame: "gitlab-trace", wrap: func(lines []string) []string {
		var out []string
		for i, l := range lines {
			half := len(l) / 2
			out = append(out, stamp(i, "2006-01-02T15:04:05.000000Z")+" 01O "+l[:half], stamp(i, "2006-01-02T15:04:05.000000Z")+" 01O+"+l[half:])
		}
		return out
	}},
	"docker logs -t":  prefixed("stamped-lines", "", func(i int) string { return stamp(i, nano) + " " }),
	"epoch":           prefixed("stamped-lines", "", func(i int) string { return fmt.Sprintf("%d ", 1792584000+i) }),
	"epoch, ms":       prefixed("stamped-lines", "", func(i int) string { return fmt.Sprintf("%d ", 1792584000000+i) }),
	"epoch, part":     prefixed("stamped-lines", "", func(i int) string { return fmt.Sprintf("%d.%03d ", 1792584000+i, i) }),
	"timestamper":     prefixed("stamped-lines", "", func(i int) string { return "[" + stamp(i, "2006-01-02T15:04:05.000Z") + "] " }),
	"kubernetes":      prefixed("kubernetes-cri", "", func(i int) string { return stamp(i, nano) + " stdout F " }),
	"compose":         prefixed("compose-logs", "", func(int) string { return "web-1  | " }),
	"buildkit":        prefixed("buildkit", "#7 [2/3] RUN true", func(i int) string { return fmt.Sprintf("#7 %d.25 ", i) }),
	"kaniko":          prefixed("kaniko", "INFO[0000] Using dockerignore file: .dockerignore", func(int) string { return "" }),
	"below a pull":    prefixed("ctr", "ghcr.io/acme/cut:1:     resolved       |++++++++++++++++++++++++++++++++++++++|", func(int) string { return "" }),
	"dashboard":       prefixed("dashboard-lines", "", func(i int) string { return stamp(i, "Jan 2 03:04:05 PM") + "  " }),
	"below a command": prefixed("continued-command", "$ true \\\\\n  --so", func(int) string { return "" }),
	"below a table":   prefixed("buildkit-terminal", " => [internal] load .dockerignore          0.0s", func(int) string { return "" }),
	"gitlab":          prefixed("gitlab-trace", "", func(i int) string { return stamp(i, "2006-01-02T15:04:05.000000Z") + " 01O " }),
	"docker-build":    prefixed("docker-build", "STEP 2/3: RUN true", func(int) string { return "" }),
	"journal": fields("journald-json", func(i int, l string) map[string]any {
		return map[string]any{"__REALTIME_TIMESTAMP": fmt.Sprint(1792584000000000 + i), "_HOSTNAME": "prod-3", "SYSLOG_IDENTIFIER": "deploy", "MESSAGE": l}
	}),
	"docker-json": fields("docker-json", func(i int, l string) map[string]any {
		return map[string]any{"log": l + "\n", "stream": "stdout", "time": stamp(i, nano)}
	}),
	"docker-api": fields("docker-api", func(_ int, l string) map[string]any {
		return map[string]any{"stream": l + "\n"}
	}),
	"json-lines": {frame: "json-lines", only: []string{"pip", "poetry", "pdm", "npm", "conda", "apt"}, wrap: func(lines []string) []string {
		head := []string{`{"time":"2026-10-21T12:04:49Z","msg":"Transaction finished"}`, `{"time":"2026-10-21T12:04:50Z","msg":"Resolved 1 package in 3ms"}`}
		return append(head, fields("json-lines", func(_ int, l string) map[string]any { return map[string]any{"msg": l, "time": "2026-10-21T12:04:51Z"} }).wrap(lines)...)
	}},
	"log-answer": {frame: "log-answer", only: []string{"pip", "poetry", "npm", "apt"}, wrap: func(lines []string) []string {
		head := []string{"Transaction finished", "Resolved 1 package in 3ms"}
		return fields("log-answer", func(i int, l string) map[string]any {
			return map[string]any{"_index": "logs", "_source": map[string]any{"message": l, "@timestamp": stamp(i, time.RFC3339Nano)}}
		}).wrap(append(head, lines...))
	}},
	"cloudwatch": fields("cloudwatch-event", func(i int, l string) map[string]any {
		return map[string]any{"message": l, "timestamp": 1792584000000 + i, "ingestionTime": 1792584001000}
	}),
	"typescript": prefixed("typescript", `Script started on 2026-10-21 12:00:00+00:00 [TERM="xterm" TTY="/dev/pts/0" COLUMNS="80" LINES="24"]`, func(int) string { return "" }),
	"jenkins":    prefixed("jenkins", "Started by user deploy", func(int) string { return "" }),
	"jenkins, timestamper": prefixed("jenkins", "Started by user deploy\n[Pipeline] { (Branch: unit)",
		func(i int) string { return "[" + stamp(i, "2006-01-02T15:04:05.000Z") + "] [unit] " }),
	"codebuild":   prefixed("codebuild", "[Container] 2026/10/21 12:04:50.038105 Entering phase BUILD", func(int) string { return "" }),
	"cloud-build": prefixed("cloud-build", "", func(int) string { return `Step #1 - "deps": ` }),
	"line-prefix": {frame: "line-prefix", only: []string{"pip", "poetry", "pdm", "npm", "conda", "apt"}, wrap: prefixed("", "[12:04:49] :	 [Step 1/2] Digest: sha256:"+strings.Repeat("0d", 32)+"\n[12:04:50] :	 [Step 1/2] Resolved 1 package in 3ms",
		func(int) string { return "[12:04:51] :	 [Step 1/2] " }).wrap},
	"pasted":        prefixed("pasted", "    Transaction finished", func(int) string { return "    " }),
	"git-remote":    prefixed("git-remote", "", func(int) string { return "remote: " }),
	"shell-session": prefixed("shell-session", "dev@web1:~/app$ pip --version", func(int) string { return "" }),
	"pod-prefix":    prefixed("pod-prefix", "", func(int) string { return "[pod/api-7d9c/api] " }),
	"tekton":        prefixed("pod-prefix", "", func(int) string { return "[build : install-deps] " }),
	"klog":          prefixed("klog", "", func(i int) string { return "I" + stamp(i, "0102 15:04:05.000000") + "    1843 main.go:41] " }),
	"asciinema": {frame: "asciinema", wrap: func(lines []string) []string {
		out := []string{`{"version": 2, "width": 80, "height": 24, "timestamp": 1792584000}`}
		for i, l := range lines {
			half := len(l) / 2
			for half < len(l) && !utf8.RuneStart(l[half]) {
				half++
			}
			out = append(out, event(i, l[:half]), event(i, l[half:]+"\r\n"))
		}
		return out
	}},
	"circleci": fields("circleci-output", func(i int, l string) map[string]any {
		return map[string]any{"message": l + "\r\n", "time": stamp(i, nano), "type": "out"}
	}),
	"drone": fields("drone-log", func(i int, l string) map[string]any {
		return map[string]any{"pos": i, "out": l + "\n", "time": i}
	}),
	"woodpecker": fields("drone-log", func(i int, l string) map[string]any {
		return map[string]any{"line": i, "data": []byte(l), "time": i, "step_id": 7, "id": i + 1, "type": 0}
	}),
	"rawjson": {frame: "buildkit-rawjson+buildkit", wrap: func(lines []string) []string {
		const vertex = "sha256:9c1f5dbf5a9c6c7f1f7b5a1f43b1bd4d0b5d2f3b6a7e8d9c0b1a2f3e4d5c6b7a"
		out := []string{`{"vertexes":[{"digest":"` + vertex + `","name":"[2/3] RUN true","started":"2026-10-21T12:00:00Z"}]}`}
		return append(out, fields("", func(i int, l string) map[string]any {
			return map[string]any{"logs": []any{map[string]any{"vertex": vertex, "stream": 1, "data": []byte(l + "\n"), "timestamp": stamp(i, nano)}}}
		}).wrap(lines)...)
	}},
	"syslog-unix":      prefixed("syslog", "", func(i int) string { return fmt.Sprintf("%d.%06d prod-3 deploy[41]: ", 1792584000+i, i) }),
	"syslog-monotonic": prefixed("syslog", "", func(i int) string { return fmt.Sprintf("[%5d.%06d] prod-3 deploy[41]: ", i, i) }),
	"journal-verbose": {frame: "journald-verbose", wrap: func(lines []string) []string {
		var out []string
		for i, l := range lines {
			out = append(out, fmt.Sprintf("Wed 2026-10-21 12:00:00.%06d UTC [s=5ebb;i=1;b=2a9a;m=502032;t=%x;x=ff3f]", i, 1792584000000000+i),
				"    _HOSTNAME=prod-3", "    SYSLOG_IDENTIFIER=deploy", "    MESSAGE="+l, "    PRIORITY=6")
		}
		return out
	}},
	"journal-export": {frame: "journald-export", wrap: func(lines []string) []string {
		var out []string
		for i, l := range lines {
			out = append(out, fmt.Sprintf("__REALTIME_TIMESTAMP=%d", 1792584000000000+i), "_HOSTNAME=prod-3", "SYSLOG_IDENTIFIER=deploy")
			if i%2 == 0 || len(l) > 0x7f { // its length has to be text in every encoding
				out = append(out, "MESSAGE="+l, "")
				continue
			}
			size := binary.LittleEndian.AppendUint64(nil, uint64(len(l)))
			out = append(out, "MESSAGE", string(size)+l, "")
		}
		return out
	}},
	"kubernetes-parts": {frame: "kubernetes-cri", wrap: func(lines []string) []string {
		var out []string
		for i, l := range lines {
			half := len(l) / 2
			out = append(out, stamp(i, nano)+" stdout P "+l[:half], stamp(i, nano)+" stdout F "+l[half:])
		}
		return out
	}},
}

// nested are frames in frames, the outer one first.
var nested = [][2]string{
	{"syslog-5424", "kubernetes"},
	{"compose", "kubernetes"},
	{"journal", "docker-json"},
	{"cloudwatch", "docker-json"},
	{"github-job", "compose"},
	{"docker-json", "buildkit"},
	{"kubernetes", "syslog-3164"},
	{"github-job", "buildkit"},
	{"circleci", "buildkit"},
	{"jenkins", "timestamper"},
	{"pod-prefix", "docker logs -t"},
	{"journal-export", "klog"},
}

// sampleFile is one golden sample of a tool.
type sampleFile struct {
	tool, path, format string // format: as claimed
	opt                ingest.Options
	lines              []string
	want               []string
}

// TestComposition reads every golden sample of every tool inside every frame:
// the events must be the same, time and subject apart. A new row of the table
// takes part by itself; a new frame needs an entry in wrappings. Inside frames in
// frames it is every other sample, in the long form all.
func TestComposition(t *testing.T) {
	samples := toolSamples(t)
	all := nestedWrappings()
	for _, f := range ingest.Formats {
		if f.Shape == evidence.FrameShape && !hasWrapping(f.Name) {
			t.Errorf("frame %s has no entry in wrappings: add one, so that every tool is read inside it", f.Name)
		}
	}
	for name, w := range all {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compose(t, w, samples)
		})
	}
}

// nestedWrappings are the wrappings, and those in others.
func nestedWrappings() map[string]wrapping {
	all := maps.Clone(wrappings)
	for _, n := range nested {
		outer, inner := all[n[0]], all[n[1]]
		all[n[0]+" around "+n[1]] = wrapping{frame: outer.frame + "+" + inner.frame, wrap: func(lines []string) []string { return outer.wrap(inner.wrap(lines)) }}
	}
	return all
}

func hasWrapping(frame string) bool {
	for _, w := range wrappings {
		if strings.Split(w.frame, "+")[0] == frame {
			return true
		}
	}
	return false
}

// toolSamples reads the samples of all tools as they are.
func toolSamples(t *testing.T) []*sampleFile {
	t.Helper()
	var samples []*sampleFile
	for _, f := range ingest.Formats {
		if f.Shape != evidence.ToolShape {
			continue
		}
		goldens, err := filepath.Glob("../testdata/formats/" + f.Name + "/*.golden")
		if err != nil || len(goldens) == 0 {
			t.Fatalf("tool %s has no golden sample: %v", f.Name, err)
		}
		for _, golden := range goldens {
			header, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			path := strings.TrimSuffix(golden, ".golden")
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !utf8.Valid(data) {
				continue // a frame would not hold UTF-16
			}
			s := &sampleFile{tool: f.Name, path: path, lines: strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")}
			_, s.opt = flags(t, string(header))
			for i, l := range s.lines {
				s.lines[i] = strings.TrimRight(l, "\r")
			}
			if len(f.Fields) > 0 && !standAlone(s.lines) {
				continue
			}
			samples = append(samples, s)
		}
	}
	want := readEvents(t, samples, func(s *sampleFile) []string { return s.lines })
	proved := map[string]int{}
	for _, s := range samples {
		s.want = want[s]
		proved[s.tool] += len(s.want)
	}
	for tool, n := range proved {
		if n == 0 {
			t.Errorf("the samples of %s give no event: nothing is compared", tool)
		}
	}
	return samples
}

// standAlone reports whether each line is a record or text of its own; others
// are read by the records in them, which no frame holds.
func standAlone(lines []string) bool {
	return !slices.ContainsFunc(lines, func(l string) bool {
		l = strings.TrimSpace(l)
		return l == "" || strings.ContainsRune("{[}]\"", rune(l[0])) && !json.Valid([]byte(l))
	})
}

func compose(t *testing.T, w wrapping, samples []*sampleFile) {
	var fit []*sampleFile
	for i, s := range samples {
		if !soak() && strings.Contains(w.frame, "+") && (i+len(w.frame))%2 > 0 {
			continue
		}
		// No frame stands in itself.
		if !slices.Contains(strings.Split(w.frame, "+"), s.format) && (w.only == nil || slices.Contains(w.only, s.tool)) {
			fit = append(fit, s)
		}
	}
	got := readEvents(t, fit, func(s *sampleFile) []string { return w.wrap(s.lines) })
	for _, s := range fit {
		if !slices.Equal(got[s], s.want) {
			t.Errorf("%s in %s:\n%s", s.path, w.frame, diff(strings.Join(s.want, ""), strings.Join(got[s], "")))
		}
	}
}

// inference yields what the case says of inference engines. A frame adds clocks
// and may keep apart what lines alone run together, so settings count once.
func inference(t *testing.T, db *timeline.DB, yield func(path, text string)) {
	t.Helper()
	settings, err := db.Settings()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, x := range settings {
		text := fmt.Sprintf("setting %s %s", x.Name, x.Value)
		if !seen[x.Path+text] {
			seen[x.Path+text] = true
			yield(x.Path, text)
		}
	}
	err = db.Requests(-1, func(r *timeline.RequestRow) error {
		yield(r.Path, fmt.Sprintf("request %s %s %s %d %d %d failed=%t", r.Tenant, r.Model, r.ID, r.Prompt, r.Cached, r.Output, r.Failed))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// readEvents reads samples into one new case and returns what each event of a
// sample proves, sorted. The format that claims the plain lines is kept.
func readEvents(t *testing.T, samples []*sampleFile, lines func(*sampleFile) []string) map[*sampleFile][]string {
	t.Helper()
	dir := t.TempDir()
	db, err := timeline.Create(filepath.Join(dir, "case"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	byPath := map[string]*sampleFile{}
	alike := map[string][]string{} // paths by the flags of their read
	for i, s := range samples {
		path := filepath.Join(dir, fmt.Sprintf("%d.log", i))
		byPath[path] = s
		if err := os.WriteFile(path, []byte(strings.Join(lines(s), "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		alike[fmt.Sprint(s.opt)] = append(alike[fmt.Sprint(s.opt)], path)
	}
	for _, paths := range alike {
		r, err := ingest.Run(t.Context(), db, paths, byPath[paths[0]].opt)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Files {
			if s := byPath[f.Path]; s.format == "" {
				s.format = f.Format
			}
		}
	}
	events := map[*sampleFile][]string{}
	err = db.Timeline(timeline.Filter{}, func(f timeline.Fact) error {
		digests := make([]string, 0, len(f.Item.Digests))
		for _, d := range f.Item.Digests {
			digests = append(digests, d.Value+" "+string(d.Role))
		}
		slices.Sort(digests)
		s := byPath[f.Path]
		events[s] = append(events[s], fmt.Sprintf("%s %s ref=%s %v\n", f.Action, f.Item.Artifact, f.Item.Ref, digests))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	inference(t, db, func(path, text string) {
		s := byPath[path]
		events[s] = append(events[s], text+"\n")
	})
	for _, e := range events {
		slices.Sort(e)
	}
	return events
}
