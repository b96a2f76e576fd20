package reports_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"

	"pulltrail/reports"
)

// TestHostile renders every report in every form with payloads before and
// behind every text, and looks at what came out. Each string of a case gets
// another payload of a group, the same string always the same one, so that what
// belongs together stays together.
func TestHostile(t *testing.T) {
	all := payloads()
	if len(all) < 500 {
		t.Fatalf("only %d payloads", len(all))
	}
	const group = 20
	for _, name := range reports.Names() {
		for _, form := range reports.Forms() {
			t.Run(name+"."+form, func(t *testing.T) {
				t.Parallel()
				res, rows := result(t)
				plain := renderCase(t, name, form, caseOf(t, res, rows))
				for i := 0; i < len(all); i += group {
					some := all[i:min(i+group, len(all))]
					for _, front := range []bool{false, true} {
						res, rows := result(t)
						c := caseOf(t, res, rows)
						poison(reflect.ValueOf(c), some, front, "")
						got := renderCase(t, name, form, c)
						keep(t, fmt.Sprintf("hostile-%s-%d-%t.%s", name, i, front, form), got)
						for _, problem := range problems(form, plain, got, front) {
							t.Errorf("with %q: %s", some, problem)
						}
					}
				}
			})
		}
	}
}

// keep writes a report into the folder that $PULLTRAIL_KEEP names, for those who
// open it with other programs: see testdata/look.
func keep(t *testing.T, name, text string) {
	t.Helper()
	dir := os.Getenv("PULLTRAIL_KEEP")
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// poison adds one of the payloads to every text, but for words of the program's own:
// verdicts, kinds and the hashes that are ids.
func poison(v reflect.Value, payloads []string, front bool, field string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem(), payloads, front, field)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				poison(v.Field(i), payloads, front, f.Name)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			poison(v.Index(i), payloads, front, field)
		}
	case reflect.Map:
		if v.Type().Key() != reflect.TypeFor[string]() {
			return
		}
		fresh := reflect.MakeMap(v.Type())
		for it := v.MapRange(); it.Next(); {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.Set(it.Key())
			value.Set(it.Value())
			poison(key, payloads, front, "")
			poison(value, payloads, front, "")
			fresh.SetMapIndex(key, value)
		}
		v.Set(fresh)
	case reflect.String:
		_, name, about := strings.Cut(v.String(), ":")
		if about = about && field == "About"; !about { // of a subject, whose kind is the program's own word
			name = v.String()
		}
		payload := payloads[crc32.ChecksumIEEE([]byte(name))%uint32(len(payloads))] //nolint:gosec // a few
		own := v.Type() != reflect.TypeFor[string]() || v.String() == "" || field == "AsOf" || field == "Phase"
		id := (field == "ID" || field == "Finding" || field == "Via") && regexp.MustCompile(`^[fc]-\d{12}$`).MatchString(v.String())
		switch {
		case own || id:
		case front && about:
			v.SetString(strings.TrimSuffix(v.String(), name) + payload + name)
		case front:
			v.SetString(payload + v.String())
		default:
			v.SetString(v.String() + payload)
		}
	}
}

// problems lists what is wrong with a report in which every text is hostile.
func problems(form, plain, got string, front bool) []string {
	var out []string
	if i := strings.IndexFunc(got, func(r rune) bool {
		return r != '\n' && strings.ContainsRune(forbidden, r) || r == utf8.RuneError
	}); i >= 0 {
		out = append(out, "a character slipped through: "+got[max(0, i-40):min(len(got), i+10)])
	}
	switch form {
	case "html":
		out = append(out, htmlProblems(plain, got, front)...)
	case "md":
		out = append(out, markdownProblems(plain, got)...)
	case "csv":
		out = append(out, csvProblems(plain, got)...)
	case "json":
		var v any
		if err := json.Unmarshal([]byte(got), &v); err != nil {
			out = append(out, err.Error())
		}
		if strings.Count(plain, "\n") != strings.Count(got, "\n") {
			out = append(out, "another number of lines")
		}
	}
	return out
}

// skeleton lists the elements of a page with their attributes, and what of them
// no page of ours has.
func skeleton(page string) (elements, wrong []string) {
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return elements, wrong
		case html.CommentToken:
			wrong = append(wrong, "a comment: "+z.Token().Data)
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			name := t.Data
			for _, a := range t.Attr {
				name += " " + a.Key
				bad := strings.HasPrefix(a.Key, "on") || a.Key == "src" || a.Key == "srcset" || a.Key == "formaction" ||
					a.Key == "href" && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "https://") ||
					a.Key == "style" && a.Val != "display:inline"
				if bad {
					wrong = append(wrong, "<"+t.Data+" "+a.Key+"="+a.Val+">")
				}
			}
			if slices.Contains([]string{"script", "img", "iframe", "object", "embed", "link", "base", "form", "input"}, t.Data) {
				wrong = append(wrong, "<"+t.Data+">")
			}
			elements = append(elements, name)
		}
	}
}

func htmlProblems(plain, got string, front bool) []string {
	want, _ := skeleton(plain)
	have, wrong := skeleton(got)
	if !front && !slices.Equal(want, have) { // in front, an address is none any more
		wrong = append(wrong, "another structure")
	}
	return wrong
}

// markdownProblems compares the lines and the cells of the tables, and looks
// for markup outside blocks of code.
func markdownProblems(plain, got string) []string {
	want, have := strings.Split(plain, "\n"), strings.Split(got, "\n")
	if len(want) != len(have) {
		return []string{"another number of lines"}
	}
	var out []string
	anchor := regexp.MustCompile(`<a id="i-[a-z0-9-]+"></a>`)
	own := regexp.MustCompile("`(pulltrail|sha256sum) [^`]*`")
	for i, line := range have {
		if strings.HasPrefix(line, "    ") {
			continue
		}
		if cells(line) != cells(want[i]) {
			out = append(out, "another number of cells: "+line)
		}
		line = own.ReplaceAllString(anchor.ReplaceAllString(line, ""), "")
		line = regexp.MustCompile("`[0-9a-f]{64}`").ReplaceAllString(line, "")
		line = regexp.MustCompile(`\\.`).ReplaceAllString(line, "")
		if strings.ContainsAny(line, "<>`") || strings.Contains(line, "](http") {
			out = append(out, "markup: "+line)
		}
	}
	return out
}

// cells counts the bars of a line that are not escaped.
func cells(line string) int {
	return strings.Count(regexp.MustCompile(`\\.`).ReplaceAllString(line, ""), "|")
}

func csvProblems(plain, got string) []string {
	want, err := csv.NewReader(strings.NewReader(plain)).ReadAll()
	if err != nil {
		return []string{err.Error()}
	}
	have, err := csv.NewReader(strings.NewReader(got)).ReadAll()
	if err != nil {
		return []string{err.Error()}
	}
	if len(want) != len(have) {
		return []string{"another number of rows"}
	}
	var out []string
	for _, row := range have {
		for _, cell := range row {
			if first := strings.TrimLeft(cell, ` "'`); first != "" && first == strings.TrimLeft(cell, ` "`) && strings.ContainsAny(first[:1], "=+-@\t\r") {
				out = append(out, "a formula: "+cell)
			}
		}
	}
	return out
}
