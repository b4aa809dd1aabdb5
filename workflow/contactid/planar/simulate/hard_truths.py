"""Throws whose truth is harder than table 1's: another body, or impacts that aren't what a start
assumes.

Table 1's truth has one restitution for all impacts. Here each impact has a restitution of its own,
which is the paper's reason to leave it out of the model, or the ground gives way. A start of the
identification is a motion on hard ground (:mod:`contactid.planar.engine.search`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

import numpy as np

from contactid.planar.simulate.bodies import (
    PlanarBody,
    PlanarLaw,
    PlanarMotion,
    first_states,
    simulate,
)
from contactid.planar.simulate.geometry import contacts
from contactid.planar.simulate.throws import (
    MeasuredThrow,
    body_and_ground,
    measured_throw,
    noise_of,
    true_motion,
)

_OTHER_BODY, _DIFFERING, _COMPLIANT = "other_body", "differing_restitution", "compliant_ground"
_STATED = {"noise_stated_half": 0.5, "noise_stated_double": 2.0}  # by the noise there is
TRUTHS = ("as_table_1", _OTHER_BODY, _DIFFERING, _COMPLIANT, *_STATED)
"""By name; the last ones are table 1's with standard deviations of the noise that are wrong by a
factor 2.
"""
_MU, _RATE = 0.3, 240.0  # friction of all, and the camera, frames/s
_OTHER_RATIO = 4e-4  # m2, J/m: half of the uniform body's
_LARGEST_RESTITUTION = 0.6
_APART = 1e-4  # m: a contact that opened by that much is over
_STIFFNESS, _DAMPING = 6e6, 0.35  # 1/s2 per mass, s/m: impacts of about a millisecond


def hard_throw(block: Mapping[str, Any], truth: str, seed: int) -> tuple[PlanarBody, MeasuredThrow]:
    """The body, and its throw with one of :data:`TRUTHS` and the noise of a seed, by the block's
    first noise model.
    """
    options = block["identification"]
    name, sigma = options["body"], noise_of(block, next(iter(options["noise"])))
    if truth == _OTHER_BODY:
        body = block["bodies"][name]
        block = {**block, "bodies": {name: {**body, "inertia": _OTHER_RATIO * body["mass"]}}}
    body, ground = body_and_ground(block)
    if truth == _DIFFERING:
        motion = differing_motion(block, _MU, seed)
    else:
        motion = (compliant_motion if truth == _COMPLIANT else true_motion)(block, _MU)
    duration = float(options["duration"])
    throw = measured_throw(
        motion, ground, duration=duration, frames_per_second=_RATE, sigma=sigma, seed=seed
    )
    return body, replace(throw, sigma=_STATED.get(truth, 1.0) * sigma)


def differing_motion(block: Mapping[str, Any], friction_mu: float, seed: int) -> PlanarMotion:
    """The throw with another restitution at each impact, drawn evenly from 0 to 0.6."""
    options, (body, ground) = block["identification"], body_and_ground(block)
    h = float(options["time_step"])
    gravity = float(block["gravity"])
    rng = np.random.default_rng(seed)
    q, v = options["position"], options["velocity"]
    steps_left = round(options["duration"] / h) + 1
    parts: list[tuple[PlanarMotion, int]] = []
    while True:
        # simulated to the throw's end, but kept only until this impact is over
        law = PlanarLaw(friction_mu, _LARGEST_RESTITUTION * rng.random(), 0.0, gravity)
        part = simulate(body, ground, law, q, v, time_step=h, steps=steps_left)
        touched = np.maximum.accumulate(part.impulse_n[:, 0] > 0.0)
        over = np.flatnonzero(touched & (part.gap[:, 0] > _APART))
        rows = int(over[0]) if len(over) else steps_left + 1
        parts.append((part, rows))
        if rows > steps_left:
            break
        q, v = part.position[rows], part.velocity[rows]
        steps_left -= rows
    whole = {
        f.name: np.concatenate([getattr(part, f.name)[:rows] for part, rows in parts])
        for f in fields(part)
    }
    return PlanarMotion(**{**whole, "time": h * np.arange(len(whole["time"]))})


def compliant_motion(block: Mapping[str, Any], friction_mu: float) -> PlanarMotion:
    """The throw over a ground that gives way: a spring with losses (Hunt and Crossley's), and
    Coulomb friction.
    """
    options, (body, ground) = block["identification"], body_and_ground(block)
    h, gravity = float(options["time_step"]), float(block["gravity"])
    steps = round(options["duration"] / h) + 1
    q, v = first_states(body.shape, ground, options["position"], options["velocity"], h, steps)
    impulse_n, impulse_t, gap = (np.zeros((steps + 1, 1)) for _ in range(3))
    inverse = 1.0 / body.mass_matrix
    for k in range(steps + 1):
        at = contacts(body.shape, ground, q[k])
        gap[k], normal, tangent = at.gap, at.normal[0], at.tangent[0]
        if k == steps:
            break
        # Hunt and Crossley: stiffness times depth times (1 - damping times gap's rate)
        push = body.mass * _STIFFNESS * max(-gap[k, 0], 0.0) * (1.0 - _DAMPING * (normal @ v[k]))
        # a ground doesn't pull
        c_n = h * max(push, 0.0)
        v[k + 1] = v[k] + inverse * c_n * normal - [0.0, h * gravity, 0.0]
        # after the normal impulse and gravity, as eq. 18 has it
        stopping = -(tangent @ v[k + 1]) / (tangent**2 @ inverse)
        c_t = np.clip(stopping, -friction_mu * c_n, friction_mu * c_n)
        v[k + 1] += inverse * c_t * tangent
        q[k + 1] = q[k] + h * v[k + 1]
        impulse_n[k + 1], impulse_t[k + 1] = c_n, c_t
    return PlanarMotion(h * np.arange(steps + 1), q, v, impulse_n, impulse_t, gap)
