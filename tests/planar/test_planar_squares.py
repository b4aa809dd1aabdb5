"""Throws of a square: lost frames, tipping without impacts, and the identification of a twin whose truth is known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.planar.artefacts.identified_impulses import square_impulses
from contactid.planar.artefacts.identified_motion import square_throw
from contactid.planar.artefacts.real_squares import square_ratios, square_tables
from contactid.planar.readers.csv_throws import read_square_throws
from contactid.planar.readers.throws import SQUARE_SIDE, PlanarThrow, build_throws, square
from contactid.planar.simulate.geometry import Ground, Polygon, contacts
from contactid.planar.squares import identification
from contactid.planar.squares.bodies import flight_rows
from contactid.planar.squares.events import Alignment, Contact, ThrowEvents
from contactid.planar.squares.flight import FlightReport
from contactid.planar.squares.identification import (
    COLUMNS,
    FRAMES_LOST,
    LARGEST_LEVER,
    identify_window,
    write_part,
    write_squares,
)
from contactid.planar.squares.tipping import find_pivots, ratio_of_moments, standing_couples
from contactid.planar.squares.windows import (
    IMPACT_FRAMES,
    PreparedThrows,
    SquareOptions,
    SquareWindows,
    breaks,
    mend,
    square_windows,
)
from contactid.sources.motion import write_dataset

TWIN_FOLDER = Path(__file__).parents[2] / "workflow" / "resources" / "embedded" / "planar_square_twin"
OPTIONS = SquareOptions(fewest_at_rest=6)
INTERVAL, GRAVITY, RATIO = 0.004, 9.81, SQUARE_SIDE**2 / 6.0
FEW = ("traj_1", "traj_4")
SQUARE = square(SQUARE_SIDE)


@pytest.fixture(scope="module")
def twin() -> xr.Dataset:
    return read_square_throws(TWIN_FOLDER, licence="CC0-1.0")


@pytest.fixture(scope="module")
def usable(twin: xr.Dataset) -> SquareWindows:
    return square_windows(twin, OPTIONS)


def without_frames(data: xr.Dataset, name: str, first: int, number: int) -> xr.Dataset:
    """The same dataset after the camera lost some frames of one throw."""
    names, sizes = list(data["throw"].values), data["row_size"].values
    pose = np.column_stack([data[key].values for key in ("x", "y", "theta")])
    throws = []
    for place, end in enumerate(np.cumsum(sizes)):
        part = pose[end - sizes[place] : end]
        if names[place] == name:
            part = np.delete(part, range(first, first + number), axis=0)
        throws.append(PlanarThrow(str(names[place]), INTERVAL * np.arange(len(part)), part))
    return build_throws(
        throws, square(SQUARE_SIDE), object_name="square", source="twin", licence="CC0-1.0", synthetic=True
    )


def event_of(position: np.ndarray) -> ThrowEvents:
    return ThrowEvents("throw", position, contacts(SQUARE, Ground(), position).gap, (), (), None)


def prepared_of(*events: ThrowEvents, shape: Polygon = SQUARE) -> PreparedThrows:
    """Throws with little noise on a level ground."""
    report = FlightReport(np.array([1e-4, 1e-4, 1e-2]), GRAVITY, 0.0)
    alignment = Alignment(Ground(), 0.0, np.zeros(2), 0.0)
    return PreparedThrows(shape, 0.0, INTERVAL, alignment, events, report)


def tipping_throw(ratio: float, couple: float, way: float = 1.0) -> np.ndarray:
    """Poses (n, 3) of a square that tips over a sharp corner without sliding; ``couple`` per mass resists, m2/s2."""
    radius = SQUARE_SIDE / np.sqrt(2.0)
    tilt, rate, step = 0.08, 0.6, 1e-5
    poses, count = [], round(INTERVAL / step)
    for k in range(10**5):
        if k % count == 0:
            poses.append((-way * radius * np.sin(tilt), radius * np.cos(tilt), way * tilt + 0.25 * np.pi))
        rate += step * (GRAVITY * radius * np.sin(tilt) - couple) / (ratio + radius**2)
        tilt += step * rate
        if tilt > 0.65:
            break
    return np.array(poses)


@pytest.mark.parametrize("couple", [0.0, 0.01])
def test_tipping_recovers_the_ratio_and_the_couple(couple: float) -> None:
    events = [event_of(tipping_throw(RATIO, couple, way)) for way in (1.0, -1.0)]
    pivots = find_pivots(prepared_of(*events))
    assert len(pivots) == 2
    free = ratio_of_moments(pivots, None)
    assert free.ratio == pytest.approx(RATIO, rel=0.02)
    assert free.couple == pytest.approx(couple, abs=1e-3)
    given = ratio_of_moments(pivots, couple)
    assert given.ratio == pytest.approx(RATIO, rel=0.01)
    if couple:
        assert ratio_of_moments(pivots, 0.0).ratio > 1.1 * RATIO


def test_without_a_pivot_there_is_no_ratio() -> None:
    assert find_pivots(prepared_of()) == [] and flight_rows(prepared_of(), RATIO) == []


def test_a_standing_body_needs_a_couple_of_its_weight_times_its_lean() -> None:
    lean, radius = 0.02, SQUARE_SIDE / np.sqrt(2.0)
    pose = np.tile([-radius * np.sin(lean), radius * np.cos(lean), 0.25 * np.pi + lean], (30, 1))
    held = standing_couples(prepared_of(replace(event_of(pose), rest=0)))
    assert held == {"throw": pytest.approx(GRAVITY * radius * np.sin(lean))}
    flat = np.tile([0.0, 0.5 * SQUARE_SIDE, 0.0], (30, 1))
    assert standing_couples(prepared_of(replace(event_of(flat), rest=0))) == {}


def test_breaks_merges_contacts_and_jumps_that_touch() -> None:
    event = replace(event_of(np.zeros((30, 3))), contacts=(Contact(5, 7), Contact(20, 22)), jumps=(7, 12))
    assert breaks(event) == [(5, 8), (11, 13), (20, 22)]


@pytest.mark.parametrize("number", [1, 2])
def test_lost_frames_are_counted_and_put_back(twin: xr.Dataset, usable: SquareWindows, number: int) -> None:
    name = FEW[0]
    whole = usable.windows[name]
    assert whole.lost == 0
    event = next(event for event in usable.prepared.events if event.name == name)
    first = event.contacts[0].before + int(np.ceil(whole.met.instant / INTERVAL))
    lost = square_windows(without_frames(twin, name, first, number), OPTIONS).windows[name]
    assert lost.lost == number
    assert lost.moment / lost.spin == pytest.approx(whole.moment / whole.spin, rel=0.02)
    assert lost.throw.position == pytest.approx(whole.throw.position, abs=5e-3)


def test_a_throw_without_a_contact_cannot_be_mended() -> None:
    with pytest.raises(ContactIdError, match="no contact"):
        mend(event_of(np.zeros((30, 3))), prepared_of(), IMPACT_FRAMES[0])


def test_every_throw_is_usable_or_left_out_with_a_reason(twin: xr.Dataset, usable: SquareWindows) -> None:
    assert set(usable.windows) | set(usable.left_out) == {str(name) for name in twin["throw"].values}
    assert not set(usable.windows) & set(usable.left_out)
    assert all(usable.left_out.values())
    assert all(name == window.name for name, window in usable.windows.items())


def test_eq31_of_the_twins_impacts_is_the_truth(usable: SquareWindows) -> None:
    telling = [window for window in usable.windows.values() if window.lever < LARGEST_LEVER]
    found = [window.moment / window.spin for window in telling]
    assert np.median(found) == pytest.approx(RATIO, rel=0.02)
    assert np.median([window.restitution for window in telling]) == pytest.approx(0.45, abs=0.02)


def test_parts_share_the_throws(
    usable: SquareWindows, twin: xr.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_dataset(twin, tmp_path / "twin.nc")
    shares: list[str] = []

    def shared(_usable: SquareWindows, names: list[str], _options: SquareOptions) -> tuple[pd.DataFrame, list[str]]:
        shares.extend(names)
        return pd.DataFrame({"throw": names}), names

    monkeypatch.setattr(identification, "identify_window", shared)
    for part in range(3):
        write_part(str(tmp_path / "twin.nc"), str(part), 3, str(tmp_path / f"{part}.csv"))
    assert sorted(shares) == sorted(usable.windows)


def test_a_body_without_corners_is_refused(twin: xr.Dataset) -> None:
    round_body = twin.drop_vars("vertices").assign(semi_axes=("axis", np.array([0.03, 0.02])))
    with pytest.raises(ContactIdError, match="no corners"):
        square_windows(round_body, OPTIONS)


def test_files_of_the_twin(twin: xr.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(identification, "_SHOWN", 2)
    data, part = tmp_path / "twin.nc", tmp_path / "part.csv"
    write_dataset(twin.assign_attrs(synthetic=1), data)
    write_part(str(data), "0", 6, str(part))
    squares, without, fits = (str(tmp_path / name) for name in ("squares.csv", "left_out.csv", "fits.nc"))
    write_squares(str(data), [str(part)], squares, without, fits)
    table, left_out = square_tables(squares, without).values()
    assert list(table.columns) == list(COLUMNS)
    assert len(table) and table["converged"].all()
    assert table["complementarity"].max() < 1e-6
    truth = 1e6 * RATIO
    told = table[table["counted"]]
    assert len(told) >= 2
    assert told["inertia_ratio_mm2"].to_numpy() == pytest.approx(truth, rel=0.03)
    assert table["residual_mm"].max() < 0.1 and not (table["windows"] == FRAMES_LOST).any()
    assert list(left_out.columns) == ["throw", "reason"] and len(left_out)
    outlines = square_throw(fits)
    assert {"outline", "measured"} <= set(outlines["kind"]) and set(outlines["source"].str[:9]) == {"synthetic"}
    assert len(square_impulses(fits))
    assert set(square_ratios(squares, fits)["kind"]) == {"throw", "median", "uniform"}


def test_named_throws_of_the_twin_are_identified(usable: SquareWindows) -> None:
    table, fits = identify_window(usable, FEW[:1], OPTIONS)
    row = table.iloc[0]
    assert row["throw"] == FEW[0] and row["plausible"] and row["counted"]
    assert row["inertia_ratio_mm2"] == pytest.approx(1e6 * RATIO, rel=0.02)
    assert row["friction_mu"] == pytest.approx(0.15, abs=0.02)
    assert [fit.label for fit in fits] == [FEW[0]]
