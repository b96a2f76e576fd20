package document

import (
	"bytes"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// NPMCache is an entry of the index of npm's cache: which address a file came
// from, and when.
// https://docs.npmjs.com/cli/commands/npm-cache
var NPMCache = evidence.Format{
	Name:   "npm-cache",
	Shape:  evidence.DocumentShape,
	Title:  "index of npm's cache (~/.npm/_cacache/index-v5)",
	Proves: "the files of packages that npm fetched and keeps, and when",
	Cannot: "into which projects they were put; what was cleaned away",
	Doc:    "https://github.com/npm/cacache#readme",
	Sample: "written by hand after the source of cacache",
	Claim: func(h *evidence.Head) bool {
		return placeNPMCache(h.Path) || bytes.Contains(h.Bytes, []byte("\t{\"key\":\"make-fetch-happen:request-cache:"))
	},
	Read:  readNPMCache,
	Place: placeNPMCache,
	Topic: timeline.NPM,
}

// placeNPMCache knows root/.npm/_cacache/index-v5/3a/1f/5b2c….
func placeNPMCache(path string) bool {
	return strings.Contains(path, "_cacache/index-v")
}

// readNPMCache reads one record for each time that something was stored; one
// without a hash says that it was dropped, and the record before it that it came.
//
//	9c1e…	{"key":"make-fetch-happen:request-cache:https://mirror.acme.example/axios/-/axios-1.14.1.tgz","integrity":"sha512-…","time":1774917731000,"size":512000,"metadata":{…}}
func readNPMCache(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	off := 0
	for line := range bytes.Lines(d.Data) {
		begin := off
		off += len(line)
		_, record, ok := bytes.Cut(line, []byte("\t"))
		v := value{record, 0, len(record)}
		if !ok || v.kind() != '{' || v.get("integrity").kind() != '"' {
			continue
		}
		onLine(d, o, begin)
		item, ok := cachedTarball(v.get("key").text())
		if !ok {
			continue
		}
		span := timeline.Always()
		if ms, whole := v.get("time").integer(); whole && ms > 0 {
			span = timeline.At(time.UnixMilli(ms), strconv.FormatInt(ms, 10))
		}
		o.Event(timeline.Event{Action: timeline.Download, Span: span, Items: []timeline.Item{item}})
	}
	return nil
}

// cachedTarball reads the key of a tarball: its address behind the name of the
// kind of entry.
func cachedTarball(key string) (timeline.Item, bool) {
	_, address, ok := strings.Cut(key, "request-cache:")
	if !ok {
		return timeline.Item{}, false
	}
	return tarballAt(address)
}

// tarballAt reads the address of a tarball in a registry.
func tarballAt(address string) (timeline.Item, bool) {
	u, err := url.Parse(address)
	if err != nil {
		return timeline.Item{}, false
	}
	dir, file, ok := strings.Cut(u.Path, "/-/")
	if !ok || !strings.HasSuffix(file, ".tgz") {
		return timeline.Item{}, false
	}
	w := strings.Split(strings.Trim(dir, "/"), "/")
	name := w[len(w)-1]
	bare := name
	if len(w) > 1 && strings.HasPrefix(w[len(w)-2], "@") {
		name = w[len(w)-2] + "/" + name
	}
	version, ok := strings.CutPrefix(strings.TrimSuffix(file[strings.LastIndexByte(file, '/')+1:], ".tgz"), bare+"-")
	return evidence.NPMItem(name, version), ok && evidence.IsNPMName(name) && evidence.IsSemver(version)
}
