"""Which printed numbers of section 6.1 a run answers to: table 1, the body, and the friction from which it rolls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from contactid.checks import Key, Reproduced

# what section 6.1 prints of its throw
_PRINTED: dict[str, Any] = {"position": [0, 0.1, -0.785], "velocity": [3, -5, 0], "restitution_e_n": 0.2}
_BODY = {"semi_axes": [0.05, 0.025], "mass": 0.064, "inertia": 4.84e-5}
_LEAST_FPS = 120.0  # below, friction is identified too roughly to say where the body rolls
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
        known = f"standard error {error:.2g} %" if limit < 0.5 else f"not determined in {limit:.0%} of the samples"
        condition = f"friction_mu={row['mu']:g};fps={row['fps']:g}"
        note = (
            f"median of {row['n_converged']} of {row['n_seeds']} noise samples, the paper has one; median magnitude "
            f"{row['error_abs_median_pct']:.2g} %, {known}"
        )
        numbers["tab01", "inertia_ratio_error_pct", condition] = _number(
            row["error_median_pct"], printed, note, is_error=True
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


def _number(value: float, printed: bool, note: str, *, is_error: bool = False) -> Reproduced:
    return Reproduced(
        float(value), comparable=printed, note=note if printed else f"{_OTHER_THROW}; {note}", is_error=is_error
    )
