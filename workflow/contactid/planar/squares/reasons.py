"""Why a thrown square's J/m comes out below the uniform body's: experiments, one row each.

Each of the reasons that could explain it is put to the test: the method (on a synthetic twin with known truth), which
throws are taken, the shape of the corners, the length of the window, the time step, the weights, the contact law
(eq. 31 knows none), the body's geometry and the lever's instant (:mod:`contactid.planar.squares.impacts`),
and the assumption that the body is uniform (bodies that tip without an impact).

None of them brings J/m up to the uniform body's: forced to have it, eq. 31 needs corners outside the square and leaves
more. What stays open is where in the range between the answers without and with a lag of the lever J/m lies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import xarray as xr

from contactid.output.computing import Shown
from contactid.output.tables import read_exact, write_exact
from contactid.planar.readers.throws import SQUARE_SIDE, square
from contactid.planar.simulate.bodies import GRAVITY
from contactid.planar.simulate.geometry import Polygon, contacts
from contactid.planar.squares.identification import (
    AS_RECORDED,
    FRAMES_LOST,
    MM,
    MM2,
    identify_window,
    median_error,
    options_for,
)
from contactid.planar.squares.impacts import FORCED, FREE, LAGGED, every_impact, free_geometry
from contactid.planar.squares.tipping import (
    TippingRatio,
    find_pivots,
    ratio_of_moments,
    rolling_levers,
    standing_couples,
)
from contactid.planar.squares.windows import PreparedThrows, SquareOptions, SquareWindow, SquareWindows, square_windows
from contactid.sources.motion import read_dataset

UNIFORM_MM2 = MM2 * SQUARE_SIDE**2 / 6.0
COLUMNS = (
    "variant", "n", "inertia_ratio_median_mm2", "median_se_mm2", "inertia_ratio_q25_mm2", "inertia_ratio_q75_mm2",
    "inertia_ratio_mean_mm2", "inertia_ratio_se_mm2", "rmse_600_pct", "rmse_own_pct", "misfit_per_degree_median",
    "misfit_per_degree_q90", "plausible_pct", "intervals_hold_median_pct", "friction_mu_median", "radius_mm",
    "lag_ms",
    "residual_pct", "couple_mm", "lever_mm", "height_mm",
)  # fmt: skip
SHARP = "sharp corners"
ALL, REAL, NOISE = "real, all throws", "real, spin changes", "real, spin changes and noise explains"
TWIN, UPPER = "synthetic twin (600)", "tipping, no couple"
STANDING, FITTED = "tipping, couple of the body that stands", "tipping, couple fitted to each pivot"
ROLLING, ROUND, SMALL = "slow rolling over a corner", "uniform, rounded corners", "uniform, smaller and sharp"
_EQ31_SHARP, _EQ31 = "eq. 31, sharp corners", "eq. 31, rounded corners"

_THROWS = 20  # in each experiment that identifies again
_INTERVAL = 1.96  # standard errors of a 95 % interval
_FRAMES = (6, 12)  # on either side of the impact, of other windows


def squares_reasons(
    data: xr.Dataset, usable: SquareWindows, table: pd.DataFrame, options: SquareOptions, twin: xr.Dataset | None
) -> pd.DataFrame:
    """``ext_real_squares_reasons``.

    Parameters
    ----------
    data, usable, table
        The throws, their windows, and what was identified from each.
    options
        As the throws were identified.
    twin
        Synthetic throws of a uniform square, as the control.

    Returns
    -------
    The columns :data:`COLUMNS`. Quartiles and errors are over throws, impacts or pivots. ``median_se_mm2`` is by a
    bootstrap; that of the real throws takes in the error of the corners' radius. ``rmse_600_pct`` is relative to the
    uniform body as in the paper, ``rmse_own_pct`` to the mean; ``intervals_hold_median_pct`` is how often the 95 %
    interval of a throw holds the median; ``residual_pct`` is what eq. 31 typically leaves of a moment, ``lag_ms`` how
    much later the lever is taken; ``couple_mm`` is a couple by the weight, ``lever_mm`` and ``height_mm`` those of
    :func:`contactid.planar.squares.tipping.rolling_levers`; with rounded corners ``height_mm`` is what the rounding
    takes off a corner.
    """
    counted, explained = table[table["counted"]], table[table["counted"] & table["plausible"]]
    rows = [] if twin is None else _twin_rows(twin, options)
    first = len(rows)
    rows += [_fitted(ALL, table), _fitted(REAL, counted), _fitted(NOISE, explained)]
    for windows in (AS_RECORDED, FRAMES_LOST):
        rows.append(_fitted(f"real, spin changes, {windows}", counted[counted["windows"] == windows]))
    changed = _variants(data, usable, counted, options)
    radius = usable.prepared.shape.radius
    if radius > 0.0 and len(counted):  # sharp corners are what an error of a whole radius does
        (rounded, sharp), name = changed[:2], "inertia_ratio_median_mm2"
        moved = usable.prepared.radius_error / radius * (float(sharp[name]) - float(rounded[name]))  # type: ignore[arg-type]
        for row in (row for row in rows[first:] if row["n"]):
            row["median_se_mm2"] = float(np.hypot(float(row["median_se_mm2"]), moved))  # type: ignore[arg-type]
    rows += changed
    rows += _impact_rows(usable, counted)
    rows += free_geometry(usable.prepared, every_impact(usable.prepared))
    rows += _tipping_rows(usable.prepared)
    rows += _uniform_rows(usable.prepared)
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
        "median_se_mm2": median_error(given) if len(given) > 1 else np.nan,
        "inertia_ratio_q25_mm2": low,
        "inertia_ratio_q75_mm2": high,
        "inertia_ratio_mean_mm2": mean,
        "inertia_ratio_se_mm2": given.std(ddof=1) / np.sqrt(len(given)) if len(given) > 1 else np.nan,
        "rmse_600_pct": 100.0 * np.sqrt(np.mean((given / UNIFORM_MM2 - 1.0) ** 2)),
        "rmse_own_pct": 100.0 * np.sqrt(np.mean((given / mean - 1.0) ** 2)),
    }


def _fitted(variant: str, table: pd.DataFrame) -> dict[str, object]:
    ratios = table["inertia_ratio_mm2"].astype(float)
    holds = (ratios - ratios.median()).abs() <= _INTERVAL * table["inertia_ratio_se_mm2"]
    return _statistics(variant, ratios.to_numpy()) | {
        "misfit_per_degree_median": table["misfit_per_degree"].median(),
        "misfit_per_degree_q90": table["misfit_per_degree"].quantile(0.9),
        "plausible_pct": 100.0 * table["plausible"].mean(),
        "intervals_hold_median_pct": 100.0 * holds.mean(),
        "friction_mu_median": table["friction_mu"].median(),
    }


def _twin_rows(twin: xr.Dataset, options: SquareOptions) -> list[dict[str, object]]:
    """The same identification and the same tipping where the truth is known."""
    options = replace(options, fewest_at_rest=min(options.fewest_at_rest, options_for(twin).fewest_at_rest))
    usable = square_windows(twin, options)
    table, _ = identify_window(usable, usable.windows, options)
    rows = [_fitted(TWIN, table[table["counted"]])]
    tipped = _tipping(usable.prepared, 0.0)
    return rows if tipped is None else [*rows, _tipped(f"{TWIN}, {UPPER}", tipped)]


def _variants(
    data: xr.Dataset, usable: SquareWindows, counted: pd.DataFrame, options: SquareOptions
) -> list[dict[str, object]]:
    """The same throws identified otherwise; spread evenly over the counted ones."""
    pick = np.unique(np.linspace(0, len(counted) - 1, min(_THROWS, len(counted))).round().astype(int))
    names = [str(name) for name in counted["throw"].to_numpy()[pick]] if len(counted) else []
    step = options.longest_step
    changed = {
        SHARP: replace(options, radius=0.0),
        **{f"{n} frames before and after": replace(options, frames=n) for n in _FRAMES},
        f"time step {500.0 * step:.3g} instead of {1000.0 * step:.3g} ms": replace(options, longest_step=0.5 * step),
    }
    rows = [_fitted("the throws of the next rows", counted[counted["throw"].isin(names)])]
    for variant, other in changed.items():
        rows.append(_again(variant, square_windows(data, other), names, other))
    return [*rows, _again("twice the noise of theta", _noisier(usable), names, options)]


def _again(variant: str, usable: SquareWindows, names: list[str], options: SquareOptions) -> dict[str, object]:
    table, _ = identify_window(usable, [name for name in names if name in usable.windows], options)
    return _fitted(variant, table)


def _noisier(usable: SquareWindows) -> SquareWindows:
    """Other weights: theta counts a quarter."""
    other = {}
    for name, window in usable.windows.items():
        other[name] = replace(window, throw=replace(window.throw, sigma=window.throw.sigma * [1.0, 1.0, 2.0]))
    return replace(usable, windows=other)


def _impact_rows(usable: SquareWindows, counted: pd.DataFrame) -> list[dict[str, object]]:
    """Eq. 31 of the counted impacts, with the corners sharp and rounded."""
    rounded = usable.prepared.shape
    windows = [usable.windows[name] for name in counted["throw"]]
    return [
        _statistics(variant, [_eq31(window, shape) for window in windows])
        for variant, shape in ((_EQ31_SHARP, replace(rounded, radius=0.0)), (_EQ31, rounded))
    ]


def _eq31(window: SquareWindow, shape: Polygon) -> float:
    """J/m in mm2."""
    at, corner = contacts(shape, window.throw.ground, window.met.position), window.corner
    other = replace(window, normal=at.normal[corner], tangent=at.tangent[corner])
    return MM2 * (other.moment / other.spin)


def _tipping(prepared: PreparedThrows, couple: float | None) -> TippingRatio | None:
    pivots = find_pivots(prepared)
    return ratio_of_moments(pivots, couple) if len(pivots) > 1 else None


def _tipped(variant: str, found: TippingRatio) -> dict[str, object]:
    return _statistics(variant, MM2 * found.pivots) | {
        "inertia_ratio_mean_mm2": MM2 * found.ratio,
        "inertia_ratio_se_mm2": MM2 * found.error,
        "couple_mm": MM * found.couple / GRAVITY,
    }


def _tipping_rows(prepared: PreparedThrows) -> list[dict[str, object]]:
    """Without a couple, with the one that holds a standing body, and with one that is fitted."""
    standing = standing_couples(prepared)
    couples: dict[str, float | None] = {UPPER: 0.0}
    if standing:
        couples[STANDING] = max(standing.values())
    couples[FITTED] = None
    rows = []
    for variant, couple in couples.items():
        found = _tipping(prepared, couple)
        if found is not None:
            rows.append(_tipped(variant, found))
    rolled = np.array(list(rolling_levers(prepared).values())).reshape(-1, 2)
    if len(rolled):
        lever, height = MM * np.median(rolled, axis=0)
        rows.append({"variant": ROLLING, "n": len(rolled), "lever_mm": lever, "height_mm": height})
    return rows


def _uniform_rows(prepared: PreparedThrows) -> list[dict[str, object]]:
    """What uniform bodies of the discussed outlines would have."""
    body, radius = prepared.shape, prepared.shape.radius
    sharp = replace(body, radius=0.0)
    rows = [_statistics("uniform, sharp corners", [MM2 * sharp.uniform_inertia_ratio])]
    if radius > 0.0:
        smaller = 2.0 * (0.5 * SQUARE_SIDE - radius)
        lost = {"height_mm": MM * (_reach(sharp) - _reach(body))}
        rows.append(_statistics(ROUND, [MM2 * body.uniform_inertia_ratio]) | lost)
        small = f"{SMALL} ({MM * smaller:.1f} mm)"
        rows.append(_statistics(small, [MM2 * square(smaller).uniform_inertia_ratio]))
    return rows


def _reach(body: Polygon) -> float:
    """The farthest corner's distance from the centre, m."""
    return float(np.linalg.norm(body.outline(), axis=1).max())


def write_reasons(data: str, twin: str, squares: str, table: str) -> None:
    """Write the experiments to the last digit.

    Parameters
    ----------
    data, twin
        Canonical files of the throws and of the synthetic ones that are the control.
    squares
        What :func:`contactid.planar.squares.identification.write_squares` wrote of the throws.
    table
        File to write.
    """
    dataset = read_dataset(data)
    options = options_for(dataset)
    usable = square_windows(dataset, options)
    write_exact(squares_reasons(dataset, usable, read_exact(squares), options, read_dataset(twin)), table)


def reasons_table(squares: str, squares_reasons: str) -> Shown:
    """``ext_real_squares_reasons``, and what it says in words."""
    table = read_exact(squares_reasons)
    return Shown(table, md=squares_summary(read_exact(squares), table))


def squares_summary(table: pd.DataFrame, reasons: pd.DataFrame) -> str:
    """What the real squares say, as markdown: a few lines with the numbers of both tables."""
    said = reasons.set_index("variant")
    median, mean, error = (said[f"inertia_ratio_{name}_mm2"] for name in ("median", "mean", "se"))
    lines = [f"- {len(table)} throws are usable, {int(table['converged'].sum())} converge."]
    for variant in (ALL, REAL, NOISE):
        row = said.loc[variant]
        if row["n"] > 1:
            lines.append(
                f"- {variant} ({row['n']:.0f}): median J/m {row['inertia_ratio_median_mm2']:.0f} +-"
                f" {row['median_se_mm2']:.0f} mm2, {row['rmse_own_pct']:.0f} % rms about the mean and"
                f" {row['rmse_600_pct']:.0f} % from the uniform square's {UNIFORM_MM2:.0f} mm2; misfit per degree of"
                f" freedom {row['misfit_per_degree_median']:.1f}, 95 % intervals hold the median in"
                f" {row['intervals_hold_median_pct']:.0f} %."
            )
    if TWIN in said.index:
        lines.append(f"- The synthetic twin gives {median[TWIN]:.0f} mm2 for 600 through the same code.")
    radius, residual = said["radius_mm"], said["residual_pct"]
    lines.append(
        f"- Eq. 31, which knows no contact law, gives {mean[FREE]:.0f} +- {error[FREE]:.0f} mm2 over all"
        f" {said['n'][FREE]:.0f} impacts of a single corner, with radius, centre and turn free, and"
        f" {mean[LAGGED]:.0f} +- {error[LAGGED]:.0f} where the lever may be taken at another instant"
        f" ({said['lag_ms'][LAGGED]:.2f} ms): typically {residual[FREE]:.1f} and {residual[LAGGED]:.1f} % of a moment"
        f" are left. With the uniform body's J/m it leaves {residual[FORCED]:.1f} % at a radius of"
        f" {radius[FORCED]:.1f} mm."
    )
    if SHARP in said.index and ROUND in said.index:
        lines.append(
            f"- Corners matter most: sharp ones give {median[SHARP]:.0f} mm2, but then bodies that turn"
            f" slowly on a corner would be {said['height_mm'][ROUND]:.1f} mm deep in the ground."
        )
    if UPPER in said.index:
        tipped = {name: f"{mean[name]:.0f} +- {error[name]:.0f}" for name in said.index}
        text = f"- Without any impact, bodies that tip over a corner have at most {tipped[UPPER]} mm2"
        if STANDING in said.index:
            text += (
                f"; with the couple that holds a body standing on its corner (the plates' friction) {tipped[STANDING]}"
            )
        text += f", with one fitted to each {tipped[FITTED]}."
        if ROUND in said.index and ROLLING in said.index:
            lever, height = said.loc[ROLLING, ["lever_mm", "height_mm"]]
            text += (
                f" A slow roll ({lever:.1f} mm per rad at {height:.1f} mm height) shows rounded corners and that the"
                f" body isn't a smaller one, so a uniform one would have {median[ROUND]:.0f} mm2."
            )
        lines.append(text)
    return "\n".join(lines) + "\n"
