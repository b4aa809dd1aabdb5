"""What a data card says of tosses: poses of the body, and their noise."""

from __future__ import annotations

import numpy as np
import xarray as xr

from contactid.core import rotations
from contactid.sources.card import Panel, Signals, noise_of_differences, series, spread, white_noise
from contactid.sources.motion import iterate_recordings

_HEARD = 24  # recordings of an archive that its noise is estimated from


def toss_signals(motion: xr.Dataset) -> Signals:
    """Of tosses (:mod:`contactid.sources.motion`)."""
    # read at once: a read per recording was a quarter of a card; poses of 300 tosses are 20 MB
    motion = motion[["recording", "row_size", "position", "orientation"]].load()
    frequency = float(motion.attrs["sample_frequency"])
    sizes = motion["row_size"].values
    shown, heard = spread(len(sizes)), spread(len(sizes), _HEARD)
    noise: dict[str, list[float]] = {"position_m": [], "orientation_rad": []}
    height, above, turn = [], [], []
    for index, (name, samples) in enumerate(iterate_recordings(motion)):
        if index not in shown and index not in heard:
            continue
        position, orientation = samples["position"].values, samples["orientation"].values
        noise["position_m"].append(white_noise(position))
        noise["orientation_rad"].append(rotation_noise(orientation))
        if index in shown:
            time = np.arange(len(position)) / frequency
            height.append(series(time, position[:, 2], name))
            above.append(series(position[:, 0], position[:, 1], name))
            turn.append(series(time, rotations.angle_between(orientation, orientation[:1]), name))
    return Signals(
        what=f"poses of the body {motion.attrs['object']} in the reference frame M",
        recordings=len(sizes),
        samples=int(sizes.sum()),
        durations=((sizes - 1) / frequency).tolist(),
        gaps=0,  # the readers bridge gaps, cut them off, or leave the recording out
        noise=noise,
        panels=[
            Panel("height", "time (s)", "z (m)", height),
            Panel("from above", "x (m)", "y (m)", above),
            Panel("turn from the first frame", "time (s)", "angle (rad)", turn),
        ],
    )


def rotation_noise(orientation: np.ndarray) -> float:
    """Noise per axis (rad) of quaternions (n, 4), as :func:`white_noise` finds it, from the turns
    between frames.
    """
    if len(orientation) < 8:
        return float("nan")
    rotation = rotations.as_rotation(orientation)
    steps = (rotation[:-1].inv() * rotation[1:]).as_rotvec()
    # turns between frames are first differences already, so these are third ones
    return noise_of_differences(np.diff(steps, 2, axis=0))
