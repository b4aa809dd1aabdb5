"""``make lock`` says what a run would make of an archive; each wrong thing is one line that names
it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

from author_plots import write_plots
from contactid.sources.inspect import inspect
from contactid.sources.lock import report_archive
from contactid.sources.lockfile import LockedArchive, LockedFile
from contactid.sources.registry import Dataset, load_registry
from contactid.sources.store import Store
from iam_files import MOCAP

ROOT = Path(__file__).parents[2]
REGISTRY = load_registry(ROOT / "config/datasets.tsv", {})
TWINS = ROOT / "workflow/resources/embedded"
POSES = f"{MOCAP}/POSTPROCESSING"


def stand_in(folder: Path, twin: str = "box005_trajectories", most: int = 6) -> Path:
    """The first recordings of a twin, as an archive's one file."""
    folder.mkdir(parents=True)
    path = folder / "Archive.h5"
    with h5py.File(TWINS / f"{twin}_twin.h5") as source, h5py.File(path, "w") as archive:
        for name in sorted(key for key in source if key.startswith("Rec_"))[:most]:
            source.copy(name, archive)
    return path


def reported(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[h5py.Group], None] = lambda recording: None,
    twin: str = "box005_trajectories",
    name: str = "iam_box005_trajectories",
    **changes: Any,
) -> tuple[str, str]:
    """What the terminal shows and what the file holds; ``spoil`` is called with every recording."""
    dataset = replace(REGISTRY[name], **changes)
    path = stand_in(tmp_path / f"data/{dataset.archive}/files", twin)
    with h5py.File(path, "r+") as archive:
        for recording in archive.values():
            spoil(recording)
    entry = LockedArchive(dataset.archive, "4tu", "10.4121/1.v1", files=(LockedFile(path.name),))
    report_archive(entry, [dataset], Store(tmp_path / "data"))
    return capsys.readouterr().out, (tmp_path / f"data/{dataset.archive}/report.txt").read_text()


def warnings(shown: str) -> list[str]:
    return [line.strip() for line in shown.splitlines() if "WARNING" in line]


def test_a_good_archive_s_report_has_everything_and_no_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, held = reported(tmp_path, capsys)
    assert not warnings(shown) and not warnings(held)
    for told in (
        "iam_box005_trajectories (Box005 on GroundPlane001):",
        "6 used, 0 left out, 360 Hz",
        "Box005 measures 230 x 129 x 103 mm and weighs 0.566 kg, as in Table I",
        "m and s; poses are 4 x 4 matrices, so there is no order of quaternions; what is thrown falls at 9.8",
        "surfaces: GroundPlane001 (4), reference frame (2)",
    ):
        assert told in shown and told in held
    assert "Rec_" not in shown and "recording by recording: " in shown
    assert len(re.findall(r"^    Rec_\w+: used on ", held, re.MULTILINE)) == 6
    assert "/tmp" not in held


def test_it_says_what_inspect_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, held = reported(tmp_path, capsys, surface_height=None)  # which inspect isn't told
    path = tmp_path / "data/4tu_21387606/files/Archive.h5"
    told = [line.strip() for line in inspect(path, "Box005", "GroundPlane001")]
    ours = [line.strip() for line in held.splitlines()[2:]]
    assert ours == told[-len(ours) :] and len(ours) > 6


def scaled(place: str, factor: float | np.ndarray) -> Callable[[h5py.Group], None]:
    """Multiplies numbers of every dataset of that place."""

    def spoil(recording: h5py.Group) -> None:
        node = recording[place]
        for dataset in (
            [node]
            if isinstance(node, h5py.Dataset)
            else [body["transforms"] for body in node.values()]
        ):
            values = dataset[()]
            if values.ndim == 3:
                values[:3, 3] *= factor
            else:
                values = values * factor
            dataset[...] = values

    return spoil


def test_another_box_than_the_title_says_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, _ = reported(
        tmp_path, capsys, name="iam_box004_trajectories", twin="box007_trajectories"
    )
    (line,) = warnings(shown)
    assert line.startswith("WARNING iam_box004_trajectories: none is usable: ")
    assert "no recording of Box004, only of Box007, ConveyorPart002" in line


@pytest.mark.parametrize(
    ("surface", "told"),
    [
        (
            "ConveyorPart002",
            "recordings are on another plane than ConveyorPart002: 4 of 6 on GroundPlane001",
        ),
        (
            "ConveyorPart001, ConveyorPart006",
            "than ConveyorPart001 or ConveyorPart006: 4 of 6 on GroundPlane001",
        ),
    ],
)
def test_another_plane_than_the_registry_names_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], surface: str, told: str
) -> None:
    shown, _ = reported(tmp_path, capsys, surface=surface)
    (line,) = warnings(shown)
    assert told in line


def test_a_named_plane_that_no_recording_tracks_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def untracked(recording: h5py.Group) -> None:
        recording.pop(
            f"{POSES}/GroundPlane001", None
        ) if f"{POSES}/GroundPlane001" in recording else None

    shown, _ = reported(tmp_path, capsys, untracked)
    assert warnings(shown) == ["WARNING iam_box005_trajectories: no recording is on GroundPlane001"]


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (scaled(POSES, 1e3), "6 left out: Box005: "),
        (scaled("OBJECT/Box005/vertices", 1e3), "6 left out: the body measures 230 m, and lengths must be in metres"),
        (scaled("OBJECT/Box005/inertia", np.diag([1.0] * 3 + [1e6] * 3) + (1.0 - np.eye(6))),
         "6 left out: the inertia"),
    ],
    ids=["poses in mm", "corners in mm", "inertia in kg mm2"],
)  # fmt: skip
def test_a_wrong_unit_is_named(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    spoil: Callable[[h5py.Group], None],
    told: str,
) -> None:
    shown, held = reported(tmp_path, capsys, spoil)
    (line,) = warnings(shown)
    assert line.startswith(f"WARNING iam_box005_trajectories: {told}")
    assert "metre" in line or "kg m2" in line
    assert "0 used, 6 left out" in shown and held.count(": left out: ") == 6


def test_lengths_and_corners_in_another_unit_are_named_by_the_fall(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where all lengths are wrong alike, nothing but gravity tells; here by a tenth, as a scale
    that is off.
    """
    spoil = scaled(POSES, 1.1)
    shown, _ = reported(tmp_path, capsys, spoil)
    (line,) = warnings(shown)
    assert re.search(
        r"what is thrown falls at 10\.\d\d m/s2 \(median of 6 flights\), so lengths or times aren't",
        line,
    )


def test_times_in_another_unit_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def in_milliseconds(recording: h5py.Group) -> None:
        log = recording[f"{MOCAP}/datalog"]
        values = log[()]
        values["Time(s)"] *= 1e3
        log[...] = values

    shown, _ = reported(
        tmp_path,
        capsys,
        in_milliseconds,
        twin="box006_trajectories",
        name="iam_box006_trajectories",
    )
    (line,) = warnings(shown)
    assert "6 left out: " in line and line.endswith("so they may be in milliseconds")


def test_another_size_or_mass_than_table_i_s_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown, _ = reported(
        tmp_path, capsys, scaled("OBJECT/Box005/vertices", np.array([1.1, 1.0, 1.0]))
    )
    assert warnings(shown) == [
        "WARNING iam_box005_trajectories: Box005 measures 253 x 129 x 103 mm and weighs 0.566 kg; Table I has "
        "230 x 129 x 103 mm and 0.566 kg"
    ]


def test_an_archive_without_its_files_is_not_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = LockedArchive("4tu_1", "4tu", "10.4121/1.v1", files=(LockedFile("a.h5"),))
    report_archive(entry, [], Store(tmp_path))
    assert capsys.readouterr().out == "" and not list(tmp_path.iterdir())


def test_other_kinds_of_archives_are_reported_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_plots(tmp_path / "author_plots/files")
    entry = LockedArchive(
        "author_plots", "github", "there", files=(LockedFile("230120_DataForPlots.mat"),)
    )
    dataset: Dataset = REGISTRY["author_plots"]
    report_archive(entry, [dataset], Store(tmp_path))
    assert "3 used, 0 left out" in capsys.readouterr().out
    assert "    rest poses: used\n" in (tmp_path / "author_plots/report.txt").read_text()
