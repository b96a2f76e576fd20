package frame

import "testing"

func TestParseSyslog(t *testing.T) {
	for _, c := range []struct{ line, host, program, text string }{
		{"2026-10-21T12:44:02+0000 edge05 dockerd[901]: x", "edge05", "dockerd", "x"},
		{"2026-10-21T12:44:02.123456Z 10.0.0.7 deploy: + pip install", "10.0.0.7", "deploy", "+ pip install"},
		{"<30>Oct  1 12:44:02 fe80::1 su: x", "fe80::1", "su", "x"},
		{"Oct 21 12:44:02 h docker/nginx/0f3e[12]: x", "h", "docker/nginx/0f3e", "x"},
		{"Oct 21 12:44:02 h (systemd)[12]:", "h", "(systemd)", ""},
		{"Wed 2026-10-21 12:44:02 CEST h k3s[1]: x", "h", "k3s", "x"},
		{`<30>1 2026-10-21T12:44:02Z h app 7 ID [a b="\]\""] x y`, "h", "app", "x y"},
		{"<30>1 - - - - - -", "", "", ""},
	} {
		h, ok := parseSyslog([]byte(c.line))
		if !ok || string(h.host) != c.host || string(h.program) != c.program || string(h.text) != c.text {
			t.Errorf("%q: host %q program %q text %q %v", c.line, h.host, h.program, h.text, ok)
		}
	}
}

// TestNotSyslog holds lines of other programs that come close.
func TestNotSyslog(t *testing.T) {
	for _, line := range []string{
		"2026-01-01T00:00:00Z INFO module: text",
		"2026-01-01T00:00:00Z [info] module: text",
		"2026-01-01T00:00:00Z main: text",
		"2026-01-01T00:00:00Z host error: text",
		"2026-01-01T00:00:00Z STEP 1/2: FROM scratch",
		"2026-01-01T00:00:00.1234567Z Runner name: text",
		"2026-01-01T00:00:00.123456789Z stdout F: text",
		"2026-01-01 00:00:00 host module: text",
		"2026-01-01T00:00:00Z host two words: text",
		"<123456>Oct 21 12:44:02 h su: x", "<a>Oct 21 12:44:02 h su: x", "<30>", "<30>1 ", "<30>1 x h a p m - t",
		"<30>1 2026-10-21T12:44:02Z h app 7 ID [a b=", "October 21 12:44:02 h su: x", "Oct 21 12:44:02", "-", "W",
	} {
		if h, ok := parseSyslog([]byte(line)); ok && len(h.program) > 0 {
			t.Errorf("%q: host %q program %q", line, h.host, h.program)
		}
	}
}

func TestCRIName(t *testing.T) {
	const id = "14f7262f9d64775fae3c78c8f7d20a7d46e1b321b0318f81089ba9e52e173853"
	for path, want := range map[string][4]string{
		"logs/api-7d9c_prod_api-" + id + ".log":                                              {"prod", "api-7d9c", "api", id},
		"node.tar!var/log/pods/prod_api-7d9c_0f3e6c1a-1111-4222-8333-1234567890ab/api/0.log": {"prod", "api-7d9c", "api", ""},
		"logs/api.log": {}, "prod_api_x/api/0.log": {}, "a_b_c-" + id[1:] + ".log": {},
	} {
		ns, pod, name, cid := criName(path)
		if got := [4]string{ns, pod, name, cid}; got != want {
			t.Errorf("%s: %q", path, got)
		}
	}
}

func TestComposePrefix(t *testing.T) {
	for line, want := range map[string]string{
		"web-1  | x": "web-1", "acme_web_12 |": "acme_web_12", "web-1  |x": "", "web | x": "", "1 | x": "", "-1 | x": "",
		"version-1.2 | x": "", "web-1| x": "", "web-1": "", "": "",
		`registry   | time="2026-10-21T12:04:51Z" level=info`: "registry", "litellm  | INFO:     Started server process [1]": "",
		"litellm | 10.0.0.7 - - [21/Oct/2026:12:04:51 +0000]": "litellm", "db    | 2026-10-21 12:04:51.123 UTC [1] LOG:": "db",
		"pyproject.toml | 12 ++++++++++--------": "", "env | sort --unique --reverse": "", "litellm | BerriAI gateway | 1.107.0": "",
		"Name | Version of the package |": "",
	} {
		if name, _ := composePrefix([]byte(line)); string(name) != want {
			t.Errorf("%q: %q", line, name)
		}
	}
}
