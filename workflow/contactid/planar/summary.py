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
_REFORMULATIONS = {
    "throws": "{throws}",
    "start": "{start}",
    "reformulation": "{reformulation}",
    "converged and plausible": "{n_success} of {n}",
    "about the best misfit": "{n_at_best}",
    "|error| % (all)": "{error_abs_median_all_pct:.2g}",
    "iterations": "{iterations_median:.0f}",
    "s": "{seconds_median:.1f}",
}


def summarise(
    convergence: str,
    energy: str,
    tangential_impulses: str,
    liftoff: str,
    nlp_step: str,
    rates: str,
    failed: str,
    reformulations: str,
    summary: str,
) -> None:
    """Write Markdown from the study's tables: impulses, energy, lift-off, the two forms of a step,
    identification.
    """
    peaks, by_rate = read_csv(convergence), read_csv(rates)
    orders = peaks["order"].map("{:.2f}".format) + " +- " + peaks["order_se"].map("{:.2f}".format)
    peaks["order_in_h"] = orders.where(peaks["model"] == "IRC", "does not converge")
    by_rate["covered_pct"] = 100.0 * by_rate["interval_coverage"]
    parts = [
        "## planar",
        "First normal impulse:\n\n" + _tabulated(peaks, _PEAKS),
        _energy(read_csv(energy), read_csv(tangential_impulses)),
        _listed(
            "The sliding ellipse leaves the ground from this friction on:",
            "{friction_mu:.3f} (gap above {clearance_mm:g} mm within {duration_s:g} s)",
            read_csv(liftoff),
        ),
        _listed(
            "The paper's nonlinear program (eq. 20) against the exact step, over the throw:",
            "h = {time_step_ms:g} ms: {converged} of {steps} steps converged, positions agree to "
            "{largest_position_difference_m:.1e} m",
            read_csv(nlp_step),
        ),
        "Identified J/m of stored noisy throws, printed cells with mu >= 0.2 (table 1):\n\n"
        + _tabulated(by_rate, _RATES),
        _failed(read_csv(failed)),
        "Ways to write complementarity, one try each from the same starts (CPU seconds):\n\n"
        + _tabulated(read_csv(reformulations), _REFORMULATIONS),
    ]
    write_text(summary, "\n\n".join(parts) + "\n")


def _listed(title: str, said: str, table: pd.DataFrame) -> str:
    return "\n".join([title, *("* " + said.format_map(row) for row in table.to_dict("records"))])


def _tabulated(table: pd.DataFrame, columns: Mapping[str, str]) -> str:
    """A text table; ``columns`` are what stands in a row, by title."""
    rows = [[said.format_map(row) for said in columns.values()] for row in table.to_dict("records")]
    return text_table(list(columns), rows)


def _energy(energy: pd.DataFrame, tangential: pd.DataFrame) -> str:
    elastic = tangential[tangential["restitution_e_n"] == 1.0]
    lines = [
        f"Energy: the balance of {len(energy)} motions closes to {energy['closure'].max():.0e} of the largest energy."
    ]
    for row in elastic.to_dict("records"):
        lines.append(
            f"With e_N = 1 and friction {row['friction_mu']:g} it changes by {row['energy_change_pct']:+.2f} % though "
            f"nothing slides in {row['steps_in_contact'] - row['steps_sliding']} of {row['steps_in_contact']} contact "
            "steps: sticking impacts do take energy."
        )
    gain = tangential.sort_values("largest_gain_in_one_step_j").to_dict("records")[-1]
    if gain["largest_gain_in_one_step_j"] > 0.1:
        lines.append(
            f"At e_N = {gain['restitution_e_n']:g} the tangential impulse of one impact even gives "
            f"{gain['largest_gain_in_one_step_j']:.1f} J: it acts against a sliding that the normal impulse makes."
        )
    return "\n".join(lines)


def _failed(failed: pd.DataFrame) -> str:
    unsolved = int((~failed["converged"]).sum()) if len(failed) else 0
    poor = len(failed) - unsolved
    return (
        f"Of all identifications {unsolved} did not converge and {poor} converged to a motion that noise doesn't "
        "explain; ext_identification_failed lists them."
    )
