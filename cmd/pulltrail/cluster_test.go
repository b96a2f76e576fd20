package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"pulltrail/testdata/services"
)

// startKubernetes starts a stand-in for a cluster, with a kubeconfig in
// $KUBECONFIG, until the story ends.
func startKubernetes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: cluster")
	}
	const image = "docker.io/litellm/litellm@sha256:6dedda16b8ffaa0d1b0a4f9d5f8c2ad39a2a2f2d29a39b3ac2f2d1b0c9e8f7a6"
	k := &services.Kubernetes{Token: servicesToken, Denied: map[string]bool{"events": true, "ops/events": true}}
	for _, namespace := range []string{"ai", "ops"} {
		k.Object("namespaces", "", namespace, nil)
	}
	k.Object("nodes", "", "node-1", map[string]any{"status": map[string]any{"images": []any{map[string]any{"names": []string{image, "docker.io/litellm/litellm:v1.107.0"}}}}})
	k.Object("pods", "ai", "gw", map[string]any{
		"spec": map[string]any{"nodeName": "node-1", "containers": []any{map[string]any{"name": "gw", "image": "litellm/litellm:v1.107.0", "envFrom": []any{map[string]any{"secretRef": map[string]any{"name": "gateway"}}}}}},
		"status": map[string]any{"containerStatuses": []any{map[string]any{
			"name": "gw", "image": "docker.io/litellm/litellm:v1.107.0", "imageID": image, "state": map[string]any{"running": map[string]any{"startedAt": "2026-10-21T12:05:00Z"}},
		}}},
	})
	k.Secret("ai", "gateway", "OPENAI_API_KEY")
	k.Object("configmaps", "ai", "settings", nil)
	k.Start()
	ts.Defer(k.API.Close)
	ts.Defer(func() { noSecret(ts, k.Requests(), services.KubernetesSecret) })
	path := filepath.Join(ts.Getenv("WORK"), "kubeconfig")
	text := fmt.Sprintf("current-context: prod\ncontexts:\n- {name: prod, context: {cluster: c, user: u}}\n- {name: again, context: {cluster: c, user: u}}\n- {name: eks, context: {cluster: c, user: plugin}}\n- {name: own, context: {cluster: c, user: script}}\n"+
		"clusters: [{name: c, cluster: {server: %q}}]\nusers:\n- {name: u, user: {token: %s}}\n- {name: plugin, user: {exec: {command: aws}}}\n"+
		"- {name: script, user: {exec: {command: sh, args: [login.sh], env: [{name: LOGIN, value: %s}]}}}\n", strings.TrimSuffix(k.API.URL, "/"), servicesToken, servicesToken)
	ts.Check(os.WriteFile(path, []byte(text), 0o600))
	ts.Setenv("KUBECONFIG", path)
}
