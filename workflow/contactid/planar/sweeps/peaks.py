"""The first impact's normal impulse against the time step (figures 6 to 8 and 10): IRC converges,
IGC doesn't.

IRC is impulse-restitution complementarity, the exact step of
:mod:`contactid.planar.simulate.bodies`; IGC is impulse-gap complementarity, whose step is solved by
root finding (:mod:`contactid.planar.sweeps.gap_motion`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from contactid.core.errors import ContactIdError
from contactid.output.tables import write_csv
from contactid.planar.simulate.bodies import PlanarMotion
from contactid.planar.simulate.geometry import contacts
from contactid.planar.simulate.kernel import contact_impulse
from contactid.planar.simulate.scenes import Scene, scene_of
from contactid.planar.sweeps.gap_motion import gap_motion

IRC, IGC = "IRC", "IGC"
SHOWN_STEPS = 8  # after the first impact, in figures 7 and 10
_LONGEST_CONVERGING = 5e-3  # s: above it, an impact takes a large part of the flight
_ORDERS = 8  # time steps that the order of convergence is fitted to
_NEIGHBOURS = 25  # of each, up to a tenth longer


def exact_first_impact(scene: Scene) -> tuple[float, float]:
    """Time (s) and normal impulse (N s), under the first law, of a scene's first impact as the time
    step tends to 0.

    For a drop on level ground with e_N = 0 that is eq. 22.

    The flight is a parabola with constant spin; the impact happens where its gap vanishes, and
    gravity has no time to act in it. Bodies with one potential contact only.

    Raises
    ------
    ContactIdError
        Where nothing touches the ground within the scene's duration.
    """
    q, v, law = np.array(scene.position), np.array(scene.velocity), scene.laws[0]
    fall = np.array([0.0, -law.gravity, 0.0])

    def pose(time: float) -> np.ndarray:
        return q + v * time + 0.5 * fall * time**2

    def gap(time: float) -> float:
        return float(contacts(scene.body.shape, scene.ground, pose(time)).gap[0])

    # a scan brackets the first impact for the root
    times = np.linspace(0.0, scene.duration, 2001)
    below = np.flatnonzero([gap(time) <= 0.0 for time in times])
    if not len(below) or below[0] == 0:
        raise ContactIdError(
            f"scene {scene.name}: no impact after a flight within {scene.duration:g} s",
            "Choose a longer duration",
        )
    moment = float(brentq(gap, times[below[0] - 1], times[below[0]], xtol=1e-15, rtol=1e-15))
    at, before = contacts(scene.body.shape, scene.ground, pose(moment)), v + fall * moment
    # W and u of the contact, for the exact impulse at that instant
    rows = np.array([at.normal[0], at.tangent[0]])
    w, u = (rows / scene.body.mass_matrix) @ rows.T, rows @ before
    b_n, b_t = -(1.0 + law.restitution_e_n) * u[0], -(1.0 + law.restitution_e_t) * u[1]
    c_n, _ = contact_impulse(w[0, 0], w[0, 1], w[1, 1], b_n, b_t, law.friction_mu)
    return moment, float(c_n)


def first_impact(motion: PlanarMotion) -> tuple[int, float, float]:
    """Step of the first impulse, the larger impulse of its two instants and their sum, N s."""
    impulse = motion.impulse_n.sum(axis=1)
    if not (impulse > 0.0).any():
        return -1, np.nan, np.nan
    first = int(np.argmax(impulse > 0.0))
    # gap complementarity spreads an impact over two instants
    pair = impulse[first : first + 2]
    return first, float(pair.max()), float(pair.sum())


def peak_sweep(
    scene: Scene, time_steps: Sequence[float], shown: Sequence[float]
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """First impacts by both models at every time step (those ``shown`` included), and the impulses
    around them.

    Returns
    -------
    peaks
        ``model, time_step_ms, impact_time_ms, peak_impulse_ns, total_impulse_ns, limit_ns``
    impulses
        ``model, time_step_ms, time_ms, impulse_ns`` from two steps before the impact on, for the
        steps ``shown``, s.
    """
    moment, limit = exact_first_impact(scene)
    peaks, impulses, law = [], [], scene.laws[0]
    for h in sorted({*time_steps, *shown}):
        # as far as figures show, and no farther
        duration = (int(np.ceil(moment / h)) + SHOWN_STEPS + 2) * h
        motions = {
            IRC: scene.run(law, time_step=h, duration=duration),
            IGC: gap_motion(replace(scene, duration=duration), law, h),
        }
        for model, motion in motions.items():
            first, peak, total = first_impact(motion)
            peaks.append((model, 1e3 * h, 1e3 * motion.time[first], peak, total, limit))
            if h in shown:
                part = slice(max(first - 2, 0), first + SHOWN_STEPS // 2)
                around = {
                    "time_ms": 1e3 * motion.time[part],
                    "impulse_ns": motion.impulse_n[part].sum(axis=1),
                }
                impulses.append(pd.DataFrame({"model": model, "time_step_ms": 1e3 * h, **around}))
    columns = [
        "model",
        "time_step_ms",
        "impact_time_ms",
        "peak_impulse_ns",
        "total_impulse_ns",
        "limit_ns",
    ]
    return pd.DataFrame(peaks, columns=columns), pd.concat(impulses, ignore_index=True)


def convergence(scene: Scene, time_steps: Sequence[float]) -> pd.DataFrame:
    """Error of the IRC's first impulse, as root mean square over time steps near each one.

    One time step alone says little: the error depends on where within a step the impact falls.

    Returns
    -------
    ``time_step_ms, error_rms_ns, error_largest_ns, limit_ns``
    """
    moment, limit = exact_first_impact(scene)
    rows = []
    for h in time_steps:
        errors = []
        # neighbouring time steps meet the impact at other places within a step
        for factor in 1.0 + 0.1 * np.arange(_NEIGHBOURS) / _NEIGHBOURS:
            step = float(h * factor)
            motion = scene.run(
                scene.laws[0], time_step=step, duration=(np.ceil(moment / step) + 2) * step
            )
            errors.append(first_impact(motion)[1] - limit)
        rms, largest = np.sqrt(np.mean(np.square(errors))), np.abs(errors).max()
        rows.append((1e3 * h, float(rms), float(largest), limit))
    columns = ["time_step_ms", "error_rms_ns", "error_largest_ns", "limit_ns"]
    return pd.DataFrame(rows, columns=columns)


def write_peaks(
    block: Mapping[str, Any],
    scene: str,
    options: Mapping[str, Any],
    peaks: str,
    impulses: str,
    errors: str,
) -> None:
    """Sweep the time step for the first law of a scene, and write peaks, impulses around them, and
    the IRC's errors.

    ``options`` are ``planar.peaks`` of the configuration.
    """
    thrown = scene_of(block, scene)
    time_steps = np.geomspace(options["shortest"], options["longest"], options["number"])
    swept, around = peak_sweep(thrown, [float(h) for h in time_steps], options["shown"])
    longest = min(options["longest"], _LONGEST_CONVERGING)
    # a decade of time steps at least
    fitted = np.geomspace(min(options["shortest"], 0.1 * longest), longest, _ORDERS)
    write_csv(swept, peaks)
    write_csv(around, impulses)
    write_csv(convergence(thrown, [float(h) for h in fitted]), errors)
