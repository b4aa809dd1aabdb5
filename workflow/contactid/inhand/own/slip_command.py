"""Friction of a fingertip with a surface, and how the surface warps, from trials in which the
finger slips.

TRIALS is a folder with a csv per trial (or .parquet, .npz, .mat, .h5): time (s); contact_force_x,
_y, _z (N, of the finger on the object, the sensor's zero taken off); contact_position_x, _y, _z
(m); surface_normal_x, _y, _z (of the undeformed surface, into the object). All in the object's
frame, 20 rows a second or more. In a trial the finger holds a tangential force while its normal
force falls until it slips. Trials with two or more tangential forces tell the surface's warp from
its friction.

The report is a folder with report.html, parameters.json and tables.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from contactid.sources.conventions import options, stated_by

if TYPE_CHECKING:
    from contactid.output.result import Result


def arguments(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    options(parser)
    parser.add_argument(
        "trials", metavar="folder", help="a csv per trial; its columns are named above"
    )
    parser.add_argument("--direction", default="1", metavar="degrees", help="""standard deviation of the force's
        direction by the sensor's calibration, one error a trial (default: 1)""")  # fmt: skip
    parser.add_argument("--zero", default="0", metavar="N", help="""standard deviation of what may remain of the
        sensor's zero, N a component, one for all trials (default: 0)""")  # fmt: skip


def run(given: Namespace) -> Sequence[str]:
    """Read, estimate, write the report, print its results, and return what not to trust.

    Raises
    ------
    ContactIdError
        For whatever is wrong with the files, and where the answer is refuted; nothing is written
        then.
    """
    from contactid.output.own_report import refuse_missing, reported

    refuse_missing(given.trials)
    stated = stated_by(given)

    def make() -> Result:
        from contactid.inhand.own.slip import slip

        return slip(
            given.trials,
            direction=given.direction,
            zero=given.zero,
            columns=stated.columns,
            units=stated.units,
        )

    return reported(given.report, given.trials, make)
