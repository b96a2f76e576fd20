package frame

import (
	"bytes"
	"slices"

	"pulltrail/ingest/evidence"
)

// Continued is a command behind a prompt that goes on in the next lines: a shell
// shows it as it was typed.
// https://www.gnu.org/software/bash/manual/html_node/Escape-Character.html
var Continued = evidence.Format{
	Name:   "continued-command",
	Shape:  evidence.FrameShape,
	Title:  "Commands typed over several lines",
	Proves: "nothing by itself: the lines are one command",
	Cannot: "what the command did",
	Doc:    "https://www.gnu.org/software/bash/manual/html_node/Escape-Character.html",
	Sample: "written by hand after bash",
	First:  "$",
	Looks: func(text []byte) bool {
		return len(text) > 3 && text[1] == ' ' && text[len(text)-1] == '\\'
	},
	New: func() evidence.Peeler { return &continuedCommands{open: map[*evidence.Stream]*half{}} },
}

// continuedCommands is the reading of one source.
type continuedCommands struct {
	open  map[*evidence.Stream]*half
	order []*evidence.Stream // that a command was typed in
}

// half is a command that is not over.
type half struct {
	line evidence.Line // the first
	text []byte
	more int
}

// maxContinued bounds the lines of a command, and the streams that are kept apart.
const maxContinued = 64

// Peel joins the lines of a command, and has them read as one that stands where
// it began:
//
//	$ docker run -d \
//	>   --name gateway \
//	    ghcr.io/acme/gateway:1.4
func (c *continuedCommands) Peel(l *evidence.Line, s *evidence.Stream, o *evidence.Out) *evidence.Stream {
	h := c.open[s]
	text := bytes.TrimRight(l.Text, " \r")
	if h != nil && bytes.HasPrefix(text, []byte("$ ")) {
		c.read(s, o) // the backslash was the end of a word
		h = nil
	}
	if h == nil {
		if !bytes.HasPrefix(text, []byte("$ ")) || !bytes.HasSuffix(text, []byte(`\`)) || len(c.order) >= maxContinued {
			return nil
		}
		h = &half{line: *l}
		h.line.Stamp.Text = bytes.Clone(l.Stamp.Text)
		if !slices.Contains(c.order, s) {
			c.order = append(c.order, s)
		}
		c.open[s] = h
	} else {
		text = bytes.TrimLeft(bytes.TrimPrefix(bytes.TrimLeft(text, " \t"), []byte("> ")), " \t")
	}
	half, goes := bytes.CutSuffix(text, []byte(`\`))
	h.text = append(append(h.text, half...), ' ')
	if h.more++; goes && h.more < maxContinued {
		o.AskNext(s)
		return s
	}
	c.read(s, o)
	return s
}

// read has a command read.
func (c *continuedCommands) read(s *evidence.Stream, o *evidence.Out) {
	h := c.open[s]
	delete(c.open, s)
	h.line.Text = bytes.TrimRight(h.text, " ")
	o.Feed(&h.line, s)
}

// End reads the commands of which the source shows only the beginning.
func (c *continuedCommands) End(o *evidence.Out) {
	for _, s := range c.order {
		if c.open[s] != nil {
			c.read(s, o)
		}
	}
	c.order = nil
}
