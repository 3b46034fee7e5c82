# Every target works on Linux and macOS with nothing but Python 3.11+ (venv, pip), git and make. On Windows GNU make needs Git's bash.
# This file is the only definition of the whole check: .ci/run and the workflows call it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PY := $(BIN)/python
STAMP := $(VENV)/.installed
SHELL := bash
EXTRAS := agent,attest,keyring,mcp
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all test-nightly lint format docs bench dist plugin vsix screenshots clean \
  lint-python lint-types lint-vscode lint-neovim tools node-package node lua postgresql editors agents wheels

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "  make %-12s %s\n", $$1, $$2 }'

setup: $(STAMP) ## create .venv with everything that development needs

$(STAMP): pyproject.toml services/pyproject.toml constraints.txt
	@$(call check-python)
	@echo 'Installing the development environment into $(VENV): about 200 MB to fetch, once.'
	@$(PYTHON) -m venv $(VENV)
	@$(call install,$(PY),--upgrade pip)
	@$(call install,$(PY),--editable '.[$(EXTRAS)]' --editable './services[postgresql]' --group dev)
	@touch $@

# $(1): the Python of an environment; $(2): what to install there. Prints how many packages have been fetched.
install = set -o pipefail; $(1) -m pip install --progress-bar off --constraint constraints.txt $(2) | \
  awk '/^ *(Downloading|Using cached|Processing)/ { if (++n % 20 == 0) { printf "  %d packages\n", n; fflush() } } /^ERROR/ { print }'
check-python = $(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; say which: make PYTHON=python3.12")'

demo: ## show a small real workspace: blame, hover, lenses and problems
	@echo 'make demo: installs vibes-lsp (about 30 MB to fetch, once), then prints what it says about a sample repository.'
	@$(MAKE) --silent $(DEMO_VENV)/.installed
	@$(DEMO_VENV)/bin/python -m tests.demo

# The development environment, or, where there is none, one that has the package alone.
DEMO_VENV := $(if $(wildcard $(STAMP)),$(VENV),build/demo-environment)

build/demo-environment/.installed: pyproject.toml constraints.txt
	@$(call check-python)
	@$(PYTHON) -m venv build/demo-environment
	@$(call install,build/demo-environment/bin/python,--editable .)
	@touch $@

# What test installs first, checks first and runs. In CI a missing program fails a test; elsewhere the test is skipped, and says so.
NEEDS := tools $(if $(CI),editors agents wheels)
LINT := lint
TESTS := tests
# Tests of editors wait for the editor: one process more than there are processors is busy meanwhile.
WORKERS = $(if $(findstring editors,$(NEEDS)),$(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)'),auto)

test: ## lint, then the product's tests, in the editors and agents that are installed
	@echo 'make test: installs what is missing into .venv and .tools (once), checks style and types, runs the tests.'
	@if [ -n "$(findstring editors,$(NEEDS))" ]; then echo 'With every editor and coding agent: about 2.4 GB to fetch, 25 minutes on two cores.'; \
	else echo 'About 270 MB to fetch, 10 minutes on two cores. Editors and coding agents are tested where make test-all has installed them.'; fi
	@$(MAKE) --silent setup $(NEEDS)
	@$(if $(LINT),$(MAKE) --silent $(LINT))
	@$(PY) -m pytest -n $(WORKERS) --dist loadfile $(TESTS)

test-all: ## the same in every editor and agent (installed on Debian), and the tests of services/
	@$(MAKE) --silent test NEEDS='tools postgresql editors agents wheels' TESTS='tests services/tests'

test-nightly: export NIGHTLY := 1
test-nightly: ## make test-all with what takes long: more agents, clients and generated examples
	@VIBES_FUZZED_PAYLOADS=20000 $(MAKE) --silent test-all

lint: setup ## check format, style, types, layers, dependencies and spelling
	@$(MAKE) --silent -j 2 lint-types lint-python lint-vscode lint-neovim

lint-types: setup
	@$(BIN)/mypy

lint-python: setup
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/lint-imports
	@$(BIN)/deptry .
	@cd services && $(CURDIR)/$(BIN)/deptry .
	@$(BIN)/codespell

lint-vscode: setup # where Node is; in CI it must be
	@if [ -e editors/vscode/node_modules/.installed ]; then cd editors/vscode && PATH="$(CURDIR)/.tools/bin:$$PATH" npm run --silent check; \
	elif [ -n "$(CI)" ]; then echo 'the VS Code client cannot be checked: make node installs what it needs' >&2; exit 1; \
	else echo 'skipped: checks of the VS Code client (make node installs what they need)'; fi

lint-neovim: setup # the same for the Neovim client
	@if [ -e tests/tools/lua/node_modules/.installed ] && PATH="$$PATH:$(CURDIR)/.tools/bin" command -v luacheck >/dev/null; then \
	  PATH="$$PATH:$(CURDIR)/.tools/bin" && luacheck --quiet --config editors/neovim/.luacheckrc editors/neovim && \
	  .tools/bin/node tests/tools/lua/format.mjs --check editors/neovim; \
	elif [ -n "$(CI)" ]; then echo 'the Neovim client cannot be checked: make lua installs what it needs' >&2; exit 1; \
	else echo 'skipped: checks of the Neovim client (make lua installs what they need)'; fi

format: setup ## rewrite the code in the project's format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@if [ -e tests/tools/lua/node_modules/.installed ]; then .tools/bin/node tests/tools/lua/format.mjs editors/neovim; fi

docs: setup ## write the generated parts of the pages, and wrap them
	@$(PY) -m tools.docs.generate

bench: setup ## measure what has to be fast
	@$(PY) -m benchmarks

dist: setup plugin ## build all that is released, into dist
	@rm -f dist/vibes_lsp*
	@$(PY) -m hatchling build -d dist
	@cd services && $(CURDIR)/$(PY) -m hatchling build -d ../dist
	@for target in linux-x64 linux-arm64 alpine-x64 darwin-x64 darwin-arm64 win32-x64 win32-arm64 universal; do \
	  $(MAKE) --silent vsix VSIX=dist/vibes-lsp-$$target.vsix PLATFORM=$$target || exit; done

plugin: ## build the Neovim plugin from what is committed, dist/vibes.nvim.tar.gz
	@mkdir -p dist
	@git archive --prefix vibes.nvim/ --output dist/vibes.nvim.tar.gz HEAD:editors/neovim

# PLATFORM: one of those that dist builds; universal carries no server, and without one it is this machine's.
VSIX := dist/vibes-lsp.vsix
vsix: node ## build the VS Code extension for this machine, dist/vibes-lsp.vsix
	@mkdir -p dist
	@target=$$($(PY) editors/vscode/wheelhouse.py $(PLATFORM)) && cd editors/vscode && \
	  PATH="$(CURDIR)/.tools/bin:$$PATH" npm run --silent package -- --out $(CURDIR)/$(VSIX) $${target:+--target $$target}

screenshots: editors vsix ## retake the documentation's pictures in the real editors
	@$(PY) -m tests.demo.picture
	@$(PY) -m tests.editors.vscode.pictures
	@$(PY) -m tests.editors.neovim.pictures

clean: ## remove the environment and every cache
	rm -rf $(VENV) .tools .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist htmlcov editors/vscode/dist editors/vscode/node_modules
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

# What tests need beyond Python, in .tools: programs that the system lacks, Node, the checkers of Lua, editors, coding agents.
tools: setup
	@tests/tools/from-debian.sh jq
	@tests/tools/from-debian.sh bc
	@tests/tools/from-debian.sh less
	@tests/tools/from-debian.sh age age age-keygen
	@tests/tools/from-debian.sh git-crypt
	@tests/tools/from-debian.sh ssh-keygen openssh-client ssh-agent ssh-add
	@tests/tools/vouch.sh $(PY) 0.1.0 1.5.0

node-package: setup
	@$(call install,$(PY),--group node)

node: node-package
	@tests/tools/node.sh $(PY)

lua: node
	@tests/tools/lua.sh

editors: node lua
	@tests/tools/from-debian.sh tmux
	@tests/tools/from-debian.sh patchelf
	@tests/tools/from-suite.sh bookworm neovim nvim VIMRUNTIME=usr/share/nvim/runtime
	@tests/tools/from-suite.sh trixie neovim nvim VIMRUNTIME=usr/share/nvim/runtime
	@tests/tools/from-suite.sh forky neovim nvim VIMRUNTIME=usr/share/nvim/runtime
	@tests/tools/from-suite.sh forky hx hx HELIX_RUNTIME=usr/lib/hx/runtime
	@tests/tools/neovim-plugins.sh
	@tests/tools/emacs.sh bookworm
	@tests/tools/emacs.sh trixie
	@tests/tools/vscode.sh

postgresql:
	@tests/tools/postgresql.sh

agents: node
	@tests/tools/agents.sh $(if $(NIGHTLY),nightly)

wheels: setup
	@$(PY) editors/vscode/wheelhouse.py >/dev/null
