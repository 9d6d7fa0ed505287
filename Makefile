# `make TARGET` makes the environment if needed, then asks Snakemake for TARGET. Snakemake alone decides what is up to date.
PYTHON ?= python3
VENV := .venv
READY := $(VENV)/.ready
MAIN := $(VENV)/.main

.PHONY: env all test slow check fuzz measure site page dist generated FORCE
.DEFAULT_GOAL := all

# jobs and tests start Python hundreds of times: a module is compiled once, whatever the shell says
unexport PYTHONDONTWRITEBYTECODE

env: $(READY)

# Figures of the core paper need a third of the packages (no JAX, no test tools): a new clone is ready sooner, and `make env` adds the rest.
# Modules are compiled once, on all cores, and not the packages' own tests, which nobody imports.
$(MAIN): envs/main.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' \
	  || { echo "Python 3.11, 3.12 or 3.13 is needed; name one: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(VENV)/bin/python -m pip install --quiet --no-compile --require-hashes -r envs/main.lock
	$(VENV)/bin/python -m pip install --quiet --no-deps --no-build-isolation -e .
	-$(VENV)/bin/python -m compileall -q -j 0 -x '/tests/' $(VENV)/lib
	@touch $(MAIN)

$(READY): $(MAIN) envs/requirements.lock
	$(VENV)/bin/python -m pip install --quiet --no-compile --require-hashes -r envs/requirements.lock
	-$(VENV)/bin/python -m compileall -q -j 0 -x '/tests/' $(VENV)/lib
	@touch $(READY)

all: $(READY)
	$(VENV)/bin/snakemake all

figures/fig%: $(MAIN) FORCE
	$(VENV)/bin/snakemake $@

figures/%: $(READY) FORCE
	$(VENV)/bin/snakemake $@

results/%: $(READY) FORCE
	$(VENV)/bin/snakemake $@

test: check
	$(VENV)/bin/python -m pytest -m "not slow"

# Slurm first, and three at a time: its jobs mostly wait to be looked at.
# whole studies, killed and resumed; what needs another program: Slurm, R, Coq, a browser, pip; RAP compiled as a study compiles it
slow: $(READY)
	$(VENV)/bin/python -m pytest -m slow -n 3 tests/slurm tests
	XLA_FLAGS= $(VENV)/bin/python -m pytest tests/studies/raprank/test_rap.py

check: $(READY)
	$(VENV)/bin/ruff check
	$(VENV)/bin/ruff format --check
	$(VENV)/bin/mypy
	$(VENV)/bin/snakefmt --check Snakefile workflow
	$(VENV)/bin/snakemake --lint

fuzz: $(READY)
	$(VENV)/bin/python tests/fuzz/audit.py
	$(VENV)/bin/python tests/fuzz/readers.py

# how much a newcomer has to hold: files per question, names, lines, imports (docs/code.md has them beside the aims)
measure: $(READY)
	$(VENV)/bin/python tests/scale/yardsticks.py

# the documentation, into site/: strict (links and places that lead nowhere are errors), spelled right, readable, and without a network;
# with the explorer of a tiny study (some 100 core-seconds the first time), in a folder of its own
site: $(READY)
	$(VENV)/bin/python docs/check.py
	$(VENV)/bin/snakemake --quiet all --configfile config/examples/tiny.yaml --config study=site -- results/explorer/index.html
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --quiet --strict

# the page that works offline, out of page/, the reading and the npm packages highs and pyodide (page/package-lock.json)
page: $(READY)
	cd page && npm ci --ignore-scripts --no-audit --no-fund
	$(VENV)/bin/python page/build.py

# what is published: wheel, source distribution, page and their digests into dist/, checked (docs/install.md says how to publish them)
dist: $(READY)
	$(VENV)/bin/python envs/dist.py

# files that are made from the code and committed: tests refuse them when they are older than their sources, so make them anew before a commit
generated: $(READY)
	$(VENV)/bin/python -m genverify modules > docs/modules.md
	$(VENV)/bin/python -m genverify config-schema --out config/schema.json
	$(VENV)/bin/python page/build.py --own

# the files that make reads have no rule of their own
Makefile envs/main.lock envs/requirements.lock pyproject.toml: ;
