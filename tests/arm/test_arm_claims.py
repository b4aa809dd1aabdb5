"""Evidence for the arm paper's statements, from tables small enough to know the answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arm_for_tests import CONFIG, PUBLISHED, ROOT
from contactid.arm import claims
from contactid.arm.artefacts.shown_motions import ShownMotions, separations, velocity_changes
from contactid.arm.artefacts.two_mass import motions, system_of
from contactid.arm.claims import FastAndSlow
from contactid.arm.rigid.printed_table import copied_rows, corrected_table, printed_table
from contactid.arm.simulate.two_mass import IMPACT, RE_IMPACT, SEPARATION, TABLE_I, simulate
from contactid.output.predicates import All, Beyond, Smaller, Within
from contactid.output.statements import Evidence, evidence_of, read_statements
from contactid.output.tables import read_csv
from contactid.output.verdicts import NEEDS_ARCHIVE, NOT_DONE, PRINT
from contactid.sources.origin import SYNTHETIC, Origin

MODELS = CONFIG["models"]
SYSTEM = system_of(MODELS)
PRINTED = printed_table(read_csv(PUBLISHED))
USED = {name: float(value) for name, value in MODELS["parameters"].items()}
STATEMENTS = {
    one.name: one for one in read_statements(ROOT / "workflow/resources/published/arm_claims.yaml")
}
ORIGINS = {"twin": Origin(False, SYNTHETIC), "archive": Origin(True, "10.4121/14192429.v1")}


@pytest.fixture(scope="module")
def figure_4() -> dict[str, pd.DataFrame]:
    """The only table that the evidence from models A, B and C asks for."""
    return {"fig04_two_mass": motions(MODELS)}


def table_i(**changes: float) -> dict[str, pd.DataFrame]:
    used = USED | changes
    return {
        "tab01_parameters": pd.DataFrame({"parameter": list(used), "used": list(used.values())})
    }


def stated(name: str, tables: dict[str, pd.DataFrame], **named: object) -> Evidence:
    """The evidence that the ledger asks for."""
    return evidence_of(STATEMENTS[name], tables, named)


def events(*rows: tuple[str, str, float, float], setting: str = TABLE_I) -> dict[str, pd.DataFrame]:
    """Events of contact: model, kind, time in s and rate of the gap in m/s."""
    table = pd.DataFrame(rows, columns=["model", "event", "t_s", "gap_rate_m_s"]).assign(
        setting=setting
    )
    return {"ext_events": table}


def test_shown_motions_are_the_simulated_ones(figure_4) -> None:
    shown = ShownMotions(figure_4["fig04_two_mass"])
    for model in "ABC":
        motion = simulate(SYSTEM, model, MODELS["duration"])
        times = shown.after(0.0, 0.02)  # within the zoom
        for signal, column in (("x1", 1), ("x2", 2), ("v1", 4), ("v2", 5)):
            expected = motion.states(times)[:, column]
            np.testing.assert_allclose(
                shown.at(model, signal, times), expected, atol=2e-3 * np.ptp(expected)
            )
    compliant = simulate(SYSTEM, "A", MODELS["duration"])
    assert shown.impact == pytest.approx(compliant.impact_time, abs=1e-9)
    assert shown.end == MODELS["duration"]


def test_what_hits_nothing_keeps_its_velocity(figure_4) -> None:
    shown = ShownMotions(figure_4["fig04_two_mass"])
    times = shown.impact + np.array([0.0, 0.01, 0.02])
    speed = shown.at("no impact", "v2", times)
    assert np.ptp(speed) == 0.0 and speed[0] == pytest.approx(shown.at("A", "v2", times[:1])[0])
    np.testing.assert_allclose(np.diff(shown.at("no impact", "x2", times)), 0.01 * speed[:-1])


@given(
    offset=st.floats(-1.0, 1.0),
    factor=st.floats(0.1, 10.0),
    steps=st.lists(st.floats(-1.0, 1.0), min_size=7, max_size=7),
)
def test_velocity_changes_forget_what_was_before_and_keep_the_scale(offset, factor, steps) -> None:
    time = np.arange(-0.1, 0.1, 1e-3) + 5e-4
    shown = pd.concat(
        pd.DataFrame(
            {"joint": k, "time_s": time, "velocity_rad_s": np.where(time > 0.0, step, 0.0)}
        )
        for k, step in enumerate(steps, start=1)
    ).assign(impact_time_s=0.0)
    np.testing.assert_allclose(velocity_changes(shown), np.abs(steps), atol=1e-12)
    moved = shown.assign(velocity_rad_s=offset + factor * shown["velocity_rad_s"])
    np.testing.assert_allclose(velocity_changes(moved), factor * np.abs(steps), atol=1e-9)


def test_separations_count_from_the_impact_and_know_whether_they_end() -> None:
    rows = [("A", IMPACT, 0.1, -4.0), ("A", SEPARATION, 0.103, 0.5), ("A", RE_IMPACT, 0.11, -0.4)]
    bouncing = events(*rows)
    found = separations(bouncing["ext_events"], "A")
    assert found[["after", "speed", "closes"]].to_numpy().tolist() == [
        [pytest.approx(0.003), 0.125, True]
    ]
    assert claims.rebound(bouncing).given == [0.125]
    off_for_good = events(*rows[:2])
    assert not separations(off_for_good["ext_events"], "A")["closes"].any()


def test_a_bounce_is_early_and_not_for_good() -> None:
    others = [(model, IMPACT, 0.1, -4.0) for model in "BC"]
    hit, early, late, closed = (
        ("A", IMPACT, 0.1, -4.0), ("A", SEPARATION, 0.103, 0.5), ("A", SEPARATION, 0.14, 0.5),
        ("A", RE_IMPACT, 0.15, -0.4),
    )  # fmt: skip
    soon = Within(limit=0.01)
    for rows, bounces in (
        ([early, closed], True),
        ([late, closed], False),
        ([early], False),
        ([], False),
    ):
        found = claims.bounce(events(hit, *rows, *others))
        assert soon.holds(found.given) == bounces
        assert not any(soon.holds(wrong) for wrong in found.naive.values())
    assert claims.rebound(events(hit, *others)).given == [0.0]


def test_adhesion_is_broken_by_any_separation_and_needs_its_setting() -> None:
    hit, late = ("A", IMPACT, 0.1, -4.0), ("A", SEPARATION, 0.14, 0.5)
    stays, parts = (
        claims.adhesion(events(*rows, setting="d_env=1e+09"), "d_env=1e+09")
        for rows in ([hit], [hit, late])
    )
    assert All().holds(stays.given) and not All().holds(parts.given) and "40 ms" in parts.note
    assert claims.adhesion(events(hit), "d_env=1e+09").lack.kind == NOT_DONE


@given(st.floats(0.12, 0.14), st.floats(0.211, 0.3), st.floats(0.021, 1.0))
def test_a_fast_motion_ends_in_its_time_and_a_slow_one_does_not(
    fast: float, slow: float, size: float
) -> None:
    predicate, time = FastAndSlow(band=0.02), np.linspace(0.1, 0.3, 2001)

    def bump(at: float, share: float) -> tuple[np.ndarray, np.ndarray]:
        return np.append(time, at), np.append(np.zeros_like(time), share)

    assert predicate.cases((bump(fast, size), bump(slow, -size))) == [True, True]
    assert predicate.cases((bump(slow, size), bump(fast, size))) == [False, False]
    # nothing to see
    assert predicate.cases((bump(fast, 0.019), bump(slow, 0.019))) == [False, False]


def test_models_a_and_b_are_nearer_to_each_other_than_to_wrong_answers(figure_4) -> None:
    every = dict.fromkeys(("x1", "x2", "v2"), 0.0)
    apart = claims.models_apart(figure_4, every, 0.1, "rms")
    assert max(apart.given) < 0.003
    for wrong in apart.naive.values():
        assert all(share > 4.0 * ours for share, ours in zip(wrong, apart.given, strict=True))
    same = motions(MODELS)
    hard = same[same["model"] == "B"]
    same = pd.concat([hard.assign(model="A"), hard, same[same["model"] == "C"]], ignore_index=True)
    table = {"fig04_two_mass": same}
    assert claims.models_apart(table, every, 0.1, "rms").given == pytest.approx(
        [0.0] * 3, abs=1e-12
    )
    assert claims.models_apart(table, {"v1": 0.0}, 0.01, "mean").given == pytest.approx(
        [0.0], abs=1e-12
    )
    assert not FastAndSlow(band=0.02).cases(claims.time_scales(table).given)[0]


def test_table_i_says_how_stiff_and_how_damped() -> None:
    stiffer = STATEMENTS["contact_stiffer_than_coupling"].made()
    stiff = stated("contact_stiffer_than_coupling", table_i())
    # 100 N = 1e8 d^1.5 at d = 1e-4 m, where the slope is 1.5e8 d^0.5
    tangent, coupling = stiff.given
    assert (
        stiff.basis == PRINT
        and tangent == pytest.approx([1.5e6])
        and coupling == pytest.approx([1e4])
    )
    assert stiffer.holds(stiff.given)
    assert not stiffer.holds(stated("contact_stiffer_than_coupling", table_i(k_rob=2e6)).given)
    critical = 2.0 * np.sqrt(1e4 * 6.0 / 7.0)
    assert stated("lightly_damped", table_i(d_rob=critical)).given == pytest.approx([1.0])
    below, above = (
        stated("lightly_damped", table_i(d_rob=factor * critical)).given for factor in (0.99, 1.01)
    )
    assert Within(limit=1.0).holds(below) and not Within(limit=1.0).holds(above)


def test_figure_5_is_judged_by_its_fit_and_not_by_a_line() -> None:
    time = np.linspace(0.0, 0.15, 151)
    affine = -1.8 - 14.0 * time
    swing = -4.5 * np.exp(-46.0 * time) * np.cos(97.0 * time)
    curves = {"velocity": affine + swing, "fit": affine + swing + 0.01, "affine": affine}
    parts = [
        pd.DataFrame({"series": name, "t_s": time, "v_m_s": curve})
        for name, curve in curves.items()
    ]
    points = pd.DataFrame(
        {"series": ["reconstructed", "impact_map"], "t_s": 0.0, "v_m_s": [-1.8 * 1.01, -1.8]}
    )
    table = {"fig05_decomposition": pd.concat([*parts, points], ignore_index=True)}
    off, left = claims.extrapolation(table), claims.residual(table)
    assert off.given == pytest.approx([0.01]) and off.naive["no impact"] == pytest.approx([2.5])
    assert left.given == pytest.approx([0.01 / np.ptp(affine + swing)])
    for found in (off, left):
        assert Within(limit=0.02).holds(found.given)
        assert not any(Within(limit=0.02).holds(wrong) for wrong in found.naive.values())


def test_the_sweep_is_read_by_the_damping_that_varies() -> None:
    columns = {
        "d_rob": [40.0, 80.0, 80.0, 80.0, 150.0, 150.0], "d_env": [1e8, 1e8, 1e8, 1e9, 1e8, 1e8],
        "window_s": [0.15] * 5 + [0.3], "v1_from_b_m_s": [0.3, 0.25, 0.25, 0.15, 0.2, 0.2],
        "settling_ms": [170.0, 94.0, 94.0, 94.0, 50.0, 50.0], "fit_error_pct": [6.0, 0.1, 0.1, 9.0, -3.0, 7.0],
    }  # fmt: skip
    sweep = pd.DataFrame({"model": "A", **columns})
    sweep = pd.concat([sweep, sweep.assign(model="B", fit_error_pct=50.0)])
    damped, usual = stated("closer_to_b", {"ext_damping_sweep": sweep}).given
    assert (list(damped), list(usual)) == ([0.15], [0.25])
    left_out = stated("closer_to_b", {"ext_damping_sweep": sweep.query("d_env < 1e9")})
    assert left_out.lack.kind == NOT_DONE and "d_env=1e9" in left_out.lack.words
    # not what settles late, nor another window's
    np.testing.assert_allclose(
        stated("similar_fits", {"ext_damping_sweep": sweep}).given, [0.001, -0.03]
    )


def table_ii(printed: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Table II as the study's check hands it over."""
    corrected = corrected_table(printed)["angle_deg_corrected"]
    return {
        "printed_tab02": printed.assign(copied=copied_rows(printed), angle_deg_corrected=corrected)
    }


def test_labels_and_normal_velocities_of_a_table_that_is_right() -> None:
    assert list(stated("larger_labels_fall_steeper", table_ii(PRINTED)).given) == [False, True]
    exchanged = PRINTED.assign(
        angle_deg=PRINTED["angle_deg"].where(PRINTED["dataset"] == 2, 90 - PRINTED["angle_deg"])
    )
    steep = (PRINTED["dataset"] == 1) & (PRINTED["angle_deg"] == 90)
    exchanged.loc[steep, "angle_deg"] = 90
    assert list(stated("larger_labels_fall_steeper", table_ii(exchanged)).given) == [True, True]
    assert copied_rows(PRINTED).sum() == 1
    once = PRINTED.loc[~copied_rows(PRINTED), "vz_plus_fit"]
    error = once.std() / np.sqrt(len(once))
    assert stated("fitted_normal_velocity_is_zero", table_ii(PRINTED)).given == pytest.approx(
        [once.mean() / error]
    )
    signs = np.resize([1.0, -1.0], len(PRINTED))
    alternating = PRINTED.assign(vz_plus_fit=signs * PRINTED["vz_plus_fit"].abs())
    assert Within(limit=2.0).holds(
        stated("fitted_normal_velocity_is_zero", table_ii(alternating)).given
    )


def test_one_ratio_is_one_that_all_rows_of_a_group_allow() -> None:
    rows = pd.DataFrame(
        {
            "robot": "described", "dataset": [1, 1, 2, 2], "direction_deg": 90, "velocity_m_s": [0.1, 0.2, 0.1, 0.2],
            "ratio_least": [0.5, 0.55, 0.5, 0.6], "ratio_most": [0.6, 0.65, 0.59, 0.7], "vx_plus_fit": 0.1,
        }
    )  # fmt: skip
    # neither another arm nor a copied row, whose fit is left out, counts
    others = [
        rows.assign(robot="random_arm_1", ratio_least=9.0),
        rows.assign(ratio_least=9.0, vx_plus_fit=np.nan),
    ]
    evidence = stated("one_ratio_within_rounding", {"ext_left_out": pd.concat([rows, *others])})
    assert list(evidence.given) == [True, False] and evidence.note.endswith("1 of 2")


def test_a_prediction_without_the_arm_is_held_against_the_map_row_by_row() -> None:
    rows = pd.DataFrame(
        {"error_map": [0.01, 0.01], "error_one_ratio": [0.02, 0.02], "error_other_set": [0.0, 0.03],
         "error_shuffled": [0.02, 0.005]}
    )  # fmt: skip
    evidence = stated("map_errs_less_than_no_model", {"ext_headline": rows})
    np.testing.assert_allclose(evidence.given, [[0.01] * 4, [0.02, 0.02, 0.0, 0.03]])
    assert Smaller().cases(evidence.given) == [True, True, False, True]
    shuffled = stated("map_tells_postures_apart", {"ext_headline": rows})
    assert Smaller().cases(shuffled.given) == [True, False]


@pytest.mark.parametrize("agrees", [True, False])
def test_the_headline_s_statements_can_fail_and_hold(agrees: bool) -> None:
    """Errors of both signs and noise in v_z+, or errors of one sign and a table that leans."""
    sign = np.tile([1.0, -1.0], 3) if agrees else np.ones(6)
    along = np.linspace(0.1, 0.2, 6)
    signed = 0.01 * sign * (1.0 + 0.1 * np.arange(6))
    table = pd.DataFrame(
        {"direction_deg": [90, 90, 90, 90, 53, 53], "velocity_m_s": [0.1, 0.15, 0.2] * 2, "signed_error": signed,
         "relative_error": [0.06, 0.06, 0.06 if agrees else 0.03] * 2,
         "vz_plus_fit": 0.005 * sign if agrees else -0.04 * along}
    )  # fmt: skip
    lean = (along @ table["vz_plus_fit"]) / (along @ along)
    tables = {"ext_headline": table.assign(vz_plus_lean=lean * along)}
    for name, predicate in (
        ("errors_have_no_sign_by_direction", Within(limit=2.5)),
        ("relative_error_is_no_larger_at_slower_impacts", Within(limit=1.25)),
        ("fitted_normal_velocity_follows_no_lean", Beyond(limit=0.5)),
    ):
        assert predicate.holds(stated(name, tables).given) == agrees, name


def test_other_arms_are_held_against_the_error_that_is_measured_kind_by_kind() -> None:
    arms = pd.DataFrame(
        {"kind": list("aab"), "paper_x_mm_s": [101.0, 99.0, 80.0], "truth_x_mm_s": 100.0}
    )
    evidence = stated("other_arms_within_the_error", {"own_impacts": arms})
    assert Within(limit=8.0).cases(evidence.given) == [True, False]
    assert evidence.data == "mujoco_arms"


@pytest.mark.parametrize("data", ["twin", "archive"])
def test_only_the_paper_s_recordings_are_evidence_of_what_it_says_of_them(data: str) -> None:
    summary = pd.DataFrame(
        {"method": ["paper", "two_modes", "other"], "mean_eta_x_mm_s": [8.0, 5.0, 1.0]}
    )
    evidence = stated(
        "several_modes_err_less", {"ext_fit_summary": summary}, data=data, origins=ORIGINS
    )
    assert [list(row) for row in evidence.given] == [[5.0], [8.0]]
    nothing = claims.recorded({}, data, ORIGINS, "the vibration")
    if data == "archive":
        assert evidence.lack is None and nothing.lack.kind == NOT_DONE
    else:
        assert evidence.lack.kind == nothing.lack.kind == NEEDS_ARCHIVE
        assert nothing.lack.words == "the vibration, measured in arm_icra2021, 10.4121/14192429"
