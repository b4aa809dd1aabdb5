"""Models A, B and C of section IV: one impact of a robot with an environment at three levels of
abstraction.

    m0   gap   m1 -spring, damper- m2  <- F
    x0 <-----> x1                  x2          x to the right

* A: compliant contact (Hunt and Crossley, eq. 6), flexible robot.
* B: hard contact, inelastic, flexible robot.
* C: hard contact, inelastic, rigid robot.

A state is s = (x0, x1, x2, v0, v1, v2), m and m/s. x2 is measured from a place one spring's length
to the right of x1's origin, so that x1 = x2 is the spring without strain. Deviation: the paper's
model B writes ``delta := x1 - x0``, which is the gap, after having said ``delta = -g_N``; taken
literally eq. 6 would push the bodies together over a distance. Here the gap is g = x1 - x0
everywhere, the penetration -g, and an impact is g = 0 with dg/dt < 0.

Motions are integrated in y = (g, g', r, r') with the strain r = x1 - x2; the centre of mass, which
only the push moves, follows exactly. So penetrations of some um keep their digits, and momentum is
exact by construction.

A hard contact opens where its force would become tensile, and may close again by another inelastic
impact: the paper doesn't say so, but in model B with Table I the spring pulls m1 off 32 ms after
the impact. Where the force only just touches zero, contact opens and closes again within an ever
shorter time, and a loop over events would never end. A guard holds the contact closed through a
tensile force that is shorter than 10 us and records that it did (``grazing_guard``); a closing
slower than 1 nm/s is recorded likewise.

Source: Aouaj, Padois, Saccon, "Predicting the post-impact velocity of a robotic arm via rigid
multibody models", ICRA 2021, section IV and Table I.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from contactid.core.errors import ContactIdError

COMPLIANT, FLEXIBLE, RIGID = "A", "B", "C"
MODELS = (COMPLIANT, FLEXIBLE, RIGID)
IMPACT, SEPARATION, RE_IMPACT, GRAZING = "impact", "separation", "re_impact", "grazing_guard"
TABLE_I = "table_1"  # name of the setting that the paper prints
EARLY = 0.01  # s; longest duration of an impact that the paper's section II names
COMPARED = 0.1  # s after the impact, over which model A is compared with B
SETTLED = 0.02  # of the rigid velocity
GAP = np.array([-1.0, 1.0, 0.0, 0.0, 0.0, 0.0])
_SHORTEST_OPENING = 1e-5  # s; a tensile hard contact that would last less stays closed
_SLOWEST_IMPACT = 1e-9  # m/s; a slower closing is recorded as guarded
_MOST_EVENTS = 500  # of a motion
# s, an eighth of the fastest swing of Table I, so that a step holds one dip of gap or force
_LONGEST_STEP = 1e-3
_SMOOTH = 1e-12  # relative tolerance of a step in flight and hard contact, whose motion is smooth
_COMPLIANT = 1e-10  # and of one while eq. 6 acts, which is stiff
_SCALES = np.array([1e-5, 1.0, 1e-3, 1.0])  # m, m/s, m, m/s: what is small for g, g', r, r'


@dataclass(frozen=True)
class TwoMass:
    """Parameters under the names of Table I.

    Attributes
    ----------
    m0, m1, m2 : masses of the environment, of the robot's contact side and of its sensing side, kg
    hertz_exponent_c : exponent of the penetration in eq. 6
    k_env, d_env : contact stiffness (N/m^c) and damping (N s/m^(c+1)) of eq. 6
    k_rob, d_rob : stiffness (N/m) and damping (N s/m) between m1 and m2
    initial_gap : between m0 and m1 at rest, m
    pushing_force : constant, on m2, to the left, N
    """

    m0: float
    m1: float
    m2: float
    hertz_exponent_c: float
    k_env: float
    d_env: float
    k_rob: float
    d_rob: float
    initial_gap: float
    pushing_force: float

    @property
    def masses(self) -> np.ndarray:
        """(3,) m0, m1, m2, kg."""
        return np.array([self.m0, self.m1, self.m2])

    @property
    def total_mass(self) -> float:
        """Of all three bodies, kg."""
        return self.m0 + self.m1 + self.m2

    @property
    def start(self) -> np.ndarray:
        """(6,) state at t = 0: at rest, the spring without strain, m0 at the origin."""
        return np.array([0.0, self.initial_gap, self.initial_gap, 0.0, 0.0, 0.0])

    @property
    def lost_share(self) -> float:
        """Of the gap's rate, by which a hard impact changes v1."""
        return self.m0 / (self.m0 + self.m1)


def impact_map_velocity(system: TwoMass, pre_velocity: float) -> float:
    """Common velocity after an inelastic impact of the rigid robot on m0 at rest (eq. 5 for two
    bodies on a line), m/s.

    ``pre_velocity`` is that of the robot, m1 + m2, right before, m/s.
    """
    return (system.m1 + system.m2) * pre_velocity / system.total_mass


@dataclass(frozen=True)
class Phase:
    """A stretch of motion between two changes of contact.

    Attributes
    ----------
    system, model : parameters, and ``A``, ``B`` or ``C``
    closed : whether m0 and m1 are in contact
    start, end : s
    ended : whether the contact changes at its end
    solution : y (4, n) over (n,) times, s
    """

    system: TwoMass
    model: str
    closed: bool
    start: float
    end: float
    ended: bool
    solution: Callable[[np.ndarray], np.ndarray]

    def states(self, times: np.ndarray) -> np.ndarray:
        """(n, 6) states at (n,) times, s."""
        system, y = self.system, self.solution(times)
        acceleration = -system.pushing_force / system.total_mass
        # all bodies start at rest, m1 and m2 a gap away from m0
        centre = (
            system.m1 + system.m2
        ) * system.initial_gap / system.total_mass + 0.5 * acceleration * times**2
        columns = []
        for middle, gap, strain in ((centre, y[0], y[2]), (acceleration * times, y[1], y[3])):
            # from centre of mass, gap and strain
            x1 = middle + (system.m0 * gap + system.m2 * strain) / system.total_mass
            columns += [x1 - gap, x1, x1 - strain]
        return np.column_stack(columns)

    def contact_force(self, times: np.ndarray) -> np.ndarray:
        """(n,) contact force at (n,) times, positive where the bodies push each other apart, N."""
        return _forces(self.system, self.model, self.closed, self.solution(times))[0] + np.zeros(
            len(times)
        )


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
        # the phase that holds a time; at an event the later or the earlier one
        owner = np.maximum(
            np.searchsorted(starts, times, side="left" if before else "right") - 1, 0
        )
        found = np.zeros((len(times), len(GAP)))
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
            f"two-mass model {self.model}: no impact within {self.duration:g} s",
            "Simulate longer, or push harder",
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
        For a motion with too many events, or an integration that stops.
    """
    time, closed = 0.0, False
    y = np.array([system.initial_gap, 0.0, 0.0, 0.0])
    phases: list[Phase] = []
    events: list[Event] = []
    while True:
        phase = _integrate(system, model, closed, time, y, duration)
        phases.append(phase)
        if not phase.ended:
            return TwoMassMotion(model, system, tuple(phases), tuple(events), duration)
        time, y = phase.end, phase.solution(np.array([phase.end]))[:, 0]
        # the root is found to rounding: no penetration is carried on
        y[0] = 0.0
        rate = float(y[1])
        if closed:
            # a compliant contact may open for any time
            held = None if model == COMPLIANT else _held(phase, y, duration)
            if held is not None:
                phases.append(held)
                time, y = held.end, held.solution(np.array([held.end]))[:, 0]
            kind, closed = (SEPARATION, False) if held is None else (GRAZING, True)
        else:
            closed = True
            kind = IMPACT if not events else RE_IMPACT if -rate > _SLOWEST_IMPACT else GRAZING
            # hard and inelastic: the gap's rate is gone
            if model != COMPLIANT:
                y[1] = 0.0
            if model == FLEXIBLE:
                # of the strain's two ends only m1 is hit: r' changes as v1 does
                y[3] -= system.lost_share * rate
        if len(events) >= _MOST_EVENTS:
            raise ContactIdError(
                f"two-mass model {model}: more than {_MOST_EVENTS} contact events by t = {time:.9g} s",
                "Change d_rob slightly",
            )
        events.append(Event(kind, phase.end, rate))


def _held(phase: Phase, y: np.ndarray, duration: float) -> Phase | None:
    """The contact kept closed for the shortest opening, if it pushes again by then."""
    until = phase.end + _SHORTEST_OPENING
    if until >= duration:
        return None
    held = _integrate(phase.system, phase.model, True, phase.end, y, until, watched=False)
    return held if held.contact_force(np.array([until]))[0] >= 0.0 else None


def _integrate(
    system: TwoMass,
    model: str,
    closed: bool,
    start: float,
    y: np.ndarray,
    until: float,
    *,
    watched: bool = True,
) -> Phase:
    """The motion from y (4,) to ``until``, s, or if ``watched`` to the next change of contact."""
    compliant = closed and model == COMPLIANT
    # a hard contact opens with neither speed nor acceleration, and rounding decides the gap's sign
    # at first
    unseen = start + (_SHORTEST_OPENING if not closed and model != COMPLIANT else 0.0)

    def watch(time: float, y: np.ndarray) -> float:
        """What is positive as long as the contact doesn't change."""
        if compliant:
            return -float(y[0])
        if closed:
            return float(_forces(system, model, closed, y)[0])
        return float(y[0]) if time > unseen else system.initial_gap

    def slope(time: float, y: np.ndarray) -> float:
        """Its rate, in flight and hard contact; a force's but for a factor."""
        strain_rate, bending = _rates(system, model, closed, y)[2:]
        return system.k_rob * strain_rate + system.d_rob * bending if closed else float(y[1])

    events = [_event(watch, -1.0, terminal=True)]
    if not compliant and model != RIGID:
        # lowest points of gap or force, to look for dips within a step
        events.append(_event(slope, 1.0, terminal=False))
    # a hard contact that is tensile from the start lasts no time
    if watched and closed and watch(start, y) < 0.0:
        return Phase(
            system, model, closed, start, start, True, lambda times: np.tile(y[:, None], len(times))
        )
    tolerance = _COMPLIANT if compliant else _SMOOTH
    solved: Any = solve_ivp(
        lambda _, y: _rates(system, model, closed, y), (start, until), y, "LSODA" if compliant else "DOP853",
        events=events if watched else None, dense_output=True, rtol=tolerance, atol=tolerance * _SCALES,
        max_step=np.inf if compliant else _LONGEST_STEP,
    )  # fmt: skip
    if not solved.success:
        raise ContactIdError(
            f"two-mass model {model}: the integration stops at t = {solved.t[-1]:.6g} s, {solved.message}",
            "Lower k_env or d_env",
        )
    end, ended = min(float(solved.t[-1]), until), solved.status == 1
    # a dip that both begins and ends within a step has no change of sign between its ends
    for low in solved.t_events[1] if watched and len(events) > 1 else ():
        if watch(low, solved.sol(low)) < 0.0:
            before = solved.t[np.searchsorted(solved.t, low) - 1]
            end, ended = _root(watch, solved.sol, before, low), True
            break
    return Phase(system, model, closed, start, end, ended, solved.sol)


def _event(
    function: Callable[[float, np.ndarray], float], direction: float, *, terminal: bool
) -> Any:
    event: Any = function
    event.direction, event.terminal = direction, terminal
    return event


def _root(
    watch: Callable[[float, np.ndarray], float], solution: Any, before: float, low: float
) -> float:
    """Where what is watched falls through zero; ``before`` where it begins at zero."""
    if watch(before, solution(before)) <= 0.0:
        return float(before)
    return float(
        brentq(lambda time: watch(time, solution(time)), before, low, xtol=1e-15, rtol=1e-15)
    )


def _forces(system: TwoMass, model: str, closed: bool, y: np.ndarray) -> tuple[Any, Any]:
    """Force of the contact (positive where it pushes) and of the coupling (where it pulls m1 and m2
    together), N.
    """
    gap, gap_rate, strain, strain_rate = y
    hard = closed and model != COMPLIANT
    if model == RIGID:
        pushed = system.m1 + (system.m0 if hard else 0.0)
        # rigid: the coupling carries the share of the push that moves m1 (and m0)
        pull = system.pushing_force * pushed / (pushed + system.m2)
    else:
        pull = system.k_rob * strain + system.d_rob * strain_rate
    if not closed:
        return 0.0, pull
    if hard:
        # m0 and m1 move as one: the contact moves m0's share
        return system.lost_share * pull, pull
    # eq. 6, with the penetration -gap
    return np.maximum(-gap, 0.0) ** system.hertz_exponent_c * (
        system.k_env - system.d_env * gap_rate
    ), pull


def _rates(system: TwoMass, model: str, closed: bool, y: np.ndarray) -> np.ndarray:
    force, pull = _forces(system, model, closed, y)
    # accelerations of m1 and, in the strain, of m2
    at_contact = (force - pull) / system.m1
    bending = at_contact - (pull - system.pushing_force) / system.m2
    return np.array([y[1], at_contact + force / system.m0, y[3], bending])
