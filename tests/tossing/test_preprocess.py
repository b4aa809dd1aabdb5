"""Events, splits, planes and reasons, on tosses whose truth is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.motion import Recording, iterate_recordings
from contactid.tossing.prepare.events import find_events
from contactid.tossing.prepare.poses import fit_plane
from contactid.tossing.prepare.preprocess import (
    IDENTIFICATION,
    split_of,
    toss_table,
    upper_face,
)
from tosses_for_tests import box, motion, prepare_tosses, recordings


@given(st.integers(1, 60), st.floats(0.01, 0.99), st.integers(0, 2**32))
def test_split_has_the_asked_size_and_ignores_the_order(count, share, seed):
    names = np.array([f"t{k}" for k in range(count)], dtype=object)
    parts = dict(zip(names, split_of(names, share, seed), strict=True))
    backwards = dict(zip(names[::-1], split_of(names[::-1], share, seed), strict=True))
    assert sum(part == IDENTIFICATION for part in parts.values()) == round(share * count)
    assert parts == backwards


def test_events_agree_with_the_simulation():
    body = box()
    made = recordings(body, 8, seed=3, noise=5e-5)
    for _, samples in iterate_recordings(prepare_tosses(motion(made, body))):
        release, contact, rest = (int(samples[name]) for name in ("release", "contact", "rest"))
        heights = samples["position"].values[:, 2] + (
            rotations.matrices(samples["orientation"].values)[:, 2] @ body.vertices.T
        ).min(axis=1)
        assert release == 0
        assert heights[: contact - 1].min() > 0 and heights[contact - 1 : contact + 2].min() < 0.02
        speed = np.linalg.norm(np.diff(samples["position"].values, axis=0), axis=1) * 200.0
        assert speed[rest + 2 :].max() < 0.06 and speed[max(contact, rest - 15) : rest].max() > 0.02


def test_a_tilted_and_sunken_surface_is_found_from_the_resting_bodies():
    body = box()
    tilt = rotations.as_rotation(rotations.exp(np.array([0.004, -0.003, 0.0])))
    moved = [
        Recording(
            recording.name,
            tilt.apply(recording.position) - [0.0, 0.0, 0.002],
            rotations.as_quaternions(tilt * rotations.as_rotation(recording.orientation)),
        )
        for recording in recordings(body, 12, seed=4)
    ]
    prepared = prepare_tosses(motion(moved, body))
    assert prepared.attrs["plane_slope_y"] == pytest.approx(
        0.004, abs=5e-4
    )  # bodies come to rest a little sunken
    assert prepared.attrs["plane_slope_x"] == pytest.approx(0.003, abs=5e-4)
    assert np.abs(prepared["rest_position"].values[:, 2] - 0.05).max() < 5e-4


def test_plane_fit_ignores_a_body_that_leans():
    body = box()
    positions = np.array(
        [[x, y, 0.05] for x in (0.0, 0.3) for y in (0.0, 0.4)] + [[0.1, 0.1, 0.07]]
    )
    orientations = np.tile([1.0, 0, 0, 0], (5, 1))
    plane = fit_plane(positions, orientations, body.vertices)
    assert abs(plane.height) < 1e-12 and np.abs(plane.slope).max() < 1e-12


def broken(kind):
    body = box()
    good = recordings(body, 3, seed=5)
    first = good[0]
    if kind == "short":
        good[0] = Recording(first.name, first.position[:3], first.orientation[:3])
    elif kind == "moving":
        good[0] = Recording(first.name, first.position[:40], first.orientation[:40])
    elif kind == "resting":
        good[0] = Recording(first.name, first.position[-60:], first.orientation[-60:])
    return toss_table(prepare_tosses(motion(good, body)), "d")


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("short", "only 3 frames"),
        ("moving", "not at rest"),
        ("resting", "at rest from the first sample"),
    ],
)
def test_every_toss_is_used_or_has_a_reason(kind, reason):
    table = broken(kind)
    assert reason in table["reason"][0] and not table["used"][0]
    assert table["used"][1:].all() and (table["reason"][1:] == "").all()


def test_tumbling_tosses_are_left_out_only_when_asked():
    body = box()
    made = recordings(body, 15, seed=6)
    kept, left = (
        prepare_tosses(motion(made, body)),
        prepare_tosses(motion(made, body), exclude_tumbling=True),
    )
    tumbled = kept["tumbled"].values.astype(bool)
    assert tumbled.any() and not tumbled.all()
    assert [bool(reason) for reason in left["reason"].values] == list(tumbled)


def test_no_usable_toss_is_an_error_that_says_why():
    body = box()
    first = recordings(body, 1, seed=5)[0]
    with pytest.raises(
        ContactIdError, match=r"none of its 1 recordings is usable .the first: not at rest"
    ):
        prepare_tosses(
            motion([Recording(first.name, first.position[:40], first.orientation[:40])], body)
        )


@given(st.sampled_from([1, -1, 2, -2, 3, -3]), st.tuples(*[st.floats(-0.3, 0.3)] * 3))
def test_upper_face(face, wobble):
    up = np.zeros(3)
    up[abs(face) - 1] = np.sign(face)
    rotation, _ = rotations.Rotation.align_vectors([[0, 0, 1]], [up])
    wobbled = rotations.as_rotation(rotations.exp(np.array(wobble))) * rotation
    assert upper_face(rotations.as_quaternions(wobbled)) == face


@pytest.mark.parametrize("seed", range(10))
def test_an_impact_between_two_noisy_samples_is_the_first_contact(seed):
    """A flat box bounces half way between two frames: nothing is at the surface in any of them."""
    body, step, first = box(), 1.0 / 148.0, 40
    # s since the bounce; it comes and goes with half a metre per second, and lies after 14 frames
    times = step * (np.arange(-first, 60) - 0.5)
    height = 0.5 * np.abs(times) - 0.5 * 9.81 * times**2
    height[first + 14 :] = 0.0
    position = np.zeros((len(times), 3))
    position[:, 2] = 0.05 + height
    # five standard deviations of a second difference are half of what the bounce makes it
    position += 1.5e-4 * np.random.default_rng(seed).normal(size=position.shape)
    position[first + 15 :] = [0.0, 0.0, 0.05]
    found = find_events(
        position, np.tile([1.0, 0, 0, 0], (len(times), 1)), body.vertices, body.center_of_mass, step,
        gravity=np.array([0.0, 0.0, -9.81]), surface_velocity=np.zeros(3), rest_speed=0.02,
        fall_tolerance=2.0,
    )  # fmt: skip
    assert found.reason == "" and found.contact in (first, first + 1)
