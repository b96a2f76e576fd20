package reports_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pulltrail/reports"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"plain, ünïcode, 日本":                "plain, ünïcode, 日本",
		"\x1b[31mred\x1b[0m":                `\x1b[31mred\x1b[0m`,
		"a\nb\r\tc\x00":                     `a\nb\r\tc\x00`,
		"pip\u202einstall":                  `pip\u202einstall`,
		"zero\u200bwidth\ufeff":             `zero\u200bwidth\ufeff`,
		"c1 \u009b31m":                      `c1 \x9b31m`,
		"broken \xff\xfe":                   `broken \xff\xfe`,
		"tag \U000e0041":                    `tag \U000e0041`,
		"filler \u3164 selector \ufe0f":     `filler \u3164 selector \ufe0f`,
		"line \u2028 nbsp \u00a0":           `line \u2028 nbsp \xa0`,
		"replacement \ufffd is a character": "replacement \ufffd is a character",
	} {
		if got := reports.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"pkg:pypi/litellm@1.107.0":         "pkg:pypi/litellm@1.107.0",
		"run.zip!0_build.txt:412":          `run.zip!0\_build.txt:412`,
		"a | b":                            `a \| b`,
		"![x](http://e.example)":           `\!\[x\](http\://e.example)`,
		"www.e.example, ftp://e.example":   `www\.e.example, ftp\://e.example`,
		"<script>&amp;":                    "&lt;script&gt;&amp;amp;",
		"# head":                           `\# head`,
		"1. list":                          `1\. list`,
		"- item":                           `\- item`,
		"    code":                         `&#32;   code`,
		"*bold* _under_ ~~x~~ `code` a\\b": "\\*bold\\* \\_under\\_ \\~\\~x\\~\\~ \\`code\\` a\\\\b",
		"two\nlines":                       `two\\nlines`,
	} {
		if got := reports.Markdown(in); got != want {
			t.Errorf("Markdown(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestCSVCell(t *testing.T) {
	for in, want := range map[string]string{
		"litellm 1.107.0":        "litellm 1.107.0",
		"=HYPERLINK(1)":          "'=HYPERLINK(1)",
		"  +1":                   "  '+1",
		"-2":                     "'-2",
		"@SUM(A1)":               "'@SUM(A1)",
		"\uff1dcmd":              "'\uff1dcmd",
		"\t=1":                   `\t=1`,
		"a;=1;b-c; @x":           "a;'=1;b-c; '@x",
		`"=1`:                    `"'=1`,
		"pkg:pypi/litellm@1.0-1": "pkg:pypi/litellm@1.0-1",
	} {
		if got := reports.CSVCell(in); got != want {
			t.Errorf("CSVCell(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestJSON(t *testing.T) {
	got, err := reports.JSON(map[string]string{"path": "a\u202e<b>\u009b\U000e0041 ü"})
	if want := `{"path":"a\u202e<b>\u009b\udb40\udc41 ü"}` + "\n"; err != nil || string(got) != want {
		t.Errorf("got %s, %v; want %s", got, err, want)
	}
}

func TestWriteJSON(t *testing.T) {
	var b strings.Builder
	err := reports.WriteJSON(&b, map[string]string{"path": "a\u202e\n"})
	if want := "{\n \"path\": \"a\\u202e\\n\"\n}\n"; err != nil || b.String() != want {
		t.Errorf("got %q, %v; want %q", b.String(), err, want)
	}
}

// forbidden are characters that may stand in no output, whatever came in.
const forbidden = "\x00\x07\x08\t\r\n\x1b\x7f\u0085\u009b\u00ad\u061c\u180e\u200b\u200d\u200e\u202a\u202e\u2028\u2060\u2066\u2069\ufeff\U000e0041"

func FuzzGate(f *testing.F) {
	for _, s := range []string{"", forbidden, "=1", "1. x", " a;-b", "<a href='javascript:x'>", "![a](b)", "\xc3\x28", "www.a.example"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for name, gate := range map[string]func(string) string{"Text": reports.Text, "Markdown": reports.Markdown, "CSVCell": reports.CSVCell} {
			got := gate(s)
			if !utf8.ValidString(got) || strings.ContainsAny(got, forbidden) {
				t.Errorf("%s(%q) = %q lets something through", name, s, got)
			}
		}
		if again := reports.Text(reports.Text(s)); again != reports.Text(s) {
			t.Errorf("Text is not stable: %q, then %q", reports.Text(s), again)
		}
		if strings.ContainsAny(reports.Markdown(s), "<>") {
			t.Errorf("Markdown(%q) = %q holds markup", s, reports.Markdown(s))
		}
		if cell := strings.TrimLeft(reports.CSVCell(s), " "); cell != "" && strings.ContainsRune("=+-@\uff1d\uff0b\uff0d\uff20", []rune(cell)[0]) {
			t.Errorf("CSVCell(%q) = %q is a formula", s, cell)
		}
		line, err := reports.JSON(s)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal(line, &back); err != nil || back != strings.ToValidUTF8(s, "\ufffd") && utf8.ValidString(s) {
			t.Errorf("JSON(%q) = %s reads back as %q, %v", s, line, back, err)
		}
		if strings.ContainsAny(strings.TrimSuffix(string(line), "\n"), forbidden) {
			t.Errorf("JSON(%q) = %s lets something through", s, line)
		}
	})
}
