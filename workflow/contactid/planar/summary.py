"""What a run of the planar study found, as a section of plain text."""

from __future__ import annotations

import pandas as pd

from contactid.core.atomic import write_text
from contactid.output.summary import text_table
from contactid.output.tables import read_csv


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
    """Write Markdown: impulses, energy, lift-off, the two forms of a step, and what identification found.

    Parameters
    ----------
    convergence, energy, tangential_impulses, liftoff, nlp_step, rates, failed, reformulations
        The study's tables ``ext_impulse_convergence``, ``ext_energy``, ``ext_tangential_impulses``, ``ext_liftoff``,
        ``ext_nlp_step``, ``ext_identification_by_rate``, ``ext_identification_failed`` and ``ext_reformulations``.
    summary
        File to write.
    """
    parts = [
        "## planar",
        _peaks(read_csv(convergence)),
        _energy(read_csv(energy), read_csv(tangential_impulses)),
        _liftoff(read_csv(liftoff)),
        _steps(read_csv(nlp_step)),
        _rates(read_csv(rates)),
        _failed(read_csv(failed)),
        _reformulations(read_csv(reformulations)),
    ]
    write_text(summary, "\n\n".join(parts) + "\n")


def _peaks(convergence: pd.DataFrame) -> str:
    rows = [
        [
            row["scene"],
            row["model"],
            f"{row['limit_ns']:.2f}",
            f"{row['peak_least_ns']:.1f} to {row['peak_largest_ns']:.1f}",
            f"{row['error_pct_up_to_1_ms_largest']:.2f}",
            f"{row['order']:.2f} +- {row['order_se']:.2f}" if row["model"] == "IRC" else "does not converge",
        ]
        for row in convergence.to_dict("records")
    ]
    titles = ["scene", "model", "limit N s", "first peaks N s", "largest error % (h <= 1 ms)", "order in h"]
    return "First normal impulse:\n\n" + text_table(titles, rows)


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


def _liftoff(liftoff: pd.DataFrame) -> str:
    lines = ["The sliding ellipse leaves the ground from this friction on:"]
    for row in liftoff.to_dict("records"):
        lines.append(
            f"* {row['friction_mu']:.3f} (gap above {row['clearance_mm']:g} mm within {row['duration_s']:g} s)"
        )
    return "\n".join(lines)


def _steps(steps: pd.DataFrame) -> str:
    lines = ["The paper's nonlinear program (eq. 20) against the exact step, over the throw:"]
    for row in steps.to_dict("records"):
        lines.append(
            f"* h = {row['time_step_ms']:g} ms: {row['converged']} of {row['steps']} steps converged, positions agree "
            f"to {row['largest_position_difference_m']:.1e} m"
        )
    return "\n".join(lines)


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


def _failed(failed: pd.DataFrame) -> str:
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
