"""Lineage: an artefact's numbers change with a dataset if, and only if, its Data line names the
dataset.

A dataset is moved in its canonical form, and all that follows from it is made again
(moved_data.py). One dataset of each study is moved at once, since studies share none. A judged
number that changes names the dataset in its own row.
"""

import json
import os
import shutil
import subprocess
import sys

import pandas as pd
import pytest

from contactid.review.apart import DIFFERS, compare
from contactid.review.check import row_name
from report_data import inputs
from whole_run import ROOT, copy_of_the_repository, numbers_of, record_run, whole_run

ROUNDING = 1e-5  # relative; csv files have six digits
# the cheapest of each study
SHORT = ("box006_validation", "planar_square_twin", "arm_twin", "inhand_twin:fingertip")
# two boxes, so that a figure of one of them can't name the other; refined, since a coarse grid's
# best point stays
TWO_BOXES = """
run: two_boxes
tossing:
  identify_on: [box005_trajectories, box006_trajectories]
  predict_on: [box005_validation, box006_validation]
  variants:
    - {name: exact_contact, start: central_difference, substeps: 1, law: newton, solver: newton, refine: true,
       calibrated: false}
  velocity:
    identify_on: [box005_drops, box006_drops]
    variants:
      - {name: velocity, twists: central_differences, calibrated: false, substeps: 1, refine: true,
         largest_misfit: 2.5, largest_imbalance: 0.03, predict_with: exact_contact, mpec: true}
"""
LONG = (
    ("box005_trajectories", "planar_square_twin", "inhand_twin:simulation"),
    ("box005_validation", "arm_twin", "inhand_twin:wrist_ft"),
    ("box005_drops", "inhand_twin:in_hand_vision"),
    ("box006_trajectories", "inhand_twin:in_hand_kinematic"),
    ("box006_validation", "inhand_twin:fingertip"),
    ("box006_drops", "inhand_twin:electrode_sensor"),
)


def moved(numbers, folder, datasets):
    """The results of a run's copy in which datasets are moved, and all that follows is made again."""
    shutil.copytree(numbers, folder)
    command = [sys.executable, str(ROOT / "tests/helpers/moved_data.py"), *datasets]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    # the checkout's package is the same code, and may be compiled already
    environment = {**os.environ, **threads, "PYTHONPATH": str(ROOT / "workflow")}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout[-2000:] + run.stderr[-4000:]
    return results_of(folder)


def results_of(numbers):
    (results,) = (numbers / "results").iterdir()
    return results


def wrong_lines(before, after, datasets):
    """Sentences on artefacts whose numbers and Data lines don't agree on which datasets they are
    from.
    """
    told = []
    for _, row, names in inputs(before):
        file = row["files"][0]
        old, new = ((results / file).read_bytes() for results in (before, after))
        difference = compare(file, old, new)
        changed, named = difference.verdict(ROUNDING) == DIFFERS, sorted(names & set(datasets))
        if changed and not named:
            told.append(f"{file} changes ({difference.where}), its line has {sorted(names)}")
        if named and not changed:
            told.append(f"{file} doesn't change, its line has {named}")
    return told


def wrong_rows(before, after, datasets):
    """Judged numbers that change, and whose rows don't name a moved dataset."""
    told = []
    for file in sorted(before.glob("*/checks.csv")):
        old, new = (
            pd.read_csv(results / file.relative_to(before), keep_default_na=False, dtype=str)
            for results in (before, after)
        )
        changed = old["reproduced"] != new["reproduced"]
        named = old["data"].map(lambda names: bool(set(names.split(", ")) & set(datasets)))
        told += [row_name(row) for _, row in old[changed & ~named].iterrows()]
    return told


@pytest.fixture(scope="module")
def numbers(tmp_path_factory):
    return whole_run(tmp_path_factory)[1]


@pytest.fixture(scope="module")
def moved_a_little(numbers, tmp_path_factory):
    return moved(numbers, tmp_path_factory.mktemp("lineage") / "moved", SHORT)


def test_numbers_change_with_a_dataset_of_each_study_if_their_lines_name_it(
    numbers, moved_a_little
):
    before = results_of(numbers)
    assert wrong_lines(before, moved_a_little, SHORT) == []
    assert wrong_rows(before, moved_a_little, SHORT) == []


@pytest.mark.parametrize("dataset", SHORT)
def test_a_line_without_the_dataset_and_one_with_another_are_found(
    dataset, numbers, moved_a_little, tmp_path
):
    before = results_of(numbers)
    declared = json.loads((before / "artefacts.json").read_text())
    rows = [
        row for study in declared["studies"].values() for row in study if row["kind"] == "table"
    ]
    named = next(row for row in rows if dataset in row["datasets"])
    other = next(row for row in rows if not set(row["datasets"]) & set(SHORT))
    named["datasets"].remove(dataset)
    other["datasets"].append(dataset)
    changed = shutil.copytree(before, tmp_path / "changed")
    (changed / "artefacts.json").write_text(json.dumps(declared))
    lost, added = sorted(
        wrong_lines(changed, moved_a_little, SHORT), key=lambda line: "doesn't" in line
    )
    assert lost.startswith(f"{named['files'][0]} changes (")
    assert added == f"{other['files'][0]} doesn't change, its line has ['{dataset}']"


@pytest.fixture(scope="module")
def two_boxes(tmp_path_factory):
    repository = copy_of_the_repository(tmp_path_factory.mktemp("two"))
    (repository / "two_boxes.yaml").write_text(TWO_BOXES)
    record_run(repository, "two_boxes.yaml")
    return numbers_of(repository, tmp_path_factory.mktemp("two_boxes") / "numbers")


@pytest.mark.lineage
@pytest.mark.parametrize("datasets", LONG, ids=" ".join)
def test_numbers_change_with_every_dataset_if_their_lines_name_it(two_boxes, datasets, tmp_path):
    after = moved(two_boxes, tmp_path / "moved", datasets)
    assert wrong_lines(results_of(two_boxes), after, datasets) == []
    assert wrong_rows(results_of(two_boxes), after, datasets) == []


@pytest.mark.lineage
def test_every_dataset_of_the_run_is_moved(two_boxes):
    results = results_of(two_boxes)
    named = set().union(*(names for _, _, names in inputs(results)))
    there = {file.parent.name for file in results.glob("data/*/card.json")} - {"inhand_twin"}
    assert there <= named == {name for datasets in LONG for name in datasets}
