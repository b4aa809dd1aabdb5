"""Three ways to the velocity after an impact: the paper's, two modes, and what admissible models
agree on.

**The line of impulses.** Whatever a table without friction does to an arm, in one blow or in
several, changes the joints' velocities by ``M^-1 J_N^T p`` (eq. 3 of the arm paper). So v+ lies on
one line through v-, and eq. 5's v+ is the line's point without normal velocity:

``v_x+ = v_x- + r |v_z-|``, ``r = (u_x - v_x-) / (u_z - v_z-)``,

u the velocity that a fit extrapolates to. Where the tip stays on the table, u_z is nearly zero.
Where the motors' rebound lifts it off, u_z is a part of the approach speed, and the jump u_x - v_x-
too large by the same part.

**Admissible models.** The rigid response's line and the vibration are told apart only as far as the
model is right. So one and two modes are fitted to windows of several lengths, x and z at once, the
offset free; where these don't agree, to windows of which half takes the place of the whole. A model
is admissible if

* its vibration decays and has a whole period within the window: a slower one is no different from a
  bent rigid response;
* no mode is much larger than the approach is fast: such modes cancel each other.

The answer is the admissible models' median. Its interval is their range, with the noise and with
what all of them miss together on twins (the posture's change bends the rigid response). Where they
disagree, the rigid response is no line, and there is no answer: a controller moves the joints, say.

**Friction** bends the line, or stops a joint, and the arm has one joint fewer from then on. How hard
it is braked during its first swing isn't known: between not at all and as hard as the slope says. It
is never sped up, so v_x+ is taken in the middle, and the interval has the rest. A controller that goes on
bends the line alike; v+ is the smaller, the longer the window, and so taken beyond the shortest. Where a joint stops,
:mod:`contactid.arm.identify.braked` is asked first, and where these models disagree on a tip that
stays on the table, after them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from contactid.arm.identify.modal_fit import ModalFit, fit_modes, fit_modes_jointly
from contactid.arm.models.modal_signal import DIFFERENCED, FREE, HIGH, TIED, WHITE
from contactid.core.errors import ContactIdError

#: Standard errors on either side of a 95 % interval.
NORMAL = 1.959964
# Parts of the window that admissible models are fitted to, and those that take their place where
# these don't agree: a controller or friction bends a motion the less the shorter it is. Within less,
# two periods of 20 Hz have no room.
_PARTS = ((2.0 / 3.0, 5.0 / 6.0, 1.0), (1.0 / 2.0, 2.0 / 3.0, 5.0 / 6.0))
_MODES = (1, 2)
_FEWEST = 2  # admissible models, of six: one has no range
# Of the approach speed: what admissible models miss by together. The posture's change bends the
# rigid response, and a controller that switches some ms late or goes on pushes (by up to 0.06 and 0.12
# on MuJoCo's arms of four makes): v_x+. A force that presses the tip down bends the joints, which encoders at
# the motors see as sinking: v_z+.
_MISSED = 0.08
# Of the change of v_x: the same where light links slide off faster than they came. On MuJoCo's arms of a fifth
# make, where v_x changes by more than the approach speed, 0.1 was too little.
_MISSED_CHANGE = 0.12
# Of the approach speed: a mode that is larger is cancelled by another. An impact excites modes up
# to about that speed.
_LARGEST_MODE = 3.0
#: s, half a period of 17 Hz, of an arm that swings for the first time.
FIRST_SWING = 0.03
# Of the slope in that swing: what v+ may be off by where the slope may have any cause. With all of it
# a fifth of the intervals of other robots with viscous friction were too wide, with half some missed.
_BRAKED = 0.75
# Of the approach speed: what the posture's change does in that swing, up to 0.045 on the study's arm
# and 0.03 on three others in MuJoCo. What slows the tip by more is friction.
_BENDS = 0.05
# Between not braked in that swing and braked as hard as behind it, and between a straight motion and one that
# bends on evenly: v+ is in the middle, and the interval has the rest.
_HALFWAY = 0.5
# Of the approach speed: by how much v+ would be taken beyond where the posture's change alone bends the motion,
# up to 0.039 on the study's arm. Stiff controllers make it 0.05 on arms of another simulator.
_BENDS_ALIKE = 0.045
_UNDAMPED = 1.001 * HIGH[0]  # 1/s, the bound that the search has for a mode that doesn't decay
# The scan finds an impact to some samples, whatever a fit of it says whose vibration is vague.
_TIMING = 3.0
# Of the approach speed, or of the change of v_x: half of an interval of v_x+ that still is an answer. The
# impact changes v_x by half that speed or more; a third of this change may be open.
WIDEST, _WIDEST_CHANGE = 0.15, 0.25
# Of the way that the approach would go on within the window: how far a tip rises that has come off
# the table for good. Simulated tips that stay rise by 0.04, those that fly by 0.07 and more.
_RISES = 0.06
_FLIES = (
    "The tip comes off the table for good: press it down behind the impact, or let it hit more slowly"
    " or on a softer table"
)
#: The remedy where joints don't move on freely.
SLOWED = (
    "Friction or the controller slows the joints: compensate the friction, and let the command go on"
    " unchanged behind the impact"
)


@dataclass(frozen=True)
class Window:
    """Velocities behind an impact and what is known of them: a tip's x and z, m/s, or joints',
    rad/s.

    Attributes
    ----------
    time : (n,) s since the impact, middles of sampling intervals
    velocity : (n, d)
    pre_velocity, pre_velocity_se : (d,)
    impact_time, impact_time_se : s
    noise_covariance : (d, d) of the positions at one instant, up to a factor
    """

    time: np.ndarray
    velocity: np.ndarray
    pre_velocity: np.ndarray
    pre_velocity_se: np.ndarray
    impact_time: float
    impact_time_se: float
    noise_covariance: np.ndarray

    @property
    def step(self) -> float:
        """The sampling interval, s."""
        return float(self.time[-1] - self.time[0]) / (len(self.time) - 1)

    @property
    def speed(self) -> float:
        """Of the approach, m/s or rad/s."""
        return float(np.linalg.norm(self.pre_velocity))

    @property
    def flies(self) -> bool:
        """Whether a tip comes off the table for good."""
        rise = np.cumsum(self.velocity[:, 1]).max() * self.step
        return bool(rise > _RISES * self.speed * self.time[-1])

    def until(self, end: float) -> Window:
        """What of it lies before a time since the impact, s."""
        inside = self.time <= end
        return replace(self, time=self.time[inside], velocity=self.velocity[inside])


@dataclass(frozen=True)
class Answer:
    """v+ by a method.

    Attributes
    ----------
    velocity, se : (d,) v+ and its standard error: x and z, m/s, or joints', rad/s
    fits : of every velocity; of several models the one whose v_x+ is nearest
    """

    velocity: np.ndarray
    se: np.ndarray
    fits: tuple[ModalFit, ...]


def _how(window: Window) -> dict[str, Any]:
    """A difference of positions is a mean over one interval."""
    return {"averaging": window.step, "impact_time_se": window.impact_time_se}


def z_first(window: Window, modes: int, noise: str) -> tuple[ModalFit, ModalFit]:
    """Fits of x and z: z alone with its offset tied to v-, and x with z's poles, as the paper does."""
    time, (x, z) = window.time, window.velocity.T
    (x_before, z_before), (x_se, z_se) = window.pre_velocity, window.pre_velocity_se
    # as the paper: v+ is tied to v- by the modes' phases
    how = _how(window) | {"noise": noise, "offset": TIED}
    of_z = fit_modes(time, z, z_before, pre_velocity_se=z_se, modes=modes, **how)
    given = {"poles": of_z.poles, "pole_covariance": of_z.pole_covariance}
    return fit_modes(time, x, x_before, pre_velocity_se=x_se, **given, **how), of_z


def at_once(window: Window, modes: int) -> tuple[ModalFit, ...]:
    """Fits of all velocities with shared poles, positions having the white noise."""
    return fit_modes_jointly(
        # offset free of v-: the rebound may leave a normal velocity
        window.time, window.velocity, window.pre_velocity, modes=modes, offset=FREE, noise=DIFFERENCED,
        noise_covariance=window.noise_covariance, pre_velocity_se=window.pre_velocity_se, **_how(window),
    )  # fmt: skip


def _velocities(fits: tuple[ModalFit, ...]) -> tuple[np.ndarray, np.ndarray]:
    """(d,) extrapolated velocities and their standard errors."""
    return np.array([fit.post_velocity for fit in fits]), np.array(
        [fit.post_velocity_se for fit in fits]
    )


def paper(window: Window) -> Answer:
    """Section V: one mode, z first, every velocity sample alike."""
    fits = z_first(window, 1, WHITE)
    return Answer(*_velocities(fits), fits)


def two_modes(window: Window) -> Answer:
    """Two modes that x and z share, in the whole window."""
    fits = at_once(window, 2)
    return Answer(*_velocities(fits), fits)


def without_normal_velocity(
    before: np.ndarray, after: np.ndarray, normal: np.ndarray
) -> np.ndarray:
    """(d,) where the line through two velocities (d,) has no normal velocity; ``normal`` (d,) times
    one is it.

    Raises
    ------
    ContactIdError
        Where the velocities don't differ enough along the normal: the line doesn't get there.
    """
    lost = normal @ (before - after)
    # how far along the line from v- to the fit; beyond twice it extrapolates too far
    stopped = normal @ before / lost if lost else np.inf
    if not 0.0 < stopped < 2.0:
        raise ContactIdError(
            "the fit keeps more than half of the approach's normal velocity",
            "Record an arm that a table stops",
        )
    return before + stopped * (after - before)


@dataclass(frozen=True)
class Agreement:
    """Admissible models of d velocities.

    Attributes
    ----------
    each : (k, d) v+ of every admissible model, without normal velocity
    half_width : (d,) half of the 95 % interval of their median
    models : their fits
    """

    each: np.ndarray
    half_width: np.ndarray
    models: list[tuple[ModalFit, ...]]

    @property
    def velocity(self) -> np.ndarray:
        """(d,) their median."""
        return np.median(self.each, axis=0)


def agreement(window: Window, normal: np.ndarray, asked: int) -> Agreement:
    """What admissible models agree on; ``normal`` (d,) as of :func:`without_normal_velocity`.

    Of the d velocities the first ``asked`` have to have an interval that is an answer.

    Raises
    ------
    ContactIdError
        Where too few models are admissible, or they disagree.
    """
    # a fit of the time with a vague vibration states too much
    window = replace(window, impact_time_se=min(window.impact_time_se, _TIMING * window.step))
    longer, shorter = _PARTS
    try:
        return _agreement(window, normal, asked, longer)
    except ContactIdError as error:
        try:
            return _agreement(window, normal, asked, shorter)
        except ContactIdError:
            # the whole window's reason
            raise error from None


def _agreement(
    window: Window, normal: np.ndarray, asked: int, parts: tuple[float, ...]
) -> Agreement:
    """As :func:`agreement`, of models in the first parts of the window."""
    models: list[tuple[ModalFit, ...]] = []
    points: list[np.ndarray] = []
    lengths: list[float] = []
    undamped = 0
    for part in parts:
        beginning = window.until(part * window.time[-1])
        for modes in _MODES:
            try:
                fits = at_once(beginning, modes)
                undamped += not _decays(fits)
                if not _is_admissible(fits, beginning):
                    continue
                velocity = without_normal_velocity(
                    window.pre_velocity, _velocities(fits)[0], normal
                )
            # a model without a fit isn't admissible, and no failure of the method
            except (ContactIdError, np.linalg.LinAlgError):
                continue
            models.append(fits)
            points.append(velocity)
            lengths.append(part)
    tried = len(parts) * len(_MODES)
    if len(models) < _FEWEST:
        if undamped > tried / 2 and not window.flies:
            raise ContactIdError(
                "v+ isn't found: the vibration doesn't decay, as where the tip sticks and slips on the table, or comes"
                " off and down again, or where joints' dry friction holds them",
                "Make tip and table smooth, and compensate the joints' friction",
            )
        raise ContactIdError(
            f"v+ isn't found: {len(models)} of {tried} models show a vibration around a motion that goes on"
            " (the others have no fit, are slower than the window, or cancel themselves)",
            _FLIES if window.flies else SLOWED,
        )
    each = np.array(points)
    middle = np.median(each, axis=0)
    # only what has no part in the normal velocity: the others have to cancel in it
    free = normal == 0.0
    braking, unknown = _braking(models, middle, window.speed, free)
    bending = _HALFWAY * _bending(each, np.array(lengths), middle) * free
    # the posture's change bends as well
    bending[np.abs(bending) < _BENDS_ALIKE * window.speed] = 0.0
    each = each + braking + bending
    change = np.abs(middle - window.pre_velocity) * free
    missed = np.maximum(_MISSED * window.speed, _MISSED_CHANGE * change)
    half = _half_width(each, models, missed, unknown, bending)
    most = np.maximum(WIDEST * window.speed, _WIDEST_CHANGE * change)
    widest = int(np.argmax(half[:asked] / most[:asked]))
    if half[widest] > most[widest]:
        half_percent, most_percent = 100.0 * np.array([half[widest], most[widest]]) / window.speed
        raise ContactIdError(
            f"v+ isn't found: its interval by {len(models)} models that explain the vibration is"
            f" +- {half_percent:.0f} % of the approach's speed, where {most_percent:.0f} % is the most",
            _FLIES if window.flies else SLOWED,
        )
    return Agreement(each, half, models)


def _bending(found: np.ndarray, lengths: np.ndarray, middle: np.ndarray) -> np.ndarray:
    """(d,) by how much velocities (k, d) are too small in the middle (d,), since a motion that is
    held back bends, and the longer a window, the smaller its v+; ``lengths`` (k,) of the windows.
    """
    shortest, longest = (
        np.median(found[lengths == length], axis=0) for length in (lengths.min(), lengths.max())
    )
    ahead = np.sign(middle)
    # beyond the shortest windows as far as these are beyond the longest
    beyond = np.maximum((2.0 * shortest - longest - middle) * ahead, 0.0)
    return np.where((shortest - longest) * ahead > 0.0, beyond * ahead, 0.0)


def _braking(
    models: list[tuple[ModalFit, ...]], velocity: np.ndarray, speed: float, free: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(d,) by how much velocities (d,) are larger than fitted, since friction slowed them in the
    first swing already, and what is unknown of it, m/s; ``free`` (d,): which may be shifted.
    """
    # what the slope does within the first swing
    swing = FIRST_SWING * np.median([[fit.slope for fit in fits] for fits in models], axis=0)
    slowed = np.maximum(-swing * np.sign(velocity) - _BENDS * speed, 0.0) * free
    # where it brakes: from nothing to all of it; else either sign
    halfway = np.maximum(_HALFWAY * np.abs(swing), _BRAKED * _BENDS * speed)
    unknown = np.where(slowed > 0.0, halfway, _BRAKED * np.abs(swing))
    return _HALFWAY * slowed * np.sign(velocity), unknown


def _half_width(
    found: np.ndarray, models: list[tuple[ModalFit, ...]], *others: np.ndarray
) -> np.ndarray:
    """(d,) of velocities (k, d): their range, the noise, and ``others`` (d,)."""
    errors = np.array([_velocities(fits)[1] for fits in models])
    # the surest model's: what the others don't know is in the range
    noise = NORMAL * errors.min(axis=0)
    # independent causes add up in squares
    return np.sqrt(np.sum([part**2 for part in (np.ptp(found, axis=0), noise, *others)], axis=0))


def _is_admissible(fits: tuple[ModalFit, ...], window: Window) -> bool:
    """Whether the fits ended, every mode decays and has a period within the window, and none is
    cancelled.

    A mode on the other bounds of the search is over within some milliseconds, and takes nothing
    from the line.
    """
    ended = all(fit.converged for fit in fits)
    # the last interval's end
    length = window.time[-1] + 0.5 * window.step
    has_period = fits[0].poles.imag.min() >= 2.0 * np.pi / length
    largest = max(fit.amplitude.max() for fit in fits)
    small = largest <= _LARGEST_MODE * window.speed
    return bool(ended and _decays(fits) and has_period and small)


def _decays(fits: tuple[ModalFit, ...]) -> bool:
    """Whether every mode that the velocities share does."""
    return bool(fits[0].poles.real.max() < _UNDAMPED)


def admissible(window: Window) -> Answer:
    """The median of the admissible models, and their interval as a standard error.

    v_x+ is where the normal velocity is zero, v_z+ as it is: what the rebound leaves.

    Raises
    ------
    ContactIdError
        As :func:`agreement`.
    """
    found = agreement(window, np.array([0.0, 1.0]), asked=1)
    # of the normal velocity as it is: the rebound's
    as_fitted = np.array([_velocities(fits)[0] for fits in found.models])
    unknown = _braking(found.models, found.velocity, window.speed, np.zeros(2))[1]
    missed = np.full(2, _MISSED * window.speed)
    of_normal = _half_width(as_fitted, found.models, missed, unknown)[1]
    velocity = np.array([found.velocity[0], np.median(as_fitted[:, 1])])
    half = np.array([found.half_width[0], of_normal])
    # drawn: the model nearest to the median
    nearest = int(np.argmin(np.abs(found.each[:, 0] - velocity[0])))
    return Answer(velocity, half / NORMAL, found.models[nearest])


def joints(window: Window, jacobian_n: np.ndarray) -> Answer:
    """q'+ of joints, rad/s, with the joints' velocities as the window's; ``jacobian_n`` (d,) of the
    tip's height.

    Eq. 5 lives here: all joints share the poles, and v+ without normal velocity is a point of one
    line.

    Raises
    ------
    ContactIdError
        As :func:`agreement`.
    """
    found = agreement(window, jacobian_n, asked=len(jacobian_n))
    return Answer(found.velocity, found.half_width / NORMAL, found.models[-1])


#: By the names that tables have. The first fills ext_fit, table II's own columns and figure 6.
METHODS: Mapping[str, Callable[[Window], Answer]] = {
    "paper": paper,
    "two_modes": two_modes,
    "admissible": admissible,
}
PAPER, ADMISSIBLE = "paper", "admissible"
