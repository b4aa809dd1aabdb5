"""How far a download is: a bar on a terminal, plain lines in a log."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from typing import TextIO

_LOG = logging.getLogger(__name__)
_BAR = 30
_BAR_EVERY = 0.2  # s
_LINE_EVERY = 10.0  # s


def readable(size: float) -> str:
    """A number of bytes as a person reads it, in powers of ten: ``5.0 MB``."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


@dataclass
class Progress:
    """Told of every byte, it says something now and then.

    Attributes
    ----------
    what : named in every line
    total : bytes; None where the server doesn't say
    done : bytes there already
    terminal : where a bar is drawn if it is one; the log gets its lines either way
    """

    what: str
    total: int | None
    done: int = 0
    terminal: TextIO | None = None
    _bar_due: float = field(default=0.0, init=False)
    _line_due: float = field(default_factory=lambda: time.monotonic() + _LINE_EVERY, init=False)
    _drawn: bool = field(default=False, init=False)

    def advance(self, size: int) -> None:
        """``size`` more bytes have come."""
        self.done += size
        now = time.monotonic()
        if now >= self._line_due:
            self._line_due = now + _LINE_EVERY
            _LOG.info("%s: %s", self.what, self._state())
        if now >= self._bar_due and self.terminal is not None and self.terminal.isatty():
            self._bar_due = now + _BAR_EVERY
            self._draw()

    def close(self) -> None:
        """Finish the bar and leave a line in the log."""
        if self._drawn and self.terminal is not None:
            self._draw()
            print(file=self.terminal, flush=True)
        _LOG.info("%s: %s", self.what, self._state())

    def _state(self) -> str:
        if not self.total:
            return readable(self.done)
        return f"{readable(self.done)} of {readable(self.total)} ({100 * self.done / self.total:.0f} %)"

    def _draw(self) -> None:
        filled = round(_BAR * min(1.0, self.done / self.total)) if self.total else 0
        print(f"\r[{'#' * filled:<{_BAR}}] {self.what}: {self._state()}\033[K", end="", file=self.terminal, flush=True)
        self._drawn = True
