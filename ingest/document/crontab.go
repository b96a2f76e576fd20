package document

import (
	"bytes"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// Crontab is a table of cron, of a user or of the system.
// https://man7.org/linux/man-pages/man5/crontab.5.html
var Crontab = evidence.Format{
	Name:   "crontab",
	Shape:  evidence.DocumentShape,
	Title:  "crontab",
	Proves: "packages and images that its commands ask for; names of secrets that it sets",
	Cannot: "that a command was run, or when; on which host it lies: say it with --subject",
	Doc:    "https://man7.org/linux/man-pages/man5/crontab.5.html",
	Sample: "written by hand after the manual",
	Claim:  claimCrontab,
	Read:   readCrontab,
}

// claimCrontab wants a table in which each line is an entry, a setting or a
// comment, and one entry at least.
func claimCrontab(h *evidence.Head) bool {
	entries := 0
	text := h.Bytes
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 { // the head may end within a line
		text = text[:i]
	}
	for line := range bytes.Lines(text) {
		switch s := strings.TrimSpace(string(line)); {
		case s == "" || s[0] == '#':
		case cronCommand(s) != "":
			entries++
		case !cronSetting(s):
			return false
		}
	}
	return entries > 0
}

// cronSetting knows NAME=value.
func cronSetting(line string) bool {
	name, _, ok := strings.Cut(line, "=")
	name = strings.TrimSpace(name)
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// cronCommand cuts the five fields of the time off an entry, or its name; the
// user that the system's table has is left.
//
//	0 3 * * * root /usr/bin/pip install -U litellm
//	@reboot cd /srv/app && npm ci
func cronCommand(line string) string {
	if line[0] == '@' {
		when, command, _ := strings.Cut(line, " ")
		switch when {
		case "@reboot", "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly":
			return strings.TrimSpace(command)
		}
		return ""
	}
	rest := line
	for i := range 5 {
		field, after, ok := strings.Cut(strings.TrimLeft(rest, " \t"), " ")
		if f, a, tab := strings.Cut(strings.TrimLeft(rest, " \t"), "\t"); tab && len(f) < len(field) {
			field, after, ok = f, a, true
		}
		allowed := "0123456789*/,-~?LW#"
		if i > 2 { // names of months and days
			allowed += "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		}
		if !ok || field == "" || strings.Trim(field, allowed) != "" || strings.Trim(field, "0123456789*/,-~?LW#") != "" && len(field) < 3 {
			return ""
		}
		rest = after
	}
	return strings.TrimSpace(rest)
}

func readCrontab(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	off := 0
	for raw := range strings.Lines(string(d.Data)) {
		line := strings.TrimSpace(raw)
		no, start, _ := d.LineBounds(off)
		off += len(raw)
		if line == "" || line[0] == '#' {
			continue
		}
		command := cronCommand(line)
		if command == "" {
			if name, v, _ := strings.Cut(line, "="); holdsSecret(strings.TrimSpace(name), v) {
				o.SetLine(no, int64(start), []byte(strings.TrimSpace(name)+"="))
				o.Hold(strings.TrimSpace(name))
			}
			continue
		}
		asks := o.Asks(command)
		if _, behind, ok := strings.Cut(command, " "); ok && len(asks) == 0 {
			asks = o.Asks(strings.TrimSpace(behind)) // behind the user
		}
		if asks = slices.DeleteFunc(asks, nameless); len(asks) > 0 {
			o.SetLine(no, int64(start), []byte(line))
			o.Emit(timeline.Require, nil, asks...)
		}
	}
	return nil
}
