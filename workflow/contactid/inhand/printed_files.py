"""Files of the printed estimates: their verdicts, the appendix tables, and the data of figures 7, 8, 10 and 11."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from contactid.inhand.appendix_tables import appendix_table, tex_columns
from contactid.inhand.error_figure_data import error_figure_data
from contactid.inhand.names import APPENDIX_TABLES, ERROR_FIGURES, PRINTED_TABLES, SOURCES
from contactid.inhand.printed_estimates import consistency_table, printed_table, verdict_table
from contactid.inhand.readers.objects import object_of
from contactid.output.tables import read_csv, write_csv, write_tex

CAPTIONS = dict(
    zip(
        PRINTED_TABLES,
        (
            "Every printed row of the appendix under every reading of its tensor: can a rigid body have it?",
            "Printed rows that pass the tests of physical consistency, by method and reading of the tensor.",
        ),
        strict=True,
    )
)
_TEX_COLUMNS = (
    "source", "object", "method", "point", "off_diagonals", "triangle_inequality", "positive_definite", "within_hull",
    "unphysical_beyond_rounding", "geodesic_error",
)  # fmt: skip


def write_printed(folder: str | Path, *, published: str | Path) -> None:
    """Write ``ext_printed_consistency`` and ``ext_printed_verdicts`` as csv and tex into the study's ``tables``."""
    printed = printed_table(read_csv(published))
    hulls = {name: object_of(name).hull_vertices for name in printed["object"].unique()}
    rows = consistency_table(printed, hulls)
    shown = (rows[list(_TEX_COLUMNS)], verdict_table(rows))
    for name, csv, tex in zip(PRINTED_TABLES, (rows, shown[1]), shown, strict=True):
        write_csv(csv, Path(folder) / f"{name}.csv")
        write_tex(tex, Path(folder) / f"{name}.tex", caption=CAPTIONS[name])


def write_appendix(folder: str | Path, *, published: str | Path, verdicts: str | Path, estimates: str | Path) -> None:
    """Write the appendix tables and the data of the error figures into the study's ``tables`` and ``figures``.

    Parameters
    ----------
    folder
        The study's results.
    published, verdicts, estimates
        ``published/inhand.csv``, ``ext_printed_consistency.csv`` and ``ext_estimates.csv``.
    """
    printed = printed_table(read_csv(published))
    rows, runs = read_csv(verdicts), read_csv(estimates)
    for source in SOURCES:
        table: pd.DataFrame = appendix_table(source, printed, rows, runs)
        stem = Path(folder) / "tables" / APPENDIX_TABLES[source]
        write_csv(table, f"{stem}.csv")
        shown, headings, caption = tex_columns(table, source)
        write_tex(shown, f"{stem}.tex", caption=caption, columns=headings)
        write_csv(error_figure_data(source, rows, runs), Path(folder) / "figures" / f"{ERROR_FIGURES[source]}.csv")
