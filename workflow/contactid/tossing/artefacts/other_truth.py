"""Table and figure of boxes made anew by other truths: how far the two ways to friction and restitution differ."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from contactid.output import style
from contactid.output.tables import read_csv
from contactid.tossing.artefacts.predictions import printed_table

_CASE = ["object", "truth", "law", "parameters"]
_MEDIANS = (
    "friction_mu",
    "friction_mu_true",
    "restitution_e_n",
    "restitution_e_n_true",
    "rest_position_error_cm",
    "rest_rotation_error_deg",
)
_TRUTHS = {
    "same_law": "truth by Newton's law",
    "incremental": "truth by the incremental law",
    "other_body": "and another inertia, rounded corners",
}
_SHIFT = 0.18  # between the truths of one object, of the distance between objects


def other_truth_table(other_truths: str) -> dict[str, pd.DataFrame]:
    """``ext_other_truth``: medians over the seeds, and in how many of them the 95 % intervals hold the truth."""
    cases = read_csv(other_truths).groupby(_CASE, sort=False)
    table = cases[list(_MEDIANS)].median()
    for name in ("friction_mu", "restitution_e_n"):
        table[f"{name}_error"] = table[name] - table[f"{name}_true"]
        table[f"{name}_holds"] = cases[f"{name}_holds"].sum()
    table["seeds"] = cases.size()
    table["same_face_share"] = cases["same_face"].sum() / cases["n_test"].sum()
    return {"tables/ext_other_truth": table.reset_index()}


def differences(other_truths: str, published: str) -> pd.DataFrame:
    """``ext_other_truth`` drawn: mu from impacts less mu from trajectories, identified by Newton's law.

    Columns: ``object``, ``truth`` (``printed``: table II), ``seed``, ``difference``.
    """
    table = read_csv(other_truths)
    newton = table[table["law"] == "newton"]
    wide = newton.pivot(index=["object", "truth", "seed"], columns="parameters", values="friction_mu")
    made = (wide["velocity"] - wide["trajectory"]).rename("difference").reset_index()
    printed = printed_table(read_csv(published), "tab02")
    printed = printed[printed["simulator"] == "matlab"]
    both = printed.pivot(index="object", columns="parameters", values="friction_mu")
    of_print = (both["velocity"] - both["trajectory"]).rename("difference").reset_index()
    of_print = of_print[of_print["object"].isin(made["object"])]
    return pd.concat([made, of_print.assign(truth="printed")], ignore_index=True)


def draw_other_truth(data: pd.DataFrame) -> Figure:
    """A column of points per object: every seed of every truth, beside table II."""
    objects = list(dict.fromkeys(data["object"]))
    figure, panel = plt.subplots(figsize=(style.SINGLE_COLUMN * 1.3, 2.6))
    colours = (style.LINE, style.RELEASE, style.ACCENT)
    panel.axhline(0.0, color=style.MEASURED, lw=0.6)
    printed = data[data["truth"] == "printed"].set_index("object")["difference"]
    places = [objects.index(name) for name in printed.index]
    panel.plot(places, printed, "D", color="black", ms=5, label="printed (table II)")
    for number, ((truth, label), colour) in enumerate(zip(_TRUTHS.items(), colours, strict=True)):
        part = data[data["truth"] == truth]
        shift = _SHIFT * (number + 1)
        beside = [objects.index(name) + shift for name in part["object"]]
        panel.plot(beside, part["difference"], "o", color=colour, ms=3, label=label)
    panel.set_xticks(range(len(objects)), objects)
    panel.set_ylabel(r"$\mu$ from impacts $-$ from tosses")
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=2)
    return figure
