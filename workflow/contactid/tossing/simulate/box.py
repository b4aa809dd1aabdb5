"""Simulate a rigid body tossed onto a plane (section II-B of the tossing paper), one toss at a
time.

Everything is expressed in the surface frame C: origin in the plane, z_C its outward normal. Twists
are hybrid, as in eq. 15: the velocity of B's origin and the angular velocity, both in C's
orientation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties
from contactid.tossing.simulate import box_kernel
from contactid.tossing.simulate.box_kernel import STATE_SIZE, BodyArrays, ContactLaw

GRAVITY = 9.81  # m/s2
_LAWS = {"newton": False, "incremental": True}
_SOLVERS = {"newton": box_kernel.NEWTON, "prox": box_kernel.PROX}


@dataclass(frozen=True)
class ContactParameters:
    """Friction (eq. 11) and normal restitution (eq. 7), both dimensionless; e_T of eq. 9 is 0, as
    in the paper.
    """

    friction_mu: float
    restitution_e_n: float

    def __post_init__(self) -> None:
        if not self.friction_mu >= 0:
            raise ContactIdError(f"friction_mu is {self.friction_mu}", "It must be 0 or more")
        if not 0 <= self.restitution_e_n <= 1:
            raise ContactIdError(
                f"restitution_e_n is {self.restitution_e_n}", "It must lie in [0, 1]"
            )


@dataclass(frozen=True)
class SteppingOptions:
    """How a simulation is stepped."""

    time_step: float  # seconds between samples; the paper steps at the recording's own rate
    substeps: int = 1  # steps per sample
    # of impacts: ``newton`` (the paper's eqs. 7 to 11) or ``incremental``, in which friction
    # follows the slip while the normal impulse grows
    # (:mod:`contactid.tossing.simulate.incremental`). Lasting contact is the same in both.
    law: str = "newton"
    # ``newton`` (converged, see :mod:`contactid.tossing.simulate.contact_newton`) or ``prox`` (the
    # paper's fixed point)
    solver: str = "newton"
    # newton: violation of the contact law, m/s. Prox: change of the impulses, N s.
    tolerance: float = 1e-11
    # where the solver gives up. Newton: the step has failed if the law is then violated by more
    # than 1e-9 m/s. Prox: the step has failed. A failed step reports ``max_iterations + 1``
    # iterations.
    max_iterations: int = 100
    prox_step: float = 1e-4  # the r of eqs. 8 and 10 in kg.
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY)  # (3,) m/s2 in C

    @property
    def step(self) -> float:
        """Length of one step in s."""
        return self.time_step / self.substeps


@dataclass(frozen=True)
class State:
    """Pose and hybrid twist of B in C."""

    position: np.ndarray  # (3,) m, B's origin
    orientation: np.ndarray  # (4,) quaternion of R_CB, real part first
    linear_velocity: np.ndarray  # (3,) m/s of B's origin
    angular_velocity: np.ndarray  # (3,) rad/s, in C


@dataclass(frozen=True)
class Trajectory:
    """A simulated toss; n samples, sample 0 is the initial state."""

    # position, orientation, linear_velocity, angular_velocity: (n, 3), (n, 4), (n, 3), (n, 3): as
    # in :class:`State`
    position: np.ndarray
    orientation: np.ndarray
    linear_velocity: np.ndarray
    angular_velocity: np.ndarray
    # contacts, iterations: per step ((n - 1) substeps): closed contacts and solver iterations
    contacts: np.ndarray
    iterations: np.ndarray
    # per step: violation of the contact law, m/s; of an incremental impact, the approach that is
    # left
    residual: np.ndarray
    energy: np.ndarray  # per step: kinetic plus potential energy after it, J
    impulses: np.ndarray = field(repr=False)  # (steps, vertices, 3) N s in C


def _symmetric(tensor: np.ndarray) -> tuple[float, ...]:
    """(xx, xy, xz, yy, yz, zz) of a symmetric 3 x 3 matrix."""
    return tuple(float(tensor[i, j]) for i in range(3) for j in range(i, 3))


def _vector(values: Sequence[float] | np.ndarray) -> tuple[float, float, float]:
    x, y, z = values
    return float(x), float(y), float(z)


def body_arrays(body: BodyProperties) -> BodyArrays:
    """The body in the form the compiled code takes."""
    inertia = np.asarray(body.inertia, dtype=float)
    vertices = np.ascontiguousarray(body.vertices - body.center_of_mass, dtype=float)
    return BodyArrays(
        vertices=vertices,
        center_of_mass=_vector(body.center_of_mass),
        inertia=_symmetric(inertia),
        inverse_inertia=_symmetric(np.linalg.inv(inertia)),
        inverse_mass=1.0 / float(body.mass),
        # rounding must not leave a vertex outside of the sphere
        radius=float(np.linalg.norm(vertices, axis=1).max()) * (1.0 + 1e-12),
        spherical=bool(np.abs(inertia - inertia[0, 0] * np.eye(3)).max() < 1e-12 * inertia[0, 0]),
    )


def contact_law(
    parameters: ContactParameters,
    options: SteppingOptions,
    surface_velocity: np.ndarray | None = None,
) -> ContactLaw:
    """Parameters and solver options in the form the compiled code takes."""
    return ContactLaw(
        friction_mu=float(parameters.friction_mu),
        restitution_e_n=float(parameters.restitution_e_n),
        incremental=_LAWS[options.law],
        surface_velocity=(0.0, 0.0, 0.0) if surface_velocity is None else _vector(surface_velocity),
        gravity=_vector(options.gravity),
        solver=_SOLVERS[options.solver],
        tolerance=float(options.tolerance),
        max_iterations=int(options.max_iterations),
        prox_step=float(options.prox_step),
    )


def pack_states(body: BodyProperties, states: Sequence[State]) -> np.ndarray:
    """Rows of the 14 numbers of :mod:`contactid.tossing.simulate.box_kernel` for states given at
    B's origin.
    """
    orientation = np.array([state.orientation for state in states], dtype=float)
    omega = np.array([state.angular_velocity for state in states], dtype=float)
    rotation = rotations.matrices(orientation)
    # (n, 3) from B's origin to the centre of mass, in C
    offset = rotation @ np.asarray(body.center_of_mass, dtype=float)
    packed = np.zeros((len(states), STATE_SIZE))
    packed[:, 0:3] = np.array([state.position for state in states]) + offset
    packed[:, 3:7] = orientation / np.linalg.norm(orientation, axis=1, keepdims=True)
    packed[:, 7:10] = np.array([state.linear_velocity for state in states]) + np.cross(
        omega, offset
    )
    # R^T omega: the kernel's spin is in B
    packed[:, 10:13] = np.einsum("nji,nj->ni", rotation, omega)
    return packed


def simulate(
    body: BodyProperties,
    state: State,
    parameters: ContactParameters,
    options: SteppingOptions,
    n_samples: int,
    surface_velocity: np.ndarray | None = None,
) -> Trajectory:
    """Simulate ``n_samples`` samples of a toss, the first of them being ``state``.

    Raises :class:`ContactIdError` where ``n_samples`` is below 1 or the state isn't finite.
    """
    if n_samples < 1:
        raise ContactIdError("a simulation of no samples was asked for", "Give at least one")
    packed = pack_states(body, [state])[0]
    if not np.isfinite(packed).all():
        raise ContactIdError(
            "the initial state of a simulation holds a NaN", "Check the measured start of the toss"
        )
    n_steps = (n_samples - 1) * options.substeps
    poses, twists = np.empty((n_samples, 7)), np.empty((n_samples, 6))
    steps, impulses = np.empty((n_steps, 5)), np.empty((n_steps, len(body.vertices), 3))
    law = contact_law(parameters, options, surface_velocity)
    box_kernel.rollout(
        body_arrays(body),
        law,
        options.step,
        options.substeps,
        packed,
        poses,
        twists,
        steps,
        impulses,
    )
    return Trajectory(
        position=poses[:, :3],
        orientation=poses[:, 3:],
        linear_velocity=twists[:, :3],
        angular_velocity=twists[:, 3:],
        contacts=steps[:, 0].astype(int),
        iterations=steps[:, 1].astype(int),
        residual=steps[:, 3],
        energy=steps[:, 4],
        impulses=impulses,
    )
