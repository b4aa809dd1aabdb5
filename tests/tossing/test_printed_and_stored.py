"""Predictions with printed parameters, and a variant whose grid of losses is stored."""

import hashlib
from pathlib import Path

import numpy as np
import pytest

from contactid.core.errors import ContactIdError
from contactid.output.fits import read_json, write_json
from contactid.output.stored import RECORD, TABLE
from contactid.output.tables import read_csv
from contactid.sources.motion import write_dataset
from contactid.tossing.identify.stored_grid import identify_from_stored, mean_losses
from contactid.tossing.predict.printed import predict_with_printed, printed_parameters
from iam_tosses import BOXES
from tosses_for_tests import box, motion, prepare_tosses, recordings

PUBLISHED = str(Path(__file__).parents[2] / "workflow/resources/published/tossing.csv")
GRID = {
    "friction_mu": {"start": 0.15, "stop": 0.35, "step": 0.1},
    "restitution_e_n": {"start": 0.0, "stop": 0.2, "step": 0.1},
}
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


def cells(folder, tosses, number, **changes):
    """The losses of so many drawn points of the grid, and the file."""
    file = folder / f"{number}.csv"
    mean_losses([tosses], ["cube"], {**EXACT, **changes}, GRID, number, 1, str(file))
    return read_csv(file), file


def test_a_drawn_point_has_the_loss_that_the_whole_grid_has_there(tosses, tmp_path):
    whole, _ = cells(tmp_path, tosses, 9)
    drawn, _ = cells(tmp_path, tosses, 2)
    assert len(whole) == 9 and len(drawn) == 2
    key = ["dataset", "friction_mu", "restitution_e_n"]
    both = drawn.merge(whole, on=key, suffixes=("", "_whole"))
    assert len(both) == 2
    np.testing.assert_allclose(both["mean_loss"], both["mean_loss_whole"], rtol=1e-9)


def test_the_papers_fixed_point_gives_nearly_the_exact_losses(tosses, tmp_path):
    exact, _ = cells(tmp_path, tosses, 2)
    paper, _ = cells(tmp_path, tosses, 2, name="paper", solver="prox")
    assert (paper["failed_steps"] == 0).all()
    assert 0.0 < np.abs(paper["mean_loss"] - exact["mean_loss"]).max() < 0.05


def test_the_fit_is_the_best_point_of_what_is_stored(tosses, tmp_path):
    whole, file = cells(tmp_path, tosses, 9)
    folder = tmp_path / "stored"
    folder.mkdir()
    (folder / TABLE).write_bytes(file.read_bytes())
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    write_json(folder / RECORD, {"table_sha256": digest, "git_commit": 40 * "0", "seconds": 1.0})
    stored = [str(folder / TABLE), str(folder / RECORD)]
    identify_from_stored(stored, ["cube"], EXACT, [str(tmp_path / "fit.json")])
    found = read_json(tmp_path / "fit.json")
    best = whole.loc[
        whole["mean_loss"].idxmin(), ["friction_mu", "restitution_e_n", "mean_loss"]
    ].tolist()
    assert [*found["parameters"].values(), found["objective"]] == best and found["data"][
        "n_tosses"
    ] == 2
    with pytest.raises(ContactIdError, match="has no other"):
        identify_from_stored(stored, ["other"], EXACT, [str(tmp_path / "fit.json")])


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
