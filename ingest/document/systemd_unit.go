package document

import (
	"bytes"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// SystemdUnit is a unit as its file has it, or as 'systemctl cat' prints it.
// https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html
var SystemdUnit = evidence.Format{
	Name:   "systemd-unit",
	Shape:  evidence.DocumentShape,
	Title:  "systemd unit",
	Proves: "names of secrets in the environment and among the credentials of a service; where traces are sent; images and packages that its commands ask for",
	Cannot: "that it was started; what is in the files of variables that it names; on which host it lies: say it with --subject",
	Doc:    "https://www.freedesktop.org/software/systemd/man/latest/systemd.exec.html#Environment",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		return bytes.Contains(h.Bytes, []byte("[Service]\n")) && (bytes.HasPrefix(h.Bytes, []byte("[")) || bytes.HasPrefix(h.Bytes, []byte("#")) || bytes.Contains(h.Bytes, []byte("\n[Unit]\n"))) ||
			bytes.HasPrefix(h.Bytes, []byte("[Service]\r\n"))
	},
	Read: readSystemdUnit,
}

// readSystemdUnit reads a setting a line; a backslash goes on on the next:
//
//	Environment="DATABASE_URL=postgres://…" LOG_LEVEL=info
//	PassEnvironment=OPENAI_API_KEY
//	LoadCredential=litellm-master-key:/etc/litellm/master.key
//	ExecStart=/usr/bin/docker run --rm -p 4000:4000 ghcr.io/berriai/litellm:main-stable
func readSystemdUnit(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	off, from, logical := 0, 0, ""
	for raw := range strings.Lines(string(d.Data)) {
		line := strings.TrimSpace(raw)
		if logical == "" {
			from = off
		}
		off += len(raw)
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		if rest, ok := strings.CutSuffix(line, `\`); ok {
			logical += rest + " "
			continue
		}
		systemdSetting(d, o, from, logical+line)
		logical = ""
	}
	if logical != "" {
		systemdSetting(d, o, from, logical)
	}
	return nil
}

func systemdSetting(d *evidence.Doc, o *evidence.Out, off int, line string) {
	key, val, _ := strings.Cut(line, "=")
	no, start, _ := d.LineBounds(off)
	hold := func(name string) {
		o.SetLine(no, int64(start), []byte(strings.TrimSpace(key)+"="+name))
		o.Hold(name)
	}
	sends := func(name, val string) {
		o.SetLine(no, int64(start), []byte(strings.TrimSpace(key)+"="+name))
		o.TraceExporter(name, val, timeline.Span{})
	}
	switch strings.TrimSpace(key) {
	case "Environment":
		for _, word := range unitWords(val) {
			if name, v, ok := strings.Cut(word, "="); ok {
				if holdsSecret(name, v) {
					hold(name)
				}
				sends(name, v)
			}
		}
	case "PassEnvironment":
		for _, name := range unitWords(val) {
			if holdsSecret(name, "") {
				hold(name)
			}
			sends(name, "")
		}
	case "ExecStart", "ExecStartPre", "ExecStartPost", "ExecReload":
		if asks := slices.DeleteFunc(o.Asks(strings.TrimLeft(strings.TrimSpace(val), "-+!@:|")), nameless); len(asks) > 0 {
			o.SetLine(no, int64(start), []byte(line))
			o.Emit(timeline.Require, nil, asks...)
		}
	case "LoadCredential", "LoadCredentialEncrypted", "SetCredential", "SetCredentialEncrypted":
		if name, _, _ := strings.Cut(strings.TrimSpace(val), ":"); name != "" {
			hold(name)
		}
	}
}

// unitWords takes a setting apart as systemd does: blanks part words, quotes
// hold them together.
func unitWords(text string) []string {
	var words []string
	var word strings.Builder
	quote, inside := rune(0), false
	for _, c := range text {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '"' || c == '\''):
			quote, inside = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			if inside {
				words = append(words, word.String())
				word.Reset()
			}
			inside = false
		default:
			word.WriteRune(c)
			inside = true
		}
	}
	if inside {
		words = append(words, word.String())
	}
	return words
}
