package reports_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"pulltrail/reports"
)

// TestDocumentJSON compares documents filled at random with what encoding/json
// makes of them.
func TestDocumentJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var d reports.Document
		fill(r, reflect.ValueOf(&d).Elem(), 0)
		same(t, d)
		same(t, &d.Coverage)
		var p reports.Rotation
		fill(r, reflect.ValueOf(&p).Elem(), 0)
		same(t, &p)
	}
}

func TestOddJSON(t *testing.T) {
	type part struct{ A, B string }
	type odd struct {
		part

		At     time.Time
		Any    any
		Bytes  []byte
		Ratio  float64
		Hidden string `json:"-"`
		Text   int    `json:"n,string"`
	}
	for _, v := range []any{
		nil, "", "plain", 3, -1.5,
		[]string{},
		[]string(nil),
		map[string]string{},
		map[string]string(nil),
		map[string]int{"b": 1, "a": 2},
		odd{part: part{"x", "y"}, Any: []any{1, "two", nil}, Bytes: []byte("z")},
		[]odd{{}},
		struct{}{},
		[]struct{ X *odd }{{}},
	} {
		same(t, v)
	}
}

func same(t *testing.T, v any) {
	t.Helper()
	var got, want bytes.Buffer
	if err := reports.WriteJSON(&got, v); err != nil {
		t.Fatal(err)
	}
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Fatalf("got\n%s\nwant\n%s", got.Bytes(), want.Bytes())
	}
}

// fill sets what v is made of, with empty and missing values among it. Texts
// are of characters that both write alike.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	switch v.Kind() { //nolint:exhaustive // documents have no others
	case reflect.String:
		v.SetString([]string{"", "x", `a "b" \ c`, "<é&>\n", "host:web1", "\xff"}[r.IntN(6)])
	case reflect.Int, reflect.Int64:
		v.SetInt(r.Int64N(3) * 1_000_000_007)
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(r, v.Field(i), depth+1)
			}
		}
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(r, v.Elem(), depth+1)
		}
	case reflect.Slice:
		if n := r.IntN(4) - 1; n >= 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(r, v.Index(i), depth+1)
			}
		}
	case reflect.Map:
		if n := r.IntN(4) - 1; n >= 0 {
			v.Set(reflect.MakeMap(v.Type()))
			for range n {
				key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
				fill(r, key, depth+1)
				fill(r, value, depth+1)
				v.SetMapIndex(key, value)
			}
		}
	}
}
