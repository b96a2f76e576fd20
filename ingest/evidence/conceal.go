package evidence

import (
	"net/url"
	"regexp"
	"strings"

	"pulltrail/timeline"
)

// maxWritten is longer than any format writes a time.
const maxWritten = 40

// conceal takes secrets out of all that an event says. Its origin has been
// redacted when it was made.
func (o *Out) conceal(e *timeline.Event) {
	e.Subject, e.Span = o.named(e.Subject), written(e.Span)
	if e.Subject.ID == "" { // a name of blanks, or of nothing that can be shown
		e.Subject = o.named(o.Subject())
	}
	for i := range e.Items {
		it := &e.Items[i]
		it.Artifact, it.Ref = concealArtifact(Clean(it.Artifact)), Redact(Clean(it.Ref))
	}
	if strings.Contains(e.Text, hidden) {
		o.concealNames(e.Items)
	}
}

// concealNames keeps the ecosystem alone of a package whose name stands only in
// the part of the line that was hidden: a word of a key that was taken for one.
func (o *Out) concealNames(items []timeline.Item) {
	line, shown := "", ""
	if o.line != nil {
		line, shown = asName(string(o.line.Text)), asName(Redact(Clean(string(o.line.Text))))
	}
	for i := range items {
		purl, ok := strings.CutPrefix(items[i].Artifact, "pkg:")
		if !ok || len(purl) < minSecret {
			continue
		}
		ecosystem, path, _ := strings.Cut(purl, "/")
		name := path[strings.LastIndexByte(path, '/')+1:]
		if at := strings.IndexAny(name, "@?"); at > 0 {
			name = name[:at]
		}
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
		if name = asName(name); strings.Contains(line, name) && !strings.Contains(shown, name) || namedAsSecret(name) {
			items[i].Artifact = timeline.Ecosystem(ecosystem)
		}
	}
}

// nameOfSecret is what is left of the shapes of secrets in the name of a package:
// small letters and hyphens.
var nameOfSecret = regexp.MustCompile("(?i)" + secretShapes.String() + "|" + vendorShapes.String())

// namedAsSecret reports whether the name of a package, on a line that holds a
// secret, is what a secret would be called. The line may be an earlier one: a
// command is told when its output ends.
func namedAsSecret(name string) bool {
	digits := 0
	for i := 0; i < len(name); i++ {
		if isDigit(name[i]) {
			digits++
		}
	}
	if digits <= 3 {
		return false
	}
	for _, sign := range []string{"-", "_", "."} {
		if nameOfSecret.MatchString(strings.ReplaceAll(name, "-", sign)) {
			return true
		}
	}
	return false
}

// asName is a text as the names of packages in it are written: dop_v1_… is named
// dop-v1-….
func asName(s string) string {
	return strings.NewReplacer("_", "-", ".", "-").Replace(strings.ToLower(s))
}

// named is the subject without secrets. A line after the other speaks of the
// same one.
func (o *Out) named(who timeline.Subject) timeline.Subject {
	if o.lastWho[0] != who {
		o.lastWho = [2]timeline.Subject{who, {Kind: who.Kind, ID: Redact(Clean(who.ID))}}
	}
	return o.lastWho[1]
}

// written bounds the time as it is written: what is longer is more than a time.
func written(s timeline.Span) timeline.Span {
	if len(s.Written) > maxWritten {
		s.Written = Excerpt([]byte(s.Written))
	}
	return s
}

// suspectsInNames are the patterns that names fit: they say token and key rightly.
const suspectsInNames = suspectField | suspectArgs | suspectOperand | suspectPair | suspectCookie | suspectChannel | suspectDrawn

// minSecret is shorter than the values that are told by their looks.
const minSecret = 16

// hidesInQualifiers reports whether the qualifiers of a purl hold a secret when
// their escapes are taken back.
func hidesInQualifiers(purl string) bool {
	_, qualifiers, ok := strings.Cut(purl, "?")
	if !ok || !strings.ContainsAny(qualifiers, "%+") {
		return false
	}
	plain, err := url.QueryUnescape(qualifiers)
	return err == nil && Redact(Clean(plain)) != Clean(plain)
}

// ConcealPath takes secrets out of the path of a file or the name of a member: a
// program may name a file after what it was given. Of a path without any, every
// byte is kept.
//
//	logs/curl-ghp_….log   env/DB_PASSWORD=….txt
func ConcealPath(p string) string {
	if len(p) < minSecret {
		return p
	}
	// Names that are nothing but base64 are hashes.
	of := func(s string) suspicion { return suspect(s) &^ suspectAlways }
	if kept := redactAll(p, of); strings.Contains(kept, hidden) {
		return Clean(kept)
	}
	return p
}

// concealArtifact takes secrets out of the name of an artifact. Names say
// "token" and "key" rightly, so in what can be a name only what looks like a
// secret by itself is one. A package of such a name is kept as its ecosystem.
func concealArtifact(a string) string {
	if len(a) < minSecret || harmless(a) {
		return a
	}
	var kept string
	if name, ok := strings.CutPrefix(a, "secret:"); ok { // a name may hold blanks, and what it says of itself is no value
		if strings.Contains(name, "://") {
			return "secret:" + Redact(name)
		}
		return "secret:" + redactAll(name, func(s string) suspicion { return suspect(s) &^ suspectsInNames })
	}
	if strings.HasPrefix(a, "url:") || strings.HasPrefix(a, "file:") || strings.IndexByte(a, ' ') >= 0 || strings.Contains(a, "%20") {
		kept = Redact(a)
	} else {
		kept = redactAll(a, func(s string) suspicion { return suspect(s) &^ suspectsInNames })
	}
	if name, ok := strings.CutPrefix(a, "pkg:"); ok && (kept != a || hidesInQualifiers(name)) {
		ecosystem, _, _ := strings.Cut(name, "/")
		return timeline.Ecosystem(ecosystem)
	}
	return kept
}
