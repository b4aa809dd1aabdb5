"""A sweep gives the losses of simulating every toss with every parameter pair, only faster."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties
from contactid.tossing.simulate.box import ContactParameters, State, SteppingOptions, simulate
from contactid.tossing.simulate.sweep import MeasuredToss, SweepResult, sweep

OPTIONS = SteppingOptions(1.0 / 200.0)
TRUTH = ContactParameters(0.3, 0.15)
HALF = 0.05
BELT = np.array([0.2, -0.1, 0.0])


def body(center=(0.0, 0.0, 0.0)) -> BodyProperties:
    corners = HALF * np.array(
        [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float
    )
    return BodyProperties(corners, 0.4, np.diag([6e-4, 6e-4, 7e-4]), np.array(center, dtype=float))


def tosses(count: int, seed: int, box: BodyProperties, belt=(0.0, 0.0, 0.0)) -> list[MeasuredToss]:
    random, made = np.random.default_rng(seed), []
    for k in range(count):
        start = State(
            np.array([0.0, 0.0, random.uniform(0.12, 0.2)]),
            rotations.exp(random.uniform(-1.2, 1.2, 3)),
            np.array(
                [random.uniform(0.3, 1.0), random.uniform(-0.3, 0.3), random.uniform(-0.4, 0.3)]
            ),
            random.uniform(-7, 7, 3),
        )
        n = int(random.integers(120, 200))
        motion = simulate(box, start, TRUTH, OPTIONS, n, np.array(belt))
        made.append(
            MeasuredToss(f"toss{k}", start, motion.position, motion.orientation, np.array(belt))
        )
    return made


def grid(*, step: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    values = np.arange(0.0, 1.0 + 1e-9, step)
    mu, e_n = np.meshgrid(values, values, indexing="ij")
    return mu.ravel(), e_n.ravel()


def same(first: SweepResult, second: SweepResult) -> bool:
    return all(
        (getattr(first, name) == getattr(second, name)).all()
        for name in ("position_error", "rotation_error", "failed_steps")
    )


@pytest.mark.parametrize(
    "center", [(0.0, 0.0, 0.0), (0.004, -0.002, 0.006)], ids=["centered", "loaded"]
)
@pytest.mark.parametrize("belt", [np.zeros(3), BELT], ids=["still", "belt"])
@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("solver", ["newton", "prox"])
def test_a_sweep_is_the_loss_of_single_simulations(center, belt, substeps, solver):
    # the fixed point of many pairs goes side by side, that of more than four contacts one by one
    box = body(center)
    if solver == "prox":
        box = replace(box, vertices=np.vstack([box.vertices, box.vertices * [1.0, 0.0, 1.0]]))
    measured = tosses(3, 1, box, belt)
    options = SteppingOptions(OPTIONS.time_step, substeps=substeps, solver=solver)
    if solver == "prox":
        options = replace(options, prox_step=0.02, tolerance=1e-9, max_iterations=60)
    mu, e_n = np.array([0.1, 0.3, 0.8, 0.3]), np.array([0.0, 0.15, 0.15, 0.6])
    result, most = sweep(box, measured, mu, e_n, options), 0
    for i, toss in enumerate(measured):
        for k in range(4):
            motion = simulate(
                box, toss.start, ContactParameters(mu[k], e_n[k]), options, len(toss.position), belt
            )
            distance = np.linalg.norm(motion.position - toss.position, axis=1).mean() / box.length
            angle = rotations.angle_between(motion.orientation, toss.orientation).mean()
            # a body at rest is not stepped on in a sweep: it moves by less than 1e-9 m/s. Two
            # compiled paths may round differently: both meet a step's law to 1e-9 m/s at corners
            # 0.05 m away, but not by the same point
            assert result.position_error[i, k] == pytest.approx(distance, abs=1e-7)
            assert result.rotation_error[i, k] == pytest.approx(angle, abs=1e-7)
            assert result.loss[i, k] == result.position_error[i, k] + result.rotation_error[i, k]
            failed = (motion.iterations > options.max_iterations).sum()
            assert result.failed_steps[i, k] == failed
            most = max(most, motion.contacts.max())
    assert (most > 4) == (solver == "prox")


def test_shared_steps_change_nothing():
    """Steps are shared where the result is the same to the last digit; compiled sums may differ in
    the last ones.
    """
    box = body()
    measured = tosses(12, 2, box)
    mu, e_n = grid()
    shared, executed = (
        sweep(box, measured, mu, e_n, OPTIONS),
        sweep(box, measured, mu, e_n, OPTIONS, share=False),
    )
    assert np.abs(shared.loss - executed.loss).max() < 1e-9
    assert np.abs(shared.loss.mean(0) - executed.loss.mean(0)).max() < 1e-10
    assert (shared.failed_steps == executed.failed_steps).all()


def test_the_order_of_the_pairs_does_not_matter():
    box = body()
    measured = tosses(4, 3, box)
    mu, e_n = grid(step=0.2)
    shuffled = np.random.default_rng(0).permutation(mu.size)
    plain, mixed = (
        sweep(box, measured, mu, e_n, OPTIONS),
        sweep(box, measured, mu[shuffled], e_n[shuffled], OPTIONS),
    )
    assert (plain.loss[:, shuffled] == mixed.loss).all()
    twice = sweep(box, measured, np.r_[mu, mu], np.r_[e_n, e_n], OPTIONS)
    assert np.abs(twice.loss - np.tile(plain.loss, 2)).max() < 1e-9


def test_the_truth_has_no_loss_and_the_map_its_minimum_there():
    box = body()
    measured = tosses(8, 4, box)
    mu, e_n = grid(step=0.05)
    loss = sweep(box, measured, mu, e_n, OPTIONS).loss.mean(0)
    best = int(np.argmin(loss))
    assert (mu[best], e_n[best]) == pytest.approx((TRUTH.friction_mu, TRUTH.restitution_e_n))
    exact = sweep(
        box, measured, np.array([TRUTH.friction_mu]), np.array([TRUTH.restitution_e_n]), OPTIONS
    )
    assert exact.loss.max() < 1e-7


def test_a_moving_belt_keeps_carrying_a_body_that_rests_on_it():
    """A body at rest is not stepped on; one at rest on a moving belt moves."""
    box = body()
    start = State(np.array([0, 0, HALF]), np.array([1.0, 0, 0, 0]), BELT, np.zeros(3))
    carried = np.array([0, 0, HALF]) + BELT * OPTIONS.time_step * np.arange(150)[:, None]
    upright = np.tile([1.0, 0, 0, 0], (150, 1))
    for belt, expected in ((BELT, 0.0), (-BELT, 1.0)):
        measured = [MeasuredToss("carried", start, carried, upright, belt)]
        result = sweep(box, measured, np.array([0.5]), np.array([0.0]), OPTIONS)
        assert (result.position_error[0, 0] > 1e-7) == bool(expected)


def test_the_length_scales_the_position_error_only():
    box, (mu, e_n) = body(), (np.array([0.6]), np.array([0.0]))
    measured = tosses(2, 5, box)
    plain, scaled = (
        sweep(box, measured, mu, e_n, OPTIONS),
        sweep(box, measured, mu, e_n, OPTIONS, length=0.2),
    )
    assert np.allclose(scaled.position_error, plain.position_error * box.length / 0.2)
    assert (
        scaled.rotation_error == plain.rotation_error
    ).all() and plain.position_error.min() > 1e-3


def test_the_law_of_impacts_reaches_the_simulation():
    box, (mu, e_n) = body(), (np.array([0.5]), np.array([0.4]))
    toss = tosses(1, 6, box)[0]
    incremental = replace(OPTIONS, law="incremental")
    parameters = ContactParameters(0.5, 0.4)
    motion = simulate(box, toss.start, parameters, incremental, len(toss.position))
    turning = MeasuredToss("turning", toss.start, motion.position, motion.orientation, np.zeros(3))
    assert sweep(box, [turning], mu, e_n, incremental).loss[0, 0] < 1e-7
    assert sweep(box, [turning], mu, e_n, OPTIONS).loss[0, 0] > 1e-3


def test_failed_steps_are_counted():
    box = body()
    measured = tosses(2, 7, box)
    mu, e_n = grid(step=0.5)
    assert sweep(box, measured, mu, e_n, OPTIONS).failed_steps.max() == 0
    crippled = SteppingOptions(OPTIONS.time_step, solver="prox", tolerance=1e-13, max_iterations=2)
    failed = sweep(box, measured, mu, e_n, crippled).failed_steps
    steps = np.array([len(toss.position) - 1 for toss in measured])
    assert failed.min() > 0 and (failed <= steps[:, None]).all()
    motion = simulate(
        box, measured[1].start, ContactParameters(0.5, 0.5), crippled, len(measured[1].position)
    )
    assert failed[1, 4] == (motion.iterations == 3).sum()


def test_memory_does_not_grow_with_the_grid():
    """Besides the result (three numbers a pair and toss, copied while it is sorted) nothing grows."""
    box = body()
    measured = tosses(2, 8, box)
    peaks = []
    for pairs in (100, 4000):
        mu, e_n = np.linspace(0.2, 0.9, pairs), np.full(pairs, 0.1)
        sweep(box, measured, mu[:2], e_n[:2], OPTIONS)
        tracemalloc.start()
        sweep(box, measured, mu, e_n, OPTIONS)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    per_pair = (peaks[1] - peaks[0]) / 3900
    assert per_pair < len(measured) * 3 * 8 * 5 + 100


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"friction_mu": np.array([0.1, 0.2])}, "pair"),
        ({"friction_mu": np.array([]), "restitution_e_n": np.array([])}, "pair"),
        ({"tosses": []}, "no toss"),
        ({"friction_mu": np.array([-0.1])}, "friction_mu"),
        ({"restitution_e_n": np.array([1.5])}, "restitution_e_n"),
    ],
)
def test_what_cannot_be_swept_is_refused(change, text):
    box = body()
    arguments = {
        "tosses": tosses(1, 9, box),
        "friction_mu": np.array([0.1]),
        "restitution_e_n": np.array([0.2]),
    }
    with pytest.raises(ContactIdError, match=text):
        sweep(box, options=OPTIONS, **(arguments | change))


def test_a_start_that_is_not_a_number_is_refused():
    box = body()
    toss = tosses(1, 9, box)[0]
    broken = State(np.array([0, 0, np.nan]), toss.start.orientation, np.zeros(3), np.zeros(3))
    with pytest.raises(ContactIdError, match="NaN"):
        sweep(
            box,
            [toss, MeasuredToss("broken", broken, toss.position, toss.orientation, np.zeros(3))],
            np.array([0.1]),
            np.array([0.2]),
            OPTIONS,
        )
