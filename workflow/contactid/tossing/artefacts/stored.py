"""What stored results show: every simulator on one split of the cube's tosses, what fewer tosses
cost, and the two ways to friction and restitution on boxes made anew by other truths."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from contactid.output import style
from contactid.output.computing import Shown
from contactid.output.stored import read_stored
from contactid.output.tables import read_csv
from contactid.tossing.peers.catalogue import OWN

# Acosta, Yang, Posa: Validating robotics simulators on real-world impacts, RA-L 2022, as a public
# benchmark of ContactNets' data quotes it: means and standard deviations over tosses of another
# split.
_QUOTED = {
    "Drake": (13.5, 8.2, 16.5, 20.0),
    "Bullet": (14.9, 8.9, 16.5, 20.2),
    "MuJoCo": (25.1, 10.8, 21.7, 21.4),
}
_ERRORS = ("position_pct", "position_sd", "rotation_deg", "rotation_sd")
_CURVES = {
    "test_loss": "test loss",
    "position_pct": "position error (% of width)",
    "rotation_deg": "rotation error (degrees)",
}
_LAWS = {"newton": (style.MEASURED, "o"), "incremental": (style.SIMULATED, "s")}
_CASE = ["object", "truth", "law", "parameters"]
_MEDIANS = (
    "friction_mu",
    "friction_mu_true",
    "restitution_e_n",
    "restitution_e_n_true",
    "rest_position_error_cm",
    "rest_rotation_error_deg",
)


def benchmark_table(stored_benchmark: Sequence[str]) -> pd.DataFrame:
    """``ext_benchmark``: the stored rows beside the published ones, with times over that of
    Newton's law.

    ``time_over_newton`` is a step's time over that of our own simulator by Newton's law in the same
    row's start.
    """
    stored, _ = read_stored(stored_benchmark)
    newton = stored[stored["row"] == OWN].set_index("start")["us_per_step"]
    stored["time_over_newton"] = stored["us_per_step"] / stored["start"].map(newton)
    stored["data"] = "the run's test tosses"
    published = [
        {"row": f"{name}_published", "start": "file", "simulator": name, "body": "nominal"}
        | dict(zip(_ERRORS, errors, strict=True))
        | {"data": "quoted, another split"}
        for name, errors in _QUOTED.items()
    ]
    return pd.concat([pd.DataFrame(published), stored], ignore_index=True)


def learning_figure(stored_splits: Sequence[str]) -> Shown:
    """``ext_learning_curve``: by law and number of tosses the median and the range over draws, on
    the first split; with the datasets that they were made from.
    """
    stored, _ = read_stored(stored_splits)
    # few tosses were drawn on the first split alone
    first = stored[stored["seed"] == stored["seed"].iloc[0]]
    rows = []
    for (law, number), part in first.groupby(["law", "n_identification"]):
        row = {"law": law, "n_tosses": number, "draws": len(part)}
        for name in _CURVES:
            row |= {
                name: part[name].median(),
                f"{name}_least": part[name].min(),
                f"{name}_most": part[name].max(),
            }
        rows.append(row)
    datasets = list(dict.fromkeys(stored["dataset"]))
    said = f"recorded data: {', '.join(datasets)}"
    return Shown(pd.DataFrame(rows), data=said, datasets=datasets)


def draw_learning_curve(data: pd.DataFrame) -> Figure:
    """A panel per error: medians over draws with their range, against the number of tosses."""
    figure, panels = plt.subplots(1, len(_CURVES), figsize=(style.DOUBLE_COLUMN, 2.3))
    for panel, (name, label) in zip(panels, _CURVES.items(), strict=True):
        for law, (colour, marker) in _LAWS.items():
            part = data[data["law"] == law]
            panel.plot(part["n_tosses"], part[name], marker=marker, ms=3.5, color=colour, label=law)
            panel.fill_between(
                part["n_tosses"],
                part[f"{name}_least"],
                part[f"{name}_most"],
                color=colour,
                alpha=0.2,
                lw=0,
            )
        panel.set_xscale("log", base=2)
        panel.set_xticks(
            sorted(set(data["n_tosses"])),
            labels=map(str, sorted(set(data["n_tosses"]))),
            rotation=45,
        )
        panel.set_xlabel("tosses to identify on")
        panel.set_ylabel(label)
        panel.set_ylim(bottom=0.0)
    panels[0].legend()
    return figure


def other_truth_table(other_truths: str) -> pd.DataFrame:
    """``ext_other_truth``: medians over the seeds, and in how many of them the 95 % intervals hold
    the truth.
    """
    cases = read_csv(other_truths).groupby(_CASE, sort=False)
    table = cases[list(_MEDIANS)].median()
    for name in ("friction_mu", "restitution_e_n"):
        table[f"{name}_error"] = table[name] - table[f"{name}_true"]
        table[f"{name}_holds"] = cases[f"{name}_holds"].sum()
    table["seeds"] = cases.size()
    return table.reset_index()
