"""What a run of the arm study found, as a section of plain text."""

from __future__ import annotations

from collections.abc import Sequence

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
    rows = [
        [
            row["method"],
            f"{row['fitted']} of {row['experiments']}",
            f"{row['mean_eta_x_mm_s']:.1f}",
            f"{row['mean_relative_x_pct']:.1f}",
            f"{row['mean_eta_z_mm_s']:.1f}",
            f"{row['mean_error_x_mm_s']:+.2f}",
            f"{row['mean_error_z_mm_s']:+.2f}",
        ]
        for row in summary.to_dict("records")
    ]
    titles = ["method", "fitted", "|eta x| mm/s", "%", "|eta z| mm/s", "mean x", "mean z"]
    source = "synthetic recordings" if synthetic else "recordings"
    return f"Velocity after the impact from {source}, less the impact map's:\n\n" + text_table(
        titles, rows
    )


def _accuracy(table: pd.DataFrame) -> str:
    rows = [
        [
            row["twin"].replace("_", " "),
            row["method"],
            row["component"],
            f"{row['samples']}",
            f"{row['failed']}",
            f"{row['mean_abs_error']:.2f}",
            f"{row['largest_error']:.2f}",
            f"{100.0 * row['coverage']:.0f}",
        ]
        for row in table[table["twin"].isin([CHOSEN_ON, HELD_OUT])].to_dict("records")
    ]
    titles = [
        "twin",
        "method",
        "v+",
        "samples",
        "failed",
        "mean mm/s",
        "largest",
        "in 95 % interval",
    ]
    return (
        "The same on stored twins, less the truth, which methods weren't chosen on: they have another seed, "
        "other drives or other links:\n\n" + text_table(titles, rows)
    )
