"""What is in a file of recordings, and what this repository would make of it.

``contactid inspect FILE [--object Box006] [--surface "ConveyorPart002, GroundPlane001"]``

Prints the file's tree with shapes, types and units, its bodies, and for every recording whether it
is used, on which surface and why, or what is wrong with it, one line each
(:mod:`contactid.sources.decisions`). Nothing is identified, and nothing is written. The text holds
no path and no user's name, so it can be attached to a report of a problem.
"""

from __future__ import annotations

import re
import tempfile
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from contactid.core.errors import ContactIdError
from contactid.core.reading import LARGEST_FILE, content_of, require_plain
from contactid.core.references import resolve
from contactid.output.escape import one_line
from contactid.sources.csv_files import rows_of
from contactid.sources.decisions import lines_of, silent_readers
from contactid.sources.hdf5_files import outside
from contactid.sources.left_out import reason_of
from contactid.sources.matlab_files import read_variables

_ARCHIVES = (".h5", ".hdf5")
_PATH = re.compile(r"(?:[A-Za-z]:\\|(?<![\w.])/(?=\w))[^\s'\",;:()]+")
# of a tree
_MOST_LINES = 200
# of groups and datasets by which recordings are told apart
_MOST_KINDS = 10_000
# groups within groups that are shown; hard links may lead in a circle
_DEEPEST = 32
# kinds of recordings whose tree is shown
_MOST_SHAPES = 5
# characters of an attribute
_LONGEST_VALUE = 80
# bytes of an attribute that is read; a larger one is an array
_LARGEST_VALUE = 1 << 12
# columns of a table that a line names
_MOST_COLUMNS = 40
_RECORDING = "Rec_"
_THROW = "contactid.planar.readers.csv_throws:read_own_throw"
# columns of a table and who reads it; a reader of a folder gets the file under a name that it looks
# for
_TABLES = (
    ({"t", "x", "y", "theta"}, _THROW, "", "a planar throw of one's own"),
    ({f"q{k}" for k in range(1, 8)}, "contactid.arm.own.recordings:read_own_table", "", "an arm's recording"),
    ({"x", "z", "th", "vx", "vz", "vth"}, "planar_throws", "traj_1.csv", "a planar throw of a square"),
    (
        {"time", "object_position_x", "object_orientation_w"},
        "contactid.inhand.own.files:read_table", "", "a recording of an object in hand",
    ),
)  # fmt: skip


def inspect(path: str | Path, object_name: str = "", surface: str = "") -> Iterator[str]:
    """Lines about a file, or about a folder of tosses.

    Parameters
    ----------
    path : an HDF5 archive, a MATLAB file, a PyTorch file of a toss or a folder of them, or a table
    object_name, surface : of an I.AM. archive, as in ``config/datasets.tsv``; empty: every box, the
        plane found

    Raises
    ------
    ContactIdError : where the file can't be read at all, or is of no kind that is known
    """
    path = Path(path)
    if path.is_dir():
        if not any(path.rglob("*.pt")):
            raise ContactIdError(
                f"{path.name}: no .pt file in the folder", "Give a file, or a folder of tosses"
            )
        yield from (_anonymous(line, path) for line in _cube_tosses(path))
        return
    kind = path.suffix.lower()
    size = require_plain(path, None if kind in _ARCHIVES else LARGEST_FILE)
    if not size:
        raise ContactIdError(f"{path.name}: the file is empty", "Fetch it again")
    yield f"{path.name}: {size} bytes"
    if kind in _ARCHIVES:
        lines = _archive(path, object_name, surface)
    elif kind == ".mat":
        lines = _matlab(path)
    elif kind == ".pt":
        lines = _toss(path)
    elif kind == ".csv":
        lines = _table(path)
    else:
        raise ContactIdError(
            f"{path.name}: not a .h5, .hdf5, .mat, .pt or .csv file", "Give one of these"
        )
    for line in lines:
        yield _anonymous(line, path)


def _anonymous(line: str, path: Path) -> str:
    """The line without folders: the file's own name stays, any other absolute path goes."""
    # the folder as it was typed, and as the system calls it
    for folder in {str(path.parent.resolve()), str(path.parent)} - {"."}:
        line = line.replace(f"{folder.rstrip('/')}/", "")
    return _PATH.sub("<path>", line)


# I.AM. archives


def _archive(path: Path, object_name: str, surface: str) -> Iterator[str]:
    with resolve("contactid.tossing.readers.iam_fields:open_archive")(path) as archive:
        if problem := outside(archive):
            raise ContactIdError(f"{path.name}: {problem}", "Give one file with all of it")
        yield from _tree(archive)
        bodies = _bodies(archive)
    if not bodies:
        yield "bodies: none with an inertia in a group OBJECT, so this is no I.AM. archive"
        return
    yield "bodies:"
    yield from (f"  {name}: {text}" for name, text in bodies.items())
    planes = surface or "none named, so it is found"
    for name in [object_name] if object_name else bodies:
        yield f"recordings of {name} (surface: {planes}):"
        yield from lines_of("iam", path, object=name, surface=surface)


def _bodies(archive: h5py.File) -> dict[str, str]:
    """Mass and size of each body that a recording describes with an inertia, and in how many."""
    read_body = resolve("contactid.tossing.readers.iam_recording:read_body")
    described = resolve("contactid.tossing.readers.iam_recording:bodies_with_inertia")
    counts: Counter[str] = Counter()
    texts: dict[str, str] = {}
    for key in archive:
        group = archive.get(key)
        if not key.startswith(_RECORDING) or not isinstance(group, h5py.Group):
            continue
        for name in described(group):
            problems: list[str] = []
            body = read_body(group, name, problems)
            counts[name] += 1
            # the first description that can be read stands for all
            if texts.get(name):
                continue
            texts[name] = "; ".join(problems)
            if body is not None:
                sides = 1e3 * np.ptp(body.vertices, axis=0)
                size = " x ".join(f"{side:.0f}" for side in sides)
                moments = np.linalg.eigvalsh(body.inertia)
                principal = ", ".join(f"{moment:.4g}" for moment in moments)
                texts[name] = f"{body.mass:g} kg, {size} mm, principal moments {principal} kg m2"
    return {name: f"{texts[name]} (in {counts[name]} recordings)" for name in sorted(counts)}


def _tree(archive: h5py.File) -> Iterator[str]:
    """Groups and datasets; recordings that hold the same are shown once."""
    shapes: dict[tuple[str, ...], list[str]] = {}
    for key in archive:
        if key.startswith(_RECORDING):
            kinds = tuple(islice(_kinds(archive.get(key), ""), _MOST_KINDS))
            shapes.setdefault(kinds, []).append(key)
        else:
            yield from _cut(_node(archive, key, 0))
    yield from (f"attribute {line}" for line in _attributes(archive))
    # the commonest first
    groups = sorted(shapes.values(), key=len, reverse=True)
    for names in groups[:_MOST_SHAPES]:
        shown = ", ".join(names[:3])
        more = ", ..." if len(names) > 3 else ""
        yield f"{len(names)} recordings hold this ({shown}{more}):"
        yield from _cut(_node(archive, names[0], 1))
    if len(groups) > _MOST_SHAPES:
        yield f"and {len(groups) - _MOST_SHAPES} more kinds of recordings"


def _cut(lines: Iterator[str]) -> Iterator[str]:
    yield from islice(lines, _MOST_LINES)
    if next(lines, None) is not None:
        yield "  ..."


def _member(group: h5py.Group, name: str) -> Any:
    """What a group holds under a name; a link's target in words, since links may lead in a circle."""
    link = group.get(name, getlink=True)
    return f"link to {link.path}" if isinstance(link, h5py.SoftLink) else group.get(name)


def _kinds(node: Any, place: str) -> Iterator[str]:
    """What a recording holds, without lengths and values."""
    if isinstance(node, h5py.Group):
        yield f"{place}/"
        for key in node if place.count("/") < _DEEPEST else ():
            yield from _kinds(_member(node, key), f"{place}/{key}")
    elif isinstance(node, h5py.Dataset):
        yield f"{place} {len(node.shape or ())} {node.dtype}"
    else:
        yield f"{place} {node or 'leads nowhere'}"


def _node(parent: h5py.Group, name: str, depth: int) -> Iterator[str]:
    indent = "  " * depth
    node = _member(parent, name)
    if isinstance(node, h5py.Group):
        yield f"{indent}{name}/"
        yield from (f"{indent}  attribute {line}" for line in _attributes(node))
        for key in node if depth < _DEEPEST else ():
            yield from _node(node, key, depth + 1)
    elif isinstance(node, h5py.Dataset):
        numbers = str(node.dtype)
        # a table's: names say more than types
        if node.dtype.names:
            numbers = f"columns {', '.join(node.dtype.names)}"
        yield f"{indent}{name} {tuple(node.shape or ())} {numbers}"
        yield from (f"{indent}  attribute {line}" for line in _attributes(node))
    else:
        yield f"{indent}{name}: {node or 'leads nowhere'}"


def _attributes(node: Any) -> Iterator[str]:
    for key in node.attrs:
        try:
            size = node.attrs.get_id(key).get_storage_size()
            value = node.attrs[key] if size < _LARGEST_VALUE else "(large)"
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            value = f"unreadable ({reason_of(error)})"
        text = value.decode("utf-8", errors="replace") if isinstance(value, bytes) else str(value)
        in_one_line = " ".join(text.split())
        yield f"{key} = {in_one_line[:_LONGEST_VALUE]} ({type(value).__name__})"


# Other files


def _matlab(path: Path) -> Iterator[str]:
    try:
        variables = read_variables(content_of(path))
    except ContactIdError as error:
        raise ContactIdError(
            f"{path.name}: {error.problem.removeprefix(f'{path}: ')}", error.remedy
        ) from None
    for name, value in variables.items():
        yield f"  {name} {value.shape} {value.dtype}"
    # a variable of the authors' script, in no recording
    if "SUMMATLAB" in variables:
        yield "as what the tossing paper's figures were drawn from:"
        yield from lines_of("author_plots", path)
    else:
        yield "as recordings of an arm:"
        yield from lines_of("arm_mat", path)


def _toss(path: Path) -> Iterator[str]:
    try:
        table = resolve("contactid.tossing.readers.contactnets:read_toss_table")(path)
        yield f"  a tensor of shape {table.shape}, {table.dtype}"
    except ContactIdError as error:
        yield f"  {error.problem}"
    # the reader takes a folder: one that holds this toss alone
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / path.name).symlink_to(path.resolve())
        for line in _cube_tosses(Path(folder)):
            yield line.replace(folder, path.name)


def _cube_tosses(folder: Path) -> Iterator[str]:
    yield "as tosses of the ContactNets cube (positions in half-widths, quaternions):"
    yield from lines_of("contactnets", folder)


def _table(path: Path) -> Iterator[str]:
    rows = rows_of(path)
    header = [name.strip() for name in next(rows, [])]
    count = sum(1 for _ in rows)
    yield f"  {count} rows of {', '.join(header[:_MOST_COLUMNS]) or 'nothing'}"
    for columns, reader, name, what in _TABLES:
        if columns <= {column.lower() for column in header}:
            yield f"as {what}:"
            yield from _as_table(path, reader, name)
            return
    tables = (f"{', '.join(sorted(columns))} ({what})" for columns, _, _, what in _TABLES)
    yield f"  no reader knows these columns; known are {'; '.join(tables)}"


def _as_table(path: Path, reader: str, name: str) -> Iterator[str]:
    if not name:
        try:
            resolve(reader)(path)
        except ContactIdError as error:
            yield f"  left out: {error.problem}"
        else:
            yield "  used"
        return
    name = path.name if path.match("traj_*.csv") else name
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / name).symlink_to(path.resolve())
        for line in lines_of(reader, Path(folder)):
            without_folder = line.replace(f"{folder}/", "").replace(folder, path.name)
            yield without_folder.replace(name, path.name)


def arguments(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("file", help=".h5, .hdf5, .mat, .pt or .csv, or a folder of .pt")
    parser.add_argument("--object", default="", help="box of an I.AM. archive (default: every one)")
    parser.add_argument(
        "--surface", default="", help="names of its planes, in order, with commas (default: found)"
    )


def run(given: Namespace) -> tuple[()]:
    """Print what :func:`inspect` says; there is nothing to warn of.

    Raises
    ------
    ContactIdError
        Where the file can't be read.
    """
    try:
        with silent_readers():
            for line in inspect(given.file, given.object, given.surface):
                print(one_line(line))
    except ContactIdError as error:
        raise ContactIdError(
            *(_anonymous(text, Path(given.file)) for text in (error.problem, error.remedy))
        ) from None
    return ()
