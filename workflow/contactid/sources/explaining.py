"""Conventions as physics tell them: an answer under the stated one, or a refusal that names the one
which explains the data, or that the answer's own misfit refutes it.

A study ranks conventions by a cheap fit; the likeliest ones are fitted whole, and held against the
stated one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.sources.conventions import Convention

# misfit per degree of freedom, up to which no other convention is tried: noise 1.4 times what is
# stated
FINE = 2.0
# the same, from which on down no further one is tried
SURE = 1.5
# the same, from which on there is no answer
REFUTED = 10.0
# the same, up to which a convention is named where the stated one gives no answer: few frames that
# tell nothing are fitted by some convention, too, but not as well as by their noise
_PLAIN = 4.0
# of the stated convention's misfit: what explains data has less
_BETTER = 0.5
# times the least misfit: chi-square doesn't tell these apart
_AS_GOOD = 1.2
# standard errors between answers that are one
_AGREE = 2.0
# conventions that are fitted whole, which takes as long as the command itself
_MOST_TRIED = 3

Result = TypeVar("Result")


class Refuted(ContactIdError):
    """No answer, from a fit whose ``misfit`` per degree of freedom is known."""

    def __init__(self, problem: str, remedy: str, misfit: float) -> None:
        super().__init__(problem, remedy)
        self.misfit = misfit


def refuted_by_misfit(name: str, squares: float, degrees: int, more: str = "") -> Refuted:
    """No answer, as its own squared residuals (in units of their noise) are far too many; ``more``
    is what else there is to say of it.
    """
    return Refuted(
        f"{name}: the answer is refuted by its own misfit (chi-square {_thousands(squares)}, expected "
        f"{_thousands(degrees)}){more}",
        "Correct what is described, or the noise",
        squares / degrees,
    )


@dataclass(frozen=True)
class Judged(Generic[Result]):
    """An answer under a convention, and how well it explains the data.

    Attributes
    ----------
    answer : what the command goes on with
    squares, degrees : squared residuals in units of their noise, and degrees of freedom
    values, errors : (n,) the numbers that the answer is about, and their standard errors
    rows : that are averaged to one value. Their noise may be one: a real sensor's isn't white, and
        then an average is no better than a row.
    own_misfit : per degree, of the answer, where it is by a part of the data alone; ``squares`` are
        of all
    odd : few objects are like that, so other conventions are tried, whatever the misfit
    """

    answer: Result
    squares: float
    degrees: int
    values: np.ndarray
    errors: np.ndarray
    rows: int = 1
    own_misfit: float | None = None
    odd: bool = False

    @property
    def misfit(self) -> float:
        """Per degree of freedom, by the noise of a row."""
        return self.squares / max(self.degrees, 1) / self.rows


def explained(
    name: str,
    stated: Convention,
    attempt: Callable[[Convention], Judged[Result]],
    likelier: Callable[[], Iterable[Convention]],
) -> tuple[Result, list[str]]:
    """The answer under the stated convention, with warnings, unless only another explains the data.

    Parameters
    ----------
    name : of the recording
    attempt : the whole fit under a convention; raises :class:`ContactIdError` where there is no
        answer
    likelier : conventions that a cheap fit prefers to the stated one, likeliest first; asked only
        where that one fails

    Raises
    ------
    ContactIdError
        Naming the convention that explains the data, with the option that states it; that of
        ``attempt``; or that the answer is refuted by its own misfit.
    """
    refusal: ContactIdError | None = None
    own = None
    try:
        own = attempt(stated)
    except Refuted as error:
        # the data are explained: what is wrong is no convention
        if error.misfit <= FINE:
            raise
        refusal = error
    except ContactIdError as error:
        refusal = error
    if own is not None and own.misfit <= FINE and not own.odd:
        return own.answer, []
    others = _answers(attempt, likelier())
    least = min((judged.misfit for _, judged in others), default=np.inf)
    explains_more = least <= _PLAIN
    if own is not None:
        explains_more = least <= REFUTED and least < _BETTER * own.misfit
    if explains_more:
        as_good = [pair for pair in others if pair[1].misfit <= _AS_GOOD * least]
        # of answers that fit alike, one that few objects are like is named last
        raise _named(name, stated, own, sorted(as_good, key=lambda pair: pair[1].odd))
    if own is None:
        assert refusal is not None
        raise refusal
    misfit = own.misfit if own.own_misfit is None else own.own_misfit
    if misfit > REFUTED:
        tried = ", and no other convention of units, axes or signs explains the data"
        raise refuted_by_misfit(name, own.squares, own.degrees, tried)
    return own.answer, _ambiguous(stated, own, others)


def _answers(
    attempt: Callable[[Convention], Judged[Result]], conventions: Iterable[Convention]
) -> list[tuple[Convention, Judged[Result]]]:
    answers = []
    for convention in islice(conventions, _MOST_TRIED):
        # one that has no answer explains nothing
        with suppress(ContactIdError):
            judged = attempt(convention)
            answers.append((convention, judged))
            # a whole fit is dear, and none of the rest could explain more
            if judged.misfit <= SURE and not judged.odd:
                break
    return answers


def _named(
    name: str,
    stated: Convention,
    own: Judged[Any] | None,
    others: Sequence[tuple[Convention, Judged[Any]]],
) -> ContactIdError:
    best, judged = others[0]
    compared = "where what is stated gives no answer"
    if own:
        compared = f"instead of {_thousands(own.squares)}"
    expected = _thousands(judged.degrees)
    fit = f"chi-square {_thousands(judged.squares)} {compared}, expected {expected}"
    also = "".join(f"; or {other.words(stated)} ({other.options()})" for other, _ in others[1:])
    return ContactIdError(f"{name}: {best.words(stated)}: {fit}{also}", f"Give {best.options()}")


def _ambiguous(
    stated: Convention, own: Judged[Any], others: Sequence[tuple[Convention, Judged[Any]]]
) -> list[str]:
    """A warning of each convention that explains the data as well with another answer."""
    warnings = []
    for convention, other in others:
        error = np.hypot(other.errors, own.errors)
        distance = np.abs(other.values - own.values) / error
        # a convention that its own misfit refutes explains nothing
        as_good = other.misfit <= min(_AS_GOOD * own.misfit, REFUTED)
        if as_good and np.nanmax(distance) > _AGREE:
            fits = f"chi-square {_thousands(other.squares)}, as stated {_thousands(own.squares)}"
            warnings.append(
                f"The data don't tell whether {convention.words(stated)} ({fits}): "
                f"the answer would then be another ({convention.options()})."
            )
    return warnings


def _thousands(value: float) -> str:
    return f"{value:,.0f}"
