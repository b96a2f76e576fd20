package matchers

import "testing"

// The table of https://packaging.python.org/en/latest/specifications/version-specifiers/
// applied to one bad release, 1.107.0, and its neighbours.
func TestPyPIVersions(t *testing.T) {
	const exact, local, other = "exact", "local", "other"
	set := newVersionSet("pypi", []string{"1.107.0"}, nil)
	for version, want := range map[string]string{
		"1.107.0": exact, "1.107": exact, "v1.107.0": exact, "V1.107": exact, "1.107.0.0": exact, "01.107.0": exact,
		"0!1.107.0": exact, " 1.107.0 ": exact,
		"1.107.0+acme.1": local, "1.107+x": local, "v1.107.0.0+ACME-1": local,
		"1!1.107.0": other, "1.107.0rc1": other, "1.107.0.rc1": other, "1.107.0a1": other, "1.107.0.post1": other,
		"1.107.0-1": other, "1.107.0.dev3": other, "1.107.1": other, "11.107.0": other, "1.107.01": other,
		"1.107.0.1": other, "1.107.0.post1+x": other, "1.10": other, "": other, "1.107.0-custom": other, "latest": other,
		"99999999999999999999.1": other,
	} {
		got := other
		if set.Exact(version) {
			got = exact
		}
		if set.Local(version) {
			if got == exact {
				t.Errorf("%q is exact and local", version)
			}
			got = local
		}
		if got != want {
			t.Errorf("%q is %s, want %s", version, got, want)
		}
	}
}

func TestVersionLists(t *testing.T) {
	for _, c := range []struct {
		kind          string
		versions      []string
		safe          []string
		version       string
		exact, isSafe bool
	}{
		{"pypi", []string{"1.0rc1"}, nil, "1.0-RC.1", true, false},
		{"pypi", []string{"1.0rc1"}, nil, "1.0c1", true, false},
		{"pypi", []string{"1.0.post2"}, nil, "1.0-2", true, false},
		{"pypi", []string{"1!2.0"}, nil, "2.0", false, false},
		{"pypi", []string{"1.0+evil"}, nil, "1.0+evil", true, false},
		{"pypi", []string{"1.0+evil-1"}, nil, "1.0+evil.1", true, false},
		{"pypi", []string{"1.0+evil"}, nil, "1.0", false, false},
		{"pypi", []string{">=1.95.6,<1.95.8"}, nil, "1.95.7", true, false},
		{"pypi", []string{">=1.95.6,<1.95.8"}, nil, "1.95.8", false, false},
		{"pypi", []string{">=1.95.6,<1.95.8"}, nil, "1.95.10", false, false},
		{"pypi", []string{">=1.95.6,<1.95.8"}, []string{"1.95.7"}, "1.95.7.0", false, true},
		{"pypi", []string{"*"}, []string{"<=0.10.0"}, "0.9", false, true},
		{"pypi", []string{"*"}, []string{"<=0.10.0"}, "0.11", false, false},
		{"npm", []string{"1.14.1"}, nil, "1.14.1", true, false},
		{"npm", []string{"1.14.1"}, nil, "v1.14.1", true, false},
		{"npm", []string{"1.14.1"}, nil, "1.14.1+build.5", true, false},
		{"npm", []string{"1.14.1"}, nil, "1.14.1-beta.0", false, false},
		{"npm", []string{"1.14.1"}, nil, "1.14.10", false, false},
		{"npm", []string{"1.14.0"}, nil, "1.14", false, false},
		{"deb", []string{"1:5.6.0-1"}, nil, "1:5.6.0-1", true, false},
		{"deb", []string{"1:5.6.0-1"}, nil, "5.6.0-1", false, false},
		{"deb", []string{"5.6.0"}, nil, "5.6.0-1", false, false},
		{"rpm", []string{"0.69.4"}, nil, "0.69.4-1.el9", true, false},
		{"rpm", []string{"0.69.4"}, nil, "0.69.4-2.el9", false, false},
		{"rpm", []string{"0.69.4-1"}, nil, "0.69.4-2", false, false},
		{"rpm", []string{"0.69.4"}, []string{"0.69.4-1"}, "0.69.4-1", false, true},
		{"apk", []string{"5.6.1"}, nil, "5.6.1-r0", true, false},
		{"alpm", []string{"5.6.1"}, nil, "5.6.1-1", true, false},
		{"alpm", []string{"5.6.1"}, nil, "15.6.1-1", false, false},
		{"rpm", []string{"<2.0.0"}, nil, "1.9-3", true, false},
		{"golang", []string{"v1.2.3"}, nil, "1.2.3", true, false},
		{"github", []string{"v0.69.4"}, nil, "0.69.4", true, false},
		{"generic", []string{"vnext"}, nil, "next", false, false},
		{"generic", []string{"<2.0.0"}, nil, "1.9", true, false},
	} {
		set := newVersionSet(c.kind, c.versions, c.safe)
		if got := set.Exact(c.version); got != c.exact {
			t.Errorf("%s %v: Exact(%q) = %t", c.kind, c.versions, c.version, got)
		}
		if got := set.Safe(c.version); got != c.isSafe {
			t.Errorf("%s safe %v: Safe(%q) = %t", c.kind, c.safe, c.version, got)
		}
	}
	if !newVersionSet("pypi", []string{"<2"}, nil).Local("build-of-friday") {
		t.Error("a text that cannot be compared with a range must stay possible")
	}
}

func TestAdmits(t *testing.T) {
	pypi := []string{"1.107.0"}
	for _, c := range []struct {
		kind     string
		versions []string
		safe     []string
		spec     string
		want     bool
	}{
		{"pypi", pypi, nil, "", true},
		{"pypi", pypi, nil, ">=1.80", true},
		{"pypi", pypi, nil, ">=1.80,!=1.107.0", false},
		{"pypi", pypi, nil, ">=1.80, != 1.107", false},
		{"pypi", pypi, nil, "!=1.107.*", false},
		{"pypi", pypi, nil, "!=1.107.1", true},
		{"pypi", pypi, nil, "~=1.107", true},
		{"pypi", pypi, nil, "~=1.107.1", false},
		{"pypi", pypi, nil, "~=1.106.3", false},
		{"pypi", pypi, nil, "~=1.80", true},
		{"pypi", pypi, nil, "==1.107.*", true},
		{"pypi", pypi, nil, "==v1.107.*", true},
		{"pypi", pypi, nil, "==1.107.0.0.*", true},
		{"pypi", pypi, nil, "==1.106.*", false},
		{"pypi", pypi, nil, "==1.107", true},
		{"pypi", pypi, nil, "==1.107.0.post1", false},
		{"pypi", pypi, nil, "==1.107.0+local", false},
		{"pypi", pypi, nil, "===1.107.0", true},
		{"pypi", pypi, nil, "===1.106.0", false},
		{"pypi", pypi, nil, "<1.107", false},
		{"pypi", pypi, nil, "<1.107.1", true},
		{"pypi", pypi, nil, "<=1.107", true},
		{"pypi", pypi, nil, ">1.107", false},
		{"pypi", pypi, nil, ">=1.107.1", false},
		{"pypi", pypi, nil, "(>=1.80,<2)", true},
		{"pypi", pypi, nil, "[proxy]==1.106.3", false},
		{"pypi", pypi, nil, ">=1.80 ; python_version < '3.9'", true},
		{"pypi", pypi, nil, "^1.80", true},
		{"pypi", pypi, nil, "^2.0", false},
		{"pypi", pypi, nil, "^1.108", false},
		{"pypi", pypi, nil, "~1.106", false},
		{"pypi", pypi, nil, "~1", true},
		{"pypi", pypi, nil, "1.107.0", true},
		{"pypi", pypi, nil, "1.106.0", false},
		{"pypi", pypi, nil, "*", true},
		{"pypi", pypi, nil, "1.*", true},
		{"pypi", pypi, nil, "<1 || >=1.100,<1.200", true},
		{"pypi", pypi, nil, "<1 || >=2", false},
		{"pypi", pypi, nil, "=1.107", true},
		{"pypi", pypi, nil, "@ git+https://git.acme.example/litellm", true},
		{"pypi", pypi, nil, "latest", true},
		{"pypi", pypi, nil, "==1.107.0rc1", false},
		{"pypi", []string{"3.1rc1"}, nil, "<3.1", false},
		{"pypi", []string{"3.1rc1"}, nil, "<3.1rc2", true},
		{"pypi", []string{"3.1.post1"}, nil, ">3.1", false},
		{"pypi", []string{"0.0.3"}, nil, "^0.0.3", true},
		{"pypi", []string{"0.0.4"}, nil, "^0.0.3", false},
		{"pypi", []string{"0.3.9"}, nil, "^0.2", false},
		{"pypi", []string{"1!2.0"}, nil, ">=3", true},
		{"pypi", []string{"1!2.0"}, nil, "==2.*", false},
		{"pypi", []string{"*"}, []string{"1.0"}, "==1.0", false},
		{"pypi", []string{"*"}, []string{"1.0"}, "==1.1", true},
		{"pypi", []string{">=1.95.6,<1.95.8"}, nil, "~=1.95.0", true},
		{"pypi", []string{">=1.95.6,<1.95.8"}, nil, "<1.95.6", false},
		{"pypi", []string{">=1.95.6,<1.95.8"}, nil, ">=1.95.8", false},
		{"pypi", []string{">=1.95.6,<1.95.8"}, nil, ">1.95.6", true},
		{"pypi", []string{"<1.95.8"}, nil, "<1.0", true},
		{"npm", []string{"4.1.5"}, nil, "^4.1.0", true},
		{"npm", []string{"4.1.5"}, nil, "^4.2.0", false},
		{"npm", []string{"4.1.5"}, nil, "~4.1", true},
		{"npm", []string{"4.1.5"}, nil, "4.x", true},
		{"npm", []string{"4.1.5"}, nil, "4.1", true},
		{"npm", []string{"4.1.5"}, nil, "4.1.4", false},
		{"npm", []string{"4.1.5"}, nil, "1.x || >=4.1.0 <4.2.0", true},
		{"npm", []string{"4.1.5"}, nil, "1.0.0 - 4.1.4", false},
		{"npm", []string{"4.1.5"}, nil, "latest", true},
		{"npm", []string{"4.1.5"}, nil, "", true},
		{"npm", []string{"4.1.5"}, nil, "workspace:*", true},
		{"npm", []string{"4.1.5"}, nil, "npm:other@^1.0.0", true},
		{"npm", []string{"4.1.5-rc.1"}, nil, "^4.1.0", true},
		{"npm", []string{">=4.1.0,<4.2.0"}, nil, "^4.1.3", true},
		{"npm", []string{">=4.1.0,<4.2.0"}, nil, "^5.0.0", false},
		{"deb", []string{"5.6.0-1"}, nil, "=5.6.0-1", true},
		{"deb", []string{"5.6.0-1"}, nil, "5.6.0-2", false},
		{"deb", []string{"5.6.0-1"}, nil, ">= 5", true},
		{"github", []string{"v1.2.3"}, nil, "v1", true},
		{"composer", []string{"1.2.3"}, nil, "^1.2", true},
		{"pypi", nil, nil, "", false},
	} {
		if got := newVersionSet(c.kind, c.versions, c.safe).Admits(c.spec); got != c.want {
			t.Errorf("%s %v safe %v: Admits(%q) = %t", c.kind, c.versions, c.safe, c.spec, got)
		}
	}
}

func FuzzVersions(f *testing.F) {
	f.Add("1.107.0", ">=1.80,!=1.107.0")
	f.Add("1!1.0rc1.post2.dev3+l.1", "~=1")
	f.Add("v1", "^")
	f.Add(">=1,<2", "==.*")
	f.Fuzz(func(t *testing.T, version, spec string) {
		for _, kind := range []string{"pypi", "npm", "deb"} {
			set := newVersionSet(kind, []string{version, "1.107.0", "*"}, []string{spec})
			set.Local(spec)
			set.Admits(spec)
			bad := newVersionSet(kind, []string{version}, nil)
			if version != "" && version != "*" && !isRange(version) && !bad.Exact(version) {
				t.Errorf("%s: %q is not itself", kind, version)
			}
			if bad.Exact(spec) && bad.Local(spec) {
				t.Errorf("%s %q: %q is exact and local", kind, version, spec)
			}
		}
	})
}
