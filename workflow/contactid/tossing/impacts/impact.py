"""One impact of a box on the surface, as the velocity-based identification sees it (section IV-A,
tossing paper).

Kept impacts are a netCDF file: one entry per impact, everything an identification takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties, body_of, read_dataset, write_dataset
from contactid.tossing.simulate.box import State, SteppingOptions

# diagonal of W in eq. 17: 1 for m/s, 0.1 m for rad/s
WEIGHTS = np.array([1.0, 1.0, 1.0, 0.1, 0.1, 0.1])


@dataclass(frozen=True)
class Impact:
    """A single-corner impact, at the instant at which the motions fitted before and after it meet.

    Everything is expressed in the surface frame C; twists are hybrid (``B[C]``, eq. 15): velocity
    of B's origin and angular velocity, both in C.
    """

    # toss, sample, vertex: recording, sample index k_im of the vertex's lowest height, and which
    # vertex hits
    toss: str
    sample: int
    vertex: int
    # position, orientation: (3,) m and (4,): pose of B in C at the instant of impact
    position: np.ndarray
    orientation: np.ndarray
    # pre_twist, post_twist: (6,) fitted twists just before and just after the impact, m/s and rad/s
    pre_twist: np.ndarray
    post_twist: np.ndarray
    # pre_covariance, post_covariance: (6, 6) covariances of the fitted twists; the two fits use
    # different samples, so they are independent
    pre_covariance: np.ndarray
    post_covariance: np.ndarray
    surface_velocity: np.ndarray  # (3,) m/s of the surface's material


@dataclass(frozen=True)
class ImpactWindow:
    """An impact with the window that the paper simulates around it (section IV-A3)."""

    impact: Impact  # the impact itself
    split: str  # ``identification`` or ``test``
    # state at k_im - 5, from the motion fitted before the impact, over a surface at the height of
    # the impact
    start: State
    n_steps: int  # samples from the start to k_im + c
    end_twist: np.ndarray  # (6,) fitted hybrid twist at k_im + c, the v+ of eq. 17
    gravity: np.ndarray  # (3,) m/s2 in C


@dataclass(frozen=True)
class ImpactGeometry:
    """What the impact law needs of an impact's pose."""

    # (3, 6) W^T: velocity of the impacting vertex (x, y, z in C) per hybrid twist of B's origin
    jacobian: np.ndarray
    # (6, 3) change of the hybrid twist of B's origin per impulse (x, y, z in C, N s) at the vertex
    response: np.ndarray
    delassus: np.ndarray  # (3, 3) ``jacobian @ response``, 1/kg


def impact_geometry(body: BodyProperties, impact: Impact) -> ImpactGeometry:
    """Jacobian, impulse response and Delassus matrix of an impact (eqs. 5, 6 and 3 of the tossing
    paper).
    """
    rotation = rotations.matrices(impact.orientation)
    to_vertex = rotation @ body.vertices[impact.vertex]
    to_center = rotation @ body.center_of_mass
    arm = to_vertex - to_center
    # eq. 5: v + omega x r, r from B's origin
    jacobian = np.hstack([np.eye(3), -rotations.skew(to_vertex)])
    # (3, 3) I^-1 [arm]x in C, with the body's inertia in B
    spin = rotation @ np.linalg.solve(body.inertia, rotation.T @ rotations.skew(arm))
    # the impulse changes the centre of mass's velocity; B's origin moves with it, less omega x
    # (centre - origin)
    response = np.vstack([np.eye(3) / body.mass + rotations.skew(to_center) @ spin, spin])
    return ImpactGeometry(jacobian, response, jacobian @ response)


def cross(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Cross product of two vectors (3,), many times faster than NumPy's general one."""
    a, b, c = first
    x, y, z = second
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])


_LENGTHS = {"xyz": 3, "wxyz": 4, "twist": 6, "twist_2": 6}
# what a file has of every impact: dimensions beside ``impact``, and units
_OF_IMPACT = {
    "position": (("xyz",), "m"),
    "orientation": (("wxyz",), "1"),
    "pre_twist": (("twist",), "m/s and rad/s"),
    "post_twist": (("twist",), "m/s and rad/s"),
    "pre_covariance": (("twist", "twist_2"), "SI"),
    "post_covariance": (("twist", "twist_2"), "SI"),
    "surface_velocity": (("xyz",), "m/s"),
}
_OF_START = {
    "position": (("xyz",), "m"),
    "orientation": (("wxyz",), "1"),
    "linear_velocity": (("xyz",), "m/s"),
    "angular_velocity": (("xyz",), "rad/s"),
}
_OF_WINDOW = {"end_twist": (("twist",), "m/s and rad/s"), "gravity": (("xyz",), "m/s2")}
_BODY = ("vertices", "mass", "center_of_mass", "inertia")


def write_impacts(windows: Sequence[ImpactWindow], prepared: xr.Dataset, path: str | Path) -> None:
    """Write kept impacts of a prepared dataset, one entry each along ``impact``, with its body and
    attributes.
    """
    impacts, starts = [window.impact for window in windows], [window.start for window in windows]
    dataset = xr.Dataset()
    for prefix, columns, items in (
        ("", _OF_IMPACT, impacts),
        ("start_", _OF_START, starts),
        ("", _OF_WINDOW, windows),
    ):
        for name, (dims, unit) in columns.items():
            values = np.array([getattr(item, name) for item in items], dtype=float)
            shape = (len(windows), *(_LENGTHS[dim] for dim in dims))
            dataset[prefix + name] = (("impact", *dims), values.reshape(shape), {"units": unit})
    dataset["toss"] = ("impact", np.array([impact.toss for impact in impacts], dtype=object))
    dataset["split"] = ("impact", np.array([window.split for window in windows], dtype=object))
    dataset["sample"] = ("impact", np.array([impact.sample for impact in impacts], dtype="int64"))
    dataset["impacting_vertex"] = (
        "impact",
        np.array([impact.vertex for impact in impacts], dtype="int64"),
    )
    dataset["n_steps"] = ("impact", np.array([window.n_steps for window in windows], dtype="int64"))
    dataset = dataset.assign_attrs(prepared.attrs)
    write_dataset(dataset.assign({name: prepared[name] for name in _BODY}), path)


def read_impacts(
    path: str | Path, *, split: str | None = None, substeps: int = 1
) -> tuple[BodyProperties, list[ImpactWindow], SteppingOptions]:
    """Body, impacts (all, or one part of them) and stepping from a file.

    Raises :class:`ContactIdError` where no impact is left.
    """
    table = read_dataset(path)
    values = {name: table[name].values for name in table.variables}
    windows = [
        ImpactWindow(
            impact=Impact(
                toss=str(values["toss"][k]),
                sample=int(values["sample"][k]),
                vertex=int(values["impacting_vertex"][k]),
                **{name: values[name][k] for name in _OF_IMPACT},
            ),
            split=str(values["split"][k]),
            start=State(**{name: values[f"start_{name}"][k] for name in _OF_START}),
            n_steps=int(values["n_steps"][k]),
            **{name: values[name][k] for name in _OF_WINDOW},
        )
        for k in range(table.sizes["impact"])
        if split in (None, str(values["split"][k]))
    ]
    if not windows:
        part = f"the {split} part of " if split else ""
        raise ContactIdError(
            f"{part}{path} has no usable impact", "Look at the reasons in impacts.csv"
        )
    return (
        body_of(table),
        windows,
        SteppingOptions(1.0 / float(table.attrs["sample_frequency"]), substeps=substeps),
    )
