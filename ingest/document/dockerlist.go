package document

import (
	"bytes"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// DockerList is what 'docker ps' and 'docker images' print, and podman's,
// nerdctl's and crictl's: tables, or one JSON object for each row, and the Docker
// API's list of containers.
// https://docs.docker.com/reference/cli/docker/container/ls/
var DockerList = evidence.Format{
	Name:   "docker-list",
	Shape:  evidence.DocumentShape,
	Title:  "docker ps, docker images (tables and JSON), crictl ps, crictl images",
	Proves: "which containers were started from which image names, which image names are in the store",
	Cannot: "when: the tables have ages, no times; the digest of an image, as a rule: its ID is cut",
	Doc:    "https://docs.docker.com/reference/cli/docker/container/ls/",
	Sample: "podman 4.3 run for this project; Docker's written by hand after the documentation",
	Claim:  claimDockerList,
	Read:   readDockerList,
}

// column titles of the tables, in their order; crictl has its own.
// https://github.com/kubernetes-sigs/cri-tools/blob/master/docs/crictl.md
var (
	psTitles    = []string{"CONTAINER ID", "IMAGE", "COMMAND", "CREATED", "STATUS", "PORTS", "NAMES"}
	imageTitles = []string{"REPOSITORY", "TAG", "DIGEST", "IMAGE ID", "CREATED", "SIZE"}
	criPSTitles = []string{"CONTAINER", "IMAGE", "CREATED", "STATE", "NAME", "ATTEMPT", "POD ID", "POD", "NAMESPACE"}
	criTitles   = []string{"IMAGE", "TAG", "DIGEST", "IMAGE ID", "SIZE"}
)

// claimDockerList wants the header of a table, or the fields of a row.
//
//	CONTAINER ID   IMAGE                 COMMAND     CREATED      STATUS      PORTS     NAMES
//	REPOSITORY                                   TAG         IMAGE ID      CREATED      SIZE
//	{"Command":"\"gateway\"","CreatedAt":"2026-10-21 12:04:50 +0000 UTC","ID":"9f2c11aa03bd","Image":"ghcr.io/acme/gw:1.4", …
func claimDockerList(h *evidence.Head) bool {
	if v, ok := headRecord(h); ok {
		return isContainerRow(v) || isImageRow(v)
	}
	first, _, _ := bytes.Cut(h.Bytes, []byte("\n"))
	return titlesOf(string(first)) != nil
}

// titlesOf tells a table by its header, nil when it is none of them.
//
//	CONTAINER           IMAGE               CREATED             STATE               NAME                ATTEMPT             POD ID
//	IMAGE                                  TAG                 IMAGE ID            SIZE
func titlesOf(header string) []string {
	switch {
	case isPSHeader(header):
		return psTitles
	case isImagesHeader(header):
		return imageTitles
	case strings.HasPrefix(header, "CONTAINER  ") && strings.Contains(header, " STATE ") && strings.Contains(header, " POD ID"):
		return criPSTitles
	case strings.HasPrefix(header, "IMAGE  ") && strings.Contains(header, " TAG ") && strings.Contains(header, " IMAGE ID "):
		return criTitles
	}
	return nil
}

func isPSHeader(text string) bool {
	return strings.HasPrefix(text, "CONTAINER ID  ") && strings.Contains(text, " IMAGE ") && strings.Contains(text, " STATUS ")
}

func isImagesHeader(text string) bool {
	return strings.HasPrefix(text, "REPOSITORY  ") && strings.Contains(text, " TAG ") && strings.Contains(text, " IMAGE ID ")
}

func isContainerRow(v value) bool {
	return rowID(v) != "" && v.get("Image").text() != "" && v.has("Command") && v.has("Status") && v.has("Names") && v.get("State").kind() != '{'
}

func isImageRow(v value) bool {
	return v.get("Repository").text() != "" && v.has("Tag") && v.has("ID") && v.has("CreatedSince")
}

// rowID returns the first twelve digits of a container's ID, "" for none.
func rowID(v value) string {
	id := v.get("Id").text()
	if id == "" {
		id = v.get("ID").text()
	}
	return shortID(id)
}

func shortID(id string) string {
	if len(id) < 12 || !isImageID(id[:12]) {
		return ""
	}
	return id[:12]
}

func readDockerList(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	if k := (value{d.Data, 0, len(d.Data)}).kind(); k == '{' || k == '[' {
		all, err := records(d)
		for _, v := range all {
			readListRow(d, o, v)
		}
		return err
	}
	lines := logicalLines(d)
	var titles []string
	var starts []int
	for i, line := range lines {
		text := line.text
		if i == 0 {
			titles = titlesOf(text)
			starts = columnStarts(text, titles)
			continue
		}
		if text == "" {
			continue
		}
		cell := func(title string) string { return cellOf(text, titles, starts, title) }
		onLine(d, o, line.off)
		if titles == nil {
			o.Skip("a row without the header of a table")
			continue
		}
		switch &titles[0] {
		case &psTitles[0]:
			listedContainer(o, shortID(cell("CONTAINER ID")), cell("IMAGE"), "", cell("STATUS"), timeline.Span{})
		case &criPSTitles[0]:
			status := map[string]string{"Running": "Up", "Exited": "Exited ("}[cell("STATE")]
			listedContainer(o, shortID(cell("CONTAINER")), cell("IMAGE"), "", status, timeline.Span{})
		default:
			listedImage(o, cell("REPOSITORY")+cell("IMAGE"), cell("TAG"), cell("DIGEST"), cell("IMAGE ID"))
		}
	}
	return nil
}

// columnStarts finds where each title stands in the header, -1 for those that
// are missing.
func columnStarts(header string, titles []string) []int {
	starts := make([]int, len(titles))
	from := 0
	for i, title := range titles {
		starts[i] = -1
		if at := strings.Index(header[from:], title); at >= 0 {
			starts[i] = from + at
			from += at + len(title)
		}
	}
	return starts
}

// cellOf cuts the cell below a title out of a row. Columns are aligned by
// characters: a cut command ends in "…". Where somebody changed a row, and its
// cells stand below others, they are counted.
func cellOf(text string, titles []string, starts []int, title string) string {
	row := []rune(text)
	if !aligned(row, starts) {
		return countedCell(text, titles, starts, title)
	}
	for i, t := range titles {
		if t != title || starts[i] < 0 || starts[i] >= len(row) {
			continue
		}
		end := len(row)
		for _, next := range starts[i+1:] {
			if next >= 0 {
				end = min(end, next)
				break
			}
		}
		return strings.TrimSpace(string(row[starts[i]:end]))
	}
	return ""
}

// aligned reports whether no cell of a row reaches into the next column.
func aligned(row []rune, starts []int) bool {
	for _, start := range starts {
		if start > 0 && start < len(row) && row[start-1] != ' ' {
			return false
		}
	}
	return true
}

// countedCell is the cell of a title by its number; behind the status cells may
// be missing.
func countedCell(text string, titles []string, starts []int, title string) string {
	cells := gaps.Split(strings.TrimSpace(text), -1)
	n := 0
	for i, t := range titles {
		if starts[i] < 0 {
			continue
		}
		if t == title && n < len(cells) {
			return cells[n]
		}
		if n++; t == "STATUS" || t == "PORTS" {
			break
		}
	}
	return ""
}

func readListRow(d *evidence.Doc, o *evidence.Out, v value) {
	switch {
	case isContainerRow(v):
		at(d, o, v.get("Image"))
		status := v.get("Status").text()
		if state := v.get("State").text(); status == "" {
			status = map[string]string{"running": "Up", "exited": "Exited"}[state] // podman
		}
		listedContainer(o, rowID(v), v.get("Image").text(), v.get("ImageID").text(), status, epochOf(v.get("StartedAt")))
	case isImageRow(v):
		at(d, o, v.get("Repository"))
		listedImage(o, v.get("Repository").text(), v.get("Tag").text(), v.get("Digest").text(), v.get("ID").text())
	default:
		at(d, o, v)
		o.Skip("no row of a container or an image")
	}
}

// epochOf reads seconds since 1970; zero when there are none.
func epochOf(v value) timeline.Span {
	text := string(bytes.TrimSpace(v.doc[v.off:v.end]))
	n := int64(0)
	for _, c := range []byte(text) {
		if c < '0' || c > '9' || n > 1<<40 {
			return timeline.Span{}
		}
		n = n*10 + int64(c-'0')
	}
	if n == 0 {
		return timeline.Span{}
	}
	return evidence.Epoch(n, time.Second, text)
}

// listedContainer records a row of a list of containers. One that is up or has
// ended was started; ages are no clock.
func listedContainer(o *evidence.Out, id, image, imageID, status string, started timeline.Span) {
	if id == "" {
		o.Skip("a row without container ID")
		return
	}
	who := timeline.Subject{Kind: timeline.Container, ID: id}
	if o.Claim.Kind == timeline.Host {
		who.ID = o.Claim.ID + "/" + id
		o.Link(timeline.On, who.String(), o.Claim.String())
	}
	item := timeline.Item{Artifact: imageName(image, imageID)}
	if item.Artifact == "" {
		item.Ref = shortID(strings.TrimPrefix(image, "sha256:")) // what it was started from
	}
	if digest := timeline.Split(item.Artifact).Digest; digest != "" {
		item.Digests = append(item.Digests, timeline.Digest{Value: digest})
	}
	if digest := timeline.SHA256(imageID); digest != "" && strings.HasPrefix(imageID, "sha256:") {
		item.Digests = append(item.Digests, timeline.Digest{Value: digest})
	}
	if item.Artifact == "" && item.Ref == "" && len(item.Digests) == 0 {
		o.Skip("a row whose image is none")
		return
	}
	e := timeline.Event{Action: timeline.Present, Items: []timeline.Item{item}}
	if strings.HasPrefix(status, "Up") || strings.HasPrefix(status, "Exited (") {
		e.Action, e.Span = timeline.Run, started
	}
	about(o, who, func() { o.Event(e) })
}

// listedImage records a row of a list of images.
func listedImage(o *evidence.Out, repository, tag, digest, id string) {
	if shortID(strings.TrimPrefix(id, "sha256:")) == "" {
		o.Skip("a row without image ID")
		return
	}
	name := repository
	if tag != "" && tag != "<none>" {
		name += ":" + tag
	}
	var item timeline.Item
	if ref, ok := timeline.ParseImage(name); ok && repository != "<none>" && (tag != "<none>" || timeline.SHA256(digest) != "") {
		if tag == "<none>" {
			ref.Tag, ref.Digest = "", timeline.SHA256(digest)
		}
		item.Artifact = ref.String()
	}
	for _, text := range []string{digest, id} {
		if value := timeline.SHA256(text); value != "" && strings.HasPrefix(text, "sha256:") && !hasDigest(item.Digests, value) {
			item.Digests = append(item.Digests, timeline.Digest{Value: value})
		}
	}
	items := []timeline.Item{item}
	if len(item.Digests) == 0 { // its ID is cut: it tells which image it may be, and not which it is
		cut := timeline.Item{Ref: shortID(strings.TrimPrefix(id, "sha256:"))}
		if items = append(items, cut); item.Artifact == "" {
			items = items[1:]
		}
	}
	o.Emit(timeline.Present, nil, items...)
	if item.Artifact != "" && tag != "<none>" {
		for _, dg := range item.Digests {
			o.Link(timeline.Names, item.Artifact, dg.Value)
		}
	}
}
