package reports

import (
	"bufio"
	"embed"
	"encoding/csv"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io"
	"iter"
	"reflect"
	"strings"
	"text/template"
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
	table iter.Seq[[]string] // CSV: the header, then a row for each id, which is its first cell

	private *private // names that must not stand in it, nil when its readers may see all
}

// write renders the report and writes it when it is whole and harmless: a
// report that lost something, or lets a character through that somebody's
// terminal or browser could act on, is an error and writes nothing. It is
// rendered into a file that nobody else sees, since it may be large, and read
// while it is.
func (r *report) write(w io.Writer, form string) error {
	s := &spool{}
	defer s.close()
	err := r.checked(s, form)
	if err != nil {
		return fmt.Errorf("report %s: %w", r.name, err)
	}
	return s.copyTo(w)
}

// checked renders the report and checks what was rendered.
func (r *report) checked(w io.Writer, form string) error {
	in, out := io.Pipe()
	read := make(chan error, 1)
	go func() {
		err := r.check(form, in)
		_ = in.CloseWithError(err) // rendering ends too
		read <- err
	}()
	err := r.render(io.MultiWriter(w, out), form)
	_ = out.CloseWithError(err)
	if checked := <-read; checked != nil && (err == nil || errors.Is(err, checked)) {
		return checked
	}
	return err
}

// render writes the report, unchecked.
func (r *report) render(w io.Writer, form string) error {
	b := bufio.NewWriterSize(w, flushAt)
	var err error
	switch form {
	case "html":
		err = r.html(b)
	case "md":
		err = r.markdown(b)
	case "csv":
		err = r.csv(b)
	case "json":
		if d, ok := r.truth.(*Document); ok && d.from != nil {
			err = writeAnswer(b, d, d.from)
		} else {
			err = WriteJSON(b, r.truth)
		}
	default:
		err = fmt.Errorf("no form %q: one of %s", form, strings.Join(Forms(), ", "))
	}
	if err != nil {
		return err
	}
	return b.Flush()
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
	for row := range r.table {
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

// shownEach yields copies of findings in which every string has passed the gate.
func shownEach(all iter.Seq[Finding]) iter.Seq[Finding] {
	return func(yield func(Finding) bool) {
		for f := range all {
			if !yield(shown(f).(Finding)) { //nolint:forcetypeassert // a copy has the type of what it copies
				return
			}
		}
	}
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
			if out.Field(i).CanSet() { // templates see no others
				out.Field(i).Set(gated(v.Field(i)))
			}
		}
	default:
		out.Set(v)
	}
	return out
}
