# Two commands do everything: `make` (environment and the default run) and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# A folder with public data beside the checkout is used before the network; DATA_MIRROR= switches that off.
DATA_MIRROR ?= $(wildcard ../shared/data)
PEERS := mujoco drake pybullet
# The index with PyTorch's CPU builds, if pip isn't set up for it: on Linux the general build brings gigabytes of CUDA.
TORCH_INDEX ?=
SNAKEMAKE := $(BIN)/snakemake
MIRROR_ENTRY := $(if $(DATA_MIRROR),"$(DATA_MIRROR)")
MIRROR := --config data_mirror='[$(MIRROR_ENTRY)]'
# another 4TU server, for instance one of your own; OFFLINE=true only looks what is there
FOURTU_URL ?=
OFFLINE ?=
SOURCES = $(MIRROR) $(if $(FOURTU_URL),fourtu_url="$(FOURTU_URL)") $(if $(OFFLINE),offline=$(OFFLINE))
# make lock: the newest version of these archives, or these archives alone
UPDATE ?=
ONLY ?=
# STUDY=planar runs one study alone
STUDY ?=
ONE_STUDY := $(if $(STUDY),studies='["$(STUDY)"]')
REPORT ?= report
# make check, baseline, bundle, bench, plan, predict: of which run
RUN ?= default
# make why, make inspect; make inspect, make predict: the box and the planes to look for in an archive
FILE ?=
OBJECT ?=
SURFACE ?=
# make store
NAME ?=
# make report, make cluster: by which configuration; none is the default one
CONFIG ?=
# make bundle FORCE=1: one that is unfinished or not committed
FORCE ?=
# make verify: an archive or an unpacked folder; RECOMPUTE=5 makes so many files again, drawn by SEED, in a sandbox
BUNDLE ?= .
RECOMPUTE ?= 0
SEED ?= 1
UNSANDBOXED ?=
# make cluster
PARTITION ?=
ACCOUNT ?=
# make plan, make resources, make same-results
HOURS ?= 10 1000 100000
CORES ?= 48
RUNS ?= results/default
# make test: processes that share the tests
WORKERS ?= auto
# make test-report: this page, or the default run's, or that of a small run made for it
PAGE ?=
CHROMIUM ?=
TESTED_PAGE = $(or $(PAGE),$(wildcard results/default/report.html),results/test/report.html)

.DEFAULT_GOAL := run
.PHONY: run public 4tu full simulators tactile dry-run why \
	predict identify impact estimate \
	data lock inspect \
	check baseline other-processor store report bundle verify same-results \
	cluster plan resources \
	lint test test-public test-server test-slurm test-bundle test-robustness test-report \
	bench bench-simulator bench-reading \
	env peers lock-env \
	equations numbers clean help

# Runs

run: env ## the default run, offline; STUDY=planar runs one study
	$(SNAKEMAKE) $(if $(STUDY),--config $(ONE_STUDY))

public: env ## real data: tosses of a cube, throws of a square, impacts of an ellipse
	$(SNAKEMAKE) --configfile config/public.yaml $(SOURCES) $(ONE_STUDY)

4tu: env ## the papers' own recordings from 4TU.ResearchData (after make lock); STUDY=arm the arm's
	$(SNAKEMAKE) --configfile config/4tu$(if $(filter arm,$(STUDY)),_arm).yaml $(SOURCES)

full: env ## many noise samples in the planar, the arm and the in-hand study: hours on two cores; STUDY= runs one
	$(SNAKEMAKE) --configfile config/full.yaml $(if $(STUDY),--config $(ONE_STUDY))

simulators: env peers ## the ContactNets cube with all simulators
	$(SNAKEMAKE) --configfile config/public.yaml config/simulators.yaml $(SOURCES)

tactile: env $(VENV)-torch/.ready ## force sensing with PyTorch's networks, in their own environment
	$(SNAKEMAKE) --configfile config/tactile.yaml

dry-run: env ## what a default run would still do
	$(SNAKEMAKE) --dry-run

why: env ## why a result would be made again: FILE=results/default/..., CONFIG= of its run
	@PYTHONPATH=workflow $(BIN)/python -m contactid.run.why "$(FILE)" $(if $(CONFIG),--configfile $(CONFIG))

# Your own recordings

predict: env ## predict your own tosses with a finished run's parameters: TOSSES=folder RUN=default REPORT=report
	@PYTHONPATH=workflow OMP_NUM_THREADS=1 $(BIN)/python -m contactid predict $(TOSSES) --run "results/$(RUN)" \
		--report "$(REPORT)" $(if $(OBJECT),--object "$(OBJECT)") $(if $(SURFACE),--surface "$(SURFACE)")

identify: env ## identify your own throws: THROWS="throw1.csv throw2.csv" BODY=body.yaml REPORT=report
	@PYTHONPATH=workflow OMP_NUM_THREADS=1 $(BIN)/python -m contactid identify $(THROWS) --body "$(BODY)" --report "$(REPORT)"

impact: env ## velocity of your arm after an impact: RECORDINGS="a.mat b.csv" REPORT=report ROBOT=table.csv
	@PYTHONPATH=workflow OMP_NUM_THREADS=1 $(BIN)/python -m contactid impact $(RECORDINGS) --report "$(REPORT)" \
		$(if $(ROBOT),--robot "$(ROBOT)")

estimate: env ## mass and inertia of an object held in hand: RECORDING=x.csv HULL=hull.csv NOISE=noise.yaml REPORT=report
	@PYTHONPATH=workflow OMP_NUM_THREADS=1 $(BIN)/python -m contactid estimate "$(RECORDING)" --hull "$(HULL)" \
		--noise "$(NOISE)" --report "$(REPORT)"

# Data

data: env ## all public data into data/, and what is damaged there again; STUDY=tossing those of one study
	$(SNAKEMAKE) data --forcerun fetch_dataset $(SOURCES) $(ONE_STUDY)

lock: env ## resolve the public data and pin versions and checksums; ONLY= and UPDATE= name archives
	PYTHONPATH=workflow $(BIN)/python -m contactid.sources.lock $(if $(DATA_MIRROR),--mirror "$(DATA_MIRROR)") \
		$(if $(FOURTU_URL),--url "$(FOURTU_URL)") $(if $(ONLY),--only $(ONLY)) $(if $(UPDATE),--update $(UPDATE))

inspect: env ## what is in a file of recordings, and which of them would be used: FILE=archive.h5 (.h5, .mat, .pt, .csv)
	@PYTHONPATH=workflow $(BIN)/python -m contactid inspect "$(FILE)" \
		$(if $(OBJECT),--object "$(OBJECT)") $(if $(SURFACE),--surface "$(SURFACE)")

# For reviewers

check: env ## hold the verdicts and numbers of a run against the accepted ones; RUN=default, STUDY= one study alone
	@PYTHONPATH=workflow $(BIN)/python -m contactid.review.check --run "$(RUN)" $(if $(STUDY),--study "$(STUDY)")

baseline: env ## accept the verdicts and numbers of a run; commit what it writes. RUN=default
	@PYTHONPATH=workflow $(BIN)/python -m contactid.review.check --run "$(RUN)" --accept

other-processor: env ## the test configuration by an older processor's arithmetic, emulated, against its accepted numbers
	@PYTHONPATH=workflow $(BIN)/python -m contactid.review.other_processor

store: env ## compute a result that takes too long for every run, and store it; commit it. NAME=planar_table1
	@PYTHONPATH=workflow $(BIN)/python -m contactid.review.stored "$(NAME)" $(CONFIG)

report: env ## one HTML file about a run, for reviewers (a part of every run); CONFIG=config/public.yaml
	$(SNAKEMAKE) report $(if $(CONFIG),--configfile $(CONFIG)) $(if $(STUDY),--config $(ONE_STUDY))

bundle: env ## a finished run as one archive for reviewers; RUN=default, FORCE=1 where it isn't committed
	@PYTHONPATH=workflow $(BIN)/python -m contactid.review.bundle --run $(RUN) $(if $(FORCE),--force)

verify: env ## look whether an archive is what it says; RECOMPUTE=5 makes files again in a sandbox: BUNDLE=file.zip SEED=1
	@PYTHONPATH=workflow OMP_NUM_THREADS=1 $(BIN)/python -m contactid.review.verify "$(BUNDLE)" \
		--recompute "$(RECOMPUTE)" --seed "$(SEED)" $(if $(UNSANDBOXED),--unsandboxed)

same-results: env ## whether two runs of one configuration came to the same: RUNS="results/a results/b"
	@PYTHONPATH=workflow $(BIN)/python -m contactid.review.same_results $(RUNS)

# Clusters

cluster: env ## a run through Slurm: PARTITION= ACCOUNT= CONFIG=config/full.yaml (docs/cluster.md)
	$(SNAKEMAKE) --workflow-profile profiles/slurm $(if $(CONFIG),--configfile $(CONFIG)) $(if $(STUDY),--config $(ONE_STUDY)) \
		$(if $(PARTITION)$(ACCOUNT),--default-resources $(if $(PARTITION),slurm_partition=$(PARTITION)) $(if $(ACCOUNT),slurm_account=$(ACCOUNT)))

plan: env ## what node-hours buy, from a finished run's benchmark files: RUN=default HOURS="10 1000 100000" CORES=48
	PYTHONPATH=workflow $(BIN)/python -m contactid.run.plan --run results/$(RUN) --hours $(HOURS) --cores $(CORES)

resources: env ## memory and time that rules ask for against what their jobs took: RUNS="results/default results/full"
	PYTHONPATH=workflow $(BIN)/python -m contactid.run.resources $(RUNS)

# Tests

lint: env ## formatting, lint, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow/rules
	$(BIN)/mypy
	$(BIN)/snakemake --lint --quiet all

test: lint ## all checks and tests that need no real data
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test-public: env ## the long tests on real data (DATA_MIRROR)
	DATA_MIRROR="$(DATA_MIRROR)" $(BIN)/python -m pytest -m public tests/public

test-server: env ## downloads from a real 4TU server on this machine (FOURTU_SERVER names its tool; Debian, root)
	$(BIN)/python -m pytest -m server tests/server

test-slurm: env ## runs through a real Slurm on this machine (SLURM_TOOL names its tool; Debian, root); SLURM_STUDIES="arm planar"
	$(BIN)/python -m pytest -m slurm tests/slurm

test-bundle: env $(VENV)-crate/.ready ## a small run, bundled, tampered with, verified, and validated as an RO-Crate
	CRATE_VALIDATOR=$(VENV)-crate/bin/rocrate-validator $(BIN)/python -m pytest -m bundle tests/bundle

test-robustness: env ## kills, full disks, two runs at once: the same results in the end (Linux; some parts root)
	$(BIN)/python -m pytest -m robustness tests/robustness

test-report: env $(VENV)-browser/.ready ## a report in headless Chromium (PAGE=file, CHROMIUM=program); by default the default run's
	$(if $(wildcard $(TESTED_PAGE)),,$(SNAKEMAKE) --configfile config/test.yaml --config studies='["tossing", "planar"]')
	PAGE="$(abspath $(TESTED_PAGE))" CHROMIUM="$(CHROMIUM)" $(VENV)-browser/bin/python -m pytest -m browser --confcutdir=tests/browser tests/browser

# Benchmarks

bench: env ## seconds, memory and throughput of the stages of RUN, beside peers, and cost against size (3 minutes)
	PYTHONPATH=workflow:tests/helpers OMP_NUM_THREADS=1 $(BIN)/python tools/bench.py --run "results/$(RUN)" \
		--mirror "$(DATA_MIRROR)" --mujoco-python $(VENV)-mujoco/bin/python

bench-simulator: env $(VENV)-mujoco/.ready ## speed and accuracy against MuJoCo on the same tosses, one core
	PYTHONPATH=workflow:tests/helpers OMP_NUM_THREADS=1 $(BIN)/python tools/bench_simulator.py --mirror "$(DATA_MIRROR)" --mujoco-python $(VENV)-mujoco/bin/python

bench-reading: env ## peak memory of reading a 2 GB archive, written for it
	PYTHONPATH=workflow:tests/helpers OMP_NUM_THREADS=1 $(BIN)/python tools/bench_reading.py

# Environments

env: $(VENV)/.ready ## install the pinned environment into .venv

peers: $(foreach name,$(PEERS),$(VENV)-$(name)/.ready) ## MuJoCo, Drake and PyBullet, each in its own environment

lock-env: ## pin envs/requirements.in again (needs uv)
	for name in build requirements; do uv pip compile --universal --python-version 3.11 --fork-strategy fewest \
		--generate-hashes --no-header --no-emit-index-url envs/$$name.in -o envs/$$name.lock || exit; done

# wheels alone: one package has none and is built, by the setuptools that is pinned
INSTALL := -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all:

$(VENV)/.ready: envs/build.lock envs/requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "ERROR contactid needs Python 3.11 or newer. Set PYTHON to one, for instance make PYTHON=python3.11"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(INSTALL) -r envs/build.lock
	$(BIN)/python $(INSTALL) --no-binary connection-pool --no-build-isolation -r envs/requirements.lock
	@touch $@

$(VENV)-torch/.ready: envs/torch.lock
	$(PYTHON) -m venv $(VENV)-torch
	$(VENV)-torch/bin/python $(INSTALL) \
		$(if $(TORCH_INDEX),--extra-index-url $(TORCH_INDEX)) -r envs/torch.lock
	@touch $@

$(VENV)-%/.ready: envs/%.lock
	$(PYTHON) -m venv $(VENV)-$*
	$(VENV)-$*/bin/python $(INSTALL) -r envs/$*.lock
	@touch $@

# Housekeeping

equations: env ## docs/equations.md: the papers' equations and what has them, from the docstrings
	$(BIN)/python tools/equations.py

numbers: env ## README and docs: take their numbers from the finished runs that are there, and write their tables
	PYTHONPATH=workflow $(BIN)/python tools/quoted.py

clean: ## remove outputs, keep the environments
	rm -rf .snakemake $(filter-out results/README.md,$(wildcard results/*))

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /make \1\t/' | expand -t 24
