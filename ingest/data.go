package ingest

import (
	"bytes"
	"strings"

	"pulltrail/ingest/evidence"
)

// binaryAdvice says what a file of data is, where another program can say it in
// words.
func binaryAdvice(h *evidence.Head) string {
	switch {
	case bytes.HasPrefix(h.Bytes, []byte("#!/usr/bin/env bun\nbun-lockfile-format-")):
		return "bun's binary lock file is not read: ingest what 'bun bun.lockb' prints of it, as yarn.lock"
	case strings.HasPrefix(h.Name, "rpmdb.sqlite"), strings.HasSuffix(h.Path, "lib/rpm/Packages"), strings.HasSuffix(h.Path, "lib/rpm/Packages.db"):
		return "the database of rpm is not read: ingest what 'rpm -qa --last' prints of it (--root or --dbpath take a copy)"
	case bytes.HasPrefix(h.Bytes, []byte("LPKSHHRH")):
		return "the journal's own files are not read: ingest what 'journalctl --file FILE -o export' prints of them"
	}
	return "binary data of no known format"
}

// textAdvice says why a text is not read in which no line is known, and of a file
// that another verb reads, which.
func textAdvice(h *evidence.Head) string {
	head := bytes.TrimPrefix(h.Bytes, []byte("\ufeff"))
	switch {
	case len(head) >= len(inventoryHeader) && bytes.EqualFold(head[:len(inventoryHeader)], []byte(inventoryHeader)):
		return "an inventory: 'pulltrail inventory FILE' reads it"
	case bytes.HasPrefix(head, []byte("schema: pulltrail.")):
		return "a file that tells pulltrail something, and no evidence: 'match', 'report' or 'canary run' take it"
	}
	return "no format claims it, and no line of a known tool is in it"
}

// finderFile tells what macOS adds to archives from evidence.
func finderFile(head []byte) bool {
	return bytes.HasPrefix(head, []byte("\x00\x05\x16\x07")) || bytes.HasPrefix(head, []byte("\x00\x00\x00\x01Bud1"))
}
