"""The data behind figures 17, 18, 19, 22, 23 and three extensions: identified throws and tables as tidy csv tables.

Places are in mm of the fixed frame S, times in ms since the throw's first frame. Every row of a table that shows one
throw repeats which it is and what was identified from it: ``label, fps, inertia_ratio_mm2, inertia_ratio_se_mm2,
friction_mu, friction_is_bound``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from contactid.core.errors import ContactIdError
from contactid.planar.identify.states import StoredFit
from contactid.planar.simulate.geometry import outline_at
from contactid.planar.simulate.throws import MeasuredThrow, Truth

MM, MS = 1e3, 1e3  # per m, per s
MM2 = 1e6  # per m2
PATH_COLUMNS = ["fps", "kind", "time_ms", "x_mm", "y_mm"]
THROW_COLUMNS = ["kind", "item", "time_ms", "x_mm", "y_mm", "residual_mm"]
LEAST_FPS = 120.0  # of figure 19
LEAST_MU = 0.2  # of the paper's summary of Table 1
PRINTED_ROLLING_MU = 0.6  # from which on the paper's ellipse rolls
MOSTLY = 0.5  # share of seeds from which on a cell's friction counts as a bound

_POINTS = 800  # of a simulated path
_DETAIL = 0.09  # of the path's length, the width of figure 17's detail
_DETAIL_HEIGHT = 0.6  # of its width
_ORDER = {"simulated": 0, "measured": 1, "identified": 2}


def identified_trajectories(fits: Sequence[StoredFit]) -> pd.DataFrame:
    """Figure 17: paths of the centre of mass, one throw seen at several frame rates.

    Returns
    -------
    ``fps, kind, time_ms, x_mm, y_mm``: the rows of one ``fps`` and ``kind`` (``simulated``, ``measured``,
    ``identified``) are a path; ``detail`` is two corners of the view in which simulated and identified differ most.

    Raises
    ------
    ContactIdError
        Without a fit.
    """
    if not fits:
        raise ContactIdError("there is no identified throw to draw", "Give one per frame rate")
    ordered = sorted(fits, key=lambda fit: fit.frames_per_second)
    parts = [_paths(fit) for fit in ordered]
    detail = _detail(ordered)
    parts.append(pd.DataFrame({"fps": np.nan, "kind": "detail", "x_mm": MM * detail[:, 0], "y_mm": MM * detail[:, 1]}))
    return pd.concat(parts, ignore_index=True)[PATH_COLUMNS]


def identified_impulses(fit: StoredFit) -> pd.DataFrame:
    """Figure 18: contact impulses, identified and simulated, N s.

    A simulation's time step is finer than the identification's, and the impulse of a lasting contact is proportional
    to it. So simulated impulses are summed over the time that is nearer to one identified instant than to the others,
    and stand at the mean time of what was summed.

    Returns
    -------
    ``component`` (``c_n``, ``c_t``), ``kind`` (``identified``; ``simulated``, summed over contacts), ``contact``,
    ``time_ms``, ``impulse_ns`` and what was identified.

    Raises
    ------
    ContactIdError
        Where the mass isn't known.
    """
    if not np.isfinite(fit.mass):
        raise ContactIdError(f"the mass of {fit.label} isn't known", "Draw impulses per mass instead")
    table = pd.concat([_identified(fit), _simulated(fit)], ignore_index=True)
    table["impulse_ns"] = fit.mass * table.pop("impulse_m_s")
    return _with_result(table, fit)


def real_impulses(fit: StoredFit) -> pd.DataFrame:
    """Figure 23: identified contact impulses per mass, m/s.

    Returns
    -------
    As of :func:`identified_impulses`, with ``impulse_m_s`` in place of ``impulse_ns``.
    """
    return _with_result(_identified(fit), fit)


def real_throw(fit: StoredFit, outlines: int = 12) -> pd.DataFrame:
    """Figure 22: identified outlines at about even times, path, ground, and measured places.

    Returns
    -------
    ``kind, item, time_ms, x_mm, y_mm, residual_mm`` and what was identified: the rows of one kind and item are
    a polyline. Kinds are ``outline``, ``mark`` (a corner or end of each outline), ``identified``, ``measured`` and
    ``ground``. ``residual_mm`` is the root mean square distance of measured from identified centres.
    """
    states, throw = fit.states, fit.throw
    shown = np.unique(np.linspace(0, len(states.time) - 1, outlines).round().astype(int))
    bodies = [outline_at(fit.shape, states.position[k]) for k in shown]
    since = MS * (states.time - throw.time[0])
    rows = [("outline", item, since[k], body) for item, (k, body) in enumerate(zip(shown, bodies, strict=True))]
    rows += [("mark", item, since[k], body[:1]) for item, (k, body) in enumerate(zip(shown, bodies, strict=True))]
    rows += [
        ("identified", 0, since, states.position[:, :2]),
        ("measured", 0, MS * (throw.time - throw.time[0]), throw.position[:, :2]),
        ("ground", 0, 0.0, _ground_below(throw, np.concatenate(bodies))),
    ]
    away = throw.position[:, :2] - states.position[states.frame, :2]
    residual = MM * float(np.sqrt((away**2).sum(axis=1).mean()))
    parts = [
        pd.DataFrame({"kind": kind, "item": item, "time_ms": time, "x_mm": MM * xy[:, 0], "y_mm": MM * xy[:, 1]})
        for kind, item, time, xy in rows
    ]
    table = pd.concat(parts, ignore_index=True).assign(residual_mm=residual)[THROW_COLUMNS]
    return _with_result(table, fit)


def identified_friction(cells: pd.DataFrame, least_fps: float = LEAST_FPS) -> pd.DataFrame:
    """Figure 19: identified friction of the cells at high frame rates.

    Parameters
    ----------
    cells
        ``mu, fps, noise_model, mu_median, mu_q25, mu_q75, mu_is_bound_share``, a row per cell.
    least_fps
        Frame rate from which on cells are shown.

    Returns
    -------
    The cells' columns, ``is_bound`` (most seeds found no sliding), ``rolling_from_mu`` (the least true friction from
    which on that holds at all of a noise model's frame rates, NaN without one) and ``printed_rolling_mu``.

    Raises
    ------
    ContactIdError
        Without a cell at such a frame rate.
    """
    kept = ["noise_model", "fps", "mu", "mu_median", "mu_q25", "mu_q75", "mu_is_bound_share"]
    shown = cells.loc[cells["fps"] >= least_fps, kept]
    if shown.empty:
        raise ContactIdError(f"no cell has {least_fps:g} frames/s or more", "Add a frame rate, or lower the least one")
    shown = shown.assign(is_bound=shown["mu_is_bound_share"] >= MOSTLY)
    parts = [
        part.sort_values(["fps", "mu"]).assign(rolling_from_mu=_first_of_tail(part))
        for _, part in shown.groupby("noise_model", sort=False)
    ]
    return pd.concat(parts, ignore_index=True).assign(printed_rolling_mu=PRINTED_ROLLING_MU)


def identification_error(cells: pd.DataFrame) -> pd.DataFrame:
    """Sizes of the errors of J/m by frame rate, beside the printed ones.

    Parameters
    ----------
    cells
        Table 1: ``mu, fps, noise_model, error_abs_median_pct, published_pct, n_seeds, n_converged``, a row per cell.

    Returns
    -------
    ``noise_model, series, mu, fps, error_abs_pct, published_abs_pct, n_seeds, n_converged``: series ``cell``, and
    ``mean`` over the cells with a friction of at least 0.2 that have a value (``mu`` is NaN there).
    """
    table = pd.DataFrame(
        {
            "noise_model": cells["noise_model"],
            "series": "cell",
            "mu": cells["mu"],
            "fps": cells["fps"],
            "error_abs_pct": cells["error_abs_median_pct"],
            "published_abs_pct": cells["published_pct"].abs(),
            "n_seeds": cells["n_seeds"],
            "n_converged": cells["n_converged"],
        }
    )
    grouped = table[table["mu"] >= LEAST_MU - 1e-9].groupby(["noise_model", "fps"], as_index=False, sort=False)
    means = grouped[["error_abs_pct", "published_abs_pct"]].mean()
    counts = grouped[["n_seeds", "n_converged"]].sum()
    summary = means.merge(counts, on=["noise_model", "fps"]).assign(series="mean", mu=np.nan)
    return pd.concat([table.sort_values(["mu", "fps"], kind="stable"), summary[table.columns]], ignore_index=True)


def reformulations(table: pd.DataFrame) -> pd.DataFrame:
    """Accuracy, success and time of each reformulation.

    Parameters
    ----------
    table
        ``reformulation, n, n_converged, error_abs_median_pct, complementarity_median, seconds_median``, and others.

    Returns
    -------
    Those columns and ``success_pct``, the most successful first, then the most accurate.
    """
    kept = [
        "reformulation", "n", "n_converged", "error_abs_median_pct", "complementarity_median", "seconds_median",
    ]  # fmt: skip
    found = table[kept].assign(success_pct=100.0 * table["n_converged"] / table["n"])
    return found.sort_values(["success_pct", "error_abs_median_pct"], ascending=[False, True], ignore_index=True)


def real_squares(table: pd.DataFrame, uniform_mm2: float = 600.0) -> pd.DataFrame:
    """What was identified from each throw of a real body, in ascending order.

    Parameters
    ----------
    table
        ``throw, converged, inertia_ratio_mm2, inertia_ratio_se_mm2, friction_mu``, a row per throw, and ``pooled``.
    uniform_mm2
        J/m of the uniform body, mm2.

    Returns
    -------
    ``quantity`` (``inertia_ratio_mm2``, ``friction_mu``), ``kind`` (``throw``, ``pooled``, ``uniform``), ``throw``,
    ``rank`` (from 1; empty for the other kinds), ``value``, ``se`` (NaN where there is none) and ``converged``.
    """
    pooled = table["throw"].astype(str) == "pooled"
    parts = []
    for quantity, se in (("inertia_ratio_mm2", "inertia_ratio_se_mm2"), ("friction_mu", None)):
        named = pd.DataFrame(
            {
                "quantity": quantity,
                "kind": np.where(pooled, "pooled", "throw"),
                "throw": table["throw"].astype(str),
                "value": table[quantity].astype(float),
                "se": table[se].astype(float) if se else np.nan,
                "converged": table["converged"].astype(bool),
            }
        ).sort_values(["kind", "value"], ascending=[False, True])
        throws = named["kind"] == "throw"
        named.insert(3, "rank", throws.cumsum().where(throws))
        parts.append(named)
    uniform = {"quantity": "inertia_ratio_mm2", "kind": "uniform", "throw": "", "value": uniform_mm2, "converged": True}
    return pd.concat([*parts, pd.DataFrame([uniform])], ignore_index=True)


def _paths(fit: StoredFit) -> pd.DataFrame:
    """The paths of one frame rate, in the order in which they're drawn."""
    throw, states = fit.throw, fit.states
    found = {"measured": (throw.time, throw.position), "identified": (states.time, states.position)}
    truth = _truth(fit)
    if truth is not None:
        inside = np.flatnonzero((truth.time >= throw.time[0]) & (truth.time <= throw.time[-1] + 1e-9))
        shown = inside[np.unique(np.linspace(0, len(inside) - 1, _POINTS).round().astype(int))]
        found["simulated"] = truth.time[shown], truth.position[shown]
    parts = [
        pd.DataFrame(
            {
                "fps": fit.frames_per_second,
                "kind": kind,
                "time_ms": MS * (time - throw.time[0]),
                "x_mm": MM * q[:, 0],
                "y_mm": MM * q[:, 1],
            }
        )
        for kind, (time, q) in sorted(found.items(), key=lambda pair: _ORDER[pair[0]])
    ]
    return pd.concat(parts, ignore_index=True)


def _detail(fits: Sequence[StoredFit]) -> np.ndarray:
    """(2, 2) corners of a view about the place where identified and simulated centres are farthest apart, m."""
    farthest, centre = -1.0, fits[0].states.position[0, :2]
    for fit in fits:
        truth = _truth(fit)
        if truth is None:
            continue
        place = np.column_stack([np.interp(fit.states.time, truth.time, truth.position[:, i]) for i in (0, 1)])
        away = np.linalg.norm(fit.states.position[:, :2] - place, axis=1)
        if away.max() > farthest:
            farthest, centre = float(away.max()), place[int(np.argmax(away))]
    steps = np.diff(fits[-1].states.position[:, :2], axis=0)
    half = 0.5 * _DETAIL * float(np.linalg.norm(steps, axis=1).sum()) * np.array([1.0, _DETAIL_HEIGHT])
    return np.array([centre - half, centre + half])


def _identified(fit: StoredFit) -> pd.DataFrame:
    """Identified impulses per mass, a row per component, contact and instant."""
    time = fit.states.time[:-1] - fit.throw.time[0]
    parts = [
        _impulse_rows(component, "identified", contact, time, impulse[:, contact])
        for component, impulse in (("c_n", fit.states.impulse_n), ("c_t", fit.states.impulse_t))
        for contact in range(impulse.shape[1])
    ]
    return pd.concat(parts, ignore_index=True)


def _simulated(fit: StoredFit) -> pd.DataFrame:
    """Simulated impulses per mass, summed about identified instants; no row where the truth isn't known."""
    truth, instants = _truth(fit), fit.states.time[:-1]
    if truth is None:
        return pd.DataFrame()
    parts = []
    for component, impulse in (("c_n", truth.impulse_n), ("c_t", truth.impulse_t)):
        time, summed = summed_about(instants, truth.time, impulse)
        parts.append(_impulse_rows(component, "simulated", 0, time - fit.throw.time[0], summed))
    return pd.concat(parts, ignore_index=True)


def _truth(fit: StoredFit) -> Truth | None:
    """The simulated throw, where all of it is known."""
    parts = fit.true_time, fit.true_position, fit.true_impulse_n, fit.true_impulse_t
    known = [part for part in parts if part is not None]
    return Truth(*known) if len(known) == len(parts) else None


def summed_about(instants: np.ndarray, time: np.ndarray, impulse: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Impulses (n,) at times (n,) summed about the nearest of ascending instants (m,), and the sums' mean times (m,).

    Impulses further from the first or last instant than half the neighbouring interval are left out.
    """
    steps = np.diff(instants)
    middles = instants[:-1] + 0.5 * steps
    edges = np.concatenate([[instants[0] - 0.5 * steps[0]], middles, [instants[-1] + 0.5 * steps[-1]]])
    summed, _ = np.histogram(time, edges, weights=impulse)
    size, _ = np.histogram(time, edges, weights=np.abs(impulse))
    moment, _ = np.histogram(time, edges, weights=np.abs(impulse) * time)
    return np.where(size > 0.0, moment / np.where(size > 0.0, size, 1.0), instants), summed


def _impulse_rows(component: str, kind: str, contact: int, time: np.ndarray, impulse: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(
        {"component": component, "kind": kind, "contact": contact, "time_ms": MS * time, "impulse_m_s": impulse}
    )


def _with_result(table: pd.DataFrame, fit: StoredFit) -> pd.DataFrame:
    """The same with what was identified in every row."""
    return table.assign(
        label=fit.label,
        fps=fit.frames_per_second,
        inertia_ratio_mm2=MM2 * fit.inertia_ratio,
        inertia_ratio_se_mm2=MM2 * fit.inertia_ratio_se,
        friction_mu=fit.friction_mu,
        friction_is_bound=bool(fit.friction_is_bound),
    )


def _first_of_tail(cells: pd.DataFrame) -> float:
    """Least friction from which on every cell is a bound; NaN without one."""
    free = cells.loc[~cells["is_bound"], "mu"].max()
    bound = cells.loc[cells["is_bound"] & ~(cells["mu"] <= free), "mu"]
    return float(bound.min()) if len(bound) else float("nan")


def _ground_below(throw: MeasuredThrow, points: np.ndarray) -> np.ndarray:
    """(2, 2) ends of the ground's part under points (n, 2), m."""
    origin, tangent = np.array([throw.ground.x0, throw.ground.y0]), throw.ground.tangent
    along = (points - origin) @ tangent
    return origin + np.outer([along.min(), along.max()], tangent)
