package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// tools are what the drill plays with, and the Debian package that each is in.
var tools = []struct{ command, pkg string }{
	{"nginx", "nginx-light"},
	{"docker-registry", "docker-registry"},
	{"buildah", "buildah"},
	{"podman", "podman"},
	{"skopeo", "skopeo"},
	{"crun", "crun"},
	{"python3", "python3-venv"},
}

// want installs what is missing, as root on Debian; else it says what to
// install.
func want(ctx context.Context) error {
	var missing []string
	for _, t := range tools {
		if _, err := exec.LookPath(t.command); err != nil {
			missing = append(missing, t.pkg)
		}
	}
	if exec.CommandContext(ctx, "python3", "-c", "import venv, ensurepip").Run() != nil && !strings.Contains(strings.Join(missing, " "), "python3-venv") {
		missing = append(missing, "python3-venv")
	}
	if len(missing) == 0 {
		return nil
	}
	apt, err := exec.LookPath("apt-get")
	if err != nil || os.Getuid() != 0 {
		return fmt.Errorf("the drill plays with real tools, and some are missing: apt-get install %s", strings.Join(missing, " "))
	}
	fmt.Println("--- installing", strings.Join(missing, " "))
	for _, args := range [][]string{{"update", "-qq"}, append([]string{"install", "-qq", "-y", "--no-install-recommends"}, missing...)} {
		c := exec.CommandContext(ctx, apt, args...)
		c.Env, c.Stderr = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive"), os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("apt-get %s: %w; install %s", args[0], err, strings.Join(missing, " "))
		}
	}
	return nil
}

// world is all that is played: an index, a cache before it, a registry, and
// machines with addresses of their own.
type world struct {
	ctx      context.Context
	dir      string
	index    *index
	servers  map[string]string // name as machines know it → address on loopback
	running  []*exec.Cmd
	closers  []func()
	from, to time.Time // the window
	begin    time.Time
	evidence []exhibit
	err      error
}

// exhibit is one file of evidence: where it lies, and whose it is.
type exhibit struct {
	path    string
	subject string
	covers  bool // whose it is states that it is all of it
}

const (
	registryName = "registry.acme.example:5000"
	mirrorName   = "mirror.acme.example"
)

func ref(image string) string { return registryName + "/acme/" + image }

func newWorld(ctx context.Context, dir string) (*world, error) {
	w := &world{ctx: ctx, dir: dir, servers: map[string]string{}, begin: time.Now()}
	w.index = newIndex()
	address, err := w.index.serve()
	if err != nil {
		return nil, err
	}
	w.closers = append(w.closers, w.index.close)
	cache, registry := w.free(), w.free()
	w.write("nginx.conf", strings.NewReplacer("DIR", dir, "CACHE", cache, "INDEX", address).Replace(nginxConf))
	w.write("registry.yml", strings.NewReplacer("DIR", dir, "ADDRESS", registry).Replace(registryConf))
	w.write("policy.json", `{"default": [{"type": "insecureAcceptAnything"}]}`)
	w.write("registries.conf", "unqualified-search-registries = []\n")
	for _, d := range []string{"evidence", "tmp", "nginx"} {
		w.fail(os.MkdirAll(filepath.Join(dir, d), 0o700))
	}
	w.start("", "nginx", "-e", w.path("nginx/error.log"), "-c", w.path("nginx.conf"), "-p", dir)
	w.start("registry.log", "docker-registry", "serve", w.path("registry.yml"))
	w.servers[mirrorName], w.servers[registryName] = cache, registry
	for _, a := range []string{cache, registry} {
		w.fail(answers(ctx, a))
	}
	w.evidence = append(w.evidence, exhibit{w.file("registry.log"), "host:registry-1", true}, exhibit{w.file("access.log"), "host:mirror-1", true})
	if w.err != nil {
		w.stop()
	}
	return w, w.err
}

const nginxConf = `daemon off;
worker_processes 1;
user root;
pid DIR/nginx/pid;
events {}
http {
  access_log DIR/evidence/access.log combined;
  client_body_temp_path DIR/nginx/body; proxy_temp_path DIR/nginx/proxy; fastcgi_temp_path DIR/nginx/f;
  uwsgi_temp_path DIR/nginx/u; scgi_temp_path DIR/nginx/s;
  proxy_cache_path DIR/nginx/cache keys_zone=all:1m;
  server {
    listen CACHE;
    location / {
      proxy_pass http://INDEX;
      proxy_cache all;
      proxy_cache_valid 200 1h;
    }
    location /simple/ { proxy_pass http://INDEX; }
  }
}
`

const registryConf = `version: 0.1
log: {level: info, formatter: text, accesslog: {disabled: false}}
storage: {filesystem: {rootdirectory: DIR/registry}}
http: {addr: "ADDRESS"}
`

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

// file is the path of a piece of evidence.
func (w *world) file(name string) string { return filepath.Join(w.dir, "evidence", name) }

func (w *world) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

func (w *world) write(name, text string) { w.fail(os.WriteFile(w.path(name), []byte(text), 0o600)) }

// pause keeps apart what has to be apart on clocks of one second.
func (w *world) pause() { time.Sleep(1100 * time.Millisecond) }

// free finds an address on loopback that nobody listens on.
func (w *world) free() string {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // nothing to wait for
	if err != nil {
		w.fail(err)
		return ""
	}
	defer func() { w.fail(l.Close()) }()
	return l.Addr().String()
}

// start runs a server until the drill ends; what it prints is evidence.
func (w *world) start(log string, name string, args ...string) {
	if w.err != nil {
		return
	}
	c := exec.CommandContext(w.ctx, name, args...) //nolint:gosec // one of tools
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if log != "" {
		f, err := os.Create(w.file(log))
		if err != nil {
			w.fail(err)
			return
		}
		w.closers = append(w.closers, func() { f.Close() })
		c.Stdout, c.Stderr = f, f
	}
	if err := c.Start(); err != nil {
		w.fail(err)
		return
	}
	w.running = append(w.running, c)
}

// stop ends every server; the logs are whole after it.
func (w *world) stop() {
	for _, c := range w.running {
		_ = c.Process.Signal(syscall.SIGTERM)
		done := time.AfterFunc(5*time.Second, func() { _ = c.Process.Kill() })
		_ = c.Wait()
		done.Stop()
	}
	w.running = nil
	for _, f := range w.closers {
		f()
	}
	w.closers = nil
}

// answers waits until a server takes connections.
func answers(ctx context.Context, address string) error {
	var d net.Dialer
	for {
		c, err := d.DialContext(ctx, "tcp", address)
		if err == nil {
			return c.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: nothing listens there: %w", address, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// rotated puts the registry's log away as it is now: what comes later is lost.
func (w *world) rotated() {
	text, err := os.ReadFile(w.file("registry.log"))
	w.fail(err)
	w.closers = append(w.closers, func() { w.fail(os.WriteFile(w.file("registry.log"), text, 0o600)) })
}

// cut takes away what a log says from the first line with the text on.
func (w *world) cut(name, text string) {
	if w.err != nil {
		return
	}
	data, err := os.ReadFile(w.file(name))
	w.fail(err)
	i := bytes.Index(data, []byte(text))
	if i < 0 {
		w.fail(fmt.Errorf("%s: no line has %q", name, text))
		return
	}
	w.fail(os.WriteFile(w.file(name), data[:i+len("+ pod")], 0o600)) // inside a word
}

// machine is a host with an address of its own, and a store for images.
type machine struct {
	w       *world
	name    string
	dir     string
	proxy   string
	address string
}

func (w *world) machine(name, address string) *machine {
	m := &machine{w: w, name: name, dir: w.path(name), address: address}
	w.fail(os.MkdirAll(filepath.Join(m.dir, "home"), 0o700))
	w.fail(os.MkdirAll(filepath.Join(m.dir, "work"), 0o700))
	var err error
	var stop func()
	m.proxy, stop, err = network(w.ctx, address, w.servers)
	w.fail(err)
	w.closers = append(w.closers, stop)
	return m
}

// prepare runs a command that nobody logs.
func (m *machine) prepare(command string) {
	if m.w.err != nil {
		return
	}
	c := exec.CommandContext(m.w.ctx, "bash", "-c", command) //nolint:gosec // the drill's own
	c.Dir = filepath.Join(m.dir, "work")
	if out, err := c.CombinedOutput(); err != nil {
		m.w.fail(fmt.Errorf("%s: %w:\n%s", command, err, out))
	}
}

// log runs commands on the machine, as its journal of them.
func (m *machine) log(commands ...string) {
	m.run(m.name+".log", "host:"+m.name, commands...)
}

// job runs commands as a job of a project, on the machine.
func (m *machine) job(project string, number int, commands ...string) {
	m.run(fmt.Sprintf("job-%d.log", number), fmt.Sprintf("job:gitlab:%s/jobs/%d", project, number), commands...)
}

// run runs commands with a shell that prints each before it runs it, and keeps
// what is printed, with the time of each line.
func (m *machine) run(log, subject string, commands ...string) {
	if m.w.err != nil {
		return
	}
	out, err := os.OpenFile(m.w.file(log), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		m.w.fail(err)
		return
	}
	defer out.Close()
	if e := (exhibit{m.w.file(log), subject, strings.HasPrefix(subject, "host:")}); !slices.Contains(m.w.evidence, e) {
		m.w.evidence = append(m.w.evidence, e)
	}
	c := exec.CommandContext(m.w.ctx, "bash", "-c", "set -e\n"+m.functions()+"set -x\n"+strings.Join(commands, "\n")) //nolint:gosec // the drill's own
	c.Dir = filepath.Join(m.dir, "work")
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(m.dir, "home"), "TMPDIR=" + m.w.path("tmp"), "LC_ALL=C.UTF-8",
		"XDG_RUNTIME_DIR=" + m.w.path("tmp"), "CONTAINERS_REGISTRIES_CONF=" + m.w.path("registries.conf"), "BUILDAH_ISOLATION=chroot",
		"http_proxy=http://" + m.proxy, "https_proxy=http://" + m.proxy, "PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_ROOT_USER_ACTION=ignore",
	}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	pipe, err := c.StdoutPipe()
	m.w.fail(err)
	c.Stderr = c.Stdout
	m.w.fail(c.Start())
	lines := bufio.NewScanner(pipe)
	var last []string
	for lines.Scan() {
		fmt.Fprintf(out, "%s %s\n", time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"), lines.Text())
		last = append(last, lines.Text())
	}
	if err := c.Wait(); err != nil {
		m.w.fail(fmt.Errorf("%s: %w:\n%s", log, err, strings.Join(last[max(0, len(last)-20):], "\n")))
	}
}

// functions are the tools with the options that keep all they do in the
// machine's folder; what the log shows are plain commands.
func (m *machine) functions() string {
	store := fmt.Sprintf("--root %[1]s/store --runroot %[1]s/run --storage-driver vfs", m.dir)
	policy := m.w.path("policy.json")
	return fmt.Sprintf(`podman() { { set +x; } 2>/dev/null; local sub=$1; shift; case $sub in pull) set -- --signature-policy %[2]s "$@";; esac; command podman %[1]s --tmpdir %[3]s/tmp $sub "$@" 2>&1; { set -x; } 2>/dev/null; }
buildah() { { set +x; } 2>/dev/null; local sub=$1; shift; command buildah %[1]s $sub --signature-policy %[2]s "$@" 2>&1; { set -x; } 2>/dev/null; }
skopeo() { { set +x; } 2>/dev/null; command skopeo --policy %[2]s "$@" 2>&1; { set -x; } 2>/dev/null; }
`, store, policy, m.dir)
}

// install is the command of a job that installs a requirement from the mirror.
func install(requirement string) string {
	return `python3 -m venv --without-pip $venv
../pip/bin/pip --python $venv/bin/python install --no-cache-dir --index-url http://` + mirrorName + `/simple --trusted-host ` + mirrorName + ` '` + requirement + `'`
}

// image builds an image from a folder alone, and pushes it.
func image(folder, name string) string {
	return `printf 'FROM scratch\nCOPY ` + folder + ` /srv/` + folder + `\n' > Containerfile
buildah bud -t ` + ref(name) + ` -f Containerfile .
buildah push --tls-verify=false ` + ref(name)
}

// derived builds an image on another one, and pushes it.
func derived(from, name string) string {
	return `mkdir -p app && echo app > app/file
printf 'FROM ` + ref(from) + `\nCOPY app /srv/app\n' > Containerfile
buildah bud --tls-verify=false -t ` + ref(name) + ` -f Containerfile .
buildah push --tls-verify=false ` + ref(name)
}
