"""Whether two results folders hold the same results: ``python -m contactid.review.same_results A B``.

Files are compared byte for byte, but for what two runs can't have in common: logs, benchmarks, and numbers that are
times. A table's column of times is left out, and so is a drawing of such a column. netCDF files hold dates of their
own, so their values and attributes are compared. Of the provenance and the RO-Crate, times, machine and commit are left
out; of the report, what it marks as one run's own. Its compressed parts are compared as they are shown.
"""

from __future__ import annotations

import argparse
import base64
import csv
import gzip
import io
import itertools
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

#: Columns, keys and variables that are times, or made of them; as a heading in a summary, seconds are ``s``.
TIMES = frozenset(
    (
        "seconds", "build_seconds", "seconds_median", "build_share", "seconds_per_evaluation",
        "seconds_per_step_nlp", "seconds_per_step_exact", "exact_seconds_per_1000_steps", "speed_ratio",
        "ms_per_iteration", "us_per_sample_iteration", "fixed_ms_iteration", "exponent",
        "s",
    )
)  # fmt: skip
#: What is another in every run, at the top of its folder.
ABOUT_THE_RUN = frozenset(("logs", "benchmarks", ".snakemake_timestamp"))
#: Keys of the provenance that tell of commit, machine and times.
_OF_ONE_RUN = frozenset(
    (
        "git_commit", "git_dirty", "git_diff_sha256", "system", "machine", "platform", "libc", "processor",
        "arithmetic", "cores", "usable_cores", "memory_bytes", "threads", "jobs", "snakemake",
    )
)  # fmt: skip
#: Properties in the RO-Crate that tell of times, of the commit, or of files that are compared themselves.
_OF_ONE_CRATE = frozenset(("startTime", "endTime", "datePublished", "version", "contentSize", "sha256"))
#: What a report says of its own run stands between these.
ONCE = ("<!--once-->", "<!--/once-->")
_ONCE = re.compile(b"%b.*?%b" % tuple(mark.encode() for mark in ONCE), re.DOTALL)
_PART = re.compile(rb'<script type="application/octet-stream" id="part-([^"]*)">([^<]*)</script>')
_DRAWINGS = frozenset((".pdf", ".png", ".svg"))
Row = dict[str, str]


def differences(a: Path, b: Path) -> list[str]:
    """One plain line for each file that only one of two results folders has, or that isn't the same in both."""
    files_a, files_b = _files(a), _files(b)
    lines = [f"{path}: only in {a}" for path in sorted(files_a - files_b)]
    lines += [f"{path}: only in {b}" for path in sorted(files_b - files_a)]
    for path in sorted(files_a & files_b):
        reason = _difference(a / path, b / path)
        if reason:
            lines.append(f"{path}: {reason}")
    return lines


def _files(root: Path) -> set[str]:
    found = (path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return {
        path.as_posix()
        for path in found
        if path.parts[0] not in ABOUT_THE_RUN and path.name != ".snakemake_timestamp"  # of a folder that a job made
    }


def _difference(a: Path, b: Path) -> str:
    """What is different in two files, in a few words; empty where nothing is."""
    if a.read_bytes() == b.read_bytes():
        return ""
    try:
        match a.suffix:
            case ".csv":
                return _of_rows(list(_rows_of_csv(a)), list(_rows_of_csv(b)))
            case ".tex":
                return _of_rows(list(_rows_of_text(a, " & ")), list(_rows_of_text(b, " & ")))
            case ".md":
                return _of_rows(list(_rows_of_text(a, " | ")), list(_rows_of_text(b, " | ")))
            case ".html":
                return _of_values(_page(a), _page(b))
            case ".json" if a.name == "provenance.json":
                return _of_values(_provenance(a), _provenance(b))
            case ".json" if a.name == "ro-crate-metadata.json":
                return _of_values(_crate(a), _crate(b))
            case ".json":
                return _of_values(json.loads(a.read_text(encoding="utf-8")), json.loads(b.read_text(encoding="utf-8")))
            case ".nc":
                return _of_datasets(a, b)
    except (ValueError, OSError) as error:
        return f"cannot be read ({error})"
    if a.suffix in _DRAWINGS and shows_times(a.with_suffix(".csv")):
        return ""
    return f"{a.stat().st_size} and {b.stat().st_size} bytes that differ"


def _rows_of_csv(path: Path) -> Iterator[Row]:
    """The rows without times. Long tables name a row's quantity in a column, and its number is in ``value``."""
    with path.open(encoding="utf-8", newline="") as file:
        heading, *rows = csv.reader(file)
    yield {f"column {number}": name for number, name in enumerate(heading, 1)}  # so that their order counts
    for row in rows:
        named = dict(itertools.zip_longest(heading, row, fillvalue=""))
        yield {name: cell for name, cell in named.items() if not is_time(name, named)}


def is_time(column: str, row: Mapping[Any, Any]) -> bool:
    """Whether a table's cell is a time; a long table names a row's quantity in a column."""
    return column in TIMES or (column == "value" and row.get("quantity") in TIMES)


def _rows_of_text(path: Path, separator: str) -> Iterator[Row]:
    """Lines as rows; in a table, without the columns of times and without spaces that align it."""
    heading: list[str] = []
    for line in io.StringIO(path.read_text(encoding="utf-8")):
        cells = [cell.strip("|\\ \n") for cell in line.split(separator)]
        if len(cells) == 1:
            if line.strip() != "\\hline":
                heading = []
            yield {"text": line}
            continue
        if not heading:
            heading = [cell.replace("\\", "") for cell in cells]
        yield {
            f"{number} {name}": cell.strip("-")
            for number, (name, cell) in enumerate(zip(heading, cells, strict=False), 1)
            if name not in TIMES
        }


def _of_rows(a: list[Row], b: list[Row]) -> str:
    if len(a) != len(b):
        return f"{len(a)} and {len(b)} lines"
    for number, (one, other) in enumerate(zip(a, b, strict=True), 1):
        if one == other:
            continue
        names = [name for name in one | other if one.get(name) != other.get(name)]
        first = names[0]
        further = f" (and {len(names) - 1} more columns)" if len(names) > 1 else ""
        return f"line {number}, {first}: {one.get(first)!r} and {other.get(first)!r}{further}"
    return ""


def _provenance(path: Path) -> dict[str, Any]:
    return {key: value for key, value in json.loads(path.read_bytes()).items() if key not in _OF_ONE_RUN}


def _crate(path: Path) -> dict[str, Any]:
    """The crate's entities by their names."""
    return {
        entity["@id"]: {key: value for key, value in entity.items() if key not in _OF_ONE_CRATE}
        for entity in json.loads(path.read_bytes())["@graph"]
    }


def _page(path: Path) -> dict[str, list[bytes]]:
    """A page's lines and those of its compressed parts, without what is one run's own."""
    text = _ONCE.sub(b"", path.read_bytes())
    parts = {name.decode(): gzip.decompress(base64.b64decode(part)) for name, part in _PART.findall(text)}
    return {
        "text": _PART.sub(b"", text).splitlines(),
        **{f"part {name}": _ONCE.sub(b"", part).splitlines() for name, part in parts.items()},
    }


def _of_values(a: Any, b: Any, where: str = "") -> str:
    """The first difference of two JSON values; keys that are times are left out."""
    if isinstance(a, dict) and isinstance(b, dict):
        pairs = [(f"{where}.{key}", a.get(key), b.get(key)) for key in a | b if key not in TIMES]
        if list(a) != list(b):
            return f"other keys{where and f' in {where[1:]}'}"
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        pairs = [(f"{where}.{number}", one, other) for number, (one, other) in enumerate(zip(a, b, strict=True))]
    elif a == b or (a != a and b != b):  # nan is itself here
        return ""
    else:
        return f"{where[1:]}: {a!r} and {b!r}"
    return next((found for path, one, other in pairs if (found := _of_values(one, other, path))), "")


def _of_datasets(a: Path, b: Path) -> str:
    import xarray as xr  # the report, which needs what is above, is quicker without

    with xr.open_dataset(a, decode_cf=False) as one, xr.open_dataset(b, decode_cf=False) as other:
        names = [name for name in one.attrs | other.attrs if not _equal(one.attrs.get(name), other.attrs.get(name))]
        if names or list(one.attrs) != list(other.attrs):
            return f"attributes {', '.join(names) or 'in another order'}"
        for name in sorted({*one.variables, *other.variables} - TIMES, key=str):
            if name not in one.variables or name not in other.variables:
                return f"variable {name} is in one alone"
            if not one[name].variable.identical(other[name].variable):
                return f"variable {name}"
    return ""


def _equal(one: Any, other: Any) -> bool:
    """Also of attributes that are arrays."""
    return type(one) is type(other) and bool(np.array_equal(np.asarray(one), np.asarray(other)))


def shows_times(figure_data: Path) -> bool:
    """Whether times are among a figure's data."""
    if not figure_data.is_file():
        return False
    with figure_data.open(encoding="utf-8", newline="") as file:
        heading, *rows = csv.reader(file)
    quantities = {row[heading.index("quantity")] for row in rows} if "quantity" in heading else set()
    return bool(TIMES & {*heading, *quantities})


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its status is 1 where the folders differ."""
    parser = argparse.ArgumentParser(
        prog="python -m contactid.review.same_results", description=__doc__.splitlines()[0]
    )
    parser.add_argument("a", type=Path, help="a results folder, for instance results/default")
    parser.add_argument("b", type=Path, help="another")
    options = parser.parse_args(arguments)
    for folder in (options.a, options.b):
        if not folder.is_dir():
            print(f"ERROR {folder} is not a folder. Name two results folders.", file=sys.stderr)
            return 2
    lines = differences(options.a, options.b)
    print(*lines, sep="\n", end="\n" if lines else "")
    print(f"{len(lines)} of {len(_files(options.a) | _files(options.b))} files differ", file=sys.stderr)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
