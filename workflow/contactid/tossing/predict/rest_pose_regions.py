"""Where a toss will come to rest: the probability of each face, and regions of the position on it.

The predictive density (:mod:`contactid.tossing.predict.rest_pose_distribution`) is taken over
(face, x, y), whatever the yaw. The region of a level is where it is highest, over all faces at
once. How high is decided by the run's identification tosses: the region reaches as far as is
needed to hold that share of them, each predicted without itself (conformal regions). So nothing
is fitted on the tosses that are predicted, and they need not have been measured at rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from contourpy import contour_generator

from contactid.output.fits import read_json
from contactid.tossing.predict.rest_pose_cloud import FACES, UNKNOWN, Cloud, FlatPoses, simulate_clouds
from contactid.tossing.predict.rest_pose_distribution import (
    Kernel,
    conformal_quantile,
    density,
    draw_poses,
    score,
    smoothing_kernel,
)
from contactid.tossing.prepare.tosses import Problem
from contactid.tossing.simulate.box import ContactParameters

LEVELS = (0.5, 0.8, 0.9)
Outline = tuple[int, np.ndarray]  # face, corners (n, 2) in m in C
_DRAWN = 1000  # as many as the scores of the identification tosses were found from
_CELLS = (24, 128)  # fewest and most along a side of the grid that outlines are traced on
_WIDER = 1.5  # a grid that a region reaches the edge of grows by this factor


@dataclass(frozen=True)
class RestPoseModel:
    """What a run knows of the rest poses of tosses by one of its variants.

    Attributes
    ----------
    kernel : the model's error
    held_out : (identification toss,) scores over face and position
    draws : (n, 2) of (mu, e_N) that the identification leaves possible
    seed : of all that is drawn
    test_scores : (test toss,) scores of the run's own test tosses
    """

    kernel: Kernel
    held_out: np.ndarray
    draws: np.ndarray
    seed: int
    test_scores: np.ndarray

    @classmethod
    def read(cls, path: str | Path) -> RestPoseModel:
        """From the scores that a run wrote; ``KeyError`` where an earlier version wrote them."""
        record = read_json(path)
        return cls(
            Kernel(**record["kernel"]),
            np.array(record["held_out_positions"]),
            np.array(record["draws"]),
            int(record["seed"]),
            np.array([toss["position"] for toss in record["tosses"]]),
        )

    def largest_score(self, level: float) -> float:
        """Of the poses in the region of a level."""
        return conformal_quantile(self.held_out, level)


@dataclass(frozen=True)
class Region:
    """Where the body rests with a probability.

    Attributes
    ----------
    level : the probability
    area : m2, summed over faces; infinite where the run had too few tosses for this level
    outlines : (face, corners (n, 2) in m in C), closed; anticlockwise, and clockwise around holes
    covers : whether the measured rest pose is inside; None where it is unknown
    """

    level: float
    area: float
    outlines: tuple[Outline, ...]
    covers: bool | None


@dataclass(frozen=True)
class RestPrediction:
    """Prediction of one toss.

    Attributes
    ----------
    cloud : the simulated rest poses that it is made from
    faces : probability by face, which is the body axis that looks up, with its sign
    regions : of :data:`LEVELS`, in this order
    naive_score : of the measured rest pose by uncertain parameters and release alone; NaN where unknown
    """

    cloud: Cloud
    faces: dict[int, float]
    regions: tuple[Region, ...]
    naive_score: float

    @property
    def likely_face(self) -> int:
        """The most probable one."""
        return max(self.faces, key=lambda face: self.faces[face])


def predict_rest(problem: Problem, parameters: ContactParameters, model: RestPoseModel) -> list[RestPrediction]:
    """Predict where every toss of a problem comes to rest."""
    covariances = problem.start_covariances()
    clouds = simulate_clouds(problem, parameters, model.draws, covariances, model.seed)
    random = np.random.default_rng(model.seed)
    return [predict_cloud(cloud, model, random) for cloud in clouds]


def predict_cloud(cloud: Cloud, model: RestPoseModel, random: np.random.Generator) -> RestPrediction:
    """Faces and regions of one toss from its simulated rest poses."""
    drawn = draw_poses(cloud, model.kernel, _DRAWN, random)
    densities = density(cloud, model.kernel, drawn, yaw=False)
    lowest = [_lowest_density(densities, model.largest_score(level)) for level in LEVELS]
    traced = _outlines(cloud, model.kernel, drawn, densities, lowest)
    known = int(cloud.measured.face[0]) != UNKNOWN
    measured = density(cloud, model.kernel, cloud.measured, yaw=False)[0] if known else np.nan
    regions = []
    for level, limit, outlines in zip(LEVELS, lowest, traced, strict=True):
        area = sum(_signed_area(corners) for _, corners in outlines) if limit > 0.0 else np.inf
        regions.append(Region(level, area, outlines, bool(measured >= limit) if known else None))
    naive = smoothing_kernel(cloud)
    without_error = draw_poses(cloud, naive, _DRAWN, random)
    naive_score = score(cloud, naive, without_error, yaw=False)[0] if known else np.nan
    return RestPrediction(cloud, face_probabilities(cloud, model.kernel), tuple(regions), naive_score)


def face_probabilities(cloud: Cloud, kernel: Kernel) -> dict[int, float]:
    """Probability of every face: its share of the cloud, and all faces alike for a lost toss."""
    shares = {int(face): float((cloud.samples.face == face).mean()) for face in FACES}
    return {face: (1.0 - kernel.lost) * share + kernel.lost / len(FACES) for face, share in shares.items()}


def _lowest_density(densities: np.ndarray, largest_score: float) -> float:
    """Where a pose has the largest score, which is the share of drawn poses above its density."""
    above = int(np.floor(len(densities) * largest_score + 1e-9))  # of whole numbers, but for rounding
    return float(np.sort(densities)[::-1][above]) if above < len(densities) else 0.0


def _outlines(
    cloud: Cloud, kernel: Kernel, drawn: FlatPoses, densities: np.ndarray, lowest: Sequence[float]
) -> list[tuple[Outline, ...]]:
    """Outlines of where the density is at least each of ``lowest``; none of 0, which is everywhere.

    A face with no drawn pose inside is left out: its share is below one in :data:`_DRAWN`.
    """
    traced: list[list[Outline]] = [[] for _ in lowest]
    limits = [limit for limit in lowest if limit > 0.0]
    inside = drawn[densities >= min(limits, default=np.inf)]
    for face in np.unique(inside.face).tolist():
        axes, values = _grid(cloud, kernel, face, inside.pose[inside.face == face, :2], min(limits))
        lines_at = contour_generator(*axes, values).lines
        for outlines, limit in zip(traced, lowest, strict=True):
            if limit > 0.0:
                outlines += [(face, np.asarray(corners)) for corners in lines_at(limit)]
    return [tuple(outlines) for outlines in traced]


def _grid(
    cloud: Cloud, kernel: Kernel, face: int, places: np.ndarray, limit: float
) -> tuple[list[np.ndarray], np.ndarray]:
    """Axes x and y (m) of a grid about ``places`` (n, 2), and the densities (y, x) of one face on it.

    It is wide enough for all outlines at ``limit`` to close.
    """
    scales = kernel.scales[:2]
    low, high = places.min(axis=0) - 2.0 * scales.max(), places.max(axis=0) + 2.0 * scales.max()
    while True:
        # the density has no detail finer than its kernel
        counts = np.clip(np.ceil((high - low) / (0.5 * scales.min())), *_CELLS).astype(int)
        axes = [np.linspace(*ends, count) for *ends, count in zip(low, high, counts, strict=True)]
        x, y = np.meshgrid(*axes)
        poses = np.column_stack([x.ravel(), y.ravel(), np.zeros(x.size)])
        values = density(cloud, kernel, FlatPoses(np.full(x.size, face), poses), yaw=False).reshape(x.shape)
        if max(values[[0, -1]].max(), values[:, [0, -1]].max()) < limit:
            return axes, values
        middle, half = 0.5 * (low + high), 0.5 * _WIDER * (high - low)
        low, high = middle - half, middle + half


def _signed_area(corners: np.ndarray) -> float:
    """Of a closed outline (n, 2): positive anticlockwise."""
    x, y = corners.T
    return 0.5 * float(x[:-1] @ y[1:] - x[1:] @ y[:-1])


def coverage(predictions: Sequence[RestPrediction], model: RestPoseModel) -> pd.DataFrame:
    """How many measured rest poses the regions hold.

    Returns
    -------
    A row per level: ``level``, ``n_tosses`` (those whose rest pose is known), ``covered``,
    ``naive_covered`` (by regions of uncertain parameters and release alone), ``median_area_m2``,
    ``run_covered`` and ``run_n_tosses`` (of the run's own test tosses).
    """
    rows = []
    known = [one for one in predictions if one.regions[0].covers is not None]
    for k, level in enumerate(LEVELS):
        rows.append(
            {
                "level": level,
                "n_tosses": len(known),
                "covered": sum(bool(one.regions[k].covers) for one in known),
                "naive_covered": sum(one.naive_score <= level for one in known),
                "median_area_m2": float(np.median([one.regions[k].area for one in predictions])),
                "run_covered": int((model.test_scores <= model.largest_score(level)).sum()),
                "run_n_tosses": len(model.test_scores),
            }
        )
    return pd.DataFrame(rows)
