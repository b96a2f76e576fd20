// Package secrets makes values that look like secrets, for tests that they are
// kept nowhere. They are drawn anew each time: nothing of them stands in a file.
package secrets

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
)

const (
	alnum = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	hex   = "0123456789abcdef"
)

// Maker draws secrets and knows what it drew.
type Maker struct {
	rand  *rand.Rand
	parts map[[window]byte]string // the shape by what must not be seen again
	sieve [1 << 20]bool           // which sums of bytes parts have
	shape string
	ansi  bool
}

// window is how many bytes of a value in a row are a leak.
const window = 8

// NewMaker returns a maker of its own values.
func NewMaker(seed uint64) *Maker {
	return &Maker{rand: rand.New(rand.NewPCG(seed, 7)), parts: map[[window]byte]string{}}
}

func (m *Maker) forbid(b []byte) {
	m.parts[[window]byte(b)] = m.shape
	m.sieve[sum(binary.LittleEndian.Uint64(b))] = true
}

// sum mixes the bytes of a window.
func sum(w uint64) uint32 { return uint32(w * 0x9e3779b97f4a7c15 >> 44) }

// draw returns n random characters, which must not be seen again.
func (m *Maker) draw(n int, from string) string {
	b := make([]byte, max(n, window))
	for i := range b {
		b[i] = from[m.rand.IntN(len(from))]
	}
	for _, at := range []int{0, len(b) - window, len(b)/2 - window/2} {
		m.forbid(b[at:])
	}
	if m.ansi {
		return "\x1b[31m" + string(b[:len(b)/2]) + "\x1b[1;4m" + string(b[len(b)/2:]) + "\x1b[0m"
	}
	return string(b)
}

// encoded returns what a base64 text shows, which must not be seen again.
func (m *Maker) encoded(text string) string {
	s := base64.StdEncoding.EncodeToString([]byte(text))
	m.forbid([]byte(s)[window:])
	return s
}

// Leaks returns the shapes whose values are in data, each with the first place.
func (m *Maker) Leaks(data []byte) map[string]int {
	leaks := map[string]int{}
	var last uint64 // bytes, the newest at the top
	for end, c := range data {
		last = last>>8 | uint64(c)<<56
		i := end + 1 - window
		if i < 0 || !m.sieve[sum(last)] {
			continue
		}
		if shape, ok := m.parts[[window]byte(data[i:])]; ok && !inHash(data, i) {
			if _, ok := leaks[shape]; !ok {
				leaks[shape] = i
			}
		}
	}
	return leaks
}

// inHash reports whether a place is inside a SHA-256: among millions of their
// digits are eight that a secret has too. No secret is a run as long, and pages of a database may cut one.
func inHash(data []byte, i int) bool {
	from, to := i, i
	for from > 0 && strings.IndexByte(hex, data[from-1]) >= 0 {
		from--
	}
	for to < len(data) && strings.IndexByte(hex, data[to]) >= 0 {
		to++
	}
	return to-from >= 48
}

// Shape is one way in which secrets stand in evidence.
type Shape struct {
	Name string
	text func(*Maker) string
}

// Text is a new secret of the shape; a key in PEM has several lines.
func (s Shape) Text(m *Maker, e Encoding) string {
	m.shape, m.ansi = s.Name+", "+e.Name, e.ansi
	defer func() { m.ansi = false }()
	text := s.text(m)
	if e.escape != nil {
		text = e.escape(text)
	}
	return text
}

// Encoding is one way to write a text.
type Encoding struct {
	Name   string
	File   func(string) []byte // of the whole file
	ansi   bool
	escape func(string) string
}

// Encodings are plain text, two of files, and three of the secret itself.
var Encodings = []Encoding{
	{Name: "UTF-8", File: utf8},
	{Name: "UTF-8 with a mark", File: func(s string) []byte { return []byte("\ufeff" + s) }},
	{Name: "UTF-16LE", File: utf16le},
	{Name: "ANSI colours", File: utf8, ansi: true},
	{Name: "URL escapes", File: utf8, escape: url.QueryEscape},
	{Name: "JSON escapes", File: utf8, escape: func(s string) string {
		b, _ := json.Marshal(s) // a string can be
		return strings.NewReplacer("=", `\u003d`, "@", `\u0040`).Replace(string(b[1 : len(b)-1]))
	}},
}

func utf8(s string) []byte { return []byte(s) }

func utf16le(s string) []byte {
	b := []byte("\xff\xfe")
	for _, r := range s {
		if r >= 0x10000 {
			r = 0xfffd
		}
		b = append(b, byte(r), byte(r>>8))
	}
	return b
}

// token is a shape without a name beside it.
func token(name, prefix string, n int, from string) Shape {
	return Shape{name, func(m *Maker) string { return prefix + m.draw(n, from) }}
}

// in is a shape that what stands around it tells: "%s" is the value.
func in(name, format string, n int) Shape {
	return Shape{name, func(m *Maker) string { return fmt.Sprintf(format, m.draw(n, alnum)) }}
}

// pem is a key in several lines.
func pem(kind string) Shape {
	return Shape{"PEM " + kind, func(m *Maker) string {
		return "-----BEGIN " + kind + "-----\n" + m.draw(64, alnum) + "\n" + m.draw(64, alnum) + "\n-----END " + kind + "-----"
	}}
}

// Shapes are the shapes.
var Shapes = []Shape{
	token("OpenAI key", "sk-proj-", 48, alnum), token("Anthropic key", "sk-ant-api03-", 60, alnum), token("LiteLLM key", "sk-", 22, alnum),
	token("GitHub token", "ghp_", 36, alnum), token("GitHub OAuth token", "gho_", 36, alnum), token("GitHub fine-grained token", "github_pat_", 59, alnum),
	token("GitLab token", "glpat-", 20, alnum), token("GitLab runner token", "glrt-", 20, alnum),
	token("AWS key", "AKIA", 16, upper), token("AWS session key", "ASIA", 16, upper), token("Google key", "AIza", 35, alnum), token("Google OAuth token", "ya29.", 60, alnum),
	token("Slack bot token", "xoxb-", 40, alnum), token("Slack app token", "xapp-1-", 40, alnum),
	token("npm token", "npm_", 36, alnum), token("PyPI token", "pypi-", 80, alnum), token("Hugging Face token", "hf_", 34, alnum), token("Docker token", "dckr_pat_", 27, alnum),
	token("Stripe key", "sk_live_", 24, alnum), token("Vault token", "hvs.", 90, alnum), token("age key", "AGE-SECRET-KEY-1", 58, upper), token("NVIDIA key", "nvapi-", 64, alnum),
	{"SendGrid key", func(m *Maker) string { return "SG." + m.draw(22, alnum) + "." + m.draw(43, alnum) }},
	{"JWT", func(m *Maker) string {
		return "eyJ" + m.draw(30, alnum) + ".eyJ" + m.draw(40, alnum) + "." + m.draw(43, alnum)
	}},
	pem("RSA PRIVATE KEY"), pem("OPENSSH PRIVATE KEY"), pem("PGP PRIVATE KEY BLOCK"),
	in("bearer", "Authorization: Bearer %s", 32), in("token header", "authorization: token %s", 32), in("key header", "X-Api-Key: %s", 32),
	{"basic", func(m *Maker) string { return "Authorization: Basic " + m.encoded("user:"+m.draw(20, alnum)) }},
	in("URL", "https://deploy:%s@git.acme.example/x.git", 16), in("user in a URL", "https://%s@git.acme.example/x.git", 40),
	{"postgres", func(m *Maker) string {
		return "postgres://app:" + m.draw(8, alnum) + "@" + m.draw(8, alnum) + ":" + m.draw(8, alnum) + "@db.acme.example:5432/app"
	}},
	in("redis", "redis://:%s@cache.acme.example:6379/0", 12), in("amqp", "amqps://worker:%s@mq.acme.example/%%2f", 12), in("Go data source", "root:%s@tcp(db.acme.example:3306)/app", 12),
	in("variable", "DB_PASSWORD=%s", 12), in("short name", "PGPASS=%s", 12), in("export", "export LITELLM_MASTER_KEY=%s", 12), in("AWS secret", "AWS_SECRET_ACCESS_KEY=%s", 40),
	{"words in quotes", func(m *Maker) string {
		return `SMTP_PASSWORD="` + m.draw(8, alnum) + " " + m.draw(8, alnum) + " " + m.draw(8, alnum) + `"`
	}},
	{"signs in a variable", func(m *Maker) string { return "ADMIN_PASSWORD=" + m.draw(8, alnum) + ",&;)" + m.draw(8, alnum) }},
	in("JSON", `{"api_key":"%s"}`, 24), in("YAML", "client_secret: %s", 24), in("query", "https://api.acme.example/v1?user=me&access_token=%s&page=2", 24),
	in("signed URL", "https://acme.blob.example/x?se=2026&sig=%s&sp=r", 43),
	in("flag", "--password %s", 12), in("flag with =", "--api-key=%s", 24), in("docker login", "docker login -u me -p %s ghcr.io", 12), in("mysql", "mysql -u root -p%s app", 12),
	in("curl", "curl -u me:%s https://x.example", 12), in("Slack webhook", "https://hooks.slack.com/services/T0001/B0001/%s", 24), in("Twilio", "TWILIO_AUTH_TOKEN=%s", 32),
	in("Azure account", "DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=%s;EndpointSuffix=x.example", 86),
	in("connection string", "Server=db;Uid=sa;Pwd=%s;Database=app", 12),
	{"service account", func(m *Maker) string {
		return `{"private_key_id":"` + m.draw(40, hex) + `","private_key":"-----BEGIN PRIVATE KEY-----\n` + m.draw(64, alnum) + `\n` + m.draw(64, alnum) + `\n-----END PRIVATE KEY-----\n"}`
	}},
	{"docker config", func(m *Maker) string {
		return `{"auths":{"ghcr.io":{"auth":"` + m.encoded("user:"+m.draw(30, alnum)) + `"}}}`
	}},
	in("netrc", "machine git.acme.example login me password %s", 16), in("npmrc", "//npm.acme.example/:_authToken=%s", 36),
}
