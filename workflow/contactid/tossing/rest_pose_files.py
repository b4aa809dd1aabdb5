"""From fits and prepared tosses to scored rest-pose distributions, and back from their files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.fits import read_json, write_json
from contactid.output.tables import write_csv
from contactid.tossing.identification import FINE_REACH, FINE_STEP, Grid, grid_values, sweep_grid
from contactid.tossing.preprocess import IDENTIFICATION, TEST
from contactid.tossing.release_uncertainty import release_covariances
from contactid.tossing.rest_pose_cloud import parameter_draws, simulate_clouds
from contactid.tossing.rest_pose_distribution import PARAMETERS, RELEASE, Kernel, Scores, error_table, score_tosses
from contactid.tossing.rest_pose_figure_data import distribution_outlines
from contactid.tossing.simulate.box import ContactParameters
from contactid.tossing.variants import Variant, load_dataset, set_up

_DRAWN = 300  # simulated rest poses of a toss that a figure shows


def write_rest_poses(
    outputs: Sequence[str | Path],
    *,
    prepared: str | Path,
    identified: str | Path,
    calibration: str | Path | None,
    fit: str | Path,
    variant: Variant,
    restitution: Mapping[str, float],
    draws: int,
    seed: int,
    n_tosses: int,
) -> None:
    """Fit the model's error on identification tosses, score test tosses, and write scores, errors and outlines.

    Parameters
    ----------
    outputs
        Files: scores (json), predicted beside actual errors (csv), outlines of a few tosses for a figure (csv).
    prepared, identified
        Tosses to predict, and tosses that parameters were identified on.
    restitution
        ``start``, ``stop`` and ``step`` of the grid of e_N, over which (mu finely) the identification is bootstrapped.
    draws
        Simulated outcomes per toss.
    n_tosses
        In the figure.
    """
    parameters = ContactParameters(**read_json(fit)["parameters"])
    known_data, test_data = load_dataset(identified, calibration), load_dataset(prepared, calibration)
    known, test = set_up(known_data, variant, IDENTIFICATION), set_up(test_data, variant, TEST)
    mu = parameters.friction_mu
    grid = Grid(grid_values(round(max(mu - FINE_REACH, 0.0), 3), round(mu + FINE_REACH, 3), FINE_STEP),
                grid_values(**restitution))  # fmt: skip
    swept = sweep_grid(known.body, known.measured, grid, known.options, known.length)
    drawn = parameter_draws(swept, draws, seed)
    spread = {
        id(problem): release_covariances(data, problem.body, problem.tosses)
        for data, problem in ((known_data, known), (test_data, test))
    }
    clouds = {
        PARAMETERS: simulate_clouds(test, parameters, drawn, None, seed),
        RELEASE: simulate_clouds(test, parameters, drawn, spread[id(test)], seed),
    }
    identification = simulate_clouds(known, parameters, drawn, spread[id(known)], seed)
    scores = score_tosses(identification, clouds, known.length, seed=seed)
    name, vertices = str(test_data.attrs["object"]), np.asarray(test.body.vertices)
    write_json(outputs[0], _as_record(scores, name))
    write_csv(error_table(clouds[RELEASE], scores.kernel, seed=seed), outputs[1])
    outlines = distribution_outlines(
        {name: clouds[RELEASE]}, {name: scores.kernel}, {name: vertices}, n_tosses, seed, n=_DRAWN
    )
    write_csv(outlines, outputs[2])


def _as_record(scores: Scores, name: str) -> dict[str, Any]:
    return {
        "object": name,
        "kernel": asdict(scores.kernel),
        "held_out": [float(value) for value in scores.held_out],
        "tosses": scores.table.to_dict("records"),
    }


def read_scores(path: str | Path) -> tuple[str, Scores]:
    """Object and scores from a file that :func:`write_rest_poses` wrote."""
    record = read_json(path)
    scores = Scores(pd.DataFrame(record["tosses"]), Kernel(**record["kernel"]), np.array(record["held_out"]))
    return str(record["object"]), scores
