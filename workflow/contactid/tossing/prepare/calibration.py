"""What a body really weighs where: scale, centre of mass and inertia from free flight, rest and
single impacts.

Three facts need no contact law, so they can be had before friction and restitution are identified:

* in free flight the centre of mass falls on a parabola:  o(t) + R(t) c = x0 + v0 t + g t^2 / 2  is
  linear in the centre of mass c, in each toss's x0 and v0, and in g; the length scale follows from
  g against 9.81 m/s2;
* at rest a face lies on the surface: the body's height against its half-width gives the scale a
  second time;
* in an impact at one vertex, whatever the contact law, the impulse that changes the momentum also
  changes the spin: I (w+ - w-) = r x m (v+ - v-)  with r from the centre of mass to the vertex is
  linear in the inertia tensor I.

Standard errors are jackknifed over twenty blocks of tosses in the order of their recording: what
lasts from toss to toss (a camera that drifts, a session's own habits) makes neighbouring tosses err
alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

import numpy as np
import xarray as xr

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.output.fits import write_json
from contactid.sources.motion import BodyProperties, body_of, iterate_recordings, read_dataset
from contactid.tossing.prepare.poses import fit_plane
from contactid.tossing.prepare.preprocess import IDENTIFICATION

_GRAVITY = 9.81
_FEWEST_TOSSES = 10
_BLOCKS = 20  # of neighbouring tosses, for standard errors
_POST_SAMPLES = 5  # free samples after the impact that its momentum balance needs
_PRE_SAMPLES = 9
_CLEAR = 0.15  # the impacting vertex is this much of the body's size lower than any other
_FREE_FALL_TOLERANCE = 10.0  # m/s2, of the second differences after the impact
_SYMMETRIC = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]


@dataclass(frozen=True)
class Calibration:
    """A calibrated body, in metres of gravity (lengths in which things fall with 9.81 m/s2)."""

    # scale, scale_se: true length per length of the data, from free flight
    scale: float
    scale_se: float
    # scale_from_rest, scale_from_rest_se: the same from the height at rest
    scale_from_rest: float
    scale_from_rest_se: float
    gravity: tuple[float, ...]  # (3,) m/s2 measured in flight, in C and in the data's lengths
    gravity_se: tuple[float, ...]  # (3,)
    # center_of_mass, center_of_mass_se: (3,) m in B
    center_of_mass: tuple[float, ...]
    center_of_mass_se: tuple[float, ...]
    # inertia, inertia_se: (6,) kg m2 about the centre of mass in B: xx, yy, zz, xy, xz, yz
    inertia: tuple[float, ...]
    inertia_se: tuple[float, ...]
    # n_tosses, n_impacts: what it was estimated from
    n_tosses: int
    n_impacts: int

    def inertia_matrix(self) -> np.ndarray:
        """Inertia (3, 3) kg m2."""
        return _tensor(np.array(self.inertia))

    def apply(self, prepared: xr.Dataset) -> xr.Dataset:
        """The prepared dataset in true metres and with the calibrated body, which rests on the
        surface z = 0.

        Scaling lengths lifts what was put on the surface before, so the plane is fitted again: to
        the rest poses of the identification part, or to all of a dataset that is only tested on.
        """
        vertices, resting = (
            prepared["vertices"].values,
            np.isfinite(prepared["rest_position"].values).all(axis=1),
        )
        part = resting & (prepared["split"].values == IDENTIFICATION)
        part = part if part.any() else resting
        position, rest = (
            self.scale * prepared[name].values for name in ("position", "rest_position")
        )
        turned, rest_turned = (
            prepared["orientation"].values,
            prepared["rest_orientation"].values.copy(),
        )
        plane = fit_plane(rest[part], rest_turned[part], vertices)
        rest[resting], rest_turned[resting] = plane.apply(rest[resting], rest_turned[resting])
        position, turned = plane.apply(position, turned)
        changed = {
            "position": position,
            "orientation": turned,
            "gravity": plane.rotation.inv().apply(prepared["gravity"].values),
            "rest_position": rest,
            "rest_orientation": rest_turned,
            "center_of_mass": np.array(self.center_of_mass),
            "inertia": self.inertia_matrix(),
        }
        return prepared.assign(
            {name: prepared[name].copy(data=values) for name, values in changed.items()}
        )


def uncalibrated(body: BodyProperties) -> Calibration:
    """The calibration that keeps a body as it is: applying it only puts the tosses on their surface
    again.
    """
    unknown, inertia = (np.nan,) * 3, tuple(float(body.inertia[axes]) for axes in _SYMMETRIC)
    return Calibration(
        scale=1.0,
        scale_se=np.nan,
        scale_from_rest=1.0,
        scale_from_rest_se=np.nan,
        gravity=(0.0, 0.0, -_GRAVITY),
        gravity_se=unknown,
        center_of_mass=tuple(map(float, body.center_of_mass)),
        center_of_mass_se=unknown,
        inertia=inertia,
        inertia_se=2 * unknown,
        n_tosses=0,
        n_impacts=0,
    )


def calibrate(prepared: xr.Dataset) -> Calibration:
    """Calibrate the body of a prepared dataset on the usable tosses of its identification part.

    Raises :class:`ContactIdError` where fewer than ten tosses, or too few clean single-vertex
    impacts, are left.
    """
    body = body_of(prepared)
    time_step = 1.0 / prepared.attrs["sample_frequency"]
    tosses = [
        samples
        for _, samples in iterate_recordings(prepared)
        if not str(samples["reason"].values) and str(samples["split"].values) == IDENTIFICATION
    ]
    if len(tosses) < _FEWEST_TOSSES:
        raise ContactIdError(
            f"{prepared.attrs['source']}: {len(tosses)} usable tosses are too few to calibrate the body",
            f"Give at least {_FEWEST_TOSSES} or switch calibration off",
        )
    fall, fall_se = block_jackknife(
        _weighted([_flight_normal_equations(samples, time_step) for samples in tosses])
    )
    measured_gravity = fall[3:]
    scale = _GRAVITY / float(np.linalg.norm(measured_gravity))
    scale_se = scale * float(fall_se[5]) / float(np.linalg.norm(measured_gravity))
    center = scale * fall[:3]
    rest_scale, rest_scale_se = _scale_from_rest(tosses, body, prepared.attrs["plane_height"])
    balances = [
        balance
        for samples in tosses
        for balance in _impact_balance(samples, body, center, scale, time_step)
    ]
    if len(balances) < _FEWEST_TOSSES:
        raise ContactIdError(
            f"{prepared.attrs['source']}: {len(balances)} clean single-vertex impacts are too few to find the inertia",
            f"Give at least {_FEWEST_TOSSES} or switch calibration off",
        )
    inertia, inertia_se = block_jackknife(balances)
    if np.linalg.eigvalsh(_tensor(inertia))[0] <= 0:
        raise ContactIdError(
            f"{prepared.attrs['source']}: the calibrated inertia is not positive", "Check the data"
        )
    return Calibration(
        scale=scale,
        scale_se=scale_se,
        scale_from_rest=rest_scale,
        scale_from_rest_se=rest_scale_se,
        gravity=tuple(map(float, measured_gravity)),
        gravity_se=tuple(map(float, fall_se[3:])),
        center_of_mass=tuple(map(float, center)),
        center_of_mass_se=tuple(map(float, scale * fall_se[:3])),
        inertia=tuple(map(float, inertia)),
        inertia_se=tuple(map(float, inertia_se)),
        n_tosses=len(tosses),
        n_impacts=len(balances),
    )


def block_jackknife(
    equations: list[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    """Least squares over normal equations (A^T A, A^T y) in order of time, and its standard errors.

    The errors come from leaving out each of twenty blocks of neighbours (of each equation where
    there are fewer).
    """
    matrices, vectors = (np.stack(part) for part in zip(*equations, strict=True))
    matrix, vector = matrices.sum(axis=0), vectors.sum(axis=0)
    blocks = np.array_split(np.arange(len(equations)), min(_BLOCKS, len(equations)))
    left_out = np.stack(
        [
            np.linalg.solve(
                matrix - matrices[block].sum(axis=0), vector - vectors[block].sum(axis=0)
            )
            for block in blocks
        ]
    )
    n = len(blocks)
    error = np.sqrt((n - 1) / n * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
    return np.linalg.solve(matrix, vector), error


@dataclass(frozen=True)
class _Flight:
    """Normal equations A^T A, A^T y of one flight, with y^T y and the degrees of freedom left."""

    matrix: np.ndarray
    vector: np.ndarray
    square: float
    freedom: int

    def variance(self, estimate: np.ndarray) -> float:
        """Mean squared residual at an estimate, m^2."""
        residual = self.square - 2.0 * estimate @ self.vector + estimate @ self.matrix @ estimate
        return max(float(residual), 0.0) / self.freedom


def _weighted(flights: list[_Flight]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Weight every flight by its own residual variance: marker noise differs a lot from toss to
    toss.
    """
    weights = np.ones(len(flights))
    for _ in range(4):
        matrix = sum(
            weight * flight.matrix for weight, flight in zip(weights, flights, strict=True)
        )
        vector = sum(
            weight * flight.vector for weight, flight in zip(weights, flights, strict=True)
        )
        estimate = np.linalg.solve(np.asarray(matrix), np.asarray(vector))
        variances = np.array([flight.variance(estimate) for flight in flights])
        # a short flight may fit too well by chance, so no weight exceeds that of a quarter of the
        # median variance
        weights = 1.0 / np.maximum(variances, 0.25 * np.median(variances))
    return [
        (weight * flight.matrix, weight * flight.vector)
        for weight, flight in zip(weights, flights, strict=True)
    ]


def _flight_normal_equations(samples: xr.Dataset, time_step: float) -> _Flight:
    """Normal equations of one flight in (c, g), its own x0 and v0 projected out."""
    flight = slice(int(samples["release"]), int(samples["contact"]))
    position, rotation = (
        samples["position"].values[flight],
        rotations.matrices(samples["orientation"].values[flight]),
    )
    times = (np.arange(len(position)) - 0.5 * (len(position) - 1)) * time_step
    nuisance = np.column_stack([np.ones_like(times), times])
    project = np.eye(len(times)) - nuisance @ np.linalg.pinv(nuisance)
    matrix, vector, square = np.zeros((6, 6)), np.zeros(6), 0.0
    for axis in range(3):
        columns = np.zeros((len(times), 6))
        columns[:, :3] = -rotation[:, axis, :]
        columns[:, 3 + axis] = 0.5 * times**2
        columns, values = project @ columns, project @ position[:, axis]
        matrix += columns.T @ columns
        vector += columns.T @ values
        square += float(values @ values)
    return _Flight(matrix, vector, square, freedom=max(3 * (len(times) - 2), 1))


def _scale_from_rest(
    tosses: list[xr.Dataset], body: BodyProperties, plane_height: float
) -> tuple[float, float]:
    """Half the body's height over the measured height of its centre above the frame's own plane,
    and standard error.
    """
    ratios = []
    for samples in tosses:
        upward = rotations.matrices(samples["rest_orientation"].values)[2]
        half_height = -float(
            np.sort(body.vertices @ upward)[:4].mean()
        )  # the resting face's centre
        ratios.append(half_height / (float(samples["rest_position"][2]) + plane_height))
    mean, error = block_jackknife([(np.eye(1), np.array([ratio])) for ratio in ratios])
    return float(mean[0]), float(error[0])


def _impact_balance(
    samples: xr.Dataset, body: BodyProperties, center: np.ndarray, scale: float, time_step: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Normal equations of the toss's first impact in the six elements of the inertia, where it is a
    clean one.
    """
    position, quaternion = scale * samples["position"].values, samples["orientation"].values
    rotation = rotations.as_rotation(quaternion)
    mass_center = position + rotation.apply(center)
    contact = int(samples["contact"])
    before = np.arange(max(int(samples["release"]), contact - _PRE_SAMPLES - 1), contact)
    gravity = samples["gravity"].values
    second = np.full(len(position), np.inf)
    second[1:-1] = np.linalg.norm(
        (mass_center[2:] - 2.0 * mass_center[1:-1] + mass_center[:-2]) / time_step**2 - gravity,
        axis=1,
    )
    for first in (contact + 1, contact + 2):
        after = np.arange(first, first + _POST_SAMPLES)
        if (
            after[-1] < len(position)
            and (second[after[1:-1]] < _FREE_FALL_TOLERANCE).all()
            and len(before) >= 5
        ):
            break
    else:
        return
    velocity_before, spin_before, pose = _free_motion(
        mass_center, rotation, before, contact, time_step, gravity
    )
    velocity_after, spin_after, _ = _free_motion(
        mass_center, rotation, after, contact, time_step, gravity
    )
    arms = (body.vertices - center) @ pose.T
    order = np.argsort(arms[:, 2])
    if arms[order[1], 2] - arms[order[0], 2] < _CLEAR * np.ptp(body.vertices, axis=0).min():
        return  # two vertices may have hit together
    moment = pose.T @ np.cross(arms[order[0]], body.mass * (velocity_after - velocity_before))
    x, y, z = pose.T @ (spin_after - spin_before)
    columns = np.array([[x, 0, 0, y, z, 0], [0, y, 0, x, 0, z], [0, 0, z, 0, x, y]])
    yield columns.T @ columns, columns.T @ moment


def _free_motion(
    mass_center: np.ndarray,
    rotation: rotations.Rotation,
    samples: np.ndarray,
    at: int,
    time_step: float,
    gravity: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Velocity, spin (3,) and attitude (3, 3) in C at sample ``at``, fitted to free samples near
    it.

    The spin is taken constant in C over the few samples of the fit.
    """
    times = (samples - at) * time_step
    design = np.column_stack([np.ones_like(times), times])
    parabola = mass_center[samples] - 0.5 * times[:, None] ** 2 * gravity
    base = rotation[int(samples[0])]
    turned = (rotation[samples] * base.inv()).as_rotvec()
    velocity = np.linalg.lstsq(design, parabola, rcond=None)[0][1]
    turn, spin = np.linalg.lstsq(design, turned, rcond=None)[0]
    return velocity, spin, (rotations.Rotation.from_rotvec(turn) * base).as_matrix()


def _tensor(elements: np.ndarray) -> np.ndarray:
    tensor = np.zeros((3, 3))
    for value, (i, j) in zip(elements, _SYMMETRIC, strict=True):
        tensor[i, j] = tensor[j, i] = value
    return tensor


def calibrate_dataset(prepared: str, calibration: str) -> None:
    """Calibrate on a file of prepared tosses, and write the record."""
    write_json(calibration, asdict(calibrate(read_dataset(prepared))))
