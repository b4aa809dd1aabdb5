"""A recording as a table, from any file or object that holds one: the one reader of all commands.

========================== ==========================================================
source                     what its columns are
========================== ==========================================================
``.csv``, ``.tsv``,        named by the header; commas, semicolons or tabs between
``.txt``                   them, decimal commas where semicolons stand between
``.parquet``               the table's (needs pyarrow)
``.npz``, ``.mat``,        arrays that are as long as most of the file's are; those
``.h5``, ``.hdf5``         of several columns are named as below
``DataFrame``              its columns
``Dataset``                its variables along the rows' dimension; further dimensions
                           are named by their coordinates, else as those of arrays:
                           ``contact_force_thumb_x``
========================== ==========================================================

An array ``name`` of three columns is ``name_x``, ``name_y``, ``name_z``; one of four is a
quaternion, ``name_w`` first; any other number of columns is ``name_1`` and so on. A ``qpos`` as
MuJoCo logs it is the pose of a free body (position, then quaternion), or of a robot its joints.
What a column means is told by its name (:mod:`contactid.sources.columns`).
"""

from __future__ import annotations

import codecs
import io
import re
import zipfile
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.core.reading import content_of, opened_zip, require_plain
from contactid.sources.columns import dimension, is_asked_for, meaning
from contactid.sources.conventions import STATED, Convention, Place
from contactid.sources.left_out import reason_of

Source = str | Path | pd.DataFrame | xr.Dataset
TEXT = (".csv", ".tsv", ".txt")
ARRAYS = (".npz", ".mat", ".h5", ".hdf5")
#: Suffixes of files that :meth:`RecordedTable.read` takes.
SUFFIXES = (*TEXT, ".parquet", *ARRAYS)
# bytes: at 1 kHz and 20 columns six minutes
_LARGEST = 1 << 26
# bytes of a list of arrays in an npz file
_LARGEST_LIST = 1 << 20
# characters: a file without line ends is no table, and isn't read to its end
_LONGEST_LINE = 1 << 16
# characters of a header that a message repeats
_MOST_SHOWN = 200
# MuJoCo's order of a free joint
_POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")
_AXES = {3: "xyz", 4: "wxyz"}
# share of rows that a logger may write twice: where more stamps stand still, the clock is coarse
_MOST_REPEATED = 0.1
# dimensions whose places these are
_OF_AXES = ("axis", "xyz", "quaternion", "wxyz")


@dataclass(frozen=True, eq=False)
class RecordedTable:
    """Columns of a recording by quantity (:mod:`contactid.sources.columns`).

    Attributes
    ----------
    name : of the file, or what it is
    header : names of its k columns
    numbers : (n, k) as they stand there; NaN where there is none
    places : of each quantity that a column means
    frame : the same n rows as they were written, words included
    """

    name: str
    header: tuple[str, ...]
    numbers: np.ndarray
    places: Mapping[str, Place]
    frame: pd.DataFrame

    @classmethod
    def read(
        cls, source: Source, convention: Convention = STATED, free_body: bool = True
    ) -> RecordedTable:
        """The table of a file or object; ``free_body`` says what a ``qpos`` is of.

        A row that repeats the one before it whole, time included, is left out.

        Raises
        ------
        ContactIdError
            For what can't be read as a table, and for a column that is there twice.
        """
        name = name_of(source)
        frame = frame_of(source, free_body).dropna(how="all")
        header = tuple(str(column).strip() for column in frame.columns)
        try:
            places = convention.places(header)
        except ContactIdError as error:
            raise ContactIdError(f"{name}: {error.problem}", error.remedy) from None
        # a word among numbers is no number; the commands say where one is missing
        numbers = frame.apply(pd.to_numeric, errors="coerce").to_numpy(dtype=float)
        # infinity is a logger's word for "nothing" as well
        finite = np.where(np.isfinite(numbers), numbers, np.nan)
        is_kept = np.ones(len(finite), dtype=bool)
        if "time" in places:
            is_kept = ~_repeated(finite, places["time"].column)
        return cls(name, header, finite[is_kept], places, frame[is_kept])

    def refuse_without(self, quantities: Sequence[str], remedy: str) -> None:
        """Raise :class:`ContactIdError` that names all quantities that have no column."""
        missing = [quantity for quantity in quantities if quantity not in self.places]
        if missing:
            header = ", ".join(self.header)[:_MOST_SHOWN] or "empty"
            raise ContactIdError(
                f"{self.name}: no column {', '.join(missing)} (its header is {header})", remedy
            )

    def values(self, quantities: Sequence[str], *shape: int) -> np.ndarray:
        """(n, \\*shape) of quantities, in their own units; (n, k) without a shape."""
        places = [self.places[quantity] for quantity in quantities]
        columns = [place.column for place in places]
        factors = [place.factor for place in places]
        values = self.numbers[:, columns] * factors
        shape = shape or (len(places),)
        return values.reshape(len(self.numbers), *shape)


def read(
    source: Source,
    *,
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
) -> xr.Dataset:
    """A recording in SI units, as every command reads it.

    Parameters
    ----------
    source
        A file (csv, tsv, parquet, npz, mat, h5), a DataFrame or a Dataset.
    columns, units
        What its columns' names don't say (:class:`contactid.sources.conventions.Convention`).

    Returns
    -------
    xarray.Dataset
        A variable (row,) of each quantity that a column means (:mod:`contactid.sources.columns`: s,
        m, rad, N, N m), with ``units``; columns of words are coordinates. Axes and signs are as in
        the source.

    Raises
    ------
    ContactIdError
        For what can't be read as a table, a column that is there twice, words among numbers, and
        where no column means a quantity.
    """
    table = RecordedTable.read(source, Convention(columns or {}, units or {}))
    if not table.places:
        header = ", ".join(table.header)[:_MOST_SHOWN] or "empty"
        problem = f"{table.name}: no column is one that a command reads (its header is {header})"
        raise ContactIdError(problem, "Say which they are: columns={'t': ..., 'x': ...}")
    quantities = {}
    for name, place in table.places.items():
        values = table.values([name])[:, 0]
        cells = table.frame.iloc[:, place.column]
        # an empty cell is a missing number, a word is a mistake
        is_text = np.array([isinstance(cell, str) for cell in cells], dtype=bool)
        is_word = np.isnan(values) & is_text
        if is_word.any():
            row = int(np.argmax(is_word))
            shown = repr(cells.iloc[row][:_MOST_SHOWN])
            problem = f"{table.name}: row {row + 1}, column {table.header[place.column]} is {shown}"
            raise ContactIdError(problem, "Give numbers; time in seconds, or by --units")
        quantities[name] = ("row", values, {"units": dimension(name)})
    # columns of words that mean no quantity tell parts of a recording apart
    measured = {place.column for place in table.places.values()}
    others = [column for column in range(len(table.header)) if column not in measured]
    words = table.frame.iloc[:, others].select_dtypes(exclude=["number", "bool"])
    labels = {str(name): ("row", words[name].to_numpy()) for name in words}
    return xr.Dataset(quantities, coords=labels)


def _repeated(numbers: np.ndarray, time: int) -> np.ndarray:
    """(n,) rows that a logger wrote twice: equal to the row before them in every column.

    Samples of a body at rest are equal too where the clock is coarse, and they count: then stamps
    stand still in other rows as well, and none is called repeated.
    """
    is_repeated = np.zeros(len(numbers), dtype=bool)
    before, after = numbers[:-1], numbers[1:]
    stands_still = before[:, time] == after[:, time]
    # two missing numbers are equal, too
    is_equal = (before == after) | (np.isnan(before) & np.isnan(after))
    is_equal_row = stands_still & is_equal.all(axis=1)
    is_coarse = np.any(stands_still & ~is_equal_row)
    if not is_coarse and np.count_nonzero(is_equal_row) <= _MOST_REPEATED * len(numbers):
        is_repeated[1:] = is_equal_row
    return is_repeated


def name_of(source: Source) -> str:
    """What messages call a recording: its path, or ``the table``."""
    return str(source) if isinstance(source, str | Path) else "the table"


def several(sources: Any) -> list[Any]:
    """One or more recordings as a list of them.

    Raises :class:`ContactIdError` where there is none.
    """
    if isinstance(sources, Source):
        return [sources]
    # a folder's glob is no list yet
    every = list(sources) if isinstance(sources, Iterable) else []
    if not every:
        problem = f"no recording in {sources!r}"
        raise ContactIdError(problem, "Give files, a DataFrame or a Dataset")
    return every


def table_parts(source: Source, column: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """The recordings of one table with their names, which stand in a column; without it, one."""
    table = frame_of(source)
    if column not in table:
        yield column, table
        return
    nameless = table[column].isna()
    # a group has none of them, and they would be lost
    if nameless.any():
        raise ContactIdError(
            f"{name_of(source)}: {column} is empty in {nameless.sum()} of {len(table)} rows",
            f"Say in each row which {column} it is of, or leave the column out",
        )
    for name, rows in table.groupby(column, sort=False):
        yield str(name), rows.drop(columns=column)


def frame_of(source: Source, free_body: bool = True) -> pd.DataFrame:
    """The columns of a file or object, as they are written.

    Raises :class:`ContactIdError` for what can't be read as a table.
    """
    if isinstance(source, pd.DataFrame):
        # an index with a name is a column, mostly the time
        named = [name for name in source.index.names if name and name not in source]
        return source.reset_index(level=named) if named else source
    if isinstance(source, xr.Dataset):
        return _of_dataset(source, free_body)
    if not isinstance(source, str | Path):
        problem = f"a recording that is a {type(source).__name__}"
        raise ContactIdError(problem, "Give a file, a DataFrame or a Dataset")
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix in TEXT:
        return _text(path)
    if suffix == ".parquet":
        return _parquet(path)
    if suffix in ARRAYS:
        arrays = _npz(path) if suffix == ".npz" else _variables(path)
        return _of_arrays(arrays, str(path), free_body)
    raise ContactIdError(f"{path}: no table", f"Give one of {', '.join(SUFFIXES)}")


def _text(path: Path) -> pd.DataFrame:
    require_plain(path, _LARGEST)
    try:
        # newline=None: any of the usual line ends, and none within a line
        text = io.StringIO(_decoded(path.read_bytes()), newline=None)
        lines = [line for line in text if line.strip()]
        if max(map(len, lines), default=0) >= _LONGEST_LINE:
            raise ValueError(f"a line has {_LONGEST_LINE} characters or more")
    except (OSError, ValueError) as error:
        raise ContactIdError(
            f"{path}: not readable as text ({reason_of(error)})", "Give a .csv file"
        ) from None
    header, rows = _header_of(lines)
    if not header:
        first = lines[0].strip()[:_MOST_SHOWN] if lines else "nothing"
        problem = f"{path}: no line names the columns (it begins with {first})"
        raise ContactIdError(problem, "Give a first line with the names of the columns")
    # the commonest of them; numbers in a header are no reason to expect commas within
    separator = max(",;\t", key=header.count)
    # blanks part the columns where nothing else does
    if separator not in header:
        separator = r"\s+"
    words = re.split(separator, header)
    counts = Counter(word.strip().lower() for word in words if word.strip())
    twice = [name for name, count in counts.items() if count > 1]
    # pandas would call the second one otherwise
    if twice:
        problem = f"{path}: columns {twice[0]} and {twice[0]} are the same"
        raise ContactIdError(problem, "Keep one")
    # where commas stand in numbers, as in many countries, semicolons stand between them
    has_decimal_commas = separator == ";" and any("," in row for row in rows)
    try:
        return pd.read_csv(
            io.StringIO("".join([header, *rows])),
            sep=separator,
            decimal="," if has_decimal_commas else ".",
            skipinitialspace=True,
            na_values=["-"],
        )
    except ValueError as error:
        problem = f"{path}: rows that aren't as its header is ({reason_of(error)})"
        raise ContactIdError(problem, "Give as many cells in each row as columns") from None


def _decoded(content: bytes) -> str:
    """A text in UTF-8, in UTF-16 with its mark as spreadsheets write it, else in Latin-1."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        # binary content passes as Latin-1, too: no text has a zero
        if b"\0" in content:
            raise
        return content.decode("latin-1")


def _header_of(lines: Sequence[str]) -> tuple[str, Sequence[str]]:
    """The line that names the columns ("" without one), and the rows below it.

    Lines that begin with ``#`` are remarks; the last of them is the header where numbers follow it,
    as :func:`numpy.savetxt` writes it.
    """
    n_remarks = 0
    while n_remarks < len(lines) and lines[n_remarks].startswith("#"):
        n_remarks += 1
    rest = lines[n_remarks:]
    if rest and not _is_of_numbers(rest[0]):
        return rest[0], rest[1:]
    header = lines[n_remarks - 1].lstrip("# ") if n_remarks else ""
    return header, rest


def _is_of_numbers(line: str) -> bool:
    """Whether all words between separators are numbers, with decimal commas or without."""
    words = [word for word in re.split(r"[,;\s]+", line) if word]
    try:
        for word in words:
            float(word)
    except ValueError:
        return False
    return bool(words)


def _parquet(path: Path) -> pd.DataFrame:
    require_plain(path, _LARGEST)
    try:
        return pd.read_parquet(path)
    except ImportError:
        remedy = "Install it, or give a .csv file"
        raise ContactIdError(
            f"{path}: parquet is read by pyarrow, which isn't here", remedy
        ) from None
    # pyarrow raises many kinds for damaged files
    except Exception as error:
        raise ContactIdError(
            f"{path}: not readable as parquet ({reason_of(error)})", "Write it again"
        ) from None


def _npz(path: Path) -> dict[str, np.ndarray]:
    require_plain(path, _LARGEST)
    try:
        # what it unfolds to is known before anything is unfolded
        with opened_zip(path, _LARGEST_LIST) as archive:
            unfolded = sum(entry.file_size for entry in archive.infolist())
        if unfolded > _LARGEST:
            raise ValueError(f"unfolds to {unfolded / 1e6:.0f} MB")
        with np.load(path, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ContactIdError(
            f"{path}: not readable as arrays ({reason_of(error)})", "Write it by numpy.savez"
        ) from None


def _variables(path: Path) -> dict[str, np.ndarray]:
    from contactid.sources.matlab_files import read_variables

    try:
        return read_variables(content_of(path, _LARGEST))
    except ContactIdError as error:
        raise ContactIdError(f"{path}: {error.problem}", error.remedy) from None


def _of_dataset(data: xr.Dataset, free_body: bool) -> pd.DataFrame:
    """The variables along the dimension that most of them begin with: that of the rows."""
    names = [str(name) for name in data.variables if data[name].dims]
    if not names:
        raise ContactIdError("the dataset: no variable has a dimension", "Give a table")
    counts = Counter(data[name].dims[0] for name in names)
    [(rows, _)] = counts.most_common(1)
    columns: dict[str, np.ndarray] = {}
    for name in names:
        first, *further = data[name].dims
        if first != rows:
            continue
        values = data[name].values
        is_named = any(dimension in data.coords for dimension in further)
        if len(further) == 1 and not is_named:
            columns |= _columns_of(name, values, free_body)
        else:
            labels = [_labels(data, dimension) for dimension in further]
            columns |= _labelled(name, values, labels)
    return pd.DataFrame(columns)


def _labels(data: xr.Dataset, dimension: Hashable) -> Sequence[object]:
    if dimension in data.coords:
        return list(data[dimension].values)
    size = data.sizes[dimension]
    return _AXES[size] if dimension in _OF_AXES and size in _AXES else range(1, size + 1)


def _labelled(
    name: str, values: np.ndarray, labels: Sequence[Sequence[object]]
) -> dict[str, np.ndarray]:
    """A column per place of the dimensions behind the first, named by the labels there."""
    columns = {}
    for place in np.ndindex(values.shape[1:]):
        words = [str(label[index]) for label, index in zip(labels, place, strict=True)]
        columns["_".join([name, *words])] = values[(slice(None), *place)]
    return columns


def _of_arrays(arrays: Mapping[str, np.ndarray], name: str, free_body: bool) -> pd.DataFrame:
    """The arrays that are as long as most are, column by column; they may lie in either order."""
    numeric = {}
    for key, values in _unfolded(arrays).items():
        # one number is a setting, such as the sampling rate
        if np.issubdtype(values.dtype, np.number) and values.size > 1:
            array = np.squeeze(values)
            if array.ndim < 3:
                numeric[key] = array
    counts = Counter(max(array.shape) for array in numeric.values())
    if not counts:
        kept = ", ".join(arrays)[:_MOST_SHOWN] or "nothing"
        raise ContactIdError(f"{name}: no arrays of numbers (it holds {kept})", "Give a table")
    # where as many arrays have one length as another, the longer are the recording
    _, length = max((count, length) for length, count in counts.items())
    columns: dict[str, np.ndarray] = {}
    for key, array in numeric.items():
        # of a vector the transpose is the vector
        in_rows = array if array.shape[0] == length else array.T
        if in_rows.shape[0] == length:
            # of a structure's field the field's name
            field = key.rpartition(".")[2]
            columns |= _columns_of(field, in_rows, free_body)
    for key, array in numeric.items():
        # passed over, it would be missed where it is needed
        is_too_short = array.ndim == 1 and len(array) != length
        if is_too_short and is_asked_for(key) and key not in columns:
            problem = f"{name}: {key} has {len(array)} numbers where most arrays have {length}"
            raise ContactIdError(problem, "Give each row all of its numbers")
    return pd.DataFrame(columns)


def _unfolded(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The arrays, with the fields of a structured one in its place."""
    unfolded: dict[str, np.ndarray] = {}
    for key, values in arrays.items():
        if values.dtype.names is None:
            unfolded[key] = values
            continue
        for field in values.dtype.names:
            unfolded[field] = values[field]
    return unfolded


def _columns_of(name: str, values: np.ndarray, free_body: bool) -> dict[str, np.ndarray]:
    if values.ndim == 1:
        return {name: values}
    numbers = range(1, values.shape[1] + 1)
    if name.lower() == "qpos":
        # behind a free body's pose MuJoCo logs the joints of what else is in the scene
        names = _POSE if free_body else [f"q{number}" for number in numbers]
        return dict(zip(names, values.T, strict=False))
    parts: Sequence[object] = _AXES.get(len(numbers), numbers)
    # four columns are a quaternion where their name says so
    if len(numbers) == 4 and meaning(f"{name}_w") is None:
        parts = numbers
    return {f"{name}_{part}": column for part, column in zip(parts, values.T, strict=True)}
