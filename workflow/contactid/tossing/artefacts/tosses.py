"""Figures 10 and 13, a toss's release and rest and its rest poses; and how every recorded toss
moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.figure import Figure

from contactid.core import rotations
from contactid.output import style
from contactid.output.computing import Shown
from contactid.output.tables import read_csv
from contactid.sources.motion import iterate_recordings
from contactid.tossing.artefacts.data import (
    Case,
    by_name,
    data_label,
    example,
    example_toss,
    object_of,
    of_cases,
    outline_from_above,
    shown,
)
from contactid.tossing.predict.prediction import POSE
from contactid.tossing.prepare.poses import vertex_positions

# m: a face lies on the surface where four corners are this low, ten times what resting ones scatter
_LYING = 0.005
# samples from the first contact that surely are before it, and that it may take
_BEFORE, _AFTER = 3, 5
_RELEASE = 4  # samples that the velocity of release is the mean of
_LOOKS: dict[str, dict[str, Any]] = {
    "measured": {"facecolor": (style.MEASURED, 0.5), "edgecolor": "black", "lw": 0.6},
    "by velocity": {
        "facecolor": (style.SIMULATED, 0.35),
        "edgecolor": style.RELEASE,
        "lw": 1.0,
        "ls": "--",
    },
    "by trajectory": {"facecolor": "none", "edgecolor": style.LINE, "lw": 1.4},
}


def motion_table(
    prepared: Sequence[str],
    datasets: Sequence[str],
    cases: Sequence[Case],
    predicted: Sequence[tuple[str, str, str]],
    predictions: Sequence[str],
    block: Mapping[str, Any],
) -> pd.DataFrame:
    """``ext_recorded_motion``: a row per toss that is identified or predicted on
    (:func:`motion_of`).

    ``predictions`` are files of every prediction (identified on, predicted on, scheme); the error
    of the rest position is by the paper's own scheme, NaN where a toss isn't predicted.
    """
    data, scheme = by_name(prepared, datasets), block["variants"][0]["name"]
    errors: dict[tuple[str, str], float] = {}
    for (_, dataset, name), file in zip(predicted, predictions, strict=True):
        if name == scheme:
            rows = read_csv(file).astype({"toss": str}).to_dict("records")
            errors |= {(dataset, row["toss"]): row["rest_position_error_cm"] for row in rows}
    motion = [
        {
            "dataset": name,
            "object": object_of(data[name]),
            "toss": toss,
            "sample_frequency_hz": float(data[name].attrs["sample_frequency"]),
            **motion_of(
                samples,
                data[name]["vertices"].values,
                1.0 / float(data[name].attrs["sample_frequency"]),
            ),
            "rest_position_error_cm": errors.get((name, toss), np.nan),
            "data": data_label(data[name]),
        }
        for name in of_cases(cases)
        for toss, samples in iterate_recordings(data[name])
        if int(samples["release"]) >= 0
    ]
    return pd.DataFrame(motion)


def motion_of(samples: xr.Dataset, vertices: np.ndarray, step: float) -> dict[str, Any]:
    """What a toss of a body with vertices (v, 3) m in B, sampled every ``step`` s, does from
    release to rest.

    Returns ``travelled_m``: length of the path of B's origin; ``flight_pct`` and ``sliding_pct``:
    shares of it before the first contact, and with a face on the surface after it;
    ``bouncing_pct``: the rest of it. ``slip_kept``: least speed along the surface of the corner
    that touches first, within the samples that an impact may take, over its speed before; 0 where
    it sticks. ``tilt_deg``: of z_B at rest against the normal.
    """
    release, contact, rest = (int(samples[event]) for event in ("release", "contact", "rest"))
    position = samples["position"].values[: rest + 1]
    corners = vertex_positions(position, samples["orientation"].values[: rest + 1], vertices)
    way = np.linalg.norm(np.diff(position, axis=0), axis=1)
    lies = np.sort(corners[:, :, 2], axis=1)[:, 3] < _LYING
    # of a step, which lies at both of its ends
    slides = lies[:-1] & lies[1:] & (np.arange(rest) >= contact)
    travelled = float(way[release:].sum())
    flight, sliding = (
        100.0 * float(part.sum()) / travelled for part in (way[release:contact], way[slides])
    )
    touching = int(corners[contact, :, 2].argmin())
    # (n, 2) m/s of that corner over the surface's material
    slip = (
        np.gradient(corners[:, touching, :2], step, axis=0) - samples["surface_velocity"].values[:2]
    )
    speed = np.linalg.norm(slip, axis=1)
    velocity = (position[release + _RELEASE] - position[release]) / (_RELEASE * step)
    upright = float(rotations.matrices(samples["rest_orientation"].values)[2, 2])
    return {
        "moving": bool(np.any(samples["surface_velocity"].values)),
        "tumbled": bool(int(samples["tumbled"])),
        "samples": rest - release + 1,
        "release_speed_m_s": float(np.linalg.norm(velocity)),
        "travelled_m": travelled,
        "flight_pct": flight,
        "sliding_pct": sliding,
        "bouncing_pct": 100.0 - flight - sliding,
        "slip_kept": float(speed[contact : contact + 1 + _AFTER].min() / speed[contact - _BEFORE]),
        "tilt_deg": float(np.degrees(np.arccos(np.clip(upright, -1.0, 1.0)))),
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
    """Figures 10 and 13 of a run; ``predictions`` and ``velocity_predictions`` are by the paper's
    own schemes.
    """
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
    """Figure 10: height of B's origin over the surface against the sample index, with release and
    rest marked.
    """
    samples = example_toss(prepared)
    about = {"object": prepared.attrs["object"], "toss": str(samples["recording"].values)}
    table = pd.DataFrame(
        {
            "time_s": samples["time"].values,
            "height_m": samples["position"].values[:, 2],
            "event": "",
        }
    )
    for event in ("release", "rest"):
        table.loc[int(samples[event]), "event"] = event
    table = table.rename_axis("sample").reset_index().assign(**about)
    return table[[*about, "sample", "time_s", "height_m", "event"]]


def rest_poses(
    predictions: Mapping[tuple[str, str], pd.DataFrame],
    prepared: Mapping[str, xr.Dataset],
    n_tosses: int,
    seed: int,
) -> pd.DataFrame:
    """Figure 13: outlines in the surface (m) of measured and simulated rest poses of randomly
    chosen tosses.

    ``predictions`` are by dataset and kind of parameters (``velocity``, ``trajectory``); both kinds
    show the same tosses. Outlines are those of the face that lies up, centred on the measured
    position. Errors are those of Table III (eqs. 19 to 21), the rotation as the angle between both
    poses.
    """
    errors = {
        "rest_position_error_cm": "position_error_cm",
        "rest_rotation_error_deg": "rotation_error_deg",
    }
    tables = []
    for (dataset, parameters), table in predictions.items():
        random = np.random.default_rng(seed)
        chosen = sorted(random.choice(len(table), size=min(n_tosses, len(table)), replace=False))
        vertices = prepared[dataset]["vertices"].values
        for panel, (_, toss) in enumerate(table.iloc[chosen].iterrows()):
            about = {
                "dataset": dataset,
                "object": object_of(prepared[dataset]),
                "panel": panel,
                "toss": toss["toss"],
            }
            origin = toss[["measured_x", "measured_y"]].to_numpy(dtype=float)
            for kind, source in (("measured", "measured"), (f"by {parameters}", "simulated")):
                pose = toss[[f"{source}_{name}" for name in POSE]].to_numpy(dtype=float)
                said = (
                    {}
                    if source == "measured"
                    else {column: toss[name] for name, column in errors.items()}
                )
                tables.append(
                    outline_from_above(pose, vertices, origin, **about, kind=kind, **said)
                )
    drawn = pd.concat(tables, ignore_index=True).drop_duplicates(
        ["dataset", "panel", "kind", "corner"]
    )
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
        axes.plot(
            row["sample"],
            row["height_m"],
            "o",
            color=colour,
            mec="black",
            mew=0.5,
            ms=5,
            label=name,
            ls="none",
        )
    axes.set(xlabel=r"sample $k$", ylabel=r"height $({}^C\mathbf{o}_B)_z$ (m)", ylim=(0, None))
    axes.set_title(f"{data['object'].iloc[0]}, toss {data['toss'].iloc[0]}", loc="left")
    axes.legend(loc="upper right")
    return figure


def draw_rest_poses(data: pd.DataFrame) -> Figure:
    """Figure 13: measured and predicted rest poses from above, a row per dataset, a column per
    toss.
    """
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
                    errors.append(
                        f"{kind.removeprefix('by ')}: {cm:.1f} cm, {angle:.0f}\N{DEGREE SIGN}"
                    )
            panel.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
            panel.set_title("\n".join(errors), loc="left", fontsize=6.5)
        panels[row, 0].set_ylabel(f"{of_dataset['object'].iloc[0]}\n$y_C$ (m)")
    for panel in panels[-1]:
        panel.set_xlabel(r"$x_C$ (m)")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure
