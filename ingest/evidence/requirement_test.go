package evidence

import "testing"

func TestParseRequirement(t *testing.T) {
	for text, want := range map[string]struct {
		r    Requirement
		rest string
	}{
		"litellm":                              {Requirement{Name: "litellm"}, ""},
		"litellm>=1.100 (from acme)":           {Requirement{Name: "litellm", Spec: ">=1.100"}, " (from acme)"},
		"litellm[proxy] == 1.107.0":            {Requirement{Name: "litellm", Spec: "==1.107.0", Version: "1.107.0"}, ""},
		"litellm===1.107.0":                    {Requirement{Name: "litellm", Spec: "===1.107.0", Version: "1.107.0"}, ""},
		"litellm==1.107.*":                     {Requirement{Name: "litellm", Spec: "==1.107.*"}, ""},
		"a!=1,>=0.5, <2;python_version<'3'":    {Requirement{Name: "a", Spec: "!=1,>=0.5,<2"}, ";python_version<'3'"},
		"a (>=1.0,<2) ; extra == 'x'":          {Requirement{Name: "a", Spec: ">=1.0,<2"}, " ; extra == 'x'"},
		"a.b-c_d~=1.4.2 # why":                 {Requirement{Name: "a.b-c_d", Spec: "~=1.4.2"}, " # why"},
		"a @ https://h.example/a-1.2.zip ; m":  {Requirement{Name: "a", Version: "1.2", URL: "https://h.example/a-1.2.zip"}, " ; m"},
		"a@ git+https://h.example/a@main":      {Requirement{Name: "a", URL: "git+https://h.example/a@main"}, ""},
		"package metadata (current.json): ...": {Requirement{Name: "package"}, " metadata (current.json): ..."},
	} {
		r, rest, ok := ParseRequirement(text)
		if !ok || r != want.r || rest != want.rest {
			t.Errorf("ParseRequirement(%q) = %+v, %q, %v; want %+v, %q", text, r, rest, ok, want.r, want.rest)
		}
	}
	for _, text := range []string{"", "-r x.txt", "./x", "[a]", "a[b", "a @ b", "=1"} {
		if r, _, ok := ParseRequirement(text); ok {
			t.Errorf("ParseRequirement(%q) = %+v, want none", text, r)
		}
	}
}

func FuzzParseRequirement(f *testing.F) {
	f.Add("litellm[proxy]>=1.100,<2 ; python_version >= '3.10'")
	f.Add("a @ https://user:secret@h.example/a-1.2.zip")
	f.Add("a (==1.0)")
	f.Fuzz(func(t *testing.T, s string) {
		if r, _, ok := ParseRequirement(s); ok && (!IsDistName(r.Name) || r.Version != "" && !IsVersion(r.Version)) {
			t.Errorf("ParseRequirement(%q) = %+v", s, r)
		}
	})
}
