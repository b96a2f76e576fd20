// Drill plays an incident with real tools and asks pulltrail what happened.
//
// A harmless wheel called litellm 1.107.0 is served by an index on loopback,
// through an nginx cache. A job installs it with pip and builds an image with
// buildah, another job builds a second image from that one, and hosts pull them
// from a registry with podman and skopeo after the index has removed the wheel.
// pulltrail gets their logs and an incident whose window is the drill's: it must
// name exactly what was exposed, clear the host that pulled another image, and
// say unknown of the one whose log is cut.
//
//	go run ./testdata/drill -bin bin/pulltrail
//
// Everything lies in one temporary directory, which is removed at the end.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	bin := flag.String("bin", "bin/pulltrail", "the program")
	keep := flag.Bool("keep", false, "keep the evidence, and say where it is")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	if err := drill(ctx, *bin, *keep); err != nil {
		cancel()
		stop()
		fmt.Fprintln(os.Stderr, "drill:", err)
		os.Exit(1) //nolint:gocritic // both were called
	}
}

func drill(ctx context.Context, bin string, keep bool) (err error) {
	begin := time.Now()
	if bin, err = filepath.Abs(bin); err != nil {
		return err
	}
	if err := want(ctx); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pulltrail-drill-")
	if err != nil {
		return err
	}
	if keep {
		fmt.Println("everything is kept in", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	w, err := newWorld(ctx, dir)
	if err != nil {
		return err
	}
	err = w.play()
	w.stop()
	if err != nil {
		return err
	}
	fmt.Printf("the incident was played in %.0f s\n", time.Since(begin).Seconds())
	return ask(ctx, bin, w)
}

// play is what happens, in order. What is recorded of it stands in w.evidence.
func (w *world) play() error {
	runner, other := w.machine("runner-1", "127.0.0.11"), w.machine("runner-2", "127.0.0.12")
	one, two, three, four := w.machine("one", "127.0.0.21"), w.machine("two", "127.0.0.22"), w.machine("three", "127.0.0.23"), w.machine("four", "127.0.0.24")

	runner.prepare("python3 -m venv ../pip")

	// Before the release: images that do not have it.
	runner.job("acme/base", 100, "venv=$PWD/old", install("litellm==1.106.2"), image("old", "base:0"))
	runner.job("acme/tool", 101, "mkdir -p plain && echo plain > plain/file", image("plain", "tool:1"))

	three.log("podman pull --tls-verify=false " + ref("base:0"))
	four.log("podman pull --tls-verify=false " + ref("base:0"))

	// The release: who asks for any version now gets it.
	w.index.publish("1.107.0")
	w.from = time.Now()
	runner.job("acme/base", 102, "venv=$PWD/new", install("litellm"), image("new", "base:1"))
	w.pause()
	w.index.remove("1.107.0")
	w.to = time.Now()
	w.pause()

	// After it: the cache serves it, and the image goes on.
	runner.job("acme/late", 103, "venv=$PWD/late", install("litellm @ http://"+mirrorName+"/packages/litellm-1.107.0-py3-none-any.whl"))
	other.job("acme/app", 104, derived("base:1", "app:1"))
	one.log("podman pull --tls-verify=false "+ref("app:1"), "podman image inspect "+ref("app:1")+" > "+w.file("app.json"))
	w.evidence = append(w.evidence, exhibit{w.file("app.json"), "host:one", false})
	two.log("skopeo copy --src-tls-verify=false docker://" + ref("base:1") + " dir:$PWD/base")
	runner.job("acme/base", 105, "venv=$PWD/old", image("old", "base:1"))
	three.log("podman pull --tls-verify=false " + ref("base:1"))
	w.rotated() // the registry's log of what follows is not there
	four.log("podman pull --tls-verify=false "+ref("tool:1"), "podman pull --tls-verify=false "+ref("app:1"))
	w.cut("four.log", "+ podman pull --tls-verify=false "+ref("app:1"))
	return w.err
}
