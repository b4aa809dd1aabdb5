"""Friction and restitution from single impacts: by simulation and search, and by MPEC, on drops of
known truth.
"""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core.errors import ContactIdError
from contactid.sources.motion import BodyProperties
from contactid.tossing.identify.impact_mpec import compare_forms, model_error
from contactid.tossing.identify.trajectories import Grid, grid_values
from contactid.tossing.identify.velocities import (
    identify_velocities,
    loss_table,
    no_impact_losses,
    simulate_windows,
    sweep_velocities,
    velocity_losses,
)
from contactid.tossing.impacts.impact import WEIGHTS, ImpactWindow, impact_geometry
from contactid.tossing.impacts.law import impact_table
from contactid.tossing.impacts.selection import find_impacts
from contactid.tossing.simulate.box import ContactParameters, State, SteppingOptions, simulate
from contactid.tossing.simulate.sweep import end_twists
from iam_tosses import box_model
from impacts_for_tests import box, impacts, predict_post_twist
from true_impacts import EMBEDDED, prepared_drops
from twin_truth import read_truth

OPTIONS = SteppingOptions(1.0 / 360.0, substeps=16)
COARSE = Grid(grid_values(0.0, 1.0, 0.1), grid_values(0.0, 1.0, 0.1))
BODY = box()
OFFSET = BodyProperties(BODY.vertices, BODY.mass, BODY.inertia, np.array([0.004, -0.003, 0.005]))


class Problem:
    """One embedded twin's impacts."""

    def __init__(self, name):
        path = EMBEDDED / f"{name}_drops_twin.h5"
        self.truth, self.noise = read_truth(path).parameters, read_truth(path).noise
        self.body = box_model(read_truth(path).object_name).body
        candidates = find_impacts(prepared_drops(path, last=24))
        self.windows = [
            candidate.impact for candidate in candidates if candidate.impact is not None
        ]
        self.swept = sweep_velocities(self.body, self.windows, COARSE, OPTIONS)

    @property
    def turned(self):
        """Change of spin, rad/s, that drifting poses hide: an orientation that is off turns the
        measured change.
        """
        change = [
            window.impact.post_twist[3:] - window.impact.pre_twist[3:] for window in self.windows
        ]
        off = np.sqrt(2.0) * self.noise.orientation_drift  # of the two axes across the change
        return off * float(np.median(np.linalg.norm(change, axis=1)))

    def identify(self, *, refine):
        return identified(self.body, self.windows, self.swept, refine=refine, samples=500, seed=3)


def identified(body, windows, swept, *, refine, samples, seed=0):
    variant = {"name": "v", "refine": refine, "substeps": 16}
    return identify_velocities(
        body, windows, swept, OPTIONS, variant, dataset="d", samples=samples, seed=seed
    )


def table_of(body, windows):
    return impact_table(body, [window.impact for window in windows])


def parameters(fit):
    return tuple(fit["parameters"].values())


@pytest.fixture(scope="module")
def problems():
    return {name: Problem(name) for name in ("box005", "box006")}


@pytest.fixture(scope="module")
def fits(problems):
    return {name: problem.identify(refine=True) for name, problem in problems.items()}


def made_windows(body=BODY, n=6, seed=1, surface_velocity=None):
    """Windows around made-up impacts: the body flies towards the surface for four samples before it
    hits.
    """
    gravity = np.array([0.1, -0.05, -9.8])
    windows = []
    for impact in impacts(seed, n, 0.3, 0.3, noise=0.0):
        drift = np.zeros(3) if surface_velocity is None else surface_velocity
        before = 4.0 / 360.0
        velocity = impact.pre_twist[:3] + drift
        start = State(
            impact.position - before * velocity + [0.0, 0.0, 0.002],
            impact.orientation,
            velocity,
            0.3 * impact.pre_twist[3:],
        )
        moved = replace(impact, surface_velocity=drift)
        windows.append(ImpactWindow(moved, "identification", start, 8, impact.post_twist, gravity))
    return windows


# the simulation of windows


@pytest.mark.parametrize("body", [BODY, OFFSET], ids=["centred", "offset centre"])
@pytest.mark.parametrize("belt", [None, np.array([0.4, -0.2, 0.0])], ids=["still", "moving"])
def test_a_window_is_simulated_as_the_simulator_does(body, belt):
    windows = made_windows(body, surface_velocity=belt)
    mus, e_ns = np.array([0.1, 0.4, 0.4]), np.array([0.2, 0.2, 0.7])
    found = simulate_windows(body, windows, mus, e_ns, OPTIONS)
    assert found.shape == (len(windows), 3, 6)
    touched = 0
    for window, of_window in zip(windows, found, strict=True):
        for mu, e_n, twist in zip(mus, e_ns, of_window, strict=True):
            stepping = replace(OPTIONS, gravity=tuple(window.gravity))
            run = simulate(
                body, window.start, ContactParameters(mu, e_n), stepping, window.n_steps + 1,
                window.impact.surface_velocity,
            )  # fmt: skip
            touched += run.contacts.any()
            expected = np.concatenate([run.linear_velocity[-1], run.angular_velocity[-1]])
            assert twist == pytest.approx(expected, abs=1e-12)
    assert touched == 3 * len(windows)


def test_each_window_has_its_own_length_and_gravity():
    first, second = made_windows(n=2)
    second = replace(second, n_steps=5, gravity=np.array([0.0, 0.0, -3.0]))
    both = simulate_windows(BODY, [first, second], np.array([0.3]), np.array([0.3]), OPTIONS)
    for window, twist in zip([first, second], both, strict=True):
        alone = simulate_windows(BODY, [window], np.array([0.3]), np.array([0.3]), OPTIONS)
        assert np.array_equal(alone[0], twist)
    high = replace(second, start=replace(second.start, position=np.array([0.0, 0.0, 5.0])))
    flown = simulate_windows(BODY, [high], np.array([0.3]), np.array([0.3]), OPTIONS)[0, 0]
    assert flown[:3] == pytest.approx(
        high.start.linear_velocity + 5.0 / 360.0 * high.gravity, abs=1e-12
    )


def test_no_window_at_all_is_refused():
    with pytest.raises(ContactIdError, match="no impact is left to simulate") as error:
        simulate_windows(BODY, [], np.array([0.3]), np.array([0.3]), OPTIONS)
    assert "\n" not in str(error.value)


# a moving surface

speeds = st.tuples(*[st.floats(-2.0, 2.0)] * 3).map(np.array)


@settings(max_examples=50, deadline=None)
@given(speeds, st.floats(0.0, 1.5), st.floats(0.0, 1.0), st.integers(0, 19), st.booleans())
def test_the_impact_law_is_the_same_in_a_moving_frame(drift, mu, e_n, which, offset):
    body, impact = (OFFSET if offset else BODY), impacts(4, 20, 0.3, 0.3, noise=0.0)[which]
    shift = np.concatenate([drift, np.zeros(3)])
    moving = replace(
        impact, pre_twist=impact.pre_twist + shift, surface_velocity=impact.surface_velocity + drift
    )
    expected = predict_post_twist(body, impact, mu, e_n, 0.1) + shift
    assert predict_post_twist(body, moving, mu, e_n, 0.1) == pytest.approx(expected, abs=1e-10)


@settings(max_examples=30, deadline=None)
@given(speeds, st.floats(0.0, 1.5), st.floats(0.0, 1.0))
def test_so_are_simulated_windows(drift, mu, e_n):
    drift[2] = 0.0  # a belt runs in its own plane
    windows = made_windows(OFFSET)
    pair = np.array([mu]), np.array([e_n])
    here = simulate_windows(OFFSET, windows, *pair, OPTIONS)
    moved = [
        replace(
            window,
            start=replace(window.start, linear_velocity=window.start.linear_velocity + drift),
            impact=replace(window.impact, surface_velocity=drift),
        )
        for window in windows
    ]
    there = simulate_windows(OFFSET, moved, *pair, OPTIONS)
    assert np.allclose(there - here, np.concatenate([drift, np.zeros(3)]), atol=1e-7)


def test_a_belt_drags_along_what_sticks_to_it():
    """Where friction suffices for the impulse that takes the corner to the belt's velocity, it gets
    there.
    """
    belt, mu, stuck = np.array([0.5, -0.3, 0.0]), 1.5, 0
    for impact in impacts(5, 30, 0.3, 0.3, noise=0.0):
        geometry = impact_geometry(BODY, impact)
        impulse = np.linalg.solve(geometry.delassus, belt - geometry.jacobian @ impact.pre_twist)
        sticks = np.linalg.norm(impulse[:2]) <= mu * impulse[2]
        stuck += sticks
        after = predict_post_twist(BODY, replace(impact, surface_velocity=belt), mu, 0.0)
        assert np.allclose(geometry.jacobian @ after, belt, atol=1e-9) == sticks
    assert 5 < stuck < 30


# losses


def test_the_loss_is_zero_where_the_measurement_is_the_simulation():
    windows = made_windows()
    mus, e_ns = np.array([0.1, 0.3]), np.array([0.6, 0.3])
    simulated = simulate_windows(BODY, windows, mus, e_ns, OPTIONS)
    perfect = [
        replace(window, end_twist=twist[1])
        for window, twist in zip(windows, simulated, strict=True)
    ]
    losses = velocity_losses(perfect, simulated)
    assert (losses[:, 1] == 0.0).all() and (losses[:, 0] > 1e-3).all()


def test_a_perfect_measurement_gives_its_own_parameters_back():
    windows = made_windows(n=12, seed=7)
    simulated = simulate_windows(BODY, windows, np.array([0.237]), np.array([0.418]), OPTIONS)[:, 0]
    perfect = [
        replace(window, end_twist=twist) for window, twist in zip(windows, simulated, strict=True)
    ]
    swept = sweep_velocities(BODY, perfect, COARSE, OPTIONS)
    fit = identified(BODY, perfect, swept, refine=True, samples=50)
    # which lie between points of the finest grid
    assert parameters(fit) == pytest.approx((0.237, 0.418), abs=2e-4)
    for value, (low, high) in zip((0.237, 0.418), fit["intervals"].values(), strict=True):
        assert low <= value <= high
    assert fit["objective"] < 5e-4 * fit["no_impact"]


def test_the_loss_weighs_turning_by_a_tenth_of_a_metre():
    window = made_windows(n=1)[0]
    error = np.array([0.3, 0.0, 0.4, 0.0, 12.0, 0.0])
    simulated = (window.end_twist + error)[None, None]
    assert velocity_losses([window], simulated)[0, 0] == pytest.approx(np.sqrt(0.25 + 1.44))
    assert WEIGHTS.tolist() == [1.0, 1.0, 1.0, 0.1, 0.1, 0.1]


def test_without_a_surface_the_body_falls_on():
    options = SteppingOptions(1.0 / 360.0, substeps=4)
    windows = [
        replace(window, start=replace(window.start, angular_velocity=np.zeros(3)))
        for window in made_windows(n=4)
    ]
    fallen = [
        np.concatenate(
            [window.start.linear_velocity + window.n_steps / 360.0 * window.gravity, np.zeros(3)]
        )
        for window in windows
    ]
    expected = velocity_losses(windows, np.stack(fallen)[:, None])[:, 0]
    assert no_impact_losses(BODY, windows, options) == pytest.approx(expected)


# the identification


def test_the_truth_is_identified(problems, fits):
    for name, fit in fits.items():
        truth = problems[name].truth
        assert fit["converged"] and fit["objective"] < 0.02 * fit["no_impact"]
        assert parameters(fit) == pytest.approx(
            (truth.friction_mu, truth.restitution_e_n), abs=0.02
        )


def test_the_intervals_contain_the_truth(problems, fits):
    slack = 0.003  # the finer steps of the simulated truth, and the noise of the surface's pose
    for name, fit in fits.items():
        truth = problems[name].truth
        for (low, high), value in (
            (fit["intervals"]["friction_mu"], truth.friction_mu),
            (fit["intervals"]["restitution_e_n"], truth.restitution_e_n),
        ):
            assert low - slack <= value <= high + slack
            assert 0.0 < high - low < 0.05


def test_without_refinement_the_best_point_of_the_grid_is_taken(problems):
    for problem in problems.values():
        fit = problem.identify(refine=False)
        mean = problem.swept["loss"].mean("impact")
        best = mean.where(mean == mean.min(), drop=True)
        assert parameters(fit) == (best["friction_mu"].item(), best["restitution_e_n"].item())
        assert fit["objective"] == pytest.approx(mean.min().item(), rel=1e-12)
        assert fit["iterations"] == mean.size


def test_refinement_is_no_worse_than_the_grid_and_the_loss_is_that_of_its_point(problems, fits):
    for name, fit in fits.items():
        problem = problems[name]
        assert fit["objective"] <= problem.swept["loss"].mean("impact").min().item()
        point = [np.array([value]) for value in parameters(fit)]
        losses = velocity_losses(
            problem.windows, simulate_windows(problem.body, problem.windows, *point, OPTIONS)
        )
        assert fit["objective"] == pytest.approx(losses.mean(), rel=1e-12)


def test_the_sweep_is_the_losses_at_its_coordinates(problems):
    problem = problems["box005"]
    some = problem.swept["loss"].sel(friction_mu=0.3, restitution_e_n=0.7)
    simulated = simulate_windows(
        problem.body, problem.windows, np.array([0.3]), np.array([0.7]), OPTIONS
    )
    assert some.values == pytest.approx(
        velocity_losses(problem.windows, simulated)[:, 0], rel=1e-12
    )
    names = [f"{window.impact.toss}:{window.impact.sample}" for window in problem.windows]
    assert problem.swept["impact"].values.tolist() == names


def test_the_table_of_losses_averages_to_the_fit(problems, fits):
    problem, fit = problems["box006"], fits["box006"]
    table = loss_table(problem.body, problem.windows, fit["parameters"], OPTIONS)
    assert table["loss"].mean() == pytest.approx(fit["objective"], rel=1e-12)
    assert table["loss_without_contact"].mean() == pytest.approx(fit["no_impact"], rel=1e-12)
    assert table["vertex"].tolist() == [window.impact.vertex + 1 for window in problem.windows]


def grid_of(loss_of, windows):
    """A sweep whose loss is a given function of mu and e_N, the same for every impact."""
    mu, e_n = np.meshgrid(COARSE.friction_mu, COARSE.restitution_e_n, indexing="ij")
    loss = np.repeat(loss_of(mu, e_n)[None], len(windows), axis=0)
    return xr.Dataset(
        {"loss": (("impact", "friction_mu", "restitution_e_n"), loss)},
        coords={"friction_mu": COARSE.friction_mu, "restitution_e_n": COARSE.restitution_e_n},
    )


@pytest.mark.parametrize("mu, converged", [(0.4, True), (0.0, True), (1.0, False), (3.0, False)])
def test_an_optimum_at_the_end_of_the_grid_is_no_answer(mu, converged):
    windows = made_windows(n=2)
    swept = grid_of(lambda x, e_n: 1.0 + (x - mu) ** 2 + (e_n - 0.3) ** 2, windows)
    fit = identified(BODY, windows, swept, refine=False, samples=10)
    said = fit["converged"], fit["residuals"]["resampled_at_end"]
    assert said == (converged, not converged)


@pytest.mark.parametrize("flat_from, expected", [(0.4, 0.4), (0.0, 0.0), (1.0, None), (2.0, None)])
def test_friction_is_flat_from_where_the_loss_stays(flat_from, expected):
    windows = made_windows(n=2)
    swept = grid_of(
        lambda mu, e_n: 1.0 + np.maximum(flat_from - mu, 0.0) + (e_n - 0.3) ** 2, windows
    )
    fit = identified(BODY, windows, swept, refine=False, samples=10)
    assert fit["friction_flat_from"] == (None if expected is None else pytest.approx(expected))
    assert fit["data"]["n_impacts"] == 2 and fit["data"]["n_tosses"] == 1


def test_intervals_come_from_resampled_tosses():
    # two impacts of one toss that want different friction: the toss is drawn as a whole, so nothing
    # varies
    windows = made_windows(n=2)
    swept = grid_of(lambda mu, e_n: (mu - 0.5) ** 2 + (e_n - 0.3) ** 2, windows)
    swept["loss"][0] = (swept["friction_mu"] - 0.2) ** 2 + (swept["restitution_e_n"] - 0.3) ** 2
    assert windows[0].impact.toss == windows[1].impact.toss
    fit = identified(BODY, windows, swept, refine=False, samples=200)
    assert np.diff(fit["intervals"]["friction_mu"]) == pytest.approx(0.1)
    apart = [replace(w, impact=replace(w.impact, toss=str(k))) for k, w in enumerate(windows)]
    fit = identified(BODY, apart, swept, refine=False, samples=200)
    assert fit["intervals"]["friction_mu"] == pytest.approx([0.15, 0.55])


# by MPEC


def test_the_law_has_no_error_on_drops_that_follow_it(problems):
    for problem in problems.values():
        error = model_error(
            table_of(problem.body, problem.windows),
            problem.truth.friction_mu,
            problem.truth.restitution_e_n,
        )
        assert error[0] < 1e-3 and error[1] < problem.turned < 0.02


def test_an_error_of_the_law_is_measured(problems):
    problem, rng = problems["box006"], np.random.default_rng(1)
    linear, angular = 0.05, 0.3
    wrong = [
        replace(
            window,
            impact=replace(
                window.impact,
                post_twist=window.impact.post_twist
                + np.repeat([linear, angular], 3) * rng.normal(size=6),
            ),
        )
        for window in problem.windows
    ]
    found = model_error(
        table_of(problem.body, wrong), problem.truth.friction_mu, problem.truth.restitution_e_n
    )
    assert found == pytest.approx((linear, angular), rel=0.2)


def test_a_few_impacts_that_the_law_misses_do_not_decide(problems):
    problem = problems["box006"]
    odd = [
        replace(window, impact=replace(window.impact, post_twist=window.impact.post_twist + 3.0)) if k % 20 == 0
        else window
        for k, window in enumerate(problem.windows)
    ]  # fmt: skip
    found = model_error(
        table_of(problem.body, odd), problem.truth.friction_mu, problem.truth.restitution_e_n
    )
    assert found[0] < 0.01 and found[1] < problem.turned


def test_the_mpec_agrees_with_the_search(problems):
    problem = problems["box006"]
    some = problem.windows[:20]
    fit, _ = compare_forms(problem.body, some, 1.0 / 360.0)
    swept = sweep_velocities(problem.body, some, COARSE, OPTIONS)
    searched = identified(problem.body, some, swept, refine=True, samples=50)
    assert fit["converged"] and fit["data"]["n_impacts"] == 20
    assert parameters(fit)[:2] == pytest.approx(parameters(searched), abs=0.01)
    for name, value in (
        ("friction_mu", problem.truth.friction_mu),
        ("restitution_e_n", problem.truth.restitution_e_n),
    ):
        low, high = fit["intervals"][name]
        assert low - 0.003 <= value <= high + 0.003


def test_the_sweep_of_ends_takes_velocities_window_by_window():
    windows = made_windows(n=3)
    belts = [np.array([0.3 * k, 0.0, 0.0]) for k in range(3)]
    arguments = (
        [w.start for w in windows],
        [w.n_steps for w in windows],
        [w.gravity for w in windows],
    )
    together = end_twists(BODY, *arguments, belts, np.array([0.5]), np.array([0.2]), OPTIONS)
    for k in range(3):
        alone = end_twists(
            BODY,
            *([item[k]] for item in arguments),
            [belts[k]],
            np.array([0.5]),
            np.array([0.2]),
            OPTIONS,
        )
        assert np.array_equal(alone[0], together[k])
    with pytest.raises(ValueError):
        end_twists(BODY, *arguments, belts[:2], np.array([0.5]), np.array([0.2]), OPTIONS)
