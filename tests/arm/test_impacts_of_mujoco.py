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
from contactid.arm.own.impacts import OwnImpact, own_impact
from contactid.arm.readers.twins import record, write_mat
from contactid.arm.rigid.impact_map import impact_map
from contactid.core.errors import ContactIdError
from contactid.tossing.peers.sessions import peer_python
from own_impacts import OTHERS, TABLE, row_of, simulated


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
    return replace(
        impact, answer=replace(impact.answer, velocity=np.array(velocity), se=np.array(errors))
    )


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


def test_an_arm_that_is_braked_has_no_row_and_one_line_says_why(
    recording, tmp_path, capsys
) -> None:
    """Joints that friction stops within a period of the vibration: nothing tells how fast they were
    at first.
    """
    time = recording.time
    impact_time = arm_examples.experiments()[0].impact_time
    since = np.maximum(time - impact_time, 0.0)
    stopped = np.searchsorted(time, impact_time + 0.04)
    slowing = np.where(np.arange(len(time)) < stopped, time, impact_time + since - since**2 / 0.08)
    slowing[stopped:] = slowing[stopped - 1]
    joints = np.column_stack(
        [np.interp(slowing, time, joint) for joint in recording.joint_position.T]
    )
    mine = tmp_path / "mine.mat"
    write_mat(mine, {"t": time, "q": joints})
    assert main(["impact", str(mine), "--report", str(tmp_path / "report")]) == 1
    error = capsys.readouterr().err.strip()
    assert "v+ isn't found" in error and "mine.mat" in error and "\n" not in error
    assert "compensate the" in error
    assert not (tmp_path / "report").exists()


@pytest.mark.parametrize(("file", "share"), [(TABLE, 0.75), (OTHERS, 0.5)])
def test_the_stored_tables_hold_what_the_page_says(file, share: float) -> None:
    """Arms that no method, interval or refusal was chosen on."""
    table = pd.read_csv(file)
    answered = table[table["answered"]]
    assert len(answered) >= share * len(table)
    assert answered["held_x"].astype(bool).mean() >= 0.9
    error, paper = (
        (answered[f"{method}_x_mm_s"] - answered["truth_x_mm_s"]).abs()
        for method in ("found", "paper")
    )
    assert error.mean() < 0.5 * paper.mean()
    slides = answered["truth_x_mm_s"].abs() > 0.1 * answered["speed_mm_s"]
    assert not (slides & (answered["state"] == "sticks")).any()
    # rightly stated, so no sign may be doubted
    assert not table["note"].str.contains("other sign", na=False).any()


@pytest.mark.usefixtures("mujoco")
@pytest.mark.parametrize(("kind", "number"), [("elastic joints", 0), ("lift-off", 1)])
def test_mujoco_s_impacts_come_out_as_in_the_table(kind: str, number: int) -> None:
    table = pd.read_csv(TABLE).set_index(["kind", "seed"])
    seed = int(table.loc[kind].index[number])
    row = row_of(kind, seed)
    for name in ("truth_x_mm_s", "found_x_mm_s", "found_z_mm_s", "paper_x_mm_s"):
        assert row[name] == pytest.approx(table.loc[(kind, seed), name], rel=1e-3, abs=1e-3)


@pytest.mark.usefixtures("mujoco")
@pytest.mark.parametrize(("kind", "seed"), [("lift-off", 3), ("heavy motors", 2)])
def test_v_z_of_a_tip_in_the_air_is_what_links_and_motors_have_in_common(
    kind: str, seed: int, tmp_path
) -> None:
    made = simulated(kind, seed, tmp_path)
    impact = own_impact(lwr4(), made.recording)
    rebound = made.velocity_post[2]
    assert isinstance(impact, OwnImpact) and impact.velocity[1] > 0.0 and rebound > 0.0
    assert abs(impact.velocity[1] - rebound) <= impact.half_width[1]


@pytest.mark.usefixtures("mujoco")
def test_mujoco_s_arm_follows_the_impact_law_of_links_right_at_the_impact(tmp_path) -> None:
    """Links alone take the impact (eq. 3): their velocity just after a short contact is that of
    M(q).
    """
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
