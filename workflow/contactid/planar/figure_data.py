"""The data behind figures 6 to 14 and the animations, as tidy tables that a drawing needs nothing but."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import xarray as xr

from contactid.planar.simulate.geometry import outline_at
from contactid.planar.simulate.scenes import Scene

_POINTS = 400  # of a drawn path or curve
_FLIGHT = 0.02  # s without an impulse that separates two impacts
_AROUND = 0.06  # s of the motion shown before the first and after the second impact of a detail
_MARGIN = 0.6  # of the body's size, by which the drawn ground goes beyond it

LAPSE_COLUMNS = ["panel", "label", "kind", "item", "time_s", "x_m", "y_m"]


def law_label(motions: xr.Dataset, run: int) -> str:
    """What tells a run from the scene's others, in mathtext; friction and restitution where both vary."""
    parts = [
        rf"{symbol} = {float(motions[name][run]):g}"
        for symbol, name in ((r"\mu", "friction_mu"), (r"e_N", "restitution_e_n"))
        if len(np.unique(motions[name])) > 1
    ]
    joined = r",\ ".join(parts)
    return f"${joined}$" if parts else ""


def reference_point(scene: Scene, position: np.ndarray) -> np.ndarray:
    """(n, 2) path of the body's point on its first axis (or first corner), for q (n, 3), m."""
    x, y = scene.body.shape.outline()[0]
    c, s = np.cos(position[:, 2]), np.sin(position[:, 2])
    return position[:, :2] + np.column_stack([c * x - s * y, s * x + c * y])


def impact_times(time: np.ndarray, impulse_n: np.ndarray) -> np.ndarray:
    """Times at which impulses begin after a flight (or the start), s."""
    hit = np.flatnonzero(impulse_n.sum(axis=-1) > 0.0)
    if not len(hit):
        return np.zeros(0)
    begins = np.concatenate([[True], np.diff(time[hit]) > _FLIGHT])
    return time[hit[begins]]


def detail_window(motions: xr.Dataset, run: int) -> tuple[float, float]:
    """From just before the first impact to just after the second, s."""
    times = impact_times(motions["time"].values, motions["impulse_n"].values[run])
    end = float(motions["time"][-1])
    if not len(times):
        return 0.0, end
    last = float(times[1]) if len(times) > 1 else float(times[0])
    return max(float(times[0]) - _AROUND, 0.0), min(last + _AROUND, end)


def time_lapse(
    scene: Scene,
    motions: xr.Dataset,
    panels: Sequence[tuple[int, str, tuple[float, float], int]],
) -> pd.DataFrame:
    """Outlines at even times, paths and the ground; a panel is a run, a label, a span (s) and a number of outlines.

    Returns
    -------
    ``panel, label, kind, item, time_s, x_m, y_m``: the rows of one panel, kind and item are a polyline.
    """
    parts: list[pd.DataFrame] = []
    time = motions["time"].values

    def add(panel: int, label: str, kind: str, item: int, moments: np.ndarray | float, points: np.ndarray) -> None:
        table = {"panel": panel, "label": label, "kind": kind, "item": item, "time_s": moments}
        parts.append(pd.DataFrame({**table, "x_m": points[:, 0], "y_m": points[:, 1]}, columns=LAPSE_COLUMNS))

    for panel, (run, label, (begin, end), outlines) in enumerate(panels):
        inside = np.flatnonzero((time >= begin - 1e-12) & (time <= end + 1e-12))
        position = motions["position"].values[run]
        shown = inside[np.unique(np.linspace(0, len(inside) - 1, outlines).round().astype(int))]
        bodies = [outline_at(scene.body.shape, position[k]) for k in shown]
        for item, (k, body) in enumerate(zip(shown, bodies, strict=True)):
            add(panel, label, "outline", item, time[k], body)
        path = inside[np.unique(np.linspace(0, len(inside) - 1, _POINTS).round().astype(int))]
        add(panel, label, "com", 0, time[path], position[path, :2])
        add(panel, label, "reference", 0, time[path], reference_point(scene, position[path]))
        add(panel, label, "ground", 0, time[inside[0]], _ground_below(scene, np.concatenate(bodies)))
    return pd.concat(parts, ignore_index=True)


def animation_frames(
    scene: Scene, motions: xr.Dataset, runs: Sequence[int], frames_per_second: float, end: float
) -> pd.DataFrame:
    """Outlines and points at every frame, one panel per run; ``panel, label, frame, time_s, kind, x_m, y_m``."""
    time = motions["time"].values
    count = max(2, round(min(end, float(time[-1])) * frames_per_second) + 1)
    shown = np.searchsorted(time, np.arange(count) / frames_per_second - 1e-12).clip(0, len(time) - 1)
    parts = []
    for panel, run in enumerate(runs):
        position, label = motions["position"].values[run], law_label(motions, run)
        reference = reference_point(scene, position)
        bodies = [outline_at(scene.body.shape, position[k]) for k in shown]
        for frame, (k, body) in enumerate(zip(shown, bodies, strict=True)):
            for kind, points in (
                ("outline", body),
                ("com", position[k : k + 1, :2]),
                ("reference", reference[k : k + 1]),
                *([("ground", _ground_below(scene, np.concatenate(bodies)))] if frame == 0 else []),
            ):
                table = {"panel": panel, "label": label, "frame": frame, "time_s": time[k], "kind": kind}
                parts.append(pd.DataFrame({**table, "x_m": points[:, 0], "y_m": points[:, 1]}))
    return pd.concat(parts, ignore_index=True)


def energy_curves(motions: xr.Dataset, varied: str, end: float) -> pd.DataFrame:
    """Total mechanical energy against time, one curve per run; ``<varied>, time_s, energy_j``."""
    time = motions["time"].values
    inside = np.flatnonzero(time <= end + 1e-12)
    shown = inside[np.unique(np.linspace(0, len(inside) - 1, 2 * _POINTS).round().astype(int))]
    energy = (motions["kinetic"] + motions["potential"]).values
    return pd.concat(
        [
            pd.DataFrame({varied: float(motions[varied][run]), "time_s": time[shown], "energy_j": energy[run, shown]})
            for run in range(motions.sizes["run"])
        ],
        ignore_index=True,
    )


def _ground_below(scene: Scene, points: np.ndarray) -> np.ndarray:
    """(2, 2) ends of the ground's part under points (n, 2), with a margin."""
    tangent, origin = scene.ground.tangent, np.array([scene.ground.x0, scene.ground.y0])
    along = (points - origin) @ tangent
    margin = _MARGIN * float(np.ptp(scene.body.shape.outline()[:, 0]))
    return origin + np.outer([along.min() - margin, along.max() + margin], tangent)
