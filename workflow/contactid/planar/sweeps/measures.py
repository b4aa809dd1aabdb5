"""What printed numbers and statements about simulations are held against: of the stated body, and of a uniform one.

The uniform body, a homogeneous ellipse with ``J/m = (a^2 + b^2)/4``, is the answer of a simulator that never heard of
J: a check that would take its number as well shows nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr

from contactid.output.tables import write_csv
from contactid.planar.identify.contact_equations import contact_steps, spectrum
from contactid.planar.simulate.bodies import PlanarMotion
from contactid.planar.simulate.motions import simulate_scene
from contactid.planar.simulate.scenes import body_of, scene_of
from contactid.planar.simulate.throws import body_and_ground, true_motion
from contactid.planar.sweeps.liftoff import liftoff_threshold
from contactid.planar.sweeps.peaks import first_impact

STATED, UNIFORM = "stated", "uniform"
_SHOWN = (1.0, 2.0, 5.0)  # ms: time steps of figures 7 and 10
_WAITED = 1.0  # s: how long lift-off is waited for, to figure 12's end
_CLEARANCE = 0.01  # m: from which gap on a body has left the ground
_FIRST_PORTION = 0.05  # s: of figure 12, in which every friction still slides
_FRICTIONS = tuple(np.round(np.linspace(0.1, 0.9, 9), 1))  # of table 1
_RESTITUTIONS = (0.0, 0.2, 0.4, 0.6, 0.8)
_REPEATED_FRICTION = 0.2  # under which restitution is varied, that of figures 17 and 18
_STEPPED = 1e-3, 0.3  # s, friction: the motion whose matrix A of eq. 29 is looked at; it has many steps with contact
_NOISE = 1e-3  # m and rad: of section 6.1


class Measure(NamedTuple):
    """A value of a quantity; ``at`` is the time step (ms), duration (s), mu, e_N or noise (mm) that it belongs to."""

    quantity: str
    at: float
    value: float


def write_measures(block: Mapping[str, Any], table: str) -> None:
    """Measure the paper's scenes and section 6.1's throw with both bodies: ``body, quantity, at, value``.

    ``block`` is the study's block of the configuration.
    """
    bodies = {STATED: block, UNIFORM: with_uniform_bodies(block)}
    rows = [(body, *one) for body, scenes in bodies.items() for one in measures(scenes)]
    write_csv(pd.DataFrame(rows, columns=["body", *Measure._fields]), table)


def with_uniform_bodies(block: Mapping[str, Any]) -> dict[str, Any]:
    """The block with the moments of inertia of homogeneous bodies."""
    bodies = {}
    for name, body in block["bodies"].items():
        shape = body_of(block, name, "planar").shape
        bodies[name] = {**body, "inertia": float(body["mass"]) * shape.uniform_inertia_ratio}
    return {**block, "bodies": bodies}


def measures(block: Mapping[str, Any]) -> list[Measure]:
    """Everything that is measured, with the block's bodies."""
    return [
        *_first_impacts(block),
        _liftoff(block),
        *sliding_measures(simulate_scene(scene_of(block, "sliding"))),
        *bounce_measures(simulate_scene(scene_of(block, "restitution"))),
        *_throws(block),
        *_free_directions(block),
    ]


def _first_impacts(block: Mapping[str, Any]) -> Iterator[Measure]:
    for name in ("drop", "throw"):
        scene = scene_of(block, name)
        for h in _SHOWN:
            motion = scene.run(scene.laws[0], time_step=1e-3 * h)
            first, peak, _ = first_impact(motion)
            yield Measure(f"{name}_peak_ns", h, peak)
            yield Measure(f"{name}_impact_ms", h, 1e3 * float(motion.time[first]))


def _liftoff(block: Mapping[str, Any]) -> Measure:
    return Measure("liftoff_mu", _WAITED, liftoff_threshold(scene_of(block, "sliding"), _WAITED, _CLEARANCE)[0])


def sliding_measures(motions: xr.Dataset) -> Iterator[Measure]:
    """By friction: the energy's change, its loss in the first portion (J), and its longest stretch without loss (s).

    The stretch lies within figure 12's time.
    """
    time = motions["time"].values
    total = (motions["kinetic"] + motions["potential"]).values
    lost = (motions["friction"] + motions["restitution"]).values
    early, shown = time <= _FIRST_PORTION + 1e-12, time <= _WAITED + 1e-12
    for place, mu in enumerate(motions["friction_mu"].values):
        kept = np.diff(lost[place, shown]) <= 0.0
        yield Measure("sliding_energy_change_pct", float(mu), 100.0 * (total[place, -1] / total[place, 0] - 1.0))
        yield Measure("sliding_first_loss_j", float(mu), float(lost[place, early][-1]))
        yield Measure("sliding_lossless_s", float(mu), longest_run(kept) * float(time[1] - time[0]))


def longest_run(true: np.ndarray) -> int:
    """The largest number of neighbours in a row that are True; ``true`` (n,)."""
    ends = np.flatnonzero(~np.concatenate([[False], true, [False]]))
    return int(np.diff(ends).max() - 1)


def bounce_measures(motions: xr.Dataset) -> Iterator[Measure]:
    """By restitution: height of the first bounce (m), its loss, the change of all energy, and friction's share (%)."""
    total = (motions["kinetic"] + motions["potential"]).values
    for place, e_n in enumerate(motions["restitution_e_n"].values):
        pushed = motions["impulse_n"].values[place].sum(axis=1) > 0.0
        energy, start = total[place], total[place, 0]
        first = int(np.argmax(pushed))
        left = first + int(np.argmin(pushed[first:]))
        again = left + int(np.argmax(pushed[left:])) if pushed[left:].any() else len(pushed)
        height = float(motions["position"].values[place, left:again, 1].max())
        friction = float(motions["friction"].values[place, -1])
        yield Measure("bounce_height_m", float(e_n), height)
        yield Measure("bounce_loss_pct", float(e_n), 100.0 * (1.0 - energy[left] / start))
        yield Measure("bounce_energy_change_pct", float(e_n), 100.0 * (energy[-1] / start - 1.0))
        yield Measure("bounce_friction_pct", float(e_n), 100.0 * friction / start)


def _throws(block: Mapping[str, Any]) -> Iterator[Measure]:
    """Section 6.1's throw: which frictions give one motion, what rolling needs, steps with contact by restitution."""
    motions = {float(mu): true_motion(block, float(mu)) for mu in _FRICTIONS}
    for mu, motion in motions.items():
        same = min(other for other, its in motions.items() if np.array_equal(its.position, motion.position))
        yield Measure("throw_same_as_mu", mu, same)
    yield Measure(
        "rolling_mu", float(block["identification"]["restitution_e_n"]), needed_friction(motions[max(motions)])
    )
    for e_n in _RESTITUTIONS:
        thrown = {**block, "identification": {**block["identification"], "restitution_e_n": e_n}}
        motion = true_motion(thrown, _REPEATED_FRICTION)
        yield Measure("throw_contact_steps", e_n, int((motion.impulse_n > 0.0).sum()))


def needed_friction(motion: PlanarMotion) -> float:
    """The largest share of a tangential in a normal impulse: with less friction something would slide."""
    pushed = motion.impulse_n > 0.0
    return float((np.abs(motion.impulse_t[pushed]) / motion.impulse_n[pushed]).max())


def _free_directions(block: Mapping[str, Any]) -> Iterator[Measure]:
    """Dimension of the null space of eq. 29's matrix, of poses without and with noise; velocities are differences."""
    h, mu = _STEPPED
    options = {**block["identification"], "time_step": h}
    motion = true_motion({**block, "identification": options}, mu)
    body, ground = body_and_ground(block)
    noise = np.random.default_rng(1).normal(size=motion.position.shape) * _NOISE
    for size in (0.0, 1.0):
        q = motion.position + size * noise
        v = np.diff(q, axis=0) / h
        steps = contact_steps(
            body.shape, ground, q[1:-1], v[:-1], v[1:],
            time_step=h, gravity=float(block["gravity"]), closed=motion.impulse_n[2:] > 0.0,
        )  # fmt: skip
        yield Measure("free_directions", 1e3 * _NOISE * size, spectrum(steps).nullity)
