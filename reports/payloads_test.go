package reports_test

import (
	"fmt"
	"strings"
)

// payloads are what somebody may write into a log, a path or an incident file:
// more than 500 strings, each made to break out of one kind of output.
func payloads() []string {
	out := []string{"{{.}}", "{{printf \"%s\" .}}", "%s%d%n", "${x}", "\\", "\\\\", "'; reboot; '", "$(reboot)", "`reboot`", "'\\''", "../../etc/passwd", "..\\..\\x", "A\nB"}
	out = append(out, invisible()...)
	out = append(out, sequences()...)
	out = append(out, formulas()...)
	out = append(out, tags()...)
	return append(out, marks()...)
}

// invisible are characters that a reader does not see, that move others, or
// that are none: controls, bidirectional marks, blanks, halves of UTF-8.
func invisible() []string {
	var out []string
	for _, span := range [][2]rune{
		{0x00, 0x1f},
		{0x7f, 0x9f},
		{0xa0, 0xa0},
		{0xad, 0xad},
		{0x34f, 0x34f},
		{0x61c, 0x61c},
		{0x115f, 0x1160},
		{0x1680, 0x1680},
		{0x17b4, 0x17b5},
		{0x180b, 0x180f},
		{0x2000, 0x200f},
		{0x2028, 0x202f},
		{0x205f, 0x206f},
		{0x3000, 0x3000},
		{0x3164, 0x3164},
		{0xe000, 0xe001},
		{0xfe00, 0xfe0f},
		{0xfeff, 0xfeff},
		{0xffa0, 0xffa0},
		{0xfff9, 0xfffb},
		{0xfffe, 0xffff},
		{0x1d173, 0x1d17a},
		{0xe0001, 0xe0001},
		{0xe0041, 0xe0049},
		{0xe0100, 0xe0103},
		{0x10fffe, 0x10ffff},
	} {
		for r := span[0]; r <= span[1]; r++ {
			out = append(out, "a"+string(r)+"b")
		}
	}
	return append(out, "\xff", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xed\xb0\x80", "\xf4\x90\x80\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\x80", "\r\n", "\n\n\n")
}

// sequences are what a terminal acts on.
// https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
func sequences() []string {
	var out []string
	for _, s := range []string{
		"[31m", "[2J", "[1A\x1b[2K", "[8m", "[?1049h", "[6n", "[21t", "c", "(0", "#8", "]0;x\x07", "]2;x\x1b\\", "]8;;http://e.example\x1b\\x\x1b]8;;\x1b\\",
		"]52;c;eA==\x07", "]4;1;?\x07", "]50;x\x07", "P+q544e\x1b\\", "_x\x1b\\", "^x\x1b\\", "X\x1b\\", "[201~", "]1337;File=:eA==\x07",
	} {
		out = append(out, "\x1b"+s)
		if s[0] == '[' {
			out = append(out, "\u009b"+s[1:], "\x9b"+s[1:])
		}
	}
	return out
}

// formulas are what spreadsheets calculate.
func formulas() []string {
	var out []string
	for _, lead := range []string{"=", "+", "-", "@", "\t=", "\r=", "\n=", "\uff1d", "\uff0b", "\uff0d", "\uff20"} {
		for _, before := range []string{"", " ", "\"", "'", ";", "\";", "'\"", "x;", "x,\""} {
			out = append(out, before+lead+"1+1")
		}
	}
	return append(
		out, "=cmd|' /C calc'!A0", "+cmd|' /C calc'!A0", "@SUM(A1:A9)", `=HYPERLINK("http://e.example","x")`, `=WEBSERVICE("http://e.example")`,
		`=IMPORTXML("http://e.example","//a")`, `=IMAGE("http://e.example/x.png")`, "=1+1;=2+2", "\"=1+1\"", "\",=1+1,\"", "\n=1+1", "-2+3+cmd|' /C calc'!A0", "=DDE(\"a\";\"b\";\"c\")", "%0A=1", "{=1+1}",
	)
}

// tags are what makes a page more than text.
func tags() []string {
	var out []string
	for _, what := range []string{
		"<script>alert(1)</script>", "<img src=http://e.example/x onerror=alert(1)>", "<svg onload=alert(1)>", "<iframe src=http://e.example>", "<object data=x>", "<embed src=x>",
		"<link rel=stylesheet href=//e.example>", "<base href=//e.example>", "<meta http-equiv=refresh content=0;url=//e.example>", "<form action=//e.example><button>", "<style>*{background:url(//e.example)}</style>",
		"<video src=//e.example>", "<a href=javascript:alert(1)>x</a>", "<math><mtext></mtext></math>", "<details open ontoggle=alert(1)>", "<b>", "</body></html>", "<!-- ", "<![CDATA[", "<?xml?>", "<foreignObject>", "<template>", "<plaintext>",
	} {
		out = append(out, what, `">`+what, `'>`+what, "</title>"+what, "</style>"+what, "</text></svg>"+what)
	}
	return append(
		out, `" onmouseover="alert(1)`, `' onmouseover='alert(1)`, "javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,<b>", "vbscript:x", "&lt;script&gt;", "&#60;b&#62;", "&#x3c;b>", "]]>", "--!>", "<\x00script>", "<scr\u200bipt>",
	)
}

// marks are Markdown.
func marks() []string {
	return []string{
		"|", "a | b |\n|---|", "\\|", "|\n|---|\n", "`", "``` \nx", "~~~", "``", "    x", "\tx", "# x", "## x", "#x", "- x", "* x", "+ x", "1. x", "1) x", "12. x", "> x", ">", "---", "***", "___", "===", "x\n===", "x\n---",
		"*x*", "**x**", " _x_ ", " __x__ ", "~~x~~", "[x](http://e.example)", "![x](http://e.example)", "](http://e.example)", "[x]: http://e.example", "[x][y]", "[^1]", "[^1]: x", "<http://e.example>", "<x@e.example>", "http://e.example", "https://e.example", "www.e.example",
		"ftp://e.example", "x@e.example", "@x", "#1", "$x$", "$$x$$", "\\(x\\)", "- [ ] x", ":smile:", "&nbsp;", "&copy;", "<br>", "  \nx", "\\\nx", "[", "]", "![", "[!NOTE]", "> [!NOTE]", "<a id=x>", "<a name=\"i-1\"></a>", "==x==", "^x^", "~x~", "|-|-|", ":--", strings.Repeat("*", 9), strings.Repeat("[", 50), fmt.Sprint(strings.Repeat("> ", 30), "x"),
	}
}
