"""Whether a MATLAB file of version 5 to 7 can hold what it declares, found out before anything is allocated.

Such a file is a sequence of elements: a tag (type and number of bytes), then the bytes, padded to 8. A matrix (type 14)
holds flags, dimensions, a name and its data, and for cells and structures further matrices. A compressed element (type
15) inflates to another one. scipy believes a matrix's dimensions and follows any nesting, so a damaged file of a few
bytes could ask for terabytes or exhaust the stack.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator

_HEADER = 128
_MATRIX, _COMPRESSED = 14, 15  # types of elements
_SPARSE = 5  # class of a matrix
_MOST_BYTES = 1 << 28  # of one inflated variable; a recording of 1 kHz has half a megabyte a minute
_DEEPEST = 16  # matrices within matrices
_MOST_ELEMENTS = 1_000_000


def structure_problem(content: bytes) -> str | None:
    """What is wrong with the elements of a version 5 file, or None."""
    order = "<" if content[126:128] == b"IM" else ">"
    try:
        for kind, data in _elements(content[_HEADER:], order):
            if kind == _COMPRESSED:
                inflated = zlib.decompressobj().decompress(data, _MOST_BYTES + 1)
                if len(inflated) > _MOST_BYTES:
                    return "a variable that inflates to more than any recording has"
                problem = _problem_of(inflated, order)
            else:
                problem = _problem_within(kind, data, order)
            if problem:
                return problem
    except (struct.error, zlib.error) as error:
        return str(error)
    return None


def _problem_of(data: bytes, order: str) -> str | None:
    for kind, inner in _elements(data, order):
        problem = _problem_within(kind, inner, order)
        if problem:
            return problem
    return None


def _problem_within(kind: int, data: bytes, order: str) -> str | None:
    """Go through nested matrices without recursion."""
    waiting = [(data, 1)] if kind == _MATRIX else []
    seen = 0
    while waiting:
        matrix, depth = waiting.pop()
        if depth > _DEEPEST:
            return f"cells within cells, more than {_DEEPEST} deep"
        sparse = False  # its dimensions say nothing about its data
        for place, (inner_kind, inner) in enumerate(_elements(matrix, order)):
            seen += 1
            if place == 0:
                sparse = struct.unpack_from(f"{order}I", inner)[0] & 0xFF == _SPARSE
            if seen > _MOST_ELEMENTS:
                return f"more than {_MOST_ELEMENTS} entries"
            if place == 1 and not sparse:  # the dimensions
                entries = math.prod(abs(size) for size in struct.unpack(f"{order}{len(inner) // 4}i", inner))
                if entries > len(matrix):  # each entry takes at least one byte
                    return f"declares {entries:.3g} entries in {len(matrix)} bytes"
            if inner_kind == _MATRIX:
                waiting.append((inner, depth + 1))
    return None


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Type and bytes of each element; raises struct.error where the data end early."""
    at = 0
    while at < len(data):
        if at + 8 > len(data) and not any(data[at:]):
            return  # padding
        (kind,) = struct.unpack_from(f"{order}I", data, at)
        if kind >> 16:  # small element: type and size share four bytes, the data follow in the next four
            size, kind, begin, end = kind >> 16, kind & 0xFFFF, at + 4, at + 8
            if size > 4:
                raise struct.error("a short element is longer than it can be")
        else:
            (size,) = struct.unpack_from(f"{order}I", data, at + 4)
            begin = at + 8
            end = begin + size if kind == _COMPRESSED else begin + -(-size // 8) * 8
        if begin + size > len(data):
            raise struct.error("an element reaches beyond the end")
        yield kind, data[begin : begin + size]
        at = end
