"""What a data card says of planar throws and impacts."""

from __future__ import annotations

import xarray as xr

from contactid.planar.readers.throws import iterate_throws
from contactid.sources.card import (
    Panel,
    Series,
    Signals,
    gaps,
    rounded,
    series,
    spread,
    white_noise,
)


def throw_signals(data: xr.Dataset) -> Signals:
    """Of planar throws (:mod:`contactid.planar.readers.throws`)."""
    throws = list(iterate_throws(data))
    noise: dict[str, list[float]] = {"position_m": [], "angle_rad": []}
    for throw in throws:
        noise["position_m"].append(white_noise(throw.position[:, :2]))
        noise["angle_rad"].append(white_noise(throw.position[:, 2]))
    some = [throws[index] for index in spread(len(throws))]
    return Signals(
        what=f"planar poses of the tracked point of {data.attrs['object']}",
        recordings=len(throws),
        samples=int(data["row_size"].values.sum()),
        durations=[float(throw.time[-1]) for throw in throws],
        gaps=sum(gaps(throw.time, 1.0 / throw.sample_frequency) for throw in throws),
        noise=noise,
        panels=[
            Panel(
                "path",
                "x (m)",
                "y (m)",
                [series(t.position[:, 0], t.position[:, 1], t.name) for t in some],
            ),
            Panel(
                "height",
                "time (s)",
                "y (m)",
                [series(t.time, t.position[:, 1], t.name) for t in some],
            ),
            Panel(
                "angle",
                "time (s)",
                "theta (rad)",
                [series(t.time, t.position[:, 2], t.name) for t in some],
            ),
        ],
    )


def impact_signals(impacts: xr.Dataset) -> Signals:
    """Of planar impacts (:mod:`contactid.planar.readers.impacts`): velocities before and after,
    without time.
    """
    before, after = impacts["velocity_before"].values, impacts["velocity_after"].values
    panels = []
    for column, (title, unit) in enumerate((("v_x", "m/s"), ("v_y", "m/s"), ("omega", "rad/s"))):
        states = [Series(rounded(before[:, column]), rounded(after[:, column]))]
        panels.append(Panel(title, f"before ({unit})", f"after ({unit})", states, kind="points"))
    return Signals(
        what=f"states of {impacts.attrs['object']} before and after single impacts on the ground",
        recordings=len(before),
        samples=2 * len(before),
        durations=[],
        gaps=0,
        noise={},
        panels=panels,
    )
