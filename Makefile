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
EMULATED := native/build/libdart_cuda_emulated.so
SETUP := node_modules/.setup

# Arguments for the target's program: make demo ARGS="…"
ARGS ?=

.PHONY: help setup build test lint format demo base ablation arpo rollout-scaling bench bench-kernels bench-system golden gpu-check docs clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

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

# The CUDA kernels as C++ for the CPU: executed without a GPU.
$(EMULATED): $(NATIVE_SOURCES)
	@mkdir -p $(@D)
	sh native/kernels/cuda/build_emulated.sh $@
	@touch $@

test: build $(EMULATED) ## Run all tests; what this machine lacks is skipped and named
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

ablation: build ## DART's ladder on the embedded suite (SEEDS=5, TRAIN_SECONDS=480; ARGS=--help: all settings): hours; goes on after Ctrl-C
	@node dist/commands/ablation/main.js $(ARGS)

arpo: build ## ARPO's comparison: base, reject sampling, DPO, KTO, GRPO, ARPO (SEEDS=5; ARGS=--help): hours; goes on after Ctrl-C
	@node dist/commands/ablation/arpo/main.js $(ARGS)

rollout-scaling: build ## ARPO's figure: rollout and epoch time of 8 to 256 desktops (2 minutes; ARGS=--help)
	@node dist/commands/ablation/scaling/main.js $(ARGS)

bench: build ## Measure: metric records on stdout, a table on stderr
	@node dist/commands/bench/main.js $(ARGS)

bench-kernels: build ## Measure the CPU kernels beside eager PyTorch, where Python has it (DART_PYTHON)
	@sh native/check/bench-kernels.sh native/build/check $(ARGS)

bench-system: build ## Measure the gain of decoupling: the papers' workload, both modes, real processes (4 minutes)
	@node dist/commands/bench/system/main.js $(ARGS)

golden: build $(EMULATED) ## Hold the kernels to reference numbers (GOLDEN=DIR): scalar, vector, emulated CUDA, GPU
	@node dist/native/golden.js $${GOLDEN:+"$$GOLDEN"}

gpu-check: ## On a machine with a GPU and nvcc: check the CUDA kernels and time them (ARGS=--rehearse: emulated)
	@sh native/check/gpu-check.sh $(ARGS)

docs: build ## Write the reference, man pages, completions and schemas from the option tables
	@node dist/commands/docs/main.js $(ARGS)

clean: ## Remove what was built; node_modules and runs/ stay
	rm -rf dist coverage native/build
