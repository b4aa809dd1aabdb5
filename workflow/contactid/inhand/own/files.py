"""A user's own recording of a grasped object, its hull, and what is known of the noise: three
files, or what they hold in memory (a DataFrame or Dataset, an array, a mapping).

*Recording*: a csv with a header. Commas, semicolons or tabs; columns in any order; upper or lower
case.

==================================================== ===== ==========================================================
columns                                              unit  meaning
==================================================== ===== ==========================================================
``time``                                             s     increasing; steps may differ; none of still poses
``object_position_x``, ``_y``, ``_z``                m     origin of the body frame B in the world frame, z upwards
``object_orientation_w``, ``_x``, ``_y``, ``_z``     1     quaternion, body to world, real part first
``contact_force_<contact>_x``, ``_y``, ``_z``        N     on the object, in B; zero where the contact is broken
``contact_position_<contact>_x``, ``_y``, ``_z``     m     in B
``contact_force_sd_<contact>_x``, ``_y``, ``_z``     N     optional: standard deviation of the force
``contact_torque_<contact>_x``, ``_y``, ``_z``       N m   optional: in B about the contact, of a force-torque sensor
==================================================== ===== ==========================================================

Without a time, rows are poses in which the object is held still: they tell mass and centre of mass
alone. A contact's name is whatever stands for ``<contact>``. Quaternions are normalised; q and -q
are the same.

*Hull*: ``x,y,z`` in m in B per row of a csv, or a mesh (``.stl``, ``.obj``, ``.ply``, ``.off``,
``.glb``); the object lies within these points' convex hull.

*Noise*: a small YAML file of standard deviations of independent errors, row by row::

    position_sd: 5.0e-5          # m, of the object's position
    orientation_sd: 2.0e-4       # rad
    contact_position_sd: 1.0e-3  # m
    # the rest may be left out; these are the defaults, chosen as for the study's own fingertips
    force_sd: 0.03               # N, and
    force_relative_sd: 0.03      # of the force besides, where the recording has no contact_force_sd
    force_gain_sd: 0.05          # of calibration, of each contact's and of all in common (of a channel,
                                 # where one sensor is all): no motion tells what forces have in common,
                                 # so it widens the standard errors
    unsensed_share: 0.0          # of the load, at most, that bypasses the sensors at every moment: no motion tells
                                 # that either; it widens the intervals of mass and tensor upwards
    contact_torque_sd: 1.0e-3    # N m
    gravity: 9.81                # m/s2, along -z of the world
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull

from contactid.core.configuration import check, restore_numbers
from contactid.core.errors import ContactIdError
from contactid.core.inertia import hull_halfspaces
from contactid.core.reading import content_of, read_yaml
from contactid.inhand.identify.likelihood import GAIN_SD
from contactid.sources.conventions import STATED, Convention
from contactid.sources.recorded_table import RecordedTable, Source

Hull = str | Path | ArrayLike
Noise = str | Path | Mapping[str, float]
_SCHEMA = Path(__file__).with_name("noise.schema.yaml")
_DEFAULTS = {
    "force_sd": 0.03, "force_relative_sd": 0.03, "force_gain_sd": GAIN_SD, "unsensed_share": 0.0,
    "contact_torque_sd": 1e-3, "gravity": 9.81,
}  # fmt: skip
FORM = "See --help of the command for the columns"
_LEAST_FORCE_SD = 1e-3  # N
_AXES = "xyz"
_MESHES = ("stl", "obj", "ply", "off", "glb")
_LARGEST_HULL = 5.0  # m
_LARGEST_MESH = 1 << 24  # bytes


@dataclass(frozen=True, eq=False)
class OwnTable:
    """The columns of a recording as they stand in its file, n rows and c contacts; NaN where there
    is no number.

    Attributes
    ----------
    time : (n,) s, or None of still poses
    position : (n, 3) m
    orientation : (n, 4) real part first, as read
    contacts : their names
    force, point : (n, c, 3) N and m
    force_sd, torque : (n, c, 3) N and N m, or None
    """

    time: np.ndarray | None
    position: np.ndarray
    orientation: np.ndarray
    contacts: tuple[str, ...]
    force: np.ndarray
    point: np.ndarray
    force_sd: np.ndarray | None
    torque: np.ndarray | None


def read_noise(noise: Noise) -> dict[str, float]:
    """Every number of a noise file or mapping, defaults filled in; this module's text shows one.

    Raises
    ------
    ContactIdError
        For a missing file, an unknown or missing key, and a value that can't be.
    """
    if isinstance(noise, Mapping):
        name, content = "the noise", dict(noise)
    else:
        name = str(noise)
        content = restore_numbers(read_yaml(noise, "Give position_sd: 5.0e-5 and so on"))
    check(content, _SCHEMA, name)
    return {name: float(value) for name, value in {**_DEFAULTS, **content}.items()}


def read_hull(hull: Hull) -> np.ndarray:
    """(v, 3) m: the corners of the convex hull of points (n, 3), of a table's, or of a mesh.

    Raises
    ------
    ContactIdError
        For a file that can't be read, has other than three numbers per point, spans no volume, or
        isn't in metres.
    """
    name = str(hull) if isinstance(hull, str | Path) else "the hull"
    try:
        points = _points_of(Path(hull)) if isinstance(hull, str | Path) else np.array(hull, float)
        # a flat list of numbers is three a row, too
        points = points.reshape(-1, 3)
    except (OSError, ValueError, IndexError) as error:
        raise ContactIdError(
            f"{name}: no readable hull ({error})",
            f"Give rows of x,y,z in m, or a mesh as .{', .'.join(_MESHES)}",
        ) from None
    points = points[np.isfinite(points).all(axis=1)]
    try:
        # refuses points that span no volume
        hull_halfspaces(points)
    except ContactIdError as error:
        raise ContactIdError(f"{name}: {error.problem}", error.remedy) from None
    size = float(np.ptp(points, axis=0).max())
    if size > _LARGEST_HULL:
        raise ContactIdError(
            f"{name}: the hull is {size:g} m long", "Give it in metres, in the body frame"
        )
    # corners alone: every later step costs by their number
    return points[ConvexHull(points).vertices]


def _points_of(path: Path) -> np.ndarray:
    data = content_of(path, _LARGEST_MESH)
    kind = path.suffix.lower().removeprefix(".")
    return _mesh(data, kind) if kind in _MESHES else _points(data)


def _mesh(data: bytes, kind: str) -> np.ndarray:
    """Vertices of all of a mesh file's parts, each where the file puts it."""
    import trimesh  # slow to import, and most hulls are rows of points

    try:
        scene = trimesh.load_scene(BytesIO(data), file_type=kind, process=False)
        solids = (trimesh.Trimesh, trimesh.PointCloud)
        parts = [part.vertices for part in scene.dump() if isinstance(part, solids)]
    except Exception as error:  # its readers end in many ways on a file of another kind
        raise ValueError(f"not of kind {kind}: {error}") from None
    if not parts:
        raise ValueError(f"not of kind {kind}: no mesh in it")
    return np.concatenate(parts)


def _points(data: bytes) -> np.ndarray:
    """Three numbers per line, below a header or without one."""
    lines = [
        re.split(r"[,;\s]+", line.strip())
        for line in data.decode("utf-8-sig").splitlines()
        if line.strip()
    ]
    first = [word.strip('"').lower() for word in lines[0]]
    order = [first.index(axis) for axis in _AXES] if set(_AXES) <= set(first) else [0, 1, 2]
    numeric = all(re.fullmatch(r"[-+.\deE]+", word) for word in first if word)
    rows = lines if numeric else lines[1:]
    return np.array([[float(row[place]) for place in order] for row in rows])


def read_table(source: Source, convention: Convention = STATED) -> OwnTable:
    """Read a recording's columns, in its own frame; this module's text names them.

    Raises
    ------
    ContactIdError
        For a file that can't be read as a table, and for columns that are missing or there twice,
        all of them.
    """
    columns = RecordedTable.read(source, convention)
    contacts = contacts_of(columns)

    def names(kind: str, axes: str = _AXES) -> list[str]:
        of = contacts or ("<contact>",)
        own = [(kind, contact) for contact in of] if kind.startswith("contact") else [(kind, "")]
        return ["_".join(part for part in (*one, axis) if part) for one in own for axis in axes]

    optional = [
        kind
        for kind in ("contact_force_sd", "contact_torque")
        if any(quantity.startswith(kind) for quantity in columns.places)
    ]
    wanted = names("position") + names("orientation", "wxyz")
    wanted += [
        name for kind in ("contact_force", "contact_position", *optional) for name in names(kind)
    ]
    columns.refuse_without(wanted, FORM)
    if not len(columns.numbers):
        raise ContactIdError(f"{columns.name}: no row has a number", "Give its rows")
    values = columns.values
    many = (len(contacts), 3)
    return OwnTable(
        time=values(["time"])[:, 0] if "time" in columns.places else None,
        position=values(names("position"), 3),
        orientation=values(names("orientation", "wxyz"), 4),
        contacts=contacts,
        force=values(names("contact_force"), *many),
        point=values(names("contact_position"), *many),
        force_sd=values(names("contact_force_sd"), *many)
        if "contact_force_sd" in optional
        else None,
        torque=values(names("contact_torque"), *many) if "contact_torque" in optional else None,
    )


def contacts_of(table: RecordedTable) -> tuple[str, ...]:
    """Names of the contacts that have a force; "" is one."""
    forces = [
        name.removeprefix("contact_force_")
        for name in table.places
        if name.startswith("contact_force_") and "_force_sd_" not in name
    ]
    return tuple(dict.fromkeys(name[:-1].rstrip("_") for name in forces))


def force_deviations(table: OwnTable, noise: dict[str, Any]) -> np.ndarray:
    """(n, c, 3) N: the file's own, else of the noise file, at least a millinewton."""
    if table.force_sd is not None:
        # a deviation of zero would be divided by
        return np.maximum(table.force_sd, _LEAST_FORCE_SD)
    size = np.linalg.norm(table.force, axis=2, keepdims=True)
    stated = np.hypot(noise["force_sd"], noise["force_relative_sd"] * size)
    return np.broadcast_to(np.maximum(stated, _LEAST_FORCE_SD), table.force.shape)
