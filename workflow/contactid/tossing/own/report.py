"""The report on a user's own tosses: a table, a page of text and a figure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError
from contactid.output import simulator_formats as formats
from contactid.output import style
from contactid.output.escape import markdown
from contactid.output.fits import read_json
from contactid.output.own_report import PREDICTIONS, SUMMARY
from contactid.output.tables import write_report_csv
from contactid.sources.motion import body_of
from contactid.tossing.artefacts.rest_poses import draw_regions
from contactid.tossing.own.finished_run import FinishedRun
from contactid.tossing.own.predict import NAIVE, label, means, predict_own, warnings_on, with_error
from contactid.tossing.own.regions import NO_REGIONS, OwnRegions, predict_regions
from contactid.tossing.own.tosses import OwnTosses
from contactid.tossing.prepare.calibration import Calibration
from contactid.tossing.prepare.preprocess import TEST

_HEIGHT, _LEAST = 0.24, 2.2  # inches: of a scheme's row, of the figure


@dataclass(frozen=True)
class OwnPrediction:
    """Predicted tosses."""

    # run, tosses: what was predicted, and by what
    run: FinishedRun
    tosses: OwnTosses
    # table, means: of :mod:`contactid.tossing.own.predict`; no means where no toss was measured at
    # rest
    table: pd.DataFrame
    means: pd.DataFrame
    regions: OwnRegions | None  # None where the run keeps none
    warnings: tuple[str, ...]  # sentences


def predict_and_judge(
    run: FinishedRun, tosses: OwnTosses, progress: Callable[[str], None]
) -> OwnPrediction:
    """Losses and regions of tosses, and what not to trust; ``progress`` is called with lines of
    text.

    Raises :class:`ContactIdError` where no toss was measured at rest, and the run keeps no regions.
    """
    table, summary, warnings = (
        pd.DataFrame(columns=["toss", "scheme", "identified_on"]),
        pd.DataFrame(),
        [],
    )
    if tosses.count(TEST):
        table = predict_own(run, tosses, progress)
        summary = means(table, run, tosses)
        warnings = warnings_on(table, summary, run, tosses)
    regions = predict_regions(run, tosses)
    if regions is not None:
        table, warnings = regions.beside(table), [*warnings, *regions.warnings()]
    elif summary.empty:
        raise ContactIdError(
            f"{tosses.name}: all recordings end in motion, and {run.folder} keeps no regions of rest poses",
            "Record until the body rests, or name a run with tossing.rest_poses.variants",
        )
    return OwnPrediction(run, tosses, table, summary, regions, (*tosses.warnings, *warnings))


def write_files(prediction: OwnPrediction, folder: Path) -> None:
    """Write ``predictions.csv``, ``summary.md``, ``regions.json``, figures and ``bodies/`` into an
    empty folder.
    """
    write_report_csv(prediction.table, folder / PREDICTIONS)
    write_text(folder / SUMMARY, summary(prediction))
    with style.styled():
        if len(prediction.means):
            _save(draw_losses(prediction.table, prediction.means), prediction, folder / "losses")
        if prediction.regions is not None:
            write_text(folder / "regions.json", prediction.regions.document(prediction.run.name))
            shown = prediction.regions.shown(prediction.tosses.prepared["vertices"].values)
            _save(
                draw_regions(shown.assign(object=prediction.tosses.object)),
                prediction,
                folder / "regions",
            )
    for name, body in _bodies(prediction):
        write_text(folder / f"bodies/{name}.xml", formats.mjcf(body))
        write_text(folder / f"bodies/{name}.urdf", formats.urdf(body))


def _save(figure: Figure, prediction: OwnPrediction, stem: Path) -> None:
    synthetic = "SYNTHETIC " if prediction.tosses.prepared.attrs["synthetic"] else ""
    style.label_data(
        figure, f"{synthetic}{prediction.tosses.name}, by the run {prediction.run.name}"
    )
    style.save(figure, stem)
    plt.close(figure)


def _bodies(prediction: OwnPrediction) -> Iterator[tuple[str, formats.IdentifiedBody]]:
    """The body as each scheme has it, with its friction and restitution, for other simulators."""
    identified = {one.dataset: one for one in prediction.tosses.identified}
    for row in prediction.means.to_dict("records"):
        if row["parameters"] == NAIVE:
            continue
        data = prediction.tosses.prepared
        if row["calibrated"]:
            file = prediction.run.calibration(identified[row["identified_on"]])
            data = Calibration(**read_json(file)).apply(data)
        body = body_of(data)
        contact = float(row["friction_mu"]), float(row["restitution_e_n"])
        name = f"{row['identified_on']}.{row['scheme']}"
        size = np.ptp(body.vertices, axis=0)
        yield (
            name,
            formats.IdentifiedBody(
                name, body.mass, body.center_of_mass, body.inertia, *contact, box=size
            ),
        )


def summary(prediction: OwnPrediction) -> str:
    """The report in Markdown."""
    run, tosses = prediction.run, prediction.tosses
    commit = f" (commit {run.commit[:12]})" if run.commit else ""
    lines = [
        "# Predicted tosses",
        "",
        f"{markdown(tosses.description())} Parameters: run `{run.name}`{commit}.",
    ]
    lines += [*_losses(prediction), *_rest(prediction.regions)]
    lines += [
        "",
        "## Warnings",
        "",
        *(f"* {markdown(warning)}." for warning in prediction.warnings or ["None"]),
    ]
    lines += [
        "",
        "## Notes",
        "",
        *(f"* {note}" for note in [*map(markdown, tosses.notes), *_notes(prediction)]),
    ]
    if tosses.left_out:
        reasons = [
            f"* {markdown(name)}: {markdown(reason)}" for name, reason in tosses.left_out.items()
        ]
        lines += ["", "## Left out", "", *reasons]
    lines += [
        "",
        "`predictions.csv` has a row per toss and scheme, `bodies/` the body by each scheme as MJCF and URDF.",
    ]
    return "\n".join(lines) + "\n"


def _losses(prediction: OwnPrediction) -> list[str]:
    if prediction.means.empty:
        return ["", "No toss was measured at rest, so there are no losses."]
    lines = [
        "",
        "| scheme | parameters | mu | e_N | mean loss (eq. 18) | the run's own test tosses | position at rest, cm "
        "| turned at rest, degrees | on the right face |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for _, row in prediction.means.iterrows():
        naive = row["parameters"] == NAIVE
        pair = ("", "") if naive else (f"{row['friction_mu']:.3g}", f"{row['restitution_e_n']:.3g}")
        own = with_error(row["run_mean_loss"], row["run_sem_loss"]) if row["run_n_tosses"] else ""
        cells = [label(row, prediction.means), row["parameters"], *pair]
        cells += [with_error(row["mean_loss"], row["sem_loss"]), own]
        cells += [f"{row['rest_position_error_cm']:.3g}", f"{row['rest_rotation_error_deg']:.3g}"]
        lines.append("| " + " | ".join([*cells, f"{row['same_face']} of {row['n_tosses']}"]) + " |")
    return [
        *lines,
        "",
        "Errors behind +- are standard errors of means over tosses. `no_impact` is the naive answer: the body",
        "stays where it first touches the surface. Losses of a calibrated body are in true metres, those of the",
        "others in the data's own.",
        "",
        "![losses by scheme](losses.png)",
    ]


def _rest(regions: OwnRegions | None) -> list[str]:
    lines = ["", "## Where they come to rest", ""]
    if regions is None:
        return [*lines, f"{NO_REGIONS}."]
    lines += [
        f"By `{regions.scheme.name}`, of the schemes with regions the one of least loss on the run's own test tosses.",
        "",
        "| region | holds of these tosses | of the run's own test tosses | naive: parameters and release alone "
        "| median area, cm2 |",
        "|---|---|---|---|---|",
    ]
    rows: Any = regions.coverage.itertuples(index=False)
    for row in rows:
        own, naive = (
            f"{row.run_covered} of {row.run_n_tosses}",
            f"{row.naive_covered} of {row.n_tosses}",
        )
        cells = f"{100 * row.level:.0f} %", f"{row.covered} of {row.n_tosses}", own, naive
        lines.append(f"| {' | '.join(cells)} | {1e4 * row.median_area_m2:.3g} |")
    return [
        *lines,
        "",
        "A region holds a toss where the body rests on one of its faces, the origin inside an outline, whatever its",
        "yaw. `regions.json` has each toss's outlines and the probability of each face. Of the tosses shown half are",
        "spread over all, and half have the least certain faces.",
        "",
        "![where tosses come to rest, with regions](regions.png)",
    ]


def _notes(prediction: OwnPrediction) -> list[str]:
    names = ", ".join(one.dataset for one in prediction.tosses.identified)
    notes = [f"The run identified on: {names}."]
    if len(prediction.means) and "paper" in set(prediction.means["scheme"]):
        notes.append(
            "`paper` solves contacts by the authors' fixed point, which isn't meant to converge."
        )
    return notes


def draw_losses(predictions: pd.DataFrame, means: pd.DataFrame) -> Figure:
    """Losses of all schemes.

    ``predictions`` and ``means`` are of :func:`contactid.tossing.own.predict.predict_own` and
    ``means`` there.
    """
    height = max(_LEAST, _HEIGHT * len(means) + 0.9)
    figure, axes = plt.subplots(figsize=(0.7 * style.DOUBLE_COLUMN, height))
    for place, (_, row) in enumerate(means.iterrows()):
        of_scheme = predictions["scheme"] == row["scheme"]
        part = predictions[of_scheme & (predictions["identified_on"] == row["identified_on"])]
        colour = style.MEASURED if row["parameters"] == NAIVE else style.LINE
        axes.plot(
            part["loss"],
            np.full(len(part), place),
            ".",
            color=colour,
            ms=3,
            mew=0,
            alpha=0.5,
            zorder=2,
        )
        error = row["sem_loss"] if np.isfinite(row["sem_loss"]) else 0.0
        axes.errorbar(
            row["mean_loss"],
            place,
            xerr=error,
            fmt="d",
            color="black",
            ms=3.5,
            lw=0.9,
            capsize=2,
            zorder=4,
        )
        if np.isfinite(row["run_mean_loss"]):
            axes.plot(
                row["run_mean_loss"], place, "|", color=style.RELEASE, ms=9, mew=1.4, zorder=3
            )
    axes.set_yticks(range(len(means)), [label(row, means) for _, row in means.iterrows()])
    axes.set_ylim(len(means) - 0.5, -0.5)
    axes.set_xlim(left=0.0)
    axes.set_xlabel("loss of a toss (eq. 18)")
    axes.plot([], [], ".", color=style.LINE, ms=4, mew=0, label="toss")
    axes.errorbar(
        [],
        [],
        xerr=[],
        fmt="d",
        color="black",
        ms=3.5,
        lw=0.9,
        capsize=2,
        label="mean, standard error",
    )
    axes.plot([], [], "|", color=style.RELEASE, ms=7, mew=1.4, label="the run's own test tosses")
    axes.legend(
        loc="lower center",
        bbox_to_anchor=(0.5, 1.0),
        ncols=3,
        fontsize=6,
        columnspacing=0.8,
        handletextpad=0.2,
    )
    return figure
