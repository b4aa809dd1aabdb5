"""What the planar paper says without a number: each statement as a function, with a counterexample that it refuses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import kendalltau

_SEEN = 0.05  # s, of figure 12's one second: a constant part that is shorter can't be seen
_MARK = 0.05  # of friction: half a step of figure 19's frictions
_CHANCE = 0.05  # probability with which numbers in random order look like a trend
_LITERATURE = (0.25, 0.5)  # friction of wood on wood, as section 6.2 quotes it


def converges(order: tuple[float, float]) -> bool:
    """Whether an error falls with the time step: its order is above 0 by two standard errors."""
    return order[0] > 2.0 * order[1]


def has_no_limit(order: tuple[float, float]) -> bool:
    """Whether an error doesn't fall with the time step."""
    return bool(np.isfinite(order).all()) and not converges(order)


WITHOUT_LIMIT, WITH_LIMIT = (0.09, 0.10), (1.0, 0.02)  # orders and their standard errors


def in_one_instant(counts: Sequence[int]) -> bool:
    """Whether an impact's impulse acts in a single instant, at every time step."""
    return set(counts) == {1}


def in_two_instants(counts: Sequence[int]) -> bool:
    """Whether it is split over two instants, at every time step."""
    return set(counts) == {2}


SPLIT_ONCE = (1, 2, 1)  # instants at three time steps


def nearer_together(peaks: tuple[Sequence[float], Sequence[float]]) -> bool:
    """Whether the first peaks differ less than a tenth of what the second do, over the same time steps."""
    return bool(np.ptp(peaks[0]) < 0.1 * np.ptp(peaks[1]))


SCATTERED = ((63.6, 83.4, 70.7), (63.6, 83.4, 70.7))  # N s


def rises(values: Sequence[float]) -> bool:
    """Whether every number is above the one before."""
    return len(values) > 1 and bool((np.diff(values) > 0.0).all())


def falls(values: Sequence[float]) -> bool:
    """Whether every number is below the one before."""
    return len(values) > 1 and bool((np.diff(values) < 0.0).all())


FALLING_ONCE, RISING_ONCE = (1.0, 3.0, 2.0, 4.0), (4.0, 2.0, 3.0, 1.0)


def never_rises(values: Sequence[float]) -> bool:
    """Whether no number is above the one before, and the last is below the first."""
    return bool((np.diff(values) <= 0.0).all() and values[-1] < values[0])


def without_pause(stretches: Sequence[float]) -> bool:
    """Whether no motion has a stretch of time (s) that the eye would see without a loss of energy."""
    return max(stretches) < _SEEN


def with_pause(stretches: Sequence[float]) -> bool:
    """Whether every motion has such a stretch."""
    return min(stretches) >= _SEEN


ONE_PAUSE = (0.0, 0.45)  # s


def trend_falls(pairs: Sequence[tuple[float, float]]) -> bool:
    """Whether the second of the pairs falls as the first rises, more than chance lets it (Kendall's tau)."""
    first, second = np.transpose(pairs)
    return bool(kendalltau(first, second, alternative="less").pvalue < _CHANCE)


WITHOUT_TREND = ((30.0, 4.0), (60.0, 1.0), (120.0, 3.0), (200.0, 2.0), (240.0, 5.0))


def follows_truth(pairs: Sequence[tuple[float, float]]) -> bool:
    """Whether found frictions, the second of the pairs, are the true ones."""
    return len(pairs) > 1 and all(abs(found - true) < _MARK for true, found in pairs)


ALWAYS_THE_SAME = ((0.2, 0.35), (0.3, 0.35), (0.4, 0.35), (0.5, 0.35))


def stays_at_least(found: tuple[float, Sequence[float]]) -> bool:
    """Whether all found frictions, the second entry, are the least that rolling needs, the first."""
    return len(found[1]) > 0 and all(abs(one - found[0]) < _MARK for one in found[1])


FOLLOWING_ON = (0.57, (0.6, 0.7, 0.8, 0.9))


def within_literature(friction_mu: float) -> bool:
    """Whether a friction lies in the range that section 6.2 quotes for wood on wood."""
    return _LITERATURE[0] <= friction_mu <= _LITERATURE[1]


SLIPPERY = 0.1
