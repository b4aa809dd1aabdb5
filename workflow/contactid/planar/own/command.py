"""Identify J/m and friction of a planar body from poses before, during and after its impacts.

A throw is a file with the columns t, x, y, theta (s, m, m, rad; y up) of a point near the centre of
mass; the body is described by a small YAML file (see contactid.planar.own.body). All throws are
taken together. Ground, tracked point and axes, and a corner_radius that isn't given are found with
the motion; lost frames are bridged. The report is a folder with summary.md, parameters.json,
states.csv, two figures and, where the mass is given, the body as body.xml (MJCF).
"""

from __future__ import annotations

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from contactid.sources.conventions import THETA, UP, options, stated_by

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
    parser.add_argument(
        "--report",
        default="report",
        metavar="folder",
        help="where the report goes (default: report)",
    )


def run(given: Namespace) -> Sequence[str]:
    """Read, identify, write the report, print its results, and return what not to trust.

    Raises
    ------
    ContactIdError
        For whatever is wrong with the files, and where they don't determine J/m; nothing is written
        then.
    """
    from contactid.output.own_report import cpu_seconds, own_report, refuse_missing

    begin = cpu_seconds()
    refuse_missing(given.body, *given.throws)
    with own_report(given.report) as folder:
        from contactid.planar.own.body import read_own_body
        from contactid.planar.own.explained import explained_throws
        from contactid.planar.own.report import write_files

        body, stated = read_own_body(given.body), stated_by(given)
        found = explained_throws(body, given.throws, stated, _paced(), partial(print, flush=True))
        write_files(replace(found, seconds=cpu_seconds() - begin), folder)
    for line in found.lines():
        print(line)
    return found.warnings


def _paced() -> Callable[[str], None]:
    """Prints a line on what begins, with the time since the first one, where the last line was
    printed a while ago.
    """
    begin = last = time.monotonic()

    def say(line: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _PACE:
            print(f"{now - begin:3.0f} s: {line}", flush=True)
            last = now

    return say
