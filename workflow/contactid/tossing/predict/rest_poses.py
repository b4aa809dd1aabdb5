"""From fits and prepared tosses to scored distributions of rest poses, their files, and their outlines from above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from contactid.core import rotations
from contactid.output.fits import read_json, write_json
from contactid.output.tables import write_csv
from contactid.tossing.identify.trajectories import FINE_REACH, FINE_STEP, Grid, grid_values, sweep_grid
from contactid.tossing.predict.rest_pose_cloud import Cloud, parameter_draws, simulate_clouds
from contactid.tossing.predict.rest_pose_distribution import (
    PARAMETERS,
    RELEASE,
    Kernel,
    Scores,
    draw_poses,
    error_table,
    score_tosses,
)
from contactid.tossing.prepare.poses import top_outline
from contactid.tossing.prepare.preprocess import IDENTIFICATION, TEST
from contactid.tossing.prepare.tosses import Variant, load_dataset, release_covariances, set_up
from contactid.tossing.simulate.box import ContactParameters

_DRAWN = 300  # simulated rest poses of a toss that a figure shows


def distribution_outlines(
    name: str, tosses: Sequence[Cloud], kernel: Kernel, vertices: np.ndarray, n_tosses: int, seed: int, n: int = _DRAWN
) -> pd.DataFrame:
    """Predicted rest poses of a few tosses of an object from above, m from the measured position.

    Tosses are drawn at random, but the last one is the one whose face is the most uncertain.

    Returns
    -------
    Columns ``object``, ``panel``, ``toss``, ``kind``, ``index``, ``x_m``, ``y_m``, ``measured_face_pct``. Kinds:
    ``simulated`` (the cloud of uncertain parameters and release); ``drawn`` and ``drawn_other_face`` (with the model's
    error, on the most likely face and on others);
    ``region_50`` and ``region_90``: ellipses that hold 50 and 90 % of the positions drawn on the most likely face;
    ``measured`` and ``predicted``: outlines of the box.
    """
    random = np.random.default_rng(seed)
    drawn = [draw_poses(cloud, kernel, n, random) for cloud in tosses]
    sure = np.array([np.unique(poses.face, return_counts=True)[1].max() for poses in drawn])
    others = np.delete(np.arange(len(tosses)), sure.argmin())
    chosen = sorted(random.choice(others, size=min(n_tosses - 1, len(others)), replace=False))
    rows: list[tuple[object, ...]] = []
    for panel, k in enumerate([*chosen, int(sure.argmin())]):
        cloud, poses, shapes = tosses[k], drawn[k], {}
        values, counts = np.unique(poses.face, return_counts=True)
        likely = poses.face == values[counts.argmax()]
        shapes["simulated"] = cloud.samples.pose[:, :2]
        shapes["drawn"], shapes["drawn_other_face"] = poses.pose[likely, :2], poses.pose[~likely, :2]
        for percent in (50, 90):
            shapes[f"region_{percent}"] = _ellipse(poses.pose[likely, :2], percent)
        for kind, flat in (("measured", cloud.measured), ("predicted", cloud.central)):
            quaternion = rotations.from_matrices(flat.matrices())[0]
            shapes[kind] = top_outline(np.r_[flat.pose[0, :2], 0.0, quaternion], vertices)
        share = 100.0 * float((poses.face == cloud.measured.face[0]).mean())
        for kind, points in shapes.items():
            for index, (x, y) in enumerate(points - cloud.measured.pose[0, :2]):
                rows.append((name, panel, cloud.toss, kind, index, x, y, share))
    columns = ["object", "panel", "toss", "kind", "index", "x_m", "y_m", "measured_face_pct"]
    return pd.DataFrame(rows, columns=columns)


def _ellipse(points: np.ndarray, percent: float) -> np.ndarray:
    """Corners (73, 2) of the ellipse about the median of points (n, 2) that holds a percentage of them.

    Its shape is the covariance of the inner 90 %, so that lost tosses don't widen it.
    """
    apart = points - np.median(points, axis=0)
    covariance = np.cov(apart.T)
    for _ in range(5):
        distance = np.einsum("ni,ij,nj->n", apart, np.linalg.inv(covariance), apart)
        covariance = np.cov(apart[distance <= np.percentile(distance, 90)].T)
    distance = np.einsum("ni,ij,nj->n", apart, np.linalg.inv(covariance), apart)
    turn = np.linspace(0.0, 2.0 * np.pi, 73)
    circle = np.sqrt(np.percentile(distance, percent)) * np.column_stack([np.cos(turn), np.sin(turn)])
    return np.median(points, axis=0) + circle @ np.linalg.cholesky(covariance).T


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
    draws, n_tosses
        Simulated outcomes per toss, and tosses in the figure.
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
    drawn = parameter_draws(sweep_grid(known, grid), draws, seed)
    spread = release_covariances(test_data, test.body, test.tosses)
    clouds = {
        PARAMETERS: simulate_clouds(test, parameters, drawn, None, seed),
        RELEASE: simulate_clouds(test, parameters, drawn, spread, seed),
    }
    spread = release_covariances(known_data, known.body, known.tosses)
    identification = simulate_clouds(known, parameters, drawn, spread, seed)
    scored = score_tosses(identification, clouds, known.length, seed=seed)
    name, predicted = str(test_data.attrs["object"]), clouds[RELEASE]
    record = {
        "object": name,
        "kernel": asdict(scored.kernel),
        "held_out": scored.held_out.tolist(),
        "tosses": scored.table.to_dict("records"),
    }
    write_json(scores, record)
    write_csv(error_table(predicted, scored.kernel, seed=seed), errors)
    shown = distribution_outlines(name, predicted, scored.kernel, np.asarray(test.body.vertices), n_tosses, seed)
    write_csv(shown, outlines)


def read_scores(path: str | Path) -> tuple[str, Scores]:
    """Object and scores from a file that :func:`predict_rest_poses` wrote."""
    record = read_json(path)
    scores = Scores(pd.DataFrame(record["tosses"]), Kernel(**record["kernel"]), np.array(record["held_out"]))
    return str(record["object"]), scores
