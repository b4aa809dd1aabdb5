"""Table II of the arm paper as printed, and what of it can't be right.

Four things in it contradict each other or the paper's text. They are found by rules, not listed,
and every correction of a cell comes with its reason:

* a set whose rows labelled 30 deg fall steeper than those labelled 60 deg has these labels
  exchanged;
* of two rows of a set with the same eight numbers, the one whose speed is farther from its label is
  a copy: what belongs there is unknown, so its cells become empty;
* an error ``eta`` that isn't the difference of the two velocities beside it, to the printed digits,
  becomes that difference (rounding of unrounded numbers could explain it, too);
* rows of the two sets with the same velocity before the impact are pointed out, but nothing is
  changed.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from contactid.arm.rigid.postures import direction_deg
from contactid.core.errors import ContactIdError

LABELS = ("dataset", "velocity_m_s", "angle_deg")
CELLS = (
    "vz_minus", "vz_plus_map", "vz_plus_fit", "eta_z", "vx_minus", "vx_plus_map", "vx_plus_fit", "eta_x",
)  # fmt: skip
_DIGITS = 3  # decimals that the table prints
_FLAT, _STEEP = 30, 60  # deg, the labels that look exchanged


def printed_table(published: pd.DataFrame) -> pd.DataFrame:
    """Table II from ``published/arm.csv``: columns :data:`LABELS`, :data:`CELLS`; velocities in
    m/s.

    Raises
    ------
    ContactIdError
        Where a row lacks a cell.
    """
    rows = published[(published["artefact"] == "tab02") & published["quantity"].isin(CELLS)]
    wide = rows.pivot_table(
        index="condition", columns="quantity", values="value", aggfunc="first", sort=False
    )
    missing = [name for name in CELLS if name not in wide or wide[name].isna().any()]
    if wide.empty or missing:
        raise ContactIdError(
            f"the published Table II lacks {', '.join(missing) or 'all rows'}",
            "Restore published/arm.csv",
        )
    labels = wide.index.str.extract("dataset=(.+);velocity_m_s=(.+);angle_deg=(.+)").set_axis(
        list(LABELS), axis=1
    )
    labels = labels.astype({"dataset": int, "velocity_m_s": float, "angle_deg": int})
    table = pd.concat([labels, wide[list(CELLS)].reset_index(drop=True)], axis=1)
    return table.sort_values(list(LABELS), kind="stable", ignore_index=True)


def row_condition(row: dict) -> str:
    """The condition of a row's cells in ``published/arm.csv``."""
    return f"dataset={row['dataset']};velocity_m_s={row['velocity_m_s']:g};angle_deg={row['angle_deg']}"


def corrected_table(printed: pd.DataFrame) -> pd.DataFrame:
    """What a printed table should say: ``direction_deg``, ``<column>_corrected`` of angle and
    cells, and the reason.

    ``direction_deg`` is the printed v-'s own angle against the table; a row without correction
    repeats what is printed.
    """
    found = pd.DataFrame({"direction_deg": direction_deg(printed["vx_minus"], printed["vz_minus"])})
    for name in ("angle_deg", *CELLS):
        found[f"{name}_corrected"] = printed[name].astype(float).to_numpy()
    reasons: list[list[str]] = [[] for _ in range(len(printed))]
    _exchange_labels(printed, found, reasons)
    _shared_velocities(printed, reasons)
    _mend_errors(printed, found, reasons)
    _empty_copies(printed, found, reasons)
    found["correction_reason"] = ["; ".join(parts) for parts in reasons]
    return found


def original_rows(printed: pd.DataFrame) -> np.ndarray:
    """(rows,) the row of the same set with the same numbers whose label they fit best; most often
    the row itself.
    """
    original = np.arange(len(printed))
    speed = np.hypot(printed["vx_minus"].to_numpy(), printed["vz_minus"].to_numpy())
    off = np.abs(speed - printed["velocity_m_s"].to_numpy())
    # rows with the same eight numbers in one set
    for _, rows in printed.groupby(["dataset", *CELLS]).groups.items():
        # the label that the speed fits best is the original's
        original[rows] = min(rows, key=lambda k: off[k])
    return original


def copied_rows(printed: pd.DataFrame) -> np.ndarray:
    """(rows,) whether a row's numbers are another row's of the same set, with a label that they fit
    worse.
    """
    return original_rows(printed) != np.arange(len(printed))


def printed_statistics(printed: pd.DataFrame) -> tuple[float, float]:
    """Mean of the printed ``eta_x`` (mm/s) and mean relative error (%) of the printed velocities
    (section V).
    """
    relative = sliding_errors(printed["vx_plus_map"].to_numpy(), printed["vx_plus_fit"].to_numpy())[
        1
    ]
    return 1e3 * float(printed["eta_x"].mean()), relative


def relative_error(a: np.ndarray | float, b: np.ndarray | float) -> np.ndarray:
    """``2 |a - b| / |a + b|``, as the paper defines it; NaN where both are zero."""
    with np.errstate(invalid="ignore"):
        return 2.0 * np.abs(np.subtract(a, b)) / np.abs(np.add(a, b))


def sliding_errors(predicted: np.ndarray, measured: np.ndarray) -> tuple[float, float]:
    """Means of ``|a - b|`` in mm/s and of :func:`relative_error` in %, for velocities (k,) in m/s."""
    off = np.abs(predicted - measured)
    return 1e3 * float(off.mean()), 100.0 * float(relative_error(predicted, measured).mean())


def _exchange_labels(printed: pd.DataFrame, found: pd.DataFrame, reasons: list[list[str]]) -> None:
    for dataset, rows in printed.groupby("dataset").groups.items():
        label = printed.loc[rows, "angle_deg"]
        mean = {
            angle: float(found.loc[label.index[label == angle], "direction_deg"].mean())
            for angle in (_FLAT, _STEEP)
        }
        # rows labelled flat must fall flatter
        if not mean[_FLAT] > mean[_STEEP]:
            continue
        for k in label.index[label.isin([_FLAT, _STEEP])]:
            found.loc[k, "angle_deg_corrected"] = _FLAT + _STEEP - printed.loc[k, "angle_deg"]
            reasons[k].append(
                f"angle: set {dataset} has labels {_FLAT} and {_STEEP} exchanged, as v- of its rows falls at"
                f" {mean[_FLAT]:.0f} and {mean[_STEEP]:.0f} deg on average"
            )


def _shared_velocities(printed: pd.DataFrame, reasons: list[list[str]]) -> None:
    for _, rows in printed.groupby(["vx_minus", "vz_minus"]).groups.items():
        sets = {int(printed.loc[k, "dataset"]) for k in rows}
        if len(sets) > 1:
            for k in rows:
                reasons[k].append(
                    "v- (unchanged): the same in both sets, which repeated recordings rarely are"
                )


def _mend_errors(printed: pd.DataFrame, found: pd.DataFrame, reasons: list[list[str]]) -> None:
    for axis in ("x", "z"):
        difference = (
            (printed[f"v{axis}_plus_map"] - printed[f"v{axis}_plus_fit"]).abs().round(_DIGITS)
        )
        # beyond half a unit of the last digit
        wrong = (difference - printed[f"eta_{axis}"]).abs() > 0.5 * 10.0**-_DIGITS
        for k in np.flatnonzero(wrong).tolist():
            was, now = float(printed[f"eta_{axis}"].iloc[k]), float(difference.iloc[k])
            found.loc[k, f"eta_{axis}_corrected"] = now
            reasons[k].append(
                f"eta_{axis}: printed {was:.3f}, but the printed velocities differ by {now:.3f}"
            )


def _empty_copies(printed: pd.DataFrame, found: pd.DataFrame, reasons: list[list[str]]) -> None:
    for k in np.flatnonzero(copied_rows(printed)).tolist():
        found.loc[k, [f"{name}_corrected" for name in CELLS]] = np.nan
        found.loc[k, "direction_deg"] = np.nan
        speed = float(np.hypot(printed["vx_minus"].iloc[k], printed["vz_minus"].iloc[k]))
        reasons[k].append(
            f"all velocities: a copy of another row of the set; their speed of {speed:.3f} m/s isn't this row's"
        )
