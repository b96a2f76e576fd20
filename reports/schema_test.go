package reports_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"pulltrail/reports"
)

// documents are what the schemas describe, by the name of the report.
var documents = map[string]struct {
	file, version string
	what          reflect.Type
}{
	"responder":     {"findings", reports.Schema, reflect.TypeFor[reports.Document]()},
	"rotation":      {"rotation", reports.RotationSchema, reflect.TypeFor[reports.Rotation]()},
	"customer":      {"customer", reports.CustomerSchema, reflect.TypeFor[reports.Customer]()},
	"questionnaire": {"questionnaire", reports.QuestionnaireSchema, reflect.TypeFor[reports.Questionnaire]()},
	"manifest":      {"manifest", reports.ManifestSchema, reflect.TypeFor[reports.Manifest]()},
	"diff":          {"diff", reports.DifferenceSchema, reflect.TypeFor[reports.Difference]()},
}

// TestSchemas compares the published schemas with the types that are written,
// whose comments they carry, and checks what is written against them.
func TestSchemas(t *testing.T) {
	comments := commentsOf(t)
	for name, d := range documents {
		strict, err := jsonschema.ForType(d.what, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if name != "diff" {
			res, rows := result(t)
			conforms(t, name, strict, renderCase(t, name, "json", caseOf(t, res, rows)))
		}
		strict.Schema, strict.ID, strict.Title = "https://json-schema.org/draft/2020-12/schema", "urn:"+strings.NewReplacer(".", ":", "/", ":").Replace(d.version), d.version
		describe(strict, d.what, comments)
		version := any(d.version)
		strict.Properties["schema"].Const = &version
		want, err := json.MarshalIndent(strict, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, '\n')
		if *update {
			if err := os.WriteFile(filepath.Join("schemas", d.file+".json"), want, 0o644); err != nil { //nolint:gosec // a golden
				t.Fatal(err)
			}
			continue
		}
		got, err := reports.JSONSchema(name)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("schemas/%s.json is not what is written (%v): go test ./reports -run Schemas -update", d.file, err)
		}
	}
}

// conforms checks a document against a schema that allows no field beyond it.
func conforms(t *testing.T, name string, s *jsonschema.Schema, doc string) {
	t.Helper()
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		t.Fatal(err)
	}
	if err := r.Validate(v); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	without := v.(map[string]any) //nolint:forcetypeassert // every document is an object
	delete(without, "schema")
	if r.Validate(without) == nil {
		t.Errorf("%s: the schema takes a document without its version", name)
	}
}

// describe gives the schema of a type the comments of its fields, and opens it
// to the fields that a later version may add.
func describe(s *jsonschema.Schema, t reflect.Type, comments map[string]string) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice && s.Items != nil {
			s = s.Items
		}
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	s.AdditionalProperties = nil
	s.Description = comments[t.Name()]
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[name]
		if p == nil {
			continue
		}
		describe(p, f.Type, comments)
		if c := comments[t.Name()+"."+f.Name]; c != "" {
			p.Description = c
		}
	}
}

// commentsOf reads the comments of the package's types, by Type and Type.Field.
func commentsOf(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	line := func(groups ...*ast.CommentGroup) string {
		var all []string
		for _, g := range groups {
			all = append(all, strings.Fields(g.Text())...)
		}
		return strings.Join(all, " ")
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			g, ok := decl.(*ast.GenDecl)
			if !ok || g.Tok != token.TYPE {
				continue
			}
			for _, spec := range g.Specs {
				ts := spec.(*ast.TypeSpec) //nolint:forcetypeassert // of a type declaration
				out[ts.Name.Name] = line(g.Doc, ts.Doc)
				st, ok := ts.Type.(*ast.StructType)
				if !ok {
					continue
				}
				for _, f := range st.Fields.List {
					for _, n := range f.Names {
						out[ts.Name.Name+"."+n.Name] = line(f.Doc, f.Comment)
					}
				}
			}
		}
	}
	return out
}
