"""Figures 10, 11 and 13: a toss's release and rest, its trajectory, and measured beside predicted rest poses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Line3DCollection

from contactid.output import style
from contactid.output.computing import Shown
from contactid.output.tables import read_csv
from contactid.tossing.artefacts.data import Case, by_name, example, example_toss, object_of, of_cases, shown
from contactid.tossing.predict.prediction import POSE
from contactid.tossing.prepare.poses import top_outline, vertex_positions

_DRAWN_SAMPLES = 7
_ENDS = ["x0_m", "y0_m", "z0_m", "x1_m", "y1_m", "z1_m"]  # of a line


def toss_figures(
    prepared: Sequence[str],
    datasets: Sequence[str],
    cases: Sequence[Case],
    impact_cases: Sequence[Case],
    predictions: Sequence[str],
    velocity_predictions: Sequence[str],
    figures: Mapping[str, Any],
) -> dict[str, Shown]:
    """Figures 10, 11 and 13 of a run; ``predictions`` and ``velocity_predictions`` are by the paper's own schemes."""
    data = by_name(prepared, datasets)
    name = example(data, cases, figures["object"])
    tables = {(dataset, "trajectory"): read_csv(file) for (_, dataset), file in zip(cases, predictions, strict=True)}
    tables |= {
        (dataset, "velocity"): read_csv(file)
        for (_, dataset), file in zip(impact_cases, velocity_predictions, strict=True)
    }
    poses = rest_poses(tables, data, figures["tosses"], figures["seed"])
    return {
        "figures/fig10_release_and_rest": shown(height_of_example(data[name]), data, [name]),
        "figures/fig11_trajectory": shown(trajectory_of_example(data[name]), data, [name]),
        "figures/fig13_rest_poses": shown(poses, data, of_cases([*cases, *impact_cases])),
    }


def height_of_example(prepared: xr.Dataset) -> pd.DataFrame:
    """Figure 10: height of B's origin over the surface against the sample index, with release and rest marked."""
    samples = example_toss(prepared)
    height = samples["position"].values[:, 2]
    index = np.arange(len(height))
    event = np.where(index == int(samples["release"]), "release", np.where(index == int(samples["rest"]), "rest", ""))
    return pd.DataFrame(
        {
            "object": prepared.attrs["object"],
            "toss": str(samples["recording"].values),
            "sample": index,
            "time_s": samples["time"].values,
            "height_m": height,
            "event": event,
        }
    )


def trajectory_of_example(prepared: xr.Dataset) -> pd.DataFrame:
    """Figure 11: edges of the box at samples spread evenly in distance from release to rest, in C (m)."""
    samples = example_toss(prepared)
    first, last = int(samples["release"]), int(samples["rest"])
    position, orientation = (samples[name].values[first : last + 1] for name in ("position", "orientation"))
    travelled = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(position, axis=0), axis=1))])
    chosen = np.searchsorted(travelled, np.linspace(0.0, travelled[-1], _DRAWN_SAMPLES))
    chosen = np.unique(np.minimum(np.concatenate([chosen, [len(position) - 1]]), len(position) - 1))
    vertices = prepared["vertices"].values
    corners = vertex_positions(position[chosen], orientation[chosen], vertices)
    sides = np.array(edges(vertices))
    kinds = np.where(chosen == 0, "release", np.where(chosen == len(position) - 1, "rest", "between"))
    boxes = pd.DataFrame(corners[:, sides].reshape(-1, 6), columns=_ENDS)
    boxes = boxes.assign(kind=np.repeat(kinds, len(sides)), sample=np.repeat(first + chosen, len(sides)))
    path = pd.DataFrame(np.hstack([position[:-1], position[1:]]), columns=_ENDS)
    path = path.assign(kind="path", sample=first + np.arange(len(position) - 1))
    table = pd.concat([boxes, path], ignore_index=True)
    table = table.assign(object=prepared.attrs["object"], toss=str(samples["recording"].values))
    return table[["object", "toss", "kind", "sample", *_ENDS]]


def edges(vertices: np.ndarray) -> list[tuple[int, int]]:
    """The twelve edges of a box as pairs of vertex indices: corners whose signs differ along one axis only."""
    signs = vertices > vertices.mean(axis=0)
    return [(i, j) for i in range(len(signs)) for j in range(i) if (signs[i] != signs[j]).sum() == 1]


def rest_poses(
    predictions: Mapping[tuple[str, str], pd.DataFrame], prepared: Mapping[str, xr.Dataset], n_tosses: int, seed: int
) -> pd.DataFrame:
    """Figure 13: outlines in the surface (m) of measured and simulated rest poses of randomly chosen tosses.

    ``predictions`` are by dataset and kind of parameters (``velocity``, ``trajectory``); both kinds show the same
    tosses. Outlines are those of the face that lies up, centred on the measured position.
    """
    rows = []
    for (dataset, parameters), table in predictions.items():
        random = np.random.default_rng(seed)
        chosen = sorted(random.choice(len(table), size=min(n_tosses, len(table)), replace=False))
        for panel, k in enumerate(chosen):
            toss = table.iloc[k]
            origin = toss[["measured_x", "measured_y"]].to_numpy(dtype=float)
            for kind in ("measured", "simulated"):
                pose = toss[[f"{kind}_{name}" for name in POSE]].to_numpy(dtype=float)
                for corner, (x, y) in enumerate(top_outline(pose, prepared[dataset]["vertices"].values) - origin):
                    what = dataset, object_of(prepared[dataset]), parameters, panel, str(toss["toss"]), kind
                    rows.append((*what, corner, x, y))
    names = ["dataset", "object", "parameters", "panel", "toss", "kind", "corner", "x_m", "y_m"]
    return pd.DataFrame(rows, columns=names)


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


def draw_trajectory(data: pd.DataFrame) -> Figure:
    """Figure 11: the measured toss from release to rest."""
    figure = plt.figure(figsize=(style.DOUBLE_COLUMN * 0.7, 2.9))
    axes = figure.add_subplot(projection="3d")
    looks = {
        "path": (style.LINE, 0.8, 1.0),
        "between": (style.MEASURED, 0.5, 0.7),
        "release": (style.RELEASE, 1.4, 1.0),
        "rest": (style.REST_EDGE, 1.4, 1.0),
    }
    ends = data[_ENDS].to_numpy().reshape(-1, 2, 3)
    for kind, (colour, width, alpha) in looks.items():
        segments = ends[(data["kind"] == kind).to_numpy()]
        label = None if kind == "between" else {"path": r"path of $\mathbf{o}_B$"}.get(kind, kind)
        axes.add_collection3d(Line3DCollection(segments, colors=colour, linewidths=width, alpha=alpha, label=label))
    low, high = _roomy(ends.reshape(-1, 3))
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
    axes.set_box_aspect(high - low, zoom=1.15)
    axes.set_xlabel(r"$x_C$ (m)", labelpad=4)
    axes.set_ylabel(r"$y_C$ (m)", labelpad=0)
    axes.set_zlabel(r"$z_C$ (m)", labelpad=-4)
    for axis, steps in ((axes.xaxis, 6), (axes.yaxis, 3), (axes.zaxis, 3)):
        axis.set_major_locator(plt.MaxNLocator(steps, steps=[1, 2, 5, 10]))
        axis.set_tick_params(pad=-2)
    axes.view_init(elev=22, azim=-62)
    axes.legend(loc="upper center", ncols=3)
    axes.set_title(f"{data['object'].iloc[0]}, toss {data['toss'].iloc[0]}", loc="left", pad=0)
    return figure


def _roomy(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Limits (3,), (3,) around points (n, 3): the surface in view, no side shorter than a third of the longest."""
    low, high = points.min(axis=0), points.max(axis=0)
    low[2] = min(low[2], 0.0)
    missing = np.maximum((high - low).max() / 3.0 - (high - low), 0.0)
    low[:2] -= 0.5 * missing[:2]
    high[:2] += 0.5 * missing[:2]
    high[2] += missing[2]
    return low, high


def draw_rest_poses(data: pd.DataFrame) -> Figure:
    """Figure 13: measured and predicted rest poses from above, a row per object; a block of columns per parameters."""
    names = list(dict.fromkeys(data["dataset"]))
    kinds = sorted(set(data["parameters"]), key=lambda kind: kind != "velocity")
    columns = [(kind, number) for kind in kinds for number in range(int(data["panel"].max()) + 1)]
    figure, panels = plt.subplots(
        len(names), len(columns), figsize=(style.DOUBLE_COLUMN, 1.35 * len(names) + 0.5), squeeze=False,
        sharex="row", sharey="row",
    )  # fmt: skip
    for row, name in enumerate(names):
        of_dataset = data[data["dataset"] == name]
        reach = 1.05 * float(of_dataset[["x_m", "y_m"]].abs().to_numpy().max())
        for column, (parameters, number) in enumerate(columns):
            panel = panels[row, column]
            part = of_dataset[(of_dataset["panel"] == number) & (of_dataset["parameters"] == parameters)]
            if part.empty:
                panel.set_visible(False)
                continue
            for kind, colour, alpha in (("measured", style.MEASURED, 0.7), ("simulated", style.SIMULATED, 0.55)):
                outline = part[part["kind"] == kind][["x_m", "y_m"]].to_numpy()
                panel.fill(*outline.T, facecolor=colour, edgecolor="black", lw=0.6, alpha=alpha, label=kind)
            panel.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
            toss = str(part["toss"].iloc[0]).removeprefix("Rec_")
            panel.set_title(f"by {parameters}\n{toss}" if row == 0 else toss, loc="left", fontsize=6)
            if row == len(names) - 1:
                panel.set_xlabel(r"$x_C$ (m)")
            if column == 0:
                panel.set_ylabel(f"{part['object'].iloc[0]}\n$y_C$ (m)")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2)
    return figure
