"""What tests ask of planar motions, throws and impacts, and the package doesn't."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import xarray as xr

from contactid.planar.identify.contact_equations import (
    ContactSteps,
    RatioEquations,
    contact_steps,
    total_least_squares,
)
from contactid.planar.simulate.bodies import PlanarMotion
from contactid.planar.simulate.geometry import Ground, Polygon, Shape, contacts
from contactid.planar.squares.events import SKIPPED_FRAMES, Alignment, ThrowEvents
from contactid.planar.squares.flight import (
    DEGREES,
    STRETCH,
    FlightReport,
    bridge,
    flight_report,
    flight_stretches,
    left_by_polynomial,
    single_corner,
    spread,
)
from contactid.planar.squares.windows import (
    IMPACT_FRAMES,
    PreparedThrows,
    SquareWindow,
    cut_window,
    prepare_throws,
)


def motion_steps(
    shape: Shape, ground: Ground, motion: PlanarMotion, gravity: float
) -> ContactSteps:
    """The steps with contact of a simulated motion, from its states and gaps; impulses aren't
    looked at.
    """
    states, h = motion.velocity, float(motion.time[1] - motion.time[0])
    kwargs = {"time_step": h, "gravity": gravity, "closed": motion.gap[:-1] <= 0.0}
    return contact_steps(shape, ground, motion.position[:-1], states[:-1], states[1:], **kwargs)  # type: ignore[arg-type]


def difference_covariance(pose_covariance: np.ndarray, time_step: float) -> np.ndarray:
    """(3, 3) covariance of ``(q^(k+1) - 2 q^k + q^(k-1))/h``, the change of differenced poses with
    independent noise.

    Neighbouring steps are then correlated, which no fit here knows: leave out neighbours, or take
    velocities from fits to the flights before and after an impact.
    """
    return 6.0 * np.asarray(pose_covariance, dtype=float) / time_step**2


def ratios_by_step(equations: RatioEquations) -> tuple[np.ndarray, np.ndarray]:
    """(m,) eq. 31's J/m of every step and its first-order standard error, m2; not numbers where the
    spin stays.
    """
    turns = equations.spin != 0.0
    spin = np.where(turns, equations.spin, 1.0)
    ratio = np.where(turns, equations.moment / spin, np.nan)
    return ratio, np.sqrt(residual_variance(equations, ratio)) / np.abs(spin)


def residual_variance(equations: RatioEquations, ratio: float | np.ndarray) -> np.ndarray:
    """(m,) variance of ``moment - ratio spin``."""
    c = equations.covariance
    return c[:, 0, 0] - 2.0 * ratio * c[:, 0, 1] + ratio**2 * c[:, 1, 1]


@dataclass(frozen=True)
class RatioDetail:
    """What :func:`total_least_squares` doesn't tell of J/m over all steps with one contact.

    Attributes
    ----------
    plain : m2, weighted least squares that takes d_omega as exact
    bias : expected relative bias of ``plain``: less the noise's share in the weighted sum of
        d_omega^2
    information : 1/m4, ``sum d_omega^2 / variance of the residual`` at total least squares
    deviation : m2, first-order standard error of total least squares
    """

    plain: float
    bias: float
    information: float
    deviation: float


def ratio_detail(equations: RatioEquations) -> RatioDetail:
    """Plain least squares and its bias, and how well total least squares is known."""
    moment, spin, covariance = equations.moment, equations.spin, equations.covariance
    weight, total = 1.0 / covariance[:, 0, 0], total_least_squares(equations)
    information = float(np.sum(spin**2 / residual_variance(equations, total)))
    excess = weight @ (covariance[:, 0, 1] / total - covariance[:, 1, 1])
    return RatioDetail(
        plain=float(weight @ (moment * spin) / (weight @ spin**2)),
        bias=float(excess / (weight @ spin**2)),
        information=information,
        deviation=information**-0.5,
    )


def rest_gaps(events: Sequence[ThrowEvents]) -> np.ndarray:
    """(n,) mean lowest gap of every throw in its final rest, m: what the alignment leaves."""
    return np.array(
        [event.gap[event.rest :].min(axis=1).mean() for event in events if event.rest is not None]
    )


def window_of(
    event: ThrowEvents, before: int = 8, after: int = 25
) -> tuple[tuple[int, int] | None, str]:
    """(first, end) frames around the first contact of a throw without a jump, or None and why there
    are none.
    """
    if not event.contacts:
        return None, "no contact"
    first = event.contacts[0]
    start, end = first.before - before + 1, min(first.before + after + 1, len(event.position))
    if start < SKIPPED_FRAMES:
        return None, "too few frames before the first contact"
    if any(start <= k < end for k in event.jumps):
        return None, "a jump in the window"
    if event.rest is not None and event.rest < first.after:
        return None, "no motion after the first contact"
    return (start, end), ""


def touching_corners(event: ThrowEvents) -> list[int]:
    """The corners that come near the ground at the first contact."""
    before, after = event.contacts[0]
    lowest = event.gap[max(before - 1, 0) : after + 2].min(axis=0)
    return np.flatnonzero(lowest <= max(2e-3, lowest.min())).tolist()


def event_table(events: Sequence[ThrowEvents]) -> pd.DataFrame:
    """One row per throw: first contact, corners, contacts, jumps, rest, window, reason."""
    return pd.DataFrame(
        [
            {
                "throw": event.name,
                "first_contact": event.contacts[0].before if event.contacts else None,
                "first_corners": " ".join(map(str, touching_corners(event)))
                if event.contacts
                else "",
                "contacts": len(event.contacts),
                "jumps": len(event.jumps),
                "rest": event.rest,
                "deepest_gap_m": float(event.gap.min()),
                "reason": window_of(event)[1],
            }
            for event in events
        ]
    )


@dataclass(frozen=True)
class FirstImpacts:
    """First impacts of a single corner, n of them.

    Attributes
    ----------
    names : of the throws
    position : (n, 3) at the impact, m and rad
    before, after : (n, 3) velocities, m/s and rad/s
    normal, tangent : (n, 3) rows of N and T of the touching corner
    """

    names: tuple[str, ...]
    position: np.ndarray
    before: np.ndarray
    after: np.ndarray
    normal: np.ndarray
    tangent: np.ndarray

    def moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Both sides of eq. 31: the impulse's moment per mass, m2/s, and the change of omega,
        rad/s.
        """
        change = self.after - self.before
        moment = self.normal[:, 2] * (change[:, :2] * self.normal[:, :2]).sum(axis=1)
        moment += self.tangent[:, 2] * (change[:, :2] * self.tangent[:, :2]).sum(axis=1)
        return moment, change[:, 2]

    def restitution(self) -> np.ndarray:
        """(n,) minus the ratio of the corner's normal velocities."""
        return -(self.normal * self.after).sum(axis=1) / (self.normal * self.before).sum(axis=1)

    def impulse_ratio(self) -> np.ndarray:
        """(n,) tangential over normal impulse: the friction coefficient where the corner slides."""
        change = (self.after - self.before)[:, :2]
        return (change * self.tangent[:, :2]).sum(axis=1) / (change * self.normal[:, :2]).sum(
            axis=1
        )


def _jumps_at_impact(event: ThrowEvents) -> bool:
    """Whether the camera lost the body in a flight around the first contact."""
    frames = IMPACT_FRAMES[0]
    ends = event.contacts[:1]
    return any(
        before - frames < jump <= after + frames for before, after in ends for jump in event.jumps
    )


def first_impacts(
    events: Sequence[ThrowEvents],
    shape: Polygon,
    alignment: Alignment,
    interval: float,
    radius: float = 0.0,
) -> FirstImpacts:
    """The first impacts of a single corner that two ballistic fits bridge.

    Parameters
    ----------
    events, shape, alignment
        As they were found.
    interval
        Time between frames, s.
    radius
        Of a polygon's rounded corners, m.
    """
    shape, ground = replace(shape, radius=radius), alignment.ground
    rows, report = [], flight_report(events, interval)
    for event in events:
        met = None if _jumps_at_impact(event) else bridge(event, interval, IMPACT_FRAMES[0], report)
        corner = None if met is None else single_corner(contacts(shape, ground, met.position).gap)
        if met is None or corner is None:
            continue
        at = contacts(shape, ground, met.position)
        rows.append(
            (event.name, met.position, met.before, met.after, at.normal[corner], at.tangent[corner])
        )
    columns = [np.array([row[i] for row in rows]).reshape(-1, 3) for i in range(1, 6)]
    return FirstImpacts(tuple(row[0] for row in rows), *columns)


@dataclass(frozen=True)
class RecordedWindow:
    """A window of a throw as it is recorded, and where it lies.

    Attributes
    ----------
    frames : (first, end) in the whole throw
    instant : of the impact, s in the window's time
    lowered : the window's ground below the one of the throws at rest, m
    """

    window: SquareWindow
    frames: tuple[int, int]
    instant: float
    lowered: float

    def __getattr__(self, name: str):
        return getattr(self.window, name)


def recorded_window(
    event: ThrowEvents, prepared: PreparedThrows, most: int = 8
) -> RecordedWindow | None:
    """The window of a throw without putting a frame back; None where it has none."""
    if not event.contacts:
        return None
    last = event.contacts[0].before
    until = event.contacts[1].before + 1 if len(event.contacts) > 1 else len(event.position)
    frames = max(last - most + 1, SKIPPED_FRAMES), min(last + most + 1, until)
    met = bridge(event, prepared.interval, IMPACT_FRAMES[0], prepared.flight)
    if met is None or any(frames[0] <= jump < frames[1] for jump in event.jumps):
        return None
    window = cut_window(event, met, 0, prepared, most)
    if window is None:
        return None
    assert len(window.throw.time) == frames[1] - frames[0]
    lowered = (prepared.ground.y0 - window.throw.ground.y0) * np.cos(prepared.ground.slope)
    return RecordedWindow(
        window, frames, (last - frames[0]) * prepared.interval + met.instant, float(lowered)
    )


@dataclass(frozen=True)
class Windows:
    """First impacts' windows of throws as they are recorded."""

    prepared: PreparedThrows
    windows: tuple[RecordedWindow, ...]


def throw_windows(data: xr.Dataset, most: int = 8) -> Windows:
    """All windows of a dataset, without mending a throw."""
    prepared = prepare_throws(data)
    found = [recorded_window(event, prepared, most) for event in prepared.events]
    return Windows(prepared, tuple(window for window in found if window is not None))


@dataclass(frozen=True)
class FlightDetail:
    """What n stretches of free flight say besides their noise; all (3,) are x, y (m) and theta
    (rad).

    Attributes
    ----------
    stretches : n
    sigma_of_differences : (3,) noise if it is white, from second differences; smoothing makes it
        far smaller
    autocorrelation, white : (3, 3) of what is left, by lag, and what white noise would show after
        such fits
    gravity_error, braking_error : standard errors, m/s2 and 1/s
    acceleration : (n, 3) x, y, theta (a parabola's), m/s2 and rad/s2
    velocity : (n, 3) at mid-stretch, m/s and rad/s
    """

    stretches: int
    sigma_of_differences: np.ndarray
    autocorrelation: np.ndarray
    white: np.ndarray
    gravity_error: float
    braking_error: float
    acceleration: np.ndarray
    velocity: np.ndarray


def flight_detail(events: Sequence[ThrowEvents], interval: float) -> FlightDetail:
    """Whether the noise of :func:`flight_report` is white, and how well its gravity and braking are
    known.
    """
    stretches = np.array(list(flight_stretches(events)))
    time = (np.arange(STRETCH) - (STRETCH - 1) / 2.0) * interval
    projections = [left_by_polynomial(time / time[-1], degree) for degree in DEGREES]
    left = np.stack([stretches[..., i] @ projections[i] for i in range(3)])
    variance = (left**2).sum(axis=-1) / np.array(
        [[np.trace(projection)] for projection in projections]
    )
    calm = (variance < 9.0 * np.median(variance, axis=1, keepdims=True)).all(axis=0)
    left = left[:, calm]
    differences = np.diff(left, 2, axis=-1)
    second = [np.diff(np.eye(STRETCH), 2, axis=0) @ projection for projection in projections]
    expected = np.array([np.trace(difference @ difference.T) for difference in second])
    fits = [np.polynomial.polynomial.polyfit(time, stretches[calm][..., i].T, 2) for i in range(3)]
    velocity = np.stack([fit[1] for fit in fits], axis=1)
    acceleration = np.stack([2.0 * fit[2] for fit in fits], axis=1)
    errors = _errors_of_gravity_and_braking(acceleration, velocity, flight_report(events, interval))
    lags = range(1, 4)
    return FlightDetail(
        stretches=int(calm.sum()),
        sigma_of_differences=np.sqrt((differences**2).sum(axis=-1).mean(axis=1) / expected),
        autocorrelation=np.array(
            [[(x[:, k:] * x[:, :-k]).sum() / (x**2).sum() for k in lags] for x in left]
        ),
        white=np.array([[np.trace(p, offset=k) / np.trace(p) for k in lags] for p in projections]),
        gravity_error=errors[0],
        braking_error=errors[1],
        acceleration=acceleration,
        velocity=velocity,
    )


def _errors_of_gravity_and_braking(
    acceleration: np.ndarray, velocity: np.ndarray, found: FlightReport
) -> np.ndarray:
    """(2,) standard errors of ``a_x = -c v_x``, ``a_y = -g - c v_y``, from the residuals' robust
    spread.
    """
    n = len(acceleration)
    design = np.column_stack(
        [np.repeat([0.0, -1.0], n), -np.concatenate([velocity[:, 0], velocity[:, 1]])]
    )
    value = np.concatenate([acceleration[:, 0], acceleration[:, 1]])
    scale = np.concatenate(
        [np.full(n, spread(acceleration[:, 0])), np.full(n, spread(acceleration[:, 1]))]
    )
    left = (design @ [found.gravity, found.braking] - value) / scale
    covariance = (
        np.linalg.inv((design / scale[:, None]).T @ (design / scale[:, None])) * spread(left) ** 2
    )
    return np.sqrt(np.diag(covariance))


def impulse_moments(impacts: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Both sides of eq. 31 for every impact: the contact impulse's moment per mass (n,), m2/s, and
    d_omega (n,), rad/s.

    Their ratio is J/m where the impulse goes through the contact point; gravity acts too briefly to
    matter.
    """
    change = (impacts["velocity_after"] - impacts["velocity_before"]).values
    moment = (
        impacts["normal"].values[:, 2] * change[:, 1]
        + impacts["tangent"].values[:, 2] * change[:, 0]
    )
    return moment, change[:, 2]


def prediction_errors(impacts: xr.Dataset, predicted: np.ndarray) -> np.ndarray:
    """(..., 4) mean absolute errors of v_x, v_y (m/s) and omega (rad/s), and of all with omega as a
    speed (m/s).

    Parameters
    ----------
    impacts
        The measured impacts.
    predicted
        (..., n, 3) post-impact velocities; the last entry multiplies omega by the radius of
        gyration.
    """
    error = predicted - impacts["velocity_after"].values
    speed = error * np.array([1.0, 1.0, np.sqrt(float(impacts["inertia_ratio"]))])
    return np.concatenate(
        [np.abs(error).mean(axis=-2), np.linalg.norm(speed, axis=-1).mean(axis=-1, keepdims=True)],
        axis=-1,
    )
