"""Every number that steers an identification of throws: its value, its unit, and why it is there.

They reach everything by ``Problem.steering``. ``workflow/resources/steering.csv`` says what half
and twice of each does to J/m and its error (``python tests/helpers/steering.py`` makes it). What
only bounds rounding stands where it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def _number(value: Any, unit: str, why: str) -> Any:
    return field(default=value, metadata={"unit": unit, "why": why})


@dataclass(frozen=True)
class Steering:
    """One number a row; each field's metadata has its unit and why."""

    # --- unknowns: priors, bounds and scales
    ratio_spread: float = _number(
        0.7, "uniform body's J/m", "prior; steers only what the poses leave open"
    )
    friction_prior: float = _number(0.4, "1", "prior's mean of mu: plastic on wood or metal")
    friction_spread: float = _number(0.7, "1", "prior; steers only what the poses leave open")
    restitution_prior: float = _number(0.3, "1", "prior's mean of e_N: bounces of hard plastic")
    restitution_spread: float = _number(0.5, "1", "prior; steers only what the poses leave open")
    largest_friction: float = _number(1.5, "1", "bound: dry bodies have less")
    smallest_ratio: float = _number(
        0.1, "uniform body's J/m", "bound: a rod's core, which no plate comes near"
    )
    # --- what a description may be off by (standard deviations)
    turn_error: float = _number(0.02, "rad", "tracked axes that aren't stated: stuck on by eye")
    point_error: float = _number(0.03, "reach", "tracked point that isn't stated")
    slope_error: float = _number(
        0.02, "rad", "the ground's slope: a table, a camera held level by eye"
    )
    height_error: float = _number(3e-3, "m", "the ground's height")
    radius_prior: float = _number(
        0.06, "reach", "prior's mean of corners whose radius isn't stated"
    )
    radius_error: float = _number(0.08, "reach", "prior's spread of these")
    stated_turn_error: float = _number(
        1e-3, "rad", "axes that are stated: no outline is exact to less"
    )
    stated_point_error: float = _number(1e-4, "m", "a centre that is stated")
    stated_radius_error: float = _number(2e-4, "m", "a stated radius, for impacts by themselves")
    wild: float = _number(5.0, "sd", "a pose that is farther from a good motion is none")
    most_wild: float = _number(
        0.05, "frames", "share that may be wild; more are the motion's fault"
    )
    single_wild: float = _number(
        2.0, "1", "times as many where none follows another: a wrong motion is off over several"
    )
    not_whole: float = _number(
        16.0,
        "misfit per degree",
        "above it impacts are taken by themselves: noise four times as large is one still",
    )
    other_law: float = _number(
        0.5,
        "misfit beyond noise",
        "share of the paper's law's, below which the search is by friction that follows the slip",
    )
    lasting_impact: float = _number(
        4.0,
        "misfit per degree",
        "of a good motion by that law: impacts that last depart from it as far as noise does",
    )
    model_error: float = _number(
        0.01,
        "J/m, mu",
        "of a misfit that noise doesn't explain: a body turns by 10 mrad while it is pressed",
    )
    # --- residuals
    large_residual: float = _number(
        6.0, "sd", "larger ones count with their logarithm: no noise is so large"
    )
    lasting_step: float = _number(2e-4, "s", "step of lasting contact: poses to some 10 um")
    lasting_step_of_search: float = _number(5e-4, "s", "the same while the noise's floor is added")
    # --- Levenberg and Marquardt's steps
    difference: float = _number(
        1e-4, "scale", "for slopes: far below what changes the contacts' order"
    )
    wide_difference: float = _number(
        0.2, "scale", "where the cost has a kink: slopes that average its two sides"
    )
    damping: float = _number(1e-2, "1", "of the first step")
    least_damping: float = _number(1e-7, "1", "of any step")
    damped: float = _number(
        5.0, "1", "factor of the damping from try to try, and back after a success"
    )
    tries: int = _number(6, "1", "of a step, each more damped")
    converged: float = _number(0.02, "cost", "an iteration that gains less is the last")
    # --- the search: first contact
    flight_tail: float = _number(
        1e-3, "probability", "of larger departures, down to which frames are on one flight"
    )
    after_contact: float = _number(0.03, "s", "after the first flight in which its impact shows")
    fewest_after: int = _number(5, "frames", "the same for a slow camera")
    ratios: tuple[float, ...] = _number(
        (0.3, 0.45, 0.6, 0.75, 0.9, 1.05, 1.25),
        "uniform body's J/m",
        "grid from a dense core to nearly a ring",
    )
    frictions: tuple[float, ...] = _number(
        (0.05, 0.15, 0.3, 0.5, 0.8), "1", "grid from ice to rubber"
    )
    restitutions: tuple[float, ...] = _number(
        (0.0, 0.2, 0.4, 0.65), "1", "grid for each impact that comes in sight"
    )
    fine_restitutions: tuple[float, ...] = _number(
        (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.65),
        "1",
        "the same of own throws where no frame lies between two impacts: poses tell them badly",
    )
    radii: tuple[float, ...] = _number(
        (0.01, 0.07, 0.14), "reach", "corners from sharp to well rounded, where no radius is stated"
    )
    together: int = _number(
        3, "impacts", "whose restitutions are tried in every combination: 64 motions"
    )
    seeds: int = _number(40, "motions", "of the grid whose first impacts get other restitutions")
    first: int = _number(24, "motions", "fitted to the first contact")
    slow_flight: int = _number(
        3, "frames", "with fewer in the first flight motions begin with flights that meet, too"
    )
    met: int = _number(32, "motions", "of these that go on: most are wrong")
    met_after: int = _number(2, "frames", "after the first flight, to which they are fitted first")
    met_first_floor: float = _number(
        3e-3, "m", "added to the noise there: a line through two frames is off by so much"
    )
    met_floor: float = _number(1e-3, "m", "the same on their way")
    # --- the search: the motions that go on
    beam: int = _number(8, "motions", "that go on from horizon to horizon")
    wide: int = _number(
        4, "beams", "of motions that go on where noise doesn't explain the best one"
    )
    final: int = _number(4, "motions", "fitted to the end")
    growth: float = _number(0.25, "horizon", "by which it grows at a time")
    least_growth: int = _number(5, "frames", "by which it grows at least")
    quiet_frames: int = _number(3, "frames", "after an impact that don't show its restitution yet")
    directions: int = _number(
        4, "1", "that the poses leave open most, along which motions are varied"
    )
    widths: tuple[float, ...] = _number((1.0, 2.0), "sd", "by which they are varied on the way")
    final_widths: tuple[float, ...] = _number(
        (1.0, 3.0, 8.0), "sd", "by which they are varied at the end"
    )
    least_curvature: float = _number(1e-2, "1/scale^2", "what is open is varied within ten scales")
    first_iterations: int = _number(6, "1", "of the fit to the first contact")
    growing_iterations: int = _number(5, "1", "of the fit to each longer horizon")
    floor: float = _number(
        1e-4, "m", "added to the noise on the way; 20 rad/m of it to theta: it smooths the cost"
    )
    first_floor: float = _number(
        3e-4, "m", "the same at the first contact, where start and grid are coarse"
    )
    # --- the search: geometry close to the stated one at first
    close_turn: float = _number(
        4e-3, "rad", "sd at first: far from the answer poses would pull the geometry away"
    )
    close_point: float = _number(2e-4, "m", "the same of the tracked point")
    close_slope: float = _number(3e-3, "rad", "the same of the ground's slope")
    close_height: float = _number(4e-4, "m", "the same of the ground's height")
    # --- the search: its end
    plausible_tail: float = _number(
        1e-3, "probability", "of a larger misfit, below which a wider search follows"
    )
    beyond: float = _number(
        50.0, "cost per residual", "no search helps: true models end below 30, real squares not"
    )
    final_iterations: int = _number(30, "1", "of the fit of a whole motion")
    joining: tuple[float, ...] = _number(
        (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
        "throw",
        "of all throws that one body follows before it follows them whole",
    )
    near_best: float = _number(
        10.0, "cost", "above a throw's best up to which its motions fit about as well"
    )
    new: float = _number(1.0, "cost", "by which a round must lower the best, or it was the last")
    alike: float = _number(1.0, "scale", "common unknowns that differ by less are one")
    alike_restitution: float = _number(0.06, "1", "restitutions that differ by less are one")
    # --- profiles and errors
    profile_step: float = _number(0.7, "sd", "from one value to the next, as the cost shows it")
    profile_start: float = _number(0.1, "scale", "the first step")
    overshoot: float = _number(
        1.5, "root of the rise", "beyond which a step was too long, and is made again"
    )
    shortening: float = _number(0.3, "step", "what is left of such a step")
    profile_steps: int = _number(40, "1", "to one side")
    profile_restarts: int = _number(4, "1", "from a better answer on the way")
    profile_iterations: int = _number(12, "1", "of the fit at each value")
    better: float = _number(0.1, "cost", "by which an answer is better")
    least_excess: float = _number(
        0.25, "misfit per degree", "down to which noise that isn't stated is corrected"
    )
    kink_difference: float = _number(
        1.0, "scale", "slopes for errors that average over many contacts' kinks"
    )


STEERING = Steering()
