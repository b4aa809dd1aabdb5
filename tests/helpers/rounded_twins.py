"""Throws of a square with rounded corners whose truth shares nothing with the identification but physics.

Steps of 10 us that fall exactly, geometry from the corners' circles, impulses of all touching corners by projected
Gauss-Seidel with Newton's restitution at each impact and none in lasting contact.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np

SIDE, GRAVITY = 0.06, 9.81
CORNERS = ((-0.03, -0.03), (0.03, -0.03), (0.03, 0.03), (-0.03, 0.03))
_STEP = 1e-5  # s
_SLOW = 0.03  # m/s: an approach that is slower is no impact
_SWEEPS = 30


@dataclass(frozen=True)
class Twin:
    """One throw with its truth.

    Attributes
    ----------
    radius : of the corners, m
    ratio : J/m, m2
    mu, e_n : of the contact law
    start : (6,) x, y, theta and their rates
    """

    radius: float
    ratio: float
    mu: float
    e_n: float
    start: tuple[float, ...]

    def poses(self, seconds: float, rate: float) -> np.ndarray:
        """(n, 3) at ``rate`` frames per second, without noise."""
        half, r, ratio = 0.5 * SIDE - self.radius, self.radius, self.ratio
        x, y, theta, v_x, v_y, omega = self.start
        every = round(1.0 / rate / _STEP)
        reach, open_before, found = half * 2.0**0.5 + r, [True] * 4, []
        for k in range(int(seconds * rate + 1e-9) * every + 1):
            if k % every == 0:
                found.append((x, y, theta))
            x, y, theta = x + _STEP * v_x, y + _STEP * v_y - 0.5 * GRAVITY * _STEP**2, theta + _STEP * omega
            v_y -= GRAVITY * _STEP
            if y > reach:
                continue
            touching = []
            for j in range(4):
                angle = theta + (2 * j + 1) * 0.25 * pi
                across, up = half * 2.0**0.5 * cos(angle), half * 2.0**0.5 * sin(angle) - r  # to the contact point
                if y + up > 0.0:
                    open_before[j] = open_before[j] or y + up > 2e-6
                    continue
                speed = v_y + across * omega
                touching.append([across, up, -self.e_n * speed if open_before[j] and speed < -_SLOW else 0.0, 0.0, 0.0])
                open_before[j] = False
            for _ in range(_SWEEPS * bool(touching)):
                for contact in touching:
                    across, up, wanted, normal, along = contact
                    pushed = max(0.0, normal + (wanted - v_y - across * omega) / (1.0 + across**2 / ratio))
                    v_y, omega = v_y + pushed - normal, omega + across * (pushed - normal) / ratio
                    pulled = along - (v_x - up * omega) / (1.0 + up**2 / ratio)
                    pulled = min(max(pulled, -self.mu * pushed), self.mu * pushed)
                    v_x, omega = v_x + pulled - along, omega - up * (pulled - along) / ratio
                    contact[3:] = pushed, pulled
        return np.array(found)


def drawn_twin(seed: int, radius: float | None = None) -> Twin:
    """A throw with everything drawn: a body that spins and falls from a few centimetres."""
    random = np.random.default_rng([seed, 19])
    radius = float(random.uniform(1e-3, 8e-3)) if radius is None else radius
    way = random.choice([-1.0, 1.0])
    start = (
        0.0, 0.06 + random.uniform(0.0, 0.03), random.uniform(-pi, pi),
        way * random.uniform(0.5, 2.0), -random.uniform(0.5, 1.5), -way * random.uniform(-4.0, 12.0),
    )  # fmt: skip
    return Twin(
        radius,
        random.uniform(350e-6, 700e-6),
        random.uniform(0.1, 0.5),
        random.uniform(0.0, 0.6),
        tuple(map(float, start)),
    )
