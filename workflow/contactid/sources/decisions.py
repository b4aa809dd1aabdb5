"""What a run would make of a source of recordings, before anything is computed.

It says what is used, and what is wrong. ``make inspect`` asks this of a file, ``make lock`` of
every archive as its row of the registry reads it. The decisions are the readers' own
(:data:`contactid.sources.registry.READERS`) and, of tosses, the preparation's, by default. A line
that begins with WARNING names what isn't as it should be: another box than the archive's title
says, another plane than the registry names, another size than Table I has, lengths or times in
other units.
"""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.core.references import arguments, resolve
from contactid.sources.left_out import NothingUsable
from contactid.sources.motion import MotionStream, iterate_recordings
from contactid.sources.registry import READERS

WARNING = "WARNING"
# an arm's links, where a run would name its own
_ROBOT = Path(__file__).parents[1] / "arm/robots/lwr4.csv"
_TOSSES = "contactid.tossing.own.usable"
_POSES = {
    "iam": "m and s; poses are 4 x 4 matrices, so there is no order of quaternions",
    "contactnets": "half-widths (made metres) and s; quaternions have the real part first",
}
# m/s2: 5 %, more than a length scale that is 2 % off, less than any other unit
_GRAVITY, _FALL_WITHIN = 9.81, 0.5
# samples: with fewer the noise of poses makes the fall
_LEAST_FLIGHT = 9
# mm and kg: Table I is rounded to these
_SIZE_WITHIN, _MASS_WITHIN = 1.0, 1e-3
# that the head lists; each recording has its own line anyway
_MOST_REASONS = 5


class Decisions(NamedTuple):
    """Lines about a source as a whole, and one about each recording."""

    head: list[str]
    recordings: list[str]


@contextmanager
def silent_readers() -> Iterator[None]:
    """What readers log isn't shown: it is told here."""
    log = logging.getLogger("contactid")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(level)


def decisions(reader: str, path: str | Path, **fields: Any) -> Decisions:
    """What a run would make of a source.

    Parameters
    ----------
    reader : a name of :data:`contactid.sources.registry.READERS`
    path : the file or folder
    fields : of the registry's row (:class:`contactid.sources.registry.Dataset`), those that the
        reader asks for
    """
    read = resolve(READERS[reader].read)
    given = {
        "object": "",
        "surface": "",
        "licence": "",
        "synthetic": False,
        "robot": _ROBOT,
        **fields,
        "path": path,
    }
    try:
        result = read(**arguments(read, given))
        if isinstance(result, MotionStream):
            tosses = resolve(f"{_TOSSES}:prepare_all")(result)
            return _of_tosses(tosses, result, reader, str(given["surface"]))
        return _of_others(result, Path(path).name)
    except NothingUsable as error:
        head = [f"0 used, {len(error.left_out)} left out", *_reasons(error.left_out)]
        return Decisions(head, _sorted({}, error.left_out))
    except ContactIdError as error:
        return Decisions([f"{WARNING} none is usable: {error.problem}"], [])


def lines_of(reader: str, path: str | Path, **fields: Any) -> Iterator[str]:
    """All lines of :func:`decisions`, indented."""
    result = decisions(reader, path, **fields)
    yield from (f"  {line}" for line in [*result.head, *result.recordings])


def _of_tosses(tosses: xr.Dataset, stream: MotionStream, reader: str, wanted: str) -> Decisions:
    left_out = _attribute(tosses, "left_out")
    surfaces = _attribute(tosses, "surfaces")
    remarks = _attribute(tosses, "remarks")
    bridged = _attribute(tosses, "frames")
    lines = {}
    n_used = 0
    columns = (tosses[name].values for name in ("recording", "row_size", "reason", "tumbled"))
    for name, frames, reason, tumbled in zip(*columns, strict=True):
        if reason:
            use = f"no toss of a run ({reason})"
        elif tumbled:
            setting = "tossing.exclude_tumbling: false"
            use = f"no toss of a run but with {setting} (tumbles onto another face)"
        else:
            use = "used"
            n_used += 1
        where = f" on {surfaces[name]}" if name in surfaces else ""
        remark = f"; {remarks[name]}" if name in remarks else ""
        lines[name] = f"{use}{where}, {frames} frames{remark}"
    # a recording that is no toss may have impacts, of which velocities are identified
    counts = [f"{n_used} used"]
    if n_used < len(lines):
        counts.append(f"{len(lines) - n_used} for their impacts alone")
    counts += [f"{len(left_out)} left out", f"{stream.sample_frequency:g} Hz"]
    head = [
        ", ".join(counts),
        *_reasons(left_out),
        _body(stream),
        _fall(tosses, _POSES[reader]),
        *_planes(surfaces, wanted),
    ]
    if bridged:
        flaws = ", ".join(f"{flaw}: {count}" for flaw, count in bridged.items())
        head.append(f"frames bridged: {flaws}")
    return Decisions(_warnings_first(head), _sorted(lines, left_out))


def _attribute(data: xr.Dataset, name: str) -> dict[str, Any]:
    """A mapping that a dataset's attribute holds as JSON; empty where it has none."""
    mapping: dict[str, Any] = json.loads(data.attrs.get(name, "{}"))
    return mapping


def _sorted(uses: Mapping[str, str], left_out: Mapping[str, str]) -> list[str]:
    """A line for each recording, by name: how it is used, or why it isn't."""
    lines = dict(uses)
    for name, reason in left_out.items():
        lines[name] = f"left out: {reason}"
    return [f"{name}: {lines[name]}" for name in sorted(lines)]


def _warnings_first(lines: Sequence[str]) -> list[str]:
    """The count stays first."""
    return [lines[0], *sorted(lines[1:], key=lambda line: not line.startswith(WARNING))]


def _reasons(left_out: Mapping[str, str]) -> list[str]:
    """The commonest reasons; those that differ in numbers alone are one, with one's numbers."""
    alike: dict[str, list[str]] = {}
    for name, reason in left_out.items():
        # times and distances are others in every recording
        bare = re.sub(r"\d[\d.e+-]*", "#", reason.replace(name, ""))
        alike.setdefault(bare, []).append(reason)
    groups = sorted(alike.values(), key=len, reverse=True)
    shown, others = groups[:_MOST_REASONS], groups[_MOST_REASONS:]
    lines = [f"{WARNING} {len(group)} left out: {group[0]}" for group in shown]
    if others:
        lines.append(f"and {len(others)} other reasons")
    return lines


def _body(stream: MotionStream) -> str:
    """Size and mass, beside Table I's where the paper has such a box."""
    # mm, as Table I has it
    size = 1e3 * np.ptp(stream.body.vertices, axis=0)
    mass = stream.body.mass
    sentence = f"{stream.object_name} measures {_by(size)} mm and weighs {mass:.4g} kg"
    printed = resolve(f"{_TOSSES}:printed_box")(stream.object_name)
    if printed is None:
        return sentence
    printed_size, printed_mass = printed[:3], printed[3]
    same_size = np.abs(size - printed_size).max() <= _SIZE_WITHIN
    if same_size and abs(mass - printed_mass) <= _MASS_WITHIN:
        return f"{sentence}, as in Table I"
    in_print = f"Table I has {_by(printed_size)} mm and {printed_mass:.4g} kg"
    return f"{WARNING} {sentence}; {in_print}"


def _by(size: Sequence[float] | np.ndarray) -> str:
    return " x ".join(f"{side:.0f}" for side in size)


def _fall(tosses: xr.Dataset, units: str) -> str:
    """How fast boxes fall in the lengths and times of the file: only metres and seconds give 9.81."""
    falls = []
    for _, toss in iterate_recordings(tosses):
        release, contact = int(toss["release"]), int(toss["contact"])
        if release >= 0 and contact - release >= _LEAST_FLIGHT:
            flight = toss["position"].values[release:contact]
            time = np.arange(len(flight)) / float(tosses.attrs["sample_frequency"])
            # twice the coefficient of the time's square; its norm needs no direction
            quadratic = np.polyfit(time, flight, 2)[0]
            falls.append(2.0 * float(np.linalg.norm(quadratic)))
    if not falls:
        return f"{units}; no flight is long enough to confirm it"
    fall = float(np.median(falls))
    sentence = f"what is thrown falls at {fall:.2f} m/s2 (median of {len(falls)} flights)"
    if abs(fall - _GRAVITY) > _FALL_WITHIN:
        return f"{WARNING} {sentence}, so lengths or times aren't in m and s"
    return f"{units}; {sentence}"


def _planes(surfaces: Mapping[str, str], wanted: str) -> list[str]:
    """On which surfaces the recordings are, and which aren't on one that the registry names."""
    if not surfaces:
        return []
    counts = Counter(surfaces.values())
    counts_shown = ", ".join(f"{name} ({count})" for name, count in counts.most_common())
    lines = [f"surfaces: {counts_shown}"]
    named = tuple(name.strip() for name in wanted.split(",") if name.strip())
    if not named:
        return lines
    any_named = " or ".join(named)
    level = str(resolve("contactid.tossing.readers.iam_surface:REFERENCE_FRAME"))
    others = []
    for name, count in counts.items():
        # a recording on no tracked plane is on the level one, whatever the registry names
        if not name.endswith(named) and not name.startswith(level):
            others.append(f"{count} of {len(surfaces)} on {name}")
    if others:
        elsewhere = ", ".join(others)
        lines.append(f"{WARNING} recordings are on another plane than {any_named}: {elsewhere}")
    elif not any(name.endswith(named) for name in counts):
        lines.append(f"{WARNING} no recording is on {any_named}")
    return lines


def _of_others(data: xr.Dataset, file: str) -> Decisions:
    """What a reader of a whole source says of its parts."""
    left_out = _attribute(data, "left_out")
    remarks = _attribute(data, "remarks")
    # what each study calls a part of a source
    dimensions = [name for name in ("experiment", "throw", "impact", "part") if name in data.dims]
    n_used = 0
    names: list[Any] = []
    if dimensions:
        dimension = dimensions[0]
        n_used = data.sizes[dimension]
        if dimension in data.coords:
            names = list(data[dimension].values)
    lines = {}
    for name in names:
        remark = f"; {remarks[name]}" if name in remarks else ""
        # parts that have numbers in place of names are all of the one file
        title = name if isinstance(name, str) else file
        lines[title] = f"used{remark}"
    head = [f"{n_used} used, {len(left_out)} left out", *_reasons(left_out)]
    return Decisions(head, _sorted(lines, left_out))
