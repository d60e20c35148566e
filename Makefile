# Reshelve. `make` prints what can be made.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
TOOLS := $(CURDIR)/build/tools
LINTER_VERSION := v2.15.0
FUZZ_SECONDS ?= 60
# The seed of generated tests: the same requests and histories in every run, so that a
# failure is of the change at hand. SEED=0 looks for what no one has met yet.
SEED ?= 20
export CGO_ENABLED ?= 0

PACKAGES := $(patsubst %/,./%,$(sort $(dir $(shell git ls-files '*.go' ':!internal/testing/e2e' ':!*/testdata/*'))))
GENERATED := $(patsubst %/,./%,$(sort $(dir $(shell git grep -l '"pgregory.net/rapid"' -- '*.go' ':!internal/testing/e2e')))) ./internal/store/shard/memory
# $(call seeded,FLAGS,PACKAGES) tests packages; those with generated tests get the seed.
seeded = go test $(1) $(filter-out $(GENERATED),$(2)) && go test $(1) $(filter $(GENERATED),$(2)) -rapid.seed=$(SEED)

.PHONY: help
help: ## print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build bin/reshelve
	go build -trimpath -ldflags '-s -w' -o bin/reshelve ./cmd/reshelve

.PHONY: test
test: format vet lint unit race e2e live fuzz ## everything that CI runs

.PHONY: quick
quick: ## the tests that need nothing but Go, with a short mutation campaign
	go test -short ./...

.PHONY: format
format: ## fail when a file is not in gofmt's form
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted: $$unformatted; run gofmt -w on them"; exit 1; fi

.PHONY: vet
vet: ## go vet, both modules
	go vet ./...
	cd internal/testing/e2e && go vet ./...

$(TOOLS)/golangci-lint-%:
	mkdir -p $(TOOLS)
	GOBIN=$(TOOLS)/$* go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$*
	mv $(TOOLS)/$*/golangci-lint $@
	rmdir $(TOOLS)/$*

.PHONY: lint
lint: $(TOOLS)/golangci-lint-$(LINTER_VERSION) ## the linters of .golangci.yml
	$< run ./...

.PHONY: unit
unit: ## unit tests, scripts, the map, the commands of the README and docs
	$(call seeded,-timeout 20m,$(PACKAGES))

# What starts goroutines.
RACE = $(filter ./snapshot $(foreach p,snapshot/blob $(addprefix internal/,control cli coord gateway store store/shard movement/drive movement/worker movement/migrate movement/reshard opensearch/cluster index/search index/aggregate),./$(p) $(if $(filter internal/store internal/movement/migrate,$(p)),,./$(p)/%)),$(PACKAGES))

.PHONY: race
race: ## the packages that start goroutines, under the race detector
	export CGO_ENABLED=1; $(call seeded,-race -short -timeout 20m,$(RACE)) && go test -race -short ./internal/testing/proof -run TestHistoriesWhileShardsMove

.PHONY: e2e
e2e: ## emulators of S3, Google Cloud Storage and Azure; the clients that people use
	cd internal/testing/e2e && go test -count=1 -timeout 20m ./...

# Every package with a test named TestLive…: none is left out of a list by mistake.
LIVE := $(patsubst %/,./%,$(sort $(dir $(shell git grep -l '^func TestLive' -- '*_test.go' ':!internal/testing/e2e'))))

.PHONY: live
live: ## ask real servers again, and compare: snapshots, dates, mappings, every answer of the store
	RESHELVE_LIVE=1 go test -count=1 -run '^TestLiveLatency' ./internal/cli # it compares speeds: alone
	export RESHELVE_LIVE=1; $(call seeded,-timeout 60m -count=1 -run '^TestLive' -skip '^TestLiveLatency',$(LIVE))

.PHONY: fuzz
fuzz: ## fuzz every decoder, FUZZ_SECONDS in all (default 60)
	./scripts/fuzz $(FUZZ_SECONDS)

.PHONY: demo
demo: ## a store with clients at work: a split into three, a merge back, and the proof
	./scripts/demo

.PHONY: picture
picture: ## the picture of a movement in the README: docs/movement.svg
	./scripts/picture > docs/movement.svg

.PHONY: bench
bench: ## a table of docs/benchmarks.md: this reader beside Lucene's own, in one run
	go run ./internal/testing/bench

.PHONY: bench-store
bench-store: ## a table of docs/benchmarks.md, of the store: beside OpenSearch, in one run
	go run ./internal/testing/bench/store

.PHONY: bench-search
bench-search: ## tables of docs/benchmarks.md, of searching: beside OpenSearch, in one run
	go run ./internal/testing/bench/search

.PHONY: bench-migrate
bench-migrate: ## a table of migrating: into nothing, an OpenSearch and a folder, in one run
	go run ./internal/testing/bench/migrate

.PHONY: bench-fleet
bench-fleet: ## the table of docs/workers.md: fleets of 1 to 1,000 workers, in simulated time
	SIM_FLEETS=1000 go test -count=1 -timeout 1h -run '^TestFleets$$' -v ./internal/testing/sim

.PHONY: sim
sim: ## 10,000 seeds of migrations, and of splits and merges, in simulated time: some hours
	SIM_SEEDS=10000 go test -count=1 -timeout 8h -run '^(TestSeeds|TestShelves)$$' -v ./internal/testing/sim

.PHONY: cells
cells: ## every cell of the crash matrix on the real binary, each durable step killed at and with a full disk: half an hour
	PROOF_CELLS=all go test -count=1 -timeout 3h -parallel 4 -run '^TestCells$$' -v ./internal/testing/proof

KILLS ?= 500
.PHONY: kills
kills: ## KILLS (500: about an hour) kills of a store that never rests, and its workers' steps in many more orders
	INTERLEAVINGS=2 go test -count=1 -timeout 2h -v ./internal/store/shard/embedded -run '^TestEachPairOfWorkers$$'
	PROOF_RESTLESS_KILLS=$(KILLS) PROOF_RESTLESS_SECONDS=$$(($(KILLS) * 20)) go test -count=1 -timeout 12h -v ./internal/testing/proof -run '^TestKillsOfARestlessStore$$'

.PHONY: model
model: ## the whole state space of the model of hand-overs: some minutes
	go test -count=1 -timeout 2h -v ./internal/movement/transfer -run '^(TestEveryStateOfTheModel|TestEachBugBreaksALaw)$$' -wide

.PHONY: bench-split
bench-split: ## a table of splitting: while clients work, beside OpenSearch's _split, in one run
	go run ./internal/testing/bench/split

.PHONY: fixtures
fixtures: ## make testdata/repositories again with real servers
	go run ./cmd/fixtures
