"""An identified body as MJCF (MuJoCo) and URDF: text that these formats' readers load.

Both take mass, centre of mass and the inertia tensor about it as they are, in the axes of the body
frame; units are kg and m. What they have of contact differs:

* *Friction.* MJCF: the geom's ``friction``, sliding part alone, with ``priority="1"`` so that it
  counts whatever the other body says. URDF knows none; Bullet's extension
  ``<contact><lateral_friction>`` is written, other readers pass it over.
* *Restitution.* MJCF has none as such. With negative numbers, ``solref="-k -b"`` makes a contact
  the damped spring ``r'' + b r' + k r = 0`` that only pushes. The ratio of its speeds depends on
  ``b / (2 sqrt k)`` alone (:func:`damping_ratio`), so any restitution of one impact can be had; the
  contact lasts about ``pi / sqrt k``, which the time step must resolve. Here ``sqrt k`` is 600
  rad/s: 5 ms, and a time step of 0.5 ms or less. URDF: Bullet's ``<restitution>``.

A planar body of J kg m2 is given as a flat one, ``np.diag([J / 2, J / 2, J])``: in its plane only J
counts. In MJCF it moves along x and y (up) and turns about z, and ``option`` has gravity along -y.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from xml.etree import ElementTree as ET

import numpy as np

from contactid.core.errors import ContactIdError

# rad/s, sqrt(k): contacts of 5 ms, which steps of 0.5 ms or less resolve (see above)
CONTACT_RATE = 600.0
# restitution at a damping ratio of one
_CRITICAL_E = float(np.exp(-2.0))
# the ratio's expressions on either side of one divide zero by zero there
_NEAR_CRITICAL = 1e-6
# damping ratio at which less than the least restitution (1e-5) is left
_MOST_DAMPED = 1e3
# of solimp: as good as rigid, at any depth
_IMPEDANCE = "0.99 0.99 0.001"


@dataclass(frozen=True, eq=False)
class IdentifiedBody:
    """What a simulator is told of a body.

    Attributes
    ----------
    name : of the body
    mass : kg
    center_of_mass : (3,) m in the body frame
    inertia : (3, 3) kg m2 about the centre of mass, tensor entries in the body frame's axes
    friction : coefficient; None where it isn't known
    restitution : normal coefficient from 0 to 1; None where it isn't known
    box : (3,) m, whole lengths of a box about the frame's origin, for contacts; or
    hull : (v, 3) m in the body frame, points whose convex hull is the shape; or neither
    planar : moves in the frame's x-y plane alone; ``hull`` has corners alone then
    """

    name: str
    mass: float
    center_of_mass: np.ndarray
    inertia: np.ndarray
    friction: float | None = None
    restitution: float | None = None
    box: np.ndarray | None = None
    hull: np.ndarray | None = None
    planar: bool = False

    def __post_init__(self) -> None:
        """Refuse what no simulator takes: a mass or a principal moment that isn't positive."""
        moments = np.linalg.eigvalsh(np.asarray(self.inertia, dtype=float))
        # a flat body's largest moment is the sum of the others, but for rounding
        largest_possible = (moments[0] + moments[1]) * (1.0 + 1e-9)
        if not (self.mass > 0.0 and moments[0] > 0.0 and moments[2] <= largest_possible):
            raise ContactIdError(
                f"{self.name}: no body has a mass of {self.mass:g} kg and principal moments of {moments} kg m2",
                "Give a physically consistent estimate",
            )


def damping_ratio(restitution: float) -> float:
    """Damping ratio ``b / (2 sqrt k)`` of a spring that only pushes, for a ``restitution``.

    With the rates ``b0 = b/2`` and ``w = sqrt(k - b0^2)`` the push ends when ``k r + b r' = 0``;
    the speeds' ratio is ``exp(-(b0 / w) (pi - atan2(2 b0 w, w^2 - b0^2)))``; overdamped the same
    with a logarithm. At least 1e-5 is left.

    >>> damping_ratio(1.0)
    0.0
    """
    if not 0.0 <= restitution <= 1.0:
        raise ContactIdError(f"a restitution of {restitution:g}", "Give a number from 0 to 1")
    if restitution == 1.0:
        return 0.0
    # slow to import, and bodies without restitution don't need it
    from scipy.optimize import brentq

    def excess(ratio: float) -> float:
        return float(np.log(max(restitution, 1e-5)) + _loss(ratio))

    if restitution > _CRITICAL_E:
        return float(brentq(excess, 0.0, 1.0 - _NEAR_CRITICAL))
    return float(brentq(excess, 1.0 + _NEAR_CRITICAL, _MOST_DAMPED))


def _loss(ratio: float) -> float:
    """Minus the logarithm of the restitution at a damping ratio."""
    # rates in units of sqrt(k); in the overdamped case w is imaginary
    w = np.sqrt(abs(1.0 - ratio**2))
    if ratio < 1.0:
        angle = np.pi - np.arctan2(2.0 * ratio * w, w**2 - ratio**2)
        return float(ratio / w * angle)
    return float(2.0 * ratio / w * np.arctanh(w / ratio))


def mjcf(body: IdentifiedBody) -> str:
    """A MuJoCo model of a body that is free to move; ``<body>`` can be copied into another one."""
    root = ET.Element("mujoco", model=body.name)
    if body.hull is not None:
        # a flat body's outline has corners alone, and the search for them is slow to import
        corners = body.hull if body.planar else _corners(body.hull)
        asset = ET.SubElement(root, "asset")
        ET.SubElement(asset, "mesh", name=f"{body.name}_hull", vertex=_numbers(corners.ravel()))
    if body.planar:
        ET.SubElement(root, "option", gravity="0 -9.81 0")
    element = ET.SubElement(ET.SubElement(root, "worldbody"), "body", name=body.name)
    if body.planar:
        for joint, axis in (("slide", "1 0 0"), ("slide", "0 1 0"), ("hinge", "0 0 1")):
            ET.SubElement(element, "joint", type=joint, axis=axis)
    else:
        ET.SubElement(element, "freejoint")
    # MuJoCo's order: xx, yy, zz, xy, xz, yz
    entries = np.asarray(body.inertia)[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    ET.SubElement(
        element,
        "inertial",
        pos=_numbers(body.center_of_mass),
        mass=_numbers([body.mass]),
        fullinertia=_numbers(entries),
    )
    shape: dict[str, str] = {}
    if body.box is not None:
        # MuJoCo takes half the lengths
        shape = {"type": "box", "size": _numbers(0.5 * np.asarray(body.box))}
    elif body.hull is not None:
        shape = {"type": "mesh", "mesh": f"{body.name}_hull"}
    if shape:
        if body.friction is not None:
            shape |= {
                "friction": _numbers([body.friction, 0.0, 0.0]),
                "condim": "3",
                "priority": "1",
            }
        if body.restitution is not None:
            stiffness = CONTACT_RATE**2
            damping = 2.0 * damping_ratio(body.restitution) * CONTACT_RATE
            # negative numbers are taken as stiffness and damping, positive ones as time constants
            spring = [-stiffness, -damping]
            shape |= {"solref": _numbers(spring), "solimp": _IMPEDANCE, "priority": "1"}
        ET.SubElement(element, "geom", shape)
    return _text(root)


def urdf(body: IdentifiedBody, mesh: str = "") -> str:
    """A URDF robot of one link; a hull needs the file ``mesh`` beside it (:func:`wavefront`)."""
    root = ET.Element("robot", name=body.name)
    link = ET.SubElement(root, "link", name=body.name)
    inertial = ET.SubElement(link, "inertial")
    ET.SubElement(inertial, "origin", xyz=_numbers(body.center_of_mass), rpy="0 0 0")
    ET.SubElement(inertial, "mass", value=_numbers([body.mass]))
    entries = {}
    for row, column in zip(*np.triu_indices(3), strict=True):
        name = f"i{'xyz'[row]}{'xyz'[column]}"
        entries[name] = _numbers([body.inertia[row][column]])
    ET.SubElement(inertial, "inertia", entries)
    if body.friction is not None or body.restitution is not None:
        contact = ET.SubElement(link, "contact")
        for name, value in (("lateral_friction", body.friction), ("restitution", body.restitution)):
            if value is not None:
                ET.SubElement(contact, name, value=_numbers([value]))
    shape = None
    if body.box is not None:
        shape = ("box", {"size": _numbers(body.box)})
    elif body.hull is not None and mesh:
        shape = ("mesh", {"filename": mesh})
    if shape:
        for part in ("visual", "collision"):
            geometry = ET.SubElement(ET.SubElement(link, part), "geometry")
            ET.SubElement(geometry, *shape)
    return _text(root)


def wavefront(hull: np.ndarray) -> str:
    """The convex hull of points (v, 3) m as Wavefront .obj: triangles, outside anticlockwise."""
    # slow to import, and bodies without a hull don't need it
    import trimesh

    mesh = trimesh.convex.convex_hull(np.asarray(hull, dtype=float))
    text = mesh.export(file_type="obj", digits=12, header=None, include_normals=False)
    return text.strip() + "\n"


def _corners(hull: np.ndarray) -> np.ndarray:
    # slow to import, and bodies without a hull don't need it
    from scipy.spatial import ConvexHull

    points = np.asarray(hull, dtype=float)
    return points[np.sort(ConvexHull(points).vertices)]


def _numbers(values: Iterable[float]) -> str:
    """Twelve digits each, so that a tensor stays symmetric and physical."""
    return " ".join(f"{float(value):.12g}" for value in values)


def _text(root: ET.Element) -> str:
    ET.indent(root)
    return ET.tostring(root, encoding="unicode") + "\n"
