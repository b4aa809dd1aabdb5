"""Figure 14 and the tables of the sensitivity analysis, Sobol indices among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from contactid.core.errors import ContactIdError
from contactid.output import style
from contactid.output.computing import Shown
from contactid.output.tables import read_csv
from contactid.tossing.artefacts.data import (
    Case,
    by_name,
    data_label,
    object_of,
    of_cases,
    outline_from_above,
    shown,
    two_cases,
)
from contactid.tossing.predict.prediction import POSE
from contactid.tossing.predict.sensitivity import (
    PARAMETERS,
    largest_dimension,
    restitution_insensitive_below,
)
from contactid.tossing.prepare.metrics import rest_position_error

_SYMBOLS = {"friction_mu": r"$\mu$", "restitution_e_n": r"$e_N$"}


def sensitivity_figure(
    prepared: Sequence[str],
    datasets: Sequence[str],
    cases: Sequence[Case],
    varied: Sequence[str],
    figures: Mapping[str, Any],
) -> Shown:
    """Figure 14 of a run; ``varied`` are from
    :func:`contactid.tossing.predict.sensitivity.vary_parameters`.
    """
    data = by_name(prepared, datasets)
    pair = two_cases(data, cases, figures["object"])
    files = dict(zip(cases, varied, strict=True))
    tables = {case[1]: read_csv(files[case]).astype({"toss": str}) for case in pair}
    outlines = variation_outlines(tables, data, figures["tosses"], figures["seed"])
    return shown(outlines, data, of_cases(pair))


def sensitivity_tables(
    prepared: Sequence[str],
    datasets: Sequence[str],
    cases: Sequence[Case],
    variations: Sequence[str],
    profiles: Sequence[str],
    sobol: Sequence[str],
    sobol_scheme: str,
) -> dict[str, pd.DataFrame]:
    """``ext_sensitivity`` and ``ext_sobol`` of a run.

    ``variations`` (summaries), ``profiles`` and ``sobol`` are files of the cases; the indices are
    of one scheme.
    """
    data = by_name(prepared, datasets)
    changes, indices = [], []
    for (_, dataset), variation, profile, index in zip(
        cases, variations, profiles, sobol, strict=True
    ):
        name, label = object_of(data[dataset]), data_label(data[dataset])
        largest = largest_dimension(data[dataset]["vertices"].values)
        below = restitution_insensitive_below(read_csv(profile), largest)
        changes.append(
            read_csv(variation).assign(
                dataset=dataset, object=name, data=label, restitution_insensitive_below=below
            )
        )
        indices.append(
            read_csv(index).assign(dataset=dataset, object=name, scheme=sobol_scheme, data=label)
        )
    return {
        "tables/ext_sensitivity": pd.concat(changes, ignore_index=True),
        "tables/ext_sobol": pd.concat(indices, ignore_index=True),
    }


def variation_outlines(
    varied: Mapping[str, pd.DataFrame], prepared: Mapping[str, xr.Dataset], n_tosses: int, seed: int
) -> pd.DataFrame:
    """Figure 14: outlines from above (m, from the measured position) of rest poses with one
    parameter varied.

    By dataset there are the table of :func:`vary_parameters` and the prepared tosses; ``n_tosses``
    are drawn at random for each object, of those that come to rest.

    Returns columns ``dataset``, ``object``, ``parameter``, ``panel``, ``toss``, ``kind``
    (``measured``, ``varied``, or ``median``: the varied pose with the least summed distance to the
    others), ``value``, ``corner``, ``x_m``, ``y_m``.
    """
    tables = []
    for dataset, table in varied.items():
        names, item = _resting(table), prepared[dataset]
        if not len(names):
            raise ContactIdError(
                f"{dataset}: no simulated toss comes to rest",
                "Correct the parameters, or their range",
            )
        random = np.random.default_rng(seed)
        chosen = sorted(random.choice(len(names), size=min(n_tosses, len(names)), replace=False))
        for parameter, (panel, k) in product(PARAMETERS, enumerate(chosen)):
            of_toss = table[
                (table["toss"] == names[k]) & (table["parameter"] == parameter) & table["rested"]
            ]
            poses, measured = (
                of_toss[[f"{kind}_{name}" for name in POSE]].to_numpy()
                for kind in ("simulated", "measured")
            )
            # a median pose that was really simulated: the nearest to all others
            apart = rest_position_error(poses[:, None, :2], poses[None, :, :2])
            middle = int(apart.sum(axis=1).argmin())
            drawn = [("measured", np.nan, measured[0])]
            drawn += [
                ("varied", value, pose) for value, pose in zip(of_toss["value"], poses, strict=True)
            ]
            drawn.append(("median", of_toss["value"].iloc[middle], poses[middle]))
            about = {
                "dataset": dataset,
                "object": object_of(item),
                "parameter": parameter,
                "panel": panel,
            }
            for kind, value, pose in drawn:
                of_kind = {**about, "toss": names[k], "kind": kind, "value": value}
                tables.append(
                    outline_from_above(pose, item["vertices"].values, measured[0, :2], **of_kind)
                )
    return pd.concat(tables, ignore_index=True)[[*of_kind, "corner", "x_m", "y_m"]]


def _resting(table: pd.DataFrame) -> np.ndarray:
    """Names of the tosses that come to rest with some value of either parameter, in the table's
    order.
    """
    rested = table[table["rested"]].groupby("toss")["parameter"].nunique()
    names = table["toss"].unique()
    return names[[rested.get(name, 0) == table["parameter"].nunique() for name in names]]


def draw_variation(data: pd.DataFrame) -> Figure:
    """Figure 14: rest poses from above with mu or e_N varied, a row per object and parameter."""
    rows = list(data[["dataset", "parameter"]].drop_duplicates().itertuples(index=False, name=None))
    columns = int(data["panel"].max()) + 1
    figure, panels = plt.subplots(
        len(rows),
        columns,
        figsize=(style.DOUBLE_COLUMN * 0.85, 2.0 * len(rows) + 0.6),
        squeeze=False,
    )
    reach = 1.05 * float(data[["x_m", "y_m"]].abs().to_numpy().max())
    for row, (dataset, parameter) in enumerate(rows):
        of_row = data[(data["dataset"] == dataset) & (data["parameter"] == parameter)]
        for column in range(columns):
            panel, part = panels[row, column], of_row[of_row["panel"] == column]
            if part.empty:
                panel.set_visible(False)
                continue
            measured = part[part["kind"] == "measured"]
            fill_outline(panel, measured, style.MEASURED, 0.75)
            varied = part[part["kind"] == "varied"]
            for _, outline in varied.groupby("value"):
                fill_outline(panel, outline, style.SIMULATED, 0.13, line=0.3)
            fill_outline(panel, part[part["kind"] == "median"], style.SIMULATED, 1.0)
            # its edge once more on top, or a good prediction would hide it
            fill_outline(panel, measured, "none", None, line=0.9, dashes="--")
            panel.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
            low, high = varied["value"].min(), varied["value"].max()
            panel.set_title(
                f"toss {part['toss'].iloc[0]}\n{_SYMBOLS[parameter]} = {low:.2f} to {high:.2f}",
                loc="left",
                fontsize=6,
            )
            panel.label_outer()
            if column == 0:
                panel.set_ylabel(
                    f"{part['object'].iloc[0]}, varying {_SYMBOLS[parameter]}\n$y_C$ (m)"
                )
            if row == len(rows) - 1:
                panel.set_xlabel(r"$x_C$ (m)")
    layout = figure.get_layout_engine()
    if layout is not None:
        layout.set(h_pad=0.07)  # type: ignore[call-arg]  # room between rows, for titles of two lines
    handles = [
        Patch(
            facecolor=(style.MEASURED, 0.75), edgecolor="black", lw=0.9, ls="--", label="measured"
        ),
        Patch(facecolor=style.SIMULATED, edgecolor="black", lw=0.6, label="simulated, median"),
        Patch(
            facecolor=(style.SIMULATED, 0.25),
            edgecolor="black",
            lw=0.3,
            label="simulated, one parameter varied",
        ),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def fill_outline(
    panel: Axes,
    outline: pd.DataFrame,
    colour: str,
    alpha: float | None,
    line: float = 0.6,
    dashes: str = "-",
) -> None:
    """Fill the outline of a box, with an edge of width ``line``."""
    face = colour if alpha is None else (colour, alpha)
    panel.fill(
        outline["x_m"], outline["y_m"], facecolor=face, edgecolor="black", lw=line, ls=dashes
    )
