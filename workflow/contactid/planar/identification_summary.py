"""What the identification from noisy throws found, as plain text."""

from __future__ import annotations

import pandas as pd

from contactid.output.summary import text_table


def identification_text(rates: pd.DataFrame, failed: pd.DataFrame, reformulations: pd.DataFrame) -> str:
    """Markdown: errors of J/m by frame rate beside the printed ones, what failed, and the reformulations.

    Parameters
    ----------
    rates, failed, reformulations
        ``ext_identification_by_rate``, ``ext_identification_failed`` and ``ext_reformulations``.
    """
    return "\n\n".join([_rates(rates), _failed(rates, failed), _reformulations(reformulations)])


def _rates(rates: pd.DataFrame) -> str:
    rows = [
        [
            row["noise_model"],
            f"{row['fps']:g}",
            f"{row['error_abs_median_pct']:.2g}",
            f"{row['error_abs_mean_pct']:.2g}",
            f"{row['published_abs_mean_pct']:.2g}",
            f"{100.0 * row['interval_coverage']:.0f}",
            f"{row['n_converged']} of {row['n_seeds']}",
        ]
        for row in rates.to_dict("records")
    ]
    titles = ["noise", "frames/s", "|error| %: median", "mean", "mean printed", "in 95 % interval, %", "converged"]
    return "Identified J/m of the noisy throws, cells with mu >= 0.2 (table 1):\n\n" + text_table(titles, rows)


def _failed(rates: pd.DataFrame, failed: pd.DataFrame) -> str:
    unsolved = int((~failed["converged"]).sum()) if len(failed) else 0
    poor = len(failed) - unsolved
    return (
        f"Of all identifications {unsolved} did not converge and {poor} converged to a motion that noise doesn't "
        "explain; ext_identification_failed lists them."
    )


def _reformulations(table: pd.DataFrame) -> str:
    rows = [
        [
            row["reformulation"],
            f"{row['n_converged']} of {row['n']}",
            f"{row['n_plausible']}",
            f"{row['error_abs_median_all_pct']:.2g}",
            f"{row['complementarity_largest']:.0e}",
            f"{row['iterations_median']:.0f}",
            f"{row['seconds_median']:.1f}",
        ]
        for row in table.to_dict("records")
    ]
    titles = ["reformulation", "converged", "plausible", "|error| % (all)", "largest residual", "iterations", "s"]
    return "One solve each from the same starts:\n\n" + text_table(titles, rows)
