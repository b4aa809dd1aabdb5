"""Poses in space as written in another frame: which components stand where, which way is up, which
axis is mirrored.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from contactid.sources.conventions import FRAMES, MIRROR, QUATERNION, THETA, UP

#: (3, 3) the proper rotation that takes the axis which points up to z.
_TO_Z_UP = {
    "z": np.eye(3),
    "-z": np.diag([1.0, -1.0, -1.0]),
    "y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]),
    "-y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "x": np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]),
    "-x": np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
}
_HALF = np.sqrt(0.5)
#: The same rotations as quaternions, real part first.
_QUATERNIONS = {
    "z": (1.0, 0.0, 0.0, 0.0), "-z": (0.0, 1.0, 0.0, 0.0), "y": (_HALF, _HALF, 0.0, 0.0),
    "-y": (_HALF, -_HALF, 0.0, 0.0), "x": (_HALF, 0.0, -_HALF, 0.0), "-x": (_HALF, 0.0, _HALF, 0.0),
}  # fmt: skip


def position_matrix(frame: Mapping[str, str]) -> np.ndarray:
    """(3, 3): positions as written to those in a right-handed frame with z upwards."""
    mirrored = np.eye(3)
    if frame.get(MIRROR, "none") != "none":
        axis = "xyz".index(frame[MIRROR])
        mirrored[axis, axis] = -1.0
    return _TO_Z_UP[frame.get(UP, "z")] @ mirrored


def quaternion_matrix(frame: Mapping[str, str]) -> np.ndarray:
    """(4, 4): quaternions as written to those from the body to a right-handed frame with z upwards,
    real part first.

    A mirrored frame mirrors the body's axes, too: R becomes M R M.
    """
    order, _, inverse = frame.get(QUATERNION, "wxyz").partition("-")
    matrix = np.eye(4)[[order.index(axis) for axis in "wxyz"]]
    signs = np.ones(4)
    if inverse:
        signs[1:] = -signs[1:]
    if frame.get(MIRROR, "none") != "none":
        others = [1 + i for i, axis in enumerate("xyz") if axis != frame[MIRROR]]
        signs[others] = -signs[others]
    w, x, y, z = _QUATERNIONS[frame.get(UP, "z")]
    turning = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
    return turning @ (signs[:, None] * matrix)


def in_plane(position: np.ndarray, frame: Mapping[str, str]) -> np.ndarray:
    """Poses (n, 3) as written, x, y (m) and theta (rad), to those with y upwards and theta
    counter-clockwise.
    """
    up = frame.get(UP, "y")
    vertical = "xy".index(up[-1])
    x, y = position[:, 1 - vertical], position[:, vertical]
    sign = -1.0 if frame.get(THETA) == "clockwise" else 1.0
    return np.column_stack([x, -y if up.startswith("-") else y, sign * position[:, 2]])


def frames_in_space(stated: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Every combination of quaternion, up and mirror, the stated one first; fewer changes come
    before more.
    """
    parts = (QUATERNION, UP, MIRROR)
    own = {part: stated.get(part, FRAMES[part][0]) for part in parts}
    frames = [
        dict(zip(parts, values, strict=True))
        for values in (
            (q, u, m) for q in FRAMES[QUATERNION] for u in FRAMES[UP] for m in FRAMES[MIRROR]
        )
    ]
    for frame in sorted(frames, key=lambda one: (changes(one, own), one[MIRROR] != own[MIRROR])):
        yield {**stated, **{part: value for part, value in frame.items() if value != own[part]}}


def changes(frame: Mapping[str, str], stated: Mapping[str, str]) -> int:
    """In how many parts two frames differ, an inverse counted for itself."""
    differing = [
        part for part, value in frame.items() if value != stated.get(part, FRAMES[part][0])
    ]
    return len(differing) + sum("-inverse" in frame[part] for part in differing)
