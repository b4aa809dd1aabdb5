"""Evidence for the planar paper's statements (``resources/published/planar_claims.yaml``).

Wrong answers follow from rules: the other model of contact, another restitution or friction, exact
complementarity, noisy poses as they are, and the law that a simulator is given, taken alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from contactid.output.statements import Evidence
from contactid.output.verdicts import COMPUTED, PRINT
from contactid.planar.printed_scenes import SAMPLES, Tables
from contactid.planar.sweeps.measures import IDENTIFICATION, Measured
from contactid.planar.table1 import LEAST_MU, UNIFORM_ERROR_PCT

#: How a number goes with friction, restitution or time step by a law alone, up to a factor.
_LAWS = {
    "Coulomb's law": lambda mu: mu,
    "Newton's law, heights": lambda e_n: e_n**2,
    "Newton's law, losses": lambda e_n: 1.0 - e_n**2,
    "a force that lasts one step": lambda h: h,
}
#: What a statement asks about, of numbers and what they were measured at.
_FORMS = {
    "values": lambda at, values: values,
    "pairs": lambda at, values: np.column_stack([at, values]),
    "steps": lambda at, values: np.diff(np.abs(values)),
    "off their mean": lambda at, values: values / np.mean(values) - 1.0,
}


def measured(
    tables: Tables,
    quantities: Sequence[str],
    form: str = "values",
    between: tuple[float, float] = (-np.inf, np.inf),
    against: Sequence[str] = (),
    others: Mapping[str, str] | None = None,
    elsewhere: Mapping[str, float] | None = None,
    by_rule: Mapping[str, float] | None = None,
    law: str = "",
) -> Evidence:
    """Measures of the scenes, one after the other; or two rows of numbers, with ``against``.

    Parameters
    ----------
    form : of the numbers, one of ``_FORMS``
    between : bounds of what they were measured at
    others, elsewhere, by_rule, law : naive answers by name: what other measures are, what the first
        one is at another place, one number for all, and one of ``_LAWS``
    """
    scenes = [table for name, table in tables.items() if name.startswith("measures_")]
    found, made = Measured(pd.concat(scenes)), _FORMS[form]

    def row(name: str, law: str = "") -> np.ndarray:
        """One measure in this form, or what a law gives in its place."""
        at, values = np.array([*found.of(name).items()]).T
        inside = (between[0] <= at) & (at <= between[1])
        return np.asarray(made(at[inside], (_LAWS[law](at) if law else values)[inside]))

    def rows(names: Sequence[str], law: str = "") -> np.ndarray:
        return np.concatenate([row(name, law) for name in names])

    given = rows(quantities)
    known = found.of(quantities[0])
    alike = {name: known[at] for name, at in (elsewhere or {}).items() if at in known}
    naive = {name: np.full(len(given), one) for name, one in {**alike, **(by_rule or {})}.items()}
    naive |= {name: np.resize(row(other), len(given)) for name, other in (others or {}).items()}
    if law:
        naive[law] = rows(quantities, law)
    told = []
    for name in [*quantities, *against]:
        shown = {at: one for at, one in found.of(name).items() if between[0] <= at <= between[1]}
        places = _listed(f"{one:.3g} at {at:g}" for at, one in shown.items())
        told.append(f"{name.replace('_', ' ')} {places}")
    return Evidence((given, rows(against)) if against else given, "; ".join(told), naive=naive)


def _listed(parts: Iterable[str]) -> str:
    return ", ".join(parts)


# ---------------------------------------------------------------- section 4: simulated motions
def orders_of_convergence(tables: Tables) -> Evidence:
    """Orders in the time step of the first impulses' errors, by restitution and by gap."""
    table = tables["ext_impulse_convergence"]
    orders = {model: part["order"].to_numpy() for model, part in table.groupby("model")}
    note = _listed(
        f"{row['order']:.2f} +- {row['order_se']:.2f} ({row['model']}, {row['scene']})"
        for row in table.to_dict("records")
    )
    return Evidence((orders["IRC"], orders["IGC"]), f"orders of the error in h: {note}")


def times_less_offset(tables: Tables, quantity: str, printed_ms: Sequence[float]) -> Evidence:
    """Our impact times less printed ones and one offset, in time steps; a step weighs by 1/h."""
    ours = Measured(pd.concat(tables.values())).of(quantity)
    steps, times = np.array([*ours.items()]).T

    def left(found: np.ndarray) -> np.ndarray:
        apart = found - np.array(printed_ms)
        return np.asarray((apart - np.average(apart, weights=1.0 / steps)) / steps)

    naive = {"one instant": left(np.full(len(times), times.min())), "half": left(0.5 * times)}
    told = _listed(f"{time:g} ms at h = {step:g} ms" for step, time in ours.items())
    note = f"printed {_listed(map(str, printed_ms))} ms; ours since release {told}"
    return Evidence(left(times), note, naive=naive)


def liftoff_thresholds(tables: Tables, printed: float) -> Evidence:
    """Least frictions that lift the body less the printed one, by how long one waits."""
    table = tables["ext_liftoff"]
    least = table.groupby("duration_s")["friction_mu"].min()
    note = _listed(f"{mu:.3f} within {seconds:g} s" for seconds, mu in least.items())
    return Evidence(table["friction_mu"].to_numpy() - printed, f"least frictions: {note}")


# ---------------------------------------------------------------- section 5: eq. 27
def residuals(tables: Tables) -> Evidence:
    """Largest residuals of eq. 26 at answers of eq. 27 with one weight."""
    exact = float(tables[SAMPLES]["complementarity"].median())
    by_rule = {"exact complementarity": exact, "none": 0.0}
    return measured(tables, ["penalty_residual"], by_rule=by_rule)


def spread_of_impulses(tables: Tables, quantities: Sequence[str]) -> Evidence:
    """Largest share (%) of an impact's impulse that acts beside its strongest instant."""
    normal = _impacts(tables).query("component == 'c_n'").groupby(["kind", "impact"])["impulse_ns"]
    share = (100.0 * (1.0 - normal.max() / normal.sum())).groupby("kind").max()
    by_rule = {"exact complementarity": share["identified"], "simulated": share["simulated"]}
    return measured(tables, quantities, by_rule=by_rule)


def _impacts(tables: Tables) -> pd.DataFrame:
    """Figure 18's impulses, each with the number of the simulated impact that it is nearest to."""
    table = tables["fig18_identified_impulses"]
    acting = table[table["impulse_ns"].abs() > 0.0]
    simulated = acting.query("kind == 'simulated' and component == 'c_n'")["time_ms"].to_numpy()
    away = np.abs(acting["time_ms"].to_numpy()[:, None] - simulated)
    return acting.assign(impact=away.argmin(axis=1))


def free_directions(tables: Tables, expected: Mapping[str, int]) -> Evidence:
    """Dimensions of the null space of eq. 29's matrix of other motions, less the expected ones."""
    rows = {name: np.array(measured(tables, [name]).given) for name in expected}
    wanted = np.concatenate([np.full(len(row), expected[name]) for name, row in rows.items()])
    naive = {"none": 0 - wanted, "one everywhere": 1 - wanted}
    note = "; ".join(measured(tables, [name]).note for name in expected)
    return Evidence(np.concatenate([*rows.values()]) - wanted, note, naive=naive)


def beside_one_restitution(tables: Tables) -> Evidence:
    """Errors of J/m (%) where restitution differs: of eq. 27, and of a motion with one for all."""
    rows = tables["ext_hard_truths"].query("truth == 'differing_restitution'")
    kinds = ("abs_median_pct", "abs_largest_pct")
    free, one = ([rows[f"{of}error_{kind}"].item() for kind in kinds] for of in ("", "start_"))
    told = f"median and largest error {free[0]:.2g} and {free[1]:.2g} %"
    return Evidence((free, one), f"{told}, with one restitution {one[0]:.2g} and {one[1]:.2g} %")


def iterations(tables: Tables, penalties: Sequence[str], constraints: Sequence[str]) -> Evidence:
    """Median iterations of a solve: with constraints, and with a penalty, by reformulation."""
    table = tables["ext_reformulations"].set_index("reformulation")["iterations_median"]
    note = _listed(f"{name} {table[name]:g}" for name in [*penalties, *constraints])
    return Evidence(([*table[[*constraints]]], [*table[[*penalties]]]), note)


def errors_by_cell(tables: Tables) -> Evidence:
    """Median size of our errors of J/m (%) in table 1's cells, and that of the uniform body."""
    errors = _cells(tables).query(f"mu > {LEAST_MU}")["size"].to_numpy()
    told = f"median of cells {np.median(errors):.2g} %, the uniform body {UNIFORM_ERROR_PCT:.2g} %"
    return Evidence((errors, np.full(len(errors), UNIFORM_ERROR_PCT)), told)


# ---------------------------------------------------------------- section 6: identified throws
def _cells(tables: Tables) -> pd.DataFrame:
    """Medians of table 1's samples, of each motion once: ``mu, fps, size, se, friction_mu``.

    Sizes of errors of J/m are in %, their standard errors in mm2, infinite where J/m isn't found.
    """
    same = Measured(tables[f"measures_{IDENTIFICATION}"]).same_motion()
    good = tables[SAMPLES].query("converged").rename(columns={"inertia_ratio_se_mm2": "se"})
    once = good[good["mu"].map(same) == good["mu"]].assign(size=good["error_pct"].abs())
    return once.groupby(["mu", "fps"], as_index=False)[["size", "se", "friction_mu"]].median()


def our_error_trends(tables: Tables, along: Sequence[str], of: Sequence[str]) -> Evidence:
    """Our errors of J/m, or what else ``of`` names, against frame rate or friction."""
    return _trends(_cells(tables), along, of, COMPUTED)


def printed_error_trends(published: pd.DataFrame, along: Sequence[str]) -> Evidence:
    """The printed errors likewise."""
    rows = published.query("artefact == 'tab01' and quantity == 'inertia_ratio_error_pct'")
    cells = rows["condition"].str.extract("friction_mu=(?P<mu>[^;]+);fps=(?P<fps>.+)")
    return _trends(cells.astype(float).assign(size=rows["value"].abs()), along, ["size"], PRINT)


def _trends(cells: pd.DataFrame, along: Sequence[str], of: Sequence[str], basis: str) -> Evidence:
    pairs = [(cells[x], cells[y]) for x in along for y in of]
    taus = [f"{kendalltau(x, y).statistic:.2f} ({y.name} along {x.name})" for x, y in pairs]
    note = f"Kendall's tau over {len(cells)} cells: {_listed(taus)}"
    return Evidence([np.column_stack(pair).tolist() for pair in pairs], note, basis)


def found_friction(tables: Tables) -> Evidence:
    """Identified friction less the true one, or less the least that rolls where that is smaller.

    Of each friction from 0.2 on, the mean over frame rates of the medians.
    """
    measures = Measured(tables[f"measures_{IDENTIFICATION}"])
    (least,) = measures.of("rolling_mu").values()
    means = _cells(tables).groupby("mu")["friction_mu"].mean()
    true = np.array([mu for mu in measures.same_motion() if mu > LEAST_MU])
    found = means[[measures.same_motion()[mu] for mu in true]].to_numpy()
    expected = np.minimum(true, least)
    naive = {"never rolling": true - expected, "one for all": np.median(found) - expected}
    note = _listed(f"{mu:g}: {one:.3f}" for mu, one in zip(true, found, strict=True))
    return Evidence(found - expected, f"rolls from {least:.3f} on; identified {note}", naive=naive)


def paths(tables: Tables, at_frames: bool) -> Evidence:
    """Rms distances (mm) from figure 17's simulated path, by frame rate.

    Of all of the fitted path; or of its places at the frames, and of the measured ones.
    """
    rows = {}
    for fps, part in tables["fig17_identified_trajectories"].dropna().groupby("fps"):
        times = part.query(f"kind == '{'measured' if at_frames else 'identified'}'")["time_ms"]
        path = {kind: one.set_index("time_ms") for kind, one in part.groupby("kind")}
        at = {
            kind: np.array([np.interp(times, one.index, one[axis]) for axis in ("x_mm", "y_mm")])
            for kind, one in path.items()
        }
        away = [at[kind] - at["simulated"] for kind in ("identified", "measured")]
        rows[fps] = [float(np.sqrt((one**2).sum(axis=0).mean())) for one in away]
    fitted, noisy = np.transpose([*rows.values()])
    told = _listed(f"{one[0]:.2g} mm at {fps:g} frames/s" for fps, one in rows.items())
    note = f"one noise sample, root mean squares: {told}"
    if not at_frames:
        return Evidence(fitted, note)
    return Evidence((fitted, noisy), f"{note}; measured poses {noisy.min():.2g} mm and more")


def fitted_impulses(tables: Tables) -> Evidence:
    """Identified impulses of figure 18's impacts by the simulated ones, less 1."""
    sums = _impacts(tables).groupby(["component", "kind", "impact"])["impulse_ns"].sum()
    ours, true = (sums.xs(kind, level="kind") for kind in ("identified", "simulated"))
    ratio = (ours / true).to_numpy()
    backwards = true.to_numpy()[::-1] / true.to_numpy()
    naive = {"no impulse": 0.0 * ratio - 1.0, "in reverse": backwards - 1.0}
    told = f"by the simulated ones {ratio.min():.3f} to {ratio.max():.3f}"
    return Evidence(ratio - 1.0, told, naive=naive)


def friction_by_print(published: pd.DataFrame, low: float, high: float) -> Evidence:
    """How far printed frictions are outside of the range that section 6.2 quotes."""
    rows = published[published["quantity"].isin(["friction_mu", "friction_mu_mean"])]
    values = rows["value"].to_numpy(dtype=float)
    outside = np.maximum(0.0, np.maximum(low - values, values - high))
    return Evidence(outside, f"printed {_listed(f'{value:g}' for value in values)}", PRINT)
