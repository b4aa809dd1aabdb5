"""What a split's score may depend on, under both laws and from few tosses."""

import numpy as np
import pytest

from contactid.output.tables import read_csv
from contactid.sources.motion import iterate_recordings, write_dataset
from contactid.tossing.predict.splits import LAWS, score_split
from contactid.tossing.prepare.preprocess import split_of
from small_files import legacy_file
from tosses_for_tests import EVENTS, box, motion, recordings

SETTINGS = {
    "share": 0.6, "draws": 2, "exclude_tumbling": False, "events": EVENTS, "bootstrap": {"samples": 10, "seed": 0},
    "grid": {
        "friction_mu": {"start": 0.15, "stop": 0.35, "step": 0.1},
        "restitution_e_n": {"start": 0.0, "stop": 0.2, "step": 0.1},
    },
    "variant": {"start": "flight_fit", "substeps": 1, "solver": "newton", "refine": False, "calibrated": True},
}  # fmt: skip


@pytest.fixture(scope="module")
def data():
    body = box()
    return motion(recordings(body, 48, seed=5, seconds=1.0, noise=3e-5), body)


def scores(folder, name, tosses, few=()):
    """Rows of one split; every file's first row stands still, since only its quaternion matters
    here.
    """
    raw = folder / "tosses_processed"
    raw.mkdir(exist_ok=True)
    for toss, (_, samples) in zip(
        tosses["recording"].values, iterate_recordings(tosses), strict=True
    ):
        row = np.zeros((1, 19))
        row[0, 3:7] = samples["orientation"].values[0]
        (raw / f"{toss}.pt").write_bytes(legacy_file(row))
    write_dataset(tosses, folder / f"{name}.nc")
    score_split(
        str(folder / f"{name}.nc"),
        str(folder),
        "box",
        7,
        few,
        SETTINGS,
        str(folder / f"{name}.csv"),
    )
    return read_csv(folder / f"{name}.csv")


def test_nothing_but_the_errors_depends_on_the_test_part(data, tmp_path):
    unseen = split_of(data["recording"].values, 0.6, 7) == "test"
    shaken = data.copy(deep=True)
    rows = np.repeat(unseen, data["row_size"].values)
    shaken["position"].values[rows, 0] *= 1.5
    first, second = scores(tmp_path, "data", data), scores(tmp_path, "shaken", shaken)
    alike = [
        "seed",
        "law",
        "draw",
        "n_identification",
        "calibrated",
        "scale",
        "friction_mu",
        "restitution_e_n",
    ]
    assert first[alike].equals(second[alike]) and first["calibrated"].all()
    assert first["law"].tolist() == ["newton", "incremental"] and set(first["draw"]) == {0}
    newton = first.iloc[0]
    assert newton["friction_mu"] == pytest.approx(0.25) and newton["n_identification"] < len(unseen)
    assert (second["test_loss"] > first["test_loss"] + 0.01).all()


def test_few_tosses_are_drawn_anew_and_are_all_that_is_fitted_to(data, tmp_path):
    """Their body is calibrated on the few alone, so its scale is theirs."""
    table = scores(tmp_path, "data", data, few=(5,))
    few = table[table["n_identification"] == 5]
    assert few[["draw", "law"]].to_numpy().tolist() == [[k, law] for k in (1, 2) for law in LAWS]
    assert few["calibrated"].all() and few["scale"].nunique() == 2
    assert (few["n_test"] == table["n_test"][0]).all()
    assert len(set(few["test_loss"])) > 1 and (few["test_loss"] < 1.0).all()
