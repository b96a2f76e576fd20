package document

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Dockerfile is how an image is built: a Dockerfile or Containerfile.
// https://docs.docker.com/reference/dockerfile/
var Dockerfile = evidence.Format{
	Name:   "dockerfile",
	Shape:  evidence.DocumentShape,
	Title:  "Dockerfile, Containerfile",
	Proves: "which images it builds on and copies from, which packages its commands ask for",
	Cannot: "that anything was built from it, when, and which versions an open range got",
	Doc:    "https://docs.docker.com/reference/dockerfile/",
	Sample: "written by hand after the documentation",
	Claim:  claimDockerfile,
	Read:   readDockerfile,
}

// claimDockerfile wants the usual name, and an instruction to begin with.
func claimDockerfile(h *evidence.Head) bool {
	name := strings.ToLower(path.Base(h.Name))
	if !strings.Contains(name, "dockerfile") && !strings.Contains(name, "containerfile") {
		return false
	}
	for line := range bytes.Lines(h.Bytes) {
		word, _, _ := strings.Cut(strings.ToUpper(strings.TrimSpace(string(line))), " ")
		switch {
		case word == "FROM" || word == "ARG":
			return true
		case word != "" && word[0] != '#':
			return false
		}
	}
	return false
}

// buildFile is a Dockerfile as it is read.
type buildFile struct {
	args   map[string]string // ARG with a default
	stages map[string]bool
}

// readDockerfile reads one instruction for each logical line:
//
//	ARG BASE=ghcr.io/berriai/litellm
//	FROM ${BASE}:main-stable AS gateway
//	RUN --mount=type=cache,target=/home/app/.cache pip install 'litellm>=1.100'
//	COPY --from=docker.io/acme/tools:3 /usr/bin/x /usr/bin/x
func readDockerfile(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	b := buildFile{args: map[string]string{}, stages: map[string]bool{}}
	here := ""
	for _, line := range instructions(d) {
		switch {
		case here != "":
			if line.text == here {
				here = ""
			} else {
				onLine(d, o, line.off)
				b.asks(line.text, o)
			}
		default:
			onLine(d, o, line.off)
			here = b.instruction(line.text, o)
		}
	}
	return nil
}

// instructions joins the lines that end in a backslash. Empty lines and comments
// between them count for nothing.
// https://docs.docker.com/reference/dockerfile/#format
func instructions(d *evidence.Doc) []logicalLine {
	var all []logicalLine
	open, off := false, 0
	for raw := range bytes.Lines(d.Data) {
		at := off
		off += len(raw)
		text := strings.TrimSpace(strings.ToValidUTF8(string(raw), ""))
		if text == "" || text[0] == '#' {
			continue
		}
		text, more := strings.CutSuffix(text, `\`)
		if open {
			all[len(all)-1].text += " " + strings.TrimSpace(text)
		} else {
			all = append(all, logicalLine{at, strings.TrimSpace(text)})
		}
		open = more
	}
	return all
}

// hereWord is the end of the here-document that an instruction begins:
// "RUN <<EOF".
var hereWord = regexp.MustCompile(`^(?:RUN|COPY)\s.*<<-?["']?(\w+)["']?`)

func (b *buildFile) instruction(text string, o *evidence.Out) (here string) {
	verb, rest, _ := strings.Cut(text, " ")
	words := strings.Fields(rest)
	for len(words) > 0 && strings.HasPrefix(words[0], "--") {
		if from, ok := strings.CutPrefix(words[0], "--from="); ok {
			b.image(from, o)
		}
		words = words[1:]
	}
	switch strings.ToUpper(verb) {
	case "ARG":
		for _, w := range words {
			if name, val, ok := strings.Cut(w, "="); ok {
				b.args[name] = strings.Trim(val, `"'`)
			}
		}
	case "FROM":
		if len(words) > 0 {
			b.image(words[0], o)
		}
		if len(words) == 3 && strings.EqualFold(words[1], "as") {
			b.stages[strings.ToLower(words[2])] = true
		}
	case "RUN":
		if m := hereWord.FindStringSubmatch("RUN " + rest); m != nil {
			return m[1]
		}
		b.asks(strings.Join(words, " "), o)
	case "ENV":
		for _, w := range words {
			if name, val, ok := strings.Cut(w, "="); ok && holdsSecret(name, val) {
				o.Hold(name)
			}
		}
	}
	return ""
}

// variable is ${NAME}, ${NAME:-default} or $NAME.
var variable = regexp.MustCompile(`\$(?:\{(\w+)(?::-([^}]*))?\}|(\w+))`)

// image records an image that is built on or copied from, with the defaults of
// its variables: what a build was given instead, nobody wrote down here.
func (b *buildFile) image(ref string, o *evidence.Out) {
	open := false
	resolved := variable.ReplaceAllStringFunc(strings.Trim(ref, `"'`), func(v string) string {
		m := variable.FindStringSubmatch(v)
		if val, ok := b.args[m[1]+m[3]]; ok {
			return val
		}
		open = open || m[2] == ""
		return m[2]
	})
	if open || resolved == "scratch" || b.stages[strings.ToLower(resolved)] || strings.Trim(resolved, "0123456789") == "" {
		return
	}
	if item, ok := imageItem(resolved); ok {
		item.Ref = ref
		o.Emit(timeline.Require, nil, item)
	}
}

// asks records what a command asks for.
func (b *buildFile) asks(command string, o *evidence.Out) {
	if items := slices.DeleteFunc(o.Asks(command), nameless); len(items) > 0 {
		o.Emit(timeline.Require, nil, items...)
	}
}

// nameless reports whether an item is only an ecosystem: a file that may ask for
// anything says nothing of one package.
func nameless(it timeline.Item) bool { return timeline.Split(it.Artifact).Name == "" }
