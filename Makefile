# Every target works on Linux and macOS with nothing but Python 3.11+ (venv, pip), git and make; on Windows run
# the python commands that .github/workflows/ci.yml lists.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
STAMP := $(VENV)/.installed
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.PHONY: help setup tools editors agents wheels node lua lint lint-client lint-lua format test test-all test-fast test-nightly test-stock test-vscode bench demo docs package vsix vsixes plugin dist screenshots clean

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "  make %-12s %s\n", $$1, $$2 }'

setup: $(STAMP) ## create .venv and install everything, when pyproject.toml or constraints.txt changed

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; say which: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --upgrade --constraint constraints.txt pip
	$(PY) -m pip install --quiet --constraint constraints.txt --editable '.[agent,attest,keyring,mcp,postgresql,server,timestamps]' --group dev
	@touch $@

tools: setup ## fetch the programs that tests run and the system lacks, into .tools
	@tests/tools/from-debian.sh jq
	@tests/tools/from-debian.sh bc
	@tests/tools/vouch.sh $(PY) 0.1.0 1.5.0

editors: node lua ## fetch the editors that tests drive, into .tools
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

wheels: setup # what the VS Code extension carries, for this machine
	@$(PY) editors/vscode/wheelhouse.py >/dev/null

agents: node ## fetch the coding agents that tests run, into .tools
	@tests/tools/agents.sh $(if $(NIGHTLY),nightly)

lua: node # what the Neovim client is checked with
	@tests/tools/lua.sh

node: setup # Node, and what the VS Code client is built with
	@tests/tools/node.sh $(PY)

lint: setup lint-client lint-lua ## check format, style, types, layers, dependencies and spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(BIN)/codespell

lint-client: # the same for the VS Code client, where Node is; in CI it must be
	@if [ -e editors/vscode/node_modules/.installed ]; then cd editors/vscode && PATH="$(CURDIR)/.tools/bin:$$PATH" npm run --silent check; \
	elif [ -n "$(CI)" ]; then echo 'the VS Code client cannot be checked: run make node' >&2; exit 1; \
	else echo 'skipped: checks of the VS Code client (make node installs what they need)'; fi

lint-lua: # the same for the Neovim client
	@if [ -e tests/tools/lua/node_modules/.installed ] && PATH="$$PATH:$(CURDIR)/.tools/bin" command -v luacheck >/dev/null; then \
	  PATH="$$PATH:$(CURDIR)/.tools/bin" && luacheck --quiet --config editors/neovim/.luacheckrc editors/neovim && \
	  .tools/bin/node tests/tools/lua/format.mjs --check editors/neovim; \
	elif [ -n "$(CI)" ]; then echo 'the Neovim client cannot be checked: run make lua' >&2; exit 1; \
	else echo 'skipped: checks of the Neovim client (make lua installs what they need)'; fi

format: setup ## rewrite the code in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	@if [ -e tests/tools/lua/node_modules/.installed ]; then .tools/bin/node tests/tools/lua/format.mjs editors/neovim; fi

# In CI every editor and agent is installed first, and a missing one fails; elsewhere those that are installed are tested.
test: setup tools $(if $(CI),editors agents wheels) lint ## lint, then every test, with the editors and agents that are installed
	@$(PY) -m pytest -n auto --dist loadfile --ignore tests/editors/vscode $(PYTEST_OPTIONS)
	@$(MAKE) --no-print-directory test-stock
	@$(MAKE) --no-print-directory test-vscode

test-all: editors agents ## install every editor and agent (about 2.4 GB, once), then make test
	@$(MAKE) --no-print-directory test

test-nightly: export NIGHTLY := 1
test-nightly: ## make test-all with more agents and five times the generated examples
	@VIBES_FUZZED_PAYLOADS=20000 $(MAKE) --no-print-directory test-all PYTEST_OPTIONS=--hypothesis-profile=nightly

test-fast: setup tools ## the quick tests only, without lint
	@$(PY) -m pytest -n auto --dist loadfile -m 'not slow'

test-stock: # what the protocol layer matters for, again without ours: a minute
	@VIBES_LSP_PROTOCOL=stock $(PY) -m pytest -n auto --dist loadfile -m stock tests/server $(PYTEST_OPTIONS)

test-vscode: # two at a time: each starts a server, a browser and VS Code
	@if [ -n "$(CI)" ] || ls .tools/vscode/installed-* >/dev/null 2>&1; then $(PY) -m pytest -n 2 --dist loadfile tests/editors/vscode; \
	else echo 'not run: tests in VS Code, Neovim, Helix and Emacs; make test-all installs them and runs all'; fi

bench: setup ## measure what has to be fast
	@$(PY) -m benchmarks

# Without the development environment, one that has the package alone is enough, and is there sooner.
DEMO_VENV := $(if $(wildcard $(STAMP)),$(VENV),build/demo-environment)

demo: $(DEMO_VENV)/.installed ## a small real workspace to look at
	@$(DEMO_VENV)/bin/python -m tests.demo

build/demo-environment/.installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv build/demo-environment
	build/demo-environment/bin/python -m pip install --quiet --constraint constraints.txt --editable .
	@touch $@

docs: setup ## write the generated parts of the documentation
	@$(PY) -m docs.generate

vsix: node ## build the VS Code extension for this machine, dist/vibes-lsp.vsix
	@$(call package-extension,,dist/vibes-lsp.vsix)

vsixes: node # for each platform, and one without a server for all others
	@for target in linux-x64 linux-arm64 alpine-x64 darwin-x64 darwin-arm64 win32-x64 win32-arm64 universal; do \
	  $(call package-extension,$$target,dist/vibes-lsp-$$target.vsix) || exit; done

# $(1): the platform, by default this machine's; $(2): the file
package-extension = mkdir -p dist && target=$$($(PY) editors/vscode/wheelhouse.py $(1)) && (cd editors/vscode && \
  PATH="$(CURDIR)/.tools/bin:$$PATH" npm run --silent package -- --out $(CURDIR)/$(2) $${target:+--target $$target})

plugin: ## build the Neovim plugin from what is committed, dist/vibes.nvim.tar.gz
	@mkdir -p dist
	@git archive --prefix vibes.nvim/ --output dist/vibes.nvim.tar.gz HEAD:editors/neovim

package: setup ## build the Python package, dist/vibes_lsp-*.whl and .tar.gz
	@rm -f dist/vibes_lsp-*
	@$(PY) -m hatchling build -d dist

dist: package vsixes plugin ## build all that is released, into dist

screenshots: editors vsix ## retake the documentation's pictures in the real editors
	@$(PY) -m tests.demo.picture
	@$(PY) -m tests.editors.vscode.pictures
	@$(PY) -m tests.editors.neovim.pictures

clean: ## remove the environment and every cache
	rm -rf $(VENV) .tools .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist htmlcov editors/vscode/dist editors/vscode/node_modules
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
