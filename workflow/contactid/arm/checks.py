"""Which of the arm paper's printed numbers a run answers to, what ours rest on, and why others
can't be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from contactid.arm.artefacts.impact_table import COUNT, OURS, OURS_Z, SPREAD
from contactid.arm.artefacts.left_out import DESCRIBED, HALF_DIGIT
from contactid.arm.artefacts.postures import PER_ANGLE, PER_SET_AND_ANGLE, groups
from contactid.arm.claims import of_the_paper
from contactid.arm.rigid import printed_table as table_ii
from contactid.arm.rigid.postures import direction_deg
from contactid.arm.simulate.two_mass import FLEXIBLE
from contactid.output.comparison import Key, Reproduced, Tolerance, compare
from contactid.output.statements import judge_statements
from contactid.output.tables import read_csv, write_csv
from contactid.output.verdicts import INPUT, NOT_DONE, PREDICTED, PRINT, Lack
from contactid.sources.origin import SYNTHETIC, Origin, read_origins

Tables = Mapping[str, pd.DataFrame]
Numbers = dict[Key, Reproduced]

_MEASURED = ("vx_minus", "vz_minus", "vx_plus_fit", "vz_plus_fit")
_MEANS = {"mean_abs_error_mm_s": "mm/s", "mean_relative_error_pct": "%"}
# the paper's recordings behind an artefact's numbers
_RECORDED = {
    "tab02": "impacts of Table II",
    "fig02": "recording of figure 2",
    "text": "recordings of section V",
}
# eta and both velocities are rounded, 1.5 mm/s together, of which multiples of 1 mm/s leave 1 mm/s
_ETA = Tolerance(
    2.0 * HALF_DIGIT, "rounding of the printed error and of the velocities that it is made of"
)
_POSTURE = "rounding of the row and of the rows that its posture is fitted to"


def check(
    published: str, links: str, cards: Sequence[str], ledger: str, own_impacts: str, tables: Sequence[str],
    names: Sequence[str], window: float, checks: str,
) -> None:  # fmt: skip
    """Write the verdicts on printed numbers and statements.

    ``cards`` are the datasets', the recordings' first; ``tables`` are the study's tables and
    figures' data, and ``names`` theirs; ``links`` the link table of the run's robot; ``window``, s,
    is what recordings' fits use; ``own_impacts`` has arms that another simulator made.
    """
    by_name = {name: read_csv(table) for name, table in zip(names, tables, strict=True)}
    printed, origins = read_csv(published), read_origins(cards)
    data, origin = next(iter(origins.items()))
    numbers = inputs(by_name["tab01_parameters"], read_csv(links), window)
    numbers |= reproduced_numbers(by_name, data, origin, window)
    # own_impacts: their postures meet Table II's predictions
    origins["mujoco_arms"] = Origin(False, SYNTHETIC, ("tab02/vx_plus_map/*",))
    rows_of_table_ii = table_ii.printed_table(printed)
    by_name["printed_tab02"] = rows_of_table_ii.assign(
        copied=table_ii.copied_rows(rows_of_table_ii),
        angle_deg_corrected=table_ii.corrected_table(rows_of_table_ii)["angle_deg_corrected"],
    )
    by_name["own_impacts"] = read_csv(own_impacts)
    named = {"data": data, "origins": origins}
    statements = judge_statements("arm", ledger, by_name, named, origins)
    rows = [compare("arm", printed, numbers, {}, origins), statements]
    write_csv(pd.concat(rows, ignore_index=True), checks)


def inputs(parameters: pd.DataFrame, links: pd.DataFrame, window: float) -> Numbers:
    """What the run starts from: Table I, the robot's links and the window of the fits, s."""
    used = {
        ("tab01", name, ""): value for name, value in parameters[["parameter", "used"]].to_numpy()
    }
    of_links = (
        links.set_index("link")
        .select_dtypes("number")
        .melt(ignore_index=False)
        .dropna()
        .reset_index()
    )
    used |= {("links", name, f"link={link}"): value for link, name, value in of_links.to_numpy()}
    used["text", "fitting_window_ms", ""] = 1e3 * window
    return {key: Reproduced(float(value), INPUT) for key, value in used.items()}


def reproduced_numbers(tables: Tables, data: str, origin: Origin, window: float) -> Numbers:
    """Our numbers by (artefact, quantity, condition); ``data`` and ``origin``: the recordings'
    dataset.
    """
    table = tables["tab02_impact_map"]
    printed = table[table["posture_rule"] == PER_ANGLE].reset_index(drop=True)
    d_rob = tables["tab01_parameters"].set_index("parameter")["used"]["d_rob"]
    numbers = _left_out(tables["ext_left_out"]) | _of_print(printed)
    numbers |= _settling(tables["ext_damping_sweep"], d_rob)
    measured = _of_rows(printed, data, _MEASURED)
    measured |= _of_recordings(tables["ext_fit"], tables["fig02_joint_velocities"], data, window)
    if (
        origin.of_the_paper
    ):  # then the paper's own test is made: the map at the measured posture against the fits
        measured |= _of_rows(printed, data, ("vx_plus_map", "vz_plus_map"))
        errors = _of_rows(printed, data, ("eta_x", "eta_z"))
        measured |= {
            key: replace(ours, signed=False, is_error=True) for key, ours in errors.items()
        }
    numbers |= {key: _with_lack(key, ours, origin) for key, ours in measured.items()}
    # a copied row of Table II repeats the original's numbers
    conditions = [table_ii.row_condition(row) for row in printed.to_dict("records")]
    original = table_ii.original_rows(printed)
    for (artefact, name, condition), ours in numbers.items():
        if artefact == "tab02" and (row := conditions.index(condition)) != original[row]:
            numbers[artefact, name, condition] = replace(ours, repeats=conditions[original[row]])
    return numbers


def _with_lack(key: Key, ours: Reproduced, origin: Origin) -> Reproduced:
    """A number from recordings, with what is missing for a comparison: the paper's own, or the
    number.
    """
    words = f"{key[1]} of the {_RECORDED[key[0]]}"
    if np.isnan(ours.value):
        ours = replace(
            ours, lack=Lack(NOT_DONE, f"{words}, which this run doesn't compute from {ours.data}")
        )
    return of_the_paper(ours, origin, words)


def _left_out(table: pd.DataFrame) -> Numbers:
    """Predicted velocities: x from the other rows of the group, z by the law itself.

    Arms of random inertia are wrong answers to both. The other rows' mean is one to x, and z is the
    law's, of which the mean of other zeros is no other answer.
    """
    numbers: Numbers = {}
    for _, rows in table.groupby(list(table_ii.LABELS), sort=False):
        ours = rows[rows["robot"] == DESCRIBED].iloc[0]
        others = rows[rows["robot"] != DESCRIBED].set_index("robot")
        condition = table_ii.row_condition(ours.to_dict())
        numbers["tab02", "vx_plus_map", condition] = Reproduced(
            float(ours[OURS]), PREDICTED, tolerance=Tolerance(ours["rounding_m_s"], _POSTURE), signed=True,
            naive={"mean_of_others": ours["mean_of_others"], **dict(others[OURS])},
            note=f"by one scalar r = {ours['ratio_others']:.3f} from {ours['others']} other rows of the set and angle",
        )  # fmt: skip
        numbers["tab02", "vz_plus_map", condition] = Reproduced(
            float(ours[OURS_Z]),
            naive=dict(others[OURS_Z]),
            note="by eq. 5, whose impact law is v_z+ = 0 for any arm",
        )
    return numbers


def _of_print(printed: pd.DataFrame) -> Numbers:
    """Arithmetic on Table II: the errors, section V's means of them, and sizes and directions of
    v-.
    """
    numbers: Numbers = {}
    for row in printed.to_dict("records"):
        for axis in ("x", "z"):
            error = abs(row[f"v{axis}_plus_map"] - row[f"v{axis}_plus_fit"])
            ours = Reproduced(
                error, PRINT, tolerance=_ETA, note="of the printed velocities, each rounded"
            )
            numbers["tab02", f"eta_{axis}", table_ii.row_condition(row)] = ours
    once = printed[~table_ii.copied_rows(printed)]
    corrected = table_ii.sliding_errors(
        once["vx_plus_map"].to_numpy(), once["vx_plus_fit"].to_numpy()
    )
    means = zip(_MEANS.items(), table_ii.printed_statistics(printed), corrected, strict=True)
    for (name, unit), value, without in means:
        note = f"x only; {without:.2f} {unit} from the printed velocities without the copied row"
        ours = Reproduced(value, PRINT, is_error=True, note=note)
        numbers["text", name, "experiments=18;from=printed_table"] = ours
    numbers["text", "experiments", ""] = Reproduced(
        float(len(once)), PRINT, note="rows that aren't copies"
    )
    v_x, v_z = printed["vx_minus"].to_numpy(), printed["vz_minus"].to_numpy()
    for name, values in (("speed_m_s", np.hypot(v_x, v_z)), ("angle_deg", direction_deg(v_x, v_z))):
        for which, value in (("least", values.min()), ("largest", values.max())):
            numbers["text", f"impact_{name}", which] = Reproduced(
                float(value), PRINT, note="of the printed v-"
            )
    return numbers


def _settling(sweep: pd.DataFrame, d_rob: float) -> Numbers:
    """How long figure 4's v2 takes to the rigid velocity; other dampings of the coupling are wrong
    answers.
    """
    settling = (
        sweep[sweep["model"] == FLEXIBLE].drop_duplicates("d_rob").set_index("d_rob")["settling_ms"]
    )
    if d_rob not in settling:
        return {}
    naive = {f"d_rob={other:g}": value for other, value in settling.drop(d_rob).dropna().items()}
    note = "until the velocity of m2 stays within 2 % of the rigid one"
    ours = Reproduced(float(settling[d_rob]), naive=naive, note=note)
    return {("fig04", "convergence_to_rigid_ms", "model=B;mass=m2"): ours}


def _of_rows(printed: pd.DataFrame, data: str, names: Sequence[str]) -> Numbers:
    """Cells of Table II from the recordings that belong to its rows: the median of several, and how
    they scatter.
    """
    original, copied = table_ii.original_rows(printed), table_ii.copied_rows(printed)
    numbers: Numbers = {}
    for _, _, rows in groups(printed, PER_SET_AND_ANGLE):
        for k in rows:
            row = printed.iloc[k].to_dict()
            others = printed.iloc[rows[~copied[rows] & (rows != original[k])]]
            for name in names:
                note = f"median of {row[COUNT]} recordings with the nearest v-, +-{row[SPREAD + name]:.4f} m/s"
                numbers["tab02", name, table_ii.row_condition(row)] = Reproduced(
                    float(row[f"twin_{name}"]), data=data, signed=True, naive={"mean_of_others": others[name].mean()},
                    note=note if row[COUNT] > 1 else "the recording with the nearest v-" if row[COUNT] else "",
                )  # fmt: skip
    return numbers


def _of_recordings(fits: pd.DataFrame, shown: pd.DataFrame, data: str, window: float) -> Numbers:
    """Section V and figure 2 from the recordings: mean errors, periods of the window, when the
    impact is.
    """
    known = fits[["vx_plus_map", "vx_plus_fit"]].dropna().to_numpy()
    means = table_ii.sliding_errors(*known.T) if len(known) else (np.nan, np.nan)
    note = f"x only, {len(known)} recordings"
    numbers: Numbers = {
        ("text", name, "experiments=18;from=recordings"): Reproduced(
            mean, data=data, is_error=True, note=note
        )
        for name, mean in zip(_MEANS, means, strict=True)
    }
    periods = window * float(fits["frequency_hz"].median())
    impact = float(shown["impact_time_s"].iloc[0])
    numbers["text", "window_periods", ""] = Reproduced(
        periods, data=data, note="median frequency of the fits"
    )
    numbers["fig02", "impact_time_s", ""] = Reproduced(
        impact, data=data, note="of the recording shown"
    )
    numbers["fig02", "vibration_ms", ""] = Reproduced(np.nan, data=data)
    return numbers
