"""From a canonical dataset and a twin's truth to the files of the arm's modal fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.arm import fit_figure_data
from contactid.arm.fit_tables import Label, chosen_table, failed_row, fit_row, frame, modes_rows, summary_table
from contactid.arm.identify.accuracy import (
    TRUE,
    SensorNoise,
    TwinExperiment,
    accuracy_table,
    reference_table,
    sample_rows,
    sample_window,
    twin_experiment,
)
from contactid.arm.identify.impact_time import ImpactOptions
from contactid.arm.identify.optimum import confirmation_rows, search_rows, search_table
from contactid.arm.identify.reconstruction import (
    ExperimentFit,
    Method,
    PipelineOptions,
    evaluate_experiment,
    map_velocity,
    methods_of,
)
from contactid.arm.readers.impacts import ArmRecording, experiment_at, iterate_arm_recordings
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.core.errors import ContactIdError
from contactid.output.tables import read_csv, write_csv, write_tex
from contactid.sources.motion import read_dataset

_CONFIRMED_MODES = (1, 2)
_CAPTIONS = {
    "ext_fit": "Reconstructed post-impact velocities by the paper's method, against the impact map.",
    "ext_fit_summary": "Errors of the reconstructed post-impact velocity against the impact map, by method.",
    "ext_modes": "Number of modes that BIC chooses.",
    "ext_fit_accuracy": "Bias, spread and coverage of the reconstructed post-impact velocity on the twin.",
    "ext_optimum": "Share of noise samples in which the search finds the global optimum.",
}


def pipeline_options(block: Mapping[str, Any]) -> PipelineOptions:
    """Of the block ``arm: fit``."""
    return PipelineOptions(
        window=block["window"],
        before=block["before"],
        pre_degree=block["pre_degree"],
        impact=ImpactOptions(**block["impact"]),
    )


def write_fits(data: str | Path, folder: str | Path, *, block: Mapping[str, Any], robot: Mapping[str, Any]) -> None:
    """Evaluate every experiment; write ``ext_fit*`` and ``ext_modes`` to tables, ``fig06_cartesian_fit`` to figures.

    Parameters
    ----------
    data
        Canonical netCDF.
    folder
        The study's results.
    block, robot
        ``arm: fit`` and ``arm: robot`` of the configuration.

    Raises
    ------
    ContactIdError
        Where ``table_method`` isn't among the methods, or no experiment has the shown velocity.
    """
    impacts, arm = read_dataset(data), load_robot(**robot)
    methods = methods_of(block["methods"])
    main = block["table_method"]
    if main not in {method.name for method in methods}:
        raise ContactIdError(f"arm: fit: table_method {main!r} is no method", "Name one of arm: fit: methods")
    evaluated = [_evaluated(arm, one, methods, block) for one in iterate_arm_recordings(impacts)]
    rows = frame([row for label, fit, reason in evaluated for row in _rows(arm, label, fit, reason, methods)])
    modes = frame([row for label, fit, _ in evaluated if fit for row in modes_rows(label, fit, block["most_modes"])])
    tables, figures = Path(folder) / "tables", Path(folder) / "figures"
    own = rows[rows["method"] == main].drop(columns="method")
    write_csv(own, tables / "ext_fit.csv")
    write_tex(_brief(own), tables / "ext_fit.tex", caption=_CAPTIONS["ext_fit"])
    write_csv(rows, tables / "ext_fit_methods.csv")
    _both(summary_table(rows), tables / "ext_fit_summary")
    write_csv(modes, tables / "ext_modes.csv")
    write_tex(chosen_table(modes), tables / "ext_modes.tex", caption=_CAPTIONS["ext_modes"])
    shown = [
        _shown(impacts, evaluated, block["shown"]["velocity"], angle, main) for angle in block["shown"]["angles_deg"]
    ]
    write_csv(pd.concat(shown, ignore_index=True), figures / "fig06_cartesian_fit.csv")


_Evaluated = tuple[Label, ExperimentFit | None, str]


def _evaluated(arm: Robot, one: ArmRecording, methods: Sequence[Method], block: Mapping[str, Any]) -> _Evaluated:
    setting = one.setting
    label = Label(setting.name, setting.set_number, setting.velocity, setting.angle_deg)
    try:
        fit = evaluate_experiment(
            arm, setting.name, one.time, one.joint_position, methods, pipeline_options(block),
            motor_inertia=np.array(block["motor_inertia"]),
        )  # fmt: skip
    except ContactIdError as error:
        return label, None, str(error)
    return label, fit, ""


def _rows(
    arm: Robot, label: Label, fit: ExperimentFit | None, reason: str, methods: Sequence[Method]
) -> list[dict[str, object]]:
    if fit is None:
        return [failed_row(label, method.name, reason) for method in methods]
    links = map_velocity(arm, fit.state)
    return [fit_row(label, fit, method.name, links) for method in methods]


def _shown(
    impacts: xr.Dataset, evaluated: Sequence[_Evaluated], velocity: float, angle: float, method: str
) -> pd.DataFrame:
    name = experiment_at(impacts, velocity=velocity, angle_deg=angle)
    label, fit, reason = next(one for one in evaluated if one[0].experiment == name)
    if fit is None:
        raise ContactIdError(f"figure 6 can't show {name} ({reason})", "Choose another velocity below arm: fit: shown")
    kind = "synthetic data" if impacts.attrs["synthetic"] else "recorded data"
    return fit_figure_data.cartesian_fit(label, fit, method, f"{kind}: {impacts.attrs['source']}; contactid arm")


def _brief(rows: pd.DataFrame) -> pd.DataFrame:
    kept = [
        "experiment", "vz_minus", "vz_plus_fit", "eta_z", "vx_minus", "vx_plus_map", "vx_plus_fit", "vx_plus_fit_se",
        "eta_x",
    ]  # fmt: skip
    return rows.reindex(columns=kept)


def _both(table: pd.DataFrame, stem: Path) -> None:
    write_csv(table, stem.with_suffix(".csv"))
    write_tex(table, stem.with_suffix(".tex"), caption=_CAPTIONS[stem.name])


def _twin(truth: str | Path, robot: Mapping[str, Any], experiment: str) -> tuple[TwinExperiment, SensorNoise]:
    known = read_dataset(truth)
    noise = SensorNoise(float(known.attrs["noise"]), float(known.attrs["resolution"]), int(known.attrs["seed"]))
    return twin_experiment(load_robot(**robot), known, experiment), noise


def write_samples(
    truth: str | Path, experiment: str, path: str | Path, *, block: Mapping[str, Any], robot: Mapping[str, Any]
) -> None:
    """Write a twin experiment's noise samples by every method, :func:`contactid.arm.identify.accuracy.sample_rows`."""
    twin, noise = _twin(truth, robot, experiment)
    samples = range(1, block["accuracy"]["samples"] + 1)
    write_csv(sample_rows(twin, methods_of(block["methods"]), noise, samples, pipeline_options(block)), path)


def write_optima(
    truth: str | Path,
    experiment: str,
    searches: str | Path,
    confirmation: str | Path,
    *,
    block: Mapping[str, Any],
    robot: Mapping[str, Any],
) -> None:
    """Write how often the search finds a twin experiment's global optima, and what IPOPT finds in one noise sample."""
    twin, noise = _twin(truth, robot, experiment)
    chosen, options = block["accuracy"], pipeline_options(block)
    write_csv(search_rows(twin, noise, range(1, chosen["samples"] + 1), chosen["starts"], options), searches)
    window, _ = sample_window(twin, noise, 1, TRUE, options)
    rows = confirmation_rows(window, experiment, _CONFIRMED_MODES, chosen["ipopt_starts"], noise.seed)
    write_csv(rows, confirmation)


def write_accuracy(
    truth: str | Path,
    samples: Sequence[str | Path],
    searches: Sequence[str | Path],
    confirmations: Sequence[str | Path],
    folder: str | Path,
    *,
    robot: Mapping[str, Any],
) -> None:
    """Gather all experiments' parts into ``ext_fit_accuracy``, ``ext_optimum`` and ``ext_fit_confirmation``."""
    rows = pd.concat([read_csv(path) for path in samples], ignore_index=True)
    known, arm = read_dataset(truth), load_robot(**robot)
    references = reference_table([twin_experiment(arm, known, name) for name in rows["experiment"].unique()])
    accuracy = accuracy_table(rows, references)
    tables = Path(folder) / "tables"
    _both(accuracy, tables / "ext_fit_accuracy")
    _both(search_table(pd.concat([read_csv(path) for path in searches])), tables / "ext_optimum")
    write_csv(pd.concat([read_csv(path) for path in confirmations]), tables / "ext_fit_confirmation.csv")
    points = fit_figure_data.accuracy_points(rows, references, accuracy)
    write_csv(points, Path(folder) / "figures" / "ext_fit_accuracy.csv")
