"""Identify a user's own body and report it: J/m, mu, their standard errors, states, figures, and what to distrust.

The identification is that of :mod:`contactid.planar.identify.fit`, all throws jointly, with its standard errors,
which grow with the misfit. Where noise can't explain the misfit, the body departs from the model (rounded corners,
drag, out-of-plane motion) or the noise is larger than stated; the report then says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import chi2

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError
from contactid.output.escape import markdown
from contactid.output.fits import write_fit
from contactid.output.own_report import PARAMETERS, SUMMARY, cpu_seconds
from contactid.output.simulator_formats import IdentifiedBody, mjcf
from contactid.output.style import save, styled
from contactid.output.tables import write_report_csv
from contactid.planar.artefacts.time_lapse import evenly, polyline
from contactid.planar.identify.contact_equations import contact_steps
from contactid.planar.identify.fit import FitOptions, TrajectoryFit
from contactid.planar.identify.identifiability import Flag, Identifiability, identifiability
from contactid.planar.identify.states import ThrowStates
from contactid.planar.models.trajectory import LARGEST_MU
from contactid.planar.own.body import FEWEST_IN_FLIGHT, OwnBody, OwnThrows
from contactid.planar.own.draw import draw_impulses, draw_trajectory
from contactid.planar.own.geometry import Say, fit_geometry, least_friction, silent
from contactid.planar.own.geometry_problem import COMMON, GeometryFit, Piece
from contactid.planar.own.solve import (
    FITTED_MOTION,
    by_impacts,
    known_geometry,
    left_open,
    own_impacts,
    settled_fit,
    with_geometry,
)
from contactid.planar.simulate.geometry import outline_at
from contactid.planar.simulate.throws import MeasuredThrow

_UNLIKELY = 1e-3  # probability of a misfit below which noise doesn't explain it
_NOT_WHOLE = 3.0  # misfit per degree of whole throws above which impacts are taken by themselves
_PUSHES = 1e-4  # m/s: impulses per mass below it are none
_HOPELESS = 3.0  # factor of the standard errors above which the model is plainly not the body's
_INTERVAL = 1.96  # standard errors of an interval of 95 %
_WIDEST = 0.5  # of all J/m that the outline allows: an interval that holds more of it is no answer
_NEAR_BOUND = 0.98
_WEAK = 0.2  # relative standard error
_FEW_FRAMES = 4  # between first contact and last frame
_SLOPE_FRAMES = (3, 12)  # frames from which a velocity before or after an impact is known
_OUTLINES, _DRAWN = 12, 9  # shown per throw, and throws
FOUND_RADIUS = "The corner radius was found; on simulated throws its interval held in nine of ten."
_HINT = ", which is likely to be far larger: check ground, shape, the tracked point, and which frames are used"
_MORE = "Record more frames per second or more throws, or correct the noise"
STATES, BODY = "states.csv", "body.xml"
MM2 = 1e6  # mm2 in a m2


@dataclass(frozen=True)
class OwnIdentification:
    """An identified body with what to think of it.

    Attributes
    ----------
    body, throws : what it was identified from
    geometry : ground, tracked frame and corners
    names : of the throws, or of their impacts, that were identified
    fit : the answer; where nothing slides in whole throws, its mu is the bound of :func:`least_friction`
    options : of the fit
    diagnosis : what the identified motion can tell
    notes, warnings : sentences, those about the throws included
    seconds : CPU time of the identification, or of the command
    """

    body: OwnBody
    throws: OwnThrows
    geometry: GeometryFit
    names: tuple[str, ...]
    fit: TrajectoryFit
    options: FitOptions
    diagnosis: Identifiability
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    seconds: float

    @property
    def each(self) -> list[tuple[str, MeasuredThrow, ThrowStates]]:
        """Name, measured poses and identified motion of each throw."""
        return list(zip(self.names, self.geometry.throws, self.fit.throws, strict=True))

    @property
    def scale(self) -> float:
        """Factor by which the misfit enlarges the standard errors, at least 1."""
        return max(1.0, float(np.sqrt(self.fit.misfit_per_degree)))

    @property
    def bound(self) -> str:
        """What a least mu is: of whole throws by how smaller ones fit, of impacts the largest ratio of impulses."""
        return "lower bound" if self.geometry.apart else "lower bound of 95 %"

    def lines(self) -> list[str]:
        """The two results, for a terminal."""
        told = [f"J/m = {MM2 * self.fit.inertia_ratio:.5g} mm2{_error(MM2 * self.fit.inertia_ratio_se)}"]
        if self.body.mass is not None:
            told[0] += f", J = {self.body.mass * self.fit.inertia_ratio:.4g} kg m2"
        if self.fit.friction_is_bound:
            told.append(f"mu >= {self.fit.friction_mu:.3g} (no contact slides: only a {self.bound})")
        else:
            told.append(f"mu = {self.fit.friction_mu:.4g}{_error(self.fit.friction_mu_se)}")
        if not self.body.radius_given:
            radius, error = (1e3 * one["corner_radius"] for one in _geometry_record(self))
            told.append(f"corner radius = {radius:.3g} mm +- {error:.2g} (standard error)")
        return told


def _error(value: float) -> str:
    return f" +- {value:.2g} (standard error)" if np.isfinite(value) else " (no standard error)"


def identify_own(body: OwnBody, throws: OwnThrows, say: Say = silent) -> OwnIdentification:
    """Identify J/m and mu from all throws jointly, and judge the answer; ``say`` is told each step.

    Raises
    ------
    ContactIdError
        Where the throws don't determine J/m.
    """
    begin = cpu_seconds()
    pieces = [Piece(throw, seen) for throw, seen in zip(throws.throws, throws.seen, strict=True)]
    known = known_geometry(body, throws)
    usable = own_impacts(known, throws)
    names = throws.names

    def say_geometry(line: str) -> None:
        say(f"Ground, tracked frame and corners: {line}")

    geometry = fit_geometry(known, pieces, always=not usable.windows, say=say_geometry)
    if usable.windows and (geometry is None or geometry.misfit_per_degree > _NOT_WHOLE):
        alone, impacts = by_impacts(known, throws, usable, say_geometry)
        if geometry is None or alone.misfit_per_degree < geometry.misfit_per_degree:
            geometry, names = alone, impacts
    assert geometry is not None
    _refuse_open(geometry, throws)
    options = FitOptions(gravity=body.gravity)
    body = replace(body, shape=geometry.shape, ground=geometry.alignment.ground)
    fit = with_geometry(settled_fit(body, geometry, options, say), geometry)
    if fit.friction_is_bound and not geometry.apart:
        fit = replace(fit, friction_mu=least_friction(known, pieces, geometry))
    diagnosis = _diagnose(body, geometry.throws, fit)
    seconds = cpu_seconds() - begin
    draft = OwnIdentification(body, throws, geometry, names, fit, options, diagnosis, (), (), seconds)
    refuse_undetermined(draft)
    notes = (*throws.notes, *_notes(draft))
    return replace(draft, notes=notes, warnings=(*throws.warnings, *_warnings(draft)))


def _refuse_open(geometry: GeometryFit, throws: OwnThrows) -> None:
    """:func:`refuse_undetermined` where the geometry decides it already: eq. 27 along a wrong motion takes minutes."""
    largest = float((geometry.shape.outline() ** 2).sum(axis=1).max())
    error = float(np.sqrt(left_open(geometry)[0]))
    if _INTERVAL * error > _WIDEST * largest:  # such an interval holds that share wherever its middle lies
        allowed = f"a body of this outline can have anything from 0 to {MM2 * largest:.4g}"
        raise _undetermined(throws, f"its standard error is {MM2 * error:.3g} mm2 or more, and {allowed}", _MORE)


def _undetermined(throws: OwnThrows, problem: str, remedy: str) -> ContactIdError:
    return ContactIdError(f"{', '.join(throws.names)}: J/m isn't determined: {problem}", remedy)


def refuse_undetermined(found: OwnIdentification) -> None:
    """No answer where noise and frames can't carry one.

    Either J/m's interval holds most of what the outline alone allows, from a point's 0 to a ring's largest radius
    squared. Or poses are far from the motion and no flight tells their noise: then nothing says whether the noise is
    larger, which the error takes in, or the motion is another, which no error does.

    Raises
    ------
    ContactIdError
        With the reason, as far as frames or impacts tell it.
    """
    fit = found.fit
    largest = float((found.body.shape.outline() ** 2).sum(axis=1).max())
    low, high = np.clip(fit.inertia_ratio + _INTERVAL * fit.inertia_ratio_se * np.array([-1.0, 1.0]), 0.0, largest)
    if high - low > _WIDEST * largest:
        allowed = f"a body of this outline can have anything from 0 to {MM2 * largest:.4g}"
        problem = f"its interval of 95 % is {MM2 * low:.4g} to {MM2 * high:.4g} mm2, and {allowed}"
    elif found.scale > _HOPELESS and found.throws.frames_in_flight < FEWEST_IN_FLIGHT:
        problem = (
            f"poses are {found.scale:.2g} times as far from the best motion as noise explains, and no flight is long "
            "enough to tell whether the noise is larger or the motion another"
        )
    else:
        return
    few, flags = _few_frames(found), found.diagnosis.flags
    remedy = _MORE
    if few:
        problem += f"; {few[0]}"
    elif Flag.NO_SPIN_CHANGE in flags:
        problem += "; no impact changes the spin"
        remedy = "Throw the body tilted or with spin"
    raise _undetermined(found.throws, problem, remedy)


def _diagnose(body: OwnBody, throws: Sequence[MeasuredThrow], fit: TrajectoryFit) -> Identifiability:
    """Section 5.2 on the identified motion, with the noise that velocities between impacts have.

    Steps have different durations, which :func:`contact_steps` doesn't know: gravity's share of what a step's duration
    differs from the first one's is put into the velocity before it.
    """
    excess, (fewest, most) = max(1.0, fit.misfit_per_degree), _SLOPE_FRAMES
    first_step, rows = float(np.diff(fit.throws[0].time[:2])[0]), []
    for states, throw in zip(fit.throws, throws, strict=True):
        v = states.velocity[:-1].copy()
        v[:, 1] -= (np.diff(states.time) - first_step) * body.gravity
        n = int(np.clip(throw.n_frames // (states.n_impacts + 1), fewest, most))
        slope = 12.0 * throw.sigma**2 / (throw.frame_interval**2 * n * (n * n - 1.0))
        spread = np.tile(2.0 * excess * slope, (len(v), 1))
        rows.append((states.impulse_n > _PUSHES, spread, states.position[:-1], v, states.velocity[1:]))
    closed, spreads, *motion = (np.concatenate(parts) for parts in zip(*rows, strict=True))
    use = closed.any(axis=1)
    position, before, after = (values[use] for values in motion)
    steps = contact_steps(
        body.shape, body.ground, position, before, after,
        time_step=first_step, gravity=body.gravity, closed=closed[use],
    )  # fmt: skip
    if len(steps) < int(use.sum()) or not len(steps):  # a step that only falls: the spreads no longer match
        return identifiability(steps)
    covariance = np.eye(3) * spreads[use][:, None, :]
    return identifiability(steps, covariance, angle_deviation=float(throws[0].sigma[2]))


def _notes(found: OwnIdentification) -> list[str]:
    fit, diagnosis = found.fit, found.diagnosis
    impacts = [states.n_impacts for states in fit.throws]
    notes = [
        f"Impacts in the identified motion: {sum(impacts)}. Time steps with contact: {diagnosis.n_steps}, with a "
        f"single one: {diagnosis.n_single}."
    ]
    if diagnosis.n_sliding:
        notes.append(f"{diagnosis.n_sliding} of these steps slide, which is what tells mu.")
    told = [Flag.SEVERAL_CONTACTS] * bool(diagnosis.n_single) + [Flag.SINGLE_STEP]
    notes += [diagnosis.flags[flag] for flag in told if flag in diagnosis.flags]
    if chi2.cdf(2.0 * fit.misfit, fit.degrees) < _UNLIKELY:
        notes.append(
            f"Poses are fitted better than the noise lets expect (squared residuals {2.0 * fit.misfit:.4g}, expected "
            f"{fit.degrees}): it is smaller than stated, and standard errors are on the safe side."
        )
    return notes


def _warnings(found: OwnIdentification) -> list[str]:
    fit, flags = found.fit, found.diagnosis.flags
    warnings = []
    if not fit.converged:
        warnings.append(
            f"The identification did not converge ({fit.solution.last.status}, complementarity residual "
            f"{fit.complementarity:.2g}): don't use these numbers."
        )
    elif np.isnan(fit.inertia_ratio_se):
        warnings.append("No standard errors: the active contacts could not be settled.")
    if chi2.sf(2.0 * fit.misfit, fit.degrees) < _UNLIKELY:
        warnings.append(
            f"Poses are fitted worse than their noise explains (squared residuals {2.0 * fit.misfit:.4g}, expected "
            f"{fit.degrees}): the body departs from the model or the noise is larger. Standard errors are enlarged "
            f"{found.scale:.2g} times, and don't cover a systematic error{_HINT if found.scale > _HOPELESS else ''}."
        )
    leading = [Flag.NO_CONTACT, Flag.NO_SPIN_CHANGE, Flag.CENTRAL_IMPULSES]
    if not found.diagnosis.n_single:
        leading.append(Flag.SEVERAL_CONTACTS)
    warnings += [flags[flag] for flag in leading if flag in flags]
    if fit.friction_is_bound and Flag.NO_CONTACT not in flags:
        warnings.append(f"No contact slides: mu is only bounded, mu >= {fit.friction_mu:.3g} ({found.bound}).")
    elif not fit.friction_is_bound and fit.friction_mu > _NEAR_BOUND * LARGEST_MU:
        warnings.append(f"mu is at the largest value that is looked at, {LARGEST_MU:g}.")
    if fit.method == FITTED_MOTION:
        warnings.append(
            "No contact sequence explains the poses as well as the fitted motion does: J/m and friction are that "
            "motion's, whose restitution is the same at all impacts; states and impulses are the sequence's."
        )
    if not found.body.radius_given:
        warnings.append(FOUND_RADIUS)
    if found.geometry.apart:
        warnings.append(
            f"No rigid body on a straight ground explains whole throws, so {len(found.names)} impacts were taken "
            "by themselves, each with its own height of the ground: J/m is that of a real body's impacts, which may "
            "differ from its mass distribution's by more than the error."
        )
    relative = fit.inertia_ratio_se / fit.inertia_ratio
    if relative > _WEAK:
        warnings.append(f"J/m is known to {100.0 * relative:.0f} % only.")
    return [*warnings, *(f"{text}." for text in _few_frames(found))]


def _few_frames(found: OwnIdentification) -> list[str]:
    """Throws with few frames on either side of their first contact, or without one, fewest first."""
    told = []
    for name, throw, states in found.each:
        pushes = np.flatnonzero((states.impulse_n > _PUSHES).any(axis=1))
        if not len(pushes):
            told.append((0, f"{name}: the identified motion has no contact, so the throw says nothing"))
            continue
        before = int((throw.time <= states.time[pushes[0]]).sum())
        after = len(throw.time) - before
        side, few = ("before", before) if before <= after else ("after", after)
        if few < _FEW_FRAMES:
            told.append((few, f"{name}: only {few} frame{'s' * (few != 1)} {side} the first contact"))
    return [text for _, text in sorted(told, key=lambda one: one[0])]


def write_files(found: OwnIdentification, folder: Path) -> None:
    """Write summary, parameters, states and figures into an empty folder."""
    states, scene = states_table(found), scene_table(found)
    write_text(folder / SUMMARY, summary(found))
    write_fit(folder / PARAMETERS, fit_record(found))
    write_report_csv(states, folder / STATES)
    write_report_csv(scene, folder / "trajectory.csv")
    if found.body.mass is not None:
        write_text(folder / BODY, mjcf(flat_body(found)))
    drawn = states[states["throw"].isin(found.names[:_DRAWN])]
    with styled():
        for name, figure in {"trajectory": draw_trajectory(scene), "impulses": draw_impulses(drawn)}.items():
            save(figure, folder / name)
            plt.close(figure)


def states_table(found: OwnIdentification) -> pd.DataFrame:
    """Identified motion, a row per instant of every throw; measured poses in the rows of frames, else empty.

    Impulses are per mass (m/s) and belong to the instant; gaps are in m, numbered like the shape's corners from 0.
    """
    tables = []
    for name, throw, states in found.each:
        n, n_c = len(states.time), states.gap.shape[1]
        measured, impulses = np.full((n, 3), np.nan), np.full((2, n, n_c), np.nan)
        measured[states.frame] = throw.position
        impulses[:, :-1] = states.impulse_n, states.impulse_t
        columns: dict[str, Any] = {"throw": name, "time_s": states.time}
        for i, (pose, rate) in enumerate((("x_m", "v_x_m_s"), ("y_m", "v_y_m_s"), ("theta_rad", "omega_rad_s"))):
            columns |= {pose: states.position[:, i], f"measured_{pose}": measured[:, i], rate: states.velocity[:, i]}
        for c in range(n_c):
            columns |= {f"impulse_{kind}_{c}_m_s": impulse[:, c] for kind, impulse in zip("nt", impulses, strict=True)}
            columns[f"gap_{c}_m"] = states.gap[:, c]
        tables.append(pd.DataFrame(columns))
    return pd.concat(tables, ignore_index=True)


def scene_table(found: OwnIdentification) -> pd.DataFrame:
    """Polylines of the first throws as in :mod:`contactid.planar.artefacts.time_lapse`, and ``measured`` points."""
    parts = []
    for panel, (name, throw, states) in enumerate(found.each[:_DRAWN]):
        shown = evenly(states.frame, _OUTLINES)
        outlines = [outline_at(found.body.shape, states.position[k]) for k in shown]
        lines = [("outline", item, states.time[k], outlines[item]) for item, k in enumerate(shown)]
        lines += [("com", 0, states.time, states.position), ("measured", 0, throw.time, throw.position)]
        lines += [("ground", 0, 0.0, np.array([throw.ground.origin, throw.ground.origin + throw.ground.tangent]))]
        parts += [
            polyline(points, panel=panel, label=name, kind=kind, item=item, time_s=time)
            for kind, item, time, points in lines
        ]
    return pd.concat(parts, ignore_index=True)


def flat_body(found: OwnIdentification) -> IdentifiedBody:
    """The body as a simulator takes it: a plate of the outline, its thickness a tenth of its reach, in its plane.

    Friction that is a bound only, and restitution, which the identified model doesn't have, are left out.
    """
    fit, outline = found.fit, found.body.shape.outline()[:-1]
    half = 0.05 * float(np.linalg.norm(outline, axis=1).max())
    assert found.body.mass is not None
    return IdentifiedBody(
        name="body",
        mass=found.body.mass,
        center_of_mass=np.zeros(3),
        inertia=found.body.mass * fit.inertia_ratio * np.diag([0.5, 0.5, 1.0]),
        friction=None if fit.friction_is_bound else fit.friction_mu,
        hull=np.concatenate([np.column_stack([outline, np.full(len(outline), z)]) for z in (-half, half)]),
        planar=True,
    )


def fit_record(found: OwnIdentification) -> dict[str, Any]:
    """The record that :func:`contactid.output.fits.write_fit` takes."""
    fit, last = found.fit, found.fit.solution.last
    parameters = {"inertia_ratio": fit.inertia_ratio, "friction_mu": fit.friction_mu}
    errors = {"inertia_ratio": fit.inertia_ratio_se, "friction_mu": fit.friction_mu_se}
    if found.body.mass is not None:
        parameters["inertia"] = found.body.mass * fit.inertia_ratio
        errors["inertia"] = found.body.mass * fit.inertia_ratio_se
    found_geometry, known = _geometry_record(found)
    if not found.body.radius_given:
        parameters["corner_radius"] = found_geometry["corner_radius"]
        errors["corner_radius"] = known["corner_radius"]
    return {
        "parameters": parameters,
        "objective": fit.solution.objective,
        "status": last.status,
        "converged": fit.converged,
        "residuals": {
            "complementarity": fit.complementarity,
            "primal_infeasibility": last.primal_infeasibility,
            "dual_infeasibility": last.dual_infeasibility,
        },
        "iterations": fit.iterations,
        "seconds": found.seconds,
        "seed": found.options.seed,
        "data": {
            "throws": list(found.throws.names),
            "frames": [int(seen.sum()) for seen in found.throws.seen],
            "sigma": found.throws.sigma.tolist(),
            "sigma_given": found.throws.sigma_given,
        },
        "model": "planar trajectory (eq. 27), contacts by their gaps, steps of free durations",
        "reformulation": fit.method + (", settled" if fit.solution.settled else ""),
        "standard_errors": {key: float(value) if np.isfinite(value) else None for key, value in errors.items()},
        "standard_error_scale": found.scale,
        "friction_is_bound": fit.friction_is_bound,
        "squared_residuals": 2.0 * fit.misfit,
        "degrees_of_freedom": fit.degrees,
        "units": {"inertia_ratio": "m2", "friction_mu": "1", "inertia": "kg m2", "corner_radius": "m"},
        "geometry": found_geometry,
        "geometry_standard_errors": known,
        "solver": last.solver,
        "warnings": list(found.warnings),
        "notes": list(found.notes),
    }


def _geometry_record(found: OwnIdentification) -> tuple[dict[str, float], dict[str, float]]:
    """Turn, point, corners' radius and the ground's slope and height (m, rad), and their standard errors."""
    geometry = found.geometry
    errors = np.sqrt(np.diag(np.maximum(geometry.covariance, geometry.robust)))
    values = {name: float(geometry.common[k]) for k, name in enumerate(COMMON) if k >= 2}
    return values, {name: float(errors[k]) for k, name in enumerate(COMMON) if k >= 2}


def summary(found: OwnIdentification) -> str:
    """The report in Markdown."""
    lines = ["# Identified body", "", *(f"* **{line}**" for line in found.lines())]
    lines.append(f"* A uniform body of this shape has J/m = {MM2 * found.body.shape.uniform_inertia_ratio:.4g} mm2.")
    lines += ["", "## Warnings", "", *(f"* {markdown(warning)}" for warning in found.warnings or ["None."])]
    lines += ["", "## Notes", "", *(f"* {markdown(note)}" for note in found.notes)]
    squares = f"{2.0 * found.fit.misfit:.4g}, expected {found.fit.degrees}."
    lines += [f"* Squared residuals in units of their noise: {squares}", "", "## Throws", ""]
    lines += ["| throw | frames | frames/s | impacts | farthest from a measured centre, mm |", "|---|---|---|---|---|"]
    for name, throw, states in found.each:
        apart = 1e3 * np.hypot(*(states.position[states.frame] - throw.position)[:, :2].T).max()
        rate = 1.0 / throw.frame_interval
        lines.append(f"| {markdown(name)} | {len(throw.time)} | {rate:.4g} | {states.n_impacts} | {apart:.3g} |")
    shown = "" if len(found.each) <= _DRAWN else f" (the first {_DRAWN} throws)"
    lines += ["", f"## Figures{shown}", "", "![measured and identified motion](trajectory.png)", ""]
    lines += ["![contact impulses](impulses.png)", "", f"`{STATES}` has the motion, `{PARAMETERS}` every number."]
    if found.body.mass is not None:
        lines += ["", f"`{BODY}` is the body for MuJoCo: it moves along x and y and turns about z."]
    return "\n".join(lines) + "\n"
