package evidence

import (
	"regexp"
	"strings"
)

const hidden = "[redacted]"

// secretShapes are values that are secrets whatever stands around them: the
// prefixes are those that the providers document for their scanners. Some are
// shorter here than they are: a value may have been cut off.
var secretShapes = regexp.MustCompile(`(?:\b|_)(?:sk-[A-Za-z0-9_-]{8,}|[srp]k_(?:live|test)_[A-Za-z0-9]{8,}|whsec_[A-Za-z0-9+/=]{16,}` +
	`|gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|gl(?:pat|ptt|dt|rt|cbt|soat|agent|ft|imt)-[A-Za-z0-9_.-]{8,}` +
	`|xox[a-z]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,}|(?:AKIA|ASIA)[A-Z0-9]{16}|AIza[A-Za-z0-9_-]{12,}|ya29\.[A-Za-z0-9_-]{16,}|GOCSPX-[A-Za-z0-9_-]{16,}` +
	`|pypi-[A-Za-z0-9_-]{30,}|npm_[A-Za-z0-9]{20,}|rubygems_[a-f0-9]{32,}|hf_[A-Za-z0-9]{20,}|dckr_(?:pat|oat)_[A-Za-z0-9_-]{20,}` +
	`|nvapi-[A-Za-z0-9_-]{20,}|gsk_[A-Za-z0-9]{20,}|dop_v1_[a-f0-9]{32,}|dapi[a-f0-9]{32}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}` +
	`|hv[sbr]\.[A-Za-z0-9_-]{20,}|sdk-[a-f0-9]{8}(?:-[a-f0-9]{4}){3}-[a-f0-9]{12}|A3(?:-[A-Z0-9]{5,11}){4,6}|AGE-SECRET-KEY-1[A-Za-z0-9]{20,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*` +
	`|eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?$)`) // a JWT that the end of the text cuts

// cutShapes are the beginnings of such values, which the end of the text cuts:
// too short to tell them from a name by their length (pypi-attestations).
var cutShapes = regexp.MustCompile(`\b(pypi-|npm_|hf_|gh[pousr]_|github_pat_|ya29\.|GOCSPX-|whsec_|dckr_(?:pat|oat)_|nvapi-|gsk_|hv[sbr]\.)([A-Za-z0-9_-]{8,})$`)

// harmlessCut reports whether what stands behind the prefix is a word: what was drawn
// mixes large and small letters.
func harmlessCut(_, _, value string) bool {
	return strings.ToLower(value) == value || strings.ToUpper(value) == value
}

// signature is what lets whoever has a URL act for who signed it.
var signature = regexp.MustCompile(`(?i)([?&](?:sig|(?:x-amz-|x-goog-)?signature)=)[^\s"'&]+`)

// webhook is an address that whoever knows it may write to.
var webhook = regexp.MustCompile(`(?i)(hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/webhooks/|webhook\.office\.com/webhookb2/|api\.telegram\.org/bot)[^\s"']+`)

// secretNames are the ends of names that say secret.
const secretNames = `(?:passw(?:or)?d|passwd|passphrase|passcode|passwort|kennwort|contrase(?:n|ñ)a|art-api|authident|secret|token|credential|authorization|api[_-]?key|access[_-]?key|private[_-]?key|auth[_-]?(?:key|token)` +
	`|(?:master|secret|account|storage|shared|signing|encryption|session|service|admin|salt|webhook|deploy|ssh|sas|primary|secondary|license|client|hmac|aes)[_-]?key)`

// secretFields are a name that says secret, and its value: in quotes to the
// quote's end, else to the end of the word.
var secretFields = regexp.MustCompile(`(?i)((?:[A-Za-z0-9_.-]*` + secretNames + `[A-Za-z0-9_.-]*|\b[A-Za-z0-9_.-]*?(?:pass|pwd|auth|creds?|_(?:salt|pat|sas|jwt|otp))|\b(?:pw|bearer|(?-i:[A-Z_]*_(?:PIN|BASIC)))|--otp)["']?\s*(?:=>|:=|[=:])(?:[\s+]|%20)*)` +
	`("(?:[^"\\]|\\.)+"?|'[^']+'?|aws4-hmac-sha256 [^"']+|(?:(?:bearer|basic|token|digest|negotiate|apikey|sharedkey|splunk|bot) )?[^\s"',;&)\]}\\>][^\s"',;&)\]}]*)`)

// variable is an assignment as a shell or a Dockerfile writes it: its value
// ends at a blank or a quote alone.
var variable = regexp.MustCompile(`((?:\b|_)[A-Z0-9_]*(?:PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|SECRET|TOKEN|KEY)=)([^\s"'$\[*/=][^\s"']*[,;&)\]}][^\s"']*)`)

// authHeader is an HTTP credential.
var authHeader = regexp.MustCompile(`(?i)\b(bearer|basic) [A-Za-z0-9+/=._~-]{8,}`)

// userInfo is the password part of a URL: to the last "@" before the path.
var userInfo = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://[^/\s:@]*:)[^/\s]+@`)

// userless is a URL with a password and no user, of which what stands behind the
// password may have been cut off: redis://:hunter2
var userless = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://:)[^/\s@]{6,}`)

// tokenUser is a URL with a token in place of the user.
var tokenUser = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://)([^/\s:@]{8,})(?::\[redacted\])?@`)

// harmlessUser reports whether a user of a URL can be a name: a token is longer,
// or was drawn.
func harmlessUser(_, _, user string) bool { return len(user) < minSecret && !mixed(user) }

// keyVariable is a variable or field that is called a key, and a value that could
// be one: keys of caches, tables and objects are words.
//
//	OPENAI_KEY=hT5kQ2…   "openaiKey":"hT5kQ2…"
var keyVariable = regexp.MustCompile(`(\b[A-Za-z0-9_.-]*[_a-z](?:KEY|Key|key)["']?\s*[=:]\s*["']?|[?&]key=)([A-Za-z0-9+/_=.~-]{8,})`)

// openKey are the names of keys that are none.
var openKey = regexp.MustCompile(`(?i)cache|primary|public|partition|sort|foreign|routing|restore|object|s3|host|gpg|registry|known`)

// harmlessKey reports whether what is called a key is a word, a path, or the name
// of something.
func harmlessKey(_, name, value string) bool {
	return !mixed(value) || openKey.MatchString(name) || version.MatchString(value)
}

// mixed reports whether a word has large and small letters and digits.
func mixed(word string) bool {
	var upper, lower, digit bool
	for i := 0; i < len(word); i++ {
		c := word[i]
		upper, lower, digit = upper || c >= 'A' && c <= 'Z', lower || c >= 'a' && c <= 'z', digit || c >= '0' && c <= '9'
	}
	return upper && lower && digit
}

// dsnInfo is the password of a Go data source: root:word@tcp(db:3306)/app.
var dsnInfo = regexp.MustCompile(`([A-Za-z0-9_.-]+:)[^\s/]+(@(?:tcp|unix|udp)\b)`)

// keyBlock is a key in PEM, as far as it stands in the text.
var keyBlock = regexp.MustCompile(`(?is)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*-----|$)`)

// suspicion says which patterns a text could match.
type suspicion uint16

const (
	suspectField suspicion = 1 << iota
	suspectHeader
	suspectShape
	suspectKey
	suspectArgs
	suspectWeb
	suspectCookie
	suspectOperand
	suspectPair
	suspectChannel
	suspectLine  // a line out of the middle of a key
	suspectDrawn // a word that was drawn, whatever its prefix
)

const (
	suspectAlways = suspectLine | suspectDrawn
	suspectAll    = suspectDrawn<<1 - 1
)

// mention is a word, in lower case, without which a pattern does not match.
type mention struct {
	word string
	of   suspicion
}

// mentions are the words by their first byte: most texts hold none and cost no
// regular expression.
var mentions = func() (table [128][]mention) {
	for of, words := range map[suspicion][]string{
		suspectField:  {"pass", "pwd", "secret", "token", "key", "cred", "auth", "kennwort", "contrase", "art-api", "pw", "bearer", "_salt", "_pat", "_sas", "jwt", "otp", "_pin", "_basic"},
		suspectHeader: {"bearer ", "basic "},
		suspectShape: {
			"sk-", "k_live_", "k_test_", "whsec_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glsoat-", "glagent-", "glft-", "glimt-", "xox", "xapp-", "akia", "asia", "aiza", "ya29.", "gocspx-",
			"pypi-", "npm_", "rubygems_", "hf_", "dckr_", "nvapi-", "gsk_", "dop_v1_", "dapi", "sg.", "hvs.", "hvb.", "hvr.", "age-secret", "eyj", "sdk-", "a3-",
		},
		suspectKey: {"-----begin "},
		suspectArgs: {
			"login", "sshpass", "twine", "mysql", "mariadb", "mongo", "curl", "redis-cli", "7z", "poetry", "snowsql", "useradd", "usermod", "http -", "https -", "xh -", "cred",
			"sqlcmd", "bcp", "isql", "zip", "mosquitto_", "p4 ", "ldap", "openssl", "nuget", "hatch", "publish", "anaconda", "codecov", "gitlab-runner", "smbclient", "lftp",
			"gh secret", "--from-literal", "--secret-string", "put-parameter", "<<<", "machine",
		},
		suspectOperand: {
			"login", "snyk", "authtoken", "http-basic.", "pypi-token.", "bundle", "rabbitmqctl", "htpasswd", "net user ", "net use ", "mc alias ", "mc config ", "requirepass",
			"masterauth", "pulumi", "setapikey", "runas", "securestring", "config", "env ", "setx ", "set -", "echo ", "printf ", "vault", "curl",
		},
		suspectPair:    {"value", "</"},
		suspectCookie:  {"cookie"},
		suspectChannel: {"/t/"},
		suspectWeb:     {"hooks.slack.", "discord", "webhook.office.", "api.telegram.", "sig=", "signature="},
	} {
		for _, w := range words {
			table[w[0]] = append(table[w[0]], mention{w, of})
		}
	}
	return table
}()

func redact(s string, of suspicion) string {
	if of&suspectKey != 0 {
		s = keyBlock.ReplaceAllString(s, hidden)
	}
	if strings.Contains(s, "@") {
		s = redactUsers(s)
	}
	if strings.Contains(s, "://:") {
		s = userless.ReplaceAllString(s, "${1}"+hidden)
	}
	if of&suspectHeader != 0 {
		s = authHeader.ReplaceAllString(s, "$1 "+hidden)
	}
	if of&suspectShape != 0 {
		s = secretShapes.ReplaceAllString(s, hidden)
		s = redactMatches(cutShapes, s, harmlessCut)
	}
	if of&suspectWeb != 0 {
		s = signature.ReplaceAllString(s, "${1}"+hidden)
		s = webhook.ReplaceAllString(s, "${1}"+hidden)
	}
	if of&suspectCookie != 0 {
		s = redactMatches(cookies, s, harmlessArg)
	}
	if of&suspectChannel != 0 {
		s = redactChannels(s)
	}
	if of&suspectPair != 0 {
		s = redactPairs(s)
	}
	if of&suspectArgs != 0 {
		s = redactMatches(secretArgs, s, harmlessArg)
	}
	if of&suspectOperand != 0 {
		s = redactOperands(s)
	}
	if of&suspectField != 0 {
		s = redactMatches(variable, s, nil)
		s = redactMatches(secretFields, s, harmlessField)
		s = redactMatches(secretFlags, s, harmlessFlag)
		s = redactMatches(keyVariable, s, harmlessKey)
	}
	if of&suspectLine != 0 && keyLine(s) {
		return hidden
	}
	if hasLongRun(s) {
		s = vendorShapes.ReplaceAllString(s, hidden)
	}
	return s
}

// hasDSN reports whether a text may hold a Go data source.
func hasDSN(s string) bool {
	return strings.Contains(s, "@tcp") || strings.Contains(s, "@unix") || strings.Contains(s, "@udp")
}

func redactUsers(s string) string {
	if strings.Contains(s, "://") {
		s = userInfo.ReplaceAllString(s, "${1}"+hidden+"@")
		s = redactMatches(tokenUser, s, harmlessUser)
	}
	if hasDSN(s) {
		s = dsnInfo.ReplaceAllString(s, "${1}"+hidden+"${2}")
	}
	return s
}

// redactMatches hides the second group of each match that is not harmless.
// Quotes around it stay.
func redactMatches(re *regexp.Regexp, s string, harmless func(before, name, value string) bool) string {
	all := re.FindAllStringSubmatchIndex(s, -1)
	if all == nil {
		return s
	}
	var b strings.Builder
	done := 0
	for _, m := range all {
		value, from, to := s[m[4]:m[5]], m[4], m[5]
		if q := value[0]; len(value) > 1 && (q == '"' || q == '\'') {
			from++
			if value[len(value)-1] == q && len(value) > 2 {
				to--
			}
		}
		if harmless != nil && harmless(s[:m[2]], s[m[2]:m[3]], s[from:to]) {
			continue
		}
		b.WriteString(s[done:from])
		b.WriteString(hidden)
		done = to
	}
	b.WriteString(s[done:])
	return b.String()
}

// version is what a package or an image has behind its name.
var version = regexp.MustCompile(`^[~^<>=!v]*[0-9]+(?:\.[0-9A-Za-z*]+)+(?:[-+][0-9A-Za-z.+-]+)?$`)

// harmlessField reports whether the value of a field cannot be a secret: a
// masked one, a reference to a variable, a version, the tag of an image, a
// place.
func harmlessField(before, name, value string) bool {
	scheme := value
	if i := strings.IndexByte(value, ' '); i >= 0 {
		scheme = value[i+1:]
	}
	if harmlessArg(before, name, value) || strings.HasPrefix(scheme, "[redacted") || strings.HasPrefix(value, "[") || strings.HasPrefix(value, "=") ||
		value == "true" || value == "false" || value == "null" || version.MatchString(value) {
		return true
	}
	// acme/token-service:latest, but not https://mirror.acme.example/token:hunter2
	if strings.HasSuffix(before, "/") && !strings.HasSuffix(" "+before, " /") && strings.HasSuffix(name, ":") && !inQueryOrURL(before[strings.LastIndexAny(before, " \t\"'=")+1:]) {
		return true
	}
	if strings.HasPrefix(strings.ToLower(name), "pwd") && strings.HasPrefix(value, "/") {
		return true
	}
	return countOfTokens.MatchString(name) && number.MatchString(value)
}

// countOfTokens is the name of how many tokens a model reads or writes:
// max_total_num_tokens=681280. No other word of it says secret.
var countOfTokens = regexp.MustCompile(`(?i)^(?:(?:max|min|num|total|pool|input|output|prompt|completion|cached|context|reasoning|prefill|new|audio|text|cache|read|creation)[_.-]?)*tokens["']?\s*[=:]\s*$`)

// number is a count as the engines print it.
var number = regexp.MustCompile(`^-?[0-9]{1,12}$`)

func inQueryOrURL(word string) bool {
	return strings.Contains(word, "?") || strings.Contains(word, "http://") || strings.Contains(word, "https://")
}

// minKeyLine is shorter than the lines of a key in PEM, which has 64 or 70
// characters on each but the last.
const minKeyLine = 60

// keyLine reports whether a text is one line out of the middle of a key: base64
// and nothing else. Hashes in hex are none.
func keyLine(s string) bool {
	s = strings.TrimSpace(s)
	if len(s) < minKeyLine {
		return false
	}
	hex := true
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f':
		case c >= 'A' && c <= 'Z', c >= 'g' && c <= 'z', c == '+', c == '/', c == '=':
			hex = false
		default:
			return false
		}
	}
	return !hex
}
