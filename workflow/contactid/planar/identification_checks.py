"""Which printed numbers of section 6.1 a run answers to: table 1, the body, and the friction from which it rolls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.comparison import Key, Reproduced, Tolerance

# what section 6.1 prints of its throw
_PRINTED: dict[str, Any] = {"position": [0, 0.1, -0.785], "velocity": [3, -5, 0], "restitution_e_n": 0.2}
_BODY = {"semi_axes": [0.05, 0.025], "mass": 0.064, "inertia": 4.84e-5}
_LEAST_FPS = 120.0  # below, friction is identified too roughly to say where the body rolls
_ROUNDING = 0.5  # %, of the printed errors
_DEVIATIONS = 2.0
_ENOUGH_SAMPLES = 5  # for quartiles
_QUARTILES = 1.349  # standard deviations between a normal distribution's quartiles
_UNDETERMINED = 0.5  # share of samples whose ratio runs to its limit
_OTHER_THROW = "the configuration's throw isn't the paper's"


def is_printed_throw(block: Mapping[str, Any]) -> bool:
    """Whether the configuration identifies the throw that the paper prints."""
    options = block["identification"]
    return (
        dict(block["bodies"][options["body"]]) == _BODY
        and all(options[key] == value for key, value in _PRINTED.items())
        and options["ground"]["slope"] == 0
        and options["ground"]["start"] == [0, 0]
        and block["gravity"] == 9.81
    )


def identification_numbers(errors: pd.DataFrame, block: Mapping[str, Any]) -> dict[Key, Reproduced]:
    """Our numbers of section 6.1 by (artefact, quantity, condition).

    Parameters
    ----------
    errors
        ``tab01_inertia_ratio_error``; the configuration's first reading of the noise is compared.
    block
        The study's block of the configuration.
    """
    printed = is_printed_throw(block)
    first = errors[errors["noise_model"] == next(iter(block["identification"]["noise"]))]
    numbers: dict[Key, Reproduced] = {}
    for row in first.to_dict("records"):
        error, limit = row["inertia_ratio_se_median_pct"], row["ratio_is_limit_share"]
        known = (
            f"standard error {error:.2g} %"
            if limit < _UNDETERMINED
            else f"not determined in {limit:.0%} of the samples"
        )
        condition = f"friction_mu={row['mu']:g};fps={row['fps']:g}"
        note = (
            f"median of {row['n_converged']} of {row['n_seeds']} noise samples, the paper has one; median magnitude "
            f"{row['error_abs_median_pct']:.2g} %, {known}"
        )
        numbers["tab01", "inertia_ratio_error_pct", condition] = _number(
            row["error_median_pct"], printed, note, _spread(row), is_error=True
        )
    body = block["bodies"][block["identification"]["body"]]
    numbers["text", "true_inertia_ratio_mm2", "body=plywood_ellipse"] = _number(
        1e6 * body["inertia"] / body["mass"], printed, "stated inertia by stated mass"
    )
    rolling = first[(first["mu_is_bound_share"] > 0.5) & (first["fps"] >= _LEAST_FPS)]
    if len(rolling):
        note = f"least friction that explains the motion, median of {len(rolling)} cells in which nothing slides"
        numbers["text", "rolling_friction_mu", "section=6.1;restitution_e_n=0.2"] = _number(
            rolling["mu_median"].median(), printed, note
        )
    return numbers


def _spread(row: Mapping[Any, Any]) -> Tolerance | None:
    """Within which one noise sample (theirs) and a median of some (ours) lie in 19 of 20 cases; None where unknown.

    The standard deviation of one sample is that of our samples, from their quartiles, or where they are few the
    standard error of the fit. A median of n has the variance pi / (2 n) of one sample's.
    """
    n = int(row["n_converged"])
    if n >= _ENOUGH_SAMPLES:
        deviation, source = (row["error_q75_pct"] - row["error_q25_pct"]) / _QUARTILES, f"spread over {n} samples"
    else:
        deviation, source = row["inertia_ratio_se_median_pct"], "standard error"
    if n == 0 or not np.isfinite(deviation) or row["ratio_is_limit_share"] >= _UNDETERMINED:
        return None
    of_difference = float(deviation) * np.sqrt(1.0 + min(1.0, np.pi / (2.0 * n)))
    return Tolerance(
        _ROUNDING + _DEVIATIONS * of_difference,
        f"rounding of the printed number, and {_DEVIATIONS:g} standard deviations of the difference of one noise "
        f"sample and the median of {n}, by our {source}",
    )


def _number(
    value: float, printed: bool, note: str, tolerance: Tolerance | None = None, *, is_error: bool = False
) -> Reproduced:
    note = note if printed else f"{_OTHER_THROW}; {note}"
    return Reproduced(float(value), tolerance, comparable=printed, note=note, is_error=is_error)
