package tool

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Dependabot is what an update job of Dependabot prints: the updater, and the
// proxy through which it fetches.
// https://docs.github.com/en/code-security/dependabot/troubleshooting-dependabot/viewing-dependabot-job-logs
var Dependabot = evidence.Format{
	Name:   "dependabot",
	Shape:  evidence.ToolShape,
	Title:  "Dependabot update jobs",
	Proves: "which versions it chose, the package files that came through its proxy, commands of package managers, images it pulled",
	Cannot: "what its helpers asked for without a line: a job may have fetched more than it names",
	Doc:    "https://docs.github.com/en/code-security/dependabot/troubleshooting-dependabot/viewing-dependabot-job-logs",
	Sample: "written by hand after logs of public runs",
	Starts: []string{"updater | ", "proxy | ", "20", "Pulled image "},
	Looks: func(text []byte) bool {
		return text[0] != '2' || len(text) > 22 && text[4] == '/' && (text[20] == '[' || bytes.Contains(text[20:min(len(text), 40)], []byte(" <job_")))
	},
	Tool: func() evidence.Parser { return &dependabot{} },
}

// dependabot holds the type of packages that the job updates, "" until a line
// tells it, and the requests of its proxy that are only look-ups.
type dependabot struct {
	job     string // number of the update job
	kind    string
	chosen  []chosenUpdate
	lookups map[string]bool
}

// chosenUpdate is a version whose type no line has told yet.
type chosenUpdate struct {
	name, version string
	mark          evidence.Mark
	span          timeline.Span
}

// maxUpdates bounds what a job that names no type keeps.
const maxUpdates = 1024

// updaterImages are the types of packages by the name of the updater's image,
// and by what the job's definition calls them.
var updaterImages = map[string]string{
	"npm": "npm", "npm_and_yarn": "npm", "bun": "npm", "pip": "pypi", "uv": "pypi", "python": "pypi", "bundler": "gem",
	"cargo": "cargo", "composer": "composer", "gomod": "golang", "go_modules": "golang",
}

// updaterPrograms are the types of packages by the program that the updater runs.
var updaterPrograms = map[string]string{
	"npm": "npm", "yarn": "npm", "pnpm": "npm", "bun": "npm", "pip": "pypi", "pip-compile": "pypi", "poetry": "pypi", "pipenv": "pypi", "uv": "pypi",
	"bundle": "gem", "cargo": "cargo", "composer": "composer", "go": "golang",
}

// updaterLine is the beginning of a line of the updater, as the job prints it or
// as a page shows it:
//
//	updater | 2025/08/11 18:33:10 INFO <job_1073187935> Starting job processing
//	2025/08/11 18:33:10 INFO <job_1073187935> Total execution time: 0.0 seconds
//	updater | INFO <job_486670590> Latest version is 1.2.0
var updaterLine = regexp.MustCompile(`^(?:updater \| )?(?:\d{4}/\d\d/\d\d \d\d:\d\d:\d\d )?[A-Z]+ <job_([\w.-]+)> `)

// proxyLine is a line of the proxy:
//
//	proxy | 2022/10/19 05:58:43 [032] GET https://registry.npmjs.tld:443/@fast-check%2Fjest/1.2.0
//	proxy | 2022/10/19 05:58:43 [032] 200 https://registry.npmjs.tld:443/@fast-check%2Fjest/1.2.0
var proxyLine = regexp.MustCompile(`^(?:proxy \| )?\d{4}/\d\d/\d\d \d\d:\d\d:\d\d \[(\d+)\] ([A-Z]+|\d{3}) (https?://\S+)$`)

// Line reads one line.
func (d *dependabot) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := string(bytes.TrimSpace(l.Text))
	if image, ok := strings.CutPrefix(text, "Pulled image "); ok {
		return d.image(image, o)
	}
	if m := proxyLine.FindStringSubmatch(text); m != nil {
		d.request(m[1], m[2], m[3], d.span(l, text, o), o)
		return evidence.Done
	}
	head := updaterLine.FindStringSubmatch(text)
	if head == nil {
		return evidence.Miss
	}
	o.Seen("")
	span := d.span(l, text, o)
	if d.job != head[1] { // what its helpers fetch no line tells
		d.job = head[1]
		o.Event(timeline.Event{Action: timeline.Opaque, Span: span, Items: []timeline.Item{{Artifact: timeline.Anything}}})
	}
	d.says(text[len(head[0]):], span, o)
	return evidence.Done
}

// span is the time of a line: that of its frame, else its own, of which nothing
// says the zone.
func (d *dependabot) span(l *evidence.Line, text string, o *evidence.Out) timeline.Span {
	if i := strings.Index(text[:min(len(text), 12)], "20"); l.Stamp.Read == nil && i >= 0 && len(text) > i+20 && text[i+4] == '/' && text[i+7] == '/' {
		iso := []byte(text[i : i+19])
		iso[4], iso[7] = '-', '-'
		return evidence.ISOStamp(iso, &o.Times)
	}
	return o.Mark().Span()
}

// says reads what the updater says:
//
//	Job definition: {"job":{…,"package-manager":"npm_and_yarn",…}}
//	Updating chalk from 5.6.0 to 5.6.1
//	Started process PID: 2185 with command: {} npm install oas@27.0.1 --force --dry-run false --ignore-scripts --package-lock-only {}
func (d *dependabot) says(message string, span timeline.Span, o *evidence.Out) {
	switch {
	case strings.HasPrefix(message, "Job definition: "):
		if _, after, ok := strings.Cut(message, `"package-manager":"`); ok {
			name, _, _ := strings.Cut(after, `"`)
			d.updates(updaterImages[name], o)
		}
	case strings.HasPrefix(message, "Updating "):
		d.updating(strings.TrimPrefix(message, "Updating "), span, o)
	case strings.HasPrefix(message, "Started process PID: "):
		if _, command, ok := strings.Cut(message, " with command: {"); ok {
			_, command, _ = strings.Cut(command, "} ")
			if i := strings.LastIndex(command, " {"); i > 0 {
				command = command[:i]
			}
			program, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(command, "corepack "), "pyenv exec "), " ")
			d.updates(updaterPrograms[program], o)
			o.Ran(timeline.Subject{}, evidence.Stamp{}, []byte(command))
		}
	}
}

// updating reads "chalk from 5.6.0 to 5.6.1".
func (d *dependabot) updating(what string, span timeline.Span, o *evidence.Out) {
	name, versions, ok := strings.Cut(what, " from ")
	i := strings.LastIndex(versions, " to ")
	if !ok || i < 0 || strings.ContainsAny(name, " \t") || strings.ContainsAny(versions[i+4:], " \t,") || !evidence.IsVersion(versions[i+4:]) && !evidence.IsSemver(versions[i+4:]) {
		return
	}
	if len(d.chosen) < maxUpdates {
		d.chosen = append(d.chosen, chosenUpdate{name, versions[i+4:], o.Mark(), span})
	}
	d.updates(d.kind, o)
}

// updates notes the type of packages, and records the versions that were chosen
// of it.
func (d *dependabot) updates(kind string, o *evidence.Out) {
	if kind == "" {
		return
	}
	d.kind = kind
	o.Seen(timeline.Topic(kind))
	for _, c := range d.chosen {
		if kind == "npm" && !evidence.IsNPMName(c.name) || kind == "pypi" && !evidence.IsDistName(c.name) {
			continue
		}
		namespace, name := "", c.name
		if i := strings.LastIndexByte(c.name, '/'); i > 0 && kind != "npm" {
			namespace, name = c.name[:i], c.name[i+1:]
		}
		o.At(c.mark, timeline.Event{Action: timeline.Resolve, Span: c.span, Items: []timeline.Item{{Artifact: timeline.PURL(kind, namespace, name, c.version)}}})
	}
	d.chosen = nil
}

// request reads one line of the proxy: what was asked, or what came.
func (d *dependabot) request(number, what, address string, span timeline.Span, o *evidence.Out) {
	o.Seen("")
	u, err := url.Parse(address)
	if err != nil {
		return
	}
	if what[0] > '9' {
		if what != "GET" && len(d.lookups) < maxUpdates {
			if d.lookups == nil {
				d.lookups = map[string]bool{}
			}
			d.lookups[number] = true
		} else if what == "GET" {
			delete(d.lookups, number)
		}
		return
	}
	item, kind := packagePath(u.EscapedPath())
	if what != "200" || kind != wholeFile {
		return
	}
	action := timeline.Download
	if d.lookups[number] {
		action = timeline.Check
	}
	if d.kind == "" {
		d.updates(timeline.Split(item.Artifact).Type, o)
	}
	o.Event(timeline.Event{Action: action, Span: span, Items: []timeline.Item{item}})
}

// image reads an image that came for the job; that of the updater tells the type
// of packages:
//
//	Pulled image ghcr.io/dependabot/dependabot-updater-npm:c557bd79ea8c42822834017211f640815947eaed@sha256:3754…
func (d *dependabot) image(text string, o *evidence.Out) evidence.Result {
	image := timeline.NormalizeImage(text)
	if image == "" || !strings.Contains(text, "/") || strings.ContainsAny(text, " \t") {
		return evidence.Miss
	}
	o.Seen(timeline.Images)
	o.Emit(timeline.Pull, nil, timeline.Item{Artifact: image})
	if _, name, ok := strings.Cut(text, "dependabot-updater-"); ok {
		name, _, _ = strings.Cut(name, ":")
		name, _, _ = strings.Cut(name, "@")
		d.updates(updaterImages[name], o)
	}
	return evidence.Done
}

// End forgets the versions of which no line told the type: the job is opaque.
func (d *dependabot) End(timeline.OpState, *evidence.Out) { *d = dependabot{} }
