"""Identify a body from one's own planar throws.

``python -m contactid.planar.own.command throw.csv [more.csv ...] --body body.yaml --output report``

A throw is a file with the columns t, x, y, theta (s, m, m, rad; y up; even frames) of the centre of mass; a
description is a small YAML file (see :mod:`contactid.planar.own.body`). All throws are taken together. The report is
a folder with ``summary.md``, ``parameters.json``, ``states.csv`` and two figures.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from contactid.core.errors import ContactIdError
from contactid.planar.own.body import read_own_body, read_own_throws_of
from contactid.planar.own.report import identify_own, refuse_other_folder, write_report


def identify(throws: Sequence[str], body: str, output: str) -> None:
    """Read, identify, write the report, and print its results and warnings.

    Raises
    ------
    ContactIdError
        For whatever is wrong with the files; nothing is written then.
    """
    refuse_other_folder(output)  # before minutes of work
    described = read_own_body(body)
    read = read_own_throws_of(described, throws)
    found = identify_own(described, read)
    write_report(found, output)
    for line in found.lines():
        print(line)
    for warning in found.warnings:
        print(f"WARNING {warning}")
    print(f"Report: {output}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; 0 on success, 1 with one ``ERROR`` line where the input is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m contactid.planar.own.command",
        description="Identify J/m and friction of a planar body from poses before, during and after impacts.",
    )
    parser.add_argument("throws", nargs="+", metavar="throw.csv", help="columns t, x, y, theta; s, m, m, rad; y up")
    parser.add_argument("--body", required=True, metavar="body.yaml", help="shape, and optionally mass, ground, noise")
    parser.add_argument("--output", default="report", metavar="folder", help="where the report goes (default: report)")
    given = parser.parse_args(arguments)
    try:
        identify(given.throws, given.body, given.output)
    except ContactIdError as error:
        print(f"ERROR {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
