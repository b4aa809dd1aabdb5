"""Estimate a user's own recording and report it: the body, its errors, the naive answer beside it,
what to distrust.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.spatial import ConvexHull
from scipy.special import chdtrc

from contactid.core.atomic import write_text
from contactid.core.inertia import (
    consistency,
    geodesic_distance,
    tensor,
)
from contactid.inhand.identify.disturbance_models import Model
from contactid.inhand.identify.identifiability import visible_motion
from contactid.inhand.identify.latent_errors import COMING, LEVELS
from contactid.inhand.identify.likelihood import (
    INTERVAL,
    TENSOR,
    RecordingFit,
    fit_recording,
    told_parameters,
)
from contactid.inhand.identify.linearised import AXES, LAG, PLACES, WORLD
from contactid.inhand.identify.methods import DATA, PRIOR
from contactid.inhand.own.draw import draw_parameters, draw_residuals
from contactid.inhand.own.poses import fit_poses, moved_to
from contactid.inhand.own.prepare import OwnRecording, turning
from contactid.output.escape import markdown
from contactid.output.fits import write_fit
from contactid.output.own_report import PARAMETERS, SUMMARY
from contactid.output.simulator_formats import IdentifiedBody, mjcf, urdf, wavefront
from contactid.output.style import save, styled
from contactid.output.tables import write_report_csv

NAMES = (
    "mass", "center_x", "center_y", "center_z", "i_xx", "i_yy", "i_zz", "i_xy", "i_xz", "i_yz",
    "origin_xx", "origin_yy", "origin_zz", "origin_xy", "origin_xz", "origin_yz",
)  # fmt: skip
_UNITS = ("kg", "m", "m", "m", *("kg m2",) * 12)
_UNLIKELY = 1e-3  # probability of a misfit below which the stated noise doesn't explain it
_OFF = 1.5  # factor of a stated deviation from which on it is told
_WEAK = 0.1  # relative standard error of the mass
_WEAK_CENTER = 0.05  # of the hull's length
_STILL = 0.05  # rad/s
_SPANNED = 0.01  # of the hull's length; contacts nearer to one line are on it
_TURNED = 0.35  # rad, below which weight and a constant force are hardly told apart
_DENSITIES = (5.0, 2.3e4)  # kg/m3 over the hull: below foam's in a box, and above any metal's
_UNSENSED = 3.0  # standard errors from which on a constant force is told
_EDGE = 0.02  # of the hull's length
_DISTURBED = {
    WORLD: "a force fixed in the world",
    LAG: "a lag of the forces",
    AXES: "accelerations of the positions",
}
_BODY, _ROBOT, _HULL = "body.xml", "body.urdf", "hull.obj"


@dataclass(frozen=True, eq=False)
class OwnEstimate:
    """An estimated object with what to think of it.

    Attributes
    ----------
    recording : what it was estimated from
    fit : the answer
    seconds : that it took
    warnings : sentences, those about the files included
    """

    recording: OwnRecording
    fit: RecordingFit
    seconds: float
    warnings: tuple[str, ...] = ()

    @property
    def mass_interval(self) -> tuple[float, float]:
        """Kg, of 95 %: calibration included, and upwards the share of the load that is stated to
        bypass the sensors.
        """
        return self.fit.mass_interval(self.recording.unsensed_share)

    def interval_under(self, model: Model) -> tuple[float, float]:
        """The same under another model of what disturbs, the body's shape left free."""
        mass, alone = model.mass
        calibration = max(float(self.fit.errors[0] ** 2 - self.fit.fit_errors[0] ** 2), 0.0)
        error = INTERVAL * float(np.hypot(alone, np.sqrt(calibration)))
        return mass - error, (mass + error) / (1.0 - self.recording.unsensed_share)

    @property
    def decided_by(self) -> list[str]:
        """Of every told parameter: ``prior`` where the data move it by less than a standard error
        of the fit.
        """
        return [DATA if one else PRIOR for one in self.fit.by_data]

    def lines(self) -> list[str]:
        """The results, for a terminal."""
        body, errors = self.fit.body, self.fit.errors
        center = ", ".join(f"{1e3 * value:.1f}" for value in body.center_of_mass)
        spread = ", ".join(f"{1e3 * value:.1f}" for value in errors[1:4])
        moments = ", ".join(f"{value:.3g}" for value in np.diag(body.inertia_at_center))
        spreads = ", ".join(f"{value:.2g}" for value in errors[4:7])
        by_data = self.decided_by[TENSOR].count(DATA)
        low, high = self.mass_interval
        model = self.fit.models[0]
        others = [one for one in self.fit.models[1:] if not one.names or not model.names][:1]
        intervals = [(_words(one), *self.interval_under(one)) for one in others]
        return [
            f"mass = {body.mass:.4g} kg +- {errors[0]:.2g} (standard error)",
            f"mass within {low:.4g} to {high:.4g} kg (95 %): {_words(model)} taken out",
            *(
                f"mass within {less:.4g} to {more:.4g} kg: {words} taken out"
                for words, less, more in intervals
            ),
            f"centre of mass = ({center}) mm +- ({spread})",
            f"I_xx, I_yy, I_zz about it = ({moments}) kg m2 +- ({spreads}); {by_data} of the tensor's 6 entries by the "
            "data, the others by the uniform body",
        ]


def estimate_own(recording: OwnRecording) -> OwnEstimate:
    """Estimate an object from its recording, and judge the answer."""
    begin = time.perf_counter()
    if recording.still:
        fit = fit_poses(recording.stretches[0], recording.gain_sd)
    else:
        fit = fit_recording(recording.stretches, recording.gain_sd)
    draft = OwnEstimate(recording, fit, time.perf_counter() - begin)
    return replace(draft, warnings=(*recording.warnings, *_warnings(draft)))


def _warnings(found: OwnEstimate) -> list[str]:
    fit, hull = found.fit, found.recording.hull
    warnings = []
    if not fit.converged:
        warnings.append("The iteration did not settle: the recording hardly tells the parameters.")
    warnings += ([] if found.recording.still else _weak_motion(found)) + _weak_answer(found)
    size, density = (
        float(np.ptp(hull, axis=0).max()),
        fit.body.mass / float(ConvexHull(hull).volume),
    )
    if not _DENSITIES[0] <= density <= _DENSITIES[1]:
        warnings.append(
            f"{fit.body.mass:.3g} kg in this hull are {density:.3g} kg/m3: check the units of forces, positions, hull."
        )
    by_prior = [
        name for name, by in zip(NAMES[1:10], found.decided_by[1:], strict=False) if by == PRIOR
    ]
    if by_prior:
        warnings.append(
            f"The data move {', '.join(by_prior)} by less than a standard error from a uniform body in the hull: take "
            "them for that body's."
        )
    normal_room = float(np.min(_room(fit, hull)))
    if normal_room < _EDGE * size:
        warnings.append(
            "The centre of mass is at the hull's edge: the hull, its frame or the forces may be wrong."
        )
    return [*warnings, *_noise_warnings(found), *_unsensed(found)]


def _words(model: Model) -> str:
    return "a constant wrench in the body" + "".join(
        f" and {_DISTURBED[name]}" for name in model.names
    )


def _room(fit: RecordingFit, hull: np.ndarray) -> np.ndarray:
    equations = ConvexHull(hull).equations
    return -(equations[:, :3] @ fit.body.center_of_mass + equations[:, 3])


def _weak_motion(found: OwnEstimate) -> list[str]:
    fit, recording, warnings = found.fit, found.recording, []
    rates = np.concatenate([visible_motion(one).rate for one in recording.stretches])
    rate = np.sqrt(np.mean(rates**2, axis=0))
    still = [axis for axis, size in zip("xyz", rate, strict=True) if size < _STILL]
    if still:
        warnings.append(
            f"Weak excitation: the object hardly turns about its {' and '.join(still)} (less than 0.05 rad/s above the "
            "noise)."
        )
    angle = turning(recording)
    if angle < _TURNED:
        warnings.append(
            f"Weak excitation: the object turns by {np.degrees(angle):.0f} degrees at most, so its weight is hardly "
            "told from a constant force that isn't sensed."
        )
    places = np.concatenate([one.points for one in recording.stretches]).mean(axis=0)
    spread = np.linalg.svd(places - places.mean(axis=0), compute_uv=False)
    if (
        recording.stretches[0].torques is None
        and np.count_nonzero(spread > _SPANNED * np.ptp(recording.hull, axis=0).max()) < 2
    ):
        about = (
            "about its only contact" if len(places) == 1 else "about the line through its contacts"
        )
        warnings.append(
            f"No torque {about} is measured, and none is assumed to act: a real fingertip exerts one."
        )
    if fit.pose_share > 1.0:
        warnings.append(
            f"The poses' noise puts {fit.pose_share:.2g} times as much into the accelerations as the motion: move the "
            "object more strongly. The mass is then likely to be too small, by more than its standard error."
        )
    return warnings


def _weak_answer(found: OwnEstimate) -> list[str]:
    fit, recording, warnings = found.fit, found.recording, []
    share = fit.fit_errors[0] / fit.body.mass
    if share > _WEAK:
        warnings.append(f"The mass is known to {100.0 * share:.0f} % only.")
    center, size = float(fit.fit_errors[1:4].max()), float(np.ptp(recording.hull, axis=0).max())
    if center > _WEAK_CENTER * size:
        warnings.append(f"The centre of mass is known to {1e3 * center:.0f} mm only.")
    return warnings


def _noise_warnings(found: OwnEstimate) -> list[str]:
    fit, warnings = found.fit, []
    if chdtrc(fit.degrees, fit.misfit * fit.degrees) < _UNLIKELY and fit.misfit > 1.1:
        warnings.append(
            f"The stated noise doesn't explain the residuals (chi2 {fit.misfit * fit.degrees:.4g}, expected "
            f"{fit.degrees}). Standard errors are by the noise that the recording shows."
        )
    sizes = np.sqrt(fit.levels)
    shown = {
        "contact_force_sd or contact_position_sd": sizes[0],
        "position_sd": float(np.hypot(sizes[1], 0.6 * sizes[3])),
        "orientation_sd": float(np.hypot(sizes[2], 0.6 * sizes[4])),
    }
    for name, factor in shown.items():
        if not 1.0 / _OFF <= factor <= _OFF:
            warnings.append(f"{name}: the recording shows {factor:.2g} times what is stated.")
    return warnings


def _unsensed(found: OwnEstimate) -> list[str]:
    fit, weight = found.fit, found.fit.body.mass * found.recording.stretches[0].gravity
    share = 100.0 * float(np.linalg.norm(fit.wrench[:3])) / weight if weight else 0.0
    force, error = (
        float(np.linalg.norm(fit.wrench[:3])),
        float(np.linalg.norm(fit.wrench_errors[:3])),
    )
    warnings = []
    if weight and force > _UNSENSED * error and force > 0.1 * weight:
        warnings.append(
            f"A force of {force:.2g} N that isn't sensed is constant in the body ({share:.0f} % of the weight): a "
            "sensor's zero, or what holds the object besides. It is taken out; one that varies with the load can't be."
        )
    warnings += [
        sentence for name, sentence in _disturbances(fit).items() if name in fit.models[0].names
    ]
    slow = float(np.sqrt(fit.levels[list(COMING)].sum()))
    if slow > 0.05 * max(weight, fit.body.mass):
        warnings.append(
            f"Forces of about {slow:.2g} N come and go that aren't sensed; they widen the standard errors."
        )
    gain, bypassing = found.recording.gain_sd, found.recording.unsensed_share
    counted = (
        f"the interval counts up to {100 * bypassing:.2g} %" if bypassing else "none is counted"
    )
    warnings.append(
        "A common factor of all forces is another mass at every motion: standard errors count "
        f"{100 * gain:.2g} % for the sensors' calibration (force_gain_sd). So is a share of the load that bypasses the "
        f"sensors, and {counted} (unsensed_share)."
    )
    return warnings


def _disturbances(fit: RecordingFit) -> dict[str, str]:
    """A sentence on each disturbance that may have been taken out."""
    force, late = np.linalg.norm(fit.answer[PLACES[WORLD]]), 1e3 * fit.answer[PLACES[LAG]][0]
    return {
        WORLD: f"A force of {force:.2g} N that isn't sensed is fixed in the world, as of a cable. It is taken out; the "
        "mass is then told by accelerations alone.",
        LAG: f"The forces are {abs(late):.0f} ms {'late' if late > 0.0 else 'early'}; they are shifted to the poses.",
        AXES: "Accelerations of the positions don't fit the forces: position and orientation aren't told in the same "
        "axes, time or lengths have another unit, or the object shakes in its mount. The mass is told by the weight.",
    }


def write_files(found: OwnEstimate, folder: Path) -> None:
    """Write summary, parameters, the body for simulators, tables and figures into an empty folder."""
    table, residuals = parameter_table(found), residual_table(found)
    write_text(folder / SUMMARY, summary(found))
    write_fit(folder / PARAMETERS, fit_record(found))
    write_report_csv(table, folder / "parameters.csv")
    write_report_csv(residuals, folder / "residuals.csv")
    if consistency(found.fit.body).positive_definite:
        body = simulated_body(found)
        write_text(folder / _BODY, mjcf(body))
        write_text(folder / _ROBOT, urdf(body, mesh=_HULL))
        write_text(folder / _HULL, wavefront(found.recording.hull))
    with styled():
        for name, figure in {
            "parameters": draw_parameters(table),
            "residuals": draw_residuals(residuals),
        }.items():
            save(figure, folder / name)
            plt.close(figure)


def simulated_body(found: OwnEstimate) -> IdentifiedBody:
    """The estimate as simulators take it, with the hull as its shape; friction and restitution
    aren't estimated.
    """
    body = found.fit.body
    return IdentifiedBody(
        "body", body.mass, body.center_of_mass, body.inertia_at_center, hull=found.recording.hull
    )


def parameter_table(found: OwnEstimate) -> pd.DataFrame:
    """A row per told parameter: the estimate, its standard errors, the uniform body's value, and
    what decided it.
    """
    fit = found.fit
    return pd.DataFrame(
        {
            "parameter": NAMES,
            "unit": _UNITS,
            "estimate": told_parameters(fit.body.vector),
            "standard_error": fit.errors,
            "standard_error_without_calibration": fit.fit_errors,
            "uniform_body": told_parameters(fit.uniform.vector),
            "uniform_body_at_center": told_parameters(
                moved_to(fit.uniform, fit.body.center_of_mass).vector
            ),
            "decided_by": found.decided_by,
        }
    )


def residual_table(found: OwnEstimate) -> pd.DataFrame:
    """A row per sample: time (s), and force (N) and torque (N m) sensed less what the estimate's
    motion asks for.
    """
    names = [f"{kind}_{axis}" for kind in ("force", "torque") for axis in "xyz"]
    parts = [
        pd.DataFrame(values, columns=names).assign(stretch=number, time=times)
        for number, (values, times) in enumerate(
            zip(found.fit.residuals, found.fit.times, strict=True)
        )
    ]
    return pd.concat(parts, ignore_index=True)[["stretch", "time", *names]]


def fit_record(found: OwnEstimate) -> dict[str, Any]:
    """The record that :func:`contactid.output.fits.write_fit` takes."""
    fit, recording = found.fit, found.recording
    return {
        "parameters": _named(told_parameters(fit.body.vector)),
        "objective": 0.5 * fit.misfit * fit.degrees,
        "status": "settled" if fit.converged else "not settled",
        "converged": fit.converged,
        "residuals": {"chi2": fit.misfit * fit.degrees, "degrees_of_freedom": fit.degrees},
        "iterations": fit.iterations,
        "seconds": found.seconds,
        "seed": None,
        "data": {
            "recording": recording.name,
            "rows": recording.rows,
            "rows_left_out": recording.lost,
            "contacts": list(recording.contacts),
            "samples": [one.samples for one in recording.stretches],
            "noise_over_stated": dict(zip(LEVELS, np.sqrt(fit.levels).tolist(), strict=True)),
        },
        "model": f"Newton and Euler (eqs. 8 and 9), poses unknown, noise by likelihood; {_words(fit.models[0])}",
        "mass_interval": list(found.mass_interval),
        "models": [
            {
                "disturbances": list(one.names),
                "log_likelihood": one.log_likelihood - fit.models[0].log_likelihood,
                "mass_interval": list(found.interval_under(one)),
            }
            for one in fit.models
        ],
        "reformulation": "none",
        "standard_errors": _named(fit.errors),
        "standard_errors_without_calibration": _named(fit.fit_errors),
        "uniform_body": _named(told_parameters(fit.uniform.vector)),
        "distance_to_uniform_body": geodesic_distance(fit.body, fit.uniform),
        "distance_to_uniform_body_at_center": geodesic_distance(
            fit.body, moved_to(fit.uniform, fit.body.center_of_mass)
        ),
        "decided_by": dict(zip(NAMES, found.decided_by, strict=True)),
        "physically_consistent": consistency(fit.body, recording.hull).consistent,
        "unsensed_constant_wrench": fit.wrench.tolist(),
        "units": {
            "mass": "kg",
            "center_of_mass": "m",
            "inertia": "kg m2",
            "inertia_origin": "kg m2",
        },
        "warnings": list(found.warnings),
        "notes": list(recording.notes),
    }


def _named(told: np.ndarray) -> dict[str, Any]:
    return {
        "mass": float(told[0]),
        "center_of_mass": told[1:4].tolist(),
        "inertia": tensor(told[TENSOR]).tolist(),
        "inertia_origin": tensor(told[10:]).tolist(),
    }


def summary(found: OwnEstimate) -> str:
    """The report in Markdown."""
    fit, recording = found.fit, found.recording
    lines = ["# Estimated object", "", *(f"* **{line}**" for line in found.lines())]
    lines += [
        "",
        "## Warnings",
        "",
        *(f"* {markdown(warning)}" for warning in found.warnings or ["None."]),
    ]
    lines += [
        "",
        "## Parameters",
        "",
        "SI units, in the body frame: centre of mass, tensor about it (`i_`), tensor about",
    ]
    lines += [
        "the frame's origin (`origin_`). Beside it the naive answer: a uniform body that fills the hull, with the"
    ]
    lines += [
        "estimated mass, and the same at the estimate's centre. `prior`: the data move the value by less than a",
        "standard error from the first, or tell no mass.",
        "",
        "| parameter | estimate | standard error | uniform body | at our centre | decided by |",
        "|---|---|---|---|---|---|",
    ]
    columns = ["uniform_body", "uniform_body_at_center"]
    shown = parameter_table(found)
    for row in shown.assign(**shown[columns].round(12)).itertuples():
        lines.append(
            f"| {row.parameter} | {row.estimate:.4g} | {row.standard_error:.2g} | {row.uniform_body:.4g} "
            f"| {row.uniform_body_at_center:.4g} | {row.decided_by} |"
        )
    lines += [
        "",
        "## What disturbs",
        "",
        "Models of what isn't the object, by the logarithm of the data's likelihood, less a penalty for each",
        "disturbance; the first is taken. Intervals of 95 %, the body's shape left free.",
        "",
        "| taken out | log likelihood | mass (kg) |",
        "|---|---|---|",
    ]
    for model in fit.models:
        less, more = found.interval_under(model)
        gained = model.log_likelihood - fit.models[0].log_likelihood
        lines.append(f"| {_words(model)} | {gained:.1f} | {less:.4g} to {more:.4g} |")
    lines += ["", "## Notes", "", *(f"* {markdown(note)}" for note in recording.notes)]
    lines.append(
        f"* chi2 by the stated noise: {fit.misfit * fit.degrees:.4g}, expected {fit.degrees}."
    )
    lines.append("* Noise that the recording shows, over what is stated (unsensed forces in N):")
    lines += [
        f"  * {name}: {np.sqrt(level):.3g}" for name, level in zip(LEVELS, fit.levels, strict=True)
    ]
    lines += [
        "",
        "## Figures",
        "",
        "![parameters](parameters.png)",
        "",
        "![residuals](residuals.png)",
        "",
    ]
    lines.append(
        f"`{_BODY}` (MJCF) and `{_ROBOT}` have the body for simulators, `{PARAMETERS}` every number."
    )
    return "\n".join(lines) + "\n"
