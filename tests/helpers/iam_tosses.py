"""Noise-free tosses and drops of the tossing study's boxes, each with its known truth.

A toss is what an experiment would be: the box is carried from standstill to its release velocity,
flies, hits the surface, slides, and lies still on it. Everything is expressed in the surface frame
C (z_C its normal), which may be a little tilted against gravity. The motion after the release comes
from :func:`contactid.tossing.simulate.box.simulate` with :data:`SUBSTEPS` steps per sample, where
identifications have 16 at most, so that none merely undoes its own discretisation.

Candidates are drawn at random and those that no experimenter would have kept are drawn again: boxes
that tumble, bounce high, or aren't at rest in time, and drops that don't land on one corner.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches

import numpy as np
from scipy.signal import find_peaks

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties
from contactid.tossing.simulate.box import (
    GRAVITY,
    ContactParameters,
    State,
    SteppingOptions,
    Trajectory,
    simulate,
)

SAMPLE_FREQUENCY = 360.0  # Hz
# per sample; so short that the scheme's own error in the restitution (gravity times a step over the
# impact's speed) is far below what is to be identified
SUBSTEPS = 64
ROLES = ("trajectories", "validation", "drops")

_MOST_CANDIDATES = 2000
_LONGEST_TOSS = 2.0  # s from release to rest
_LARGEST_REST_TILT = np.deg2rad(5.0)
_LARGEST_TILT = np.deg2rad(
    60.0
)  # on the way; beyond it a box is tumbling even if it comes to lie upright
_REST_LINEAR, _REST_ANGULAR = (
    5e-3,
    0.1,
)  # m/s and rad/s relative to the surface; settling by < 1 mm is still rest
_HIGHEST_REBOUND = (
    0.08  # m, of the box's origin; the authors find the release as the last peak above 0.095 m
)
_LOWEST_CARRY = 0.02  # m below the lowest corner while the box is carried
# a drop that goes straight down sticks where it hits, and then friction has no influence on it
_DROP_SPEED, _DROP_SPIN = (
    (0.5, 0.5, 0.05),
    0.5,
)  # m/s along x_C, y_C, z_C and rad/s, standard deviations
_CORNER_WINDOW = 6  # samples around a drop's first impact in which no other corner touches


@dataclass(frozen=True)
class Physics:
    """What makes the tosses, where it isn't what an identification assumes.

    Attributes
    ----------
    law : of impacts, as in :class:`contactid.tossing.simulate.box.SteppingOptions`
    substeps : steps per sample
    inertia : the true inertia over the described one
    corner_radius : m; each corner is ten points of a sphere
    """

    law: str = "newton"
    substeps: int = SUBSTEPS
    inertia: float = 1.0
    corner_radius: float = 0.0


# of the octant of a sphere: three axes, three middles of edges, the middle, three points between
_ROUND = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1],
                   [2, 1, 1], [1, 2, 1], [1, 1, 2]], dtype=float)  # fmt: skip


@dataclass(frozen=True)
class BoxModel:
    """A box of Table I (tossing) with what Table II found from trajectories and from impacts; SI
    units.
    """

    name: str
    size: tuple[float, float, float]
    mass: float
    moments: tuple[float, float, float]
    from_trajectories: ContactParameters
    from_impacts: ContactParameters
    physics: Physics = Physics()

    def parameters(self, role: str) -> ContactParameters:
        """What a twin of that role is made with: drops as Table II's impacts say, tosses as its
        trajectories do.
        """
        return self.from_impacts if role == "drops" else self.from_trajectories

    @property
    def body(self) -> BodyProperties:
        """Vertices (8, 3), mass and inertia in B, whose origin is the box's centre."""
        signs = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
        return BodyProperties(
            vertices=signs * self.size, mass=self.mass, inertia=np.diag(self.moments)
        )

    @property
    def true_body(self) -> BodyProperties:
        """The body that is tossed: :attr:`body` with what :attr:`physics` changes."""
        body, radius = self.body, self.physics.corner_radius
        inertia = self.physics.inertia * body.inertia
        if radius == 0.0:
            return replace(body, inertia=inertia)
        outwards = np.sign(body.vertices)
        on_sphere = radius * _ROUND / np.linalg.norm(_ROUND, axis=1, keepdims=True)
        centers = body.vertices - radius * outwards
        points = centers[:, None] + outwards[:, None] * on_sphere
        return replace(body, vertices=points.reshape(-1, 3), inertia=inertia)


def _box(
    name: str,
    size: tuple[int, int, int],
    mass: float,
    moments: tuple[int, int, int],
    *mu_e_n: float,
) -> BoxModel:
    """A box from mm, kg and kg mm2; mu and e_N from trajectories, then from impacts."""
    parameters = ContactParameters(*mu_e_n[:2]), ContactParameters(*mu_e_n[2:])
    (x, y, z), (i_x, i_y, i_z) = size, moments
    return BoxModel(
        name, (x / 1e3, y / 1e3, z / 1e3), mass, (i_x / 1e6, i_y / 1e6, i_z / 1e6), *parameters
    )


# Table I; friction and restitution from Table II, MATLAB
BOXES = (
    _box("Box004", (192, 85, 108), 0.297, (468, 1201, 1091), 0.45, 0.05, 0.60, 0.40),
    _box("Box005", (230, 129, 103), 0.566, (1285, 2995, 3280), 0.45, 0.10, 0.45, 0.35),
    _box("Box006", (205, 155, 100), 0.365, (1040, 1590, 2020), 0.40, 0.25, 0.25, 0.40),
    _box("Box007", (207, 158, 99), 1.431, (4130, 6300, 8090), 0.35, 0.45, 0.40, 0.60),
)


@dataclass(frozen=True)
class TossStyle:
    """Spread of the initial states of long tosses; uniform over a range or normal with a standard
    deviation.
    """

    travel: tuple[float, float]  # m from release to rest
    clearance: tuple[float, float]  # m below the lowest corner at release
    upward: tuple[float, float]  # m/s at release
    yaw: float  # rad, uniform within +-
    heading: float  # rad, uniform within +-, of the velocity from x_C
    tilt: float  # rad, standard deviation of roll and of pitch
    tilt_rate: float  # rad/s, standard deviation about x_C and y_C
    yaw_rate: float  # rad/s, standard deviation about z_C


_ROBOT = TossStyle((1.05, 1.35), (0.08, 0.14), (0.15, 0.4), 0.45, 0.12, 0.05, 0.5, 0.8)
_MANUAL = TossStyle((0.8, 1.5), (0.08, 0.18), (0.15, 0.6), 0.8, 0.3, 0.09, 0.9, 1.8)


@dataclass(frozen=True)
class Toss:
    """One noise-free recording in C at 360 samples/s; n samples.

    Attributes
    ----------
    position, orientation
        (n, 3) m and (n, 4): pose of B in C.
    release
        State at ``release_sample``, from which :func:`contactid.tossing.simulate.box.simulate`
        gives the rest of the samples.
    release_sample, impact_sample
        First samples of the free flight and of contact (0-based).
    rest_sample
        First sample from which the box lies still relative to the surface; None where the recording
        ends earlier.
    surface_velocity
        (3,) m/s of the belt.
    """

    position: np.ndarray
    orientation: np.ndarray
    release: State
    release_sample: int
    impact_sample: int
    rest_sample: int | None
    surface_velocity: np.ndarray


def box_model(object_name: str) -> BoxModel:
    """The box of that name."""
    names = [box.name for box in BOXES]
    if object_name not in names:
        close = get_close_matches(object_name, names, n=1)
        raise ContactIdError(
            f"no twin of {object_name!r}",
            f"Did you mean {close[0]}?" if close else f"Choose one of {', '.join(names)}",
        )
    return BOXES[names.index(object_name)]


@dataclass(frozen=True)
class _Surroundings:
    """What acts on a box; both (3,) in C."""

    belt: np.ndarray  # m/s
    gravity: tuple[float, float, float]  # m/s2


def make_toss(
    box: BoxModel,
    role: str,
    rng: np.random.Generator,
    *,
    belt_speed: float = 0.0,
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY),
) -> Toss:
    """Draw candidates until one is what an experimenter would have kept.

    Parameters
    ----------
    box
        The box to toss.
    role
        ``trajectories`` (robot), ``validation`` (by hand, wider) or ``drops`` (onto one corner).
    rng
        Source of all randomness.
    belt_speed
        Speed of the surface along x_C, m/s.
    gravity
        (3,) m/s2 in C.
    """
    if role not in ROLES:
        raise ContactIdError(f"unknown role {role!r}", f"Choose one of {', '.join(ROLES)}")
    around = _Surroundings(np.array([belt_speed, 0.0, 0.0]), gravity)
    for _ in range(_MOST_CANDIDATES):
        if role == "drops":
            toss = _drop(box, around, rng)
        else:
            toss = _long_toss(box, _ROBOT if role == "trajectories" else _MANUAL, around, rng)
        if toss is not None:
            return toss
    raise ContactIdError(
        f"{box.name}: none of {_MOST_CANDIDATES} candidates is a usable toss ({role})",
        "Narrow the initial states",
    )


def _long_toss(
    box: BoxModel, style: TossStyle, around: _Surroundings, rng: np.random.Generator
) -> Toss | None:
    belt = around.belt
    roll, pitch = rng.normal(scale=style.tilt, size=2)
    yaw, heading = rng.uniform(-style.yaw, style.yaw), rng.uniform(-style.heading, style.heading)
    orientation = rotations.as_quaternions(
        rotations.as_rotation(rotations.exp(np.array([0.0, 0.0, yaw])))
        * rotations.as_rotation(rotations.exp(np.array([roll, pitch, 0.0])))
    )
    upward, clearance = rng.uniform(*style.upward), rng.uniform(*style.clearance)
    # On a belt the sliding relative to it is what takes room; the belt adds its own way.
    travel = rng.uniform(*style.travel) * (0.6 if belt.any() else 1.0)
    speed = _release_speed(box.from_trajectories, travel, clearance, upward)
    velocity = np.array([speed * np.cos(heading), speed * np.sin(heading), upward]) + belt
    spin = rng.normal(size=3) * [style.tilt_rate, style.tilt_rate, style.yaw_rate]
    height = clearance - _lowest_corner(box.body, orientation)
    release = State(
        np.array([-0.5 * travel, rng.uniform(-0.05, 0.05), height]), orientation, velocity, spin
    )
    hold = round(rng.uniform(0.15, 0.30) * SAMPLE_FREQUENCY)
    lying = round(rng.uniform(0.45, 0.60) * SAMPLE_FREQUENCY)
    if _corner_heights(box.body, *_carried(release, hold)).min() < _LOWEST_CARRY:
        return None
    flown = _simulate(box, "trajectories", release, round(_LONGEST_TOSS * SAMPLE_FREQUENCY), around)
    rest, impact = _rest_sample(flown, belt), _first_contact(flown, box.physics.substeps)
    if rest is None or impact is None:
        return None
    tilt = np.arccos(np.clip(rotations.matrices(flown.orientation)[:, 2, 2], -1.0, 1.0))
    way = np.linalg.norm(
        flown.position[rest, :2] - flown.position[0, :2] - belt[:2] * rest / SAMPLE_FREQUENCY
    )
    rebound = _highest_peak(flown.position[impact:, 2])
    if (
        tilt[rest:].max() > _LARGEST_REST_TILT
        or tilt.max() > _LARGEST_TILT
        or not 0.8 * travel < way < 1.2 * travel
        or rebound > _HIGHEST_REBOUND
    ):
        return None
    return _joined(release, hold, flown, rest + lying + 1, impact, rest, belt)


def _drop(box: BoxModel, around: _Surroundings, rng: np.random.Generator) -> Toss | None:
    orientation = rotations.exp(rng.uniform(-np.pi, np.pi, size=3))
    heights = np.sort(_corner_heights(box.body, np.zeros(3), orientation))
    if heights[1] - heights[0] < 0.02:
        return None
    position = np.array([*rng.uniform(-0.1, 0.1, size=2), rng.uniform(0.10, 0.25) - heights[0]])
    release = State(
        position, orientation, rng.normal(scale=_DROP_SPEED), rng.normal(scale=_DROP_SPIN, size=3)
    )
    hold = round(rng.uniform(0.06, 0.10) * SAMPLE_FREQUENCY)
    total = round(rng.uniform(0.55, 0.70) * SAMPLE_FREQUENCY)
    flown = _simulate(box, "drops", release, total - hold, around)
    impact = _first_contact(flown, box.physics.substeps)
    if impact is None or impact + _CORNER_WINDOW >= len(flown.position):
        return None
    corners = _corner_heights(box.body, flown.position, flown.orientation)
    others = np.sort(corners[impact - _CORNER_WINDOW : impact + _CORNER_WINDOW + 1], axis=1)[:, 1]
    # The authors' rule for an impact of a corner: a dip to the surface that rises by 2 cm on both
    # sides.
    dips = [
        find_peaks(-height, height=-0.005, distance=5, prominence=0.02)[0] for height in corners.T
    ]
    first = dips[int(np.argmin(corners[impact]))]
    if others.min() < 0.003 or sum(map(len, dips)) < 2 or not (np.abs(first - impact) <= 1).any():
        return None
    rest = _rest_sample(flown, around.belt)
    return _joined(release, hold, flown, len(flown.position), impact, rest, around.belt)


def _joined(
    release: State,
    hold: int,
    flown: Trajectory,
    n_flown: int,
    impact: int,
    rest: int | None,
    belt: np.ndarray,
) -> Toss:
    """Put the carrying phase before the simulated one."""
    position, orientation = _carried(release, hold)
    n_flown = min(n_flown, len(flown.position))
    return Toss(
        position=np.concatenate([position, flown.position[:n_flown]]),
        orientation=rotations.continuous(
            np.concatenate([orientation, flown.orientation[:n_flown]])
        ),
        release=release,
        release_sample=hold,
        impact_sample=hold + impact,
        rest_sample=None if rest is None else hold + rest,
        surface_velocity=belt,
    )


def _carried(release: State, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Poses (n, 3), (n, 4) of a hand that goes from standstill to the release state.

    The twist is the release twist times ``3 s^2 - 2 s^3`` with s = t / T from 0 to 1: a soft start
    that ends at the release velocity. The way still to go at s is ``T (1/2 - s^3 + s^4 / 2)`` times
    the twist.
    """
    s = np.arange(n) / n
    remaining = (n / SAMPLE_FREQUENCY) * (0.5 - s**3 + 0.5 * s**4)
    position = release.position - remaining[:, None] * release.linear_velocity
    turned_back = rotations.as_rotation(
        rotations.exp(-remaining[:, None] * release.angular_velocity)
    )
    return position, rotations.as_quaternions(
        turned_back * rotations.as_rotation(release.orientation)
    )


def _release_speed(
    parameters: ContactParameters, travel: float, clearance: float, upward: float
) -> float:
    """Horizontal speed (m/s) with which a point mass flies, lands flat and slides ``travel`` metres
    in all.

    Flight takes t; the landing takes mu (1 + e_N) times the normal velocity; then v^2 = 2 mu g d.
    Solved for the speed.
    """
    mu = parameters.friction_mu
    landing = np.sqrt(upward**2 + 2.0 * GRAVITY * clearance)
    flight = (upward + landing) / GRAVITY
    lost = mu * (1.0 + parameters.restitution_e_n) * landing
    # travel = speed flight + (speed - lost)^2 / (2 mu g), as a quadratic in the speed left after
    # landing
    half_b = mu * GRAVITY * flight
    left = -half_b + np.sqrt(half_b**2 + 2.0 * mu * GRAVITY * max(travel - lost * flight, 0.0))
    return float(left + lost)


def _simulate(
    box: BoxModel, role: str, release: State, n_samples: int, around: _Surroundings
) -> Trajectory:
    physics = box.physics
    options = SteppingOptions(
        1.0 / SAMPLE_FREQUENCY, substeps=physics.substeps, law=physics.law, gravity=around.gravity
    )
    return simulate(
        box.true_body,
        release,
        box.parameters(role),
        options,
        n_samples,
        surface_velocity=around.belt,
    )


def _first_contact(flown: Trajectory, substeps: int) -> int | None:
    steps = np.flatnonzero(flown.contacts > 0)
    return int(steps[0]) // substeps + 1 if len(steps) else None


def _rest_sample(flown: Trajectory, belt: np.ndarray) -> int | None:
    """First sample from which the box stays still relative to the surface for at least half a
    second.
    """
    moving = (np.linalg.norm(flown.linear_velocity - belt, axis=1) > _REST_LINEAR) | (
        np.linalg.norm(flown.angular_velocity, axis=1) > _REST_ANGULAR
    )
    rest = int(np.flatnonzero(moving)[-1]) + 1 if moving.any() else 0
    return rest if rest < len(moving) - round(0.61 * SAMPLE_FREQUENCY) else None


def _highest_peak(heights: np.ndarray) -> float:
    peaks, _ = find_peaks(heights, prominence=1e-3)
    return float(heights[peaks].max()) if len(peaks) else 0.0


def _lowest_corner(body: BodyProperties, orientation: np.ndarray) -> float:
    return float(_corner_heights(body, np.zeros(3), orientation).min())


def _corner_heights(
    body: BodyProperties, position: np.ndarray, orientation: np.ndarray
) -> np.ndarray:
    """Heights (..., 8) of the corners above the surface, m, for poses (..., 3), (..., 4)."""
    return (
        np.asarray(position)[..., 2:3]
        + rotations.matrices(orientation)[..., 2, :] @ body.vertices.T
    )
