package registry

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"pulltrail/ingest/collect"
)

// Tokens are the places where a login for the registry may be: USER:PASSWORD,
// or a bearer token, which has no colon.
func Tokens(host, file string) collect.Places {
	return collect.Places{
		File: file, Env: []string{"REGISTRY_CREDENTIAL"}, Where: "'docker login'",
		Login: func(ctx context.Context) (string, error) { return dockerLogin(ctx, host) },
	}
}

// authorize puts a login into a request. What becomes of it the transport
// decides: a registry with a token service does not see it.
func authorize(h http.Header, login string) {
	if strings.Contains(login, ":") {
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(login)))
		return
	}
	h.Set("Authorization", "Bearer "+login)
}

// dockerConfig is what 'docker login' leaves.
//
//	{"auths": {"registry.acme.example:5000": {"auth": "dXNlcjpwYXNz"}}, "credsStore": "pass", "credHelpers": {"ghcr.io": "gh"}}
//
// https://docs.docker.com/reference/cli/docker/login/#credential-stores
type dockerConfig struct {
	Auths map[string]struct {
		Auth string `json:"auth"`
	} `json:"auths"`
	Store   string            `json:"credsStore"`
	Helpers map[string]string `json:"credHelpers"`
}

// dockerLogin reads the login that docker has for a registry, "" for none.
func dockerLogin(ctx context.Context, host string) (string, error) {
	dir := os.Getenv("DOCKER_CONFIG")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", nil //nolint:nilerr // nobody is logged in
		}
		dir = filepath.Join(home, ".docker")
	}
	path := filepath.Join(dir, "config.json")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("login of docker: %w", err)
	}
	var c dockerConfig
	if err := json.Unmarshal(data, &c); err != nil {
		return "", fmt.Errorf("login of docker: %s: it is no JSON", path) // the error may show a part of it
	}
	server := host
	if host == dockerHub {
		server = "https://index.docker.io/v1/"
	}
	helper := c.Store
	if own, ok := c.Helpers[server]; ok {
		helper = own
	}
	if helper != "" {
		return askHelper(ctx, helper, server)
	}
	login, err := base64.StdEncoding.DecodeString(c.Auths[server].Auth)
	if err != nil {
		return "", fmt.Errorf("login of docker: %s: what it has for %s is not base64: say 'docker login %[2]s'", path, server)
	}
	return string(login), nil
}

// askHelper asks a credential helper of docker.
// https://github.com/docker/docker-credential-helpers#development
func askHelper(ctx context.Context, name, server string) (string, error) {
	if strings.ContainsAny(name, "/\\") {
		return "", fmt.Errorf("login of docker: the credential helper %q is no name", name)
	}
	ctx, stop := context.WithTimeout(ctx, helperPatience)
	defer stop()
	cmd := exec.CommandContext(ctx, "docker-credential-"+name, "get") //nolint:gosec // docker runs the same
	cmd.Stdin = strings.NewReader(server)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Run(); err != nil {
		return "", nil //nolint:nilerr // no such tool, or nobody is logged in: no login
	}
	var got struct{ Username, Secret string }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		return "", fmt.Errorf("login of docker: docker-credential-%s does not answer with JSON", name)
	}
	if got.Username == "<token>" {
		return "", fmt.Errorf("login of docker: docker-credential-%s has an identity token for %s, which is not supported: give USER:PASSWORD in $REGISTRY_CREDENTIAL", name, server)
	}
	if got.Secret == "" {
		return "", nil
	}
	return got.Username + ":" + got.Secret, nil
}
