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

_NAMES = [
    "dataset",
    "experiment",
    "object",
    "recording",
    "throw",
    "toss",
]  # columns of what users named


def draw(declared: Sequence[Mapping[str, Any]], named: Mapping[str, Any]) -> None:
    """Draw figures from their data; where one fails, the others are kept for the next try, and the
    failure is named.

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
    said = {
        name: told["said"] for file in named["sources"] for name, told in read_json(file).items()
    }
    drawn = files_by_place(declared, named["drawn"])
    aside, failed = {}, []
    for row, file in zip(declared, named["data"], strict=True):
        row = {**row, "data": row["data"] or said.get(row["name"], "")}
        mark = hashlib.sha256(
            Path(file).read_bytes() + repr((row, named["code"])).encode()
        ).hexdigest()
        folder, pictures = (
            Path(named["kept"]) / mark[:16],
            [Path(name) for name in drawn[row["place"]]],
        )
        try:
            if folder.is_dir():
                _copy([folder / picture.name for picture in pictures], pictures)
            else:
                _draw(row, read_csv(file), pictures)
            aside[folder] = pictures
        except Exception:
            print(f"{row['place']}:", traceback.format_exc(), sep="\n", file=sys.stderr)
            failed.append(row["place"])
    for folder, pictures in aside.items():
        if failed:
            folder.mkdir(parents=True, exist_ok=True)
            _copy(pictures, [folder / picture.name for picture in pictures])
        else:
            shutil.rmtree(folder, ignore_errors=True)
    if failed:
        raise ContactIdError(
            f"{', '.join(failed)}: can't be drawn", "The other drawings are kept for the next try"
        )


def _draw(row: Mapping[str, Any], data: pd.DataFrame, pictures: Sequence[Path]) -> None:
    function = resolve(row["draw"])
    names = data.columns.intersection(_NAMES)
    data = data.assign(
        **{name: data[name].map(mathtext) for name in names if data[name].dtype.kind not in "biuf"}
    )
    label = row["data"] or str(data["source"].iloc[0])
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
