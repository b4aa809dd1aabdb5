"""Synthetic twins of the I.AM. archives: recordings of known truth in the archives' own layout.

A twin lets the whole tossing study run offline, and says what its identification ought to find. It
has a motion capture frame M, a surface frame C that is shifted, turned and slightly tilted in it, a
carrying hand, marker noise, and for some recordings a moving belt. What was put in lies under
``/TRUTH``, which the reader of archives doesn't look at; it is there for whoever tests an
identification.

The layout is that of the authors' scripts: which plane is tracked differs between archives and
within one, some recordings track none, the markers of a running belt's plane travel with it, a
frame that wasn't tracked holds the pose Rx(90) Ry(90) without translation, and frames may be held.
A recording may be *damaged*: more frames are lost than two in a row, within the toss. That is part
of the truth.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType

import h5py
import numpy as np

from contactid.core import rotations
from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError
from contactid.tossing.simulate.box import GRAVITY, ContactParameters, State
from iam_tosses import BOXES, ROLES, SAMPLE_FREQUENCY, Physics, Toss, box_model, make_toss
from iam_writer import (
    ArchiveRecording,
    TrackedBody,
    existing_archive,
    new_archive,
    set_text,
    write_recording,
)

# to look for in any archive
SURFACES = "ConveyorPart001, ConveyorPart002, ConveyorPart006, GroundPlane001"
NO_PLANE = ""  # none is tracked: the surface is level, 1 cm above M's origin
LEVEL = 0.01  # m
# by box, else for all: the planes that an archive's recordings have in turn; the last is that of a
# running belt
PLANES: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        ("Box004", "trajectories"): (
            "ConveyorPart002",
            "ConveyorPart002",
            NO_PLANE,
            "ConveyorPart002",
        ),
        ("Box005", "trajectories"): (
            "GroundPlane001",
            "GroundPlane001",
            NO_PLANE,
            "ConveyorPart002",
        ),
        ("Box006", "trajectories"): (
            "ConveyorPart001",
            "ConveyorPart001",
            NO_PLANE,
            "ConveyorPart002",
        ),
        ("Box007", "trajectories"): (
            "ConveyorPart002",
            "ConveyorPart002",
            NO_PLANE,
            "ConveyorPart002",
        ),
        ("Box004", "validation"): ("ConveyorPart002", "ConveyorPart002"),
        ("Box005", "validation"): ("GroundPlane001", "ConveyorPart006", "ConveyorPart002"),
        ("Box006", "validation"): ("GroundPlane001", "ConveyorPart006", "ConveyorPart002"),
        ("Box007", "validation"): ("ConveyorPart002", "ConveyorPart002"),
    }
)
_DROPS = ("GroundPlane001", "GroundPlane001", NO_PLANE, "")
_UNTIMED = ("Box005", "trajectories")  # one of the archives is said to lack the column Time(s)
DAMAGES = ("", "placeholder pose", "pose held", "NaN", "step that no body makes")
PLACEHOLDER = rotations.as_quaternions(
    rotations.as_rotation(rotations.exp([0.5 * np.pi, 0.0, 0.0]))
    * rotations.as_rotation(rotations.exp([0.0, 0.5 * np.pi, 0.0]))
)
_FAR_PLANE = np.array([2.5, 0.4, -0.3])  # m from the surface: another part of the conveyor
_LONG_GAP = 10  # frames
_EMBEDDED_SEED = 20230206
_EMBEDDED_RECORDINGS = MappingProxyType(
    {"trajectories": (16, 0), "validation": (14, 2), "drops": (48, 0)}
)
_BELT_SPEEDS = (0.3, 0.5)  # m/s
_PLANE_EXTRA_FRAMES = 5  # the archives promise a plane at least the box's frames
_KERNEL_REACH = 4.0  # standard deviations of the smoothing kernel that are kept


@dataclass(frozen=True)
class MocapNoise:
    """Errors of a tracked pose, each an independent normal per axis; orientation as a rotation
    vector in B.

    Motion capture errs in two ways: calibration and marker geometry displace a body by tenths of a
    millimetre, slowly varying as it moves through the volume, while from frame to frame it jitters
    far less. The split matters: the authors' rule of rest (central differences below 0.02 m/s in 21
    successive samples at 360 Hz) can hold only if the jitter is a few hundredths of a millimetre at
    most.

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
            raise ContactIdError(
                "a noise level is negative", "Give standard deviations and a positive drift_time"
            )


@dataclass(frozen=True)
class RecordingTruth:
    """What is true of one recording.

    Attributes
    ----------
    release_sample, impact_sample, rest_sample
        0-based: first sample of free flight, of contact, of lying still relative to the surface
        (None: not reached).
    release
        Pose and hybrid twist of B in C at ``release_sample``.
    surface_position, surface_orientation
        (3,) m and (4,): pose of C in M.
    surface_velocity
        (3,) m/s in C.
    plane, damage
        The tracked plane ("": none), and what is wrong with more frames of the toss than can be
        bridged ("": nothing).
    """

    release_sample: int
    impact_sample: int
    rest_sample: int | None
    release: State
    surface_position: np.ndarray
    surface_orientation: np.ndarray
    surface_velocity: np.ndarray
    plane: str = ""
    damage: str = ""

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
    planes: tuple[str, ...] | None = None,
    lost_frames: bool = True,
    damaged: int = 0,
    append: bool = False,
    truth: ContactParameters | None = None,
    physics: Physics | None = None,
) -> TwinTruth:
    """Simulate recordings of one box and write them in the layout of the I.AM. archives.

    Parameters
    ----------
    path
        The HDF5 file to write.
    object_name
        ``Box004`` to ``Box007``.
    role
        ``trajectories``, ``validation`` or ``drops``; the planes are those of :data:`PLANES`.
    n_recordings, n_moving
        How many recordings, and how many of them (the last ones) on a belt that runs at 0.3 to 0.5
        m/s along x_C.
    seed
        Fixes everything: the same arguments give the same bytes. Each recording has its own stream,
        so the first ones are the same whatever ``n_recordings`` is.
    noise
        Errors of the poses; None takes the defaults.
    planes
        In place of those of :data:`PLANES`.
    lost_frames
        Whether every toss has frames that weren't tracked or were held, at most two in a row, also
        at the impact.
    damaged
        How many recordings (every fifth, from the second on) have a longer gap within the toss.
    append
        Add to an archive that is there, as the archives of drops hold several boxes.
    truth
        Friction and restitution of tosses, in place of the box's in Table II.
    physics
        What makes the tosses, where it isn't what identifications assume; the described body stays
        the same.
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
    box = replace(
        box, from_trajectories=truth or box.from_trajectories, physics=physics or Physics()
    )
    setup = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(*place, 0)))
    surface_position, surface_turn = _place_surface(setup)
    start = datetime(
        2000, 1, 1 + place[1], place[0], tzinfo=UTC
    )  # plainly not a day of the experiments
    truths: dict[str, RecordingTruth] = {}
    planes = planes or PLANES.get((object_name, role), _DROPS)
    with existing_archive(path) if append else new_archive(path) as archive:
        archive.attrs["synthetic"] = 1
        set_text(
            archive,
            "description",
            f"Synthetic twin of {object_name} ({role}): simulated, not measured",
        )
        for index in range(n_recordings):
            streams = np.random.SeedSequence(seed, spawn_key=(*place, 1 + index)).spawn(3)
            rng, noise_rng, flaw_rng = (np.random.default_rng(stream) for stream in streams)
            moving = index >= n_recordings - n_moving
            plane = planes[-1] if moving else planes[index % (len(planes) - 1)]
            position = surface_position + rng.normal(scale=[0.005, 0.005, 0.0005])
            orientation = rotations.exp(surface_turn + rng.normal(scale=[0.0005, 0.0005, 0.005]))
            if plane == NO_PLANE:
                position[2], orientation = LEVEL, rotations.exp([0.0, 0.0, surface_turn[2]])
            belt_speed = rng.uniform(*_BELT_SPEEDS) if moving else 0.0
            toss = make_toss(
                box, role, rng, belt_speed=belt_speed, gravity=_gravity_in(orientation)
            )
            name = f"Rec_{start + timedelta(minutes=index):%Y%m%dT%H%M%SZ}"
            damage = (
                DAMAGES[1 + (index // 5) % (len(DAMAGES) - 1)]
                if index % 5 == 1 and index // 5 < damaged
                else ""
            )
            truths[name] = RecordingTruth(
                toss.release_sample,
                toss.impact_sample,
                toss.rest_sample,
                toss.release,
                position,
                orientation,
                toss.surface_velocity,
                plane,
                damage,
            )
            note = f"Synthetic {role} {index + 1} of {n_recordings}" + (
                ", conveyor 3" if moving else ""
            )
            tracked = _tracked(object_name, toss, truths[name], noise, noise_rng)
            if lost_frames or damage:
                tracked = _spoilt(tracked, object_name, truths[name], lost_frames, flaw_rng)
            recording = ArchiveRecording(name, note, tracked)
            write_recording(
                archive, recording, box.body, object_name=object_name, sample_frequency=SAMPLE_FREQUENCY,
                timed=(object_name, role) != _UNTIMED,
            )  # fmt: skip
        made = TwinTruth(object_name, role, box.parameters(role), noise, seed, truths)
        _write_truth(archive, made)
    return made


def write_embedded_twins(folder: str | Path) -> list[Path]:
    """Write the twelve twins that come with the repository, with their fixed seed, and enter them
    in ``SHA256SUMS``.

    Returns the files' paths. The bytes are reproducible with the locked versions of the packages;
    another compression library or processor may change them, so after a run the checksums are part
    of what is to be committed.
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
    sums = {
        name: digest for digest, name in (line.split(maxsplit=1) for line in lines if line.strip())
    }
    sums |= {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    write_text(sums_path, "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())))
    return paths


def _gravity_in(surface_orientation: np.ndarray) -> tuple[float, float, float]:
    x, y, z = rotations.as_rotation(surface_orientation).inv().apply([0.0, 0.0, -GRAVITY])
    return float(x), float(y), float(z)


def _place_surface(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Position (3,) in m and rotation vector (3,) of C in M: a floor-level plane, yawed, tilted by
    a few mrad.
    """
    position = np.array([rng.uniform(-0.3, 0.3), rng.uniform(-0.3, 0.3), rng.uniform(0.004, 0.010)])
    return position, np.array([*rng.uniform(-0.004, 0.004, size=2), rng.uniform(-0.6, 0.6)])


def _tracked(
    object_name: str, toss: Toss, truth: RecordingTruth, noise: MocapNoise, rng: np.random.Generator
) -> dict[str, TrackedBody]:
    """Box and planes as the motion capture system sees them, in M; a running belt takes its plane's
    markers along.
    """
    surface = rotations.as_rotation(truth.surface_orientation)
    box = _with_noise(
        truth.surface_position + surface.apply(toss.position),
        rotations.as_quaternions(surface * rotations.as_rotation(toss.orientation)),
        noise,
        rng,
    )
    n_plane = len(toss.position) + _PLANE_EXTRA_FRAMES
    since = (np.arange(n_plane) - truth.impact_sample)[:, None] / SAMPLE_FREQUENCY
    path = truth.surface_position + since * surface.apply(truth.surface_velocity)
    standing = np.tile(truth.surface_orientation, (n_plane, 1))
    plane = _with_noise(path, standing, noise, rng)
    far = (
        np.tile(truth.surface_position + _FAR_PLANE, (n_plane, 1)),
        standing,
    )  # without noise it takes no room
    tracked = {object_name: TrackedBody(*box), "ConveyorPart004": TrackedBody(*far)}
    return tracked | ({truth.plane: TrackedBody(*plane)} if truth.plane else {})


def _spoilt(
    tracked: dict[str, TrackedBody], object_name: str, truth: RecordingTruth, lost_frames: bool,
    rng: np.random.Generator,
) -> dict[str, TrackedBody]:  # fmt: skip
    """The same with frames that weren't seen: two gaps of one or two frames each before the impact,
    at it and after it, and the long gap of a damaged recording."""
    spoilt = {}
    for name, body in tracked.items():
        position, orientation = body.position.copy(), body.orientation.copy()
        last = (truth.rest_sample or truth.impact_sample + 60) - 3
        if lost_frames:
            for first, end in (
                (truth.release_sample, truth.impact_sample - 4),
                (truth.impact_sample - 1, truth.impact_sample + 1),
                (truth.impact_sample + 4, last),
            ):
                at = int(rng.integers(first, max(end, first + 1)))
                _lose(
                    position,
                    orientation,
                    at,
                    int(rng.integers(1, 3)),
                    DAMAGES[int(rng.integers(1, 3))],
                )
        if truth.damage and name == object_name:
            # in flight or in the slide, where the box moves
            at = truth.impact_sample + int(rng.integers(-_LONG_GAP - 4, 4))
            _lose(position, orientation, at, _LONG_GAP, truth.damage)
        spoilt[name] = TrackedBody(position, orientation)
    return spoilt


def _lose(position: np.ndarray, orientation: np.ndarray, first: int, count: int, how: str) -> None:
    frames = slice(first, first + count)
    if how == "placeholder pose":
        position[frames], orientation[frames] = 0.0, PLACEHOLDER
    elif how == "pose held":
        position[frames], orientation[frames] = position[first - 1], orientation[first - 1]
    elif how == "NaN":
        position[frames] = np.nan
    else:
        position[frames] += [0.3, 0.0, 0.1]


def _with_noise(
    position: np.ndarray, orientation: np.ndarray, noise: MocapNoise, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Poses (n, 3), (n, 4) with errors added; the orientation's in the body's own axes."""
    n = len(position)
    shift = noise.position_drift * _drift(n, noise, rng) + noise.position_jitter * rng.normal(
        size=(n, 3)
    )
    turn = noise.orientation_drift * _drift(n, noise, rng) + noise.orientation_jitter * rng.normal(
        size=(n, 3)
    )
    turned = rotations.as_rotation(orientation) * rotations.as_rotation(rotations.exp(turn))
    return position + shift, rotations.as_quaternions(turned)


def _drift(n: int, noise: MocapNoise, rng: np.random.Generator) -> np.ndarray:
    """A smooth stationary process (n, 3) of unit variance: white noise under a Gaussian kernel."""
    width = noise.drift_time * SAMPLE_FREQUENCY
    reach = int(np.ceil(_KERNEL_REACH * width))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    kernel /= np.linalg.norm(kernel)
    white = rng.normal(size=(n + 2 * reach, 3))
    return np.stack(
        [np.convolve(white[:, axis], kernel, mode="valid") for axis in range(3)], axis=1
    )


def _write_truth(archive: h5py.File, truth: TwinTruth) -> None:
    group = archive.create_group(
        "TRUTH" if "TRUTH" not in archive else f"TRUTH_{truth.object_name}"
    )
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
        "plane": (np.array([r.plane.encode() for r in recordings], dtype="S32"), ""),
        "damage": (np.array([r.damage.encode() for r in recordings], dtype="S32"), ""),
        "release_position": (np.array([r.release.position for r in recordings]), "m"),
        "release_orientation": (np.array([r.release.orientation for r in recordings]), "1"),
        "release_linear_velocity": (
            np.array([r.release.linear_velocity for r in recordings]),
            "m/s",
        ),
        "release_angular_velocity": (
            np.array([r.release.angular_velocity for r in recordings]),
            "rad/s",
        ),
    }
    for name, (values, unit) in columns.items():
        dataset = group.create_dataset(name, data=values, track_times=False)
        if unit:
            set_text(dataset, "units", unit)
