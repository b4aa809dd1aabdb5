"""Recordings at even steps of time, whatever the clock: the one place that says how even is even.

Time may be in s, ms, us, ns or days (the step tells), count from anywhere (the Unix epoch), be
rounded to single precision, or scatter from sample to sample; a sample or two may be missing or
have no value.
Everything behind the reader works with steps that are equal to the last digit.

Stamps scatter for two reasons. Either the samples were taken evenly and the stamps are late by what
the computer did meanwhile: then the samples are right as they are. Or the samples were taken when
the stamps say: then they are interpolated. The data tell which: what is right is the smoother of
the two (third differences of the joint positions).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from contactid.arm.readers.impacts import EVEN, MOST_MISSING, SAMPLE_INTERVAL

SHORTEST, LONGEST = 1e-4, 2.5e-3  # s between samples
_UNITS = (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9), ("days", 86400.0))
_REGULAR = 0.1  # of a step: median departure of the steps, beyond which single ones say nothing
_FARTHEST = 3.0  # steps that a stamp may be off where single ones say nothing
_NOMINAL = 2e-4  # relative; a clock this near to a round rate has that rate
_SMOOTHER = 0.9  # interpolated samples have to be this much less rough to be taken


class Even(NamedTuple):
    """``time`` (n,) s, from 0 on in equal steps, ``position`` (n, joints), and notes on how they
    came about.
    """

    time: np.ndarray
    position: np.ndarray
    notes: tuple[str, ...]


def even_steps(stamps: np.ndarray | None, position: np.ndarray, problems: list[str]) -> Even | None:
    """Samples (n, joints) at even steps from their time stamps (n,) in any unit; None, with
    ``problems``, if unusable.

    Without stamps (None), samples are 1 ms apart. Samples with NaN are bridged.
    """
    empty = ~np.isfinite(position).all(axis=1)
    # a spline needs two samples; a recording with fewer isn't usable
    if not empty.any() or np.count_nonzero(~empty) < 2:
        return _evenly(stamps, np.nan_to_num(position), problems)
    number = np.arange(len(position))
    bridged = CubicSpline(number[~empty], position[~empty])(number)
    even = _evenly(stamps, bridged, problems)
    note = f"{_samples(int(np.count_nonzero(empty)), 'empty')} bridged"
    return even and even._replace(notes=(note, *even.notes))


def _samples(count: int, kind: str) -> str:
    return f"{count} {kind} sample{'s' if count > 1 else ''}"


def _evenly(stamps: np.ndarray | None, position: np.ndarray, problems: list[str]) -> Even | None:
    """As :func:`even_steps`, of rows that all have a value."""
    if stamps is None:
        return _assumed(position, "no time: samples are taken to be 1 ms apart")
    missing = ~np.isfinite(stamps)
    if missing.any():
        problems.append(
            f"NaN in {np.count_nonzero(missing)} samples of the time, the first at sample {np.argmax(missing)}"
        )
        return None
    # what the stamps' type can tell apart at their size
    finest = float(np.spacing(np.abs(stamps).max())) if stamps.dtype.kind == "f" else 1.0
    # differences first, in their own type: an epoch in ns has no room in a float
    since = (
        stamps - stamps[0] if stamps.dtype.kind in "if" else stamps.astype("int64") - int(stamps[0])
    ).astype(float)
    steps = np.diff(since)
    typical = float(np.median(steps))
    if (
        # stamps too coarse to tell a step, over a span that 1 ms would fill
        typical < 2.0 * finest
        and finest > 1.0
        and abs(since).max() <= len(since) * LONGEST + 2.0 * finest
    ):
        return _assumed(
            position,
            f"time in steps of {finest:g} s ({stamps.dtype}): samples are taken to be 1 ms apart",
        )
    # single steps say nothing: rounding, or scatter, of a tenth of a step
    coarse = typical < 5.0 * finest or float(np.median(np.abs(steps - typical))) > _REGULAR * abs(
        typical
    )
    # then the mean over all
    typical = since[-1] / len(steps) if coarse else typical
    # the first unit that makes the step one of an arm's recording
    factor = next(
        (factor for _, factor in _UNITS if 0.95 * SHORTEST <= typical * factor <= 1.05 * LONGEST),
        None,
    )
    # rounded stamps may stand still, and go back by a rounding step
    backward = steps < -finest if coarse and typical > 0.0 else steps <= 0.0
    if backward.any():
        problems.append(f"time does not increase at sample {np.argmax(backward) + 1}")
        return None
    if factor is None:
        problems.append(
            f"time steps of {1e3 * typical:.4g} ms, if they are in s: between {1e3 * SHORTEST:g} and"
            f" {1e3 * LONGEST:g} ms are expected"
        )
        return None
    since, typical = since * factor, typical * factor
    # where single steps say nothing, none is missing
    counts = np.ones(len(steps), dtype=int) if coarse else _counts(steps * factor, typical)
    if counts.max() > 1 + MOST_MISSING or counts.min() < 1:
        wrong = (counts > 1) | (counts < 1)
        first = int(np.argmax((counts > 1 + MOST_MISSING) | (counts < 1)))
        problems.append(
            f"{np.count_nonzero(wrong)} time steps are not {1e3 * typical:.4g} ms, the first beyond mending"
            f" {1e3 * factor * steps[first]:.4g} ms at sample {first + 1} (dropped samples)"
        )
        return None
    number = np.concatenate([[0], np.cumsum(counts)])
    # line through stamps against numbers: scatter averages out
    interval, start = np.polyfit(number, since, 1)
    # a rate is set in round numbers
    round_ = float(f"{interval:.2g}")
    if abs(interval / round_ - 1.0) < _NOMINAL:
        interval, start = round_, float(np.mean(since - round_ * number))
    off = since - (start + interval * number)
    if coarse and np.abs(off).max() > _FARTHEST * interval:
        problems.append(f"time stamps are up to {1e3 * np.abs(off).max():.3g} ms from even steps")
        return None
    return _placed(number, since - start, off, float(interval), position)


def _assumed(position: np.ndarray, note: str) -> Even:
    return Even(SAMPLE_INTERVAL * np.arange(len(position)), position, (note,))


def _counts(steps: np.ndarray, typical: float) -> np.ndarray:
    """How many intervals each step (n,) spans; a late stamp's long step and the short one behind it
    span one each.
    """
    counts = np.rint(steps / typical).astype(int)
    # a late stamp makes its step long and the next one short
    for k in np.flatnonzero(counts[:-1] != 1):
        if abs(steps[k] + steps[k + 1] - 2.0 * typical) < 0.5 * typical:
            counts[k : k + 2] = 1
    return counts


def _placed(
    number: np.ndarray, since: np.ndarray, off: np.ndarray, interval: float, position: np.ndarray
) -> Even:
    """Samples at every step, from samples that were taken at steps ``number``, or when the stamps
    say.
    """
    grid = np.arange(number[-1] + 1)
    missing = len(grid) - len(number)
    notes = [f"{_samples(missing, 'missing')} bridged"] if missing else []
    scatter = float(np.sqrt(np.mean(off**2)))
    # a missing sample is bridged by a spline
    even = CubicSpline(number, position)(grid) if missing else position
    if np.abs(off).max() > EVEN:
        told = (
            f"time stamps scatter by {1e6 * scatter:.3g} us about steps of {1e3 * interval:.4g} ms"
        )
        # stamps that stand still can't be interpolated at
        at_stamps = (
            CubicSpline(since, position)(interval * grid) if (np.diff(since) > 0.0).all() else None
        )
        # taken at the stamps only if that is clearly smoother
        if at_stamps is not None and _roughness(at_stamps) < _SMOOTHER * _roughness(even):
            even = at_stamps
            notes.insert(0, f"{told}: resampled to even ones")
        else:
            notes.insert(0, f"{told}: taken as even")
    return Even(interval * np.arange(len(grid)), even, tuple(notes))


def _roughness(position: np.ndarray) -> float:
    # third differences: a smooth motion has next to none
    return float((np.diff(position, 3, axis=0)[1:-1] ** 2).sum())
