"""Inertias that others published of the paper's arm, and its motors: what they make of the same
impacts.

All models have the kinematics of the laboratory's description, so a model is ten numbers a link, in
which M(q) is linear. They are taken in the described link frames: mass, kg, first moment, kg m, and
inertia about the frame's origin, kg m2. Sources of ``lwr4_published.csv``: kjyv/FloBaRoID 9c06804,
five files in ``model/``, of which ``gaz`` (Gaz, Flacco, De Luca 2014) and ``flobarobid`` were
identified from measurements; ``jubien`` (Jubien, Gautier, Janot 2014) by ISIR-SYROCO/kukaKDL. The
identified ones are sums that torques depend on, so a single link needn't be a body; ``jubien`` has
no masses at all.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pinocchio as pin

from contactid.arm.rigid.robot import Robot

PARAMETERS = ("mass", "mx", "my", "mz", "ixx", "ixy", "iyy", "ixz", "iyz", "izz")
JUBIEN = "jubien"
#: kg m2 of the motors and gears at joints 1 to 7, identified by Jubien et al.; the first two are
#: estimates, since the identification can't part them from their links.
MOTORS = np.array([3.20, 3.05, 2.01, 1.92, 0.776, 0.391, 0.399])
_WITHIN_LINKS = slice(0, 2)  # joints whose motors are in Jubien's links


def published_arms(path: str | Path) -> dict[str, np.ndarray]:
    """Parameters (n, 10) of every published model by name, links in the robot's order."""
    models = pd.read_csv(path).groupby("model", sort=False)
    return {str(model): links[list(PARAMETERS)].to_numpy(float) for model, links in models}


def parameters_of(robot: Robot) -> np.ndarray:
    """(n, 10) parameters of a robot's own links."""
    return np.array(
        [robot.model.inertias[k].toDynamicParameters() for k in range(1, robot.model.njoints)]
    )


def motors_of(model: str) -> np.ndarray:
    """(n,) inertia of the motors to add to a model's links, kg m2."""
    motors = MOTORS.copy()
    if model == JUBIEN:
        # its identification has the first two motors in the links
        motors[_WITHIN_LINKS] = 0.0
    return motors


def mass_matrix(robot: Robot, parameters: np.ndarray, q: np.ndarray) -> np.ndarray:
    """M(q) (n, n), kg m2, of the robot's joints (n,) in rad with the links (n, 10).

    A column is the torque of a unit acceleration, less that of none, which is gravity's.
    """
    data, still = robot.model.createData(), np.zeros(robot.model.nv)

    def torque(acceleration: np.ndarray) -> np.ndarray:
        return (
            pin.computeJointTorqueRegressor(robot.model, data, q, still, acceleration)
            @ parameters.ravel()
        )

    # at zero rates and acceleration the torque is gravity's
    gravity = torque(still)
    return np.column_stack([torque(unit) - gravity for unit in np.eye(robot.model.nv)])


def rigid_body_mobility(robot: Robot, parameters: np.ndarray, q: np.ndarray) -> np.ndarray:
    """W (3, 3) of the tip, 1/kg, where all joints are locked and the moving links fly as one body.

    This is the composite rigid body by which Wang, Dehio and Kheddar (2022) predict impacts of a
    stiff arm.
    """
    pin.forwardKinematics(robot.model, data := robot.model.createData(), q)
    placed = [
        data.oMi[k + 1].act(pin.Inertia.FromDynamicParameters(link))
        for k, link in enumerate(parameters)
    ]
    # composite rigid body in the base frame
    body = sum(placed[1:], placed[0])
    lever = pin.skew(robot.tip_position(q) - body.lever)
    # 1/m - [r]x I^-1 [r]x
    return np.eye(3) / body.mass - lever @ np.linalg.solve(body.inertia, lever)
