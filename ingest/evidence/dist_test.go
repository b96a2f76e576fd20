package evidence

import "testing"

func TestParseDist(t *testing.T) {
	for file, want := range map[string]Dist{
		"litellm-1.107.0-py3-none-any.whl":                      {"litellm", "1.107.0", true, false},
		"litellm-1.107.0-py3-none-any.whl.metadata":             {"litellm", "1.107.0", true, true},
		"/packages/aa/bb/cc/PyYAML-6.0.tar.gz?x=1#sha256=00":    {"PyYAML", "6.0", false, false},
		`C:\wheels\numpy-2.0.0-cp312-cp312-win_amd64.whl`:       {"numpy", "2.0.0", true, false},
		"torch-2.2.1%2Bcpu-cp310-cp310-linux_x86_64.whl":        {"torch", "2.2.1+cpu", true, false},
		"torch-2.2.1+cpu-cp310-cp310-linux_x86_64.whl":          {"torch", "2.2.1+cpu", true, false},
		"tables-3.9-1-cp312-cp312-macosx_11_0_arm64.whl":        {"tables", "3.9", true, false},
		"zope.interface-5.0.0rc1-cp39-cp39-manylinux1_i686.whl": {"zope.interface", "5.0.0rc1", true, false},
		"python-dateutil-2.9.0.post0.tar.gz":                    {"python-dateutil", "2.9.0.post0", false, false},
		"h2-4.3.0.tar.gz":                                       {"h2", "4.3.0", false, false},
		"backports.ssl-match-hostname-3.7.0.1.tar.gz":           {"backports.ssl-match-hostname", "3.7.0.1", false, false},
		"x-1.0-1.zip":                                {"x", "1.0-1", false, false},
		"setuptools-0.6c11-py2.7.egg":                {"setuptools", "0.6c11", false, false},
		"nvidia-cusolver-cu12-11.4.5.107.tar.bz2":    {"nvidia-cusolver-cu12", "11.4.5.107", false, false},
		"https://mirror.acme.example/f/2!a-1.tar.gz": {},
		"litellm-1.107.0-py3-none-any.whl.asc":       {},
		"litellm-1.107.0.tar.gz.sha256":              {},
		"litellm-1.107":                              {},
		"litellm-main.zip":                           {},
		"node-v20.1.0-linux-x64.tar.gz":              {},
		"foo-1.0.linux-x86_64.tar.gz":                {},
		"a%2Fb-1.0.tar.gz":                           {},
		"-1.0.tar.gz":                                {},
		"litellm-1.107.0%zz.tar.gz":                  {},
		"":                                           {},
	} {
		got, ok := ParseDist(file)
		if ok != (want != Dist{}) {
			t.Errorf("ParseDist(%q) ok = %v", file, ok)
			continue
		}
		if ok && got != want {
			t.Errorf("ParseDist(%q) = %+v, want %+v", file, got, want)
		}
	}
}

func FuzzParseDist(f *testing.F) {
	for _, s := range []string{"litellm-1.107.0-py3-none-any.whl.metadata", "x-1.0-1.tar.gz", "a%2b-1.egg", "torch-2.2.1%2Bcpu-cp310-cp310-linux_x86_64.whl"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, ok := ParseDist(s); ok && (!IsDistName(d.Name) || !IsVersion(d.Version)) {
			t.Errorf("ParseDist(%q) = %+v", s, d)
		}
	})
}
