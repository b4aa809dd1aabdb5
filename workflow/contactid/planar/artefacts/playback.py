"""Measured throws beside identified ones, thinned and rounded for playing them on a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from contactid.core.atomic import write_text
from contactid.output.fits import compact_json
from contactid.planar.identify.states import StoredFit, read_fits
from contactid.planar.simulate.geometry import Ellipse, contacts

LONGEST = 150  # instants of a throw, about 35 bytes each
_MOST = 4  # throws of a file
_PUSHES = 1e-4  # m/s: impulses per mass below it are none
_MM = 1e3  # per m


def write_playback(fits: Sequence[str | Path], playback: str | Path) -> None:
    """Write the shown throws of files of :func:`contactid.planar.identify.states.write_fits` as
    JSON.
    """
    throws = [played_throw(fit) for file in fits for fit in _some(read_fits(file))]
    write_text(playback, compact_json({"tosses": throws}))


def _some(fits: Sequence[StoredFit]) -> Sequence[StoredFit]:
    """All, or those at even places from the best to the worst fitted one."""
    if len(fits) <= _MOST:
        return fits
    ordered = sorted(fits, key=lambda fit: float(np.sqrt(np.mean(position_error(fit) ** 2))))
    return [ordered[k] for k in np.linspace(0, len(ordered) - 1, _MOST).round().astype(int)]


def position_error(fit: StoredFit) -> np.ndarray:
    """Distance of the measured centre from the identified one at every frame, m."""
    away = fit.throw.position[:, :2] - fit.states.position[fit.states.frame, :2]
    return np.linalg.norm(away, axis=1)


def played_throw(fit: StoredFit) -> dict[str, Any]:
    """A throw as a page plays it.

    Returns
    -------
    ``label``, ``synthetic``, ``inertia_ratio_mm2``, ``friction_mu``, ``friction_is_bound``;
    ``semi_axes`` or ``vertices`` (mm, about the centre of mass); ``ground`` (slope in rad, x0 and
    y0 in mm); ``frame_ms``, ``measured`` (rows of x, y in mm and theta in rad),
    ``position_error_mm`` and ``angle_error_deg`` per frame; ``time_ms`` and ``identified`` per
    instant; ``contacts``: ``time_ms``, ``x``, ``y`` (mm), and the ``normal`` and ``tangential``
    impulse in ``impulse_unit``.
    """
    states, throw, ground = fit.states, fit.throw, fit.throw.ground
    begin, last = float(throw.time[0]), len(states.time) - 1
    # rounded up, so that no throw has more than LONGEST even instants
    every = max(-(-len(states.time) // LONGEST), 1)
    # no frame and no impulse is left out, nor the instants round an impulse
    pushed = np.flatnonzero((np.abs(states.impulse_n) > _PUSHES).any(axis=1))
    around = np.clip([pushed - 1, pushed, pushed + 1], 0, last).ravel()
    shown = np.unique(
        np.concatenate([np.arange(0, last + 1, every), states.frame, [last], around])
    ).astype(int)
    error = throw.position - states.position[states.frame]
    shape = (
        {"semi_axes": [_MM * fit.shape.a, _MM * fit.shape.b]}
        if isinstance(fit.shape, Ellipse)
        else {"vertices": (_MM * fit.shape.outline()[:-1]).tolist()}
    )
    return {
        "label": fit.label,
        "synthetic": fit.truth is not None or fit.label.startswith("synthetic"),
        "inertia_ratio_mm2": round(1e6 * fit.inertia_ratio, 1),
        "friction_mu": round(fit.friction_mu, 3),
        "friction_is_bound": fit.friction_is_bound,
        **shape,
        "ground": [round(ground.slope, 5), round(_MM * ground.x0, 2), round(_MM * ground.y0, 2)],
        "frame_ms": _ms(throw.time - begin),
        "measured": _poses(throw.position),
        "position_error_mm": np.round(_MM * position_error(fit), 3).tolist(),
        "angle_error_deg": np.round(np.degrees(np.abs(error[:, 2])), 3).tolist(),
        "time_ms": _ms(states.time[shown] - begin),
        "identified": _poses(states.position[shown]),
        **_contacts(fit, begin),
    }


def _contacts(fit: StoredFit, begin: float) -> dict[str, Any]:
    """Impulses of all contacts in order of time: N s per mass (m/s) where the mass isn't known."""
    states = fit.states
    at = contacts(fit.shape, fit.throw.ground, states.position[: len(states.impulse_n)])
    scale, unit = (1e3 * fit.mass, "mN s") if np.isfinite(fit.mass) else (1.0, "m/s (per mass)")
    return {
        "impulse_unit": unit,
        "contacts": [
            {
                "time_ms": round(1e3 * float(states.time[k] - begin), 2),
                "x": round(_MM * float(at.point[k, c, 0]), 2),
                "y": round(_MM * float(at.point[k, c, 1]), 2),
                "normal": round(scale * float(states.impulse_n[k, c]), 3),
                "tangential": round(scale * float(states.impulse_t[k, c]), 3),
            }
            for k, c in zip(*np.nonzero(np.abs(states.impulse_n) > _PUSHES), strict=True)
        ],
    }


def _ms(time: np.ndarray) -> list[float]:
    return np.round(1e3 * time, 2).tolist()


def _poses(q: np.ndarray) -> list[list[float]]:
    """Rows of x, y (mm) and theta (rad), to 0.01 mm and 0.1 mrad."""
    return np.column_stack([np.round(_MM * q[:, :2], 2), np.round(q[:, 2], 4)]).tolist()
