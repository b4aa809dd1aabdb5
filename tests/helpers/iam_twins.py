"""Synthetic twins of the I.AM. archives: recordings of known truth in the archives' own layout.

A twin lets the whole tossing study run offline, and says what its identification ought to find. It has a motion
capture frame M, a surface frame C that is shifted, turned and slightly tilted in it, a carrying hand, marker noise, and
for some recordings a moving belt. What was put in lies under ``/TRUTH``, which the reader of archives doesn't look at;
it is there for whoever tests an identification.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType

import h5py
import numpy as np

from contactid.core import rotations
from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError
from contactid.tossing.simulate.box import GRAVITY, ContactParameters, State
from iam_tosses import BOXES, ROLES, SAMPLE_FREQUENCY, Toss, box_model, make_toss
from iam_writer import ArchiveRecording, TrackedBody, new_archive, set_text, write_recording

SURFACE_NAMES = MappingProxyType(
    {"trajectories": "ConveyorPart001", "validation": "ConveyorPart002", "drops": "GroundPlane001"}
)
_EMBEDDED_SEED = 20230206
_EMBEDDED_RECORDINGS = MappingProxyType({"trajectories": (16, 0), "validation": (14, 2), "drops": (48, 0)})
_BELT_SPEEDS = (0.3, 0.5)  # m/s
_PLANE_EXTRA_FRAMES = 5  # the archives promise a plane at least the box's frames
_KERNEL_REACH = 4.0  # standard deviations of the smoothing kernel that are kept


@dataclass(frozen=True)
class MocapNoise:
    """Errors of a tracked pose, each an independent normal per axis; orientation as a rotation vector in B.

    Motion capture errs in two ways: calibration and marker geometry displace a body by tenths of a millimetre, slowly
    varying as it moves through the volume, while from frame to frame it jitters far less. The split matters: the
    authors' rule of rest (central differences below 0.02 m/s in 21 successive samples at 360 Hz) can hold only if the
    jitter is a few hundredths of a millimetre at most.

    Attributes
    ----------
    position_drift, orientation_drift
        Standard deviations of the slow part, m and rad.
    position_jitter, orientation_jitter
        Standard deviations of the part that is independent from frame to frame, m and rad.
    drift_time
        Time scale of the slow part in s: its autocorrelation is exp(-t^2 / (4 drift_time^2)).
    """

    position_drift: float = 2e-4
    orientation_drift: float = 1e-3
    position_jitter: float = 1.5e-5
    orientation_jitter: float = 1e-4
    drift_time: float = 0.25

    def __post_init__(self) -> None:
        if min(asdict(self).values()) < 0 or self.drift_time <= 0:
            raise ContactIdError("a noise level is negative", "Give standard deviations and a positive drift_time")


@dataclass(frozen=True)
class RecordingTruth:
    """What is true of one recording.

    Attributes
    ----------
    release_sample, impact_sample, rest_sample
        0-based: first sample of free flight, of contact, of lying still relative to the surface (None: not reached).
    release
        Pose and hybrid twist of B in C at ``release_sample``.
    surface_position, surface_orientation
        (3,) m and (4,): pose of C in M.
    surface_velocity
        (3,) m/s in C.
    """

    release_sample: int
    impact_sample: int
    rest_sample: int | None
    release: State
    surface_position: np.ndarray
    surface_orientation: np.ndarray
    surface_velocity: np.ndarray

    @property
    def gravity(self) -> tuple[float, float, float]:
        """Gravity (3,) in C, m/s2: it is vertical in M, and C is a little tilted."""
        return _gravity_in(self.surface_orientation)


@dataclass(frozen=True)
class TwinTruth:
    """What is true of a twin file; ``recordings`` by name."""

    object_name: str
    role: str
    parameters: ContactParameters
    noise: MocapNoise
    seed: int
    recordings: Mapping[str, RecordingTruth]


def write_twin(
    path: str | Path,
    object_name: str,
    role: str,
    n_recordings: int,
    seed: int,
    *,
    n_moving: int = 0,
    noise: MocapNoise | None = None,
) -> TwinTruth:
    """Simulate recordings of one box and write them in the layout of the I.AM. archives.

    Parameters
    ----------
    path
        The HDF5 file to write.
    object_name
        ``Box004`` to ``Box007``.
    role
        ``trajectories`` (plane ConveyorPart001), ``validation`` (ConveyorPart002) or ``drops`` (GroundPlane001).
    n_recordings, n_moving
        How many recordings, and how many of them (the last ones) on a belt that runs at 0.3 to 0.5 m/s along x_C.
    seed
        Fixes everything: the same arguments give the same bytes. Each recording has its own stream, so the first ones
        are the same whatever ``n_recordings`` is.
    noise
        Errors of the poses; None takes the defaults.
    """
    box, noise = box_model(object_name), noise or MocapNoise()
    if role not in ROLES:
        raise ContactIdError(f"unknown role {role!r}", f"Choose one of {', '.join(ROLES)}")
    if not 0 <= n_moving <= n_recordings or n_recordings < 1 or (n_moving and role == "drops"):
        raise ContactIdError(
            f"a twin of {n_recordings} recordings, {n_moving} of them on a moving belt ({role})",
            "Give at least one recording, no more moving ones than that, and none for drops",
        )
    place = (BOXES.index(box), ROLES.index(role))
    setup = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(*place, 0)))
    surface_position, surface_turn = _place_surface(setup)
    start = datetime(2000, 1, 1 + place[1], place[0], tzinfo=UTC)  # plainly not a day of the experiments
    truths: dict[str, RecordingTruth] = {}
    with new_archive(path) as archive:
        archive.attrs["synthetic"] = 1
        set_text(archive, "description", f"Synthetic twin of {object_name} ({role}): simulated, not measured")
        for index in range(n_recordings):
            streams = np.random.SeedSequence(seed, spawn_key=(*place, 1 + index)).spawn(2)
            rng, noise_rng = (np.random.default_rng(stream) for stream in streams)
            moving = index >= n_recordings - n_moving
            position = surface_position + rng.normal(scale=[0.005, 0.005, 0.0005])
            orientation = rotations.exp(surface_turn + rng.normal(scale=[0.0005, 0.0005, 0.005]))
            belt_speed = rng.uniform(*_BELT_SPEEDS) if moving else 0.0
            toss = make_toss(box, role, rng, belt_speed=belt_speed, gravity=_gravity_in(orientation))
            name = f"Rec_{start + timedelta(minutes=index):%Y%m%dT%H%M%SZ}"
            truths[name] = RecordingTruth(
                toss.release_sample,
                toss.impact_sample,
                toss.rest_sample,
                toss.release,
                position,
                orientation,
                toss.surface_velocity,
            )
            note = f"Synthetic {role} {index + 1} of {n_recordings}" + (", conveyor running" if moving else "")
            tracked = _tracked(toss, truths[name], noise, noise_rng)
            names = (object_name, SURFACE_NAMES[role])
            recording = ArchiveRecording(name, note, dict(zip(names, tracked, strict=True)))
            write_recording(archive, recording, box.body, object_name=object_name, sample_frequency=SAMPLE_FREQUENCY)
        truth = TwinTruth(object_name, role, box.parameters(role), noise, seed, truths)
        _write_truth(archive, truth)
    return truth


def write_embedded_twins(folder: str | Path) -> list[Path]:
    """Write the twelve twins that come with the repository, with their fixed seed, and enter them in ``SHA256SUMS``.

    Returns the files' paths. The bytes are reproducible with the locked versions of the packages; another compression
    library or processor may change them, so after a run the checksums are part of what is to be committed.
    """
    folder = Path(folder)
    paths = []
    for box in BOXES:
        for role, (n_recordings, n_moving) in _EMBEDDED_RECORDINGS.items():
            path = folder / f"{box.name.lower()}_{role}_twin.h5"
            write_twin(path, box.name, role, n_recordings, _EMBEDDED_SEED, n_moving=n_moving)
            paths.append(path)
    sums_path = folder / "SHA256SUMS"
    lines = sums_path.read_text(encoding="utf-8").splitlines() if sums_path.exists() else []
    sums = {name: digest for digest, name in (line.split(maxsplit=1) for line in lines if line.strip())}
    sums |= {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    write_text(sums_path, "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())))
    return paths


def _gravity_in(surface_orientation: np.ndarray) -> tuple[float, float, float]:
    x, y, z = rotations.as_rotation(surface_orientation).inv().apply([0.0, 0.0, -GRAVITY])
    return float(x), float(y), float(z)


def _place_surface(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Position (3,) in m and rotation vector (3,) of C in M: a floor-level plane, yawed, tilted by a few mrad."""
    position = np.array([rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3), rng.uniform(0.004, 0.010)])
    return position, np.array([*rng.uniform(-0.004, 0.004, size=2), rng.uniform(-0.6, 0.6)])


def _tracked(
    toss: Toss, truth: RecordingTruth, noise: MocapNoise, rng: np.random.Generator
) -> tuple[TrackedBody, TrackedBody]:
    """Box and plane as the motion capture system sees them, in M."""
    surface = rotations.as_rotation(truth.surface_orientation)
    box = _with_noise(
        truth.surface_position + surface.apply(toss.position),
        rotations.as_quaternions(surface * rotations.as_rotation(toss.orientation)),
        noise,
        rng,
    )
    n_plane = len(toss.position) + _PLANE_EXTRA_FRAMES
    plane = _with_noise(
        np.tile(truth.surface_position, (n_plane, 1)), np.tile(truth.surface_orientation, (n_plane, 1)), noise, rng
    )
    return TrackedBody(*box), TrackedBody(*plane, attributes={"surface_velocity": truth.surface_velocity})


def _with_noise(
    position: np.ndarray, orientation: np.ndarray, noise: MocapNoise, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Poses (n, 3), (n, 4) with errors added; the orientation's in the body's own axes."""
    n = len(position)
    shift = noise.position_drift * _drift(n, noise, rng) + noise.position_jitter * rng.normal(size=(n, 3))
    turn = noise.orientation_drift * _drift(n, noise, rng) + noise.orientation_jitter * rng.normal(size=(n, 3))
    turned = rotations.as_rotation(orientation) * rotations.as_rotation(rotations.exp(turn))
    return position + shift, rotations.as_quaternions(turned)


def _drift(n: int, noise: MocapNoise, rng: np.random.Generator) -> np.ndarray:
    """A smooth stationary process (n, 3) of unit variance: white noise under a Gaussian kernel."""
    width = noise.drift_time * SAMPLE_FREQUENCY
    reach = int(np.ceil(_KERNEL_REACH * width))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    kernel /= np.linalg.norm(kernel)
    white = rng.normal(size=(n + 2 * reach, 3))
    return np.stack([np.convolve(white[:, axis], kernel, mode="valid") for axis in range(3)], axis=1)


def _write_truth(archive: h5py.File, truth: TwinTruth) -> None:
    group = archive.create_group("TRUTH")
    set_text(group, "object", truth.object_name)
    set_text(group, "role", truth.role)
    group.attrs["seed"] = truth.seed
    for key, value in asdict(truth.parameters).items():
        group.attrs[key] = value
    for key, value in asdict(truth.noise).items():
        group.attrs[f"noise_{key}"] = value
    recordings = list(truth.recordings.values())
    rest = [-1 if r.rest_sample is None else r.rest_sample for r in recordings]
    columns: dict[str, tuple[np.ndarray, str]] = {
        "recording": (np.array([name.encode() for name in truth.recordings]), ""),
        "release_sample": (np.array([r.release_sample for r in recordings]), "1"),
        "impact_sample": (np.array([r.impact_sample for r in recordings]), "1"),
        "rest_sample": (np.array(rest), "1"),
        "surface_position": (np.array([r.surface_position for r in recordings]), "m"),
        "surface_orientation": (np.array([r.surface_orientation for r in recordings]), "1"),
        "surface_velocity": (np.array([r.surface_velocity for r in recordings]), "m/s"),
        "release_position": (np.array([r.release.position for r in recordings]), "m"),
        "release_orientation": (np.array([r.release.orientation for r in recordings]), "1"),
        "release_linear_velocity": (np.array([r.release.linear_velocity for r in recordings]), "m/s"),
        "release_angular_velocity": (np.array([r.release.angular_velocity for r in recordings]), "rad/s"),
    }
    for name, (values, unit) in columns.items():
        dataset = group.create_dataset(name, data=values, track_times=False)
        if unit:
            set_text(dataset, "units", unit)
