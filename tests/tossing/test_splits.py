"""What a split's score may depend on."""

import numpy as np
import pytest

from contactid.output.tables import read_csv
from contactid.sources.motion import write_dataset
from contactid.tossing.predict.splits import score_split
from contactid.tossing.prepare.preprocess import split_of
from tosses_for_tests import EVENTS, box, motion, recordings

SETTINGS = {
    "share": 0.6, "exclude_tumbling": False, "events": EVENTS, "bootstrap": {"samples": 10, "seed": 0},
    "grid": {
        "friction_mu": {"start": 0.15, "stop": 0.35, "step": 0.1},
        "restitution_e_n": {"start": 0.0, "stop": 0.2, "step": 0.1},
    },
    "variant": {
        "name": "v", "start": "flight_fit", "substeps": 1, "law": "newton", "solver": "newton",
        "refine": False, "calibrated": True,
    },
}  # fmt: skip


def test_nothing_but_the_loss_depends_on_the_test_part(tmp_path):
    body = box()
    data = motion(recordings(body, 48, seed=5, seconds=1.0, noise=3e-5), body)
    unseen = split_of(data["recording"].values, 0.6, 7) == "test"
    shaken = data.copy(deep=True)
    rows = np.repeat(unseen, data["row_size"].values)
    shaken["position"].values[rows, 0] *= 1.5
    scored = []
    for name, tosses in (("data", data), ("shaken", shaken)):
        write_dataset(tosses, tmp_path / f"{name}.nc")
        score_split(str(tmp_path / f"{name}.nc"), "box", 7, SETTINGS, str(tmp_path / f"{name}.csv"))
        scored.append(read_csv(tmp_path / f"{name}.csv").iloc[0])
    alike = ["seed", "n_identification", "scale", "center_of_mass_z_mm", "friction_mu", "restitution_e_n"]
    assert scored[0][alike].tolist() == scored[1][alike].tolist()
    assert scored[0]["friction_mu"] == pytest.approx(0.25) and scored[0]["n_identification"] < len(unseen)
    assert scored[1]["test_loss"] > scored[0]["test_loss"] + 0.01
