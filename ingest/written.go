package ingest

import (
	"bytes"
	"regexp"
	"sync"

	"pulltrail/ingest/evidence"
	"pulltrail/ingest/frame"
)

// Why a text that somebody wrote is not read as a log.
const (
	programText = "the source code of a program: what it quotes did not happen here; if it begins with a log, cut that out into a file of its own"
	pageText    = "a page in Markdown: what it shows did not happen here; if it holds a log, cut that out into a file of its own"
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
	}
	return ""
}

// isPage reports whether a text is in Markdown: a title or front matter at its top,
// and fences. A log may have something like a title, and no fences.
//
//	# Installing Flask
//	```console
//	$ pip install flask
//	```
func isPage(head []byte) bool {
	top := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\ufeff")), " \r\n\t")
	if !pageTop().Match(top) {
		return false
	}
	fences := 0
	for line := range bytes.Lines(head) {
		if line = bytes.TrimSpace(line); bytes.HasPrefix(line, []byte("```")) && len(line) < 40 {
			fences++
		}
	}
	return fences > 1
}

// pageTop is how a page in Markdown begins: with a title, a badge, a sentence that a
// bot writes, or front matter.
var pageTop = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:#{1,3} [^\n]+\n|[^\n]{1,100}\n(?:===+|---+)\n|\[?!\[[^\n]*\n|<(?:h1|p|div|img|details|!--)[ >][^\n]*\n|---\n(?:[\w-]+:[^\n]*\n)+)`)
})

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
