"""Read the Impact-Aware Manipulation (I.AM.) archives of box tosses into the canonical form.

An archive is one HDF5 file, or a folder of them, in which each group ``Rec_<time stamp>`` is one
recording:

* ``OBJECT/<box>/`` with ``vertices`` (8, 3) in m and ``inertia`` (6, 6) = diag(m I3, I), both in
  the body frame B whose origin is the centre of mass, and ``mass`` in kg;
* ``SENSOR_MEASUREMENT/Mocap/datalog``, a table with the column ``Time(s)`` and the attribute
  ``sample_frequency``;
* ``SENSOR_MEASUREMENT/Mocap/POSTPROCESSING/<box or plane>/transforms`` (4, 4, N): frame k's pose in
  the motion capture frame M is ``[:, :, k]`` (eq. 1, tossing).

The archives were written over years, so names may carry a prefix (``Result_0mass``), attribute
names a space in place of an underscore, and numbers any numeric type or, for the frequency, text.

An archive is gone through twice: a survey of the small fields finds the recordings of the box,
their commonest sample frequency and body; then recordings are read one at a time, so that memory is
that of the longest.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

import h5py
import numpy as np

from contactid.core.errors import ContactIdError
from contactid.sources.left_out import joined, log_left_out, nothing_usable
from contactid.sources.motion import BodyProperties, MotionStream, Recording
from contactid.tossing.readers.iam_fields import attribute, damage_noted, entered, open_archive
from contactid.tossing.readers.iam_recording import (
    Reading,
    Request,
    objects_in,
    read_body,
    read_frequency,
    read_recording,
)

_LOG = logging.getLogger(__name__)
_SUFFIXES = (".h5", ".hdf5")
_BODY_AGREEMENT = 1e-3  # relative; float32 rounding is far below, another box far above
_REMEDY = "Check the archive, or name another plane"


@dataclass(frozen=True)
class _Found:
    """A recording of the box as the survey sees it; None for what it couldn't read there."""

    file: Path
    name: str
    body: BodyProperties | None
    sample_frequency: float | None
    problems: tuple[str, ...]


@dataclass(frozen=True)
class _Survey:
    """What an archive holds; ``objects`` are the names of everything in it, ``left_out`` files and
    copies.
    """

    recordings: tuple[_Found, ...]
    left_out: dict[str, str]
    objects: frozenset[str]
    synthetic: bool


def stream_iam_archive(
    path: str | Path,
    *,
    object: str,
    surface: str,
    licence: str,
    surface_height: float | None = None,
    size: Sequence[float] = (),
    synthetic: bool = False,
) -> MotionStream:
    """All recordings of one box, each read when it is asked for.

    Parameters
    ----------
    path : an HDF5 file, or a folder which is searched for ``.h5`` and ``.hdf5`` files
    object : the box, for example ``Box006``. Recordings without it are passed over.
    surface : names of tracked planes, in order, with commas between them, for example
        ``ConveyorPart002, GroundPlane001``: the box rests on one of them. Where it rests on another
        tracked plane, or no name is given, that plane is taken
        (:mod:`contactid.tossing.readers.iam_surface`).
    licence : licence of the data, kept as an attribute
    surface_height : where the box rests on no tracked plane: C is parallel to M at this height (m)
        above M's origin, or at the height at which the box rests where that is another one. Without
        a ``surface`` None means 0.
    size : sides (m) of the box along x_B, y_B and z_B in place of the archive's; the box is uniform
        then
    synthetic : whether the data are known to be simulated; otherwise the file's own attribute
        ``synthetic`` says it, which measured data don't have

    Returns
    -------
    MotionStream
        Of the canonical form of :mod:`contactid.sources.motion`. The attributes ``left_out``
        (recording: reason), ``surfaces`` (recording: the plane's name), ``remarks`` (recording:
        what was done to it, where something was) and ``frames`` (what was wrong with single frames:
        how many of them) are JSON texts.

    Raises :class:`ContactIdError` where a file can't be read, or where no recording of the box is
    usable.
    """
    level = 0.0 if surface_height is None and not surface else surface_height
    request = Request(
        object,
        tuple(name.strip() for name in surface.split(",") if name.strip()),
        level,
        tuple(size),
    )
    survey = _surveyed(Path(path), request)
    if not survey.recordings and not survey.left_out:
        raise _no_such_object(path, object, survey.objects)
    frequency, body = _commonest(survey.recordings)
    if frequency is None or body is None:
        raise _nothing_usable(path, request, survey)
    attributes: dict[str, str] = {}
    return MotionStream(
        body=body,
        object_name=object,
        sample_frequency=frequency,
        source=str(path),
        licence=licence,
        synthetic=synthetic or survey.synthetic,
        recordings=_recordings(path, request, survey, frequency, body, attributes),
        attributes=attributes,
    )


def _archive_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    files = sorted(
        file for file in path.rglob("*") if file.suffix.lower() in _SUFFIXES and file.is_file()
    )
    if not files:
        raise ContactIdError(
            f"{path}: the folder holds no .h5 or .hdf5 file", "Unpack or fetch the archive first"
        )
    return files


def _surveyed(path: Path, request: Request) -> _Survey:
    """Everything but the motion of every recording of the box."""
    recordings: dict[str, _Found] = {}
    left_out: dict[str, str] = {}
    objects: set[str] = set()
    synthetic = False
    for file in _archive_files(path):
        try:
            with open_archive(file) as archive:
                synthetic = synthetic or bool(attribute(archive, "synthetic") or False)
                for name in sorted(key for key in archive if key.startswith("Rec_")):
                    found = _found(file, archive, name, request, objects)
                    if found is not None and name in recordings:
                        left_out[f"{file.name}:{name}"] = (
                            "a recording of this name was read already"
                        )
                    elif found is not None:
                        recordings[name] = found
        except ContactIdError as error:
            # alone it is the error, among others of a folder it is left out
            if file == path:
                raise
            # one bad file of a folder
            left_out[file.name] = error.problem.removeprefix(f"{file}: ")
    return _Survey(tuple(recordings.values()), left_out, frozenset(objects), synthetic)


def _found(
    file: Path, archive: h5py.File, name: str, request: Request, objects: set[str]
) -> _Found | None:
    """A recording of the box, else None; adds what else the recording holds to ``objects``."""
    problems: list[str] = []
    with damage_noted(problems):
        group = entered(archive, name)
        here = objects_in(group)
        objects |= here
        if not any(key.endswith(request.object_name) for key in here):
            return None
        body = read_body(group, request.object_name, problems, request.size)
        return _Found(file, name, body, read_frequency(group, problems), tuple(problems))
    return _Found(file, name, None, None, tuple(problems))


def _commonest(recordings: Sequence[_Found]) -> tuple[float | None, BodyProperties | None]:
    """The sample frequency and the body that most flawless recordings have."""
    flawless = [
        found for found in recordings if not found.problems and found.sample_frequency is not None
    ]
    if not flawless:
        return None, None
    frequency = Counter(found.sample_frequency for found in flawless).most_common(1)[0][0]
    bodies = [
        found.body
        for found in flawless
        if found.sample_frequency == frequency and found.body is not None
    ]
    # bodies that agree within rounding are one kind; the commonest kind is the box
    kinds: list[list[BodyProperties]] = []
    for body in bodies:
        kind = next((kind for kind in kinds if _same_body(kind[0], body)), None)
        if kind is None:
            kinds.append([body])
        else:
            kind.append(body)
    return frequency, max(kinds, key=len)[0] if kinds else None


def _same_body(first: BodyProperties, second: BodyProperties) -> bool:
    for name in ("vertices", "mass", "inertia"):
        a, b = np.asarray(getattr(first, name)), np.asarray(getattr(second, name))
        if a.shape != b.shape or not np.allclose(
            a, b, rtol=_BODY_AGREEMENT, atol=_BODY_AGREEMENT * np.abs(b).max()
        ):
            return False
    return True


def _recordings(
    path: str | Path,
    request: Request,
    survey: _Survey,
    frequency: float,
    body: BodyProperties,
    attributes: dict[str, str],
) -> Iterator[Recording]:
    """Usable recordings one after the other; ``attributes`` is filled at the end."""
    left_out = dict(survey.left_out)
    surfaces, remarks, frames = dict[str, str](), dict[str, str](), Counter[str]()
    for found in survey.recordings:
        problems: list[str] = []
        reading = _read(found, request, problems)
        problems += _differences(found, frequency, body)
        if reading is None or problems:
            left_out[found.name] = joined(problems)
            continue
        surfaces[found.name] = reading.surface
        if reading.remarks:
            remarks[found.name] = joined(reading.remarks)
            _LOG.info("%s: %s", found.name, remarks[found.name])
        frames.update(reading.frames)
        recording = reading.recording
        del reading  # nothing here may hold on to a recording that the writer is done with
        yield recording
        del recording
    log_left_out(left_out)
    if not surfaces:
        raise nothing_usable(path, f"recordings of {request.object_name}", left_out, _REMEDY)
    attributes.update(
        left_out=json.dumps(left_out),
        surfaces=json.dumps(surfaces),
        remarks=json.dumps(remarks),
        frames=json.dumps(dict(frames)),
    )


def _read(found: _Found, request: Request, problems: list[str]) -> Reading | None:
    with open_archive(found.file) as archive, damage_noted(problems):
        group = entered(archive, found.name)
        return None if group is None else read_recording(found.name, group, request, problems)
    return None


def _differences(found: _Found, frequency: float, body: BodyProperties) -> list[str]:
    """In what a recording differs from the others, as sentences."""
    reasons = []
    if found.sample_frequency not in (None, frequency):
        reasons.append(f"sampled at {found.sample_frequency:g} Hz, the others at {frequency:g} Hz")
    if found.body is not None and not _same_body(found.body, body):
        reasons.append("its box has another shape, mass or inertia than in the other recordings")
    return reasons


def _nothing_usable(path: str | Path, request: Request, survey: _Survey) -> ContactIdError:
    """Where the survey found no flawless recording: all problems of each, those of its motion, too."""
    left_out = dict(survey.left_out)
    for found in survey.recordings:
        problems: list[str] = []
        _read(found, request, problems)
        left_out[found.name] = joined(problems)
    return nothing_usable(path, f"recordings of {request.object_name}", left_out, _REMEDY)


def _no_such_object(path: str | Path, object_name: str, objects: frozenset[str]) -> ContactIdError:
    if not objects:
        return ContactIdError(
            f"{path}: no recording of {object_name}, nor of anything else",
            "Is this an I.AM. archive with Rec_ groups?",
        )
    close = get_close_matches(object_name, sorted(objects), n=1)
    remedy = f"Did you mean {close[0]}?" if close else "Choose one of these"
    return ContactIdError(
        f"{path}: no recording of {object_name}, only of {', '.join(sorted(objects))}", remedy
    )
