package document

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// FileList is a list of files: what find, ls -R, ls -lR, tar -t, du -a, unzip -Z1
// and pip cache list --format=abspath print. Package managers put name and
// version into paths.
// https://pubs.opengroup.org/onlinepubs/9799919799/utilities/find.html
var FileList = evidence.Format{
	Name:   "file-list",
	Shape:  evidence.DocumentShape,
	Title:  "list of files (find, ls -R, tar -t)",
	Proves: "that a file lies there; packages that lie in environments and caches, where a path names version and name: dist-info, wheels, uv, pnpm, go, cargo, gems, conda, extensions of editors",
	Cannot: "when they came: the times of files are no clock; what files of other names hold",
	Doc:    "https://pubs.opengroup.org/onlinepubs/9799919799/utilities/find.html",
	Sample: "find, ls and tar run for this project",
	Claim:  claimFileList,
	Read:   readFileList,
}

// leastPaths is how many lines a list must have in which no path is known.
const leastPaths = 20

// claimFileList wants nothing but paths.
func claimFileList(h *evidence.Head) bool {
	n, known := 0, false
	l := fileLister{}
	all := everyLine(h, func(line string) bool {
		if line == "" {
			return true
		}
		path, ok := l.path(line)
		n++
		if path != "" && !known {
			_, known = laidOut(path)
		}
		return ok
	})
	return all && (n >= leastPaths || known && n > 0) && !l.bare
}

// fileLister reads lines, which may depend on the folder named before them.
type fileLister struct {
	dir  string // of ls -R
	bare bool   // names without a folder were seen before one was named
}

// path returns the path that a line lists, "" for one that lists none; ok is
// false for what cannot stand in a list.
//
//	/root/.cache/uv/archive-v0/x/litellm-1.107.0.dist-info/METADATA
//	./usr/lib/python3:
//	-rw-r--r-- root/root      1543 2026-10-21 12:04 usr/lib/python3/x.py
//	  8123     12 drwxr-xr-x   3 root     root         4096 Oct 21 12:04 /opt/x
//	4096	/opt/x
func (l *fileLister) path(line string) (path string, ok bool) {
	if dir, is := strings.CutSuffix(line, ":"); is && strings.ContainsAny(dir, "/.") && !strings.Contains(dir, ": ") {
		l.dir, l.bare = dir, false
		return "", true
	}
	w := strings.Fields(line)
	if w[0] == "total" && len(w) == 2 {
		return "", true
	}
	for i, x := range w[:min(len(w), 3)] {
		if isMode(x) && len(w) > i+4 {
			path, _, _ = strings.Cut(line, " -> ")
			path = path[strings.LastIndexByte(path, ' ')+1:]
			return l.under(path)
		}
	}
	if size, rest, is := strings.Cut(line, "\t"); is && strings.Trim(size, "0123456789.KMG") == "" && size != "" {
		return rest, (strings.Contains(rest, "/") || rest == ".") && !strings.ContainsAny(rest, " \t")
	}
	if len(w) > 1 || strings.Contains(line, "://") || strings.Contains(line, ",sha256=") {
		return "", false // the last is a RECORD's
	}
	return l.under(line)
}

// under puts the folder before a name.
func (l *fileLister) under(name string) (string, bool) {
	switch {
	case strings.Contains(name, "/"):
		return name, true
	case l.dir != "":
		return l.dir + "/" + name, true
	}
	l.bare = l.bare || name != "." && name != ".."
	return name, true
}

// rooted is a path below the folder that was listed, as one from the root.
func rooted(path string) string {
	if strings.HasPrefix(path, "./") {
		return path[1:]
	}
	return path
}

// isMode knows "-rw-r--r--" and "drwxr-xr-x.".
func isMode(word string) bool {
	word = strings.TrimRight(word, ".+@")
	return len(word) == 10 && strings.IndexByte("-dlbcps", word[0]) >= 0 && strings.Trim(word[1:], "rwxsStT-") == ""
}

func readFileList(d *evidence.Doc, o *evidence.Out) error {
	o.Seen("")
	l := fileLister{}
	told := map[string]bool{} // each place once, with all of its files
	for off := 0; off < len(d.Data); {
		end := len(d.Data)
		if i := bytes.IndexByte(d.Data[off:], '\n'); i >= 0 {
			end = off + i
		}
		line := strings.TrimSpace(strings.ToValidUTF8(string(d.Data[off:end]), ""))
		if line != "" {
			if path, ok := l.path(line); ok && path != "" {
				onLine(d, o, off)
				if p, known := laidOut(path); known && !told[p.place] {
					told[p.place] = true
					o.Emit(timeline.Present, nil, timeline.Item{Artifact: p.artifact})
				} else if path = rooted(path); !known && strings.Contains(path, "/") && !strings.HasSuffix(path, "/") {
					o.Emit(timeline.Contact, nil, timeline.Item{Artifact: "file:" + path})
				}
			}
		}
		off = end + 1
	}
	return nil
}
