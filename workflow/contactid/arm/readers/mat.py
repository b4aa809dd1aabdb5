"""Read the archive of recorded arm impacts (10.4121/14192429) into the canonical form.

The archive's own variables are not known here: it is said to hold joint positions of 18 impacts at
1 kHz as .mat files and MATLAB scripts. So all that is expected of it stands in the constants below,
names are taken tolerantly, and what doesn't fit is reported with what was found.

What an experiment was meant to be (set, speed, angle) is a label, which a path may tell, in part or
not at all: results rest on what was measured. Where variables have other names, a table
``recordings.csv`` beside the files says it: columns ``file`` (its path in the folder; for a file
with several recordings followed by ``:`` and the structure's name) and, optionally, ``position``
and ``time``.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np
import pandas as pd
import xarray as xr

from contactid.arm.readers.clock import even_steps
from contactid.arm.readers.impacts import (
    LEAST_SAMPLES,
    ArmRecording,
    build_arm_impacts,
    is_told,
    recording_problems,
)
from contactid.arm.readers.labels import label_of
from contactid.core.errors import ContactIdError
from contactid.sources.left_out import joined, log_left_out, nothing_usable, reason_of
from contactid.sources.matlab_files import beside, described, mat_files, read_variables

# names of variables, compared without case and underscores; the first that is there is taken
_POSITION = (
    "q", "qmeas", "qmeasured", "qmsr", "qm", "jointposition", "jointpositions", "jointpos", "msrjntpos", "position",
    "positions", "joints",
)  # fmt: skip
_TIME = (
    "t",
    "time",
    "timestamp",
    "timestamps",
    "timevector",
    "tvec",
    "tout",
    "stamp",
    "stamps",
    "clock",
)
# rad; no joint turns that far, so all positions of a file with larger ones are in degrees
_DEGREES_FROM = 2.0 * np.pi
# (7, 2) rad, LWR 4+
LIMITS = np.outer(np.deg2rad([170.0, 120.0, 170.0, 120.0, 170.0, 120.0, 170.0]), [-1.0, 1.0])
MANIFEST = "recordings.csv"
_REMEDY = f"Mend that, or say in {MANIFEST} beside the files which variable is which"


@dataclass(frozen=True)
class Entry:
    """The names of a recording's variables, where they are stated."""

    position: str = ""
    time: str = ""


def read_arm_mat(path: str | Path, *, licence: str, synthetic: bool = False) -> xr.Dataset:
    """Read every recording of a folder, a zip file, or a .mat file; ``synthetic``: the data were
    simulated.

    Gives the canonical form of :mod:`contactid.arm.readers.impacts`; ``left_out`` says which
    recordings are missing and why, with all problems of each.

    Raises
    ------
    ContactIdError
        Where the path or ``recordings.csv`` is wrong, or no recording is usable.
    """
    manifest = read_manifest(path)
    recordings: list[ArmRecording] = []
    left_out: dict[str, str] = {}
    read: set[str] = set()
    for file, content in mat_files(path):
        try:
            variables = read_variables(content)
        except ContactIdError as error:
            left_out[file] = error.problem
            continue
        for name, part in parts_of(file, variables, manifest).items():
            problems: list[str] = []
            recording = read_recording(name, part, problems, manifest.get(name))
            read.add(name)
            if recording is None:
                left_out[name] = joined(problems)
            else:
                recordings.append(recording)
    left_out |= dict.fromkeys(
        sorted(set(manifest) - read - set(left_out)), f"listed in {MANIFEST}, but not there"
    )
    log_left_out(left_out)
    if not recordings:
        raise nothing_usable(path, "recordings of an impact", left_out, _REMEDY)
    return build_arm_impacts(
        named_apart(recordings),
        source="synthetic twin of recorded arm impacts"
        if synthetic
        else "recorded impacts of an LWR 4+ on a table",
        licence=licence,
        synthetic=synthetic,
        left_out=left_out,
    )


def parts_of(
    file: str, variables: dict[str, np.ndarray], manifest: Mapping[str, Entry]
) -> dict[str, dict[str, np.ndarray]]:
    """Variables by recording: of the whole file, or of each structure in it where several hold
    positions.
    """
    names = {_plain(name) for name in _POSITION}
    holders = {
        name.rpartition(".")[0] for name in variables if _plain(name.rpartition(".")[2]) in names
    }
    listed = {key.partition(":")[2] for key in manifest if key.startswith(f"{file}:")}
    # one recording, unless several structures hold positions
    if file in manifest or (len(holders) < 2 and not listed):
        return {file: variables}
    # a time outside the structures belongs to all
    common = {name: value for name, value in variables.items() if "." not in name}
    return {
        f"{file}:{holder}" if holder else file: common
        # those of the structure, without its name
        | {
            name.removeprefix(f"{holder}."): value
            for name, value in variables.items()
            if name.startswith(f"{holder}.")
        }
        for holder in sorted(holders | listed)
    }


def read_recording(
    name: str,
    variables: dict[str, np.ndarray],
    problems: list[str],
    entry: Entry | None = None,
    limits: np.ndarray = LIMITS,
) -> ArmRecording | None:
    """A usable recording from variables; None, and every problem in ``problems``, where it isn't
    one.

    ``name`` is its path, which may tell what was recorded; ``limits`` (joints, 2) of
    the joint positions, rad.
    """
    entry = entry or Entry()
    remarks: list[str] = []
    position = _positions(variables, entry.position, len(limits), problems, remarks)
    if position is None:
        # so that the reader of the message can name the right one
        problems.append(f"it holds {described(variables)}")
        return None
    position = _in_radians(position)
    stamps = _times(variables, entry.time, len(position), problems, remarks)
    problems += recording_problems(position, limits)
    even = even_steps(stamps, position, problems) if len(position) >= LEAST_SAMPLES else None
    if problems or even is None:
        return None
    return ArmRecording(label_of(name), even.time, even.position, name, (*remarks, *even.notes))


def named_apart(recordings: list[ArmRecording]) -> list[ArmRecording]:
    """The same under short names that differ: the setting's where it is told whole, else the
    file's.

    Repetitions have a number behind it, in the order given.
    """
    found: dict[str, int] = {}
    named = []
    for one in recordings:
        path = one.own_name.replace(".mat:", "/").removesuffix(".mat").removesuffix(".csv")
        short = one.setting.name if is_told(one.setting) else PurePosixPath(path).name
        count = found[short] = found.get(short, 0) + 1
        named.append(replace(one, own_name=short if count == 1 else f"{short}_{count}"))
    return named


def _positions(
    variables: dict[str, np.ndarray],
    wanted: str,
    joints: int,
    problems: list[str],
    remarks: list[str],
) -> np.ndarray | None:
    """(n, joints) joint positions in the file's unit."""
    names = (wanted,) if wanted else _POSITION
    name = _pick(variables, names)
    shaped = [one for one, value in variables.items() if value.ndim == 2 and joints in value.shape]
    if name is None and not wanted and len(shaped) == 1:
        [name] = shaped
        remarks.append(
            f"{name}, the only variable of {joints} columns or rows, is taken for joint positions"
        )
    if name is None:
        problems.append(f"no joint positions: expected a variable named {' or '.join(names)}")
        return None
    values = np.asarray(variables[name], dtype=float)
    if values.ndim != 2 or joints not in values.shape:
        problems.append(
            f"{name} has shape {values.shape} instead of (n, {joints}) or ({joints}, n)"
        )
        return None
    # one row a sample
    return values if values.shape[1] == joints else values.T


def _in_radians(position: np.ndarray) -> np.ndarray:
    finite = position[np.isfinite(position)]
    # one value is enough: no joint turns that far in rad
    degrees = len(finite) and np.abs(finite).max() > _DEGREES_FROM
    return np.deg2rad(position) if degrees else position


def _times(
    variables: dict[str, np.ndarray],
    wanted: str,
    n_samples: int,
    problems: list[str],
    remarks: list[str],
) -> np.ndarray | None:
    """(n,) as in the file; None where it has no time."""
    name = _pick(variables, (wanted,) if wanted else _TIME)
    if name is None and wanted:
        problems.append(f"no variable named {wanted}")
    rising = [
        one
        for one, value in variables.items()
        if value.size == n_samples and (np.diff(value.reshape(-1)) > 0).all()
    ]
    if name is None and not wanted and len(rising) == 1:
        [name] = rising
        remarks.append(
            f"{name}, the only variable that rises with every sample, is taken for the time"
        )
    if name is None:
        return None
    values = variables[name].reshape(-1)
    if len(values) != n_samples:
        problems.append(
            f"{name} has {len(values)} values for {n_samples} samples of joint positions"
        )
        return None
    return values


def read_manifest(path: str | Path) -> dict[str, Entry]:
    """What a table ``recordings.csv`` in a folder says of its files, if there is one."""
    text = beside(path, MANIFEST)
    if text is None:
        return {}
    # spreadsheets of many countries write semicolons
    separator = ";" if ";" in text.partition("\n")[0] else ","
    try:
        table = pd.read_csv(io.StringIO(text), sep=separator, dtype=str, skipinitialspace=True)
    except ValueError as error:
        raise ContactIdError(
            f"{path}: {MANIFEST} is no table ({reason_of(error)})", "Correct it"
        ) from None
    table = table.fillna("").apply(lambda column: column.str.strip())
    table.columns = table.columns.str.strip().str.lower()
    if "file" not in table:
        raise ContactIdError(f"{path}: {MANIFEST} has no column file", "Add it")
    return {
        row["file"]: Entry(row.get("position", ""), row.get("time", ""))
        for row in table.to_dict("records")
    }


def _pick(variables: dict[str, np.ndarray], names: tuple[str, ...]) -> str | None:
    """The variable of the first of these names, at any depth; a shallower one before a deeper one."""
    for wanted in names:
        # at equal names the variable nearest to the top
        for name in sorted(variables, key=lambda key: key.count(".")):
            if _plain(name) == _plain(wanted) or _plain(name.rpartition(".")[2]) == _plain(wanted):
                return name
    return None


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
