package main

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"slices"
	"strings"
	"sync"
	"time"
)

// network is the way of one machine into the world: a proxy that reaches the
// servers by their names, from the machine's own address.
func network(ctx context.Context, address string, servers map[string]string) (string, func(), error) {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}, Timeout: 10 * time.Second}
	p := &httputil.ReverseProxy{
		Rewrite: func(*httputil.ProxyRequest) {},
		Transport: &http.Transport{DialContext: func(ctx context.Context, network, to string) (net.Conn, error) {
			if host, port, err := net.SplitHostPort(to); err == nil && port == "80" {
				to = host
			}
			at, ok := servers[to]
			if !ok {
				return nil, fmt.Errorf("%s is not in this world", to)
			}
			return dialer.DialContext(ctx, network, at)
		}},
	}
	return listen(ctx, http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect {
			http.Error(rw, "nothing here speaks TLS", http.StatusBadGateway)
			return
		}
		p.ServeHTTP(rw, r)
	}))
}

func listen(ctx context.Context, h http.Handler) (string, func(), error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.Serve(l) }()
	return l.Addr().String(), func() { _ = s.Close() }, nil
}

// index is a package index with one project.
// https://packaging.python.org/en/latest/specifications/simple-repository-api/
type index struct {
	mu     sync.Mutex
	wheels map[string][]byte // by version
	close  func()
}

func newIndex() *index {
	return &index{wheels: map[string][]byte{"1.106.2": wheel("1.106.2")}, close: func() {}}
}

func (x *index) publish(version string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.wheels[version] = wheel(version)
}

func (x *index) remove(version string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.wheels, version)
}

func (x *index) serve() (string, error) {
	address, stop, err := listen(context.Background(), x)
	if err == nil {
		x.close = stop
	}
	return address, err
}

func (x *index) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	x.mu.Lock()
	defer x.mu.Unlock()
	version := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/packages/litellm-"), "-py3-none-any.whl")
	switch {
	case r.URL.Path == "/simple/litellm/":
		rw.Header().Set("Content-Type", "text/html")
		for _, v := range slices.Sorted(maps.Keys(x.wheels)) {
			fmt.Fprintf(rw, "<a href=\"/packages/litellm-%[1]s-py3-none-any.whl\">litellm-%[1]s-py3-none-any.whl</a>\n", v)
		}
	case x.wheels[version] != nil:
		rw.Header().Set("Content-Type", "application/octet-stream")
		_, _ = rw.Write(x.wheels[version])
	default:
		http.NotFound(rw, r)
	}
}

// wheel makes a harmless wheel.
// https://packaging.python.org/en/latest/specifications/binary-distribution-format/
func wheel(version string) []byte {
	info := "litellm-" + version + ".dist-info/"
	files := []struct{ name, text string }{
		{"litellm/__init__.py", "version = " + fmt.Sprintf("%q", version) + "\n"},
		{info + "METADATA", "Metadata-Version: 2.1\nName: litellm\nVersion: " + version + "\nSummary: harmless\n"},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: drill\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
	}
	var record, out bytes.Buffer
	z := zip.NewWriter(&out)
	add := func(name, text string) {
		f, err := z.Create(name)
		if err == nil {
			_, _ = f.Write([]byte(text))
		}
	}
	for _, f := range files {
		sum := sha256.Sum256([]byte(f.text))
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.text))
		add(f.name, f.text)
	}
	record.WriteString(info + "RECORD,,\n")
	add(info+"RECORD", record.String())
	_ = z.Close()
	return out.Bytes()
}
