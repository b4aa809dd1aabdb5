"""How sure a difference between two simulators is: a paired bootstrap over the tosses that both simulated."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.core.errors import ContactIdError


@dataclass(frozen=True)
class PairedDifference:
    """Mean of ``second - first`` over tosses, with its 95 % percentile bootstrap interval.

    Attributes
    ----------
    n : tosses
    first, second : mean losses
    difference : second - first; negative where the second simulator is better
    low, high : the interval
    """

    n: int
    first: float
    second: float
    difference: float
    low: float
    high: float

    @property
    def decided(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0.0 or self.high < 0.0


def paired_difference(
    first: np.ndarray, second: np.ndarray, *, seed: int, samples: int = 10_000, keep: np.ndarray | None = None
) -> PairedDifference:
    """Compare losses (t,) of the same tosses, toss by toss.

    Tosses are resampled, not losses, so that what makes a toss hard for both simulators does not widen the interval.

    Parameters
    ----------
    first, second
        Losses, row for row of the same toss.
    seed
        Of the resampling.
    samples
        Number of resamples.
    keep
        (t,) bool: tosses to compare on; all by default.

    Raises
    ------
    ContactIdError
        Where the arrays don't belong together, hold a NaN, or no toss is left.
    """
    first, second = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if first.shape != second.shape or first.ndim != 1:
        raise ContactIdError("two simulators' losses are not of the same tosses", "Evaluate both on one problem")
    if keep is not None:
        first, second = first[keep], second[keep]
    if not len(first) or not np.isfinite(first + second).all():
        raise ContactIdError("no toss to compare two simulators on, or a loss is NaN", "Give failed tosses a loss")
    difference = second - first
    n = len(difference)
    random = np.random.default_rng(seed)
    means = random.multinomial(n, np.full(n, 1.0 / n), size=samples) @ difference / n
    low, high = np.percentile(means, [2.5, 97.5])
    return PairedDifference(
        n, float(first.mean()), float(second.mean()), float(difference.mean()), float(low), float(high)
    )


def compare(
    first: np.ndarray, second: np.ndarray, tumbled: np.ndarray, *, seed: int, samples: int = 10_000
) -> dict[str, PairedDifference]:
    """:func:`paired_difference` over ``all`` tosses and over the ``non_tumbling`` ones; ``tumbled`` is (t,) bool."""
    still = ~np.asarray(tumbled, dtype=bool)
    return {
        "all": paired_difference(first, second, seed=seed, samples=samples),
        "non_tumbling": paired_difference(first, second, seed=seed, samples=samples, keep=still),
    }
