"""How every recorded toss moves, beside the error of its predicted rest pose: what the paper says of its recordings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core import rotations
from contactid.output.tables import read_csv
from contactid.sources.motion import iterate_recordings
from contactid.tossing.artefacts.data import Case, by_name, data_label, object_of, of_cases
from contactid.tossing.prepare.poses import vertex_positions

_LYING = 0.005  # m: a face lies on the surface where four corners are this low, ten times what resting ones scatter
_BEFORE, _AFTER = 3, 5  # samples from the first contact that surely are before it, and that it may take
_RELEASE = 4  # samples that the velocity of release is the mean of


def motion_table(
    prepared: Sequence[str],
    datasets: Sequence[str],
    cases: Sequence[Case],
    predicted: Sequence[tuple[str, str, str]],
    predictions: Sequence[str],
    block: Mapping[str, Any],
) -> pd.DataFrame:
    """``ext_recorded_motion``: a row per toss that is identified or predicted on (:func:`motion_of`).

    ``predictions`` are files of every prediction (identified on, predicted on, scheme); the error of the rest position
    is by the paper's own scheme, NaN where a toss isn't predicted.
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
            **motion_of(samples, data[name]["vertices"].values, 1.0 / float(data[name].attrs["sample_frequency"])),
            "rest_position_error_cm": errors.get((name, toss), np.nan),
            "data": data_label(data[name]),
        }
        for name in of_cases(cases)
        for toss, samples in iterate_recordings(data[name])
        if int(samples["release"]) >= 0
    ]
    return pd.DataFrame(motion)


def motion_of(samples: xr.Dataset, vertices: np.ndarray, step: float) -> dict[str, Any]:
    """What a toss does from release to rest.

    Parameters
    ----------
    vertices : (v, 3) m in B
    step : s between samples

    Returns ``travelled_m``: length of the path of B's origin; ``flight_pct`` and ``sliding_pct``: shares of it before
    the first contact, and with a face on the surface after it; ``bouncing_pct``: the rest of it.
    ``slip_kept``: least speed along the surface of the corner that touches first, within the samples that an
    impact may take, over its speed before; 0 where it sticks. ``tilt_deg``: of z_B at rest against the normal.
    """
    release, contact, rest = (int(samples[event]) for event in ("release", "contact", "rest"))
    position = samples["position"].values[: rest + 1]
    corners = vertex_positions(position, samples["orientation"].values[: rest + 1], vertices)
    way = np.linalg.norm(np.diff(position, axis=0), axis=1)
    lies = np.sort(corners[:, :, 2], axis=1)[:, 3] < _LYING
    slides = lies[:-1] & lies[1:] & (np.arange(rest) >= contact)
    travelled = float(way[release:].sum())
    flight, sliding = (100.0 * float(part.sum()) / travelled for part in (way[release:contact], way[slides]))
    touching = int(corners[contact, :, 2].argmin())
    slip = np.gradient(corners[:, touching, :2], step, axis=0) - samples["surface_velocity"].values[:2]
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
