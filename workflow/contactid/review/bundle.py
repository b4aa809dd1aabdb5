"""``python -m contactid.review.bundle --run default``: a finished run as one archive (``make bundle``)."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from contactid.core.errors import ContactIdError
from contactid.review.bundles.assemble import assemble

_ROOT = Path(__file__).resolve().parents[3]


def main(arguments: list[str] | None = None) -> int:
    """Write the archive and say where; exit status 1 and one line where that isn't possible."""
    parser = argparse.ArgumentParser(prog="contactid.review.bundle", description=__doc__)
    parser.add_argument("--run", default="default", help="name of the run (its folder below results)")
    parser.add_argument("--force", action="store_true", help="take an unfinished run, or one with uncommitted changes")
    chosen = parser.parse_args(arguments)
    try:
        path = assemble(_ROOT, chosen.run, force=chosen.force)
    except ContactIdError as error:
        print(f"ERROR {error}", file=sys.stderr)
        return 1
    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB. To check it: make verify BUNDLE={path.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
