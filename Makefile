# prloop. `make help` lists what can be done.
SHELL := /bin/bash
BIN := bin
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# GRAMMARS are the syntaxes internal/symbols reads; without the tags all 206 of the parser's are embedded.
GRAMMARS := python javascript typescript tsx java ruby rust c cpp c_sharp php
comma := ,
space := $(subst ,, )
TAGS := grammar_subset$(subst $(space),,$(GRAMMARS:%=$(comma)grammar_subset_%))
GOFLAGS_BUILD := -tags $(TAGS) -ldflags "-s -w -X github.com/prloop/prloop/internal/cli.Version=$(VERSION)"
# TARGETS are the systems a release is built for.
TARGETS ?= linux-amd64 linux-arm64 darwin-amd64 darwin-arm64
PKGS ?= ./...
# FUZZTIME is how long each fuzz target runs in `make fuzz`.
FUZZTIME ?= 60s
# KILLS is how many processes `make robustness` kills at random moments, COMMANDKILLS how many of scheduled jobs and of answers to comments, TALKKILLS how many of a conversation of
# five runs, CROWD how many trials it does at once: twice as many are the load that hides nothing. What it does stands in bin/robustness.log.
KILLS ?= 200
COMMANDKILLS ?= 300
TALKKILLS ?= 300
CROWD ?= 6
# RUNS is how many runs `make scale` fills its stores with.
RUNS ?= 100000
LINT := go tool -modfile=tools/lint/go.mod
# Everything is built as a release and the GitHub CLI are, so that each dependency is compiled once. The race detector needs cgo.
export CGO_ENABLED := $(if $(findstring -race,$(TESTFLAGS)),1,0)
export GOFLAGS := $(shell go env GOFLAGS) -trimpath

.DEFAULT_GOAL := help
.PHONY: help build release demo test attacks race lint dead vet fmt tidy generate pictures secretrules fuzz robustness modes scale bench check cases clean

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  %-10s %s\n", $$1, $$2}'

build: ## Build bin/prloop and the gh extension's program
	go build $(GOFLAGS_BUILD) -o $(BIN)/prloop ./cmd/prloop
	go build $(GOFLAGS_BUILD) -o $(BIN)/gh-review-loop ./cmd/gh-review-loop

release: ## Build a release of VERSION into dist/: archives, Debian packages, a formula, programs for gh, checksums; needs dpkg-deb
	rm -rf dist && mkdir dist
	@set -e; for target in $(TARGETS); do for name in gh-review-loop prloop; do \
		echo "$$name $$target"; GOOS=$${target%-*} GOARCH=$${target#*-} go build $(GOFLAGS_BUILD) \
			-o "dist/$${name}_$(VERSION)_$$target" "./cmd/$$name"; done; done
	go run ./tools/release "$(VERSION)" dist "$$(git log -1 --format=%ct)"

demo: build ## Review and fix two bundled pull requests end to end, offline, through the real git and gh
	@gh="$$(tools/gh/find)" && PRLOOP_GH="$$gh" $(BIN)/prloop demo

# What go test vets, make vet does too. Tests of whole runs wait for children half of their time, so more of them go on than there are cores.
test: ## Run every test (TESTFLAGS=-race for the race detector, -short without the longest suites)
	go test -vet=off -parallel 4 -timeout 2h $(TESTFLAGS) $(PKGS)

attacks: ## Run the scripts of attacks, which -short leaves out
	go test -vet=off -parallel 4 -timeout 2h -run TestAttacks ./internal/cli

race: ## Run every test with the race detector
	@$(MAKE) --no-print-directory test TESTFLAGS=-race

vet: ## go vet, for this system and for those that are only built
	go vet $(PKGS)

fmt: ## Fail when a file is not gofmt'ed
	@out="$$(gofmt -l $$(git ls-files '*.go'))"; if [ -n "$$out" ]; then echo "gofmt: $$out"; exit 1; fi

lint: ## golangci-lint with staticcheck, and actionlint on the examples, pinned in tools/lint
	$(LINT) golangci-lint run $(PKGS)
	$(LINT) actionlint examples/*.yml

dead: ## Fail when a function is unreachable from the programs; internal/testkit is there for tests
	@out="$$(GOFLAGS=-tags=$(TAGS) $(LINT) deadcode ./cmd/...)" || exit 1; \
	out="$$(grep -v '^internal/testkit/' <<<"$$out")"; if [ -n "$$out" ]; then echo "$$out"; exit 1; fi

tidy: ## Fail when go.mod or go.sum are not tidy
	go mod tidy -diff

generate: ## Rewrite generated schemas, references and golden reports
	go test ./internal/schema ./internal/config ./internal/toolset ./internal/pushpolicy ./internal/markdown ./internal/report -run 'Golden|Generated' -update

secretrules: ## Rewrite the table of secret rules from the gitleaks that tools/secretrules pins, and compare the two
	cd tools/secretrules && go run . && go test -count=1 ./...

pictures: ## Draw the reports and the thread of the docs in light and dark; needs chromium, fonts-noto-color-emoji
	go run ./tools/pictures internal/cli/testdata/reports docs/report

robustness: ## Kill runs everywhere, KILLS times at random too, and write docs/robustness.md
	@mkdir -p $(BIN)
	set -o pipefail; go test ./internal/cli -v -count=1 -timeout 24h -run 'TestEveryPoint|TestRandomKills|TestSignalsDrain' \
		-kills $(KILLS) -commandkills $(COMMANDKILLS) -talkkills $(TALKKILLS) -killworkers $(CROWD) -robustness ../../docs/robustness.md 2>&1 | tee $(BIN)/robustness.log

modes: ## Run every mode of the stand-in for GitHub at every write, and check the histories
	go test ./internal/github -v -count=1 -timeout 60m -run 'TestEveryModeAtEveryWrite|TestPlanted|TestCrowd' -every-mode

.PHONY: replay
replay: ## Send what happened on 949 recorded pull requests to the daemon, on SQLite and PostgreSQL
	TMPDIR=$$([ -d /dev/shm ] && echo /dev/shm || echo "$${TMPDIR:-/tmp}") go test ./internal/daemon -v -count=1 -timeout 3h -run TestReplay -replay

.PHONY: load simulate
load: ## Measure what serving costs: deliveries, reviews whose agents answer at once, workers; and write it into docs/scale.md
	go test ./internal/daemon -v -count=1 -timeout 60m -run 'TestLoad$$' -load ../../docs/scale.md

simulate: ## Simulate the load of a large organisation on the real queue, and write the table of docs/scale.md
	TMPDIR=$$([ -d /dev/shm ] && echo /dev/shm || echo "$${TMPDIR:-/tmp}") go test ./internal/daemon -v -count=1 -timeout 3h -run 'TestScale$$' -scale ../../docs/scale.md

MINUTES ?= 60
STORE ?= sqlite
.PHONY: chaos
chaos: ## Make chaos around servers and workers for MINUTES on STORE (sqlite or postgres), and write it into docs/robustness.md
	go test ./internal/cli -v -count=1 -timeout 24h -run 'TestChaos$$' -chaos $(MINUTES)m -chaosstore $(STORE) -robustness ../../docs/robustness.md

fuzz: ## Run every fuzz target for FUZZTIME
	@sh tools/fuzz $(FUZZTIME)

scale: ## Show the dashboard's pages with RUNS runs in the store, on SQLite and PostgreSQL: times, weights, no table read as a whole
	go test ./internal/dashboard -run TestPagesOfALargeStore -count=1 -timeout 2h -v -runs $(RUNS)

bench: ## Run the benchmarks
	go test -run '^$$' -bench . -benchmem $(PKGS)

check: fmt vet tidy lint dead race ## All that CI runs

clean: ## Remove what was built
	rm -rf $(BIN) dist
