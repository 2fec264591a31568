# Two commands are all one needs: `make demo` and `make test`. Both set up what they need in .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: help demo test lint types check-real check-bel check-kgx docs clean

help:  ## Show these targets.
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(VENV)/base: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable .
	@touch $@

$(VENV)/test: $(VENV)/base
	$(INSTALL) --editable '.[test]'
	@touch $@

demo: $(VENV)/base  ## Set up and run the whole road on made-up sources; ends with the report's path.
	$(BIN)/openbiolink demo

test: $(VENV)/test lint types  ## Set up and run lint, types and all tests.
	$(BIN)/python -m pytest -n auto --dist loadgroup

lint: $(VENV)/test  ## Check style.
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/test  ## Check types, strictly.
	$(BIN)/mypy

check-real: $(VENV)/test  ## Run all checks on real files; fails where they are absent (OPENBIOLINK_SHARED).
	OPENBIOLINK_REQUIRE_REAL=1 $(BIN)/python -m pytest -m real -s

.bel/ready: tests/bel-requirements.txt
	$(PYTHON) -m venv .bel
	.bel/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

check-bel: $(VENV)/test .bel/ready  ## Read BEL files with PyBEL, in an environment of its own.
	OPENBIOLINK_BEL_PYTHON=$(CURDIR)/.bel/bin/python $(BIN)/python -m pytest tests/test_writers_bel.py

.kgx/ready: tests/kgx-requirements.txt
	$(PYTHON) -m venv .kgx
	.kgx/bin/python -m pip install --quiet --disable-pip-version-check --requirement $<
	@touch $@

check-kgx: $(VENV)/test .kgx/ready  ## Check KGX files with KGX, in an environment of its own.
	OPENBIOLINK_KGX_PYTHON=$(CURDIR)/.kgx/bin/python $(BIN)/python -m pytest tests/test_writers_kgx.py

docs: $(VENV)/test  ## Write the generated pages of docs/ anew.
	$(BIN)/python tools/make_docs.py

clean:  ## Remove the environment and what the tools left.
	rm -rf $(VENV) .bel .kgx .pytest_cache .mypy_cache .ruff_cache .hypothesis
