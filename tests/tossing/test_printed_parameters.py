"""Predictions with printed parameters."""

from pathlib import Path

import pytest

from contactid.output.tables import read_csv
from contactid.sources.motion import write_dataset
from contactid.tossing.predict.printed import predict_with_printed, printed_parameters
from iam_tosses import BOXES
from tosses_for_tests import box, motion, prepare_tosses, recordings

PUBLISHED = str(Path(__file__).parents[2] / "workflow/resources/published/tossing.csv")
EXACT = {
    "name": "exact_contact", "start": "central_difference", "substeps": 1, "law": "newton", "solver": "newton",
    "refine": False,
    "calibrated": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def tosses(tmp_path_factory):
    file = tmp_path_factory.mktemp("tosses") / "tosses.nc"
    body = box()
    write_dataset(prepare_tosses(motion(recordings(body, 3, 1), body), share=0.7), file)
    return str(file)


@pytest.mark.parametrize("twin", BOXES, ids=lambda twin: twin.name)
def test_printed_parameters_are_those_that_the_twins_are_made_with(twin):
    found = printed_parameters(read_csv(PUBLISHED), twin.name)
    assert found == {"velocity": twin.from_impacts, "trajectory": twin.from_trajectories}


def test_every_test_toss_is_predicted_with_both_kinds(tosses, tmp_path):
    file = tmp_path / "printed.csv"
    predict_with_printed([tosses], ["cube"], ["Box006"], PUBLISHED, EXACT, str(file))
    table = read_csv(file)
    assert table.groupby("parameters")[["friction_mu", "restitution_e_n"]].first().to_dict(
        "index"
    ) == {
        "velocity": {"friction_mu": 0.25, "restitution_e_n": 0.4},
        "trajectory": {"friction_mu": 0.4, "restitution_e_n": 0.25},
    }
    assert len(table) == 2 and (table["dataset"] == "cube").all()
