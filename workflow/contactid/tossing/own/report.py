"""The report on a user's own tosses: a table, a page of text and a figure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from contactid.core.atomic import write_text
from contactid.output import simulator_formats as formats
from contactid.output.escape import markdown
from contactid.output.fits import read_json
from contactid.output.own_report import PREDICTIONS, SUMMARY
from contactid.output.style import label_data, save, styled
from contactid.output.tables import write_report_csv
from contactid.sources.motion import body_of
from contactid.tossing.own.draw import draw_predictions
from contactid.tossing.own.finished_run import FinishedRun
from contactid.tossing.own.predict import NAIVE, best_known, doubts, label, means, with_error
from contactid.tossing.own.tosses import OwnTosses
from contactid.tossing.prepare.calibration import Calibration


@dataclass(frozen=True)
class OwnPrediction:
    """Predicted tosses: ``table`` of :func:`contactid.tossing.own.predict.predict_own`, ``means`` and ``warnings``."""

    run: FinishedRun
    tosses: OwnTosses
    table: pd.DataFrame
    means: pd.DataFrame
    warnings: tuple[str, ...]


def report_on(run: FinishedRun, tosses: OwnTosses, table: pd.DataFrame) -> OwnPrediction:
    """Means over the tosses, and what not to trust."""
    found = means(table, run, tosses)
    return OwnPrediction(run, tosses, table, found, tuple(doubts(table, found, run, tosses)))


def write_files(found: OwnPrediction, folder: Path) -> None:
    """Write ``predictions.csv``, ``summary.md``, the figure ``losses`` and ``bodies/`` into an empty folder."""
    write_report_csv(found.table, folder / PREDICTIONS)
    write_text(folder / SUMMARY, summary(found))
    shown = best_known(found.means)
    with styled():
        figure = draw_predictions(found.table, found.means, str(shown["scheme"]), str(shown["identified_on"]))
        label_data(figure, _data(found))
        save(figure, folder / "losses")
        plt.close(figure)
    for name, body in _bodies(found):
        write_text(folder / f"bodies/{name}.xml", formats.mjcf(body))
        write_text(folder / f"bodies/{name}.urdf", formats.urdf(body))


def _bodies(found: OwnPrediction) -> Iterator[tuple[str, formats.IdentifiedBody]]:
    """The body as each scheme has it, with its friction and restitution, for other simulators."""
    identified = {one.dataset: one for one in found.tosses.identified}
    for row in found.means.to_dict("records"):
        if row["parameters"] == NAIVE:
            continue
        data = found.tosses.prepared
        if row["calibrated"]:
            file = found.run.calibration(identified[row["identified_on"]])
            data = Calibration(**read_json(file)).apply(data)
        body = body_of(data)
        contact = float(row["friction_mu"]), float(row["restitution_e_n"])
        name = f"{row['identified_on']}.{row['scheme']}"
        size = np.ptp(body.vertices, axis=0)
        yield name, formats.IdentifiedBody(name, body.mass, body.center_of_mass, body.inertia, *contact, box=size)


def _data(found: OwnPrediction) -> str:
    synthetic = "SYNTHETIC " if found.tosses.prepared.attrs["synthetic"] else ""
    return f"{synthetic}{found.tosses.name}, by the run {found.run.name}"


def summary(found: OwnPrediction) -> str:
    """The report in Markdown."""
    run, tosses = found.run, found.tosses
    lines = ["# Predicted tosses", "", f"{markdown(tosses.told())} Parameters: run `{run.name}`", ""]
    lines[2] += f" (commit {run.commit[:12]})." if run.commit else "."
    lines += [
        "| scheme | parameters | mu | e_N | mean loss (eq. 18) | the run's own test tosses | position at rest, cm "
        "| turned at rest, degrees | on the right face |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for _, row in found.means.iterrows():
        pair = (
            ("", "") if row["parameters"] == NAIVE else (f"{row['friction_mu']:.3g}", f"{row['restitution_e_n']:.3g}")
        )
        own = with_error(row["run_mean_loss"], row["run_sem_loss"]) if row["run_n_tosses"] else ""
        cells = [label(row, found.means), row["parameters"], *pair, with_error(row["mean_loss"], row["sem_loss"]), own]
        cells += [f"{row['rest_position_error_cm']:.3g}", f"{row['rest_rotation_error_deg']:.3g}"]
        lines.append("| " + " | ".join([*cells, f"{row['same_face']} of {row['n_tosses']}"]) + " |")
    lines += [
        "",
        "Errors behind +- are standard errors of means over tosses. `no_impact` is the naive answer: the body",
    ]
    lines += ["stays where it first touches the surface. Losses of a calibrated body are in true metres, those of the"]
    lines += ["others in the data's own."]
    lines += ["", "## Warnings", "", *(f"* {markdown(warning)}." for warning in found.warnings or ["None"])]
    lines += ["", "## Notes", "", *(f"* {note}" for note in [*map(markdown, tosses.notes), *_notes(found)])]
    if tosses.left_out:
        lines += [
            "",
            "## Left out",
            "",
            *(f"* {markdown(name)}: {markdown(reason)}" for name, reason in tosses.left_out.items()),
        ]
    lines += ["", "## Figure", "", "![losses by scheme, and where the body comes to rest](losses.png)", ""]
    lines.append("`predictions.csv` has a row per toss and scheme, `bodies/` the body by each scheme as MJCF and URDF.")
    return "\n".join(lines) + "\n"


def _notes(found: OwnPrediction) -> list[str]:
    names = ", ".join(one.dataset for one in found.tosses.identified)
    notes = [f"The run identified on: {names}."]
    if "paper" in set(found.means["scheme"]):
        notes.append("`paper` solves contacts by the authors' fixed point, which isn't meant to converge.")
    return notes
