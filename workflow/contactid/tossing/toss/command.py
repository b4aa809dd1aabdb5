"""Identify friction, restitution, centre of mass and inertia of a box from its tosses onto a plane.

A toss is a csv with the columns t, x, y, z, qw, qx, qy, qz (s, m, quaternion real part first; z up)
of the box's middle, one file each or with a column toss; the box is a small YAML file with size,
mass and, optionally, inertia (see contactid.tossing.own.recordings). ContactNets' .pt tosses and
I.AM. archives are taken, too. Tosses begin in free flight and end at rest. Each is predicted by the
others. The report is a folder with report.html, parameters.json, tables and the body as MJCF and
URDF.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from contactid.sources.conventions import MIRROR, QUATERNION, UP, options, stated_by

if TYPE_CHECKING:
    from contactid.output.result import Result


def arguments(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    options(parser, QUATERNION, UP, MIRROR)
    parser.add_argument(
        "tosses", nargs="+", help="csv files or a folder of them, .pt tosses, or .h5 archives"
    )
    parser.add_argument(
        "--box",
        default="",
        metavar="box.yaml",
        help="size, mass, inertia; files that say it need none",
    )
    parser.add_argument(
        "--law", default="incremental", choices=("incremental", "newton"), help="of impacts"
    )
    parser.add_argument(
        "--object", default="", metavar="name", help="box of an archive that has several: Box006"
    )


def run(given: Namespace) -> Sequence[str]:
    """Read, identify, write the report, print its results, and return what not to trust.

    Raises
    ------
    ContactIdError
        For whatever is wrong with the files, and where the answer is refuted; nothing is written
        then.
    """
    from contactid.output.own_report import refuse_missing, reported, say

    refuse_missing(given.box, *given.tosses)
    stated = stated_by(given)

    def make() -> Result:
        from contactid.tossing.toss.identify import toss

        return toss(
            given.tosses,
            given.box or None,
            law=given.law,
            **vars(stated),
            object_name=given.object,
            progress=say,
        )

    return reported(given.report, given.tosses[0], make)
