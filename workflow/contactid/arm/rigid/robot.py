"""Robots for pinocchio, built joint by joint from a link table, with a massless probe at the
flange.

A table has one row per link with the origin, orientation and axis of the joint that carries it, its
mass, centre of mass and inertia, as a URDF file has them. A second table of the same robot lists
tensors that are too large by a power of ten.

Base frame: x forward, z up, origin at the base link. The tip is the end of a straight probe along
the last moving link's z axis, counted from that link's own frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pinocchio as pin
from scipy.spatial.transform import Rotation

from contactid.core.errors import ContactIdError

JOINT_TYPES = ("revolute", "fixed")
_ALWAYS = ("ox", "oy", "oz", "o_roll", "o_pitch", "o_yaw", "mass", "cx", "cy", "cz", "i_roll", "i_pitch", "i_yaw",
           "ixx", "ixy", "ixz", "iyy", "iyz", "izz")  # fmt: skip
_REVOLUTE = ("ax", "ay", "az", "q_lower", "q_upper")


@dataclass(frozen=True, eq=False)
class Link:
    """A link and the joint that carries it.

    Attributes
    ----------
    name, parent : of the link and of the one that it hangs on
    joint, joint_type : the joint between them, ``revolute`` or ``fixed``
    origin, orientation : (3,) m and (3, 3), the link's frame in its parent's at joint position 0
    axis : (3,) unit vector in the link's frame; zeros for a fixed joint
    limits : lowest and highest joint position, rad
    mass : kg
    centre : (3,) centre of mass in the link's frame, m
    inertia : (3, 3) about the centre of mass, in the link's axes, kg m^2
    """

    name: str
    parent: str
    joint: str
    joint_type: str
    origin: np.ndarray
    orientation: np.ndarray
    axis: np.ndarray
    limits: tuple[float, float]
    mass: float
    centre: np.ndarray
    inertia: np.ndarray


def read_links(path: str | Path) -> tuple[Link, ...]:
    """Links of a table, parents before their children; angles are fixed-axis roll, pitch and yaw in
    rad.

    Raises
    ------
    ContactIdError
        Where the table lacks a column or a number, names an unknown parent or joint type, or holds
        a negative mass, an axis of no direction or limits in the wrong order.
    """
    try:
        table = pd.read_csv(path)
    except (OSError, ValueError) as error:
        raise ContactIdError(
            f"{path}: not a readable link table ({error})", "Give a csv file with a header"
        ) from None
    missing = [
        name
        for name in ("link", "joint", "joint_type", "parent", *_ALWAYS, *_REVOLUTE)
        if name not in table
    ]
    if missing:
        raise ContactIdError(
            f"{path}: lacks the columns {', '.join(missing)}", "Add them, SI units and rad"
        )
    if table.empty:
        raise ContactIdError(f"{path}: holds no link", "Add a row per link")
    # the first row's parent is the base
    known = {str(table["parent"].iloc[0])}
    links = []
    for row in table.to_dict("records"):
        where = f"{path}: link {row['link']!r}"
        if row["parent"] not in known:
            raise ContactIdError(
                f"{where} hangs on the unknown link {row['parent']!r}", "List parents first"
            )
        if row["link"] in known:
            raise ContactIdError(f"{where} is there twice", "Give every link its own name")
        known.add(row["link"])
        links.append(_link(row, where))
    return tuple(links)


def _link(row: dict, where: str) -> Link:
    kind = row["joint_type"]
    if kind not in JOINT_TYPES:
        raise ContactIdError(
            f"{where} has the joint type {kind!r}", f"Use one of {', '.join(JOINT_TYPES)}"
        )
    for name in (*_ALWAYS, *(_REVOLUTE if kind == "revolute" else ())):
        if not (isinstance(row[name], (int, float)) and np.isfinite(row[name])):
            raise ContactIdError(
                f"{where} has no number in column {name!r}", "Fill it in, SI units and rad"
            )
    if row["mass"] < 0.0:
        raise ContactIdError(
            f"{where} has the mass {row['mass']} kg", "Give a mass of at least 0 kg"
        )
    axis, limits = np.zeros(3), (0.0, 0.0)
    if kind == "revolute":
        axis, limits = (
            _numbers(row, "ax", "ay", "az"),
            (float(row["q_lower"]), float(row["q_upper"])),
        )
        if not np.linalg.norm(axis) > 0.0:
            raise ContactIdError(
                f"{where} turns about an axis without direction", "Give ax, ay, az"
            )
        if limits[0] >= limits[1]:
            raise ContactIdError(f"{where} has q_lower above q_upper", "Exchange them")
        axis = axis / np.linalg.norm(axis)
    # inertia frames are turned against the link's, as URDF has it
    turn = Rotation.from_euler("xyz", _numbers(row, "i_roll", "i_pitch", "i_yaw")).as_matrix()
    xx, xy, xz, yy, yz, zz = _numbers(row, "ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    return Link(
        name=str(row["link"]),
        parent=str(row["parent"]),
        joint=str(row["joint"]),
        joint_type=kind,
        origin=_numbers(row, "ox", "oy", "oz"),
        orientation=Rotation.from_euler(
            "xyz", _numbers(row, "o_roll", "o_pitch", "o_yaw")
        ).as_matrix(),
        axis=axis,
        limits=limits,
        mass=float(row["mass"]),
        centre=_numbers(row, "cx", "cy", "cz"),
        inertia=turn @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ turn.T,
    )


def _numbers(row: dict, *names: str) -> np.ndarray:
    return np.array([row[name] for name in names], dtype=float)


def read_divisors(path: str | Path, links: tuple[Link, ...]) -> dict[str, float]:
    """Numbers by which the tensors of some links are to be divided, by link; columns link, divisor,
    reason.

    Raises
    ------
    ContactIdError
        Where the table is unreadable, names an unknown link or holds a divisor that isn't positive.
    """
    try:
        table = pd.read_csv(path)
        divisors = dict(zip(table["link"], table["divisor"].astype(float), strict=True))
    except (OSError, ValueError, KeyError) as error:
        raise ContactIdError(
            f"{path}: not a readable table of corrections ({error})", "See lwr4's"
        ) from None
    for name, divisor in divisors.items():
        if name not in {link.name for link in links} or not divisor > 0.0:
            raise ContactIdError(
                f"{path}: {name!r} divided by {divisor}", "Name a link and a positive number"
            )
    return divisors


@dataclass(frozen=True, eq=False)
class Robot:
    """An arm with a probe.

    Attributes
    ----------
    model : pinocchio's
    tip : id of the frame at the probe's tip; z along the probe, away from the flange
    links : as described, or as corrected
    """

    model: Any
    tip: int
    links: tuple[Link, ...]
    _data: Any = field(repr=False)

    @property
    def position_limits(self) -> np.ndarray:
        """(n, 2) lowest and highest joint positions, rad."""
        return np.column_stack([self.model.lowerPositionLimit, self.model.upperPositionLimit])

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """M(q) (n, n) in kg m^2 of the rigid arm, without motors, for joint positions (n,) in rad."""
        # crba fills the upper triangle alone
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
        return self.tip_twist_jacobian(q)[:3].copy()

    def tip_drift(self, q: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """(6,) linear (m/s2) and angular (rad/s2) acceleration of the tip where no joint
        accelerates, in base axes.
        """
        pin.forwardKinematics(self.model, self._data, q, velocity, np.zeros(self.model.nv))
        # classical acceleration of the point, with the centripetal part
        drift = pin.getFrameClassicalAcceleration(
            self.model, self._data, self.tip, pin.LOCAL_WORLD_ALIGNED
        )
        return drift.vector.copy()

    def gravity_torque(self, q: np.ndarray) -> np.ndarray:
        """g (n,) at joint positions (n,), N m."""
        return pin.computeGeneralizedGravity(self.model, self._data, q).copy()

    def bias_torque(self, q: np.ndarray, velocity: np.ndarray) -> np.ndarray:
        """n(q, q') (n,): of gravity, Coriolis and centrifugal forces, N m."""
        return pin.nonLinearEffects(self.model, self._data, q, velocity).copy()

    def tip_twist_jacobian(self, q: np.ndarray) -> np.ndarray:
        """(6, n) Jacobian of the tip's linear (m) and angular velocity, in the base frame's axes."""
        return pin.computeFrameJacobian(
            self.model, self._data, np.asarray(q, dtype=float), self.tip, pin.LOCAL_WORLD_ALIGNED
        )

    def joint_placements(self, q: np.ndarray) -> np.ndarray:
        """(n, 3) origins of the joints in the base frame, m."""
        pin.forwardKinematics(self.model, self._data, np.asarray(q, dtype=float))
        return np.array([self._data.oMi[k].translation for k in range(1, self.model.njoints)])

    def _tip_placement(self, q: np.ndarray) -> Any:
        pin.forwardKinematics(self.model, self._data, np.asarray(q, dtype=float))
        return pin.updateFramePlacement(self.model, self._data, self.tip)


def random_inertias(links: tuple[Link, ...], seed: int) -> tuple[Link, ...]:
    """The same links, each with its mass and its tensor times random factors of a third to three."""
    # even in the logarithm: as often larger as smaller
    factors = np.exp(
        np.random.default_rng(seed).uniform(-np.log(3.0), np.log(3.0), (len(links), 2))
    )
    return tuple(
        replace(link, mass=link.mass * heavier, inertia=link.inertia * larger)
        for link, (heavier, larger) in zip(links, factors, strict=True)
    )


def load_robot(
    links: str | Path,
    *,
    name: str,
    probe_length: float,
    corrections: str | Path | None = None,
) -> Robot:
    """Robot of a link table; fixed links are lumped with the moving ones that carry them.

    The described tensors of ``lwr4``'s links 1, 6 and 7 look too large by powers of ten: link 7,
    0.11 kg, would have a radius of gyration of 0.6 to 0.8 m. Corrections divide them by the numbers
    in ``lwr4_corrections.csv``, whose last column says what each divisor rests on. That is an
    inference from the table alone.

    ``name`` is for messages. ``probe_length``, m, counts from the last moving link's origin along
    its z axis; the probe has no mass. Links that are fixed to the last moving one, a force sensor
    of 0.52 kg, are left out. ``corrections`` is the table of divisors, None leaves the tensors as
    described. The printed predictions are met with a probe of 0.10 m, the tensors as
    described, and without the sensor only.

    Raises
    ------
    ContactIdError
        Where a table is missing or wrong, no link moves, or the links' masses leave a joint without
        inertia.
    """
    described = read_links(links)
    divisors = {} if corrections is None else read_divisors(corrections, described)
    used = tuple(
        replace(link, inertia=link.inertia / divisors.get(link.name, 1.0)) for link in described
    )
    return build_robot(used, name=name, probe_length=probe_length)


def build_robot(used: tuple[Link, ...], *, name: str, probe_length: float) -> Robot:
    """The robot of given links; the rest as in :func:`load_robot`."""
    moving = [link.name for link in used if link.joint_type == "revolute"]
    if not moving:
        raise ContactIdError(
            f"robot {name!r} has no link that moves", "Give at least one revolute joint"
        )
    # what the last moving link carries is the sensor
    tool = _carried(used, moving[-1])
    model = pin.Model()
    model.name = name
    unbounded = np.array([np.inf])
    # of each link: the joint that moves it, and its place behind that joint
    frames: dict[str, tuple[int, Any]] = {used[0].parent: (0, pin.SE3.Identity())}
    for link in used:
        joint, at = frames[link.parent]
        at = at * pin.SE3(link.orientation, link.origin)
        # a fixed link stays behind the joint before it
        if link.joint_type == "revolute":
            turning = pin.JointModelRevoluteUnaligned(link.axis)
            low, high = (np.array([limit]) for limit in link.limits)
            joint = model.addJoint(joint, turning, at, link.joint, unbounded, unbounded, low, high)
            at = pin.SE3.Identity()
        # the sensor's mass is left out
        if link.name not in tool:
            model.appendBodyToJoint(joint, pin.Inertia(link.mass, link.centre, link.inertia), at)
        frames[link.name] = (joint, at)
    joint, at = frames[moving[-1]]
    at = at * pin.SE3(np.eye(3), np.array([0.0, 0.0, probe_length]))
    tip = model.addFrame(pin.Frame("tip", joint, 0, at, pin.FrameType.OP_FRAME))
    robot = Robot(model, tip, used, model.createData())
    # no M^-1 for a joint without inertia
    if np.linalg.eigvalsh(robot.mass_matrix(np.zeros(model.nq)))[0] <= 0.0:
        raise ContactIdError(
            f"robot {name!r} has a joint that moves no inertia", "Check masses and inertias"
        )
    return robot


def _carried(links: tuple[Link, ...], name: str) -> set[str]:
    parents: Mapping[str, str] = {link.name: link.parent for link in links}
    found = {name}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {name}
