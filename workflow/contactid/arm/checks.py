"""Which of the arm paper's printed numbers a run answers to, what ours rest on, and why others can't be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from contactid.arm import statements
from contactid.arm.artefacts.impact_table import COUNT, OURS, OURS_Z, SPREAD
from contactid.arm.artefacts.left_out import DESCRIBED, HALF_DIGIT
from contactid.arm.artefacts.postures import PER_ANGLE, PER_SET_AND_ANGLE, groups
from contactid.arm.rigid.postures import direction_deg
from contactid.arm.rigid.printed_table import (
    LABELS,
    copied_rows,
    original_rows,
    printed_statistics,
    row_condition,
    sliding_errors,
)
from contactid.arm.simulate.two_mass import COMPARED, EARLY, IMPACT, SEPARATION, TABLE_I
from contactid.output.comparison import INPUT, PREDICTED, PRINT, Key, Reproduced, Tolerance, compare, statement
from contactid.output.tables import read_csv, write_csv
from contactid.sources.origin import SYNTHETIC, Origin, read_origins

Tables = Mapping[str, pd.DataFrame]
_PAPERS = "arm_icra2021, 10.4121/14192429"
# what the paper says of its recordings, by artefact and quantity
_RECORDED = {
    ("tab02", "vz_minus"): "v_z before the impacts of Table II",
    ("tab02", "vz_plus_fit"): "v_z fitted after the impacts of Table II",
    ("tab02", "vx_minus"): "v_x before the impacts of Table II",
    ("tab02", "vx_plus_fit"): "v_x fitted after the impacts of Table II",
    ("fig02", "impact_time_s"): "impact time of figure 2",
    ("fig02", "vibration_ms"): "duration of figure 2's vibration",
    ("fig02", "only_joints_2_4_6"): "joint velocities of figure 2",
    ("fig06", "fits_meet_impact_map"): "velocities of figure 6 after the impacts",
    ("fig06", "lateral_motion_negligible"): "lateral velocities beside those of figure 6",
    ("fig06", "one_mode_dominates"): "vertical velocities of figure 6",
    ("fig06", "response_more_complex_than_one_mode"): "longitudinal velocities of figure 6",
    ("text", "mean_abs_error_mm_s"): "section V's mean absolute error over the recordings",
    ("text", "mean_relative_error_pct"): "section V's mean relative error over the recordings",
    ("text", "window_periods"): "periods of the recorded vibrations",
    ("text", "same_response_with_other_gains"): "impacts under other gains of the controller",
    ("text", "vibration_slower_than_impact"): "durations of the recorded impacts",
    ("text", "parameters_stable_over_the_window"): "fitted parameters of the recordings by window",
    ("text", "higher_modes_at_the_joints"): "modes of the recorded joint velocities",
}  # fmt: skip
# what synthetic recordings answer to as well. Not whether fits meet the map: the twin's truth is that map
_ON_ANY_ARM = {("fig02", "only_joints_2_4_6")}
# eta and both velocities are rounded, 1.5 mm/s together, of which multiples of 1 mm/s leave 1 mm/s
_ETA_TOLERANCE = Tolerance(2.0 * HALF_DIGIT, "rounding of the printed error and of the velocities that it is made of")
_ALL = "experiments=18"
_D_ROB, _D_ENV, _DAMPED = 80.0, 1e8, 1e9  # Table I, and section IV's other contact damping
_SHOWN, _ABOUT = 0.2, 0.025  # m/s, of figure 6, and how far its recordings may be from it
_CHANGE = 0.05  # s, before and after the impact of figure 2
_MEANS = {"mean_abs_error_mm_s": "mm/s", "mean_relative_error_pct": "%"}


def check(
    published: str, links: str, card: str, tables: Sequence[str], names: Sequence[str], window: float, checks: str
) -> None:
    """Write the verdicts on the printed numbers, from the study's ``tables`` and figures' data, and their ``names``."""
    by_name = {name: read_csv(table) for name, table in zip(names, tables, strict=True)}
    printed = read_csv(published)
    [(data, origin)] = read_origins([card]).items()
    numbers = reproduced_numbers(by_name, printed, read_csv(links), data, origin, window)
    write_csv(compare("arm", printed, numbers, {}), checks)


def reproduced_numbers(
    tables: Tables, published: pd.DataFrame, links: pd.DataFrame, data: str, origin: Origin, window: float
) -> dict[Key, Reproduced]:
    """Our numbers by (artefact, quantity, condition) of ``published/arm.csv``.

    ``tables`` are those that rule ``arm_checks`` reads, ``links`` the link table of the run's robot; ``data`` and
    ``origin`` the recordings' dataset and where it comes from; ``window``, s, is what their fits use.
    """
    table = tables["tab02_impact_map"]
    printed = table[table["posture_rule"] == PER_ANGLE].reset_index(drop=True)
    numbers = _parameters(tables["tab01_parameters"]) | _links(links)
    numbers |= _left_out(tables["ext_left_out"]) | _errors(printed) | _contradictions(printed)
    numbers |= _models(tables["ext_damping_sweep"], tables["ext_events"])
    numbers |= _motions(tables["fig04_two_mass"], tables["ext_events"], tables["tab01_parameters"])
    numbers |= _decomposition(tables["fig05_decomposition"])
    numbers["text", "fitting_window_ms", ""] = Reproduced(1e3 * window, INPUT, note="chosen in the configuration")
    measured = _measured(printed, data) | _recordings(tables["ext_fit"], data, window)
    measured |= _joints(tables["fig02_joint_velocities"], data)
    if origin.of_the_paper:  # then the paper's own test is made: the map at the measured posture against the fits
        measured |= _predicted_at_measured_postures(printed, data)
        numbers = {key: ours for key, ours in numbers.items() if key not in measured}
    numbers |= _of_recordings(published, numbers, measured, data, origin)
    return _counted_once(numbers, printed)


def _of_recordings(
    published: pd.DataFrame, others: Mapping[Key, Reproduced], measured: Mapping[Key, Reproduced], data: str,
    origin: Origin,
) -> dict[Key, Reproduced]:  # fmt: skip
    """Numbers from recordings: compared where they are the paper's, and with what is missing where they aren't."""
    found: dict[Key, Reproduced] = {}
    for key in zip(published["artefact"], published["quantity"], published["condition"], strict=True):
        words = _RECORDED.get(key[:2], "recordings of the impacts of Table II" if key in measured else None)
        if words is None or key in others:
            continue
        ours = measured.get(key, Reproduced(np.nan, basis="", data=data))
        may_count = origin.of_the_paper or (origin.told == SYNTHETIC and key[:2] in _ON_ANY_ARM)
        if not may_count:
            note = "; ".join(filter(None, (f"this run reads {data}: {origin.told}", ours.note)))
            ours = replace(ours, missing=f"{words}, measured in {_PAPERS}", note=note)
        elif np.isnan(ours.value):
            ours = replace(ours, missing=f"{words}, which this run doesn't compute from {data}")
        elif not origin.of_the_paper:
            ours = replace(ours, note=f"of a simulated arm, not of the paper's recordings; {ours.note}")
        found[key] = ours
    return found


def _counted_once(numbers: Mapping[Key, Reproduced], printed: pd.DataFrame) -> dict[Key, Reproduced]:
    """The same numbers; those of a copied row of Table II repeat the original's."""
    conditions = [row_condition(row) for row in printed.to_dict("records")]
    original = original_rows(printed)
    first = {conditions[k]: conditions[original[k]] for k in np.flatnonzero(copied_rows(printed))}
    return {
        key: replace(ours, repeats=first[key[2]]) if key[0] == "tab02" and key[2] in first else ours
        for key, ours in numbers.items()
    }


def _parameters(table: pd.DataFrame) -> dict[Key, Reproduced]:
    return {("tab01", row["parameter"], ""): Reproduced(float(row["used"]), INPUT) for row in table.to_dict("records")}


def _links(table: pd.DataFrame) -> dict[Key, Reproduced]:
    """The robot's link table as used; ``ext_links`` says which tensors can't be true, and what takes their place."""
    numbers: dict[Key, Reproduced] = {}
    for row in table.to_dict("records"):
        for name, value in row.items():
            if isinstance(value, float | int) and np.isfinite(value):
                note = "read from the run's link table"
                numbers["links", str(name), f"link={row['link']}"] = Reproduced(float(value), INPUT, note=note)
    return numbers


def _left_out(table: pd.DataFrame) -> dict[Key, Reproduced]:
    """Predicted velocities: x from the other rows of the group, z by the law itself.

    Arms of random inertia are wrong answers to both. The other rows' mean is one to x, and z is the law's, of which the
    mean of other zeros is no other answer.
    """
    numbers: dict[Key, Reproduced] = {}
    for _, rows in table.groupby(list(LABELS), sort=False):
        ours = rows[rows["robot"] == DESCRIBED].iloc[0]
        others = rows[rows["robot"] != DESCRIBED].set_index("robot")
        condition = row_condition(ours.to_dict())
        tolerance = Tolerance(ours["rounding_m_s"], "rounding of the row and of the rows that its posture is fitted to")
        numbers["tab02", "vx_plus_map", condition] = Reproduced(
            float(ours[OURS]), PREDICTED, tolerance=tolerance, signed=True,
            naive={"mean_of_others": ours["mean_of_others"], **dict(others[OURS])},
            note=f"one scalar, r = {ours['ratio_others']:.3f}, from other rows of the set and angle: {ours['others']}",
        )  # fmt: skip
        numbers["tab02", "vz_plus_map", condition] = Reproduced(
            float(ours[OURS_Z]), naive=dict(others[OURS_Z]), note="by eq. 5, whose impact law is v_z+ = 0 for any arm"
        )
    return numbers


def _errors(printed: pd.DataFrame) -> dict[Key, Reproduced]:
    """The errors eta and section V's two means, recomputed from the printed velocities."""
    note = "recomputed from the printed velocities, each rounded"
    numbers: dict[Key, Reproduced] = {
        ("tab02", f"eta_{axis}", row_condition(row)): Reproduced(
            abs(row[f"v{axis}_plus_map"] - row[f"v{axis}_plus_fit"]), PRINT, tolerance=_ETA_TOLERANCE, note=note
        )
        for row in printed.to_dict("records")
        for axis in ("x", "z")
    }
    once = printed[~copied_rows(printed)]
    without = sliding_errors(once["vx_plus_map"].to_numpy(), once["vx_plus_fit"].to_numpy())
    for (name, unit), value, corrected in zip(_MEANS.items(), printed_statistics(printed), without, strict=True):
        note = f"x only; {corrected:.2f} {unit} from the printed velocities without the copied row"
        numbers["text", name, f"{_ALL};from=printed_table"] = Reproduced(value, PRINT, is_error=True, note=note)
    return numbers


def _contradictions(printed: pd.DataFrame) -> dict[Key, Reproduced]:
    """What Table II must keep to if it is to agree with eq. 5, with its own labels and with the text."""
    numbers: dict[Key, Reproduced] = {}
    copied = copied_rows(printed)
    fall = direction_deg(printed["vx_minus"], printed["vz_minus"])
    for dataset, direction, members in groups(printed, PER_SET_AND_ANGLE):
        once = printed.iloc[members[~copied[members]]]
        rows = once[["vx_minus", "vz_minus", "vx_plus_map"]].to_numpy()
        key = ("tab02", "one_ratio_within_rounding", f"dataset={dataset};direction_deg={direction}")
        asked = zip(once["velocity_m_s"], statements.ratio_intervals(rows), strict=True)
        told = ", ".join(f"{least:.3f} to {most:.3f} at {speed:g} m/s" for speed, (least, most) in asked)
        note = f"rounding leaves r = {told}"
        numbers[key] = statement(statements.has_common_ratio, rows, statements.TWO_RATIOS, PRINT, note=note)
    for label, part in printed.groupby("dataset"):
        pairs = list(zip(part["angle_deg"], fall[part.index], strict=True))
        numbers["tab02", "larger_labels_fall_steeper", f"dataset={label}"] = statement(
            statements.labels_in_order, pairs, statements.EXCHANGED_LABELS, PRINT, note="directions of the printed v-"
        )
    speed = np.hypot(printed["vx_minus"], printed["vz_minus"])
    numbers["text", "experiments", ""] = Reproduced(float((~copied).sum()), PRINT, note="rows that aren't copies")
    for which, speeds, angles in (("least", speed.min(), fall.min()), ("largest", speed.max(), fall.max())):
        note = "of the printed v-"
        numbers["text", "impact_speed_m_s", which] = Reproduced(float(speeds), PRINT, note=note)
        numbers["text", "impact_angle_deg", which] = Reproduced(float(angles), PRINT, note=note)
    return numbers


def _since_impact(events: pd.DataFrame, setting: str) -> list[tuple[str, float]]:
    """Events of model A under a setting, with their times since the impact, s."""
    rows = events[(events["model"] == "A") & (events["setting"] == setting)]
    start = rows.loc[rows["event"] == IMPACT, "t_s"]
    return [] if start.empty else list(zip(rows["event"], rows["t_s"] - start.iloc[0], strict=True))


def _models(sweep: pd.DataFrame, events: pd.DataFrame) -> dict[Key, Reproduced]:
    """Section IV: bouncing, settling, and what other dampings do; a setting that the sweep leaves out has no number."""
    numbers: dict[Key, Reproduced] = {}
    first = sweep[sweep["window_s"] == sweep["window_s"].iloc[0]]
    coupling = np.isclose(first["d_rob"], _D_ROB)
    rigid = first[coupling & (first["model"] == "B")]
    table_i = first[coupling & (first["model"] == "A") & np.isclose(first["d_env"], _D_ENV)]
    damped = first[coupling & (first["model"] == "A") & np.isclose(first["d_env"], _DAMPED)]
    bounces, none = _since_impact(events, TABLE_I), _since_impact(events, f"d_env={_DAMPED:g}")
    if bounces:
        numbers["fig04", "bounces_before_adhesion", "model=A;d_env=1e8"] = statement(
            statements.bounces_first, bounces, statements.NO_BOUNCE, note="parted within 10 ms, and together in the end"
        )
        rates = events[(events["model"] == "A") & (events["setting"] == TABLE_I)].set_index("event")["gap_rate_m_s"]
        early = not statements.no_early_bounce(bounces)
        parted = rates.loc[[SEPARATION]].iloc[0] if early else 0.0
        rebound = abs(parted / rates.loc[IMPACT])
        note = f"speed of separation over that of the impact, {rebound:.3f}"
        numbers["tab01", "almost_inelastic", "d_env=1e8"] = statement(
            statements.almost_inelastic, rebound, statements.REBOUND, note=note
        )
    if none:
        numbers["text", "no_bouncing", "d_env=1e9;within_ms=10"] = statement(
            statements.no_early_bounce, none, statements.BOUNCE, note="no separation within 10 ms"
        )
        lift = [f"{1e3 * after:.0f} ms" for kind, after in none if kind == SEPARATION]
        note = f"no separation at all; ours at {', '.join(lift)}" if lift else "no separation at all"
        numbers["text", "no_bouncing", "d_env=1e9"] = statement(
            statements.no_bounce, none, statements.BOUNCE, note=note
        )
    if len(table_i) and len(damped):
        pair = (damped["v1_from_b_m_s"].iloc[0], table_i["v1_from_b_m_s"].iloc[0])
        note = f"rms distance of v1 from model B's over 100 ms: {pair[0]:.3f} m/s, {pair[1]:.3f} with d_env = 1e8"
        numbers["text", "closer_to_b", "d_env=1e9;signal=v1"] = statement(
            statements.closer, pair, statements.FARTHER, note=note
        )
    if len(table_i):
        settled = table_i["impact_time_s"].iloc[0] + 1e-3 * table_i["settling_ms"].iloc[0]
        numbers["fig04", "slow_part_beyond_0.21_s", "signal=v2"] = statement(
            statements.lasts, settled, statements.SETTLED_EARLY, note=f"within 2 % from {settled:.3f} s on"
        )
    if len(rigid):
        row = rigid.iloc[0]
        late = row["departure_100ms_pct"]
        numbers["fig04", "convergence_to_rigid_ms", "model=B;mass=m2"] = Reproduced(
            float(row["settling_ms"]), naive=statements.OTHER_SETTLING,
            note="until the velocity of m2 stays within 2 % of the rigid one; naive: other dampings of the coupling",
        )  # fmt: skip
        numbers["fig04", "converged_after_100_ms", "model=B;mass=m2"] = statement(
            statements.same, 0.01 * late, statements.LATE_DEPARTURE, note=f"{late:.1f} % off at most, 2 % allowed"
        )
    varied = first[(first["model"] == "A") & np.isclose(first["d_env"], _D_ENV)].drop_duplicates("d_rob")
    if len(varied) > 1:
        pairs = list(zip(varied["settling_ms"], varied["fit_error_pct"], strict=True))
        worst = max((abs(error) for settling, error in pairs if settling <= statements.WINDOW_MS), default=0.0)
        note = f"v+ of model A off by {worst:.1f} % at most where v2 settles within 150 ms, 2 % allowed"
        numbers["text", "similar_fits", "other d_rob"] = statement(
            statements.similar, pairs, statements.NOT_SIMILAR, note=note
        )
    return numbers


def _motions(table: pd.DataFrame, events: pd.DataFrame, parameters: pd.DataFrame) -> dict[Key, Reproduced]:
    """Figure 4: how models A and B differ, and how they come to the rigid one."""
    numbers: dict[Key, Reproduced] = {}
    impact = float(events.loc[(events["model"] == "A") & (events["event"] == IMPACT), "t_s"].iloc[0])
    curves = {model: part.drop_duplicates("t_s", keep="last") for model, part in table.groupby("model")}

    def at(model: str, column: str, times: np.ndarray) -> np.ndarray:
        return np.interp(times, curves[model]["t_s"], curves[model][column])

    step = 2e-5
    after = impact + np.arange(0.5 * step, COMPARED, step)
    early, later = after[after <= impact + EARLY], after[after > impact + EARLY]
    for column in ("x1_m", "x2_m", "v1_m_s", "v2_m_s"):
        times = later if column == "v1_m_s" else after
        ours, hard = at("A", column, times), at("B", column, times)
        share = float(np.sqrt(((ours - hard) ** 2).mean()) / np.ptp(hard))
        since = "10 ms" if column == "v1_m_s" else "the impact"
        note = f"rms distance {100.0 * share:.2f} % of the signal's range, from {since} to 100 ms; 2 % allowed"
        numbers["fig04", "a_and_b_indistinguishable", f"signal={column[:2]}"] = statement(
            statements.same, share, statements.FAR_FROM_B[column], note=note
        )
    jump = np.ptp(curves["B"]["v1_m_s"])
    mean = float((at("A", "v1_m_s", early) - at("B", "v1_m_s", early)).mean() / jump)
    numbers["fig04", "b_captures_the_average_of_a", "signal=v1"] = statement(
        statements.same, mean, statements.OTHER_AVERAGE,
        note=f"means of the first 10 ms are {100.0 * abs(mean):.1f} % of v1's range apart, 2 % allowed",
    )  # fmt: skip
    whole = np.arange(0.0, table["t_s"].max(), 1e-4)
    apart = (at("A", "v1_m_s", whole) - at("B", "v1_m_s", whole)) / jump
    numbers["fig04", "fast_part_from_0.12_to_0.14_s", "signal=v1"] = statement(
        statements.fast_part_is_within, np.column_stack([whole, apart]), statements.SLOW_BOUNCES,
        note="models A and B are more than 2 % of v1's range apart then, and only then",
    )  # fmt: skip
    swinging = at("A", "v2_m_s", after) / at("C", "v2_m_s", after) - 1.0
    numbers["tab01", "lightly_damped", ""] = statement(
        statements.swings_twice,
        swinging,
        statements.ONE_SWING,
        note="v2 passes the rigid velocity by 2 %, twice or more",
    )
    depth = float(np.max(-(curves["A"]["x1_m"] - curves["A"]["x0_m"])))
    used = parameters.set_index("parameter")["used"]
    exponent = used["hertz_exponent_c"]
    tangent = exponent * used["k_env"] * depth ** (exponent - 1.0)
    numbers["tab01", "contact_stiffer_than_coupling", ""] = statement(
        statements.stiffer, (tangent, used["k_rob"]), statements.SOFT_CONTACT,
        note=f"{tangent:.2g} N/m at the largest depth of model A, {1e3 * depth:.1f} mm",
    )  # fmt: skip
    return numbers


def _decomposition(table: pd.DataFrame) -> dict[Key, Reproduced]:
    """Figure 5: the fit, and what it says of the impact."""
    series = {str(name): part.set_index("t_s")["v_m_s"] for name, part in table.groupby("series")}
    found, predicted = series["reconstructed"].iloc[0], series["impact_map"].iloc[0]
    off = float(found / predicted - 1.0)
    velocity = series["velocity"].reindex(series["fit"].index, method="nearest")
    rms = float(np.sqrt(((velocity - series["fit"]) ** 2).mean()) / np.ptp(velocity))
    return {
        ("fig05", "extrapolation_meets_impact_map", ""): statement(
            statements.same, off, statements.OFF_THE_MAP, note=f"{100.0 * abs(off):.2f} % off, 2 % allowed"
        ),
        ("fig05", "one_mode_describes_the_velocity", ""): statement(
            statements.same, rms, statements.MORE_THAN_ONE_MODE,
            note=f"residuals have {100.0 * rms:.2f} % of the velocity's range, 2 % allowed",
        ),
    }  # fmt: skip


def _measured(printed: pd.DataFrame, data: str) -> dict[Key, Reproduced]:
    """Velocities before the impact and fitted ones, of the recordings with a row's v-."""
    return _of_rows(printed, data, ("vx_minus", "vz_minus", "vx_plus_fit", "vz_plus_fit"), "")


def _predicted_at_measured_postures(printed: pd.DataFrame, data: str) -> dict[Key, Reproduced]:
    """Table II's predictions, by eq. 5 at the posture and velocity measured before the impact, and their errors."""
    numbers = _of_rows(printed, data, ("vx_plus_map", "vz_plus_map"), "eq. 5 at the measured posture and velocity; ")
    errors = _of_rows(printed, data, ("eta_x", "eta_z"), "map at the measured posture less fit; ")
    return numbers | {key: replace(ours, signed=False, is_error=True) for key, ours in errors.items()}


def _of_rows(printed: pd.DataFrame, data: str, names: Sequence[str], how: str) -> dict[Key, Reproduced]:
    """Cells of Table II from the recordings that belong to its rows: the median of several, and how they scatter."""
    original, copied = original_rows(printed), copied_rows(printed)
    numbers: dict[Key, Reproduced] = {}
    for _, _, rows in groups(printed, PER_SET_AND_ANGLE):
        for k in rows:
            row = printed.iloc[k]
            others = printed.iloc[rows[~copied[rows] & (rows != original[k])]]
            for name in names:
                value, count = row[f"twin_{name}"], int(row[COUNT])
                if not np.isfinite(value):
                    continue
                told = "the recording with the nearest v-"
                if count > 1:
                    told = f"median of {count} recordings with the nearest v-, +-{row[SPREAD + name]:.4f} m/s"
                numbers["tab02", name, row_condition(row.to_dict())] = Reproduced(
                    float(value), data=data, signed=True, naive={"mean_of_others": others[name].mean()},
                    note=how + told,
                )  # fmt: skip
    return numbers


def _recordings(fits: pd.DataFrame, data: str, window: float) -> dict[Key, Reproduced]:
    """Sections V and VI, from the recordings at hand: mean errors, periods of the window, and figure 6."""
    numbers: dict[Key, Reproduced] = {}
    known = fits[["vx_plus_map", "vx_plus_fit"]].dropna()
    if len(known):
        found = sliding_errors(known["vx_plus_map"].to_numpy(), known["vx_plus_fit"].to_numpy())
        for name, value in zip(_MEANS, found, strict=True):
            ours = Reproduced(value, data=data, is_error=True, note=f"x only, {len(known)} recordings")
            numbers["text", name, f"{_ALL};from=recordings"] = ours
    if "frequency_hz" in fits and fits["frequency_hz"].notna().any():
        periods = window * float(fits["frequency_hz"].median())
        note = "median frequency of the recordings' fits"
        numbers["text", "window_periods", ""] = Reproduced(periods, data=data, note=note)
    speed = np.hypot(fits["vx_minus"].to_numpy(), fits["vz_minus"].to_numpy())
    shown = fits.loc[np.abs(speed - _SHOWN) <= _ABOUT, ["vx_plus_fit", "vx_plus_map"]].dropna()
    if len(shown):
        note = (
            f"v_x+ of {len(shown)} recordings, a tenth of it allowed; a simulated arm obeys the map, so can't refute it"
        )
        numbers["fig06", "fits_meet_impact_map", "velocity_m_s=0.2"] = statement(
            statements.fits_meet_the_map, shown.to_numpy(), statements.NO_IMPACT, data=data, note=note
        )
    return numbers


def _joints(table: pd.DataFrame, data: str) -> dict[Key, Reproduced]:
    """Figure 2: when the impact is, and which joints it changes."""
    impact = float(table["impact_time_s"].iloc[0])
    change = []
    for _, part in table.groupby("joint"):
        time, velocity = part["time_s"] - impact, part["velocity_rad_s"]
        before = velocity[time.between(-_CHANGE, 0.0)].mean()
        change.append(float(np.sqrt(((velocity[time.between(0.0, _CHANGE)] - before) ** 2).mean())))
    told = ", ".join(f"{value:.2f}" for value in change)
    return {
        ("fig02", "impact_time_s", ""): Reproduced(impact, data=data, note="of the recording shown"),
        ("fig02", "only_joints_2_4_6", ""): statement(
            statements.only_the_plane_moves, change, statements.OUT_OF_THE_PLANE, data=data,
            note=f"rms change within 50 ms, joints 1 to 7: {told} rad/s; twice the others' asked for",
        ),
    }  # fmt: skip
