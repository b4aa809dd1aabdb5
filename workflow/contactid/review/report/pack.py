"""Large parts of the page, compressed into text that the browser inflates when they are looked at."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path

# a drawing beyond this many bytes is shown as its png instead, which has a bounded size
LARGEST_SVG = 1_500_000


class Pack:
    """Compressed parts by name; equal parts give equal text, as no time is written into them."""

    def __init__(self) -> None:
        self.parts: dict[str, str] = {}

    def add(self, name: str, content: str | bytes) -> str:
        """Keep a part; return its name."""
        raw = content.encode("utf-8") if isinstance(content, str) else content
        self.parts[name] = base64.b64encode(gzip.compress(raw, 9, mtime=0)).decode("ascii")
        return name

    def add_picture(self, name: str, svg: Path) -> dict[str, str]:
        """Keep a picture; return its part's name, type and, for the layout before it is there, its aspect ratio."""
        png = svg.with_suffix(".png")
        raw = svg.read_bytes()
        if len(raw) > LARGEST_SVG and png.exists():
            return {"part": self.add(name, png.read_bytes()), "type": "image/png", "ratio": ratio_of(raw)}
        return {"part": self.add(name, raw), "type": "image/svg+xml", "ratio": ratio_of(raw)}


def ratio_of(svg: bytes) -> str:
    """Width over height as CSS writes it, from the drawing's view box; 3 / 2 where it has none."""
    head = svg[:4000].decode("utf-8", errors="replace")
    box = head.partition('viewBox="')[2].partition('"')[0].split()
    return f"{float(box[2]):.0f} / {float(box[3]):.0f}" if len(box) == 4 and float(box[3]) > 0 else "3 / 2"
