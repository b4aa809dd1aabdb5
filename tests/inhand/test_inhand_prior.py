"""What the prior decides, residual wrenches and disturbances."""

import numpy as np
import pytest

from contactid.inhand.identify.estimates import estimate_rows
from contactid.inhand.identify.levenberg_marquardt import estimate_with_graph
from contactid.inhand.identify.methods import DATA, PRIOR, UNIFORM
from contactid.inhand.readers.disturbances import DISTURBANCES
from contactid.inhand.readers.recordings import true_parameters
from contactid.inhand.readers.twins import noise_free, simulate_recording
from grasp_for_tests import BODY, recording
from twins_for_tests import STUDY, twins

CONSTRAINED = "constraint_no_geodesic"


def test_what_says_nothing_is_decided_by_the_prior():
    noisy = {"force_sd": 0.05, "position_sd": 2e-4, "orientation_sd": 1e-3}
    data = [recording(80, still=still, **noisy) for still in (True, False)]
    said = [estimate_rows(one, BODY, {"likelihood": [CONSTRAINED]}, {}) for one in data]
    assert [list(rows["decided_by"]) for rows in said] == [[PRIOR, PRIOR], [DATA, PRIOR]]
    assert [list(rows["method"]) for rows in said] == [[CONSTRAINED, UNIFORM]] * 2
    assert "identif" in said[0]["message"].iloc[0] and not said[1]["message"].iloc[0]


def test_the_graph_tells_a_constant_wrench_from_weight():
    data = recording(80, force_sd=0.02)
    data["contact_force"] = data["contact_force"] - np.array([0.5, -1.0, 2.0])
    fine = STUDY["graph"] | {"scheme": "fourth_order"}
    found = [
        estimate_with_graph(data, CONSTRAINED, BODY, fine, bias=bias) for bias in (False, True)
    ]
    masses = [one.parameters.mass for one in found]
    assert abs(masses[0] / BODY.mass - 1.0) > 0.2
    assert masses[1] == pytest.approx(BODY.mass, rel=0.05)


@pytest.mark.parametrize(
    "name", [name for name, change in DISTURBANCES.items() if callable(change)]
)
def test_a_disturbance_is_what_acts_and_is_not_sensed(name):
    options = noise_free(twins(samples=60))
    data, truth = simulate_recording(
        "in_hand_kinematic", "box_0", 0, options, residual=DISTURBANCES[name]
    )
    missing = truth["contact_force_true"] - truth["residual_force"]
    assert data["contact_force"].values == pytest.approx(missing.values, abs=1e-12)
    assert np.abs(truth["residual_force"]).max() > 0.05


def test_a_cable_carries_its_share_of_the_weight_upwards():
    _, truth = simulate_recording(
        "in_hand_kinematic", "box_0", 0, noise_free(twins(samples=60)),
        residual=DISTURBANCES["a cable carries 0.7 of the weight"],
    )  # fmt: skip
    weight = 0.7 * 9.81 * true_parameters(truth).mass
    pull = truth["residual_force"].sum("contact").values
    assert np.linalg.norm(pull, axis=1) == pytest.approx(np.full(60, weight), rel=1e-3)
