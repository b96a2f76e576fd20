package kubernetes

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	encoding "encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pulltrail/testdata/services"
)

// certificate makes one that signs itself, for the server or for who asks.
func certificate(t *testing.T) (pair tls.Certificate, cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"cluster.acme.example"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = encoding.EncodeToMemory(&encoding.Block{Type: "CERTIFICATE", Bytes: der}), encoding.EncodeToMemory(&encoding.Block{Type: "EC PRIVATE KEY", Bytes: bytes})
	if pair, err = tls.X509KeyPair(cert, key); err != nil {
		t.Fatal(err)
	}
	return pair, cert, key
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCertificates: the cluster is who its certificate says, and we are who ours
// says.
func TestCertificates(t *testing.T) {
	server, serverCert, _ := certificate(t)
	_, ours, key := certificate(t)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(ours)
	k := &services.Kubernetes{TLS: &tls.Config{Certificates: []tls.Certificate{server}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool}}
	k.Start()
	t.Cleanup(k.API.Close)
	get := func(c *Context) error {
		way, err := c.network()
		if err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(context.Background(), http.MethodGet, c.Server+"/api/v1/pods", http.NoBody)
		if err != nil {
			return err
		}
		resp, err := way.RoundTrip(r)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	_, stranger, _ := certificate(t)
	of := func(authority []byte, login string) *Context {
		path := write(t, "config", fmt.Sprintf("current-context: prod\ncontexts: [{name: prod, context: {cluster: c, user: u}}]\n"+
			"clusters: [{name: c, cluster: {server: %q, tls-server-name: cluster.acme.example, certificate-authority-data: %s}}]\nusers: [{name: u, user: {%s}}]\n",
			k.API.URL, base64.StdEncoding.EncodeToString(authority), login))
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "our.key"), key, 0o600); err != nil {
			t.Fatal(err)
		}
		all, err := Contexts(t.Context(), Wanted{File: path})
		if err != nil {
			t.Fatal(err)
		}
		return all[0]
	}
	login := "client-certificate-data: " + base64.StdEncoding.EncodeToString(ours) + ", client-key: our.key"
	if err := get(of(serverCert, login)); err != nil {
		t.Errorf("got %v", err)
	}
	if err := get(of(stranger, login)); err == nil {
		t.Error("a cluster with a certificate of somebody else is spoken with")
	}
	if err := get(of(serverCert, "")); err == nil {
		t.Error("the cluster answers who has no certificate")
	}
	if _, err := of([]byte("no certificate"), login).network(); err == nil {
		t.Error("an authority without a certificate is taken")
	}
}

const twoContexts = `current-context: prod
contexts:
- {name: prod, context: {cluster: prod, user: robot, namespace: ai}}
- {name: stage, context: {cluster: stage, user: file}}
- {name: eks, context: {cluster: prod, user: plugin}}
- {name: gke, context: {cluster: prod, user: gke}}
- {name: old, context: {cluster: prod, user: provider}}
- {name: basic, context: {cluster: prod, user: basic}}
- {name: as, context: {cluster: prod, user: as}}
- {name: open, context: {cluster: open, user: robot}}
- {name: lost, context: {cluster: nowhere, user: robot}}
- {name: bad, context: {cluster: bad, user: robot}}
- {name: gone, context: {cluster: gone, user: robot}}
clusters:
- {name: prod, cluster: {server: "https://10.0.0.1:6443/"}}
- {name: stage, cluster: {server: "https://10.0.0.2:6443", proxy-url: "http://proxy.acme.example:3128"}}
- {name: open, cluster: {server: "https://10.0.0.3:6443", insecure-skip-tls-verify: true}}
- {name: bad, cluster: {server: "https://10.0.0.4:6443", certificate-authority-data: "%%"}}
- {name: gone, cluster: {server: "https://10.0.0.4:6443", certificate-authority: nowhere.crt}}
users:
- {name: robot, user: {token: EXAMPLEexampleEXAMPLE}}
- {name: file, user: {tokenFile: stage.token}}
- {name: plugin, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: aws, args: [eks, get-token]}}}
- {name: gke, user: {exec: {command: gke-gcloud-auth-plugin}}}
- {name: provider, user: {auth-provider: {name: oidc}}}
- {name: basic, user: {username: admin, password: s3cr3t}}
- {name: as, user: {token: x, as: admin}}
`

func TestContexts(t *testing.T) {
	path := write(t, "config", twoContexts)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "stage.token"), []byte("OTHERother\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	// The first file that says something counts; one that is not there is none.
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none")+":"+path+":"+write(t, "second", "current-context: other\ncontexts: [{name: prod, context: {cluster: x, user: x}}]\n"))
	all, err := Contexts(t.Context(), Wanted{Names: []string{"prod", "stage"}})
	if err != nil || len(all) != 2 || all[0].Server != "https://10.0.0.1:6443" || all[1].proxy == nil {
		t.Fatalf("got %+v, %v", all, err)
	}
	if one, err := Contexts(t.Context(), Wanted{}); err != nil || len(one) != 1 || one[0].Name != "prod" {
		t.Errorf("the current context: %+v, %v", one, err)
	}
	for i, want := range []string{token, "OTHERother"} {
		if got, err := all[i].Tokens("").Login(context.Background()); got != want || err != nil {
			t.Errorf("%s: token %q, %v, want %q", all[i].Name, got, err, want)
		}
	}
	for name, want := range map[string]string{
		"eks": `the plugin "aws", a program: --run-plugin has it run, as kubectl would; or give a token, --token-file FILE, with what 'kubectl create token`,
		"gke": "--run-plugin", "old": `the plugin "oidc"`, "basic": "kubectl create token", "as": "impersonation",
		"open": "a token would go to whoever answers", "lost": "names no server", "none": `no context "none"`, "bad": "is not base64", "gone": "certificate-authority: open",
	} {
		_, err := Contexts(t.Context(), Wanted{Names: []string{name}})
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	if own, err := Contexts(t.Context(), Wanted{Names: []string{"eks"}, Token: true}); err != nil || own[0].token != "" {
		t.Errorf("with a token of one's own: %+v, %v", own, err)
	}
	if _, err := Contexts(t.Context(), Wanted{File: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("a file that is named and not there is passed over")
	}
	if _, err := Contexts(t.Context(), Wanted{File: write(t, "config", "contexts: {token: s3cr3t")}); err == nil || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("no YAML: %v", err)
	}
}

// TestInCluster: a pod speaks with its own cluster, unless a configuration says
// otherwise.
func TestInCluster(t *testing.T) {
	_, cert, _ := certificate(t)
	before := account
	t.Cleanup(func() { account = before })
	account = t.TempDir()
	for name, text := range map[string]string{"ca.crt": string(cert), "token": token + "\n"} {
		if err := os.WriteFile(filepath.Join(account, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	all, err := Contexts(t.Context(), Wanted{})
	if err != nil || len(all) != 1 || all[0].Server != "https://[fd00::1]:443" {
		t.Fatalf("got %+v, %v", all, err)
	}
	if got, err := all[0].Tokens("").Login(context.Background()); got != token || err != nil {
		t.Errorf("token %q, %v", got, err)
	}
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	if _, err := Contexts(t.Context(), Wanted{}); err == nil {
		t.Error("no configuration, and no pod: there is a context")
	}
}

func FuzzKubeconfig(f *testing.F) {
	f.Add([]byte(twoContexts))
	f.Fuzz(func(t *testing.T, text []byte) {
		all := newMerged()
		if all.text("config", text) != nil {
			return
		}
		if c, err := all.context(t.Context(), "prod", Wanted{}); err == nil && c.Server == "" {
			t.Errorf("got %+v", c)
		}
	})
}
