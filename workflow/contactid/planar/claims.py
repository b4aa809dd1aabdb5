"""Evidence for the planar paper's statements (``resources/published/planar_claims.yaml``).

Wrong answers follow from rules: the other model of contact, another restitution or friction, exact
complementarity, noisy poses as they are, and the law that a simulator is given, taken alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from contactid.output.statements import Evidence
from contactid.output.verdicts import COMPUTED, PRINT
from contactid.planar.printed_scenes import SAMPLES, Tables
from contactid.planar.sweeps.measured import IDENTIFICATION, Measured
from contactid.planar.table1 import LEAST_MU, UNIFORM_ERROR_PCT, printed_cells


# ---------------------------------------------------------------- section 4: simulated motions
def times_less_offset(tables: Tables, quantity: str, printed_ms: Sequence[float]) -> Evidence:
    """Our impact times less printed ones and one offset, in time steps; a step weighs by 1/h."""
    ours = Measured(pd.concat(tables.values())).of(quantity)
    steps, times = np.array([*ours.items()]).T

    def left(found: np.ndarray) -> np.ndarray:
        apart = found - np.array(printed_ms)
        return np.asarray((apart - np.average(apart, weights=1.0 / steps)) / steps)

    naive = {"one instant": left(np.full(len(times), times.min())), "half": left(0.5 * times)}
    told = ", ".join(f"{time:g} ms at h = {step:g} ms" for step, time in ours.items())
    note = f"printed {', '.join(map(str, printed_ms))} ms; ours since release {told}"
    return Evidence(left(times), note, naive=naive)


# ---------------------------------------------------------------- section 5: eq. 27
def residuals(tables: Tables) -> Evidence:
    """Largest residuals of eq. 26 at answers of eq. 27 with one weight."""
    found = Measured(tables[f"measures_{IDENTIFICATION}"]).of("penalty_residual")
    exact = float(tables[SAMPLES]["complementarity"].median())
    note = ", ".join(
        f"{residual:.3g} with the weight {weight:g}" for weight, residual in found.items()
    )
    return Evidence(
        [*found.values()], note, naive={"exact complementarity": [exact], "none": [0.0]}
    )


def spread_of_impulses(tables: Tables, quantities: Sequence[str]) -> Evidence:
    """Largest share (%) of an impact's impulse that acts beside its strongest instant."""
    measures = Measured(tables[f"measures_{IDENTIFICATION}"])
    found = [share for name in quantities for share in measures.of(name).values()]
    normal = _impacts(tables).query("component == 'c_n'").groupby(["kind", "impact"])["impulse_ns"]
    largest = (100.0 * (1.0 - normal.max() / normal.sum())).groupby("kind").max()
    naive = {"exact complementarity": [largest["identified"]], "simulated": [largest["simulated"]]}
    shares = ", ".join(f"{share:.3g}" for share in found)
    return Evidence(found, f"{shares} %, by weight and impact", naive=naive)


def _impacts(tables: Tables) -> pd.DataFrame:
    """Figure 18's impulses, each with the number of the simulated impact that it is nearest to."""
    table = tables["fig18_identified_impulses"]
    acting = table[table["impulse_ns"].abs() > 0.0]
    simulated = acting.query("kind == 'simulated' and component == 'c_n'")["time_ms"].to_numpy()
    away = np.abs(acting["time_ms"].to_numpy()[:, None] - simulated)
    return acting.assign(impact=away.argmin(axis=1))


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


def error_trends(tables: Tables, along: Sequence[str], of: Sequence[str]) -> Evidence:
    """Sizes of errors of J/m or their standard errors, as printed or ours, by frame rate or
    friction.
    """
    if "published" in tables:
        cells = printed_cells(tables["published"])
        cells, origin = cells.assign(size=cells["printed"].abs()), PRINT
    else:
        cells, origin = _cells(tables), COMPUTED
    pairs = [(cells[x], cells[y]) for x in along for y in of]
    taus = [f"{kendalltau(x, y).statistic:.2f} ({y.name} along {x.name})" for x, y in pairs]
    note = f"Kendall's tau over {len(cells)} cells: {', '.join(taus)}"
    given = [np.column_stack(pair).tolist() for pair in pairs]
    return Evidence(given, note, origin)


def found_friction(tables: Tables) -> Evidence:
    """Identified friction less the true one, or less the least that rolls where that is smaller.

    Of each friction from 0.2 on, the mean over frame rates of the medians.
    """
    measures = Measured(tables[f"measures_{IDENTIFICATION}"])
    (least,) = measures.of("rolling_mu").values()
    means = _cells(tables).groupby("mu")["friction_mu"].mean()
    true = np.array([mu for mu in measures.same_motion() if mu > LEAST_MU])
    found = means[[measures.same_motion()[mu] for mu in true]].to_numpy()
    # a body that rolls shows no more friction than rolling needs
    expected = np.minimum(true, least)
    naive = {"never rolling": true - expected, "one for all": np.median(found) - expected}
    note = ", ".join(f"{mu:g}: {one:.3f}" for mu, one in zip(true, found, strict=True))
    return Evidence(found - expected, f"rolls from {least:.3f} on; identified {note}", naive=naive)


def paths(tables: Tables, at_frames: bool) -> Evidence:
    """Rms distances (mm) from figure 17's simulated path, by frame rate.

    Of all of the fitted path; or of its places at the frames, and of the measured ones.
    """
    by_rate: dict[Any, list[float]] = {}
    for fps, rows in tables["fig17_identified_trajectories"].dropna(subset="x_mm").groupby("fps"):
        times = rows.loc[rows["kind"] == ("measured" if at_frames else "identified"), "time_ms"]
        places = {kind: _places_at(times, path) for kind, path in rows.groupby("kind")}
        by_rate[fps] = [
            _rms_distance(places[kind], places["simulated"]) for kind in ("identified", "measured")
        ]
    fitted, noisy = np.transpose([*by_rate.values()])
    distances = (
        f"{rms:.2g} mm at {fps:g} frames/s" for fps, rms in zip(by_rate, fitted, strict=True)
    )
    note = f"one noise sample, root mean squares: {', '.join(distances)}"
    if not at_frames:
        return Evidence(fitted, note)
    return Evidence((fitted, noisy), f"{note}; measured poses {noisy.min():.2g} mm and more")


def _places_at(times: pd.Series, path: pd.DataFrame) -> np.ndarray:
    """(2, n) places (mm) on a path of figure 17 at times (ms)."""
    return np.array([np.interp(times, path["time_ms"], path[axis]) for axis in ("x_mm", "y_mm")])


def _rms_distance(places: np.ndarray, others: np.ndarray) -> float:
    squares = ((places - others) ** 2).sum(axis=0)
    return float(np.sqrt(squares.mean()))


def fitted_impulses(tables: Tables) -> Evidence:
    """Identified impulses of figure 18's impacts by the simulated ones, less 1."""
    sums = _impacts(tables).groupby(["component", "kind", "impact"])["impulse_ns"].sum()
    ours, true = (sums.xs(kind, level="kind") for kind in ("identified", "simulated"))
    ratio = (ours / true).to_numpy()
    # a wrong answer of the right size: impacts in reverse order
    backwards = true.to_numpy()[::-1] / true.to_numpy()
    naive = {"no impulse": 0.0 * ratio - 1.0, "in reverse": backwards - 1.0}
    told = f"by the simulated ones {ratio.min():.3f} to {ratio.max():.3f}"
    return Evidence(ratio - 1.0, told, naive=naive)
