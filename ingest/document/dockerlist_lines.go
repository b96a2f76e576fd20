package document

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// DockerListed is the same tables as DockerList where other output stands around
// them: a terminal, a job's log.
// https://docs.docker.com/reference/cli/docker/container/ls/
var DockerListed = evidence.Format{
	Name:   "docker-listed",
	Shape:  evidence.ToolShape,
	Title:  "docker ps, docker images, crictl, ctr images, docker compose ps, docker service ps and ls, kubectl get -o wide among other output",
	Proves: "which containers were started from which image names, which image names are in the store; which images services and workloads ask for, and on which node a service's task runs",
	Cannot: "when: the tables have ages, no times; the digest of an image, as a rule: its ID is cut",
	Doc:    "https://docs.docker.com/reference/cli/docker/container/ls/",
	Sample: "written by hand after the documentation",
	Starts: []string{"CONTAINER ID ", "CONTAINER  ", "REPOSITORY  ", "IMAGE  ", "REF  ", "NAME  ", "NAMES  ", "ID  ", "NAMESPACE  "},
	Looks:  func(text []byte) bool { return listedTitles(string(text)) != nil },
	Tool:   func() evidence.Parser { return &dockerListed{} },
}

// The tables that DockerList does not claim, for other programs print such
// heads too.
//
//	REF                           TYPE                                         DIGEST                     SIZE    PLATFORMS   LABELS
//	NAME              IMAGE          COMMAND                  SERVICE   CREATED         STATUS         PORTS
//	CONTAINER           REPOSITORY          TAG                 IMAGE ID            SIZE                      docker compose images
//	IMAGE                      ID             DISK USAGE   CONTENT SIZE   EXTRA                               docker images of 29
//	ID             NAME         IMAGE         NODE      DESIRED STATE   CURRENT STATE         ERROR     PORTS docker service ps
//	ID             NAME      MODE         REPLICAS   IMAGE               PORTS                                docker service ls
//	NAME      READY   UP-TO-DATE   AVAILABLE   AGE   CONTAINERS   IMAGES       SELECTOR                       kubectl get deployments -o wide
var (
	diskTitles    = []string{"IMAGE", "ID", "DISK USAGE", "CONTENT SIZE", "EXTRA"}
	usedTitles    = []string{"CONTAINER", "REPOSITORY", "TAG", "PLATFORM", "IMAGE ID", "SIZE", "CREATED"}
	ctrTitles     = []string{"REF", "TYPE", "DIGEST", "SIZE", "PLATFORMS", "LABELS"}
	composeTitles = []string{"NAME", "IMAGE", "COMMAND", "SERVICE", "CREATED", "STATUS", "PORTS"}
	taskTitles    = []string{"ID", "NAME", "IMAGE", "NODE", "DESIRED STATE", "CURRENT STATE", "ERROR", "PORTS"}
	serviceTitles = []string{"ID", "NAME", "MODE", "REPLICAS", "IMAGE", "PORTS"}
	wideTitles    = []string{"CONTAINERS", "IMAGES", "SELECTOR"}
)

func listedTitles(header string) []string {
	if titles := titlesOf(header); titles != nil {
		return titles
	}
	words := strings.Join(strings.Fields(header), " ")
	switch {
	case strings.HasPrefix(words, "REF TYPE DIGEST SIZE"):
		return ctrTitles
	case strings.HasPrefix(words, "NAME IMAGE COMMAND SERVICE"):
		return composeTitles
	case strings.HasPrefix(words, "CONTAINER REPOSITORY TAG "):
		return usedTitles
	case strings.HasPrefix(words, "IMAGE ID DISK USAGE"):
		return diskTitles
	case strings.HasPrefix(words, "ID NAME IMAGE NODE DESIRED STATE CURRENT STATE"):
		return taskTitles
	case strings.HasPrefix(words, "ID NAME MODE REPLICAS IMAGE"):
		return serviceTitles
	case strings.Contains(words, " AGE CONTAINERS IMAGES SELECTOR"), strings.HasSuffix(words, " AGE CONTAINERS IMAGES"), strings.Contains(words, " COMPLETIONS DURATION AGE CONTAINERS IMAGES"):
		return wideTitles
	}
	return chosenTitles(header)
}

// chosenTitles are the columns of a table that somebody chose with --format,
// nil unless it says which container was started from which image:
//
//	NAMES     IMAGE       STATUS
func chosenTitles(header string) (titles []string) {
	has := map[string]bool{}
	for _, title := range gaps.Split(strings.TrimSpace(header), -1) {
		if !slices.Contains(psTitles, title) {
			return nil
		}
		has[title] = true
		titles = append(titles, title)
	}
	if !has["IMAGE"] || !has["STATUS"] || !has["CONTAINER ID"] && !has["NAMES"] {
		return nil
	}
	return titles
}

// gaps are what stands between the columns of a table.
var gaps = regexp.MustCompile(`\s{2,}`)

type dockerListed struct {
	titles []string
	starts []int
}

// Line reads the head of a table and its rows. The first line that is no row
// ends it.
func (d *dockerListed) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	text := string(bytes.TrimRight(l.Text, " \t"))
	if titles := listedTitles(strings.TrimLeft(text, " ")); titles != nil {
		d.titles, d.starts = titles, columnStarts(text, titles)
		o.Seen("")
		return evidence.More
	}
	if d.titles == nil || !d.row(text, o) {
		d.titles = nil
		return evidence.Miss
	}
	return evidence.More
}

// imageID is the ID of an image in a table.
var imageID = regexp.MustCompile(`^(?:sha256:)?[0-9a-f]{12,64}$`)

// row reads a row; it reports whether it is one.
func (d *dockerListed) row(text string, o *evidence.Out) bool {
	cell := func(title string) string { return cellOf(text, d.titles, d.starts, title) }
	switch &d.titles[0] {
	case &psTitles[0]:
		return listedRow(o, cell("CONTAINER ID"), cell("IMAGE"), cell("STATUS"))
	case &criPSTitles[0]:
		status := map[string]string{"Running": "Up", "Exited": "Exited ("}[cell("STATE")]
		return listedRow(o, cell("CONTAINER"), cell("IMAGE"), status)
	case &ctrTitles[0]:
		ref, rest, _ := strings.Cut(text, " ")
		_, digest, found := strings.Cut(rest, "+json ")
		digest = timeline.SHA256(firstCell(digest))
		if image := timeline.NormalizeImage(ref); found && digest != "" && image != "" {
			o.Emit(timeline.Present, nil, timeline.Item{Artifact: image, Digests: []timeline.Digest{{Value: digest}}})
		}
		return found && digest != ""
	case &composeTitles[0]:
		return composeRow(o, cell("NAME"), cell("IMAGE"), cell("STATUS"))
	case &diskTitles[0]: // name:tag in one
		image := timeline.NormalizeImage(cell("IMAGE"))
		if !imageID.MatchString(cell("ID")) {
			return false
		}
		if image != "" { // else <none> or <untagged>
			o.Emit(timeline.Present, nil, timeline.Item{Artifact: image})
		}
		return true
	case &taskTitles[0]:
		return serviceTask(o, strings.TrimPrefix(cell("IMAGE"), "\\_ "), cell("NODE"), cell("CURRENT STATE"))
	case &serviceTitles[0], &wideTitles[0]:
		return askedFor(o, cell("IMAGE")+cell("IMAGES"))
	case &imageTitles[0], &criTitles[0], &usedTitles[0]:
	default:
		if slices.Contains(d.titles, "CONTAINER ID") {
			return listedRow(o, cell("CONTAINER ID"), cell("IMAGE"), cell("STATUS"))
		}
		return composeRow(o, cell("NAMES"), cell("IMAGE"), cell("STATUS"))
	}
	id := cell("IMAGE ID")
	if !imageID.MatchString(id) {
		return false
	}
	listedImage(o, cell("REPOSITORY")+cell("IMAGE"), cell("TAG"), cell("DIGEST"), id)
	return true
}

// taskState is what a task is at, with an age: "Running 3 hours ago".
var taskState = regexp.MustCompile(`^[A-Z][a-z]+ (?:about |less than )?[a-z0-9]+ `)

// serviceTask reads a task of a service: one that runs, or has run to its end, was
// started on its node.
//
//	x7h1z2k3m4n5   web.1        nginx:1.25    node-1    Running         Running 3 hours ago
//	abc1z2k3m4n5    \_ web.1   nginx:1.24    node-1    Shutdown        Shutdown 3 hours ago
func serviceTask(o *evidence.Out, image, node, state string) bool {
	name := timeline.NormalizeImage(image)
	if name == "" || !taskState.MatchString(state) || strings.ContainsAny(node, " \t/") {
		return false
	}
	item, _ := imageItem(image)
	e := timeline.Event{Action: timeline.Require, Items: []timeline.Item{item}}
	if node != "" {
		e.Subject = timeline.Subject{Kind: timeline.Host, ID: node}
	}
	if strings.HasPrefix(state, "Running ") || strings.HasPrefix(state, "Complete ") {
		e.Action = timeline.Run
	}
	o.Event(e)
	return true
}

// askedFor records the images, apart by commas, that a service or workload asks for.
func askedFor(o *evidence.Out, images string) bool {
	var all []timeline.Item
	for image := range strings.SplitSeq(images, ",") {
		name := timeline.NormalizeImage(image)
		if name == "" {
			return false
		}
		all = append(all, timeline.Item{Artifact: name, Ref: image})
	}
	o.Emit(timeline.Require, nil, all...)
	return true
}

func firstCell(text string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return word
}

func listedRow(o *evidence.Out, id, image, status string) bool {
	if id = shortID(id); id == "" || image == "" || strings.ContainsAny(image, " \t") {
		return false
	}
	listedContainer(o, id, image, "", status, timeline.Span{})
	return true
}

// composeRow reads a row without an ID, as docker compose ps has them.
func composeRow(o *evidence.Out, name, image, status string) bool {
	ref := timeline.NormalizeImage(image)
	if name == "" || image == "" || ref == "" || strings.ContainsAny(name+image, " \t") {
		return false
	}
	e := timeline.Event{Action: timeline.Present, Items: []timeline.Item{{Artifact: ref}}}
	if strings.HasPrefix(status, "Up") || strings.HasPrefix(status, "Exited (") {
		e.Action = timeline.Run
	}
	o.Event(e)
	return true
}

// End ends a step.
func (d *dockerListed) End(timeline.OpState, *evidence.Out) { d.titles = nil }
