"""Figures 5 to 8: an impact, and its velocities; and the tables of the velocity-based
identification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.output import style
from contactid.output.computing import Shown
from contactid.output.fits import read_json
from contactid.output.tables import read_csv, write_report_csv
from contactid.sources.motion import body_of, iterate_recordings
from contactid.tossing.artefacts.data import (
    Case,
    by_name,
    data_label,
    example,
    identified,
    object_of,
    shown,
)
from contactid.tossing.identify.body import block_jackknife
from contactid.tossing.impacts.free_motion import fit_free_motion
from contactid.tossing.impacts.impact import WEIGHTS, ImpactWindow, read_impacts
from contactid.tossing.prepare.poses import central_differences, vertex_positions
from contactid.tossing.prepare.preprocess import IDENTIFICATION
from contactid.tossing.simulate.box import ContactParameters, SteppingOptions, simulate

_FEWEST_FOR_A_RADIUS = 10  # impacts
_KNOWS_NOTHING = 0.05  # of the change of velocity
_FINER = 16  # steps per sample of figure 7, which stands in for the simulator that can't be had
_COLOURS = {"x": style.LINE, "y": style.RELEASE, "z": style.ACCENT}
_ROWS = (("v", r"linear velocity (m/s)"), ("w", r"angular velocity (rad/s)"))
_SYMBOLS = {"v": "v", "w": r"\omega"}
COMPONENTS = ("v_x", "v_y", "v_z", "w_x", "w_y", "w_z")


def impact_figures(
    prepared: Sequence[str],
    datasets: Sequence[str],
    impact_cases: Sequence[Case],
    impacts: Sequence[str],
    velocity_fits: Sequence[str],
    window: int,
    figures: Mapping[str, Any],
) -> dict[str, Shown]:
    """Figures 5 to 8 of a run, of the dataset of impacts that shows the example's object, or of the
    first one.

    ``impacts`` and ``velocity_fits`` are by the paper's own scheme; ``window`` is samples on either
    side of the impact.
    """
    data, sources = by_name(prepared, datasets), identified(impact_cases)
    name = example(data, impact_cases, figures["object"])
    place = sources.index(name)
    impact = example_window(read_impacts(impacts[place], split=IDENTIFICATION)[1])
    found = ContactParameters(**read_json(velocity_fits[place])["parameters"])
    simulated = {
        f"simulated, {_FINER} steps per sample": (found, _FINER),
        "simulated, 1 step per sample": (found, 1),
    }
    tables = {
        "fig05_vertex_heights": vertex_heights(data[name], impact),
        "fig06_impact_velocities": window_velocities(data[name], impact, window, {}),
        "fig08_simulated_velocities": window_velocities(data[name], impact, window, simulated),
    }
    return {f"figures/{figure}": shown(table, data, [name]) for figure, table in tables.items()}


def example_window(windows: Sequence[ImpactWindow]) -> ImpactWindow:
    """The impact whose weighted change of velocity is the median one: neither the gentlest nor the
    hardest.
    """
    change = [
        float(np.linalg.norm(w.impact.post_twist[:3] - w.impact.pre_twist[:3])) for w in windows
    ]
    return windows[int(np.argsort(change)[len(change) // 2])]


def _recording(prepared: xr.Dataset, name: str) -> xr.Dataset:
    return next(samples for recording, samples in iterate_recordings(prepared) if recording == name)


def vertex_heights(prepared: xr.Dataset, window: ImpactWindow) -> pd.DataFrame:
    """Figure 5: heights (m) of the eight vertices over the surface against the sample; the impact
    marked.
    """
    samples, impact = _recording(prepared, window.impact.toss), window.impact
    poses = samples["position"].values, samples["orientation"].values
    heights = pd.DataFrame(vertex_positions(*poses, prepared["vertices"].values)[:, :, 2])
    table = (
        heights.rename_axis("sample")
        .reset_index()
        .melt("sample", var_name="vertex", value_name="height_m")
    )
    table = table.sort_values(["sample", "vertex"], ignore_index=True)
    table["impacting"] = table["vertex"] == impact.vertex
    table["impact"] = table["sample"] == impact.sample
    table["vertex"] = table["vertex"].astype(int) + 1
    table.insert(0, "object", prepared.attrs["object"])
    table.insert(1, "toss", impact.toss)
    return table


def window_velocities(
    prepared: xr.Dataset,
    window: ImpactWindow,
    reach: int,
    simulated: Mapping[str, tuple[ContactParameters, int]],
) -> pd.DataFrame:
    """Figures 6 to 8: hybrid velocities around an impact: measured, fitted, and simulated.

    ``reach`` is samples on either side of k_im. ``simulated`` has parameters and steps per sample
    by the label of the curve; all start from the window's own start (k_im - 5).

    Returns columns object, toss, k_im, offset (samples from k_im), component, unit, kind
    (``measured``, ``fitted`` or a label of ``simulated``), side (``pre`` or ``post`` for fitted
    ones), value.
    """
    samples, impact = _recording(prepared, window.impact.toss), window.impact
    body, step = body_of(prepared), 1.0 / float(prepared.attrs["sample_frequency"])
    position, orientation = samples["position"].values, samples["orientation"].values
    offsets = np.arange(-reach, reach + 1)
    twist = central_differences(position, orientation, step)[impact.sample + offsets]
    tables = [_curve(offsets, twist, "measured", "")]
    # the window starts reach samples before k_im
    end = window.n_steps - reach  # c
    last = _last_free(twist[: reach + 1], window, step)
    for side, first_last in (("pre", (-reach, last)), ("post", (end, reach))):
        chosen = np.arange(first_last[0], first_last[1] + 1)
        # the poses behind the differences: one sample more towards the impact
        source = np.arange(-reach, last + 2) if side == "pre" else np.arange(end - 1, reach + 1)
        motion = fit_free_motion(
            body, source * step, position[impact.sample + source], orientation[impact.sample + source],
            samples["gravity"].values,
        )  # fmt: skip
        fitted = np.stack([motion.twist((k - source.mean()) * step) for k in chosen])
        tables.append(_curve(chosen, fitted, "fitted", side))
    for label, (parameters, substeps) in simulated.items():
        gravity = tuple(map(float, window.gravity))
        options = SteppingOptions(
            step, substeps=substeps, gravity=(gravity[0], gravity[1], gravity[2])
        )
        run = simulate(
            body, window.start, parameters, options, 2 * reach + 1, impact.surface_velocity
        )
        tables.append(
            _curve(offsets, np.hstack([run.linear_velocity, run.angular_velocity]), label, "")
        )
    table = pd.concat(tables, ignore_index=True)
    table.insert(0, "object", prepared.attrs["object"])
    table.insert(1, "toss", impact.toss)
    table.insert(2, "k_im", impact.sample)
    return table


def _last_free(twist: np.ndarray, window: ImpactWindow, step: float) -> int:
    """-b of the paper: the last central difference up to k_im that knows nothing of the impact."""
    before = window.impact.pre_twist
    jump = np.linalg.norm(WEIGHTS * (window.impact.post_twist - before))
    for offset in range(0, 2 - len(twist), -1):
        # gravity still acts on a body that knows of no impact
        expected = before + np.concatenate([offset * step * window.gravity, np.zeros(3)])
        if np.linalg.norm(WEIGHTS * (twist[offset - 1] - expected)) < _KNOWS_NOTHING * jump:
            return offset
    return 2 - len(twist)


def _curve(offsets: np.ndarray, twist: np.ndarray, kind: str, side: str) -> pd.DataFrame:
    n = len(offsets)
    return pd.DataFrame(
        {
            "offset": np.repeat(offsets, 6),
            "component": list(COMPONENTS) * n,
            "unit": (["m/s"] * 3 + ["rad/s"] * 3) * n,
            "kind": kind,
            "side": side,
            "value": twist.ravel(),
        }
    )


def draw_heights(data: pd.DataFrame) -> Figure:
    """Figure 5: heights of the eight vertices, the selected impact marked."""
    figure, axes = plt.subplots(figsize=(style.SINGLE_COLUMN, 2.3))
    for vertex, part in data.groupby("vertex"):
        if not part["impacting"].any():
            axes.plot(
                part["sample"], 1e3 * part["height_m"], color=style.MEASURED, lw=0.7, zorder=1
            )
        else:
            name = rf"impacting vertex $\mathbf{{p}}_{{{vertex}}}$"
            axes.plot(
                part["sample"], 1e3 * part["height_m"], color=style.LINE, zorder=2, label=name
            )
            hit = part[part["impact"]]
            axes.plot(
                hit["sample"], 1e3 * hit["height_m"], "o", color=style.LINE, mec="black", mew=0.5, ms=5, zorder=3,
                label=rf"selected impact, $k_\mathrm{{im}} = {int(hit['sample'].iloc[0])}$",
            )  # fmt: skip
    axes.plot([], [], color=style.MEASURED, lw=0.7, label="other vertices")
    axes.axhline(0.0, color="black", lw=0.5)
    axes.set(xlabel=r"sample $k$", ylabel=r"height $({}^C\mathbf{p}_i)_z$ (mm)")
    top = 1e3 * float(data["height_m"].max())
    axes.set_ylim(-0.04 * top, 1.45 * top)
    axes.set_title(f"{data['object'].iloc[0]}, recording {data['toss'].iloc[0]}", loc="left")
    axes.legend(loc="upper right")
    return figure


def draw_velocities(data: pd.DataFrame) -> Figure:
    """Figures 6 to 8: velocities around an impact, measured and fitted; a column for each
    simulation, if there are.
    """
    kinds = [kind for kind in dict.fromkeys(data["kind"]) if kind not in ("measured", "fitted")]
    columns = kinds or [""]
    width = style.SINGLE_COLUMN if len(columns) == 1 else style.DOUBLE_COLUMN
    figure, panels = plt.subplots(
        2, len(columns), figsize=(width, 3.9), sharex=True, sharey="row", squeeze=False
    )
    for column, kind in enumerate(columns):
        for panel, (letter, label) in zip(panels[:, column], _ROWS, strict=True):
            for axis, colour in _COLOURS.items():
                part = data[data["component"] == f"{letter}_{axis}"]
                measured, run = (part[part["kind"] == name] for name in ("measured", kind))
                panel.plot(
                    measured["offset"],
                    measured["value"],
                    color=colour,
                    label=rf"${_SYMBOLS[letter]}_{axis}$",
                )
                for _, side in part[part["kind"] == "fitted"].groupby("side"):
                    panel.plot(side["offset"], side["value"], "--", color="black", lw=0.9)
                if kind:
                    panel.plot(run["offset"], run["value"], ":", color=colour, lw=1.6)
            _mark_sides(panel, data, named=panel is panels[0, column])
            if column == 0:
                panel.set_ylabel(label)
            if column == len(columns) - 1:
                panel.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handlelength=1.2)
        panels[1, column].set_xlabel(r"sample $k - k_\mathrm{im}$")
        said = f"({'ab'[column]}) {kind}" if kind else f"{data['object'].iloc[0]}, {_instant(data)}"
        panels[0, column].set_title(said, loc="left", pad=12)
    first, last = (int(offset) for offset in data["offset"].agg(["min", "max"]))
    panels[1, 0].set_xticks(range(first, last + 1))
    proxies = [plt.Line2D([], [], color="black", label="measured")]
    proxies.append(plt.Line2D([], [], color="black", ls="--", lw=0.9, label="fitted"))
    if kinds:
        proxies.append(plt.Line2D([], [], color="black", ls=":", lw=1.6, label="simulated"))
        figure.suptitle(f"{data['object'].iloc[0]}, {_instant(data)}", x=0.01, ha="left")
    figure.legend(handles=proxies, loc="outside upper center", ncols=3, columnspacing=1.0)
    return figure


def _instant(data: pd.DataFrame) -> str:
    return rf"$k_\mathrm{{im}}$ = {data['k_im'].iloc[0]}"


def _mark_sides(panel: Axes, data: pd.DataFrame, *, named: bool) -> None:
    """Pre- and post-impact indices -b and c."""
    fitted = data[data["kind"] == "fitted"]
    for side, pick in (("pre", "max"), ("post", "min")):
        offset = fitted.loc[fitted["side"] == side, "offset"].agg(pick)
        panel.axvline(offset, color=style.MEASURED, lw=0.7, ls="-", zorder=0)
        if named:
            panel.annotate(
                "$-b$" if side == "pre" else "$c$", (offset, 1.0), xycoords=("data", "axes fraction"), xytext=(0, 2),
                textcoords="offset points", ha="center", fontsize=7, color="#555555",
            )  # fmt: skip


def velocity_row(
    fit: dict[str, Any],
    candidates: pd.DataFrame,
    losses: pd.DataFrame,
    *,
    calibrated: bool,
    prepared: xr.Dataset,
) -> dict[str, Any]:
    """One row of ``ext_velocity_identification``; losses are eq. 17's in m/s.

    ``corner_radius_mm``: how much deeper a sharp corner turns round the further it stands out,
    which is the radius of rounded corners, by a line through the kept impacts, with its standard
    error over blocks of them; NaN for fewer than ten.
    """
    kept = candidates[candidates["kept"]]
    line, error = np.full((2, 2), np.nan)
    if len(kept) >= _FEWEST_FOR_A_RADIUS:
        # height = flat height - radius times how far the corner stands out
        design = np.column_stack([np.ones(len(kept)), -kept["stands_out"]])
        equations = [
            (np.outer(x, x), x * y) for x, y in zip(design, kept["contact_height_mm"], strict=True)
        ]
        line, error = block_jackknife(equations)
    test = losses.loc[losses["split"] == "test", "loss"]
    row = {
        "dataset": fit["data"]["dataset"],
        "object": object_of(prepared),
        "scheme": fit["variant"],
    }
    row |= {"calibrated": calibrated, "n_impacts": len(kept)}
    row |= {"impacts_per_toss": len(kept) / prepared.sizes["recording"]}
    for name, (low, high) in fit["intervals"].items():
        row |= {name: fit["parameters"][name], f"{name}_low": low, f"{name}_high": high}
    row |= {
        "identification_loss": fit["objective"],
        "test_loss": test.mean(),
        "sem_test_loss": test.sem(),
    }
    row |= {"n_test_impacts": len(test), "best_per_impact_loss": fit["best_per_impact"]}
    row |= {"loss_without_contact": fit["no_impact"]}
    row |= {"corner_radius_mm": line[1], "corner_radius_se_mm": error[1]}
    return row | {
        "friction_flat_from": fit["friction_flat_from"],
        "converged": fit["converged"],
        "data": data_label(prepared),
    }


def impact_tables(
    prepared: Sequence[str],
    datasets: Sequence[str],
    identified_impacts: Sequence[tuple[str, str]],
    velocity_fits: Sequence[str],
    candidates: Sequence[str],
    losses: Sequence[str],
    forms: Sequence[str],
    block: Mapping[str, Any],
    impacts: Sequence[str],
) -> dict[str, pd.DataFrame]:
    """``ext_velocity_identification``, ``ext_impact_mpec`` where there is one, and ``impacts.csv``.

    ``velocity_fits``, ``candidates`` and ``losses`` are files of every identification on impacts
    (dataset, variant), ``forms`` those of the comparisons of forms, where the variant has ``mpec``;
    ``impacts`` is the file ``impacts.csv`` to write, with the first variant's candidates.
    """
    data, left = by_name(prepared, datasets), iter(forms)
    variants = {variant["name"]: variant for variant in block["velocity"]["variants"]}
    rows, compared, found = [], [], []
    for (dataset, name), fit, candidate, loss in zip(
        identified_impacts, velocity_fits, candidates, losses, strict=True
    ):
        tosses, variant, table = data[dataset], variants[name], read_csv(candidate)
        known = {"calibrated": variant["calibrated"], "prepared": tosses}
        rows.append(velocity_row(read_json(fit), table, read_csv(loss), **known))
        # impacts.csv has one row per candidate, so one selection's
        if variant is block["velocity"]["variants"][0]:
            found.append(table)
        if variant["mpec"]:
            form = read_csv(next(left)).assign(data=data_label(tosses))
            form.insert(0, "dataset", dataset)
            form.insert(1, "scheme", f"{name}_mpec")
            compared.append(form)
    write_report_csv(pd.concat(found, ignore_index=True), impacts[0])
    tables = {"tables/ext_velocity_identification": pd.DataFrame(rows)}
    if compared:
        tables["tables/ext_impact_mpec"] = pd.concat(compared, ignore_index=True)
    return tables
