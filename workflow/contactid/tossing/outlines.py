"""Outlines of boxes seen from above."""

from __future__ import annotations

import numpy as np

from contactid.core import rotations


def top_outline(pose: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """The four highest corners (4, 2) of a box in m, in order round their centre.

    Parameters
    ----------
    pose
        (7,) position of B in C in m and quaternion, real part first.
    vertices
        (8, 3) m in B.
    """
    corners = pose[:3] + vertices @ rotations.matrices(pose[3:]).T
    top = corners[np.argsort(corners[:, 2])[-4:], :2]
    around = top - top.mean(axis=0)
    return top[np.argsort(np.arctan2(around[:, 1], around[:, 0]))]
