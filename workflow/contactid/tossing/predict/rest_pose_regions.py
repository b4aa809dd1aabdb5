"""Where a toss will come to rest: the probability of each face, and regions of the position on it.

The density of :mod:`contactid.tossing.predict.rest_pose_distribution` is taken over (face, x, y),
whatever the yaw. The region of a level is where it is highest, over all faces at once. It reaches as
far as is needed to hold that share of the run's identification tosses, each predicted without itself
(conformal regions). Nothing is fitted on the tosses that are predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from contourpy import contour_generator

from contactid.output.fits import read_json
from contactid.tossing.predict.rest_pose_cloud import FACES, UNKNOWN, Cloud, FlatPoses
from contactid.tossing.predict.rest_pose_distribution import (
    Kernel,
    conformal_quantile,
    density,
    draw_poses,
    score,
    smoothing_kernel,
)

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
    held_out, tested : scores over face and position of its identification and test tosses
    draws : (n, 2) of (mu, e_N) that the identification leaves possible
    seed : of all that is drawn
    """

    kernel: Kernel
    held_out: np.ndarray
    tested: np.ndarray
    draws: np.ndarray
    seed: int

    @classmethod
    def read(cls, path: str | Path) -> RestPoseModel:
        """From the scores that a run wrote; ``KeyError`` where an earlier version wrote them."""
        record = read_json(path)
        tested = np.array([toss["position"] for toss in record["tosses"]])
        held_out, draws = (np.array(record[name]) for name in ("held_out_positions", "draws"))
        return cls(Kernel(**record["kernel"]), held_out, tested, draws, int(record["seed"]))

    def limits(self) -> list[float]:
        """Largest score inside the region of each level."""
        return [conformal_quantile(self.held_out, level) for level in LEVELS]


@dataclass(frozen=True)
class RestPrediction:
    """Prediction of one toss.

    Attributes
    ----------
    cloud : the simulated rest poses that it is made from
    faces : probability by face, which is the body axis that looks up, with its sign
    outlines : by level, closed; anticlockwise, and clockwise around holes
    areas : by level, m2 over all faces; infinite where the run had too few tosses for the level
    covers : by level, whether the measured rest pose is inside; None where it is unknown
    naive_score : of that pose by uncertain parameters and release alone; NaN where unknown
    """

    cloud: Cloud
    faces: dict[int, float]
    outlines: list[list[Outline]]
    areas: list[float]
    covers: list[bool | None]
    naive_score: float

    @property
    def likely_face(self) -> int:
        """The most probable one."""
        return max(self.faces, key=lambda face: self.faces[face])


def predict_rest(cloud: Cloud, model: RestPoseModel, random: np.random.Generator) -> RestPrediction:
    """Faces and regions of one toss from its simulated rest poses."""
    drawn = draw_poses(cloud, model.kernel, _DRAWN, random)
    densities = density(cloud, model.kernel, drawn, yaw=False)
    # a score is the share of drawn poses that are denser, so the pose behind these is the last inside
    places = [int(np.floor(_DRAWN * limit + 1e-9)) for limit in model.limits()]
    lowest = [np.sort(densities)[::-1][place] if place < _DRAWN else 0.0 for place in places]
    outlines = _outlines(cloud, model.kernel, drawn, densities, lowest)
    finite = zip(outlines, lowest, strict=True)
    areas = [sum(map(_signed_area, traced)) if low > 0.0 else np.inf for traced, low in finite]
    faces = face_probabilities(cloud, model.kernel)
    covers: list[bool | None] = [None] * len(LEVELS)
    naive_score = np.nan
    if int(cloud.measured.face[0]) != UNKNOWN:
        covers = (density(cloud, model.kernel, cloud.measured, yaw=False)[0] >= lowest).tolist()
        naive = smoothing_kernel(cloud)
        naive_score = score(cloud, naive, draw_poses(cloud, naive, _DRAWN, random), yaw=False)[0]
    return RestPrediction(cloud, faces, outlines, areas, covers, naive_score)


def face_probabilities(cloud: Cloud, kernel: Kernel) -> dict[int, float]:
    """Probability of every face: its share of the cloud, and all faces alike for a lost toss."""
    shares = {int(face): float((cloud.samples.face == face).mean()) for face in FACES}
    return {face: (1.0 - kernel.lost) * share + kernel.lost / len(FACES) for face, share in shares.items()}


def _outlines(
    cloud: Cloud, kernel: Kernel, drawn: FlatPoses, densities: np.ndarray, lowest: Sequence[float]
) -> list[list[Outline]]:
    """Outlines of where the density is at least each of ``lowest``; none of 0, which is everywhere.

    A face with no drawn pose inside is left out: its share is below one in :data:`_DRAWN`.
    """
    outlines: list[list[Outline]] = [[] for _ in lowest]
    widest = min((low for low in lowest if low > 0.0), default=np.inf)
    inside = drawn[densities >= widest]
    for face in np.unique(inside.face).tolist():
        places = inside.pose[inside.face == face, :2]
        lines_at = contour_generator(*_grid(cloud, kernel, face, places, widest)).lines
        for traced, low in zip(outlines, lowest, strict=True):
            traced += [(face, np.asarray(corners)) for corners in (lines_at(low) if low > 0.0 else [])]
    return outlines


def _grid(cloud: Cloud, kernel: Kernel, face: int, places: np.ndarray, lowest: float) -> list[np.ndarray]:
    """A grid about ``places`` (n, 2) on which all outlines close: x, y (m), and one face's densities (y, x)."""
    scales = kernel.scales[:2]
    low, high = places.min(axis=0) - 2.0 * scales.max(), places.max(axis=0) + 2.0 * scales.max()
    while True:
        # the density has no detail finer than its kernel
        counts = np.clip(np.ceil((high - low) / (0.5 * scales.min())), *_CELLS).astype(int)
        ends = zip(low, high, counts, strict=True)
        axes = [np.linspace(first, last, int(count)) for first, last, count in ends]
        x, y = (values.ravel() for values in np.meshgrid(*axes))
        poses = FlatPoses(np.full(x.size, face), np.column_stack([x, y, np.zeros(x.size)]))
        values = density(cloud, kernel, poses, yaw=False).reshape(counts[::-1])
        if max(values[[0, -1]].max(), values[:, [0, -1]].max()) < lowest:
            return [*axes, values]
        middle, half = 0.5 * (low + high), 0.5 * _WIDER * (high - low)
        low, high = middle - half, middle + half


def _signed_area(outline: Outline) -> float:
    """Of a closed outline, m2: positive anticlockwise."""
    x, y = outline[1].T
    return 0.5 * float(x[:-1] @ y[1:] - x[1:] @ y[:-1])
