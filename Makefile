# Every target that people use has a line of help behind "##".

GO       ?= go
BIN      := bin/soundstage
TOOL     := $(GO) tool -modfile=tools.mod
FUZZTIME ?= 60s
# gRPC comes with Google's SDK. Its tracing pages use text/template, and with that the
# linker keeps every method of the program: a third of the binary.
TAGS     := grpcnotrace
BENCH    ?= .

# Only packages whose tests import harness/snapshot have the -update flag; go test
# stops at a package that does not know a flag, so exactly these are named.
UPDATABLE = $(shell grep -rl --include='*_test.go' 'soundstage/harness/snapshot"' . | xargs -r -n1 dirname | sort -u)

# -race rebuilds every dependency. The provider SDKs behind adapters/model make that
# three times as long and hold no goroutine of ours, so what is raced is our own
# kernel and harness, the MCP server and the store.
RACED = $(shell $(GO) list ./harness/... ./runtime/... ./adapters/mcp ./adapters/sqlite 2>/dev/null)

.DEFAULT_GOAL := help
.PHONY: help demo test check offline update record bench fuzz build fmt lint clean \
	check-format check-vet check-static check-race check-update

help: ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 10

demo: ## edit a card with a replayed model: no key, no network
	$(GO) run ./cmd/soundstage demo

test: ## run all tests and scenarios
	$(GO) test ./...

check: check-format check-vet check-static test check-race check-update ## all that must hold before a merge
	@echo "check: ok"

check-format:
	@out=$$($(TOOL) gofumpt -l .); [ -z "$$out" ] || { echo "not formatted (make fmt):"; echo "$$out"; exit 1; }

check-vet:
	GOOS=linux $(GO) vet ./...
	CGO_ENABLED=0 GOOS=darwin $(GO) vet ./...
	CGO_ENABLED=0 GOOS=windows $(GO) vet ./...

check-static:
	$(TOOL) staticcheck ./...

check-race:
	$(GO) test -race $(RACED)

# The tree may be dirty already: what counts is that an update changes nothing more.
check-update:
	@state() { git status --porcelain --untracked-files=all; git diff --no-ext-diff | cksum; }; \
	before=$$(state); log=$$(mktemp); trap 'rm -f "$$log"' EXIT; \
	CI= $(MAKE) --no-print-directory update >"$$log" 2>&1 || { cat "$$log"; exit 1; }; \
	[ "$$before" = "$$(state)" ] || { echo "make update changed files (read them, then commit):"; git status --short; exit 1; }

offline: ## run all tests in a network namespace that has only loopback
	@command -v unshare >/dev/null || { echo "offline: needs unshare (util-linux)"; exit 1; }
	@command -v ip >/dev/null || { echo "offline: needs ip (iproute2) to bring loopback up"; exit 1; }
	GOPROXY=off unshare -rn sh -c 'ip link set lo up; exec "$$@"' sh $(GO) test -count=1 ./...

update: ## rewrite goldens, JSON contracts and generated docs; then read the diff
	@[ -n "$(UPDATABLE)" ] || { echo "update: found no package with the flag"; exit 1; }
	$(GO) test -count=1 $(UPDATABLE) -update

record: ## record every scripted cassette anew, without a network
	$(GO) test -count=1 ./scenarios -run '^TestScenarios$$' -record

bench: ## measure replay, recording and loading (BENCH=regexp)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem ./harness/... ./runtime/...

fuzz: ## run each fuzz target for FUZZTIME (60s)
	@grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed -E 's|/[^/]*:[0-9]+:func | |' | sort -u | \
	{ n=0; while read -r dir name; do n=$$((n+1)); echo "== $$dir $$name"; \
		$(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$dir" || exit 1; done; \
	  [ $$n -gt 0 ] || { echo "fuzz: found no target"; exit 1; }; }

build: ## build the stripped binary bin/soundstage
	CGO_ENABLED=0 $(GO) build -buildvcs=auto -tags $(TAGS) -trimpath -ldflags '-s -w' -o $(BIN) ./cmd/soundstage

fmt: ## format the code
	$(TOOL) gofumpt -w .

lint: check-format check-static ## check format and run staticcheck

clean: ## remove what the other targets made
	rm -rf bin cover.out
