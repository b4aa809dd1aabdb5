"""``contactid impact`` on arms of another simulator, and what it says where it can't know."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import arm_examples
from arm_for_tests import lwr4
from contactid.__main__ import main
from contactid.arm.own import impacts
from contactid.arm.own.impacts import OwnImpact, own_impact
from contactid.arm.own.report import Found
from contactid.arm.readers.twins import record, write_mat
from contactid.arm.rigid.impact_map import impact_map
from contactid.core.errors import ContactIdError
from contactid.tossing.peers.sessions import peer_python
from own_impacts import TABLE, row_of, simulated


@pytest.fixture
def mujoco() -> None:
    """Skip where MuJoCo isn't installed."""
    try:
        peer_python("mujoco")
    except ContactIdError:
        pytest.skip("mujoco has no environment here")


@pytest.fixture(scope="module")
def recording():
    return record(arm_examples.experiments()[0], arm_examples.BLOCK)


@pytest.fixture(scope="module")
def impact(recording) -> OwnImpact:
    return own_impact(lwr4(), recording)


def with_velocity(impact: OwnImpact, velocity, errors) -> OwnImpact:
    """The same impact with another v+ and standard errors (2,), m/s."""
    x, z = (
        replace(fit, post_velocity=float(v), post_velocity_se=float(se))
        for fit, v, se in zip(impact.fits, velocity, errors, strict=True)
    )
    return replace(impact, fits=(x, z))


SPEEDS = st.floats(-1.0, 1.0)
ERRORS = st.floats(1e-5, 1.0)


@given(st.tuples(SPEEDS, SPEEDS), st.tuples(ERRORS, ERRORS))
def test_a_state_is_said_only_where_the_whole_interval_says_it(impact, velocity, errors) -> None:
    seen = with_velocity(impact, velocity, errors)
    low, high = seen.velocity - seen.half_width, seen.velocity + seen.half_width
    slowest_sliding = 0.1 * seen.speed
    if seen.state == "lifts off":
        assert low[1] > 0.0
    elif seen.state == "slides":
        assert low[0] > 0.0 or high[0] < 0.0
    elif seen.state == "sticks":
        assert -slowest_sliding <= low[0] and high[0] <= slowest_sliding
    else:
        assert seen.state == "undetermined"
        assert low[0] <= 0.0 <= high[0]
        assert max(-low[0], high[0]) > slowest_sliding


@given(st.tuples(ERRORS, ERRORS))
def test_an_interval_wider_than_the_approach_is_fast_is_no_answer(impact, errors) -> None:
    seen = with_velocity(impact, impact.velocity, errors)
    assert bool(seen.refusal) == bool((seen.half_width > seen.speed).any())


def test_such_a_recording_has_no_row_and_one_line_says_why(recording, tmp_path, monkeypatch, capsys) -> None:
    evaluate = impacts.evaluate_experiment

    def wide(*arguments):
        evaluated = evaluate(*arguments)
        name = impacts.METHOD.name
        x, z = evaluated.fits[name]
        return replace(evaluated, fits=evaluated.fits | {name: (replace(x, post_velocity_se=0.9), z)})

    monkeypatch.setattr(impacts, "evaluate_experiment", wide)
    refused = own_impact(lwr4(), recording)
    assert refused == (
        "v+ isn't determined: its 95 % interval is +- 1764 mm/s along the table, and the tip hits at 193 mm/s"
    )
    mine = tmp_path / "mine.mat"
    write_mat(mine, {"t": recording.time, "q": recording.joint_position})
    assert main(["impact", str(mine), "--report", str(tmp_path / "report")]) == 1
    error = capsys.readouterr().err.strip()
    assert "v+ isn't determined" in error and "mine.mat" in error and "\n" not in error
    assert not (tmp_path / "report").exists()


def test_the_report_s_warning_is_what_the_table_shows(impact) -> None:
    warnings = " ".join(Found((impact,), {}, "KUKA LWR 4+", 0.1).warnings())
    assert "with friction in the joints or heavy motors, fewer than half of them held" in warnings
    table = pd.read_csv(TABLE)
    answered = table[table["answered"]]
    for component in "xz":
        assert answered[f"held_{component}"].astype(bool).mean() < 0.5
    error, paper = ((answered[f"{method}_x_mm_s"] - answered["truth_x_mm_s"]).abs() for method in ("found", "paper"))
    for kind in ("joint friction", "heavy motors"):
        of_kind = answered["kind"] == kind
        assert error[of_kind].mean() > paper[of_kind].mean(), "the paper's one mode errs less there"
    assert not (answered["half_width_x_mm_s"] > answered["speed_mm_s"]).any()


@pytest.mark.usefixtures("mujoco")
@pytest.mark.parametrize(("kind", "seed"), [("elastic joints", 0), ("lift-off", 1)])
def test_mujoco_s_impacts_come_out_as_in_the_table(kind: str, seed: int) -> None:
    table = pd.read_csv(TABLE).set_index(["kind", "seed"])
    row = row_of(kind, seed)
    for name in ("truth_x_mm_s", "found_x_mm_s", "found_z_mm_s", "paper_x_mm_s"):
        assert row[name] == pytest.approx(table.loc[(kind, seed), name], rel=1e-3, abs=1e-3)


@pytest.mark.usefixtures("mujoco")
def test_mujoco_s_arm_follows_the_impact_law_of_links_right_at_the_impact(tmp_path) -> None:
    """Links alone take the impact (eq. 3): their velocity just after a short contact is that of M(q)."""
    simulated("elastic joints", 1, tmp_path)
    motion = json.loads((tmp_path / "motion.json").read_text())
    robot, q = lwr4(), np.array(motion["q"])
    jacobian = robot.tip_jacobian(q)
    after = jacobian @ impact_map(robot.mass_matrix(q), jacobian[2], np.array(motion["q_velocity"]))
    time, links = np.array(motion["time"]), np.array(motion["links"])
    tip = np.array([robot.tip_position(row) for row in links])
    velocity = np.gradient(tip, time, axis=0)
    # the contact takes some time constants of at most a millisecond, the links swing within 40 ms
    shortly = np.abs(time - motion["impact_time"] - 4e-3) < 1.1e-3
    assert velocity[shortly, 2].mean() == pytest.approx(0.0, abs=0.1 * 0.145)
    assert velocity[shortly, 0].mean() == pytest.approx(after[0], rel=0.15)
