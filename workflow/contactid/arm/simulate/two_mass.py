"""Models A, B and C of section IV: one impact of a robot with an environment at three levels of abstraction.

* A: compliant contact (Hunt and Crossley, eq. 6), flexible robot.
* B: hard contact, inelastic, flexible robot.
* C: hard contact, inelastic, rigid robot.

Flight is exact in all of them, and so is the closed contact of B and C; the compliant one is integrated
(:mod:`contactid.arm.simulate.two_mass_phases`).

A hard contact opens where its force would become tensile, and may close again by another inelastic impact: the paper
doesn't say so, but in model B with Table I the spring pulls m1 off 32 ms after the impact.

Where the force only just touches zero, contact opens and closes again within an ever shorter time, and a loop over
events would never end. A guard holds the contact closed through a tensile force that is shorter than 10 us and records
that it did (``grazing_guard``); a closing slower than 1 nm/s is recorded likewise. Both leave the bodies with one
velocity, by the same momentum balance as an impact.

Source: Aouaj, Padois, Saccon, ICRA 2021, section IV.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from contactid.arm.simulate.two_mass_phases import (
    APART,
    GAP,
    GAP_RATE,
    RIGID_APART,
    RIGID_TOUCHING,
    SIZE,
    TOUCHING,
    CompliantPhase,
    Groups,
    LinearPhase,
    TwoMass,
    integrate_contact,
)
from contactid.core.errors import ContactIdError

COMPLIANT, FLEXIBLE, RIGID = "A", "B", "C"
MODELS = (COMPLIANT, FLEXIBLE, RIGID)
IMPACT, SEPARATION, RE_IMPACT, GRAZING = "impact", "separation", "re_impact", "grazing_guard"
TABLE_I = "table_1"  # name of the setting that the paper prints
EARLY = 0.01  # s; longest duration of an impact that the paper's section II names
COMPARED = 0.1  # s after the impact, over which model A is compared with B
SETTLED = 0.02  # of the rigid velocity
_GAP_ROW = np.append(GAP, 0.0)
_SHORTEST_OPENING = 1e-5  # s; a tensile hard contact that would last less stays closed
_SLOWEST_IMPACT = 1e-9  # m/s; a slower closing is recorded as guarded
_MOST_EVENTS = 500  # of a motion
Phase = LinearPhase | CompliantPhase


@dataclass(frozen=True)
class Event:
    """A change of contact.

    Attributes
    ----------
    kind : ``impact`` (the first), ``separation``, ``re_impact`` or ``grazing_guard``
    time : s
    gap_rate : rate of the gap right before, m/s
    """

    kind: str
    time: float
    gap_rate: float


@dataclass(frozen=True)
class TwoMassMotion:
    """A simulated motion.

    Attributes
    ----------
    model : ``A``, ``B`` or ``C``
    system : its parameters
    phases : one after the other, the last one lasting to ``duration``
    events : in the order of time
    duration : s
    """

    model: str
    system: TwoMass
    phases: tuple[Phase, ...]
    events: tuple[Event, ...]
    duration: float

    def states(self, times: np.ndarray, *, before: bool = False) -> np.ndarray:
        """(n, 6) states (x0, x1, x2, v0, v1, v2) at (n,) times within the motion, m and m/s.

        At an event's own time velocities after it, or ``before`` it.
        """
        times = np.asarray(times, dtype=float)
        if len(times) and not (times.min() >= 0.0 and times.max() <= self.duration):
            raise ContactIdError(
                f"two-mass model {self.model}: asked for {times.min():g} to {times.max():g} s",
                f"The motion is from 0 to {self.duration:g} s",
            )
        starts = np.array([phase.start for phase in self.phases])
        owner = np.maximum(np.searchsorted(starts, times, side="left" if before else "right") - 1, 0)
        found = np.zeros((len(times), SIZE))
        for k in np.unique(owner):
            found[owner == k] = self.phases[k].states(times[owner == k])
        return found

    @property
    def impact_time(self) -> float:
        """Of the first impact, s.

        Raises
        ------
        ContactIdError
            Where the bodies don't meet within the duration.
        """
        for event in self.events:
            if event.kind == IMPACT:
                return event.time
        raise ContactIdError(
            f"two-mass model {self.model}: no impact within {self.duration:g} s", "Simulate longer, or push harder"
        )

    def times_of(self, kind: str) -> np.ndarray:
        """(n,) times of all events of a kind, s."""
        return np.array([event.time for event in self.events if event.kind == kind])


def simulate(system: TwoMass, model: str, duration: float) -> TwoMassMotion:
    """Simulate model ``A``, ``B`` or ``C`` from rest for ``duration`` s.

    B and C ignore the parameters of eq. 6, C also those of the coupling.

    Raises
    ------
    ContactIdError
        For a motion with too many events.
    """
    run = _Run(system, model, duration)
    run.fly(0.0, system.start)
    return TwoMassMotion(model, system, tuple(run.phases), tuple(run.events), duration)


class _Run:
    """The loop over events: flight and contact follow one another until the motion ends."""

    def __init__(self, system: TwoMass, model: str, duration: float) -> None:
        self.system, self.model, self.duration = system, model, duration
        self.phases: list[Phase] = []
        self.events: list[Event] = []
        self.touch: Callable[[float, np.ndarray], tuple[float, np.ndarray] | None]
        self.touch = self._compliant if model == COMPLIANT else self._hard

    def fly(self, time: float, state: np.ndarray) -> None:
        """Flight from a state, and all that follows."""
        # a hard contact opens with neither speed nor acceleration, and rounding decides the gap's sign at first
        unseen = 0.0 if self.model == COMPLIANT else _SHORTEST_OPENING
        groups = RIGID_APART if self.model == RIGID else APART
        opened: tuple[float, np.ndarray] | None = (time, state)
        while opened is not None:
            flight = LinearPhase(self.system, groups, *opened)
            self.phases.append(flight)
            closing = flight.falls(_GAP_ROW, self.duration, unseen=unseen)
            if closing is None:
                return
            state = _closed(flight.states(np.array([closing]))[0])
            self._record(self._closing_kind(state), closing, state)
            opened = self.touch(closing, state)

    def _closing_kind(self, state: np.ndarray) -> str:
        if not any(event.kind == IMPACT for event in self.events):
            return IMPACT
        return RE_IMPACT if -GAP_RATE @ state > _SLOWEST_IMPACT else GRAZING

    def _compliant(self, time: float, state: np.ndarray) -> tuple[float, np.ndarray] | None:
        """Contact by eq. 6 until it opens: the time and state then, or None at the motion's end."""
        phase = integrate_contact(self.system, time, state, self.duration)
        self.phases.append(phase)
        return self._opened(phase, phase.end) if phase.opened else None

    def _hard(self, time: float, state: np.ndarray) -> tuple[float, np.ndarray] | None:
        """An inelastic impact and the contact after it, until its force becomes tensile."""
        groups = RIGID_TOUCHING if self.model == RIGID else TOUCHING
        state = _with_common_velocities(self.system, groups, state)
        while True:
            phase = LinearPhase(self.system, groups, time, state)
            self.phases.append(phase)
            pushes = float(phase.force_row @ np.append(state, 1.0)) >= 0.0
            opening = phase.falls(phase.force_row, self.duration) if pushes else time
            if opening is None:
                return None
            resumed = opening + _SHORTEST_OPENING
            if resumed >= self.duration or phase.contact_force(np.array([resumed]))[0] < 0.0:
                return self._opened(phase, opening)
            state = phase.states(np.array([opening]))[0]
            self._record(GRAZING, opening, state)
            time, state = resumed, phase.states(np.array([resumed]))[0]

    def _opened(self, phase: Phase, time: float) -> tuple[float, np.ndarray]:
        state = _closed(phase.states(np.array([time]))[0])
        self._record(SEPARATION, time, state)
        return time, state

    def _record(self, kind: str, time: float, state: np.ndarray) -> None:
        if len(self.events) >= _MOST_EVENTS:
            raise ContactIdError(
                f"two-mass model {self.model}: more than {_MOST_EVENTS} contact events by t = {time:.9g} s",
                "Change d_rob slightly",
            )
        self.events.append(Event(kind, time, float(GAP_RATE @ state)))


def _closed(state: np.ndarray) -> np.ndarray:
    """The same state with a gap of exactly zero."""
    closed = state.copy()
    closed[1] = closed[0]
    return closed


def _with_common_velocities(system: TwoMass, groups: Groups, state: np.ndarray) -> np.ndarray:
    """The state after an inelastic impact: each group keeps its momentum (eqs. 3 and 4)."""
    after = state.copy()
    for group in groups:
        bodies = list(group)
        masses = system.masses[bodies]
        after[3 + np.array(bodies)] = masses @ state[3 + np.array(bodies)] / masses.sum()
    return after
