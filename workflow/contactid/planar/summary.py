"""What a run of the planar study found, as a section of plain text."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from contactid.core.atomic import write_text
from contactid.output.summary import text_table
from contactid.output.tables import read_csv

_PEAKS = {
    "scene": "{scene}",
    "model": "{model}",
    "limit N s": "{limit_ns:.2f}",
    "first peaks N s": "{peak_least_ns:.1f} to {peak_largest_ns:.1f}",
    "largest error % (h <= 1 ms)": "{error_pct_up_to_1_ms_largest:.2f}",
    "order in h": "{order_in_h}",
}
_RATES = {
    "noise": "{noise_model}",
    "frames/s": "{fps:g}",
    "|error| %: median": "{error_abs_median_pct:.2g}",
    "mean": "{error_abs_mean_pct:.2g}",
    "mean printed": "{published_abs_mean_pct:.2g}",
    "in 95 % interval, %": "{covered_pct:.0f}",
    "converged": "{n_converged} of {n_throws}",
}


def summarise(convergence: str, rates: str, failed: str, summary: str) -> None:
    """Write Markdown from the study's tables: impulses, and identification from noisy throws."""
    peaks, by_rate, bad = read_csv(convergence), read_csv(rates), read_csv(failed)
    orders = peaks["order"].map("{:.2f}".format) + " +- " + peaks["order_se"].map("{:.2f}".format)
    peaks["order_in_h"] = orders.where(peaks["model"] == "IRC", "does not converge")
    by_rate["covered_pct"] = 100.0 * by_rate["interval_coverage"]
    unsolved = int((~bad["converged"].astype(bool)).sum())
    parts = [
        "## planar",
        "First normal impulse:\n\n" + _tabulated(peaks, _PEAKS),
        "Identified J/m of stored noisy throws, printed cells with mu >= 0.2 (table 1):\n\n"
        + _tabulated(by_rate, _RATES),
        f"Of all identifications {unsolved} did not converge and {len(bad) - unsolved} converged to a motion that "
        "noise doesn't explain; ext_identification_failed lists them.",
    ]
    write_text(summary, "\n\n".join(parts) + "\n")


def _tabulated(table: pd.DataFrame, columns: Mapping[str, str]) -> str:
    """A text table; ``columns`` are what stands in a row, by title."""
    rows = [[said.format_map(row) for said in columns.values()] for row in table.to_dict("records")]
    return text_table(list(columns), rows)
