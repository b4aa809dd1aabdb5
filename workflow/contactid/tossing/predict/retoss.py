"""Recorded tosses and drops made anew by another truth: another law of impacts, another inertia,
rounded corners.

An identification that is judged on data of its own simulator shares that simulator's errors. Here
every recording keeps its own release, and what follows is simulated by a truth that the
identification doesn't know of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import xarray as xr

from contactid.core import rotations
from contactid.sources.motion import BodyProperties, MotionStream, Recording, motion_in_memory
from contactid.tossing.impacts.impact import ImpactWindow
from contactid.tossing.prepare.tosses import PreparedToss
from contactid.tossing.simulate.box import ContactParameters, State, SteppingOptions, simulate

_SUBSTEPS = 64  # per sample, so that the truth's own discretisation is far below what is identified
_SECONDS_TO_REST = 2.0  # from the release on; a toss of the study rests within one
_DROP_BEFORE, _DROP_AFTER = 20, 14  # samples before and after a drop's window begins
_POSITION_NOISE, _ROTATION_NOISE = 1.5e-5, 1e-4  # m and rad, per axis and sample: motion capture's
_POINTS = 4  # along a quarter of a circle, where a corner is rounded


@dataclass(frozen=True)
class Truth:
    """What tosses are made with."""

    law: str  # of impacts, as in :class:`contactid.tossing.simulate.box.SteppingOptions`
    inertia: float  # factor of the body's inertia
    corner_radius: float  # m; 0 for corners that are points

    def body(self, nominal: BodyProperties) -> BodyProperties:
        """The true body, whose vertices are points of its rounded corners."""
        vertices = rounded_corners(nominal.vertices, self.corner_radius)
        return replace(nominal, vertices=vertices, inertia=self.inertia * nominal.inertia)


def rounded_corners(vertices: np.ndarray, radius: float) -> np.ndarray:
    """Points (n, 3) m of a box's corners (8, 3) that are eighths of spheres; the corners themselves
    for no radius.
    """
    if radius == 0.0:
        return vertices
    middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    # angles of a quarter circle, both ends included
    quarter = np.linspace(0.0, 0.5 * np.pi, _POINTS)
    polar, azimuth = (angle.ravel() for angle in np.meshgrid(quarter, quarter))
    eighth = np.column_stack(
        [np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)]
    )
    # the pole is there once for every azimuth
    eighth = np.unique(np.round(eighth, 12), axis=0)
    # (8, 1, 3) into which eighth each corner bulges
    outward = np.sign(vertices - middle)[:, None, :]
    centres = vertices[:, None, :] - radius * outward
    return (centres + radius * outward * eighth).reshape(-1, 3)


def tosses_anew(
    tosses: Sequence[PreparedToss],
    nominal: BodyProperties,
    truth: Truth,
    parameters: ContactParameters,
    frequency: float,
    seed: int,
) -> xr.Dataset:
    """Canonical motion of tosses from their own release until they rest, at ``frequency`` (Hz)."""
    n_samples = round(_SECONDS_TO_REST * frequency)
    starts = [(item.toss.name, item.toss.start, n_samples, item.gravity) for item in tosses]
    return _motion(starts, nominal, truth, parameters, frequency, seed)


def drops_anew(
    windows: Sequence[ImpactWindow],
    nominal: BodyProperties,
    truth: Truth,
    parameters: ContactParameters,
    frequency: float,
    seed: int,
) -> xr.Dataset:
    """Canonical motion of drops around their impacts, each begun some samples before its window."""
    starts = []
    for index, window in enumerate(windows):
        start = _earlier(nominal, window.start, _DROP_BEFORE, frequency, window.gravity)
        starts.append((f"drop{index:04d}", start, _DROP_BEFORE + _DROP_AFTER, window.gravity))
    return _motion(starts, nominal, truth, parameters, frequency, seed)


def _earlier(
    body: BodyProperties, state: State, n_samples: int, frequency: float, gravity: np.ndarray
) -> State:
    """The state so many samples before, in flight: a flight runs backwards as it runs forwards."""
    away = np.array([0.0, 0.0, 10.0])  # m, where the surface isn't met on the way back
    reversed_state = State(
        state.position + away, state.orientation, -state.linear_velocity, -state.angular_velocity
    )
    options = _stepping(frequency, "newton", gravity)
    flight = simulate(body, reversed_state, ContactParameters(0.0, 0.0), options, n_samples + 1)
    return State(
        flight.position[-1] - away,
        flight.orientation[-1],
        -flight.linear_velocity[-1],
        -flight.angular_velocity[-1],
    )


def _stepping(frequency: float, law: str, gravity: np.ndarray) -> SteppingOptions:
    x, y, z = map(float, gravity)
    return SteppingOptions(1.0 / frequency, _SUBSTEPS, law, gravity=(x, y, z))


def _motion(
    starts: Sequence[tuple[str, State, int, np.ndarray]],
    nominal: BodyProperties,
    truth: Truth,
    parameters: ContactParameters,
    frequency: float,
    seed: int,
) -> xr.Dataset:
    """The canonical dataset of simulated recordings, in the surface's frame, with noise and the
    nominal body.
    """
    body, random = truth.body(nominal), np.random.default_rng(seed)

    def recordings() -> Iterator[Recording]:
        for name, start, n_samples, gravity in starts:
            options = _stepping(frequency, truth.law, gravity)
            run = simulate(body, start, parameters, options, n_samples)
            shift = _POSITION_NOISE * random.normal(size=run.position.shape)
            turn = rotations.exp(_ROTATION_NOISE * random.normal(size=run.position.shape))
            # noise turns in B, from the right
            turned = rotations.as_rotation(run.orientation) * rotations.as_rotation(turn)
            # gravity is vertical in the reference frame, so that the surface leans as it was
            # recorded
            lean = _lean(gravity)
            yield Recording(
                name=name,
                position=lean.apply(run.position + shift),
                orientation=rotations.continuous(rotations.as_quaternions(lean * turned)),
                surface_orientation=rotations.as_quaternions(lean),
            )

    # the identification is told the nominal body, whatever the truth's is
    stream = MotionStream(nominal, "", frequency, "another truth", "", True, recordings())
    return motion_in_memory(stream)


def _lean(gravity: np.ndarray) -> rotations.Rotation:
    """The smallest rotation that turns gravity (3,) in C to straight down."""
    down = np.array([0.0, 0.0, -1.0])
    along = gravity / np.linalg.norm(gravity)
    axis = np.cross(along, down)
    return rotations.Rotation.from_rotvec(axis)  # milliradians: the sine is the angle
