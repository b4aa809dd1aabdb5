"""Windows cut from simulated tosses give back the friction that they were simulated with."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contactid.core.complementarity import attach, solve_mpec
from contactid.core.errors import ContactIdError
from contactid.output.fits import write_fit
from contactid.tossing.identify.window_mpec import (
    WINDOW_CONTINUATION,
    Group,
    combine,
    fit_windows,
    identify_from_windows,
)
from contactid.tossing.models.windows import WindowOptions, build_window_model, cut_windows
from contactid.tossing.prepare.poses import touching_corners
from contactid.tossing.simulate.box import ContactParameters, State, SteppingOptions, simulate
from contactid.tossing.simulate.sweep import MeasuredToss
from impacts_for_tests import box

BODY = box()
STEPPING = SteppingOptions(time_step=1.0 / 360.0, substeps=8)
OPTIONS = WindowOptions(after=20)


def tosses(mu: float, e_n: float, n: int, *, noise: float = 1e-4) -> list[MeasuredToss]:
    """Flat, fast throws that touch down tilted and slide; poses with ``noise`` m and 5 ``noise`` rad."""
    rng = np.random.default_rng(11)
    made = []
    for index in range(n):
        tilt = Rotation.from_euler("xyz", [*rng.normal(0.0, 0.15, 2), rng.uniform(-3.0, 3.0)])
        start = State(
            np.array([0.0, 0.0, 0.12]),
            tilt.as_quat(scalar_first=True),
            np.array([1.5, 0.3, -0.4]),
            rng.normal(0.0, 0.5, 3),
        )
        run = simulate(BODY, start, ContactParameters(mu, e_n), STEPPING, 90)
        turns = Rotation.from_quat(run.orientation, scalar_first=True)
        turns = Rotation.from_rotvec(rng.normal(0.0, 5.0 * noise, (90, 3))) * turns
        position = run.position + rng.normal(0.0, noise, run.position.shape)
        made.append(MeasuredToss(f"toss{index}", start, position, turns.as_quat(scalar_first=True), np.zeros(3)))
    return made


def combined(groups: list[Group]) -> dict[str, Any]:
    return combine(groups, OPTIONS, dataset="synthetic", seed=0)


def test_friction_comes_back(tmp_path: Path) -> None:
    known = {"dataset": "synthetic", "largest_number": 4, "seed": 0}
    fit = identify_from_windows(BODY, tosses(0.4, 0.1, 5), STEPPING, OPTIONS, **known)
    assert len(fit["groups"]) == 4 and sum(group["converged"] for group in fit["groups"]) >= 3
    mu, (low, high) = fit["parameters"]["friction_mu"], fit["intervals"]["friction_mu"]
    assert abs(mu - 0.4) < 0.02 and fit["friction_identified"]
    assert low <= mu <= high
    write_fit(tmp_path / "fit.json", fit)
    read = json.loads((tmp_path / "fit.json").read_text())
    assert read["residuals"]["complementarity"] <= 1e-5 and len(read["groups"]) == 4


def test_restitution_comes_back_and_its_interval_holds() -> None:
    """The truth has eight steps per sample, the windows two."""
    fit = identify_from_windows(
        BODY, tosses(0.3, 0.4, 5), STEPPING, OPTIONS, dataset="synthetic", largest_number=5, seed=0
    )
    e_n, (low, high) = fit["parameters"]["restitution_e_n"], fit["intervals"]["restitution_e_n"]
    assert e_n == pytest.approx(0.4, abs=0.02) and low <= 0.4 <= high


@given(
    at=st.floats(2.1, 5.9),
    speed=st.floats(0.5, 20.0),
    bounce=st.floats(0.0, 1.0),
    substeps=st.integers(1, 4),
)
def test_a_corner_that_falls_may_not_touch_before_it_hits(
    at: float, speed: float, bounce: float, substeps: int
) -> None:
    """However wide the margin; one step of play, where it hits just after a sample. Speeds in margins per sample."""
    times = np.arange(9.0)
    heights = np.where(times < at, speed * (at - times), bounce * speed * (times - at))[:, None]
    touching = np.flatnonzero(touching_corners(heights, 1.0, substeps)[:, 0])
    hit = int(at * substeps)
    assert hit in touching
    if speed > 1.0:
        assert touching[0] >= hit - 2


def test_the_answer_does_not_depend_on_the_start() -> None:
    windows = cut_windows(BODY, tosses(0.4, 0.1, 1), OPTIONS)
    step = STEPPING.time_step / OPTIONS.substeps
    found = [
        combined(fit_windows(BODY, windows, step, STEPPING.gravity, OPTIONS, start=start))["parameters"]
        for start in [(0.1, 0.0), (0.9, 0.6)]
    ]
    assert found[0]["friction_mu"] == pytest.approx(found[1]["friction_mu"], abs=1e-4)
    assert found[0]["restitution_e_n"] == pytest.approx(found[1]["restitution_e_n"], abs=1e-3)


def test_a_solved_window_obeys_momentum_and_friction() -> None:
    windows = cut_windows(BODY, tosses(0.4, 0.1, 1), OPTIONS)
    step = STEPPING.time_step / OPTIONS.substeps
    built = build_window_model(BODY, windows, step, STEPPING.gravity, OPTIONS)
    pairs = attach(built.model, built.pairs, WINDOW_CONTINUATION.reformulation)
    assert solve_mpec(pairs, WINDOW_CONTINUATION).converged
    model, n = built.model, len(windows[0].position)
    count = range(len(built.contacts))
    normal = np.array([model.normal[c].value for c in count]) * built.impulse_scale
    force = np.array([[model.force[c, a].value for a in range(2)] for c in count]) * built.impulse_scale
    assert (np.linalg.norm(force, axis=1) <= built.parameters[0] * normal + 1e-7).all()
    gained = [BODY.mass * (model.v[0, n - 1, a].value - model.v[0, 0, a].value) for a in range(3)]
    pushed = np.append(force.sum(axis=0), normal.sum()) + BODY.mass * (n - 1) * step * np.array(STEPPING.gravity)
    assert np.allclose(gained, pushed, atol=1e-8)


def test_which_corners_may_touch() -> None:
    speed, bounce, at = 1.0, 0.4, 3.3
    times = np.arange(8.0)
    heights = np.where(times < at, speed * (at - times), bounce * (times - at))[:, None]
    assert np.flatnonzero(touching_corners(heights, 1e-9)[:, 0]).tolist() == [3]
    # with ten steps per sample only the one in which it hits, though no sample is near the surface
    assert np.flatnonzero(touching_corners(heights, 1e-9, 10)[:, 0]).tolist() in ([32], [33], [32, 33])
    assert not touching_corners(heights + 0.1, 1e-9, 10).any()
    assert touching_corners(np.zeros((5, 2)), 1e-9, 2).all()


def test_the_mean_trusts_groups_that_fit_and_slide() -> None:
    windows = cut_windows(BODY, tosses(0.4, 0.1, 1), OPTIONS)
    step = STEPPING.time_step / OPTIONS.substeps
    group = fit_windows(BODY, windows, step, STEPPING.gravity, OPTIONS)[0]
    good = [replace(group, mu=0.4 + d, e_n=0.1, mean_square=1.0, sliding=100) for d in (-0.01, 0.0, 0.01)]
    bad = replace(group, mu=0.9, mean_square=100.0, sliding=100)
    failed = replace(group, mu=0.0, solution=replace(group.solution, converged=False))
    fit = combined([*good, bad, failed])
    assert abs(fit["parameters"]["friction_mu"] - 0.4) < 0.01
    assert len(fit["groups"]) == 5 and sum(one["converged"] for one in fit["groups"]) == 4
    low, high = fit["intervals"]["friction_mu"]
    assert low < 0.4 < high
    with pytest.raises(ContactIdError, match="none of 1 groups"):
        combined([failed])


def test_too_short_tosses_have_no_window() -> None:
    toss = tosses(0.4, 0.1, 1)[0]
    short = replace(toss, position=toss.position[:10], orientation=toss.orientation[:10])
    assert cut_windows(BODY, [short], OPTIONS) == []
    with pytest.raises(ContactIdError, match="no window"):
        identify_from_windows(BODY, [short], STEPPING, OPTIONS, dataset="d", largest_number=4, seed=0)
