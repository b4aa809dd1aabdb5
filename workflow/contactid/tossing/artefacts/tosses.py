"""Figures 10 and 13: a toss's release and rest, and measured beside predicted rest poses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from contactid.output import style
from contactid.output.computing import Shown
from contactid.output.tables import read_csv
from contactid.tossing.artefacts.data import Case, by_name, example, example_toss, object_of, of_cases, shown
from contactid.tossing.predict.prediction import POSE
from contactid.tossing.prepare.poses import top_outline

_LOOKS: dict[str, dict[str, Any]] = {
    "measured": {"facecolor": (style.MEASURED, 0.5), "edgecolor": "black", "lw": 0.6},
    "by velocity": {"facecolor": (style.SIMULATED, 0.35), "edgecolor": style.RELEASE, "lw": 1.0, "ls": "--"},
    "by trajectory": {"facecolor": "none", "edgecolor": style.LINE, "lw": 1.4},
}


def toss_figures(
    prepared: Sequence[str],
    datasets: Sequence[str],
    cases: Sequence[Case],
    impact_cases: Sequence[Case],
    predictions: Sequence[str],
    velocity_predictions: Sequence[str],
    figures: Mapping[str, Any],
) -> dict[str, Shown]:
    """Figures 10 and 13 of a run; ``predictions`` and ``velocity_predictions`` are by the paper's own schemes."""
    data = by_name(prepared, datasets)
    name = example(data, cases, figures["object"])
    files = [
        *zip(impact_cases, ["velocity"] * len(impact_cases), velocity_predictions, strict=True),
        *zip(cases, ["trajectory"] * len(cases), predictions, strict=True),
    ]
    tables = {(dataset, kind): read_csv(file) for (_, dataset), kind, file in files}
    poses = rest_poses(tables, data, figures["tosses"], figures["seed"])
    return {
        "figures/fig10_release_and_rest": shown(height_of_example(data[name]), data, [name]),
        "figures/fig13_rest_poses": shown(poses, data, of_cases([*cases, *impact_cases])),
    }


def height_of_example(prepared: xr.Dataset) -> pd.DataFrame:
    """Figure 10: height of B's origin over the surface against the sample index, with release and rest marked."""
    samples = example_toss(prepared)
    about = {"object": prepared.attrs["object"], "toss": str(samples["recording"].values)}
    table = pd.DataFrame({"time_s": samples["time"].values, "height_m": samples["position"].values[:, 2], "event": ""})
    for event in ("release", "rest"):
        table.loc[int(samples[event]), "event"] = event
    table = table.rename_axis("sample").reset_index().assign(**about)
    return table[[*about, "sample", "time_s", "height_m", "event"]]


def rest_poses(
    predictions: Mapping[tuple[str, str], pd.DataFrame], prepared: Mapping[str, xr.Dataset], n_tosses: int, seed: int
) -> pd.DataFrame:
    """Figure 13: outlines in the surface (m) of measured and simulated rest poses of randomly chosen tosses.

    ``predictions`` are by dataset and kind of parameters (``velocity``, ``trajectory``); both kinds show the same
    tosses. Outlines are those of the face that lies up, centred on the measured position. Errors are those of Table
    III (eqs. 19 to 21), the rotation as the angle between both poses.
    """
    errors = {"rest_position_error_cm": "position_error_cm", "rest_rotation_error_deg": "rotation_error_deg"}
    tables = []
    for (dataset, parameters), table in predictions.items():
        random = np.random.default_rng(seed)
        chosen = sorted(random.choice(len(table), size=min(n_tosses, len(table)), replace=False))
        vertices = prepared[dataset]["vertices"].values
        for panel, (_, toss) in enumerate(table.iloc[chosen].iterrows()):
            about = {"dataset": dataset, "object": object_of(prepared[dataset]), "panel": panel, "toss": toss["toss"]}
            origin = toss[["measured_x", "measured_y"]].to_numpy(dtype=float)
            for kind, source in (("measured", "measured"), (f"by {parameters}", "simulated")):
                pose = toss[[f"{source}_{name}" for name in POSE]].to_numpy(dtype=float)
                rows = pd.DataFrame(top_outline(pose, vertices) - origin, columns=["x_m", "y_m"])
                rows = rows.rename_axis("corner").reset_index().assign(**about, kind=kind)
                said = {} if source == "measured" else {column: toss[name] for name, column in errors.items()}
                tables.append(rows.assign(**said))
    drawn = pd.concat(tables, ignore_index=True).drop_duplicates(["dataset", "panel", "kind", "corner"])
    names = ["dataset", "object", "panel", "toss", "kind", *errors.values(), "corner", "x_m", "y_m"]
    return drawn[names].sort_values(["dataset", "panel"], kind="stable", ignore_index=True)


def draw_height(data: pd.DataFrame) -> Figure:
    """Figure 10: moments of release and rest."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 2.2))
    axes.plot(data["sample"], data["height_m"], color=style.LINE)
    for event, colour, name in (
        ("release", style.RELEASE, r"release $k_\mathrm{rel}$"),
        ("rest", style.REST, r"rest $k_\mathrm{rest}$"),
    ):
        row = data[data["event"] == event]
        axes.plot(row["sample"], row["height_m"], "o", color=colour, mec="black", mew=0.5, ms=5, label=name, ls="none")
    axes.set(xlabel=r"sample $k$", ylabel=r"height $({}^C\mathbf{o}_B)_z$ (m)", ylim=(0, None))
    axes.set_title(f"{data['object'].iloc[0]}, toss {data['toss'].iloc[0]}", loc="left")
    axes.legend(loc="upper right")
    return figure


def draw_rest_poses(data: pd.DataFrame) -> Figure:
    """Figure 13: measured and predicted rest poses from above, a row per dataset, a column per toss."""
    names, columns = list(dict.fromkeys(data["dataset"])), int(data["panel"].max()) + 1
    figure, panels = plt.subplots(
        len(names), columns, figsize=(style.DOUBLE_COLUMN * 0.75, 1.75 * len(names) + 0.5), squeeze=False,
        sharex="row", sharey="row",
    )  # fmt: skip
    for row, name in enumerate(names):
        of_dataset = data[data["dataset"] == name]
        reach = 1.1 * float(of_dataset[["x_m", "y_m"]].abs().to_numpy().max())
        for column, panel in enumerate(panels[row]):
            part = of_dataset[of_dataset["panel"] == column]
            if part.empty:
                panel.set_visible(False)
                continue
            errors = []
            for kind, outlines in part.groupby("kind", sort=False):
                look = _LOOKS[str(kind)]
                panel.fill(*outlines[["x_m", "y_m"]].head(4).to_numpy().T, label=kind, **look)
                if kind != "measured":
                    cm, angle = outlines[["position_error_cm", "rotation_error_deg"]].iloc[0]
                    errors.append(f"{kind.removeprefix('by ')}: {cm:.1f} cm, {angle:.0f}\N{DEGREE SIGN}")
            panel.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
            panel.set_title("\n".join(errors), loc="left", fontsize=6.5)
        panels[row, 0].set_ylabel(f"{of_dataset['object'].iloc[0]}\n$y_C$ (m)")
    for panel in panels[-1]:
        panel.set_xlabel(r"$x_C$ (m)")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure
