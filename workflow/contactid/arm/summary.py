"""What a run of the arm study found, as a section of plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from contactid.arm.artefacts.left_out import DESCRIBED
from contactid.arm.identify.accuracy import CHOSEN_ON, HELD_OUT
from contactid.core.atomic import write_text
from contactid.output.summary import text_table
from contactid.output.tables import read_csv


def summarise(tables: Sequence[str], names: Sequence[str], synthetic: bool, summary: str) -> None:
    """Write Markdown: Table II, models A, B and C, what the recordings give, and how accurate that
    is.

    ``tables`` are the study's, ``names`` theirs; ``synthetic``: the recordings are.
    """
    by_name = {name: read_csv(table) for name, table in zip(names, tables, strict=True)}
    parts = [
        "## arm",
        _impact_map(by_name["tab02_impact_map"], by_name["ext_left_out"]),
        _models(by_name["ext_damping_sweep"]),
        _recordings(by_name["ext_fit_summary"], synthetic),
        _accuracy(by_name["ext_fit_accuracy"]),
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


def _models(sweep: pd.DataFrame) -> str:
    flexible = sweep[(sweep["model"] == "B") & np.isclose(sweep["d_rob"], 80.0)]
    if flexible.empty:
        return "Models A, B and C: the configuration leaves Table I's damping out of the sweep."
    row = flexible.iloc[0]
    return (
        f"Model B moves as the rigid model C, within 2 %, from {row['settling_ms']:.0f} ms after the impact on, and is "
        f"at most {row['departure_100ms_pct']:.1f} % off after 100 ms."
    )


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
    return f"Velocity after the impact from {source}, less the impact map's:\n\n" + _written(
        summary, columns
    )


def _accuracy(table: pd.DataFrame) -> str:
    shown = table[table["twin"].isin([CHOSEN_ON, HELD_OUT])]
    shown = shown.assign(
        twin=shown["twin"].str.replace("_", " "), coverage=100.0 * shown["coverage"]
    )
    columns = {
        "twin": "{twin}",
        "method": "{method}",
        "v+": "{component}",
        "samples": "{samples}",
        "failed": "{failed}",
        "mean mm/s": "{mean_abs_error:.2f}",
        "largest": "{largest_error:.2f}",
        "in 95 % interval": "{coverage:.0f}",
    }
    return (
        "The same on stored twins, less the truth, which methods weren't chosen on: they have another seed, "
        "other drives or other links:\n\n" + _written(shown, columns)
    )


def _written(table: pd.DataFrame, columns: Mapping[str, str]) -> str:
    """A table of text, a column for each title, its cells written by a format."""
    cells = [
        [form.format_map(row) for form in columns.values()] for row in table.to_dict("records")
    ]
    return text_table(list(columns), cells)
