"""Evidence for the arm paper's statements, which ``resources/published/arm_claims.yaml`` names.

Wrong answers follow from rules: the rigid robot (model C) or the hard contact (B) in the place of
model A, no impact at all, and a straight line or a constant in the place of a mode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from contactid.arm.artefacts.shown_motions import ShownMotions, separations, velocity_changes
from contactid.arm.rigid.postures import PLANE_JOINTS
from contactid.arm.simulate.two_mass import COMPLIANT, FLEXIBLE, RIGID
from contactid.output.comparison import Reproduced
from contactid.output.evidence import calculated
from contactid.output.predicates import Predicate
from contactid.output.statements import Evidence, missing
from contactid.output.verdicts import NEEDS_ARCHIVE, NOT_DONE, Lack
from contactid.sources.origin import Origin

Tables = Mapping[str, pd.DataFrame]
Origins = Mapping[str, Origin]
Curve = tuple[np.ndarray, np.ndarray]  # times in s, values
Judged = TypeVar("Judged", Evidence, Reproduced)

PAPERS = "arm_icra2021, 10.4121/14192429"
NO_IMPACT, LINE = "no impact", "a straight line"
_FAST, _SLOW_BEYOND = (0.12, 0.14), 0.21  # s, of figure 4's clock, printed in section IV
_CONVERGED = 0.1  # s after the impact, section IV


@dataclass(frozen=True)
class FastAndSlow(Predicate):
    """A fast motion leaves a band within the printed times and only there, a slow one leaves it
    later.

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

    ``measure`` is their ``rms`` over the range of B's, or their ``mean`` over the velocity before
    the impact.
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
    return _of_model_a(
        lambda model: [share(model, signal) for signal in begin], note, RIGID, NO_IMPACT
    )


def time_scales(tables: Tables) -> Evidence:
    """Model A's v1 less B's as a share of v1 before the impact, and its v2's departure from the
    rigid robot.
    """
    motions = ShownMotions(tables["fig04_two_mass"])
    times = np.arange(0.0, motions.end, 1e-4)

    def both(model: str) -> tuple[Curve, Curve]:
        apart = motions.at(model, "v1", times) - motions.at(FLEXIBLE, "v1", times)
        return (times, apart / motions.before["v1_m_s"]), motions.departure(model, 0.0)

    return _of_model_a(both, "v1 against model B's, v2 against the rigid robot's", FLEXIBLE, RIGID)


def _of_model_a(answer: Callable[[str], Any], note: str, *others: str) -> Evidence:
    """Model A's answer; those with other models in its place are wrong."""
    names = {model: model if model == NO_IMPACT else f"model {model}" for model in others}
    return Evidence(
        answer(COMPLIANT), note, naive={names[model]: answer(model) for model in others}
    )


def convergence(tables: Tables) -> Evidence:
    """Largest departure of model B's v2 from the rigid robot, from 100 ms after the impact on."""
    motions = ShownMotions(tables["fig04_two_mass"])

    def largest(model: str, begin: float) -> list[float]:
        return [float(np.abs(motions.departure(model, begin)[1]).max())]

    given = largest(FLEXIBLE, _CONVERGED)
    naive = {NO_IMPACT: largest(NO_IMPACT, _CONVERGED), "no decay": largest(FLEXIBLE, 0.0)}
    return Evidence(
        given, f"v2 is at most {_pct(given[0])} off, 100 ms after the impact and later", naive=naive
    )


def bounce(tables: Tables) -> Evidence:
    """Time from the impact to the first separation, s; NaN without one, or where the last one
    lasts.
    """

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
    parted = [
        f"{1e3 * after:.0f} ms"
        for after in separations(tables["ext_events"], COMPLIANT, setting)["after"]
    ]
    note = (
        f"parted {', '.join(parted)} after the impact: the spring pulls m1 off, in model B as well"
    )
    return Evidence([not parted], note if parted else "never parted", naive={"parted": [False]})


def extrapolation(tables: Tables) -> Evidence:
    """Error of figure 5's reconstructed v+ against the impact map, as a share of it."""
    series, velocity, line = _figure_5(tables)
    found = {"fit": series["reconstructed"].iloc[0], NO_IMPACT: velocity.iloc[0], LINE: line[0]}
    off = {
        name: [float(value / series["impact_map"].iloc[0] - 1.0)] for name, value in found.items()
    }
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
    """Figure 5's series, and the velocity of m2 and the straight line through it at the fit's
    times.
    """
    by_series = tables["fig05_decomposition"].groupby("series")
    series = {str(name): rows.set_index("t_s")["v_m_s"] for name, rows in by_series}
    velocity = series["velocity"].reindex(series["fit"].index, method="nearest")
    return series, velocity, np.polyval(np.polyfit(velocity.index, velocity, 1), velocity.index)


def joint_changes(tables: Tables, data: str, origins: Origins) -> Evidence:
    """Rms change of figure 2's joint velocities, rad/s: of joints 2, 4 and 6, and of the others."""
    change = velocity_changes(tables["fig02_joint_velocities"])
    plane = np.isin(np.arange(len(change)), PLANE_JOINTS)
    note = f"rms change within 50 ms, joints 1 to 7: {', '.join(f'{value:.2f}' for value in change)} rad/s"
    found = Evidence((change[plane], change[~plane]), note, data=data)
    return of_the_paper(found, origins[data], "joint velocities of figure 2")


def recorded(
    tables: Tables,
    data: str,
    origins: Origins,
    words: str,
    calculation: Mapping[str, Any] | None = None,
) -> Evidence:
    """A calculation with what a run has of its recordings, or without one what no table has of
    them.
    """
    nothing = missing(NOT_DONE, f"{words}, which no table has")
    evidence = calculated(tables, **calculation) if calculation else nothing
    return of_the_paper(replace(evidence, data=data), origins[data], words)


def of_the_paper(judged: Judged, origin: Origin, words: str) -> Judged:
    """A number or evidence from recordings, which only the paper's own are for what it says of
    them.

    The twin speaks neither for it nor against it: its drives were chosen to vibrate as the paper's
    arm, and its postures to meet Table II's predictions.
    """
    if origin.of_the_paper:
        return judged
    note = "; ".join(filter(None, (f"this run reads {judged.data}: {origin.told}", judged.note)))
    return replace(judged, lack=Lack(NEEDS_ARCHIVE, f"{words}, measured in {PAPERS}"), note=note)


def _pct(share: float) -> str:
    """The size of a share in words."""
    return f"{100.0 * abs(share):.2g} %"
