package document

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/pkglist"
	"pulltrail/timeline"
)

// GemfileLock is Bundler's lock file.
// https://bundler.io/man/gemfile.5.html
var GemfileLock = evidence.Format{
	Name:   "gemfile-lock",
	Shape:  evidence.DocumentShape,
	Title:  "Gemfile.lock",
	Proves: "the exact versions of gems that a project asks for",
	Cannot: "that they were installed, or when",
	Doc:    "https://bundler.io/guides/rationale.html",
	Sample: "written by hand after the documentation",
	Claim: func(h *evidence.Head) bool {
		return h.Name == "Gemfile.lock" || h.Name == "gems.locked" || bytes.HasPrefix(h.Bytes, []byte("GEM\n  remote: "))
	},
	Read: readGemfileLock,
}

// readGemfileLock reads the gems of registries; what they need stands deeper.
//
//	GEM
//	  remote: https://mirror.acme.example/
//	  specs:
//	    nokogiri (1.16.5-x86_64-linux)
//	      racc (~> 1.4)
func readGemfileLock(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	section := ""
	for off := 0; off < len(d.Data); {
		end := len(d.Data)
		if i := bytes.IndexByte(d.Data[off:], '\n'); i >= 0 {
			end = off + i
		}
		line := strings.TrimRight(strings.ToValidUTF8(string(d.Data[off:end]), ""), "\r ")
		switch {
		case line != "" && line[0] != ' ':
			section = line
		case section == "GEM" && strings.HasPrefix(line, "    ") && len(line) > 4 && line[4] != ' ':
			onLine(d, o, off)
			gem, ok := pkglist.Gem(strings.TrimSpace(platformApart(line)))
			if !ok {
				o.Skip("no row of a gem and its version")
				break
			}
			o.Emit(timeline.Require, nil, gem...)
		}
		off = end + 1
	}
	return nil
}

// platformApart puts a blank before the platform: 1.16.5-x86_64-linux.
func platformApart(line string) string {
	head, rest, ok := strings.Cut(line, " (")
	if !ok {
		return line
	}
	return head + " (" + strings.Replace(rest, "-", " ", 1)
}
