package document

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// DistInfo is any file of the folder that pip, uv and others leave for each
// installed Python distribution; the folder's name says which.
// https://packaging.python.org/en/latest/specifications/recording-installed-packages/
var DistInfo = evidence.Format{
	Name:   "python-dist-info",
	Shape:  evidence.DocumentShape,
	Title:  "files of a Python *.dist-info folder",
	Proves: "a distribution is in place (METADATA, RECORD, direct_url.json), from which archive (direct_url.json), and .pth files it brought (RECORD)",
	Cannot: "when it was installed; that it was ever imported",
	Doc:    "https://packaging.python.org/en/latest/specifications/recording-installed-packages/",
	Sample: "pip 24.2 run for this project",
	Claim:  claimDistInfo,
	Read:   readDistInfo,
	Place:  placeDistInfo,
	Topic:  timeline.PyPI,
}

// placeDistInfo leaves out the files that hold no event, licences among them.
func placeDistInfo(path string) bool {
	if !strings.HasSuffix(path, "/METADATA") && !strings.HasSuffix(path, "/RECORD") && !strings.HasSuffix(path, "/direct_url.json") {
		return false
	}
	_, _, file, ok := distInfoFolder(path)
	return ok && strings.IndexByte(file, '/') < 0
}

// distInfoFolder finds the distribution whose folder a path lies in. Content
// lists inside (PEP 770) are documents of their own.
//
//	venv/lib/python3.12/site-packages/litellm-1.107.0.dist-info/METADATA
func distInfoFolder(path string) (name, version, file string, ok bool) {
	path = strings.ReplaceAll(path, `\`, "/")
	i := strings.LastIndex(path, ".dist-info/")
	if i < 0 {
		return "", "", "", false
	}
	folder, file := path[:i], path[i+len(".dist-info/"):]
	folder = folder[strings.LastIndexAny(folder, "/!")+1:]
	name, version, ok = evidence.SplitDist(folder)
	return name, version, file, ok && !strings.HasPrefix(file, "sboms/")
}

func claimDistInfo(h *evidence.Head) bool {
	_, _, _, ok := distInfoFolder(h.Path)
	return ok
}

func readDistInfo(d *evidence.Doc, o *evidence.Out) error {
	name, version, file, _ := distInfoFolder(d.Path)
	artifact := timeline.PURL("pypi", "", name, version)
	o.Seen("") // INSTALLER, WHEEL, REQUESTED and the like hold no event
	switch file {
	case "METADATA":
		readMetadata(d, o, artifact)
	case "RECORD":
		readRecord(d, o, artifact)
	case "direct_url.json":
		return readDirectURL(d, o, artifact)
	}
	return nil
}

// readMetadata takes name and version from the headers; where they are missing
// the artifact that the folder names, "" for none.
//
//	Metadata-Version: 2.1
//	Name: litellm
//	Version: 1.107.0
func readMetadata(d *evidence.Doc, o *evidence.Out, artifact string) {
	var name, version []byte
	end := 0
	for off := 0; off < len(d.Data); off = end + 1 {
		end = off + bytes.IndexByte(d.Data[off:], '\n')
		if end < off {
			end = len(d.Data)
		}
		line := bytes.TrimSpace(d.Data[off:end])
		if len(line) == 0 {
			break // the body is free text
		}
		key, val, ok := bytes.Cut(line, []byte(":"))
		switch {
		case !ok:
		case bytes.EqualFold(key, []byte("Name")):
			name = bytes.TrimSpace(val)
		case bytes.EqualFold(key, []byte("Version")):
			version = bytes.TrimSpace(val)
			onLine(d, o, off)
		}
	}
	if evidence.IsDistName(string(name)) && evidence.IsVersion(string(version)) {
		artifact = timeline.PURL("pypi", "", string(name), string(version))
	} else {
		onLine(d, o, 0)
	}
	if artifact == "" {
		o.Skip("no name and version")
		return
	}
	o.Emit(timeline.Present, nil, timeline.Item{Artifact: artifact})
}

// readRecord proves the distribution by its list of files, on the line of the
// list itself. A .pth file runs at every start of Python, so each is named.
//
//	litellm-1.107.0.dist-info/RECORD,,
//	distutils-precedence.pth,sha256=JjjOniUQKflQ4qBHI31Tke_Bjc4dQeyvcQpFqEZyq4Q,151
func readRecord(d *evidence.Doc, o *evidence.Out, artifact string) {
	own := 0
	var files []int
	for off := 0; off < len(d.Data); {
		_, _, end := d.LineBounds(off)
		path, _, _ := bytes.Cut(d.Data[off:end], []byte(","))
		if bytes.HasSuffix(path, []byte(".dist-info/RECORD")) {
			own = off
		} else if bytes.HasSuffix(path, []byte(".pth")) {
			files = append(files, off)
		}
		next := bytes.IndexByte(d.Data[end:], '\n')
		if next < 0 {
			break
		}
		off = end + next + 1
	}
	onLine(d, o, own)
	o.Emit(timeline.Present, nil, timeline.Item{Artifact: artifact})
	for _, off := range files {
		onLine(d, o, off)
		_, _, end := d.LineBounds(off)
		fields := bytes.Split(d.Data[off:end], []byte(","))
		item := timeline.Item{Artifact: "file:" + string(fields[0])}
		if hash, ok := bytes.CutPrefix(fields[min(1, len(fields)-1)], []byte("sha256=")); ok {
			if sum, err := base64.RawURLEncoding.DecodeString(string(hash)); err == nil && len(sum) == 32 {
				item.Digests = []timeline.Digest{{Value: "sha256:" + hex.EncodeToString(sum), Role: timeline.File}}
			}
		}
		o.Emit(timeline.Present, nil, item)
	}
}

// readDirectURL says what archive or repository it came from (PEP 610).
//
//	{"archive_info": {"hash": "sha256=2e37…", "hashes": {"sha256": "2e37…"}}, "url": "file:///srv/…whl"}
//	{"vcs_info": {"vcs": "git", "commit_id": "4f2b…", "requested_revision": "main"}, "url": "https://…"}
func readDirectURL(d *evidence.Doc, o *evidence.Out, artifact string) error {
	docs, err := documents(d)
	for _, v := range docs {
		item := timeline.Item{Artifact: artifact, Ref: v.get("url").text(), Digests: directDigests(v)}
		if v.kind() == '{' {
			at(d, o, v)
			o.Emit(timeline.Present, nil, item)
		}
	}
	return err
}

// directDigests returns the hash of the archive or the commit of the repository
// that a direct URL names.
func directDigests(v value) []timeline.Digest {
	var all []timeline.Digest
	hash := v.get("archive_info", "hashes", "sha256").text()
	if hash == "" {
		hash, _ = strings.CutPrefix(v.get("archive_info", "hash").text(), "sha256=")
	}
	if digest := timeline.SHA256(hash); digest != "" {
		all = append(all, timeline.Digest{Value: digest, Role: timeline.File})
	}
	if commit := v.get("vcs_info", "commit_id").text(); timeline.IsCommit(commit) {
		all = append(all, timeline.Digest{Value: commit, Role: timeline.Commit})
	}
	return all
}

// onLine makes the line of an offset the one that the next events stand on.
func onLine(d *evidence.Doc, o *evidence.Out, off int) {
	no, start, end := d.LineBounds(off)
	if d.Written != nil {
		setWritten(d, o, no)
		return
	}
	o.SetLine(no, int64(start), d.Data[start:end])
}
