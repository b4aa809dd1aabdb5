"""What a run of the arm study found, as a section of plain text."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from contactid.arm.artefacts.left_out import DESCRIBED
from contactid.core.atomic import write_text
from contactid.output.summary import text_table
from contactid.output.tables import read_csv


def summarise(tables: Sequence[str], names: Sequence[str], synthetic: bool, summary: str) -> None:
    """Write Markdown: Table II, and what the recordings give.

    ``tables`` are the study's, ``names`` theirs; ``synthetic``: the recordings are.
    """
    by_name = {name: read_csv(table) for name, table in zip(names, tables, strict=True)}
    parts = [
        "## arm",
        _impact_map(by_name["tab02_impact_map"], by_name["ext_left_out"]),
        _recordings(by_name["ext_fit_summary"], synthetic),
    ]
    write_text(summary, "\n\n".join(parts) + "\n")


def _impact_map(table: pd.DataFrame, left_out: pd.DataFrame) -> str:
    lines = ["Table II, predicted sliding velocity (postures are fitted to printed rows):"]
    for rule, rows in table.groupby("posture_rule", sort=False):
        apart = 1e3 * (rows["vx_plus_map_ours"] - rows["vx_plus_map"])
        lines.append(
            f"* {str(rule).replace('_', ' ')}: within {apart.abs().max():.1f} mm/s of the {len(rows)} printed numbers, "
            f"rms {np.sqrt((apart**2).mean()):.1f}"
        )
    predicted = left_out[left_out["robot"] == DESCRIBED]
    apart = 1e3 * (predicted["vx_plus_map_ours"] - predicted["vx_plus_map"])
    lines.append(
        f"* predicted from the other rows of the set and angle: within {apart.abs().max():.1f} mm/s of the "
        f"{len(predicted)}, rms {np.sqrt((apart**2).mean()):.1f}"
    )
    return "\n".join(lines)


def _recordings(summary: pd.DataFrame, synthetic: bool) -> str:
    source = "synthetic recordings" if synthetic else "recordings"
    columns = {
        "method": "{method}",
        "fitted": "{fitted} of {experiments}",
        "|eta x| mm/s": "{mean_eta_x_mm_s:.1f}",
        "%": "{mean_relative_x_pct:.1f}",
        "|eta z| mm/s": "{mean_eta_z_mm_s:.1f}",
        "mean x": "{mean_error_x_mm_s:+.2f}",
        "mean z": "{mean_error_z_mm_s:+.2f}",
    }
    cells = [
        [form.format_map(row) for form in columns.values()] for row in summary.to_dict("records")
    ]
    written = text_table(list(columns), cells)
    return f"Velocity after the impact from {source}, less the impact map's:\n\n{written}"
