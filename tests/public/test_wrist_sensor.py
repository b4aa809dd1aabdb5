"""Real recordings of wrist sensors, as the public run has them: the same mass from all rows, at
50/s and at 6.7/s, and as by a linear fit; a part predicted from the rest.

From https://github.com/elenamck/inertial_parameter_application at commit 04d51df, and still poses
from leledeyuan00/Gravity-Compensation-F-T-sensor at 139efe1. Neither states a licence: the files
are read from the folder that DATA_MIRROR names and not passed on. The mass isn't known, so a linear
fit of weight and zero is what estimates are held against.
"""

import os
from pathlib import Path

import pytest

from contactid.inhand.artefacts.wrists import wrist_tables
from contactid.inhand.own.estimate import estimate_own
from contactid.inhand.own.prepare import read_own_recording
from contactid.inhand.own.wrists import own_table, write_wrists
from contactid.inhand.readers.wrist import read_wrist, recordings_of
from contactid.sources.fetch import fetch
from contactid.sources.lockfile import read_lock
from contactid.sources.motion import write_dataset
from contactid.sources.places import Sources
from contactid.sources.registry import load_registry
from contactid.sources.store import Store, verify

ROOT = Path(__file__).parents[2]
MIRROR = Path(os.environ.get("DATA_MIRROR") or "../shared/data")
MOVED, STILL = "panda-wrist-ft", "static-wrist-ft"
pytestmark = [
    pytest.mark.public,
    pytest.mark.skipif(
        not ((MIRROR / MOVED).is_dir() and (MIRROR / STILL).is_dir()),
        reason="no recordings of wrists (set DATA_MIRROR)",
    ),
]
HERE = {"source": "here", "licence": "none stated"}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wrists")
    forms = []
    for name in (MOVED, STILL):
        forms.append(str(folder / f"{name}.nc"))
        write_dataset(read_wrist(MIRROR / name, **HERE), forms[-1])
    files = [str(folder / name) for name in ("estimates.csv", "predictions.csv")]
    write_wrists(forms, *files)
    return wrist_tables(*files)


@pytest.mark.parametrize(("name", "files"), [("panda_wrist_ft", 2), ("static_wrist_ft", 4)])
def test_short_the_registry_finds_and_verifies_them(name, files, tmp_path):
    entry = load_registry(ROOT / "config/datasets.tsv", {})[name]
    archive = read_lock(ROOT / "config/datasets.lock.json")[entry.archive]
    store = Store(tmp_path / "data")
    here_alone = Sources([str(MIRROR)], offline=True, fourtu_url="https://example.invalid")
    fetch(archive, store, here_alone)
    verify(archive, store)
    assert len(archive.files) == files and entry.licence == "none stated"


def test_short_all_rows_and_few_give_the_mass_of_a_linear_fit(tables):
    found = tables["tables/ext_wrist"]
    moved = found[found["rows"] != "poses"]
    assert len(moved) == 2 * 3 and moved["off_pct"].abs().max() < 3.0
    assert (moved["turned_deg"] > 50.0).all() and (moved["seconds"] < 10.0).all()
    for _, one in moved.groupby("recording"):
        assert one["mass_kg"].max() / one["mass_kg"].min() < 1.03


@pytest.mark.parametrize("rows", ["all rows", "50/s", "6.7/s"])
def test_short_a_moved_payload_s_mass_is_stated_to_three_percent(tables, rows):
    found = tables["tables/ext_wrist"]
    moved = found[found["rows"] == rows]
    # 1 % of calibration, and a drift that slow turns don't average away
    assert len(moved) == 2 and (moved["mass_se_kg"] < 0.03 * moved["mass_kg"]).all()


def test_short_a_hundred_still_poses_give_one_mass_in_ten_folds(tables):
    found = tables["tables/ext_wrist_predictions"]
    folds = found[found["recording"] == "100 poses"]
    assert folds["mass_kg"].to_numpy() == pytest.approx([1.2385] * 10, abs=3e-3)
    assert folds["force_n"].max() < 0.31 and folds["torque_nm"].max() < 1.5e-3


def test_short_half_a_recording_predicts_the_other_where_it_turns_enough(tables):
    """Each recording has a half that tells its weight; of the other one a linear fit is off, too."""
    found = tables["tables/ext_wrist_predictions"]
    halves = found[found["part"].str.contains("half")]
    for _, pair in halves.groupby("recording"):
        best = pair.sort_values("force_n").iloc[0]
        assert best["force_n"] < 0.30 and best["torque_nm"] < 0.021
        assert best["mass_kg"] == pytest.approx(best["linear_kg"], rel=0.03)


def test_short_half_a_recording_predicts_the_other_within_its_interval(tables):
    """What isn't sensed drifts: as if it stayed, intervals hold too few of the other half."""
    found = tables["tables/ext_wrist_predictions"]
    halves = found[found["part"].str.contains("half")]
    assert (halves["force_inside"] >= 0.93).all()
    assert (halves.groupby("recording")["steady_force_inside"].min() < 0.9).all()


def test_short_no_warning_speaks_of_a_stretch_for_the_whole():
    for recorded in recordings_of(read_wrist(MIRROR / MOVED, **HERE)).values():
        table = own_table(recorded, aligned=False)[::20].reset_index(drop=True)
        corners = [[x, y, z] for x in (-0.06, 0.06) for y in (-0.06, 0.06) for z in (0.0, 0.22)]
        noise = {"position_sd": 5e-4, "orientation_sd": 2e-3, "contact_position_sd": 5e-4}
        found = estimate_own(read_own_recording(table, corners, noise))
        assert not any(
            "degrees at most" in warning or "upwards" in warning for warning in found.warnings
        )
