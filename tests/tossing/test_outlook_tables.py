"""What goes beyond the paper: parameters held against each other, and corners that aren't sharp."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from contactid.tossing.artefacts.impacts import velocity_row
from contactid.tossing.artefacts.predictions import Prediction, disagreement_table
from contactid.tossing.configuration import Scheme

VARIANT = {"name": "paper", "calibrated": False}
PAPER = Scheme("paper", "trajectory", "trajectory", "paper", VARIANT, True)
REFINED = Scheme(
    "refined", "trajectory", "trajectory", "refined", {"name": "refined", "calibrated": True}, False
)
ON_IMPACTS = Scheme("velocity", "velocity", "velocity", "velocity", VARIANT, True)


def errors(moving, position, rotation):
    """A prediction table with one row per toss: moving surface or not, and errors at rest in cm and
    degrees.
    """
    n = len(moving)
    return pd.DataFrame(
        {
            "toss": [f"toss{k}" for k in range(n)],
            "tumbled": [k % 3 == 2 for k in range(n)],
            "moving": moving,
            "loss": np.linspace(0.1, 0.2, n),
            "position_error_pct": 100.0 * np.linspace(0.05, 0.1, n),
            "rotation_error_deg": np.linspace(1.0, 2.0, n),
            "rest_position_error_cm": position,
            "rest_rotation_error_deg": rotation,
            "e_rot_deg": -np.asarray(rotation, dtype=float),
            "same_face": [True] * n,
        }
    )


def prediction(dataset, table, scheme=PAPER, mu=0.4, e_n=0.2, half=0.05, data="synthetic twin"):
    fit = {
        "parameters": {"friction_mu": mu, "restitution_e_n": e_n},
        "intervals": {
            "friction_mu": [mu - half, mu + half],
            "restitution_e_n": [e_n - half, e_n + half],
        },
    }
    return Prediction(dataset, f"{dataset}_identified", scheme, "Box001", data, fit, table)


# impacts against trajectories


def test_parameters_from_impacts_are_held_against_those_of_the_scheme_they_step_like():
    table = errors([False], [1.0], [1.0])
    items = [
        prediction("first", table, PAPER, mu=0.4, half=0.04),
        prediction("first", table, REFINED, mu=0.9),
        prediction("second", table, PAPER, mu=0.7),
        prediction("first", table, ON_IMPACTS, mu=0.5, half=0.03),
    ]
    row = disagreement_table(items).to_dict("records")
    assert len(row) == 1 and (row[0]["scheme"], row[0]["against"]) == ("velocity", "paper")
    assert row[0]["friction_mu_difference"] == pytest.approx(0.1)
    # independent: half-widths of 0.03 and 0.04 make 0.05
    ends = row[0]["friction_mu_difference_low"], row[0]["friction_mu_difference_high"]
    assert ends == pytest.approx((0.05, 0.15))
    assert row[0]["friction_mu_differs"] and not row[0]["restitution_e_n_differs"]
    assert row[0]["restitution_e_n_difference"] == 0.0
    assert disagreement_table(items[:3]).empty


def test_one_sided_errors_count_on_the_side_they_are_on():
    table = errors([False], [1.0], [1.0])
    impacts, tosses = (
        prediction("first", table, ON_IMPACTS, mu=0.5),
        prediction("first", table, PAPER, mu=0.4),
    )
    impacts.fit["intervals"]["friction_mu"] = [0.5, 0.53]
    tosses.fit["intervals"]["friction_mu"] = [0.36, 0.4]
    row = disagreement_table([impacts, tosses]).iloc[0]
    assert row["friction_mu_difference_low"] == pytest.approx(0.1)
    assert row["friction_mu_difference_high"] == pytest.approx(0.15)


@pytest.mark.parametrize("radius", [0.0, 3.0])
def test_rounded_corners_tell_their_radius(radius):
    random = np.random.default_rng(1)
    standing = random.uniform(0.1, 0.73, 60)
    heights = -0.2 - radius * standing + 0.3 * random.normal(size=60)
    candidates = pd.DataFrame({"kept": True, "stands_out": standing, "contact_height_mm": heights})
    fit = {
        "data": {"dataset": "d"}, "variant": "v", "intervals": {}, "parameters": {}, "objective": 0.1,
        "best_per_impact": 0.1, "no_impact": 1.0, "friction_flat_from": None, "converged": True,
    }  # fmt: skip
    prepared = xr.Dataset(
        {"mass": ("recording", np.ones(9))}, attrs={"object": "Cube", "synthetic": 1, "source": "s"}
    )
    losses = pd.DataFrame({"split": ["test"], "loss": [0.1]})
    row = velocity_row(fit, candidates, losses, calibrated=False, prepared=prepared)
    assert row["corner_radius_mm"] == pytest.approx(radius, abs=3.0 * row["corner_radius_se_mm"])
    assert 0.1 < row["corner_radius_se_mm"] < 0.5
    few = velocity_row(fit, candidates[:9], losses, calibrated=False, prepared=prepared)
    assert np.isnan(few["corner_radius_mm"]) and few["n_impacts"] == 9
