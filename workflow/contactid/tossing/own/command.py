"""Predict your own tosses with what a finished run, or `contactid toss`, has identified.

The tosses are a folder of .pt files in the layout of the ContactNets cube, an I.AM. archive (.h5,
or a folder of them), or csv files of the run's body (columns t,x,y,z,qw,qx,qy,qz). They are
prepared as the run's own test tosses were, and predicted from release to rest by every scheme of
the run for this body. Printed are the mean losses (eq. 18) with their standard errors, beside a
naive answer's, and how many poses at rest the regions of 50, 80 and 90 % hold. The report is a
folder with predictions.csv (a row per toss and scheme), regions.json (faces and regions by toss)
and report.html. Tosses that end in motion have regions alone.
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
        "tosses", nargs="+", help="a folder of tosses, or files of one kind (.pt, .h5)"
    )
    parser.add_argument(
        "--run",
        required=True,
        metavar="folder",
        help="a finished run, for instance results/public, or what toss has saved",
    )
    parser.add_argument(
        "--object", default="", metavar="name", help="box of an archive that has several: Box006"
    )
    parser.add_argument(
        "--surface",
        default="",
        metavar="names",
        help="an archive's planes, in order (default: found)",
    )


def run(given: Namespace) -> Sequence[str]:
    """Read, predict, write the report, print its results, and return what not to trust.

    Raises :class:`ContactIdError` for whatever is wrong with the run or the tosses; nothing is
    written then.
    """
    from contactid.output.own_report import refuse_missing, reported, say

    refuse_missing(*given.tosses)
    stated = stated_by(given)

    def make() -> Result:
        from contactid.tossing.own.result import predict

        answer = predict(
            given.run,
            given.tosses,
            **vars(stated),
            object_name=given.object,
            surface=given.surface,
            progress=say,
        )
        say("")
        return answer

    return reported(given.report, given.tosses[0], make)
