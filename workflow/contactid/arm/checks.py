"""Which of the arm paper's printed numbers a run answers to, and why the others can't be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from contactid.arm.artefacts.impact_table import OURS, OURS_Z
from contactid.arm.artefacts.postures import PER_ANGLE, PER_SET_AND_ANGLE
from contactid.arm.rigid.postures import nearest_direction
from contactid.arm.rigid.printed_table import CELLS, copied_rows, printed_statistics, row_condition, sliding_errors
from contactid.output.comparison import Key, Reproduced, Tolerance, compare
from contactid.output.tables import read_csv, write_csv

Tables = Mapping[str, pd.DataFrame]
REASONS = {
    "": "not reproduced by this run",
    "tab02": "measured; the recordings (10.4121/14192429) aren't part of this run",
}
_HALF_DIGIT = 0.0005  # m/s, of the printed velocities
# eta and both velocities are rounded, 1.5 mm/s together, of which multiples of 1 mm/s leave 1 mm/s
_ETA_TOLERANCE = Tolerance(2.0 * _HALF_DIGIT, "rounding of the printed error and of the velocities that it is made of")
_SYNTHETIC = "from synthetic recordings, which stand in for 10.4121/14192429"
_ALL = "experiments=18"
_PRINTED_D_ROB = 80.0  # N s/m, Table I
_MEANS = {"mean_abs_error_mm_s": "mm/s", "mean_relative_error_pct": "%"}


def check(
    published: str, links: str, tables: Sequence[str], names: Sequence[str], synthetic: bool, window: float, checks: str
) -> None:
    """Write the verdicts on the printed numbers, from the study's ``tables`` that they rest on and their ``names``."""
    by_name = {name: read_csv(table) for name, table in zip(names, tables, strict=True)}
    numbers = reproduced_numbers(by_name, read_csv(links), synthetic=synthetic, window=window)
    write_csv(compare("arm", read_csv(published), numbers, REASONS), checks)


def reproduced_numbers(tables: Tables, links: pd.DataFrame, *, synthetic: bool, window: float) -> dict[Key, Reproduced]:
    """Our numbers by (artefact, quantity, condition) of ``published/arm.csv``.

    ``tables`` are ``tab01_parameters``, ``tab02_impact_map``, ``ext_fit`` and ``ext_damping_sweep``, ``links`` the link
    table that the run's robot is built from; ``synthetic``: the recordings behind the columns ``twin_*`` are;
    ``window``, s, is what the recordings' fits use.
    """
    table = tables["tab02_impact_map"]
    numbers = _impact_map(table) | _errors(table) | _measured(table, synthetic) | _claims(table, synthetic)
    numbers |= _links(links) | _parameters(tables["tab01_parameters"]) | _convergence(tables["ext_damping_sweep"])
    return numbers | _window(window, tables["ext_fit"], synthetic)


def _parameters(table: pd.DataFrame) -> dict[Key, Reproduced]:
    return {
        ("tab01", row["parameter"], ""): Reproduced(float(row["used"]), is_input=True)
        for row in table.to_dict("records")
    }


def _links(table: pd.DataFrame) -> dict[Key, Reproduced]:
    """The robot's link table as used; ``ext_links`` says which tensors can't be true, and what takes their place."""
    numbers: dict[Key, Reproduced] = {}
    for row in table.to_dict("records"):
        for name, value in row.items():
            if isinstance(value, float | int) and np.isfinite(value):
                note = "read from the run's link table"
                numbers["links", str(name), f"link={row['link']}"] = Reproduced(float(value), note=note, is_input=True)
    return numbers


def _convergence(sweep: pd.DataFrame) -> dict[Key, Reproduced]:
    """Section IV: how long the flexible robot takes to move as the rigid one."""
    rows = sweep[(sweep["model"] == "B") & np.isclose(sweep["d_rob"], _PRINTED_D_ROB)]
    if rows.empty:
        return {}
    row = rows.iloc[0]
    note = (
        f"until the velocity of m2 stays within 2 % of the rigid one; {row['departure_100ms_pct']:.1f} % off at most"
        " after 100 ms"
    )
    return {("text", "convergence_to_rigid_ms", "model=B;mass=m2"): Reproduced(float(row["settling_ms"]), note=note)}


def _window(window: float, fits: pd.DataFrame, synthetic: bool) -> dict[Key, Reproduced]:
    """Section V: the fit's window, and how many oscillations it holds."""
    used = Reproduced(1e3 * window, note="chosen in the configuration", is_input=True)
    numbers = {("text", "fitting_window_ms", ""): used}
    if "frequency_hz" in fits and fits["frequency_hz"].notna().any():
        periods = window * float(fits["frequency_hz"].median())
        note = "median frequency of the recordings' fits" + (f"; {_SYNTHETIC}" if synthetic else "")
        numbers["text", "window_periods", ""] = Reproduced(periods, comparable=not synthetic, note=note)
    return numbers


def _impact_map(table: pd.DataFrame) -> dict[Key, Reproduced]:
    """Predicted velocities: x from postures fitted to these very rows, z by the law itself."""
    per_set = table[table["posture_rule"] == PER_SET_AND_ANGLE].reset_index(drop=True)
    per_angle = table[table["posture_rule"] == PER_ANGLE][OURS].to_numpy()
    roundings = _posture_rounding(per_set)
    numbers: dict[Key, Reproduced] = {}
    for row, other, rounding in zip(per_set.to_dict("records"), per_angle, roundings, strict=True):
        note = (
            "one posture per set and angle, fitted to these rows: reproduction, not prediction; one per angle gives"
            f" {other:.4f} m/s"
        )
        condition = row_condition(row)
        tolerance = Tolerance(float(rounding), "rounding of the row and of the rows that its posture is fitted to")
        numbers["tab02", "vx_plus_map", condition] = Reproduced(float(row[OURS]), tolerance, note=note)
        numbers["tab02", "vz_plus_map", condition] = Reproduced(float(row[OURS_Z]), note="by eq. 5 at that posture")
    return numbers


def _posture_rounding(rows: pd.DataFrame) -> np.ndarray:
    """(rows,) how far rounding alone can bring a fitted prediction from the printed one, m/s.

    A printed row obeys ``vx+ = vx- + r |vz-|`` up to ``e = (2 + r) half a digit``. Least squares over a posture's rows
    (copies left out) brings their ``e`` into r, and r brings it back into each row.
    """
    fall = rows["vz_minus"].abs().to_numpy()
    ratio = np.abs(rows[OURS].to_numpy() - rows["vx_minus"].to_numpy()) / fall
    of_row = _HALF_DIGIT * (2.0 + ratio)
    direction = nearest_direction(rows["vx_minus"], rows["vz_minus"])
    dataset, copied = rows["dataset"].to_numpy(), copied_rows(rows)
    found = np.empty(len(rows))
    for k in range(len(rows)):
        used = (dataset == dataset[k]) & (direction == direction[k]) & ~copied
        found[k] = of_row[k] + fall[k] * (fall[used] @ of_row[used]) / (fall[used] @ fall[used])
    return found


def _errors(table: pd.DataFrame) -> dict[Key, Reproduced]:
    """The errors eta, recomputed from the printed velocities beside them."""
    note = "recomputed from the printed velocities, each rounded"
    return {
        ("tab02", f"eta_{axis}", row_condition(row)): Reproduced(
            abs(row[f"v{axis}_plus_map"] - row[f"v{axis}_plus_fit"]), _ETA_TOLERANCE, note=note
        )
        for row in table[table["posture_rule"] == PER_ANGLE].to_dict("records")
        for axis in ("x", "z")
    }


def _measured(table: pd.DataFrame, synthetic: bool) -> dict[Key, Reproduced]:
    """Velocities before the impact and fitted ones, of the recording with the same labels."""
    note = f"{_SYNTHETIC}; matched by set, speed and corrected angle" if synthetic else "matched by the corrected angle"
    numbers: dict[Key, Reproduced] = {}
    for row in table[table["posture_rule"] == PER_ANGLE].to_dict("records"):
        for name in CELLS:
            value = row[f"twin_{name}"]
            if name.endswith(("_minus", "_fit")) and np.isfinite(value):
                key = ("tab02", name, row_condition(row))
                numbers[key] = Reproduced(float(value), comparable=not synthetic, note=note)
    return numbers


def _claims(table: pd.DataFrame, synthetic: bool) -> dict[Key, Reproduced]:
    """Section V's two means, from the printed table and from the recordings at hand."""
    rows = table[table["posture_rule"] == PER_ANGLE].reset_index(drop=True)
    once = rows[~copied_rows(rows)]
    corrected = sliding_errors(once["vx_plus_map"].to_numpy(), once["vx_plus_fit"].to_numpy())
    numbers: dict[Key, Reproduced] = {}
    for (name, unit), value, without in zip(_MEANS.items(), printed_statistics(rows), corrected, strict=True):
        note = f"x only; {without:.2f} {unit} from the printed velocities without the copied row"
        numbers["text", name, f"{_ALL};from=printed_table"] = Reproduced(value, note=note, is_error=True)
    known = rows[np.isfinite(rows["twin_vx_plus_fit"])]
    if len(known):
        found = sliding_errors(known["twin_vx_plus_map"].to_numpy(), known["twin_vx_plus_fit"].to_numpy())
        note = f"x only, {len(known)} recordings" + (f"; {_SYNTHETIC}" if synthetic else "")
        for name, value in zip(_MEANS, found, strict=True):
            ours = Reproduced(value, comparable=not synthetic, note=note, is_error=True)
            numbers["text", name, f"{_ALL};from=recordings"] = ours
    return numbers
