package evidence

import (
	"strings"
	"testing"
)

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
	`{\x22token\x22:\x22abcdefgh\x22} \x1b[31mpassword\x1b[0m=hunter2`:                                               `{"token":"[redacted]"} password=[redacted]`,
	"skopeo copy --src-creds me:hunter2 docker://a docker://b":                                                       "skopeo copy --src-creds [redacted] docker://a docker://b",
	"curl -fsSLu me:hunter2 -H 'Cookie: sid=hunter2' https://x.tld":                                                  "curl -fsSLu me:[redacted] -H 'Cookie: [redacted]' https://x.tld",
	"npm config set //npm.acme.example/:_authToken hunter2 && npm ci":                                                "npm config set //npm.acme.example/:_authToken [redacted] && npm ci",
	"poetry config http-basic.acme me hunter2 && poetry install":                                                     "poetry config http-basic.acme me [redacted] && poetry install",
	"bundle config gems.acme.example me:hunter2":                                                                     "bundle config gems.acme.example me:[redacted]",
	"cargo login hunter2; vault login hunter2; snyk auth hunter2":                                                    "cargo login [redacted]; vault login [redacted]; snyk auth [redacted]",
	"vault kv put secret/app a=hunter2 b=hunter2 && make":                                                            "vault kv put secret/app [redacted]&& make",
	"echo hunter2 | docker login -u me --password-stdin":                                                             "echo [redacted] | docker login -u me --password-stdin",
	`printf '%s' "hunter2" | gh auth login --with-token`:                                                             `printf '%s' "[redacted]" | gh auth login --with-token`,
	"ENV API_TOKEN hunter2":                                                       "ENV API_TOKEN [redacted]",
	"aws configure set aws_secret_access_key hunter2":                             "aws configure set aws_secret_access_key [redacted]",
	`{"name":"DB_PASSWORD","value":"hunter2"}`:                                    `{"name":"DB_PASSWORD","value":"[redacted]"}`,
	`{"value":"hunter2","name":"DB_PASSWORD"}`:                                    `{"value":"[redacted]","name":"DB_PASSWORD"}`,
	`<add key="ClearTextPassword" value="hunter2" /><password>hunter2</password>`: `<add key="ClearTextPassword" value="[redacted]" /><password>[redacted]</password>`,
	`["docker","login","--password","hunter2"]`:                                   `["docker","login","--password","[redacted]"]`,
	"--secret-key hunter2 --auth-type legacy --creds me:hunter2":                  "--secret-key [redacted] --auth-type legacy --creds [redacted]",
	"password => 'hunter2', password := \"hunter2\"":                              "password => '[redacted]', password := \"[redacted]\"",
	"OPENAI_KEY=hT5kQ2vB cache_key: hT5kQ2vB":                                     "OPENAI_KEY=[redacted] cache_key: hT5kQ2vB",
	"https://hT5kQ2vB9x@git.acme.example/a and https://deploy@git.acme.example/a": "https://[redacted]@git.acme.example/a and https://deploy@git.acme.example/a",
	"conda install -c https://conda.acme.example/t/hunter2-hunter2/acme x":        "conda install -c https://conda.acme.example/t/[redacted]/acme x",
	"sqlcmd -S db -U sa -P hunter2":                                               "sqlcmd -S db -U sa -P [redacted]",
	"kubectl create secret generic x --from-literal=a=hunter2":                    "kubectl create secret generic x --from-literal=a=[redacted]",
	"q=%22refresh_token%22%3A+%22hunter2%22":                                      `q="refresh_token":+"[redacted]"`,
	"token: ***":                                                                  "token: ***",
	"--build-arg PIP_TOKEN=$TOKEN":                                                "--build-arg PIP_TOKEN=$TOKEN",
	"pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0wMDAw":                       "[redacted]",
	"GET /packages/5c/0a/litellm-1.107.0-py3-none-any.whl HTTP/1.1 200 12":        "GET /packages/5c/0a/litellm-1.107.0-py3-none-any.whl HTTP/1.1 200 12",
}

func TestRedact(t *testing.T) {
	for in, want := range secrets {
		if got := Redact(in); got != want {
			t.Errorf("Redact(%q) = %q, want %q", in, got, want)
		}
	}
}

// drawnWord makes a word as a vendor would: always the same one.
func drawnWord(n int, of string) string {
	var b strings.Builder
	for state := uint32(7); b.Len() < n; {
		state = state*1664525 + 1013904223
		b.WriteByte(of[state>>16%uint32(len(of))])
	}
	return b.String()
}

const (
	base62 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	base16 = "0123456789abcdef"
)

// TestVendors puts the secrets of vendors where nothing says that they are any.
func TestVendors(t *testing.T) {
	long, hex := drawnWord(60, base62), drawnWord(64, base16)
	for _, secret := range []string{
		"gloas-" + hex, "GR1348941" + long[:20], "ghs_" + long[:12] + "_eyJhbGciOiJSUzI1NiJ9." + long + "." + long[3:40], "AQ.Ab8RN6" + long[:40],
		"1//0" + long, "xai-" + long, "pplx-" + long[:48], "r8_" + long[:37], "fw_" + long[:24], "csk-" + drawnWord(48, base62[26:]), "tgp_v1_" + long[:43],
		"tvly-dev-" + long[:32], "lsv2_pt_" + hex[:32] + "_" + hex[:10], "doo_v1_" + hex, long[:14] + ".atlasv1." + long, "SK" + hex[:32], "key-" + hex[:32],
		"glsa_" + long[:32] + "_" + hex[:8], "NRAK-" + drawnWord(27, base62[:26]), "sntrys_" + long, "pscale_pw_" + long[:40], "sbp_" + hex[:40], "sb_secret_" + long[:31],
		"lin_api_" + long[:40], "ntn_" + long[:46], "figd_" + long[:40], "pul-" + hex[:40], "dp.st.prd." + long[:43], "fm2_" + long, "nfp_" + long[:36], "rnd_" + long[:32],
		"CCIPAT_" + long[:22] + "_" + hex[:40], "tskey-auth-" + long[:16] + "-" + long[:32], "abc8Q~" + long[:34], "cfut_" + long[:40], "ATATT3xFfGF0" + long,
		"ATBB" + long[:32], "sqp_" + hex[:40], "dt0c01." + drawnWord(24, base62[:26]) + "." + drawnWord(64, base62[:26]), "1234567890:AA" + long[:33], "shpat_" + hex[:32],
		"pat" + long[:14] + "." + hex, "pcsk_" + long[:6] + "_" + long, "sk_" + hex[:48], "sha256~" + long[:43], "vendor2027_" + long[:24], long[:32],
	} {
		for _, around := range []string{"%", "+ pip install litellm==1.107.0 %", "X_FOO=%", `{"foo":"%"}`, `{\"foo\":\"%\"}`, "GET /a/%/b?c=d", "a=1&b=%&c=2", `first\n%`, "pre_%"} {
			text := strings.ReplaceAll(around, "%", secret)
			kept := Redact(text)
			for i := len(secret) / 2; i+10 <= len(secret); i += 5 {
				if strings.Contains(kept, secret[i:i+10]) {
					t.Errorf("Redact(%q) = %q", text, kept)
					break
				}
			}
		}
	}
}

// TestNoSecrets holds words that have the looks of secrets, and are none.
func TestNoSecrets(t *testing.T) {
	long, hex := drawnWord(86, base62), drawnWord(64, base16)
	for _, text := range []string{
		"sha512-" + long + "== of litellm", `"integrity": "sha384-` + long[:64] + `"`, "github.com/acme/api v1.2.3 h1:" + long[:43] + "=", "key SHA256:" + long[:43],
		"docker.io/litellm/litellm@sha256:" + hex, "/packages/5c/0a/" + hex[:60] + "/litellm-1.107.0-py3-none-any.whl", "docker-" + hex + ".scope",
		"nvidia_cublas_cu12-12.4.5.8-py3-none-manylinux2014_x86_64.whl", "litellm-1.107.0-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
		"TestHTTPServerRespondsWith200WhenGiven404Upstream", "org.springframework.AbstractSingletonProxyFactoryBean2Tests", "CACHE_KEY=pip-Linux-3f9Ac81d77B0aa",
		"https://me@git.acme.example/acme/api", "node-7d9f8b6c5-x2x4z", "0b3c1f9e-4d2a-4e5b-9c8d-1a2b3c4d5e6f", "pkg:npm/%40acme/key-value@1.0.0", "s3://acme/AWSLogs/2026/10/21/a.json.gz",
		"echo building | tee log", "docker run -u root:root acme/api", "git config --global credential.helper store", "npm config set registry https://mirror.acme.example/",
		"pip config set global.index-url https://mirror.acme.example/simple", "vault login -method=oidc", "--service-account-key-file /etc/sa.json", "--credentials ./gcp.json",
		"https://forum.acme.example/t/how-to-install/123", "poetry config virtualenvs.create false", "ENV PATH /usr/local/bin", "zip -r out.zip dist", "git+ssh://git@git.acme.example/acme/api",
		"npm config set strict-ssl false", "pip install passlib==1.7.4 python-keycloak", "FROM acme/token-service:latest", "bundle config set --local path vendor/bundle", "/usr/bin/useradd -m app",
		"openssl version", "7z x file.7z", "cargo login", "mysql -h db -u app", "curl -fsSLo /usr/local/bin/uv https://mirror.acme.example:8443/uv", "<Name>value</Name>",
	} {
		if kept := Redact(text); kept != text {
			t.Errorf("Redact(%q) = %q", text, kept)
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
