"""Whether the verdicts in a checks.csv follow from the numbers beside them."""

from __future__ import annotations

import pandas as pd

from contactid.output.comparison import AGREES, BETTER, DIFFERS, INPUT, NOT_COMPARABLE

# numbers in the file have six significant digits, so a difference at the very edge may fall on either side
_ROUNDING = 1.1e-6


def wrong_verdicts(checks: pd.DataFrame) -> list[str]:
    """A line for every row whose verdict isn't the one of its numbers, or lacks its reason."""
    problems = []
    for row in checks.to_dict("records"):
        problem = _problem(row)
        if problem:
            label = " ".join(str(row[key]) for key in ("study", "artefact", "quantity", "condition") if row[key] != "")
            problems.append(f"{label}: {problem}")
    return problems


def _problem(row: dict) -> str:
    verdict, published, reproduced = row["verdict"], float(row["published"]), float(row["reproduced"])
    if verdict == NOT_COMPARABLE:
        return "" if row["note"] else "not comparable without a reason"
    if pd.isna(reproduced):
        return f"{verdict} without a number"
    apart, tolerance = abs(reproduced - published), float(row["tolerance"])
    edge = _ROUNDING * max(abs(reproduced), abs(published), tolerance)
    possible = set()
    if apart <= tolerance + edge:
        possible |= {AGREES, INPUT}
    if apart >= tolerance - edge:
        possible.add(DIFFERS)
        if abs(reproduced) <= abs(published):
            possible.add(BETTER)
    return "" if verdict in possible else f"says {verdict}, but {reproduced:g} is {apart:g} from {published:g}"
