"""Which uncertain input moves the rest pose most: Sobol indices over all of them at once.

Inputs are independent groups of numbers (a velocity has three). The first-order index of a group is
the share of the output's variance that goes with that group alone, ``Var E[f | group] / Var f``;
the total index also counts its interactions with the others, ``E Var[f | all other groups] / Var
f``. Estimators: Saltelli et al. (2010), table 2, for the first order (their b) and Jansen's for the
total (their f), over scrambled Sobol points.

Outputs are vectors, whose variance is the sum of their components' variances:

* ``position``: where B's origin comes to rest in the surface, (x, y);
* ``orientation``: the nine elements of R_CB, as half of E|R - R'|^2 = E 8 sin^2(angle / 2) needs
  neither a common face nor an unwrapped angle (small angles: its variance is twice the angle's).

A toss of which some run changes the face is chaotic: a tiny cause turns it by 90 degrees. Averages
over tosses weigh by variance, so a few of them would decide everything. Those of the orientation
are therefore over the tosses whose runs all end on one face.
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
from contactid.tossing.prepare.preprocess import TEST, upper_face
from contactid.tossing.prepare.tosses import (
    PreparedToss,
    Problem,
    Variant,
    load_problem,
    simulated_rests,
)
from contactid.tossing.simulate.batch import Runs, symmetric_root
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
OUTPUTS = ("position", "orientation")
_N_NUMBERS = sum(GROUPS.values())
_BOOTSTRAP = 200
# unit of an output, and the factor from the root of its variance; an angle's variance is half of
# its matrix's
_UNITS = {
    "position": ("mm", 1e3),
    "orientation": ("deg", np.degrees(np.sqrt(0.5))),
}


@dataclass(frozen=True)
class InputSpread:
    """How far the inputs are spread around their central values."""

    # friction_mu, restitution_e_n: half-widths of uniform distributions, moved up where they would
    # begin below 0
    friction_mu: float = 0.05
    restitution_e_n: float = 0.05
    inertia: float = 0.05  # half-width of the uniform relative spread of each principal moment
    center_of_mass: float = 1e-3  # m, standard deviation of each coordinate
    tilt: float = 1e-3  # rad, standard deviation of each slope of the surface
    # factor on the standard deviations that the flight fit gives the start state
    release: float = 1.0


def runs_from_unit(
    unit: np.ndarray, parameters: ContactParameters, covariance: np.ndarray, spread: InputSpread
) -> Runs:
    """Runs for points (n, 22) of the unit cube, columns in the order of ``GROUPS``.

    Velocity and position at release are correlated, and so are angular velocity and orientation.
    Sobol indices need independent inputs: the velocity is drawn first and takes with it the part of
    the position that goes with it; the input ``release_position`` is what is left. That is the
    error of the position in the middle of the flight.
    """
    columns = dict(
        zip(GROUPS, np.split(unit, np.cumsum(list(GROUPS.values()))[:-1], axis=1), strict=True)
    )
    # a Sobol point may be 0, which no normal number is
    normal = {name: ndtri(np.clip(values, 1e-12, 1.0 - 1e-12)) for name, values in columns.items()}
    state = np.empty((len(unit), 12))
    for pose, rate, pose_name, rate_name in (
        (slice(0, 3), slice(6, 9), "release_position", "release_velocity"),
        (slice(3, 6), slice(9, 12), "release_orientation", "release_angular_velocity"),
    ):
        rates = spread.release * normal[rate_name] @ symmetric_root(covariance[rate, rate])
        # regression of the pose on the rate: what goes with it
        gain = covariance[pose, rate] @ np.linalg.pinv(covariance[rate, rate])
        left = covariance[pose, pose] - gain @ covariance[rate, pose]
        state[:, pose] = rates @ gain.T + spread.release * normal[pose_name] @ symmetric_root(left)
        state[:, rate] = rates
    friction, restitution = (columns[name][:, 0] for name in ("friction_mu", "restitution_e_n"))
    return Runs(
        friction_mu=_uniform(friction, parameters.friction_mu, spread.friction_mu, np.inf),
        restitution_e_n=_uniform(
            restitution, parameters.restitution_e_n, spread.restitution_e_n, 1.0
        ),
        state=state,
        inertia=1.0 + spread.inertia * (2.0 * columns["inertia"] - 1.0),
        center_of_mass=spread.center_of_mass * normal["center_of_mass"],
        tilt=spread.tilt * normal["tilt"],
    )


def _uniform(unit: np.ndarray, center: float, half_width: float, highest: float) -> np.ndarray:
    # moved, not cut, at a bound: all inputs keep their spread
    low = min(max(0.0, center - half_width), highest - 2.0 * half_width)
    return low + 2.0 * half_width * unit


def sobol_terms(
    f_a: np.ndarray, f_b: np.ndarray, f_ab: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Terms (g, n), (g, n), (n,) of one output of c components.

    ``f_a`` and ``f_b`` (c, n) are its values at two independent samples, ``f_ab`` (g, c, n) those
    at the first sample with one group taken from the second.
    """
    # less their mean, which adds noise to the estimate of the first order and nothing to the index
    center = 0.5 * (f_a.mean(axis=1) + f_b.mean(axis=1))[:, None]
    a, b, ab = f_a - center, f_b - center, f_ab - center
    return (
        (b * (ab - a)).sum(axis=1),
        0.5 * ((a - ab) ** 2).sum(axis=1),
        0.5 * (a**2 + b**2).sum(axis=0),
    )


@dataclass(frozen=True)
class TossSensitivity:
    """Terms of which means give one toss's indices, by ``OUTPUTS`` (o), ``GROUPS`` (g) and base
    points (n).
    """

    first: np.ndarray  # (o, g, n) whose mean is Var E[f | group]
    total: np.ndarray  # (o, g, n) whose mean is E Var[f | the others]
    square: np.ndarray  # (o, n) whose mean is Var f
    steady: bool  # whether every run ends on the same face


def toss_sensitivity(
    problem: Problem,
    item: PreparedToss,
    covariance: np.ndarray,
    parameters: ContactParameters,
    spread: InputSpread,
    n: int,
    seed: int,
) -> TossSensitivity:
    """Simulate ``n (groups + 2)`` runs of one toss; ``n`` is a power of 2, ``covariance`` (12, 12)
    of its start.

    Of a run that never comes to rest the last pose counts.
    """
    if n < 2 or n & (n - 1):
        raise ContactIdError(
            f"{n} base points of a Sobol sequence are not a power of 2", "Give 256, 512, 1024, ..."
        )
    points = scipy.stats.qmc.Sobol(
        2 * _N_NUMBERS, scramble=True, rng=np.random.default_rng(seed)
    ).random(n)
    # one sequence of twice the numbers gives two independent samples
    a, b = points[:, :_N_NUMBERS], points[:, _N_NUMBERS:]
    group_of = np.repeat(np.arange(len(GROUPS)), list(GROUPS.values()))
    # of the first sample, one group at a time from the second
    mixed = [np.where(group_of == group, b, a) for group in range(len(GROUPS))]
    runs = runs_from_unit(np.concatenate([a, b, *mixed]), parameters, covariance, spread)
    # the surface tilts about where the body rests, so that a tilt isn't a shift of height there
    pivot = np.array([*item.rest_position[:2], 0.0])
    poses = simulated_rests(problem, item.toss, runs, pivot)
    terms = []
    for values in (poses.position[:, :2], rotations.matrices(poses.orientation).reshape(-1, 9)):
        # (2 + g, c, n)
        by_sample = values.reshape(2 + len(GROUPS), n, -1).transpose(0, 2, 1)
        terms.append(sobol_terms(by_sample[0], by_sample[1], by_sample[2:]))
    first, total, square = (np.stack(parts) for parts in zip(*terms, strict=True))
    return TossSensitivity(
        first, total, square, steady=len(np.unique(upper_face(poses.orientation))) == 1
    )


def sobol_table(
    tosses: Sequence[TossSensitivity], *, bootstrap_samples: int = _BOOTSTRAP, seed: int = 0
) -> pd.DataFrame:
    """Indices averaged over tosses with their variances as weights, and 95 % intervals.

    The average is the ratio of sums over tosses: the share of the total variance of all tosses.
    Intervals: percentile bootstrap over tosses and, within each, over base points.

    Returns one row per output and input: ``first_order``, ``first_order_low``, ``_high``,
    ``total``, ``total_low``, ``_high``; ``standard_deviation`` of the output over its inputs, root
    mean square over tosses (``unit``: mm for the position; degrees for the orientation, good for
    small angles); ``n_tosses`` that count.
    """
    random = np.random.default_rng(seed)
    n = tosses[0].square.shape[1]
    # the first row weighs all alike, the others are draws, of each toss's own base points
    weights = np.stack([_resampled(random, n, bootstrap_samples) / n for _ in tosses])
    first, total = (
        np.einsum("tbn,togn->tbog", weights, np.stack([getattr(toss, name) for toss in tosses]))
        for name in ("first", "total")
    )
    square = np.einsum("tbn,ton->tbo", weights, np.stack([toss.square for toss in tosses]))
    steady = np.array([toss.steady for toss in tosses])
    tables = []
    for o, (output, chosen) in enumerate(zip(OUTPUTS, (np.ones_like(steady), steady), strict=True)):
        count = int(chosen.sum())
        if not count:
            continue
        # then the tosses
        picks = _resampled(random, count, bootstrap_samples)
        variance = np.einsum("bt,tb->b", picks, square[chosen, :, o])
        if variance[0] <= 0.0:
            continue
        # a resample may hold only tosses that nothing moves
        varies = variance > 0.0
        table = pd.DataFrame({"output": output, "input": list(GROUPS)})
        for label, part in (("first_order", first), ("total", total)):
            sums = np.einsum("bt,tbg->bg", picks, part[chosen, :, o])
            shares = sums[varies] / variance[varies, None]
            table[label] = shares[0]
            table[f"{label}_low"], table[f"{label}_high"] = np.percentile(
                shares[1:], [2.5, 97.5], axis=0
            )
        unit, factor = _UNITS[output]
        table["standard_deviation"] = factor * float(np.sqrt(variance[0] / count))
        tables.append(table.assign(unit=unit, n_tosses=count))
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()


def _resampled(random: np.random.Generator, n: int, samples: int) -> np.ndarray:
    """How often each of n is drawn (1 + samples, n); once each in the first row."""
    draws = random.multinomial(n, np.full(n, 1.0 / n), size=samples)
    return np.vstack([np.ones((1, n), dtype=draws.dtype), draws])


def global_sensitivity(
    problem: Problem, parameters: ContactParameters, spread: InputSpread, n: int, seed: int
) -> list[TossSensitivity]:
    """:func:`toss_sensitivity` of every toss of a problem, each with its own seed."""
    seeds = np.random.SeedSequence(seed).generate_state(len(problem.tosses))
    return [
        toss_sensitivity(problem, item, item.covariance, parameters, spread, n, int(toss_seed))
        for item, toss_seed in zip(problem.tosses, seeds, strict=True)
    ]


def sobol_indices(
    prepared: str,
    calibration: str | None,
    fit: str,
    variant: dict[str, Any],
    options: dict[str, Any],
    indices: str,
) -> None:
    """Sobol indices of the rest poses of some of a dataset's test tosses, written as a table.

    ``options`` are ``reach`` (of friction and restitution), ``tosses``, ``samples`` and ``seed``.
    """
    seed = options["seed"]
    problem = load_problem(prepared, calibration, Variant.from_config(variant), TEST).some(
        options["tosses"], seed
    )
    parameters = ContactParameters(**read_json(fit)["parameters"])
    spread = InputSpread(friction_mu=options["reach"], restitution_e_n=options["reach"])
    tosses = global_sensitivity(problem, parameters, spread, options["samples"], seed)
    write_csv(sobol_table(tosses, seed=seed), indices)
