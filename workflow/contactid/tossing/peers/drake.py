"""Drake as a peer: a discrete ``MultibodyPlant`` with point contact and the SAP contact solver.

Parameters, named as in Drake's documentation: ``mu_dynamic`` of ``CoulombFriction`` (a discrete
plant doesn't use ``mu_static``), ``point_contact_stiffness`` (N/m) and ``relaxation_time`` (s). Of
two bodies, friction combines as 2 a b / (a + b), stiffnesses as springs in series and relaxation
times as a sum; so box and plane both get the friction, twice the stiffness and half the relaxation
time, and the pair has the parameter's own value.

The contact points are the box's eight corners: spheres about them over a half space that lies lower
by their radius, which touches exactly where a corner reaches z = 0, whatever the radius.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from importlib import metadata

import numpy as np
from pydrake.common.eigen_geometry import Quaternion
from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties, Sphere
from pydrake.math import RigidTransform
from pydrake.multibody.math import SpatialVelocity
from pydrake.multibody.plant import AddMultibodyPlant, CoulombFriction, MultibodyPlantConfig
from pydrake.multibody.tree import SpatialInertia, UnitInertia
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

from contactid.tossing.peers.simulator import PrincipalBody

_RADIUS = 1e-4  # m, of the corner spheres


class Drake:
    """A free box over a plane; see :class:`contactid.tossing.peers.simulator.Simulator`."""

    name = "Drake"
    version = metadata.version("drake")
    parameters: tuple[str, ...] = ("mu_dynamic", "point_contact_stiffness", "relaxation_time")

    def __init__(
        self, body: PrincipalBody, gravity: np.ndarray, step: float, parameters: Mapping[str, float]
    ) -> None:
        self.seconds = 0.0
        # it warns that half spaces can't touch deformable bodies
        logging.getLogger("drake").setLevel(logging.ERROR)
        builder = DiagramBuilder()
        config = MultibodyPlantConfig(
            time_step=step,
            contact_model="point",
            discrete_contact_approximation="sap",
            use_sampled_output_ports=False,
        )
        plant, _ = AddMultibodyPlant(config, builder)
        # about P's origin, per mass
        moments = UnitInertia(*(body.moments / body.mass))
        box = plant.AddRigidBody("box", SpatialInertia(body.mass, np.zeros(3), moments))
        material = _material(parameters)
        for corner, vertex in enumerate(body.vertices):
            plant.RegisterCollisionGeometry(
                box, RigidTransform(vertex), Sphere(_RADIUS), f"corner{corner}", material
            )
        lowered = RigidTransform(np.array([0.0, 0.0, -_RADIUS]))
        plant.RegisterCollisionGeometry(plant.world_body(), lowered, HalfSpace(), "plane", material)
        plant.mutable_gravity_field().set_gravity_vector(gravity)
        plant.Finalize()
        self._plant, self._box = plant, box
        self._simulator = Simulator(builder.Build())
        self._context = plant.GetMyMutableContextFromRoot(self._simulator.get_mutable_context())
        self._step = step

    def simulate(
        self, start: np.ndarray, n_samples: int, substeps: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Poses of P, (n_samples - 1, 3) and (n_samples - 1, 4); between two samples Drake steps by
        itself.
        """
        unit = start[3:7] / np.linalg.norm(start[3:7])
        self._plant.SetFreeBodyPose(
            self._context, self._box, RigidTransform(Quaternion(unit), start[:3])
        )
        velocity = SpatialVelocity(w=start[10:13], v=start[7:10])
        self._plant.SetFreeBodySpatialVelocity(
            context=self._context, body=self._box, V_JpJc=velocity
        )
        poses = np.empty((n_samples - 1, 7))
        begin = time.process_time()
        # one simulator has all tosses, each from its own time 0
        self._simulator.get_mutable_context().SetTime(0.0)
        self._simulator.Initialize()
        for sample in range(n_samples - 1):
            self._simulator.AdvanceTo((sample + 1) * substeps * self._step)
            poses[sample] = self._plant.GetPositions(self._context)  # quaternion, then position
        self.seconds += time.process_time() - begin
        return poses[:, 4:], poses[:, :4]


def _material(parameters: Mapping[str, float]) -> ProximityProperties:
    """Half of a pair of equal materials."""
    properties = ProximityProperties()
    friction = CoulombFriction(parameters["mu_dynamic"], parameters["mu_dynamic"])
    AddContactMaterial(
        properties=properties,
        # springs in series, and relaxation times that add up: see the module
        point_stiffness=2.0 * parameters["point_contact_stiffness"],
        friction=friction,
    )
    properties.AddProperty("material", "relaxation_time", 0.5 * parameters["relaxation_time"])
    return properties
