"""What printed numbers and statements about simulations are held against: of the stated body, and
of a uniform one.

The uniform body, a homogeneous ellipse with ``J/m = (a^2 + b^2)/4``, is the answer of a simulator
that never heard of J: a check that would take its number as well shows nothing. What only
statements ask about, of motions of its own, is of the stated body alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.output.tables import write_csv
from contactid.planar.identify.cells import fit_options
from contactid.planar.identify.contact_equations import contact_steps, spectrum
from contactid.planar.simulate.bodies import PlanarMotion
from contactid.planar.simulate.geometry import Ground, Shape, contacts
from contactid.planar.simulate.motions import simulate_scene
from contactid.planar.simulate.scenes import Scene, body_of, scene_of
from contactid.planar.simulate.throws import body_and_ground, measured_throw, noise_of, true_motion
from contactid.planar.sweeps.contact_phases import (
    FIRST_PORTION,
    contact_measures,
    penetrations,
    phase_measures,
    restitution_residuals,
)
from contactid.planar.sweeps.gap_motion import gap_motion
from contactid.planar.sweeps.liftoff import liftoff_threshold
from contactid.planar.sweeps.measured import IDENTIFICATION, STATED, UNIFORM, Measure
from contactid.planar.sweeps.peaks import SHOWN_STEPS, first_impact
from contactid.planar.sweeps.penalty import fit_with_one_weight, spread_share

_SHOWN = (1.0, 2.0, 5.0)  # ms: time steps of figures 7 and 10
_WAITED = 1.0  # s: how long lift-off is waited for, to figure 12's end
_CLEARANCE = 0.01  # m: from which gap on a body has left the ground
_FRICTIONS = tuple(np.round(np.linspace(0.1, 0.9, 9), 1))  # of table 1
_RESTITUTIONS = (0.0, 0.2, 0.4, 0.6, 0.8)
_REPEATED_FRICTION = 0.2  # under which restitution is varied, that of figures 17 and 18
# s, friction: the motion whose matrix A of eq. 29 is looked at; it has many steps with contact
_STEPPED = (1e-3, 0.3)
_NOISE = 1e-3  # m and rad: of section 6.1
_RANDOM_THROWS = 20
_RANDOM_SPEEDS = (3.0, 5.0, 20.0)  # m/s, m/s, rad/s: as section 6.1's throw, and turning
_DIGITS = 9  # of a share of velocities: what is left of a gap's root is rounding
_LIMIT_STEP = 1e-5  # s: the motion that stands for the limit of small time steps
_OTHER_RESTITUTION = 0.2  # e_N, the next that figure 13 shows
_COARSE_STEP = 5e-3  # s: of the drop's equations, which then have few steps with contact
_PUSHES = 1e-6  # m/s: a fitted impulse per mass below it is the solver's tolerance
_FRAMES_PER_SECOND = 240.0  # of figure 18
# of eq. 26; the paper's isn't printed. Poses are fitted to their noise with both
_WEIGHTS = (1e3, 1e5)


def write_measures(block: Mapping[str, Any], table: str) -> None:
    """Measure the paper's scenes and section 6.1's throw: ``body, scene, quantity, at, value``.

    ``block`` is the study's block of the configuration.
    """
    bodies = {STATED: block, UNIFORM: with_uniform_bodies(block)}
    rows = [(body, *one) for body, scenes in bodies.items() for one in measures(scenes)]
    of_statements = (
        *penetrations(block),
        *restitution_residuals(body_and_ground(block)[0]),
        *identifiability_measures(block),
        *_gap_motions(block),
        *penalty_measures(block),
    )
    rows += [(STATED, *one) for one in of_statements]
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
    sliding, bouncing = (scene_of(block, name) for name in ("sliding", "restitution"))
    slid, bounced = simulate_scene(sliding), simulate_scene(bouncing)
    threshold = liftoff_threshold(sliding, _WAITED, _CLEARANCE)[0]
    return [
        *_first_impacts(block),
        Measure("sliding", "liftoff_mu", _WAITED, threshold),
        *sliding_measures(slid),
        *contact_measures(sliding, slid, "friction_mu"),
        *bounce_measures(bounced),
        *contact_measures(bouncing, bounced, "restitution_e_n"),
        *_throws(block),
        *_free_directions(block),
    ]


def _first_impacts(block: Mapping[str, Any]) -> Iterator[Measure]:
    for name in ("drop", "throw"):
        scene = scene_of(block, name)
        for h in _SHOWN:
            motion = scene.run(scene.laws[0], time_step=1e-3 * h)
            first, peak, _ = first_impact(motion)
            yield Measure(name, f"{name}_peak_ns", h, peak)
            yield Measure(name, f"{name}_impact_ms", h, 1e3 * float(motion.time[first]))
            yield Measure(name, f"{name}_second", h, strongest(scene, motion)[1])


def sliding_measures(motions: xr.Dataset) -> Iterator[Measure]:
    """By friction: the energy's change, its loss and the spin (rad/s) in the first portion, a
    stretch without loss (s).

    The stretch is the longest within figure 12's time.
    """
    time = motions["time"].values
    total = (motions["kinetic"] + motions["potential"]).values
    lost = (motions["friction"] + motions["restitution"]).values
    early, shown = time <= FIRST_PORTION + 1e-12, time <= _WAITED + 1e-12
    for place, mu in enumerate(motions["friction_mu"].values):
        # (steps,) in which nothing is lost
        kept = np.diff(lost[place, shown]) <= 0.0
        spin = motions["velocity"].values[place, early, 2]
        for quantity, value in (
            ("energy_change_pct", 100.0 * (total[place, -1] / total[place, 0] - 1.0)),
            ("first_loss_j", lost[place, early][-1]),
            ("first_spin_rad_s", spin[-1]),
            ("lossless_s", longest_run(kept) * float(time[1] - time[0])),
        ):
            yield Measure("sliding", f"sliding_{quantity}", float(mu), float(value))


def longest_run(true: np.ndarray) -> int:
    """The largest number of neighbours in a row that are True; ``true`` (n,)."""
    # places that aren't True, one before and one after all
    ends = np.flatnonzero(~np.concatenate([[False], true, [False]]))
    return int(np.diff(ends).max() - 1)


def bounce_measures(motions: xr.Dataset) -> Iterator[Measure]:
    """By restitution: height of the first bounce (m), its loss, the change of all energy, and
    friction's share (%).
    """
    total = (motions["kinetic"] + motions["potential"]).values
    for place, e_n in enumerate(motions["restitution_e_n"].values):
        pushed = motions["impulse_n"].values[place].sum(axis=1) > 0.0
        energy, start = total[place], total[place, 0]
        first = int(np.argmax(pushed))
        # the first state after the impact without a push
        left = first + int(np.argmin(pushed[first:]))
        again = left + int(np.argmax(pushed[left:])) if pushed[left:].any() else len(pushed)
        height = float(motions["position"].values[place, left:again, 1].max())
        friction = float(motions["friction"].values[place, -1])
        for quantity, value in (
            ("height_m", height),
            ("loss_pct", 100.0 * (1.0 - energy[left] / start)),
            ("energy_change_pct", 100.0 * (energy[-1] / start - 1.0)),
            ("friction_pct", 100.0 * friction / start),
        ):
            yield Measure("restitution", f"bounce_{quantity}", float(e_n), float(value))


def _throws(block: Mapping[str, Any]) -> Iterator[Measure]:
    """Section 6.1's throw: which frictions give one motion, what rolling needs, steps with contact
    by restitution.
    """
    body, ground = body_and_ground(block)
    motions = {float(mu): true_motion(block, float(mu)) for mu in _FRICTIONS}
    for mu, motion in motions.items():
        same = min(
            other for other, its in motions.items() if np.array_equal(its.position, motion.position)
        )
        yield Measure(IDENTIFICATION, "throw_same_as_mu", mu, same)
        yield from phase_measures(body, ground, motion, mu)
    # with the most friction nothing slides, so ratios are what sticking needs
    rolling = needed_friction(motions[max(motions)])
    e_n = float(block["identification"]["restitution_e_n"])
    yield Measure(IDENTIFICATION, "rolling_mu", e_n, rolling)
    for e_n in _RESTITUTIONS:
        thrown = {**block, "identification": {**block["identification"], "restitution_e_n": e_n}}
        motion = true_motion(thrown, _REPEATED_FRICTION)
        yield Measure(
            IDENTIFICATION, "throw_contact_steps", e_n, int((motion.impulse_n > 0.0).sum())
        )


def needed_friction(motion: PlanarMotion) -> float:
    """The largest share of a tangential in a normal impulse: with less friction something would
    slide.
    """
    pushed = motion.impulse_n > 0.0
    return float((np.abs(motion.impulse_t[pushed]) / motion.impulse_n[pushed]).max())


def identifiability_measures(block: Mapping[str, Any]) -> Iterator[Measure]:
    """Free directions of eq. 29 in flight, and of throws from random states by their number."""
    h, mu = _STEPPED
    gravity = float(block["gravity"])
    options = {**block["identification"], "time_step": h}
    body, ground = body_and_ground(block)
    random = np.random.default_rng(1)
    for number in range(_RANDOM_THROWS):
        angle = float(random.uniform(-np.pi, np.pi))
        x, y, spin = random.normal(size=3) * _RANDOM_SPEEDS
        start = {
            "position": [0.0, options["position"][1], angle],
            "velocity": [float(x), -abs(float(y)), float(spin)],
        }
        motion = true_motion({**block, "identification": {**options, **start}}, mu)
        pushed = motion.impulse_n[1:] > 0.0
        v = motion.velocity
        if number == 0:
            fallen = int(pushed.any(axis=1).argmax())
            flying = _zero_columns(v[: fallen + 1], h, gravity, body.shape)
            yield Measure(IDENTIFICATION, "flight_free_directions", 0.0, flying)
        free = free_directions(body.shape, ground, motion.position[:-1], v, pushed, h, gravity)
        yield Measure(IDENTIFICATION, "random_free_directions", number, free)


def _zero_columns(v: np.ndarray, h: float, gravity: float, shape: Shape) -> int:
    """How many of m and J have a column of zeros in eq. 29, of velocities v (n, 3) in flight."""
    unit = np.array([1.0, 1.0, np.sqrt(shape.uniform_inertia_ratio)])
    without_gravity = np.diff(v, axis=0) + np.array([0.0, h * gravity, 0.0])
    change = np.abs(without_gravity * unit)
    # what rounding leaves of velocities that size
    rounding = 1e-12 * np.abs(v * unit).max()
    of_mass = change[:, :2].max()
    of_inertia = change[:, 2].max()
    return int(of_mass <= rounding) + int(of_inertia <= rounding)


def _free_directions(block: Mapping[str, Any]) -> Iterator[Measure]:
    """Dimension of the null space of eq. 29's matrix, of poses without and with noise; velocities
    are differences.
    """
    h, mu = _STEPPED
    options = {**block["identification"], "time_step": h}
    motion = true_motion({**block, "identification": options}, mu)
    body, ground = body_and_ground(block)
    # one sample for both sizes
    noise = np.random.default_rng(1).normal(size=motion.position.shape) * _NOISE
    for size in (0.0, 1.0):
        q = motion.position + size * noise
        # differences, as a camera's poses give velocities
        v = np.diff(q, axis=0) / h
        free = free_directions(
            body.shape, ground, q[1:-1], v, motion.impulse_n[2:] > 0.0, h, float(block["gravity"])
        )
        yield Measure(IDENTIFICATION, "free_directions", 1e3 * _NOISE * size, free)


def free_directions(
    shape: Shape,
    ground: Ground,
    q: np.ndarray,
    v: np.ndarray,
    closed: np.ndarray,
    h: float,
    gravity: float,
) -> int:
    """Dimension of the null space of eq. 29's matrix.

    Poses q (n, 3), velocities before each and after the last, v (n + 1, 3), closed contacts (n,
    n_c), time step h (s).
    """
    steps = contact_steps(
        shape, ground, q, v[:-1], v[1:], time_step=h, gravity=gravity, closed=closed
    )
    return spectrum(steps).nullity


def _gap_motions(block: Mapping[str, Any]) -> Iterator[Measure]:
    """The drop and the throw by gap complementarity, first impacts and whole motions; and what the
    drop tells of J.
    """
    drop, throw = scene_of(block, "drop"), scene_of(block, "throw")
    limit = throw.run(throw.laws[0], time_step=_LIMIT_STEP)
    for scene in (drop, throw):
        for h in _SHOWN:
            motion = gap_motion(scene, scene.laws[0], 1e-3 * h)
            _, second, third = strongest(scene, motion)
            for quantity, value in (
                ("peak_ns", first_impact(motion)[1]),
                ("second", second),
                ("third", third),
                ("separation", separation(scene, motion)),
            ):
                yield Measure(scene.name, f"{scene.name}_gap_{quantity}", h, value)
            if scene is throw:
                yield from _motions_apart(scene, motion, limit, h)
    fall, gravity = drop.run(drop.laws[0], time_step=_COARSE_STEP), drop.laws[0].gravity
    states = fall.position[:-1], fall.velocity, fall.impulse_n[1:] > 0.0
    free = free_directions(drop.body.shape, drop.ground, *states, _COARSE_STEP, gravity)
    yield Measure(drop.name, "drop_free_directions", 0.0, free)


def strongest(scene: Scene, motion: PlanarMotion) -> np.ndarray:
    """(3,) largest impulses of a first impact in multiples of what carries the body's weight in a
    step, descending.
    """
    first, impulse = first_impact(motion)[0], motion.impulse_n.sum(axis=1)
    if first < 0:
        return np.full(3, np.nan)
    # N s in a step
    weight = scene.body.mass * scene.laws[0].gravity * float(motion.time[1])
    descending = np.sort(np.append(impulse[first : first + SHOWN_STEPS], [0.0, 0.0]))[::-1]
    return descending[:3] / weight


def separation(scene: Scene, motion: PlanarMotion) -> float:
    """Normal velocity of the contact point after a first impact of two instants, over the
    approach's.

    0 is an inelastic impact, e_N one that obeys Newton's law. NaN where the motion ends before.
    """
    first = first_impact(motion)[0]
    # it takes a velocity before and after both instants
    if not 0 < first < len(motion.time) - 1:
        return np.nan
    rows = contacts(scene.body.shape, scene.ground, motion.position).normal[:, 0]
    along = (rows * motion.velocity).sum(axis=1)
    return round(float(-along[first + 1] / along[first - 1]), _DIGITS)


def _motions_apart(
    scene: Scene, by_gap: PlanarMotion, limit: PlanarMotion, h: float
) -> Iterator[Measure]:
    """How far (m) whole motions with a time step h (ms) are apart.

    Both models from each other and from the limit of small steps; the paper's motion from one with
    another restitution, and from one without friction.
    """
    law = scene.laws[0]
    bouncing = law._replace(restitution_e_n=_OTHER_RESTITUTION)
    frictionless = law._replace(friction_mu=0.0)
    shown, bounced, slid = (
        scene.run(other, time_step=1e-3 * h) for other in (law, bouncing, frictionless)
    )
    for quantity, motion, reference in (
        ("models_apart_m", by_gap, shown),
        ("gap_error_m", by_gap, limit),
        ("restitution_error_m", shown, limit),
        ("other_restitution_apart_m", bounced, shown),
        ("no_friction_apart_m", slid, shown),
    ):
        yield Measure(scene.name, f"throw_{quantity}", h, centres_apart(motion, reference))


def centres_apart(motion: PlanarMotion, reference: PlanarMotion) -> float:
    """Root mean square distance (m) of the centre from its place in another motion at the same
    times.
    """
    there = np.column_stack(
        [np.interp(motion.time, reference.time, reference.position[:, i]) for i in (0, 1)]
    )
    away = motion.position[:, :2] - there
    return float(np.sqrt((away**2).sum(axis=1).mean()))


def penalty_measures(block: Mapping[str, Any]) -> Iterator[Measure]:
    """What eq. 27 with one weight makes of the throw of figure 18."""
    options, (body, ground) = block["identification"], body_and_ground(block)
    motion, duration = true_motion(block, _REPEATED_FRICTION), float(options["duration"])
    sigma = noise_of(block, next(iter(options["noise"])))
    throw = measured_throw(
        motion,
        ground,
        duration=duration,
        frames_per_second=_FRAMES_PER_SECOND,
        sigma=sigma,
        seed=int(options["seed"]),
    )
    # an impact begins where a step pushes and the one before doesn't
    touches = motion.impulse_n[:, 0] > 0.0
    begins = touches & ~np.append(False, touches[:-1]) & (motion.time <= duration)
    impacts = motion.time[begins]

    def least_gap_mm(poses: np.ndarray) -> float:
        return 1e3 * float(contacts(body.shape, ground, poses).gap.min())

    seconds = throw.time[:, None]
    flight = np.add(options["position"], seconds * options["velocity"])
    # the throw as if there were no ground
    flight[:, 1] -= 0.5 * float(block["gravity"]) * throw.time**2
    yield Measure(IDENTIFICATION, "measured_least_gap_mm", 0.0, least_gap_mm(throw.position))
    yield Measure(IDENTIFICATION, "flight_least_gap_mm", 0.0, least_gap_mm(flight))
    for weight in _WEIGHTS:
        fit = fit_with_one_weight(body.shape, throw, fit_options(block), weight=weight)
        q = fit.states.position
        v = fit.states.velocity
        h = float(fit.states.time[1] - fit.states.time[0])
        pushed, gravity = fit.states.impulse_n > _PUSHES, float(block["gravity"])
        yield Measure(IDENTIFICATION, "penalty_residual", weight, fit.residual)
        yield Measure(
            IDENTIFICATION, "penalty_least_gap_mm", weight, 1e3 * float(fit.states.gap.min())
        )
        free = free_directions(body.shape, ground, q[:-1], v, pushed, h, gravity)
        yield Measure(IDENTIFICATION, "penalty_free_directions", weight, free)
        for impact, share in zip(impacts, spread_share(fit.states, impacts), strict=True):
            yield Measure(
                IDENTIFICATION,
                f"penalty_spread_pct_{weight:g}",
                float(impact),
                100.0 * float(share),
            )
