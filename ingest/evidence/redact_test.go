package evidence

import "testing"

// secrets are texts that hide something, and how they are kept.
var secrets = map[string]string{
	"plain text about tokenizers==0.20.1":                                  "plain text about tokenizers==0.20.1",
	"AWS_SECRET_ACCESS_KEY=abcd1234":                                       "AWS_SECRET_ACCESS_KEY=[redacted]",
	"Password: hunter2, user: me":                                          "Password: [redacted], user: me",
	"authorization: Bearer abcdefgh12345":                                  "authorization: Bearer [redacted]",
	"curl -H 'BASIC dXNlcjpwYXNz'":                                         "curl -H 'BASIC [redacted]'",
	"key sk-abcdefgh12345678 here":                                         "key [redacted] here",
	"ghp_0123456789abcdefghij, AKIAABCDEFGHIJKLMNOP":                       "[redacted], [redacted]",
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.sig":                                    "[redacted]",
	"https://me:hunter2@mirror.acme.example/simple/":                       "https://me:[redacted]@mirror.acme.example/simple/",
	"-----BEGIN RSA PRIVATE KEY-----MIIE":                                  "[redacted]",
	"token: ***":                                                           "token: ***",
	"--build-arg PIP_TOKEN=$TOKEN":                                         "--build-arg PIP_TOKEN=$TOKEN",
	"pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0wMDAw":                "[redacted]",
	"GET /packages/5c/0a/litellm-1.107.0-py3-none-any.whl HTTP/1.1 200 12": "GET /packages/5c/0a/litellm-1.107.0-py3-none-any.whl HTTP/1.1 200 12",
}

func TestRedact(t *testing.T) {
	for in, want := range secrets {
		if got := Redact(in); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzRedact checks that the short way hides what all patterns hide.
func FuzzRedact(f *testing.F) {
	for in := range secrets {
		f.Add(in)
	}
	f.Add("pa\u017fsword=hunter2")
	f.Fuzz(func(t *testing.T, s string) {
		if got, want := Redact(s), redact(s, suspectAll); got != want {
			t.Errorf("Redact(%q) = %q, all patterns say %q", s, got, want)
		}
	})
}
