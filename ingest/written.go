package ingest

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"slices"
	"strings"
	"sync"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/frame"
)

// Why a text that somebody wrote is not read as a log.
const (
	programText = "the source code of a program: what it quotes did not happen here; if it begins with a log, cut that out into a file of its own"
	pageText    = "a page that somebody wrote: what it shows did not happen here; if it holds a log, cut that out into a file of its own"
	tableText   = "a table with columns that no format knows: if one of them holds a log, cut that out into a file of its own"
)

// writtenText says why a text is none that a program printed, "" when it may be
// one. Tests, guides and notes quote the output of tools line by line, and no line
// of a quotation tells that it is one: only what stands around it does.
func writtenText(f *evidence.Format, h *evidence.Head) string {
	if f != nil && f.Name != frame.LinePrefix.Name && f.Name != frame.Pasted.Name && f.Name != frame.ShellSession.Name {
		return ""
	}
	switch {
	case isPage(h.Bytes):
		return pageText
	case isProgram(h.Bytes):
		return programText
	case isTable(h.Bytes):
		return tableText
	}
	return ""
}

// page is a way to write pages: how they begin, what their quotations have around
// them, and how often that has to be there.
type page struct {
	top, marks *regexp.Regexp
	want       int
}

// pages are those of which guides and notes are written. A log may have something
// like a title, and none of the rest.
//
//	# Installing Flask                 (Markdown, also with front matter or a badge at its top)
//	```console
//	= Installing Flask                 (AsciiDoc)
//	[source,console]
//	Installing Flask                   (reStructuredText)
//	================
//	.. code-block:: console
//	<!DOCTYPE html>
//	#+TITLE: Installing Flask          (Org)
//	#+BEGIN_EXAMPLE
//	== Installing Flask ==             (MediaWiki)
//	PIP(1)             pip             PIP(1)
var pages = sync.OnceValue(func() []page {
	return []page{
		{
			regexp.MustCompile(`^(?:#{1,3} [^\n]+\n|[^\n]{1,100}\n(?:===+|---+)\n|\[?!\[[^\n]*\n|<(?:h1|p|div|img|details|!--)[ >][^\n]*\n|---\n(?:[\w-]+:[^\n]*\n)+)`),
			regexp.MustCompile("(?m)^ *```[^\n`]{0,40}$"), 2,
		},
		{regexp.MustCompile(`^(?:(?:===+|\*\*\*+|###+|---+)\n)?[^\n]{1,100}\n(?:===+|---+|~~~+|\*\*\*+|###+)\n`), regexp.MustCompile(`(?m)^\S.*::$|^::$|^\.\. [\w-]+(?:::|:)`), 1},
		{regexp.MustCompile(`^={1,2} \S[^\n]*[^=\n]\n`), regexp.MustCompile(`(?m)^(?:\[source|\[listing|----$|====$|:toc:)`), 2},
		{regexp.MustCompile(`(?i)^(?:<\?xml[^\n]*\n)?\s*<(?:!doctype html|html)[ >]`), regexp.MustCompile(`(?i)<(?:h[1-4]|p|article)[ >]`), 1},
		{regexp.MustCompile(`(?i)^#\+title:`), regexp.MustCompile(`(?mi)^\s*#\+begin_`), 1},
		{regexp.MustCompile(`^={2,4} ?[^=\n][^\n]*[^=\n] ?={2,4}\n`), regexp.MustCompile(`(?m)^\s*<(?:pre|syntaxhighlight|source)[ >]`), 1},
		{regexp.MustCompile(`^[A-Z][\w.-]*\(\d\w?\) .*[A-Z][\w.-]*\(\d\w?\)\n`), regexp.MustCompile(`(?m)^(?:NAME|SYNOPSIS|DESCRIPTION|EXAMPLES)$`), 1},
	}
})

// isPage reports whether a text is a page that somebody wrote. A saved page of a
// build's console is none.
func isPage(head []byte) bool {
	top := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \r\n\t")
	for _, p := range pages() {
		if p.top.Match(top) && len(p.marks.FindAllIndex(head, p.want)) >= p.want && !bytes.Contains(head, []byte("console-output")) {
			return true
		}
	}
	return false
}

// isTable reports whether a text is a table with cells of several lines: an export
// of tickets, a list of samples. Those with the columns of a log are claimed by name.
func isTable(head []byte) bool {
	first, _, _ := bytes.Cut(head, []byte("\n"))
	if bytes.IndexByte(first, ',') < 0 || bytes.IndexByte(head, '"') < 0 {
		return false
	}
	rows, long := 0, false
	for r := csv.NewReader(bytes.NewReader(head)); ; rows++ {
		row, err := r.Read()
		if err != nil {
			return rows > 1 && long
		}
		long = long || slices.ContainsFunc(row, func(cell string) bool { return strings.Contains(cell, "\n") })
	}
}

// language is how lines of a program in it look: those that one may begin with, and
// others.
type language struct{ opens, goes string }

// languages of which tests are written. Shell is none: what a script says is run.
var languages = []language{
	{ // Python
		`import [\w.]+(?:, [\w.]+)*(?: as \w+)?$|from [\w.]+ import [\w*(][\w, ()*]*$|def \w+\(|class \w+[(:]|@\w+[\w.]*(?:\(.*)?$|"""`,
		`\s+(?:return\b|assert |self\.|if .*:$|for .* in .*:$|with .*:$|raise |>>> )|[A-Z_a-z][\w.]* = |if __name__ == |"""`,
	},
	{ // Go
		`package \w+$|import (?:\(|")|func (?:\(\w+ \*?\w+\) )?\w+\(.*\{$|type \w+ (?:struct|interface) \{$`,
		`\}$|\t+(?:if|for|switch) .*\{$|\t+return\b|\t+\w+(?:, \w+)* := |\t+\w+\.\w+\(.*\)$|\t\}$|\t*// |(?:var|const) `,
	},
	{ // Rust
		`use [\w:]+.*;$|#!?\[\w+.*\]$|(?:pub )?(?:async )?fn \w+.*\{$|mod \w+ ?[;{]$|impl\b.*\{$|//! `,
		`\}$|\s+(?:let |assert|\.\w+\(|\w+!\(|Ok\()|\s+\}\)?;?$`,
	},
	{ // JavaScript and TypeScript
		`import .* from ['"].*['"];?$|(?:const|let|var) \w+ = .*(?:require\(|[{(\x60;]$)|(?:export )?(?:default )?(?:async )?function \w+\(|describe\(|export (?:default|const|async|class|type|interface|enum|\{|\*) ?|['"]use strict['"];?$`,
		`\}\)?;?$|\s+(?:it|test|expect|return|await|const|let)\b.*[;{(]$|(?:const|let|var) \w+ = |describe\(|(?:it|test)\(|\x60;$|\s+\}\)?[;,]?$`,
	},
	{ // Java, Kotlin, C#
		`package [\w.]+;?$|import (?:static )?[\w.]+\*?;$|using [\w.]+;$|namespace [\w.]+[;{]?$|(?:public |final |internal |abstract |static |sealed )*(?:class|interface|record) \w+.*\{?$|@\w+$`,
		`\}$|\s+@\w+|\s+(?:public|private|static|final|void|var|val|fun|return|assert\w*)\b.*[;{=(]?$|\s*(?:public |final )*class \w+|\s+\}$|\s+""";?$`,
	},
	{ // C, C++, PHP, Perl
		`#include [<"]|<\?php|use strict;$|use warnings;$`,
		`\}$|\s+(?:return|if|for|my|assert)\b.*[;{]$|(?:static |const )*\w+[ *]+\w+\(.*\)? ?\{?$|\s+\w+\(.*;$|\};?$`,
	},
	{ // Ruby
		`require(?:_relative)? ['"]|# frozen_string_literal: true$|RSpec\.describe |describe .* do$|module [A-Z]\w*$|class [A-Z]\w*(?: < [\w:]+)?$`,
		`\s+(?:it|describe|context|let|expect|assert_\w+|def|before)\b|\s*end$|EOS$`,
	},
	{ // SQL
		`-- (?:PostgreSQL|MySQL|MariaDB) |(?:INSERT INTO|CREATE TABLE|DROP TABLE|BEGIN TRANSACTION)\b`,
		`.*\);$|COPY .* FROM stdin;$|\\\.$|SET \w+ = |--$`,
	},
	{ // Bats
		`#!/usr/bin/env bats$|@test ['"].*\{$|load ['"]?[\w/.]+['"]?$|setup\(\) \{$`,
		`\s+(?:run|assert\w*|refute\w*) |\s+\[+ .*\]+$|\}$|@test |EOF$`,
	},
}

type codeLines struct{ opens, goes *regexp.Regexp }

var programs = sync.OnceValue(func() []codeLines {
	var all []codeLines
	for _, l := range languages {
		all = append(all, codeLines{regexp.MustCompile(`^(?:` + l.opens + `)`), regexp.MustCompile(`^(?:` + l.opens + `|` + l.goes + `)`)})
	}
	return all
})

const (
	programLines = 4       // as many lines of one language are a program
	programHead  = 8 << 10 // looked at
)

// isProgram reports whether a text is the source code of a program: it begins like
// one, and goes on so.
func isProgram(head []byte) bool {
	head = head[:min(len(head), programHead)]
	var first []byte
	for line := range bytes.Lines(head) {
		if line = bytes.TrimRight(line, "\r\n"); len(bytes.TrimSpace(line)) > 0 && !isRemark(line) {
			first = line
			break
		}
	}
	if first == nil {
		return false
	}
	for _, p := range programs() {
		if p.opens.Match(first) && hasCode(head, p.goes) {
			return true
		}
	}
	return false
}

func hasCode(head []byte, goes *regexp.Regexp) bool {
	n := 0
	for line := range bytes.Lines(head) {
		if goes.Match(bytes.TrimRight(line, "\r\n")) {
			n++
		}
	}
	return n >= programLines
}

// isRemark reports whether a line is a comment that stands above a program.
func isRemark(line []byte) bool {
	for _, mark := range []string{"// ", "//\t", "/*", " *", "# -*-", "#!/usr/bin/env python", "#!/usr/bin/python", "#!/usr/bin/env node", "#!/usr/bin/env ruby", "# Copyright", "# SPDX"} {
		if bytes.HasPrefix(line, []byte(mark)) {
			return true
		}
	}
	return string(line) == "//" || string(line) == "#"
}
