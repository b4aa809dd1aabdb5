"""Evidence for the planar paper's statements, from tables of a few numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from contactid.output.predicates import Within
from contactid.output.statements import Evidence, evidence_of, read_statements
from contactid.planar import claims
from contactid.planar.printed_scenes import SAMPLES

ROOT = Path(__file__).parents[2]
LEDGER = ROOT / "workflow/resources/published/planar_claims.yaml"
STATEMENTS = yaml.safe_load(LEDGER.read_text(encoding="utf-8"))["statements"]
READ = {one.name: one for one in read_statements(LEDGER)}
DIVERSE = st.lists(st.integers(1, 1000), min_size=3, max_size=3).map(np.array)


def measures(**quantities: dict[float, float]) -> dict[str, pd.DataFrame]:
    """A table of measures of the stated body, by quantity and what it was found at."""
    rows = [
        ("stated", name, at, value)
        for name, found in quantities.items()
        for at, value in found.items()
    ]
    table = pd.DataFrame(rows, columns=["body", "quantity", "at", "value"])
    return {"measures_identification": table.astype({"at": float, "value": float})}


def stated(name: str, tables: dict[str, pd.DataFrame]) -> Evidence:
    """The evidence that the ledger asks for; a table of measures stands for those of all scenes."""
    one_for_all = dict.fromkeys(READ[name].tables, next(iter(tables.values())))
    return evidence_of(READ[name], {**one_for_all, **tables}, {})


def impacts(
    identified: dict[float, float], simulated: dict[float, float]
) -> dict[str, pd.DataFrame]:
    """Figure 18's normal impulses, and as many tangential ones, by time."""
    rows = [
        (component, kind, time, sign * size)
        for component, sign in (("c_n", 1.0), ("c_t", -0.5))
        for kind, found in (("identified", identified), ("simulated", simulated))
        for time, size in found.items()
    ]
    table = pd.DataFrame(rows, columns=["component", "kind", "time_ms", "impulse_ns"])
    return {"fig18_identified_impulses": table}


def samples(
    friction: dict[float, float], errors: dict[float, float] | None = None
) -> dict[str, pd.DataFrame]:
    """Table 1's samples, identified friction by the true one, and errors of J/m by frame rate."""
    rows = [
        (mu, fps, True, error, error, found, 1e-12)
        for mu, found in friction.items()
        for fps, error in (errors or {30.0: 1.0, 240.0: 1.0}).items()
    ]
    names = [
        "mu",
        "fps",
        "converged",
        "error_pct",
        "inertia_ratio_se_mm2",
        "friction_mu",
        "complementarity",
    ]
    return {SAMPLES: pd.DataFrame(rows, columns=names)}


def test_every_statement_with_evidence_names_a_function_and_each_function_is_named() -> None:
    every = [one["evidence"].split(":") for one in STATEMENTS if "evidence" in one]
    named = {function for module, function in every if module == claims.__name__}
    own = {
        name
        for name, one in vars(claims).items()
        if getattr(one, "__module__", "") == claims.__name__
    }
    assert named == {name for name in own if not name.startswith("_")}


def test_thresholds_have_a_reason_and_lacks_have_words() -> None:
    for one in STATEMENTS:
        assert all(limit["why"] for limit in one.get("thresholds", {}).values()), one["name"]
        assert ("evidence" in one) != bool(one.get("lacks", {}).get("words")), one["name"]


# ---------------------------------------------------------------- measures
STEPS = (1.0, 2.0, 5.0)  # ms


def at(places: tuple[float, ...], *values: float) -> dict[float, float]:
    return dict(zip(places, values, strict=True))


def test_measures_are_taken_by_what_they_were_measured_at_and_beside_naive_answers() -> None:
    evidence = stated(
        "motion_similar",
        measures(
            throw_models_apart_m=at(STEPS[::-1], 3.0, 2.0, 1.0), throw_no_friction_apart_m=at(STEPS, 7.0, 8.0, 9.0),
            throw_other_restitution_apart_m=at(STEPS, 4.0, 5.0, 6.0),
        ),
    )  # fmt: skip
    assert evidence.given.tolist() == [1.0, 2.0, 3.0] and evidence.note.endswith(": 1, 2, 3")
    assert {name: list(given) for name, given in evidence.naive.items()} == {
        "restitution 0.2": [4.0, 5.0, 6.0], "no friction": [7.0, 8.0, 9.0],
    }  # fmt: skip


def test_instants_of_both_scenes_are_held_against_all_weaker_ones() -> None:
    second, third, none = (
        at(STEPS, 9.0, 8.0, 7.0),
        at(STEPS, 1.0, 1.0, 2.0),
        at(STEPS, 0.0, 0.0, 0.5),
    )
    drop = measures(
        drop_gap_second=second,
        drop_second=none,
        drop_gap_third=third,
        drop_free_directions={0.0: 2.0},
    )
    throw = measures(throw_gap_second=third, throw_second=none, throw_gap_third=none)
    both = (("drop", drop), ("throw", throw))
    by_scene = {f"measures_{scene}": table for scene, one in both for table in one.values()}
    first, weaker = stated("instants_of_an_impact", by_scene).given
    assert first.tolist() == [9.0, 8.0, 7.0, 1.0, 1.0, 2.0] and sorted(weaker)[-3:] == [
        1.0,
        1.0,
        2.0,
    ]
    assert len(weaker) == 12


def test_laws_take_the_form_of_what_is_stated() -> None:
    peaks = measures(
        throw_peak_ns=at(STEPS, 3.0, 3.0, 3.0), throw_gap_peak_ns=at(STEPS, 1.0, 2.0, 3.0)
    )
    evidence = stated("peaks_nearly_equal", peaks)
    assert evidence.given.tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_allclose(evidence.naive["gap complementarity"], [-0.5, 0.0, 0.5])
    np.testing.assert_allclose(
        evidence.naive["a force that lasts one step"], [-0.625, -0.25, 0.875]
    )
    frictions = (0.0, 0.1, 0.3)
    early = measures(
        sliding_first_loss_j=at(frictions, 0.0, 2.0, 5.0), sliding_first_spin_rad_s=at(frictions, 0.0, -1.0, -4.0),
        liftoff_mu={1.0: 0.4},
    )  # fmt: skip
    steps = stated("more_friction_does_more", early)
    np.testing.assert_allclose(steps.given, [2.0, 3.0, 1.0, 3.0])
    assert (steps.naive["Coulomb's law"] > 0.0).all()
    heights = stated(
        "bounces_higher_with_restitution",
        measures(bounce_height_m=at((0.0, 0.5, 1.0), 1.0, 2.0, 3.0)),
    )
    assert heights.naive["Newton's law, heights"].tolist() == [0.0, 0.25, 1.0]
    losses = stated(
        "first_loss_falls_with_restitution", measures(bounce_loss_pct=at((0.0, 1.0), 30.0, 0.0))
    )
    assert losses.naive["Newton's law, losses"].tolist() == [1.0, 0.0]


def test_frictions_below_and_above_the_least_that_lifts_are_told_apart() -> None:
    frictions = tuple(np.round(np.arange(0.0, 1.05, 0.1), 1))
    table = measures(sliding_lossless_s=dict(zip(frictions, frictions, strict=True)))
    low, high = (
        stated(name, table) for name in ("loses_energy_throughout", "keeps_energy_in_flight")
    )
    np.testing.assert_allclose(low.given, [0.1, 0.2])
    np.testing.assert_allclose(high.given, np.arange(0.4, 1.05, 0.1))
    assert {name: list(given) for name, given in {**low.naive, **high.naive}.items()} == {
        "no friction": [0.0], "friction 0.4": [0.4], "friction 0.1": [0.1], "friction 0.3": [0.3],
    }  # fmt: skip


@given(DIVERSE, st.floats(-1e4, 1e4))
def test_a_common_offset_of_impact_times_makes_no_difference(printed, offset) -> None:
    steps = (1.0, 2.0, 5.0)

    def left(times: np.ndarray) -> np.ndarray:
        tables = measures(t_ms=dict(zip(steps, times, strict=True)))
        return claims.times_less_offset(tables, "t_ms", printed.tolist()).given

    np.testing.assert_allclose(left(printed + offset), 0.0, atol=1e-8)
    moved = left(printed + offset + [0.0, 0.0, 10.0])
    assert (
        moved[2] > 0.0 > moved[0] and moved[2] + np.abs(moved[:2] * [1.0, 0.4]).sum() >= 2.0 - 1e-6
    )


def test_directions_are_counted_less_the_expected_ones() -> None:
    table = measures(drop_free_directions={0.0: 2.0}, penalty_free_directions={1e3: 1.0, 1e5: 1.0})
    evidence = stated("free_directions_of_other_motions", table)
    assert evidence.given.tolist() == [0.0, 0.0, 0.0]
    assert not any(Within(limit=0.5).holds(wrong) for wrong in evidence.naive.values())


# ---------------------------------------------------------------- tables of the run
def test_orders_are_those_of_both_models() -> None:
    rows = [
        ("IRC", "drop", 1.0),
        ("IGC", "drop", 0.1),
        ("IRC", "throw", 0.9),
        ("IGC", "throw", 0.2),
    ]
    table = pd.DataFrame(rows, columns=["model", "scene", "order"]).assign(order_se=0.01)
    first, second = stated("restitution_alone_converges", {"ext_impulse_convergence": table}).given
    assert first.tolist() == [1.0, 0.9] and second.tolist() == [0.1, 0.2]


def test_thresholds_of_lift_off_are_less_the_printed_one() -> None:
    table = pd.DataFrame(
        {"duration_s": [1.0, 2.0], "clearance_mm": [10.0, 10.0], "friction_mu": [0.38, 0.3]}
    )
    np.testing.assert_allclose(
        stated("low_friction_keeps_contact", {"ext_liftoff": table}).given, [-0.02, -0.1]
    )


def test_residuals_and_spread_refuse_exact_answers() -> None:
    tables = measures(penalty_residual={1e3: 0.1}, spread_pct={0.01: 20.0, 0.02: 30.0})
    exact = claims.residuals({**tables, **samples({0.2: 0.2})})
    assert exact.given == [0.1] and exact.naive["exact complementarity"] == [1e-12]
    shown = impacts({9.0: 1.0, 11.0: 3.0, 20.0: 2.0}, {10.0: 4.0, 20.0: 2.0})
    spread = claims.spread_of_impulses({**tables, **shown}, ["spread_pct"])
    assert spread.given == [20.0, 30.0]
    assert spread.naive == {"exact complementarity": [25.0], "simulated": [0.0]}


@given(st.floats(0.1, 10.0))
def test_impulses_are_compared_impact_by_impact(factor) -> None:
    simulated = {10.0: 4.0, 20.0: 2.0, 30.0: 1.0}
    found = claims.fitted_impulses(
        impacts({time + 1.0: factor * size for time, size in simulated.items()}, simulated)
    )
    np.testing.assert_allclose(found.given, factor - 1.0)
    assert (
        np.abs(found.naive["in reverse"]).max() > 0.5 and (found.naive["no impulse"] == -1.0).all()
    )


def test_other_columns_of_stored_tables() -> None:
    truths = pd.DataFrame(
        [("differing_restitution", 0.2, 0.8, 1.6, 18.0), ("as_table_1", 9.0, 9.0, 9.0, 9.0)],
        columns=["truth", "error_abs_median_pct", "error_abs_largest_pct", "one_restitution_error_abs_median_pct",
                 "one_restitution_error_abs_largest_pct"],
    )  # fmt: skip
    ours, one = stated("one_restitution_spoils_the_fit", {"ext_hard_truths": truths}).given
    assert ours.tolist() == [0.2, 0.8] and one.tolist() == [1.6, 18.0]
    ways = ["contact_sequence", "l1_penalty", "scholtes", "squared_penalty", "pyomo_mpec"]
    good = pd.DataFrame({"reformulation": ways, "iterations_median": [9.0, 5.0, 50.0, 6.0, 60.0]})
    good = good.assign(throws="table_1", start="fitted_motion")
    table = pd.concat([good, good.assign(start="measured_poses", iterations_median=1.0)])
    slow, fast = stated("penalty_converges_faster", {"ext_reformulations": table}).given
    assert slow.tolist() == [50.0, 60.0] and fast.tolist() == [5.0, 6.0]


def test_cells_count_each_motion_once_and_solved_throws_alone() -> None:
    tables = measures(
        throw_same_as_mu={0.1: 0.1, 0.5: 0.5, 0.6: 0.6, 0.7: 0.6}, rolling_mu={0.2: 0.57}
    )
    tables |= samples({0.1: 0.1, 0.5: 0.5, 0.6: 0.57, 0.7: 0.57}, {30.0: -4.0, 240.0: 2.0})
    errors, uniform = claims.errors_by_cell(tables).given
    assert errors.tolist() == [4.0, 2.0, 4.0, 2.0] and uniform[0] == pytest.approx(3.3, abs=0.1)
    (trend,) = claims.error_trends(tables, ["fps"], ["size"]).given
    assert trend == [[30.0, 4.0], [240.0, 2.0]] * 3
    found = claims.found_friction(tables)
    np.testing.assert_allclose(
        found.given, 0.0, atol=1e-12
    )  # of 0.5, 0.6 and 0.7, of which two roll
    np.testing.assert_allclose(found.naive["never rolling"], [0.0, 0.03, 0.13])
    tables[SAMPLES] = tables[SAMPLES].assign(converged=tables[SAMPLES]["mu"] > 0.5)
    assert claims.errors_by_cell(tables).given[0].tolist() == [4.0, 2.0]


def test_paths_are_compared_all_along_or_at_the_frames() -> None:
    rows = [
        (0.0, "simulated", 0.0),
        (4.0, "simulated", 0.0),
        (0.0, "measured", 3.0),
        (4.0, "measured", 3.0),
    ]
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
    found = claims.error_trends({"published": published}, ["fps", "mu"], ["size"])
    assert (
        found.given == [[[30.0, 16.0], [240.0, 1.0]], [[0.2, 16.0], [0.9, 1.0]]]
        and found.basis == "print"
    )
    outside = stated("friction_within_literature", {"published": published})
    np.testing.assert_allclose(outside.given, [0.0, 0.1])
    assert outside.basis == "print"


def test_statements_by_time_step_are_of_the_steps_that_figures_show() -> None:
    """Other measures of the same scenes are at other time steps, where these have no value."""
    steps = dict.fromkeys(STEPS, 1.0)
    throw = measures(
        throw_models_apart_m=steps,
        throw_no_friction_apart_m=steps,
        throw_other_restitution_apart_m=steps,
        throw_restitution_error_m=steps,
        throw_gap_error_m=steps,
        throw_peak_ns=steps,
        throw_gap_peak_ns=steps,
        throw_least_gap_mm={0.1: -1.0, **steps},
    )
    for name in ("motion_similar", "gap_spoils_motion", "peaks_nearly_equal"):
        assert np.isfinite(np.ravel(stated(name, throw).given)).all(), name
