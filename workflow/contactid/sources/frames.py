"""Poses as written in another frame: order of components, which way is up, a mirrored axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import permutations, product

import numpy as np

from contactid.sources.conventions import FRAMES, MIRROR, QUATERNION, THETA, UP, Convention

_AXES = ("position_x", "position_y", "position_z")

#: (3, 3) the proper rotation that takes the axis which points up to z.
_TO_Z_UP = {
    "z": np.eye(3),
    "-z": np.diag([1.0, -1.0, -1.0]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "-y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "x": np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    "-x": np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
}
# sine and cosine of 45 deg, half of a quarter turn
_HALF = np.sqrt(0.5)
#: The same rotations as quaternions, real part first.
_QUATERNIONS = {
    "z": (1.0, 0.0, 0.0, 0.0),
    "-z": (0.0, 1.0, 0.0, 0.0),
    "y": (_HALF, _HALF, 0.0, 0.0),
    "-y": (_HALF, -_HALF, 0.0, 0.0),
    "x": (_HALF, 0.0, -_HALF, 0.0),
    "-x": (_HALF, 0.0, _HALF, 0.0),
}


def position_matrix(frame: Mapping[str, str]) -> np.ndarray:
    """(3, 3): positions as written to those in a right-handed frame with z upwards."""
    mirrored = np.eye(3)
    if frame.get(MIRROR, "none") != "none":
        axis = "xyz".index(frame[MIRROR])
        mirrored[axis, axis] = -1.0
    return _TO_Z_UP[frame.get(UP, "z")] @ mirrored


def quaternion_matrix(frame: Mapping[str, str]) -> np.ndarray:
    """(4, 4): quaternions as written to those from the body to a right-handed frame, z upwards.

    The result has the real part first. A mirrored frame mirrors the body's axes, too: R becomes
    M R M.
    """
    order, _, inverse = frame.get(QUATERNION, "wxyz").partition("-")
    columns = [order.index(component) for component in "wxyz"]
    permutation = np.eye(4)[columns]
    signs = np.ones(4)
    # a conjugate turns the other way about the same axis
    if inverse:
        signs[1:] *= -1.0
    # so does a mirror image, but about the mirrored axis, whose sign changes once more
    if frame.get(MIRROR, "none") != "none":
        turned = [1 + i for i, axis in enumerate("xyz") if axis != frame[MIRROR]]
        signs[turned] *= -1.0
    # the matrix of a product with the quaternion on the left
    w, x, y, z = _QUATERNIONS[frame.get(UP, "z")]
    to_z_up = np.array(
        [
            [w, -x, -y, -z],
            [x, w, -z, y],
            [y, z, w, -x],
            [z, -y, x, w],
        ]
    )
    return to_z_up @ (signs[:, None] * permutation)


def in_plane(position: np.ndarray, frame: Mapping[str, str]) -> np.ndarray:
    """Poses (n, 3) as written, x, y (m), theta (rad), with y upwards and theta anticlockwise."""
    up = frame.get(UP, "y")
    vertical = "xy".index(up[-1])
    x = position[:, 1 - vertical]
    y = position[:, vertical]
    theta = position[:, 2]
    # an axis alone turns round: what is filmed from behind has the sign of theta for itself
    if up.startswith("-"):
        y = -y
    if frame.get(THETA) == "clockwise":
        theta = -theta
    return np.column_stack([x, y, theta])


def frames_in_space(stated: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Every combination of quaternion, up and mirror; the stated one and fewer changes go first."""
    own = {part: stated.get(part, FRAMES[part][0]) for part in (QUATERNION, UP, MIRROR)}
    frames = []
    for quaternion, up, mirror in product(FRAMES[QUATERNION], FRAMES[UP], FRAMES[MIRROR]):
        frames.append({QUATERNION: quaternion, UP: up, MIRROR: mirror})

    # of as many changes, those without a mirror first: left-handed frames are rare
    def rank(frame: Mapping[str, str]) -> tuple[int, bool]:
        return changes(frame, own), frame[MIRROR] != own[MIRROR]

    for frame in sorted(frames, key=rank):
        # a part that isn't stated stays so: the command's option names what is changed alone
        changed = {part: value for part, value in frame.items() if value != own[part]}
        yield {**stated, **changed}


def changes(frame: Mapping[str, str], stated: Mapping[str, str]) -> int:
    """In how many parts two frames differ, an inverse counted for itself."""
    count = 0
    for part, value in frame.items():
        if value != stated.get(part, FRAMES[part][0]):
            # order and direction of a quaternion are two choices of whoever wrote it
            count += 2 if "-inverse" in value else 1
    return count


def other_positions(convention: Convention, stated: Convention) -> Iterator[Convention]:
    """Positions in axes that the orientations aren't in."""
    names = {quantity: stated.columns.get(quantity, f"object_{quantity}") for quantity in _AXES}
    for order, signs in product(permutations(_AXES), product(("", "-"), repeat=3)):
        changed = {}
        for axis, other, sign in zip(_AXES, order, signs, strict=True):
            # a column that is stated with a sign may get a second one: they cancel
            column = f"{sign}{names[other]}".replace("--", "")
            if column != names[axis]:
                changed[axis] = column
        if changed:
            yield replace(convention, columns={**convention.columns, **changed})


def columns_matrix(convention: Convention, stated: Convention) -> np.ndarray:
    """(3, 3): positions as the stated convention's columns give them to those of another one's."""
    names = [stated.columns.get(quantity, f"object_{quantity}") for quantity in _AXES]
    without_signs = [name.removeprefix("-") for name in names]
    matrix = np.zeros((3, 3))
    for row, quantity in enumerate(_AXES):
        column = convention.columns.get(quantity, names[row])
        place = without_signs.index(column.removeprefix("-"))
        is_same_direction = column.startswith("-") == names[place].startswith("-")
        matrix[row, place] = 1.0 if is_same_direction else -1.0
    return matrix
