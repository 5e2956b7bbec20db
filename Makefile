# Every target that people use has a line of help behind "##".

GO       ?= go
BIN      := bin/soundstage
TOOL     := $(GO) tool -modfile=$(CURDIR)/tools.mod
FUZZTIME ?= 60s
# gRPC comes with Google's SDK, and its tracing pages with gRPC: nobody serves them here.
TAGS     := grpcnotrace
BENCH    ?= .

# The repository holds three modules: the product, the harness that other people's code
# may import, and the snapshots of our tests, whose libraries must not come with it.
# "./..." stops at a go.mod, so what is for all is done in each.
MODULES  := . harness harness/snapshot
EXAMPLES := $(patsubst %/go.mod,%,$(wildcard docs/examples/*/go.mod))
each      = set -e; for m in $(MODULES); do (cd $$m && $(1)); done
example   = set -e; for m in $(EXAMPLES); do (cd $$m && $(1)); done
# What runs in the module of a folder: in_module,DIR,COMMAND with PKG as the folder there.
in_module = case "$(1)" in ./harness/snapshot) (cd harness/snapshot && PKG=. && $(2));; ./harness/*) (cd harness && PKG="./$${dir\#./harness/}" && $(2));; *) PKG="$(1)" && $(2);; esac

# Only packages whose tests import harness/snapshot, or say so themselves, have the flag; go test
# stops at a package that does not know a flag, so exactly these are named.
UPDATABLE = grep -rl --include='*_test.go' --exclude-dir=examples -e 'soundstage/harness/snapshot"' -e 'flag.Bool("update"' . | xargs -r -n1 dirname | sort -u

# -race rebuilds every dependency. The provider SDKs behind adapters/model make that
# three times as long and hold no goroutine of ours, so what is raced is our own
# kernel and harness, the MCP server and the store.
RACED = ./runtime/... ./adapters/mcp ./adapters/process ./adapters/sqlite ./adapters/postgres

.DEFAULT_GOAL := help
.PHONY: help demo test check offline update record conformance bench fuzz build fmt lint clean \
	check-format check-vet check-static check-examples check-race check-update

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 13

demo: ## edit a card with a replayed model: no key, no network
	$(GO) run ./cmd/soundstage demo

test: ## run all tests and scenarios
	@$(call each,echo "== $$m" && $(GO) test $(TESTFLAGS) ./...)

check: check-format check-vet check-static test check-examples check-race check-update ## all that must hold before a merge
	@echo "check: ok"

check-format:
	@out=$$($(TOOL) gofumpt -l .); [ -z "$$out" ] || { echo "not formatted (make fmt):"; echo "$$out"; exit 1; }

check-vet:
	$(call each,GOOS=linux $(GO) vet ./...)
	$(call each,CGO_ENABLED=0 GOOS=darwin $(GO) vet ./...)
	$(call each,CGO_ENABLED=0 GOOS=windows $(GO) vet ./...)

check-static:
	$(call each,$(TOOL) staticcheck ./...)

# The examples are modules as other people's are. Their go.mod is read only: a version
# that the harness moved would not fit it.
check-examples:
	@[ -n "$(EXAMPLES)" ] || { echo "check-examples: found none"; exit 1; }
	$(call example,$(GO) vet ./... && $(GO) test -mod=readonly $(TESTFLAGS) ./...)

check-race:
	$(GO) test -race $(RACED)
	cd harness && $(GO) test -race ./...

# The tree may be dirty already: what counts is that an update changes nothing more.
check-update:
	@state() { git status --porcelain --untracked-files=all; git diff --no-ext-diff | cksum; }; \
	before=$$(state); log=$$(mktemp); trap 'rm -f "$$log"' EXIT; \
	CI= $(MAKE) --no-print-directory update >"$$log" 2>&1 || { cat "$$log"; exit 1; }; \
	[ "$$before" = "$$(state)" ] || { echo "make update changed files (read them, then commit):"; git status --short; exit 1; }

offline: ## run all tests in a network namespace that has only loopback
	@command -v unshare >/dev/null || { echo "offline: needs unshare (util-linux)"; exit 1; }
	@command -v ip >/dev/null || { echo "offline: needs ip (iproute2) to bring loopback up"; exit 1; }
	GOPROXY=off unshare -rn sh -c 'ip link set lo up; exec "$$@"' sh $(MAKE) --no-print-directory test check-examples TESTFLAGS=-count=1

update: ## rewrite goldens, JSON contracts and generated docs; then read the diff
	@dirs=$$($(UPDATABLE)); [ -n "$$dirs" ] || { echo "update: found no package with the flag"; exit 1; }; \
	set -ex; $(GO) test -count=1 $$(echo "$$dirs" | grep -v '^./harness/') -update; \
	cd harness && $(GO) test -count=1 $$(echo "$$dirs" | sed -n 's|^./harness/|./|p') -update

record: ## record every scripted cassette anew, without a network
	$(GO) test -count=1 ./scenarios -run '^TestScenarios$$' -record

conformance: ## run the public MCP conformance suite (SOUNDSTAGE_SUITE=folder with it)
	scenarios/clients/conformance.sh

bench: ## measure replay, recording and loading (BENCH=regexp)
	cd harness && $(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./...
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./runtime/... ./adapters/sqlite

fuzz: ## run each fuzz target for FUZZTIME (60s)
	@grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed -E 's|/[^/]*:[0-9]+:func | |' | sort -u | \
	{ n=0; while read -r dir name; do n=$$((n+1)); echo "== $$dir $$name"; \
		$(call in_module,$$dir,$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$PKG") || exit 1; done; \
	  [ $$n -gt 0 ] || { echo "fuzz: found no target"; exit 1; }; }

build: ## build the stripped binary bin/soundstage
	CGO_ENABLED=0 $(GO) build -buildvcs=auto -tags $(TAGS) -trimpath -ldflags '-s -w' -o $(BIN) ./cmd/soundstage

fmt: ## format the code
	$(TOOL) gofumpt -w .

lint: check-format check-static ## check format and run staticcheck

clean: ## remove what the other targets made
	rm -rf bin cover.out
