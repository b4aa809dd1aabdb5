"""Synthetic single-corner impacts of a box whose friction and restitution are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from contactid.sources.motion import BodyProperties
from contactid.tossing.impacts.impact import Impact
from contactid.tossing.impacts.law import Values, impact_table

LINEAR, ANGULAR = 0.02, 0.1  # m/s and rad/s: customary noise of a fitted twist


def predict_post_twist(
    body: BodyProperties, impact: Impact, mu: Values, e_n: Values, e_t: Values = 0.0
) -> np.ndarray:
    """Twist after one impact under any number of parameter sets.

    Parameters
    ----------
    mu, e_n, e_t
        Scalars or arrays that broadcast against each other to a shape ``s``.

    Returns
    -------
    ``(*s, 6)`` hybrid twist of B's origin in C; the impact's own measured ``post_twist`` isn't
    looked at.
    """
    mus, normal, tangential = np.broadcast_arrays(mu, e_n, e_t)
    table = impact_table(body, [impact] * mus.size)
    return table.predict(mus.ravel(), normal.ravel(), tangential.ravel()).reshape(*mus.shape, 6)


def box() -> BodyProperties:
    half = 0.5 * np.array([0.205, 0.155, 0.100])
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    return BodyProperties(corners * half, 0.365, np.diag([1.040e-3, 1.590e-3, 2.020e-3]))


def impacts(
    seed: int,
    n: int,
    mu: float,
    e_n: float,
    e_t: float = 0.0,
    *,
    noise: float = 1.0,
    slide: float | None = None,
) -> list[Impact]:
    """``n`` impacts, two per toss, of one lowest corner at 0.3 to 2.5 m/s; ``slide`` is its
    tangential speed.
    """
    rng, body = np.random.default_rng(seed), box()
    covariance = np.diag(np.repeat([LINEAR**2, ANGULAR**2], 3))
    made: list[Impact] = []
    while len(made) < n:
        turn = Rotation.random(random_state=rng)
        heights = turn.apply(body.vertices)[:, 2]
        lowest, second = np.sort(heights)[:2]
        if second - lowest < 0.01:
            continue
        vertex = int(heights.argmin())
        spin = rng.normal(0.0, 2.0, 3)
        corner = np.cross(spin, turn.apply(body.vertices[vertex]))
        velocity = np.append(rng.normal(0.0, 0.7, 2), -rng.uniform(0.3, 2.5) - corner[2])
        if slide is not None:
            velocity[:2] = rng.normal(0.0, slide, 2) - corner[:2]
        twist = np.concatenate([velocity, spin])
        impact = Impact(
            toss=f"toss{len(made) // 2}",
            sample=0,
            vertex=vertex,
            position=np.array([0.0, 0.0, -lowest]),
            orientation=turn.as_quat(scalar_first=True),
            pre_twist=twist,
            post_twist=twist,
            pre_covariance=covariance,
            post_covariance=covariance,
            surface_velocity=np.zeros(3),
        )
        after = predict_post_twist(body, impact, mu, e_n, e_t)
        deviations = noise * np.sqrt(np.diag(covariance))
        made.append(
            replace(
                impact,
                pre_twist=twist + deviations * rng.normal(size=6),
                post_twist=after + deviations * rng.normal(size=6),
            )
        )
    return made


def law_residual(
    delassus: np.ndarray,
    before: np.ndarray,
    impulses: np.ndarray,
    mu: Values,
    e_n: Values,
    e_t: Values,
) -> np.ndarray:
    """(n,) violation of the law in m/s by given impulses: the natural map of eqs. 8 and 10, zero
    exactly at a solution.

    Written independently of the kernel, so that it can judge it.
    """
    n = len(before)
    restitution = np.column_stack([np.broadcast_to(value, (n,)) for value in (e_t, e_t, e_n)])
    xi = (1.0 + restitution) * before + np.einsum("nij,nj->ni", delassus, impulses)
    stiffness = np.trace(delassus, axis1=1, axis2=2)[:, None] / 3.0
    normal = np.minimum(stiffness[:, 0] * impulses[:, 2], xi[:, 2])
    trial = stiffness * impulses[:, :2] - xi[:, :2]
    radius = stiffness[:, 0] * np.broadcast_to(mu, (n,)) * np.maximum(impulses[:, 2], 0.0)
    size = np.linalg.norm(trial, axis=1)
    shrink = np.where(size > radius, radius / np.where(size > 0.0, size, 1.0), 1.0)
    tangential = stiffness * impulses[:, :2] - shrink[:, None] * trial
    return np.maximum(np.abs(normal), np.linalg.norm(tangential, axis=1))
