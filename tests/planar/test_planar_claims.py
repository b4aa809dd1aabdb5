"""Evidence for the planar paper's statements, from tables of a few numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from contactid.planar import claims
from contactid.planar.printed_scenes import SAMPLES

ROOT = Path(__file__).parents[2]
LEDGER = yaml.safe_load((ROOT / "workflow/resources/published/planar_claims.yaml").read_text(encoding="utf-8"))
STATEMENTS = LEDGER["statements"]
DIVERSE = st.lists(st.integers(1, 1000), min_size=3, max_size=3).map(np.array)


def measures(**quantities: dict[float, float]) -> dict[str, pd.DataFrame]:
    """A table of measures of the stated body, by quantity and what it was found at."""
    rows = [("stated", name, at, value) for name, found in quantities.items() for at, value in found.items()]
    table = pd.DataFrame(rows, columns=["body", "quantity", "at", "value"])
    return {"measures_identification": table.astype({"at": float, "value": float})}


def impacts(identified: dict[float, float], simulated: dict[float, float]) -> dict[str, pd.DataFrame]:
    """Figure 18's normal impulses, and as many tangential ones, by time."""
    rows = [
        (component, kind, time, sign * size)
        for component, sign in (("c_n", 1.0), ("c_t", -0.5))
        for kind, found in (("identified", identified), ("simulated", simulated))
        for time, size in found.items()
    ]
    table = pd.DataFrame(rows, columns=["component", "kind", "time_ms", "impulse_ns"])
    return {"fig18_identified_impulses": table}


def samples(friction: dict[float, float], errors: dict[float, float] | None = None) -> dict[str, pd.DataFrame]:
    """Table 1's samples, identified friction by the true one, and errors of J/m by frame rate."""
    rows = [
        (mu, fps, True, error, error, found, 1e-12)
        for mu, found in friction.items()
        for fps, error in (errors or {30.0: 1.0, 240.0: 1.0}).items()
    ]
    names = ["mu", "fps", "converged", "error_pct", "inertia_ratio_se_mm2", "friction_mu", "complementarity"]
    return {SAMPLES: pd.DataFrame(rows, columns=names)}


def test_every_statement_with_evidence_names_a_function_and_each_function_is_named() -> None:
    named = {one["evidence"].rpartition(":")[2] for one in STATEMENTS if "evidence" in one}
    own = {name for name, one in vars(claims).items() if getattr(one, "__module__", "") == claims.__name__}
    assert named == {name for name in own if not name.startswith("_")}


def test_thresholds_have_a_reason_and_lacks_have_words() -> None:
    for one in STATEMENTS:
        assert all(limit["why"] for limit in one.get("thresholds", {}).values()), one["name"]
        assert ("evidence" in one) != bool(one.get("lacks", {}).get("words")), one["name"]


# ---------------------------------------------------------------- measures
def test_measures_are_taken_in_order_between_bounds_and_beside_naive_answers() -> None:
    tables = measures(a={0.0: 9.0, 1.0: 2.0, 2.0: 4.0}, b={1.0: 7.0}, c={1.0: 5.0, 2.0: 6.0})
    found = claims.measured(
        tables, ["a", "b"], between=(0.5, 2.5), others={"c": "c"}, elsewhere={"at 0": 0.0}, by_rule={"none": -1.0}
    )
    assert found.given.tolist() == [2.0, 4.0, 7.0] and found.note == "a 2 at 1, 4 at 2; b 7 at 1"
    assert {name: list(given) for name, given in found.naive.items()} == {
        "c": [5.0, 6.0, 5.0], "at 0": [9.0] * 3, "none": [-1.0] * 3,
    }  # fmt: skip
    first, second = claims.measured(tables, ["a"], against=["b", "c"]).given
    assert first.tolist() == [9.0, 2.0, 4.0] and second.tolist() == [7.0, 5.0, 6.0]


@pytest.mark.parametrize(
    ("form", "given", "by_law"),
    [
        ("values", [1.0, -3.0, 5.0], [0.0, 1.0, 2.0]),
        ("steps", [2.0, 2.0], [1.0, 1.0]),
        ("off their mean", [0.0, -4.0, 4.0], [-1.0, 0.0, 1.0]),
        ("pairs", [[0.0, 1.0], [1.0, -3.0], [2.0, 5.0]], [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]),
    ],
)
def test_a_law_takes_the_form_of_the_measures(form, given, by_law) -> None:
    tables = measures(a={0.0: 1.0, 1.0: -3.0, 2.0: 5.0})
    found = claims.measured(tables, ["a"], form=form, law="Coulomb's law")
    np.testing.assert_allclose(found.given, given)
    np.testing.assert_allclose(found.naive["Coulomb's law"], by_law)


@given(DIVERSE, st.floats(-1e4, 1e4))
def test_a_common_offset_of_impact_times_makes_no_difference(printed, offset) -> None:
    steps = (1.0, 2.0, 5.0)

    def left(times: np.ndarray) -> np.ndarray:
        tables = measures(t_ms=dict(zip(steps, times, strict=True)))
        return claims.times_less_offset(tables, "t_ms", printed.tolist()).given

    np.testing.assert_allclose(left(printed + offset), 0.0, atol=1e-8)
    moved = left(printed + offset + [0.0, 0.0, 10.0])
    assert moved[2] > 0.0 > moved[0] and moved[2] + np.abs(moved[:2] * [1.0, 0.4]).sum() >= 2.0 - 1e-6


def test_directions_are_counted_less_the_expected_ones() -> None:
    tables = measures(spinning={0.0: 1.0, 1.0: 1.0}, still={0.0: 2.0})
    found = claims.free_directions(tables, {"spinning": 1, "still": 2})
    assert found.given.tolist() == [0.0, 0.0, 0.0]
    assert found.naive["one everywhere"].tolist() == [0.0, 0.0, -1.0]


# ---------------------------------------------------------------- tables of the run
def test_orders_are_those_of_both_models() -> None:
    rows = [("IRC", "drop", 1.0), ("IGC", "drop", 0.1), ("IRC", "throw", 0.9), ("IGC", "throw", 0.2)]
    table = pd.DataFrame(rows, columns=["model", "scene", "order"]).assign(order_se=0.01)
    first, second = claims.orders_of_convergence({"ext_impulse_convergence": table}).given
    assert first.tolist() == [1.0, 0.9] and second.tolist() == [0.1, 0.2]


def test_thresholds_of_lift_off_are_less_the_printed_one() -> None:
    table = pd.DataFrame({"duration_s": [1.0, 2.0], "clearance_mm": [10.0, 10.0], "friction_mu": [0.38, 0.3]})
    found = claims.liftoff_thresholds({"ext_liftoff": table}, 0.4)
    np.testing.assert_allclose(found.given, [-0.02, -0.1])
    assert "0.300 within 2 s" in found.note


def test_residuals_and_spread_refuse_exact_answers() -> None:
    tables = measures(penalty_residual={1e3: 0.1}, spread_pct={0.01: 20.0, 0.02: 30.0})
    exact = claims.residuals({**tables, **samples({0.2: 0.2})})
    assert exact.given.tolist() == [0.1] and exact.naive["exact complementarity"].tolist() == [1e-12]
    shown = impacts({9.0: 1.0, 11.0: 3.0, 20.0: 2.0}, {10.0: 4.0, 20.0: 2.0})
    spread = claims.spread_of_impulses({**tables, **shown}, ["spread_pct"])
    assert spread.given.tolist() == [20.0, 30.0]
    assert spread.naive["exact complementarity"].tolist() == [25.0, 25.0]
    assert spread.naive["simulated"].tolist() == [0.0, 0.0]


@given(st.floats(0.1, 10.0))
def test_impulses_are_compared_impact_by_impact(factor) -> None:
    simulated = {10.0: 4.0, 20.0: 2.0, 30.0: 1.0}
    found = claims.fitted_impulses(impacts({time + 1.0: factor * size for time, size in simulated.items()}, simulated))
    np.testing.assert_allclose(found.given, factor - 1.0)
    assert np.abs(found.naive["in reverse"]).max() > 0.5 and (found.naive["no impulse"] == -1.0).all()


def test_other_columns_of_stored_tables() -> None:
    truths = pd.DataFrame(
        [("differing_restitution", 0.2, 0.8, 1.6, 18.0), ("as_table_1", 9.0, 9.0, 9.0, 9.0)],
        columns=["truth", "error_abs_median_pct", "error_abs_largest_pct", "start_error_abs_median_pct",
                 "start_error_abs_largest_pct"],
    )  # fmt: skip
    assert claims.beside_one_restitution({"ext_hard_truths": truths}).given == ([0.2, 0.8], [1.6, 18.0])
    ways = pd.DataFrame({"reformulation": ["a", "b", "c"], "iterations_median": [5.0, 50.0, 60.0]})
    assert claims.iterations({"ext_reformulations": ways}, ["a"], ["c", "b"]).given == ([60.0, 50.0], [5.0])


def test_cells_count_each_motion_once_and_solved_throws_alone() -> None:
    tables = measures(throw_same_as_mu={0.1: 0.1, 0.5: 0.5, 0.6: 0.6, 0.7: 0.6}, rolling_mu={0.2: 0.57})
    tables |= samples({0.1: 0.1, 0.5: 0.5, 0.6: 0.57, 0.7: 0.57}, {30.0: -4.0, 240.0: 2.0})
    errors, uniform = claims.errors_by_cell(tables).given
    assert errors.tolist() == [4.0, 2.0, 4.0, 2.0] and uniform[0] == pytest.approx(3.3, abs=0.1)
    (trend,) = claims.our_error_trends(tables, ["fps"], ["size"]).given
    assert trend == [[30.0, 4.0], [240.0, 2.0]] * 3
    found = claims.found_friction(tables)
    np.testing.assert_allclose(found.given, 0.0, atol=1e-12)  # of 0.5, 0.6 and 0.7, of which two roll
    np.testing.assert_allclose(found.naive["never rolling"], [0.0, 0.03, 0.13])
    tables[SAMPLES] = tables[SAMPLES].assign(converged=tables[SAMPLES]["mu"] > 0.5)
    assert claims.errors_by_cell(tables).given[0].tolist() == [4.0, 2.0]


def test_paths_are_compared_all_along_or_at_the_frames() -> None:
    rows = [(0.0, "simulated", 0.0), (4.0, "simulated", 0.0), (0.0, "measured", 3.0), (4.0, "measured", 3.0)]
    rows += [(0.0, "identified", 1.0), (2.0, "identified", 5.0), (4.0, "identified", 1.0)]
    table = pd.DataFrame(rows, columns=["time_ms", "kind", "x_mm"]).assign(y_mm=0.0, fps=60.0)
    frame = {"fig17_identified_trajectories": table}
    np.testing.assert_allclose(claims.paths(frame, at_frames=False).given, [3.0])
    fitted, noisy = claims.paths(frame, at_frames=True).given
    assert fitted.tolist() == [1.0] and noisy.tolist() == [3.0]


def test_printed_numbers_alone() -> None:
    cell = "friction_mu={mu};fps={fps}"
    rows = [("tab01", "inertia_ratio_error_pct", cell.format(mu=0.2, fps=30), -16.0)]
    rows += [("tab01", "inertia_ratio_error_pct", cell.format(mu=0.9, fps=240), 1.0)]
    rows += [("fig22", "friction_mu", "a", 0.3), ("text", "friction_mu_mean", "b", 0.6)]
    published = pd.DataFrame(rows, columns=["artefact", "quantity", "condition", "value"])
    found = claims.printed_error_trends(published, ["fps", "mu"])
    assert found.given == [[[30.0, 16.0], [240.0, 1.0]], [[0.2, 16.0], [0.9, 1.0]]] and found.basis == "print"
    outside = claims.friction_by_print(published, 0.25, 0.5)
    np.testing.assert_allclose(outside.given, [0.0, 0.1])
