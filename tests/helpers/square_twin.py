"""A synthetic twin of the public throws of a square: known truth in the real archive's own layout.

It has what makes the real throws hard to read: the tracked axes are turned and the tracked point
lies off the centre, the ground is a little sloped and not at zero, and poses are noisy. It lacks
what makes them hard to explain: corners are sharp, impacts are those of the contact law, nothing
brakes the flight, and the camera never loses the body. What an identification finds here tells how
much of its result on the real throws is due to the method.

Equally many throws come to rest on each side. With the 24 that come with the repository that is 6
per side, as many as
:func:`contactid.planar.squares.events.align` asks for.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from contactid.core.atomic import replacing, write_text
from contactid.core.errors import ContactIdError
from contactid.planar.readers.throws import SQUARE_FREQUENCY, SQUARE_SIDE, square
from contactid.planar.simulate.bodies import GRAVITY
from contactid.planar.simulate.geometry import Ground
from contactid.planar.simulate.kernel import outline_of
from stepped_motion import event_motion

EMBEDDED_FOLDER = "planar_square_twin"
_HEADER = "x,z,th,vx,vz,vth"
_DECIMALS = 6  # of metres, radians and their rates: steps of 1e-6 times 250 have no more
_FRAMES = 200
_TIME_STEP = 1e-4  # s
_EMBEDDED_THROWS, _EMBEDDED_SEED = 24, 20230206
_REST_FRAMES = 15  # last frames in which a throw must not move
_REST_MOTION = np.array([1e-4, 1e-4, 2e-3])  # m, m, rad
_MOST_DRAWN = 200  # throws drawn per throw kept
# the middle nine tenths of the real throws: x, y (m), then v_x, v_y (m/s), omega (rad/s); theta is
# anything
_LOW = np.array([-0.357, 0.152, -0.80, -2.25, -8.8])
_HIGH = np.array([-0.242, 0.160, -0.33, -1.75, 7.7])


@dataclass(frozen=True)
class SquareTruth:
    """What is true of the twin; the defaults are those of the real throws where these are known.

    Attributes
    ----------
    inertia_ratio : J/m, m2; a uniform square's
    friction_mu, restitution_e_n : of the contact law
    ground : in S
    turn : the tracked theta minus the body's, rad (-2.08 degrees)
    point : tracked point in the body's axes, from the centre, m
    sigma : (x, y, theta) independent normal noise of every frame, m, m, rad
    """

    inertia_ratio: float = SQUARE_SIDE**2 / 6.0
    friction_mu: float = 0.15
    restitution_e_n: float = 0.45
    ground: Ground = field(default_factory=lambda: Ground(0.0028, -0.49, 0.0015))
    turn: float = -0.0363
    point: tuple[float, float] = (3e-4, 4e-4)
    sigma: tuple[float, float, float] = (1.7e-5, 4.3e-5, 1.1e-3)


def make_throw(truth: SquareTruth, random: np.random.Generator) -> np.ndarray:
    """(201, 3) body poses of one throw without noise, the first a frame before the recording; m and
    rad.
    """
    drawn = random.uniform(_LOW, _HIGH)
    theta = random.uniform(-np.pi, np.pi)
    parameters = np.array(
        [
            *drawn[:2],
            theta,
            *drawn[2:],
            truth.inertia_ratio,
            truth.friction_mu,
            truth.restitution_e_n,
        ]
    )
    outline = outline_of(square(SQUARE_SIDE), truth.ground)
    motion = event_motion(outline, parameters, GRAVITY, 1.0 / SQUARE_FREQUENCY, _FRAMES, _TIME_STEP)
    return motion.position[motion.frame]


def make_throws(truth: SquareTruth, n_throws: int, seed: int) -> list[np.ndarray]:
    """Body poses (201, 3) of throws that all come to rest, equally many on each side, in the order
    they were drawn.

    Raises
    ------
    ContactIdError
        Where the number isn't a positive multiple of 4, or too few of the drawn throws come to
        rest.
    """
    if n_throws < 4 or n_throws % 4:
        raise ContactIdError(
            f"a twin of {n_throws} throws", "Give a multiple of 4: as many for each side"
        )
    random = np.random.default_rng(seed)
    kept: list[np.ndarray] = []
    on_side = np.zeros(4, dtype=int)
    for _ in range(_MOST_DRAWN * n_throws):
        throw = make_throw(truth, random)
        side = round((throw[-1, 2] - truth.ground.slope) / (0.5 * np.pi)) % 4
        if (np.ptp(throw[-_REST_FRAMES:], axis=0) < _REST_MOTION).all() and on_side[
            side
        ] < n_throws // 4:
            on_side[side] += 1
            kept.append(throw)
        if len(kept) == n_throws:
            return kept
    raise ContactIdError(
        f"too few throws come to rest within {_FRAMES / SQUARE_FREQUENCY:g} s",
        "Give more friction or less restitution",
    )


def tracked(position: np.ndarray, truth: SquareTruth) -> np.ndarray:
    """(n, 3) pose of the tracked point and axes, from the body's."""
    cos, sin = np.cos(position[:, 2]), np.sin(position[:, 2])
    x, y = truth.point
    shift = np.column_stack(
        [x * cos - y * sin, x * sin + y * cos, np.full(len(position), truth.turn)]
    )
    return position + shift


def square_table(
    position: np.ndarray, truth: SquareTruth, random: np.random.Generator
) -> np.ndarray:
    """(n - 1, 6) columns x, z, th, vx, vz, vth of body poses (n, 3): tracked, noisy, rounded.

    Velocities are the backward differences of the rounded poses; the first pose only serves the
    first velocity.
    """
    pose = tracked(position, truth) + random.normal(size=position.shape) * truth.sigma
    rounded = np.round(pose, _DECIMALS)
    return np.column_stack(
        [rounded[1:], np.round(np.diff(rounded, axis=0) * SQUARE_FREQUENCY, _DECIMALS)]
    )


def write_square_twin(
    folder: str | Path,
    n_throws: int = _EMBEDDED_THROWS,
    seed: int = _EMBEDDED_SEED,
    truth: SquareTruth | None = None,
) -> list[Path]:
    """Write throws as ``traj_<n>.csv``, n from 1, as
    :func:`contactid.planar.readers.throws.read_square_throws` reads.

    The same arguments give the same files, to a last digit on another processor. Returns their
    paths.
    """
    truth, folder = truth or SquareTruth(), Path(folder)
    paths = []
    for number, position in enumerate(make_throws(truth, n_throws, seed), start=1):
        noise = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
        table = square_table(position, truth, noise) + 0.0  # no negative zeros
        path = folder / f"traj_{number}.csv"
        with replacing(path) as partial:
            np.savetxt(
                partial, table, fmt=f"%.{_DECIMALS}f", delimiter=",", header=_HEADER, comments=""
            )
        paths.append(path)
    return paths


def write_embedded_square_twin(embedded: str | Path) -> list[Path]:
    """Write the twin that comes with the repository into a folder of ``embedded``, with its
    checksums beside it.
    """
    folder = Path(embedded) / EMBEDDED_FOLDER
    paths = write_square_twin(folder)
    sums = sorted((path.name, hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths)
    write_text(folder / "SHA256SUMS", "".join(f"{digest}  {name}\n" for name, digest in sums))
    return paths
