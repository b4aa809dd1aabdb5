"""Mass, centre of mass and inertia of an object from recordings of it in hand, as a Result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.core.inertia import consistency, geodesic_distance, moved_to, tensor
from contactid.core.threads import one_blas_thread
from contactid.inhand.identify.advice import NAMES, SHOWN, Advice, advise, told_sentence
from contactid.inhand.identify.joint import JointFit, fit_jointly
from contactid.inhand.identify.latent_errors import LEVELS
from contactid.inhand.identify.likelihood import (
    TENSOR,
    RecordingFit,
    told_covariance,
    told_parameters,
)
from contactid.inhand.identify.methods import DATA
from contactid.inhand.own import draw
from contactid.inhand.own.doubts import limits, words
from contactid.inhand.own.estimate import ORIGIN, OwnEstimate, explained_recording
from contactid.inhand.own.files import Hull, Noise
from contactid.inhand.own.leftover import residuals_and_covariance
from contactid.output.residual_figure import draw_residuals
from contactid.output.result import Result, parameter_row, parameter_table, to_error
from contactid.output.simulator_formats import IdentifiedBody
from contactid.sources.conventions import Convention
from contactid.sources.explaining import FINE
from contactid.sources.recorded_table import Source, several

_UNITS = ("kg", "m", "m", "m", *("kg m2",) * 6)


@one_blas_thread
def estimate(
    recording: Source | Sequence[Source],
    hull: Hull,
    noise: Noise,
    *,
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    frame: Mapping[str, str] | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Result:
    """Mass, centre of mass and inertia of an object that is held at contacts and moved.

    Parameters
    ----------
    recording
        A row per instant: time (s); ``object_position_x`` and so on (m) and
        ``object_orientation_w`` and so on of the body frame B in a world with z upwards; for
        every contact ``contact_force_<name>_x`` and so on (N, on the object) and
        ``contact_position_<name>_x`` and so on (m), both in B. A csv file, a DataFrame, or a
        Dataset whose ``contact_force`` (sample, contact, axis) has coordinates;
        :mod:`contactid.inhand.own.files` has all of it. Without a time, rows are still poses,
        which tell mass and centre alone. Several recordings of one object, with times, are
        estimated from together: one body, and for each a zero and disturbances of its own.
    hull
        (v, 3) m in B, points whose convex hull holds the object; or a csv file or mesh of them.
    noise
        Standard deviations, as a mapping or a YAML file: ``position_sd`` (m), ``orientation_sd``
        (rad), ``contact_position_sd`` (m); others where they differ from the defaults.
    columns, units, frame
        What is otherwise than stated above (:class:`contactid.sources.conventions.Convention`).
    progress
        Called with a line of text as each step is done.

    Returns
    -------
    Result
        ``params``: ``mass`` (kg), ``center_x``, ``_y``, ``_z`` (m in B), and ``inertia_xx`` to
        ``_yz`` (kg m2 about the centre, axes of B); ``told_by`` is ``prior`` where the data move a
        value by less than a standard error from a uniform body in the hull. ``residuals``: of
        force, torque, position and orientation, (frame, xyz) in N, N m, m and rad. Tables:
        ``advice``, the errors to expect once another motion is recorded, too; ``naive``, the
        uniform body beside; ``disturbances``, the mass under each model of what disturbs;
        ``origin``, the tensor about B's origin; ``noise``, what the recording shows over what is
        stated.

    Raises
    ------
    ContactIdError
        For whatever is wrong with the inputs, and where another convention explains the recording,
        or none does.
    """
    stated = Convention(columns or {}, units or {}, frame or {})
    recordings = several(recording)
    every = [explained_recording(one, hull, noise, stated, progress) for one in recordings]
    return result_of(every[0]) if len(every) == 1 else result_of_several(every)


def result_of(found: OwnEstimate) -> Result:
    """An estimate as a :class:`Result`."""
    fit, recording, there = found.fit, found.recording, found.at_answer
    advice = None
    if there is not None:
        advice = advise(found.motion_limits, fit, there.fitted, there.evidence)
    params = _params(found)
    residuals, covariance = residuals_and_covariance(recording, fit, there)
    named = list(params.index[: len(covariance)])
    # made anew at the answer, its errors are the fit's to a few percent: from there are the errors,
    # and from here how they go together
    scale = fit.errors[: len(named)] / np.sqrt(np.diag(covariance))
    covariance = covariance * np.outer(scale, scale)
    tables = {
        "disturbances": _disturbances(found),
        "naive": _naive(found, params),
        "noise": pd.DataFrame({"error": LEVELS, "over_stated": np.sqrt(fit.levels)}),
        "origin": _origin(found),
    }
    if advice is not None:
        tables["advice"] = advice.table[list(SHOWN)]
    return Result(
        title=f"Object in {recording.name}",
        params=params,
        covariance=pd.DataFrame(covariance, index=named, columns=named),
        residuals=residuals,
        reasons=_reasons(fit),
        warnings=found.warnings,
        notes=_notes(found, advice),
        record=_record(found),
        tables=tables,
        figures={
            "Mass, by what is taken out": partial(
                draw.draw_masses, tables["disturbances"], found.mass_interval, found.weighed
            ),
            "Centre and inertia": partial(draw.draw_parameters, params, tables["naive"]),
            "Residuals": partial(draw_residuals, residuals, "stretch"),
        },
        body=_simulator_body(found),
        headline=_headline(found),
        limits=limits(found),
        shown=("disturbances", "naive", "noise", *(["advice"] if advice is not None else [])),
        remedy="Move the object more strongly, or record it longer",
    )


def result_of_several(every: Sequence[OwnEstimate]) -> Result:
    """Estimates of one object from several recordings, as one of all together.

    Raises
    ------
    ContactIdError
        Where one has no times.
    """
    recordings, fits = [one.recording for one in every], [one.fit for one in every]
    for one in recordings:
        if one.still:
            raise ContactIdError(
                f"{one.name} has no time, so it is still poses", "Estimate from it alone"
            )
    drifts = [one.at_answer.drift for one in every if one.at_answer is not None]
    joint = fit_jointly([one.stretches for one in recordings], fits, drifts)
    names = " and ".join(one.name for one in recordings)
    model = next(one for one in fits[0].models if one.names == joint.disturbances)
    fit = replace(
        fits[0], body=joint.body, uniform=joint.uniform, errors=joint.errors, models=(model,),
        fit_errors=joint.fit_errors, iterations=joint.iterations, converged=joint.converged,
        # of the first recording, with what is taken out of all
        answer=joint.evidence[0].model.given(joint.body.vector) + joint.recordings[0].recording.about,
    )  # fmt: skip
    found = replace(every[0], fit=fit)
    params = _params(found)
    covariance = told_covariance(joint.calibrated, joint.body.vector)[: len(NAMES), : len(NAMES)]
    alone = {
        "recording": [one.name for one in recordings],
        "rows": [one.rows for one in recordings],
        "mass_kg": [one.body.mass for one in fits],
        "error_kg": [one.errors[0] for one in fits],
        "taken_out": [words(one.models[0]) for one in fits],
    }
    told = told_sentence(joint.body, joint.covariance, recordings[0].hull)
    return Result(
        title=f"Object in {names}",
        params=params,
        covariance=pd.DataFrame(covariance, index=NAMES, columns=NAMES),
        residuals=_wrench_residuals(joint),
        reasons=_reasons(fit),
        warnings=tuple(f"{one.recording.name}: {line}" for one in every for line in one.warnings),
        notes=(told, *(f"{one.name}: {line}" for one in recordings for line in one.notes)),
        record={"recordings": alone["recording"], "disturbances": list(joint.disturbances)},
        tables={"alone": pd.DataFrame(alone), "naive": _naive(found, params)},
        body=_simulator_body(found),
        headline=_headline(found),
        limits=limits(found),
        shown=("alone", "naive"),
        remedy="Move the object more strongly, or record it longer",
    )


def _wrench_residuals(joint: JointFit) -> xr.Dataset:
    """Of all recordings, one after the other."""
    left = np.concatenate([one for _, one in joint.residuals])
    counts = [len(times) for times, _ in joint.residuals]
    channels = {"force": (left[:, :3], "N"), "torque": (left[:, 3:], "N m")}
    return xr.Dataset(
        {
            name: (("frame", "xyz"), values, {"units": unit})
            for name, (values, unit) in channels.items()
        },
        coords={
            "xyz": list("xyz"),
            "time": ("frame", np.concatenate([times for times, _ in joint.residuals])),
            "recording": ("frame", np.repeat(np.arange(len(counts)), counts)),
        },
    )


def _params(found: OwnEstimate) -> pd.DataFrame:
    values, errors = told_parameters(found.fit.body.vector), found.fit.errors
    rows = [
        parameter_row(name, values[k], errors[k], _UNITS[k], found.told_by[name])
        for k, name in enumerate(NAMES)
    ]
    # intervals count the share that bypasses the sensors: the load goes with mass and tensor
    rows[0]["low"], rows[0]["high"] = found.mass_interval
    scale = 1.0 / (1.0 - found.recording.unsensed_share)
    for row in rows[TENSOR]:
        low, high = row["low"], row["high"]
        row["low"], row["high"] = min(low, scale * low), max(high, scale * high)
    return parameter_table(rows)


def _disturbances(found: OwnEstimate) -> pd.DataFrame:
    """A row per model of what disturbs, likeliest first: the first was taken."""
    likeliest = found.fit.models[0].log_likelihood
    rows = []
    for model in found.fit.models:
        low, high = found.interval_under(model)
        # only differences of log likelihoods mean something
        gained = model.log_likelihood - likeliest
        rows.append(
            {"taken_out": words(model), "log_likelihood": gained, "low_kg": low, "high_kg": high}
        )
    return pd.DataFrame(rows)


def _naive(found: OwnEstimate, params: pd.DataFrame) -> pd.DataFrame:
    """Beside each value that of a uniform body in the hull, and of one at the estimate's centre.

    ``error_without_calibration`` is the fit's alone.
    """
    fit, count = found.fit, len(NAMES)
    at_center = moved_to(fit.uniform, fit.body.center_of_mass)
    beside = {
        "value": params["value"].to_numpy(),
        "uniform_body": told_parameters(fit.uniform.vector)[:count],
        "uniform_body_at_center": told_parameters(at_center.vector)[:count],
    }
    # twelve digits after the point: what is zero but for rounding is zero
    rounded = {name: np.round(values, 12) + 0.0 for name, values in beside.items()}
    alone = {"error_without_calibration": fit.fit_errors[:count], "unit": _UNITS}
    return pd.DataFrame({"parameter": NAMES, **rounded, **alone})


def _origin(found: OwnEstimate) -> pd.DataFrame:
    """The tensor about B's origin, kg m2."""
    about = slice(TENSOR.stop, None)
    rows = {
        "parameter": ORIGIN,
        "value": told_parameters(found.fit.body.vector)[about],
        "error": found.fit.errors[about],
        "unit": "kg m2",
        "told_by": [found.told_by[name] for name in ORIGIN],
    }
    return pd.DataFrame(rows)


def _reasons(fit: RecordingFit) -> tuple[str, ...]:
    reasons = []
    if not fit.converged:
        reasons.append("the iteration did not settle: the recording hardly tells the parameters")
    if fit.mass_interval()[0] <= 0.0:
        reasons.append(
            "the mass's interval of 95 % holds zero: the recording doesn't tell the weight from "
            f"{words(fit.models[0])}"
        )
    return tuple(reasons)


def _headline(found: OwnEstimate) -> tuple[str, ...]:
    body, errors = found.fit.body, found.fit.errors
    places = zip(1e3 * body.center_of_mass, 1e3 * errors[1:4], strict=True)
    center = ", ".join(to_error(value, error) for value, error in places)
    spread = ", ".join(f"{1e3 * error:.2g}" for error in errors[1:4])
    moments = ", ".join(f"{value:.3g}" for value in np.diag(body.inertia_at_center))
    spreads = ", ".join(f"{value:.2g}" for value in errors[4:7])
    by_data = list(found.told_by.values())[TENSOR].count(DATA)
    told = "the tensor by the data"
    if by_data < len(range(*TENSOR.indices(len(NAMES)))):
        told = f"{by_data} of the tensor's 6 entries by the data, the others by the uniform body"
    low, high = found.mass_interval
    naive = f"naive: the sensed forces add up to the weight of {found.weighed:.4g} kg"
    return (
        f"mass = {body.mass:.4g} kg +- {errors[0]:.2g} (standard error)",
        f"mass within {low:.4g} to {high:.4g} kg (95 %): {words(found.fit.models[0])} taken out",
        f"centre of mass = ({center}) mm +- ({spread})",
        f"I_xx, I_yy, I_zz about it = ({moments}) kg m2 +- ({spreads}); {told}",
        *([naive] if np.isfinite(found.weighed) else []),
    )


def _notes(found: OwnEstimate, advice: Advice | None) -> tuple[str, ...]:
    squares, degrees = found.fit.misfit * found.fit.degrees, found.fit.degrees
    rows = found.recording.averaged
    by_rows = ""
    if rows > 1 and found.fit.misfit > FINE:
        by_rows = f", {found.fit.misfit / rows:.2g} times as much by the noise of one row"
    return (
        *(advice.sentences if advice is not None else ()),
        *found.recording.notes,
        f"chi2 by the stated noise: {squares:.4g}, expected {degrees}{by_rows}.",
    )


def _simulator_body(found: OwnEstimate) -> IdentifiedBody | None:
    """The body with the hull as its shape; neither friction nor restitution is estimated."""
    body = found.fit.body
    # no simulator takes a body that can't exist
    if not consistency(body).positive_definite:
        return None
    inertia, hull = body.inertia_at_center, found.recording.hull
    return IdentifiedBody("body", body.mass, body.center_of_mass, inertia, hull=hull)


def _record(found: OwnEstimate) -> dict[str, Any]:
    """What ``parameters.json`` holds."""
    fit, recording = found.fit, found.recording
    uniform = moved_to(fit.uniform, fit.body.center_of_mass)
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
        "model": f"Newton and Euler (eqs. 8 and 9), poses unknown, noise by likelihood; {words(fit.models[0])}",
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
        "distance_to_uniform_body_at_center": geodesic_distance(fit.body, uniform),
        "told_by": found.told_by,
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
        "inertia_origin": tensor(told[TENSOR.stop :]).tolist(),
    }
