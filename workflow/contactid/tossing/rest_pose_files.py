"""From fits and prepared tosses to scored rest-pose distributions, and back from their files."""

from __future__ import annotations

from collections.abc import Mapping
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


def predict_rest_poses(
    prepared: str,
    identified: str,
    calibration: str | None,
    fit: str,
    variant: Mapping[str, Any],
    restitution: Mapping[str, float],
    draws: int,
    seed: int,
    n_tosses: int,
    scores: str,
    errors: str,
    outlines: str,
) -> None:
    """Fit the model's error on identification tosses, score test tosses, and write scores, errors and outlines.

    Parameters
    ----------
    prepared, identified
        Tosses to predict, and tosses that parameters were identified on.
    restitution
        ``start``, ``stop`` and ``step`` of the grid of e_N, over which (mu finely) the identification is bootstrapped.
    draws
        Simulated outcomes per toss.
    n_tosses
        In the figure.
    scores, errors, outlines
        Files to write: scores (json), predicted beside actual errors and outlines of a few tosses for a figure (csv).
    """
    stepped = Variant.from_config(variant)
    parameters = ContactParameters(**read_json(fit)["parameters"])
    known_data, test_data = load_dataset(identified, calibration), load_dataset(prepared, calibration)
    known, test = set_up(known_data, stepped, IDENTIFICATION), set_up(test_data, stepped, TEST)
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
    scored = score_tosses(identification, clouds, known.length, seed=seed)
    name, vertices = str(test_data.attrs["object"]), np.asarray(test.body.vertices)
    write_json(scores, _as_record(scored, name))
    write_csv(error_table(clouds[RELEASE], scored.kernel, seed=seed), errors)
    shown = distribution_outlines(
        {name: clouds[RELEASE]}, {name: scored.kernel}, {name: vertices}, n_tosses, seed, n=_DRAWN
    )
    write_csv(shown, outlines)


def _as_record(scores: Scores, name: str) -> dict[str, Any]:
    return {
        "object": name,
        "kernel": asdict(scores.kernel),
        "held_out": [float(value) for value in scores.held_out],
        "tosses": scores.table.to_dict("records"),
    }


def read_scores(path: str | Path) -> tuple[str, Scores]:
    """Object and scores from a file that :func:`predict_rest_poses` wrote."""
    record = read_json(path)
    scores = Scores(pd.DataFrame(record["tosses"]), Kernel(**record["kernel"]), np.array(record["held_out"]))
    return str(record["object"]), scores
