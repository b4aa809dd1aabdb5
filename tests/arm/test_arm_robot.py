"""The arm's link table: what is built from it, what its links can be, and what a damaged table
says.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_for_tests import CONFIG, CORRECTIONS, LWR4, lwr4
from contactid.arm.rigid.robot import (
    build_robot,
    load_robot,
    read_links,
)
from contactid.core.errors import ContactIdError

ROBOT = lwr4()
angles = st.lists(st.floats(-2.0, 2.0), min_size=7, max_size=7).map(np.array)
TABLE = pd.read_csv(LWR4)


def rotation(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rodrigues' formula, on purpose not a library's."""
    x, y, z = axis
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k


def tip_by_hand(q: np.ndarray, probe: float = 0.10) -> np.ndarray:
    """Forward kinematics straight from the table; all its frames are aligned at q = 0."""
    position, turn = np.zeros(3), np.eye(3)
    moving = TABLE[TABLE["joint_type"] == "revolute"]
    for angle, row in zip(q, moving.to_dict("records"), strict=True):
        position = position + turn @ [row["ox"], row["oy"], row["oz"]]
        turn = turn @ rotation(np.array([row["ax"], row["ay"], row["az"]]), angle)
    return position + turn @ [0.0, 0.0, probe]


@given(angles)
@settings(deadline=None, max_examples=50)
def test_the_tip_is_where_the_table_puts_it(q: np.ndarray) -> None:
    np.testing.assert_allclose(ROBOT.tip_position(q), tip_by_hand(q), atol=1e-12)


@given(angles)
@settings(deadline=None, max_examples=30)
def test_the_jacobian_is_the_derivative_of_the_position(q: np.ndarray) -> None:
    step = 1e-6
    columns = [
        (tip_by_hand(q + step * e) - tip_by_hand(q - step * e)) / (2.0 * step) for e in np.eye(7)
    ]
    np.testing.assert_allclose(ROBOT.tip_jacobian(q), np.array(columns).T, atol=1e-8)


@given(angles, angles)
@settings(deadline=None, max_examples=30)
def test_the_kinetic_energy_is_that_of_the_links(q: np.ndarray, velocity: np.ndarray) -> None:
    """Sum over the links of translation and rotation, by hand, against the mass matrix."""
    energy, position, turn = 0.0, np.zeros(3), np.eye(3)
    speed, spin = np.zeros(3), np.zeros(3)
    links = [link for link in ROBOT.links if link.joint_type == "revolute"]
    for angle, rate, link in zip(q, velocity, links, strict=True):
        arm = turn @ link.origin
        speed = speed + np.cross(spin, arm)
        position = position + arm
        spin = spin + turn @ link.axis * rate
        turn = turn @ rotation(link.axis, angle)
        centre = speed + np.cross(spin, turn @ link.centre)
        inertia = turn @ link.inertia @ turn.T
        energy += 0.5 * link.mass * centre @ centre + 0.5 * spin @ inertia @ spin
    assert 0.5 * velocity @ ROBOT.mass_matrix(q) @ velocity == pytest.approx(
        energy, rel=1e-10, abs=1e-12
    )


def test_what_the_last_moving_link_carries_is_left_out() -> None:
    kinds = [link.joint_type for link in ROBOT.links]
    last = len(kinds) - kinds[::-1].index("revolute")
    bare = build_robot(ROBOT.links[:last], name="bare", probe_length=0.10)
    q = np.array([0.1, -1.5, 0.2, 1.2, -0.1, -0.4, 0.3])
    assert sum(link.mass for link in ROBOT.links[last:]) > 0.5
    np.testing.assert_array_equal(bare.mass_matrix(q), ROBOT.mass_matrix(q))
    np.testing.assert_array_equal(bare.tip_position(q), ROBOT.tip_position(q))


def ellipsoids(links) -> dict[str, float]:
    """Longest semi-axis, m, of the uniform ellipsoid of each moving link's mass and inertia."""
    found = {}
    for link in links:
        if link.joint_type == "revolute":
            moments = np.linalg.eigvalsh(link.inertia)
            assert moments[0] > 0.0 and moments[2] <= moments[0] + moments[1]
            # moments are m (a_j^2 + a_k^2) / 5
            found[link.name] = np.sqrt(2.5 * (moments.sum() - 2.0 * moments[0]) / link.mass)
    return found


def test_the_described_wrist_cannot_be_solid_bodies_and_the_corrected_one_can() -> None:
    described = ellipsoids(lwr4().links)
    corrected = ellipsoids(lwr4(corrections=CORRECTIONS).links)
    assert {name for name, longest in described.items() if longest > 1.5 * corrected[name]} == {
        "link_1",
        "link_6",
        "link_7",
    }
    # longer than the arm from its shoulder on; then a disc, and a ball
    assert described["link_7"] > 1.2
    assert corrected["link_7"] < 0.05 and corrected["link_6"] < 0.08
    # the equal links 1 and 3 have equal tensors once corrected
    assert corrected["link_1"] == pytest.approx(corrected["link_3"], rel=1e-3)


def test_mass_matrices_are_symmetric_positive_definite() -> None:
    rng = np.random.default_rng(6)
    for robot in (ROBOT, lwr4(corrections=CORRECTIONS)):
        for q in rng.uniform(robot.position_limits[:, 0], robot.position_limits[:, 1], (20, 7)):
            mass = robot.mass_matrix(q)
            np.testing.assert_array_equal(mass, mass.T)
            assert np.linalg.eigvalsh(mass)[0] > 0.0


@pytest.mark.parametrize(
    ("column", "row", "value", "words"),
    [
        ("parent", 3, "link_9", "hangs on the unknown link 'link_9'"),
        ("link", 3, "link_2", "is there twice"),
        ("joint_type", 3, "prismatic", "joint type 'prismatic'"),
        ("mass", 3, -1.0, "mass -1.0 kg"),
        ("mass", 3, np.nan, "no number in column 'mass'"),
        ("az", 3, 0.0, "axis without direction"),
        ("q_lower", 3, 9.0, "q_lower above q_upper"),
    ],
)
def test_a_damaged_table_says_which_link_and_what(
    tmp_path: Path, column: str, row: int, value: object, words: str
) -> None:
    table = TABLE.astype({column: object})
    table.loc[row, column] = value
    table.to_csv(tmp_path / "own.csv", index=False)
    with pytest.raises(ContactIdError, match=words) as caught:
        load_robot(tmp_path / "own.csv", **CONFIG["robot"])
    assert "\n" not in str(caught.value) and "own.csv" in str(caught.value)


def test_missing_tables_and_columns(tmp_path: Path) -> None:
    with pytest.raises(ContactIdError, match=r"lwr9.csv: not a readable link table"):
        load_robot("lwr9.csv", **CONFIG["robot"])
    TABLE.drop(columns=["mass", "cx"]).to_csv(tmp_path / "own.csv", index=False)
    with pytest.raises(ContactIdError, match="lacks the columns mass, cx"):
        read_links(tmp_path / "own.csv")
    TABLE.iloc[:1].to_csv(tmp_path / "still.csv", index=False)
    with pytest.raises(ContactIdError, match="no link that moves"):
        load_robot(tmp_path / "still.csv", **CONFIG["robot"])
    (tmp_path / "corrections.csv").write_text("link,divisor,reason\nlink_9,10,no such link\n")
    with pytest.raises(ContactIdError, match="'link_9' divided by"):
        lwr4(corrections=tmp_path / "corrections.csv")
