"""Synthetic twins of the in-hand paper's recordings, with known truth.

An object moves as prescribed (:mod:`contactid.inhand.simulate.grasp_motion`), contacts carry it
(:mod:`contactid.inhand.simulate.grasped_object`), and sensors report poses, forces and contact
points with noise.

*Sources.* ``simulation``: the simulated object at four contact points, white force noise at five
levels, level 0 without any. ``wrist_ft``: a box on a force-torque sensor, poses from joint angles.
``in_hand_vision`` and ``in_hand_kinematic``: a box at four fingertips, tracked by vision (jitter
that is correlated over some samples) or as fixed to the thumb (small white noise and a slow smooth
drift). The ring finger loses ``box_4`` several times.

*Forces as a tactile model reports them.* The standard deviation of a reported force grows with its
size; it is reported, too, for every sample and contact.

*Residual forces*, in hand only: what acts on the object at a fingertip and isn't sensed
(:func:`contactid.inhand.readers.noise.residual_forces`). The sensed force is the contact force less
the residual one.

*Seeds.* Motion, residual forces and each kind of noise have a stream of their own. Noise levels
share the motion and, up to its size, the noise; boxes share the motion; the two in-hand sources are
two trackings of the same recordings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.inhand.readers.card import card_of
from contactid.inhand.readers.noise import (
    QUIET,
    engagement,
    pose_errors,
    residual_forces,
    stated_pose_deviation,
)
from contactid.inhand.readers.objects import InHandObject, load_objects, noise_level, object_of
from contactid.inhand.readers.recordings import FORM, write_recording
from contactid.inhand.readers.sources import (
    IN_HAND_KINEMATIC,
    IN_HAND_VISION,
    SIMULATION,
    SOURCES,
    WRIST,
    simulated,
)
from contactid.inhand.simulate.grasp_motion import PoseTrajectory, SineMotion, random_motion
from contactid.inhand.simulate.grasped_object import (
    GRAVITY,
    ContactSet,
    broken_contact_forces,
    required_wrench,
    share_wrench,
    shortest_forces,
)
from contactid.output.fits import write_json
from contactid.sources.motion import write_dataset

_HAND = (IN_HAND_VISION, IN_HAND_KINEMATIC)
_STREAMS = ("motion", "residual", "force", "contact", "pose")
_WHAT = {
    SIMULATION: "twin of the simulated object",
    WRIST: "twin of the wrist force-torque recordings",
    IN_HAND_VISION: "twin of the in-hand recordings, tracked by vision",
    IN_HAND_KINEMATIC: "twin of the in-hand recordings, tracked kinematically",
}


def twin_options(block: Mapping[str, Any], objects: str | Path) -> dict[str, Any]:
    """The block ``inhand: twin``, and as ``objects`` those of a file by name: all that twins are
    made of.
    """
    return {**block, "objects": load_objects(objects)}


def noise_free(options: Mapping[str, Any]) -> dict[str, Any]:
    """The same motions and forces without any noise or residual force; a contact that breaks still
    does.
    """
    quiet = {name: {**source, **QUIET} for name, source in options["sources"].items()}
    return {**options, "force_levels": [0.0] * len(options["force_levels"]), "sources": quiet}


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


def recording_motion(source: str, seed: int, options: Mapping[str, Any]) -> SineMotion:
    """The motion of a source's recordings with a seed."""
    return random_motion(
        options["sources"][source]["motion"], _stream("motion", source, "", seed, options)
    )


def hold_object(
    source: str,
    object_name: str,
    seed: int,
    options: Mapping[str, Any],
    motion: SineMotion | None = None,
) -> HeldObject:
    """An object moved and held as in a source; ``motion`` None takes the source's own for the seed."""
    body, settings = object_of(options["objects"], object_name), options["sources"][source]
    motion = motion if motion is not None else recording_motion(source, seed, options)
    trajectory = motion.evaluate(options["time_step"] * np.arange(options["samples"]))
    wrench = required_wrench(body.parameters, trajectory)
    if source == WRIST:
        # one contact carries it all, with the torque about its own place
        force = wrench[:, None, :3]
        torque = wrench[:, None, 3:] - np.cross(body.wrist, force)
        return HeldObject(
            body, trajectory, ("wrist",), body.wrist[None], force, torque, np.zeros_like(force)
        )
    contacts = ContactSet(body.contact_positions, body.contact_normals, body.friction)
    engaged = np.ones((options["samples"], len(body.contact_names)))
    force = share_wrench(wrench, contacts, settings["grip"])
    breaks = options["breaks"]
    if source in _HAND and object_name == breaks["object"] and breaks["count"]:
        if breaks["contact"] not in body.contact_names:
            raise ContactIdError(
                f"{object_name} has no contact {breaks['contact']!r} to break",
                f"There are {body.contact_names}",
            )
        breaking = np.array([name == breaks["contact"] for name in body.contact_names])
        share = engagement(trajectory.time, breaks)
        force = broken_contact_forces(wrench, contacts, settings["grip"], breaking, share)
        # what isn't sensed ends with the contact
        engaged[:, breaking] = share[:, None]
    random = _stream("residual", source, object_name, seed, options)
    # without the squeeze, which balances itself
    load = shortest_forces(wrench, contacts.positions)
    residual = (
        residual_forces(load, trajectory.time, settings["residual"], random) * engaged[..., None]
    )
    return HeldObject(
        body, trajectory, body.contact_names, body.contact_positions, force, None, residual
    )


def simulate_recording(
    source: str,
    object_name: str,
    seed: int,
    options: Mapping[str, Any],
    motion: SineMotion | None = None,
    residual: Callable[[HeldObject, np.ndarray, np.random.Generator], np.ndarray] | None = None,
) -> tuple[xr.Dataset, xr.Dataset]:
    """A recording as sensors report it, and the truth behind it
    (:mod:`contactid.inhand.readers.recordings`).

    Parameters
    ----------
    source, object_name
        Of :data:`.sources.OBJECTS`.
    seed
        Of this recording, at least 0.
    options
        From :func:`twin_options`.
    motion
        Instead of the source's own for this seed.
    residual
        In place of the source's residual forces: of the held object, the load of each contact and a
        generator.

    Raises
    ------
    ContactIdError
        For an unknown object, or a contact to break that the object doesn't have.
    """
    held = hold_object(source, object_name, seed, options, motion)
    if residual is not None:
        load = shortest_forces(
            required_wrench(held.body.parameters, held.trajectory), held.contact_positions
        )
        random = _stream("residual", source, object_name, seed, options)
        held = replace(held, residual=residual(held, load, random))
    settings, least = options["sources"][source], options["least"]
    force = dict(settings["force"])
    if source == SIMULATION:  # the floor is that of the noise level
        force["floor"] = options["force_levels"][noise_level(object_name)]
    position, orientation = stated_pose_deviation(settings["pose"], options["time_step"])
    attributes = {
        "source": source,
        "object": object_name,
        "noise_level": noise_level(object_name),
        "seed": seed,
        "synthetic": 1,
        "gravity": GRAVITY,
        # an exact sensor still states a little, since estimators divide by it
        "position_sd": max(position, least["position"]),
        "orientation_sd": max(orientation, least["orientation"]),
        "contact_position_sd": max(force["contact"], least["contact"]),
        "contact_torque_sd": max(force["torque"], least["torque"]),
        "source_label": f"synthetic data: {_WHAT[source]}, {object_name}, seed {seed}; contactid inhand",
    }
    streams = {
        kind: _stream(kind, source, object_name, seed, options)
        for kind in ("pose", "force", "contact")
    }
    sensed = _sensed(held, settings["pose"], force, options, streams)
    variables = {
        name: (FORM[name][0], values, {"units": FORM[name][1]}) for name, values in sensed.items()
    }
    return xr.Dataset(variables, coords=_coordinates(held), attrs=attributes), _truth(
        held, attributes
    )


def _sensed(
    held: HeldObject,
    pose: Mapping[str, Any],
    force: Mapping[str, float],
    options: Mapping[str, Any],
    streams: Mapping[str, np.random.Generator],
) -> dict[str, np.ndarray]:
    """The values of a recording's variables."""
    # sensed is what acts less what isn't sensed
    motion, sensed, random = held.trajectory, held.force - held.residual, streams["force"]
    shift, turn = pose_errors(pose, options["samples"], options["time_step"], streams["pose"])
    # from the right: the error is a rotation vector in B
    orientation = rotations.as_rotation(motion.orientation) * rotations.as_rotation(
        rotations.exp(turn)
    )
    # an open contact reports exactly zero
    touching = np.linalg.norm(held.force, axis=-1, keepdims=True) > 0.0
    deviation = np.hypot(
        force["floor"], force["relative"] * np.linalg.norm(sensed, axis=-1, keepdims=True)
    )
    points = np.broadcast_to(held.contact_positions, sensed.shape)
    values = {
        "time": motion.time,
        "object_position": motion.position + shift,
        "object_orientation": rotations.continuous(rotations.as_quaternions(orientation)),
        "contact_force": sensed + touching * deviation * random.standard_normal(sensed.shape),
        "contact_position": points
        + force["contact"] * streams["contact"].standard_normal(sensed.shape),
        "contact_force_sd": np.broadcast_to(
            np.maximum(deviation, options["least"]["force"]), sensed.shape
        ).copy(),
        "hull": held.body.hull_vertices,
    }
    if held.torque is not None:
        values["contact_torque"] = held.torque + force["torque"] * random.standard_normal(
            sensed.shape
        )
    return values


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
        variables["contact_torque_true"] = (
            ("sample", "contact", "axis"),
            held.torque,
            {"units": "N m"},
        )
    return xr.Dataset(
        variables,
        coords=_coordinates(held),
        attrs={**attributes, "vector": held.body.parameters.vector.tolist()},
    )


def _coordinates(held: HeldObject) -> dict[str, np.ndarray]:
    return {
        "contact": np.array(held.contact_names, dtype=object),
        "axis": np.array(["x", "y", "z"], dtype=object),
        "quaternion": np.array(["w", "x", "y", "z"], dtype=object),
    }


def _stream(
    kind: str, source: str, object_name: str, seed: int, options: Mapping[str, Any]
) -> np.random.Generator:
    """A generator of its own for each kind of randomness; see the module for what shares one."""
    place = SOURCES.index(source)
    # two trackings of the same recordings: all but the poses' noise is shared
    if source in _HAND and kind != "pose":
        place = SOURCES.index(_HAND[0])
    # noise levels share a stream, and with no object given all boxes do
    number = (
        0 if source == SIMULATION or not object_name else 1 + int(object_name.rpartition("_")[2])
    )
    key = (_STREAMS.index(kind), place, number, seed)
    # a key and not a sum of numbers: streams never meet
    return np.random.default_rng(np.random.SeedSequence(options["seed"], spawn_key=key))


def write_twins(
    objects: str | Path,
    twin: Mapping[str, Any],
    seeds: Iterable[int],
    recordings: Sequence[str | Path],
    truths: Sequence[str | Path],
    card: str | Path,
) -> None:
    """Write every recording, the truth behind it, and the card of them all; in the order of
    :func:`.sources.simulated`.

    The same options give the same values, to a last digit on another processor.
    """
    options, made = twin_options(twin, objects), []
    for one, recording_file, truth_file in zip(simulated(seeds), recordings, truths, strict=True):
        recording, truth = simulate_recording(*one, options)
        write_recording(recording, recording_file)
        write_dataset(truth, truth_file)
        made.append(recording)
    write_json(card, card_of(Path(card).parent.name, made))
