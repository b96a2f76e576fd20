package ingest

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
)

// extent is where the data of a member stand in a zip file.
type extent struct {
	f        *zip.File
	from, to int64
}

// extents lists the members in the order of their places. One whose header
// cannot be read is none of them: what is wrong is said when it is read.
func extents(files []*zip.File) []extent {
	all := make([]extent, 0, len(files))
	for _, f := range files {
		if from, err := f.DataOffset(); err == nil {
			all = append(all, extent{f, from, from + int64(min(f.CompressedSize64, 1<<61))})
		}
	}
	slices.SortStableFunc(all, func(a, b extent) int { return cmp.Compare(a.from, b.from) })
	return all
}

// zipHeaderSize is the length of a local header without name and extra fields.
const zipHeaderSize = 30

// apart leaves out the members whose bytes another one has: no program writes
// such an archive, and each of them would be read again.
// https://www.bamsoftware.com/hacks/zipbomb/
func apart(files []*zip.File, all []extent) (kept []*zip.File, why string) {
	inside := map[*zip.File]bool{}
	var last extent
	for _, e := range all {
		if e.from-zipHeaderSize >= last.to {
			last = e
			continue
		}
		if inside[e.f] = true; len(inside) == 1 {
			why = fmt.Sprintf("zip: malformed: %q lies inside %q", limit(e.f.Name), limit(last.f.Name))
		}
	}
	if len(inside) == 0 {
		return files, ""
	}
	kept = slices.DeleteFunc(slices.Clone(files), func(f *zip.File) bool { return inside[f] })
	return kept, fmt.Sprintf("%s: %d members that lie inside others are not read", why, len(inside))
}

// unlisted reports whether a member that the directory does not list stands in
// front of another one or behind the last: archives that were put together, or
// one that was changed in place.
func unlisted(r io.ReaderAt, all []extent) bool {
	const descriptor = 24 // at most stands between a member and the next
	var b [descriptor + zipHeaderSize]byte
	end := int64(0)
	for i := 0; i <= len(all); i++ {
		n, _ := r.ReadAt(b[:], end) // what cannot be read is found when it is
		if at := bytes.Index(b[:min(n, descriptor+4)], []byte("PK\x03\x04")); at >= 0 && at+zipHeaderSize <= n {
			data := end + int64(at) + zipHeaderSize + int64(binary.LittleEndian.Uint16(b[at+26:])) + int64(binary.LittleEndian.Uint16(b[at+28:]))
			_, listed := slices.BinarySearchFunc(all, data, func(e extent, at int64) int { return cmp.Compare(e.from, at) })
			if !listed {
				return true
			}
		}
		if i < len(all) {
			end = all[i].to
		}
	}
	return false
}
