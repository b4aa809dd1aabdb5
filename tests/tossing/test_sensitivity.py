"""Batch rest poses against the simulator and closed forms; section VI's variation on a box that
merely slides.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.tossing.artefacts.sensitivity import variation_outlines
from contactid.tossing.predict.sensitivity import (
    half_ranges,
    offsets_from,
    restitution_insensitive_below,
    restitution_profile,
    summarise_variation,
    vary_parameters,
)
from contactid.tossing.prepare.tosses import PreparedToss, Problem
from contactid.tossing.simulate.batch import Runs, rest_poses
from contactid.tossing.simulate.box import (
    GRAVITY,
    ContactParameters,
    State,
    SteppingOptions,
    simulate,
)
from contactid.tossing.simulate.sweep import MeasuredToss
from tosses_for_tests import box

OPTIONS = SteppingOptions(1e-3)
SPEED, SAMPLES = 1.0, 1200
VARIATION = 0.05, 0.01  # reach and step
FLAT = np.array([1.0, 0.0, 0.0, 0.0])
SLIDING = State(np.array([0.0, 0.0, 0.05 - 1e-9]), FLAT, np.array([SPEED, 0.0, 0.0]), np.zeros(3))


def tossed(seed: int) -> State:
    random = np.random.default_rng(seed)
    return State(
        np.array([0.1, -0.2, random.uniform(0.12, 0.18)]),
        rotations.exp(random.uniform(-1.2, 1.2, 3)),
        np.array([random.uniform(0.3, 0.8), random.uniform(-0.3, 0.3), random.uniform(-0.2, 0.3)]),
        random.uniform(-6, 6, 3),
    )


def sliding_problem(n: int = 2) -> Problem:
    """Boxes that slide flat along x from x = 0, as with mu = 0.4."""
    rest = np.array([SPEED**2 / (2 * 0.4 * GRAVITY), 0.0, 0.05])
    tosses = [
        PreparedToss(
            MeasuredToss(f"slide{k}", SLIDING, np.zeros((SAMPLES, 3)), np.tile(FLAT, (SAMPLES, 1)), np.zeros(3)),
            rest, FLAT, False, np.array([0.0, 0.0, -GRAVITY]), np.zeros((12, 12)),
        )
        for k in range(n)
    ]  # fmt: skip
    return Problem(box(), 0.1, tosses, OPTIONS)


def assert_same_pose(poses, row, run):
    assert np.abs(poses.position[row] - run.position[-1]).max() < 1e-6
    assert float(rotations.angle_between(poses.orientation[row], run.orientation[-1])) < 1e-5


# the batch


@pytest.mark.parametrize("seed", range(4))
def test_batch_ends_where_the_simulator_ends(seed):
    body = box(center=(0.004, -0.002, 0.003))
    mus, e_ns = np.array([0.2, 0.35, 0.5]), np.array([0.3, 0.0, 0.15])
    poses = rest_poses(body, tossed(seed), Runs.of(mus, e_ns), OPTIONS, 2000)
    assert poses.rested.all() and not poses.failed_steps.any()
    for k, (mu, e_n) in enumerate(zip(mus, e_ns, strict=True)):
        run = simulate(body, tossed(seed), ContactParameters(mu, e_n), OPTIONS, 2000)
        assert np.abs(run.linear_velocity[-1]).max() < 1e-6, "the comparison needs a body at rest"
        assert_same_pose(poses, k, run)


def test_varied_body_and_start_equal_a_simulation_of_that_body_and_start():
    body, start = box(center=(0.004, -0.002, 0.003)), tossed(11)
    factors, shift = np.array([0.9, 1.05, 1.1]), np.array([0.002, 0.001, -0.003])
    moved = np.array([0.003, -0.002, 0.004, 0.02, -0.01, 0.03, 0.05, -0.04, 0.02, 0.3, -0.2, 0.1])
    parameters = ContactParameters(0.3, 0.1)
    plain = Runs.of(np.array([0.3, 0.3, 0.3]), 0.1)
    runs = replace(
        plain,
        inertia=np.stack([factors, np.ones(3), np.ones(3)]),
        center_of_mass=np.stack([np.zeros(3), shift, np.zeros(3)]),
        state=np.stack([np.zeros(12), np.zeros(12), moved]),
    )
    poses = rest_poses(body, start, runs, OPTIONS, 2000)
    heavier = replace(
        body, inertia=np.diag(np.diag(body.inertia) * factors)
    )  # its moments ascend along x, y, z
    assert_same_pose(poses, 0, simulate(heavier, start, parameters, OPTIONS, 2000))
    eccentric = replace(body, center_of_mass=body.center_of_mass + shift)
    assert_same_pose(poses, 1, simulate(eccentric, start, parameters, OPTIONS, 2000))
    # the deviation is told at the centre of mass, the state at B's origin
    turned = rotations.Rotation.from_rotvec(moved[3:6]) * rotations.as_rotation(start.orientation)
    before = rotations.as_rotation(start.orientation).apply(body.center_of_mass)
    after, spin = turned.apply(body.center_of_mass), start.angular_velocity + moved[9:]
    velocity = (
        start.linear_velocity
        + np.cross(start.angular_velocity, before)
        + moved[6:9]
        - np.cross(spin, after)
    )
    other = State(
        start.position + before + moved[:3] - after,
        rotations.as_quaternions(turned),
        velocity,
        spin,
    )
    assert_same_pose(poses, 2, simulate(body, other, parameters, OPTIONS, 2000))


def test_sliding_distance_uphill_and_downhill():
    slopes = np.array([0.0, 0.02, -0.02, 0.0])
    tilt = np.column_stack([slopes, [0.0, 0.0, 0.0, 0.02]])
    runs = replace(Runs.of(np.full(4, 0.4), 0.0), tilt=tilt)
    # the box is turned with the surface, so that it lies flat on it
    turn = np.column_stack([np.zeros(4), -slopes, np.zeros(4)])
    turn[3] = [0.02, 0.0, 0.0]
    lift = rotations.Rotation.from_rotvec(turn)
    flat = np.column_stack([lift.apply(SLIDING.position) - SLIDING.position, turn])
    velocity = lift.apply(SLIDING.linear_velocity) - SLIDING.linear_velocity
    runs = replace(runs, state=np.column_stack([flat, velocity, np.zeros((4, 3))]))
    poses = rest_poses(box(), SLIDING, runs, OPTIONS, SAMPLES)
    along = lift.inv().apply(poses.position)
    expected = SPEED**2 / (2 * GRAVITY * (0.4 * np.cos(slopes) + np.sin(slopes)))
    assert np.abs(along[:3, 0] - expected[:3]).max() < 2e-3 * expected[0]
    assert np.abs(along[:, 2] - 0.05).max() < 1e-4
    assert along[3, 1] < -1e-3, "a surface that rises along y sends a sliding box to negative y"


def test_rest_pose_on_a_belt_is_that_of_the_asked_moment():
    belt = np.array([0.3, 0.0, 0.0])
    early, late = (
        rest_poses(box(), tossed(3), Runs.of(np.array([0.4]), 0.1), OPTIONS, n, belt)
        for n in (700, 1700)
    )
    assert early.rested.all() and late.rested.all()
    assert np.abs(late.position - early.position - belt * 1.0).max() < 1e-6
    run = simulate(box(), tossed(3), ContactParameters(0.4, 0.1), OPTIONS, 1700, belt)
    assert_same_pose(late, 0, run)


@pytest.mark.parametrize("seed", range(4))
def test_the_papers_fixed_point_comes_to_rest_as_the_authors_call_it(seed):
    """It leaves a lying body some speed, however long one waits; its rest pose is near the exact
    one.
    """
    mus, e_ns = np.array([0.35, 0.5]), np.array([0.0, 0.1])
    options = SteppingOptions(1 / 360)
    theirs = replace(options, solver="prox", tolerance=1e-6, max_iterations=10_000)
    exact = rest_poses(box(), tossed(seed), Runs.of(mus, e_ns), options, 700)
    paper = rest_poses(box(), tossed(seed), Runs.of(mus, e_ns), theirs, 700)
    assert paper.rested.all() and exact.rested.all()
    assert np.abs(paper.position - exact.position).max() < 0.02


def test_a_body_without_friction_never_rests_and_says_so():
    assert not rest_poses(box(), SLIDING, Runs.of(np.array([0.0]), 0.0), OPTIONS, 100).rested[0]


def test_uneven_batches_are_refused():
    with pytest.raises(ContactIdError, match="different lengths"):
        replace(Runs.of(np.array([0.1, 0.2]), 0.0), tilt=np.zeros((3, 2)))


# section VI


def test_the_range_moves_up_where_the_optimum_is_zero():
    assert np.allclose(offsets_from(0.0, *VARIATION), np.arange(11) / 100)
    assert np.allclose(offsets_from(0.3, *VARIATION), np.arange(-5, 6) / 100)


def test_values_are_clipped_to_their_range():
    table = vary_parameters(sliding_problem(1), ContactParameters(0.4, 0.02), *VARIATION)
    clipped = table[table["offset"] < -0.021]
    clipped = clipped[clipped["parameter"] == "restitution_e_n"]
    assert (clipped["value"] == 0.0).all()
    assert np.allclose(clipped["offset"], [-0.05, -0.04, -0.03])


def test_a_sliding_box_depends_on_friction_by_its_closed_form_and_not_on_restitution():
    problem = sliding_problem()
    table = vary_parameters(problem, ContactParameters(0.4, 0.2), *VARIATION)
    friction = table[table["parameter"] == "friction_mu"]
    expected = SPEED**2 / (2 * friction["value"] * GRAVITY)
    assert np.abs(friction["simulated_x"] / expected - 1).max() < 3e-3
    assert np.allclose(table.loc[table["offset"] == 0, "position_change_mm"], 0)
    unvaried = table[table["offset"] == 0]
    for axis in "xy":
        assert (unvaried[f"simulated_{axis}"] - unvaried[f"measured_{axis}"]).abs().max() < 1e-3
    summary = summarise_variation(table, 0.1).set_index(["parameter", "quantity"])
    half_range = 500 * SPEED**2 / (2 * GRAVITY) * (1 / 0.35 - 1 / 0.45)
    position = summary.loc[("friction_mu", "position_mm")]
    assert position["mean"] == pytest.approx(half_range, rel=5e-3)
    percent = summary.loc[("friction_mu", "position_pct"), "mean"]
    assert percent == pytest.approx(position["mean"]), "of a box 100 mm long"
    restitution = summary.loc[("restitution_e_n", "position_mm")]
    assert restitution["mean"] < 0.05
    assert restitution["lowest_value"] == 0.15 and restitution["highest_value"] == 0.25
    assert summary.loc[("friction_mu", "rotation_deg"), "mean"] < 0.05


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_half_range_is_half_the_diameter(seed):
    random = np.random.default_rng(seed)
    points, turns = random.normal(size=(6, 2)), random.uniform(-0.7, 0.7, 6)
    table = pd.DataFrame(
        {
            "toss": "a", "parameter": "friction_mu", "rested": [True] * 5 + [False],
            "simulated_x": points[:, 0], "simulated_y": points[:, 1],
            "simulated_qw": np.cos(turns / 2), "simulated_qx": 0.0,
            "simulated_qy": 0.0, "simulated_qz": np.sin(turns / 2),
        }
    )  # fmt: skip
    row = half_ranges(table).iloc[0]
    apart = [np.hypot(*(points[i] - points[j])) for i in range(5) for j in range(i)]
    assert row["position_half_range_mm"] == pytest.approx(500 * max(apart))
    assert row["rotation_half_range_deg"] == pytest.approx(np.degrees(np.ptp(turns[:5])) / 2)


def test_restitution_threshold():
    profile = pd.DataFrame(
        {
            "restitution_e_n": [0.0, 0.2, 0.4, 0.6, 0.8],
            "median_position_change_mm": [0.0, 3.0, 4.9, 5.1, 2.0],
            "rested_pct": [100.0, 100.0, 100.0, 100.0, 100.0],
        }
    )
    assert restitution_insensitive_below(profile, 0.1) == 0.4, (
        "a later return within the tolerance doesn't count"
    )
    assert (
        restitution_insensitive_below(profile.assign(rested_pct=[100, 100, 50, 50, 50]), 0.1) == 0.2
    )
    flat = restitution_profile(sliding_problem(1), ContactParameters(0.4, 0.2))
    assert restitution_insensitive_below(flat, 0.1) == 1.0, (
        "restitution means nothing to a box that never leaves"
    )


def test_outlines_are_the_box_around_the_measured_position():
    problem = sliding_problem(3)
    varied = {"d": vary_parameters(problem, ContactParameters(0.4, 0.2), *VARIATION)}
    prepared = xr.Dataset(
        {"vertices": (("vertex", "xyz"), problem.body.vertices)}, attrs={"object": "Box"}
    )
    data = variation_outlines(varied, {"d": prepared}, 2, 7)
    assert data["panel"].max() == 1
    for (_, panel, kind, _), outline in data.groupby(
        ["parameter", "panel", "kind", "value"], dropna=False
    ):
        corners = outline[["x_m", "y_m"]].to_numpy()
        assert np.allclose(
            np.linalg.norm(np.roll(corners, 1, axis=0) - corners, axis=1), 0.1, atol=1e-4
        ), (panel, kind)
    measured = data[data["kind"] == "measured"]
    assert abs(measured["x_m"].mean()) < 1e-12
    median = data[(data["kind"] == "median") & (data["parameter"] == "friction_mu")]
    assert set(median["value"]) <= {0.4, 0.39, 0.41}
    again = variation_outlines(varied, {"d": prepared}, 2, 7)
    pd.testing.assert_frame_equal(data, again)
    restless = varied["d"]["toss"].unique()[0]
    moving = (varied["d"]["toss"] == restless) & (varied["d"]["parameter"] == "restitution_e_n")
    table = varied["d"].assign(rested=varied["d"]["rested"] & ~moving)
    assert restless not in set(variation_outlines({"d": table}, {"d": prepared}, 3, 7)["toss"])
    with pytest.raises(ContactIdError, match="no simulated toss comes to rest"):
        variation_outlines({"d": table.assign(rested=False)}, {"d": prepared}, 3, 7)
