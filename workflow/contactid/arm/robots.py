"""Robots for pinocchio, built joint by joint from a link table, with a massless probe at the flange.

Base frame: x forward, z up, origin at the base link. The tip is the end of a straight probe along the last moving
link's z axis, counted from that link's own frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pinocchio as pin

from contactid.arm.robot_links import RESOURCES, Link, read_divisors, read_links
from contactid.core.errors import ContactIdError

Inertia = Literal["described", "corrected"]
INERTIAS: tuple[Inertia, ...] = ("described", "corrected")
PROBE_LENGTH = 0.10  # m, with which the printed predictions are met


@dataclass(frozen=True, eq=False)
class Robot:
    """An arm with a probe.

    Attributes
    ----------
    name : of its link table
    model : pinocchio's
    tip : id of the frame at the probe's tip; z along the probe, away from the flange
    links : as described, or as corrected
    """

    name: str
    model: Any
    tip: int
    links: tuple[Link, ...]
    _data: Any = field(repr=False)

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Of the n joints that move."""
        return tuple(self.model.names[1:])

    @property
    def position_limits(self) -> np.ndarray:
        """(n, 2) lowest and highest joint positions, rad."""
        return np.column_stack([self.model.lowerPositionLimit, self.model.upperPositionLimit])

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """M(q) (n, n) in kg m^2 of the rigid arm, without motors, for joint positions (n,) in rad."""
        upper = np.triu(pin.crba(self.model, self._data, np.asarray(q, dtype=float)))
        return upper + np.triu(upper, 1).T

    def tip_position(self, q: np.ndarray) -> np.ndarray:
        """(3,) position of the tip in the base frame, m."""
        return self._tip_placement(q).translation.copy()

    def tip_orientation(self, q: np.ndarray) -> np.ndarray:
        """(3, 3) rotation that takes coordinates of the tip's frame to those of the base frame."""
        return self._tip_placement(q).rotation.copy()

    def tip_jacobian(self, q: np.ndarray) -> np.ndarray:
        """(3, n) Jacobian of the tip's linear velocity, in the base frame's axes, m."""
        return pin.computeFrameJacobian(
            self.model, self._data, np.asarray(q, dtype=float), self.tip, pin.LOCAL_WORLD_ALIGNED
        )[:3].copy()

    def joint_placements(self, q: np.ndarray) -> np.ndarray:
        """(n, 3) origins of the joints in the base frame, m."""
        pin.forwardKinematics(self.model, self._data, np.asarray(q, dtype=float))
        return np.array([self._data.oMi[k].translation for k in range(1, self.model.njoints)])

    def _tip_placement(self, q: np.ndarray) -> Any:
        pin.forwardKinematics(self.model, self._data, np.asarray(q, dtype=float))
        return pin.updateFramePlacement(self.model, self._data, self.tip)


def load_robot(
    name: str = "lwr4",
    *,
    inertia: Inertia = "described",
    probe_length: float = PROBE_LENGTH,
    force_sensor: bool = False,
    resources: str | Path = RESOURCES,
) -> Robot:
    """Robot of the link table ``<name>.csv``.

    The described tensors of ``lwr4``'s links 1, 6 and 7 look too large by powers of ten: link 7, 0.11 kg, would have a
    radius of gyration of 0.6 to 0.8 m. ``corrected`` divides them by the numbers in ``lwr4_corrections.csv``, whose
    last column says what each divisor rests on. That is an inference from the table alone.

    Parameters
    ----------
    inertia
        ``described`` as in the table, with which the paper's predictions are met, or ``corrected``.
    probe_length
        m, from the last moving link's origin along its z axis; the probe has no mass.
    force_sensor
        Keep the links fixed to the last moving one, a force sensor of 0.52 kg. The printed predictions are met only
        without it.
    resources
        Folder of the tables.

    Raises
    ------
    ContactIdError
        Where the table is missing or wrong, or an option is unknown.
    """
    if inertia not in INERTIAS:
        raise ContactIdError(f"unknown inertia {inertia!r}", f"Use one of {', '.join(INERTIAS)}")
    path = Path(resources) / f"{name}.csv"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in Path(resources).glob("*.csv") if "_" not in file.stem))
        raise ContactIdError(f"no link table of a robot {name!r} at {path}", f"Known robots: {known}")
    links = read_links(path)
    if inertia == "corrected":
        divisors = read_divisors(Path(resources) / f"{name}_corrections.csv", links)
        links = tuple(replace(link, inertia=link.inertia / divisors.get(link.name, 1.0)) for link in links)
    return build_robot(name, links, probe_length, force_sensor=force_sensor)


def build_robot(name: str, links: tuple[Link, ...], probe_length: float, *, force_sensor: bool = False) -> Robot:
    """Robot of links; fixed links are lumped with the moving ones that carry them.

    Raises
    ------
    ContactIdError
        Where no link moves, or the links' masses leave a joint without inertia.
    """
    moving = [link.name for link in links if link.joint_type == "revolute"]
    if not moving:
        raise ContactIdError(f"robot {name!r} has no link that moves", "Give at least one revolute joint")
    tool = _carried(links, moving[-1])
    model = pin.Model()
    model.name = name
    frames: dict[str, tuple[int, Any]] = {links[0].parent: (0, pin.SE3.Identity())}
    for link in links:
        joint, at = frames[link.parent]
        at = at * pin.SE3(link.orientation, link.origin)
        if link.joint_type == "revolute":
            joint = _add_joint(model, joint, at, link)
            at = pin.SE3.Identity()
        if force_sensor or link.name not in tool:
            model.appendBodyToJoint(joint, pin.Inertia(link.mass, link.centre, link.inertia), at)
        frames[link.name] = (joint, at)
    joint, at = frames[moving[-1]]
    at = at * pin.SE3(np.eye(3), np.array([0.0, 0.0, probe_length]))
    tip = model.addFrame(pin.Frame("tip", joint, 0, at, pin.FrameType.OP_FRAME))
    robot = Robot(name, model, tip, links, model.createData())
    if np.linalg.eigvalsh(robot.mass_matrix(np.zeros(model.nq)))[0] <= 0.0:
        raise ContactIdError(f"robot {name!r} has a joint that moves no inertia", "Check masses and inertias")
    return robot


def _carried(links: tuple[Link, ...], name: str) -> set[str]:
    parents: Mapping[str, str] = {link.name: link.parent for link in links}
    found = {name}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {name}


def _add_joint(model: Any, parent: int, at: Any, link: Link) -> int:
    unbounded = np.array([np.inf])
    return model.addJoint(
        parent, pin.JointModelRevoluteUnaligned(link.axis), at, link.joint, unbounded, unbounded,
        np.array([link.limits[0]]), np.array([link.limits[1]]),
    )  # fmt: skip
