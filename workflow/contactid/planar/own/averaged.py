"""Recordings of fast cameras: searched with one frame of every few, then fitted to averages of all.

Frames that follow each other within milliseconds say little more than their average does, at many
times its cost. The average of poses over an impact lies off the motion, by .5 mm for 1 m/s over
4 ms. So departures from a motion that is already fitted are averaged: these have no kink.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from contactid.planar.engine.problem import Point, Problem, Throw
from contactid.planar.engine.search import Say, search
from contactid.planar.own.body import OwnThrows
from contactid.planar.own.noise import Noise
from contactid.planar.own.searches import refitted
from contactid.planar.own.wild import problem_of, residuals_of
from contactid.planar.readers.throws import PlanarThrow

# correlation of averages that follow each other: noise that lasts longer than 6 ms is misfit, which
# must stay in sight
_MOST_ALIKE = 0.5


def fitted_to_averages(
    problem: Problem, throws: OwnThrows, minima: Sequence[Point], say: Say | None
) -> tuple[Problem, OwnThrows, list[Point]]:
    """Throws with averages of all their frames in place of single ones, and the motions fitted to
    them, best first; all as it is where every frame was fitted.
    """
    if throws.together == 1:
        return problem, throws, list(minima)
    if say:
        say("the motion fitted to averages of all frames")
    single, throws = throws.sigma, _without_wild(problem, throws, minima[0])
    # as if noise were white at first; what that fit leaves tells how white it is
    sigma = single / np.sqrt(throws.together)
    for _ in range(2):
        throws = _averaged(problem, throws, minima[0]).with_sigma(sigma)
        problem = problem_of(problem.geometry, throws, problem.steering)
        minima = refitted(problem, minima)
        sigma = _noise_of_averages(problem, minima[0], single, throws.together)
    throws = throws.with_sigma(sigma)
    problem = problem_of(problem.geometry, throws, problem.steering)
    minima = refitted(problem, minima)
    if not problem.plausible(minima[0]):
        more = search(problem, say)
        minima = sorted([*minima, *more], key=lambda point: point.cost)
    note = (
        f"Motions are fitted to averages of {throws.together} frames, whose noise acts like "
        f"{1e3 * sigma[0]:.3g} mm in x, {1e3 * sigma[1]:.3g} mm in y, {1e3 * sigma[2]:.3g} mrad in theta."
    )
    # what warned of noise that isn't white is in these numbers
    noise = Noise(sigma, (*throws.noise.notes, note))
    return problem, replace(throws, noise=noise), list(minima)


def _averaged(problem: Problem, throws: OwnThrows, best: Point) -> OwnThrows:
    """Throws whose poses are the ``best`` motion's and the mean departure from it of the frames
    around them.
    """
    positions, seen = [], []
    for k, fast in enumerate(throws.fast):
        departure = _departure(problem, best, k, fast)
        n, together = len(throws.throws[k].time), throws.together
        average = (np.arange(len(fast.time)) + together // 2) // together
        counted = np.bincount(average[fast.seen], minlength=n)
        sums = [np.bincount(average, fast.seen * one, minlength=n) for one in departure.T]
        mean = np.column_stack(sums) / np.maximum(counted, 1)[:, None]
        positions.append((fast.position - departure)[::together] + mean)
        # the first one has frames to one side only
        seen.append(2 * counted >= together)
    averaged = [
        replace(throw, position=position)
        for throw, position in zip(throws.throws, positions, strict=True)
    ]
    return replace(throws, throws=tuple(averaged), seen=tuple(seen))


def _without_wild(problem: Problem, throws: OwnThrows, best: Point) -> OwnThrows:
    """Throws without frames that are far off the motion, a few at most, and a warning of them.

    No fit has to confirm these: a motion doesn't follow a frame among so many.
    """
    steering, kept, warnings = problem.steering, [], []
    for k, fast in enumerate(throws.fast):
        departure = np.abs(_departure(problem, best, k, fast)) / throws.sigma
        wild = fast.seen & (departure > steering.wild).any(axis=1)
        # many are the motion's fault
        if not 0.0 < wild.mean() <= steering.most_wild:
            kept.append(fast)
            continue
        kept.append(replace(fast, lost=~fast.seen | wild))
        times = ", ".join(f"{time:.4g}" for time in fast.time[wild])
        warnings.append(
            f"{fast.name}: poses at t = {times} s after the first are more than {steering.wild:g} standard "
            "deviations of the noise off the identified motion, and were left out."
        )
    return replace(throws, fast=tuple(kept), warnings=(*throws.warnings, *warnings))


def _departure(problem: Problem, best: Point, k: int, fast: PlanarThrow) -> np.ndarray:
    """(frames, 3) all poses of throw k less those of a motion."""
    single = problem.throws[k].measured
    # by unit noise residuals are departures
    all_poses = replace(single, time=fast.time, position=fast.position, sigma=np.ones(3))
    whole = Problem(
        problem.geometry, [Throw(all_poses, np.ones(len(fast.time), bool))], problem.steering
    )
    return -residuals_of(whole, Point(best.common, best.own[k : k + 1]), 0)


def _noise_of_averages(
    problem: Problem, best: Point, single: np.ndarray, together: int
) -> np.ndarray:
    """(3,) standard deviations by which averages act as if each were independent.

    A camera's jitter lasts for milliseconds: then an average of frames is hardly better than one,
    and the next average is off alike. Never more than the noise of single frames and what this
    likeness adds, so that a motion's misfit shows as it does without averages.
    """
    squares, products, seen = np.zeros(3), np.zeros(3), 0
    for k, throw in enumerate(problem.throws):
        residual = residuals_of(problem, best, k)
        squares += (residual**2).sum(axis=0)
        # frames that weren't seen have none
        products += (residual[1:] * residual[:-1]).sum(axis=0)
        seen += int(throw.seen.sum())
    # share of squares that the motion's unknowns leave
    remains = problem.misfit(best)[1] / (3 * seen)
    variance = squares / (seen * remains) * problem.throws[0].measured.sigma ** 2
    # what unknowns take makes neighbours seem unlike
    alike = np.clip(products / squares + 1.0 / remains - 1.0, 0.0, _MOST_ALIKE)
    variance = np.clip(variance, single**2 / together, single**2)
    # sum of a first-order process's correlations
    return np.sqrt(variance * (1.0 + alike) / (1.0 - alike))
