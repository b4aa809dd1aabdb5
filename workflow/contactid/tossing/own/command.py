"""Predict your own tosses with the friction and restitution that a finished run has identified.

The tosses are a folder of .pt files in the layout of the ContactNets cube, or an I.AM. archive
(.h5, or a folder of them). They are prepared as the run's own test tosses were, and predicted from
release to rest by every scheme of the run for this body. Printed are the mean losses (eq. 18) with
their standard errors, beside a naive answer's, and how many poses at rest the regions of 50, 80 and
90 % hold. The report is a folder with predictions.csv (a row per toss and scheme), regions.json
(faces and regions by toss), summary.md and figures. Tosses that end in motion have regions alone.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from contactid.sources.conventions import MIRROR, QUATERNION, UP, options, stated_by


def arguments(parser: ArgumentParser) -> None:
    """Declare the command's arguments."""
    options(parser, QUATERNION, UP, MIRROR)
    parser.add_argument(
        "tosses", nargs="+", help="a folder of tosses, or files of one kind (.pt, .h5)"
    )
    parser.add_argument(
        "--run", required=True, metavar="folder", help="a finished run, for instance results/public"
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
    parser.add_argument(
        "--report",
        default="report",
        metavar="folder",
        help="where the report goes (default: report)",
    )


def run(given: Namespace) -> Sequence[str]:
    """Read, predict, write the report, print its results, and return what not to trust.

    Raises :class:`ContactIdError` for whatever is wrong with the run or the tosses; nothing is
    written then.
    """
    from contactid.output.escape import one_line
    from contactid.output.own_report import own_report, refuse_missing

    refuse_missing(*given.tosses)
    from contactid.tossing.own.finished_run import read_run
    from contactid.tossing.own.predict import lines
    from contactid.tossing.own.regions import NO_REGIONS
    from contactid.tossing.own.report import predict_and_judge, write_files
    from contactid.tossing.own.tosses import read_tosses

    def say(line: str) -> None:
        print(one_line(line), flush=True)

    with own_report(given.report) as folder:
        finished = read_run(given.run)
        tosses = read_tosses(given.tosses, finished, given.object, given.surface, stated_by(given))
        say(tosses.description())
        prediction = predict_and_judge(finished, tosses, say)
        write_files(prediction, folder)
    say("")
    rest = [f"{NO_REGIONS}."] if prediction.regions is None else prediction.regions.lines()
    for line in [*lines(prediction.means), *rest]:
        say(line)
    return [f"{warning}." for warning in prediction.warnings]
