"""Draw declared figures, several in one process."""

from __future__ import annotations

import hashlib
import shutil
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd

from contactid.core.atomic import replacing
from contactid.core.errors import ContactIdError
from contactid.core.references import resolve
from contactid.output import style
from contactid.output.artefacts import files_by_place
from contactid.output.escape import mathtext
from contactid.output.fits import read_json
from contactid.output.tables import read_csv

# columns of what users named, whose dollar signs aren't math
_NAMES = ["dataset", "experiment", "object", "recording", "throw", "toss"]


def draw(declared: Sequence[Mapping[str, Any]], named: Mapping[str, Any]) -> None:
    """Draw figures from their data; where one fails, the others are kept for the next try.

    Snakemake removes what a failed job has written, so the drawings of such a job are put aside.

    Parameters
    ----------
    declared : what :func:`contactid.output.artefacts.drawings` says of each
    named
        ``data`` lists their data files, ``drawn`` the files to write, ``kept`` is the folder for
        drawings that are put aside, ``sources`` are JSON files that say by name what figures were
        made from, ``code`` is the fingerprint of all that draws.

    Raises
    ------
    ContactIdError : names the figures that failed; the log has the tracebacks
    """
    labels: dict[str, str] = {}
    for file in named["sources"]:
        for name, source in read_json(file).items():
            labels[name] = source["said"]
    pictures_of = files_by_place(declared, named["drawn"])
    drawn: dict[Path, list[Path]] = {}
    failed = []
    for row, file in zip(declared, named["data"], strict=True):
        row = {**row, "data": row["data"] or labels.get(row["name"], "")}
        pictures = [Path(name) for name in pictures_of[row["place"]]]
        aside = Path(named["kept"]) / _fingerprint(row, named["code"], Path(file))
        try:
            if aside.is_dir():
                _copy([aside / picture.name for picture in pictures], pictures)
            else:
                _draw(row, read_csv(file), pictures)
            drawn[aside] = pictures
        # a figure may fail in any way, and its fault must not cost the others
        except Exception:
            print(f"{row['place']}:", traceback.format_exc(), sep="\n", file=sys.stderr)
            failed.append(row["place"])
    for aside, pictures in drawn.items():
        if failed:
            aside.mkdir(parents=True, exist_ok=True)
            _copy(pictures, [aside / picture.name for picture in pictures])
        else:
            shutil.rmtree(aside, ignore_errors=True)
    if failed:
        raise ContactIdError(
            f"{', '.join(failed)}: can't be drawn", "The other drawings are kept for the next try"
        )


def _fingerprint(row: Mapping[str, Any], code: str, data: Path) -> str:
    """Of all that decides a picture.

    A drawing that was put aside is taken only where none of it has changed since.
    """
    settings = repr((row, code)).encode()
    return hashlib.sha256(data.read_bytes() + settings).hexdigest()[:16]


def _draw(row: Mapping[str, Any], data: pd.DataFrame, pictures: Sequence[Path]) -> None:
    function = resolve(row["draw"])
    for name in data.columns.intersection(_NAMES):
        # a name like 12 is read as a number, in which there is nothing to escape
        if data[name].dtype.kind not in "biuf":
            data = data.assign(**{name: data[name].map(mathtext)})
    label = row["data"] or str(data["source"].iloc[0])
    # an animation has a writer of its own
    if row["files"] == ("gif",):
        function(data, pictures[0], source=label)
        return
    with style.styled():
        figure = function(data, **row["settings"])
        style.label_data(figure, label)
        style.save(figure, pictures[0].with_suffix(""))
        plt.close(figure)


def _copy(sources: Sequence[Path], targets: Sequence[Path]) -> None:
    for source, target in zip(sources, targets, strict=True):
        with replacing(target) as partial:
            shutil.copyfile(source, partial)
