"""Read the archive of recorded arm impacts (10.4121/14192429) into the canonical form.

The archive's own variables are not known here: it is said to hold joint positions of 18 impacts at 1 kHz as .mat files
and MATLAB scripts. So all that is expected of it stands in the constants below, names are taken tolerantly, and what
doesn't fit is reported with what was found. Where file names don't say which experiment they hold, or variables have
other names, a table ``recordings.csv`` beside the files says it: columns ``file`` (its path in the folder; for a file
with several recordings followed by ``:`` and the structure's name), ``set``, ``velocity_m_s``, ``angle_deg`` and,
optionally, ``position`` and ``time`` (names of variables).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
import xarray as xr

from contactid.arm.readers.impacts import (
    N_JOINTS,
    SAMPLE_INTERVAL,
    ArmRecording,
    Setting,
    build_arm_impacts,
    recording_problems,
)
from contactid.core.errors import ContactIdError
from contactid.sources.array_files import beside, described, mat_files, read_variables
from contactid.sources.left_out import joined, log_left_out, nothing_usable, reason_of

# names of variables, compared without case and underscores; the first that is there is taken
_POSITION = (
    "q", "qmeas", "qmeasured", "qmsr", "qm", "jointposition", "jointpositions", "jointpos", "msrjntpos", "position",
    "positions", "joints",
)  # fmt: skip
_TIME = ("t", "time", "timestamp", "timestamps", "timevector", "tvec", "tout")
# set, velocity and angle: patterns, searched in a recording's path without its ending; the last match counts
_SET = r"(?:data[ _-]?)?set[ _-]?0*([12])(?!\d)"
_VELOCITY = r"(?:^|[ _/.-])v(?:el(?:ocity)?)?[ _-]?(\d+(?:[.p]\d+)?)|(\d+(?:[.p]\d+)?)[ _-]?(?:cm|m)[ _-]?(?:ps|s|/s)"
_ANGLE = r"(?:^|[ _/.-])a(?:ng(?:le)?)?[ _-]?(\d+)|(\d+)[ _-]?deg"
_CENTIMETRES_FROM = 1.0  # a velocity written as a number from this on is in cm/s, a smaller one in m/s
_DEGREES_FROM = 2.0 * np.pi  # rad; no joint turns that far, so all positions of a file with larger ones are in degrees
_SETS = (1, 2)
_VELOCITIES, _ANGLES_DEG = (0.02, 1.0), (5.0, 90.0)  # ranges of the settings, m/s and degrees
LIMITS = np.deg2rad([170.0, 120.0, 170.0, 120.0, 170.0, 120.0, 170.0])[:, None] * [-1.0, 1.0]  # (7, 2) rad, LWR 4+
MANIFEST = "recordings.csv"
_MANIFEST_COLUMNS = ("file", "set", "velocity_m_s", "angle_deg")
_REMEDY = f"Mend that, name files like set1_v010_a30.mat, or say in {MANIFEST} which is which"


@dataclass(frozen=True)
class _Entry:
    """What is known of a recording before it is read."""

    setting: Setting
    position: str = ""
    time: str = ""


def read_arm_mat(path: str | Path, *, licence: str, synthetic: bool = False) -> xr.Dataset:
    """Read every recording of a folder, a zip file, or a .mat file; ``synthetic``: the data were simulated.

    Gives the canonical form of :mod:`contactid.arm.readers.impacts`; ``left_out`` says which recordings are missing and
    why, with all problems of each.

    Raises
    ------
    ContactIdError
        Where the path or ``recordings.csv`` is wrong, or no recording is usable.
    """
    manifest = _read_manifest(path)
    recordings: dict[str, ArmRecording] = {}
    left_out: dict[str, str] = {}
    for file, content in mat_files(path):
        try:
            variables = read_variables(content)
        except ContactIdError as error:
            left_out[file] = error.problem
            continue
        for name, part in _parts(file, variables, manifest).items():
            problems: list[str] = []
            recording = _read_recording(name, part, manifest, problems)
            if recording is None:
                left_out[name] = joined(problems)
            elif recording.setting.name in recordings:
                left_out[name] = f"another recording is {recording.setting.name}, too"
            else:
                recordings[recording.setting.name] = recording
    for name in sorted(set(manifest) - set(left_out)):
        if manifest[name].setting.name not in recordings:
            left_out[name] = f"listed in {MANIFEST}, but not there"
    log_left_out(left_out)
    if not recordings:
        raise nothing_usable(path, "recordings of an impact", left_out, _REMEDY)
    return build_arm_impacts(
        list(recordings.values()),
        source="synthetic twin of recorded arm impacts" if synthetic else "recorded impacts of an LWR 4+ on a table",
        licence=licence,
        synthetic=synthetic,
        left_out=left_out,
    )


def _parts(
    file: str, variables: dict[str, np.ndarray], manifest: Mapping[str, _Entry]
) -> dict[str, dict[str, np.ndarray]]:
    """Variables by recording: of the whole file, or of each structure in it where several hold positions."""
    names = {_plain(name) for name in _POSITION}
    holders = {name.rpartition(".")[0] for name in variables if _plain(name.rpartition(".")[2]) in names}
    listed = {key.partition(":")[2] for key in manifest if key.startswith(f"{file}:")}
    if file in manifest or (len(holders) < 2 and not listed):
        return {file: variables}
    common = {name: value for name, value in variables.items() if "." not in name}
    return {
        f"{file}:{holder}" if holder else file: common | _bare(variables, holder) for holder in sorted(holders | listed)
    }


def _bare(variables: dict[str, np.ndarray], holder: str) -> dict[str, np.ndarray]:
    """The variables of one structure, without its name."""
    start = f"{holder}."
    return {name.removeprefix(start): value for name, value in variables.items() if name.startswith(start)}


def _read_recording(
    name: str, variables: dict[str, np.ndarray], manifest: Mapping[str, _Entry], problems: list[str]
) -> ArmRecording | None:
    """A usable recording; None, and every problem in ``problems``, where it isn't one."""
    entry = manifest.get(name) or _entry_from_name(name, problems)
    position = _positions(variables, entry.position if entry else "", problems)
    if position is None:
        problems.append(f"it holds {described(variables)}")
        return None
    position = _in_radians(position)
    time = _times(variables, entry.time if entry else "", len(position), problems)
    problems += recording_problems(time, position, LIMITS)
    return ArmRecording(entry.setting, time, position) if entry and not problems else None


def _positions(variables: dict[str, np.ndarray], wanted: str, problems: list[str]) -> np.ndarray | None:
    """(n, 7) joint positions in the file's unit."""
    names = (wanted,) if wanted else _POSITION
    name = _pick(variables, names)
    if name is None:
        problems.append(f"no joint positions: expected a variable named {' or '.join(names)}")
        return None
    values = np.asarray(variables[name], dtype=float)
    if values.ndim != 2 or N_JOINTS not in values.shape:
        problems.append(f"{name} has shape {values.shape} instead of (n, {N_JOINTS}) or ({N_JOINTS}, n)")
        return None
    return values if values.shape[1] == N_JOINTS else values.T


def _in_radians(position: np.ndarray) -> np.ndarray:
    finite = position[np.isfinite(position)]
    degrees = len(finite) and np.abs(finite).max() > _DEGREES_FROM
    return np.deg2rad(position) if degrees else position


def _times(variables: dict[str, np.ndarray], wanted: str, n_samples: int, problems: list[str]) -> np.ndarray:
    """(n,) s, given in s or ms; without a variable of time, samples are 1 ms apart, as the archive is said to have."""
    name = _pick(variables, (wanted,) if wanted else _TIME)
    even = SAMPLE_INTERVAL * np.arange(n_samples)
    if name is None:
        if wanted:
            problems.append(f"no variable named {wanted}")
        return even
    values = np.asarray(variables[name], dtype=float).reshape(-1)
    if len(values) != n_samples:
        problems.append(f"{name} has {len(values)} values for {n_samples} samples of joint positions")
        return even
    with np.errstate(over="ignore", invalid="ignore"):
        steps = np.diff(values)
    milliseconds = np.isfinite(steps).any() and abs(float(np.nanmedian(steps)) - 1.0) < 0.5
    return values * SAMPLE_INTERVAL if milliseconds else values


def _entry_from_name(name: str, problems: list[str]) -> _Entry | None:
    """The setting that a recording's path tells, ``data/Set 1/v0.10_30deg.mat`` for example."""
    stem = str(PurePosixPath(name.replace(".mat:", "/").removesuffix(".mat"))).lower()
    number, velocity, angle = (_last_match(pattern, stem) for pattern in (_SET, _VELOCITY, _ANGLE))
    missing = [what for what, value in (("set", number), ("velocity", velocity), ("angle", angle)) if value is None]
    if number is None or velocity is None or angle is None:
        problems.append(f"its name does not tell its {' and '.join(missing)}")
        return None
    setting = Setting(int(number), velocity / 100.0 if velocity >= _CENTIMETRES_FROM else velocity, angle)
    return _Entry(setting) if _in_range(setting, problems) else None


def _last_match(pattern: str, text: str) -> float | None:
    found = list(re.finditer(pattern, text))
    if not found:
        return None
    return float(next(group for group in found[-1].groups() if group).replace("p", "."))


def _in_range(setting: Setting, noted: list[str]) -> bool:
    """Whether an experiment can be one of the archive's; ``noted`` is added to where it can't."""
    problems: list[str] = []
    if setting.set_number not in _SETS:
        problems.append(f"its set is {setting.set_number} instead of {' or '.join(map(str, _SETS))}")
    if not _VELOCITIES[0] <= setting.velocity <= _VELOCITIES[1]:
        problems.append("a velocity of {:g} m/s is not between {:g} and {:g}".format(setting.velocity, *_VELOCITIES))
    if not _ANGLES_DEG[0] <= setting.angle_deg <= _ANGLES_DEG[1]:
        problems.append("an angle of {:g} degrees is not between {:g} and {:g}".format(setting.angle_deg, *_ANGLES_DEG))
    noted.extend(problems)
    return not problems


def _read_manifest(path: str | Path) -> dict[str, _Entry]:
    text = beside(path, MANIFEST)
    if text is None:
        return {}
    try:
        rows = csv.DictReader(io.StringIO(text))
        lines, columns = list(rows), rows.fieldnames or []
    except csv.Error as error:
        raise ContactIdError(f"{path}: {MANIFEST} is no table ({reason_of(error)})", "Correct it") from None
    missing = [column for column in _MANIFEST_COLUMNS if column not in columns]
    if missing:
        raise ContactIdError(f"{path}: {MANIFEST} has no column {', '.join(missing)}", "Add it")
    problems: list[str] = []
    entries = {}
    for line, row in enumerate(lines, start=2):
        found: list[str] = []
        entry = _entry_of(row, found)
        if entry is not None:
            entries[row["file"]] = entry
        problems += [f"line {line}: {problem}" for problem in found]
    if problems:
        raise ContactIdError(f"{path}: {MANIFEST}, {joined(problems)}", "Correct it")
    return entries


def _entry_of(row: Mapping[str, str], problems: list[str]) -> _Entry | None:
    try:
        setting = Setting(int(row["set"]), float(row["velocity_m_s"]), float(row["angle_deg"]))
    except (TypeError, ValueError):
        problems.append("a number is missing")
        return None
    return _Entry(setting, row.get("position") or "", row.get("time") or "") if _in_range(setting, problems) else None


def _pick(variables: dict[str, np.ndarray], names: tuple[str, ...]) -> str | None:
    """The variable of the first of these names, at any depth; a shallower one before a deeper one."""
    for wanted in names:
        for name in sorted(variables, key=lambda key: key.count(".")):
            if _plain(name) == _plain(wanted) or _plain(name.rpartition(".")[2]) == _plain(wanted):
                return name
    return None


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
