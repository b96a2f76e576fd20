package tool

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Curl is what curl -v prints of a request, and the progress that curl -f
// prints below its command.
// https://curl.se/docs/manpage.html
var Curl = evidence.Format{
	Name:     "curl",
	Shape:    evidence.ToolShape,
	Title:    "curl -v output, and curl's progress behind its command",
	Proves:   "files of packages that came over",
	Cannot:   "what came without -v and without -f: an error page has progress too; what was done with the file",
	Doc:      "https://curl.se/docs/manpage.html",
	Sample:   "curl 7.88 run for this project",
	Starts:   []string{"> GET ", "> HEAD ", "< HTTP/", "* Closing ", "* Connection #", "* transfer closed", "* Recv failure", "* Operation timed out", "curl: (", "100 ", "+ curl ", "$ curl "},
	Commands: true,
	Tool:     func() evidence.Parser { return &curl{} },
}

type curl struct {
	item   timeline.Item // that the request names
	head   bool
	status int
	mark   evidence.Mark

	named []timeline.Item // that the last command names, in order; only with -f
}

// Line reads one line.
//
//	> GET /packages/litellm-1.107.0-py3-none-any.whl HTTP/1.1
//	< HTTP/1.1 200 OK
//	* Connection #0 to host mirror.acme.example left intact
//	+ curl -fLO https://mirror.acme.example/packages/litellm-1.107.0-py3-none-any.whl
//	100  292k  100  292k    0     0   144M      0 --:--:-- --:--:-- --:--:--  286M
func (c *curl) Line(l *evidence.Line, o *evidence.Out) evidence.Result {
	if l.Echo && !bytes.Contains(l.Text, []byte("curl")) {
		return evidence.Miss
	}
	text := string(bytes.TrimSpace(l.Text))
	if l.Echo || strings.HasPrefix(text, "+ curl ") || strings.HasPrefix(text, "$ curl ") {
		c.command(strings.TrimLeft(text, "+$ "))
		return evidence.Miss
	}
	w := strings.Fields(text)
	switch {
	case w[0] == ">" && len(w) == 4 && strings.HasPrefix(w[3], "HTTP/"):
		c.settle(o)
		path, _, _ := strings.Cut(w[2], "?")
		item, kind := packagePath(path)
		*c = curl{head: w[1] == "HEAD", named: c.named}
		if kind == wholeFile {
			c.item = item
		}
		return evidence.Done
	case w[0] == "<" && len(w) > 2 || w[0] == "<" && len(w) == 2 && strings.HasPrefix(w[1], "HTTP/2"):
		if c.item.Artifact != "" && len(w) > 2 {
			c.status, _ = status([]byte(w[2]))
			c.mark = o.Mark()
		}
		return evidence.Done
	case w[0] == "curl:":
		c.status, c.named = 0, nil
		return evidence.Miss
	case w[0] == "*" && (w[1] == "Closing" || strings.HasSuffix(text, " left intact")):
		c.settle(o)
		return evidence.Done
	case w[0] == "*":
		c.status = 0 // it broke off
		return evidence.Done
	}
	return c.progress(w, o)
}

// command notes what a command names. Only with -f an answer that is an error
// is not taken for the file.
func (c *curl) command(line string) {
	commands, _, _ := shellCommands(line)
	for _, cmd := range commands {
		name, args := unwrap(cmd.words)
		if name != "curl" {
			continue
		}
		c.named = nil
		f, plain := splitFlags(args, wordSet("-o --output -d -H -X -u -A -e -b -m --retry --max-time --connect-timeout --header --request --user --output-dir"))
		fails := f.has("--fail", "--fail-with-body", "-f")
		for _, a := range args {
			fails = fails || len(a) > 1 && a[0] == '-' && a[1] != '-' && strings.Contains(a, "f") && strings.Trim(a[1:], "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ#") == ""
		}
		for _, a := range plain {
			_, rest, ok := strings.Cut(a, "://")
			_, path, _ := strings.Cut(rest, "/")
			path, _, _ = strings.Cut(path, "?")
			if item, kind := packagePath("/" + path); ok && fails && kind == wholeFile {
				c.named = append(c.named, item)
			}
		}
		if len(c.named) != len(plain) {
			c.named = nil // which progress is whose is not known
		}
	}
}

// progress reads the last row of the progress of a file.
func (c *curl) progress(w []string, o *evidence.Out) evidence.Result {
	if len(w) != 12 || w[0] != "100" || w[2] != "100" || w[1] != w[3] || !strings.Contains(w[8], ":") || w[1] == "0" {
		return evidence.Miss
	}
	if c.status != 0 {
		c.settle(o)
		return evidence.Done
	}
	if len(c.named) == 0 {
		return evidence.Miss
	}
	o.Emit(timeline.Download, nil, c.named[0])
	c.named = c.named[1:]
	return evidence.Done
}

// settle makes the event of a request that was answered.
func (c *curl) settle(o *evidence.Out) {
	if c.item.Artifact != "" && c.status == 200 {
		action := timeline.Download
		if c.head {
			action = timeline.Check
		}
		o.At(c.mark, timeline.Event{Action: action, Items: []timeline.Item{c.item}})
		if len(c.named) > 0 && c.named[0].Artifact == c.item.Artifact {
			c.named = c.named[1:]
		}
	}
	c.item, c.status = timeline.Item{}, 0
}

// End forgets a request whose end is not seen.
func (c *curl) End(timeline.OpState, *evidence.Out) { *c = curl{} }
