"""Synthetic twins of the in-hand paper's recordings, with known truth.

An object moves as prescribed (:mod:`contactid.inhand.simulate.grasp_motion`), contacts carry it
(:mod:`contactid.inhand.simulate.grasped_object`), and sensors report poses, forces and contact points with noise.

*Sources.* ``simulation``: the simulated object at four contact points, white force noise at five levels, level 0
without any. ``wrist_ft``: a box on a force-torque sensor, poses from joint angles. ``in_hand_vision`` and
``in_hand_kinematic``: a box at four fingertips, tracked by vision (jitter that is correlated over some samples) or as
fixed to the thumb (small white noise and a slow smooth drift). The ring finger loses ``box_4`` several times.

*Forces as a tactile model reports them.* The standard deviation of a reported force grows with its size; it is
reported, too, for every sample and contact.

*Residual forces*, in hand only: what acts on the object at a fingertip and isn't sensed
(:func:`contactid.inhand.readers.noise.residual_forces`). The sensed force is the contact force less the residual one.

*Seeds.* Motion, residual forces and each kind of noise have a stream of their own. Noise levels share the motion and,
up to its size, the noise; boxes share the motion; the two in-hand sources are two trackings of the same recordings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.inhand.readers.noise import (
    Breaks,
    ForceNoise,
    PoseNoise,
    ResidualForces,
    engagement,
    pose_errors,
    residual_forces,
    stated_pose_deviation,
)
from contactid.inhand.readers.objects import InHandObject, load_objects, noise_level, object_of
from contactid.inhand.readers.recordings import write_recording
from contactid.inhand.readers.sources import IN_HAND_KINEMATIC, IN_HAND_VISION, SIMULATION, SOURCES, WRIST, simulated
from contactid.inhand.simulate.grasp_motion import MotionRange, PoseTrajectory, SineMotion, random_motion
from contactid.inhand.simulate.grasped_object import (
    GRAVITY,
    ContactSet,
    Grip,
    broken_contact_forces,
    required_wrench,
    share_wrench,
    shortest_forces,
)
from contactid.sources.motion import write_dataset

_HAND = (IN_HAND_VISION, IN_HAND_KINEMATIC)
_STREAMS = ("motion", "residual", "force", "contact", "pose")
_WHAT = {
    SIMULATION: "twin of the simulated object",
    WRIST: "twin of the wrist force-torque recordings",
    IN_HAND_VISION: "twin of the in-hand recordings, tracked by vision",
    IN_HAND_KINEMATIC: "twin of the in-hand recordings, tracked kinematically",
}


@dataclass(frozen=True)
class SourceOptions:
    """One source: how the object is moved and held, and how its sensors err."""

    motion: MotionRange
    grip: Grip
    pose: PoseNoise
    force: ForceNoise
    residual: ResidualForces


@dataclass(frozen=True)
class LeastDeviations:
    """Standard deviations that a recording states at least, so that no weight is infinite where there is no noise.

    Attributes
    ----------
    force, torque, position, orientation, contact : N, N m, m, rad, m
    """

    force: float
    torque: float
    position: float
    orientation: float
    contact: float


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
    objects : by name (:func:`contactid.inhand.readers.objects.load_objects`)
    """

    samples: int
    time_step: float
    seed: int
    force_levels: Sequence[float]
    sources: Mapping[str, SourceOptions]
    breaks: Breaks
    least: LeastDeviations
    objects: Mapping[str, InHandObject]

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
    return replace(options, force_levels=(0.0,) * len(options.force_levels), sources=quiet)


def twin_options(block: Mapping[str, Any], objects: str | Path) -> TwinOptions:
    """Options of the block ``inhand: twin``, the fields of :class:`TwinOptions`, with the objects of a file."""
    given = {
        "sources": {name: _source(**entry) for name, entry in block["sources"].items()},
        "breaks": Breaks(**block["breaks"]),
        "least": LeastDeviations(**block["least"]),
        "objects": load_objects(objects),
    }
    return TwinOptions(**{**block, **given})


def _source(motion: Any, grip: Any, pose: Any, force: Any, residual: Any) -> SourceOptions:
    return SourceOptions(
        MotionRange(**motion), Grip(**grip), PoseNoise(**pose), ForceNoise(**force), ResidualForces(**residual)
    )


@dataclass(frozen=True, eq=False)
class HeldObject:
    """An object in motion, and the exact forces on it.

    Attributes
    ----------
    body : the object
    trajectory : its motion, n samples
    contact_names, contact_positions : k names and (k, 3) m in B
    force : (n, k, 3) N in B, total force of every contact on the object
    torque : (n, k, 3) N m in B about the contact, or None where contacts can't exert any
    residual : (n, k, 3) N in B, the part of ``force`` that isn't sensed
    """

    body: InHandObject
    trajectory: PoseTrajectory
    contact_names: tuple[str, ...]
    contact_positions: np.ndarray
    force: np.ndarray
    torque: np.ndarray | None
    residual: np.ndarray


def recording_motion(source: str, seed: int, options: TwinOptions) -> SineMotion:
    """The motion of a source's recordings with a seed."""
    return random_motion(options.source(source).motion, _stream("motion", source, "", seed, options))


def hold_object(
    source: str, object_name: str, seed: int, options: TwinOptions, motion: SineMotion | None = None
) -> HeldObject:
    """An object moved and held as in a source; ``motion`` None takes the source's own for the seed."""
    body, settings = object_of(options.objects, object_name), options.source(source)
    motion = motion if motion is not None else recording_motion(source, seed, options)
    trajectory = motion.evaluate(options.time_step * np.arange(options.samples))
    wrench = required_wrench(body.parameters, trajectory)
    if source == WRIST:
        force = wrench[:, None, :3]
        torque = wrench[:, None, 3:] - np.cross(body.wrist, force)
        return HeldObject(body, trajectory, ("wrist",), body.wrist[None], force, torque, np.zeros_like(force))
    contacts = ContactSet(body.contact_positions, body.contact_normals, body.friction)
    engaged = np.ones((options.samples, len(body.contact_names)))
    force = share_wrench(wrench, contacts, settings.grip)
    breaks = options.breaks
    if source in _HAND and object_name == breaks.object and breaks.count:
        if breaks.contact not in body.contact_names:
            raise ContactIdError(
                f"{object_name} has no contact {breaks.contact!r} to break", f"There are {body.contact_names}"
            )
        breaking = np.array([name == breaks.contact for name in body.contact_names])
        share = engagement(trajectory.time, breaks)
        force = broken_contact_forces(wrench, contacts, settings.grip, breaking, share)
        engaged[:, breaking] = share[:, None]
    random = _stream("residual", source, object_name, seed, options)
    load = shortest_forces(wrench, contacts.positions)
    residual = residual_forces(load, trajectory.time, settings.residual, random) * engaged[..., None]
    return HeldObject(body, trajectory, body.contact_names, body.contact_positions, force, None, residual)


def simulate_recording(
    source: str,
    object_name: str,
    seed: int,
    options: TwinOptions,
    motion: SineMotion | None = None,
) -> tuple[xr.Dataset, xr.Dataset]:
    """A recording as sensors report it, and the truth behind it.

    Parameters
    ----------
    source
        ``simulation``, ``wrist_ft``, ``in_hand_vision`` or ``in_hand_kinematic``.
    object_name
        ``noise_level_0`` to ``noise_level_4`` for the simulation, ``box_0`` to ``box_4`` otherwise.
    seed
        Of this recording, at least 0.
    options
        What the twins are made of.
    motion
        Instead of the source's own for this seed.

    Returns
    -------
    recording, truth : datasets in the canonical form, see :mod:`contactid.inhand.readers.recordings`

    Raises
    ------
    ContactIdError
        For an unknown source or object, and a noise level that the options don't have.
    """
    held = hold_object(source, object_name, seed, options, motion)
    settings = _source_settings(source, object_name, options)
    attributes = _attributes(source, object_name, seed, settings, options)
    truth = _truth(held, attributes)
    return _recording(held, settings, options, attributes), truth


def _source_settings(source: str, object_name: str, options: TwinOptions) -> SourceOptions:
    """A source's options, the floor of the simulation's force noise taken from its level."""
    settings = options.source(source)
    if source != SIMULATION:
        return settings
    level = noise_level(object_name)
    if level >= len(options.force_levels):
        raise ContactIdError(
            f"{object_name}: there are {len(options.force_levels)} levels of force noise", "Add one to force_levels"
        )
    return replace(settings, force=replace(settings.force, floor=options.force_levels[level]))


def _recording(
    held: HeldObject, settings: SourceOptions, options: TwinOptions, attributes: Mapping[str, Any]
) -> xr.Dataset:
    source, name, seed = attributes["source"], attributes["object"], attributes["seed"]
    motion, sensed = held.trajectory, held.force - held.residual
    shift, turn = pose_errors(
        settings.pose, options.samples, options.time_step, _stream("pose", source, name, seed, options)
    )
    orientation = rotations.as_rotation(motion.orientation) * rotations.as_rotation(rotations.exp(turn))
    random = _stream("force", source, name, seed, options)
    touching = np.linalg.norm(held.force, axis=-1, keepdims=True) > 0.0
    deviation = np.hypot(settings.force.floor, settings.force.relative * np.linalg.norm(sensed, axis=-1, keepdims=True))
    reported = sensed + touching * deviation * random.standard_normal(sensed.shape)
    points = np.broadcast_to(held.contact_positions, sensed.shape)
    scatter = _stream("contact", source, name, seed, options).standard_normal(sensed.shape)
    variables: dict[str, Any] = {
        "time": ("sample", motion.time, {"units": "s"}),
        "object_position": (("sample", "axis"), motion.position + shift, {"units": "m"}),
        "object_orientation": (
            ("sample", "quaternion"), rotations.continuous(rotations.as_quaternions(orientation)), {"units": "1"}
        ),
        "contact_force": (("sample", "contact", "axis"), reported, {"units": "N"}),
        "contact_position": (
            ("sample", "contact", "axis"), points + settings.force.contact * scatter, {"units": "m"}
        ),
        "contact_force_sd": (
            ("sample", "contact", "axis"),
            np.broadcast_to(np.maximum(deviation, options.least.force), sensed.shape).copy(), {"units": "N"},
        ),
        "hull": (("vertex", "axis"), held.body.hull_vertices, {"units": "m"}),
    }  # fmt: skip
    if held.torque is not None:
        noise = settings.force.torque * random.standard_normal(sensed.shape)
        variables["contact_torque"] = (("sample", "contact", "axis"), held.torque + noise, {"units": "N m"})
    return xr.Dataset(variables, coords=_coordinates(held), attrs=dict(attributes))


def _truth(held: HeldObject, attributes: Mapping[str, Any]) -> xr.Dataset:
    motion, along = held.trajectory, ("sample", "axis")
    variables: dict[str, Any] = {
        "time": ("sample", motion.time, {"units": "s"}),
        "object_position": (along, motion.position, {"units": "m"}),
        "object_orientation": (("sample", "quaternion"), motion.orientation, {"units": "1"}),
        "velocity": (along, motion.velocity, {"units": "m/s"}),
        "acceleration": (along, motion.acceleration, {"units": "m/s2"}),
        "angular_velocity": (along, motion.angular_velocity, {"units": "rad/s"}),
        "angular_acceleration": (along, motion.angular_acceleration, {"units": "rad/s2"}),
        "contact_force_true": (("sample", "contact", "axis"), held.force, {"units": "N"}),
        "residual_force": (("sample", "contact", "axis"), held.residual, {"units": "N"}),
        "contact_position": (("contact", "axis"), held.contact_positions, {"units": "m"}),
        "hull": (("vertex", "axis"), held.body.hull_vertices, {"units": "m"}),
    }
    if held.torque is not None:
        variables["contact_torque_true"] = (("sample", "contact", "axis"), held.torque, {"units": "N m"})
    return xr.Dataset(
        variables, coords=_coordinates(held), attrs={**attributes, "vector": held.body.parameters.vector.tolist()}
    )


def _coordinates(held: HeldObject) -> dict[str, np.ndarray]:
    return {
        "contact": np.array(held.contact_names, dtype=object),
        "axis": np.array(["x", "y", "z"], dtype=object),
        "quaternion": np.array(["w", "x", "y", "z"], dtype=object),
    }


def _attributes(
    source: str, object_name: str, seed: int, settings: SourceOptions, options: TwinOptions
) -> dict[str, Any]:
    least = options.least
    position, orientation = stated_pose_deviation(settings.pose, options.time_step)
    return {
        "source": source,
        "object": object_name,
        "noise_level": noise_level(object_name),
        "seed": seed,
        "synthetic": 1,
        "gravity": GRAVITY,
        "position_sd": max(position, least.position),
        "orientation_sd": max(orientation, least.orientation),
        "contact_position_sd": max(settings.force.contact, least.contact),
        "contact_torque_sd": max(settings.force.torque, least.torque),
        "source_label": f"synthetic data: {_WHAT[source]}, {object_name}, seed {seed}; contactid inhand",
    }


def _stream(kind: str, source: str, object_name: str, seed: int, options: TwinOptions) -> np.random.Generator:
    """A generator of its own for each kind of randomness; see the module for what shares one."""
    if seed < 0:
        raise ContactIdError(f"the seed {seed} of an in-hand recording is negative", "Use 0 or more")
    place = SOURCES.index(source)
    if source in _HAND and kind != "pose":
        place = SOURCES.index(_HAND[0])
    number = 0 if source == SIMULATION or not object_name else 1 + int(object_name.rpartition("_")[2])
    key = (_STREAMS.index(kind), place, number, seed)
    return np.random.default_rng(np.random.SeedSequence(options.seed, spawn_key=key))


def write_twins(
    objects: str | Path,
    twin: Mapping[str, Any],
    seeds: Iterable[int],
    recordings: Sequence[str | Path],
    truths: Sequence[str | Path],
) -> None:
    """Write every recording and the truth behind it; files in the order of :func:`.sources.simulated`.

    The same options give the same values, to a last digit on another processor.
    """
    options = twin_options(twin, objects)
    for one, recording_file, truth_file in zip(simulated(seeds), recordings, truths, strict=True):
        recording, truth = simulate_recording(*one, options)
        write_recording(recording, recording_file)
        write_dataset(truth, truth_file)
