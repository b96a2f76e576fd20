package document

import (
	"regexp"
	"slices"
	"strings"

	"pulltrail/ingest/evidence"
	"pulltrail/timeline"
)

// secretParts mark a secret anywhere in a name.
var secretParts = []string{"secret", "token", "passw", "pgpass", "credential", "apikey", "accesskey", "privatekey"}

// secretWords mark a secret as one of the words of a name.
var secretWords = map[string]bool{
	"key": true, "keys": true, "pass": true, "pat": true, "dsn": true, "auth": true, "salt": true,
	"sas": true, "jwt": true, "cookie": true, "webhook": true,
}

// stores are services whose address holds the password, as a rule.
var stores = []string{"database", "db", "redis", "mongo", "mongodb", "postgres", "postgresql", "mysql", "amqp", "rabbitmq", "broker", "connection"}

// notSecret are names with such a word that hold no secret: GPG_KEY of the
// official Python images is a public fingerprint.
var notSecret = map[string]bool{"GPG_KEY": true, "GPG_KEYS": true, "TOKENIZERS_PARALLELISM": true}

// saysSecret reports whether a name is that of a secret.
func saysSecret(name string) bool {
	lower := strings.ToLower(name)
	for _, part := range secretParts {
		if strings.Contains(lower, part) {
			return true
		}
	}
	words := strings.FieldsFunc(lower, func(r rune) bool { return r < '0' || r > '9' && r < 'a' || r > 'z' })
	store := false
	for i, w := range words {
		if secretWords[w] || w == "pwd" && len(words) > 1 {
			return true
		}
		if store && (w == "url" || w == "uri" || w == "string") && i == len(words)-1 {
			return true
		}
		store = store || slices.Contains(stores, w)
	}
	return false
}

// credentialURL is a URL with a password in it.
var credentialURL = regexp.MustCompile(`://[^/\s:@]*:[^/\s@]+@`)

// holdsSecret reports whether a variable of the environment holds a secret, by
// its name or by the look of its value. The value goes no further.
func holdsSecret(name, val string) bool {
	if name == "" || notSecret[name] {
		return false
	}
	return saysSecret(name) || credentialURL.MatchString(val) || evidence.Redact(val) != val
}

// holdEnv records, among "NAME=value" variables, the secrets and what has traces
// sent, each on its line; started is when they were given, zero when that is not
// known.
func holdEnv(d *evidence.Doc, o *evidence.Out, env value, started timeline.Span) {
	for e := range env.elements() {
		name, val, ok := strings.Cut(e.text(), "=")
		if !ok {
			continue
		}
		no, start, _ := d.LineBounds(e.off)
		o.SetLine(no, int64(start), []byte(name+"=[redacted]"))
		if holdsSecret(name, val) {
			o.Hold(name)
		}
		o.TraceExporter(name, val, started)
	}
}
