package frame

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// CTR is the progress that containerd's clients draw while they pull: a block
// of rows, drawn again and again. ctr 1 and nerdctl end each with the time that
// went by, ctr 2 with the image's name.
//
// A block in which everything is there proves that the image came over, or was
// in place when nothing had to be fetched. A last block in which something is
// missing proves what was resolved, unless ctr unpacked the image after it.
//
// https://github.com/containerd/containerd/blob/main/cmd/ctr/commands/content/fetch.go
// https://github.com/containerd/nerdctl/blob/main/docs/command-reference.md#whale-nerdctl-pull
var CTR = evidence.Format{
	Name:   "ctr",
	Shape:  evidence.FrameShape,
	Title:  "ctr and nerdctl pull, ctr import",
	Proves: "images that were pulled, were in place or were imported, with digests of index, manifest and config",
	Cannot: "times; what nerdctl pushed: no row has the name",
	Doc:    "https://github.com/containerd/nerdctl/blob/main/docs/command-reference.md",
	Sample: "written by hand after the sources",
	First:  "abcdefghijklmnopqrstuvwxyz0123456789P\xe2",
	Looks:  looksFetched,
	New:    func() evidence.Peeler { return &ctr{pulls: map[*evidence.Stream]*ctrPull{}} },
}

// looksFetched knows rows of a block by their first word, which ends with a
// colon, and the lines around it by their beginnings.
func looksFetched(text []byte) bool {
	if len(text) < 4 {
		return false
	}
	switch text[0] {
	case 'P':
		return bytes.HasPrefix(text, []byte("Pulling from OCI Registry ("))
	case 0xe2:
		head := text[:min(len(text), 40)]
		return bytes.Contains(head, []byte("─manifest (")) || bytes.Contains(head, []byte("─layer (")) || bytes.Contains(head, []byte("─config ("))
	case 'u':
		if bytes.HasPrefix(text, []byte("unpacking ")) {
			return true
		}
	case 'd':
		if bytes.HasPrefix(text, []byte("done")) {
			return true
		}
	case 'a':
		if bytes.HasPrefix(text, []byte("application/vnd.")) {
			return true
		}
	}
	if n := bytes.IndexByte(text, ' '); n > 0 && text[n-1] == ':' {
		return bytes.Contains(text[:n], []byte("sha256:")) || bytes.HasPrefix(bytes.TrimLeft(text[n:], " "), []byte("resolved")) || bytes.HasPrefix(text, []byte("elapsed: "))
	}
	return bytes.Contains(text[max(0, len(text)-10):], []byte("saved"))
}

// ctr is the reading of one source.
type ctr struct {
	pulls map[*evidence.Stream]*ctrPull
	order []*evidence.Stream
}

// ctrPull is the block that was drawn last in a stream.
type ctrPull struct {
	image     string
	digests   []timeline.Digest
	open      int  // rows that are not done
	fetched   bool // some row came over
	saved     bool // ctr 2: the image has its name
	complete  bool // when the block ended
	ended     bool
	unpacking bool
	mark      evidence.Mark // of the line that proves most
}

// maxRowDigests bounds the digests that are kept of a block.
const maxRowDigests = 8

// Peel reads a line:
//
//	docker.io/library/alpine:3.20:                                                    resolved       |++++++++++++++++++++++++++++++++++++++|
//	index-sha256:1ab2…:    done           |++++++++++++++++++++++++++++++++++++++|
//	elapsed: 8.0 s                                                                    total:  2.7 Mi (345.5 KiB/s)
//	unpacking linux/amd64 sha256:1ab2…...
//	done: 149.29893ms
//	unpacking docker.io/acme/api:1.4 (sha256:1bdc…)...done
//	docker.io/acme/container base:latest          saved
//	└──manifest (45395e734a93)                      complete        |++++++++++++++++++++++++++++++++++++++|
//	application/vnd.oci.image.manifest.v1+json sha256:4539…
//	Pulling from OCI Registry (docker.io/acme/container-base:latest)      elapsed: 3.7 s  total:  463.0   (123.0 B/s)
func (c *ctr) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	words := strings.Fields(string(l.Text))
	if len(words) == 0 {
		return nil
	}
	p := c.pulls[s]
	switch first := words[0]; {
	case len(words) > 1 && words[1] == "resolved" && strings.HasSuffix(first, ":"):
		image := timeline.NormalizeImage(strings.TrimSuffix(first, ":"))
		if image == "" || !strings.Contains(first, "/") {
			return nil
		}
		c.begin(s, image, o)
	case first == "unpacking" && len(words) == 3 && strings.HasPrefix(words[2], "(sha256:"):
		return imported(words, s, o)
	case len(words) > 1 && words[len(words)-1] == "saved":
		c.begin(s, "", o).saved = true
	case first == "Pulling" && strings.HasPrefix(string(l.Text), "Pulling from OCI Registry ("):
		ref, _, _ := strings.Cut(words[4][1:], ")")
		if p == nil || p.image != "" || timeline.NormalizeImage(ref) == "" {
			return nil
		}
		p.image, p.complete, p.ended, p.mark = timeline.NormalizeImage(ref), p.saved, true, o.Mark()
	case p == nil:
		return nil
	case !p.row(first, words, o):
		return nil
	}
	return s
}

// begin starts a block. The one before was drawn for the same image, or is over.
func (c *ctr) begin(s *evidence.Stream, image string, o *evidence.Out) *ctrPull {
	p := c.pulls[s]
	if p == nil {
		if len(c.order) >= maxSteps {
			c.End(o)
		}
		c.order = append(c.order, s)
		p = &ctrPull{}
	}
	if p.image != image || p.unpacking {
		p.finish(s, o)
	}
	*p = ctrPull{image: image, mark: o.Mark()}
	c.pulls[s] = p
	return p
}

// row reads a row of the block, or a line below it.
func (p *ctrPull) row(first string, words []string, o *evidence.Out) bool {
	kind, sha, isRow := strings.Cut(strings.TrimSuffix(first, ":"), "-sha256:")
	switch {
	case isRow && len(words) > 1 && !p.ended:
		p.content(kind, timeline.SHA256(sha), words[1])
	case strings.HasPrefix(first, "└") || strings.HasPrefix(first, "├") || strings.HasPrefix(first, "│"):
		p.fetched = p.fetched || strings.Contains(strings.Join(words, " "), ") complete")
	case strings.HasPrefix(first, "application/vnd.") && len(words) == 2 && p.saved:
		p.content("index", timeline.SHA256(words[1]), "")
		if !strings.Contains(first, "index") && !strings.Contains(first, "list") && len(p.digests) > 0 {
			p.digests[0].Role = timeline.Manifest
		}
	case first == "elapsed:" && p.image != "" && !p.ended:
		p.ended, p.complete, p.mark = true, p.open == 0 && len(p.digests) > 0 && p.digests[len(p.digests)-1].Role != timeline.Index, o.Mark()
	case first == "unpacking" && len(words) == 3 && p.ended:
		p.unpacking = true
	case (first == "done" || first == "done:") && p.unpacking:
		p.complete, p.mark = true, o.Mark()
	default:
		return false
	}
	return true
}

// content notes a row: what it is of, and how far it is.
func (p *ctrPull) content(kind, sha, state string) {
	roles := map[string]timeline.Role{"index": timeline.Index, "manifest": timeline.Manifest, "config": timeline.Config}
	if role, ok := roles[kind]; ok && sha != "" && len(p.digests) < maxRowDigests {
		p.digests = append(p.digests, timeline.Digest{Value: sha, Role: role})
	}
	switch state {
	case "exists":
	case "done":
		p.fetched = true
	default:
		p.open++
	}
}

// finish records what the last block proves.
func (p *ctrPull) finish(s *evidence.Stream, o *evidence.Out) {
	if p == nil || p.image == "" || len(p.digests) == 0 {
		return
	}
	item := timeline.Item{Artifact: p.image, Digests: p.digests}
	actions := []timeline.Action{timeline.Resolve}
	if p.complete && p.fetched {
		actions = []timeline.Action{timeline.Pull}
	} else if p.complete {
		actions = []timeline.Action{timeline.Check, timeline.Present}
	}
	op := commandNaming(p.image, s)
	if op == nil {
		op = o.NewOp("ctr", "")
	}
	before := o.Stream()
	o.Enter(s)
	o.Seen(timeline.Images)
	for _, a := range actions {
		o.At(p.mark, timeline.Event{Action: a, Op: op.Number, Items: []timeline.Item{item}})
	}
	o.Enter(before)
	if p.complete {
		op.Answer()
		o.Close(op, timeline.OpDone)
	}
}

// imported reads what ctr says of an archive's image.
func imported(words []string, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	image := timeline.NormalizeImage(words[1])
	sha, rest, _ := strings.Cut(words[2][1:], ")")
	digest := timeline.SHA256(sha)
	if image == "" || digest == "" || !strings.HasSuffix(rest, "...done") {
		return nil
	}
	o.Seen(timeline.Images)
	o.Emit(timeline.Present, nil, timeline.Item{Artifact: image, Digests: []timeline.Digest{{Value: digest}}})
	return s
}

// commandNaming returns the operation of a command that was shown and names the
// image, nil when there is none.
func commandNaming(image string, s *evidence.Stream) *evidence.Op {
	commands := s.Commands()
	for i := len(commands) - 1; i >= 0; i-- {
		for word := range strings.FieldsSeq(commands[i].Command) {
			if timeline.NormalizeImage(strings.Trim(word, `"'`)) == image {
				return commands[i]
			}
		}
	}
	return nil
}

// End records the blocks that the source ended with.
func (c *ctr) End(o *evidence.Out) {
	for _, s := range c.order {
		c.pulls[s].finish(s, o)
	}
	clear(c.pulls)
	c.order = nil
}
