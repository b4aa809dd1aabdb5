# Two commands do everything: `make` (environment and the default run) and `make test`. `make help` lists the others.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# A folder with public data beside the checkout is used before the network; DATA_MIRROR= switches that off.
ifeq ($(origin DATA_MIRROR),undefined)
DATA_MIRROR := $(wildcard ../shared/data)
endif
PEERS := mujoco drake pybullet
RUN ?= default
RUNS ?= results/default
REPORT ?= report
BUNDLE ?= .
RECOMPUTE ?= 0
SEED ?= 1
DIRECTION ?= 1
HOURS ?= 10 1000 100000
CORES ?= 48
# processes that share the tests
WORKERS ?= auto
# what is installed into .venv: a run needs the first alone
LOCKS ?= requirements development
# What users name may hold any character: it goes to the commands as it was typed, by the environment, and tools/words.py
# puts it into their words ({RUN}, {THROWS:words}). No recipe has its text.
NAMED := ACCOUNT BODY BOX BUNDLE CHROMIUM CONFIG CORES CSV DATA_MIRROR DIRECTION FILE FORCE FOURTU_URL HOURS HULL NAME NOISE OBJECT OFFLINE \
	ONLY OPTIONS PAGE PARTITION PARTS RECOMPUTE RECORDING RECORDINGS REPORT ROBOT RUN RUNS SEED STUDY SURFACE THROWS TOSSES \
	TRIALS UNSANDBOXED UPDATE WORKERS
$(foreach name,$(NAMED),$(eval override $(name) := $$(value $(name))))
export $(NAMED)
WORDS := $(BIN)/python tools/words.py
SNAKEMAKE := $(WORDS) $(BIN)/python tools/start.py $(BIN)/snakemake
PACKAGE := PYTHONPATH=workflow OMP_NUM_THREADS=1 $(WORDS) $(BIN)/python -m
PIN := uv pip compile --universal --python-version 3.11 --fork-strategy fewest --generate-hashes --no-header --no-emit-index-url
TOOL := PYTHONPATH=workflow:tests/helpers OMP_NUM_THREADS=1 $(WORDS) $(BIN)/python
CONFIGURED = $(if $(CONFIG),--configfile {CONFIG:words})
STUDIES = $(if $(STUDY),'studies={STUDY:list}')
SOURCES = --config 'data_mirror={DATA_MIRROR:list}' $(if $(FOURTU_URL),'fourtu_url={FOURTU_URL}') \
	$(if $(OFFLINE),'offline={OFFLINE}')

.DEFAULT_GOAL := run
.PHONY: run public 4tu full benchmark dry-run why \
	toss predict identify impact estimate slip inspect \
	data lock \
	check compare report bundle verify \
	cluster plan \
	env peers test clean help help-dev \
	lint nightly test-public test-server test-slurm test-bundle test-robustness test-lineage test-report \
	test-package test-container \
	bench bench-simulator bench-reading resources baseline other-processor store \
	docs pictures equations numbers lock-env release

##@ Make the papers' tables and figures

run: env ## the default run, offline; STUDY=planar runs one study
	$(SNAKEMAKE) --config $(STUDIES)

public: env ## real data: tosses of a cube, throws of a square, impacts of an ellipse, landings of a biped, a payload at a wrist
	$(SNAKEMAKE) --configfile config/public.yaml $(SOURCES) $(STUDIES)

4tu: env ## the papers' own recordings from 4TU.ResearchData (after make lock); STUDY=arm the arm's
	$(SNAKEMAKE) --configfile config/4tu$(if $(filter arm,$(STUDY)),_arm).yaml $(SOURCES)

full: env ## many noise samples in the planar, the arm and the in-hand study: hours on two cores; STUDY= runs one
	$(SNAKEMAKE) --configfile config/full.yaml --config $(STUDIES)

benchmark: env peers ## the ContactNets cube with all simulators, other splits and fewer tosses
	$(SNAKEMAKE) --configfile config/public.yaml config/benchmark.yaml $(SOURCES)

dry-run: env ## what a default run would still do; STUDY=planar that of one study
	$(SNAKEMAKE) --dry-run --config $(STUDIES)

##@ Use your own recordings (other columns, units, frames: OPTIONS="--frame quaternion=xyzw")

identify: env ## a flat body that you throw: THROWS="throw1.csv throw2.csv" BODY=body.yaml REPORT=report
	@$(PACKAGE) contactid identify {OPTIONS:words} --body={BODY!} --report={REPORT} -- {THROWS:words!}

toss: env ## a box that you toss, from its poses: TOSSES=folder BOX=box.yaml REPORT=report
	@$(PACKAGE) contactid toss {OPTIONS:words} --box={BOX} --object={OBJECT} --report={REPORT} -- {TOSSES:words!}

predict: env ## your own tosses, by a finished run's parameters: TOSSES=folder RUN=default REPORT=report
	@$(PACKAGE) contactid predict {OPTIONS:words} --run=$(if $(findstring /,$(RUN)),,results/){RUN} --report={REPORT} --object={OBJECT} --surface={SURFACE} -- {TOSSES:words!}

impact: env ## velocity of your arm after an impact: RECORDINGS="a.mat b.csv" REPORT=report ROBOT=table.csv
	@$(PACKAGE) contactid impact {OPTIONS:words} --report={REPORT} --robot={ROBOT} -- {RECORDINGS:words!}

estimate: env ## an object held in hand: RECORDING=x.csv HULL=hull.csv NOISE=noise.yaml REPORT=report
	@$(PACKAGE) contactid estimate {OPTIONS:words} --hull={HULL!} --noise={NOISE!} --report={REPORT} -- {RECORDING!}

slip: env ## friction of a fingertip with a surface that may warp: TRIALS=folder REPORT=report DIRECTION=1 (degrees)
	@$(PACKAGE) contactid slip {OPTIONS:words} --direction={DIRECTION} --report={REPORT} -- {TRIALS!}

inspect: env ## what is in a file of recordings, and what would be used of it: FILE=archive.h5 (.h5, .mat, .pt, .csv, a folder of .pt)
	@$(PACKAGE) contactid inspect --object={OBJECT} --surface={SURFACE} -- {FILE!}

##@ Get the public data

data: env ## all of it into data/, and what is damaged there again; STUDY=tossing that of one study
	$(SNAKEMAKE) data --forcerun fetch_dataset $(SOURCES) $(STUDIES)

lock: env ## resolve it and pin versions and checksums; ONLY= and UPDATE= name archives
	$(PACKAGE) contactid.sources.lock $(if $(DATA_MIRROR),--mirror={DATA_MIRROR}) $(if $(FOURTU_URL),--url={FOURTU_URL}) \
		$(if $(ONLY),--only {ONLY:words}) $(if $(UPDATE),--update {UPDATE:words})

##@ Look at a run, pass it on

report: env ## one HTML file about a run, for reviewers (a part of every run); CONFIG=config/public.yaml
	$(SNAKEMAKE) report $(CONFIGURED) --config $(STUDIES)

check: env ## hold the verdicts and numbers of a run against the accepted ones; RUN=default, STUDY= one study alone
	@$(PACKAGE) contactid.review.check --run={RUN} --study={STUDY}

compare: env ## what moved between two runs, verdicts, numbers and files, worst first: RUNS="default mine", CSV=moved.csv
	@$(PACKAGE) contactid.review.compare --csv={CSV} -- {RUNS:words}

why: env ## why a result would be made again: FILE=results/default/..., CONFIG= of its run
	@$(PACKAGE) contactid.run.why {FILE!} $(CONFIGURED)

bundle: env ## a finished run as one archive for reviewers; RUN=default, FORCE=1 where it isn't committed
	@$(PACKAGE) contactid.review.bundle --run={RUN} $(if $(FORCE),--force)

verify: env ## look whether an archive is what it says; RECOMPUTE=5 makes files again in a sandbox: BUNDLE=file.zip SEED=1
	@$(PACKAGE) contactid.review.verify --recompute={RECOMPUTE} --seed={SEED} $(if $(UNSANDBOXED),--unsandboxed) -- {BUNDLE}

##@ Use a cluster

cluster: env ## a run through Slurm: PARTITION= ACCOUNT= CONFIG=config/full.yaml (docs/cluster.md)
	$(SNAKEMAKE) --workflow-profile profiles/slurm $(CONFIGURED) --config $(STUDIES) $(if $(PARTITION)$(ACCOUNT),--default-resources \
		$(if $(PARTITION),'slurm_partition={PARTITION:json}') $(if $(ACCOUNT),'slurm_account={ACCOUNT:json}'))

plan: env ## what node-hours buy, from a finished run's benchmark files: RUN=default HOURS="10 1000 100000" CORES=48
	$(PACKAGE) contactid.run.plan --run=results/{RUN} --hours {HOURS:words} --cores={CORES}

##@ Keep house

env: $(VENV)/.ready ## install the pinned environment into .venv

peers: $(foreach name,$(PEERS),$(VENV)-$(name)/.ready) ## MuJoCo, Drake and PyBullet, each in its own environment

test: lint ## all checks and tests that need no real data
	$(WORDS) $(BIN)/python -m pytest --numprocesses={WORKERS} --dist loadfile --no-loadscope-reorder

clean: ## remove what runs here made, and nothing else in results/; keep the environments
	@for lock in .snakemake/runs/*.lock; do rm -rf "results/$$(basename "$$lock" .lock)"; done
	rm -rf .snakemake results/bench

help: ## this list
	@$(call listed,user)
	@printf '\n%s\n%s\n' 'A name may hold any character. Where there may be several, quotes are as in a shell, and *.csv is every such' \
		"file: make identify THROWS=\"'throw (1).csv' flat*.csv\" BODY='my body.yaml'"

help-dev: ## what only a change of the code needs: parts of the tests, measurements, stored results, pages
	@$(call listed,dev)

##@dev Test

lint: env ## formatting, lint, types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow/Snakefile workflow/rules
	$(BIN)/mypy
	$(BIN)/snakemake --lint --quiet all

nightly: env ## what make test leaves out, and make test: hours; closes with a table. PARTS="slurm peers" some alone; REQUIRE=all
	$(WORDS) $(BIN)/python tools/parts.py $(if $(PARTS),{PARTS:words},nightly)

test-public: env ## the long tests on real data (DATA_MIRROR)
	$(BIN)/python -m pytest -m public tests/public

test-server: env ## downloads from a real 4TU server on this machine (FOURTU_SERVER names its tool; Debian, root)
	$(BIN)/python -m pytest -m server tests/server

test-slurm: env ## runs through a real Slurm on this machine (SLURM_TOOL names its tool; Debian, root); SLURM_STUDIES="arm planar"
	$(BIN)/python -m pytest -m slurm tests/slurm

test-bundle: env $(VENV)-crate/.ready ## a small run, bundled, tampered with, verified, and validated as an RO-Crate
	CRATE_VALIDATOR=$(VENV)-crate/bin/rocrate-validator $(BIN)/python -m pytest -m bundle tests/bundle

test-robustness: env ## kills, full disks, two runs at once: the same results in the end (Linux; some parts root)
	$(BIN)/python -m pytest -m robustness tests/robustness

test-lineage: env ## numbers change with a dataset if, and only if, their Data line names it: a run, and all that follows again
	$(BIN)/python -m pytest -m lineage tests/workflow/test_lineage.py

test-package: env ## wheel and source archive, built and installed into a new environment, and what their commands print
	$(BIN)/python -m pytest -m package tests/package

test-container: env ## the containers' recipes, built by docker, podman or apptainer, and a command in each
	$(BIN)/python -m pytest -m container tests/package

test-report: env $(VENV)-browser/.ready ## a report in headless Chromium (PAGE=file, CHROMIUM=program); by default the default run's
	$(if $(PAGE)$(wildcard results/default/report.html results/test/report.html),,$(SNAKEMAKE) --configfile config/test.yaml \
		--config 'studies=["tossing", "planar"]')
	$(VENV)-browser/bin/python -m pytest -m browser --confcutdir=tests/browser tests/browser

##@dev Measure

bench: env ## seconds, memory and throughput of the stages of RUN, beside peers, and cost against size (3 minutes)
	$(TOOL) tools/bench.py --run=results/{RUN} --mirror={DATA_MIRROR} --mujoco-python $(VENV)-mujoco/bin/python

bench-simulator: env $(VENV)-mujoco/.ready ## speed and memory against MuJoCo on the same tosses, one core
	$(TOOL) tools/bench_simulator.py --mirror={DATA_MIRROR} --mujoco-python $(VENV)-mujoco/bin/python

bench-reading: env ## peak memory of reading a 2 GB archive, written for it
	$(TOOL) tools/bench_reading.py

resources: env ## memory and time that rules ask for against what their jobs took: RUNS="results/default results/full"
	$(PACKAGE) contactid.run.resources -- {RUNS:words}

##@dev Accept and store results

baseline: env ## accept the verdicts and numbers of a run; commit what it writes. RUN=default
	@$(PACKAGE) contactid.review.check --run={RUN} --accept

other-processor: env ## the test configuration by an older processor's arithmetic, emulated, against its accepted numbers
	@$(PACKAGE) contactid.review.other_processor

store: env ## compute a result that takes too long for every run, and store it; commit it. NAME=planar_table1
	@$(PACKAGE) contactid.review.stored -- {NAME!} {CONFIG:words}

##@dev Write and release

docs: env $(VENV)-docs/.ready ## the documentation as a site in site/, its notebooks run; with packages of .venv, too
	PYTHONPATH=$(CURDIR)/workflow:$(abspath $(wildcard $(VENV)-docs/lib/python3*/site-packages)) OMP_NUM_THREADS=1 \
		JUPYTER_PATH=$(abspath $(VENV)-docs/share/jupyter) NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

pictures: env ## README and docs/gallery.md: small figures of RUN, and a real toss that moves (DATA_MIRROR)
	$(TOOL) tools/pictures.py --run=results/{RUN} $(if $(DATA_MIRROR),--mirror={DATA_MIRROR})

equations: env ## docs/equations.md: the papers' equations and what has them, from the docstrings
	$(BIN)/python tools/equations.py

numbers: env ## README and docs: take their numbers from the finished runs that are there, and write their tables
	$(TOOL) tools/quoted.py

lock-env: ## pin envs/requirements.in, development.in, docs.in and build.in again (needs uv)
	$(PIN) envs/build.in -o envs/build.lock
	$(PIN) envs/requirements.in -o envs/requirements.lock
	$(PIN) envs/development.in -c envs/requirements.lock -o envs/development.lock
	$(PIN) envs/docs.in -c envs/requirements.lock -c envs/development.lock -o envs/docs.lock

release: env ## reports and bundles of the finished default and public run in one folder with checksums, for a tag's page
	@$(PACKAGE) contactid.review.bundle --release

# targets with what they do, below the headings of users or below those of developers (##@dev)
listed = awk -F ':.*\#\# ' -v kind=$(1) ' \
	/^\#\#@/ { shown = (/^\#\#@dev/ ? "dev" : "user") == kind; if (shown) print "\n" substr($$0, index($$0, " ") + 1) } \
	shown && /^[a-z0-9-]+:.*\#\# / { printf "  make %-17s %s\n", $$1, $$2 }' Makefile

# wheels alone: one package has none and is built, by the setuptools that is pinned. uv, where there is one, is twice as
# fast; it doesn't know pip's settings: what it can't get, pip gets
UV := $(if $(shell command -v uv),uv)
wheels = --quiet --require-hashes --only-binary :all: $(2)
install = $(if $(UV),$(UV) pip install --compile-bytecode --python $(1)/bin/python $(wheels) ||) \
	$(1)/bin/python -m pip install --disable-pip-version-check $(wheels)

$(VENV)/.ready: envs/build.lock $(LOCKS:%=envs/%.lock)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "ERROR contactid needs Python 3.11 or newer. Set PYTHON to one, for instance make PYTHON=python3.11"; exit 1; }
	@echo "Installing the pinned environment into $(VENV): about a minute, 2 GB"
	@$(PYTHON) -m venv $(VENV)
	@$(call install,$(VENV),-r envs/build.lock)
	@$(call install,$(VENV),--no-binary connection-pool --no-build-isolation $(LOCKS:%=-r envs/%.lock))
	@touch $@

$(VENV)-%/.ready: envs/%.lock
	$(PYTHON) -m venv $(VENV)-$*
	$(call install,$(VENV)-$*,-r envs/$*.lock)
	@touch $@
