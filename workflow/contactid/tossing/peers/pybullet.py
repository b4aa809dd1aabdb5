"""PyBullet as a peer.

Parameters, named as in PyBullet's documentation of ``changeDynamics``: ``lateralFriction`` (of a
pair the product counts, so the plane gets 1), ``contactStiffness`` (N/m; two bodies act as springs
in series, so both get twice the value) and ``contactDamping`` (N s/m; the two bodies' values add
up, so both get half). Linear and angular damping of the motion, 0.04 by default, are switched off,
and so is restitution, which the two contact parameters replace.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib import metadata

import numpy as np
import pybullet

from contactid.tossing.peers.simulator import PrincipalBody

_ITERATIONS = 100  # of the contact solver, twice the default
_FASTEST = 1e4  # rad/s and m/s; above this PyBullet clips velocities


class PyBullet:
    """A free box over a plane; see :class:`contactid.tossing.peers.simulator.Simulator`."""

    name = "PyBullet"
    version = metadata.version("pybullet")
    parameters: tuple[str, ...] = ("lateralFriction", "contactStiffness", "contactDamping")

    def __init__(
        self, body: PrincipalBody, gravity: np.ndarray, step: float, parameters: Mapping[str, float]
    ) -> None:
        self.seconds = 0.0
        self._client = pybullet.connect(pybullet.DIRECT)
        self._call = {"physicsClientId": self._client}
        pybullet.setGravity(*gravity, **self._call)
        pybullet.setPhysicsEngineParameter(
            fixedTimeStep=step,
            numSolverIterations=_ITERATIONS,
            deterministicOverlappingPairs=1,
            **self._call,
        )
        plane = pybullet.createMultiBody(
            baseMass=0.0,
            baseCollisionShapeIndex=pybullet.createCollisionShape(
                pybullet.GEOM_PLANE, **self._call
            ),
            **self._call,
        )
        shape = pybullet.createCollisionShape(
            pybullet.GEOM_BOX,
            halfExtents=list(body.half_extents),
            collisionFramePosition=list(body.box_position),
            collisionFrameOrientation=_real_part_last(body.box_orientation),
            **self._call,
        )
        self._box = pybullet.createMultiBody(
            baseMass=body.mass, baseCollisionShapeIndex=shape, **self._call
        )
        contact = {
            "restitution": 0.0,
            "rollingFriction": 0.0,
            "spinningFriction": 0.0,
            "contactStiffness": 2.0 * parameters["contactStiffness"],
            "contactDamping": 0.5 * parameters["contactDamping"],
        }
        # the product of both frictions counts
        pybullet.changeDynamics(plane, -1, lateralFriction=1.0, **contact, **self._call)
        pybullet.changeDynamics(
            self._box,
            -1,
            lateralFriction=parameters["lateralFriction"],
            localInertiaDiagonal=list(body.moments),
            linearDamping=0.0,
            angularDamping=0.0,
            maxJointVelocity=_FASTEST,
            **contact,
            **self._call,
        )

    def __del__(self) -> None:
        if getattr(self, "_client", -1) >= 0:
            pybullet.disconnect(self._client)

    def simulate(
        self, start: np.ndarray, n_samples: int, substeps: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Poses of P, (n_samples - 1, 3) and (n_samples - 1, 4)."""
        box, client = self._box, self._client
        # looked up once
        step, pose = pybullet.stepSimulation, pybullet.getBasePositionAndOrientation
        pybullet.resetBasePositionAndOrientation(
            box, list(start[:3]), _real_part_last(start[3:7]), **self._call
        )
        pybullet.resetBaseVelocity(box, list(start[7:10]), list(start[10:13]), **self._call)
        rows = []
        begin = time.process_time()
        for _ in range(n_samples - 1):
            for _ in range(substeps):
                step(client)
            rows.append(pose(box, client))
        self.seconds += time.process_time() - begin
        position = np.array([row[0] for row in rows]).reshape(-1, 3)
        orientation = np.array([row[1] for row in rows]).reshape(-1, 4)
        # PyBullet has the real part last
        return position, np.roll(orientation, 1, axis=1)


def _real_part_last(quaternion: np.ndarray) -> list[float]:
    return [float(value) for value in np.roll(quaternion, -1)]
