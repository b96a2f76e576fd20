package evidence_test

import (
	"encoding/json"
	"testing"

	"pulltrail/ingest/evidence"
)

func TestJSONFields(t *testing.T) {
	line := []byte(` {"a":"x\"y\u00e9\ud83d\ude00\n\/", "b" : 12 ,"c":{"d":["}",1]},"e":null} tail`)
	want := map[string]string{"a": `"x\"y\u00e9\ud83d\ude00\n\/"`, "b": "12", "c": `{"d":["}",1]}`, "e": "null"}
	f := evidence.JSONFields(line)
	n := 0
	for ; f.Next(); n++ {
		if want[string(f.Key)] != string(f.Value) {
			t.Errorf("%s: got %s", f.Key, f.Value)
		}
		if string(f.Key) == "a" {
			if text, _, ok := evidence.UnquoteJSON(f.Value, nil); !ok || string(text) != "x\"yé😀\n/" {
				t.Errorf("unquoted: %q %v", text, ok)
			}
		}
	}
	if n != 4 || !f.Whole() {
		t.Errorf("%d fields, whole %v", n, f.Whole())
	}
	for _, bad := range []string{``, `x`, `{`, `{"a"`, `{"a":`, `{"a":"b`, `{"a":1`, `{"a":[1}`, `{,}`} {
		f := evidence.JSONFields([]byte(bad))
		for f.Next() {
		}
		if f.Whole() {
			t.Errorf("%q is whole", bad)
		}
	}
	if f := evidence.JSONFields([]byte(`{}`)); f.Next() || !f.Whole() {
		t.Error("an empty object is whole and has no field")
	}
}

func FuzzJSONFields(f *testing.F) {
	f.Add([]byte(`{"log":"Collecting fire\u003e=0.1.3\n","stream":"stdout","time":"2026-10-21T12:00:00Z"}`))
	f.Add([]byte(`{"MESSAGE":[104,105],"a":{"b":"\\"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var want map[string]json.RawMessage
		valid := json.Unmarshal(data, &want) == nil && want != nil
		it := evidence.JSONFields(data)
		n := 0
		for it.Next() {
			n++
			evidence.UnquoteJSON(it.Value, nil)
		}
		if valid && (!it.Whole() || n < len(want)) {
			t.Errorf("%q: %d of %d fields, whole %v", data, n, len(want), it.Whole())
		}
	})
}
