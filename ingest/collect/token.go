package collect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// Token is a secret for one service. It never prints.
type Token struct {
	value string
	From  string // where it was found, for people
}

// String hides the secret.
func (t Token) String() string {
	if t.value == "" {
		return "no token"
	}
	return "token from " + t.From
}

// GoString hides the secret from %#v.
func (t Token) GoString() string { return t.String() }

// Bearer puts the secret into the headers of a request.
func (t Token) Bearer(h http.Header) { h.Set("Authorization", "Bearer "+t.value) }

// Same reports whether two are the same secret.
func (t Token) Same(other Token) bool { return t.value == other.value }

// IsZero reports whether there is none.
func (t Token) IsZero() bool { return t.value == "" }

// Places are where a token may come from, in this order. It is never an
// argument: those are seen by everybody on the machine.
type Places struct {
	File   string   // --token-file; readable by its owner alone
	Env    []string // names of variables
	Helper []string // the tool's own login helper, which prints it: gh auth token

	// Login reads the tool's own login where that takes more than a helper, "" for
	// none; Where says of which, for people.
	Login func(ctx context.Context) (string, error)
	Where string
}

// helperPatience is how long a login helper may take.
const helperPatience = 10 * time.Second

// Find returns the first token that is there, none when no place has one.
func (p Places) Find(ctx context.Context) (Token, error) {
	if p.File != "" {
		return tokenFile(p.File)
	}
	for _, name := range p.Env {
		if v := strings.TrimSpace(os.Getenv(name)); v != "" {
			return token(v, "$"+name)
		}
	}
	if p.Login != nil {
		v, err := p.Login(ctx)
		if v == "" || err != nil {
			return Token{}, err
		}
		return token(v, p.Where)
	}
	if len(p.Helper) == 0 {
		return Token{}, nil
	}
	v, err := Helped(ctx, p.Helper[0], p.Helper[1:]...)
	return Token{v, strings.Join(p.Helper, " ")}, err
}

// Helped is the token that a tool's own login helper prints, "" for none: no such
// tool, or nobody is logged in.
func Helped(ctx context.Context, helper string, args ...string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, helperPatience)
	defer stop()
	out, err := exec.CommandContext(ctx, helper, args...).Output()
	if err != nil || len(strings.TrimSpace(string(out))) == 0 {
		return "", nil //nolint:nilerr // see above
	}
	t, err := token(strings.TrimSpace(string(out)), helper)
	return t.value, err
}

// String says where a token may be.
func (p Places) String() string {
	var words []string
	for _, name := range p.Env {
		words = append(words, "$"+name)
	}
	words = append(words, "--token-file FILE")
	if len(p.Helper) > 0 {
		words = append(words, "'"+strings.Join(p.Helper, " ")+"'")
	}
	if p.Where != "" {
		words = append(words, p.Where)
	}
	return strings.Join(words, ", ")
}

func tokenFile(path string) (Token, error) {
	st, err := os.Stat(path)
	if err != nil {
		return Token{}, fmt.Errorf("token file: %w", err)
	}
	others := os.FileMode(0o077)
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); dir != "" && filepath.Dir(path) == filepath.Clean(dir) {
		// systemd lets the user of a service read by an access list, whose mask stands
		// in the place of the group. https://systemd.io/CREDENTIALS/
		others = 0o037
	}
	if st.Mode().Perm()&others != 0 {
		return Token{}, fmt.Errorf("token file %s: others may read it (mode %#o): say 'chmod 600 %[1]s'", path, st.Mode().Perm())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Token{}, fmt.Errorf("token file: %w", err)
	}
	if strings.TrimSpace(string(data)) == "" {
		return Token{}, fmt.Errorf("token file %s: it is empty", path)
	}
	return token(strings.TrimSpace(string(data)), path)
}

// token checks that a value can stand in a header.
func token(value, from string) (Token, error) {
	for _, c := range value {
		if c <= ' ' || c >= 0x7f {
			return Token{}, errors.New("the token from " + from + " holds a blank, a line end or a character that no token has")
		}
	}
	return Token{value, from}, nil
}
