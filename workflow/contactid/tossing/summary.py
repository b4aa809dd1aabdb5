"""What a run found, in a page of plain text for the terminal and the results folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from contactid.core.atomic import write_text
from contactid.output.escape import markdown
from contactid.output.summary import text_table
from contactid.output.tables import read_csv
from contactid.tossing.configuration import SIMULATOR


def summarise(tables: Sequence[str], names: Sequence[str], summary: str) -> None:
    """Write the section of the summary from files of tables and their names."""
    write_text(summary, section(dict(zip(names, map(read_csv, tables), strict=True))))


def section(more: Mapping[str, pd.DataFrame]) -> str:
    """Markdown: tosses used, parameters and test errors per scheme, from tables by name."""
    identification = more["ext_identification"]
    ours = identification[identification["simulator"] == SIMULATOR]
    return "\n\n".join(["## tossing", _used(more["tosses"]), _errors(ours)]) + "\n"


def _used(tosses: pd.DataFrame) -> str:
    lines = []
    for dataset, part in tosses.groupby("dataset", sort=False):
        left = part.loc[~part["used"].astype(bool), "reason"].value_counts()
        why = (
            "; ".join(f"{count} {markdown(reason)}" for reason, count in left.items())
            or "none left out"
        )
        lines.append(f"* {dataset}: {int(part['used'].sum())} of {len(part)} tosses used ({why})")
    return "\n".join(lines)


def _errors(identification: pd.DataFrame) -> str:
    titles = {
        "dataset": "dataset", "scheme": "scheme", "subset": "subset", "n_tosses": "n",
        "friction_mu": "mu", "restitution_e_n": "e_N", "mean_loss": "loss", "sem_loss": "+-",
        "position_error_pct": "pos %", "rotation_error_deg": "rot deg",
        "rest_position_error_cm": "rest cm", "rest_rotation_error_deg": "rest deg",
    }  # fmt: skip
    digits = {"friction_mu": 3, "restitution_e_n": 2, "mean_loss": 3, "sem_loss": 3}
    rows = [
        [
            f"{row[name]:.{digits.get(name, 1)}f}"
            if isinstance(row[name], float)
            else str(row[name])
            for name in titles
        ]
        # a subset that is all tosses anyway has no row of its own
        for row in identification.drop_duplicates(
            ["dataset", "identified_on", "scheme", "n_tosses"]
        ).to_dict("records")
    ]
    return "Errors on the test tosses:\n\n" + text_table([*titles.values()], rows)
