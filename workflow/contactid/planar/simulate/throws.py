"""A throw as the identification takes it, and simulated ones: sampled, noisy throws of a known body
(section 6.1).

Table 1 and figures 17 to 19 are identified from the simulated ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, PlanarMotion, simulate
from contactid.planar.simulate.geometry import Ground
from contactid.planar.simulate.scenes import body_of, thrown

_UNEVEN = 0.01  # largest relative spread of the intervals
_FEWEST = 5
KEY = "planar.identification"


@dataclass(frozen=True)
class MeasuredThrow:
    """Measured poses of one throw.

    Attributes
    ----------
    time : (n_m,) s, evenly spaced
    position : (n_m, 3) q = (x, y, theta), m and rad, theta continuous
    sigma : (3,) standard deviations of the measurement noise, m, m, rad
    ground : what the body is thrown over
    """

    time: np.ndarray
    position: np.ndarray
    sigma: np.ndarray
    ground: Ground = field(default_factory=Ground)

    def __post_init__(self) -> None:
        n = len(self.time)
        if self.position.shape != (n, 3) or n < _FEWEST:
            raise ContactIdError(
                f"a throw has {n} times and poses {self.position.shape}",
                f"Give {_FEWEST} or more poses x, y, theta",
            )
        if not (np.isfinite(self.time).all() and np.isfinite(self.position).all()):
            raise ContactIdError(
                "a throw has poses that aren't finite", "Leave those frames out, or cut the throw"
            )
        step = np.diff(self.time)
        if not (step > 0.0).all() or np.ptp(step) > _UNEVEN * step.mean():
            raise ContactIdError(
                "a throw's times aren't evenly spaced", "Resample it, or cut it at the gap"
            )
        if np.shape(self.sigma) != (3,) or not (
            np.isfinite(self.sigma).all() and (self.sigma > 0.0).all()
        ):
            raise ContactIdError(
                f"a throw's noise is {self.sigma}", "Give three positive standard deviations"
            )

    @property
    def frame_interval(self) -> float:
        """Time between frames, s."""
        return float(self.time[-1] - self.time[0]) / (len(self.time) - 1)

    @property
    def n_frames(self) -> int:
        """Number of intervals between frames."""
        return len(self.time) - 1


@dataclass(frozen=True)
class Truth:
    """A simulated throw behind the measured one: time (n,), q (n, 3), impulses per mass summed over
    contacts (n,).
    """

    time: np.ndarray
    position: np.ndarray
    impulse_n: np.ndarray
    impulse_t: np.ndarray


def body_and_ground(block: Mapping[str, Any]) -> tuple[PlanarBody, Ground]:
    """What the study's identification throws, and over what."""
    return thrown(block, block["identification"], KEY)


def true_motion(block: Mapping[str, Any], friction_mu: float) -> PlanarMotion:
    """The throw under one friction, at the fine time step that stands for the truth."""
    options, (body, ground) = block["identification"], body_and_ground(block)
    law = PlanarLaw(friction_mu, float(options["restitution_e_n"]), 0.0, float(block["gravity"]))
    h = float(options["time_step"])
    steps = round(options["duration"] / h) + 1
    return simulate(
        body, ground, law, options["position"], options["velocity"], time_step=h, steps=steps
    )


def measured_throw(
    motion: PlanarMotion,
    ground: Ground,
    *,
    duration: float,
    frames_per_second: float,
    sigma: np.ndarray,
    seed: int,
) -> MeasuredThrow:
    """Every 1/fps s of a motion, each coordinate with independent Gaussian noise.

    The same seed gives other noise at another frame rate, as another video would.
    """
    step = float(motion.time[1])
    # a whole number of frames but for rounding is whole
    number = int(np.floor(duration * frames_per_second + 1e-9)) + 1
    time = np.arange(number) / frames_per_second
    # the nearest states: the truth's step is far finer than a frame
    poses = motion.position[np.round(time / step).astype(int)]
    # by seed and frame rate, in mHz so that rates that aren't whole differ
    rng = np.random.default_rng([seed, round(1000.0 * frames_per_second)])
    return MeasuredThrow(time, poses + rng.normal(size=poses.shape) * sigma, sigma, ground)


def noise_of(block: Mapping[str, Any], name: str) -> np.ndarray:
    """(3,) standard deviations of a noise model of the configuration, m, m, rad."""
    noise = block["identification"]["noise"][name]
    return np.array([noise["position"], noise["position"], noise["orientation"]], dtype=float)


def truth_of(motion: PlanarMotion, mass: float, duration: float) -> Truth:
    """What to draw of a motion: its impulses per mass at the instants from which they act."""
    rows = motion.time <= duration + 1e-12
    # an impulse of the step that led to state k acts at state k - 1
    shift = (
        np.concatenate([motion.impulse_n[1:, 0], [0.0]]),
        np.concatenate([motion.impulse_t[1:, 0], [0.0]]),
    )
    return Truth(
        motion.time[rows], motion.position[rows], shift[0][rows] / mass, shift[1][rows] / mass
    )


def check_identification(block: Mapping[str, Any]) -> None:
    """Raise :class:`ContactIdError` for an identification that can't be run, naming its key."""
    options = block["identification"]
    if body_of(block, options["body"], KEY).shape.n_contacts != 1:
        raise ContactIdError(
            f"configuration: {KEY}.body has corners; figure 18 needs an ellipse", "Name an ellipse"
        )
    body_and_ground(block)
    for rate in options["frames_per_second"]:
        if options["duration"] * rate < _FEWEST:
            raise ContactIdError(
                f"configuration: {KEY}.frames_per_second: {rate:g} gives too few frames in {options['duration']:g} s",
                "Leave it out, or raise planar.identification.duration",
            )
