# make demo   set up .venv, build, run the CUDA samples on the software GPU
# make test   set up .venv, build, run the tests (fast tier);  make test-all adds the slow tier
# make lint   ruff, mypy, C without warnings;  make bench   the benchmarks;  make wheels  what is released, into dist/
# make docs   the documentation site, into build/site

PYTHON ?= python3
BIN := .venv/bin
SHARD ?= 1/1

.PHONY: demo test test-all lint docs bench native wheels clean

demo: .venv/.demo native
	$(BIN)/python -m cuda_samples.demo

test: .venv/.test native
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow"

test-all: .venv/.test native
	$(BIN)/python -m pytest -n 2 --dist worksteal --shard $(SHARD)

# WERROR=1: warnings are errors in the native build itself, so that `make lint` need not compile everything again.
lint: .venv/.lint $(if $(WERROR),native)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(if $(WERROR),,$(BIN)/python -m ptx2amd.native --werror --output build/lint)

docs: .venv/.docs
	$(BIN)/mkdocs build

bench: .venv/.test native
	$(BIN)/python -m bench

wheels: .venv/.release native
	$(BIN)/python packaging/wheels.py

native: .venv/.base
	$(BIN)/python -m ptx2amd.native $(if $(WERROR),--werror)

# Stamps: each installs one group of dependencies into .venv.
.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/.base: pyproject.toml | .venv/bin/python
	$(BIN)/pip install -q -e .[build]
	touch $@

.venv/.demo: .venv/.base
	$(BIN)/pip install -q -e .[nvcc]
	touch $@

.venv/.test: .venv/.base
	$(BIN)/pip install -q -e .[test,nvcc,clients,docs]
	touch $@

.venv/.docs: .venv/.base
	$(BIN)/pip install -q -e .[docs]
	touch $@

.venv/.release: .venv/.base
	$(BIN)/pip install -q -e .[release]
	touch $@

.venv/.lint: .venv/.base
	$(BIN)/pip install -q -e .[lint,test]
	touch $@

clean:
	rm -rf build ptx2amd/_native
