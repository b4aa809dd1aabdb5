"""Metrics, grids, bootstrap, checks and tables."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.output.tables import read_csv, write_csv
from contactid.tossing.identify.trajectories import (
    Grid,
    Search,
    bootstrap_draws,
    grid_values,
    identify,
    intervals_of,
    sweep_grid,
)
from contactid.tossing.predict.prediction import predict
from contactid.tossing.prepare.metrics import mean_loss, rest_position_error, rest_rotation_error
from contactid.tossing.prepare.tosses import Variant, set_up
from tosses_for_tests import TRUTH, box, motion, prepare_tosses, recordings


@given(st.floats(-3.14, 3.14), st.floats(-3.14, 3.14))
def test_rest_rotation_error_is_the_turn_about_the_normal(measured, turn):
    first = rotations.as_rotation(rotations.exp(np.array([0, 0, measured])))
    second = rotations.as_rotation(rotations.exp(np.array([0, 0, turn]))) * first
    error = rest_rotation_error(rotations.as_quaternions(first), rotations.as_quaternions(second))
    assert error == pytest.approx(turn, abs=1e-9)


def test_rest_position_error_ignores_height():
    assert rest_position_error(np.array([0.0, 0, 5]), np.array([0.3, 0.4, 1])) == pytest.approx(0.5)


@given(st.integers(0, 5), st.integers(1, 40), st.sampled_from([0.01, 0.05, 0.1, 0.25]))
def test_grid_values_include_both_ends(start, count, step):
    values = grid_values(start * step, start * step + count * step, step)
    assert len(values) == count + 1 and values[0] == pytest.approx(start * step)
    assert np.allclose(np.diff(values), step)


def test_an_empty_grid_is_refused():
    with pytest.raises(ContactIdError, match="is empty"):
        grid_values(0.5, 0.1, 0.05)


def test_identification_recovers_what_the_tosses_were_made_with():
    body = box()
    prepared = prepare_tosses(motion(recordings(body, 12, seed=8), body))
    variant = Variant("refined", "flight_fit", 4, "newton", "newton", True, False)
    problem = set_up(prepared, variant, "identification")
    coarse = sweep_grid(problem, Grid(grid_values(0.1, 0.4, 0.05), grid_values(0.0, 0.3, 0.1)))
    found, _ = identify(problem, coarse, variant, dataset="d", samples=200, seed=1)
    assert found["parameters"]["friction_mu"] == pytest.approx(TRUTH.friction_mu, abs=0.01)
    assert found["parameters"]["restitution_e_n"] == pytest.approx(TRUTH.restitution_e_n, abs=0.05)
    low, high = found["intervals"]["friction_mu"]
    assert low <= TRUTH.friction_mu <= high
    assert found["objective"] <= float(mean_loss(coarse).min())
    table = predict(problem, TRUTH)
    assert table["loss"].median() < 0.02 and table["rest_position_error_cm"].median() < 0.2
    assert table["same_face"].mean() > 0.9


def synthetic_sweep(noise):
    mu, e_n = grid_values(0, 1, 0.1), grid_values(0, 1, 0.5)
    centres = 0.4 + noise * np.random.default_rng(0).normal(size=200)
    error = np.abs(mu[None, :, None] - centres[:, None, None]) + 0 * e_n
    dims = ("toss", "friction_mu", "restitution_e_n")
    return xr.DataArray(error, dims=dims, coords={"friction_mu": mu, "restitution_e_n": e_n})


def intervals(noise):
    losses = synthetic_sweep(noise)
    return intervals_of(losses, bootstrap_draws(losses, 300, 1))


def test_bootstrap_interval_is_never_narrower_than_the_grid_and_widens_with_noise():
    assert intervals(0.01)["friction_mu"] == pytest.approx([0.35, 0.45])
    (wide_low, wide_high), (e_low, e_high) = intervals(2.0).values()
    assert wide_high - wide_low > 0.2
    assert e_low >= 0 and e_high <= 1


def valley(mu, e_n, rough=0.0):
    """Losses of 40 tosses over any grid, least at (mu, e_n) on average."""
    centers = mu + 0.01 * np.random.default_rng(2).normal(size=40)

    def swept_on(grid):
        x, y = grid.friction_mu[:, None], grid.restitution_e_n[None, :]
        waves = rough * np.sin(1e5 * x + 3e4 * y)
        loss = np.stack([(x - one) ** 2 + 0.1 * (y - e_n) ** 2 + waves for one in centers])
        axes = {"friction_mu": grid.friction_mu, "restitution_e_n": grid.restitution_e_n}
        return xr.Dataset({"loss": (("toss", *axes), loss)}, axes)

    return swept_on


@pytest.mark.parametrize("truth", [(0.2, 0.3), (0.41, 0.85), (0.0, 1.0)])
def test_the_fine_grid_grows_until_it_holds_the_optimum(truth):
    """The coarse grid has one point, which is far off."""
    swept_on = valley(*truth)
    found = Search.about(swept_on(Grid(np.array([0.25]), np.array([0.5]))), swept_on, 200, 1)
    assert tuple(found.parameters.values()) == pytest.approx(truth, abs=0.006)
    for name, values in found.swept["loss"].coords.items():
        step = 0.005 if name == "friction_mu" else 0.025
        assert np.allclose(np.diff(values), step) and values.min() >= 0.0


def test_a_rough_loss_moves_the_mean_of_resampled_optima_by_less_than_their_spread():
    coarse = Grid(np.array([0.2]), np.array([0.3]))
    smooth, rough = (valley(0.2, 0.3, height) for height in (0.0, 2e-5))
    found = [Search.about(swept_on(coarse), swept_on, 500, 1) for swept_on in (smooth, rough)]
    moved = np.subtract(*(list(one.parameters.values()) for one in found))
    assert (np.abs(moved) < found[1].draws.std(axis=0)).all()


def test_tables_round_trip(tmp_path):
    table = pd.DataFrame({"a_b": [1.23456789, np.nan], "text": ["50 %", ""]})
    write_csv(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "a_b,text\n1.23457,50 %\n,\n"
    assert list(read_csv(tmp_path / "t.csv")["text"]) == ["50 %", ""]
