"""Eq. 27 on some impacts of a thrown square, each by itself, beside eq. 31 on the same ones (paper,
section 6.2).

Eq. 31 takes every impact at once (:mod:`contactid.planar.squares.impacts`). The paper's contact
motion takes a second for each, so it is identified where noise matters least: the impacts with the
largest changes of spin, one of a throw. These are known before any fit, and none is left out for
its misfit, J/m or friction.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.errors import ContactIdError
from contactid.output.tables import write_exact
from contactid.planar.identify.fit import FitOptions, TrajectoryFit, fit_trajectory, stored
from contactid.planar.identify.states import write_fits
from contactid.planar.squares.impacts import every_impact
from contactid.planar.squares.windows import SquareWindow, prepare_throws
from contactid.sources.motion import read_dataset

FITTED = 24  # impacts, a second each; their median is then known to a percent
_SHOWN = 3  # whose states are kept
_LONGEST_STEP = 2.1e-3  # s, of the identified motion: two to a frame
_MM2 = 1e6  # per m2
SYNTHETIC, PUBLIC = "synthetic data: throws of a square", "public data: throws of a square"
_OF_A_FIT = (
    "converged", "plausible", "misfit_per_degree", "complementarity", "friction_mu", "friction_is_bound"
)  # fmt: skip


def largest_turns(windows: Iterable[SquareWindow]) -> list[SquareWindow]:
    """The impact of each throw that changes the spin most, of the :data:`FITTED` throws in which
    one changes it most.

    Impacts at which the camera lost frames don't count.
    """
    recorded = [window for window in windows if not window.lost]
    largest: dict[str, SquareWindow] = {}
    # each throw keeps the first that comes, its largest
    for window in sorted(recorded, key=lambda one: -abs(one.spin)):
        largest.setdefault(window.name, window)
    return list(largest.values())[:FITTED]


def write_squares(data: str, table: str, fits: str) -> None:
    """Identify a square from single impacts of a canonical file; write a row each, and the states
    of typical ones.

    Raises
    ------
    ContactIdError
        Without such an impact, and as :func:`contactid.planar.squares.windows.prepare_throws`.
    """
    dataset = read_dataset(data)
    prepared = prepare_throws(dataset)
    named = SYNTHETIC if dataset.attrs["synthetic"] else PUBLIC
    windows = largest_turns(every_impact(prepared))
    if not windows:
        raise ContactIdError(
            f"{dataset.attrs['source']}: no impact of a single corner between two flights",
            "Throw higher, and tilted",
        )
    rows, states = [], []
    for window in windows:
        fit = fit_trajectory(prepared.shape, window.throw, FitOptions(longest_step=_LONGEST_STEP))
        rows.append(_row(window, fit))
        states.append(stored(f"{named}, {window.name}", prepared.shape, window.throw, fit))
    # shown are the fits nearest to the median, not the best ones
    middle = float(np.median([fit.inertia_ratio for fit in states]))
    typical = sorted(states, key=lambda fit: abs(fit.inertia_ratio - middle))
    write_fits(typical[:_SHOWN], fits)
    write_exact(pd.DataFrame(rows), table)


def _row(window: SquareWindow, fit: TrajectoryFit) -> dict[str, Any]:
    return {
        "throw": window.name,
        "frames": len(window.throw.time),
        "spin_change_rad_s": window.spin,
        "eq31_mm2": _MM2 * window.moment / window.spin,
        "inertia_ratio_mm2": _MM2 * fit.inertia_ratio,
        "inertia_ratio_se_mm2": _MM2 * fit.inertia_ratio_se,
        **{column: getattr(fit, column) for column in _OF_A_FIT},
        "restitution": window.restitution,
    }
