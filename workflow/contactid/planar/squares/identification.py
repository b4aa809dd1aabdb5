"""Identify a thrown square from every usable throw by itself (paper, section 6.2).

A throw is usable where its first impact is one of a single corner between two short flights. Most throws have that
only after lost frames are put back (:mod:`contactid.planar.squares.windows`): 50 of 400 real throws as they are, 166
then.

Not every usable throw tells J/m. Eq. 31 divides by the change of spin, so where it is small, a contact point that lies
half a millimetre elsewhere (a rounding that isn't a circle, a ground that gives way) moves J/m by more than the noise
does. ``per_corner_mm_mm2`` is that lever, known before the identification, and ``counted`` are the throws in which it
is small. Nothing is left out for its misfit, its J/m or its friction: statistics are over all throws, over the counted
ones, and over those of them that noise explains (``plausible``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.output.tables import read_csv, write_csv, write_exact
from contactid.planar.identify.fit import FitOptions, TrajectoryFit, fit_trajectories, stored
from contactid.planar.identify.states import StoredFit, write_fits
from contactid.planar.squares.events import FEWEST_AT_REST
from contactid.planar.squares.windows import SquareOptions, SquareWindow, SquareWindows, square_windows
from contactid.sources.motion import read_dataset

LARGEST_LEVER = 0.3  # m2/m: J/m's change per mm of a misplaced corner, beyond which a throw doesn't count
_DRAWS = 400  # of a bootstrap
_SHOWN = 3  # throws whose states are kept
MM, MM2, MRAD = 1e3, 1e6, 1e3
SYNTHETIC, PUBLIC = "synthetic data: throws of a square", "public data: throws of a square"
_FEWEST_SHARE = 4  # throws that must lie on each side, as a share of a small set
AS_RECORDED, FRAMES_LOST = "as recorded", "frames lost"
COLUMNS = (
    "throw", "converged", "inertia_ratio_mm2", "inertia_ratio_se_mm2", "friction_mu", "residual_mm", "complementarity",
    "seconds", "plausible", "friction_is_bound", "misfit_per_degree", "residual_theta_mrad", "restitution", "windows",
    "lost_frames", "frames", "spin_change_rad_s", "eq31_mm2", "per_corner_mm_mm2", "counted",
)  # fmt: skip
_OF_A_FIT = (
    "converged", "friction_mu", "complementarity", "seconds", "plausible", "friction_is_bound", "misfit_per_degree"
)  # fmt: skip


def identify_window(
    usable: SquareWindows, names: Iterable[str], options: SquareOptions
) -> tuple[pd.DataFrame, list[StoredFit]]:
    """Each of the named throws by itself: a row each with the columns :data:`COLUMNS`, and the fits as drawn."""
    rows, fits, prepared = [], [], usable.prepared
    for window in (usable.windows[name] for name in names):
        fit = fit_trajectories(prepared.shape, [window.throw], FitOptions(longest_step=options.longest_step))
        rows.append(_row(window, fit))
        fits.append(stored(window.name, prepared.shape, window.throw, fit))
    return pd.DataFrame(rows, columns=list(COLUMNS)), fits


def median_error(values: np.ndarray) -> float:
    """Standard error of the median of n values, by a bootstrap."""
    drawn = np.random.default_rng(1).choice(values, (_DRAWS, len(values)))
    return float(np.median(drawn, axis=1).std())


def shown_throws(table: pd.DataFrame) -> list[str]:
    """Throws that tell J/m and that noise explains, nearest the median, of those with the largest change of spin."""
    pool = table
    for wanted in (table["counted"], table["plausible"], table["lost_frames"] == 0):
        pool = pool[wanted[pool.index]] if wanted[pool.index].sum() >= _SHOWN else pool
    middle = pool["inertia_ratio_mm2"].median()
    pool = pool.sort_values("per_corner_mm_mm2").head(max(_SHOWN, len(pool) // 3))
    away = (pool["inertia_ratio_mm2"] - middle).abs()
    return [str(name) for name in pool.loc[away.sort_values().index, "throw"].head(_SHOWN)]


def _row(window: SquareWindow, fit: TrajectoryFit) -> dict[str, Any]:
    states = fit.throws[0]
    apart = window.throw.position - states.position[states.frame]
    return {
        "throw": window.name,
        "inertia_ratio_mm2": MM2 * fit.inertia_ratio,
        "inertia_ratio_se_mm2": MM2 * fit.inertia_ratio_se,
        "residual_mm": MM * float(np.sqrt((apart[:, :2] ** 2).sum(axis=1).mean())),
        "residual_theta_mrad": MRAD * float(np.sqrt((apart[:, 2] ** 2).mean())),
        **{column: getattr(fit, column) for column in _OF_A_FIT},
        "restitution": window.restitution,
        "windows": FRAMES_LOST if window.lost else AS_RECORDED,
        "lost_frames": window.lost,
        "frames": len(window.throw.time),
        "spin_change_rad_s": window.spin,
        "eq31_mm2": MM2 * window.moment / window.spin if window.spin else float("nan"),
        "per_corner_mm_mm2": MM2 / MM * window.lever,
        "counted": bool(fit.converged and window.lever <= LARGEST_LEVER),
    }


def options_for(data: xr.Dataset) -> SquareOptions:
    """Options with as many throws at rest on each side as a small set can have."""
    return SquareOptions(min(FEWEST_AT_REST, data.sizes["throw"] // _FEWEST_SHARE))


def write_part(data: str, part: str, parts: int, table: str) -> None:
    """Identify a share of the usable throws of a canonical file by themselves, and write a row each.

    The share is every ``parts``-th throw, from number ``part`` (from 0).
    """
    dataset = read_dataset(data)
    options = options_for(dataset)
    usable = square_windows(dataset, options)
    write_csv(identify_window(usable, list(usable.windows)[int(part) :: parts], options)[0], table)


def write_squares(data: str, parts: Sequence[str], table: str, left_out: str, fits: str) -> None:
    """Write the throws' table and those left out, both exactly, and some throws with their states.

    Parameters
    ----------
    data
        Canonical file of the throws.
    parts
        What :func:`write_part` wrote.
    table, left_out, fits
        Files to write.
    """
    dataset = read_dataset(data)
    options = options_for(dataset)
    usable = square_windows(dataset, options)
    order = {name: place for place, name in enumerate(usable.windows)}
    throws = pd.concat([read_csv(path) for path in parts], ignore_index=True)
    throws = throws.sort_values("throw", key=lambda names: names.map(order), ignore_index=True)
    _, found = identify_window(usable, shown_throws(throws), options)
    named = SYNTHETIC if dataset.attrs["synthetic"] else PUBLIC
    write_fits([replace(fit, label=f"{named}, {fit.label}") for fit in found], fits)
    write_exact(throws, table)
    write_exact(pd.DataFrame(list(usable.left_out.items()), columns=["throw", "reason"]), left_out)
