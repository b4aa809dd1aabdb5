"""The data card of the in-hand twins, which are simulated by the run and come from no registry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from contactid.sources.card import gaps, white_noise
from contactid.sources.origin import SYNTHETIC

#: Printed numbers that the twins were made with, as ``artefact/quantity/condition`` with wildcards:
#: the ground truths, and in hand the masses with the constraint, which the forces that no fingertip
#: senses were chosen by.
MADE_FROM = (
    "tabA?/*/*;method=ground_truth",
    "tabA3/mass_kg/*;method=constraint_*",
    "tabA4/mass_kg/*;method=constraint_*",
)


def card_of(name: str, recordings: Sequence[xr.Dataset]) -> dict[str, Any]:
    """What :func:`contactid.sources.card.make_card` says of a dataset, of simulated recordings;
    without panels.
    """
    times = [recording["time"].to_numpy() for recording in recordings]
    steps = [float(np.median(np.diff(time))) for time in times]
    sources = dict.fromkeys(str(recording.attrs["source"]) for recording in recordings)
    forces = [
        white_noise(one["contact_force"].to_numpy().reshape(one.sizes["sample"], -1))
        for one in recordings
    ]
    return {
        "name": name,
        "study": "inhand",
        "what": f"forces on an object in motion, and its pose: {', '.join(sources).replace('_', ' ')}",
        "object": ", ".join(
            dict.fromkeys(str(recording.attrs["object"]) for recording in recordings)
        ),
        "synthetic": True,
        "of_the_paper": False,
        "told": SYNTHETIC,
        "made_from": list(MADE_FROM),
        "recordings": len(recordings),
        "samples": sum(map(len, times)),
        "duration_s": float(f"{sum(time[-1] - time[0] for time in times):.6g}"),
        "sample_frequency_hz": float(f"{1.0 / np.median(steps):.6g}"),
        "gaps": sum(gaps(time, step) for time, step in zip(times, steps, strict=True)),
        "left_out": {},
        "noise": {"contact_force_n": float(f"{np.median(forces):.3g}")},
        "licence": "CC0-1.0",
        "citation": "synthetic twin made by this project",
        "source": "simulated by the run",
    }
