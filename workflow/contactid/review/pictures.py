"""What two drawings must share: coordinates and words of svg and pdf, pixels of png and gif.

Equal data give equal bytes on one machine. On another one the last digit of a coordinate may be
another, with it the names that Matplotlib makes of paths in an svg, the shade of a pixel at an
edge, and zlib packs a pdf otherwise.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterator

import numpy as np
from PIL import Image, ImageSequence

from contactid.review.contents import MOST_READ

#: Files that are compared as pictures, and what their numbers are listed as.
KINDS = ("svg", "pdf", "png", "gif")
COORDINATES, PIXELS = "coordinates", "pixels"
_NUMBER = re.compile(r"(?<![\w#.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w.])")
# of a path that is used several times: a letter and a part of its checksum
_NAME = re.compile(r"\b[a-z][0-9a-f]{10}\b")
_STREAM = re.compile(rb"stream\r?\n(.*?)\r?\nendstream", re.DOTALL)
# where things are in a pdf, and how long: another packing has others
_PLACES = re.compile(rb"\n\d+ 0 obj\s+\d+\s+endobj|\nxref\s.*?\ntrailer|startxref\s+\d+", re.DOTALL)


def strokes(content: bytes, kind: str) -> Iterator[tuple[str, str]]:
    """A drawing's numbers, and the words between them with the names of its paths by their order.

    Raises :class:`ValueError` where it is larger than a drawing is.
    """
    drawing = _unpacked(content) if kind == "pdf" else content
    # any byte is a letter of it
    text = drawing.decode("latin-1")
    if kind == "svg":
        names: dict[str, str] = {}

        def by_order(match: re.Match[str]) -> str:
            return names.setdefault(match[0], f"path {len(names)}")

        text = _NAME.sub(by_order, text)
    for number in _NUMBER.findall(text):
        yield COORDINATES, number
    for word in _NUMBER.sub(" ", text).split():
        yield "words", word


def _unpacked(pdf: bytes) -> bytes:
    """A pdf's objects with what is packed in them."""
    pieces, size = [], 0
    for stream in _STREAM.findall(pdf):
        try:
            inside = zlib.decompressobj().decompress(stream, MOST_READ)
        # a stream that isn't packed, as of a picture
        except zlib.error:
            inside = stream
        size += len(inside)
        if size > MOST_READ:
            raise ValueError("more than a drawing holds")
        pieces.append(inside)
    return b"\n".join([_PLACES.sub(b"", _STREAM.sub(b"", pdf)), *pieces])


def pixels(content: bytes, ours: bytes) -> dict[str, np.ndarray]:
    """A picture's pixels, and what it says of itself.

    Raises :class:`ValueError` where it isn't as large as ours, or cannot be read.
    """
    with Image.open(io.BytesIO(ours)) as expected, Image.open(io.BytesIO(content)) as picture:
        expected_shape, shape = _shape(expected), _shape(picture)
        # before any pixel is unpacked
        if shape != expected_shape:
            raise ValueError(f"{shape} is no picture like {expected_shape}")
        frames = []
        for frame in ImageSequence.Iterator(picture):
            frames.append(np.asarray(frame.convert("RGBA")))
        texts = {str(name): str(value) for name, value in picture.info.items()}
    words = np.array([str(sorted(texts.items()))], dtype=object)
    return {PIXELS: np.stack(frames), "words": words}


def _shape(picture: Image.Image) -> tuple[str | None, tuple[int, int], int]:
    return picture.format, picture.size, getattr(picture, "n_frames", 1)
