"""Tables of a user's own tosses, as cameras and people write them: lost frames, times in whole
milliseconds, noise, surfaces at any height, boxes that can't be.
"""

import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import contactid
from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.conventions import STATED
from contactid.tossing.own.conventions import explained_motion
from contactid.tossing.own.recordings import read_box, read_own
from contactid.tossing.own.usable import (
    EVENTS,
    corners_of,
    events_of,
    on_one_surface,
    prepared_own,
    recording_warnings,
    sloped,
)
from contactid.tossing.prepare.events import IN_MOTION
from contactid.tossing.prepare.preprocess import preprocess
from contactid.tossing.toss.identify import _centre_open, _reasons, _warnings
from tosses_for_tests import RATE, SETTINGS, box, recordings

SIZE = {"size": [0.1, 0.1, 0.1], "mass": 0.4}
POSES = ["t", "x", "y", "z", "qw", "qx", "qy", "qz"]


def table_of(made):
    parts = []
    for toss in made:
        poses = np.column_stack(
            [np.arange(len(toss.position)) / RATE, toss.position, toss.orientation]
        )
        parts.append(pd.DataFrame(poses, columns=POSES).assign(toss=toss.name))
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def table():
    return table_of(recordings(box(), 6, seed=3))


@pytest.fixture(scope="module")
def twelve():
    return table_of(recordings(box(), 12, seed=3))


def read(table):
    return read_own(table, read_box(SIZE)[0], STATED).motion


def usable(motion, events):
    prepared = on_one_surface(preprocess(motion, **{**SETTINGS, "events": events}))
    return int((prepared["reason"] == "").sum()), list(prepared["reason"].values)


def test_lost_frames_are_bridged_where_they_were(table):
    """Single frames and pairs, missing or empty."""
    lost = table.index % 31 == 7
    lost |= table.index % 31 == 8
    whole, emptied = read(table), table.copy()
    emptied.loc[lost, POSES[1:]] = np.nan
    for some in (read(table[~lost]), read(emptied)):
        assert some.sizes == whole.sizes
        off = np.linalg.norm(some["position"].values - whole["position"].values, axis=1)
        assert off[~lost].max() < 1e-12
        # an impact may lie in a gap: a body of 2 m/s is then off by a frame's way at most
        assert off.max() < 5e-3 and np.median(off[lost]) < 5e-5
        turn = rotations.angle_between(some["orientation"].values, whole["orientation"].values)
        assert np.median(turn[lost]) < 1e-3


def test_times_in_whole_milliseconds_are_an_even_clock_s(table):
    for rate in (100.0, 150.0, 360.0):
        times = table["t"] * RATE / rate
        rounded = read(table.assign(t=times.round(3)))
        assert rounded.attrs["sample_frequency"] == pytest.approx(rate, rel=1e-4)
        assert np.array_equal(rounded["position"], read(table.assign(t=times))["position"])


def test_the_same_row_twice_is_one_frame(table):
    again = pd.concat([table, table.iloc[[40, 300]]]).sort_index(kind="stable")
    assert read(again).identical(read(table))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t[(t.index % 100 < 40) | (t.index % 100 > 44)], "too long to bridge"),
        (lambda t: t.assign(t=t["t"] + 0.3 / RATE * (t.index % 7 == 3)), "evenly spaced in time"),
        (lambda t: t.assign(t=(t["t"] * RATE // 2) * 2 / RATE), "two poses at one time"),
        (lambda t: t.assign(t=t["t"] + 1e6 * (t.index % 280 > 200)), r"280 of \d+ frames"),
        (lambda t: t.assign(t=0.0), "0 frames/s"),
        (
            lambda t: t.iloc[t.index // 2 * 2].assign(t=t["t"].to_numpy()),
            r"\d+ of \d+ frames in motion repeat",
        ),
        (lambda t: t.iloc[:0], "a pose in 0 of 0 frames"),
        (lambda t: t.assign(t=t["t"].where(t.index % 50 > 0)), "no time in frame"),
    ],
)
def test_times_that_no_camera_has_are_refused_in_one_line(table, change, said):
    changed = change(table)
    with pytest.raises(ContactIdError, match=said) as raised:
        read(changed if len(changed) else changed.drop(columns="toss"))
    assert "\n" not in str(raised.value)


def test_rest_is_found_at_a_camera_s_noise():
    """At .3 mm and .1 degrees most look as if they moved with 2 cm/s."""
    motion = read(table_of(recordings(box(), 6, seed=3, noise=3e-4)))
    assert usable(motion, events_of(motion))[0] >= 5 > usable(motion, EVENTS)[0]


def test_a_filtered_camera_s_tosses_rest_and_those_cut_off_in_motion_do_not():
    """A filter and steps of 1 mm leave no white noise that would tell how fast a resting body
    seems.
    """
    noisy = table_of(recordings(box(), 6, seed=3, noise=4e-4))
    places = POSES[1:4]
    noisy[places] = noisy.groupby("toss")[places].transform(lambda x: x.ewm(alpha=0.5).mean())
    noisy[places] = noisy[places].round(3)
    cut = noisy[(noisy["toss"] != "toss001") | (noisy["t"] < 0.25)]
    reasons = prepared_own(read(cut), share=1.0, require_usable=False)["reason"].values
    assert reasons[1] == IN_MOTION and IN_MOTION not in np.delete(reasons, 1)


def test_data_whose_up_is_off_are_turned_upright_and_say_by_how_much(table):
    lean = rotations.Rotation.from_rotvec(np.radians([2.0, -3.0, 0.0]))
    turned = lean * rotations.as_rotation(table[POSES[4:]].to_numpy(copy=True))
    leaning = table.copy()
    leaning[POSES[1:4]] = lean.apply(table[POSES[1:4]].to_numpy(copy=True))
    leaning[POSES[4:]] = rotations.as_quaternions(turned)
    upright = prepared_own(read(leaning), share=1.0, require_usable=True)
    assert (upright["reason"] == "").all()
    assert upright.attrs["up_off_degrees"] == pytest.approx(np.degrees(lean.magnitude()), abs=0.1)
    assert any("degrees off" in said for said in recording_warnings(upright))
    assert "up_off_degrees" not in prepared_own(read(table), share=1.0, require_usable=True).attrs


def test_a_quiet_camera_keeps_the_authors_threshold(table):
    assert events_of(read(table)) == EVENTS


def test_a_toss_that_ends_in_motion_says_nothing_of_the_surface_s_height(table):
    """The others do, at any height."""
    raised = table.assign(z=table["z"] + 0.3)
    raised = raised[(raised["toss"] != "toss002") | (raised["t"] < 0.25)]
    own = read_own(raised, read_box(SIZE)[0], STATED)
    assert explained_motion(own.motion, own.convention, placed=False, length=1.0) is not None


def test_a_toss_that_rests_at_another_height_is_left_out(table):
    """Another box, or another surface; the plane is most others'."""
    higher = table.assign(z=table["z"] + 0.008 * (table["toss"] == "toss001"))
    count, reasons = usable(read(higher), EVENTS)
    assert count == 5 and "rests 8 mm above most others" in reasons[1]


def test_mirrored_positions_are_told_at_a_camera_s_noise():
    """Of which a frame has ten times what friction does: right ones aren't refused."""
    noisy = table_of(recordings(box(), 10, seed=3, noise=3e-4))
    how = {"placed": False, "length": 1.0}
    explained_motion(read(noisy), STATED, **how)
    with pytest.raises(ContactIdError, match="position_y=-object_position_y"):
        explained_motion(read(noisy.assign(y=-noisy["y"])), STATED, **how)


def flat_tosses(fall, slide, count=5):
    """Poses of a cube that lands flat from a height (m), and slides so far (m) from then on."""
    random, parts = np.random.default_rng(5), []
    time = np.arange(240) / RATE
    height = np.maximum(fall - 0.5 * 9.81 * time**2, 0.0)
    way = slide * (1.0 - np.maximum(1.0 - time / 0.6, 0.0) ** 2)
    for number in range(count):
        shaken = rotations.Rotation.from_rotvec(2e-3 * random.normal(size=(len(time), 3)))
        heading = rotations.Rotation.from_rotvec([0.0, 0.0, random.uniform(-3.0, 3.0)])
        place = np.column_stack([way, 0.0 * way, 0.05 + height])
        place += 3e-4 * random.normal(size=place.shape)
        poses = np.column_stack([time, place, rotations.as_quaternions(heading * shaken)])
        parts.append(pd.DataFrame(poses, columns=POSES).assign(toss=f"t{number}"))
    return pd.concat(parts, ignore_index=True)


def test_slides_without_flight_or_impact_are_named():
    how = {"placed": False, "length": 1.0}
    explained_motion(read(flat_tosses(0.2, 0.4)), STATED, **how)
    with pytest.raises(ContactIdError, match="slides without flight or impact"):
        explained_motion(read(flat_tosses(0.0, 0.4)), STATED, **how)


def test_flights_that_do_not_turn_leave_the_centre_open(table):
    """A camera's noise of orientations would tell one a centimetre off, with half of its error."""
    for poses, is_open in ((flat_tosses(0.2, 0.0), True), (table, False)):
        prepared = preprocess(read(poses), **{**SETTINGS, "events": EVENTS})
        assert (_centre_open(prepared) == is_open).all()


def test_predictions_that_refute_the_answer_are_a_warning(answered):
    """Another law, too, is named with its option."""
    used = pd.DataFrame({"used": [True] * 6})
    for faces, warns in (([1, 1, 0, 0, 0, 0], True), ([1, 1, 1, 0, 0, 0], False)):
        said = _warnings(answered, used, "incremental", 3.0, pd.DataFrame({"same_face": faces}))
        assert any("2 of 6 come to rest on the predicted face" in one for one in said) == warns
        assert any("--law newton" in one for one in said)


def test_tosses_that_move_nowhere_are_none(table):
    own = read_own(table[table["t"] > 1.2], read_box(SIZE)[0], STATED)
    with pytest.raises(ContactIdError, match="stays where it is"):
        explained_motion(own.motion, own.convention, placed=False, length=1.0)


@pytest.mark.parametrize(
    ("size", "middle", "said"),
    [
        ([0.1, 0.1, 0.1], [0.0, 0.0, 0.0], ""),
        ([0.085, 0.085, 0.085], [0.0, 0.0, 0.0], "The size isn't"),
        ([0.11, 0.11, 0.11], [0.0, 0.0, 0.0], "The size isn't .*or corners are rounded with"),
        ([0.1, 0.1, 0.115], [0.0, 0.0, 0.0], "The size isn't"),
        ([0.1, 0.1, 0.1], [0.009, 0.0, -0.005], "The tracked point isn't"),
        ([0.09, 0.09, 0.09], [0.0, 0.006, 0.0], "The size and tracked point isn't"),
    ],
)
def test_heights_of_corners_tell_size_and_middle_apart(twelve, size, middle, said):
    """Twelve tosses of sharp and hard corners, as far as 200 frames/s tell."""
    turned = rotations.as_rotation(twelve[POSES[4:]].to_numpy(copy=True))
    tracked = twelve.copy()
    tracked[POSES[1:4]] = twelve[POSES[1:4]].to_numpy(copy=True) - turned.apply(middle)
    motion = read_own(tracked, read_box({"size": size})[0], STATED).motion
    prepared = preprocess(motion, **{**SETTINGS, "events": EVENTS})
    corners = corners_of(prepared)
    off = (1.0 - corners.shorter) * size - 0.1
    assert (np.abs(off) < np.maximum(3.0 * corners.shorter_se * size, 2e-3)).all()
    assert (np.abs(corners.middle - middle) < np.maximum(3.0 * corners.middle_se, 1e-3)).all()
    assert (corners.shorter_se < 0.04).all() and (corners.middle_se < 2e-3).all()
    assert len(recording_warnings(prepared)) == bool(said)
    assert re.match(said, corners.doubt()) and ("rounded" in said) == ("rounded" in corners.doubt())


@pytest.mark.parametrize("degrees", [3.0, 10.0])
def test_a_surface_that_slopes_is_told_by_orientations_at_rest(table, degrees):
    """Whatever the heights say: the surface's own frame has the same tosses as a level one."""
    lean = rotations.Rotation.from_rotvec(np.radians([0.8 * degrees, -0.6 * degrees, 0.0]))
    turned = lean * rotations.as_rotation(table[POSES[4:]].to_numpy(copy=True))
    leaning = table.copy()
    leaning[POSES[1:4]] = lean.apply(table[POSES[1:4]].to_numpy(copy=True))
    leaning[POSES[4:]] = rotations.as_quaternions(turned)
    slope = sloped(read(leaning))
    assert slope.attrs["slope_degrees"] == pytest.approx(degrees, abs=0.1)
    normal = rotations.matrices(slope["surface_orientation"].values)[:, :, 2]
    assert np.allclose(normal, lean.apply([0.0, 0.0, 1.0]), atol=2e-3)
    # twice is once, a level surface has none, and faces that lean every way tell none
    assert sloped(slope).identical(slope) and sloped(read(table)).attrs["slope_degrees"] == 0.0
    conjugate = leaning.assign(**{name: -leaning[name] for name in ("qx", "qy", "qz")})
    assert sloped(read(conjugate)).attrs["slope_degrees"] == 0.0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"size": [0.1, 0.1, 0.1], "mass": 400.0}, "denser than lead"),
        ({"size": [0.1, 0.1, 0.1], "inertia": [6e-4] * 3}, "inertia without a mass"),
        ({**SIZE, "inertia": [6e-4, 1e-4, 1e-4]}, "no body of this mass and size"),
        ({**SIZE, "inertia": [3e-3] * 3}, "no body of this mass and size"),
    ],
)
def test_a_box_that_can_not_be_is_refused(content, said):
    with pytest.raises(ContactIdError, match=said):
        read_box(content)


def test_a_thin_hollow_box_can_be():
    hollow = [5.0 / 18.0 * 0.4 * 0.1**2] * 3
    assert np.allclose(np.diag(read_box({**SIZE, "inertia": hollow})[0].inertia), hollow)


def test_too_few_tosses_say_how_many_and_why(table):
    cut = table[(table["toss"] < "toss003") | (table["t"] < 0.3)]
    said = "3 of 6 tosses can be used; toss003: not at rest at the end of the recording"
    with pytest.raises(ContactIdError, match=said):
        contactid.toss(cut, SIZE)


def test_a_toss_that_tumbles_far_does_not_hide_that_all_are_predicted(answered):
    """Of six tosses all but one are predicted at a half of the naive loss or less."""
    naive = np.array([0.39, 0.46, 2.16, 0.59, 0.42, 0.45])
    loss = np.array([0.16, 0.12, 0.82, 0.78, 0.07, 0.17])
    assert not _reasons(answered, pd.DataFrame({"loss": loss, "naive_loss": naive}))
    alike = pd.DataFrame({"loss": naive[::-1], "naive_loss": naive})
    assert "no better than by a box that stays" in _reasons(answered, alike)[0]


@pytest.fixture
def answered():
    """A fit whose lengths fall as gravity wants."""

    class Fit:
        class calibration:
            scale, scale_se = 1.0, 1e-3

        class problem:
            tosses = range(9)

        search = SimpleNamespace(
            intervals={"friction_mu": (0.2, 0.4)},
            swept=pd.DataFrame({"friction_mu": [0.0, 1.0]}),
        )

        by_data, centre_open = 0.9, np.zeros(3, dtype=bool)

    return Fit()
