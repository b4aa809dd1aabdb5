"""The synthetic twin of the square throws: what the code makes, what it states, and what
preprocessing finds in it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

import contactid
from contactid.core.errors import ContactIdError
from contactid.planar.identify.fit import fit_trajectory
from contactid.planar.readers.csv_throws import columns_of, read_square_throws
from contactid.planar.readers.throws import SQUARE_FREQUENCY, iterate_throws
from contactid.planar.simulate.geometry import contacts
from contactid.sources.registry import load_registry
from planar_measured import flight_detail, throw_windows
from square_twin import (
    EMBEDDED_FOLDER,
    SquareTruth,
    make_throw,
    make_throws,
    square_table,
    tracked,
    write_embedded_square_twin,
    write_square_twin,
)

ROOT = Path(contactid.__path__[0]).parents[1]
EMBEDDED = ROOT / "workflow" / "resources" / "embedded"
COLUMNS = ("x", "z", "th", "vx", "vz", "vth")
TRUTH = SquareTruth()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("twin")
    write_embedded_square_twin(folder)
    return folder / EMBEDDED_FOLDER


@pytest.fixture(scope="module")
def prepared():
    data = read_square_throws(EMBEDDED / EMBEDDED_FOLDER, licence="CC0-1.0")
    return throw_windows(data)


def test_the_embedded_files_are_what_the_code_makes(made):
    """To the last digit or two: motions with several impacts carry rounding differences between
    processors.
    """
    embedded = sorted(file.name for file in (EMBEDDED / EMBEDDED_FOLDER).glob("*.csv"))
    assert embedded == sorted(file.name for file in made.glob("*.csv")) and len(embedded) == 24
    for name in embedded:
        here, there = (
            columns_of(folder / name, COLUMNS) for folder in (EMBEDDED / EMBEDDED_FOLDER, made)
        )
        assert here.shape == (200, 6)
        assert np.abs(here - there)[:, :3].max() < 3e-6, name


def test_the_embedded_files_are_small_and_have_their_checksums():
    folder = EMBEDDED / EMBEDDED_FOLDER
    sums = dict(reversed(line.split()) for line in (folder / "SHA256SUMS").read_text().splitlines())
    files = {file.name: file.read_bytes() for file in folder.glob("*.csv")}
    assert {name: hashlib.sha256(content).hexdigest() for name, content in files.items()} == sums
    assert sum(map(len, files.values())) < 300_000


def test_the_registry_names_the_twin_as_synthetic():
    entry = load_registry(ROOT / "config" / "datasets.tsv", {})["planar_square_twin"]
    assert entry.synthetic and entry.reader == "planar_throws" and entry.object == "Square60"
    assert (ROOT / entry.source).is_dir()


def test_velocities_are_backward_differences_to_the_last_digit():
    table = columns_of(EMBEDDED / EMBEDDED_FOLDER / "traj_7.csv", COLUMNS)
    differences = np.diff(table[:, :3], axis=0) * SQUARE_FREQUENCY
    assert np.abs(differences - table[1:, 3:]).max() < 1e-9
    # the first one too, from a frame that is not in the file
    assert np.abs(table[0, 3:] - differences[0]).max() < 1.0


def test_poses_are_the_tracked_ones_with_the_stated_noise():
    random = np.random.default_rng(5)
    position = make_throw(TRUTH, random)
    left = [
        square_table(position, TRUTH, random)[:, :3] - tracked(position, TRUTH)[1:]
        for _ in range(20)
    ]
    assert np.allclose(np.std(left, axis=(0, 1)), TRUTH.sigma, rtol=0.05)
    assert np.abs(np.mean(left, axis=(0, 1))).max() < 5e-5
    # undone by hand: turned back, and moved by the point in the body's axes
    seen, theta = tracked(position, TRUTH), position[:, 2]
    assert np.allclose(seen[:, 2] - theta, TRUTH.turn, rtol=0, atol=1e-12)
    away = (seen[:, 0] - position[:, 0]) + 1j * (seen[:, 1] - position[:, 1])
    assert np.allclose(
        away * np.exp(-1j * theta), TRUTH.point[0] + 1j * TRUTH.point[1], rtol=0, atol=1e-12
    )


def test_throws_obey_the_contact_law_and_rest_equally_often_on_each_side(prepared):
    throws = make_throws(TRUTH, 8, seed=3)
    for position in throws:
        gap = contacts(prepared.prepared.shape, TRUTH.ground, position).gap.min(axis=1)
        assert gap.min() > -5e-5 and abs(gap[-1]) < 5e-5
    sides = [
        round((position[-1, 2] - TRUTH.ground.slope) / (0.5 * np.pi)) % 4 for position in throws
    ]
    assert sorted(sides) == [0, 0, 1, 1, 2, 2, 3, 3]


def test_the_same_seed_makes_the_same_throws_and_another_seed_others(tmp_path):
    texts = []
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        (path, *_) = write_square_twin(tmp_path / folder, 4, seed)
        texts.append(path.read_text())
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("n_throws", [0, 3, 10, -4])
def test_numbers_of_throws_that_sides_cannot_share_are_refused(tmp_path, n_throws):
    with pytest.raises(ContactIdError, match="multiple of 4"):
        write_square_twin(tmp_path, n_throws)
    assert not list(tmp_path.iterdir())


def test_preprocessing_finds_what_was_put_in(prepared):
    alignment = prepared.prepared.alignment
    assert alignment.turn == pytest.approx(TRUTH.turn, abs=5e-4)
    assert np.allclose(alignment.point, TRUTH.point, atol=3e-5)
    assert alignment.ground.slope == pytest.approx(TRUTH.ground.slope, abs=2e-4)
    height = TRUTH.ground.y0 + (alignment.ground.x0 - TRUTH.ground.x0) * np.tan(TRUTH.ground.slope)
    assert alignment.ground.y0 == pytest.approx(height, abs=3e-5)
    assert np.allclose(prepared.prepared.flight.sigma, TRUTH.sigma, rtol=0.1)
    detail = flight_detail(prepared.prepared.events, 1.0 / SQUARE_FREQUENCY)
    assert prepared.prepared.flight.gravity == pytest.approx(9.81, abs=4.0 * detail.gravity_error)
    assert len(prepared.windows) >= 10 and not any(
        event.jumps for event in prepared.prepared.events
    )
    assert max(abs(window.lowered) for window in prepared.windows) < 1e-4


def test_windows_of_the_twin_give_its_inertia_and_friction_back(prepared):
    """The control for the real throws: here the same steps find the truth."""
    shape = prepared.prepared.shape
    found = [fit_trajectory(shape, window.throw) for window in prepared.windows[:4]]
    assert all(fit.converged and fit.plausible for fit in found)
    ratios, frictions = np.array([(fit.inertia_ratio, fit.friction_mu) for fit in found]).T
    assert np.median(ratios) == pytest.approx(TRUTH.inertia_ratio, rel=0.015)
    assert np.median(frictions) == pytest.approx(TRUTH.friction_mu, abs=2e-3)


def test_the_reader_gives_the_tracked_poses():
    data = read_square_throws(EMBEDDED / EMBEDDED_FOLDER, licence="CC0-1.0")
    throws = list(iterate_throws(data))
    assert [throw.name for throw in throws] == [f"traj_{n}" for n in range(1, 25)]
    truth = make_throws(TRUTH, 24, 20230206)
    for throw, position in zip(throws, truth, strict=True):
        apart = throw.position - tracked(position, TRUTH)[1:]
        turns = np.round(apart[:, 2] / (2.0 * np.pi)) * 2.0 * np.pi
        assert (
            np.abs((apart - np.column_stack([0 * turns, 0 * turns, turns])) / TRUTH.sigma).max()
            < 6.0
        )
