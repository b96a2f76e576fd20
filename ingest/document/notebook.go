package document

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Notebook is a Jupyter notebook: its cells' commands, and what they printed.
// https://nbformat.readthedocs.io/en/latest/format_description.html
var Notebook = evidence.Format{
	Name:   "notebook",
	Shape:  evidence.DocumentShape,
	Title:  "Jupyter notebook (.ipynb)",
	Proves: "what the commands in cells printed, as it was when the notebook was saved; when a cell ran, if the notebook records it",
	Cannot: "when a cell ran, mostly; on which host; what was printed by a run that was not saved",
	Doc:    "https://nbformat.readthedocs.io/en/latest/format_description.html",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		v, ok := headRecord(h)
		return ok && (v.get("cells").kind() == '[' || v.get("nbformat").kind() != 0 && v.get("metadata").kind() == '{') && bytes.Contains(h.Bytes, []byte(`"cell_type"`))
	},
	Read: readNotebook,
}

func readNotebook(d *evidence.Doc, o *evidence.Out) error {
	all, err := documents(d)
	for _, v := range all {
		if v.get("nbformat").kind() == 0 && err == nil {
			at(d, o, v)
			o.Skip("a notebook without its version (nbformat)")
		}
		o.Seen("")
		for cell := range v.get("cells").elements() {
			notebookCell(d, o, cell)
		}
	}
	return err
}

// notebookCell reads one cell. Its lines with "!" or "%" are commands:
//
//	{"cell_type":"code","metadata":{"execution":{"iopub.execute_input":"2026-10-21T12:04:51.118Z"}},
//	"source":["!pip install litellm"],"outputs":[{"name":"stdout","output_type":"stream","text":["Collecting litellm\n","Successfully installed litellm-1.107.0\n"]}]}
func notebookCell(d *evidence.Doc, o *evidence.Out, cell value) {
	if cell.get("cell_type").text() != "code" {
		return
	}
	stream := o.Stream()
	stream.Step(o)
	var stamp evidence.Stamp
	if ran := cell.get("metadata", "execution"); ran.get("iopub.execute_input").text() != "" {
		stamp = evidence.Stamp{Text: []byte(ran.get("iopub.execute_input").text() + " " + ran.get("shell.execute_reply").text()), Read: cellSpan}
	}
	feed := func(text string, v value, echo bool) {
		no, start, _ := d.LineBounds(v.off)
		o.Feed(&evidence.Line{Text: []byte(text), No: no, Off: int64(start), Stamp: stamp, Echo: echo}, stream)
	}
	script := false // %%bash: the whole cell is a script
	notebookLines(cell.get("source"), func(text string, v value) {
		text = strings.TrimRight(text, "\r")
		if strings.HasPrefix(text, "%%") {
			script = strings.HasPrefix(text, "%%bash") || strings.HasPrefix(text, "%%sh") || strings.HasPrefix(text, "%%script ")
		}
		command := strings.TrimLeft(text, " \t")
		switch {
		case script && !strings.HasPrefix(text, "%%"):
			feed(text, v, true)
		case strings.HasPrefix(command, "!"), strings.HasPrefix(command, "%pip "), strings.HasPrefix(command, "%conda "), strings.HasPrefix(command, "%uv "):
			feed(strings.TrimLeft(command, "!%"), v, true)
		}
	})
	for out := range cell.get("outputs").elements() {
		text := out.get("text")
		if text.kind() == 0 {
			text = out.get("data", "text/plain")
		}
		notebookLines(text, func(text string, v value) {
			feed(string(evidence.StripEscapes([]byte(text))), v, false)
		})
	}
	stream.Step(o)
}

// cellSpan reads when a cell began and when it was done.
func cellSpan(text []byte, t *evidence.Times) timeline.Span {
	began, done, _ := bytes.Cut(text, []byte(" "))
	s := evidence.ISOStamp(began, t)
	if s.Clock != timeline.Exact {
		return s
	}
	s.Clock, s.To = timeline.Section, timeline.Forever
	if e := evidence.ISOStamp(done, t); e.Clock == timeline.Exact && e.To >= s.From {
		s.To = e.To
	}
	return s
}

// notebookLines reads a text that is one string, or one for each line or piece
// of it.
func notebookLines(v value, line func(text string, v value)) {
	if v.kind() == '"' {
		for text := range strings.SplitSeq(strings.TrimSuffix(v.text(), "\n"), "\n") {
			line(text, v)
		}
		return
	}
	open := ""
	var last value
	for e := range v.elements() {
		text := open + e.text()
		open, last = "", e
		rest, ended := strings.CutSuffix(text, "\n")
		lines := strings.Split(rest, "\n")
		if !ended {
			open = lines[len(lines)-1]
			lines = lines[:len(lines)-1]
		}
		for _, l := range lines {
			line(l, e)
		}
	}
	if open != "" {
		line(open, last)
	}
}
