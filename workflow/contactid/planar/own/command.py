"""Identify J/m and friction of a planar body from poses before, during and after its impacts.

A throw is a file with the columns t, x, y, theta (s, m, m, rad; y up) of a point near the centre of
mass; the body is described by a small YAML file (see contactid.planar.own.body). All throws are
taken together. Ground, tracked point and axes, and a corner_radius that isn't given are found with
the motion; lost frames are bridged. The report is a folder with report.html, parameters.json, tables
and, where the mass is given, the body as body.xml (MJCF).
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from contactid.sources.conventions import THETA, UP, options, stated_by

if TYPE_CHECKING:
    from contactid.output.result import Result

_PACE = 2.0  # s of wall time between two lines on what is being done, at least


def arguments(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    options(parser, UP, THETA)
    parser.add_argument(
        "throws", nargs="+", metavar="throw.csv", help="columns t, x, y, theta; s, m, m, rad; y up"
    )
    parser.add_argument(
        "--body",
        required=True,
        metavar="body.yaml",
        help="shape, and optionally mass, ground, noise",
    )


def run(given: Namespace) -> Sequence[str]:
    """Read, identify, write the report, print its results, and return what not to trust.

    Raises
    ------
    ContactIdError
        For whatever is wrong with the files, and where they don't determine J/m; nothing is written
        then.
    """
    from contactid.output.own_report import cpu_seconds, refuse_missing, reported, say

    begin = cpu_seconds()
    refuse_missing(given.body, *given.throws)
    stated = stated_by(given)

    def make() -> Result:
        from contactid.planar.own.result import identify

        answer = identify(
            given.throws,
            given.body,
            columns=stated.columns,
            units=stated.units,
            frame=stated.frame,
            progress=say,
            steps=_paced(say),
        )
        return answer.timed(cpu_seconds() - begin)

    return reported(given.report, given.throws[0], make)


def _paced(say: Callable[[str], None]) -> Callable[[str], None]:
    """Says a line on what begins, with the time since the first one, where the last line was said a
    while ago.
    """
    begin = last = time.monotonic()

    def paced(line: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _PACE:
            say(f"{now - begin:3.0f} s: {line}")
            last = now

    return paced
