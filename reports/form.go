package reports

import (
	"bytes"
	"embed"
	"encoding/csv"
	"encoding/json"
	"fmt"
	htmltemplate "html/template"
	"io"
	"reflect"
	"strings"
	"text/template"
	"unicode/utf8"
)

//go:embed templates
var templates embed.FS

// Names lists the reports.
func Names() []string {
	return []string{"responder", "rotation", "customer", "questionnaire", "manifest"}
}

// Forms lists the file endings that a report can be written as.
func Forms() []string { return []string{"html", "md", "csv", "json"} }

// report is one report, ready to be written in each form. Every form must
// name each of the ids: that is how a form that lost one is found out.
type report struct {
	name  string
	ids   []string // of findings, or of rows
	truth any      // what JSON writes
	page  any      // what the templates see
	funcs template.FuncMap
	table [][]string // CSV: the header, then a row for each id, which is its first cell

	private *private // names that must not stand in it, nil when its readers may see all
}

// write renders the report and writes it when it is whole and harmless: a
// report that lost something, or lets a character through that somebody's
// terminal or browser could act on, is an error and writes nothing.
func (r *report) write(w io.Writer, form string) error {
	var b bytes.Buffer
	var err error
	switch form {
	case "html":
		err = r.html(&b)
	case "md":
		err = r.markdown(&b)
	case "csv":
		err = r.csv(&b)
	case "json":
		err = WriteJSON(&b, r.truth)
	default:
		err = fmt.Errorf("no form %q: one of %s", form, strings.Join(Forms(), ", "))
	}
	if err == nil {
		err = r.check(form, b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("report %s: %w", r.name, err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

func (r *report) html(w io.Writer) error {
	funcs := htmltemplate.FuncMap{}
	for name, f := range r.funcs {
		funcs[name] = f
	}
	t, err := htmltemplate.New("page.html.tmpl").Funcs(funcs).ParseFS(templates, "templates/page.html.tmpl", "templates/"+r.name+".html.tmpl")
	if err != nil {
		return err
	}
	return t.Execute(w, shown(r.page))
}

func (r *report) markdown(w io.Writer) error {
	name := r.name + ".md.tmpl"
	t, err := template.New(name).Funcs(r.funcs).ParseFS(templates, "templates/"+name)
	if err != nil {
		return err
	}
	return t.Execute(w, r.page)
}

func (r *report) csv(w io.Writer) error {
	out := csv.NewWriter(w)
	for _, row := range r.table {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = CSVCell(c)
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// check reads what was rendered: every id must stand in it as often as in the
// answer, and no character may have passed the gate.
func (r *report) check(form string, b []byte) error {
	for rest := b; len(rest) > 0; {
		c, n := utf8.DecodeRune(rest)
		if c != '\n' && !safe(c) || c == utf8.RuneError && n == 1 {
			return fmt.Errorf("%s: the character %q slipped through at byte %d", form, c, len(b)-len(rest))
		}
		rest = rest[n:]
	}
	if leak := r.private.leak(string(b)); leak != "" {
		return fmt.Errorf("%s: %s; nothing was written", form, leak)
	}
	found, err := r.found(form, b)
	if err != nil {
		return err
	}
	for _, id := range r.ids {
		if found[id] != 1 {
			return fmt.Errorf("%s: %s stands in it %d times, not once: nothing was written, since a finding may be lost", form, id, found[id])
		}
	}
	if len(found) != len(r.ids) {
		return fmt.Errorf("%s: %d findings or rows in the answer, %d in the report", form, len(r.ids), len(found))
	}
	return nil
}

// found counts the ids in a rendered report.
func (r *report) found(form string, b []byte) (map[string]int, error) {
	found := map[string]int{}
	switch form {
	case "csv":
		rows, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
		if err != nil {
			return nil, err
		}
		for _, row := range rows[1:] {
			found[row[0]]++
		}
	case "json":
		var d struct {
			Findings, Rows []struct {
				ID string `json:"id"`
			}
		}
		if err := json.Unmarshal(b, &d); err != nil {
			return nil, err
		}
		for _, f := range append(d.Findings, d.Rows...) {
			found[f.ID]++
		}
	default:
		before, after := map[string]string{"html": ` id="i-`, "md": "<a id=\"i-"}[form], "\""
		for rest := b; ; {
			_, tail, ok := bytes.Cut(rest, []byte(before))
			if !ok {
				break
			}
			id, tail, _ := bytes.Cut(tail, []byte(after))
			found[string(id)]++
			rest = tail
		}
	}
	return found, nil
}

// shown is a copy of a value in which every string has passed the gate.
func shown(v any) any { return gated(reflect.ValueOf(v)).Interface() }

func gated(v reflect.Value) reflect.Value {
	if !v.IsValid() {
		return v
	}
	out := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		out.SetString(Text(v.String()))
	case reflect.Pointer:
		if !v.IsNil() {
			out.Set(reflect.New(v.Type().Elem()))
			out.Elem().Set(gated(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				out.Index(i).Set(gated(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for it := v.MapRange(); it.Next(); {
				out.SetMapIndex(gated(it.Key()), gated(it.Value()))
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(gated(v.Field(i)))
		}
	default:
		out.Set(v)
	}
	return out
}
