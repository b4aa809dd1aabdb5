"""Motions made for identification keep to the range and tell more; figures are drawn from the
twins' own data.
"""

import numpy as np
import pandas as pd
import pytest

from contactid.core.errors import ContactIdError
from contactid.inhand.artefacts.contact_forces import (
    contact_forces,
    draw_contact,
    draw_force_scale,
    force_scale,
)
from contactid.inhand.artefacts.excitation import (
    draw_excitation,
    draw_identifiability,
    excitation_points,
)
from contactid.inhand.artefacts.objects import (
    all_objects,
    draw_held_object,
    draw_objects,
    object_in_hand,
)
from contactid.inhand.identify.excitation import (
    exact_motion,
    log_information,
    optimise_motion,
    peaks,
)
from contactid.inhand.identify.excitation_gain import (
    OPTIMISED,
    RECORDED,
    REFERENCE,
    identifiability_table,
)
from contactid.inhand.identify.information import information, recording_information
from contactid.inhand.identify.methods import PARAMETER_COLUMNS
from contactid.inhand.identify.wrench import wrench_covariance
from contactid.inhand.readers.recordings import recorded_signals
from contactid.inhand.readers.twins import recording_motion, simulate_recording
from contactid.inhand.simulate.grasp_motion import coordinate_limits
from contactid.output import style
from twins_for_tests import OBJECTS_FILE, STUDY, SURFACES_FILE, twins

OPTIONS = twins(samples=120)
SHOWN = STUDY["grasp_figures"] | {"samples": 120, "time": 0.8}
HELD = (OBJECTS_FILE, STUDY["twin"], SHOWN)
SOURCE = "wrist_ft"
LIMITS = coordinate_limits(OPTIONS["sources"][SOURCE]["motion"])


@pytest.fixture(scope="module")
def start():
    return recording_motion(SOURCE, 1, OPTIONS)


@pytest.fixture(scope="module")
def covariance(start):
    recording, _ = simulate_recording(SOURCE, "box_0", 1, OPTIONS, motion=start)
    return wrench_covariance(recorded_signals(recording)).mean(axis=0)


@pytest.fixture(scope="module")
def found(start, covariance):
    return optimise_motion(
        start, LIMITS, 1.2, covariance, {"samples": 40, "iterations": 8, "tolerance": 1e-3}
    )


def test_gain_is_that_of_the_information(start, covariance, found):
    time = np.linspace(0.0, 1.2, 40)
    values = []
    for motion in (start, found.motion):
        body = exact_motion(motion.evaluate(time))
        matrix = information(body, np.broadcast_to(covariance, (40, 6, 6))).matrix
        values.append(np.linalg.slogdet(matrix)[1] / 10.0)
    assert found.gain == pytest.approx(values[1] - values[0], rel=1e-6)
    assert found.gain > 0.1
    assert log_information(start, time, covariance) == pytest.approx(values[0])


def test_optimised_motion_keeps_to_range_and_peaks(start, found):
    assert np.all(np.abs(found.motion.amplitudes).sum(axis=1) <= LIMITS)
    np.testing.assert_array_equal(found.motion.frequencies, start.frequencies)
    time = np.linspace(0.0, 1.2, 40)
    assert np.all(peaks(found.motion.evaluate(time)) <= 1.006 * peaks(start.evaluate(time)))


def test_peaks_stand_for_the_largest_accelerations(start):
    trajectory = start.evaluate(np.linspace(0.0, 3.0, 300))
    largest = [
        np.linalg.norm(values, axis=1).max()
        for values in (trajectory.acceleration, trajectory.angular_acceleration)
    ]
    assert np.all(peaks(trajectory) <= largest) and np.all(
        peaks(trajectory) >= 0.6 * np.array(largest)
    )


def test_optimised_motion_lowers_the_mean_standard_error_of_a_recording(start, found):
    errors = []
    for motion in (start, found.motion):
        recording, truth = simulate_recording(SOURCE, "box_0", 1, OPTIONS, motion=motion)
        errors.append(np.log(recording_information(recording, truth).standard_errors).mean())
    assert errors[1] < errors[0]


def test_table_of_identifiability_says_what_each_case_lacks():
    table = identifiability_table(OPTIONS, 1).set_index("case")
    assert len(table.loc[RECORDED]) == 20
    assert (table.loc[RECORDED, "not_identifiable"] == "").all()
    assert np.isfinite(table.loc[RECORDED, [f"se_{name}" for name in PARAMETER_COLUMNS]]).all(
        axis=None
    )
    poor = table.drop(index=RECORDED)
    assert (poor["not_identifiable"] != "").all() and not np.isfinite(
        poor["condition_number"]
    ).any()


def test_points_of_the_excitation_figure_pair_both_motions():
    row = {"source": SOURCE, "object": "box_0", "seed": 1, "geodesic_error": 0.3}
    row |= {f"{kind}_{name}": 0.1 for kind in ("relative", "error") for name in PARAMETER_COLUMNS}
    table = pd.DataFrame(
        [row | {"motion": REFERENCE}, row | {"motion": OPTIMISED, "geodesic_error": 0.2}]
    )
    points = excitation_points(table).set_index(["panel", "parameter"])
    assert points.loc[("error", "geodesic_error"), [REFERENCE, OPTIMISED]].tolist() == [0.3, 0.2]
    assert len(points) == 21 and points["source"].str.startswith("synthetic data").all()


def test_figure_1_shows_forces_that_carry_the_object():
    data = object_in_hand(*HELD)
    weight = data.loc[(data["item"] == "weight") & (data["part"] == "number"), "value"].item()
    assert weight == pytest.approx(0.179 * 9.81)
    forces = data[(data["part"] == "arrow") & (data["unit"] == "N")].set_index("item")
    assert len(forces) == 1 + 4
    assert forces.loc["gravity", "vector_x"] == 0.0 and forces.loc["gravity", "vector_y"] < 0.0
    hidden = data[data["look"].str.endswith("hidden")]
    assert hidden["item"].nunique() == 2 * 3


def test_figure_2_stays_within_the_cone_and_marks_one_sample():
    data = contact_forces(*HELD)
    assert (data["tangential_n"] <= data["friction"] * data["normal_n"]).all()
    assert (
        data["shown"].sum() == 1
        and data.loc[data["shown"], "finger"].item() == SHOWN["contact_finger"]
    )


def test_figure_9_shows_a_smaller_swing_at_the_fingertip():
    data = force_scale(*HELD)
    swing = data.groupby(["sensor", "component"])["true_n"].agg(np.ptp)
    assert (swing["thumb"] < swing["wrist"]).all()
    squeeze = data.groupby(["sensor", "component"])["squeeze_n"].first()
    assert abs(squeeze["thumb", "y"]) > swing["thumb", "y"] and not squeeze["wrist"].any()


def test_times_outside_are_refused():
    with pytest.raises(ContactIdError, match="after the recording's end"):
        object_in_hand(*HELD[:2], SHOWN | {"time": 9.0})


@pytest.mark.parametrize(
    ("draw", "data", "given"),
    [
        (draw_held_object, object_in_hand, HELD),
        (draw_contact, contact_forces, HELD),
        (draw_objects, all_objects, (OBJECTS_FILE, SURFACES_FILE)),
        (draw_force_scale, force_scale, HELD),
    ],
)
def test_grasp_figures_are_drawn(draw, data, given, tmp_path):
    with style.styled():
        figure = draw(data(*given))
        figure.savefig(tmp_path / "one.png", dpi=60)
    assert (tmp_path / "one.png").stat().st_size > 3000


def test_excitation_figures_are_drawn(tmp_path):
    identified = pd.DataFrame(
        {
            "setting": SOURCE, "object": "box_0", "condition_number": 3.0, "parameter": list(PARAMETER_COLUMNS),
            "relative_error": np.linspace(0.001, 0.01, 10), "source": "synthetic data",
        }
    )  # fmt: skip
    paired = pd.concat(
        pd.DataFrame(
            {
                "setting": SOURCE, "object": "box_0", "seed": 1, "panel": panel, "parameter": list(PARAMETER_COLUMNS),
                "reference": 0.02, "optimised": [0.01] * 9 + [np.inf],
            }
        )
        for panel in ("standard_error", "error")
    )  # fmt: skip
    with style.styled():
        for draw, data in ((draw_identifiability, identified), (draw_excitation, paired)):
            draw(data).savefig(tmp_path / "one.png", dpi=60)
            assert (tmp_path / "one.png").stat().st_size > 3000
