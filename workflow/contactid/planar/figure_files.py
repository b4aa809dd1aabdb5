"""Gather a run's files of the planar study into the data behind its figures and animations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.output.tables import read_csv, write_csv
from contactid.planar import figure_data, setting_figure_data
from contactid.planar.names import DROP, PAPER_SCENES, RESTITUTION, SLIDING, THROW
from contactid.planar.simulate.scenes import Scene, scene_of
from contactid.sources.motion import read_dataset

SLIDING_SHOWN = (0.3, 0.8)  # range of friction in figure 11; figure 12 has all
SLIDING_END = 1.0  # s, as in figure 12


def write_figure_data(folder: str | Path, *, block: Mapping[str, Any]) -> None:
    """Write every figure's and every animation's csv.

    Parameters
    ----------
    folder
        The study's results.
    block
        The study's block of the configuration.
    """
    files = _Files(Path(folder), block)
    tables = _settings(block) | files.impulses() | files.lapses() | files.energies()
    for name, table in tables.items():
        write_csv(table, Path(folder) / "figures" / f"{name}.csv")
    for name, table in files.animations().items():
        write_csv(table, Path(folder) / "animations" / f"{name}.csv")


def _settings(block: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """The explanatory figures."""
    seed = int(block["drawn"]["seed"])
    makers: dict[str, Callable[[], pd.DataFrame]] = {
        "fig01_contact_frames": setting_figure_data.contact_frames,
        "fig02_contact_states": setting_figure_data.contact_states,
        "fig03_restitution": setting_figure_data.restitution,
        "fig04_friction_cones": setting_figure_data.friction_cones,
        "fig05_normal_gap": setting_figure_data.normal_gap,
        "fig15_fitted_trajectory": lambda: setting_figure_data.fitted_trajectory(seed),
        "fig16_time_instants": setting_figure_data.time_instants,
    }
    return {name: make() for name, make in makers.items()}


class _Files:
    """The files of a run, and what figures make of them."""

    def __init__(self, folder: Path, block: Mapping[str, Any]) -> None:
        self.folder, self.block = folder, block
        self.outlines = int(block["drawn"]["outlines"])
        self.scenes = {name: scene_of(block, name) for name in block["scenes"]}
        self.motions = {name: read_dataset(folder / "simulations" / f"{name}.nc") for name in self.scenes}

    def of(self, name: str) -> tuple[Scene, xr.Dataset]:
        """A scene and its motions."""
        return self.scenes[name], self.motions[name]

    def impulses(self) -> dict[str, pd.DataFrame]:
        """Figures 6, 7, 8 and 10."""
        sweeps = self.folder / "sweeps"
        kept = ["time_step_ms", "model", "peak_impulse_ns", "limit_ns"]
        return {
            "fig06_drop_peaks": read_csv(sweeps / f"{DROP}.peaks.csv")[kept],
            "fig07_drop_impulses": read_csv(sweeps / f"{DROP}.impulses.csv"),
            "fig08_throw_peaks": read_csv(sweeps / f"{THROW}.peaks.csv")[kept],
            "fig10_throw_impulses": read_csv(sweeps / f"{THROW}.impulses.csv"),
        }

    def lapses(self) -> dict[str, pd.DataFrame]:
        """Figures 9, 11 and 13, and those of the user's scenes."""
        throw, motions = self.of(THROW)
        whole = (0, "whole motion", (0.0, float(motions["time"][-1])), self.outlines)
        detail = (0, "first two impacts", figure_data.detail_window(motions, 0), max(self.outlines // 3, 2))
        found = {
            "fig09_throw_motion": figure_data.time_lapse(throw, motions, [whole, detail]),
            "fig11_sliding_motion": self._all_runs(SLIDING, self._sliding_shown()),
            "fig13_restitution_motion": self._all_runs(RESTITUTION),
        }
        for name in self.scenes:
            if name not in PAPER_SCENES:
                found[f"ext_scene_{name}"] = self._all_runs(name)
        return found

    def energies(self) -> dict[str, pd.DataFrame]:
        """Figures 12 and 14."""
        sliding, restitution = self.motions[SLIDING], self.motions[RESTITUTION]
        return {
            "fig12_sliding_energy": figure_data.energy_curves(sliding, "friction_mu", SLIDING_END),
            "fig14_restitution_energy": figure_data.energy_curves(restitution, "restitution_e_n", np.inf),
        }

    def animations(self) -> dict[str, pd.DataFrame]:
        """The motions of figures 9, 11 and 13, moving."""
        runs = {
            "fig09_throw_motion": (THROW, [0]),
            "fig11_sliding_motion": (SLIDING, self._sliding_shown()),
            "fig13_restitution_motion": (RESTITUTION, list(range(self.motions[RESTITUTION].sizes["run"]))),
        }
        rate = float(self.block["drawn"]["frames_per_second"])
        return {
            figure: figure_data.animation_frames(*self.of(name), shown, rate, self.scenes[name].duration)
            for figure, (name, shown) in runs.items()
        }

    def _all_runs(self, name: str, runs: list[int] | None = None) -> pd.DataFrame:
        scene, motions = self.of(name)
        span = (0.0, float(motions["time"][-1]))
        shown = range(motions.sizes["run"]) if runs is None else runs
        fewer = max(2 * self.outlines // 3, 2)  # the panels are small
        panels = [(run, figure_data.law_label(motions, run), span, fewer) for run in shown]
        return figure_data.time_lapse(scene, motions, panels)

    def _sliding_shown(self) -> list[int]:
        """Runs of figure 11: friction within its range, or all where none is."""
        mu = self.motions[SLIDING]["friction_mu"].values
        low, high = SLIDING_SHOWN
        inside = np.flatnonzero((mu >= low - 1e-9) & (mu <= high + 1e-9))
        return [int(run) for run in inside] if len(inside) else list(range(len(mu)))
