"""What figures 7, 8, 10 and 11 show: box-plot statistics of the inertial error, and the printed rows' own errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.cbook import boxplot_stats

from contactid.inhand.appendix_tables import is_true, printed_verdict
from contactid.inhand.names import (
    BOX,
    FACTOR_GRAPH,
    LEAST_SQUARES,
    METHODS,
    OBJECTS,
    OUTLIER,
    PRINTED,
    SOLVERS,
    SOURCE_LABELS,
)

COLUMNS = (
    "object", "method", "solver", "kind", "value", "q25", "median", "q75", "whisker_low", "whisker_high", "runs",
    "unphysical", "not_converged", "source",
)  # fmt: skip
_WHISKERS = 1.5  # interquartile ranges, as in the paper


def error_figure_data(source: str, printed_consistency: pd.DataFrame, estimates: pd.DataFrame) -> pd.DataFrame:
    """Statistics of the geodesic error (eq. 38) by object, method and solver.

    Parameters
    ----------
    source
        Of :data:`contactid.inhand.names.SOURCES`.
    printed_consistency, estimates
        ``ext_printed_consistency.csv`` and ``ext_estimates.csv``.

    Returns
    -------
    pandas.DataFrame
        :data:`COLUMNS`. A row ``box`` has the statistics of the **finite** errors of the runs that converged, whiskers
        at the last value within 1.5 interquartile ranges, and beside them how many runs there are, how many are
        unphysical (an infinite error, which no box can hold) and how many did not converge. A row ``outlier`` has a
        value beyond the whiskers, a row ``printed`` the printed row's error, infinite where no reading makes it a body.
        ``source`` says what the picture was made from.
    """
    rows: list[dict[str, Any]] = []
    ours = estimates[estimates["source"] == source]
    theirs = printed_consistency[printed_consistency["source"] == source]
    for name in OBJECTS[source]:
        for method in METHODS:
            labels = {"object": name, "method": method}
            printed = theirs[(theirs["object"] == name) & (theirs["method"] == method)]
            if len(printed):
                solver = LEAST_SQUARES if method == METHODS[0] else FACTOR_GRAPH
                value, _ = printed_verdict(printed)
                rows.append(labels | {"solver": solver, "kind": PRINTED, "value": value})
            for solver in SOLVERS:
                runs = ours[(ours["object"] == name) & (ours["method"] == method) & (ours["solver"] == solver)]
                if len(runs):
                    rows += [labels | {"solver": solver} | row for row in _statistics(runs)]
    label = f"synthetic data: twin of the paper's recordings, {SOURCE_LABELS[source]}; crosses: the rows printed there"
    return pd.DataFrame(rows, columns=list(COLUMNS)).assign(source=label)


def _statistics(runs: pd.DataFrame) -> list[dict[str, Any]]:
    done = runs[is_true(runs["converged"])]
    errors = done["geodesic_error"].to_numpy(dtype=float)
    finite = errors[np.isfinite(errors)]
    counts = {"runs": len(runs), "unphysical": len(done) - len(finite), "not_converged": len(runs) - len(done)}
    if not len(finite):
        return [{"kind": BOX} | counts]
    box = boxplot_stats(finite, whis=_WHISKERS)[0]
    statistics = {
        "q25": box["q1"], "median": box["med"], "q75": box["q3"], "whisker_low": box["whislo"],
        "whisker_high": box["whishi"],
    }  # fmt: skip
    return [{"kind": BOX} | statistics | counts] + [{"kind": OUTLIER, "value": value} for value in box["fliers"]]
