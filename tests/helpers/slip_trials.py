"""Folders of slip trials for ``contactid slip``, by a law of another kind than the study's twin.

Friction is of bristles that stretch (Dahl, LuGre) with Stribeck's fall from static to kinetic
friction at speed; the finger is a mass on a spring. ``python tests/helpers/slip_trials.py
examples/slip`` writes the example, and with a name that ends in .csv what ``contactid slip`` makes
of many surfaces (workflow/resources/own_slips.csv).
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np
import pandas as pd

from contactid.inhand.own.slip import estimate_slip

RATE, SUBSTEPS = 100.0, 20
BRISTLE = 1500.0  # N/m
MASS, DAMPING, RECOVERY = 0.05, 1.5, 0.5  # kg, N s/m, s
COLUMNS = [
    "time",
    *(
        f"{kind}_{axis}"
        for kind in ("contact_force", "contact_position", "surface_normal")
        for axis in "xyz"
    ),
]


@dataclass(frozen=True)
class Surface:
    """A surface and a finger: friction, warp in degrees/N, kinetic over static friction, stiffness
    in N/m.
    """

    mu: float
    warp: float = 0.0
    ratio: float = 0.85
    stiffness: float = 200.0
    stribeck: float = 5e-3  # m/s
    force_sd: float = 0.03  # N
    point_sd: float = 2e-4  # m
    direction_sd: float = 1.0  # degrees
    scatter: float = 0.02  # of friction between trials
    slips: bool = True


@numba.njit
def _motion(static, kinetic, pressing, load, stiffness, stribeck):
    """Tangential force (N) and the skin's place (m) at every sample; ``static``, ``kinetic`` in N."""
    force_at, place_at = np.zeros(len(pressing)), np.zeros(len(pressing))
    place = speed = bristle = slid = spring = 0.0
    step = 1.0 / (RATE * SUBSTEPS)
    for k in range(len(pressing)):
        force = BRISTLE * bristle
        force_at[k], place_at[k] = force, slid + bristle
        target = load * min(1.0, 2.0 * k / RATE)
        for _ in range(SUBSTEPS):
            edge = kinetic[k] + (static[k] - kinetic[k]) * np.exp(-((speed / stribeck) ** 2))
            spring += step * (target - BRISTLE * bristle) / RECOVERY / stiffness
            pull = stiffness * (spring - place) - DAMPING * speed - BRISTLE * bristle
            speed += step * pull / MASS
            place += step * speed
            bristle += step * speed
            beyond = bristle - min(max(bristle, -edge / BRISTLE), edge / BRISTLE)
            slid += beyond
            bristle -= beyond
    return force_at, place_at


def trial(
    surface: Surface, load: float, random: np.random.Generator, rate: float = 0.25
) -> pd.DataFrame:
    """A trial with the tangential force ``load`` (N); the normal force falls by ``rate`` N/s, and
    the finger slips.
    """
    edge = load / surface.mu  # normal force at slip, without warp
    start = min(8.0, 2.2 * edge + 1.0)
    end = (
        0.3 * edge
        if surface.slips
        else 1.2 * load / np.tan(np.arctan(surface.mu) + np.deg2rad(surface.warp) * edge)
    )
    time = np.arange(round((1.0 + (start - end) / rate) * RATE) + 1) / RATE
    wobble = np.zeros(len(time))
    for k in range(1, len(time)):
        wobble[k] = 0.95 * wobble[k - 1] + 0.02 * np.sqrt(1.0 - 0.95**2) * random.normal()
    pressing = np.maximum(start - rate * np.clip(time - 1.0, 0.0, None) + wobble, 0.06)
    mu = surface.mu * (1.0 + surface.scatter * random.normal())
    static, kinetic = (
        np.tan(np.arctan(share * mu) + np.deg2rad(surface.warp) * pressing) * pressing
        for share in (1.0, surface.ratio)
    )
    tangential, place = _motion(
        static, kinetic, pressing, load, surface.stiffness, surface.stribeck
    )
    heading = random.uniform(0.0, 2.0 * np.pi)
    along, normal = np.array([np.cos(heading), np.sin(heading), 0.0]), np.array([0.0, 0.0, 1.0])
    force = tangential[:, None] * along + pressing[:, None] * normal
    force += np.cross(np.deg2rad(surface.direction_sd) * random.normal(size=3), force)
    force += surface.force_sd * random.normal(size=force.shape)
    point = place[:, None] * along + surface.point_sd * random.normal(size=force.shape)
    rows = np.column_stack([time, force, point, np.broadcast_to(normal, force.shape)])
    return pd.DataFrame(rows, columns=COLUMNS)


def write_trials(
    folder: Path, surface: Surface, loads: Sequence[float], each: int, seed: int, rate: float = 0.25
) -> Path:
    """Write ``each`` trials per tangential force into a folder, and give it."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    for load in loads:
        for number in range(each):
            rows = trial(surface, load, random, rate)
            places = {name: 6 if "position" in name else 4 for name in COLUMNS}
            rows.round(places).to_csv(
                folder / f"load_{load:g}N_{number + 1}.csv", index=False, lineterminator="\n"
            )
    return folder


CASES = [(warp, ratio, 200.0) for warp in (0.0, 1.0, 2.0, 4.0) for ratio in (0.8, 0.9, 1.0)]
CASES += [(4.0, ratio, 2000.0) for ratio in (0.9, 1.0)]  # a stiff finger
LOADS, EACH = (0.4, 1.0, 2.0), 5


def measured(surfaces: int, seed: int) -> pd.DataFrame:
    """A row per case: over surfaces of mu 0.4 to 0.9, medians of absolute errors, and how often the
    bound is below.
    """
    rows = []
    for case, (warp, ratio, stiffness) in enumerate(CASES):
        errors, naive, below, slipped = [], [], [], 0
        for number in range(surfaces):
            mu = float(np.random.default_rng([seed, case, number]).uniform(0.4, 0.9))
            with tempfile.TemporaryDirectory() as folder:
                surface = Surface(mu, warp, ratio, stiffness)
                found = estimate_slip(
                    write_trials(Path(folder), surface, LOADS, EACH, seed + number), 1.0
                )
            alone = [one.friction for one in found.estimates if one.slipped]
            slipped += len(alone)
            if found.surface is not None and found.surface.line:
                errors.append(abs(found.surface.friction / mu - 1.0))
                below.append(found.surface.lower_bound < mu)
                naive.append(abs(np.median(alone) / mu - 1.0))
        rows.append(
            {
                "warp_deg_per_n": warp, "kinetic_ratio": ratio, "stiffness": stiffness, "surfaces": surfaces,
                "answered": len(errors), "slipped": slipped / (surfaces * len(LOADS) * EACH),
                "error": np.median(errors), "bound_below": np.mean(below), "naive_error": np.median(naive),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


if __name__ == "__main__":
    if sys.argv[1].endswith(".csv"):
        measured(30, 700).round(4).to_csv(sys.argv[1], index=False, lineterminator="\n")
    else:
        write_trials(Path(sys.argv[1]), Surface(mu=0.55, warp=3.0), (0.5, 1.0, 1.5), 2, 3, rate=1.0)
