# make        builds bin/pulltrail
# make demo   builds it and runs the whole job on built-in evidence, offline
# make help   lists the rest

GO      ?= go
CC      ?= gcc
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

# Versions of the tools that a change is checked with.
GOLANGCI_LINT := bin/golangci-lint-2.15.0

# SQLite is C.
export CGO_ENABLED = 1

# Servers of the system that tests start for themselves.
SERVERS := $(if $(wildcard /usr/lib/postgresql/*/bin/initdb),postgres) $(if $(wildcard /usr/bin/docker-registry),dockerregistry)

# How long each fuzz test of "make fuzz" runs.
FUZZTIME ?= 5s

# Everything that is tested: "./..." leaves testdata out, so what is Go there is named.
PACKAGES := ./... $(addprefix ./,$(sort $(patsubst %/,%,$(dir $(wildcard testdata/*/*.go testdata/*/*/*.go)))))

.PHONY: all demo drill test soak lint fmt bench look fuzz update clean help need

all: need
	$(GO) build -o bin/pulltrail -ldflags "-X main.version=$(VERSION)" ./cmd/pulltrail

demo: all ## the whole job on built-in evidence, offline
	bin/pulltrail demo

# Each program that a test starts would sleep for a second at its end, in case
# another thread still finds a race.
test: need ## vet, and every test with the race detector
	$(GO) vet -tags "postgres dockerregistry" $(PACKAGES)
	GORACE=atexit_sleep_ms=20 $(GO) test -race -tags "$(SERVERS)" -timeout 20m $(PACKAGES)
	@[ -n "$(findstring postgres,$(SERVERS))" ] || echo "make: the tests that start a PostgreSQL of their own were left out: install postgresql (Debian: apt-get install postgresql); .ci/run does"
	@[ -n "$(findstring dockerregistry,$(SERVERS))" ] || echo "make: the test that starts an image registry of its own was left out: install docker-registry (Debian: apt-get install docker-registry); .ci/run does"

drill: all ## plays the incident with pip, buildah, podman, skopeo, nginx and a registry, and asks who has it
	$(GO) run ./testdata/drill -bin bin/pulltrail

soak: need ## the long forms of the tests of safety, for an hour or so
	PULLTRAIL_SOAK=1 $(GO) test -timeout 3h ./ingest ./ingest/collect/... ./timeline ./matchers ./cmd/pulltrail

lint: need $(GOLANGCI_LINT) ## golangci-lint and gofumpt, see .golangci.yml
	$(GOLANGCI_LINT) run $(PACKAGES)

fmt: need $(GOLANGCI_LINT) ## format as lint wants it
	$(GOLANGCI_LINT) fmt

bench: all ## speed, as ratios to openssl, ripgrep and sqlite3 over the same files; writes 3 GB, ten minutes
	$(GO) run ./testdata/bench -bin bin/pulltrail

look: all ## opens reports, also hostile ones, in Chromium and LibreOffice, and takes pictures into bin/look; half an hour
	rm -rf bin/look && mkdir -p bin/look/hostile bin/look/demo
	PULLTRAIL_KEEP=$(CURDIR)/bin/look/hostile $(GO) test ./reports -run Hostile -count 1
	bin/pulltrail demo --dir bin/look/demo/files >/dev/null
	set -e; for r in responder rotation questionnaire manifest; do for form in html csv; do \
	  bin/pulltrail report $$r --incident litellm-1.107.0 --as-of 2026-10-22T18:00:00Z --case bin/look/demo/files/pulltrail-case -o bin/look/demo/$$r.$$form; done; done
	cp testdata/reports/*.html testdata/reports/*.csv bin/look/
	$(GO) run ./testdata/look -from bin/look -to bin/look/pictures

fuzz: need ## every fuzz test, FUZZTIME each
	@set -e; for pkg in $$($(GO) list $(PACKAGES)); do \
	  for name in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "$$pkg $$name"; $(GO) test $$pkg -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x; \
	  done; done

update: need ## write goldens and stories anew; read the difference before you commit it
	$(GO) test ./ingest -run Goldens -update
	$(GO) test ./cmd/pulltrail -run "Scripts|FormatsPage" -update
	$(GO) test ./reports -run "Reports|Schemas" -update

clean: ## remove what was built
	rm -rf bin

help:
	@echo "make            build bin/pulltrail"
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' Makefile | expand -t 16

# need says what is missing before a compiler says it worse.
need:
	@command -v $(GO) >/dev/null || { echo "make: Go is missing ($(GO)): install Go 1.26 or later, https://go.dev/doc/install"; exit 1; }
	@command -v $(firstword $(CC)) >/dev/null || { echo "make: a C compiler is missing ($(CC)): install gcc (Debian: apt-get install gcc libc6-dev)"; exit 1; }

$(GOLANGCI_LINT):
	@mkdir -p bin/tmp
	GOBIN=$(CURDIR)/bin/tmp $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v$(lastword $(subst -, ,$@))
	mv bin/tmp/golangci-lint $@ && rmdir bin/tmp
