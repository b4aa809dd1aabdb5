"""What the in-hand twins are made of: motion, grip, noise and residual forces of every source.

The paper gives none of these numbers, so all are chosen; each class says how.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from contactid.core.errors import ContactIdError
from contactid.inhand.names import IN_HAND_KINEMATIC, IN_HAND_VISION, SIMULATION, SOURCES, WRIST
from contactid.inhand.simulate.grasp_motion import MotionRange
from contactid.inhand.simulate.grasped_object import Grip


@dataclass(frozen=True)
class PoseNoise:
    """Noise of tracked poses; the three kinds add up.

    Attributes
    ----------
    white : m and rad, independent from sample to sample
    jitter, jitter_time : m and rad, and s; a first-order process, rough, as a tracker's that follows its own last pose
    drift, drift_time : m and rad, and s; smooth (squared-exponential correlation), as of an object that shifts in hand
    """

    white: tuple[float, float] = (0.0, 0.0)
    jitter: tuple[float, float] = (0.0, 0.0)
    jitter_time: float = 0.1
    drift: tuple[float, float] = (0.0, 0.0)
    drift_time: float = 1.0

    def __post_init__(self) -> None:
        if min(*self.white, *self.jitter, *self.drift) < 0.0 or min(self.jitter_time, self.drift_time) <= 0.0:
            raise ContactIdError("noise of poses has a negative strength or no correlation time", "Correct the twin")


@dataclass(frozen=True)
class ForceNoise:
    """Noise of forces and contact points, independent from sample to sample.

    A force's standard deviation is ``sqrt(floor^2 + (relative |f|)^2)``; learned tactile models err by some per cent.

    Attributes
    ----------
    floor : N
    relative : 1
    torque : N m, of a force-torque sensor
    contact : m, of a contact point's coordinates
    """

    floor: float = 0.0
    relative: float = 0.0
    torque: float = 0.0
    contact: float = 0.0

    def __post_init__(self) -> None:
        if min(self.floor, self.relative, self.torque, self.contact) < 0.0:
            raise ContactIdError("noise of forces has a negative strength", "Correct the twin")


@dataclass(frozen=True)
class ResidualForces:
    """Forces on the object at the fingertips that aren't sensed.

    Attributes
    ----------
    preload_share : share of the load at the start that the mounting frames keep carrying, constant in B
    load_share : share of the load at every moment that they carry
    spread : relative standard deviation of both shares between fingers
    transient_force : N, mean size of a transient at its start
    transient_rate : 1/s, transients per finger
    transient_time : s, in which a transient falls to 1/e
    """

    preload_share: float = 0.0
    load_share: float = 0.0
    spread: float = 0.0
    transient_force: float = 0.0
    transient_rate: float = 0.0
    transient_time: float = 0.1

    def __post_init__(self) -> None:
        if min(self.spread, self.transient_force, self.transient_rate) < 0.0 or self.transient_time <= 0.0:
            raise ContactIdError("residual forces have a negative strength", "Correct the twin")


@dataclass(frozen=True)
class SourceOptions:
    """One source: how the object is moved and held, and how its sensors err."""

    motion: MotionRange
    grip: Grip = field(default_factory=Grip)
    pose: PoseNoise = field(default_factory=PoseNoise)
    force: ForceNoise = field(default_factory=ForceNoise)
    residual: ResidualForces = field(default_factory=ResidualForces)


@dataclass(frozen=True)
class Breaks:
    """A contact that an object's recordings in hand lose several times.

    Attributes
    ----------
    object, contact : names
    count : times, spread evenly over the recording
    length : s without contact
    blend : s in which its force fades and comes back
    """

    object: str = "box_4"
    contact: str = "ring"
    count: int = 3
    length: float = 0.15
    blend: float = 0.05

    def __post_init__(self) -> None:
        if self.count < 0 or self.length <= 0.0 or self.blend <= 0.0:
            raise ContactIdError("breaks of a contact need a positive length and blend", "Correct the twin")


@dataclass(frozen=True)
class LeastDeviations:
    """Standard deviations that a recording states at least, so that no weight is infinite where there is no noise.

    Attributes
    ----------
    force, torque, position, orientation, contact : N, N m, m, rad, m
    """

    force: float = 1e-3
    torque: float = 1e-4
    position: float = 1e-5
    orientation: float = 1e-5
    contact: float = 1e-5

    def __post_init__(self) -> None:
        if min(self.force, self.torque, self.position, self.orientation, self.contact) <= 0.0:
            raise ContactIdError("a least standard deviation isn't positive", "Correct the twin")


_HAND = SourceOptions(
    motion=MotionRange(0.10, 0.6, (0.4, 0.7, 1.1)),
    grip=Grip(2.0, 1.3),
    force=ForceNoise(floor=0.03, relative=0.03, contact=1e-3),
    residual=ResidualForces(0.7, 0.08, 0.2, 0.3, 0.5, 0.1),
)
DEFAULT_SOURCES: Mapping[str, SourceOptions] = MappingProxyType(
    {
        SIMULATION: SourceOptions(motion=MotionRange(0.3, 1.2, (0.5, 0.9, 1.4)), grip=Grip(5.0, 1.2)),
        WRIST: SourceOptions(
            motion=MotionRange(0.15, 0.9, (0.4, 0.7, 1.1)),
            pose=PoseNoise(white=(2e-5, 5e-5)),
            force=ForceNoise(floor=0.03, relative=0.01, torque=1e-3),
        ),
        IN_HAND_VISION: replace(_HAND, pose=PoseNoise(white=(5e-4, 2e-3), jitter=(1.5e-3, 6e-3), jitter_time=0.1)),
        IN_HAND_KINEMATIC: replace(_HAND, pose=PoseNoise(white=(5e-5, 2e-4), drift=(1e-3, 1e-2), drift_time=1.0)),
    }
)


@dataclass(frozen=True)
class TwinOptions:
    """All of the twins.

    Attributes
    ----------
    samples, time_step : samples of a recording, and s between them
    seed : fixes, with a recording's own seed, everything
    force_levels : N, standard deviation of the simulated object's forces, noise levels 0 to 4
    sources : by name; the two in-hand ones share motion, grip, forces and residual forces: they are two trackings
    breaks : the contact that one object loses
    least : standard deviations that are stated at least
    """

    samples: int = 300
    time_step: float = 0.01
    seed: int = 20201116
    force_levels: tuple[float, ...] = (0.0, 0.05, 0.1, 0.2, 0.5)
    sources: Mapping[str, SourceOptions] = field(default_factory=lambda: DEFAULT_SOURCES)
    breaks: Breaks = field(default_factory=Breaks)
    least: LeastDeviations = field(default_factory=LeastDeviations)

    def __post_init__(self) -> None:
        if self.samples < 3 or self.time_step <= 0.0:
            raise ContactIdError("a recording needs at least 3 samples and a positive time step", "Correct the twin")
        if min(self.force_levels, default=-1.0) < 0.0:
            raise ContactIdError("levels of force noise are missing or negative", "Give standard deviations in N")

    def source(self, name: str) -> SourceOptions:
        """Options of a source, by name."""
        if name not in self.sources:
            raise ContactIdError(f"no source {name!r} of in-hand recordings", f"There are {', '.join(SOURCES)}")
        return self.sources[name]


def noise_free(options: TwinOptions) -> TwinOptions:
    """The same motions and forces without any noise or residual force; a contact that breaks still does."""
    quiet = {
        name: replace(source, pose=PoseNoise(), force=ForceNoise(), residual=ResidualForces())
        for name, source in options.sources.items()
    }
    return replace(options, force_levels=(0.0,) * len(options.force_levels), sources=MappingProxyType(quiet))


def twin_options(block: Mapping[str, Any]) -> TwinOptions:
    """Options of a configuration block: the fields of :class:`TwinOptions`, nested as they are."""
    return TwinOptions(
        samples=block["samples"],
        time_step=block["time_step"],
        seed=block["seed"],
        force_levels=tuple(block["force_levels"]),
        sources=MappingProxyType({name: _source(entry) for name, entry in block["sources"].items()}),
        breaks=Breaks(**block["breaks"]),
        least=LeastDeviations(**block["least"]),
    )


def _source(entry: Mapping[str, Any]) -> SourceOptions:
    motion, pose = dict(entry["motion"]), dict(entry["pose"])
    motion["frequencies"] = tuple(motion["frequencies"])
    pose |= {name: tuple(pose[name]) for name in ("white", "jitter", "drift")}
    return SourceOptions(
        motion=MotionRange(**motion),
        grip=Grip(**entry["grip"]),
        pose=PoseNoise(**pose),
        force=ForceNoise(**entry["force"]),
        residual=ResidualForces(**entry["residual"]),
    )
