package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// browser is a headless Chromium behind a proxy that answers nothing, and writes
// down what was asked.
type browser struct {
	ctx    context.Context
	work   string
	proxy  string
	server *http.Server

	mu   sync.Mutex
	seen []string
}

func newBrowser(ctx context.Context, work string) (*browser, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &browser{ctx: ctx, work: work, proxy: l.Addr().String()}
	b.server = &http.Server{Handler: b, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = b.server.Serve(l) }()
	return b, nil
}

// ServeHTTP takes down a request, but for those that Chromium makes by itself,
// whatever it is told: whether there is a newer one, and what time it is.
func (b *browser) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	if host := r.URL.Hostname(); !strings.HasSuffix(host, ".google.com") && !strings.HasSuffix(host, ".googleapis.com") {
		b.mu.Lock()
		b.seen = append(b.seen, r.Method+" "+r.URL.String())
		b.mu.Unlock()
	}
	http.Error(rw, "nothing is out here", http.StatusNotFound)
}

// asked returns what was asked for since it was called last.
func (b *browser) asked() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.seen
	b.seen = nil
	return out
}

// open opens a page until it is drawn.
func (b *browser) open(page string, args ...string) error {
	all := append([]string{
		"--headless=new", "--no-sandbox", "--hide-scrollbars", "--user-data-dir=" + filepath.Join(b.work, "profile"), "--proxy-server=http://" + b.proxy,
		"--proxy-bypass-list=<-loopback>", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-default-apps",
		"--disable-features=OptimizationHints,Translate,MediaRouter,AutofillServerCommunication", "--timeout=15000",
	}, args...)
	c := exec.CommandContext(b.ctx, "chromium", append(all, "file://"+page)...) //nolint:gosec // the reports
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("chromium %s: %w: %s", page, err, text)
	}
	return nil
}

func (b *browser) close() { _ = b.server.Close() }
