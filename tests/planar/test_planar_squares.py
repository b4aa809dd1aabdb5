"""Throws of a square: lost frames, tipping without impacts, and the identification of a twin whose
truth is known.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.planar.artefacts.identified_motion import square_throw
from contactid.planar.artefacts.real_bodies import square_table
from contactid.planar.readers.csv_throws import read_square_throws
from contactid.planar.readers.throws import SQUARE_SIDE, PlanarThrow, build_throws, square
from contactid.planar.simulate.geometry import Ground, Polygon, contacts
from contactid.planar.squares import identification
from contactid.planar.squares.bodies import flight_rows
from contactid.planar.squares.events import Alignment, Contact, ThrowEvents
from contactid.planar.squares.flight import FlightReport
from contactid.planar.squares.identification import largest_turns, write_squares
from contactid.planar.squares.impacts import every_impact
from contactid.planar.squares.tipping import find_pivots, ratio_of_moments, standing_couples
from contactid.planar.squares.windows import (
    IMPACT_FRAMES,
    PreparedThrows,
    SquareWindow,
    breaks,
    mend,
    prepare_throws,
)
from contactid.sources.motion import write_dataset

TWIN_FOLDER = (
    Path(__file__).parents[2] / "workflow" / "resources" / "embedded" / "planar_square_twin"
)
INTERVAL, GRAVITY, RATIO = 0.004, 9.81, SQUARE_SIDE**2 / 6.0
SQUARE = square(SQUARE_SIDE)


@pytest.fixture(scope="module")
def twin() -> xr.Dataset:
    return read_square_throws(TWIN_FOLDER, licence="CC0-1.0")


@pytest.fixture(scope="module")
def prepared(twin: xr.Dataset) -> PreparedThrows:
    return prepare_throws(twin)


@pytest.fixture(scope="module")
def windows(prepared: PreparedThrows) -> list[SquareWindow]:
    return every_impact(prepared)


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
        throws,
        square(SQUARE_SIDE),
        object_name="square",
        source="twin",
        licence="CC0-1.0",
        synthetic=True,
    )


def event_of(position: np.ndarray) -> ThrowEvents:
    return ThrowEvents("throw", position, contacts(SQUARE, Ground(), position).gap, (), (), None)


def prepared_of(*events: ThrowEvents, shape: Polygon = SQUARE) -> PreparedThrows:
    """Throws with little noise on a level ground."""
    report = FlightReport(np.array([1e-4, 1e-4, 1e-2]), GRAVITY, 0.0)
    alignment = Alignment(Ground(), 0.0, np.zeros(2))
    return PreparedThrows(shape, 0.0, INTERVAL, alignment, events, report)


def tipping_throw(ratio: float, couple: float, way: float = 1.0) -> np.ndarray:
    """Poses (n, 3) of a square that tips over a sharp corner without sliding; ``couple`` per mass
    resists, m2/s2.
    """
    radius = SQUARE_SIDE / np.sqrt(2.0)
    tilt, rate, step = 0.08, 0.6, 1e-5
    poses, count = [], round(INTERVAL / step)
    for k in range(10**5):
        if k % count == 0:
            poses.append(
                (-way * radius * np.sin(tilt), radius * np.cos(tilt), way * tilt + 0.25 * np.pi)
            )
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
    event = replace(
        event_of(np.zeros((30, 3))), contacts=(Contact(5, 7), Contact(20, 22)), jumps=(7, 12)
    )
    assert breaks(event) == [(5, 8), (11, 13), (20, 22)]


@pytest.mark.parametrize("number", [1, 2])
def test_lost_frames_are_counted_and_put_back(
    twin: xr.Dataset, prepared: PreparedThrows, windows: list[SquareWindow], number: int
) -> None:
    whole = windows[0]
    assert whole.lost == 0
    event = next(event for event in prepared.events if event.name == whole.name)
    first = event.contacts[0].before + int(np.ceil(whole.met.instant / INTERVAL))
    lost = every_impact(prepare_throws(without_frames(twin, whole.name, first, number)))[0]
    assert lost.name == whole.name and lost.lost == number
    assert lost.moment / lost.spin == pytest.approx(whole.moment / whole.spin, rel=0.02)
    assert lost.throw.position == pytest.approx(whole.throw.position, abs=5e-3)


def test_a_throw_without_a_contact_cannot_be_mended() -> None:
    assert mend(event_of(np.zeros((30, 3))), prepared_of(), IMPACT_FRAMES[0]) is None


def test_impacts_that_turn_the_body_most_tell_the_twins_truth_by_eq31(
    windows: list[SquareWindow],
) -> None:
    telling = largest_turns(windows)
    names = [window.name for window in telling]
    assert len(set(names)) == len(names) > 10
    assert abs(telling[0].spin) == max(abs(window.spin) for window in windows if not window.lost)
    found = [window.moment / window.spin for window in telling]
    assert np.median(found) == pytest.approx(RATIO, rel=0.02)
    assert np.median([window.restitution for window in telling]) == pytest.approx(0.45, abs=0.02)


def test_a_body_without_corners_is_refused(twin: xr.Dataset) -> None:
    round_body = twin.drop_vars("vertices").assign(semi_axes=("axis", np.array([0.03, 0.02])))
    with pytest.raises(ContactIdError, match="no corners"):
        prepare_throws(round_body)


def test_throws_without_an_impact_between_two_flights_are_refused(
    twin: xr.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_dataset(twin.assign_attrs(synthetic=1), tmp_path / "twin.nc")
    monkeypatch.setattr(identification, "every_impact", lambda prepared: [])
    with pytest.raises(ContactIdError, match="no impact of a single corner between two flights"):
        write_squares(
            str(tmp_path / "twin.nc"), str(tmp_path / "squares.csv"), str(tmp_path / "fits.nc")
        )
    assert [file.name for file in tmp_path.iterdir()] == ["twin.nc"]


def test_files_of_the_twin(
    twin: xr.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control for the real square: here the same steps find J/m and friction."""
    monkeypatch.setattr(identification, "FITTED", 4)
    data, squares, fits = (str(tmp_path / name) for name in ("twin.nc", "squares.csv", "fits.nc"))
    write_dataset(twin.assign_attrs(synthetic=1), data)
    write_squares(data, squares, fits)
    table = square_table(squares)
    assert len(table) == 4 and table["converged"].all() and table["plausible"].all()
    assert table["complementarity"].max() < 1e-6
    for column in ("inertia_ratio_mm2", "eq31_mm2"):
        assert table[column].to_numpy() == pytest.approx(1e6 * RATIO, rel=0.03)
    assert table["friction_mu"].median() == pytest.approx(0.15, abs=0.02)
    outlines = square_throw(fits)
    assert {"outline", "measured"} <= set(outlines["kind"]) and set(outlines["source"].str[:9]) == {
        "synthetic"
    }
