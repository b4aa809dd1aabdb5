"""The authors' plot data: read by the names of their scripts, in both of MATLAB's versions, and
what they answer to.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from author_plots import (
    ERRORS,
    FIRST_POST,
    FIRST_SAMPLE,
    GRID,
    LAST_PRE,
    OPTIMA,
    SURFACES,
    TOSSES,
    Truth,
    bowl,
    variables,
    write_plots,
)
from contactid.core.errors import ContactIdError
from contactid.sources.motion import write_dataset
from contactid.sources.registry import READERS
from contactid.tossing.artefacts.plotted import plotted_tables
from contactid.tossing.readers.author_plots import read_author_plots
from reading_for_tests import entry, read

POINTS = st.tuples(st.sampled_from(GRID.tolist()), st.sampled_from(GRID.tolist()))


def tables(
    folder: Path, content: dict[str, Any] | None = None, **sweeps: list[str]
) -> dict[str, pd.DataFrame]:
    """The tables of a stand-in, by files."""
    plots = read_author_plots(write_plots(folder, content), licence="")
    write_dataset(plots, folder / "plots.nc")
    found = plotted_tables(
        str(folder / "plots.nc"),
        "author_plots",
        **{"velocity_sweep": [], "trajectory_sweep": [], **sweeps},
    )
    return {name.removeprefix("tables/ext_plotted_"): table for name, table in found.items()}


@settings(max_examples=15, deadline=None)
@given(optima=st.lists(POINTS, min_size=4, max_size=4), seed=st.integers(0, 99))
def test_planted_optima_come_out_exactly_whatever_the_order_of_the_grid(
    tmp_path_factory: pytest.TempPathFactory, optima: list[tuple[float, float]], seed: int
) -> None:
    planted = dict(zip(SURFACES, optima, strict=True))
    content, order = variables(Truth(planted)), np.random.default_rng(seed).permutation(len(GRID))
    content["mu"] = GRID[order]
    for name in SURFACES.values():
        content[name] = content[name][order]
    costs = tables(tmp_path_factory.mktemp("plots"), content)["costs"].set_index(
        ["parameters", "simulator"]
    )
    found = costs[["friction_mu", "restitution_e_n"]]
    assert {
        key: tuple(row) for key, row in zip(found.index, found.values.tolist(), strict=True)
    } == planted
    assert (costs["least_cost"] == 0.3).all() and set(costs["object"]) == {"Box006"}


def test_plateaus_and_likeness_are_those_of_the_surfaces(tmp_path: Path) -> None:
    content = variables()
    flat = bowl((0.25, 0.4))
    flat[GRID >= 0.6] = 5.0
    content |= {
        "SUMMATLAB": flat,
        "SUMAGX": bowl((0.25, 0.4)).T,
        "SUMAGXtraj": 2.0 * bowl(OPTIMA["trajectory", "matlab"]),
    }
    costs = tables(tmp_path, content)["costs"].set_index(["parameters", "simulator"])
    assert costs.loc[("velocity", "matlab"), "friction_flat_from"] == 0.6
    assert np.isnan(costs.loc[("velocity", "algoryx"), "friction_flat_from"])
    # 0.3 * 1.02 is 0.006 above the optimum: 0.07 away from it
    assert costs.loc[("trajectory", "matlab"), "restitution_flat_to"] == 0.3
    assert costs.loc["trajectory"]["unlike"].abs().max() < 1e-12
    assert costs.loc[("trajectory", "matlab"), "unlike_exchanged"] > 0.3


def test_rest_errors_are_the_planted_ones_to_rounding(tmp_path: Path) -> None:
    rest = tables(tmp_path)["rest_poses"].set_index(["object", "parameters", "simulator"])
    assert len(rest) == 8 and set(rest["n_tosses"]) == {TOSSES}
    spread = np.std([1.0, 2.0] * (TOSSES // 2), ddof=1)
    for (ending, name), (distance, angle) in ERRORS.items():
        kind = {"Vel": "velocity", "Traj": "trajectory"}[ending]
        row = rest.loc[("Box006", kind, {"M": "matlab", "AGX": "algoryx"}[name])]
        expected = [
            150.0 * distance,
            100.0 * distance * spread,
            np.degrees(1.5 * angle),
            np.degrees(angle * spread),
        ]
        assert row[list(COLUMNS)].tolist() == pytest.approx(expected, rel=1e-9)


COLUMNS = (
    "position_error_mean_cm",
    "position_error_std_cm",
    "rotation_error_mean_deg",
    "rotation_error_std_deg",
)


def test_the_impact_s_losses_are_the_planted_ones(tmp_path: Path) -> None:
    (row,) = tables(tmp_path)["impact"].to_dict("records")
    assert (row["sample"], row["last_pre"], row["first_post"]) == (
        FIRST_SAMPLE + 5,
        LAST_PRE - 1,
        FIRST_POST - 1,
    )
    losses = [row["matlab_loss"], row["algoryx_loss"], row["no_impact_loss"]]
    assert losses == pytest.approx([0.03, 0.05, 2.0], rel=1e-12)


def test_our_surface_on_the_same_recordings_is_held_against_theirs(tmp_path: Path) -> None:
    axes = {"impact": ["a", "b"], "friction_mu": GRID, "restitution_e_n": GRID}
    loss = np.stack(
        [bowl(OPTIMA["velocity", "matlab"]) - 0.5, bowl(OPTIMA["velocity", "matlab"]) + 0.6]
    )
    write_dataset(xr.Dataset({"loss": ([*axes], loss)}, axes), tmp_path / "sweep.nc")
    costs = tables(tmp_path, velocity_sweep=[str(tmp_path / "sweep.nc")])["costs"]
    difference = costs.set_index("parameters")["largest_difference_from_ours"]
    assert (
        difference["velocity"].tolist() == pytest.approx([0.05, 0.05])
        and difference["trajectory"].isna().all()
    )


def test_both_of_matlab_s_versions_say_the_same(tmp_path: Path) -> None:
    old, new = (
        read_author_plots(write_plots(tmp_path / version, version=version).parent, licence="none")
        for version in ("5", "7.3")
    )
    xr.testing.assert_identical(old.drop_attrs(), new.drop_attrs())
    assert old.attrs["synthetic"] == 0 and old["part"].values.tolist() == [
        "costs",
        "impact",
        "rest poses",
    ]
    dataset = entry(
        "author_plots", write_plots(tmp_path / "stand_in", variables() | {"synthetic": 1.0})
    )
    read(dataset, Path(dataset.source), tmp_path / "plots.nc")
    with xr.open_dataset(tmp_path / "plots.nc", engine="h5netcdf") as stand_in:
        assert stand_in.attrs["synthetic"] == 1
    assert READERS["author_plots"].form == "plots"


def without(name: str) -> Callable[[dict[str, Any]], Any]:
    return lambda content: content.pop(name)


WRONG = {
    "costs": [
        (without("SUMAGX"), "SUMAGX isn't in the file"),
        (
            lambda c: c.update(SUMMATLAB=c["SUMMATLAB"][:, :20]),
            "SUMMATLAB is 21 x 20, and 21 x 21 by the scripts",
        ),
        (
            lambda c: c.update(SUMAGXtraj=c["SUMAGXtraj"] * np.nan),
            "SUMAGXtraj has numbers that aren't finite",
        ),
        (lambda c: c.update(mu=GRID * 100.0), "mu isn't a grid between 0 and 1"),
    ],
    "impact": [
        (without("optAGX_idx"), "optAGX_idx isn't in the file"),
        (
            lambda c: c.update(BCV_CBef=c["BCV_CBef"].T),
            "BCV_CBef is 11 x 6, and 6 x 11 by the scripts",
        ),
        (
            lambda c: c.update(indx_b=12.0),
            "indx_b and indx_c, [12, 7], are no places in a window of 11",
        ),
        (
            lambda c: c.update(optMATLAB_idx=442.0),
            "BCV_MB_M has no 11 samples at optMATLAB_idx = 442",
        ),
    ],
    "rest poses": [
        (without("Val"), "Val.Box005Vel.MH_B_rest isn't in the file"),
        (
            lambda c: c["Val"]["Box006Traj"].update(
                MH_B_restAGX=c["Val"]["Box006Traj"]["MH_B_restAGX"][:, :, :40]
            ),
            "Val.Box006Traj.MH_B_restAGX is 4 x 4 x 40, and 4 x 4 x 50 by the scripts",
        ),
        (
            lambda c: c["Val"]["Box005Vel"].update(
                MH_B_restM=1e3 * c["Val"]["Box005Vel"]["MH_B_restM"]
            ),
            "Val.Box005Vel has poses that are no rigid motion",
        ),
    ],
}


@pytest.mark.parametrize(
    ("part", "spoil", "told"), [(part, *case) for part, cases in WRONG.items() for case in cases]
)
def test_a_part_that_is_not_as_in_the_scripts_is_left_out_in_one_line(
    tmp_path: Path, part: str, spoil: Callable[[dict[str, Any]], Any], told: str
) -> None:
    content = variables()
    spoil(content)
    plots = read_author_plots(write_plots(tmp_path, content), licence="")
    left_out = json.loads(plots.attrs["left_out"])
    assert left_out[part].startswith(told) and "\n" not in left_out[part]
    assert plots["part"].values.tolist() == [name for name in WRONG if name != part]
    made = tables(tmp_path / "again", content)
    assert made[part.replace(" ", "_")].empty and all(
        len(made[name.replace(" ", "_")]) for name in WRONG if name != part
    )


def test_nothing_as_expected_and_no_or_two_files_are_errors(tmp_path: Path) -> None:
    with pytest.raises(
        ContactIdError, match=r"none of the 3 parts is usable; costs: eN isn't in the file"
    ):
        read_author_plots(write_plots(tmp_path / "one", {"q": np.zeros((3, 3))}), licence="")
    (tmp_path / "one/another.mat").write_bytes(
        (tmp_path / "one/230120_DataForPlots.mat").read_bytes()
    )
    with pytest.raises(ContactIdError, match=r"2 \.mat files where the authors have one"):
        read_author_plots(tmp_path / "one", licence="")
    (tmp_path / "none").mkdir()
    with pytest.raises(ContactIdError, match=r"no \.mat file"):
        read_author_plots(tmp_path / "none", licence="")
