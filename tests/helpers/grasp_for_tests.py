"""Small recordings of a grasped object with known truth, exact but for the noise that a test asks
for.
"""

import numpy as np
import xarray as xr

from contactid.core.inertia import InertialParameters
from contactid.inhand.simulate.grasp_motion import random_motion, static_motion
from contactid.inhand.simulate.grasped_object import ContactSet, required_wrench, share_wrench

POINTS = np.array(
    [[-0.15, 0.02, 0.05], [0.15, -0.03, 0.0], [0.03, -0.12, -0.02], [-0.02, 0.12, 0.03]]
)
NORMALS = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
BODY = InertialParameters.from_center(
    0.8,
    np.array([0.03, -0.02, 0.04]),
    np.array([[6e-3, 4e-4, -3e-4], [4e-4, 8e-3, 2e-4], [-3e-4, 2e-4, 9e-3]]),
)
SLOW = {"displacement": 0.15, "turn": 0.8, "frequencies": (0.4, 0.7, 1.1), "ramp": 0.5}
HULL = np.array([[x, y, z] for x in (-0.2, 0.2) for y in (-0.2, 0.2) for z in (-0.2, 0.2)])


def recording(
    samples=120, step=0.01, *, wrist=False, still=False, broken=False, seed=0, noise_seed=1, force_sd=0.0,
    position_sd=0.0, orientation_sd=0.0, point_sd=0.0,
):  # fmt: skip
    """A recording with white noise of the given standard deviations (N, m, rad, m); all motions
    start with a ramp.

    ``broken``: the first contact carries nothing between the samples 60 and 80.
    """
    motion = static_motion() if still else random_motion(SLOW, np.random.default_rng(seed))
    path = motion.evaluate(0.5 + step * np.arange(samples))
    wrench, random = required_wrench(BODY, path), np.random.default_rng(noise_seed)
    if wrist:
        points = np.tile([0.0, 0.05, 0.0], (samples, 1, 1))
        forces = wrench[:, None, :3]
        torques = wrench[:, None, 3:] - np.cross(points, forces)
    else:
        points = np.tile(POINTS, (samples, 1, 1))
        contacts = ContactSet(POINTS, NORMALS, 1.0)
        forces = share_wrench(wrench, contacts, {"least_force": 2.0, "safety": 1.3})
        if broken:
            rest = np.array([False, True, True, True])
            forces[60:80, 0] = 0.0
            forces[60:80, 1:] = share_by_three(wrench[60:80], POINTS[rest])
    turned = path.orientation + 0.5 * orientation_sd * random.normal(size=(samples, 4))
    touching = np.any(forces != 0.0, axis=2, keepdims=True)
    contact = ("sample", "contact", "axis")
    variables = {
        "time": ("sample", path.time),
        "object_position": (
            ("sample", "axis"),
            path.position + position_sd * random.normal(size=(samples, 3)),
        ),
        "object_orientation": (
            ("sample", "quaternion"),
            turned / np.linalg.norm(turned, axis=1, keepdims=True),
        ),
        "contact_force": (contact, forces + touching * force_sd * random.normal(size=forces.shape)),
        "contact_position": (contact, points + point_sd * random.normal(size=points.shape)),
        "contact_force_sd": (contact, np.full(forces.shape, max(force_sd, 1e-3))),
        "hull": (("vertex", "axis"), HULL),
    }
    if wrist:
        variables["contact_torque"] = (
            contact,
            torques + 0.1 * force_sd * random.normal(size=forces.shape),
        )
    attributes = {
        "gravity": 9.81, "synthetic": 1, "source": "simulation", "object": "noise_level_0", "noise_level": 0, "seed": 0,
        "source_label": "synthetic data: a test", "position_sd": max(position_sd, 1e-5),
        "orientation_sd": max(orientation_sd, 1e-5), "contact_position_sd": max(point_sd, 1e-5),
        "contact_torque_sd": max(0.1 * force_sd, 1e-4),
    }  # fmt: skip
    return xr.Dataset(variables, attrs=attributes)


def share_by_three(wrench, points):
    """The shortest forces (n, 3, 3) at three points that give wrenches (n, 6)."""
    rows = np.hstack([np.vstack([np.eye(3), np.cross(point, np.eye(3)).T]) for point in points])
    return (wrench @ np.linalg.pinv(rows).T).reshape(len(wrench), 3, 3)


def contact_wrench(positions: np.ndarray, forces: np.ndarray) -> np.ndarray:
    """(n, 6) wrench about B's origin of forces (n, k, 3) at positions (k, 3) or (n, k, 3)."""
    return np.hstack(
        [forces.sum(1), np.cross(np.broadcast_to(positions, forces.shape), forces).sum(1)]
    )


def cone_ratios(forces: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """(n, k) tangential over normal force; infinite for a contact that pulls, 0 for one without
    force.
    """
    normal = np.einsum("nki,ki->nk", forces, normals)
    tangential = np.linalg.norm(forces - normal[..., None] * normals, axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(normal > 0.0, tangential / normal, np.inf)
    return np.where(np.linalg.norm(forces, axis=-1) == 0.0, 0.0, ratio)


def standardised(residuals, channels=("force", "torque")):
    """Root mean square of residuals over their noise."""
    over = [residuals[name].values / residuals[name].attrs["noise"] for name in channels]
    return float(np.sqrt(np.mean(np.square(over))))
