"""The velocity of an arm's tip right after an impact, from a user's own recordings, beside the
impact map's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from contactid.arm.artefacts.fits import draw_cartesian_fit
from contactid.arm.identify.methods import ADMISSIBLE
from contactid.arm.identify.recordings import curves_of
from contactid.arm.own.explained import explained_impact
from contactid.arm.own.impacts import OwnImpact, own_robot
from contactid.arm.own.recordings import Recordings, read_own
from contactid.core.errors import ContactIdError
from contactid.core.threads import one_blas_thread
from contactid.output.residual_figure import draw_residuals
from contactid.output.result import Result, parameter_row, parameter_table
from contactid.output.style import label_data
from contactid.sources.conventions import Convention

_IN_A_FIGURE = 4  # impacts
_LWR4 = "KUKA LWR 4+"
_CHANNELS = ("along", "normal")
_SINCE = {"units": "s", "long_name": "time since impact"}
_LIMITS = (
    "The map has neither motors nor friction. On simulated arms with motors it is some 10 mm/s off where the"
    " recordings' v+ is right: a difference between the two doesn't tell which is wrong.",
    "Intervals are as wide as models that explain the vibration differ. They are tested on simulated arms alone"
    " (docs/lab/arm.md).",
)
_OF_OTHERS = (
    "Only the LWR 4+, a UR5, a Panda and an xArm 7 are tested: other intervals may be too narrow."
)
_OF_LWR4 = "The described inertias of the LWR 4+ can't all be right (docs/lab/arm.md), and the map rests on them."


@one_blas_thread
def impact(
    recordings: Recordings,
    *,
    robot: str | Path = "",
    probe: float = 0.10,
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Result:
    """Velocity of an arm's tip right after each impact on a table, measured and by the impact map.

    Parameters
    ----------
    recordings
        Joint positions ``q1`` to ``q7``, or as many as the robot has (rad, or degrees where they
        are as large), and time ``t`` (s, ms, us or ns; 1 kHz without it): .mat files (``q``
        (n, joints), ``t``), tables, folders of both; or a DataFrame or Dataset, in which
        ``recording`` names the recording that a row belongs to.
    robot
        A link table with the columns of the packaged lwr4.csv; the KUKA LWR 4+ for none.
    probe
        Length of the probe, m, from the last moving link's origin along its z axis: flange and
        sensor included, whose mass doesn't count.
    columns, units
        What is otherwise than stated above (:class:`contactid.sources.conventions.Convention`).
    progress
        Called with a line of text as each step is done.

    Returns
    -------
    Result
        ``params``, for each recording: ``NAME.vx_minus``, ``vz_minus`` before and ``vx_plus``,
        ``vz_plus`` after the impact (m/s; x along the tip's motion, z up, normal to the table), and
        ``impact_time`` (s since the first sample). ``covariance`` is diagonal: v_x+ is taken where
        the normal velocity is zero, and an interval is mostly how far models differ, which says
        nothing of how errors go together. ``residuals``: ``along`` and ``normal`` (sample,), m/s,
        off the fit behind the impact, with the noise of the approach. Tables: ``predictions``, a
        row per recording with the map's v+ beside (``contactid impact --help`` names its columns);
        ``methods``, v+ by every method, and as if nothing happened along the table.

    Raises
    ------
    ContactIdError
        For whatever is wrong with the files, and where no recording gives a velocity.
    """
    arm = own_robot(robot, probe)
    read, left_out = read_own(recordings, arm, Convention(columns or {}, units or {}))
    progress(f"{len(read)} of {len(read) + len(left_out)} recordings can be read")
    impacts: list[OwnImpact] = []
    for file, one in read.items():
        try:
            impacts.append(explained_impact(arm, one, file))
        except ContactIdError as error:
            left_out[file] = str(error).removesuffix(".")
    if not impacts:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        raise ContactIdError(f"no velocity after an impact is found: {reasons}")
    return _result(impacts, left_out, str(robot) or _LWR4, probe)


def _result(
    impacts: Sequence[OwnImpact], left_out: Mapping[str, str], robot: str, probe: float
) -> Result:
    params = parameter_table([row for one in impacts for row in _parameters(one)])
    residuals = _residuals(impacts)
    warnings = [f"{name}: left out: {reason}" for name, reason in left_out.items()]
    warnings += [f"{one.name}: {text}" for one in impacts for text in one.warnings]
    errors = np.diag(params["error"].to_numpy() ** 2)
    return Result(
        title=f"Impacts of {robot}",
        params=params,
        covariance=pd.DataFrame(errors, index=params.index, columns=params.index),
        residuals=residuals,
        reasons=(),
        warnings=tuple(warnings),
        notes=tuple(f"{one.name}: {text}" for one in impacts for text in one.remarks),
        record=_record(impacts, left_out, robot, probe, warnings),
        tables={
            "predictions": pd.DataFrame([one.row() for one in impacts]),
            "methods": pd.DataFrame([row for one in impacts for row in _methods(one)]),
        },
        figures={
            **_velocities(impacts),
            "Residuals": partial(draw_residuals, residuals, "recording"),
        },
        headline=tuple(one.line() for one in impacts),
        limits=(_OF_LWR4 if robot == _LWR4 else _OF_OTHERS, *_LIMITS),
        shown=("methods",),
    )


def _parameters(one: OwnImpact) -> Iterator[dict[str, Any]]:
    window, answer = one.evaluated.window, one.answer
    named = {
        "impact_time": (window.impact_time, window.impact_time_se, "s"),
        "vx_minus": (window.pre_velocity[0], window.pre_velocity_se[0], "m/s"),
        "vz_minus": (window.pre_velocity[1], window.pre_velocity_se[1], "m/s"),
        "vx_plus": (answer.velocity[0], answer.se[0], "m/s"),
        "vz_plus": (answer.velocity[1], answer.se[1], "m/s"),
    }
    for name, (value, error, unit) in named.items():
        yield parameter_row(f"{one.name}.{name}", value, error, unit)


def _methods(one: OwnImpact) -> Iterator[dict[str, Any]]:
    """v+ by every method, by the map, and as the naive answer has it: v- along the table, and no
    normal velocity.
    """
    found = one.evaluated
    before = found.window.pre_velocity
    alone = {
        "impact map": found.map_velocity,
        "naive: v- along the table": np.array([before[0], 0.0]),
    }
    head = {"recording": one.name}
    for method, answer in found.answers.items():
        yield {
            **head,
            "method": method,
            "vx_plus": answer.velocity[0],
            "vx_plus_se": answer.se[0],
            "vz_plus": answer.velocity[1],
            "vz_plus_se": answer.se[1],
        }
    for method, reason in found.failures.items():
        yield {**head, "method": f"{method}: {reason}"}
    for method, velocity in alone.items():
        # the map's normal velocity is zero but for rounding
        along, normal = np.round(velocity, 12) + 0.0
        yield {**head, "method": method, "vx_plus": along, "vz_plus": normal}


def _residuals(impacts: Sequence[OwnImpact]) -> xr.Dataset:
    names, times, velocities, noises = [], [], [], []
    for one in impacts:
        window, fits = one.evaluated.window, one.answer.fits
        fitted = np.column_stack([fit.evaluate(window.time) for fit in fits])
        velocities.append(window.velocity - fitted)
        times.append(window.time)
        names += [one.name] * len(window.time)
        noises.append(_approach_noise(one))
    noise, left = np.median(noises, axis=0), np.concatenate(velocities)
    return xr.Dataset(
        {
            name: ("sample", left[:, k], {"units": "m/s", "noise": float(noise[k])})
            for k, name in enumerate(_CHANNELS)
        },
        coords={
            "recording": ("sample", np.array(names)),
            "time": ("sample", np.concatenate(times), _SINCE),
        },
    )


def _approach_noise(one: OwnImpact) -> np.ndarray:
    """(2,) m/s: deviations of the velocities about straight lines before the impact."""
    motion, window = one.evaluated.motion, one.evaluated.window
    since = motion.mid_time - window.impact_time
    # as far back as the window reaches; the last sample may hold a part of the impact
    near = (since >= -window.time[-1]) & (since < -window.step)
    line = np.polynomial.polynomial.polyfit(since[near], motion.velocity[near], 1)
    off = motion.velocity[near] - np.polynomial.polynomial.polyval(since[near], line).T
    # two degrees go to the line
    spread: np.ndarray = off.std(axis=0, ddof=2)
    return spread


def _velocities(impacts: Sequence[OwnImpact]) -> dict[str, Callable[[], Figure]]:
    figures: dict[str, Callable[[], Figure]] = {}
    for start in range(0, len(impacts), _IN_A_FIGURE):
        some = impacts[start : start + _IN_A_FIGURE]
        number = f" {start // _IN_A_FIGURE + 1}" if len(impacts) > _IN_A_FIGURE else ""
        figures[f"Velocities{number}"] = partial(_draw_velocities, some)
    return figures


def _draw_velocities(impacts: Sequence[OwnImpact]) -> Figure:
    """Velocities of some impacts with their fits, as figure 6 of the paper."""
    curves = pd.concat(
        [curves_of({"experiment": one.name}, one.evaluated, ADMISSIBLE) for one in impacts]
    )
    figure = draw_cartesian_fit(curves.assign(source="recordings of your own"))
    label_data(figure, ", ".join(one.name for one in impacts))
    return figure


def _record(
    impacts: Sequence[OwnImpact],
    left_out: Mapping[str, str],
    robot: str,
    probe: float,
    warnings: Sequence[str],
) -> dict[str, Any]:
    """What ``parameters.json`` holds."""
    return {
        "robot": robot,
        "probe_length_m": probe,
        "method": ADMISSIBLE,
        "recordings": [
            {
                **one.row(),
                "q_impact_rad": one.evaluated.q.tolist(),
                "remarks": one.remarks,
                "warnings": one.warnings,
            }
            for one in impacts
        ],
        "left_out": dict(left_out),
        "warnings": list(warnings),
    }
