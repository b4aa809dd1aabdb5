"""``contactid.identify``: J/m and friction of a flat body from a user's own throws, as a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.threads import one_blas_thread
from contactid.output.own_report import cpu_seconds
from contactid.output.residual_figure import draw_residuals
from contactid.output.result import Result, parameter_row, parameter_table
from contactid.output.simulator_formats import IdentifiedBody
from contactid.planar.artefacts.time_lapse import evenly, polyline
from contactid.planar.engine.unknowns import (
    HEIGHT,
    MU,
    POINT_X,
    POINT_Y,
    RADIUS,
    RATIO,
    SLOPE,
    TURN,
    reach_of,
)
from contactid.planar.own import draw
from contactid.planar.own.body import read_own_body
from contactid.planar.own.doubts import MM2
from contactid.planar.own.explained import explained_throws
from contactid.planar.own.identify import OwnIdentification, stated_geometry
from contactid.planar.readers.csv_throws import Throws, sources_of
from contactid.planar.simulate.geometry import Polygon, outline_at
from contactid.sources.conventions import Convention

FOUND_RADIUS = "The corner radius was found; on simulated throws its interval held in 92 of 100."
_POSITIVE = ("inertia_ratio", "friction_mu", "inertia", "corner_radius")
CHANNELS = {"x": "m", "y": "m", "theta": "rad"}
_LIMITS = (
    "The body is taken as rigid, the ground as straight, and friction as Coulomb's: what bends or "
    "gives way shows in the residuals alone.",
    "Each impact has a restitution of its own, so restitution isn't among the answers.",
)
_OUTLINES, _DRAWN = 12, 9  # shown per throw, and throws
# of a prior's standard deviation: with a larger error the data tell less than half of what is known
_HALF = float(np.sqrt(0.5))


@one_blas_thread
def identify(
    throws: Throws,
    body: str | Path | Mapping[str, Any],
    *,
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    frame: Mapping[str, str] | None = None,
    progress: Callable[[str], None] = lambda line: None,
    steps: Callable[[str], None] | None = None,
) -> Result:
    """J/m and friction of a flat body from throws onto a straight ground, all taken together.

    Parameters
    ----------
    throws
        Poses of a point near the centre of mass before, during and after impacts: columns ``t``
        (s), ``x``, ``y`` (m, y upwards) and ``theta`` (rad, counter-clockwise from x), evenly
        spaced in time but for lost frames. A csv file or several, one a throw; a DataFrame or a
        Dataset with these columns, and ``throw`` where there are several.
    body
        ``shape`` (m), and optionally ``mass`` (kg), ``ground``, ``noise``, ``centre``, ``turn``,
        ``gravity``, as a YAML file or a mapping (:mod:`contactid.planar.own.body`).
    columns, units, frame
        What is otherwise than stated above (:class:`contactid.sources.conventions.Convention`).
    progress, steps
        Called with a line of text on what is read and tried, and on each step of the search.

    Returns
    -------
    Result
        ``params``: ``inertia_ratio`` (J/m, m2), ``friction_mu``, ``inertia`` (kg m2, where the mass
        is stated), ``corner_radius`` (m), how the tracked frame lies in the body (``turn``, rad;
        ``centre_x``, ``centre_y``, m) and the ground (``slope``, rad; ``ground_y``, m). Friction
        that is only bounded has no error, and its 95 % are open above. Tables: ``throws``;
        ``states``, the identified motion in SI units, impulses per mass in m/s; ``trajectory``,
        what is drawn. ``residuals``: ``x``, ``y`` (m) and ``theta`` (rad) of the body's centre and
        axes, a row per measured frame.

    Raises
    ------
    ContactIdError
        For whatever is wrong with the throws or the body; where another convention explains them;
        where they don't determine J/m.
    """
    begin = cpu_seconds()
    convention = Convention(columns or {}, units or {}, frame or {})
    sources = sources_of(throws)
    found = explained_throws(read_own_body(body), sources, convention, steps, progress)
    return result_of(found, cpu_seconds() - begin)


def result_of(found: OwnIdentification, seconds: float = 0.0) -> Result:
    """What was identified, as a result; it took so many seconds of CPU time."""
    params, residuals = _params(found), residuals_of(found)
    states, scene = states_table(found), scene_table(found)
    drawn = states[states["throw"].isin(found.names[:_DRAWN])]
    covariance = _covariance(found, params)
    return Result(
        title=f"Flat body from {', '.join(found.throws.names)}",
        params=params,
        covariance=covariance,
        residuals=residuals,
        reasons=(),
        warnings=found.warnings,
        notes=(*found.notes, *_notes(found)),
        record=_record(found, seconds),
        tables={"throws": _throws_table(found), "states": states, "trajectory": scene},
        figures={
            "J/m and friction": partial(draw.draw_region, params, covariance),
            "Measured and identified motion": partial(draw.draw_trajectory, scene),
            "Residuals": partial(draw_residuals, residuals, "throw"),
            "Impulses per mass": partial(draw.draw_impulses, drawn),
        },
        body=None if found.body.mass is None else _simulator_body(found),
        headline=tuple(found.lines()),
        limits=_LIMITS if found.body.radius_given else (FOUND_RADIUS, *_LIMITS),
        shown=("throws",),
    )


def states_table(found: OwnIdentification) -> pd.DataFrame:
    """Identified motion, a row per instant of every throw; measured poses in the rows of frames,
    else empty.

    Impulses are per mass (m/s) and belong to the instant; gaps are in m, numbered like the shape's
    corners from 0.
    """
    tables = []
    for name, throw, states in found.each:
        n, n_c = len(states.time), states.gap.shape[1]
        measured, impulses = np.full((n, 3), np.nan), np.full((2, n, n_c), np.nan)
        measured[states.frame] = throw.position
        impulses[:, :-1] = states.impulse_n, states.impulse_t
        columns: dict[str, Any] = {"throw": name, "time_s": states.time}
        for i, (pose, rate) in enumerate(
            (("x_m", "v_x_m_s"), ("y_m", "v_y_m_s"), ("theta_rad", "omega_rad_s"))
        ):
            columns |= {
                pose: states.position[:, i],
                f"measured_{pose}": measured[:, i],
                rate: states.velocity[:, i],
            }
        for c in range(n_c):
            columns |= {
                f"impulse_{kind}_{c}_m_s": impulse[:, c]
                for kind, impulse in zip("nt", impulses, strict=True)
            }
            columns[f"gap_{c}_m"] = states.gap[:, c]
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def scene_table(found: OwnIdentification) -> pd.DataFrame:
    """Polylines of the first throws as in :mod:`contactid.planar.artefacts.time_lapse`, and
    ``measured`` points.
    """
    parts = []
    for panel, (name, throw, states) in enumerate(found.each[:_DRAWN]):
        shown = evenly(states.frame, _OUTLINES)
        outlines = [outline_at(found.body.shape, states.position[k]) for k in shown]
        lines = [("outline", item, states.time[k], outlines[item]) for item, k in enumerate(shown)]
        ground = np.array([throw.ground.origin, throw.ground.origin + throw.ground.tangent])
        lines += [
            ("com", 0, states.time, states.position),
            ("measured", 0, throw.time, throw.position),
            ("ground", 0, 0.0, ground),
        ]
        parts += [
            polyline(points, panel=panel, label=name, kind=kind, item=item, time_s=time)
            for kind, item, time, points in lines
        ]
    return pd.concat(parts, ignore_index=True)


def residuals_of(found: OwnIdentification) -> xr.Dataset:
    """Measured less identified poses of the frames that were measured, as ``Result.residuals``."""
    poses, names, times = [], [], []
    for name, throw, states in found.each:
        residual = throw.position - states.position[states.frame]
        # frames without a pose lie on the identified motion to the last digit
        measured = (residual != 0.0).any(axis=1)
        poses.append(residual[measured])
        times.append(throw.time[measured])
        names += [name] * int(measured.sum())
    channels = {
        name: ("frame", values, {"units": unit, "noise": float(noise)})
        for (name, unit), values, noise in zip(
            CHANNELS.items(), np.concatenate(poses).T, found.throws.sigma, strict=True
        )
    }
    time = ("frame", np.concatenate(times), {"units": "s"})
    return xr.Dataset(channels, coords={"throw": ("frame", np.array(names)), "time": time})


def _params(found: OwnIdentification) -> pd.DataFrame:
    fit, mass = found.fit, found.body.mass
    ratio, error = fit.inertia_ratio, fit.inertia_ratio_se
    bounds = (fit.friction_mu, np.inf) if fit.friction_is_bound else None
    rows = [
        parameter_row("inertia_ratio", ratio, error, "m2"),
        parameter_row("friction_mu", fit.friction_mu, fit.friction_mu_se, "1", ends=bounds),
    ]
    if mass is not None:
        rows.append(parameter_row("inertia", mass * ratio, mass * error, "kg m2"))
    params = parameter_table([*rows, *_geometry_rows(found)])
    positive = [name for name in _POSITIVE if name in params.index]
    # an interval of what can't be negative
    params.loc[positive, "low"] = params.loc[positive, "low"].clip(lower=0.0)
    return params


def _geometry_rows(found: OwnIdentification) -> Iterator[dict[str, Any]]:
    fit, body = found.fit, found.body
    geometry, aligned = stated_geometry(body, found.throws), fit.alignment
    turn, x, y, slope, height = fit.geometry_errors
    point, stated = geometry.point_error, body.centre is not None
    if isinstance(body.shape, Polygon):
        radius = fit.corner_radius, fit.corner_radius_se, "m", geometry.radius_error
        yield _geometry_row("corner_radius", *radius, body.radius_given)
    yield _geometry_row(
        "turn", aligned.turn, turn, "rad", geometry.turn_error, body.turn is not None
    )
    yield _geometry_row("centre_x", -float(aligned.point[0]), x, "m", point, stated)
    yield _geometry_row("centre_y", -float(aligned.point[1]), y, "m", point, stated)
    yield _geometry_row("slope", aligned.ground.slope, slope, "rad", geometry.slope_error)
    yield _geometry_row("ground_y", aligned.ground.y0, height, "m", geometry.height_error)


def _geometry_row(
    name: str, value: float, error: float, unit: str, prior: float, stated: bool = False
) -> dict[str, Any]:
    """``prior`` is the standard deviation of what is known without the poses."""
    without_poses = "stated" if stated else "prior"
    return parameter_row(
        name, value, error, unit, "data" if error < _HALF * prior else without_poses
    )


# the engine's unknown behind each parameter; it has the tracked point where we say the centre
_PLACES = {
    "inertia_ratio": (RATIO, 1.0),
    "friction_mu": (MU, 1.0),
    "corner_radius": (RADIUS, 1.0),
    "turn": (TURN, 1.0),
    "centre_x": (POINT_X, -1.0),
    "centre_y": (POINT_Y, -1.0),
    "slope": (SLOPE, 1.0),
    "ground_y": (HEIGHT, 1.0),
}


def _covariance(found: OwnIdentification, params: pd.DataFrame) -> pd.DataFrame:
    """Errors by profiles, correlations by the cost's curvature; of parameters with an error."""
    has_error = params["error"] > 0.0
    names = [name for name in _PLACES if name in params.index and has_error[name]]
    places = [_PLACES[name][0] for name in names]
    signed = params.loc[names, "error"] * [_PLACES[name][1] for name in names]
    correlation = found.fit.correlation[np.ix_(places, places)]
    matrix = correlation * np.outer(signed, signed)
    return pd.DataFrame(matrix, index=names, columns=names)


def _throws_table(found: OwnIdentification) -> pd.DataFrame:
    rows = []
    for name, throw, states in found.each:
        off = (states.position[states.frame] - throw.position)[:, :2]
        rows.append(
            {
                "throw": name,
                "frames": len(throw.time),
                "frames_per_s": 1.0 / throw.frame_interval,
                "impacts": states.n_impacts,
                "farthest_from_measured_mm": 1e3 * float(np.linalg.norm(off, axis=1).max()),
            }
        )
    return pd.DataFrame(rows)


def _notes(found: OwnIdentification) -> Iterator[str]:
    fit, uniform = found.fit, MM2 * found.body.shape.uniform_inertia_ratio
    yield f"A uniform body of this shape has J/m = {uniform:.4g} mm2."
    yield (f"Squared residuals in units of their noise: {fit.squares:.4g}, expected {fit.degrees}.")
    if len(found.each) > _DRAWN:
        yield f"Figures of motions and impulses show the first {_DRAWN} throws."


def _simulator_body(found: OwnIdentification) -> IdentifiedBody:
    """The body as a simulator takes it: a plate of the outline, its thickness a tenth of its reach,
    in its plane.

    Friction that is a bound only, and restitution, which the identified model doesn't have, are
    left out.
    """
    fit, outline = found.fit, found.body.shape.outline()[:-1]
    half = 0.05 * reach_of(found.body.shape)
    assert found.body.mass is not None
    return IdentifiedBody(
        name="body",
        mass=found.body.mass,
        center_of_mass=np.zeros(3),
        # a flat body has I_x + I_y = I_z; in its plane only I_z matters
        inertia=found.body.mass * fit.inertia_ratio * np.diag([0.5, 0.5, 1.0]),
        friction=None if fit.friction_is_bound else fit.friction_mu,
        hull=np.concatenate(
            [np.column_stack([outline, np.full(len(outline), z)]) for z in (-half, half)]
        ),
        planar=True,
    )


def _record(found: OwnIdentification, seconds: float) -> dict[str, Any]:
    fit, throws = found.fit, found.throws
    return {
        "objective": 0.5 * fit.squares,
        "status": "solved" if fit.converged else "not converged",
        "converged": fit.converged,
        "residuals": {"misfit_per_degree": fit.misfit_per_degree},
        "iterations": None,
        "seconds": seconds,
        "seed": None,
        "data": {
            "throws": list(throws.names),
            "frames": [int(seen.sum()) for seen in throws.seen],
            "sigma": throws.sigma.tolist(),
            "sigma_given": throws.sigma_given,
        },
        "model": "impacts by themselves (eq. 31)"
        if fit.by_impacts
        else "motion from event to event",
        "reformulation": None,
        "standard_error_scale": found.scale,
        "friction_is_bound": fit.friction_is_bound,
        "squared_residuals": fit.squares,
        "degrees_of_freedom": fit.degrees,
        "warnings": list(found.warnings),
        "notes": list(found.notes),
    }
