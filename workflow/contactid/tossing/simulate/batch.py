"""Rest poses of very many runs, each with its own start state, parameters, inertia and gravity,
compiled.

A run ends as soon as the body lies still relative to the surface, so a run costs what its motion
lasts. The rest pose is the pose at one given moment: a body that came to rest on a moving surface
before or after it travels with that.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numba
import numpy as np

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties
from contactid.tossing.simulate.box import (
    ContactParameters,
    State,
    SteppingOptions,
    body_arrays,
    contact_law,
    pack_states,
)
from contactid.tossing.simulate.box_kernel import (
    STATE_SIZE,
    BodyArrays,
    ContactLaw,
    advance,
    origin_of,
    rotation_of,
    turn,
)
from contactid.tossing.simulate.contact_kernel import COLUMNS, INLINE, OPTIONS

_STILL = 1e-7  # m/s and rad/s, relative to the surface
# the fixed point leaves a resting body some speed, so that rest is what the authors call so, in the
# farthest vertex
_SLOW, _SLOW_FOR = 0.02, 21 / 360  # m/s and s
_EXTRA = 1.0  # s after the moment asked for in which a body may still come to rest


@dataclass(frozen=True)
class Runs:
    """n runs of one toss; every field is one array with a row per run."""

    friction_mu: np.ndarray  # (n,)
    restitution_e_n: np.ndarray  # (n,)
    # (n, 12) deviation of the start from the toss's own, as in
    # :class:`contactid.tossing.prepare.flight.FlightFit`: position of the centre of mass (m),
    # rotation vector in C (rad), velocity (m/s), angular velocity in C (rad/s)
    state: np.ndarray
    inertia: np.ndarray  # (n, 3) factors of the principal moments, ascending
    center_of_mass: np.ndarray  # (n, 3) m in B, shift of the centre of mass
    tilt: np.ndarray  # (n, 2) rad, by how much more the surface rises along x_C and y_C

    def __post_init__(self) -> None:
        if len({len(getattr(self, field.name)) for field in fields(self)}) > 1:
            raise ContactIdError(
                "the runs of a batch have columns of different lengths", "Give one row per run"
            )

    @classmethod
    def of(
        cls, friction_mu: np.ndarray, restitution_e_n: np.ndarray, state: np.ndarray | None = None
    ) -> Runs:
        """Runs that differ in contact parameters, and in the start state where one is given."""
        mu, e_n = np.broadcast_arrays(np.atleast_1d(friction_mu), np.atleast_1d(restitution_e_n))
        n = len(mu)
        start = np.zeros((n, 12)) if state is None else state
        return cls(
            mu.astype(float),
            e_n.astype(float),
            start,
            np.ones((n, 3)),
            np.zeros((n, 3)),
            np.zeros((n, 2)),
        )


@dataclass(frozen=True)
class RestPoses:
    """Rest poses of n runs in C."""

    position: np.ndarray  # (n, 3) m, B's origin
    orientation: np.ndarray  # (n, 4) quaternions, real part first
    rested: np.ndarray  # (n,) whether the body came to rest at all
    failed_steps: np.ndarray  # (n,) contact steps whose solver did not converge


@numba.njit(**INLINE)
def _lies_still(state, surface_velocity, slowest, turning):
    """Whether the centre of mass moves with the surface (within m/s) and the body doesn't turn
    (within rad/s).
    """
    fastest, spin = 0.0, 0.0
    for k in range(3):
        fastest = max(fastest, abs(state[7 + k] - surface_velocity[k]))
        spin = max(spin, abs(state[10 + k]))
    return fastest <= slowest and spin <= turning


@numba.njit(**OPTIONS)
def _rest_poses(
    body,
    law,
    rest,
    h,
    n_asked,
    n_most,
    starts,
    mus,
    e_ns,
    shifts,
    tensors,
    inverses,
    spherical,
    gravity,
    out,
):
    """Fill ``out`` (n, 9): position of B's origin at step ``n_asked``, quaternion, rested, failed
    steps.

    ``rest`` is (m/s, rad/s, steps): a body that is no faster in so many steps lies still.
    """
    slowest, turning, enough = rest
    contacts = np.zeros((body.vertices.shape[0], COLUMNS))
    vertices = np.empty_like(body.vertices)
    state = np.empty(STATE_SIZE)
    c0, c1, c2 = body.center_of_mass
    for run in range(starts.shape[0]):
        # vertices count from the centre of mass, which shifts
        s0, s1, s2 = shifts[run, 0], shifts[run, 1], shifts[run, 2]
        farthest = 0.0
        for i in range(vertices.shape[0]):
            x, y, z = body.vertices[i, 0] - s0, body.vertices[i, 1] - s1, body.vertices[i, 2] - s2
            vertices[i, 0], vertices[i, 1], vertices[i, 2] = x, y, z
            farthest = max(farthest, x * x + y * y + z * z)
        t, u = tensors[run], inverses[run]
        varied = BodyArrays(
            vertices,
            (c0 + s0, c1 + s1, c2 + s2),
            (t[0], t[1], t[2], t[3], t[4], t[5]),
            (u[0], u[1], u[2], u[3], u[4], u[5]),
            body.inverse_mass,
            # rounding must not leave a vertex outside of the sphere
            np.sqrt(farthest) * (1.0 + 1e-12),
            spherical[run],
        )
        parameters = ContactLaw(
            mus[run],
            e_ns[run],
            law.incremental,
            law.surface_velocity,
            (gravity[run, 0], gravity[run, 1], gravity[run, 2]),
            law.solver,
            law.tolerance,
            law.max_iterations,
            law.prox_step,
        )
        for k in range(STATE_SIZE):
            state[k] = starts[run, k]
        # no warm start from another run, which would tell in hyperstatic steps
        contacts[:, :] = 0.0
        # the same motion of B, told at the shifted centre of mass
        d0, d1, d2 = turn(rotation_of(state), s0, s1, s2)
        w0, w1, w2 = turn(rotation_of(state), state[10], state[11], state[12])
        state[0], state[1], state[2] = state[0] + d0, state[1] + d1, state[2] + d2
        state[7] += w1 * d2 - w2 * d1
        state[8] += w2 * d0 - w0 * d2
        state[9] += w0 * d1 - w1 * d0
        failed, still, step = 0, 0, 0
        while step < n_most and still < enough:
            closed, iterations, _, _ = advance(varied, parameters, h, state, contacts, False)
            step += 1
            if closed > 0 and iterations > law.max_iterations:
                failed += 1
            # more than once: a body may pass through a standstill at the top of a bounce, if hardly
            # near the surface
            lies = closed > 0 and _lies_still(state, law.surface_velocity, slowest, turning)
            still = still + 1 if lies else 0
        # negative for a body that rested only later
        travel = (n_asked - step) * h
        x, y, z = origin_of(varied, state)
        v0, v1, v2 = law.surface_velocity
        out[run, 0], out[run, 1], out[run, 2] = x + travel * v0, y + travel * v1, z + travel * v2
        for k in range(4):
            out[run, 3 + k] = state[3 + k]
        out[run, 7] = 1.0 if still >= enough else 0.0
        out[run, 8] = failed


def symmetric_root(covariance: np.ndarray) -> np.ndarray:
    """(n, n) the symmetric positive semidefinite matrix whose square is a covariance (n, n), which
    may be singular.

    Starts are drawn with it. Among all roots this one is unique. Eigenvectors alone would do as
    well, but their signs depend on the kernel that BLAS chooses for a processor, and draws with
    them.
    """
    values, axes = np.linalg.eigh(covariance)
    # Eigenvalues that are zero come out as rounding, some negative; their roots would be a part in
    # 1e8 of the largest.
    rounding = len(values) * np.finfo(float).eps * values[-1]
    deviations = np.sqrt(np.where(values > rounding, values, 0.0))
    return (axes * deviations) @ axes.T


def start_rows(body: BodyProperties, start: State, deviations: np.ndarray) -> np.ndarray:
    """Kernel states (n, 14) of a start and n deviations (n, 12) from it; see :class:`Runs`."""
    packed = np.repeat(pack_states(body, [start]), len(deviations), axis=0)
    # the deviation is in C, so it turns from the left
    rotation = rotations.Rotation.from_rotvec(deviations[:, 3:6]) * rotations.as_rotation(
        packed[:, 3:7]
    )
    packed[:, 0:3] += deviations[:, 0:3]
    packed[:, 3:7] = rotations.as_quaternions(rotation)
    packed[:, 7:10] += deviations[:, 6:9]
    # the kernel's spin is in B, of the deviated pose
    packed[:, 10:13] = rotation.inv().apply(start.angular_velocity + deviations[:, 9:12])
    return packed


def rest_poses(
    body: BodyProperties,
    start: State,
    runs: Runs,
    options: SteppingOptions,
    n_samples: int,
    surface_velocity: np.ndarray | None = None,
    pivot: np.ndarray | None = None,
) -> RestPoses:
    """Rest poses of all runs of one toss, at the moment of its sample ``n_samples - 1``.

    A body that has not come to rest by then is followed for one second more; its pose then is
    reported with ``rested`` false. A tilt turns the surface about ``pivot`` ((3,) m, a point of it;
    by default the one below the start) while gravity and the start stay: the run is simulated in
    the frame of the tilted surface and reported in C.

    Raises :class:`ContactIdError` where the start state isn't finite.
    """
    below = (
        np.array([start.position[0], start.position[1], 0.0])
        if pivot is None
        else np.asarray(pivot, dtype=float)
    )
    tilts = _tilts(runs.tilt)
    starts = _in_tilted_frame(start_rows(body, start, runs.state), tilts, below)
    if not np.isfinite(starts).all():
        raise ContactIdError(
            "the initial state of a simulation holds a NaN", "Check the measured start of the toss"
        )
    # ascending, as the factors of :class:`Runs`
    moments, axes = np.linalg.eigh(np.asarray(body.inertia, dtype=float))
    varied = moments * runs.inertia
    upper = np.triu_indices(3)
    # (n, 6) xx, xy, xz, yy, yz, zz
    tensors = np.einsum("ik,nk,jk->nij", axes, varied, axes)[:, upper[0], upper[1]]
    inverses = np.einsum("ik,nk,jk->nij", axes, 1.0 / varied, axes)[:, upper[0], upper[1]]
    asked = (n_samples - 1) * options.substeps
    out = np.empty((len(starts), 9))
    rest = (_STILL, _STILL, 2)
    if options.solver == "prox":
        # the speed of the farthest vertex by turning alone
        reach = float(np.linalg.norm(body.vertices - body.center_of_mass, axis=1).max())
        rest = (_SLOW, _SLOW / reach, int(np.ceil(_SLOW_FOR / options.step)))
    _rest_poses(
        body_arrays(body),
        contact_law(ContactParameters(0.0, 0.0), options, surface_velocity),
        rest,
        options.step,
        asked,
        asked + int(np.ceil(_EXTRA / options.step)),
        starts,
        np.ascontiguousarray(runs.friction_mu, dtype=float),
        np.ascontiguousarray(runs.restitution_e_n, dtype=float),
        np.ascontiguousarray(runs.center_of_mass, dtype=float),
        tensors,
        inverses,
        # spherical: no gyroscopic term
        np.ptp(varied, axis=1) < 1e-12 * varied[:, 0],
        # gravity stays while the surface leans, so it leans in the surface's frame
        np.ascontiguousarray(tilts.inv().apply(options.gravity)),
        out,
    )
    orientation = rotations.as_quaternions(tilts * rotations.as_rotation(out[:, 3:7]))
    return RestPoses(
        below + tilts.apply(out[:, :3] - below), orientation, out[:, 7] > 0.0, out[:, 8].astype(int)
    )


def _tilts(slopes: np.ndarray) -> rotations.Rotation:
    """Rotations that raise a surface by slopes (n, 2) rad along x_C and y_C."""
    return rotations.Rotation.from_rotvec(
        # a turn about -y raises +x
        np.column_stack([slopes[:, 1], -slopes[:, 0], np.zeros(len(slopes))])
    )


def _in_tilted_frame(rows: np.ndarray, tilts: rotations.Rotation, pivot: np.ndarray) -> np.ndarray:
    """Kernel states (n, 14) given in C, expressed in the frame turned by ``tilts`` about ``pivot``."""
    back, turned = tilts.inv(), rows.copy()
    turned[:, 0:3] = pivot + back.apply(rows[:, 0:3] - pivot)
    turned[:, 3:7] = rotations.as_quaternions(back * rotations.as_rotation(rows[:, 3:7]))
    turned[:, 7:10] = back.apply(rows[:, 7:10])
    return turned
