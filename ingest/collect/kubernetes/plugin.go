package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"pulltrail/ingest/evidence"
)

// plugin is a program that a configuration names for the login, as those of EKS,
// GKE and AKS do.
//
// https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
type plugin struct {
	Version string   `yaml:"apiVersion"`
	Command string   `yaml:"command"`
	Args    []string `yaml:"args"`
	Env     []struct {
		Name  string `yaml:"name"`
		Value string `yaml:"value"`
	} `yaml:"env"`
	Hint        string `yaml:"installHint"`
	WithCluster bool   `yaml:"provideClusterInfo"`
}

const (
	pluginTime   = time.Minute
	pluginOutput = 1 << 20 // bytes that are taken of what it prints
	pluginV1     = "client.authentication.k8s.io/v1"
)

// credential is what a plugin is told of the cluster, and what it answers.
//
//	{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false},"status":{"expirationTimestamp":"2026-10-21T12:18:00Z","token":"k8s-aws-v1.aHR0cHM…"}}
//
// https://kubernetes.io/docs/reference/config-api/client-authentication.v1/
type credential struct {
	Version string `json:"apiVersion"`
	Kind    string `json:"kind"`
	Spec    struct {
		Cluster     *clusterInfo `json:"cluster,omitempty"`
		Interactive bool         `json:"interactive"`
	} `json:"spec"`
	Status *status `json:"status,omitempty"`
}

type clusterInfo struct {
	Server     string `json:"server"`
	ServerName string `json:"tls-server-name,omitempty"`
	Authority  []byte `json:"certificate-authority-data,omitempty"`
	Proxy      string `json:"proxy-url,omitempty"`
}

type status struct {
	Token       string `json:"token"`
	Certificate string `json:"clientCertificateData"` // PEM
	Key         string `json:"clientKeyData"`
}

// loginBy runs a plugin and takes over what it answers. Nothing of that is shown.
func (c *Context) loginBy(ctx context.Context, p *plugin, dir string) error {
	ctx, stop := context.WithTimeout(ctx, pluginTime)
	defer stop()
	told, err := json.Marshal(c.tell(p))
	if err != nil {
		return fmt.Errorf("its login plugin: %w", err)
	}
	program := p.Command
	if strings.ContainsRune(program, filepath.Separator) {
		program = below(program, dir)
	}
	run := exec.CommandContext(ctx, program, p.Args...) //nolint:gosec // it is what the user asked for with --run-plugin
	run.Env = append(os.Environ(), "KUBERNETES_EXEC_INFO="+string(told))
	for _, e := range p.Env {
		run.Env = append(run.Env, e.Name+"="+e.Value)
	}
	run.WaitDelay = time.Second
	var out, complaint capped
	run.Stdout, run.Stderr = &out, &complaint
	if err := run.Run(); err != nil {
		return p.failed(ctx, err, complaint.String())
	}
	var answer credential
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil || answer.Kind != "ExecCredential" || answer.Status == nil {
		return fmt.Errorf("its login plugin %q printed no ExecCredential with a status", p.Command)
	}
	c.token = answer.Status.Token
	c.certificate, c.key = []byte(answer.Status.Certificate), []byte(answer.Status.Key)
	if len(c.certificate) == 0 {
		c.certificate, c.key = nil, nil
	}
	if c.token == "" && c.certificate == nil {
		return fmt.Errorf("its login plugin %q gave neither a token nor a certificate", p.Command)
	}
	return nil
}

func (c *Context) tell(p *plugin) *credential {
	told := &credential{Version: p.Version, Kind: "ExecCredential"}
	if told.Version == "" {
		told.Version = pluginV1
	}
	if p.WithCluster {
		told.Spec.Cluster = &clusterInfo{Server: c.Server, ServerName: c.serverName, Authority: c.authority}
		if c.proxy != nil {
			told.Spec.Cluster.Proxy = c.proxy.String()
		}
	}
	return told
}

// failed says why a plugin gave no login, and what its maker says then.
func (p *plugin) failed(ctx context.Context, err error, complaint string) error {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		err = errors.New("it is not installed")
		complaint = p.Hint
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
		err = fmt.Errorf("it did not end within %v", pluginTime)
	}
	if complaint = strings.TrimSpace(evidence.Redact(evidence.Clean(complaint))); complaint != "" {
		return fmt.Errorf("its login plugin %q: %w: %s", p.Command, err, complaint)
	}
	return fmt.Errorf("its login plugin %q: %w", p.Command, err)
}

// capped holds the beginning of what a program prints.
type capped struct{ bytes.Buffer }

// Write takes all and keeps what there is room for.
func (b *capped) Write(text []byte) (int, error) {
	b.Buffer.Write(text[:min(len(text), pluginOutput-b.Len())])
	return len(text), nil
}
