"""A body's impacts by themselves: eq. 31 where no rigid body explains whole throws.

Real impacts take time, and plates brake the flight. Between two short flights that meet in a contact
eq. 31 asks for neither a contact law nor a whole motion (:mod:`contactid.planar.squares.impacts`).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.planar.engine.steering import STEERING
from contactid.planar.engine.unknowns import Geometry
from contactid.planar.identify.states import ThrowStates
from contactid.planar.own.body import OwnThrows
from contactid.planar.readers.throws import PlanarThrow
from contactid.planar.simulate.geometry import Polygon, Shape, contacts
from contactid.planar.simulate.throws import MeasuredThrow
from contactid.planar.squares.events import Alignment, event_size, throw_events
from contactid.planar.squares.flight import FlightReport, corner_radius, flight_report
from contactid.planar.squares.impacts import (
    ImpactFit,
    LeverGeometry,
    fit_impacts,
    impacts_of,
)
from contactid.planar.squares.windows import PreparedThrows, SquareWindow, every_window

# m/s, m/s, rad/s: real flights with nothing between them differ by as much, beside white noise:
# plates brake them, and markers' errors turn with the body (the real square in flight, at 4 to 8
# frames alike). So hard impacts tell more than soft ones.
_FLIGHT_ERROR = np.array([5.5e-3, 8.5e-3, 0.2])
# frames of flights around an impact: the study's, and shorter ones, as a throw has few impacts
_LENGTHS = (6, 4, 3)
# m, standard deviation of contact points about the outline: what the square's hardest impacts leave,
# and a third more, as a single throw has no others to weigh a wild one against
_SCATTER = 2e-4
# standard deviations beyond the others' J/m, of what is no impact: a second contact, a lost camera
_WILD = 8.0
# standard errors below which a lower bound of 95 % lies
_ONE_SIDED_95 = 1.645


@dataclass(frozen=True)
class OwnImpacts:
    """Impacts between two flights, and J/m by them.

    Attributes
    ----------
    windows : the impacts
    names : theirs
    fit : J/m and geometry
    shape : with its corners' radius
    gravity : m/s2
    left_out : how many contradict the others
    """

    windows: tuple[SquareWindow, ...]
    names: tuple[str, ...]
    fit: ImpactFit
    shape: Shape
    gravity: float
    left_out: int

    @property
    def measured(self) -> tuple[MeasuredThrow, ...]:
        """Poses of each window."""
        return tuple(window.throw for window in self.windows)

    @property
    def friction(self) -> float:
        """The median ratio of tangential to normal impulses, each less what noise may make of it:
        friction is at least that in half of the impacts.
        """
        normal, tangential = np.array([window.impulse for window in self.windows]).T
        ratio = np.abs(tangential) / normal
        # of both components of a push alike, m/s
        error = np.array([window.met.error[:2].max() for window in self.windows])
        by_noise = error * np.sqrt(1.0 + ratio**2) / normal
        return float(np.median(np.maximum(ratio - _ONE_SIDED_95 * by_noise, 0.0)))

    def states(self) -> list[ThrowStates]:
        """Two flights and an impulse between them, for each impact."""
        return [_states(window, self.shape, self.gravity) for window in self.windows]


def identify_impacts(geometry: Geometry, throws: OwnThrows) -> OwnImpacts | None:
    """J/m from all impacts of a single point; None where there is none.

    ``geometry`` is what is stated, with how far it may be off.
    """
    prepared = _prepared(geometry, throws)
    # a ground doesn't pull: such a window isn't an impact
    every = (one for event in prepared.events for one in every_window(event, prepared, _LENGTHS))
    windows = [window for window in every if window.impulse[0] > 0.0]
    if not windows:
        return None
    impacts = impacts_of(prepared, windows)
    impacts = replace(impacts, noise=np.hypot(impacts.noise, _FLIGHT_ERROR))
    start, error = geometry.shape.uniform_inertia_ratio, _lever_error(geometry, prepared)
    lever = LeverGeometry(radius=prepared.radius)
    # one's own impacts are too few to tell their scatter
    fit = fit_impacts(impacts, lever, error, start=start, scatter=_SCATTER)
    by_place, by_poses = impacts.variances(fit.numbers)
    size = np.sqrt(by_place * (1e3 * _SCATTER) ** 2 + by_poses)
    agrees = np.abs(impacts.left(fit.numbers)) <= _WILD * size
    # where most contradict each other, none is known to be wrong
    agrees |= 2 * agrees.sum() <= len(agrees)
    if not agrees.all():
        windows = [window for window, is_one in zip(windows, agrees, strict=True) if is_one]
        fit = fit_impacts(impacts.of(agrees), lever, error, start=start, scatter=_SCATTER)
    count: Counter[str] = Counter()
    names = []
    for window in windows:
        count[window.name] += 1
        names.append(f"{window.name}, impact {count[window.name]}")
    left_out = int((~agrees).sum())
    return OwnImpacts(tuple(windows), tuple(names), fit, prepared.shape, geometry.gravity, left_out)


def _lever_error(geometry: Geometry, prepared: PreparedThrows) -> LeverGeometry:
    """Standard errors of the levers' geometry: what the description leaves open."""
    # a stated radius has the error of a statement alone, and so have an ellipse's semi-axes
    radius = prepared.radius_error if geometry.radius_error else 0.0
    # the tracked point and the centre of mass may each be off the outline's middle: levers hang on
    # the one, changes of the centre's velocity on both
    half = (0.5 * geometry.point_error,) * 2
    return LeverGeometry(
        radius=max(radius, STEERING.stated_radius_error),
        turn=geometry.turn_error,
        centre=half,
        tracked=half,
    )


def _prepared(geometry: Geometry, throws: OwnThrows) -> PreparedThrows:
    """The study's preparation of measured squares with the noise and the alignment that are known
    already.
    """
    shape, interval = geometry.shape, throws.throws[0].frame_interval
    alignment = Alignment(geometry.ground, geometry.turn, np.array(geometry.point))
    # by the noise that is known already
    size = event_size(throws.sigma, interval)
    read = [
        PlanarThrow(name, throw.time, throw.position)
        for name, throw in zip(throws.names, throws.throws, strict=True)
    ]
    events = tuple(throw_events(throw, shape, alignment, size) for throw in read)
    error = 0.0
    if isinstance(shape, Polygon) and geometry.radius_error:
        # of the sharp polygon: what corners seem to sink in tells the radius
        measured, spread = corner_radius(events, replace(shape, radius=0.0), alignment)
        error = geometry.radius_error
        if measured > 0.0 and spread > 0.0:
            shape, error = replace(shape, radius=measured), spread
    try:
        # braking by these flights; gravity and noise as stated
        report = replace(
            flight_report(events, interval), sigma=throws.sigma, gravity=geometry.gravity
        )
    except ContactIdError:  # too little flight to tell braking
        report = FlightReport(throws.sigma, geometry.gravity, 0.0)
    return PreparedThrows(shape, error, interval, alignment, events, report)


def _states(window: SquareWindow, shape: Shape, gravity: float) -> ThrowStates:
    """The window's flights with the impact's instant between its frames."""
    met, throw, n = window.met, window.throw, len(window.throw.time)
    instant = throw.time[window.before] + met.instant
    # the impact becomes an instant between its frames
    row = int(np.searchsorted(throw.time, instant))
    time = np.insert(throw.time, row, instant)
    since = (time - instant)[:, None]
    # at the instant itself the one before, as states have it
    velocity = np.where(since <= 0.0, met.before, met.after)
    fall = np.array([0.0, -gravity, 0.0])
    position = met.position + velocity * since + 0.5 * fall * since**2
    velocity = velocity + fall * since
    at = contacts(shape, throw.ground, position)
    impulse = np.zeros((2, n, shape.n_contacts))
    # an impulse acts until the next instant, which an impact after the last frame doesn't have
    impulse[:, min(row, n - 1), window.corner] = window.impulse
    return ThrowStates(
        time=time,
        frame=np.delete(np.arange(n + 1), row),
        position=position,
        velocity=velocity,
        impulse_n=impulse[0],
        impulse_t=impulse[1],
        gap=at.gap,
        sliding=(at.tangent[:-1] * velocity[1:, None, :]).sum(axis=-1),
    )
