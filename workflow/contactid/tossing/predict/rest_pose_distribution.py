"""Predictive distributions of rest poses, their regions, and whether these cover what was measured.

A cloud of simulated rest poses (:mod:`contactid.tossing.predict.rest_pose_cloud`) holds the
uncertainty of the parameters and of the release. The model itself is wrong by more than that, so a
third term is estimated on the identification tosses: each simulated rest pose is spread by a
kernel,

* mostly a Student distribution in (along the heading, across it, yaw) on the simulated face, and
* with a small probability a *lost* toss: any face and yaw alike, and a wider Student distribution
  in (x, y), for boxes that tumble otherwise than simulated.

The density over (face, x, y, yaw) is the mean of the kernels. The region of probability p is where
the density is highest, over all faces at once: it may have several parts on several faces, and a
measured rest pose is covered only if its face is. Its *score* is the probability of all poses with
a higher density; it is covered by the region of probability p where the score is at most p, and of
right predictions the scores are uniform between 0 and 1.

Conformal regions replace p by the quantile of the scores of the identification tosses, each scored
by a kernel fitted without it. They then cover at the stated rate whatever the errors' distribution,
as long as test tosses are exchangeable with identification tosses; mu and e_N, two numbers, were
identified on all of the latter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import gammaln

from contactid.core.errors import ContactIdError
from contactid.tossing.predict.rest_pose_cloud import FACES, Cloud, FlatPoses

RELEASE, MODEL_ERROR, CONFORMAL = "release", "model_error", "conformal"
LEVELS = (RELEASE, MODEL_ERROR, CONFORMAL)
NOMINAL = (0.5, 0.8, 0.9, 0.95)
_GAUSSIAN = 1e6  # degrees of freedom that make a Student distribution a normal one
_FIT_SAMPLES = 150  # of each cloud, for fitting the kernel
# standard deviations of a measured rest pose, in the order of Kernel.scales: m (about the scatter
# of resting vertices) and rad; they keep a cloud without width from being a point
NOISE = np.array([5e-4, 5e-4, 3e-3])


@dataclass(frozen=True)
class Kernel:
    """How a simulated rest pose is spread."""

    # along, across: m, scales along and across the heading
    along: float
    across: float
    yaw: float  # rad, scale
    freedom: float = _GAUSSIAN  # degrees of freedom of the Student distributions
    lost: float = 0.0  # probability of a lost toss
    wide: float = 1.0  # m, scale in x and y of a lost toss

    @property
    def scales(self) -> np.ndarray:
        """(3,) scales along, across (m) and in yaw (rad)."""
        return np.array([self.along, self.across, self.yaw])


def smoothing_kernel(cloud: Cloud, noise: np.ndarray = NOISE) -> Kernel:
    """Silverman's kernel for the cloud's own density, no narrower than the measurement's ``noise``
    (3,).
    """
    n = len(cloud.samples.face)
    spreads, counts = [], []
    for face in np.unique(cloud.samples.face):
        chosen = cloud.samples.face == face
        # from the face's first sample: only differences within a face mean anything, and the yaw
        # wraps
        apart = cloud.residuals(cloud.samples[chosen][:1])[0, chosen]
        spreads.append(apart.var(axis=0))
        counts.append(chosen.sum())
    # Silverman's rule in three dimensions, (4 / ((d + 2) n))^(1 / (d + 4))
    width = (4.0 / (5.0 * n)) ** (1.0 / 7.0)
    # a normal kernel's variance and the measurement's add up
    variance = width**2 * np.average(spreads, axis=0, weights=counts)
    along, across, yaw = np.sqrt(variance + noise**2)
    return Kernel(float(along), float(across), float(yaw))


def _student(square: np.ndarray, freedom: float, dimensions: int) -> np.ndarray:
    """Density of a standard Student distribution at squared distances from its centre."""
    size = gammaln(0.5 * (freedom + dimensions)) - gammaln(0.5 * freedom)
    size -= 0.5 * dimensions * np.log(freedom * np.pi)
    return np.exp(size - 0.5 * (freedom + dimensions) * np.log1p(square / freedom))


def _mixture(residuals: np.ndarray, same_face: np.ndarray, kernel: Kernel) -> np.ndarray:
    """Mean over the samples (axis -2) of the kernel at residuals; ``same_face`` is (..., n).

    Residuals are (..., n, 3), or (..., n, 2) for the density over face and position alone: the
    margin of a Student distribution has the same degrees of freedom.
    """
    dimensions = residuals.shape[-1]
    scales = kernel.scales[:dimensions]
    square = ((residuals / scales) ** 2).sum(axis=-1)
    core = np.where(same_face, _student(square, kernel.freedom, dimensions), 0.0) / scales.prod()
    if kernel.lost == 0.0:
        return core.mean(axis=-1)
    # a lost toss has a place, but no face and no yaw
    far = (residuals[..., :2] ** 2).sum(axis=-1) / kernel.wide**2
    every_face_and_yaw = len(FACES) * (2.0 * np.pi if dimensions == 3 else 1.0)
    lost = _student(far, kernel.freedom, 2) / (kernel.wide**2 * every_face_and_yaw)
    return ((1.0 - kernel.lost) * core + kernel.lost * lost).mean(axis=-1)


def density(cloud: Cloud, kernel: Kernel, poses: FlatPoses, *, yaw: bool = True) -> np.ndarray:
    """Predictive density (m,) at poses, per face, m2 and rad; without ``yaw`` per face and m2.

    The Student distribution in yaw is cut off at half a turn; for scales below 0.4 rad that leaves
    out less than 1 %.
    """
    same_face = poses.face[:, None] == cloud.samples.face[None, :]
    residuals = cloud.residuals(poses)
    return _mixture(residuals if yaw else residuals[..., :2], same_face, kernel)


def draw_poses(cloud: Cloud, kernel: Kernel, n: int, random: np.random.Generator) -> FlatPoses:
    """``n`` rest poses drawn from the predictive distribution."""
    chosen = random.integers(len(cloud.samples.face), size=n)
    lost = random.random(n) < kernel.lost
    # a Student vector is a normal one over the root of one chi-square; it also stretches lost
    # tosses
    stretch = np.sqrt(kernel.freedom / random.chisquare(kernel.freedom, n))[:, None]
    scales = np.where(lost[:, None], [kernel.wide, kernel.wide, 0.0], kernel.scales)
    step = scales * stretch * random.normal(size=(n, 3))
    along, across = cloud.heading, np.array([-cloud.heading[1], cloud.heading[0]])
    pose = cloud.samples.pose[chosen].copy()
    pose[:, :2] += step[:, :1] * along + step[:, 1:2] * across
    pose[:, 2] += np.where(lost, random.uniform(-np.pi, np.pi, n), step[:, 2])
    # into [-pi, pi)
    pose[:, 2] = np.mod(pose[:, 2] + np.pi, 2.0 * np.pi) - np.pi
    return FlatPoses(np.where(lost, random.choice(FACES, n), cloud.samples.face[chosen]), pose)


def fit_kernel(clouds: Sequence[Cloud], length: float, start: Kernel | None = None) -> Kernel:
    """The kernel that makes the measured rest poses of identification tosses most likely; ``start``
    begins the search.

    Weak priors keep a dozen tosses from deciding what they can't: half a lost toss and half a kept
    one in addition to those seen, about 6 degrees of freedom (a factor of 2 either way), and lost
    tosses about one ``length`` (m) of the box away (a factor of e).
    """
    if len(clouds) < 5:
        raise ContactIdError(
            f"{len(clouds)} tosses are too few to estimate the model's error", "Give five or more"
        )
    few = [replace(cloud, samples=cloud.samples[:_FIT_SAMPLES]) for cloud in clouds]
    residuals = np.concatenate([cloud.residuals(cloud.measured) for cloud in few])
    same_face = np.stack([cloud.samples.face == cloud.measured.face[0] for cloud in few])

    def kernel_of(point: np.ndarray) -> Kernel:
        # logarithms keep scales positive, and above the measurement's noise
        along, across, yaw = map(float, NOISE + np.exp(point[:3]))
        share = 1.0 / (1.0 + float(np.exp(-point[4])))
        # more than two degrees of freedom: the variance is finite
        return Kernel(
            along, across, yaw, 2.0 + float(np.exp(point[3])), share, float(np.exp(point[5]))
        )

    def badness(point: np.ndarray) -> float:
        kernel = kernel_of(point)
        # the search may go so far that an exponential overflows
        if not np.isfinite(list(vars(kernel).values())).all():
            return np.inf
        fit = np.log(np.maximum(_mixture(residuals, same_face, kernel), 1e-300)).sum()
        # half a lost and half a kept toss
        prior = 0.5 * np.log(max(kernel.lost * (1.0 - kernel.lost), 1e-300))
        prior -= (
            0.5 * ((point[3] - np.log(4.0)) / np.log(2.0)) ** 2
            + 0.5 * np.log(kernel.wide / length) ** 2
        )
        return -float(fit + prior)

    begin = start or Kernel(0.05 * length, 0.05 * length, 0.1, 6.0, 0.05, length)
    widths = np.log(np.maximum(begin.scales - NOISE, 0.1 * NOISE))
    first = np.r_[
        widths, np.log([begin.freedom - 2.0, begin.lost / (1.0 - begin.lost), begin.wide])
    ]
    found = minimize(
        badness,
        first,
        method="Nelder-Mead",
        options={"maxfev": 3000, "xatol": 0.02, "fatol": 0.005},
    )
    if not found.success:
        raise ContactIdError(
            f"the model's error can't be estimated ({found.message})", "Look at the rest poses"
        )
    return kernel_of(found.x)


def score(cloud: Cloud, kernel: Kernel, drawn: FlatPoses, *, yaw: bool = True) -> float:
    """Score of the measured rest pose; ``drawn`` are of :func:`draw_poses`, ``yaw`` as in
    :func:`density`.
    """
    measured = density(cloud, kernel, cloud.measured, yaw=yaw)[0]
    # no density at all is outside of every region, whatever the samples' own densities underflow to
    if measured <= 0.0:
        return 1.0
    return float((density(cloud, kernel, drawn, yaw=yaw) > measured).mean())


@dataclass(frozen=True)
class Scores:
    """What a run knows of the rest poses of tosses by one of its variants."""

    # one row per test toss: ``toss``, a column of scores per level, and ``position``: scores by the
    # density over face and position alone, whatever the yaw
    table: pd.DataFrame
    kernel: Kernel  # the model's error, fitted on all identification tosses
    # (identification toss,) scores by kernels fitted without the toss, from which conformal regions
    # are made
    held_out: np.ndarray
    held_out_positions: np.ndarray  # the same by the density over face and position alone

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> Scores:
        """From the record that a run keeps."""
        held_out, positions = (
            np.array(record[name]) for name in ("held_out", "held_out_positions")
        )
        return cls(pd.DataFrame(record["tosses"]), Kernel(**record["kernel"]), held_out, positions)

    def record(self) -> dict[str, Any]:
        """What :meth:`of_record` reads, for a JSON file."""
        return {
            "kernel": asdict(self.kernel),
            "held_out": self.held_out.tolist(),
            "held_out_positions": self.held_out_positions.tolist(),
            "tosses": self.table.to_dict("records"),
        }


def score_tosses(
    identification: Sequence[Cloud],
    test: Sequence[Cloud],
    length: float,
    *,
    n: int = 1000,
    folds: int = 5,
    seed: int = 0,
) -> Scores:
    """Fit the model's error on identification tosses and score test tosses at every level.

    Clouds are of uncertain parameters and release. ``length`` is the box's, m; ``n`` poses are
    drawn to find a score; each of the ``folds`` parts of the identification tosses is scored by a
    kernel fitted on the others.
    """
    random = np.random.default_rng(seed)
    kernel = fit_kernel(identification, length)
    held_out, held_out_positions = np.empty((2, len(identification)))
    part = random.permutation(len(identification)) % min(folds, len(identification))
    for k in np.unique(part):
        others = fit_kernel(
            [identification[i] for i in np.flatnonzero(part != k).tolist()], length, kernel
        )
        for i in np.flatnonzero(part == k).tolist():
            drawn = draw_poses(identification[i], others, n, random)
            held_out[i] = score(identification[i], others, drawn)
            held_out_positions[i] = score(identification[i], others, drawn, yaw=False)
    table = pd.DataFrame({"toss": [cloud.toss for cloud in test]})
    for level in (RELEASE, MODEL_ERROR):
        scored, positions = [], []
        for cloud in test:
            spread = kernel if level == MODEL_ERROR else smoothing_kernel(cloud)
            drawn = draw_poses(cloud, spread, n, random)
            scored.append(score(cloud, spread, drawn))
            if level == MODEL_ERROR:
                positions.append(score(cloud, spread, drawn, yaw=False))
        table[level] = scored
    # the last level's, which has the model's error
    return Scores(table.assign(position=positions), kernel, held_out, held_out_positions)


def conformal_quantile(held_out: np.ndarray, probability: float) -> float:
    """The score below which conformal regions of a probability reach; 1, everything, where the
    tosses are too few.
    """
    # n + 1: the new toss counts as one more of the same
    rank = int(np.ceil(round((len(held_out) + 1) * probability, 9)))  # rounding must not add a rank
    return float(np.sort(held_out)[rank - 1]) if rank <= len(held_out) else 1.0


def coverage_table(scores: Mapping[str, Scores]) -> pd.DataFrame:
    """How many test tosses the regions cover, by object: a row per level and nominal probability.

    Columns: ``object``, ``level``, ``nominal_pct``, ``covered``, ``n_tosses`` and ``covered_pct``.
    """
    rows = []
    for (name, one), level, probability in product(scores.items(), LEVELS, NOMINAL):
        conformal = level == CONFORMAL
        limit = conformal_quantile(one.held_out, probability) if conformal else probability
        inside = one.table[MODEL_ERROR if conformal else level] <= limit
        about = {"object": name, "level": level, "nominal_pct": 100.0 * probability}
        counts = {"covered": int(inside.sum()), "n_tosses": len(inside)}
        rows.append(about | counts | {"covered_pct": 100.0 * float(inside.mean())})
    return pd.DataFrame(rows)
