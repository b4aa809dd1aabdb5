"""Numbers from HDF5 files, if they lie in the file itself and it can hold what it declares.

A damaged or hostile file may declare an array of terabytes, or send its reader to other files:
through links, external storage and virtual datasets. So links and declared sizes are looked at
before anything is opened or allocated. Contiguous data are as large as their values. Deflate never
expands by more than 1032, but a chunk may unfold to more than the chunk's own size, and HDF5
follows it; so what large chunks unfold to is counted first.
"""

from __future__ import annotations

import math
import zlib
from typing import Any

import h5py
import numpy as np

# bytes that are read of one dataset
LARGEST = 1 << 27
# bytes; an array this small does no harm, whatever it claims
_SMALL = 1 << 20
# of deflate's format: 258 bytes by two bits
_LARGEST_EXPANSION = 1032
# by how much filters expand, at most; others are unknown
_FILTERS = {
    h5py.h5z.FILTER_DEFLATE: _LARGEST_EXPANSION,
    h5py.h5z.FILTER_SHUFFLE: 1,
    h5py.h5z.FILTER_FLETCHER32: 1,
}
# bytes that Fletcher's filter adds to a chunk
_CHECKSUM = 4
# groups within groups
_DEEPEST = 32
# far more than an archive has
_MOST_NODES = 1_000_000


def outside(node: h5py.Group, inside: set[int] | None = None, only: str = "") -> str | None:
    """What below a group lies in other files, by its name in the group; None where nothing does.

    Links to places of the same file are allowed, but with ``only``, which names the one member of
    the file's root that is looked at, to places below it. Nothing that lies elsewhere is opened.
    ``inside`` gets the addresses of all that was looked at.
    """
    inside = set() if inside is None else inside
    count = 0
    # no recursion: a hostile file may nest groups as deep as it likes
    waiting = [(node.id, "", 0)]
    while waiting:
        group, place, depth = waiting.pop()
        # the root has the one member that is looked at
        for name in [only.encode()] if only and not place else group:
            count += 1
            if depth > _DEEPEST or count > _MOST_NODES:
                return f"{place[:200]} has groups within groups without end"
            shown = f"{place}{name.decode('utf-8', 'replace')}"
            link = group.links.get_info(name).type
            if link == h5py.h5l.TYPE_SOFT:
                target = group.links.get_val(name).decode("utf-8", "replace")
                leaves_member = target.startswith("/") and not target.startswith(f"/{only}/")
                if only and (not place or leaves_member):
                    return f"{shown} is a link to another place ({target[:80]})"
                # it leads to what is looked at under its own name
                continue
            if link != h5py.h5l.TYPE_HARD:
                return f"{shown} is a link to another file"
            about = h5py.h5o.get_info(group, name)
            # a hard link to what was looked at already, perhaps to a group that it is in
            if about.addr in inside:
                continue
            inside.add(about.addr)
            if about.type == h5py.h5o.TYPE_GROUP:
                waiting.append((h5py.h5g.open(group, name), f"{shown}/", depth + 1))
            is_data = about.type == h5py.h5o.TYPE_DATASET
            if is_data and (reason := _stored_elsewhere(h5py.h5d.open(group, name))):
                return f"{shown} {reason}"
    return None


def address_of(node: h5py.Group | h5py.Dataset) -> int:
    """Where an object lies in its file."""
    return int(h5py.h5o.get_info(node.id).addr)


def _stored_elsewhere(dataset: h5py.h5d.DatasetID) -> str | None:
    plan = dataset.get_create_plist()
    if plan.get_layout() == h5py.h5d.VIRTUAL:
        return "is a virtual dataset, whose numbers may lie in other files"
    if plan.get_external_count():
        return "has its numbers in another file"
    return None


def size_problem(dataset: h5py.Dataset, read: int | None = None) -> str | None:
    """What keeps a dataset from being read, or None; begins with a verb.

    ``read`` is how many bytes of it are read; None for all.
    """
    if reason := _stored_elsewhere(dataset.id):
        return reason
    # bytes in memory
    declared = math.prod(dataset.shape or ()) * dataset.dtype.itemsize
    chunk = math.prod(dataset.chunks or ()) * dataset.dtype.itemsize
    if max(declared, chunk) > _SMALL:
        # what is stored is declared, too, but no more of it than the file itself can be there
        stored = min(dataset.id.get_storage_size(), dataset.file.id.get_filesize())
        # only chunks are compressed
        expansion = _LARGEST_EXPANSION if dataset.chunks else 1
        if declared > stored * expansion:
            return f"declares {declared:.3g} bytes, but the file stores {stored:.3g} bytes of it"
        # a chunk is unfolded whole, however little of it is read
        largest = max(declared if read is None else read, chunk)
        if largest > LARGEST:
            return f"has {largest:.3g} bytes, more than the {LARGEST:.3g} that are read at once"
    return _chunk_problem(dataset, chunk) if dataset.chunks else None


def _chunk_problem(dataset: h5py.Dataset, size: int) -> str | None:
    """Why a chunk would unfold to more than its ``size`` in bytes."""
    plan = dataset.id.get_create_plist()
    filters = [plan.get_filter(number)[0] for number in range(plan.get_nfilters())]
    if not filters:
        return None
    if unknown := [number for number in filters if number not in _FILTERS]:
        return f"is compressed by filter {unknown[0]}; only gzip is read"
    # the bound on what deflate expands to holds for one pass
    if filters.count(h5py.h5z.FILTER_DEFLATE) > 1:
        return "is compressed twice"
    large: list[Any] = []

    # what a smaller chunk unfolds to does no harm, whatever it is
    def look(chunk: Any) -> None:
        if chunk.size * _LARGEST_EXPANSION > LARGEST:
            large.append(chunk)

    dataset.id.chunk_iter(look)
    for chunk in large:
        # a chunk's mask has a bit for each filter that was not applied to it
        applied = []
        for place, number in enumerate(filters):
            if not chunk.filter_mask >> place & 1:
                applied.append(number)
        if h5py.h5z.FILTER_DEFLATE not in applied:
            continue
        _, packed = dataset.id.read_direct_chunk(chunk.chunk_offset)
        if _unfolds_beyond(packed, size + _CHECKSUM):
            return f"has a chunk that unfolds to more than its {size:.3g} bytes"
    return None


def _unfolds_beyond(packed: bytes, size: int) -> bool:
    """Whether deflated bytes are more than ``size``; damaged ones count as far as they are read."""
    inflater = zlib.decompressobj()
    count = 0
    try:
        # piece by piece, so that no more than one is in memory
        while count <= size and (piece := inflater.decompress(packed, _SMALL)):
            packed = inflater.unconsumed_tail
            count += len(piece)
    except zlib.error:
        pass
    return count > size


def stored_values(
    dataset: h5py.Dataset, problems: list[str], where: str, last: int | None = None
) -> np.ndarray | None:
    """The dataset's values as stored; None, and a problem about ``where``, where there are none.

    With ``last``, only so many along the last axis.
    """
    part: tuple[slice, ...] = ()
    count = math.prod(dataset.shape or ())
    if last is not None:
        part = (*(slice(None),) * (dataset.ndim - 1), slice(last))
        if count:
            length = dataset.shape[-1]
            count = count // length * min(last, length)
    too_much = size_problem(dataset, count * dataset.dtype.itemsize)
    if too_much:
        problems.append(f"{where} {too_much}")
        return None
    try:
        return np.asarray(dataset[part])
    except (OSError, RuntimeError, TypeError, ValueError):
        problems.append(f"{where} can't be decoded")
        return None
