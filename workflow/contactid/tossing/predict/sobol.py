"""Which uncertain input moves the rest pose most: Sobol indices over all of them at once.

Inputs are independent groups of numbers (a velocity has three). The first-order index of a group is the share of the
output's variance that goes with that group alone, ``Var E[f | group] / Var f``; the total index also counts its
interactions with the others, ``E Var[f | all other groups] / Var f``. Estimators: Saltelli et al. (2010), table 2, for
the first order (their b) and Jansen's for the total (their f), over scrambled Sobol points.

Outputs are vectors, whose variance is the sum of their components' variances:

* ``position``: where B's origin comes to rest in the surface, (x, y);
* ``orientation``: the nine elements of R_CB, as half of E|R - R'|^2 = E 8 sin^2(angle / 2) needs neither a common face
  nor an unwrapped angle (small angles: its variance is twice the angle's);
* ``face``: 1 where the box ends on another face than in most runs.

A toss of which some run changes the face is chaotic: a tiny cause turns it by 90 degrees. Averages over tosses weigh by
variance, so a few of them would decide everything. They are therefore given for all tosses, and for the ``steady`` ones
whose runs all end on one face.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import scipy
from scipy.special import ndtri

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.output.fits import read_json
from contactid.output.tables import write_csv
from contactid.tossing.predict.covariance_root import symmetric_root
from contactid.tossing.prepare.preprocess import TEST, upper_face
from contactid.tossing.prepare.tosses import PreparedToss, Problem, Variant, load_problem
from contactid.tossing.simulate.batch import RestPoses, Runs, rest_poses
from contactid.tossing.simulate.box import ContactParameters

# groups of inputs and how many numbers each has
GROUPS = {
    "friction_mu": 1,
    "restitution_e_n": 1,
    "inertia": 3,
    "center_of_mass": 3,
    "tilt": 2,
    "release_velocity": 3,
    "release_position": 3,
    "release_angular_velocity": 3,
    "release_orientation": 3,
}
OUTPUTS = ("position", "orientation", "face")
_N_NUMBERS = sum(GROUPS.values())
_STEADY, _ALL = "steady", "all"


@dataclass(frozen=True)
class InputSpread:
    """How far the inputs are spread around their central values.

    Attributes
    ----------
    friction_mu, restitution_e_n : half-widths of uniform distributions, moved up where they would begin below 0
    inertia : half-width of the uniform relative spread of each principal moment
    center_of_mass : m, standard deviation of each coordinate
    tilt : rad, standard deviation of each slope of the surface
    release : factor on the standard deviations that the flight fit gives the start state
    """

    friction_mu: float = 0.05
    restitution_e_n: float = 0.05
    inertia: float = 0.05
    center_of_mass: float = 1e-3
    tilt: float = 1e-3
    release: float = 1.0


def runs_from_unit(
    unit: np.ndarray, parameters: ContactParameters, covariance: np.ndarray, spread: InputSpread
) -> Runs:
    """Runs for points (n, 22) of the unit cube, columns in the order of ``GROUPS``.

    Velocity and position at release are correlated, and so are angular velocity and orientation. Sobol indices need
    independent inputs: the velocity is drawn first and takes with it the part of the position that goes with it; the
    input ``release_position`` is what is left. That is the error of the position in the middle of the flight.
    """
    columns = dict(zip(GROUPS, np.split(unit, np.cumsum(list(GROUPS.values()))[:-1], axis=1), strict=True))
    normal = {name: ndtri(np.clip(values, 1e-12, 1.0 - 1e-12)) for name, values in columns.items()}
    state = np.empty((len(unit), 12))
    for pose, rate, pose_name, rate_name in (
        (slice(0, 3), slice(6, 9), "release_position", "release_velocity"),
        (slice(3, 6), slice(9, 12), "release_orientation", "release_angular_velocity"),
    ):
        rates = spread.release * normal[rate_name] @ symmetric_root(covariance[rate, rate])
        gain = covariance[pose, rate] @ np.linalg.pinv(covariance[rate, rate])
        left = covariance[pose, pose] - gain @ covariance[rate, pose]
        state[:, pose] = rates @ gain.T + spread.release * normal[pose_name] @ symmetric_root(left)
        state[:, rate] = rates
    return Runs(
        friction_mu=_uniform(columns["friction_mu"][:, 0], parameters.friction_mu, spread.friction_mu, np.inf),
        restitution_e_n=_uniform(
            columns["restitution_e_n"][:, 0], parameters.restitution_e_n, spread.restitution_e_n, 1.0
        ),
        state=state,
        inertia=1.0 + spread.inertia * (2.0 * columns["inertia"] - 1.0),
        center_of_mass=spread.center_of_mass * normal["center_of_mass"],
        tilt=spread.tilt * normal["tilt"],
    )


def _uniform(unit: np.ndarray, center: float, half_width: float, highest: float) -> np.ndarray:
    low = min(max(0.0, center - half_width), highest - 2.0 * half_width)
    return low + 2.0 * half_width * unit


def sobol_terms(f_a: np.ndarray, f_b: np.ndarray, f_ab: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Terms (g, n), (g, n), (n,) of one output of c components.

    ``f_a`` and ``f_b`` (c, n) are its values at two independent samples, ``f_ab`` (g, c, n) those at the first sample
    with one group taken from the second.
    """
    center = 0.5 * (f_a.mean(axis=1) + f_b.mean(axis=1))[:, None]
    a, b, ab = f_a - center, f_b - center, f_ab - center
    return (b * (ab - a)).sum(axis=1), 0.5 * ((a - ab) ** 2).sum(axis=1), 0.5 * (a**2 + b**2).sum(axis=0)


@dataclass(frozen=True)
class TossSensitivity:
    """Terms of which means give one toss's indices, with what became of its runs; n base points, g groups.

    Attributes
    ----------
    toss : name
    first : (output, g, n) whose mean is Var E[f | group]; in the order of ``OUTPUTS`` and ``GROUPS``
    total : (output, g, n) whose mean is E Var[f | the others]
    square : (output, n) whose mean is Var f
    face_changed_pct : runs that end on another face than most do
    unrested_pct : runs that never came to rest; their last pose is used
    failed_steps : contact steps whose solver didn't converge, over all runs
    """

    toss: str
    first: np.ndarray
    total: np.ndarray
    square: np.ndarray
    face_changed_pct: float
    unrested_pct: float
    failed_steps: int

    @property
    def steady(self) -> bool:
        """Every run ends on the same face."""
        return self.face_changed_pct == 0.0

    def sums(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Weighted means (b, output, g), (b, output, g), (b, output) of the terms for weights (b, n) that sum to 1."""
        return (
            np.einsum("bn,ogn->bog", weights, self.first),
            np.einsum("bn,ogn->bog", weights, self.total),
            np.einsum("bn,on->bo", weights, self.square),
        )


def toss_sensitivity(
    problem: Problem,
    item: PreparedToss,
    covariance: np.ndarray,
    parameters: ContactParameters,
    spread: InputSpread,
    n: int,
    seed: int,
) -> TossSensitivity:
    """Simulate ``n (groups + 2)`` runs of one toss; ``n`` is a power of 2, ``covariance`` (12, 12) of its start."""
    if n < 2 or n & (n - 1):
        raise ContactIdError(f"{n} base points of a Sobol sequence are not a power of 2", "Give 256, 512, 1024, ...")
    points = scipy.stats.qmc.Sobol(2 * _N_NUMBERS, scramble=True, rng=np.random.default_rng(seed)).random(n)
    a, b = points[:, :_N_NUMBERS], points[:, _N_NUMBERS:]
    samples, start = [a, b], 0
    for size in GROUPS.values():
        mixed = a.copy()
        mixed[:, start : start + size] = b[:, start : start + size]
        samples.append(mixed)
        start += size
    runs = runs_from_unit(np.concatenate(samples), parameters, covariance, spread)
    toss = item.toss
    pivot = np.array([*item.rest_position[:2], 0.0])
    poses = rest_poses(
        problem.body, toss.start, runs, problem.options, len(toss.position), toss.surface_velocity, pivot
    )
    outputs, changed = _outputs(poses)
    terms = []
    for values in outputs:
        shaped = values.reshape(len(samples), n, -1).transpose(0, 2, 1)
        terms.append(sobol_terms(shaped[0], shaped[1], shaped[2:]))
    first, total, square = (np.stack(parts) for parts in zip(*terms, strict=True))
    return TossSensitivity(
        toss.name,
        first,
        total,
        square,
        face_changed_pct=100.0 * float(changed.mean()),
        unrested_pct=100.0 * float((~poses.rested).mean()),
        failed_steps=int(poses.failed_steps.sum()),
    )


def _outputs(poses: RestPoses) -> tuple[list[np.ndarray], np.ndarray]:
    """Outputs (runs, components) in the order of ``OUTPUTS``, and which runs end on an unusual face (runs,)."""
    faces = upper_face(poses.orientation)
    values, counts = np.unique(faces, return_counts=True)
    changed = faces != values[counts.argmax()]
    matrices = rotations.matrices(poses.orientation).reshape(-1, 9)
    return [poses.position[:, :2], matrices, changed[:, None].astype(float)], changed


def sobol_table(tosses: Sequence[TossSensitivity], *, bootstrap_samples: int = 200, seed: int = 0) -> pd.DataFrame:
    """Indices averaged over tosses with their variances as weights, and 95 % intervals.

    The average is the ratio of sums over tosses: the share of the total variance of all tosses. Intervals: percentile
    bootstrap over tosses and, within each, over base points.

    Returns
    -------
    One row per subset (``all``, ``steady``), output and input: ``first_order``, ``first_order_low``, ``_high``,
    ``total``, ``total_low``, ``_high``; ``standard_deviation`` of the output over its inputs, root mean square over
    tosses (``unit``: mm for the position; degrees for the orientation, good for small angles; 1 for the face);
    ``n_tosses`` and ``n_steady``.
    """
    random = np.random.default_rng(seed)
    sums = []
    for toss in tosses:
        n = toss.square.shape[1]
        weights = random.multinomial(n, np.full(n, 1.0 / n), size=bootstrap_samples) / n
        sums.append(toss.sums(np.vstack([np.full((1, n), 1.0 / n), weights])))
    first, total, square = (np.stack(parts) for parts in zip(*sums, strict=True))  # (toss, 1 + b, ...)
    steady = np.array([toss.steady for toss in tosses])
    rows = []
    for subset, chosen in ((_ALL, np.full(len(tosses), True)), (_STEADY, steady)):
        count = int(chosen.sum())
        if count == 0:
            continue
        picks = random.multinomial(count, np.full(count, 1.0 / count), size=bootstrap_samples)
        picks = np.vstack([np.ones((1, count), dtype=int), picks])
        variance = np.einsum("bt,tbo->bo", picks, square[chosen])
        firsts = np.einsum("bt,tbog->bog", picks, first[chosen])
        totals = np.einsum("bt,tbog->bog", picks, total[chosen])
        for o, output in enumerate(OUTPUTS):
            if variance[0, o] <= 0.0:
                continue
            known = variance[:, o] > 0.0
            spread, unit = _deviation(output, variance[0, o] / count)
            for g, name in enumerate(GROUPS):
                row: dict[str, object] = {"subset": subset, "output": output, "input": name}
                for label, numerators in (("first_order", firsts), ("total", totals)):
                    shares = numerators[known, o, g] / variance[known, o]
                    low, high = np.percentile(shares[1:], [2.5, 97.5])
                    row |= {label: shares[0], f"{label}_low": low, f"{label}_high": high}
                row |= {"standard_deviation": spread, "unit": unit, "n_tosses": count, "n_steady": int(steady.sum())}
                rows.append(row)
    return pd.DataFrame(rows)


def _deviation(output: str, variance: float) -> tuple[float, str]:
    if output == "position":
        return 1e3 * float(np.sqrt(variance)), "mm"
    if output == "orientation":
        return float(np.degrees(np.sqrt(0.5 * variance))), "deg"
    return float(np.sqrt(variance)), "1"


def global_sensitivity(
    problem: Problem,
    covariances: np.ndarray,
    parameters: ContactParameters,
    spread: InputSpread,
    n: int,
    seed: int,
) -> list[TossSensitivity]:
    """:func:`toss_sensitivity` of every toss of a problem, each with its own seed; ``covariances`` (toss, 12, 12)."""
    seeds = np.random.SeedSequence(seed).generate_state(len(problem.tosses))
    return [
        toss_sensitivity(problem, item, covariance, parameters, spread, n, int(toss_seed))
        for item, covariance, toss_seed in zip(problem.tosses, covariances, seeds, strict=True)
    ]


def sobol_indices(
    prepared: str, calibration: str | None, fit: str, variant: dict[str, Any], options: dict[str, Any], indices: str
) -> None:
    """Sobol indices of the rest poses of some of a dataset's test tosses, written as a table.

    ``options`` are ``reach`` (of friction and restitution), ``tosses``, ``samples`` and ``seed``.
    """
    seed = options["seed"]
    problem = load_problem(prepared, calibration, Variant.from_config(variant), TEST).some(options["tosses"], seed)
    parameters = ContactParameters(**read_json(fit)["parameters"])
    spread = InputSpread(friction_mu=options["reach"], restitution_e_n=options["reach"])
    tosses = global_sensitivity(problem, problem.start_covariances(), parameters, spread, options["samples"], seed)
    write_csv(sobol_table(tosses, seed=seed), indices)
