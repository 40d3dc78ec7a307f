# Two commands matter: `make demo` and `make test`. Each sets up all it needs; `make help` lists the rest.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PATH := $(CURDIR)/build/tools/usr/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help demo test compose-test validity-matrix lint format bench dashboards pictures golden setup setup-dev tools clean

help: ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: setup ## one command: a target, exporters, Prometheus, a run, a verdict (KEEP=1 leaves all up until Ctrl-C)
	@exec $(BIN)/stagelight demo $(if $(KEEP),--keep) $(DEMO)

test: setup-dev tools ## run every test
	@$(BIN)/python -m pytest --numprocesses 2 $(TESTS)

compose-test: setup-dev ## bring the composition up on a Docker engine of its own (root, Debian; 20 minutes)
	@STAGELIGHT_COMPOSE_TEST=1 timeout --signal INT --kill-after 120 2400 \
	  $(BIN)/python -m pytest --exitfirst --timeout 900 tests/compose/engine tests/compose/test_compose*.py

validity-matrix: setup-dev tools ## 45 real runs: is each poisoned generator found, and only those (30 minutes; MATRIX=--fresh)
	@$(BIN)/python -m tests.validity $(MATRIX)

lint: setup-dev ## ruff and mypy
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

format: setup-dev ## format the code
	@$(BIN)/ruff check --fix . ; $(BIN)/ruff format .

bench: setup-dev tools ## measure; figures go to build/figures/
	@$(BIN)/python -m tests.bench

dashboards: setup-dev ## write the Grafana dashboards anew
	@$(BIN)/python -m dashboards

pictures: setup-dev tools ## draw the README's pictures anew, from two real runs (5 minutes)
	@$(BIN)/python -m tests.pictures

golden: dashboards ## write every golden file of the tests anew
	@STAGELIGHT_GOLDEN=write $(BIN)/python -m pytest -q -m golden
	@$(BIN)/stagelight check --schema > tests/controller/plans/schema.json

setup: build/setup.stamp

build/setup.stamp: requirements.lock pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

setup-dev: build/setup-dev.stamp

build/setup-dev.stamp: requirements-dev.lock pyproject.toml | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@ build/setup.stamp

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Stagelight needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version). Try: make PYTHON=python3.12 demo" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) \
	  || { rm -rf $(VENV); echo "Could not make a virtual environment; on Debian: apt-get install python3-venv" >&2; exit 2; }
	@mkdir -p build

tools: setup-dev
	@$(BIN)/python -m tests.tools

clean: ## remove everything that make has made (runs/ stays)
	rm -rf $(VENV) build .pytest_cache .mypy_cache .ruff_cache
