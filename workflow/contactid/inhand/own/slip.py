"""Friction of a surface from a user's own trials: read a folder of them, estimate, and report.

A trial is a csv (:mod:`contactid.inhand.own.slip_command` names its columns). Rows that lack a
number are left out, and rows faster than 100 a second are averaged, since the slip detector counts
samples of about that rate.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError
from contactid.inhand.friction.line import SurfaceFriction, surface_friction
from contactid.inhand.friction.slip import UNSEEN, SlipEstimate, estimate_friction, unit_normal
from contactid.inhand.own.draw import draw_slip
from contactid.inhand.own.files import OwnColumns
from contactid.output.escape import markdown, one_line
from contactid.output.fits import write_fit
from contactid.output.own_report import PARAMETERS, SUMMARY
from contactid.output.style import save, styled
from contactid.output.tables import write_report_csv
from contactid.sources.conventions import STATED, Convention

_STEP = 0.01  # s; faster rows are averaged over it
_FAST = 0.75  # of it, between rows that are
_ROUNDING = 1e-6  # of it, that times are rounded by
_SLOWEST = 0.05  # s between rows
_FARTHEST = 0.5  # m that a contact point goes; beyond it millimetres were taken for metres
_PRESSING = 0.5  # least share of rows with a force into the object
_ROLLS = np.cos(
    np.deg2rad(10.0)
)  # of the normal about its mean in one trial; beyond it the surface isn't flat there
_DIRECTIONS = (0.0, 20.0)  # degrees that may be stated
_WIDE = 0.1  # relative standard error from which on a warning tells of it
_MOST_NAMES = 5  # trials that a warning names


@dataclass(frozen=True, eq=False)
class OwnTrial:
    """A trial of n samples, ready to be estimated from: ``time`` (n,) s, ``force`` and ``point``
    (n, 3), ``normal``.
    """

    name: str
    time: np.ndarray
    force: np.ndarray
    point: np.ndarray
    normal: np.ndarray


@dataclass(frozen=True, eq=False)
class OwnFriction:
    """Estimated friction with what to think of it.

    Attributes
    ----------
    trials, estimates : each trial and what it shows alone
    surface : what they show together; None where none slipped
    direction_sd : rad, as stated
    seconds : that it took
    """

    trials: tuple[OwnTrial, ...]
    estimates: tuple[SlipEstimate, ...]
    surface: SurfaceFriction | None
    direction_sd: float
    seconds: float

    @property
    def held(self) -> float:
        """Largest lower bound of a trial alone, of what eq. 5 shows; 0 where no trial pressed for
        long enough.
        """
        return max(
            [one.lower_bound for one in self.estimates if np.isfinite(one.lower_bound)], default=0.0
        )

    def lines(self) -> list[str]:
        """The results, for a terminal."""
        slipped = [one.friction for one in self.estimates if one.slipped]
        counted, surface = f"{len(slipped)} of {len(self.trials)} trials slipped", self.surface
        if surface is None:
            return [f"{counted}; mu, with the surface's warp, is at least {self.held:.3f}"]
        load = [one.normal_force for one in self.estimates if one.slipped]
        loads = f"{min(load):.3g} to {max(load):.3g} N"
        naive = f"eq. 5 with the undeformed normal, median = {np.median(slipped):.3f}"
        told = f"{surface.friction:.3f} +- {surface.standard_error:.2g} (standard error), at least"
        told += f" {surface.lower_bound:.3f} (99 %)"
        if not surface.line:
            return [
                f"{counted}, at a normal force of {loads}",
                f"mu with the surface's warp = {told}",
                naive,
            ]
        warp, error = np.degrees([surface.warp, surface.warp_error])
        return [
            f"{counted}, at normal forces of {loads}",
            f"mu = {told}",
            f"warp = {warp:.2f} +- {error:.2g} degrees/N",
            naive,
        ]

    @property
    def warnings(self) -> list[str]:
        """Sentences on what not to trust."""
        told, surface = [], self.surface
        unseen = [
            trial.name
            for trial, one in zip(self.trials, self.estimates, strict=True)
            if UNSEEN in one.message
        ]
        if unseen:
            names = ", ".join(unseen[:_MOST_NAMES]) + ", ..." * (len(unseen) > _MOST_NAMES)
            told.append(
                f"Both forces fell together in {len(unseen)} trials without a slip that is seen ({names}): {UNSEEN}. "
                "Only bounds are taken of them; trials.csv has how short a slide would be seen."
            )
        if surface is None:
            return [
                *told,
                "No trial slipped: there is a lower bound alone. Let the normal force fall further.",
            ]
        if not surface.line:
            told.append(
                "All slips are at about one normal force, so friction can't be told from the surface's warp. Repeat "
                "with another tangential force, twice as large or half."
            )
        elif surface.standard_error > _WIDE * surface.friction:
            told.append(
                f"mu is known to {100.0 * surface.standard_error / surface.friction:.0f} % only: more trials, and "
                "loads further apart, tell more."
            )
        if surface.unlikely:
            told.append(
                f"Angles scatter {surface.scatter:.2g} times as much about the line as stated: friction that follows "
                "no line, trials at different places, or a worse direction. Errors are by the scatter."
            )
        if surface.line and surface.warp < -2.0 * surface.warp_error:
            told.append(
                "The angle falls with the load, as no warp does: friction itself depends on the load here."
            )
        return told


def estimate_slip(
    folder: str | Path, direction: str | float, convention: Convention = STATED
) -> OwnFriction:
    """Read a folder's trials and estimate; ``direction`` is the force's error of direction in
    degrees.

    Raises
    ------
    ContactIdError
        For whatever is wrong with the folder, a file or ``direction``.
    """
    begin, sd = time.perf_counter(), _direction(direction)
    trials, estimates = read_trials(folder, convention), []
    for trial in trials:
        try:
            estimates.append(estimate_friction(trial.force, trial.point, trial.normal, sd))
        except ContactIdError as error:
            raise ContactIdError(f"{trial.name}: {error.problem}", error.remedy) from None
    slipped = [one for one in estimates if one.slipped]
    friction, errors, load = (
        np.array([getattr(one, name) for one in slipped])
        for name in ("friction", "standard_error", "normal_force")
    )
    surface = surface_friction(friction, errors, load, sd) if slipped else None
    return OwnFriction(tuple(trials), tuple(estimates), surface, sd, time.perf_counter() - begin)


def _direction(stated: str | float) -> float:
    try:
        degrees = float(stated)
    except ValueError:
        degrees = np.nan
    if not _DIRECTIONS[0] < degrees < _DIRECTIONS[1]:
        raise ContactIdError(
            f"a direction's deviation of {stated} degrees",
            "Give one above 0 and below 20, such as 1",
        )
    return float(np.deg2rad(degrees))


def read_trials(folder: str | Path, convention: Convention = STATED) -> list[OwnTrial]:
    """The trials of a folder, by name; other files than csv are passed over.

    Raises
    ------
    ContactIdError
        Where there is none, and for the first that can't be used.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ContactIdError(f"{folder}: is no folder", "Name a folder with a csv per trial")
    paths = sorted(path for path in folder.iterdir() if path.suffix.lower() == ".csv")
    if not paths:
        raise ContactIdError(
            f"{folder}: no trial (.csv) is in it", "Name a folder with a csv per trial"
        )
    return [_read_trial(path, convention) for path in paths]


def _read_trial(path: Path, convention: Convention) -> OwnTrial:
    columns = OwnColumns.read(path, convention)
    contacts = columns.contacts or ("",)
    if len(contacts) > 1:
        raise ContactIdError(f"{path}: forces of {', '.join(contacts)}", "Give one finger's alone")
    of_contact = [f"contact_{kind}_{contacts[0]}".rstrip("_") for kind in ("force", "position")]
    wanted = [
        "time",
        *(f"{kind}_{axis}" for kind in (*of_contact, "surface_normal") for axis in "xyz"),
    ]
    columns.refuse_without(wanted)
    rows = columns.values(wanted, len(wanted))
    rows = rows[np.isfinite(rows).all(axis=1)]
    try:
        return _averaged(path.name, *np.split(rows, [1, 4, 7], axis=1))
    except ContactIdError as error:
        raise ContactIdError(f"{path}: {error.problem}", error.remedy) from None


def _averaged(
    name: str, clock: np.ndarray, force: np.ndarray, point: np.ndarray, normals: np.ndarray
) -> OwnTrial:
    """A trial from its rows, checked, at 100 samples a second at most."""
    clock, step = clock[:, 0], np.diff(clock[:, 0])
    if not len(step):
        raise ContactIdError(f"{len(clock)} rows with all numbers", "Correct the recording")
    if np.any(step <= 0.0):
        raise ContactIdError(
            f"time doesn't increase after {clock[np.argmax(step <= 0.0)]:g} s", "Sort or correct it"
        )
    if np.median(step) > _SLOWEST:
        raise ContactIdError(
            f"time has {np.median(step):g} s between rows", "Give it in s, 20 rows a second or more"
        )
    if np.ptp(point, axis=0).max() > _FARTHEST:
        raise ContactIdError(
            f"contact_position goes {np.ptp(point, axis=0).max():.3g} m far", "Give it in metres"
        )
    directions = unit_normal(normals)
    normal = unit_normal(directions.mean(axis=0))
    if (directions @ normal).min() < _ROLLS:
        raise ContactIdError(
            "surface_normal turns by more than 10 degrees", "Slide on a flat part of the surface"
        )
    pressing = float(np.mean(force @ normal > 0.0))
    if pressing < _PRESSING:
        raise ContactIdError(
            f"the finger presses into the object in {100.0 * pressing:.0f} % of the rows only",
            "Give the finger's force on the object, and a normal into it",
        )
    fast = np.median(step) < _FAST * _STEP
    bins = np.floor((clock - clock[0]) / _STEP + _ROUNDING) if fast else np.arange(len(clock))
    starts = np.flatnonzero(np.diff(bins, prepend=-1))
    counts = np.diff(np.append(starts, len(bins)))[:, None]
    clock, force, point = (
        np.add.reduceat(one, starts, axis=0) / counts for one in (clock[:, None], force, point)
    )
    return OwnTrial(name, clock[:, 0], force, point, normal)


def write_slip(found: OwnFriction, folder: Path) -> None:
    """Write summary, parameters, table and figure into an empty folder."""
    table = trial_table(found)
    write_text(folder / SUMMARY, summary(found))
    write_fit(folder / PARAMETERS, slip_record(found))
    write_report_csv(table, folder / "trials.csv")
    with styled():
        figure = draw_slip(table, found.surface)
        save(figure, folder / "slip")
        plt.close(figure)


def trial_table(found: OwnFriction) -> pd.DataFrame:
    """A row per trial: what eq. 5 shows in it alone, with the undeformed normal."""
    both = list(zip(found.trials, found.estimates, strict=True))
    return pd.DataFrame(
        {
            "trial": [trial.name for trial, _ in both],
            "slipped": [one.slipped for _, one in both],
            "slip_time": [trial.time[one.onset] if one.slipped else np.nan for trial, one in both],
            "normal_force": [one.normal_force for _, one in both],
            "apparent_friction": [one.friction for _, one in both],
            "standard_error": [one.standard_error for _, one in both],
            "apparent_lower_bound": [one.lower_bound for _, one in both],
            "seen": [one.message for _, one in both],
        }
    )


def slip_record(found: OwnFriction) -> dict[str, Any]:
    """The record that :func:`contactid.output.fits.write_fit` takes; what isn't told is null."""
    surface, slipped = found.surface, [one.friction for one in found.estimates if one.slipped]
    line = surface if surface is not None and surface.line else None
    shown = surface.lower_bound if surface else found.held
    return {
        "parameters": {
            "friction_mu": line and line.friction,
            "warp_deg_per_n": line and float(np.degrees(line.warp)),
        },
        "standard_errors": {
            "friction_mu": line and line.standard_error,
            "warp_deg_per_n": line and float(np.degrees(line.warp_error)),
        },
        "lower_bound": line and line.lower_bound,
        "apparent_friction": float(np.median(slipped)) if slipped else None,
        "apparent_lower_bound": None if line else shown,
        "objective": None,
        "status": "line" if line else "one load" if surface else "no slip",
        "converged": line is not None,
        "residuals": {"scatter_over_stated": surface and surface.scatter},
        "iterations": 1,
        "seconds": found.seconds,
        "seed": None,
        "data": {
            "trials": [trial.name for trial in found.trials],
            "slipped": len(slipped),
            "direction_sd_deg": float(np.degrees(found.direction_sd)),
        },
        "model": "atan of eq. 5 at slip = atan(mu) + warp N",
        "reformulation": "none",
        "units": {
            "normal_force": "N",
            "slip_time": "s",
            "friction_mu": "1",
            "warp_deg_per_n": "degrees/N",
        },
        "warnings": found.warnings,
    }


def summary(found: OwnFriction) -> str:
    """The report in Markdown."""
    lines = ["# Friction of a surface", "", *(f"* **{line}**" for line in found.lines())]
    lines += [
        "",
        "## Warnings",
        "",
        *(f"* {markdown(warning)}" for warning in found.warnings or ["None."]),
    ]
    lines += [
        "",
        "## Trials",
        "",
        "Each alone, by eq. 5 with the undeformed normal. The bound is a ratio of tangential to normal",
        "force that held, less two deviations of the force's direction. Both have the surface's warp in them.",
        "",
        "| trial | normal force at slip (N) | apparent mu | apparent bound | seen |",
        "|---|---|---|---|---|",
    ]
    for row in trial_table(found).itertuples():
        alone = f"{row.normal_force:.3g} | {row.apparent_friction:.3f}" if row.slipped else " | "
        name, seen = markdown(one_line(row.trial)), markdown(row.seen)
        lines.append(f"| {name} | {alone} | {row.apparent_lower_bound:.3f} | {seen} |")
    lines += [
        "",
        "## How",
        "",
        "The angle at slip is atan(mu) + warp N, N the normal force: a line over the trials.",
    ]
    lines += [
        f"Directions are stated to {np.degrees(found.direction_sd):.2g} degrees, one error a trial."
    ]
    lines += ["An error that all trials share isn't counted.", "", "![slip](slip.png)", ""]
    return "\n".join(lines)
