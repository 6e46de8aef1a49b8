# What a person does with a checkout. `make help` lists it. Only Node (20.19 or newer), npm, g++, make and python3 (for
# node-gyp) are needed; nvcc adds the CUDA kernels.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

BIN := node_modules/.bin
SOURCES := $(shell find commands lib native -path native/build -prune -o -name '*.ts' ! -name '*.test.ts' ! -name '*.testing.ts' -print)
NATIVE_SOURCES := native/binding.gyp $(shell find native/kernels native/src -type f)
ADDON := native/build/Release/dart_native.node
SETUP := node_modules/.setup

# Arguments for the target's program: make demo ARGS="…"
ARGS ?=

.PHONY: help setup build test lint format demo base bench golden docs clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

setup: $(SETUP) ## Install the npm packages, where the lock file has changed

# One lock file, one installation. Builds the addon too (package.json: install).
$(SETUP): package-lock.json
	@command -v npm > /dev/null || { echo 'make: npm is missing. Try: Node 20.19 or newer from https://nodejs.org' >&2; exit 2; }
	npm ci --no-audit --no-fund
	@touch $@

build: $(ADDON) dist/.built ## Compile what has changed: TypeScript and the native addon

dist/.built: $(SETUP) $(SOURCES) tsconfig.json tsconfig.build.json
	$(BIN)/tsc -p tsconfig.build.json
	@touch $@

$(ADDON): $(NATIVE_SOURCES) | $(SETUP)
	npm run --silent build:native
	@touch $@

test: build ## Run all tests; what this machine lacks is skipped and named
	$(BIN)/vitest run $(ARGS)

lint: $(SETUP) ## Check types, style and formatting
	$(BIN)/tsc --noEmit
	$(BIN)/biome check .

format: $(SETUP) ## Put style and formatting right
	$(BIN)/biome check --write .

demo: build ## Train a policy on the embedded desktop and show that it improves (SEED=1, TRAIN_SECONDS=540)
	@node dist/commands/demo/main.js $(ARGS)

base: build ## Make the base policy of the demo anew from noisy experts
	@node dist/commands/demo/base.js $(ARGS)

bench: build ## Measure: metric records on stdout, a table on stderr
	@node dist/commands/bench/main.js $(ARGS)

golden: build ## Hold the kernels to reference numbers (GOLDEN=DIR)
	@node dist/native/golden.js $(GOLDEN)

docs: build ## Write the reference, man pages, completions and schemas from the option tables
	@node dist/commands/docs/main.js $(ARGS)

clean: ## Remove what was built; node_modules and runs/ stay
	rm -rf dist coverage native/build
