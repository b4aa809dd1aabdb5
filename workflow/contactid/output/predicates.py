"""What papers' statements ask of numbers: predicates with thresholds, and wrong answers by rule.

A ledger of claims names one for each statement (:mod:`contactid.output.ledger`). Float fields of a
predicate are its thresholds: numbers that the paper's words don't state, so that no verdict may
hang on a fifth of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from contactid.output.verdicts import MOVES

Numbers = Sequence[float]
Pairs = Sequence[Numbers]


@dataclass(frozen=True)
class Predicate:
    """A statement holds where all of its cases are as stated."""

    def cases(self, given: Any) -> Sequence[bool]:
        """Whether each case is as stated."""
        raise NotImplementedError

    def holds(self, given: Any) -> bool:
        """Whether the statement holds; of no case it doesn't."""
        cases = list(self.cases(given))
        return bool(cases) and all(cases)

    def opposites(self, given: Any) -> Mapping[str, Any]:
        """What the opposite would give, by the rule's name; none where a naive answer must say."""
        return {}

    def moved(self) -> dict[str, Predicate]:
        """The predicate with each threshold a fifth lower and higher."""
        moved: dict[str, Predicate] = {}
        for field in fields(self):
            threshold = getattr(self, field.name)
            # a whole number is a count, which the paper's words state
            if isinstance(threshold, float):
                for move in MOVES:
                    changed = {field.name: move * threshold}
                    moved[f"{field.name}*{move:g}"] = replace(self, **changed)
        return moved


@dataclass(frozen=True)
class _OfTwoRows(Predicate):
    """What is asked of two rows of numbers in their order."""

    def opposites(self, given: Pairs) -> dict[str, Any]:
        """The rows exchanged, and no difference between them."""
        first, other = given
        return {"exchanged": (other, first), "no difference": (other, other)}


@dataclass(frozen=True)
class Smaller(_OfTwoRows):
    """The first of two rows of numbers is the smaller one, in more than a share of the pairs.

    Given are the two rows. A number that is smaller by less than ``margin`` is the same; ``most``
    is the share of cases that must be exceeded.
    """

    margin: float = 0.05
    most: float = 0.5

    def cases(self, given: Pairs) -> list[bool]:
        """Where the first is smaller; pairs of two infinite numbers are left out."""
        first, other = (np.asarray(row, dtype=float) for row in given)
        finite = np.isfinite(first) | np.isfinite(other)
        smaller = first[finite] < (1.0 - self.margin) * other[finite]
        return smaller.tolist()

    def holds(self, given: Pairs) -> bool:
        """Whether more than ``most`` of the cases are so."""
        cases = self.cases(given)
        return bool(sum(cases) > self.most * len(cases))


@dataclass(frozen=True)
class AllAbove(_OfTwoRows):
    """Every number of the first row is ``times`` as large as every number of the second, or larger."""

    times: float = 1.0

    def cases(self, given: Pairs) -> list[bool]:
        """Of the first row's numbers, which are above all of the second."""
        first, other = (np.asarray(row, dtype=float) for row in given)
        return list(first > self.times * other.max())


@dataclass(frozen=True)
class Within(Predicate):
    """No number's magnitude is above a limit."""

    limit: float

    def cases(self, given: Numbers) -> list[bool]:
        """Which numbers are within it."""
        return list(np.abs(np.asarray(given, dtype=float)) <= self.limit)


@dataclass(frozen=True)
class Beyond(Predicate):
    """Every number is above a limit."""

    limit: float

    def cases(self, given: Numbers) -> list[bool]:
        """Which numbers are above it."""
        return list(np.asarray(given, dtype=float) > self.limit)


@dataclass(frozen=True)
class Below(Within):
    """As :class:`Within`, with numbers on the limit's other side as its wrong answers."""

    def opposites(self, given: Numbers) -> dict[str, Any]:
        """Numbers as many times the limit as it is theirs, and twice the limit.

        Where the statement doesn't hold, only the numbers change that speak against it.
        """
        numbers = np.abs(np.asarray(given, dtype=float))
        # the mirror image on a logarithmic scale; that of zero is infinite
        with np.errstate(divide="ignore"):
            other = self.limit**2 / numbers
        changed = np.array(self.cases(given)) & (not self.holds(given))
        return {
            "other side of the limit": np.where(changed, numbers, other),
            "twice the limit": np.full(len(numbers), 2.0 * self.limit),
        }


@dataclass(frozen=True)
class Above(Beyond):
    """As :class:`Beyond`, with numbers on the limit's other side as its wrong answers."""

    def opposites(self, given: Numbers) -> dict[str, Any]:
        """Numbers as far on the limit's other side, and zero.

        Where the statement doesn't hold, only the numbers change that speak against it.
        """
        numbers = np.asarray(given, dtype=float)
        changed = np.array(self.cases(given)) & (not self.holds(given))
        other = np.where(changed, numbers, 2.0 * self.limit - numbers)
        return {"other side of the limit": other, "zero": np.zeros(len(numbers))}


@dataclass(frozen=True)
class All(Predicate):
    """Every case is so; given are truth values."""

    def cases(self, given: Sequence[bool]) -> list[bool]:
        """The cases themselves."""
        return [bool(case) for case in given]

    def opposites(self, given: Sequence[bool]) -> dict[str, Any]:
        """Each case the other way."""
        return {"exchanged": [not case for case in given]}


@dataclass(frozen=True)
class Rises(Predicate):
    """Every number is above the one before."""

    def cases(self, given: Numbers) -> list[bool]:
        """Which steps go up."""
        return list(np.diff(np.asarray(given, dtype=float)) > 0.0)

    def opposites(self, given: Numbers) -> dict[str, Any]:
        """The numbers in reverse, and none that changes."""
        return {"reversed": list(given)[::-1], "no difference": [given[0]] * len(given)}


@dataclass(frozen=True)
class Falls(Rises):
    """Every number is below the one before."""

    def cases(self, given: Numbers) -> list[bool]:
        """Which steps go down."""
        return list(np.diff(np.asarray(given, dtype=float)) < 0.0)


@dataclass(frozen=True)
class TrendFalls(Predicate):
    """The second of pairs falls as the first rises, more than chance lets it.

    By Kendall's tau, one-sided.
    """

    # the customary level of a test; where a fifth of it decides, there is no verdict
    chance: float = 0.05

    def cases(self, given: Pairs) -> list[bool]:
        """One: the trend."""
        # takes long to import, and most studies' statements need none
        from scipy.stats import kendalltau

        first, second = np.transpose(given)
        return [bool(kendalltau(first, second, alternative="less").pvalue < self.chance)]

    def opposites(self, given: Pairs) -> dict[str, Any]:
        """The second numbers turned round, and in an order that has no trend."""
        first, second = np.transpose(given)
        # one shuffle, always the same: a verdict must not change from run to run
        shuffled = np.random.default_rng(1).permutation(second)
        return {
            "reversed": list(zip(first, -second, strict=True)),
            "shuffled": list(zip(first, shuffled, strict=True)),
        }


@dataclass(frozen=True)
class TrendsFall(Predicate):
    """Each of several trends falls; given are rows of pairs."""

    chance: float = 0.05

    def cases(self, given: Sequence[Pairs]) -> list[bool]:
        """Each trend."""
        one_trend = TrendFalls(self.chance)
        return [one_trend.holds(pairs) for pairs in given]

    def opposites(self, given: Sequence[Pairs]) -> dict[str, Any]:
        """Those of each trend."""
        one_trend = TrendFalls(self.chance)
        by_trend = [one_trend.opposites(pairs) for pairs in given]
        return {name: [opposites[name] for opposites in by_trend] for name in by_trend[0]}


@dataclass(frozen=True)
class Some(All):
    """At least one case is so; given are truth values."""

    def holds(self, given: Sequence[bool]) -> bool:
        """Whether one is."""
        return any(self.cases(given))

    def opposites(self, given: Sequence[bool]) -> dict[str, Any]:
        """None of them."""
        return {"none": [False] * len(given)}


@dataclass(frozen=True)
class MostBelow(Predicate):
    """More than ``most`` of the numbers are below a limit."""

    limit: float
    most: float = 0.5

    def cases(self, given: Numbers) -> list[bool]:
        """Which numbers are below it."""
        return list(np.asarray(given, dtype=float) < self.limit)

    def holds(self, given: Numbers) -> bool:
        """Whether more than ``most`` of them are."""
        return sum(self.cases(given)) > self.most * len(given)


@dataclass(frozen=True)
class InEachReading(Predicate):
    """Every case is so, however print is read where it leaves something out (a sign).

    Given are the numbers in each reading; what isn't print has one. A case that another reading
    answers otherwise isn't counted, and none is where the statement as a whole hangs on the
    reading.
    """

    def answers(self, reading: Any) -> Sequence[bool | None]:
        """Whether each case of one reading is so; None where nothing can be compared."""
        raise NotImplementedError

    def others(self, reading: Any) -> Mapping[str, Any]:
        """Wrong answers by a rule, in one reading."""
        raise NotImplementedError

    def enough(self, cases: Sequence[bool]) -> bool:
        """Whether the statement holds of these cases."""
        return bool(cases) and all(cases)

    def cases(self, given: Sequence[Any]) -> list[bool]:
        """The cases that are the same in each reading."""
        readings = [self.answers(reading) for reading in given]
        steady = []
        for answer, *others in zip(*readings, strict=True):
            if answer is not None and all(other == answer for other in others):
                steady.append(answer)
        verdicts = {self.enough(steady)}
        for answers in readings:
            verdicts.add(self.enough([answer for answer in answers if answer is not None]))
        # where one reading as a whole says otherwise, print doesn't say what it states
        return steady if len(verdicts) == 1 else []

    def holds(self, given: Sequence[Any]) -> bool:
        """Whether enough of them are so."""
        return self.enough(self.cases(given))

    def opposites(self, given: Sequence[Any]) -> dict[str, Any]:
        """The same wrong answers in each reading."""
        by_reading = [self.others(reading) for reading in given]
        return {name: [others[name] for others in by_reading] for name in by_reading[0]}
