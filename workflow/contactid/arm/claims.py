"""Evidence for the arm paper's statements, which ``resources/published/arm_claims.yaml`` names.

Wrong answers follow from rules: the rigid robot (model C) or the hard contact (B) in the place of model A, no impact at
all, and a straight line or a constant in the place of a mode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from contactid.arm.artefacts.joint_velocities import velocity_changes
from contactid.arm.artefacts.left_out import DESCRIBED
from contactid.arm.artefacts.two_mass import ShownMotions, separations
from contactid.arm.rigid.postures import PLANE_JOINTS
from contactid.arm.rigid.printed_table import copied_rows, corrected_table
from contactid.arm.simulate.two_mass import COMPLIANT, FLEXIBLE, RIGID
from contactid.output.predicates import Predicate
from contactid.output.statements import Evidence, missing
from contactid.output.verdicts import NEEDS_ARCHIVE, NOT_DONE, PRINT, Lack
from contactid.sources.origin import Origin

Tables = Mapping[str, pd.DataFrame]
Origins = Mapping[str, Origin]
Curve = tuple[np.ndarray, np.ndarray]  # times in s, values

PAPERS = "arm_icra2021, 10.4121/14192429"
#: Arms that MuJoCo simulated (``resources/own_impacts.csv``).
OTHER_ARMS = "mujoco_arms"
NO_IMPACT, LINE = "no impact", "a straight line"
_FAST, _SLOW_BEYOND = (0.12, 0.14), 0.21  # s, of figure 4's clock, printed in section IV
_CONVERGED = 0.1  # s after the impact, section IV
_WINDOW_MS = 150.0  # that section V fits


@dataclass(frozen=True)
class FastAndSlow(Predicate):
    """A fast motion leaves a band within the printed times and only there, a slow one leaves it later.

    Given are both as (times, shares). The times are printed, so that they aren't thresholds.
    """

    band: float

    def cases(self, given: tuple[Curve, Curve]) -> list[bool]:
        """The fast motion, and the slow one."""
        fast, slow = (times[np.abs(shares) > self.band] for times, shares in given)
        within = len(fast) and fast.min() >= _FAST[0] and fast.max() <= _FAST[1]
        return [bool(within), bool(len(slow) and slow.max() > _SLOW_BEYOND)]


def models_apart(tables: Tables, begin: Mapping[str, float], end: float, measure: str) -> Evidence:
    """Model A's signals less B's from ``begin`` of each to ``end``, s after the impact.

    ``measure`` is their ``rms`` over the range of B's, or their ``mean`` over the velocity before the impact.
    """
    motions = ShownMotions(tables["fig04_two_mass"])

    def share(model: str, signal: str) -> float:
        times = motions.after(begin[signal], end)
        hard = motions.at(FLEXIBLE, signal, times)
        apart = motions.at(model, signal, times) - hard
        if measure == "mean":
            return float(apart.mean() / motions.before[f"{signal}_m_s"])
        return float(np.sqrt((apart**2).mean()) / np.ptp(hard))

    told = ", ".join(f"{signal} {_pct(share(COMPLIANT, signal))}" for signal in begin)
    note = f"{measure} distance within {1e3 * end:.0f} ms: {told}"
    return _of_model_a(lambda model: [share(model, signal) for signal in begin], note, RIGID, NO_IMPACT)


def time_scales(tables: Tables) -> Evidence:
    """Model A's v1 less B's as a share of v1 before the impact, and its v2's departure from the rigid robot."""
    motions = ShownMotions(tables["fig04_two_mass"])
    times = np.arange(0.0, motions.end, 1e-4)

    def both(model: str) -> tuple[Curve, Curve]:
        apart = motions.at(model, "v1", times) - motions.at(FLEXIBLE, "v1", times)
        return (times, apart / motions.before["v1_m_s"]), motions.departure(model, 0.0)

    return _of_model_a(both, "v1 against model B's, v2 against the rigid robot's", FLEXIBLE, RIGID)


def _of_model_a(answer: Callable[[str], Any], note: str, *others: str) -> Evidence:
    """Model A's answer; those with other models in its place are wrong."""
    names = {model: model if model == NO_IMPACT else f"model {model}" for model in others}
    return Evidence(answer(COMPLIANT), note, naive={names[model]: answer(model) for model in others})


def convergence(tables: Tables) -> Evidence:
    """Largest departure of model B's v2 from the rigid robot, from 100 ms after the impact on."""
    motions = ShownMotions(tables["fig04_two_mass"])

    def largest(model: str, begin: float) -> list[float]:
        return [float(np.abs(motions.departure(model, begin)[1]).max())]

    given = largest(FLEXIBLE, _CONVERGED)
    naive = {NO_IMPACT: largest(NO_IMPACT, _CONVERGED), "no decay": largest(FLEXIBLE, 0.0)}
    return Evidence(given, f"v2 is at most {_pct(given[0])} off, 100 ms after the impact and later", naive=naive)


def stiffness(tables: Tables) -> Evidence:
    """Eq. 6's tangent stiffness where it carries the pushing force, and the coupling's, N/m, by Table I."""
    used = _table_i(tables)
    depth = (used["pushing_force"] / used["k_env"]) ** (1.0 / used["hertz_exponent_c"])
    tangent = used["hertz_exponent_c"] * used["pushing_force"] / depth
    note = f"{tangent:.2g} N/m where the contact carries the pushing force, {1e3 * depth:.2f} mm deep"
    return Evidence(([tangent], [used["k_rob"]]), note, PRINT)


def damping_ratio(tables: Tables) -> Evidence:
    """Damping of the coupling by Table I, as a share of the critical one, m0 and m1 moving as one."""
    used = _table_i(tables)
    reduced_mass = 1.0 / (1.0 / (used["m0"] + used["m1"]) + 1.0 / used["m2"])
    share = used["d_rob"] / (2.0 * np.sqrt(used["k_rob"] * reduced_mass))
    return Evidence([share], f"{_pct(share)} of the critical damping", PRINT)


def _table_i(tables: Tables) -> pd.Series:
    """What the run uses of Table I."""
    return tables["tab01_parameters"].set_index("parameter")["used"]


def bounce(tables: Tables) -> Evidence:
    """Time from the impact to the first separation, s; NaN without one, or where the last one lasts."""

    def first(model: str) -> list[float]:
        parted = separations(tables["ext_events"], model)
        return [float(parted["after"].min()) if parted["closes"].all() else np.nan]

    note = f"parted {1e3 * first(COMPLIANT)[0]:.1f} ms after the impact, and together in the end"
    return _of_model_a(first, note, FLEXIBLE, RIGID)


def rebound(tables: Tables) -> Evidence:
    """Speed of model A's first separation over that of the impact."""
    speeds = separations(tables["ext_events"], COMPLIANT)["speed"]
    given = [float(speeds.iloc[0]) if len(speeds) else 0.0]
    note = f"speed of separation over that of the impact: {given[0]:.3f}"
    return Evidence(given, note, naive={"elastic": [1.0], "half as fast": [0.5]})


def adhesion(tables: Tables, setting: str) -> Evidence:
    """Whether model A's bodies never part after the impact."""
    if setting not in set(tables["ext_events"]["setting"]):
        return missing(NOT_DONE, f"model A at {setting}, which this configuration leaves out")
    parted = [f"{1e3 * after:.0f} ms" for after in separations(tables["ext_events"], COMPLIANT, setting)["after"]]
    note = f"parted {', '.join(parted)} after the impact: the spring pulls m1 off, in model B as well"
    return Evidence([not parted], note if parted else "never parted", naive={"parted": [False]})


def _by_damping(tables: Tables, varied: str, kept: str) -> pd.DataFrame:
    """Model A's rows of the sweep by the damping ``varied``, the other one, ``kept``, being Table I's."""
    sweep = tables["ext_damping_sweep"]
    chosen = (sweep["model"] == COMPLIANT) & np.isclose(sweep[kept], _table_i(tables)[kept])
    return sweep[chosen].drop_duplicates(varied).set_index(varied)  # with the first window, the paper's


def nearer_to_b(tables: Tables, d_env: float) -> Evidence:
    """Rms distance of v1 from model B's over 100 ms, m/s: with a contact damping, and with Table I's."""
    distances = _by_damping(tables, "d_env", "d_rob")["v1_from_b_m_s"]
    damped, usual = distances.reindex([d_env, _table_i(tables)["d_env"]])
    if np.isnan(damped + usual):
        return missing(NOT_DONE, f"v1 of model A at d_env={d_env:g}, which this configuration leaves out")
    note = f"rms distance of v1 from model B's over 100 ms: {damped:.3f} m/s, {usual:.3f} by Table I"
    return Evidence(([damped], [usual]), note)


def fits_by_coupling(tables: Tables) -> Evidence:
    """Errors of the fitted v+ of model A, as shares, for the couplings whose motion settles within 150 ms."""
    found = _by_damping(tables, "d_rob", "d_env")
    given = 0.01 * found.loc[found["settling_ms"] <= _WINDOW_MS, "fit_error_pct"].to_numpy()
    note = f"v+ off by {_pct(np.abs(given).max(initial=0.0))} at most where v2 settles within 150 ms"
    return Evidence(given, note, naive={NO_IMPACT: np.ones_like(given)})


def extrapolation(tables: Tables) -> Evidence:
    """Error of figure 5's reconstructed v+ against the impact map, as a share of it."""
    series, velocity, line = _figure_5(tables)
    found = {"fit": series["reconstructed"].iloc[0], NO_IMPACT: velocity.iloc[0], LINE: line[0]}
    off = {name: [float(value / series["impact_map"].iloc[0] - 1.0)] for name, value in found.items()}
    given = off.pop("fit")
    return Evidence(given, f"v+ is {_pct(given[0])} off the impact map's", naive=off)


def residual(tables: Tables) -> Evidence:
    """Rms residual of figure 5's fit over the velocity's range."""
    series, velocity, line = _figure_5(tables)
    found: dict[str, Any] = {"fit": series["fit"], "a constant": velocity.mean(), LINE: line}
    square = {name: ((velocity - value) ** 2).mean() for name, value in found.items()}
    off = {name: [float(np.sqrt(mean) / np.ptp(velocity))] for name, mean in square.items()}
    given = off.pop("fit")
    return Evidence(given, f"residuals have {_pct(given[0])} of the velocity's range", naive=off)


def _figure_5(tables: Tables) -> tuple[dict[str, pd.Series], pd.Series, np.ndarray]:
    """Figure 5's series, and the velocity of m2 and the straight line through it at the fit's times."""
    by_series = tables["fig05_decomposition"].groupby("series")
    series = {str(name): rows.set_index("t_s")["v_m_s"] for name, rows in by_series}
    velocity = series["velocity"].reindex(series["fit"].index, method="nearest")
    return series, velocity, np.polyval(np.polyfit(velocity.index, velocity, 1), velocity.index)


def one_ratio(tables: Tables) -> Evidence:
    """Whether one r is in the interval that rounding leaves each row of a set and direction of Table II."""
    given, notes = [], []
    for (dataset, direction), rows in _table_ii(tables).groupby(["dataset", "direction_deg"], sort=False):
        given.append(bool(rows["ratio_least"].max() <= rows["ratio_most"].min()))
        spans = rows[["ratio_least", "ratio_most", "velocity_m_s"]].to_numpy()
        told = ", ".join("{:.3f} to {:.3f} at {:g} m/s".format(*span) for span in spans)
        notes += [] if given[-1] else [f"none in set {dataset} at {direction} deg, where r = {told}"]
    return Evidence(given, "; ".join(notes), PRINT)


def against_no_model(tables: Tables) -> Evidence:
    """Errors of Table II's predicted v_x+, and of two predictions without the arm's model, m/s, row by row."""
    rows = _table_ii(tables)
    predicted = rows[["vx_plus_map", "vx_plus_one_ratio", "vx_plus_other_set"]]
    error = predicted.sub(rows["vx_plus_fit"], axis=0).abs()
    words = "mean errors {:.1f} mm/s by the map, {:.1f} by one r of all other rows, {:.1f} by the other set's r"
    by_map, *others = error.to_numpy().T
    return Evidence((np.tile(by_map, 2), np.concatenate(others)), words.format(*(1e3 * error.mean())), PRINT)


def _table_ii(tables: Tables) -> pd.DataFrame:
    """The rows of Table II that aren't copies, with what print says of each."""
    table = tables["ext_left_out"]
    return table[table["robot"] == DESCRIBED].dropna(subset="vx_plus_fit")


def labels(printed: pd.DataFrame) -> Evidence:
    """Whether the labels 30 and 60 deg of Table II stand at the directions that they name, in each set."""
    corrected = corrected_table(printed)
    right = (corrected["angle_deg_corrected"] == printed["angle_deg"]).groupby(printed["dataset"]).all()
    reasons = corrected.loc[corrected["correction_reason"].str.startswith("angle: "), "correction_reason"]
    return Evidence(list(right), "; ".join(reasons.str.split("; ").str[0].unique()), PRINT)


def normal_velocity(printed: pd.DataFrame) -> Evidence:
    """Mean of the fitted v_z+ of Table II over its standard error."""
    fitted = 1e3 * printed.loc[~copied_rows(printed), "vz_plus_fit"]
    note = f"{fitted.mean():.1f} mm/s in the mean of {len(fitted)} rows, {(fitted < 0.0).sum()} of them below 0"
    return Evidence([float(fitted.mean() / fitted.sem())], note, PRINT)


def other_arms(tables: Tables, error_mm_s: float) -> Evidence:
    """Errors of the paper's procedure on arms that MuJoCo simulated, and the error that it measured, mm/s."""
    arms = tables["own_impacts"]
    off = (arms["paper_x_mm_s"] - arms["truth_x_mm_s"]).abs()
    means = off.groupby(arms["kind"], sort=False).mean()
    told = ", ".join(f"{kind} {mean:.1f}" for kind, mean in means.items())
    note = f"mean errors of v_x+ in mm/s on arms with the same links and other drives: {told}"
    return Evidence((off, np.full(len(off), error_mm_s)), note, data=OTHER_ARMS)


def several_modes(tables: Tables, data: str, origins: Origins, one: str, several: Sequence[str]) -> Evidence:
    """Mean prediction errors in mm/s by fits with several modes, and by the paper's one mode."""
    errors = tables["ext_fit_summary"].set_index("method")["mean_eta_x_mm_s"]
    chosen = errors[errors.index.isin(several)]
    told = ", ".join(f"{name} {value:.2f}" for name, value in chosen.items())
    note = f"{told} mm/s, one mode {errors[one]:.2f}"
    found = Evidence((chosen, np.full(len(chosen), errors[one])), note, data=data)
    return _of_the_paper(found, origins, "errors of fits with several modes")


def joint_changes(tables: Tables, data: str, origins: Origins) -> Evidence:
    """Rms change of figure 2's joint velocities, rad/s: of joints 2, 4 and 6, and of the others."""
    change = velocity_changes(tables["fig02_joint_velocities"])
    plane = np.isin(np.arange(len(change)), PLANE_JOINTS)
    note = f"rms change within 50 ms, joints 1 to 7: {', '.join(f'{value:.2f}' for value in change)} rad/s"
    found = Evidence((change[plane], change[~plane]), note, data=data)
    return _of_the_paper(found, origins, "joint velocities of figure 2")


def recorded(data: str, origins: Origins, words: str) -> Evidence:
    """What no table of a run has of its recordings."""
    nothing = Evidence(data=data, lack=Lack(NOT_DONE, f"{words}, which no table has"))
    return _of_the_paper(nothing, origins, words)


def _of_the_paper(found: Evidence, origins: Origins, words: str) -> Evidence:
    """Evidence from recordings, which only the paper's own are for what it says of them.

    The twin speaks neither for it nor against it: its drives were chosen to vibrate as the paper's arm, and its
    postures to meet Table II's predictions.
    """
    origin = origins[found.data]
    if origin.of_the_paper:
        return found
    note = "; ".join(filter(None, (f"this run reads {found.data}: {origin.told}", found.note)))
    return replace(found, lack=Lack(NEEDS_ARCHIVE, f"{words}, measured in {PAPERS}"), note=note)


def _pct(share: float) -> str:
    """The size of a share in words."""
    return f"{100.0 * abs(share):.2g} %"
