"""Friction of a fingertip with a surface, and how the surface warps, from trials in which the
finger slips.

TRIALS is a folder with a csv per trial: time (s); contact_force_x, _y, _z (N, of the finger on the
object); contact_position_x, _y, _z (m); surface_normal_x, _y, _z (of the undeformed surface, into
the object). All in the object's frame, 20 rows a second or more. In a trial the finger holds a
tangential force while its normal force falls until it slips. Trials with two or more tangential
forces tell the surface's warp from its friction.

The report is a folder with summary.md, parameters.json, trials.csv and a figure.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from contactid.sources.conventions import options, stated_by


def arguments(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    options(parser)
    parser.add_argument(
        "trials", metavar="folder", help="a csv per trial; its columns are named above"
    )
    parser.add_argument("--direction", default="1", metavar="degrees", help="""standard deviation of the force's
        direction by the sensor's calibration, one error a trial (default: 1)""")  # fmt: skip
    parser.add_argument(
        "--report",
        default="report",
        metavar="folder",
        help="where the report goes (default: report)",
    )


def run(given: Namespace) -> Sequence[str]:
    """Read, estimate, write the report, print its results, and return what not to trust.

    Raises
    ------
    ContactIdError
        For whatever is wrong with the files; nothing is written then.
    """
    from contactid.output.own_report import own_report, refuse_missing

    refuse_missing(given.trials)
    with own_report(given.report) as folder:
        from contactid.inhand.own.slip import estimate_slip, write_slip

        found = estimate_slip(given.trials, given.direction, stated_by(given))
        write_slip(found, folder)
    for line in found.lines():
        print(line)
    return found.warnings
