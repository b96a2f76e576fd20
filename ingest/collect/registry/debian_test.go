//go:build dockerregistry

package registry

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"pulltrail/timeline"
)

// start starts Debian's docker-registry until the test ends.
func start(t *testing.T) *store {
	t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	dir := t.TempDir()
	config := filepath.Join(dir, "config.yml")
	text := fmt.Sprintf("version: 0.1\nlog: {level: error}\nstorage: {filesystem: {rootdirectory: %q}}\nhttp: {addr: %q}\n", filepath.Join(dir, "data"), address)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("docker-registry", "serve", config)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatalf("docker-registry is not installed: apt-get install docker-registry: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for range 200 {
		if resp, err := http.Get("http://" + address + "/v2/"); err == nil {
			resp.Body.Close()
			s := &store{T: t, address: "http://" + address}
			s.open()
			return s
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("docker-registry: %v: %s", err, said.String())
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Fatalf("docker-registry does not answer: %s", said.String())
	return nil
}

// TestDebian: the registry of Debian speaks as the stand-ins do.
func TestDebian(t *testing.T) {
	s := start(t)
	base, app, clean := s.images()
	st, res := s.collect(true)
	if st.Gaps != 0 || !res.Complete() || st.Replies[timeline.Obtained] < 1+3+3+3+3 {
		t.Errorf("got %+v, %+v", st, res)
	}
	s.holds(base, litellm, true)
	s.holds(app, litellm, true)
	s.holds(clean, litellm, false)
	s.holds(clean, "pkg:deb/zlib1g@1:1.2.13", true)
	if st, _ = s.collect(true, "acme/app", "acme/none"); st.Gaps != 1 || st.Replies[timeline.Absent] == 0 {
		t.Errorf("a repository that is not there: %+v", st)
	}
}
