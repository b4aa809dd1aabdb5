"""The registry: which datasets there are, from which archive each is read, and what a wrong row is
told.
"""

import inspect
from pathlib import Path

import pytest

from contactid.core.errors import ContactIdError
from contactid.core.references import resolve
from contactid.sources.registry import (
    READERS,
    Dataset,
    archives_of,
    check_reader,
    load_registry,
    pick,
)

TABLE = Path(__file__).parents[2] / "config/datasets.tsv"
HEADER = "name\tstudy\tkind\treader\tsource\ttitle\tversion\tobject\tsurface\tsurface_height\tlicence\tcitation\n"


def registry_with(tmp_path, *rows):
    (tmp_path / "datasets.tsv").write_text(HEADER + "".join("\t".join(row) + "\n" for row in rows))
    return load_registry(tmp_path / "datasets.tsv", {})


def test_every_downloaded_dataset_is_documented():
    registry = load_registry(TABLE, {})
    for dataset in registry.values():
        assert dataset.study in ("tossing", "planar", "arm", "inhand"), dataset.name
        assert dataset.licence and dataset.citation, dataset.name
    assert {dataset.kind for dataset in registry.values()} == {
        "embedded",
        "generated",
        "github",
        "4tu",
    }
    for dataset in registry.values():
        if dataset.kind == "github":
            assert dataset.version in dataset.source and dataset.source.endswith(".tar.gz")


def test_every_box_has_its_archive():
    registry = load_registry(TABLE, {})
    assert (
        registry["iam_box005_validation"].archive
        == registry["iam_box006_validation"].archive
        == "4tu_21399657"
    )
    assert registry["iam_box007_trajectories"].archive == "4tu_c6278310_019_Box007"
    assert registry["iam_box006_trajectories"].surface_height == 0.01
    assert registry["iam_box005_validation"].surface_height is None
    tossing = [dataset for dataset in archives_of(registry).values() if dataset.study == "tossing"]
    assert sum(dataset.kind == "4tu" for dataset in tossing) == 9
    for dataset in registry.values():
        if dataset.reader == "iam" and dataset.downloaded:
            assert dataset.object.lower() in dataset.name and dataset.surface


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (["a", "tossing", "4tu", "iam", "10.5281/1"], "'10.5281/1' is no DOI of 4TU"),
        (
            ["a", "tossing", "4tu", "iam", "10.4121/c.5"],
            "a needs a title if and only if 10.4121/c.5 is a collection",
        ),
        (["a", "tossing", "4tu", "iam", "10.4121/5", "words"], "a needs a title if and only if"),
        (
            ["a", "tossing", "4tu", "iam", "10.4121/5", "", "", "Box", "Plane", "high"],
            "the row of 'a' is wrong",
        ),
    ],
)
def test_a_wrong_row_is_named(tmp_path, row, message):
    with pytest.raises(ContactIdError, match=message):
        registry_with(tmp_path, row)


def test_short_rows_have_empty_fields(tmp_path):
    dataset = registry_with(tmp_path, ["a", "tossing", "4tu", "iam", "10.4121/5"])["a"]
    assert dataset == Dataset("a", "4tu", "iam", "10.4121/5", study="tossing", licence="")


def test_names_are_suggested_and_readers_checked():
    registry = load_registry(TABLE, {})
    with pytest.raises(
        ContactIdError, match=r"unknown dataset iam_box06_drops. Did you mean iam_box006_drops"
    ):
        pick(registry, "iam_box06_drops")
    with pytest.raises(ContactIdError, match=r"arm.data is contactnets.*arm_twin, arm_icra2021"):
        check_reader(registry, "contactnets", "arm_mat", "arm.data")


def test_own_datasets_are_added(tmp_path):
    own = {
        "mine": {"reader": "iam", "path": str(tmp_path), "object": "Box006", "surface_height": 0.5}
    }
    mine = load_registry(TABLE, own)["mine"]
    assert (mine.kind, mine.archive, mine.downloaded, mine.surface_height) == (
        "own",
        "mine",
        False,
        0.5,
    )
    for reader in READERS:
        assert (
            load_registry(TABLE, {"mine": {"reader": reader, "path": str(tmp_path)}})["mine"].reader
            == reader
        )
    with pytest.raises(ContactIdError, match=r"datasets.contactnets is a dataset of"):
        load_registry(TABLE, {"contactnets": own["mine"]})
    with pytest.raises(ContactIdError, match=r"does not exist. Correct the path"):
        load_registry(TABLE, {"mine": {"reader": "iam", "path": str(tmp_path / "none")}})


def test_a_reader_is_one_of_the_table_and_its_functions_are_there(tmp_path):
    with pytest.raises(
        ContactIdError,
        match=r"datasets.mine.reader is 'video', but must be one of iam, contactnets, ",
    ):
        load_registry(TABLE, {"mine": {"reader": "video", "path": str(tmp_path)}})
    assert {dataset.reader for dataset in load_registry(TABLE, {}).values()} == set(READERS)
    given = {"path", "synthetic", "robot", *Dataset.__dataclass_fields__}
    for reader in READERS.values():
        assert set(inspect.signature(resolve(reader.read)).parameters) <= given
        assert list(inspect.signature(resolve(reader.signals)).parameters) != []
