"""Why a thrown square's J/m comes out below the uniform body's: experiments, one row each.

Each of the reasons that could explain it is put to the test: the method (on a synthetic twin with known truth), the
shape of the corners, the length of the window, the time step, the weights, the contact law (eq. 31 knows none), and the
assumption that the body is uniform (bodies that tip without an impact).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import xarray as xr

from contactid.datasets.planar_throws import SQUARE_SIDE, shape_of, square
from contactid.planar.real_squares import (
    AS_RECORDED,
    FRAMES_LOST,
    MM,
    MM2,
    POOLED,
    SquareOptions,
    SquareWindows,
    identify_window,
    square_windows,
)
from contactid.planar.throw_flight import corners_moved_in
from contactid.planar.tipping import (
    TippingRatio,
    find_pivots,
    ratio_of_moments,
    rolling_levers,
    standing_couples,
)
from contactid.simulate.planar_geometry import Ground, Polygon, contacts

UNIFORM_MM2 = MM2 * SQUARE_SIDE**2 / 6.0
COLUMNS = (
    "variant", "n", "inertia_ratio_median_mm2", "inertia_ratio_q25_mm2", "inertia_ratio_q75_mm2",
    "inertia_ratio_mean_mm2", "inertia_ratio_se_mm2", "rmse_600_pct", "rmse_own_pct", "misfit_per_degree_median",
    "friction_mu_median", "couple_mm", "lever_mm", "height_mm",
)  # fmt: skip
REAL, TWIN, UPPER = "real, all counted throws", "synthetic twin (600)", "tipping, no couple"
STANDING, FITTED = "tipping, couple of the body that stands", "tipping, couple fitted to each pivot"
ROLLING, ROUND, SMALL = "slow rolling over a corner", "uniform, rounded corners", "uniform, smaller and sharp"
_ARC = 24  # points of a rounded corner


@dataclass(frozen=True)
class ReasonOptions:
    """``throws`` in each experiment that identifies again, and the frames on either side of the longer windows."""

    throws: int = 20
    frames: tuple[int, ...] = (6, 12)


def squares_reasons(
    data: xr.Dataset,
    usable: SquareWindows,
    table: pd.DataFrame,
    *,
    twin: xr.Dataset | None = None,
    options: SquareOptions | None = None,
    reasons: ReasonOptions | None = None,
) -> pd.DataFrame:
    """``ext_real_squares_reasons``.

    Parameters
    ----------
    data, usable, table
        The throws, their windows, and what :func:`contactid.planar.real_squares.identify_squares` made of them.
    twin
        Synthetic throws of a uniform square, as the control.
    options
        As the throws were identified.
    reasons
        How many throws each experiment takes.

    Returns
    -------
    The columns :data:`COLUMNS`. Quartiles and errors are over throws, impacts or pivots; ``rmse_600_pct`` is relative
    to the uniform body as in the paper, ``rmse_own_pct`` to the mean; ``couple_mm`` is a couple by the weight,
    ``lever_mm`` and ``height_mm`` those of :func:`contactid.planar.tipping.rolling_levers`.
    """
    options, reasons = options or SquareOptions(), reasons or ReasonOptions()
    throws = table[table["throw"] != POOLED]
    counted = throws[throws["counted"]]
    rows = [] if twin is None else _twin_rows(twin, options)
    rows.append(_fitted(REAL, counted))
    for windows in (AS_RECORDED, FRAMES_LOST):
        rows.append(_fitted(f"real, {windows}", counted[counted["windows"] == windows]))
    rows += _variants(data, usable, counted, options, reasons)
    rows += _impact_rows(data, usable, list(counted["throw"]))
    rows += _tipping_rows(usable, options)
    rows += _uniform_rows(data, usable.prepared.radius)
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _statistics(variant: str, values: Sequence[float] | np.ndarray) -> dict[str, object]:
    """Of J/m in mm2."""
    given = np.asarray(values, dtype=float)
    given = given[np.isfinite(given)]
    if not len(given):
        return {"variant": variant, "n": 0}
    mean = float(given.mean())
    low, middle, high = np.quantile(given, [0.25, 0.5, 0.75])
    return {
        "variant": variant,
        "n": len(given),
        "inertia_ratio_median_mm2": middle,
        "inertia_ratio_q25_mm2": low,
        "inertia_ratio_q75_mm2": high,
        "inertia_ratio_mean_mm2": mean,
        "inertia_ratio_se_mm2": given.std(ddof=1) / np.sqrt(len(given)) if len(given) > 1 else np.nan,
        "rmse_600_pct": 100.0 * np.sqrt(np.mean((given / UNIFORM_MM2 - 1.0) ** 2)),
        "rmse_own_pct": 100.0 * np.sqrt(np.mean((given / mean - 1.0) ** 2)),
    }


def _fitted(variant: str, table: pd.DataFrame) -> dict[str, object]:
    return _statistics(variant, table["inertia_ratio_mm2"]) | {
        "misfit_per_degree_median": table["misfit_per_degree"].median(),
        "friction_mu_median": table["friction_mu"].median(),
    }


def _twin_rows(twin: xr.Dataset, options: SquareOptions) -> list[dict[str, object]]:
    """The same identification and the same tipping where the truth is known."""
    fewest = min(options.throw.fewest_at_rest, twin.sizes["throw"] // 4)
    options = replace(options, throw=replace(options.throw, fewest_at_rest=fewest))
    usable = square_windows(twin, options)
    table, _ = identify_window(usable, [window.name for window in usable.windows], options)
    rows = [_fitted(TWIN, table[table["counted"]])]
    tipped = _tipping(usable, options, 0.0)
    return rows if tipped is None else [*rows, _tipped(f"{TWIN}, {UPPER}", tipped, options)]


def _variants(
    data: xr.Dataset, usable: SquareWindows, counted: pd.DataFrame, options: SquareOptions, reasons: ReasonOptions
) -> list[dict[str, object]]:
    """The same throws identified otherwise; spread evenly over the counted ones."""
    pick = np.unique(np.linspace(0, len(counted) - 1, min(reasons.throws, len(counted))).round().astype(int))
    names = [str(name) for name in counted["throw"].to_numpy()[pick]] if len(counted) else []
    step = options.fit.longest_step
    changed = {
        "sharp corners": replace(options, window=replace(options.window, radius=0.0)),
        **{
            f"{n} frames before and after": replace(
                options, window=replace(options.window, frames_before=n, frames_after=n)
            )
            for n in reasons.frames
        },
        f"time step {500.0 * step:.3g} instead of {1000.0 * step:.3g} ms": replace(
            options, fit=replace(options.fit, longest_step=0.5 * step)
        ),
    }
    rows = [_fitted("the throws of the next rows", counted[counted["throw"].isin(names)])]
    for variant, other in changed.items():
        rows.append(_again(variant, square_windows(data, other), names, other))
    return [*rows, _again("twice the noise of theta", _noisier(usable), names, options)]


def _again(variant: str, usable: SquareWindows, names: list[str], options: SquareOptions) -> dict[str, object]:
    known = {window.name for window in usable.windows}
    table, _ = identify_window(usable, [name for name in names if name in known], options)
    return _fitted(variant, table)


def _noisier(usable: SquareWindows) -> SquareWindows:
    """Other weights: theta counts a quarter."""
    other = []
    for window in usable.windows:
        throw = window.window.throw
        throw = replace(throw, sigma=throw.sigma * [1.0, 1.0, 2.0])
        other.append(replace(window, window=replace(window.window, throw=throw)))
    return replace(usable, windows=tuple(other))


def _impact_rows(data: xr.Dataset, usable: SquareWindows, names: list[str]) -> list[dict[str, object]]:
    """Eq. 31 of the counted impacts, for three ideas of the corners."""
    sharp, radius = shape_of(data), usable.prepared.radius
    assert isinstance(sharp, Polygon)
    corners = {
        "eq. 31, sharp corners": (sharp, 0.0),
        "eq. 31, rounded, lever of the normal alone": (usable.shape, 0.0),
        "eq. 31, rounded, both levers": (usable.shape, radius),
    }
    return [
        _statistics(variant, [_eq31(window.met, shape, added, window.window.corner) for window in usable.named(names)])
        for variant, (shape, added) in corners.items()
    ]


def _eq31(met: object, shape: Polygon, added: float, corner: int) -> float:
    """J/m in mm2 over a level ground; ``added``: to the lever of friction, m."""
    at = contacts(shape, Ground(), met.position)  # type: ignore[attr-defined]
    change = met.after - met.before  # type: ignore[attr-defined]
    moment = at.normal[corner, 2] * change[1] + (at.tangent[corner, 2] + added) * change[0]
    return MM2 * float(moment / change[2])


def _tipping(usable: SquareWindows, options: SquareOptions, couple: float | None) -> TippingRatio | None:
    prepared = usable.prepared
    pivots = find_pivots(
        prepared.events, usable.shape, usable.ground, prepared.radius, prepared.flight, usable.interval
    )
    return ratio_of_moments(pivots, options.throw, couple=couple) if len(pivots) > 1 else None


def _tipped(variant: str, found: TippingRatio, options: SquareOptions) -> dict[str, object]:
    return _statistics(variant, MM2 * found.pivots) | {
        "inertia_ratio_mean_mm2": MM2 * found.ratio,
        "inertia_ratio_se_mm2": MM2 * found.error,
        "couple_mm": MM * found.couple / options.throw.gravity,
    }


def _tipping_rows(usable: SquareWindows, options: SquareOptions) -> list[dict[str, object]]:
    """Without a couple, with the one that holds a standing body, and with one that is fitted."""
    events, shape, ground = usable.prepared.events, usable.shape, usable.ground
    standing = standing_couples(events, shape, ground, options.throw)
    couples: dict[str, float | None] = {UPPER: 0.0}
    if standing:
        couples[STANDING] = max(standing.values())
    couples[FITTED] = None
    rows = []
    for variant, couple in couples.items():
        found = _tipping(usable, options, couple)
        if found is not None:
            rows.append(_tipped(variant, found, options))
    rolled = np.array(list(rolling_levers(events, shape, ground).values())).reshape(-1, 2)
    if len(rolled):
        lever, height = np.median(rolled, axis=0) + [0.0, usable.prepared.radius]
        rows.append({"variant": ROLLING, "n": len(rolled), "lever_mm": MM * lever, "height_mm": MM * height})
    return rows


def rounded(shape: Polygon, radius: float) -> Polygon:
    """A polygon with rounded corners, each an arc of many short sides."""
    inner, _ = corners_moved_in(shape, Ground(), radius)
    corners = np.array(shape.vertices)
    sides = np.roll(corners, -1, axis=0) - corners
    angle = np.unwrap(np.arctan2(-sides[:, 0], sides[:, 1]))
    points = []
    for k, centre in enumerate(inner.vertices):
        turn = (angle[k] - angle[k - 1]) % (2.0 * np.pi)
        along = angle[k] - turn + turn * np.linspace(0.0, 1.0, _ARC)
        points += [(centre[0] + radius * np.cos(a), centre[1] + radius * np.sin(a)) for a in along]
    return Polygon(tuple((float(x), float(y)) for x, y in points))


def _uniform_rows(data: xr.Dataset, radius: float) -> list[dict[str, object]]:
    """What uniform bodies of the discussed outlines would have."""
    sharp = shape_of(data)
    assert isinstance(sharp, Polygon)
    smaller = 2.0 * (0.5 * SQUARE_SIDE - radius)
    bodies: Mapping[str, Polygon] = {"uniform, sharp corners": sharp}
    if radius > 0.0:
        bodies = {**bodies, ROUND: rounded(sharp, radius), f"{SMALL} ({MM * smaller:.1f} mm)": square(smaller)}
    return [_statistics(variant, [MM2 * body.uniform_inertia_ratio]) for variant, body in bodies.items()]


def squares_summary(table: pd.DataFrame, reasons: pd.DataFrame) -> str:
    """What the real squares say, as markdown: a few lines with the numbers of both tables."""
    by_variant = reasons.set_index("variant")
    real = by_variant.loc[REAL]
    throws, pooled = table[table["throw"] != POOLED], table[table["throw"] == POOLED].iloc[0]
    lines = [
        f"- {len(throws)} throws are usable, {int(throws['converged'].sum())} converge, {int(real['n'])} count (the"
        f" spin changes enough to tell J/m, and the contact law explains them): median J/m"
        f" {real['inertia_ratio_median_mm2']:.0f} mm2 (quartiles {real['inertia_ratio_q25_mm2']:.0f} and"
        f" {real['inertia_ratio_q75_mm2']:.0f}), friction {real['friction_mu_median']:.2f}; together"
        f" {pooled['inertia_ratio_mm2']:.0f} +- {pooled['inertia_ratio_se_mm2']:.0f} mm2.",
        f"- Throws agree with each other to {real['rmse_own_pct']:.1f} % (rms), better than the paper's 19 %, but with"
        f" the uniform square's {UNIFORM_MM2:.0f} mm2 only to {real['rmse_600_pct']:.0f} %.",
    ]
    if TWIN in by_variant.index:
        twin = by_variant.loc[TWIN]
        lines.append(
            f"- The method isn't the reason: on the synthetic twin it gives {twin['inertia_ratio_median_mm2']:.0f} mm2"
            f" for 600 (rms error {twin['rmse_600_pct']:.1f} %). Neither are window, time step and weights, nor the"
            " contact law: eq. 31, which knows none, gives the same."
        )
    if UPPER in by_variant.index:
        lines.append(_tipping_line(by_variant))
    return "\n".join(lines) + "\n"


def _tipping_line(by_variant: pd.DataFrame) -> str:
    upper, fitted = by_variant.loc[UPPER], by_variant.loc[FITTED]
    text = (
        f"- Without any impact, bodies that tip over a corner have at most {upper['inertia_ratio_mean_mm2']:.0f} +-"
        f" {upper['inertia_ratio_se_mm2']:.0f} mm2"
    )
    if STANDING in by_variant.index:
        held = by_variant.loc[STANDING]
        text += (
            f"; with the couple that holds a body standing on its corner (the plates' friction) it is"
            f" {held['inertia_ratio_mean_mm2']:.0f} +- {held['inertia_ratio_se_mm2']:.0f}"
        )
    text += f", with one fitted to each {fitted['inertia_ratio_mean_mm2']:.0f} +- {fitted['inertia_ratio_se_mm2']:.0f}."
    if ROUND in by_variant.index and ROLLING in by_variant.index:
        rolling = by_variant.loc[ROLLING]
        text += (
            f" A slow roll ({rolling['lever_mm']:.1f} mm per rad at {rolling['height_mm']:.1f} mm height) shows rounded"
            f" corners, not a smaller body, so a uniform one would have"
            f" {by_variant.loc[ROUND, 'inertia_ratio_median_mm2']:.0f} mm2: the body isn't uniform, more of its mass is"
            " near the centre."
        )
    return text
