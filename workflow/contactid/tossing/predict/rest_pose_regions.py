"""Where a toss will come to rest: the probability of each face, and regions of the position on it.

The density of :mod:`contactid.tossing.predict.rest_pose_distribution` is taken over (face, x, y),
whatever the yaw. The region of a level is where it is highest, over all faces at once. It reaches
as far as is needed to hold that share of the run's identification tosses, each predicted without
itself (conformal regions). Nothing is fitted on the tosses that are predicted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from contourpy import contour_generator

from contactid.core import rotations
from contactid.output.fits import read_json, write_json
from contactid.output.tables import write_csv
from contactid.sources.motion import read_dataset
from contactid.tossing.predict.rest_pose_cloud import (
    FACES,
    UNKNOWN,
    Cloud,
    FlatPoses,
    face_name,
    parameter_draws,
    simulate_clouds,
)
from contactid.tossing.predict.rest_pose_distribution import (
    Kernel,
    Scores,
    conformal_quantile,
    density,
    draw_poses,
    score,
    score_tosses,
    smoothing_kernel,
)
from contactid.tossing.prepare.poses import top_outline
from contactid.tossing.prepare.preprocess import IDENTIFICATION, TEST
from contactid.tossing.prepare.tosses import Variant, load_dataset, load_problem, set_up
from contactid.tossing.simulate.box import ContactParameters

LEVELS = (0.5, 0.8, 0.9)
Outline = tuple[int, np.ndarray]  # face, corners (n, 2) in m in C
DRAWN = 1000  # as many as the scores of the identification tosses were found from
_CELLS = (24, 128)  # fewest and most along a side of the grid that outlines are traced on
# scales of the kernel from the outermost of a thousand drawn poses to the grid's edge: a region
# that reached as far would hold more of them
_AROUND = 3.0


@dataclass(frozen=True)
class RestPrediction:
    """Prediction of one toss."""

    cloud: Cloud  # the simulated rest poses that it is made from
    # probability by face, which is the body axis that looks up, with its sign
    faces: dict[int, float]
    outlines: list[list[Outline]]  # by level, closed; anticlockwise, and clockwise around holes
    # by level, m2 over all faces; infinite where the run had too few tosses for the level
    areas: list[float]
    # by level, whether the measured rest pose is inside; None where it is unknown
    covers: list[bool | None]
    naive_score: float  # of that pose by uncertain parameters and release alone; NaN where unknown

    @property
    def likely_face(self) -> int:
        """The most probable one."""
        return max(self.faces, key=lambda face: self.faces[face])


def limits(scores: Scores) -> list[float]:
    """Largest score, over face and position, inside the region of each level."""
    return [conformal_quantile(scores.held_out_positions, level) for level in LEVELS]


def predict_rest(cloud: Cloud, scores: Scores, random: np.random.Generator) -> RestPrediction:
    """Faces and regions of one toss from its simulated rest poses."""
    kernel = scores.kernel
    drawn = draw_poses(cloud, kernel, DRAWN, random)
    densities = density(cloud, kernel, drawn, yaw=False)
    # a score is the share of drawn poses that are denser, so the pose behind these is the last
    # inside
    # (plus a little, so that rounding takes no pose away)
    places = [int(np.floor(DRAWN * limit + 1e-9)) for limit in limits(scores)]
    lowest = [np.sort(densities)[::-1][place] if place < DRAWN else 0.0 for place in places]
    outlines = _outlines(cloud, kernel, drawn, densities, lowest)
    finite = zip(outlines, lowest, strict=True)
    areas = [sum(map(_signed_area, traced)) if low > 0.0 else np.inf for traced, low in finite]
    faces = face_probabilities(cloud, kernel)
    covers: list[bool | None] = [None] * len(LEVELS)
    naive_score = np.nan
    if int(cloud.measured.face[0]) != UNKNOWN:
        covers = (density(cloud, kernel, cloud.measured, yaw=False)[0] >= lowest).tolist()
        naive = smoothing_kernel(cloud)
        naive_score = score(cloud, naive, draw_poses(cloud, naive, DRAWN, random), yaw=False)
    return RestPrediction(cloud, faces, outlines, areas, covers, naive_score)


def region_row(one: RestPrediction) -> dict[str, Any]:
    """``toss``, ``simulated_face_probability`` and ``region_<level in %>_m2`` of one toss.

    The face is the one that the identified parameters lead to.
    """
    probability = one.faces[int(one.cloud.central.face[0])]
    areas = {
        f"region_{100 * level:.0f}_m2": area for level, area in zip(LEVELS, one.areas, strict=True)
    }
    return {"toss": one.cloud.toss, "simulated_face_probability": probability, **areas}


def coverage(predictions: Sequence[RestPrediction]) -> pd.DataFrame:
    """How many regions hold the measured rest pose, of predictions that have one: a row per level.

    Columns: ``level``, ``n_tosses``, ``covered``, and ``naive_covered``: by uncertain parameters
    and release alone.
    """
    rows = [
        {
            "level": level,
            "n_tosses": len(predictions),
            "covered": sum(bool(one.covers[k]) for one in predictions),
            "naive_covered": sum(one.naive_score <= level for one in predictions),
        }
        for k, level in enumerate(LEVELS)
    ]
    return pd.DataFrame(rows)


def median_areas(predictions: Sequence[RestPrediction]) -> np.ndarray:
    """Of the region of each level, m2."""
    return np.median([one.areas for one in predictions], axis=0)


def face_probabilities(cloud: Cloud, kernel: Kernel) -> dict[int, float]:
    """Probability of every face: its share of the cloud, and all faces alike for a lost toss."""
    shares = {int(face): float((cloud.samples.face == face).mean()) for face in FACES}
    return {
        face: (1.0 - kernel.lost) * share + kernel.lost / len(FACES)
        for face, share in shares.items()
    }


def _outlines(
    cloud: Cloud, kernel: Kernel, drawn: FlatPoses, densities: np.ndarray, lowest: Sequence[float]
) -> list[list[Outline]]:
    """Outlines of where the density is at least each of ``lowest``; none of 0, which is everywhere.

    A face with no drawn pose inside is left out: its share is below one in :data:`DRAWN`.
    """
    outlines: list[list[Outline]] = [[] for _ in lowest]
    # all levels are traced on one grid, that of the widest one
    widest = min((low for low in lowest if low > 0.0), default=np.inf)
    inside = drawn[densities >= widest]
    for face in np.unique(inside.face).tolist():
        places = inside.pose[inside.face == face, :2]
        lines_at = contour_generator(*_grid(cloud, kernel, face, places)).lines
        for traced, low in zip(outlines, lowest, strict=True):
            traced += [
                (face, np.asarray(corners)) for corners in (lines_at(low) if low > 0.0 else [])
            ]
    return outlines


def _grid(
    cloud: Cloud, kernel: Kernel, face: int, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A grid about ``places`` (n, 2), drawn poses inside: x, y (m), and one face's densities (y, x),
    0 along the edge, so that all outlines close.
    """
    scales = kernel.scales[:2]
    around = _AROUND * scales.max()
    low, high = places.min(axis=0) - around, places.max(axis=0) + around
    # the density has no detail finer than its kernel
    counts = np.clip(np.ceil((high - low) / (0.5 * scales.min())), *_CELLS).astype(int)
    ends = zip(low, high, counts, strict=True)
    x, y = (np.linspace(first, last, int(count)) for first, last, count in ends)
    inner = np.stack(np.meshgrid(x[1:-1], y[1:-1]), axis=-1).reshape(-1, 2)
    poses = FlatPoses(np.full(len(inner), face), np.column_stack([inner, np.zeros(len(inner))]))
    densities = np.zeros((len(y), len(x)))
    densities[1:-1, 1:-1] = density(cloud, kernel, poses, yaw=False).reshape(len(y) - 2, -1)
    return x, y, densities


def _signed_area(outline: Outline) -> float:
    """Of a closed outline, m2: positive anticlockwise."""
    x, y = outline[1].T
    # the shoelace formula
    return 0.5 * float(x[:-1] @ y[1:] - x[1:] @ y[:-1])


def shown_tosses(faces: Sequence[Mapping[int, float]], number: int) -> list[int]:
    """Which tosses a figure shows, by the probability of their faces: half of them spread over all,
    half the least sure ones."""
    sureness = np.array([max(probabilities.values()) for probabilities in faces])
    # stable, so that equal ones stay in the order of the tosses
    by_sureness = np.argsort(-sureness, kind="stable")
    n, unsure = len(faces), number // 2
    spread = np.linspace(0, max(n - unsure - 1, 0), number - unsure).round().astype(int)
    places = sorted({*spread.tolist(), *range(max(n - unsure, 0), n)})
    return by_sureness[places].tolist()


def region_table(predictions: Sequence[RestPrediction], vertices: np.ndarray) -> pd.DataFrame:
    """Regions of tosses from above as polygons, with what was measured; ``vertices`` (v, 3) m are
    the body's.

    Columns: ``toss``, ``title`` (its faces), ``kind`` (``region_<level in %>``, ``measured``: the
    body's outline, ``center``: its origin measured, ``predicted``: the same by the parameters
    alone), whether it is on the ``likely`` face, number of the ``polygon``, ``x_m`` and ``y_m`` in
    C.
    """
    tables = []
    for one in predictions:
        likely, measured, central = one.likely_face, one.cloud.measured, one.cloud.central
        shapes = [
            (f"region_{100 * level:.0f}", face, corners)
            # the widest lies below
            for level, outlines in reversed([*zip(LEVELS, one.outlines, strict=True)])
            for face, corners in outlines
        ]
        shapes.append(("predicted", int(central.face[0]), central.pose[:, :2]))
        title = f"up: {face_name(likely)}, {100 * one.faces[likely]:.0f} %"
        face = int(measured.face[0])
        if face != UNKNOWN:
            pose = np.r_[measured.pose[0, :2], 0.0, rotations.from_matrices(measured.matrices())[0]]
            shapes += [
                ("measured", face, top_outline(pose, vertices)),
                ("center", face, measured.pose[:, :2]),
            ]
            title += f"; measured: {face_name(face)}"
        for polygon, (kind, on, corners) in enumerate(shapes):
            about: dict[str, Any] = {"toss": one.cloud.toss, "title": title, "kind": kind}
            about |= {"likely": on == likely, "polygon": polygon}
            tables.append(pd.DataFrame(corners, columns=["x_m", "y_m"]).assign(**about))
    return pd.concat(tables, ignore_index=True)


def predict_rest_poses(
    prepared: str,
    identified: str,
    calibration: str | None,
    fit: str,
    swept: str,
    variant: Mapping[str, Any],
    draws: int,
    seed: int,
    n_tosses: int,
    scores: str,
    outlines: str,
) -> None:
    """Fit the model's error on identification tosses, score test tosses, and write scores and
    regions.

    Parameters
    ----------
    prepared, identified : tosses to predict, and tosses that parameters were identified on
    swept : losses of the identification tosses over the finest grid of their identification, which
        is bootstrapped: of a variant that doesn't refine, its coarse one
    draws, n_tosses : simulated outcomes per toss, and tosses in the figure
    scores, outlines : files to write: scores (json), and :func:`region_table` of a few tosses (csv)
    """
    stepped = Variant.from_config(variant)
    parameters = ContactParameters(**read_json(fit)["parameters"])
    test_data = load_dataset(prepared, calibration)
    test = set_up(test_data, stepped, TEST)
    known = load_problem(identified, calibration, stepped, IDENTIFICATION)
    drawn = parameter_draws(read_dataset(swept)["loss"], draws, seed)
    predicted = simulate_clouds(test, parameters, drawn, test.start_covariances(), seed)
    # scored as test tosses are: with uncertain releases
    identification = simulate_clouds(known, parameters, drawn, known.start_covariances(), seed)
    scored = score_tosses(identification, predicted, known.length, seed=seed)
    name = str(test_data.attrs["object"])
    # draws and seed are for further tosses (contactid.tossing.own.regions)
    write_json(scores, {"object": name, **scored.record(), "draws": drawn.tolist(), "seed": seed})
    random = np.random.default_rng(seed)
    faces = [face_probabilities(cloud, scored.kernel) for cloud in predicted]
    shown = [predict_rest(predicted[k], scored, random) for k in shown_tosses(faces, n_tosses)]
    write_csv(region_table(shown, np.asarray(test.body.vertices)).assign(object=name), outlines)


def read_scores(path: str | Path) -> tuple[str, Scores]:
    """Object and scores from a file that :func:`predict_rest_poses` wrote."""
    record = read_json(path)
    return str(record["object"]), Scores.of_record(record)
