"""Clouds of simulated rest poses: what uncertain parameters and an uncertain release do to one
toss.

A rest pose of a box on a plane is discrete and continuous at once: which face looks up, and (x, y,
yaw). The yaw is the angle in the surface of a body axis fixed for each face (the next one after the
face's own), so that face and yaw together are the orientation of a box that lies flat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import xarray as xr

from contactid.core import rotations
from contactid.tossing.identify.trajectories import bootstrap_draws
from contactid.tossing.prepare.preprocess import upper_face
from contactid.tossing.prepare.tosses import PreparedToss, Problem, simulated_rests
from contactid.tossing.simulate.batch import Runs, symmetric_root
from contactid.tossing.simulate.box import ContactParameters

FACES = np.array([-3, -2, -1, 1, 2, 3])
UNKNOWN = 0  # face of a rest pose that wasn't measured


def face_name(face: int) -> str:
    """``+x`` for 1, ``-z`` for -3."""
    return f"{'+' if face > 0 else '-'}{'xyz'[abs(face) - 1]}"


@dataclass(frozen=True)
class FlatPoses:
    """n rest poses on a plane."""

    face: np.ndarray  # (n,) of ``FACES``: the body axis that looks up, with its sign
    pose: np.ndarray  # (n, 3) x and y of B's origin in C (m) and yaw (rad)

    @classmethod
    def of(cls, position: np.ndarray, orientation: np.ndarray) -> FlatPoses:
        """From positions (n, 3) and quaternions (n, 4) in C."""
        face = upper_face(orientation)
        axes = np.take_along_axis(
            rotations.matrices(orientation), (np.abs(face) % 3)[:, None, None], axis=2
        )[..., 0]
        return cls(face, np.column_stack([position[:, :2], np.arctan2(axes[:, 1], axes[:, 0])]))

    def __getitem__(self, places: slice | np.ndarray) -> FlatPoses:
        """Some of them."""
        return FlatPoses(self.face[places], self.pose[places])

    def matrices(self) -> np.ndarray:
        """R_CB (n, 3, 3) of boxes that lie flat."""
        n, rows = len(self.face), np.arange(len(self.face))
        # x, y, z are 0, 1, 2, and the next one after z is x
        own, next_axis = np.abs(self.face) - 1, np.abs(self.face) % 3
        matrices = np.zeros((n, 3, 3))
        matrices[rows, 2, own] = np.sign(self.face)
        matrices[rows, :2, next_axis] = np.column_stack(
            [np.cos(self.pose[:, 2]), np.sin(self.pose[:, 2])]
        )
        third = 3 - own - next_axis  # own, next, third are cyclic, so third = own x next
        matrices[rows, :, third] = np.cross(matrices[rows, :, own], matrices[rows, :, next_axis])
        return matrices


@dataclass(frozen=True)
class Cloud:
    """Simulated rest poses of one toss beside its measured one."""

    toss: str  # name
    heading: np.ndarray  # (2,) unit vector in the surface: the direction the box is tossed in
    samples: FlatPoses  # n rest poses under uncertain inputs
    central: FlatPoses  # 1 rest pose, of the identified parameters and the fitted release
    measured: FlatPoses  # 1 rest pose, of face ``UNKNOWN`` where it wasn't measured

    def residuals(self, poses: FlatPoses) -> np.ndarray:
        """``poses`` (m) minus samples (n) along and across the heading (m) and in yaw (rad,
        wrapped): (m, n, 3).
        """
        along, across = self.heading, np.array([-self.heading[1], self.heading[0]])
        apart = poses.pose[:, None, :] - self.samples.pose[None, :, :]
        yaw = np.mod(apart[..., 2] + np.pi, 2.0 * np.pi) - np.pi
        return np.stack([apart[..., :2] @ along, apart[..., :2] @ across, yaw], axis=-1)


def parameter_draws(loss: xr.DataArray, samples: int, seed: int) -> np.ndarray:
    """Draws (samples, 2) of (mu, e_N) from what the identification leaves uncertain.

    Optima of bootstrapped tosses on a grid, ``loss`` being (toss, mu, e_N), spread evenly over the
    grid's cells, which it can't resolve.
    """
    draws = bootstrap_draws(loss, samples, seed)
    # another stream than the bootstrap's, which has the seed itself
    random = np.random.default_rng([seed, 1])
    for k, name in enumerate(("friction_mu", "restitution_e_n")):
        values = loss[name].values
        step = float(np.diff(values).mean()) if len(values) > 1 else 0.0
        # a draw stands for a cell of the grid, not for its middle
        draws[:, k] = np.clip(
            draws[:, k] + step * random.uniform(-0.5, 0.5, samples), values[0], values[-1]
        )
    return draws


def _measured(item: PreparedToss) -> FlatPoses:
    if np.isnan(item.rest_position).any():
        return FlatPoses(np.array([UNKNOWN]), np.full((1, 3), np.nan))
    return FlatPoses.of(item.rest_position[None, :], item.rest_orientation[None, :])


def simulate_clouds(
    problem: Problem,
    parameters: ContactParameters,
    draws: np.ndarray,
    covariances: np.ndarray,
    seed: int,
) -> list[Cloud]:
    """A cloud for every toss; of a sample that never comes to rest the last pose is used.

    Parameters
    ----------
    parameters : identified ones, for the central prediction
    draws : (n, 2) of (mu, e_N); every toss gets all of them
    covariances : (toss, 12, 12) of the release states (see
        :class:`contactid.tossing.prepare.flight.FlightFit`), drawn with the ``seed``
    """
    random = np.random.default_rng(seed)
    clouds = []
    for item, covariance in zip(problem.tosses, covariances, strict=True):
        toss = item.toss
        # row 0 is the central run, which doesn't deviate
        state = np.zeros((len(draws) + 1, 12))
        state[1:] = random.normal(size=(len(draws), 12)) @ symmetric_root(covariance)
        center = [parameters.friction_mu, parameters.restitution_e_n]
        every = np.vstack([center, draws])
        runs = Runs.of(every[:, 0], every[:, 1], state)
        poses = simulated_rests(problem, toss, runs)
        flat = FlatPoses.of(poses.position, poses.orientation)
        # relative to the belt's material
        velocity = (toss.start.linear_velocity - toss.surface_velocity)[:2]
        speed = float(np.linalg.norm(velocity))
        clouds.append(
            Cloud(
                toss=toss.name,
                heading=velocity / speed if speed > 0.0 else np.array([1.0, 0.0]),
                samples=flat[1:],
                central=flat[:1],
                measured=_measured(item),
            )
        )
    return clouds
