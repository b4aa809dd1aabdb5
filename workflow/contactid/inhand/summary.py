"""What a run of the in-hand study found, as a section of plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from contactid.core.atomic import write_text
from contactid.inhand.artefacts.estimates import PRINTED, is_true
from contactid.inhand.artefacts.printed import ALL_ESTIMATES, WITH_CONSTRAINT
from contactid.inhand.identify.methods import (
    CONSTRAINED,
    GROUND_TRUTH,
    LIKELIHOOD,
    METHOD_LABELS,
    METHODS,
    UNIFORM,
)
from contactid.inhand.readers.sources import APPENDIX_TABLES, SOURCES
from contactid.output.summary import text_table
from contactid.output.tables import read_csv

_COLUMNS = ("consistent", "error", "mass %")


def summarise(tables: Sequence[str], names: Sequence[str], summary: str) -> None:
    """Write what the study's tables say, which ``names`` names in order."""
    found = {name: read_csv(file) for name, file in zip(names, tables, strict=True)}
    write_text(summary, summary_text(found))


def summary_text(tables: Mapping[str, pd.DataFrame]) -> str:
    """Markdown: verdicts on the printed rows, estimates by source and method, mass in hand,
    friction, force model.
    """
    masses = {source: tables[name] for source, name in APPENDIX_TABLES.items()}
    parts = [
        "## inhand",
        _printed(tables["ext_printed_verdicts"]),
        _estimates(tables["ext_estimates"], masses),
        _masses(masses),
        _friction(tables["ext_friction"]),
        _force_model(tables["ext_force_sensing"]),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _printed(verdicts: pd.DataFrame) -> str:
    """How many printed estimates a body can have, at best over the sign of the off-diagonals."""
    by_method = verdicts.groupby("method")
    possible, rows = by_method["positive_definite"].max(), by_method["rows"].first()
    return (
        "Printed estimates that a rigid body can have, with the tensor about the origin as the ground truths' is:"
        f" {possible[WITH_CONSTRAINT]} of the {rows[WITH_CONSTRAINT]} with the constraint,"
        f" {possible[ALL_ESTIMATES]} of all {rows[ALL_ESTIMATES]}."
    )


def _estimates(estimates: pd.DataFrame, appendix: Mapping[str, pd.DataFrame]) -> str:
    lines = []
    for source in SOURCES:
        for method in (*METHODS, UNIFORM):
            runs = estimates[(estimates["source"] == source) & (estimates["method"] == method)]
            if len(runs):
                cost, hard = runs[runs["solver"] != LIKELIHOOD], runs[runs["solver"] == LIKELIHOOD]
                cells = [*_cells(cost, appendix[source]), *_cells(hard, appendix[source])]
                lines.append([source, METHOD_LABELS[method], *cells])
    titles = ["source", "method", *_COLUMNS, *(f"ours: {_COLUMNS[0]}", *_COLUMNS[1:])]
    return (
        "Estimates from synthetic recordings, the paper's way and ours; error: median geodesic distance to the"
        " truth, mass: median of the error's magnitude, of the runs that converged. Ours is a body that can exist,"
        " with a soft prior, and a constant unsensed wrench besides, which is what mends the mass (`ext_ablation`)."
        f" {METHOD_LABELS[UNIFORM].capitalize()}: in the hull that is given, with our estimate's mass:\n\n"
    ) + text_table(titles, lines)


def _cells(runs: pd.DataFrame, appendix: pd.DataFrame) -> list[str]:
    """How many runs converged and are physically consistent, of all; and their medians."""
    if runs.empty:
        return ["-"] * len(_COLUMNS)
    done = runs[is_true(runs["converged"])]
    count = f"{int(is_true(done['physically_consistent']).sum())} of {len(runs)}"
    if done.empty:
        return [count, "-", "-"]
    # an estimate that is no body has no distance: counted as infinite
    error = float(np.median(done["geodesic_error"].fillna(np.inf)))
    mass = (done["mass_kg"] / done["object"].map(_true_masses(appendix)) - 1.0).abs().median()
    return [count, f"{error:.3g}", f"{100.0 * mass:.2g}"]


def _true_masses(appendix: pd.DataFrame) -> dict[str, float]:
    truths = appendix[appendix["method"] == GROUND_TRUTH]
    return dict(zip(truths["object"], truths["mass_kg"], strict=True))


def _masses(appendix: Mapping[str, pd.DataFrame]) -> str:
    """The mass in hand, box by box: the printed rows with constraints are off by more than half."""
    rows = []
    for source, table in appendix.items():
        if not source.startswith("in_hand"):
            continue
        truths = _true_masses(table)
        for origin in (PRINTED, LIKELIHOOD):
            part = table[(table["method"] == CONSTRAINED) & (table["origin"] == origin)].set_index(
                "object"
            )["mass_kg"]
            cells = [
                f"{100.0 * (part[name] / truth - 1.0):+.0f}" if name in part else "-"
                for name, truth in truths.items()
            ]
            rows.append([source, "printed" if origin == PRINTED else "ours, synthetic", *cells])
    boxes = list(
        _true_masses(
            next(table for source, table in appendix.items() if source.startswith("in_hand"))
        )
    )
    return f"Error of the mass in hand in %, {METHOD_LABELS[CONSTRAINED]}:\n\n" + text_table(
        ["source", "from", *boxes], rows
    )


def _friction(table: pd.DataFrame) -> str:
    lines = []
    for row in table[table["object"] == "all"].to_dict("records"):
        lines.append(
            f"Friction, simulated, cases {row['region']}: {row['n_slipped']} of {row['n_trials']} slipped, median"
            f" error of a case {row['case_error']:.3f} against the slope method."
        )
    return "\n".join(lines)


def _force_model(table: pd.DataFrame) -> str:
    lines = []
    for model, rows in table.groupby("model", sort=False):
        share = rows["share_within_one_sd"].median() if "share_within_one_sd" in rows else np.nan
        lines.append(
            f"* {str(model).replace('_', ' ')}: median errors {rows['magnitude_error_n'].median():.3f} N and"
            f" {rows['angle_error_deg'].median():.1f} degrees, {100.0 * share:.0f} % within one standard deviation"
        )
    return "Force from the simulated sensor's electrodes:\n" + "\n".join(lines)
