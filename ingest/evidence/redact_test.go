package evidence

import "testing"

// secrets are texts that hide something, and how they are kept.
var secrets = map[string]string{
	"plain text about tokenizers==0.20.1":                                   "plain text about tokenizers==0.20.1",
	"AWS_SECRET_ACCESS_KEY=abcd1234":                                        "AWS_SECRET_ACCESS_KEY=[redacted]",
	"max_total_num_tokens=681280, cached_tokens: 12":                        "max_total_num_tokens=681280, cached_tokens: 12",
	"auth_tokens=681280 input_tokens=abcd":                                  "auth_tokens=[redacted] input_tokens=[redacted]",
	"Password: hunter2, user: me":                                           "Password: [redacted], user: me",
	"authorization: Bearer abcdefgh12345":                                   "authorization: Bearer [redacted]",
	"curl -H 'BASIC dXNlcjpwYXNz'":                                          "curl -H 'BASIC [redacted]'",
	"key sk-abcdefgh12345678 here":                                          "key [redacted] here",
	"ghp_0123456789abcdefghij, AKIAABCDEFGHIJKLMNOP":                        "[redacted], [redacted]",
	"cut: pypi-emSRFlqhI7A":                                                 "cut: pypi-[redacted]",
	"pip install pypi-attestations":                                         "pip install pypi-attestations",
	"cut: eyJhbGciOiJIUzI1Ni":                                               "cut: [redacted]",
	"cut: eyJhbGciOiJIUzI1NiJ9.eyJz":                                        "cut: [redacted]",
	"eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.sig":                                     "[redacted]",
	"https://me:hunter2@mirror.acme.example/simple/":                        "https://me:[redacted]@mirror.acme.example/simple/",
	"-----BEGIN RSA PRIVATE KEY-----MIIE":                                   "[redacted]",
	"key AKIA[31mABCDEFGH[1;4mIJKLMNOP[0m of ^[[1msk-abcd^[[0mefgh12345678": "key [redacted] of [redacted]",
	"warn[31mings of litellm[proxy] [2026]":                                 "warn[31mings of litellm[proxy] [2026]",
	"acme/token-service:latest as of js-tokens: ^4.0.0":                     "acme/token-service:latest as of js-tokens: ^4.0.0",
	"docker.io/acme/api-key@sha256:00ff and pypi: secretstorage:3.3.3":      "docker.io/acme/api-key@sha256:00ff and pypi: secretstorage:3.3.3",
	"GET http://mirror:4873/@acme/token/-/token-1.0.0.tgz":                  "GET http://mirror:4873/@acme/token/-/token-1.0.0.tgz",
	"docker run -p 8080:80 acme/web && mkdir -p build && cd $PWD":           "docker run -p 8080:80 acme/web && mkdir -p build && cd $PWD",
	"redis://:p@ss:w0rd@db:6379/0":                                          "redis://:[redacted]@db:6379/0",
	`PASSWORD="correct horse" PASS=a,b;c`:                                   `PASSWORD="[redacted]" PASS=[redacted]`,
	`{\"api_key\":\"abcdefgh\"}`:                                            `{"api_key":"[redacted]"}`,
	"next=%2Fx%3Ftoken%3Dabcdefgh%26a%3D1":                                  "next=/x?token=[redacted]&a=1",
	"docker login -u me -p hunter2 ghcr.io":                                 "docker login -u me -p [redacted] ghcr.io",
	"twine upload --password hunter2 dist/*":                                "twine upload --password [redacted] dist/*",
	"docker login --password-stdin ghcr.io":                                 "docker login --password-stdin ghcr.io",
	"machine git.acme.example login me password hunter2":                    "machine git.acme.example login me password [redacted]",
	"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08":      "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
	"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj":      "[redacted]",
	`10.4.1.9 - - [21/Oct/2026:14:18:14 +0000] "GET /v2/acme%2Fapi/x HTTP/1.1" 200 5 "-" "pip/26 {\x22ci\x22:true}"`: `10.4.1.9 - - [21/Oct/2026:14:18:14 +0000] "GET /v2/acme%2Fapi/x HTTP/1.1" 200 5 "-" "pip/26 {\x22ci\x22:true}"`,
	`{\x22token\x22:\x22abcdefgh\x22} \x1b[31mpassword\x1b[0m=hunter2`:                                               `{\x22token\x22:\x22abcdefgh\x22} password=[redacted]`,
	"token: ***":                   "token: ***",
	"--build-arg PIP_TOKEN=$TOKEN": "--build-arg PIP_TOKEN=$TOKEN",
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
		if got, want := Redact(s), redactAll(s, func(string) suspicion { return suspectAll }); got != want {
			t.Errorf("Redact(%q) = %q, all patterns say %q", s, got, want)
		}
	})
}
