package document

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// PipCache is what pip cache list prints: the wheels that pip built on a host
// and keeps.
// https://pip.pypa.io/en/stable/cli/pip_cache/
var PipCache = evidence.Format{
	Name:   "pip-cache",
	Shape:  evidence.DocumentShape,
	Title:  "pip cache list",
	Proves: "wheels that pip built here and keeps: the code of their build ran",
	Cannot: "when they were built; wheels that came ready-made, which pip keeps under no name",
	Doc:    "https://pip.pypa.io/en/stable/cli/pip_cache/",
	Sample: "written by hand after pip's source",
	Claim: func(h *evidence.Head) bool {
		return bytes.HasPrefix(bytes.TrimLeft(h.Bytes, "\r\n "), []byte("Cache contents:"))
	},
	Read: readPipCache,
}

// readPipCache reads one wheel for each row:
//
//	Cache contents:
//
//	 - acme_httpkit-2.5.0-py3-none-any.whl (1.1 kB)
func readPipCache(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	for _, line := range logicalLines(d) {
		text, row := strings.CutPrefix(line.text, "- ")
		if !row {
			continue
		}
		onLine(d, o, line.off)
		file, _, _ := strings.Cut(text, " ")
		dist, ok := evidence.ParseDist(file)
		if !ok {
			o.Skip("no name of a wheel")
			continue
		}
		o.Emit(timeline.Present, nil, timeline.Item{Artifact: timeline.PURL("pypi", "", dist.Name, dist.Version)})
	}
	return nil
}
