package main

import (
	"io"
	"log" //nolint:depguard // the registry writes into one, unless it gets another
	"net/http/httptest"
	"strings"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/rogpeppe/go-internal/testscript"

	"pulltrail/testdata/services"
)

// startLayers starts a registry of go-containerregistry with images that have
// content, and puts its host into $REGISTRY, until the story ends.
func startLayers(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: layers")
	}
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	ts.Defer(server.Close)
	system := services.Layer{"var/lib/dpkg/status": "Package: zlib1g\nStatus: install ok installed\nVersion: 1:1.2.13\nArchitecture: amd64\n\n"}
	bad, own := services.Dist("litellm", "1.107.0"), services.Dist("app", "1.0")
	for _, image := range []struct {
		repo   string
		layers []services.Layer
	}{{"acme/base", []services.Layer{system, bad}}, {"acme/app", []services.Layer{system, bad, own}}, {"acme/clean", []services.Layer{system, own}}} {
		_, err := services.Push(server.URL, image.repo, "1", image.layers...)
		ts.Check(err)
	}
	ts.Setenv("REGISTRY", strings.TrimPrefix(server.URL, "http://"))
}
