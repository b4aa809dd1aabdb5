"""How recordings are written: columns by name, units, frames; and which convention an answer is
held to.
"""

from argparse import ArgumentParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contactid.core.errors import ContactIdError
from contactid.sources.columns import fitting_unit, meaning
from contactid.sources.conventions import (
    FRAMES,
    QUATERNION,
    STATED,
    THETA,
    UP,
    Convention,
    options,
    stated_by,
)
from contactid.sources.explaining import Judged, Refuted, explained
from contactid.sources.frames import frames_in_space, in_plane, position_matrix, quaternion_matrix


@pytest.mark.parametrize(
    ("name", "quantity", "unit"),
    [
        ("t", "time", ""), ("Time [ms]", "time", "ms"), ("timestamp_ns", "time", "ns"), (" x", "position_x", ""),
        ("pos_y (mm)", "position_y", "mm"), ("object_position_z", "position_z", ""), ("tx", "position_x", ""),
        ("qw", "orientation_w", ""), ("object_orientation_x", "orientation_x", ""), ("yaw_deg", "theta", "deg"),
        ("panda_joint1", "joint_1", ""), ("field.position0", "joint_0", ""), ("q7", "joint_7", ""),
        ("contact_force_sd_thumb_x", "contact_force_sd_thumb_x", ""), ("torque wrist z", "contact_torque_wrist_z", ""),
        ("contact_position_0_y", "contact_position_0_y", ""),
    ],
)  # fmt: skip
def test_a_columns_name_tells_what_it_is(name, quantity, unit):
    assert meaning(name) == (quantity, unit)


@pytest.mark.parametrize(
    "name", ["vx", "velocity_1", "effort_3", "frame", "spin", "q", "joint_velocity_2"]
)
def test_other_columns_mean_nothing(name):
    assert meaning(name) is None


def test_names_that_are_asked_for_go_before_others_and_two_of_one_rank_are_refused():
    assert STATED.places(["angle", "theta"])["theta"].column == 1
    with pytest.raises(ContactIdError, match="columns yaw and angle are the same"):
        STATED.places(["yaw", "angle"])


def stated(*words):
    parser = ArgumentParser()
    options(parser, QUATERNION, UP)
    return stated_by(parser.parse_args(words))


def test_options_say_columns_signs_and_units():
    convention = stated("--columns", "t=clock,x=-y,y=x", "--units", "ms,y=cm,mm")
    places = convention.places(["clock", "x", "y", "theta [deg]"])
    found = {name: (place.column, pytest.approx(place.factor)) for name, place in places.items()}
    assert found["time"] == (0, 1e-3) and found["position_x"] == (2, -1e-3)
    assert found["position_y"] == (1, 1e-2) and found["theta"] == (3, np.pi / 180.0)


@given(st.sampled_from(list(frames_in_space({}))), st.sampled_from(["", "ms", "us"]))
def test_the_options_of_a_convention_state_it(frame, unit):
    convention = Convention(frame=frame).with_units(**({"s": unit} if unit else {}))
    parser = ArgumentParser()
    options(parser, *FRAMES)
    assert stated_by(parser.parse_args(convention.options().split())) == convention


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--units", "furlong"), "isn't known. Known are"), (("--columns", "spin=a"), "no quantity"),
        (("--frame", "up=w"), "up=w isn't known"), (("--frame", "theta=clockwise"), "isn't known"),
        (("--columns", "t"), "says no value"),
    ],
)  # fmt: skip
def test_what_no_option_knows_is_refused(words, message):
    with pytest.raises(ContactIdError, match=message):
        stated(*words)


def test_a_call_names_quantities_as_a_command_does():
    called = Convention(
        {"t": "clock", "q2": "-q2"}, {"t": "ms", "joint": "deg", "m": "MM"}, {"up": "y"}
    )
    words = ("--columns", "t=clock,q2=-q2", "--units", "t=ms,joint=deg,mm", "--frame", "up=y")
    assert called == stated(*words)
    assert called.columns == {"time": "clock", "joint_2": "-q2"}


@pytest.mark.parametrize(
    "said", [{"columns": {"spin": "a"}}, {"units": {"t": "mm"}}, {"frame": {"quaternions": "xyzw"}},
             {"frame": {"quaternion": "xzyw"}}],
)  # fmt: skip
def test_a_call_with_a_slip_of_the_pen_is_refused(said):
    with pytest.raises(ContactIdError, match=r"no quantity|isn't known"):
        Convention(**said)


@given(st.sampled_from(FRAMES[UP]), st.integers(0, 99))
def test_the_axis_that_points_up_becomes_z_and_bodies_turn_with_it(up, seed):
    turn, sign = position_matrix({UP: up}), -1.0 if up.startswith("-") else 1.0
    axis = sign * np.eye(3)["xyz".index(up[-1])]
    assert np.allclose(turn @ axis, [0.0, 0.0, 1.0]) and np.isclose(np.linalg.det(turn), 1.0)
    written = Rotation.random(random_state=seed)
    found = Rotation.from_quat(
        quaternion_matrix({UP: up}) @ written.as_quat(scalar_first=True), scalar_first=True
    )
    assert np.allclose(found.as_matrix(), turn @ written.as_matrix())


@given(st.sampled_from("xyz"), st.integers(0, 99))
def test_a_mirrored_frame_mirrors_world_and_body(axis, seed):
    mirror = position_matrix({"mirror": axis})
    written = Rotation.random(random_state=seed)
    matrix = quaternion_matrix({"mirror": axis})
    found = Rotation.from_quat(matrix @ written.as_quat(scalar_first=True), scalar_first=True)
    assert np.allclose(found.as_matrix(), mirror @ written.as_matrix() @ mirror)


def test_quaternions_in_another_order_and_inverse_come_back():
    w, x, y, z = q = Rotation.random(random_state=3).as_quat(scalar_first=True)
    assert np.allclose(quaternion_matrix({QUATERNION: "xyzw"}) @ [x, y, z, w], q)
    assert np.allclose(quaternion_matrix({QUATERNION: "xyzw-inverse"}) @ [-x, -y, -z, w], q)


def test_image_coordinates_are_turned_in_the_plane():
    assert in_plane(np.array([[1.0, 2.0, 3.0]]), {UP: "-y", THETA: "clockwise"}).tolist() == [
        [1.0, -2.0, -3.0]
    ]
    assert in_plane(np.array([[1.0, 2.0, 3.0]]), {UP: "x"}).tolist() == [[2.0, 1.0, 3.0]]


def test_the_largest_unit_that_gives_a_possible_size_fits():
    assert fitting_unit("s", 4.0, 1e-4, 0.2) == "ms" and fitting_unit("s", 4e6, 1e-4, 0.2) == "ns"
    assert fitting_unit("s", 1e12, 1e-4, 0.2) == ""


# which convention an answer is held to

OTHER = Convention(frame={THETA: "clockwise"})


def held(own, other, value=1.0, asked=None):
    """The answer under conventions whose misfits are these; an exception is raised."""

    def attempt(convention):
        misfit = own if convention == STATED else other
        if isinstance(misfit, ContactIdError):
            raise misfit
        values = np.array([0.0 if convention == STATED else value])
        return Judged(convention, 100.0 * misfit, 100, values, np.array([0.1]))

    def likelier():
        if asked is not None:
            asked.append(1)
        return [OTHER]

    return explained("a.csv", STATED, attempt, likelier)


def test_what_explains_the_data_isnt_questioned():
    asked = []
    assert held(1.0, 0.1, asked=asked) == (STATED, []) and not asked
    with pytest.raises(Refuted):
        held(Refuted("too few frames", "", 1.0), 1.0, asked=asked)
    assert not asked


@pytest.mark.parametrize("own", [30.0, 5.0, ContactIdError("no answer", "")])
def test_the_convention_that_explains_them_is_named_with_its_option(own):
    with pytest.raises(
        ContactIdError, match=r"theta is clockwise.*chi-square 100.*Give --frame theta=clockwise"
    ):
        held(own, 1.0)


def test_a_refuted_answer_is_none_and_a_refusal_stays_one():
    with pytest.raises(
        ContactIdError, match=r"refuted by its own misfit \(chi-square 1,100, expected 100\)"
    ):
        held(11.0, 11.0)
    with pytest.raises(ContactIdError, match="no answer"):
        held(ContactIdError("no answer", ""), ContactIdError("none either", ""))


def test_conventions_that_explain_alike_warn_where_their_answers_differ():
    assert held(4.0, 4.1, value=0.1) == (STATED, [])
    _, [warning] = held(4.0, 4.1, value=1.0)
    assert "The data don't tell whether theta is clockwise" in warning


def test_a_convention_that_its_misfit_refutes_explains_nothing():
    """Where the answer is by a part of the data alone, whose misfit counts."""

    def partly(convention):
        squares, value = (3000.0, 0.0) if convention == STATED else (1100.0, 1.0)
        return Judged(convention, squares, 100, np.array([value]), np.array([0.1]), own_misfit=1.0)

    assert explained("a.csv", STATED, partly, lambda: [OTHER]) == (STATED, [])


def test_an_odd_answer_is_questioned_however_well_it_fits():
    """It stays the answer, with a warning where another convention explains the data as well."""

    def odd(convention):
        value = 0.0 if convention == STATED else 1.0
        return Judged(convention, 100.0, 100, np.array([value]), np.array([0.1]), odd=True)

    answer, [warning] = explained("a.csv", STATED, odd, lambda: [OTHER])
    assert answer == STATED
    assert "The data don't tell whether theta is clockwise" in warning


def test_an_odd_answer_doesn_t_end_the_search_and_is_named_last():
    """Both explain data that what is stated doesn't; the likelier one is odd."""
    unusual = Convention(frame={UP: "-y"})

    def attempt(convention):
        if convention == STATED:
            raise ContactIdError("no answer", "")
        one = np.ones(1)
        return Judged(convention, 100.0, 100, one, one, odd=convention == unusual)

    named = r"theta is clockwise.*or y points downwards.*Give --frame theta=clockwise"
    with pytest.raises(ContactIdError, match=named):
        explained("a.csv", STATED, attempt, lambda: [unusual, OTHER])
