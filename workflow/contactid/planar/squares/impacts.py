"""Eq. 31 over every usable impact of measured throws at once, with what isn't known of the geometry free.

Eq. 31 knows no contact law: an impact's moment about the centre of mass is J/m times the change of spin. What it needs
is the lever, so the corners' radius, the centre of mass in the outline and the turn of the axes can be free beside J/m.
So can the *instant* at which the lever is taken: where a body sinks in and turns on before the ground pushes hardest,
the lever is that of another angle, by the spin before the impact times a lag. Two answers, without a lag and with one,
are the range that lever and geometry leave.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from scipy.optimize import OptimizeResult, least_squares

from contactid.planar.squares.events import MAD
from contactid.planar.squares.windows import PreparedThrows, SquareOptions, SquareWindow, every_window

MEASURED, FREE, LAGGED, FORCED = (
    f"eq. 31 over all impacts, {said}"
    for said in (
        "geometry as measured", "geometry free", "geometry and lag free", "geometry free, J/m of the uniform body"
    )
)  # fmt: skip
_VARIANTS = {MEASURED: [0], FREE: [0, 1, 2, 3, 4], LAGGED: [0, 1, 2, 3, 4, 5], FORCED: [1, 2, 3, 4]}
_UNITS = np.array([400.0, 5.0, 10.0, 0.2, 0.2, 0.5])  # of the unknowns of :meth:`Impacts.left`
# How far unknowns may go: a body that turns about its corner has no lever, and fits with J/m = 0 whatever happens.
_FARTHEST = np.array([np.inf, 15.0, 200.0, 5.0, 5.0, 5.0])
_ROUGH, _LEAST = 600.0, 1.0  # mm2/s, scale of the first fit's residuals, and the least of all
_ROUNDS = 5  # of fits whose scale is that of the residuals before
_DRAWS = 100  # of the bootstrap over throws
_MM, _MM2, _MRAD, _MS = 1e3, 1e6, 1e3, 1e3


@dataclass(frozen=True)
class Impacts:
    """What eq. 31 needs of n impacts, in axes along and across the ground.

    Attributes
    ----------
    throw : (n,) names
    corner, inward : (n, 2) of the touching corner, were it sharp, and how its circle's centre moves with the radius, m
    theta : (n,) rad
    push : (n, 2) change of the tracked centre's velocity, m/s
    spin : (n,) change of omega, rad/s
    before : (n,) omega before, rad/s
    """

    throw: np.ndarray
    corner: np.ndarray
    inward: np.ndarray
    theta: np.ndarray
    push: np.ndarray
    spin: np.ndarray
    before: np.ndarray

    def moment(self, z: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(n,) per mass, mm2/s, for z = J/m (mm2), radius (mm), turn (mrad), centre (2,) (mm) and lag (ms)."""
        phi = self.theta[rows] - z[2] / _MRAD + self.before[rows] * z[5] / _MS
        centre = np.tile(z[3:5] / _MM, (len(rows), 1))
        arm = _turned(self.corner[rows] + z[1] / _MM * self.inward[rows] - centre, phi) - [0.0, z[1] / _MM]
        lever = _turned(centre, phi)
        push = self.push[rows] + self.spin[rows, None] * np.column_stack([-lever[:, 1], lever[:, 0]])
        return _MM2 * (arm[:, 0] * push[:, 1] - arm[:, 1] * push[:, 0])

    def left(self, z: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """(n,) of eq. 31, mm2/s."""
        return self.moment(z, rows) - z[0] * self.spin[rows]


def every_impact(prepared: PreparedThrows) -> list[SquareWindow]:
    """All impacts of all throws that are of a single corner between two flights."""
    return [window for event in prepared.events for window in every_window(event, prepared, SquareOptions.frames)]


def free_geometry(prepared: PreparedThrows, windows: Sequence[SquareWindow]) -> list[dict[str, object]]:
    """Rows of J/m with the geometry as measured, free, free with a lag, and free with the uniform body's J/m.

    Wild poses and second contacts leave residuals that are no noise, so the loss is Cauchy's at the scale of the
    residuals; a loss that grows with their size moves a box of known 600 mm2 by 45. ``residual_pct`` is the median size
    of what is left, by that of the moments; errors are by a bootstrap over throws.
    """
    impacts, body = _impacts(prepared, windows), prepared.shape
    every = np.arange(len(windows))
    start = np.array([_MM2 * body.uniform_inertia_ratio, _MM * body.radius, 0.0, 0.0, 0.0, 0.0])
    moments = float(np.median(np.abs(impacts.moment(start, every))))
    names = np.unique(impacts.throw)
    rows_of = {name: np.flatnonzero(impacts.throw == name) for name in names}
    rows: list[dict[str, object]] = []
    for variant, free in _VARIANTS.items():
        random, drawn, scale = np.random.default_rng(1), [], _ROUGH
        best = _fitted(impacts, start, free, every, scale, "soft_l1")
        for _ in range(_ROUNDS):
            scale = max(MAD * float(np.median(np.abs(impacts.left(best, every)))), _LEAST)
            best = _fitted(impacts, best, free, every, scale)
        for _ in range(_DRAWS if 0 in free else 0):
            chosen = np.concatenate([rows_of[name] for name in random.choice(names, len(names))])
            drawn.append(_fitted(impacts, best, free, chosen, scale)[0])
        left = float(np.median(np.abs(impacts.left(best, every))))
        rows.append(
            {
                "variant": variant,
                "n": len(every),
                "inertia_ratio_mean_mm2": best[0],
                "inertia_ratio_se_mm2": float(np.std(drawn)) if drawn else np.nan,
                "radius_mm": best[1],
                "lag_ms": best[5],
                "residual_pct": 100.0 * left / moments,
            }
        )
    return rows


def _impacts(prepared: PreparedThrows, windows: Sequence[SquareWindow]) -> Impacts:
    slope, sharp = prepared.ground.slope, replace(prepared.shape, radius=0.0)
    inward = replace(sharp, radius=1.0 / _MM).centres - sharp.centres  # for a millimetre of radius
    touching = [window.corner for window in windows]
    change = np.array([window.met.after - window.met.before for window in windows])
    return Impacts(
        throw=np.array([window.name for window in windows]),
        corner=sharp.centres[touching],
        inward=_MM * inward[touching],
        theta=np.array([window.met.position[2] for window in windows]) - slope,
        push=_turned(change[:, :2], np.full(len(change), -slope)),
        spin=change[:, 2],
        before=np.array([window.met.before[2] for window in windows]),
    )


def _fitted(
    impacts: Impacts,
    start: np.ndarray,
    free: list[int],
    rows: np.ndarray,
    scale: float,
    loss: Literal["soft_l1", "cauchy"] = "cauchy",
) -> np.ndarray:
    def of(x: np.ndarray) -> np.ndarray:
        z = start.copy()
        z[free] = x
        return impacts.left(z, rows)

    bounds = -_FARTHEST[free], _FARTHEST[free]
    best: OptimizeResult = least_squares(of, start[free], loss=loss, f_scale=scale, x_scale=_UNITS[free], bounds=bounds)
    found = start.copy()
    found[free] = best.x
    return found


def _turned(vectors: np.ndarray, angle: np.ndarray) -> np.ndarray:
    """(n, 2) vectors, each turned by its angle, rad."""
    cos, sin = np.cos(angle), np.sin(angle)
    return np.column_stack([cos * vectors[:, 0] - sin * vectors[:, 1], sin * vectors[:, 0] + cos * vectors[:, 1]])
