package kubernetes

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v4"

	"pulltrail/ingest/collect"
)

// Context is a way to one cluster.
type Context struct {
	Name   string
	Server string // address of the API, without a slash at its end

	authority, certificate, key []byte // PEM; nil: the system's, none
	serverName                  string
	proxy                       *url.URL
	token, tokenFile            string
}

// kubeconfig is what is read of a configuration. Other keys are for kubectl.
//
// https://kubernetes.io/docs/reference/config-api/kubeconfig.v1/
type kubeconfig struct {
	Current  string `yaml:"current-context"`
	Contexts []struct {
		Name    string `yaml:"name"`
		Context struct {
			Cluster string `yaml:"cluster"`
			User    string `yaml:"user"`
		} `yaml:"context"`
	} `yaml:"contexts"`
	Clusters []struct {
		Name    string  `yaml:"name"`
		Cluster cluster `yaml:"cluster"`
	} `yaml:"clusters"`
	Users []struct {
		Name string `yaml:"name"`
		User user   `yaml:"user"`
	} `yaml:"users"`
}

type cluster struct {
	Server        string `yaml:"server"`
	Authority     string `yaml:"certificate-authority"`
	AuthorityData string `yaml:"certificate-authority-data"`
	Insecure      bool   `yaml:"insecure-skip-tls-verify"`
	ServerName    string `yaml:"tls-server-name"`
	Proxy         string `yaml:"proxy-url"`

	dir string // of the file that it stands in
}

type user struct {
	Certificate     string  `yaml:"client-certificate"`
	CertificateData string  `yaml:"client-certificate-data"`
	Key             string  `yaml:"client-key"`
	KeyData         string  `yaml:"client-key-data"`
	Token           string  `yaml:"token"`
	TokenFile       string  `yaml:"tokenFile"`
	Username        string  `yaml:"username"`
	As              string  `yaml:"as"`
	Exec            *plugin `yaml:"exec"`
	Provider        *struct {
		Name string `yaml:"name"`
	} `yaml:"auth-provider"`

	dir string
}

// Wanted says which contexts, and how to log in.
type Wanted struct {
	File   string   // the kubeconfig; "": those of $KUBECONFIG, else ~/.kube/config
	Names  []string // of contexts; none: the current one
	Token  bool     // the user has a token: what the configuration says of one does not matter
	Plugin bool     // a program that the configuration names for the login may be run
}

// Contexts finds contexts; in a pod without any configuration it is the pod's own
// cluster.
func Contexts(ctx context.Context, want Wanted) ([]*Context, error) {
	file, names := want.File, want.Names
	files := filepath.SplitList(os.Getenv("KUBECONFIG"))
	if file != "" {
		files = []string{file}
	}
	if len(files) == 0 {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, fmt.Errorf("kubeconfig: %w", err)
		}
		files = []string{filepath.Join(home, ".kube", "config")}
	}
	all := newMerged()
	for _, f := range files {
		if err := all.add(f); errors.Is(err, os.ErrNotExist) && file == "" {
			continue // as kubectl does
		} else if err != nil {
			return nil, err
		}
	}
	if len(names) == 0 && len(all.contexts) == 0 && file == "" {
		if c, err := inCluster(); c != nil || err != nil {
			return []*Context{c}, err
		}
	}
	if len(names) == 0 {
		names = []string{all.current}
	}
	var out []*Context
	for _, name := range names {
		c, err := all.context(ctx, name, want)
		if err != nil {
			return nil, fmt.Errorf("kubeconfig %s: %w", strings.Join(files, ", "), err)
		}
		out = append(out, c)
	}
	return out, nil
}

// merged is what several files say: the first one that says something counts.
type merged struct {
	current  string
	contexts map[string][2]string // cluster and user
	clusters map[string]cluster
	users    map[string]user
}

func newMerged() *merged {
	return &merged{clusters: map[string]cluster{}, users: map[string]user{}, contexts: map[string][2]string{}}
}

func (m *merged) add(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	return m.text(path, data)
}

func (m *merged) text(path string, data []byte) error {
	var k kubeconfig
	if err := yaml.Unmarshal(data, &k); err != nil {
		return fmt.Errorf("kubeconfig %s: it is no YAML of the kind", path) // the error may show a part of it
	}
	dir := filepath.Dir(path)
	if m.current == "" {
		m.current = k.Current
	}
	for _, c := range k.Contexts {
		if _, ok := m.contexts[c.Name]; !ok {
			m.contexts[c.Name] = [2]string{c.Context.Cluster, c.Context.User}
		}
	}
	for _, c := range k.Clusters {
		if _, ok := m.clusters[c.Name]; !ok {
			c.Cluster.dir = dir
			m.clusters[c.Name] = c.Cluster
		}
	}
	for _, u := range k.Users {
		if _, ok := m.users[u.Name]; !ok {
			u.User.dir = dir
			m.users[u.Name] = u.User
		}
	}
	return nil
}

func (m *merged) context(ctx context.Context, name string, want Wanted) (*Context, error) {
	of, ok := m.contexts[name]
	switch {
	case name == "":
		return nil, errors.New("there is no current context: say --context NAME")
	case !ok:
		return nil, fmt.Errorf("there is no context %q", name)
	}
	c := &Context{Name: name}
	if err := c.reach(m.clusters[of[0]]); err != nil {
		return nil, fmt.Errorf("context %s: %w", name, err)
	}
	if want.Token {
		return c, nil
	}
	if err := c.login(ctx, m.users[of[1]], want.Plugin); err != nil {
		return nil, fmt.Errorf("context %s: %w", name, err)
	}
	return c, nil
}

// reach takes over where the cluster is.
func (c *Context) reach(k cluster) (err error) {
	c.Server, c.serverName = strings.TrimSuffix(k.Server, "/"), k.ServerName
	switch {
	case k.Server == "":
		return errors.New("it names no server")
	case k.Insecure:
		return errors.New("'insecure-skip-tls-verify': a token would go to whoever answers. Give the cluster's certificate-authority-data")
	case k.Proxy != "":
		if c.proxy, err = url.Parse(k.Proxy); err != nil {
			return errors.New("its proxy-url is no address")
		}
	}
	c.authority, err = pem(k.Authority, k.AuthorityData, k.dir, "certificate-authority")
	return err
}

// login takes over who asks, as the configuration has it. A plugin is a program
// that it names: it is not run unless the user says so.
func (c *Context) login(ctx context.Context, u user, plugin bool) (err error) {
	const advice = "give a token, --token-file FILE, with what 'kubectl create token ACCOUNT' prints"
	switch {
	case u.As != "":
		return errors.New("'as' (impersonation) is not supported: use a context without it")
	case u.Exec != nil && plugin:
		return c.loginBy(ctx, u.Exec, u.dir)
	case u.Exec != nil:
		return fmt.Errorf("its login is the plugin %q, a program: --run-plugin has it run, as kubectl would; or "+advice, u.Exec.Command)
	case u.Provider != nil:
		return fmt.Errorf("its login is the plugin %q, which kubectl has no more: "+advice, u.Provider.Name)
	case u.Username != "":
		return errors.New("a name and a password are taken by no cluster any more: " + advice)
	}
	c.token = u.Token
	if u.TokenFile != "" {
		c.tokenFile = below(u.TokenFile, u.dir)
	}
	if c.certificate, err = pem(u.Certificate, u.CertificateData, u.dir, "client-certificate"); err != nil {
		return err
	}
	c.key, err = pem(u.Key, u.KeyData, u.dir, "client-key")
	return err
}

// pem is what stands in a configuration, or in a file that it names.
func pem(file, data, dir, name string) ([]byte, error) {
	if data != "" {
		text, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return nil, fmt.Errorf("its %s-data is not base64", name)
		}
		return text, nil
	}
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(below(file, dir))
	if err != nil {
		return nil, fmt.Errorf("its %s: %w", name, err)
	}
	return text, nil
}

// below is a path as it is meant in a configuration.
func below(path, dir string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// account is where a pod finds its own login.
// https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/
var account = "/var/run/secrets/kubernetes.io/serviceaccount"

// inCluster is the cluster of the pod that this is; nil outside of one.
func inCluster() (*Context, error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	c := &Context{Name: "in-cluster", Server: "https://" + host + ":" + port, tokenFile: filepath.Join(account, "token")}
	var err error
	c.authority, err = pem(filepath.Join(account, "ca.crt"), "", "", "certificate-authority")
	return c, err
}

// Tokens are the places where the token of the context may be.
func (c *Context) Tokens(file string) collect.Places {
	return collect.Places{File: file, Where: "the kubeconfig", Login: func(context.Context) (string, error) {
		if c.tokenFile == "" {
			return c.token, nil
		}
		data, err := os.ReadFile(c.tokenFile)
		if err != nil {
			return "", fmt.Errorf("token of context %s: %w", c.Name, err)
		}
		return strings.TrimSpace(string(data)), nil
	}}
}

// network is the way to the cluster, with its certificate and ours.
func (c *Context) network() (http.RoundTripper, error) {
	way, ok := collect.Network().(*http.Transport)
	if !ok {
		return nil, errors.New("kubernetes: the network is of another kind")
	}
	way.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12, ServerName: c.serverName}
	if c.authority != nil {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM(c.authority) {
			return nil, fmt.Errorf("context %s: its certificate-authority holds no certificate", c.Name)
		}
		way.TLSClientConfig.RootCAs = pool
	}
	if c.certificate != nil {
		pair, err := tls.X509KeyPair(c.certificate, c.key)
		if err != nil {
			return nil, fmt.Errorf("context %s: its client-certificate and client-key are no pair", c.Name)
		}
		way.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	if c.proxy != nil {
		way.Proxy = http.ProxyURL(c.proxy)
	}
	return way, nil
}
