"""What a reviewer looks at without installing anything (``make release``).

Reports and bundles of the finished runs in one folder, ``release/contactid-<version>``, with their
SHA-256 sums in the format of ``sha256sum``: to be put beside the tag of that version.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from contactid import __version__
from contactid.core.atomic import cannot_be_written
from contactid.core.errors import told_plainly
from contactid.review.bundle import assemble
from contactid.review.contents import write_manifest
from contactid.review.crate import FILE_NAME
from contactid.review.provenance import ROOT
from contactid.sources.lockfile import digest

RUNS = ("default", "public")
SUMS = "SHA256SUMS"


def release(root: Path, runs: Sequence[str] = RUNS) -> Path:
    """Make the folder, in place of an earlier one of this version.

    Parameters
    ----------
    root : the checkout that the runs were made in, with nothing to commit
    runs : their names; the first must be there, others that aren't are left out

    Raises
    ------
    ContactIdError : what :func:`contactid.review.bundle.assemble` refuses; a folder that can't be
        written
    """
    # the first must be finished: that it isn't is then said by its bundle
    finished = [
        run for run in runs if run == runs[0] or (root / "results" / run / FILE_NAME).is_file()
    ]
    folder = root / "release" / f"contactid-{__version__}"
    try:
        folder.parent.mkdir(exist_ok=True)
        with TemporaryDirectory(
            dir=folder.parent, prefix=".partial", ignore_cleanup_errors=True
        ) as made:
            partial = Path(made) / folder.name
            partial.mkdir()
            for run in finished:
                assemble(root, run, into=partial)
                report = root / "results" / run / "report.html"
                shutil.copyfile(report, partial / f"{run}-report.html")
            sums = {file.name: digest(file) for file in partial.iterdir()}
            (partial / SUMS).write_text(write_manifest(sums), encoding="utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            partial.rename(folder)
    except OSError as error:
        raise cannot_be_written(folder, error.errno) from error
    return folder


@told_plainly()
def main() -> None:
    """Make the folder and say what is in it."""
    folder = release(ROOT)
    files = ", ".join(sorted(file.name for file in folder.iterdir()))
    remedy = f"Put them beside the tag v{__version__} of this commit"
    print(f"{folder.relative_to(ROOT)}: {files}. {remedy}.")


if __name__ == "__main__":
    main()
