"""What figure 6 and the figure of the reconstruction's accuracy show, as tidy tables."""

from __future__ import annotations

import numpy as np
import pandas as pd

from contactid.arm.fit_tables import COMPONENTS, Label
from contactid.arm.identify.accuracy import CLEAN, DETECTED
from contactid.arm.identify.reconstruction import ExperimentFit

_BEFORE = 0.02  # s shown before the impact
_POINTS = 200


def cartesian_fit(label: Label, fit: ExperimentFit, method: str, source: str) -> pd.DataFrame:
    """Curves of one experiment in figure 6.

    ``experiment, nominal_angle_deg, component, series, t_s, v_m_s, source``; series ``measured``, ``fit``, ``affine``
    (the rigid response under the fit) and ``map`` (one point), time since the impact.
    """
    shown = fit.motion.mid_time - fit.state.time
    inside = (shown >= -_BEFORE) & (shown <= fit.window.time[-1])
    time = np.linspace(0.0, fit.window.time[-1], _POINTS)
    parts = []
    for k, component in enumerate(COMPONENTS):
        curves = {"measured": (shown[inside], fit.motion.velocity[inside, k])}
        if method in fit.fits:
            modal = fit.fits[method][k]
            curves |= {"fit": (time, modal.evaluate(time)), "affine": (time, modal.affine(time))}
        curves["map"] = (np.zeros(1), fit.map_velocity[k : k + 1])
        parts += [
            pd.DataFrame(
                {
                    "experiment": label.experiment,
                    "nominal_angle_deg": label.nominal_angle_deg,
                    "component": component,
                    "series": name,
                    "t_s": t,
                    "v_m_s": v,
                    "source": source,
                }
            )
            for name, (t, v) in curves.items()
        ]
    return pd.concat(parts, ignore_index=True)


def accuracy_points(rows: pd.DataFrame, references: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """Quantiles of the errors by method and component at the detected impact time, with the intervals' coverage.

    ``method, component, reference, q025, q25, q50, q75, q975`` (mm/s) ``, coverage``; references ``map`` and
    ``noise_free``.
    """
    clean = rows[rows["sample"] == CLEAN].rename(columns={"v_plus": "noise_free"})
    known = clean[["experiment", "method", "component", "noise_free"]].merge(references, on=["experiment", "component"])
    noisy = rows[(rows["sample"] != CLEAN) & (rows["timing"] == DETECTED)]
    noisy = noisy.merge(known, on=["experiment", "method", "component"]).dropna(subset=["v_plus"])
    covered = table[table["timing"] == DETECTED]
    points = []
    for (method, component), part in noisy.groupby(["method", "component"], sort=False):
        row = covered[(covered["method"] == method) & (covered["component"] == component)].iloc[0]
        for reference in ("map", "bent", "noise_free"):
            quantiles = 1e3 * (part["v_plus"] - part[reference]).quantile([0.025, 0.25, 0.5, 0.75, 0.975]).to_numpy()
            points.append(
                {
                    "method": method, "component": component, "reference": reference,
                    **dict(zip(("q025", "q25", "q50", "q75", "q975"), quantiles, strict=True)),
                    "coverage": row[f"coverage_{reference}"],
                    "samples": len(part),
                }
            )  # fmt: skip
    return pd.DataFrame(points)
