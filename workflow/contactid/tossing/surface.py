"""Express motion in the surface frame C, and find where the surface really is from the poses at rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from contactid.core import rotations


@dataclass(frozen=True)
class PlaneCorrection:
    """The surface seen by bodies at rest, relative to the frame C of the data.

    Attributes
    ----------
    height : m, of the plane above C's origin
    slope : (2,) rise per metre along x_C and y_C
    scatter : m, standard deviation of the resting vertices about the plane
    n_tosses : poses it was fitted to
    """

    height: float
    slope: np.ndarray
    scatter: float
    n_tosses: int

    @property
    def rotation(self) -> Rotation:
        """Rotation from the corrected frame to C: takes z to the plane's normal by the shortest way."""
        normal = np.array([-self.slope[0], -self.slope[1], 1.0])
        normal /= np.linalg.norm(normal)
        axis = np.cross([0.0, 0.0, 1.0], normal)
        sine = np.linalg.norm(axis)
        if sine == 0.0:
            return Rotation.identity()
        return Rotation.from_rotvec(axis / sine * np.arctan2(sine, normal[2]))

    def apply(self, position: np.ndarray, orientation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses (n, 3), (n, 4) in C expressed in the corrected frame."""
        back = self.rotation.inv()
        moved = back.apply(position - np.array([0.0, 0.0, self.height]))
        return moved, rotations.as_quaternions(back * rotations.as_rotation(orientation))


def in_surface_frame(
    position: np.ndarray, orientation: np.ndarray, surface_position: np.ndarray, surface_orientation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Poses of B in M, (n, 3) and (n, 4), expressed in the surface frame C."""
    back = rotations.as_rotation(surface_orientation).inv()
    return back.apply(position - surface_position), rotations.as_quaternions(back * rotations.as_rotation(orientation))


def vertex_positions(position: np.ndarray, orientation: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """Vertices (n, v, 3) of bodies at poses (n, 3), (n, 4); ``vertices`` (v, 3) in B."""
    return position[:, None, :] + np.einsum("nij,vj->nvi", rotations.matrices(orientation), vertices)


def fit_plane(rest_positions: np.ndarray, rest_orientations: np.ndarray, vertices: np.ndarray) -> PlaneCorrection:
    """Fit the surface to the lowest face of every body at rest.

    The height is the median of the faces' centres, so that a body that leans on something doesn't lift the plane; the
    slope is the least-squares plane through the resting vertices whose height is within 3 mm of it.

    Parameters
    ----------
    rest_positions, rest_orientations
        (t, 3) m and (t, 4), in C.
    vertices
        (v, 3) m in B; the four lowest of each pose are taken to touch.
    """
    points = vertex_positions(rest_positions, rest_orientations, vertices)
    lowest = np.argsort(points[:, :, 2], axis=1)[:, :4]
    touching = np.take_along_axis(points, lowest[:, :, None], axis=1)
    height = float(np.median(touching[:, :, 2].mean(axis=1)))
    flat = touching.reshape(-1, 3)
    flat = flat[np.abs(flat[:, 2] - height) < 3e-3]
    if len(flat) < 12:
        return PlaneCorrection(height, np.zeros(2), 0.0, len(points))
    design = np.column_stack([flat[:, :2], np.ones(len(flat))])
    (slope_x, slope_y, offset), *_ = np.linalg.lstsq(design, flat[:, 2], rcond=None)
    scatter = float(np.std(flat[:, 2] - design @ np.array([slope_x, slope_y, offset])))
    return PlaneCorrection(float(offset), np.array([slope_x, slope_y]), scatter, len(points))
