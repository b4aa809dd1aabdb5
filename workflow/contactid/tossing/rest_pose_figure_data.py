"""The data behind the drawing of predicted rest poses from above."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from contactid.core import rotations
from contactid.tossing.outlines import top_outline
from contactid.tossing.rest_pose_cloud import Cloud
from contactid.tossing.rest_pose_distribution import Kernel, draw_poses


def distribution_outlines(
    clouds: Mapping[str, Sequence[Cloud]],
    kernels: Mapping[str, Kernel],
    vertices: Mapping[str, np.ndarray],
    n_tosses: int,
    seed: int,
    n: int = 400,
) -> pd.DataFrame:
    """Predicted rest poses of a few tosses from above, m from the measured position.

    Tosses are drawn at random, but the last one of each object is the one whose face is the most uncertain.

    Returns
    -------
    Columns ``object``, ``panel``, ``toss``, ``kind``, ``index``, ``x_m``, ``y_m``, ``measured_face_pct``. Kinds:
    ``simulated`` (the cloud of uncertain parameters and release); ``drawn`` and ``drawn_other_face`` (with the model's
    error, on the most likely face and on others);
    ``region_50`` and ``region_90``: ellipses that hold 50 and 90 % of the positions drawn on the most likely face;
    ``measured`` and ``predicted``: outlines of the box.
    """
    rows: list[tuple[object, ...]] = []
    for name, tosses in clouds.items():
        random = np.random.default_rng(seed)
        drawn = [draw_poses(cloud, kernels[name], n, random) for cloud in tosses]
        sure = np.array([np.unique(poses.face, return_counts=True)[1].max() for poses in drawn])
        others = np.delete(np.arange(len(tosses)), sure.argmin())
        chosen = sorted(random.choice(others, size=min(n_tosses - 1, len(others)), replace=False))
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
                shapes[kind] = top_outline(np.r_[flat.pose[0, :2], 0.0, quaternion], vertices[name])
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
