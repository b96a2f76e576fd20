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
	Title:  "docker ps, docker images, crictl, ctr images and docker compose ps among other output",
	Proves: "which containers were started from which image names, which image names are in the store",
	Cannot: "when: the tables have ages, no times; the digest of an image, as a rule: its ID is cut",
	Doc:    "https://docs.docker.com/reference/cli/docker/container/ls/",
	Sample: "written by hand after the documentation",
	Starts: []string{"CONTAINER ID ", "CONTAINER  ", "REPOSITORY  ", "IMAGE  ", "REF  ", "NAME  ", "NAMES  "},
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
var (
	diskTitles    = []string{"IMAGE", "ID", "DISK USAGE", "CONTENT SIZE", "EXTRA"}
	usedTitles    = []string{"CONTAINER", "REPOSITORY", "TAG", "PLATFORM", "IMAGE ID", "SIZE", "CREATED"}
	ctrTitles     = []string{"REF", "TYPE", "DIGEST", "SIZE", "PLATFORMS", "LABELS"}
	composeTitles = []string{"NAME", "IMAGE", "COMMAND", "SERVICE", "CREATED", "STATUS", "PORTS"}
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
