"""The data behind figures 10 to 13 of the tossing paper, as tidy tables that a drawing needs nothing but."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import xarray as xr

from contactid.sources.motion import iterate_recordings
from contactid.tossing.losses import mean_loss
from contactid.tossing.outlines import top_outline
from contactid.tossing.surface import vertex_positions

_DRAWN_SAMPLES = 7


def example_toss(prepared: xr.Dataset) -> xr.Dataset:
    """The usable toss with the median horizontal travel from release to rest: neither the best nor the worst."""
    candidates = []
    for _, samples in iterate_recordings(prepared):
        if (
            not str(samples["reason"].values)
            and not int(samples["tumbled"])
            and not np.any(samples["surface_velocity"])
        ):
            path = samples["position"].values
            travel = np.linalg.norm(path[int(samples["rest"]), :2] - path[int(samples["release"]), :2])
            candidates.append((float(travel), samples))
    candidates.sort(key=lambda pair: pair[0])
    return candidates[len(candidates) // 2][1]


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
    position, orientation = (
        samples["position"].values[first : last + 1],
        samples["orientation"].values[first : last + 1],
    )
    travelled = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(position, axis=0), axis=1))])
    chosen = np.searchsorted(travelled, np.linspace(0.0, travelled[-1], _DRAWN_SAMPLES))
    chosen = np.unique(np.minimum(np.concatenate([chosen, [len(position) - 1]]), len(position) - 1))
    vertices = prepared["vertices"].values
    corners = vertex_positions(position[chosen], orientation[chosen], vertices)
    rows = []
    for row, k in enumerate(chosen):
        kind = "release" if k == 0 else "rest" if k == len(position) - 1 else "between"
        for i, j in edges(vertices):
            rows.append((kind, first + int(k), *corners[row, i], *corners[row, j]))
    table = pd.DataFrame(rows, columns=["kind", "sample", "x0_m", "y0_m", "z0_m", "x1_m", "y1_m", "z1_m"])
    path = pd.DataFrame(
        np.hstack([position[:-1], position[1:]]), columns=["x0_m", "y0_m", "z0_m", "x1_m", "y1_m", "z1_m"]
    ).assign(kind="path", sample=first + np.arange(len(position) - 1))
    table = pd.concat([table, path], ignore_index=True)
    table.insert(0, "object", prepared.attrs["object"])
    table.insert(1, "toss", str(samples["recording"].values))
    return table


def edges(vertices: np.ndarray) -> list[tuple[int, int]]:
    """The twelve edges of a box as pairs of vertex indices: corners whose signs differ along one axis only."""
    signs = vertices > vertices.mean(axis=0)
    return [(i, j) for i in range(len(signs)) for j in range(i) if (signs[i] != signs[j]).sum() == 1]


def costs(swept: Mapping[str, xr.Dataset], objects: Mapping[str, str]) -> pd.DataFrame:
    """Figure 12: mean loss of eq. 16 over the grid for each dataset."""
    tables = []
    for dataset, sweep in swept.items():
        table = mean_loss(sweep).rename("mean_loss").to_dataframe().reset_index()
        best = table["mean_loss"] == table["mean_loss"].min()
        tables.append(table.assign(dataset=dataset, object=objects[dataset], optimum=best))
    columns = ["dataset", "object", "friction_mu", "restitution_e_n", "mean_loss", "optimum"]
    return pd.concat(tables, ignore_index=True)[columns]


def rest_poses(
    predictions: Mapping[tuple[str, str], pd.DataFrame],
    objects: Mapping[str, str],
    vertices: Mapping[str, np.ndarray],
    n_tosses: int,
    seed: int,
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
                outline = _outline(toss, kind, vertices[dataset]) - origin
                for corner, (x, y) in enumerate(outline):
                    rows.append((dataset, objects[dataset], parameters, panel, str(toss["toss"]), kind, corner, x, y))
    names = ["dataset", "object", "parameters", "panel", "toss", "kind", "corner", "x_m", "y_m"]
    return pd.DataFrame(rows, columns=names)


def _outline(toss: pd.Series, kind: str, vertices: np.ndarray) -> np.ndarray:
    """The four highest corners (4, 2), in order round their centre."""
    pose = toss[[f"{kind}_{name}" for name in ("x", "y", "z", "qw", "qx", "qy", "qz")]].to_numpy(dtype=float)
    return top_outline(pose, vertices)


def describe(datasets: Sequence[xr.Dataset]) -> str:
    """A line for the figure itself: which data it was made from."""
    names = ", ".join(dict.fromkeys(str(dataset.attrs["object"]) for dataset in datasets))
    kinds = {bool(dataset.attrs["synthetic"]) for dataset in datasets}
    sources = ", ".join(dict.fromkeys(str(dataset.attrs["source"]) for dataset in datasets))
    return f"SYNTHETIC twin data ({names})" if kinds == {True} else f"Data: {sources}"
