"""What simulated contact looks like, for statements of the paper that have no number of their own:
penetration by time step, sliding and flight, where energy is lost, and restitution at several
points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import xarray as xr

from contactid.planar.simulate.bodies import PlanarBody, PlanarMotion
from contactid.planar.simulate.geometry import Ground, contacts
from contactid.planar.simulate.scenes import Scene, scene_of
from contactid.planar.sweeps.measured import IDENTIFICATION, Measure

FIRST_PORTION = 0.05  # s: of figure 12, in which every friction still slides
_TIME_STEPS = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # ms: figures 7 and 10 show the last three
_IMPACT = 5.0  # a push is an impact where it is this many times what carries the weight in a step
# m: what a step of 1 ms falls; a body that stays on the ground leaves it by rounding, for a step
_TOUCHES = 1e-5
_STICKS = 1e-3  # m/s: a contact point that moves more slowly rolls
_DRAWN = 200  # sets of contact points and velocities


def penetrations(block: Mapping[str, Any]) -> Iterator[Measure]:
    """By time step (ms): the least gap (mm) of the drop and the throw, negative in the ground."""
    for name in ("drop", "throw"):
        scene = scene_of(block, name)
        for h in _TIME_STEPS:
            motion = scene.run(scene.laws[0], time_step=1e-3 * h)
            yield Measure(name, f"{name}_least_gap_mm", h, 1e3 * float(motion.gap.min()))


def contact_measures(scene: Scene, motions: xr.Dataset, along: str) -> Iterator[Measure]:
    """By run: the least slip (m/s) in the first portion, and the share of all loss (%) that isn't
    lost in impacts.

    ``along`` names the run's friction or restitution. The slip is 0 where nothing touches; the
    share of a motion that loses nothing is NaN.
    """
    time = motions["time"].values
    # a multiple of the time step is rounded
    early = time <= FIRST_PORTION + 1e-12
    weight = scene.body.mass * float(motions.attrs["gravity"]) * float(time[1] - time[0])
    lost = (motions["friction"] + motions["restitution"]).values
    for place, at in enumerate(motions[along].values):
        pushes = motions["impulse_n"].values[place].sum(axis=1)
        slip = slip_speed(
            scene.body, scene.ground, motions["position"][place], motions["velocity"][place]
        )
        touches = motions["gap"].values[place].min(axis=1) <= _TOUCHES
        slides = np.where(touches, slip, 0.0)
        losses = np.diff(lost[place], prepend=0.0)
        in_impacts = losses[pushes > _IMPACT * weight].sum()
        whole = losses.sum()
        elsewhere = 100.0 * (1.0 - in_impacts / whole) if whole > 0.0 else np.nan
        for quantity, value in (
            ("first_slip_m_s", slides[early].min()),
            ("lost_elsewhere_pct", elsewhere),
        ):
            yield Measure(scene.name, f"{scene.name}_{quantity}", float(at), float(value))


def slip_speed(body: PlanarBody, ground: Ground, q: Any, v: Any) -> np.ndarray:
    """(n,) speed (m/s) along the ground of the first contact point, of poses and velocities
    (n, 3).
    """
    tangent = contacts(body.shape, ground, np.asarray(q)).tangent[:, 0]
    return np.abs((tangent * np.asarray(v)).sum(axis=1))


def phase_measures(
    body: PlanarBody, ground: Ground, motion: PlanarMotion, at: float
) -> Iterator[Measure]:
    """How long (ms) a throw flies, slides and rolls; ``at`` is its friction."""
    touches = motion.gap.min(axis=1) <= _TOUCHES
    slides = slip_speed(body, ground, motion.position, motion.velocity) > _STICKS
    step = 1e3 * float(motion.time[1] - motion.time[0])
    for phase, states in (
        ("flying", ~touches),
        ("sliding", touches & slides),
        ("rolling", touches & ~slides),
    ):
        yield Measure(IDENTIFICATION, f"throw_{phase}_ms", at, step * int(states.sum()))


def restitution_residuals(body: PlanarBody) -> Iterator[Measure]:
    """How far impulses at 2 and 3 contact points are from giving each its restitution.

    Points over flat ground and velocities are random. The measure is the median residual of
    ``N v+ = -e N v-`` over the demanded changes, by number of points: with one restitution for all
    of them, as the paper has it, and with one for each.
    """
    random = np.random.default_rng(1)
    mobility = np.diag([1.0 / body.mass, 1.0 / body.mass, 1.0 / body.inertia])
    reach = np.sqrt(body.inertia / body.mass)  # m: points about as far as the radius of gyration
    for points in (2, 3):
        residual: dict[str, list[float]] = {"one": [], "own": []}
        for _ in range(_DRAWN):
            lever = reach * random.normal(size=points)
            # (points, 3) columns of N for a ground that points up
            rows = np.column_stack([np.zeros(points), np.ones(points), lever])
            before = rows @ (random.normal(size=3) / [1.0, 1.0, reach])
            own = random.uniform(0.0, 1.0, points)
            for name, e_n in (("one", own[0]), ("own", own)):
                change = -(1.0 + e_n) * before
                matrix = rows @ mobility @ rows.T
                impulses = np.linalg.lstsq(matrix, change, rcond=1e-9)[0]
                away = np.linalg.norm(matrix @ impulses - change)
                residual[name].append(float(away / np.linalg.norm(change)))
        for name, values in residual.items():
            quantity = f"residual_{name}_restitution"
            yield Measure(IDENTIFICATION, quantity, points, round(float(np.median(values)), 9))
