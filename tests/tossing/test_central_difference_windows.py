"""The paper's twists beside an impact: exact where bodies fall freely and spin steadily on either
side.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core import rotations
from contactid.tossing.impacts.impact import Impact, ImpactWindow
from contactid.tossing.impacts.selection import as_paper
from contactid.tossing.impacts.sides import Candidate, Recording
from tosses_for_tests import box

STEP, REACH, SAMPLE = 1.0 / 360.0, 5, 8
GRAVITY = np.array([0.0, 0.0, -9.81])
velocities = st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3).map(np.array)


def recording(before, after, spins, instant):
    """A body that falls freely and turns about one axis, whose velocity and spin jump at an instant
    (samples).
    """
    time = (np.arange(2 * SAMPLE + 1) - SAMPLE - instant) * STEP
    speed = np.where(time[:, None] <= 0.0, before, after)
    position = (
        np.array([0.1, 0.2, 0.3]) + speed * time[:, None] + 0.5 * GRAVITY * time[:, None] ** 2
    )
    angle = np.where(time <= 0.0, spins[0], spins[1]) * time
    orientation = rotations.exp(angle[:, None] * np.array([0.6, 0.0, 0.8]))
    return Recording(
        "a",
        "test",
        position,
        orientation,
        np.zeros((len(time), 8)),
        GRAVITY,
        np.zeros(3),
        STEP,
        0.0,
        box(),
    )


def window(n_steps):
    nothing = Impact(
        "a", SAMPLE, 0, *(np.zeros(n) for n in (3, 4, 6, 6)), np.eye(6), np.eye(6), np.zeros(3)
    )
    return ImpactWindow(nothing, "test", None, n_steps, np.zeros(6), GRAVITY)


@settings(max_examples=25, deadline=None)
@given(before=velocities, after=velocities, spins=st.tuples(st.floats(-20, 20), st.floats(-20, 20)))
@pytest.mark.parametrize(
    "instant, last_pre, first_post, steps", [(0.5, 0, 1, 3), (-0.3, -1, 0, 3), (0.0, -1, 1, 4)]
)
def test_the_lines_give_the_twists_on_either_side(
    before, after, spins, instant, last_pre, first_post, steps
):
    measured = recording(before, after, spins, instant)
    found = Candidate("a", SAMPLE, 0, last_pre=last_pre, first_post=first_post)
    made = as_paper(measured, found, window(REACH + first_post + 1), REACH)
    start, end = (-REACH - instant) * STEP, (first_post + 1 - instant) * STEP
    axis = np.array([0.6, 0.0, 0.8])
    np.testing.assert_allclose(made.start.linear_velocity, before + GRAVITY * start, atol=1e-9)
    np.testing.assert_allclose(made.start.angular_velocity, spins[0] * axis, atol=1e-9)
    np.testing.assert_allclose(
        made.end_twist, np.r_[after + GRAVITY * end, spins[1] * axis], atol=1e-9
    )
    np.testing.assert_array_equal(made.start.position, measured.position[SAMPLE - REACH])
    # an instantaneous impact takes three steps of central differences, four where it falls on a
    # sample
    assert (first_post + 1) - (last_pre - 1) == steps
