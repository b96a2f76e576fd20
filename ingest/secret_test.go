package ingest_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pulltrail/ingest"
	"pulltrail/timeline"
)

// notReal marks the values of secrets in all samples.
const notReal = "EXAMPLE-NOT-REAL"

// TestNoSecretIsStored reads every sample and looks for the values of their
// secrets in the bytes of the case.
func TestNoSecretIsStored(t *testing.T) {
	samples, err := filepath.Abs("../testdata/formats")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	db, err := timeline.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.Run(t.Context(), db, []string{samples}, ingest.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	holdsNone(t, dir, notReal)
}

// holdsNone fails if one of the words stands in the bytes of a case.
func holdsNone(t *testing.T, dir string, words ...string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		for _, word := range words {
			if i := bytes.Index(data, []byte(word)); i >= 0 {
				t.Errorf("%s holds the value of a secret: %q", path, data[max(0, i-100):min(len(data), i+40)])
			}
		}
		return err
	})
	if err != nil || files == 0 {
		t.Fatal(files, err)
	}
}

// TestCommandsHoldNoSecrets reads commands that are given secrets, each in line
// with one that is kept as proof, in the frames that such lines come in.
func TestCommandsHoldNoSecrets(t *testing.T) {
	const word, token = "Zq7wXk4Rt9T", "122999d71de95acee15bfa23e8ba3cce844eb855d0ca864de39c166c7f0393aa"
	commands := []string{
		"curl -fsSLu me:" + word + " https://x.tld/a", "skopeo copy --src-creds me:" + word + " docker://a docker://b", "cargo login " + word, "vault login " + word,
		"npm config set //npm.acme.example/:_authToken " + word, "poetry config http-basic.acme me " + word, "snyk auth " + word, "export OPENAI_KEY=" + word,
		"aws configure set aws_secret_access_key " + word, "gh secret set X --body " + word, "conda install -c https://conda.acme.example/t/" + word + "/acme x",
		"sqlcmd -U sa -P " + word, "curl -H 'Cookie: sid=" + word + "' https://x.tld", `run --env {"name":"DB_PASSWORD","value":"` + word + `"}`, "s3cmd --secret_key " + word,
		"foo dop_v1_" + token, "foo doo_v1_" + token, "foo sbp_" + token[:40], "foo SK" + token[:32], "foo key-" + token[:32], "foo glsa_" + token[:32] + "_" + token[:8],
	}
	var history, syslog, access, github strings.Builder
	github.WriteString("2026-10-21T11:59:00.1234567Z Current runner version: '2.328.0'\n")
	for _, c := range commands {
		install := "pip install litellm==1.107.0 "
		fmt.Fprintf(&history, "#1792584000\n%s && %s\n#1792584000\n%s%s\n", c, install, install, c)
		fmt.Fprintf(&syslog, "2026-10-21T12:00:00.000000+00:00 web1 sudo[12]:   me : TTY=pts/0 ; PWD=/root ; USER=root ; COMMAND=/usr/bin/%s%s\n", install, c)
		fmt.Fprintf(&access, "10.0.0.5 - - [21/Oct/2026:12:00:00 +0000] \"GET /a/litellm-1.107.0-py3-none-any.whl?x=%s HTTP/1.1\" 200 9123 \"-\" \"pip/24 %s\"\n",
			url.PathEscape(c), strings.ReplaceAll(c, `"`, `\x22`))
		fmt.Fprintf(&github, "2026-10-21T12:00:00.1234567Z ##[group]Run %s&& %s\n2026-10-21T12:00:00.1234567Z Collecting litellm==1.107.0 (%s)\n", install, c, c)
	}
	in, dir := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{".bash_history": history.String(), "syslog": syslog.String(), "access.log": access.String(), "1_build.txt": github.String()} {
		if err := os.WriteFile(filepath.Join(in, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	db, err := timeline.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ingest.Run(t.Context(), db, []string{in}, ingest.Options{Subject: timeline.Subject{Kind: timeline.Host, ID: "web1"}}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	holdsNone(t, dir, word, token[3:20])
}
