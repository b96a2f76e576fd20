package kubernetes

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pluginContext is a configuration whose login is a program beside it.
func pluginContext(t *testing.T, script, more string) (string, Wanted) {
	t.Helper()
	path := write(t, "config", "current-context: eks\ncontexts: [{name: eks, context: {cluster: c, user: u}}]\n"+
		"clusters: [{name: c, cluster: {server: \"https://10.0.0.1:6443\", tls-server-name: cluster.acme.example}}]\n"+
		"users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./login, args: [get-token, prod], env: [{name: PROFILE, value: ai}]"+more+"}}}]\n")
	dir := filepath.Dir(path)
	if err := os.WriteFile(filepath.Join(dir, "login"), []byte("#!/bin/sh\n"+script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	return dir, Wanted{File: path, Plugin: true}
}

// TestPlugin: the program is told what kubectl would tell it, and its token is
// the login.
func TestPlugin(t *testing.T) {
	dir, want := pluginContext(t, `echo "$@ $PROFILE $KUBERNETES_EXEC_INFO" >"${0%/*}/told"
echo '{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","status":{"token":"`+token+`"}}'`, ", provideClusterInfo: true")
	all, err := Contexts(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := all[0].Tokens("").Login(context.Background()); got != token || err != nil {
		t.Errorf("token %q, %v", got, err)
	}
	told, err := os.ReadFile(filepath.Join(dir, "told"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"get-token prod ai {", `"apiVersion":"client.authentication.k8s.io/v1beta1"`, `"interactive":false`, `"server":"https://10.0.0.1:6443"`, "cluster.acme.example"} {
		if !strings.Contains(string(told), part) {
			t.Errorf("the plugin was told %s without %s", told, part)
		}
	}
	if err := os.Remove(filepath.Join(dir, "told")); err != nil {
		t.Fatal(err)
	}
	want.Plugin = false
	if _, err := Contexts(t.Context(), want); err == nil || !strings.Contains(err.Error(), "--run-plugin") {
		t.Errorf("without leave: %v", err)
	}
	want.Plugin, want.Token = true, true
	if _, err := Contexts(t.Context(), want); err != nil {
		t.Errorf("with a token of one's own: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "told")); err == nil {
		t.Error("the plugin was run unasked")
	}
}

// TestPluginCertificate: a plugin may give a certificate in place of a token.
func TestPluginCertificate(t *testing.T) {
	_, ours, key := certificate(t)
	answer := fmt.Sprintf(`{"kind":"ExecCredential","status":{"clientCertificateData":%q,"clientKeyData":%q}}`, ours, key)
	_, want := pluginContext(t, "cat <<'END'\n"+answer+"\nEND\n", "")
	all, err := Contexts(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	if way, err := all[0].network(); err != nil || way == nil || all[0].token != "" {
		t.Errorf("got %v, token %q", err, all[0].token)
	}
}

// TestPluginFails: what a plugin gives is no login, and nothing of it is shown.
func TestPluginFails(t *testing.T) {
	for script, wants := range map[string]string{
		"echo 'session expired: run acme login AKIAIOSFODNN7EXAMPLE' >&2; exit 3": "exit status 3: session expired: run acme login",
		"echo s3cr3t":                       "no ExecCredential",
		`echo '{"kind":"ExecCredential"}'`:  "no ExecCredential with a status",
		`echo '{"kind":"Pod","status":{}}'`: "no ExecCredential",
		`echo '{"kind":"ExecCredential","status":{"clientKeyData":"s3cr3t"}}'`: "neither a token nor a certificate",
		"head -c 3000000 /dev/zero": "no ExecCredential",
	} {
		_, want := pluginContext(t, script, "")
		_, err := Contexts(t.Context(), want)
		if err == nil || !strings.Contains(err.Error(), wants) || strings.Contains(err.Error(), "s3cr3t") || strings.Contains(err.Error(), "AKIAIOSFODNN7EXAMPLE") {
			t.Errorf("%s: got %v, want %q", script, err, wants)
		}
	}
	dir, want := pluginContext(t, "", ", installHint: see docs.acme.example")
	if err := os.Remove(filepath.Join(dir, "login")); err != nil {
		t.Fatal(err)
	}
	if _, err := Contexts(t.Context(), want); err == nil || !strings.Contains(err.Error(), "it is not installed: see docs.acme.example") {
		t.Errorf("not installed: %v", err)
	}
	_, want = pluginContext(t, "sleep 60", "")
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := Contexts(ctx, want); err == nil {
		t.Error("a plugin that hangs is waited for")
	}
}
