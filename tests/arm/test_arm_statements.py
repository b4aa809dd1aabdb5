"""Statements of the arm paper: each holds for a case that is known, and its stored counterexample is what it says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from arm_for_tests import CONFIG, lwr4
from contactid.arm import statements
from contactid.arm.artefacts.damping_sweep import sweep_table
from contactid.arm.artefacts.two_mass import decompose, system_of
from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.rigid.postures import stated_posture
from contactid.arm.simulate.two_mass import IMPACT, RE_IMPACT, SEPARATION, TwoMassMotion, simulate

SYSTEM = system_of(CONFIG["models"])


def moved(model: str, duration: float = 0.3, **changed: float) -> TwoMassMotion:
    return simulate(replace(SYSTEM, **changed), model, duration)


def events(motion: TwoMassMotion) -> list[tuple[str, float]]:
    return [(event.kind, event.time - motion.impact_time) for event in motion.events]


@pytest.mark.parametrize(
    ("holds", "true", "false"),
    [
        (statements.has_common_ratio, [(0.0, -0.1, 0.05), (0.1, -0.2, 0.2), (0.0, -0.3, 0.151)], statements.TWO_RATIOS),
        (statements.labels_in_order, [(30, 50), (30, 71), (60, 70), (90, 94)], statements.EXCHANGED_LABELS),
        (statements.bounces_first, [(IMPACT, 0), (SEPARATION, 0.01), (RE_IMPACT, 0.2)], statements.NO_BOUNCE),
        (statements.no_early_bounce, statements.NO_BOUNCE, statements.BOUNCE),
        (statements.no_bounce, [(IMPACT, 0.0)], statements.BOUNCE),
        (statements.no_bounce, [(IMPACT, 0.0)], statements.NO_BOUNCE),  # it parts later
        (statements.closer, (0.1, 0.2), statements.FARTHER),
        (statements.fast_part_is_within, [(0.1, 0.02), (0.13, -0.5), (0.2, 0.01)], statements.SLOW_BOUNCES),
        (statements.fast_part_is_within, [(0.121, 0.1)], [(0.13, 0.01)]),  # nothing to see
        (statements.lasts, 0.22, statements.SETTLED_EARLY),
        (statements.swings_twice, [2.0, -0.5, 0.01, 0.1, 0.0], statements.ONE_SWING),
        (statements.almost_inelastic, 0.07, statements.REBOUND),
        (statements.stiffer, (1e6, 1e4), statements.SOFT_CONTACT),
        (statements.similar, [(94.0, 0.1), (151.0, 30.0)], statements.NOT_SIMILAR),
        (statements.only_the_plane_moves, [0.1, -0.5, 0.1, 0.3, 0.0, -0.4, 0.1], statements.OUT_OF_THE_PLANE),
        (statements.fits_meet_the_map, [(0.19, 0.2), (0.21, 0.2)], statements.NO_IMPACT),
        (statements.same, -0.019, statements.OTHER_AVERAGE),
        (statements.same, 0.02, statements.OFF_THE_MAP),
        (statements.same, 0.0, statements.MORE_THAN_ONE_MODE),
        (statements.same, 0.01, statements.LATE_DEPARTURE),
        *((statements.same, 0.0, share) for share in statements.FAR_FROM_B.values()),
    ],
)  # fmt: skip
def test_a_statement_holds_where_it_should_and_not_for_its_counterexample(holds, true, false) -> None:
    assert holds(true) and not holds(false)


@pytest.mark.parametrize(("r", "common"), [(0.6, True), (0.62, True), (0.64, False)])
def test_a_common_ratio_is_found_as_far_as_rounding_goes(r: float, common: bool) -> None:
    """Of two exact rows that are rounded, and of two whose ratios are farther apart than rounding can bring them."""
    rows = [(0.0, -0.1, 0.06), (0.05, -0.1, round(0.05 + 0.1 * r, 3))]
    assert statements.has_common_ratio(rows) == common


def test_counterexamples_of_other_contact_dampings_are_what_the_models_do() -> None:
    hard, damped, soft, softest = (
        moved("B"), moved("A", d_env=1e9), moved("A", d_env=1e7), moved("A", d_env=1e6),
    )  # fmt: skip
    for known, motion in ((statements.NO_BOUNCE, damped), (statements.BOUNCE, moved("A"))):
        found = events(motion)[: len(known)]
        assert [kind for kind, _ in known] == [kind for kind, _ in found]
        np.testing.assert_allclose([t for _, t in known], [t for _, t in found], atol=1e-5)
    start = hard.impact_time
    assert start == pytest.approx(softest.impact_time)
    for name, share in statements.FAR_FROM_B.items():
        column = ("x0_m", "x1_m", "x2_m", "v0_m_s", "v1_m_s", "v2_m_s").index(name)
        times = start + np.arange(0.01 if name == "v1_m_s" else 1e-5, 0.1, 2e-5)
        ours, theirs = softest.states(times)[:, column], hard.states(times)[:, column]
        assert np.sqrt(((ours - theirs) ** 2).mean()) / np.ptp(theirs) == pytest.approx(share, rel=0.05)
    jump = -hard.states(np.array([start]), before=True)[0, 4]
    times = start + np.arange(1e-5, 0.01, 2e-5)
    apart = (soft.states(times)[:, 4] - hard.states(times)[:, 4]) / jump
    assert apart.mean() == pytest.approx(statements.OTHER_AVERAGE, rel=0.2)
    times, shares = np.array(statements.SLOW_BOUNCES).T
    np.testing.assert_allclose((soft.states(times)[:, 4] - hard.states(times)[:, 4]) / jump, shares, atol=0.01)
    impact, parted = soft.events[:2]
    assert -parted.gap_rate / impact.gap_rate == pytest.approx(statements.REBOUND, abs=1e-3)


def test_counterexamples_of_other_couplings_are_what_the_models_do() -> None:
    runs = [moved("A", 0.5, d_env=3e7), moved("A", 0.5), moved("B", 0.5)]
    runs += [moved(model, 0.5, d_rob=60.0) for model in "AB"]
    runs += [moved("B", 0.5, d_rob=value) for value in (100.0, 400.0)]
    table = sweep_table([("", motion) for motion in runs], [0.15], 0.001)
    damped, table_i, _, slow, slow_b, quick_b, stiff_b = table.to_dict("records")
    assert (damped["v1_from_b_m_s"], table_i["v1_from_b_m_s"]) == pytest.approx(statements.FARTHER, abs=1e-3)
    assert 0.01 * slow_b["departure_100ms_pct"] == pytest.approx(statements.LATE_DEPARTURE, abs=1e-4)
    settling = {"d_rob=60": slow_b["settling_ms"], "d_rob=400": stiff_b["settling_ms"]}
    assert settling == pytest.approx(statements.OTHER_SETTLING, abs=0.2)
    assert quick_b["impact_time_s"] + 1e-3 * quick_b["settling_ms"] == pytest.approx(statements.SETTLED_EARLY, abs=2e-4)
    assert 0.01 * slow["fit_error_pct"] == pytest.approx(statements.OFF_THE_MAP, abs=1e-3)
    similar = [(row["settling_ms"], row["fit_error_pct"]) for row in (table_i, slow)]
    np.testing.assert_allclose(similar, statements.NOT_SIMILAR, atol=0.1)
    slowest = moved("A", d_rob=40.0)
    time, fit = decompose(slowest, 0.15, 0.001)
    velocity = slowest.states(slowest.impact_time + time)[:, 5]
    residual = np.sqrt(((velocity - fit.evaluate(time)) ** 2).mean()) / np.ptp(velocity)
    assert residual == pytest.approx(statements.MORE_THAN_ONE_MODE, rel=0.05)
    swing = moved("B", d_rob=150.0)
    times = 0.127 + 0.008 * np.arange(len(statements.ONE_SWING))
    departure = swing.states(times)[:, 5] / (-SYSTEM.pushing_force * times / SYSTEM.total_mass) - 1.0
    np.testing.assert_allclose(departure, statements.ONE_SWING, atol=0.02)


def test_an_arm_with_a_turned_upper_arm_moves_other_joints() -> None:
    robot = lwr4()
    q = stated_posture(90)
    q[2] = 1.0
    jacobian = robot.tip_jacobian(q)
    before = np.linalg.pinv(jacobian) @ [0.0, 0.0, -0.2]
    change = impact_map(robot.mass_matrix(q), jacobian[2], before) - before
    np.testing.assert_allclose(np.abs(change), statements.OUT_OF_THE_PLANE, atol=1e-3)
