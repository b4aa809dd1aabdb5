"""Real landings of the biped Cassie, from the folder that DATA_MIRROR names (make test-public)."""

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from contactid.arm.identify.landings import differentiated, landing, law_errors
from contactid.arm.readers.landings import JOINTS, read_landings
from contactid.arm.rigid.biped import (
    FRICTIONLESS,
    LAWS,
    LOCKED,
    NONE,
    STICKING,
    STICKING_LINKS,
    Biped,
)
from contactid.sources.fetch import fetch
from contactid.sources.lockfile import read_lock
from contactid.sources.places import Sources
from contactid.sources.registry import load_registry
from contactid.sources.store import Store, verify

ROOT = Path(__file__).parents[2]
MIRROR = Path(os.environ.get("DATA_MIRROR") or "../shared/data")
LANDINGS = MIRROR / "cassie-impact"
ROD = 0.5012  # m, of a rod between its ends
pytestmark = [
    pytest.mark.public,
    pytest.mark.skipif(not LANDINGS.is_dir(), reason="no landings of Cassie (set DATA_MIRROR)"),
]


@pytest.fixture(scope="module")
def landings():
    return read_landings(LANDINGS, source="DAIRLab/cassie_impact_dataset", licence="BSD-3-Clause")


@pytest.fixture(scope="module")
def biped() -> Biped:
    return Biped(ROOT / "workflow/contactid/arm/robots/cassie.urdf")


def errors_with(biped: Biped, landings, rates) -> pd.DataFrame:
    """A row per landing, a column per law, 6 ms after the second foot's touch."""
    rows = []
    for number in landings["landing"].values:
        recorded = landings.sel(landing=number)
        step = float(np.median(np.diff(recorded["time"])))
        one = landing(biped, recorded, rates(recorded))
        rows += [{"landing": number} | row for row in law_errors(biped, one, step)]
    table = pd.DataFrame(rows)
    return table[table["wait_ms"] == 6].pivot(index="landing", columns="law", values="error")


def test_short_the_registry_finds_and_verifies_them_and_takes_no_pickle(tmp_path) -> None:
    entry = load_registry(ROOT / "config/datasets.tsv", {})["cassie_impact"]
    archive, store = (
        read_lock(ROOT / "config/datasets.lock.json")[entry.archive],
        Store(tmp_path / "data"),
    )
    fetch(
        archive, store, Sources([str(MIRROR)], offline=True, fourtu_url="https://example.invalid")
    )
    verify(archive, store)
    assert len(archive.files) == 38 and all(file.name.endswith(".npy") for file in archive.files)


def test_short_the_kinematics_close_the_rods(landings, biped) -> None:
    """The rods' length follows from the recorded joints by 2 mm: only then are loops those of the
    robot.
    """
    for number in landings["landing"].values[:5]:
        first = landings.sel(landing=number).isel(sample=0)
        q = biped.posture(
            *(
                first[name].values
                for name in ("base_orientation", "base_position", "joint_position")
            )
        )
        np.testing.assert_allclose(biped.stance(q).rods, ROD, atol=2e-3)


def test_short_recorded_rates_of_unactuated_joints_lag_the_positions(landings) -> None:
    recorded = landings.isel(landing=0)
    slopes, rates = differentiated(recorded), recorded["joint_rate"].values
    for name, lag in (("ankle_joint_left", 9), ("ankle_joint_right", 9), ("hip_pitch_left", 0)):
        joint = JOINTS.index(name)
        off = [
            np.sqrt(((slopes[5:70, joint] - rates[5 + k : 70 + k, joint]) ** 2).mean())
            for k in range(20)
        ]
        assert abs(int(np.argmin(off)) - lag) <= 2, name


def test_short_data_tell_laws_apart_and_with_recorded_rates_they_no_longer_do(
    landings, biped
) -> None:
    errors = errors_with(biped, landings, differentiated)
    medians = errors.median()
    expected = {STICKING: 0.60, STICKING_LINKS: 0.83, FRICTIONLESS: 0.84, LOCKED: 0.91, NONE: 1.0}
    assert medians[list(expected)].to_dict() == pytest.approx(expected, abs=0.01)
    assert (errors.idxmin(axis=1) == STICKING).sum() >= 16 and set(errors) == set(LAWS)
    assert (errors[STICKING_LINKS] > errors[STICKING]).all()
    recorded = errors_with(biped, landings, lambda one: one["joint_rate"].values).median()
    assert recorded[STICKING] > 0.62 and recorded[STICKING_LINKS] > 0.95
