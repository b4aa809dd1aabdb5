"""What tests ask of planar motions, throws and impacts, and the package doesn't."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.planar.identify.contact_equations import ContactSteps, contact_steps
from contactid.planar.identify.identifiability import RatioEquations
from contactid.planar.simulate.bodies import PlanarMotion
from contactid.planar.simulate.geometry import Ground, Polygon, Shape, contacts
from contactid.planar.squares.events import Alignment, ThrowEvents, ThrowOptions
from contactid.planar.squares.flight import FlightOptions, bridge, corners_moved_in, single_corner
from contactid.planar.squares.windows import (
    PreparedThrows,
    ThrowWindow,
    WindowOptions,
    identification_window,
    prepare_throws,
)


def motion_steps(shape: Shape, ground: Ground, motion: PlanarMotion, gravity: float) -> ContactSteps:
    """The steps with contact of a simulated motion, from its states and gaps; impulses aren't looked at."""
    states, h = motion.velocity, float(motion.time[1] - motion.time[0])
    kwargs = {"time_step": h, "gravity": gravity, "closed": motion.gap[:-1] <= 0.0}
    return contact_steps(shape, ground, motion.position[:-1], states[:-1], states[1:], **kwargs)  # type: ignore[arg-type]


def difference_covariance(pose_covariance: np.ndarray, time_step: float) -> np.ndarray:
    """(3, 3) covariance of ``(q^(k+1) - 2 q^k + q^(k-1))/h``, the change of differenced poses with independent noise.

    Neighbouring steps are then correlated, which no fit here knows: leave out neighbours, or take velocities from fits
    to the flights before and after an impact.
    """
    return 6.0 * np.asarray(pose_covariance, dtype=float) / time_step**2


def ratios_by_step(equations: RatioEquations) -> tuple[np.ndarray, np.ndarray]:
    """(m,) eq. 31's J/m of every step and its first-order standard error, m2; not numbers where the spin stays."""
    turns = equations.spin != 0.0
    spin = np.where(turns, equations.spin, 1.0)
    ratio = np.where(turns, equations.moment / spin, np.nan)
    error = np.sqrt(equations.residual_variance(ratio)) / np.abs(spin)
    return ratio, error if equations.noise_known else np.full_like(error, np.nan)


def rest_gaps(events: Sequence[ThrowEvents]) -> np.ndarray:
    """(n,) mean lowest gap of every throw in its final rest, m: what the alignment leaves."""
    return np.array([event.gap[event.rest :].min(axis=1).mean() for event in events if event.rest is not None])


def window_of(event: ThrowEvents, before: int = 8, after: int = 25) -> tuple[tuple[int, int] | None, str]:
    """(first, end) frames around the first contact of a throw without a jump, or None and why there are none."""
    if not event.contacts:
        return None, "no contact"
    first = event.contacts[0]
    start, end = first.before - before + 1, min(first.before + after + 1, len(event.position))
    if start < ThrowOptions().skipped_frames:
        return None, "too few frames before the first contact"
    if any(start <= k < end for k in event.jumps):
        return None, "a jump in the window"
    if event.rest is not None and event.rest < first.after:
        return None, "no motion after the first contact"
    return (start, end), ""


def event_table(events: Sequence[ThrowEvents]) -> pd.DataFrame:
    """One row per throw: first contact, corners, contacts, jumps, rest, window, reason."""
    return pd.DataFrame(
        [
            {
                "throw": event.name,
                "first_contact": event.contacts[0].before if event.contacts else None,
                "first_corners": " ".join(map(str, event.contacts[0].corners)) if event.contacts else "",
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
        """Both sides of eq. 31: the impulse's moment per mass, m2/s, and the change of omega, rad/s."""
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
        return (change * self.tangent[:, :2]).sum(axis=1) / (change * self.normal[:, :2]).sum(axis=1)


def first_impacts(
    events: Sequence[ThrowEvents],
    shape: Shape,
    alignment: Alignment,
    interval: float,
    options: ThrowOptions,
    flight: FlightOptions | None = None,
    radius: float = 0.0,
) -> FirstImpacts:
    """The first impacts of a single corner that two ballistic fits bridge.

    Parameters
    ----------
    events, shape, alignment, options, flight
        As they were found, and how to look at them.
    interval
        Time between frames, s.
    radius
        Of a polygon's rounded corners, m.
    """
    flight = flight or FlightOptions()
    ground = alignment.ground
    if isinstance(shape, Polygon):
        shape, ground = corners_moved_in(shape, ground, radius)
    rows = []
    for event in events:
        met = bridge(event, interval, options, flight)
        corner = None if met is None else single_corner(contacts(shape, ground, met.position).gap, flight)
        if met is None or corner is None:
            continue
        at = contacts(shape, ground, met.position)
        tangent = at.tangent[corner] + [0.0, 0.0, radius]
        rows.append((event.name, met.position, met.before, met.after, at.normal[corner], tangent))
    columns = [np.array([row[i] for row in rows]).reshape(-1, 3) for i in range(1, 6)]
    return FirstImpacts(tuple(row[0] for row in rows), *columns)


@dataclass(frozen=True)
class Windows:
    """Windows by which throws could be identified as they are recorded, and why the others have none."""

    prepared: PreparedThrows
    windows: tuple[ThrowWindow, ...]
    left_out: dict[str, str]


def throw_windows(
    data: xr.Dataset, window: WindowOptions | None = None, options: ThrowOptions | None = None
) -> Windows:
    """All windows of a dataset, without mending a throw."""
    options, flight, window = options or ThrowOptions(), FlightOptions(), window or WindowOptions()
    prepared, interval = prepare_throws(data, options, window=window), 1.0 / data.attrs["sample_frequency"]
    windows, left_out, sigma = [], {}, prepared.flight.sigma
    for event in prepared.events:
        try:
            windows.append(
                identification_window(event, prepared.shape, prepared.ground, sigma, interval, options, flight, window)
            )
        except ContactIdError as error:
            left_out[event.name] = error.problem.removeprefix(f"{event.name}: ")
    return Windows(prepared, tuple(windows), left_out)


def impulse_moments(impacts: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Both sides of eq. 31 for every impact: the contact impulse's moment per mass (n,), m2/s, and d_omega (n,), rad/s.

    Their ratio is J/m where the impulse goes through the contact point; gravity acts too briefly to matter.
    """
    change = (impacts["velocity_after"] - impacts["velocity_before"]).values
    moment = impacts["normal"].values[:, 2] * change[:, 1] + impacts["tangent"].values[:, 2] * change[:, 0]
    return moment, change[:, 2]


def prediction_errors(impacts: xr.Dataset, predicted: np.ndarray) -> np.ndarray:
    """(..., 4) mean absolute errors of v_x, v_y (m/s) and omega (rad/s), and of all with omega as a speed (m/s).

    Parameters
    ----------
    impacts
        The measured impacts.
    predicted
        (..., n, 3) post-impact velocities; the last entry multiplies omega by the radius of gyration.
    """
    error = predicted - impacts["velocity_after"].values
    speed = error * np.array([1.0, 1.0, np.sqrt(float(impacts["inertia_ratio"]))])
    return np.concatenate(
        [np.abs(error).mean(axis=-2), np.linalg.norm(speed, axis=-1).mean(axis=-1, keepdims=True)], axis=-1
    )
