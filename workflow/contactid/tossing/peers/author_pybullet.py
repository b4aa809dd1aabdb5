"""The csv files through which the authors of the tossing paper had PyBullet simulate, read and written.

Both are without a header. Input, 20 columns per simulation: the box's position, quaternion, velocity of its origin and
angular velocity in the world, then the plane's position and quaternion. Output, 13 columns per step: the box's
position, quaternion and velocities, logged *before* the step, so that the first row is the start. Quaternions have
their real part last in the files and first everywhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.tossing.peers.number_table import read_numbers, write_numbers

_INPUT_COLUMNS, _OUTPUT_COLUMNS = 20, 13
_BOX, _PLANE = slice(3, 7), slice(16, 20)  # columns of the quaternions
_NORM_TOLERANCE = 1e-4


@dataclass(frozen=True)
class PyBulletInput:
    """Simulations to run.

    Attributes
    ----------
    states : (n, 13) position (m), quaternion (real part first), velocity of B's origin, angular velocity, in the world
    plane_position : (n, 3) m
    plane_orientation : (n, 4) quaternion, real part first
    """

    states: np.ndarray
    plane_position: np.ndarray
    plane_orientation: np.ndarray


def write_input(path: str | Path, what: PyBulletInput) -> None:
    """Write the authors' input for PyBullet."""
    values = np.hstack([what.states, what.plane_position, what.plane_orientation]).astype(float)
    for part in (_BOX, _PLANE):
        values[:, part] = np.roll(values[:, part], -1, axis=1)
    write_numbers(path, values)


def read_input(path: str | Path) -> PyBulletInput:
    """Read the authors' input for PyBullet.

    Raises
    ------
    ContactIdError
        Where the columns are others, a number is not finite or a quaternion is not of unit length.
    """
    values = read_numbers(path, _INPUT_COLUMNS)
    for part in (_BOX, _PLANE):
        values[:, part] = _unit(values[:, part], str(path))
    return PyBulletInput(values[:, :13], values[:, 13:16], values[:, _PLANE])


def write_output(path: str | Path, states: np.ndarray) -> None:
    """Write the states (n, 13) of one simulation, the first being the start, as the authors' PyBullet logs them."""
    values = np.array(states, dtype=float)
    values[:, _BOX] = np.roll(values[:, _BOX], -1, axis=1)
    write_numbers(path, values)


def read_output(path: str | Path) -> np.ndarray:
    """Read what the authors' PyBullet logged of one simulation: states (n, 13), row k after k steps.

    Raises
    ------
    ContactIdError
        As :func:`read_input`.
    """
    values = read_numbers(path, _OUTPUT_COLUMNS)
    values[:, _BOX] = _unit(values[:, _BOX], str(path))
    return values


def _unit(real_part_last: np.ndarray, path: str) -> np.ndarray:
    """Quaternions (n, 4), real part first, of unit ones with the real part last."""
    norms = np.linalg.norm(real_part_last, axis=1)
    wrong = np.abs(norms - 1.0) > _NORM_TOLERANCE
    if wrong.any():
        raise ContactIdError(
            f"{path}: row {int(wrong.argmax()) + 1} has a quaternion of length {norms[wrong][0]:.4g}",
            "Check the order of the columns",
        )
    return np.roll(real_part_last, 1, axis=1)
