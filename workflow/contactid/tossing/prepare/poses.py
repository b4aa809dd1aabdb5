"""Measured poses of a box over a surface: in the surface's frame C, its vertices and outline, its
velocities.

Where the surface really is follows from the poses at rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial.transform import Rotation

from contactid.core import rotations


@dataclass(frozen=True)
class PlaneCorrection:
    """The surface seen by bodies at rest, relative to the frame C of the data."""

    height: float  # m, of the plane above C's origin
    slope: np.ndarray  # (2,) rise per metre along x_C and y_C
    scatter: float  # m, standard deviation of the resting vertices about the plane
    n_tosses: int  # poses it was fitted to

    @property
    def rotation(self) -> Rotation:
        """Rotation from the corrected frame to C: takes z to the plane's normal by the shortest
        way.
        """
        normal = np.array([-self.slope[0], -self.slope[1], 1.0])
        normal /= np.linalg.norm(normal)
        axis = np.cross([0.0, 0.0, 1.0], normal)
        sine = np.linalg.norm(axis)
        # level: no axis to turn about
        if sine == 0.0:
            return Rotation.identity()
        return Rotation.from_rotvec(axis / sine * np.arctan2(sine, normal[2]))

    def apply(self, position: np.ndarray, orientation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses (n, 3), (n, 4) in C expressed in the corrected frame."""
        back = self.rotation.inv()
        moved = back.apply(position - np.array([0.0, 0.0, self.height]))
        return moved, rotations.as_quaternions(back * rotations.as_rotation(orientation))


def in_surface_frame(
    position: np.ndarray,
    orientation: np.ndarray,
    surface_position: np.ndarray,
    surface_orientation: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Poses of B in M, (n, 3) and (n, 4), expressed in the surface frame C."""
    back = rotations.as_rotation(surface_orientation).inv()
    return back.apply(position - surface_position), rotations.as_quaternions(
        back * rotations.as_rotation(orientation)
    )


def vertex_positions(
    position: np.ndarray, orientation: np.ndarray, vertices: np.ndarray
) -> np.ndarray:
    """Vertices (n, v, 3) of bodies at poses (n, 3), (n, 4); ``vertices`` (v, 3) in B."""
    return position[:, None, :] + np.einsum(
        "nij,vj->nvi", rotations.matrices(orientation), vertices
    )


def touching_corners(heights: np.ndarray, margin: float) -> np.ndarray:
    """(n - 1, v) which corners may touch between two samples, from their heights (n, v) at the
    samples.

    Between two samples a corner's path is the higher one of what the samples before and after say,
    extrapolated: an impact bends it upwards. A corner may touch where that path dips below the
    ``margin`` (m) and, at the second sample, doesn't fall by more than half of it per sample.
    """
    first, second = heights[:-1], heights[1:]
    # (n - 1, v) m per sample
    step = np.diff(heights, axis=0)
    # a sample's way to the next one, as the last one says
    before = np.vstack([step[:1], step[:-1]])
    after = np.vstack([step[1:], step[-1:]])
    bend = before - after
    with np.errstate(divide="ignore", invalid="ignore"):
        # where both paths cross, in samples
        meeting = np.where(bend < 0.0, (second - after - first) / bend, -1.0)
    # both paths cross between the samples: that is the lowest point of an impact
    lowest = np.where((meeting >= 0.0) & (meeting <= 1.0), first + meeting * before, np.inf)
    # of a path that is the higher one of two lines the ends are the higher ones, too
    start, end = np.maximum(first, second - after), np.maximum(first + before, second)
    dips = np.minimum(np.minimum(start, end), lowest) <= margin
    onwards = np.where((bend < 0.0) & (meeting <= 1.0), after, before)
    return dips & (onwards > -0.5 * margin)


def fit_plane(
    rest_positions: np.ndarray, rest_orientations: np.ndarray, vertices: np.ndarray
) -> PlaneCorrection:
    """Fit the surface to the lowest face of every body at rest.

    The height is the median of the faces' centres, so that a body that leans on something doesn't
    lift the plane; the slope is the least-squares plane through the resting vertices whose height
    is within 3 mm of it.

    Parameters
    ----------
    rest_positions, rest_orientations : (t, 3) m and (t, 4), in C
    vertices : (v, 3) m in B; the four lowest of each pose are taken to touch
    """
    points = vertex_positions(rest_positions, rest_orientations, vertices)
    lowest = np.argsort(points[:, :, 2], axis=1)[:, :4]
    touching = np.take_along_axis(points, lowest[:, :, None], axis=1)
    # (t,) centres of the resting faces
    height = float(np.median(touching[:, :, 2].mean(axis=1)))
    flat = touching.reshape(-1, 3)
    flat = flat[np.abs(flat[:, 2] - height) < 3e-3]
    # three faces have twelve corners; of fewer no slope is fitted
    if len(flat) < 12:
        return PlaneCorrection(height, np.zeros(2), 0.0, len(points))
    design = np.column_stack([flat[:, :2], np.ones(len(flat))])
    (slope_x, slope_y, offset), *_ = np.linalg.lstsq(design, flat[:, 2], rcond=None)
    scatter = float(np.std(flat[:, 2] - design @ np.array([slope_x, slope_y, offset])))
    return PlaneCorrection(float(offset), np.array([slope_x, slope_y]), scatter, len(points))


def central_differences(
    position: np.ndarray, orientation: np.ndarray, time_step: float
) -> np.ndarray:
    """Hybrid twists B[M] v_{M,B} by central Euler differences (eqs. 12 to 15, tossing).

    Parameters
    ----------
    position : (n, 3) m, origin of B in M
    orientation : (n, 4) quaternions of R_MB, real part first
    time_step : seconds between samples

    Returns (n, 6): linear velocity (m/s) of B's origin and angular velocity (rad/s), both in M's
    orientation; the first and the last row are NaN, because eqs. 12 and 13 need both neighbours.
    """
    twist = np.full((len(position), 6), np.nan)
    if len(position) < 3:
        return twist
    rotation = rotations.as_rotation(orientation)
    here, after, before = rotation[1:-1], rotation[2:], rotation[:-2]
    # eq. 13: both logarithms are taken from the present sample
    in_body = ((here.inv() * after).as_rotvec() - (here.inv() * before).as_rotvec()) / (
        2.0 * time_step
    )
    twist[1:-1, :3] = (position[2:] - position[:-2]) / (2.0 * time_step)
    # eq. 14
    twist[1:-1, 3:] = here.apply(in_body)
    return twist


def local_velocity(position: np.ndarray, time_step: float, half_window: int) -> np.ndarray:
    """Velocity (n, d) of the straight line fitted to the samples within ``half_window`` of each
    sample.

    ``position`` is (n, d). Near the ends the window is cut, so that it stays within the recording.
    """
    n = len(position)
    offsets = np.arange(-half_window, half_window + 1)
    reached = np.arange(n)[:, None] + offsets
    inside = (reached >= 0) & (reached < n)
    # sums of offsets^0, ^1 and ^2 within the recording, for the slope's closed form
    count, first, second = ((inside * offsets**power).sum(axis=1)[:, None] for power in range(3))
    # 0 of a single sample
    weights = inside * (count * offsets - first) / np.maximum(count * second - first**2, 1)
    terms = (
        weights[:, [k]] * position[np.clip(reached[:, k], 0, n - 1)] for k in range(len(offsets))
    )
    return sum(terms, np.zeros(position.shape)) / time_step


def top_outline(pose: np.ndarray, vertices: np.ndarray) -> np.ndarray:
    """The four highest corners (4, 2) of a box in m, in order round their centre.

    Parameters
    ----------
    pose : (7,) position of B in C in m and quaternion, real part first
    vertices : (8, 3) m in B
    """
    corners = pose[:3] + vertices @ rotations.matrices(pose[3:]).T
    top = corners[np.argsort(corners[:, 2])[-4:], :2]
    around = top - top.mean(axis=0)
    return top[np.argsort(np.arctan2(around[:, 1], around[:, 0]))]
