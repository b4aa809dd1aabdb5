"""Throws whose truth shares nothing with the identification but physics: polygons with rounded
corners, and ellipses.

Steps of 10 us that fall exactly, down to a tenth of a microsecond where a corner is about to touch
or a touching body spins: an impact that is 10 us late moves the motion after it by several times a
good camera's noise. Geometry from the corners' circles, impulses of all touching corners by
projected Gauss-Seidel with Newton's restitution at each impact and none in lasting contact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, hypot, pi, sin, sqrt

import numpy as np

SIDE, GRAVITY = 0.06, 9.81
CORNERS = ((-0.03, -0.03), (0.03, -0.03), (0.03, 0.03), (-0.03, 0.03))
_STEP, _SHORT_STEP = 1e-5, 1e-7  # s
# m/s: no corner is faster, so that none that is open gets into the ground by more than a short step
_FASTEST = 5.0
_TURN = 2e-5  # rad, in a step of contact
_SLOW = 0.03  # m/s: an approach that is slower is no impact
_SWEEPS = 30
LARGEST_E_N = 0.6  # drawn for an impact


@dataclass(frozen=True)
class Twin:
    """One throw with its truth.

    Attributes
    ----------
    radius : of the corners, m
    ratio : J/m, m2
    mu, e_n : of the contact law
    start : (6,) x, y, theta and their rates, along and across the ground
    corners : where the sides meet, m, about the centre of mass; of an ellipse its two semi-axes
    slope : of the ground, rad; it goes through the origin
    varying : seed of a restitution drawn anew at each impact, from 0 to :data:`LARGEST_E_N`; None:
        always ``e_n``
    """

    radius: float
    ratio: float
    mu: float
    e_n: float
    start: tuple[float, ...]
    corners: Sequence[tuple[float, float]] | tuple[float, float] = CORNERS
    slope: float = 0.0
    varying: int | None = None

    def _arms(self) -> list[tuple[float, float]]:
        """Centres of the corners' circles, m: along the bisector, where the circle touches both
        sides.
        """
        found = []
        for j, (x, y) in enumerate(self.corners):
            ways = []
            for other in (self.corners[j - 1], self.corners[(j + 1) % len(self.corners)]):
                length = hypot(other[0] - x, other[1] - y)
                ways.append(((other[0] - x) / length, (other[1] - y) / length))
            (a, b), (c, d) = ways
            length = hypot(a + c, b + d)
            half = abs(a * (b + d) - b * (a + c)) / length  # sine of half the corner's angle
            found.append(
                (
                    x + self.radius * (a + c) / length / half,
                    y + self.radius * (b + d) / length / half,
                )
            )
        return found

    def poses(self, seconds: float, rate: float) -> np.ndarray:
        """(n, 3) at ``rate`` frames per second, without noise."""
        ratio, axes = self.ratio, None
        if isinstance(self.corners[0], float):
            axes, centres, reach = self.corners, [(0.0, 0.0)], max(self.corners)
        else:
            centres = self._arms()
            reach = max(hypot(*centre) for centre in centres) + self.radius
        x, y, theta, v_x, v_y, omega = self.start
        pull, fall = GRAVITY * sin(self.slope), GRAVITY * cos(self.slope)
        open_before, nearest = [True] * len(centres), 1.0
        random = None if self.varying is None else np.random.default_rng([self.varying, 31])
        touching: list[list[float]] = []
        found, frames, left = [(x, y, theta)], int(seconds * rate + 1e-9), 1.0 / rate
        while len(found) <= frames:
            longest = min(
                _STEP, nearest / _FASTEST, _TURN / (abs(omega) + 1e-9) if touching else _STEP
            )
            step = min(left, max(longest, _SHORT_STEP))
            left -= step
            x += step * v_x - 0.5 * pull * step**2
            y += step * v_y - 0.5 * fall * step**2
            theta += step * omega
            v_x, v_y = v_x - pull * step, v_y - fall * step
            if left <= 0.0:
                found.append((x, y, theta))
                left = 1.0 / rate
            nearest, touching = 1.0, []
            if y > reach + _FASTEST * _STEP:
                continue
            c, s = cos(theta), sin(theta)
            for j, (p, q) in enumerate(centres):
                if axes is None:
                    across, up = p * c - q * s, p * s + q * c - self.radius  # to the contact point
                else:
                    up = -sqrt((axes[0] * s) ** 2 + (axes[1] * c) ** 2)
                    across = (axes[0] ** 2 - axes[1] ** 2) * s * c / up
                if y + up > 0.0:
                    open_before[j] = open_before[j] or y + up > 2e-6
                    if open_before[j]:
                        nearest = min(nearest, y + up)
                    continue
                speed = v_y + across * omega
                hit = open_before[j] and speed < -_SLOW
                e_n = (
                    0.0
                    if not hit
                    else self.e_n
                    if random is None
                    else float(random.uniform(0.0, LARGEST_E_N))
                )
                touching.append([across, up, -e_n * speed, 0.0, 0.0])
                open_before[j] = False
            for _ in range(_SWEEPS * bool(touching)):
                for contact in touching:
                    across, up, wanted, normal, along = contact
                    pushed = max(
                        0.0, normal + (wanted - v_y - across * omega) / (1.0 + across**2 / ratio)
                    )
                    v_y, omega = v_y + pushed - normal, omega + across * (pushed - normal) / ratio
                    pulled = along - (v_x - up * omega) / (1.0 + up**2 / ratio)
                    pulled = min(max(pulled, -self.mu * pushed), self.mu * pushed)
                    v_x, omega = v_x + pulled - along, omega - up * (pulled - along) / ratio
                    contact[3:] = pushed, pulled
        x, y, theta = np.array(found).T
        c, s = cos(self.slope), sin(self.slope)
        return np.column_stack([c * x - s * y, s * x + c * y, theta + self.slope])


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
