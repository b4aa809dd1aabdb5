"""Commands on one's own files: ``contactid toss | predict | identify | impact | estimate | slip |
inspect``.

``python -m contactid`` is the same, and so is a ``make`` target of each name. No command needs
Snakemake or a finished run, but ``predict``, which takes the parameters of one.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import sys
from collections.abc import Sequence

from contactid.core.errors import ContactIdError
from contactid.output.escape import one_line

#: Each command's module, with ``arguments(parser)`` and ``run(given)``, which gives what not to
#: trust, and what it does in a line. A command's module imports nothing heavy before its arguments
#: are known to be right.
COMMANDS = {
    "estimate": (
        "contactid.inhand.own.command",
        "mass, centre and inertia of an object that is held and moved",
    ),
    "identify": (
        "contactid.planar.own.command",
        "inertia ratio and friction of a planar body from its throws",
    ),
    "impact": (
        "contactid.arm.own.command",
        "velocity of an arm's tip after an impact, measured and predicted",
    ),
    "toss": (
        "contactid.tossing.toss.command",
        "friction, restitution and inertia of a box from its tosses",
    ),
    "predict": (
        "contactid.tossing.own.command",
        "your own tosses, with the parameters of a finished run",
    ),
    "slip": (
        "contactid.inhand.own.slip_command",
        "friction of a fingertip with a surface that may warp",
    ),
    "inspect": (
        "contactid.sources.inspect",
        "what is in a file of recordings, and what would be made of it",
    ),
}

#: Objects that are made between two searches for garbage, 700 by default. Imports make hundreds of
#: thousands that stay, and to go through them again and again takes a short command's time.
_BETWEEN_SEARCHES = 100_000


def main(given: Sequence[str] | None = None) -> int:
    """Run a command; 0 on success, 1 with one ``ERROR`` line where its input is wrong, 2 where its
    arguments are.
    """
    os.environ.setdefault("MPLBACKEND", "Agg")  # a command draws into files, and opens no window
    if given is None:  # else the process is a caller's
        gc.set_threshold(_BETWEEN_SEARCHES)
    words = sys.argv[1:] if given is None else list(given)
    parser = argparse.ArgumentParser(
        prog="contactid", description="Identify bodies from impacts: your own recordings."
    )
    commands = parser.add_subparsers(required=True, metavar="command", dest="command")
    chosen = None
    for name, (module, help_) in COMMANDS.items():
        command = commands.add_parser(name, help=help_)
        if words[:1] == [name]:
            chosen = importlib.import_module(module)
            command.description = chosen.__doc__
            command.formatter_class = argparse.RawDescriptionHelpFormatter
            chosen.arguments(command)
            if name != "inspect":  # which answers in the terminal alone
                command.add_argument(
                    "--report",
                    default="report",
                    metavar="folder",
                    help="where the report goes (default: report)",
                )
    options = parser.parse_args(words)
    assert chosen is not None  # a word that is no command ends in the line above
    try:
        warnings = chosen.run(options)
    except ContactIdError as error:
        print(f"ERROR {one_line(error)}", file=sys.stderr)
        return 1
    for warning in warnings:
        print(f"WARNING {one_line(warning)}")
    if "report" in options:
        print(f"Report: {one_line(options.report)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
