"""Progress: a bar where there is a terminal, plain lines in the log everywhere."""

import io
import logging

import pytest

from contactid.sources.download import Progress
from contactid.sources.lockfile import readable


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (5_000_000, "5.0 MB"),
        (2_400_000_000, "2.4 GB"),
        (10**13, "10000.0 GB"),
    ],
)
def test_sizes_as_a_person_reads_them(size, text):
    assert readable(size) == text


def test_a_terminal_gets_a_bar_and_the_log_a_line(caplog):
    terminal = Terminal()
    with caplog.at_level(logging.INFO):
        progress = Progress("a.h5", 4000, terminal=terminal)
        progress.advance(1000)
        progress.advance(3000)
        progress.close()
    bars = terminal.getvalue().split("\r")
    assert bars[1].startswith("[#######") and "1.0 kB of 4.0 kB (25 %)" in bars[1]
    assert "#" * 30 in bars[-1] and "(100 %)" in bars[-1] and terminal.getvalue().endswith("\n")
    assert caplog.messages == ["a.h5: 4.0 kB of 4.0 kB (100 %)"]


@pytest.mark.parametrize("terminal", [None, io.StringIO()])
def test_no_terminal_no_bar(caplog, terminal, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("contactid.sources.download.time.monotonic", lambda: clock[0])
    with caplog.at_level(logging.INFO):
        progress = Progress("a.h5", None, terminal=terminal)
        for _ in range(30):
            clock[0] += 1.0
            progress.advance(500)
        progress.close()
    assert caplog.messages == ["a.h5: 5.0 kB", "a.h5: 10.0 kB", "a.h5: 15.0 kB", "a.h5: 15.0 kB"]
    assert terminal is None or terminal.getvalue() == ""
