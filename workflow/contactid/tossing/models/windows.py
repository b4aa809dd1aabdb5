"""Friction and restitution from short windows of measured poses around the first contacts, by direct transcription.

A window begins in flight, shortly before the first contact, and ends some tens of samples later. Unknowns: the whole
motion of every window, all contact impulses, and mu and e_N, which the windows share. Moreau's midpoint scheme (eqs.
3 to 11, tossing paper; :mod:`contactid.tossing.simulate.box_kernel`) ties them together, with one or more steps per
sample.

The measured poses are good to a fraction of a millimetre, which is nothing beside a box's arms. So everything that
multiplies twists or impulses is taken from them: the arms ``r`` at the middle of a step, the inertia ``I_k`` in C, and
which corners may touch in a step. The dynamics become *linear* in the unknowns. With the deviations ``dp_k`` (m) and
``dt_k`` (rad, in C) of the model's pose from the measured one, velocity ``v`` of the centre of mass and spin ``w`` in
C,

    dp_{k+1} = dp_k + h (v_k + v_{k+1}) / 2 - (c~_{k+1} - c~_k)
    dt_{k+1} = E_k dt_k + h J_k ((w_k + w_{k+1}) / 2 - w~_k),      E_k = R~_{k+1} R~_k^T = exp(h w~_k)
    m (v_{k+1} - v_k) = m h g + sum P,        I_{k+1} w_{k+1} - I_k w_k = sum r x P

(tildes are measured; J is the left Jacobian of the rotation group). Angular momentum in C has no gyroscopic term. What
stays nonlinear is the contact law: ``0 <= N perp xi_N >= 0`` with ``xi_N = gamma^+ + e_N gamma^-``, and the friction
disk as in :mod:`contactid.tossing.models.impacts`.

A corner may touch in a step where its measured path dips below a margin and doesn't go on falling
(:func:`contactid.tossing.prepare.poses.touching_corners`). The impact law lets no corner that may touch go on falling,
so a step too early makes the impact early, and restitution too low by as much. Taking contact from the data,
not from the model's own gap, is what spares the second layer of complementarity (gap against restitution) and keeps a
wrong mu from changing who touches when.

Objective: half the squares of dp and dt over standard deviations that stand for the scheme's error too: contact closes
at grid times only, an error of the order of h times the impact speed over two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyomo.environ as pyo  # type: ignore[import-untyped]

from contactid.core import rotations
from contactid.core.complementarity import Pair
from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties
from contactid.tossing.impacts.impact import cross_matrix
from contactid.tossing.prepare.poses import touching_corners
from contactid.tossing.simulate.sweep import MeasuredToss

_AFTER, _LONGEST_STEP = 0.07, 2e-3  # s
_MARGIN = 0.0005  # m, height below which a corner may touch
_POSITION_DEVIATION, _ROTATION_DEVIATION = 0.001, 0.01  # m and rad per axis and sample
_SPEED = 0.3  # m/s: scale of contact velocities
_LEAST_IMPULSE = 1e-3  # weight of impulses squared (scaled): makes those of hyperstatic contacts unique


@dataclass(frozen=True)
class WindowOptions:
    """How to cut windows.

    Attributes
    ----------
    before, after : samples before and after the first one in which a corner may touch
    substeps : steps per sample
    largest_mu : bound
    """

    before: int = 4
    after: int = 24
    substeps: int = 2
    largest_mu: float = 2.0


def options_for(time_step: float) -> WindowOptions:
    """Windows of 0.07 s after the first contact in steps of at most 2 ms, whatever the time between samples (s).

    The scheme's error per contact is about a step times the impact speed over two; longer windows let mu drift.
    """
    return WindowOptions(
        after=max(round(_AFTER / time_step), 6), substeps=max(int(np.ceil(time_step / _LONGEST_STEP)), 2)
    )


@dataclass(frozen=True)
class Window:
    """Poses of one toss at n instants, one step apart, and which of the v corners may touch in each step; all in C.

    Attributes
    ----------
    toss : recording
    position, orientation : (n, 3) m and (n, 4), origin of B; interpolated between samples
    measured : (n,) whether the instant is a sample
    touching : (n - 1, v)
    surface_velocity : (3,) m/s
    """

    toss: str
    position: np.ndarray
    orientation: np.ndarray
    measured: np.ndarray
    touching: np.ndarray
    surface_velocity: np.ndarray


@dataclass(frozen=True)
class WindowModel:
    """A built model with its pairs, at a start that follows the measured motion.

    Attributes
    ----------
    model : Pyomo model with variables mu and e_n
    pairs : complementarity pairs, dimensionless
    contacts : (window, step, corner) of every possible contact
    impulse_scale : N s
    """

    model: pyo.ConcreteModel
    pairs: list[Pair]
    contacts: list[tuple[int, int, int]]
    impulse_scale: float

    @property
    def parameters(self) -> tuple[float, float]:
        """(mu, e_N) at the model's present point."""
        return float(self.model.mu.value), float(self.model.e_n.value)

    def sliding(self) -> int:
        """Contacts that carry load and slide (faster than 1 cm/s) at the model's present point."""
        m = self.model
        return sum(m.normal[c].value > 1e-4 and m.slip[c].value * _SPEED > 0.01 for c in range(len(self.contacts)))

    def start_at(self, mu: float, e_n: float) -> None:
        """Set the parameters; the motion stays as it is."""
        self.model.mu.set_value(mu)
        self.model.e_n.set_value(e_n)


def cut_windows(body: BodyProperties, tosses: Sequence[MeasuredToss], options: WindowOptions) -> list[Window]:
    """One window per toss, around its first contact; a toss that is too short for one has none."""
    windows = []
    for toss in tosses:
        turned = rotations.matrices(toss.orientation)
        heights = toss.position[:, 2:] + turned[:, 2, :] @ body.vertices.T
        touching = touching_corners(heights, _MARGIN, options.substeps)
        steps = np.flatnonzero(touching.any(axis=1)) // options.substeps
        if len(steps) == 0:
            continue
        start = max(int(steps[0]) - options.before, 0)
        stop = int(steps[0]) + options.after + 1
        if stop > len(toss.position):
            continue
        part = slice(start, stop)
        position, orientation = _interpolated(toss.position[part], toss.orientation[part], options.substeps)
        windows.append(
            Window(
                toss.name,
                position,
                orientation,
                np.arange(len(position)) % options.substeps == 0,
                touching[start * options.substeps : (stop - 1) * options.substeps],
                np.asarray(toss.surface_velocity, dtype=float),
            )
        )
    return windows


def _interpolated(position: np.ndarray, orientation: np.ndarray, substeps: int) -> tuple[np.ndarray, np.ndarray]:
    """Poses with ``substeps - 1`` more between neighbours, along straight lines and constant turns."""
    n = len(position)
    times = np.arange((n - 1) * substeps + 1) / substeps
    index = np.minimum(times.astype(int), n - 2)
    share = (times - index)[:, None]
    rotation = rotations.as_rotation(orientation)
    turns = (rotation[1:] * rotation[:-1].inv()).as_rotvec()
    turned = rotations.Rotation.from_rotvec(share * turns[index]) * rotation[index]
    return position[index] + share * (position[index + 1] - position[index]), rotations.as_quaternions(turned)


@dataclass(frozen=True)
class _Motion:
    """The measured motion of one window as coefficients; n samples, v corners, in C."""

    center: np.ndarray  # (n, 3)
    inertia: np.ndarray  # (n, 3, 3)
    arms: np.ndarray  # (n - 1, v, 3) at the middle of the steps, from the centre of mass
    turn: np.ndarray  # (n - 1, 3, 3) E
    spin: np.ndarray  # (n - 1, 3) w~
    jacobian: np.ndarray  # (n - 1, 3, 3) J
    velocity: np.ndarray  # (n, 3) a first guess at the samples
    spin_guess: np.ndarray  # (n, 3)


def _motion(body: BodyProperties, window: Window, h: float) -> _Motion:
    rotation = rotations.as_rotation(window.orientation)
    matrices = rotation.as_matrix()
    center = window.position + matrices @ body.center_of_mass
    step = rotation[1:] * rotation[:-1].inv()
    vector = step.as_rotvec()
    middle = (rotations.Rotation.from_rotvec(0.5 * vector) * rotation[:-1]).as_matrix()
    arms = np.einsum("kij,vj->kvi", middle, body.vertices - body.center_of_mass)
    velocity = np.diff(center, axis=0) / h
    return _Motion(
        center=center,
        inertia=matrices @ body.inertia @ np.swapaxes(matrices, 1, 2),
        arms=arms,
        turn=step.as_matrix(),
        spin=vector / h,
        jacobian=np.stack([_left_jacobian(row) for row in vector]),
        velocity=_at_samples(velocity),
        spin_guess=_at_samples(vector / h),
    )


def _at_samples(rates: np.ndarray) -> np.ndarray:
    """(n, 3) rates at samples from (n - 1, 3) over steps."""
    return np.vstack([rates[:1], 0.5 * (rates[1:] + rates[:-1]), rates[-1:]])


def _left_jacobian(vector: np.ndarray) -> np.ndarray:
    """Left Jacobian of the exponential map at a rotation vector below 1 rad, by its series (error below 1e-4)."""
    k = cross_matrix(vector)
    return np.eye(3) + k / 2.0 + k @ k / 6.0 + k @ k @ k / 24.0 + k @ k @ k @ k / 120.0


def build_window_model(
    body: BodyProperties,
    windows: Sequence[Window],
    time_step: float,
    gravity: Sequence[float],
    options: WindowOptions,
) -> WindowModel:
    """Write the model of all windows and start it on the measured motion.

    Parameters
    ----------
    time_step
        s of a step: the samples' distance over the substeps.
    gravity
        (3,) m/s2 in C.
    """
    if not windows:
        raise ContactIdError("there is no window to identify from", "Take longer tosses or a shorter window")
    model = pyo.ConcreteModel(name="windows")
    model.mu = pyo.Var(bounds=(0.0, options.largest_mu), initialize=0.3)
    model.e_n = pyo.Var(bounds=(0.0, 1.0), initialize=0.3)
    contacts = [
        (w, int(k), int(i))
        for w, window in enumerate(windows)
        for k, i in zip(*np.nonzero(window.touching), strict=True)
    ]
    built = WindowModel(model, [], contacts, body.mass * _SPEED)
    motions = [_motion(body, window, time_step) for window in windows]
    samples = [(w, k) for w, motion in enumerate(motions) for k in range(len(motion.center))]
    axes = range(3)
    model.dp = pyo.Var(samples, axes, initialize=0.0)  # in units of the position deviation
    model.dt = pyo.Var(samples, axes, initialize=0.0)  # in units of the rotation deviation
    model.v = pyo.Var(samples, axes, initialize=lambda m, w, k, a: float(motions[w].velocity[k, a]))
    model.w = pyo.Var(samples, axes, initialize=lambda m, w, k, a: float(motions[w].spin_guess[k, a]))
    _contact_law(built, windows, motions, time_step, np.asarray(gravity, dtype=float), body)
    _dynamics(built, motions, time_step, np.asarray(gravity, dtype=float), body)
    measured = [(w, k) for w, k in samples if windows[w].measured[k]]
    squares = pyo.quicksum(model.dp[s, a] ** 2 + model.dt[s, a] ** 2 for s in measured for a in axes)
    impulses = pyo.quicksum(model.normal[c] ** 2 for c in range(len(contacts)))
    model.objective = pyo.Objective(expr=0.5 * squares + _LEAST_IMPULSE * impulses)
    return built


def _contact_law(
    built: WindowModel,
    windows: Sequence[Window],
    motions: Sequence[_Motion],
    h: float,
    gravity: np.ndarray,
    body: BodyProperties,
) -> None:
    """Impulses of every possible contact with the law of impact and friction; scaled by speed and mass times speed."""
    model, contacts = built.model, built.contacts
    n, plane = range(len(contacts)), range(2)
    slide = _measured_slide(windows, motions, contacts)
    load = _measured_load(motions, contacts, h, gravity, body) / built.impulse_scale
    size = np.linalg.norm(slide, axis=1)
    away = -slide / np.maximum(size, 1e-3)[:, None]
    model.normal = pyo.Var(n, bounds=(0.0, None), initialize=lambda m, c: float(load[c]))
    model.force = pyo.Var(n, plane, initialize=lambda m, c, a: float(0.3 * load[c] * away[c, a]))
    model.share = pyo.Var(n, plane, bounds=(-1.0, 1.0), initialize=lambda m, c, a: float(away[c, a]))
    model.slip = pyo.Var(n, bounds=(0.0, None), initialize=lambda m, c: float(size[c] / _SPEED))
    model.xi_n = pyo.Var(n, bounds=(0.0, None), initialize=0.0)

    def speed(c: int, later: int, axis: int) -> Any:
        """Velocity of a contact along an axis relative to the surface, before (0) or after (1) the step, scaled."""
        w, k, i = contacts[c]
        r, s = motions[w].arms[k, i], (w, k + later)
        b, d = (axis + 1) % 3, (axis + 2) % 3
        moving = model.v[s, axis] + float(r[d]) * model.w[s, b] - float(r[b]) * model.w[s, d]
        return (moving - float(windows[w].surface_velocity[axis])) / _SPEED

    model.of_xi_n = pyo.Constraint(n, rule=lambda m, c: m.xi_n[c] == speed(c, 1, 2) + m.e_n * speed(c, 0, 2))
    model.opposed = pyo.Constraint(n, plane, rule=lambda m, c, a: speed(c, 1, a) + m.slip[c] * m.share[c, a] == 0.0)
    model.of_share = pyo.Constraint(n, plane, rule=lambda m, c, a: m.force[c, a] == m.mu * m.normal[c] * m.share[c, a])
    built.pairs.extend((model.normal[c], model.xi_n[c]) for c in n)
    built.pairs.extend((model.slip[c], 1.0 - model.share[c, 0] ** 2 - model.share[c, 1] ** 2) for c in n)


def _measured_slide(
    windows: Sequence[Window], motions: Sequence[_Motion], contacts: Sequence[tuple[int, int, int]]
) -> np.ndarray:
    """(n, 2) m/s: tangential velocity of every contact after its step, as measured."""
    result = np.empty((len(contacts), 2))
    for c, (w, k, i) in enumerate(contacts):
        motion = motions[w]
        velocity = motion.velocity[k + 1] + np.cross(motion.spin_guess[k + 1], motion.arms[k, i])
        result[c] = (velocity - windows[w].surface_velocity)[:2]
    return result


def _measured_load(
    motions: Sequence[_Motion],
    contacts: Sequence[tuple[int, int, int]],
    h: float,
    gravity: np.ndarray,
    body: BodyProperties,
) -> np.ndarray:
    """(n,) N s: a step's measured change of vertical momentum, shared evenly by its contacts; never quite zero."""
    steps = [(w, k) for w, k, _ in contacts]
    counts = {step: steps.count(step) for step in set(steps)}
    loads = []
    for w, k in steps:
        change = body.mass * (motions[w].velocity[k + 1, 2] - motions[w].velocity[k, 2] - h * gravity[2])
        loads.append(max(float(change), 0.01 * body.mass * h * 9.81) / counts[w, k])
    return np.array(loads)


def _dynamics(
    built: WindowModel,
    motions: Sequence[_Motion],
    h: float,
    gravity: np.ndarray,
    body: BodyProperties,
) -> None:
    """The four equations of the module's text, for every step."""
    model, axes = built.model, range(3)
    at: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for c, (w, k, i) in enumerate(built.contacts):
        at.setdefault((w, k), []).append((c, i))
    steps = [(w, k) for w, motion in enumerate(motions) for k in range(len(motion.center) - 1)]
    inertia_unit = float(np.trace(body.inertia)) / 3.0

    def impulse(c: int, axis: int) -> Any:
        return model.normal[c] if axis == 2 else model.force[c, axis]

    def places(m: Any, w: int, k: int, a: int) -> Any:
        moved = float(motions[w].center[k + 1, a] - motions[w].center[k, a])
        mean = 0.5 * h * (m.v[w, k, a] + m.v[w, k + 1, a])
        return m.dp[w, k + 1, a] == m.dp[w, k, a] + (mean - moved) / _POSITION_DEVIATION

    def turns(m: Any, w: int, k: int, a: int) -> Any:
        motion = motions[w]
        carried = sum(float(motion.turn[k, a, b]) * m.dt[w, k, b] for b in axes)
        rate = sum(
            float(motion.jacobian[k, a, b]) * (0.5 * (m.w[w, k, b] + m.w[w, k + 1, b]) - float(motion.spin[k, b]))
            for b in axes
        )
        return m.dt[w, k + 1, a] == carried + h / _ROTATION_DEVIATION * rate

    def momentum(m: Any, w: int, k: int, a: int) -> Any:
        push = sum(impulse(c, a) for c, _ in at.get((w, k), []))
        return m.v[w, k + 1, a] - m.v[w, k, a] == h * float(gravity[a]) + built.impulse_scale / body.mass * push

    def spin(m: Any, w: int, k: int, a: int) -> Any:
        motion, b, d = motions[w], (a + 1) % 3, (a + 2) % 3
        later = sum(float(motion.inertia[k + 1, a, j]) * m.w[w, k + 1, j] for j in axes)
        now = sum(float(motion.inertia[k, a, j]) * m.w[w, k, j] for j in axes)
        moment = sum(
            float(motion.arms[k, i, b]) * impulse(c, d) - float(motion.arms[k, i, d]) * impulse(c, b)
            for c, i in at.get((w, k), [])
        )
        return (later - now) / inertia_unit == built.impulse_scale / inertia_unit * moment

    model.places = pyo.Constraint(steps, axes, rule=places)
    model.turns = pyo.Constraint(steps, axes, rule=turns)
    model.momentum = pyo.Constraint(steps, axes, rule=momentum)
    model.spin = pyo.Constraint(steps, axes, rule=spin)
