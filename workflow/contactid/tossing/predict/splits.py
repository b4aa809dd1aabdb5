"""Test errors by other splits of the same tosses and by few of them, under both laws of impacts.

Other splits show one split's luck; fewer identification tosses show how many it takes, as figure 5
of ContactNets does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.output.tables import write_csv
from contactid.sources.motion import body_of, read_dataset
from contactid.tossing.identify.body import calibrate
from contactid.tossing.identify.trajectories import Grid, identify, sweep_grid
from contactid.tossing.predict.benchmark import FILE, summarise, whole_files
from contactid.tossing.prepare.calibration import Calibration, uncalibrated
from contactid.tossing.prepare.preprocess import IDENTIFICATION, TEST, preprocess
from contactid.tossing.prepare.tosses import Problem, Variant, set_up
from contactid.tossing.simulate.sweep import SweepResult, sweep

LAWS = ("newton", "incremental")
_LEFT_OUT = "left out"  # the part of identification tosses that weren't drawn


def score_split(
    motion: str,
    folder: str,
    dataset: str,
    seed: int | str,
    tosses: Sequence[int],
    settings: dict[str, Any],
    scored: str,
) -> None:
    """Split a dataset with ``seed``, prepare, calibrate and identify on one part, and predict the
    other.

    Written is a row per law and draw: of all identification tosses (draw 0), and of each number in
    ``tosses`` as many draws as ``settings`` say. Everything that is fitted is fitted to the drawn
    tosses, but for the surface on which events are found: that is of all identification tosses.
    Nothing is chosen on the test part. Too few
    tosses to calibrate keep the nominal body.

    ``folder`` has the files (:func:`whole_files`). ``settings`` are the configuration's ``grid``,
    ``bootstrap``, ``draws``, a ``variant`` without name and law, and what
    :func:`contactid.tossing.prepare.preprocess.preprocess` takes. Columns: dataset, seed, ``law``,
    ``draw``, tosses of both parts, ``calibrated``, ``scale``, ``center_of_mass_z_mm``, the
    parameters, mean ``test_loss`` (eq. 18) with its standard error, and the errors of
    :func:`summarise` over whole files from their first row.
    """
    data = preprocess(
        read_dataset(motion),
        share=settings["share"],
        seed=int(seed),
        exclude_tumbling=settings["exclude_tumbling"],
        require_usable=True,
        events=settings["events"],
    )
    grid = Grid.of(settings["grid"])
    variant = Variant(name="", law=LAWS[0], **settings["variant"])
    rows = []
    for draw, part in _parts(data, tosses, settings["draws"], int(seed)):
        found, calibrated = _calibration(part)
        body = found.apply(part)
        known, unseen = set_up(body, variant, IDENTIFICATION), set_up(body, variant, TEST)
        files = whole_files(body, unseen, found.scale, folder, FILE)
        # both laws have the same body, tosses and split
        for law in LAWS:
            one = _under(known, law)
            stepped = replace(variant, law=law)
            fit, _ = identify(
                one, sweep_grid(one, grid), stepped, dataset=dataset, **settings["bootstrap"]
            )
            loss = _at(_under(unseen, law), fit["parameters"]).loss[:, 0]
            whole = _at(_under(files, law), fit["parameters"])
            errors = summarise(100.0 * whole.position_error, np.degrees(whole.rotation_error))
            rows.append(
                {
                    "dataset": dataset,
                    "seed": seed,
                    "law": law,
                    "draw": draw,
                    "n_identification": len(known.tosses),
                    "n_test": len(loss),
                    "calibrated": calibrated,
                    "scale": found.scale,
                    "center_of_mass_z_mm": 1e3 * found.center_of_mass[2],
                    **fit["parameters"],
                    "test_loss": float(loss.mean()),
                    "sem_test_loss": float(loss.std(ddof=1) / np.sqrt(len(loss))),
                    **errors,
                }
            )
    write_csv(pd.DataFrame(rows), scored)


def _parts(
    data: xr.Dataset, tosses: Sequence[int], draws: int, seed: int
) -> Iterator[tuple[int, xr.Dataset]]:
    """All of the dataset as draw 0, then draws of so many usable identification tosses each."""
    yield 0, data
    usable = np.flatnonzero(
        (data["split"].values == IDENTIFICATION) & (data["reason"].values == "")
    )
    for number in tosses:
        for draw in range(1, draws + 1):
            # each draw by itself: a longer list of numbers doesn't change the others
            drawn = np.random.default_rng([seed, number, draw]).permutation(usable)[:number]
            # tosses that weren't drawn shape nothing, not even the surface of a calibrated body
            split = np.where(
                data["split"].values == IDENTIFICATION, _LEFT_OUT, data["split"].values
            )
            split[drawn] = IDENTIFICATION
            yield draw, data.assign(split=data["split"].copy(data=split))


def _calibration(part: xr.Dataset) -> tuple[Calibration, bool]:
    try:
        return calibrate(part), True
    except ContactIdError:  # too few tosses, or too little spin
        return uncalibrated(body_of(part)), False


def _under(problem: Problem, law: str) -> Problem:
    return replace(problem, options=replace(problem.options, law=law))


def _at(problem: Problem, parameters: dict[str, float]) -> SweepResult:
    point = np.array([parameters["friction_mu"]]), np.array([parameters["restitution_e_n"]])
    return sweep(problem.body, problem.measured, *point, problem.options, length=problem.length)
