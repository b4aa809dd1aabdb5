"""How recorded tosses move, where they would end without an impact, and what comes of choices not
made.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
import yaml

from contactid.core import rotations
from contactid.sources.motion import write_dataset
from contactid.tossing.artefacts.impacts import COMPONENTS
from contactid.tossing.artefacts.other_choices import impact_in_short, impact_tables, tumbling_costs
from contactid.tossing.artefacts.predictions import Prediction, no_impact_table
from contactid.tossing.artefacts.tosses import motion_of
from contactid.tossing.configuration import Scheme
from contactid.tossing.identify.trajectories import Grid, grid_values, sweep_grid
from contactid.tossing.identify.velocities import identify_on_impacts
from contactid.tossing.impacts.selection import select_impacts
from contactid.tossing.prepare.preprocess import IDENTIFICATION
from contactid.tossing.prepare.tosses import Variant, set_up
from tosses_for_tests import box, motion, prepare_tosses, recordings
from true_impacts import EMBEDDED, prepared_drops

STEP = 0.01
BLOCK = yaml.safe_load(
    (Path(__file__).parents[2] / "config/default.yaml").read_text(encoding="utf-8")
)["tossing"]
VERTICES = np.array(np.meshgrid([-0.1, 0.1], [-0.1, 0.1], [-0.05, 0.05])).reshape(3, -1).T


def toss(*, kept: float = 1.0, tilt: float = 0.0, moving: float = 0.0) -> xr.Dataset:
    """A box that falls along x for 10 samples, lands on its face, and slides 10 more with a share
    of its speed.
    """
    x = np.concatenate([0.02 * np.arange(11), 0.2 + 0.02 * kept * np.arange(1, 11)])
    z = 0.05 + np.concatenate([0.02 * np.arange(10, 0, -1), np.zeros(11)])
    position = np.column_stack([x, np.zeros(21), z])
    still = rotations.exp(np.zeros((21, 3)))
    return xr.Dataset(
        {
            "position": (("sample", "xyz"), position),
            "orientation": (("sample", "wxyz"), still),
            "release": 0, "contact": 10, "rest": 20, "tumbled": 0,
            "surface_velocity": (("xyz",), [moving, 0.0, 0.0]),
            "rest_orientation": (("wxyz",), rotations.exp(np.array([tilt, 0.0, 0.0]))),
        }
    )  # fmt: skip


def test_a_toss_that_flies_and_slides_does_nothing_else() -> None:
    found = motion_of(toss(), VERTICES, STEP)
    flown, slid = 10 * np.hypot(0.02, 0.02), 10 * 0.02
    assert found["travelled_m"] == pytest.approx(flown + slid) and found["samples"] == 21
    assert found["flight_pct"] == pytest.approx(100.0 * flown / (flown + slid))
    assert found["bouncing_pct"] == pytest.approx(0.0, abs=1e-9)
    assert (found["moving"], found["tumbled"]) == (False, False)
    assert found["release_speed_m_s"] == pytest.approx(np.hypot(2.0, 2.0))


@pytest.mark.parametrize("kept", [1.0, 0.5, 0.0])
def test_slip_is_what_the_impact_leaves_of_the_corner_s_speed(kept: float) -> None:
    assert motion_of(toss(kept=kept), VERTICES, STEP)["slip_kept"] == pytest.approx(kept, abs=1e-9)


def test_slip_is_against_the_conveyor_and_tilt_against_its_normal() -> None:
    found = motion_of(toss(kept=0.5, tilt=0.1, moving=1.0), VERTICES, STEP)
    assert found["moving"] and found["slip_kept"] == pytest.approx(
        0.0, abs=1e-9
    )  # 1 m/s is the conveyor's own
    assert found["tilt_deg"] == pytest.approx(np.degrees(0.1))


def curves(change: np.ndarray, spread: int, off: float) -> pd.DataFrame:
    """Velocities that an impact changes over some samples, and a simulation that is off by a share
    of the change.
    """
    offsets = np.arange(-5, 6)
    ramp = np.clip((offsets + spread / 2.0) / spread, 0.0, 1.0)
    kinds = {"measured": ramp, "simulated": (1.0 + off) * (offsets >= 0)}
    rows = [
        {
            "offset": k,
            "component": name,
            "kind": kind,
            "side": "",
            "value": share * part,
            "object": "Box",
            "toss": "a",
        }
        for kind, shares in kinds.items()
        for k, share in zip(offsets, shares, strict=True)
        for name, part in zip(COMPONENTS, change, strict=True)
    ]
    for side, chosen, share in (("pre", offsets[:3], 0.0), ("post", offsets[-3:], 1.0)):
        rows += [
            {"offset": k, "component": name, "kind": "fitted", "side": side, "value": share * part}
            for k in chosen
            for name, part in zip(COMPONENTS, change, strict=True)
        ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("spread", "off"), [(2, 0.0), (2, 0.1), (4, -0.2)])
def test_an_impact_in_short_is_shares_of_its_change(spread: int, off: float) -> None:
    change = np.array([1.0, -2.0, 3.0, 10.0, -20.0, 5.0])
    found = {row["kind"]: row for row in impact_in_short(curves(change, spread, off))}
    assert found["measured"]["largest_step"] == pytest.approx(1.0 / spread)
    assert found["simulated"]["largest_step"] == pytest.approx(1.0 + off)
    assert found["simulated"]["distance"] == pytest.approx(abs(off))
    assert (found["measured"]["distance"], found["no_impact"]["distance"]) == (
        0.0,
        pytest.approx(1.0),
    )
    assert found["no_impact"]["largest_step"] == 0.0


def test_on_a_twin_s_drops_a_finer_grid_changes_little_and_kept_neighbours_change_restitution(
    tmp_path: Path,
) -> None:
    prepared = prepared_drops(EMBEDDED / "box006_drops_twin.h5", last=8)
    file, impacts, sweep = (str(tmp_path / f"{name}.nc") for name in ("tosses", "impacts", "sweep"))
    write_dataset(prepared, file)
    variant = BLOCK["velocity"]["variants"][0]
    limits = variant["largest_misfit"], variant["largest_imbalance"]
    select_impacts(
        file,
        None,
        "drops",
        5,
        0.3,
        *limits,
        [variant["twists"]],
        [impacts],
        [str(tmp_path / "table.csv")],
    )
    rest = {"fit": str(tmp_path / "fit.json"), "losses": str(tmp_path / "losses.csv")}
    identify_on_impacts(
        impacts, "drops", variant, "newton", BLOCK["grid"], BLOCK["bootstrap"], sweep, **rest
    )
    tables = impact_tables([file], ["drops"], [("drops", "test")], [impacts], [sweep], 5)
    choices = tables["tables/ext_velocity_choices"].set_index("scheme")
    assert (choices.loc["paper", "friction_mu"], choices.loc["paper", "restitution_e_n"]) == (
        0.25,
        0.4,
    )
    assert choices.loc["finer_grid", "mean_loss"] <= choices.loc["paper", "mean_loss"]
    assert abs(choices.loc["finer_grid", "restitution_e_n"] - 0.4) <= 0.025
    assert choices.loc["neighbours_kept", "restitution_e_n"] < 0.4
    kept = choices.loc[["paper", "from_450_mm_s", "from_600_mm_s"], "impacts"]
    assert kept.is_monotonic_decreasing and kept.iloc[0] > kept.iloc[-1]
    assert 0.0 < choices.loc["paper", "sticking_pct"] < 100.0
    assert len(tables["tables/ext_example_impacts"]) == 3


def test_restitution_matters_more_to_tosses_that_turn_over(tmp_path: Path) -> None:
    body = box()
    prepared = prepare_tosses(motion(recordings(body, 6, 3), body))
    problem = set_up(
        prepared,
        Variant("exact_contact", "central_difference", 1, "newton", "newton", False, False),
        IDENTIFICATION,
    )
    steps = grid_values(0.0, 1.0, 0.1)
    files = [str(tmp_path / f"{name}.nc") for name in ("tosses", "sweep")]
    write_dataset(prepared, files[0])
    write_dataset(sweep_grid(problem, Grid(steps, steps)), files[1])
    table = tumbling_costs([files[0]], ["tosses"], [("tosses", "test")], [files[1]]).set_index(
        "thrown"
    )
    assert list(table["tosses"]) == [len(problem.tosses), min(len(problem.tosses), 6)]
    assert table.loc["spinning", "tumbled"] > 0
    assert ((table["restitution_pct"] > 0.0) & (table["restitution_pct"] <= 100.0)).all()


def test_without_an_impact_a_toss_ends_where_it_first_touches() -> None:
    turn = rotations.exp(np.array([[0.0, 0.0, 0.2], [0.0, 0.0, 0.2], [0.0, 0.0, 0.0]]))
    motion = xr.Dataset(
        {
            "position": (("sample", "xyz"), [[0.0, 0.0, 0.3], [0.3, 0.4, 0.1], [0.6, 0.8, 0.1]]),
            "orientation": (("sample", "wxyz"), turn),
            "row_size": ("recording", [3]),
            "contact": ("recording", [1]),
            "rest_position": (("recording", "xyz"), [[0.6, 0.8, 0.1]]),
            "rest_orientation": (("recording", "wxyz"), turn[2:]),
        },
        coords={"recording": ["toss0"]},
    )
    scheme = Scheme("paper", "trajectory", "trajectory", "paper", {}, True)
    tosses = pd.DataFrame({"toss": ["toss0"], "moving": [False]})
    found = Prediction(
        "box_validation", "box_trajectories", scheme, "Box", "synthetic twin", {}, tosses
    )
    row = no_impact_table([found, found], {"box_validation": motion}).to_dict("records")
    assert len(row) == 1 and (row[0]["object"], row[0]["dataset"], row[0]["n_tosses"]) == (
        "Box",
        "box_validation",
        1,
    )
    assert row[0]["position_error_mean_cm"] == pytest.approx(50.0)
    assert row[0]["rotation_error_mean_deg"] == pytest.approx(np.degrees(0.2))
    still = replace(found, table=tosses.assign(moving=True))
    assert no_impact_table([still], {"box_validation": motion}).empty
