package document

import (
	"regexp"
	"strings"

	"pulltrail/ingest/evidence"
)

// secretWord is what the names of secrets have in them.
var secretWord = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:\w*(?:secret|token|passw(?:or)?d|passwd|credential|api_?key|access_?key|private_?key|webhook)\w*|\w*_?(?:key|pass|pwd|pat|dsn|auth|salt|cert|sas|jwt|cookie))(?:$|[^a-z])|(?:database|db|redis|mongo(?:db)?|postgres(?:ql)?|mysql|amqp|rabbitmq|broker|cache|connection)_?(?:ur[il]|string|dsn)`)

// notSecret are names with such a word that hold no secret: GPG_KEY of the
// official Python images is a public fingerprint.
var notSecret = map[string]bool{"GPG_KEY": true, "GPG_KEYS": true, "SSL_CERT_FILE": true, "SSL_CERT_DIR": true, "NODE_EXTRA_CA_CERTS": true}

// credentialURL is a URL with a password in it.
var credentialURL = regexp.MustCompile(`://[^/\s:@]*:[^/\s@]+@`)

// holdsSecret reports whether a variable of the environment holds a secret, by
// its name or by the look of its value. The value goes no further.
func holdsSecret(name, val string) bool {
	if name == "" || notSecret[name] {
		return false
	}
	return secretWord.MatchString(name) || credentialURL.MatchString(val) || evidence.Redact(val) != val
}

// holdEnv records the secrets among "NAME=value" variables.
func holdEnv(o *evidence.Out, env []string) {
	for _, e := range env {
		if name, val, ok := strings.Cut(e, "="); ok && holdsSecret(name, val) {
			o.Hold(name)
		}
	}
}
