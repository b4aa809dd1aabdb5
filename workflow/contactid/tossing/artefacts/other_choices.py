"""Choices that the paper names and didn't make: other grids, thresholds and differences, and tosses
that turn over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.sources.motion import BodyProperties, body_of, iterate_recordings
from contactid.tossing.artefacts.data import Case, by_name, data_label, identified, object_of
from contactid.tossing.artefacts.impacts import COMPONENTS, example_window, window_velocities
from contactid.tossing.identify.trajectories import Grid, best_point, grid_values
from contactid.tossing.identify.velocities import sweep_velocities
from contactid.tossing.impacts.impact import WEIGHTS, ImpactWindow, impact_geometry, read_impacts
from contactid.tossing.prepare.flight import central_difference_state
from contactid.tossing.prepare.metrics import mean_loss
from contactid.tossing.prepare.preprocess import IDENTIFICATION, upper_face
from contactid.tossing.prepare.tosses import usable_tosses
from contactid.tossing.simulate.box import ContactParameters, SteppingOptions, simulate
from contactid.tossing.simulate.sweep import MeasuredToss, sweep

# what was chosen; the thresholds (m/s) are 1.5 and 2 times the paper's
_PAPER, _FINER, _NEIGHBOURS = "paper", "finer_grid", "neighbours_kept"
_FASTER = {"from_450_mm_s": 0.45, "from_600_mm_s": 0.6}
_RECORDED, _SPINNING = "recorded", "spinning"
_OPTIMUM = ("friction_mu", "restitution_e_n", "mean_loss")
_FINER_REACH, _FINER_STEP = 0.05, 0.01  # of the finer grid, on either side of the paper's optimum
_NEAR = 0.1  # on either side of the paper's friction: what the neighbours change is restitution
_STICKS = 0.6  # friction above which section IV-A says that contacts stick
_SAME = 1e-6  # a loss that more friction changes by less is that of a contact that sticks
_SPIN = 20.0  # rad/s about the horizontal axis across the flight: most of the boxes then turn over
_TOSSES = 6  # of each box that are thrown with spin
_FLAT = 0.6  # restitution below which section IV-B calls the trajectory-based cost flat


def impact_tables(
    prepared: Sequence[str],
    datasets: Sequence[str],
    impact_cases: Sequence[Case],
    impacts: Sequence[str],
    velocity_sweeps: Sequence[str],
    window: int,
) -> dict[str, pd.DataFrame]:
    """``ext_velocity_choices`` and ``ext_example_impacts``: what else single impacts say.

    Parameters
    ----------
    impacts, velocity_sweeps : files of the paper's own scheme
    window : samples from the start of a simulation to k_im
    """
    names = identified(impact_cases)
    data, swept = by_name(prepared, datasets), by_name(velocity_sweeps, names)
    choices, examples = [], []
    for name, file in zip(names, impacts, strict=True):
        body, windows, options = read_impacts(file, split=IDENTIFICATION)
        losses, of = swept[name]["loss"], {"dataset": name, "object": object_of(data[name])}
        mu, e_n, _ = best_point(losses.mean("impact"))
        smeared = _neighbours_kept(windows, data[name], window)
        for scheme, loss in velocity_losses_by_choice(
            body, windows, smeared, losses, options
        ).items():
            if loss.sizes["impact"]:
                best = dict(zip(_OPTIMUM, best_point(loss.mean("impact")), strict=True))
                sticking = _sticking(losses, e_n) if scheme == _PAPER else np.nan
                row = {
                    **of,
                    "scheme": scheme,
                    "impacts": loss.sizes["impact"],
                    **best,
                    "sticking_pct": sticking,
                }
                choices.append(row | {"data": data_label(data[name])})
        simulated = {"simulated": (ContactParameters(mu, e_n), 1)}
        curves = window_velocities(data[name], example_window(windows), window, simulated)
        examples += [of | row | {"data": data_label(data[name])} for row in impact_in_short(curves)]
    return {
        "tables/ext_velocity_choices": pd.DataFrame(choices),
        "tables/ext_example_impacts": pd.DataFrame(examples),
    }


def velocity_losses_by_choice(
    body: BodyProperties,
    windows: Sequence[ImpactWindow],
    smeared: Sequence[ImpactWindow],
    losses: xr.DataArray,
    options: SteppingOptions,
) -> dict[str, xr.DataArray]:
    """Velocity-based losses (impact, friction_mu, restitution_e_n) by what was chosen.

    The choices are the paper's (``losses``), a grid of a fifth of its step, faster impacts alone,
    and the windows ``smeared``, whose v+ is the one central difference next to the impact.
    """
    mu, e_n, _ = best_point(losses.mean("impact"))
    values = losses["friction_mu"].values
    near = Grid(values[np.abs(values - mu) <= _NEAR], losses["restitution_e_n"].values)
    finer = Grid(_around(mu, np.inf), _around(e_n, 1.0))
    speeds = np.array([_normal_speed(body, one) for one in windows])
    return {
        _PAPER: losses,
        _FINER: sweep_velocities(body, windows, finer, options)["loss"],
        **{choice: losses[speeds > speed] for choice, speed in _FASTER.items()},
        _NEIGHBOURS: sweep_velocities(body, smeared, near, options)["loss"],
    }


def _around(value: float, largest: float) -> np.ndarray:
    low, high = max(value - _FINER_REACH, 0.0), min(value + _FINER_REACH, largest)
    return grid_values(round(low, 10), round(high, 10), _FINER_STEP)


def _sticking(losses: xr.DataArray, e_n: float) -> float:
    """Impacts (%) whose loss at a restitution is the same for all friction above 0.6."""
    over_friction = losses.sel(restitution_e_n=e_n)
    least = over_friction.sel(friction_mu=_STICKS, method="nearest")
    # a contact that sticks is the same for all larger friction
    changed = least / over_friction.isel(friction_mu=-1) - 1.0
    return 100.0 * float((np.abs(changed) < _SAME).mean())


def _normal_speed(body: BodyProperties, window: ImpactWindow) -> float:
    """m/s at which the corner comes down on the surface."""
    impact = window.impact
    corner = impact_geometry(body, impact).jacobian @ impact.pre_twist - impact.surface_velocity
    return float(-corner[2])


def _neighbours_kept(
    windows: Sequence[ImpactWindow], prepared: xr.Dataset, window: int
) -> list[ImpactWindow]:
    """The impacts with v+ as the central difference at the first sample after k_im."""
    recorded = dict(iterate_recordings(prepared))
    step = 1.0 / float(prepared.attrs["sample_frequency"])
    kept = []
    for one in windows:
        samples = recorded[one.impact.toss]
        poses = samples["position"].values, samples["orientation"].values
        after = central_difference_state(*poses, one.impact.sample + 1, step)
        twist = np.concatenate([after.linear_velocity, after.angular_velocity])
        kept.append(replace(one, n_steps=window + 1, end_twist=twist))
    return kept


def impact_in_short(curves: pd.DataFrame) -> list[dict[str, Any]]:
    """A row for the velocities that were measured, are simulated, and would be without an impact.

    All are shares of the impact's change of velocity, weighted as in eq. 17: ``distance``, the root
    mean square distance from the measured velocities after the impact, and ``largest_step`` from
    sample to sample. ``curves`` are of
    :func:`contactid.tossing.artefacts.impacts.window_velocities`.
    """
    weights = dict(zip(COMPONENTS, WEIGHTS, strict=True))
    weighted = curves.assign(value=curves["value"] * curves["component"].map(weights))
    wide = weighted.pivot_table(index=["kind", "offset"], columns="component", values="value")
    before = curves.loc[curves["side"] == "pre", "offset"].max()
    after = curves.loc[curves["side"] == "post", "offset"].min()
    fitted, measured = wide.loc["fitted"], wide.loc["measured"]
    change = float(np.linalg.norm(fitted.loc[after] - fitted.loc[before]))
    # a curve that stays at the velocity before the impact
    still = 0.0 * measured + fitted.loc[before]
    rows = []
    for kind, curve in (
        ("measured", measured),
        ("simulated", wide.loc["simulated"]),
        ("no_impact", still),
    ):
        differences = (curve - measured).loc[after:].to_numpy()
        steps = np.linalg.norm(np.diff(curve.to_numpy(), axis=0), axis=1)
        distance = float(np.sqrt((differences**2).sum(axis=1).mean()))
        rows.append(
            {
                "kind": kind,
                "distance": distance / change,
                "largest_step": float(steps.max()) / change,
            }
        )
    return rows


def tumbling_costs(
    prepared: Sequence[str], datasets: Sequence[str], cases: Sequence[Case], sweeps: Sequence[str]
) -> pd.DataFrame:
    """``ext_tumbling_costs``: how much restitution changes the trajectory-based cost of tosses that
    turn over.

    Some recorded releases of every dataset that is identified on are simulated with its optimum and
    with spin; these tosses have a cost over every other point of the grid (eqs. 16 and 18), beside
    the cost of the recorded ones. ``restitution_pct``: change of the cost, each at its best
    friction, for restitution up to 0.6, over the cost's whole range. ``sweeps`` are of the first
    variant.
    """
    names = identified(cases)
    data, swept, rows = by_name(prepared, datasets), by_name(sweeps, names), []
    for name in names:
        mean = mean_loss(swept[name])
        optimum = ContactParameters(*best_point(mean)[:2])
        # every other point, in both directions: about a quarter of the work
        grid = Grid(mean["friction_mu"].values[::2], mean["restitution_e_n"].values[::2])
        tosses, options = _with_spin(data[name], optimum)
        loss = sweep(body_of(data[name]), tosses, *grid.pairs(), options).loss.mean(axis=0)
        spinning = loss.reshape(len(grid.friction_mu), -1)
        of_sweep = data[name]["recording"].isin(swept[name]["toss"])
        recorded = int(data[name]["tumbled"].where(of_sweep, 0).sum()), swept[name].sizes["toss"]
        faces = [upper_face(toss.orientation[[0, -1]]) for toss in tosses]
        thrown = sum(int(first != last) for first, last in faces), len(tosses)
        for kind, (tumbled, number), cost in (
            (_RECORDED, recorded, mean.values[::2, ::2]),
            (_SPINNING, thrown, spinning),
        ):
            # each restitution at its own best friction
            over_restitution = cost.min(axis=0)[grid.restitution_e_n <= _FLAT]
            rows.append(
                {
                    "dataset": name,
                    "object": object_of(data[name]),
                    "thrown": kind,
                    "tosses": number,
                    "tumbled": tumbled,
                    "restitution_pct": 100.0 * float(np.ptp(over_restitution) / np.ptp(cost)),
                    "data": data_label(data[name]),
                }
            )
    return pd.DataFrame(rows)


def _with_spin(
    prepared: xr.Dataset, parameters: ContactParameters
) -> tuple[list[MeasuredToss], SteppingOptions]:
    """Simulations of a dataset's first usable releases with spin, as long as the recorded tosses."""
    body, step, tosses = body_of(prepared), 1.0 / float(prepared.attrs["sample_frequency"]), []
    for item in usable_tosses(prepared, start="central_difference", split=IDENTIFICATION)[:_TOSSES]:
        toss, start = item.toss, item.toss.start
        x, y, z = map(float, item.gravity)
        options = SteppingOptions(time_step=step, gravity=(x, y, z))
        # horizontal, so that the spin turns the box over in the direction it flies
        across = np.cross([0.0, 0.0, 1.0], start.linear_velocity)
        spin = start.angular_velocity + _SPIN * across / np.linalg.norm(across)
        start = replace(start, angular_velocity=spin)
        run = simulate(body, start, parameters, options, len(toss.position), toss.surface_velocity)
        tosses.append(
            replace(toss, start=start, position=run.position, orientation=run.orientation)
        )
    return tosses, options
