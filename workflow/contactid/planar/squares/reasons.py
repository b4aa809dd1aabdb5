"""Why a thrown square's J/m comes out below the uniform body's: experiments, one row each.

Each of the reasons that could explain it is put to the test: the method (on a synthetic twin with known truth), the
shape of the corners, the length of the window, the time step, the weights, the contact law (eq. 31 knows none), and the
assumption that the body is uniform (bodies that tip without an impact).

What they say of the public throws: the method gives 601 mm2 for 600 on the twin and 445 on the real square, whatever
window, time step and weights, and throws agree to 7 %. Eq. 31 alone gives 414 to 442 with the rounded corners. Tipping
without an impact allows 555 +- 18 at most, and 402 to 459 with the couple that the plates' friction exerts (one body
stands on its corner, at rest). So the real body most likely isn't uniform, which would be 592: more of its mass is near
the centre; its publishers' code takes it as uniform. Sharp corners would give 544, but the body's heights
over the ground exclude them: it would be 2.3 mm deep.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import xarray as xr

from contactid.output.computing import Shown
from contactid.output.tables import read_exact, write_exact
from contactid.planar.readers.throws import SQUARE_SIDE, shape_of, square
from contactid.planar.simulate.geometry import Polygon, contacts
from contactid.planar.squares.identification import (
    AS_RECORDED,
    FRAMES_LOST,
    MM,
    MM2,
    POOLED,
    SquareOptions,
    SquareWindow,
    SquareWindows,
    identify_window,
    options_for,
    rounded,
    square_windows,
)
from contactid.planar.squares.tipping import (
    TippingRatio,
    find_pivots,
    ratio_of_moments,
    rolling_levers,
    standing_couples,
)
from contactid.sources.motion import read_dataset

UNIFORM_MM2 = MM2 * SQUARE_SIDE**2 / 6.0
COLUMNS = (
    "variant", "n", "inertia_ratio_median_mm2", "inertia_ratio_q25_mm2", "inertia_ratio_q75_mm2",
    "inertia_ratio_mean_mm2", "inertia_ratio_se_mm2", "rmse_600_pct", "rmse_own_pct", "misfit_per_degree_median",
    "friction_mu_median", "couple_mm", "lever_mm", "height_mm",
)  # fmt: skip
SHARP = "sharp corners"
REAL, TWIN, UPPER = "real, all counted throws", "synthetic twin (600)", "tipping, no couple"
STANDING, FITTED = "tipping, couple of the body that stands", "tipping, couple fitted to each pivot"
ROLLING, ROUND, SMALL = "slow rolling over a corner", "uniform, rounded corners", "uniform, smaller and sharp"
_EQ31 = ("eq. 31, sharp corners", "eq. 31, rounded, lever of the normal alone", "eq. 31, rounded, both levers")


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
        The throws, their windows, and what :func:`contactid.planar.squares.identification.with_pooled` made of them.
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
    ``lever_mm`` and ``height_mm`` those of :func:`contactid.planar.squares.tipping.rolling_levers`; with rounded
    corners ``height_mm`` is what the rounding takes off a corner.
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
    return _statistics(variant, table["inertia_ratio_mm2"].to_numpy(dtype=float)) | {
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
        SHARP: replace(options, window=replace(options.window, radius=0.0)),
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
    corners = dict(zip(_EQ31, ((sharp, 0.0), (usable.shape, 0.0), (usable.shape, radius)), strict=True))
    windows = usable.named(names)
    return [
        _statistics(variant, [_eq31(window, shape, added) for window in windows])
        for variant, (shape, added) in corners.items()
    ]


def _eq31(window: SquareWindow, shape: Polygon, added: float) -> float:
    """J/m in mm2; ``added`` to the lever of friction, m."""
    met, corner = window.met, window.window.corner
    at = contacts(shape, window.window.throw.ground, met.position)
    change = met.after - met.before
    along_n, along_t = change[:2] @ at.normal[corner, :2], change[:2] @ at.tangent[corner, :2]
    return MM2 * float((along_n * at.normal[corner, 2] + along_t * (at.tangent[corner, 2] + added)) / change[2])


def _tipping(usable: SquareWindows, options: SquareOptions, couple: float | None) -> TippingRatio | None:
    prepared = usable.prepared
    pivots = find_pivots(
        prepared.events, usable.shape, prepared.ground, prepared.radius, prepared.flight, usable.interval
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
    events, shape, ground = usable.prepared.events, usable.shape, usable.prepared.ground
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
        lever, height = MM * np.median(rolled, axis=0)
        height += MM * usable.prepared.radius  # the ground's is that of the corners' centres
        rows.append({"variant": ROLLING, "n": len(rolled), "lever_mm": lever, "height_mm": height})
    return rows


def _uniform_rows(data: xr.Dataset, radius: float) -> list[dict[str, object]]:
    """What uniform bodies of the discussed outlines would have."""
    sharp = shape_of(data)
    assert isinstance(sharp, Polygon)
    smaller = 2.0 * (0.5 * SQUARE_SIDE - radius)
    bodies: Mapping[str, Polygon] = {"uniform, sharp corners": sharp}
    if radius > 0.0:
        bodies = {**bodies, ROUND: rounded(sharp, radius), f"{SMALL} ({MM * smaller:.1f} mm)": square(smaller)}
    rows = [_statistics(variant, [MM2 * body.uniform_inertia_ratio]) for variant, body in bodies.items()]
    for row in rows:
        if row["variant"] == ROUND:
            row["height_mm"] = MM * (_reach(sharp) - _reach(bodies[ROUND]))
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
    write_exact(squares_reasons(dataset, usable, read_exact(squares), twin=read_dataset(twin), options=options), table)


def reasons_table(squares: str, squares_reasons: str) -> Shown:
    """``ext_real_squares_reasons``, and what it says in words."""
    table = read_exact(squares_reasons)
    return Shown(table, md=squares_summary(read_exact(squares), table))


def squares_summary(table: pd.DataFrame, reasons: pd.DataFrame) -> str:
    """What the real squares say, as markdown: a few lines with the numbers of both tables."""
    said = _Said(reasons)
    throws, pooled = table[table["throw"] != POOLED], table[table["throw"] == POOLED]
    together, error = (float(pooled[name].iloc[0]) for name in ("inertia_ratio_mm2", "inertia_ratio_se_mm2"))
    real, rmse = said.median(REAL), said.number(REAL, "rmse_600_pct")
    low, high = (said.number(REAL, f"inertia_ratio_q{share}_mm2") for share in (25, 75))
    lines = [
        f"- {len(throws)} throws are usable, {int(throws['converged'].sum())} converge, {said.number(REAL, 'n'):.0f}"
        f" count (the spin changes enough to tell J/m, and the contact law explains them): median J/m {real:.0f} mm2"
        f" (quartiles {low:.0f} and {high:.0f}), friction {said.number(REAL, 'friction_mu_median'):.2f};"
        f" together {together:.0f} +- {error:.0f} mm2.",
        f"- Throws agree with each other to {said.number(REAL, 'rmse_own_pct'):.1f} % (rms; the paper's has 19 %), but"
        f" with the uniform square's {UNIFORM_MM2:.0f} mm2 only to {rmse:.0f} %.",
    ]
    if TWIN in said:
        lines.append(
            f"- The method isn't the reason: on the synthetic twin it gives {said.median(TWIN):.0f} mm2 for 600 (rms"
            f" error {said.number(TWIN, 'rmse_600_pct'):.1f} %). Neither is the contact law: eq. 31, which knows none,"
            f" gives {said.median(_EQ31[2]):.0f} to {said.median(_EQ31[1]):.0f} mm2."
        )
    if SHARP in said and ROUND in said:
        lines.append(
            f"- Corners matter most: sharp ones would give {said.median(SHARP):.0f} mm2, but then bodies that turn"
            f" slowly on a corner would be {said.number(ROUND, 'height_mm'):.1f} mm deep in the ground."
        )
    if UPPER in said:
        lines.append(_tipping_line(said))
    return "\n".join(lines) + "\n"


class _Said:
    """Numbers of the experiments, by variant and column."""

    def __init__(self, reasons: pd.DataFrame) -> None:
        self.rows = {str(row["variant"]): row for row in reasons.to_dict("records")}

    def __contains__(self, variant: str) -> bool:
        return variant in self.rows

    def number(self, variant: str, column: str) -> float:
        return float(self.rows[variant][column])

    def median(self, variant: str) -> float:
        return self.number(variant, "inertia_ratio_median_mm2")

    def tipped(self, variant: str) -> str:
        mean, error = (self.number(variant, f"inertia_ratio_{name}_mm2") for name in ("mean", "se"))
        return f"{mean:.0f} +- {error:.0f}"


def _tipping_line(said: _Said) -> str:
    text = f"- Without any impact, bodies that tip over a corner have at most {said.tipped(UPPER)} mm2"
    if STANDING in said:
        text += (
            f"; with the couple that holds a body standing on its corner (the plates' friction) {said.tipped(STANDING)}"
        )
    text += f", with one fitted to each {said.tipped(FITTED)}."
    if ROUND in said and ROLLING in said:
        lever, height = said.number(ROLLING, "lever_mm"), said.number(ROLLING, "height_mm")
        text += (
            f" A slow roll ({lever:.1f} mm per rad at {height:.1f} mm height) shows rounded corners and that the"
            f" body isn't a smaller one, so a uniform one would have {said.median(ROUND):.0f} mm2: this one most"
            " likely isn't uniform, more of its mass is near the centre."
        )
    return text
