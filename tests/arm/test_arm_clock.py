"""Recordings at even steps, whatever the clock: units, precision, scatter and missing samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contactid.arm.readers.clock import LONGEST, even_steps
from contactid.arm.readers.impacts import EVEN

N = 400
TIME = 1e-3 * np.arange(N)


def motion(time):
    """(n, 7) joint positions of a smooth motion, rad."""
    return np.sin(3.0 * time)[:, None] * np.linspace(0.2, 0.5, 7)


def placed(stamps, position=None):
    problems: list[str] = []
    found = even_steps(stamps, motion(TIME) if position is None else position, problems)
    assert (found is None) == bool(problems)
    return found, problems


@pytest.mark.parametrize(
    "stamps",
    [TIME, TIME + 1.6e9, 1e3 * TIME, 1e6 * TIME + 1.6e15, (1e9 * TIME).astype("int64") + 1_600_000_000 * 10**9,
     TIME.astype("float32"), (1e6 * TIME).astype("uint64"), 7.4e5 + TIME / 86400.0, None],
    ids=["s", "unix", "ms", "us, unix", "ns, int64", "single", "us, unsigned", "days", "none"],
)  # fmt: skip
def test_units_and_origins_give_the_same(stamps):
    found, _ = placed(stamps)
    np.testing.assert_allclose(found.time, TIME, atol=2e-4 * TIME[-1])
    np.testing.assert_allclose(found.position, motion(TIME), atol=1e-12)
    assert np.ptp(np.diff(found.time)) < EVEN


@given(
    st.floats(-1e10, 1e10),
    st.sampled_from([0.1e-3, 0.5e-3, 1e-3, 2e-3]),
    st.sampled_from([1.0, 1e-3, 1e-6]),
)
def test_any_origin_and_rate_is_found(origin, step, unit):
    stamps = (origin + step * np.arange(N)) / unit
    found, _ = placed(stamps)
    assert found is not None and len(found.time) == N
    assert found.time[1] == pytest.approx(step, rel=1e-2)
    assert np.ptp(np.diff(found.time)) < EVEN


@pytest.mark.parametrize("scatter", [5e-6, 50e-6, 200e-6, 400e-6])
def test_stamps_that_scatter_leave_even_samples_as_they_are(scatter):
    random = np.random.default_rng(3)
    position = motion(TIME) + 5e-6 * random.normal(size=(N, 7))
    stamps = np.maximum.accumulate(
        TIME + scatter * random.normal(size=N) + 1e-9 * np.arange(N)
    ) + 1e-9 * np.arange(N)
    found, _ = placed(stamps, position)
    np.testing.assert_array_equal(found.position, position)
    assert found.time[-1] == pytest.approx(TIME[-1], rel=1e-3) and "scatter" in found.notes[0]


@pytest.mark.parametrize("scatter", [20e-6, 100e-6])
def test_samples_taken_when_the_stamps_say_are_interpolated(scatter):
    random = np.random.default_rng(4)
    stamps = TIME + scatter * random.normal(size=N)
    found, _ = placed(stamps, motion(stamps) + 1e-6 * random.normal(size=(N, 7)))
    assert "resampled" in found.notes[0]
    shift = np.mean(stamps - TIME)
    assert np.abs(found.position - motion(found.time + shift))[5:-5].max() < 10e-6
    assert np.abs(motion(stamps) - motion(TIME + shift)).max() > 20e-6


def test_what_is_too_coarse_for_a_sample_still_gives_the_rate():
    found, _ = placed((TIME + 16384.0).astype("float32"))  # in steps of 2 ms
    np.testing.assert_allclose(found.time, TIME, atol=5e-3)
    found, _ = placed((TIME + 1.6e9).astype("float32"))
    np.testing.assert_array_equal(found.time, TIME)
    assert "steps of 128 s (float32): samples are taken to be 1 ms apart" in found.notes[0]


@pytest.mark.parametrize("gap", [1, 2, 3, 30])
def test_a_sample_or_two_are_bridged_and_no_more(gap):
    kept = np.r_[0:200, 200 + gap : N]
    found, problems = placed(TIME[kept], motion(TIME[kept]))
    if gap > 2:
        assert "dropped samples" in problems[0] and "sample 200" in problems[0]
    else:
        np.testing.assert_allclose(found.position, motion(TIME), atol=1e-9)
        assert f"{gap} missing sample" in found.notes[0]


def test_a_sample_without_a_value_is_bridged_as_a_missing_one_is():
    position = motion(TIME)
    position[200, 3] = position[301] = np.nan
    found, _ = placed(TIME, position)
    np.testing.assert_allclose(found.position, motion(TIME), atol=1e-9)
    assert found.notes == ("2 empty samples bridged",)
    # without stamps, too
    found, _ = placed(None, position)
    np.testing.assert_allclose(found.position, motion(TIME), atol=1e-9)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda t: np.where(np.arange(N) == 50, np.nan, t), "NaN in 1 samples of the time"),
        (lambda t: t[::-1].copy(), "does not increase at sample 1"),
        (lambda t: np.where(np.arange(N) >= 50, t - 0.2, t), "does not increase at sample 50"),
        (lambda t: 30.0 * t, "time steps of 30 ms"),
        (lambda t: 0.0 * t, "does not increase at sample 1"),
        (lambda t: t**2, "ms"),
    ],
)
def test_a_clock_that_cannot_be_right_is_refused(spoil, said):
    found, problems = placed(spoil(TIME))
    assert found is None and said in problems[0] and "\n" not in problems[0]


def test_a_late_stamp_is_no_missing_sample():
    stamps = TIME.copy()
    stamps[100] += 0.6e-3
    found, _ = placed(stamps)
    assert len(found.time) == N and "scatter" in found.notes[0]
    assert EVEN < LONGEST
