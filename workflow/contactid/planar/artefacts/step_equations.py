"""What the steps of a noisy motion say about J/m by themselves (section 5.2): the paper's reason to
fit a motion.

The throw of table 1 is simulated, and its velocity changes get noise: velocities from poses have
it. Without noise the dynamic matrix A_NI (eq. 29) has one null vector, and every step gives the
same J/m (eq. 32). With noise it has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from contactid.output import style
from contactid.planar.identify.contact_equations import (
    ContactSteps,
    contact_steps,
    ratio_equations,
    spectrum,
    total_least_squares,
    turning_steps,
)
from contactid.planar.simulate.bodies import PlanarLaw, simulate
from contactid.planar.simulate.throws import body_and_ground, noise_of

_MU = 0.3  # of the throw: it slides and sticks
_STEP = 1e-3  # s, the paper's
# m/s of a velocity change, and rad/s times the uniform body's radius of gyration. The largest is
# about what differences of poses at 240 frames/s have that are known to 1 mm; the least is above
# rounding.
_NOISES = (0.0, 1e-3, 1e-2, 0.05, 0.15, 0.6)
_DRAWS = 40  # noise samples: a quartile is then known to a fifth of the spread
_FRAME_RATE = 240.0  # frames/s, of the differences that the figure marks
_KINDS = {
    "null_vector": (r"null vector of $A_{N_I}$", style.ACCENT),
    "single_steps": ("single steps (eq. 31)", style.MEASURED),
    "least_squares": ("least squares", style.RELEASE),
    "total_least_squares": ("total least squares", style.LINE),
}


def step_equations(settings: Mapping[str, Any]) -> dict[str, pd.DataFrame]:
    """``ext_step_equations`` as table and figure, for the throw and noise of ``settings``."""
    table = equation_table(settings)
    return {"tables/ext_step_equations": table, "figures/ext_step_equations": table}


def equation_table(settings: Mapping[str, Any]) -> pd.DataFrame:
    """A row per noise and way to J/m: median and quartiles over noise samples, mm2, beside A's
    singular values.

    ``smallest_singular`` is relative to the largest one: 0 for a rigid body's motion. ``margin`` is
    the next one, how far J/m is from being free. ``differenced_noise_m_s`` is what velocities from
    poses have.
    """
    (body, ground), options = body_and_ground(settings), settings["identification"]
    law = PlanarLaw(_MU, float(options["restitution_e_n"]), 0.0, float(settings["gravity"]))
    steps = round(float(options["duration"]) / _STEP)
    start = options["position"], options["velocity"]
    motion = simulate(body, ground, law, *start, time_step=_STEP, steps=steps)
    exact = contact_steps(
        body.shape,
        ground,
        motion.position[:-1],
        motion.velocity[:-1],
        motion.velocity[1:],
        time_step=_STEP,
        gravity=law.gravity,
        # at the step's begin, q^k
        closed=motion.gap[:-1] <= 0.0,
    )
    pose_noise = float(noise_of(settings, next(iter(options["noise"])))[0])
    # of q^(k+1) - 2 q^k + q^(k-1) over the interval
    differenced = np.sqrt(6.0) * pose_noise * _FRAME_RATE
    tables = [_rows_of(exact, noise) for noise in _NOISES]
    return pd.concat(tables, ignore_index=True).assign(
        true_mm2=1e6 * body.inertia / body.mass, differenced_noise_m_s=differenced
    )


def _rows_of(exact: ContactSteps, noise: float) -> pd.DataFrame:
    deviation = noise * np.array([1.0, 1.0, 1.0 / exact.length])
    covariance = np.diag(deviation**2) if noise > 0.0 else None
    # the same draws for each noise, so that rows differ by its size alone
    rng = np.random.default_rng(1)
    ratios: dict[str, list[float]] = {kind: [] for kind in _KINDS}
    singular = []
    for _ in range(_DRAWS if noise > 0.0 else 1):
        errors = deviation * rng.normal(size=exact.change.shape)
        steps = replace(exact, change=exact.change + errors)
        values, equations = spectrum(steps), ratio_equations(steps, covariance)
        turns = turning_steps(steps, equations, noise > 0.0)
        moment, spin = equations.moment, equations.spin
        singular.append((values.smallest, values.margin))
        ratios["null_vector"].append(values.per_mass[1])
        ratios["single_steps"] += (moment[turns] / spin[turns]).tolist()
        # spin taken as exact: biased towards 0, whatever the number of steps
        ratios["least_squares"].append(moment @ spin / (spin @ spin))
        ratios["total_least_squares"].append(total_least_squares(equations))
    smallest, margin = np.median(singular, axis=0)
    rows = []
    for kind, values_m2 in ratios.items():
        low, median, high = 1e6 * np.quantile(values_m2, [0.25, 0.5, 0.75])
        rows.append((noise, len(exact), smallest, margin, kind, median, low, high))
    columns = [
        "noise_m_s", "n_steps", "smallest_singular", "margin",
        "estimate", "ratio_median_mm2", "ratio_q25_mm2", "ratio_q75_mm2",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def draw_step_equations(data: pd.DataFrame) -> Figure:
    """Singular values of A (a), and J/m by each way (b), against the noise of a velocity change."""
    noisy = data[data["noise_m_s"] > 0.0]
    figure, (singular, ratios) = plt.subplots(1, 2, figsize=(style.DOUBLE_COLUMN, 2.7), sharex=True)
    once = noisy.drop_duplicates("noise_m_s").set_index("noise_m_s")
    singular.loglog(once["smallest_singular"], "o-", color=style.LINE, ms=3.0, label="smallest")
    singular.loglog(once["margin"], "s--", color=style.RELEASE, ms=3.0, label="the next")
    singular.set(ylabel="singular value of $A_{N_I}$ (relative)")
    singular.set_title("(a) no null vector is left", loc="left")
    for kind, (label, colour) in _KINDS.items():
        rows = noisy[noisy["estimate"] == kind].set_index("noise_m_s")
        ratios.plot(rows["ratio_median_mm2"], "o-", color=colour, ms=3.0, label=label)
        low, high = rows["ratio_q25_mm2"], rows["ratio_q75_mm2"]
        ratios.fill_between(rows.index, low, high, color=colour, alpha=0.2, lw=0.0)
    truth = float(data["true_mm2"].iloc[0])
    ratios.axhline(truth, color="black", ls="--", lw=0.7, label="true")
    ratios.set(ylabel="$J/m$, median and quartiles (mm²)", ylim=(0.0, 2.0 * truth))
    ratios.set_title("(b) what the steps say", loc="left")
    for axes in (singular, ratios):
        _mark_differences(axes, float(data["differenced_noise_m_s"].iloc[0]))
        axes.set_xlabel("noise of a velocity change (m/s)")
        axes.legend(loc="best", fontsize=6)
    return figure


def _mark_differences(axes: Axes, noise: float) -> None:
    """Where velocities from measured poses are."""
    axes.axvline(noise, color="#555555", ls=":", lw=0.9)
    axes.annotate(
        "differenced poses",
        (noise, 0.02),
        (-3.0, 0.0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        rotation=90,
        ha="right",
        fontsize=6,
    )
