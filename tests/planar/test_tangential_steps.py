"""Tangential impulses on a grid obey Coulomb's law step by step."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.planar.identify.starts import StepBody, contact_modes, tangential_steps
from contactid.planar.models.trajectory import ContactMode
from contactid.planar.simulate.geometry import Ellipse, Ground, Polygon, contacts

ELLIPSE = Ellipse(0.05, 0.025)
SQUARE = Polygon(((-0.03, -0.03), (0.03, -0.03), (0.03, 0.03), (-0.03, 0.03)))


def after(shape, ground, body, q, v, durations, impulse_n, impulse_t) -> list[np.ndarray]:
    """Velocities after every step, by the momentum balance alone."""
    mobility, speeds = np.array([1.0, 1.0, 1.0 / body.inertia_ratio]), []
    for k, h in enumerate(durations):
        at = contacts(shape, ground, q[k])
        v = (
            v
            - np.array([0.0, body.gravity * h, 0.0])
            + mobility * (impulse_n[k] @ at.normal + impulse_t[k] @ at.tangent)
        )
        speeds.append(v)
    return speeds


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    mu=st.floats(0.0, 1.5),
    slope=st.floats(-0.4, 0.4),
    corners=st.booleans(),
)
def test_contacts_stick_or_slide_against_the_motion(seed, mu, slope, corners):
    random = np.random.default_rng(seed)
    shape, ground, body = (SQUARE if corners else ELLIPSE), Ground(slope), StepBody(6e-4, mu, 9.81)
    n = 6
    q = random.normal(size=(n, 3))
    durations = random.uniform(1e-3, 3e-3, n)
    impulse_n = np.maximum(random.normal(size=(n, shape.n_contacts)), 0.0)
    if corners:  # no more than two corners touch at once
        impulse_n[:, random.permutation(4)[:2]] = 0.0
    v = random.normal(size=3) * [2.0, 2.0, 20.0]
    impulse_t = tangential_steps(shape, ground, body, q, v, durations, impulse_n)
    assert (np.abs(impulse_t) <= mu * impulse_n * (1.0 + 1e-12)).all()
    modes = contact_modes(impulse_n, impulse_t, mu)
    for k, speed in enumerate(after(shape, ground, body, q, v, durations, impulse_n, impulse_t)):
        slides = contacts(shape, ground, q[k]).tangent @ speed
        for c in range(shape.n_contacts):
            if modes[k, c] == ContactMode.OPEN:
                assert impulse_n[k, c] < 1e-8 and abs(impulse_t[k, c]) < 1e-8
            elif mu > 0.0 and modes[k, c] == ContactMode.STICKING:
                assert abs(slides[c]) < (1e-2 if corners else 1e-9)
            elif mu > 0.0 and not corners:
                forward = modes[k, c] == ContactMode.SLIDING_FORWARD
                assert slides[c] >= -1e-9 if forward else slides[c] <= 1e-9
