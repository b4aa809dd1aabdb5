"""``contactid.predict``: a user's own tosses, by a finished run or by stated parameters, as a result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.core.threads import one_blas_thread
from contactid.output.fits import read_json
from contactid.output.own_report import PARAMETERS
from contactid.output.result import Result, parameter_row, parameter_table
from contactid.output.simulator_formats import IdentifiedBody
from contactid.sources.conventions import Convention
from contactid.sources.motion import BodyProperties, body_of, uniform_box
from contactid.tossing.own.conventions import explained_motion
from contactid.tossing.own.finished_run import FinishedRun, read_run, size_of
from contactid.tossing.own.predict import (
    LAWS,
    NAIVE,
    NO_IMPACT,
    STATED,
    counted,
    label,
    lines,
    means,
    means_of,
    no_impact,
    predict_own,
    problem_of,
    warnings_by_run,
    warnings_on_tosses,
)
from contactid.tossing.own.recordings import Box, Tosses, has_tables, read_box, read_own
from contactid.tossing.own.regions import NO_REGIONS, OwnRegions, predict_regions
from contactid.tossing.own.toss_regions import TossRegions, predicted_rests
from contactid.tossing.own.tosses import OwnTosses, read_tosses
from contactid.tossing.own.usable import prepared_own, recording_warnings
from contactid.tossing.predict.prediction import POSE
from contactid.tossing.predict.prediction import predict as predict_tosses
from contactid.tossing.prepare.calibration import Calibration, uncalibrated
from contactid.tossing.prepare.preprocess import TEST
from contactid.tossing.simulate.box import ContactParameters

_MU, _E_N = "friction_mu", "restitution_e_n"
_SAME_SIZE = 0.02  # of a side: what people measure alike
_INERTIA = [f"inertia_{axes}" for axes in ("xx", "yy", "zz", "xy", "xz", "yz")]
_CENTER = [f"center_{axis}" for axis in "xyz"]
_SHOWN_SCHEMES = [
    "scheme", "parameters", "friction_mu", "restitution_e_n", "n_tosses", "mean_loss", "sem_loss",
    "run_mean_loss", "run_sem_loss", "rest_position_error_cm", "rest_rotation_error_deg", "same_face",
]  # fmt: skip
_LIMITS = (
    "A prediction begins at the measured release: it says nothing of the throw itself.",
    "Standard errors are of means over these tosses: they don't cover another body or surface.",
    "Losses of a calibrated body are in true metres, those of the others in the data's own.",
)
_OF_REGIONS = (
    "A region holds a toss where the body rests on one of its faces, the origin inside an outline: it "
    "doesn't tell the yaw. Of the tosses shown half are spread over all, and half have the least "
    "certain faces."
)


@one_blas_thread
def predict(
    by: str | Path | Mapping[str, float] | Result,
    tosses: Tosses,
    box: Box = None,
    *,
    law: str | None = None,
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    frame: Mapping[str, str] | None = None,
    object_name: str = "",
    surface: str = "",
    progress: Callable[[str], None] = lambda line: None,
) -> Result:
    """Predict tosses of a box onto a plane from release to rest, beside a box that stays where it
    first touches.

    Parameters
    ----------
    by
        What predicts. The folder of a finished run: every scheme that it identified for this body.
        The folder that :func:`contactid.toss` has saved, or that function's result itself: its
        parameters, box and law. Or a mapping with ``friction_mu`` and ``restitution_e_n``, and any
        of the others that it gives (``scale``, ``center_x`` in m, ``inertia_xx`` in kg m2 and so
        on).
    tosses
        Poses, as :func:`contactid.toss` takes them (m, unit quaternions with the real part first,
        from the body to a frame with z upwards; evenly spaced in time).
    box, law
        Without a run: the box, as :func:`contactid.toss` takes it, and the law of impacts. A run
        knows its body, and a result of :func:`contactid.toss` both.
    columns, units, frame
        What is otherwise than stated above (:class:`contactid.sources.conventions.Convention`).
    object_name, surface
        Of an archive: the box where there are several, and its planes, in order, with commas. With
        a table and a run of several bodies: whose poses these are.
    progress
        Called with a line of text as each scheme is done.

    Returns
    -------
    Result
        ``params``: ``loss_<scheme>``, the mean loss (eq. 18 of the tossing paper, 1). Tables:
        ``predictions``, a row per toss and scheme; ``schemes``, their means; with a run that keeps
        regions of rest poses, ``coverage``; with a result of :func:`contactid.toss`, its
        ``regions`` and ``outlines``. ``residuals``: measured less predicted rest poses,
        ``position`` (m) and ``rotation`` (rotation vector, rad), both in the surface's frame.
        Files: ``regions.json``, and the body by each scheme.

    Raises
    ------
    ContactIdError
        For whatever is wrong with the run, the parameters or the tosses; where another convention
        explains the tosses.
    """
    convention = Convention(columns or {}, units or {}, frame or {})
    record: Mapping[str, Any] = {}
    parameters: Mapping[str, float] | pd.DataFrame
    if isinstance(by, Result):
        record, parameters = by.record, by.params
    elif not isinstance(by, str | Path):
        parameters = by
    elif (Path(by) / PARAMETERS).is_file():
        record = read_json(Path(by) / PARAMETERS)
        if not {"box", "law"} <= record.keys():
            raise ContactIdError(
                f"{by}: a report without a box and a law of impact",
                "Name a folder that toss has saved; one of an earlier version, made anew",
            )
        parameters = pd.DataFrame({"value": record["parameters"], "unit": record["units"]})
    else:
        run = read_run(by)
        own = read_tosses(tosses, run, object_name, surface, convention)
        progress(own.description())
        return _by_run(run, own, progress)
    law = law or record.get("law", LAWS[0])
    if law not in LAWS:
        raise ContactIdError(f"law {law}", f"Known are {', '.join(LAWS)}")
    # an archive says how large its box is
    stated = record.get("box") if has_tables(tosses) else None
    body, _ = read_box(box or stated)
    read = read_own(tosses, body, convention, object_name, surface)
    _refuse_another_box(body_of(read.motion), record)
    meant = explained_motion(read.motion, read.convention, placed=read.placed, length=read.length)
    return _by_parameters(parameters, record, meant, law)


def _refuse_another_box(body: BodyProperties, record: Mapping[str, Any]) -> None:
    sides = np.ptp(body.vertices, axis=0)
    if not np.allclose(sides, record.get("box", {"size": sides})["size"], rtol=_SAME_SIZE):
        identified = size_of(uniform_box(record["box"]["size"], 1.0))
        raise ContactIdError(
            f"tosses of a box of {size_of(body)}, but {identified} were identified",
            "Give tosses of that box",
        )


# By a run


def _by_run(run: FinishedRun, tosses: OwnTosses, progress: Callable[[str], None]) -> Result:
    predictions = pd.DataFrame(columns=["toss", "scheme", "identified_on"])
    summary, warnings = pd.DataFrame(), list(tosses.warnings)
    if tosses.count(TEST):
        predictions = predict_own(run, tosses, progress)
        summary = means(predictions, run, tosses)
        warnings += warnings_on_tosses(predictions, summary)
        warnings += warnings_by_run(summary)
    regions = predict_regions(run, tosses)
    if regions is None and summary.empty:
        raise ContactIdError(
            f"{tosses.name}: all recordings end in motion, and {run.folder} keeps no regions of rest poses",
            "Record until the body rests, or name a run with tossing.rest_poses.variants",
        )
    commit = f" (commit {run.commit[:12]})" if run.commit else ""
    names = ", ".join(one.dataset for one in tosses.identified)
    of_run = f"The run {run.name}{commit} identified on: {names}."
    synthetic = "SYNTHETIC " if tosses.prepared.attrs["synthetic"] else ""
    answer = _answer(predictions, summary, f"{synthetic}{tosses.name}, by the run {run.name}")
    tables, left_out = dict(answer.tables), tosses.left_out
    if left_out:
        tables["left_out"] = pd.DataFrame({"toss": list(left_out), "reason": left_out.values()})
    answer = replace(
        answer,
        tables=tables,
        shown=tuple(tables.keys() - {"predictions"}),
        warnings=tuple(f"{warning}." for warning in warnings),
        title=f"Predicted: {tosses.description()}",
        notes=(*tosses.notes, of_run),
        limits=_LIMITS,
        record={
            "run": run.name,
            "git_commit": run.commit,
            "identified_on": [one.dataset for one in tosses.identified],
            "tosses": tosses.count(TEST),
            "warnings": warnings,
        },
    )
    if regions is None:
        return replace(answer, headline=(*answer.headline, f"{NO_REGIONS}."))
    return _with_regions(answer, regions, run, tosses)


def _with_regions(
    answer: Result, regions: OwnRegions, run: FinishedRun, tosses: OwnTosses
) -> Result:
    predictions = regions.regions.beside(
        answer.tables["predictions"],
        scheme=regions.scheme.name,
        identified_on=regions.identified_on,
    )
    tables = {**answer.tables, "predictions": predictions, "coverage": regions.coverage}
    scheme = (
        f"Regions are by {regions.scheme.name}, of the schemes that have some the one of least loss "
        "on the run's own test tosses."
    )
    return replace(
        answer,
        tables=tables,
        shown=(*answer.shown, "coverage"),
        figures={**answer.figures, **regions.regions.figures(tosses.object)},
        headline=(*answer.headline, *regions.lines()),
        warnings=(*answer.warnings, *(f"{warning}." for warning in regions.warnings())),
        notes=(*answer.notes, scheme),
        limits=(*answer.limits, _OF_REGIONS),
        files={**answer.files, "regions.json": regions.document(run.name)},
    )


def simulator_body(body: BodyProperties, contact: Mapping[str, Any]) -> IdentifiedBody:
    """A box for other simulators; ``contact`` has friction and restitution."""
    return IdentifiedBody(
        name="box",
        mass=body.mass,
        center_of_mass=body.center_of_mass,
        inertia=body.inertia,
        friction=float(contact[_MU]),
        restitution=float(contact[_E_N]),
        box=np.ptp(body.vertices, axis=0),
    )


# By parameters


def _by_parameters(
    by: Mapping[str, float] | pd.DataFrame, record: Mapping[str, Any], motion: xr.Dataset, law: str
) -> Result:
    prepared = prepared_own(motion, share=0.0, require_usable=True)
    values = _values_of(by, body_of(prepared))
    contact = ContactParameters(values[_MU], values[_E_N])
    calibrated = _calibration(values, body_of(prepared)).apply(prepared)
    about: dict[str, Any] = {"scheme": law, "parameters": STATED, _MU: contact.friction_mu}
    about |= {_E_N: contact.restitution_e_n, "calibrated": len(values) > 2}
    problem = problem_of(calibrated, law, TEST)
    predicted = predict_tosses(problem, contact).assign(**about)
    regions = TossRegions([], body_of(calibrated).vertices)
    if "rest_poses" in record:
        _, rests = predicted_rests(record["rest_poses"], problem, contact)
        regions = replace(regions, predictions=rests)
        predicted = regions.beside(predicted)
    naive = no_impact(prepared).assign(scheme=NO_IMPACT, parameters=NAIVE, calibrated=False)
    predictions = pd.concat([predicted, naive], ignore_index=True)
    predictions = predictions.assign(seen=False, identified_on="")
    # the table has a run's columns, which nothing fills
    nothing_run = {"run_mean_loss": np.nan, "run_sem_loss": np.nan, "run_n_tosses": 0}
    summary = means_of(predictions).assign(**nothing_run)
    source, body = str(motion.attrs["source"]), body_of(calibrated)
    warnings = [*warnings_on_tosses(predictions, summary), *recording_warnings(prepared)]
    answer = _answer(predictions, summary, f"{source}, by stated parameters")
    used = f"{source}: {len(predicted)} tosses, {size_of(body)}."
    return replace(
        answer,
        tables={**answer.tables, **regions.tables()},
        figures={**answer.figures, **regions.figures()},
        warnings=tuple(f"{warning}." for warning in warnings),
        notes=(used, f"Law of impact: {law}.", *regions.notes()),
        record={"stated": values, "law": law, "tosses": len(predicted), "warnings": warnings},
        body=simulator_body(body, values),
    )


def _values_of(by: Mapping[str, float] | pd.DataFrame, body: BodyProperties) -> dict[str, float]:
    """Parameters by name; an inertia per mass becomes that of the body."""
    if isinstance(by, pd.DataFrame):
        # where toss knew no mass
        per_mass = by["unit"] == "m2"
        column = by["value"].where(~per_mass, body.mass * by["value"])
        values = {str(name): float(value) for name, value in column.items()}
    else:
        values = {name: float(value) for name, value in by.items()}
    known = (_MU, _E_N, "scale", *_CENTER, *_INERTIA)
    missing, strange = {_MU, _E_N} - set(values), set(values) - set(known)
    if missing or strange:
        what = f"lack {', '.join(sorted(missing))}" if missing else f"have {min(strange)}"
        raise ContactIdError(f"the parameters {what}", f"Known are {', '.join(known)}")
    return values


def _calibration(values: Mapping[str, float], body: BodyProperties) -> Calibration:
    """The body with what is stated of it."""
    as_described = uncalibrated(body)
    center = zip(_CENTER, as_described.center_of_mass, strict=True)
    inertia = zip(_INERTIA, as_described.inertia, strict=True)
    return replace(
        as_described,
        scale=values.get("scale", 1.0),
        center_of_mass=tuple(values.get(name, default) for name, default in center),
        inertia=tuple(values.get(name, default) for name, default in inertia),
    )


# What both say


def _answer(predictions: pd.DataFrame, summary: pd.DataFrame, said: str) -> Result:
    """Losses of all schemes, as far as tosses were measured at rest."""
    if summary.empty:
        rows: list[dict[str, Any]] = []
        covariance, residuals, tables = pd.DataFrame(), xr.Dataset(), {}
    else:
        rows = [
            parameter_row(f"loss_{label(row, summary)}", row["mean_loss"], row["sem_loss"], "1")
            for _, row in summary.iterrows()
        ]
        names = [str(row["parameter"]) for row in rows]
        # of mean losses over the same tosses
        by_toss = counted(predictions).pivot_table(
            index="toss", columns=["scheme", "identified_on"], values="loss"
        )
        pairs = list(zip(summary["scheme"], summary["identified_on"], strict=True))
        covariance = pd.DataFrame((by_toss[pairs].cov() / len(by_toss)).to_numpy(), names, names)
        residuals = _residuals(predictions)
        tables = {"schemes": summary[_SHOWN_SCHEMES]}
    return Result(
        title=f"Predicted tosses: {said}",
        params=parameter_table(rows),
        covariance=covariance,
        residuals=residuals,
        reasons=(),
        warnings=(),
        notes=(),
        record={},
        tables={"predictions": predictions, **tables},
        figures={},
        headline=tuple(lines(summary)),
        limits=_LIMITS,
        shown=tuple(tables),
    )


def _residuals(predictions: pd.DataFrame) -> xr.Dataset:
    def poses(kind: str) -> tuple[np.ndarray, Any]:
        values = predictions[[f"{kind}_{name}" for name in POSE]].to_numpy(dtype=float)
        return values[:, :3], rotations.as_rotation(values[:, 3:])

    (place, turned), (simulated_place, simulated_turned) = poses("measured"), poses("simulated")
    # a turn in C: measured = exp(turn) simulated
    rotation = (turned * simulated_turned.inv()).as_rotvec()
    return xr.Dataset(
        {
            "position": (("prediction", "xyz"), place - simulated_place, {"units": "m"}),
            "rotation": (("prediction", "xyz"), rotation, {"units": "rad"}),
        },
        coords={name: ("prediction", predictions[name].values) for name in ("toss", "scheme")},
    )
