"""Paths, validation of the configuration, and the fingerprint that ties outputs to code."""

import shlex
import time

WORKFLOW = CHECKOUT / "workflow"
# jobs find the package by themselves (workflow/call.py): the environment is that of all rules, a host's too
sys.path.insert(0, str(WORKFLOW))

from contactid.core.configuration import check_configuration, restore_numbers
from contactid.core.reading import require_bounded
from contactid.sources.registry import check_reader, load_registry, pick, with_sizes
from contactid.core.errors import ContactIdError, told_plainly
from contactid.output.artefacts import computations, computed, drawings
from contactid.output.ledger import named_in
from contactid.run.fingerprint import LISTS, Fingerprints

with told_plainly():
    require_bounded(config, "configuration")
for block in (*config["studies"], "offline"):
    if block in config:  # what is no study is told of below
        config[block] = restore_numbers(config[block])
with told_plainly():
    check_configuration(config, WORKFLOW / "schemas/config.schema.yaml")
    DATASETS = with_sizes(
        load_registry(packaged("config/datasets.tsv"), config["datasets"]),
        config["tossing"]["box_sizes"],
    )


pathvars:
    results=f"results/{config['run']}",
    logs=f"results/{config['run']}/logs",
    benchmarks=f"results/{config['run']}/benchmarks",


# what every study adds to the run: its artefacts, its verdicts, its section of the summary
STUDY_TARGETS, STUDY_CHECKS, STUDY_SUMMARIES, STUDY_CARDS = [], [], [], []
# every study's tables and figures, as it declares them (contactid.output.artefacts)
ARTEFACTS = {}
# JSON files that say what a study's figures were made from, where that is known only in the run
FIGURE_SOURCES = {}
FIGURES_PER_JOB = 15
# what is stored because it takes too long for every run (contactid.review.held), with the run's own samples of it
STORED = {}
# registered datasets that the studies read
STUDY_DATASETS = []
STARTED = time.time()


CODE = Fingerprints(
    Path(".snakemake/contactid_code.json"), LISTS, ("contactid.run.call:call_rule",)
)


def stored_files(name):
    """A stored result's table and provenance."""
    return [
        packaged(f"workflow/resources/stored/{name}/{file}")
        for file in ("table.csv", "provenance.json")
    ]


def call(functions, *named):
    """Params that name the function to call, as "contactid.module:function", or several with commas, and their fingerprint with all that is called by name."""
    return {"call": functions, "code": CODE.of(*functions.split(", "), *named)}


def ledger_of(study):
    """The sentences and statements of a study's paper."""
    return packaged(f"workflow/resources/published/{study}_claims.yaml")


def judged(study):
    """Params of what judges a study, with all that the ledger names for the statements of its paper, and of what sums it up."""
    named = named_in(CHECKOUT / f"workflow/resources/published/{study}_claims.yaml")
    return call(
        f"contactid.{study}.checks:check, contactid.{study}.summary:summarise", *named
    )


def compute(rule):
    """Params of what computes artefacts: their declarations, and the fingerprint of their functions."""
    rows = [one for rows in ARTEFACTS.values() for one in rows if one.rule == rule]
    functions = dict.fromkeys(one.compute for one in rows)
    code = call("contactid.output.computing:compute", *functions)
    return {**code, "declared": computations(rows)}


def draw(rows):
    """Params of a rule that draws figures."""
    functions = dict.fromkeys(one.draw for one in rows)
    code = call("contactid.output.drawing:draw", *functions)
    return {**code, "declared": drawings(rows)}


def computed_by(rule):
    """The files of the artefacts that a rule computes."""
    return [
        file
        for study, rows in ARTEFACTS.items()
        for file in computed(
            [one for one in rows if one.rule == rule], f"<results>/{study}"
        )
    ]


wildcard_constraints:
    dataset=r"[A-Za-z][A-Za-z0-9_]*",
    identified_on=r"[A-Za-z][A-Za-z0-9_]*",
