"""The in-hand paper's statements as functions of what they are about, each beside a counterexample that it refuses."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from contactid.core.inertia import consistency
from contactid.inhand.artefacts.printed import SIGNS, printed_body
from contactid.inhand.identify.methods import PARAMETER_COLUMNS
from contactid.output.comparison import Reproduced, statement

SAME = 0.05  # an error that is smaller by less than this share is the same
_SIMILAR = 2.0  # a ratio of at least this, or at most its inverse, is no similar number


class Statement(NamedTuple):
    """What a statement asks of what it is about, and what it must refuse."""

    holds: Callable[[Any], bool]
    counterexample: Any

    def of(self, given: Any, basis: str, data: str = "", note: str = "") -> Reproduced:
        """Whether it holds."""
        return statement(self.holds, given, self.counterexample, basis, data, note)


def nearer(errors: Sequence[Any]) -> bool:
    """Whether the first of two rows of errors is the smaller one in more than half of the pairs that have an error."""
    wins, _, pairs = counted_pairs(errors)
    return 2 * wins > pairs


def counted_pairs(errors: Sequence[Any]) -> tuple[int, int, int]:
    """In how many pairs the first error is smaller, in how many larger, and how many aren't both infinite."""
    first, other = (np.asarray(row, dtype=float) for row in errors)
    known = np.isfinite(first) | np.isfinite(other)
    first, other = first[known], other[known]
    wins, losses = first < (1.0 - SAME) * other, other < (1.0 - SAME) * first
    return int(wins.sum()), int(losses.sum()), int(known.sum())


def prior_changes_less(errors: Sequence[Any]) -> bool:
    """Whether the constraint lowers an error noticeably, and a prior besides changes it by less.

    ``errors``: without constraint, with it, and with both.
    """
    free, constrained, both = errors
    changed = 0.0 if both == constrained else abs(both - constrained)
    return bool(constrained < (1.0 - SAME) * free and free - constrained > changed)


def no_exception(errors: Sequence[Any]) -> bool:
    """Whether the first error, of one object, is finite and not above the largest of the others."""
    one, others = errors
    return bool(np.isfinite(one) and one <= np.max(others))


def of_the_same_size(ratios: Any) -> bool:
    """Whether all numbers lie between half and twice the truth; given are the ratios."""
    ratios = np.asarray(ratios, dtype=float)
    return bool(np.all((ratios > 1.0 / _SIMILAR) & (ratios < _SIMILAR)))


def far_worse(errors: Sequence[Any]) -> bool:
    """Whether the first error is more than ten times each of the others."""
    one, others = errors
    return bool(one > 10.0 * np.max(others))


def spoilt_without_filter(errors: Sequence[Any]) -> bool:
    """Whether the error keeps at least half of its size (the first) where nothing is filtered (the second)."""
    filtered, unfiltered = errors
    return bool(unfiltered >= 0.5 * filtered)


def none_is_a_body(bodies: Any) -> bool:
    """Whether no estimate converged to numbers that a body can have."""
    return not np.any(bodies)


def some_are_no_body(bodies: Any) -> bool:
    """Whether at least one estimate isn't a body's."""
    return not np.all(bodies)


def first_all_above(errors: Sequence[Any]) -> bool:
    """Whether each of the first errors is larger than each of the second ones."""
    one, others = errors
    return bool(np.min(one) > np.max(others))


def mostly(share: Any) -> bool:
    """More than half."""
    return bool(share > 0.5)


def same_in_every_unit(distances: Any) -> bool:
    """Whether two distances in different units agree to 1e-9."""
    one, other = distances
    return bool(abs(one - other) <= 1e-9 * abs(one))


def a_body_can_have(row: Mapping[Any, Any]) -> bool:
    """Whether a printed row's P about the origin is positive definite with either sign of its off-diagonals."""
    return any(consistency(printed_body(row, off_diagonals)).positive_definite for off_diagonals in SIGNS)


NEARER = Statement(nearer, ((1.0, 1.0, 2.0), (1.0, 1.0, 2.0)))
PRIOR_CHANGES_LESS = Statement(prior_changes_less, (1.0, 0.9, 0.5))
NO_EXCEPTION = Statement(no_exception, (2.0, (1.0, 1.5)))
OF_THE_SAME_SIZE = Statement(of_the_same_size, (1.0, 1.0, 0.5))
FAR_WORSE = Statement(far_worse, (0.5, (0.1, 0.2)))
SPOILT_WITHOUT_FILTER = Statement(spoilt_without_filter, (1.0, 0.1))
NONE_IS_A_BODY = Statement(none_is_a_body, (False, True))
SOME_ARE_NO_BODY = Statement(some_are_no_body, (True, True))
FIRST_ALL_ABOVE = Statement(first_all_above, ((0.1, 0.02), (0.01, 0.03)))
MOSTLY = Statement(mostly, 0.5)
SAME_IN_EVERY_UNIT = Statement(same_in_every_unit, (1.0, 1.001))
#: Principal moments of 3, 1 and 1 break the triangle inequality about the centre of mass, which is the origin here.
A_BODY_CAN_HAVE = Statement(
    a_body_can_have,
    dict(zip(PARAMETER_COLUMNS, (1.0, 0.0, 0.0, 0.0, 3.0, 1.0, 1.0, 0.0, 0.0, 0.0), strict=True)),
)
STATEMENTS = (
    NEARER, PRIOR_CHANGES_LESS, NO_EXCEPTION, OF_THE_SAME_SIZE, FAR_WORSE, SPOILT_WITHOUT_FILTER, NONE_IS_A_BODY,
    SOME_ARE_NO_BODY, FIRST_ALL_ABOVE, MOSTLY, SAME_IN_EVERY_UNIT, A_BODY_CAN_HAVE,
)  # fmt: skip
