"""Data of figure 6: box plots of the estimated friction and of its error by case, beside the slope method."""

from __future__ import annotations

import pandas as pd
from matplotlib.cbook import boxplot_stats

SOURCE = "synthetic data: simulated fingertip; coefficients and warping chosen; contactid inhand"
PANELS = {"friction": "friction_mu", "error": "error"}
_LIMITS = ["q25", "median", "q75", "low", "high"]


def friction_figure(trials: pd.DataFrame, slope: pd.DataFrame) -> pd.DataFrame:
    """Rows of figure 6: kind ``box`` (paper's convention: whiskers at the last value within 1.5 interquartile ranges),
    ``outlier`` (its ``median`` is the value) and ``slope`` (mean as ``median``, extremes as ``low`` and ``high``).

    Parameters
    ----------
    trials, slope
        Of :func:`contactid.inhand.friction_files.simulate_and_estimate`.
    """
    rows: list[dict[str, object]] = []
    for (name, region), part in trials.groupby(["object", "region"], sort=False):
        label = {"object": name, "region": region, "warped": bool(part["warped"].iloc[0])}
        found = part[part["slipped"]]
        for panel, column in PANELS.items():
            rows += [label | {"panel": panel} | one for one in _box(found[column])]
        measured = slope.loc[(slope["object"] == name) & (slope["region"] == region), "friction_mu"]
        level = {"kind": "slope", "median": measured.mean(), "low": measured.min(), "high": measured.max()}
        rows.append(label | {"panel": "friction"} | level)
    columns = ["panel", "object", "region", "warped", "kind", *_LIMITS, "n", "source"]
    return pd.DataFrame(rows).assign(source=SOURCE).reindex(columns=columns)


def _box(values: pd.Series) -> list[dict[str, object]]:
    if values.empty:  # no trial slipped: the place in the figure stays empty
        return [{"kind": "box", "n": 0}]
    found = boxplot_stats(values.to_numpy())[0]
    limits = {"q25": found["q1"], "median": found["med"], "q75": found["q3"], "low": found["whislo"]}
    box = {"kind": "box", "n": len(values), "high": found["whishi"], **limits}
    return [box, *({"kind": "outlier", "median": value} for value in found["fliers"])]
