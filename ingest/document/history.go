package document

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// History is what 'docker history' and 'podman history' print of an image, as
// a table or as JSON, and the answer of the Docker API.
// https://docs.docker.com/reference/cli/docker/image/history/
var History = evidence.Format{
	Name:   "docker-history",
	Shape:  evidence.DocumentShape,
	Title:  "docker or podman history of an image (table, JSON)",
	Proves: "which instructions made an image and, where times are printed, when each layer was made",
	Cannot: "what the layers hold; with ages (“8 days ago”) when; what a cut instruction asked for; without --no-trunc which image it is",
	Doc:    "https://docs.docker.com/reference/cli/docker/image/history/",
	Sample: "podman 4.3 run for this project; Docker's written by hand after the documentation",
	Claim:  claimHistory,
	Read:   readHistoryOf,
}

// claimHistory wants the head of the table, or a record of a layer.
//
//	IMAGE          CREATED        CREATED BY                                      SIZE      COMMENT
//	ID            CREATED      CREATED BY  SIZE        COMMENT
//	{"Comment":"","CreatedAt":"2026-10-21T12:59:00Z","CreatedBy":"RUN …","CreatedSince":"8 days ago","ID":"<missing>","Size":"0B"}
func claimHistory(h *evidence.Head) bool {
	line, _, _ := bytes.Cut(h.Bytes[:min(len(h.Bytes), 400)], []byte("\n"))
	if _, ok := historyColumns(line); ok {
		return true
	}
	v, ok := headRecord(h)
	return ok && v.has("CreatedBy") && (v.has("Comment") || v.has("comment") || v.has("size") || v.has("CreatedSince"))
}

// layerMade is one row of a history: the newest comes first.
type layerMade struct {
	id, by  string
	created timeline.Span
	tags    []string
	cut     bool
	mark    func() // makes the row the current line
}

func readHistoryOf(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	line, _, _ := bytes.Cut(d.Data, []byte("\n"))
	if cols, ok := historyColumns(line); ok {
		historyOf(o, historyTable(d, o, cols), false)
		return nil
	}
	all, err := records(d)
	rows := make([]layerMade, 0, len(all))
	podman := false
	for _, v := range all {
		podman = podman || v.has("id")
		rows = append(rows, historyRecord(d, o, v))
	}
	if len(rows) == 0 && err == nil {
		err = errors.New("a history without layers")
	}
	historyOf(o, rows, podman)
	return err
}

// historyOf records the rows. The first one's ID is that of the image; a short
// one is no digest, but the instructions are still not what a host ran.
func historyOf(o *evidence.Out, rows []layerMade, podman bool) {
	if len(rows) == 0 {
		return
	}
	var who timeline.Subject
	top := rows[0]
	if id := timeline.SHA256(top.id); id != "" {
		who = timeline.Subject{Kind: timeline.Image, ID: id}
		role := timeline.NoRole
		if podman {
			role = timeline.Config
		}
		top.mark()
		item := timeline.Item{Digests: []timeline.Digest{{Value: id, Role: role}}}
		for _, tag := range top.tags {
			if name := timeline.NormalizeImage(tag); name != "" {
				item.Artifact = name
				o.Link(timeline.Names, name, id)
			}
		}
		o.Event(timeline.Event{Action: timeline.Present, Subject: presentOn(o, who), Items: []timeline.Item{item}})
	} else if o.Claim.Kind != timeline.Image && isImageID(top.id) {
		who = timeline.Subject{Kind: timeline.Image, ID: top.id}
	}
	about(o, who, func() {
		below := timeline.Beginning
		for i := len(rows) - 1; i >= 0; i-- {
			r := rows[i]
			r.created, below = sinceBelow(r.created, below)
			r.mark()
			askedBy(o, r.by, r.created, r.cut)
		}
	})
}

// presentOn is whose store an image was seen in: whom --subject named, else the
// image itself.
func presentOn(o *evidence.Out, image timeline.Subject) timeline.Subject {
	if o.Claim.IsZero() {
		return image
	}
	return o.Claim
}

// historyRecord reads a layer of the JSON forms: Docker's template, podman's
// list, the Docker API.
func historyRecord(d *evidence.Doc, o *evidence.Out, v value) layerMade {
	r := layerMade{by: v.get("CreatedBy").text(), mark: func() { at(d, o, v.get("CreatedBy")) }}
	for _, key := range []string{"ID", "id", "Id"} {
		if id := v.get(key).text(); id != "" {
			r.id = id
		}
	}
	r.tags = append(v.get("Tags").texts(), v.get("tags").texts()...)
	for _, key := range []string{"CreatedAt", "created", "Created"} {
		c := v.get(key)
		if text := c.text(); text != "" {
			r.created = evidence.ISOStamp([]byte(text), &o.Times)
		} else if seconds, err := strconv.ParseInt(string(bytes.TrimSpace(c.doc[c.off:c.end])), 10, 64); err == nil && seconds > 0 && seconds < 1<<33 {
			text := time.Unix(seconds, 0).UTC().Format(time.RFC3339)
			r.created = evidence.ISOStamp([]byte(text), &o.Times)
		}
		if r.created.Clock == timeline.Exact {
			break
		}
	}
	if r.created == (timeline.Span{}) {
		r.created = timeline.Always()
	}
	r.cut = isCut(r.by, r.id)
	return r
}

// historyHead is where the columns of the table start, in runes.
type historyHead struct{ created, by, size int }

func historyColumns(head []byte) (c historyHead, ok bool) {
	if !bytes.HasPrefix(head, []byte("IMAGE ")) && !bytes.HasPrefix(head, []byte("ID ")) {
		return c, false
	}
	c.created, c.by = bytes.Index(head, []byte("CREATED  ")), bytes.Index(head, []byte("CREATED BY "))
	if c.created < 0 || c.by < c.created {
		return c, false
	}
	c.size = c.by + bytes.Index(head[c.by:], []byte(" SIZE")) + 1
	return c, c.size > c.by
}

// historyTable reads the rows of a table.
//
//	3e23a5875458   8 days ago     RUN /bin/sh -c pip install litellm # buildkit   244MB     buildkit.dockerfile.v0
//	<missing>      8 days ago     /bin/sh -c #(nop)  CMD ["python3"]              0B
func historyTable(d *evidence.Doc, o *evidence.Out, c historyHead) []layerMade {
	var rows []layerMade
	_, _, end := d.LineBounds(0)
	for end < len(d.Data) {
		start := end + 1 + bytes.IndexByte(d.Data[end:], '\n')
		if start <= end || start >= len(d.Data) {
			break
		}
		off := start
		_, _, end = d.LineBounds(off)
		row := []rune(string(d.Data[off:end]))
		if len(row) == 0 {
			continue
		}
		if len(row) < c.by || row[0] == ' ' {
			onLine(d, o, off)
			o.Skip("a row of a history without image or instruction")
			continue
		}
		r := layerMade{id: column(row, 0, c.created), by: column(row, c.by, c.size), mark: func() { onLine(d, o, off) }}
		created := column(row, c.created, c.by)
		if r.created = evidence.ISOStamp([]byte(created), &o.Times); r.created.Clock == timeline.Unset {
			r.created = timeline.Span{From: timeline.Beginning, To: timeline.Forever, Clock: timeline.Unset, Written: created}
		}
		r.cut = isCut(r.by, r.id)
		rows = append(rows, r)
	}
	return rows
}

func column(row []rune, from, to int) string {
	return strings.TrimSpace(string(row[min(from, len(row)):min(to, len(row))]))
}

// isCut reports whether an instruction was shortened: to 45 characters, by old
// versions without a mark.
func isCut(by, id string) bool {
	return strings.HasSuffix(by, "…") || strings.HasSuffix(by, "...") ||
		timeline.SHA256(id) == "" && len([]rune(by)) == 45 && !strings.HasSuffix(by, "# buildkit")
}
