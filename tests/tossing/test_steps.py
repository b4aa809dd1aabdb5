"""The steps of the study that rules call, on tiny files, one after the other, without Snakemake."""

import json
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest

from contactid.core.errors import ContactIdError
from contactid.sources.motion import read_data, read_dataset
from contactid.sources.registry import READERS, Dataset
from contactid.tossing.identify.body import calibrate_dataset
from contactid.tossing.identify.trajectories import identify_dataset
from contactid.tossing.predict.prediction import predict_dataset
from contactid.tossing.prepare.preprocess import prepare
from iam_twins import write_twin

VARIANT = {
    "name": "tiny",
    "start": "flight_fit",
    "substeps": 1,
    "law": "newton",
    "solver": "newton",
    "refine": False,
    "calibrated": False,
}
EVENTS = {"rule": "data_driven", "rest_speed": 0.02, "fall_tolerance": 2.0}


def read(archive, object_name, motion):
    fields = {"name": "tiny", "kind": "own", "reader": "iam", "source": str(archive), "object": object_name,
              "surface": "ConveyorPart001", "licence": "CC0-1.0"}  # fmt: skip
    read_data(READERS["iam"].read, asdict(Dataset(**fields)), str(archive), str(motion))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tiny")
    write_twin(folder / "tiny.h5", "Box005", "trajectories", 4, seed=1)
    return folder


@pytest.fixture(scope="module")
def prepared(folder):
    read(folder / "tiny.h5", "Box005", folder / "m.nc")
    prepare(
        motion=str(folder / "m.nc"), share=0.5, seed=1, exclude_tumbling=True, require_usable=True, events=EVENTS,
        dataset="tiny",
        prepared=str(folder / "t.nc"), table=str(folder / "t.csv"),
    )  # fmt: skip
    return folder / "t.nc"


def test_prepared_tosses_are_split_and_carry_units(folder, prepared):
    dataset = read_dataset(prepared)
    assert sorted(dataset["split"].values) == ["identification"] * 2 + ["test"] * 2
    assert dataset["position"].attrs["units"] == "m" and dataset["gravity"].attrs["units"] == "m/s2"
    assert pd.read_csv(folder / "t.csv")["used"].all()


def test_sweep_identify_and_predict(folder, prepared):
    grid = {"friction_mu": {"start": 0.35, "stop": 0.55, "step": 0.05},
            "restitution_e_n": {"start": 0.0, "stop": 0.2, "step": 0.1}}  # fmt: skip
    sweep, fit, predictions = (str(folder / name) for name in ("s.nc", "f.json", "p.csv"))
    common = {"prepared": str(prepared), "calibration": None}
    identify_dataset(
        **common,
        dataset="tiny",
        variant=VARIANT,
        grid=grid,
        bootstrap={"samples": 20, "seed": 1},
        sweep=sweep,
        finest=str(folder / "fine.nc"),
        fit=fit,
    )
    swept = read_dataset(sweep)
    assert dict(swept.sizes) == {"toss": 2, "friction_mu": 5, "restitution_e_n": 3}
    record = json.loads(Path(fit).read_text())
    assert (
        abs(record["parameters"]["friction_mu"] - 0.45) < 0.051 and record["data"]["n_tosses"] == 2
    )
    predict_dataset(
        **common, fits=[fit], variants=[VARIANT], kinds=["trajectory"], predictions=[predictions]
    )
    table = pd.read_csv(predictions)
    assert (
        len(table) == 2
        and (table["rest_position_error_cm"] < 20).all()
        and table["same_face"].all()
    )


def test_calibration_refuses_two_tosses_and_writes_nothing(folder, prepared):
    with pytest.raises(ContactIdError, match="too few to calibrate"):
        calibrate_dataset(prepared=str(prepared), calibration=str(folder / "c.json"))
    assert not (folder / "c.json").exists()


def test_unknown_object_writes_nothing(folder):
    with pytest.raises(ContactIdError, match="Box005"):
        read(folder / "tiny.h5", "Box05", folder / "x.nc")
    assert not (folder / "x.nc").exists()


def test_a_folder_that_cannot_be_written_is_named(folder, prepared):
    blocked = folder / "file"
    blocked.write_text("in the way")
    with pytest.raises(ContactIdError, match=r"cannot be written"):
        prepare(
            motion=str(folder / "m.nc"), share=0.5, seed=1, exclude_tumbling=True, require_usable=True, events=EVENTS,
        dataset="tiny",
            prepared=str(blocked / "t.nc"), table=str(blocked / "t.csv"),
        )  # fmt: skip
