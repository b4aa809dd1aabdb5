"""Published models of one arm: the table is what was published, motors only add, rows know the
robot that made them.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_for_tests import CONFIG, CORRECTIONS, LWR4, PUBLISHED, ROOT, lwr4
from contactid.arm.artefacts.robots import (
    DESCRIBED,
    MOTORS,
    NO_MOTORS,
    REDUCED,
    Place,
    fitted_share,
    predicted,
    robot_table,
    robots,
    row_table,
    rows_of_print,
    upright_ranges,
)
from contactid.arm.rigid.postures import STATED_POSTURES, stated_posture
from contactid.arm.rigid.printed_table import printed_table
from contactid.arm.rigid.published_arms import (
    JUBIEN,
    mass_matrix,
    parameters_of,
    published_arms,
    rigid_body_mobility,
)

TABLE = ROOT / "workflow/contactid/arm/robots/lwr4_published.csv"
MODELS = Path(os.environ.get("DATA_MIRROR") or ROOT / "../shared/data") / "lwr4-models"
FILES = {
    "kuka_lwr4": "kuka_lwr4",
    "centroepiaggio": "kuka_lwr4_centroepiaggio",
    "cogimon": "kuka_lwr4_cogimon",
    "gaz": "kuka_lwr4_gaz",
    "flobarobid": "kuka_lwr4_identified",
}
ROBOT = lwr4()
ARMS = published_arms(TABLE)
ROWS = rows_of_print(printed_table(pd.read_csv(PUBLISHED)))
angles = st.lists(st.floats(-2.0, 2.0), min_size=7, max_size=7).map(np.array)


def places(parameters: np.ndarray, model: str = DESCRIBED) -> dict[int, Place]:
    return {
        angle: Place.of(ROBOT, model, parameters, stated_posture(angle))
        for angle in STATED_POSTURES
    }


@given(angles)
@settings(deadline=None, max_examples=20)
def test_the_mass_matrix_of_the_described_parameters_is_the_robot_s(q: np.ndarray) -> None:
    np.testing.assert_allclose(
        mass_matrix(ROBOT, parameters_of(ROBOT), q), ROBOT.mass_matrix(q), atol=1e-12
    )


@pytest.mark.skipif(not MODELS.exists(), reason="no published models beside the checkout")
@pytest.mark.parametrize("name", FILES)
def test_the_table_has_the_mass_matrix_of_the_published_file(name: str) -> None:
    # pinocchio refuses some
    text = re.sub(r"<dynamics[^>]*/>", "", (MODELS / f"{FILES[name]}.urdf").read_text())
    model = pin.buildModelFromXML(text)
    for q in np.random.default_rng(1).uniform(-2.0, 2.0, (5, 7)):
        upper = np.triu(pin.crba(model, model.createData(), q))
        np.testing.assert_allclose(
            mass_matrix(ROBOT, ARMS[name], q), upper + np.triu(upper, 1).T, atol=1e-8
        )


def test_jubien_s_links_have_the_moments_of_inertia_that_joints_feel() -> None:
    """At q = 0 joints 1, 3, 5 and 7 are one axis, and joint 6 carries link 6's moment alone."""
    mass = mass_matrix(ROBOT, ARMS[JUBIEN], np.zeros(7))
    np.testing.assert_allclose(mass[6, 6], 0.00012, rtol=1e-9)
    np.testing.assert_allclose(mass[5, 5], 0.00377, rtol=1e-9)
    np.testing.assert_allclose(mass[0, 0], 3.20 + 0.0108 + 0.00633 + 0.00012, rtol=1e-9)


@given(angles)
@settings(deadline=None, max_examples=20)
def test_locked_joints_move_as_the_centroidal_inertia_says(q: np.ndarray) -> None:
    data = ROBOT.model.createData()
    pin.ccrba(ROBOT.model, data, q, np.zeros(7))
    impulse = np.array([0.3, -0.2, 1.0])
    lever = ROBOT.tip_position(q) - data.com[0]
    turning = np.linalg.solve(data.Ig.inertia, np.cross(lever, impulse))
    moved = impulse / data.Ig.mass + np.cross(turning, lever)
    np.testing.assert_allclose(
        rigid_body_mobility(ROBOT, parameters_of(ROBOT), q) @ impulse, moved, atol=1e-10
    )


@pytest.mark.parametrize("name", [DESCRIBED, *FILES])
def test_motors_make_every_tip_heavier_and_still_joint_3(name: str) -> None:
    parameters = ARMS.get(name, parameters_of(ROBOT))
    for place in places(parameters).values():
        found = [place.impact(share) for share in (0.0, 0.01, 0.1, 1.0)]
        assert (np.diff([impact["effective_mass_kg"] for impact in found]) > 0.0).all()
        assert found[-1]["joint_3"] < 0.1 * found[0]["joint_3"]


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3])
@pytest.mark.parametrize("name", [DESCRIBED, "gaz"])
def test_fits_that_a_share_of_the_motors_made_give_it_back(name: str, share: float) -> None:
    arm = places(ARMS.get(name, parameters_of(ROBOT)))
    ratios = ROWS["direction_deg"].map({angle: place.ratio(share) for angle, place in arm.items()})
    noise = np.random.default_rng(3).normal(0.0, 1e-3, len(ROWS))
    best, low, high = fitted_share(
        arm, ROWS.assign(vx_plus_fit=predicted(ROWS, ratios.to_numpy()) + noise)
    )
    assert low <= share * 1.06 and high >= share * 0.94  # a grid of 6 %
    assert best == pytest.approx(share, rel=0.25, abs=2e-3)


def test_a_row_agrees_with_the_arm_that_it_was_made_with_and_with_no_arm_of_heavy_motors() -> None:
    models = {DESCRIBED: parameters_of(ROBOT), "same": parameters_of(ROBOT)}
    table = robot_table(ROBOT, models, ROWS)
    by = table.groupby(["links", "motors"])["map_agrees"].sum()
    assert by["same", NO_MOTORS] == len(ROWS) == 17 and by["same", MOTORS] == 0
    rows = row_table(table, upright_ranges(ROBOT, models, table), ROWS)
    assert (rows["stated"] >= 1).all() and (rows["robots"] == len(by) - 2).all()


def test_models_have_the_r_that_a_program_of_its_own_gave() -> None:
    found = robots(LWR4, CORRECTIONS, str(TABLE), CONFIG["robot"], PUBLISHED)
    table = found["tables/ext_robots"].set_index(["links", "motors"]).sort_index(kind="stable")
    for model, ratios in {
        "kuka_lwr4": (0.331, 0.413, 0.459),
        "centroepiaggio": (-0.543, -0.620, -0.636),
        "cogimon": (0.129, 0.164, 0.187),
        "gaz": (0.073, 0.083, 0.087),
        "flobarobid": (0.128, -0.009, -0.057),
    }.items():
        np.testing.assert_allclose(table.loc[model, NO_MOTORS]["ratio"], ratios, atol=6e-4)
        assert not table.loc[model, NO_MOTORS]["map_agrees"].any()
    np.testing.assert_allclose(table.loc[JUBIEN, MOTORS]["ratio"], (1.13, 1.05, 0.99), atol=6e-3)
    assert (table.xs(REDUCED, level="motors")["share_high"] < 0.1).all()
