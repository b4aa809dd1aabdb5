"""A biped's landings: files that are read without trust, a closed kinematic chain, and laws as
exact projections.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pinocchio as pin
import pytest

from arm_for_tests import ROOT
from contactid.arm.artefacts.landings import draw_landings, landing_tables, median_interval
from contactid.arm.identify.landings import (
    Landing,
    differentiated,
    landing,
    law_errors,
    touches,
    write_landings,
)
from contactid.arm.readers.landings import landing_signals, read_landings
from contactid.arm.rigid.biped import (
    JOINTS,
    LAWS,
    LOCKED,
    NONE,
    STICKING,
    STICKING_LINKS,
    Biped,
)
from contactid.core.errors import ContactIdError
from contactid.output import style
from contactid.sources.motion import write_dataset

URDF = ROOT / "workflow/contactid/arm/robots/cassie.urdf"
STEP = 5e-4  # s
# a squat, in the joints' order: hips' roll, yaw and pitch, knees, shins' springs, ankles, heel
# springs and toes
JOINT = np.array([0, 0, 0, 0, 0.7, 0.7, -1.4, -1.4, 0.01, 0.01, 1.65, 1.65, 0.01, -1.6, 0.01, -1.6])
BOTH_FEET = np.ones(4, dtype=bool)


@pytest.fixture(scope="module")
def biped() -> Biped:
    return Biped(URDF)


@pytest.fixture(scope="module")
def q(biped: Biped) -> np.ndarray:
    return biped.posture(np.array([1.0, 0.02, -0.05, 0.0]), np.array([0.0, 0.0, 0.8]), JOINT)


def recordings(folder: Path, landings: int = 2, samples: int = 60, stops: int = 60) -> np.ndarray:
    """Arrays as published, of a fall that a sample stops; returns the joints' rates, rad/s."""
    time = STEP * np.arange(samples)
    rate = np.linspace(-1.0, 1.0, 16)
    state = np.zeros((samples, 45))
    state[:, 0], state[:, 6] = 1.0, 0.8 - 2.0 * time
    state[:stops, 28] = -2.0
    state[:, 7:23] = JOINT + np.outer(time, rate)
    for number in range(landings):
        np.save(folder / f"x_{number:02d}.npy", state)
        np.save(folder / f"t_{number:02d}.npy", 100.0 + time)
    return rate


def test_published_arrays_are_read_and_joint_rates_are_those_of_the_positions(
    tmp_path: Path,
) -> None:
    rate = recordings(tmp_path)
    found = read_landings(tmp_path, source="here", licence="none")
    assert list(found["landing"]) == [0, 1] and tuple(found["joint"].values) == JOINTS
    one = found.sel(landing=1)
    np.testing.assert_allclose(differentiated(one), np.tile(rate, (60, 1)), atol=1e-9)
    assert not one["joint_rate"].any(), "as recorded: of no use"
    assert one["time"][0] == 0.0 and (one["base_velocity"][:, 2] == -2.0).all()
    assert landing_signals(found).recordings == 2


def test_a_pickle_is_never_loaded(tmp_path: Path) -> None:
    recordings(tmp_path, landings=1)

    class Bomb:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "exploded",))

    np.save(tmp_path / "x_00.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    with pytest.raises(ContactIdError, match="no array of numbers"):
        read_landings(tmp_path, source="here", licence="none")
    assert not (tmp_path / "exploded").exists()


def test_damaged_landings_are_left_out_by_name_and_an_empty_folder_is_told(tmp_path: Path) -> None:
    recordings(tmp_path, landings=4)
    np.save(tmp_path / "x_00.npy", np.zeros((60, 44)))
    np.save(tmp_path / "t_01.npy", np.zeros(60))
    np.save(tmp_path / "t_02.npy", np.full(60, np.nan))
    found = read_landings(tmp_path, source="here", licence="none")
    assert list(found["landing"]) == [3]
    for said in ("not (n, 45)", "time doesn't increase", "aren't finite"):
        assert said in found.attrs["left_out"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(ContactIdError, match="no x_<number>"):
        read_landings(tmp_path / "empty", source="here", licence="none")


def test_the_biped_weighs_33_kg_and_its_rods_nearly_fit(biped: Biped, q: np.ndarray) -> None:
    assert sum(body.mass for body in biped.model.inertias) == pytest.approx(33.0, abs=0.1)
    np.testing.assert_allclose(biped.stance(q).rods, 0.5012, atol=0.02)  # m, in a made-up posture


def test_rates_of_rods_and_feet_are_those_of_a_small_motion(biped: Biped, q: np.ndarray) -> None:
    random = np.random.default_rng(0)
    v, small = random.normal(size=biped.model.nv), 1e-6
    ahead, behind = (
        biped.stance(pin.integrate(biped.model, q, sign * small * v)) for sign in (1.0, -1.0)
    )
    here = biped.stance(q)
    np.testing.assert_allclose(
        here.loops @ v, (ahead.rods - behind.rods) / (2.0 * small), atol=1e-7
    )
    np.testing.assert_allclose(
        here.jacobian @ v, (ahead.place - behind.place) / (2.0 * small), atol=1e-7
    )


@pytest.mark.parametrize("law", LAWS)
def test_a_law_stops_what_it_says_and_takes_energy(biped: Biped, q: np.ndarray, law: str) -> None:
    stance = biped.stance(q)
    before = np.random.default_rng(1).normal(size=biped.model.nv)
    after = biped.after(law, stance, BOTH_FEET, before)
    feet = stance.jacobian @ after
    stopped = (
        np.abs(feet).max() < 1e-9 if law.startswith("sticking") else np.abs(feet[:, 2]).max() < 1e-9
    )
    assert stopped == (law != NONE)
    assert (np.abs(stance.loops @ after).max() < 1e-9) == (law != NONE)
    np.testing.assert_allclose(biped.after(law, stance, BOTH_FEET, after), after, atol=1e-9)
    mass = stance.mass if "links alone" in law else biped.with_rotors(stance)
    rest = before - after
    assert rest @ mass @ after == pytest.approx(0.0, abs=1e-9), "orthogonal in the kinetic energy"
    if law == LOCKED:
        springs = [
            k for k, name in enumerate(JOINTS) if name.startswith(("knee_joint", "ankle_spring"))
        ]
        assert np.abs(after[biped.joint_places[1][springs]]).max() < 1e-9


@pytest.mark.parametrize("law", [STICKING, STICKING_LINKS])
def test_the_law_that_a_landing_obeys_has_no_error_and_others_have(
    biped: Biped, q: np.ndarray, law: str
) -> None:
    """Feet come down at 2 m/s, and a law's v+ holds from the touch on."""
    falling = biped.velocity(q, np.array([0.3, 0.0, -2.0]), np.zeros(3), 0.2 * np.ones(16))
    stance = biped.stance(q)
    obeyed = biped.after(law, stance, BOTH_FEET, falling)
    v = np.where((np.arange(100) < 30)[:, None], falling, obeyed)
    vertical = np.einsum("knv,tv->tkn", stance.jacobian, v)[..., 2]
    one = Landing(np.tile(q, (100, 1)), v, np.zeros((100, 4)), vertical)
    assert (touches(vertical) == 30).all()
    table = (
        pd.DataFrame(law_errors(biped, one, STEP)).set_index(["wait_ms", "law"])["error"].unstack()
    )
    assert (table[law] < 1e-9).all() and (table.drop(columns=law) > 0.02).all(axis=None)
    np.testing.assert_allclose(table[NONE], 1.0)


def test_an_order_statistic_s_interval_holds_the_median() -> None:
    random = np.random.default_rng(2)
    held = [
        low <= 0.0 <= high
        for low, high in (median_interval(random.normal(size=19)) for _ in range(2000))
    ]
    assert 0.94 <= np.mean(held) <= 0.99


def test_a_fall_without_an_impact_is_no_landing(tmp_path: Path) -> None:
    recordings(tmp_path)
    write_dataset(read_landings(tmp_path, source="here", licence="none"), tmp_path / "landings.nc")
    with pytest.raises(ContactIdError, match="landing 0: a foot never touches the ground"):
        write_landings(str(tmp_path / "landings.nc"), str(URDF), str(tmp_path / "landings.csv"))
    assert not (tmp_path / "landings.csv").exists()


def test_tables_and_the_figure_are_made_from_files(biped: Biped, tmp_path: Path) -> None:
    recordings(tmp_path, stops=30)
    found = read_landings(tmp_path, source="here", licence="none")
    one = landing(biped, found.sel(landing=0), differentiated(found.sel(landing=0)))
    assert one.v.shape == (60, 22) and np.isfinite(one.vertical).all()
    write_dataset(found, tmp_path / "landings.nc")
    write_landings(str(tmp_path / "landings.nc"), str(URDF), str(tmp_path / "landings.csv"))
    made = landing_tables(str(tmp_path / "landings.csv"))
    assert set(made["tables/ext_landings"]["law"]) == set(LAWS)
    assert list(made["tables/ext_landings_errors"].columns) == ["landing", *LAWS]
    with style.styled():
        style.save(draw_landings(made["figures/ext_landings"]), tmp_path / "drawn")
    assert (tmp_path / "drawn.svg").stat().st_size > 1000
