"""Tables of the velocity-based identification."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

_COLUMNS = [
    "dataset", "object", "scheme", "calibrated", "n_recordings", "n_candidates", "n_impacts", "impacts_per_toss",
    "friction_mu", "friction_mu_low", "friction_mu_high", "restitution_e_n", "restitution_e_n_low",
    "restitution_e_n_high", "identification_loss", "test_loss", "sem_test_loss", "n_test_impacts",
    "best_per_impact_loss", "loss_without_contact", "friction_flat_from", "converged", "data",
]  # fmt: skip


def velocity_row(
    fit: dict[str, Any], candidates: pd.DataFrame, losses: pd.DataFrame, *, n_tosses: int
) -> dict[str, Any]:
    """One row of ``ext_velocity_identification``; losses are eq. 17's in m/s."""
    test = losses.loc[losses["split"] == "test", "loss"]
    kept = int(candidates["kept"].sum())
    intervals = fit["intervals"]
    return {
        "scheme": fit["variant"],
        "n_recordings": n_tosses,
        "n_candidates": len(candidates),
        "n_impacts": kept,
        "impacts_per_toss": kept / n_tosses,
        **fit["parameters"],
        **{f"{name}_{side}": intervals[name][k] for name in intervals for k, side in enumerate(("low", "high"))},
        "identification_loss": fit["objective"],
        "test_loss": float(test.mean()) if len(test) else np.nan,
        "sem_test_loss": float(test.std(ddof=1) / np.sqrt(len(test))) if len(test) > 1 else np.nan,
        "n_test_impacts": len(test),
        "best_per_impact_loss": fit["best_per_impact"],
        "loss_without_contact": fit["no_impact"],
        "friction_flat_from": np.nan if fit["friction_flat_from"] is None else fit["friction_flat_from"],
        "converged": fit["converged"],
    }


def ordered(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    """The rows with their columns in a fixed order."""
    return pd.DataFrame(rows)[_COLUMNS]
