"""A card tells how much there is and how noisy it is, and draws what it holds."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from author_plots import write_plots
from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.sources.card import FORMATS, headline, make_card, make_cards, white_noise
from contactid.sources.registry import READERS, Dataset
from contactid.tossing.readers.card import rotation_noise
from iam_files import FREQUENCY, N_FRAMES
from reading_for_tests import entry, read
from small_files import save
from spoil_planar_and_arm import good_impacts, good_throws
from spoil_tosses import good_archive, good_tosses

GOOD = {
    "iam": good_archive,
    "contactnets": good_tosses,
    "squares": good_throws,
    "ellipse": good_impacts,
    "arm": lambda folder: save(folder / "raw").parent,
    "author_plots": lambda folder: write_plots(folder / "raw").parent,
}


def card_of(reader: str, folder: Path) -> tuple[Dataset, str, Path, Path]:
    """What a card is made of."""
    raw, data = GOOD[reader](folder), folder / "data.nc"
    dataset = entry(reader, raw, citation="A, B: C")
    read(dataset, raw, data)
    return dataset, READERS[dataset.reader].signals, data, raw


@settings(max_examples=20, deadline=None)
@given(sigma=st.floats(1e-6, 1e-2), seed=st.integers(0, 2**31), speed=st.floats(-1.0, 1.0))
def test_white_noise_is_found_whatever_smooth_motion_it_is_on(
    sigma: float, seed: int, speed: float
) -> None:
    random = np.random.default_rng(seed)
    time = np.arange(2000)[:, None] / 360.0
    fall = speed * time - 4.9 * time**2
    assert white_noise(fall + sigma * random.normal(size=(2000, 3))) == pytest.approx(
        sigma, rel=0.1
    )
    turning = rotations.as_rotation(rotations.exp(speed * time * [[0.1, 0.2, 1.0]]))
    shaken = turning * rotations.as_rotation(rotations.exp(sigma * random.normal(size=(2000, 3))))
    assert rotation_noise(rotations.as_quaternions(shaken)) == pytest.approx(sigma, rel=0.1)


def test_too_few_frames_tell_no_noise() -> None:
    assert np.isnan(white_noise(np.zeros((5, 3))))
    assert np.isnan(rotation_noise(np.tile([1.0, 0, 0, 0], (5, 1))))


@pytest.mark.parametrize("reader", GOOD)
def test_every_reader_s_data_have_a_card_and_a_picture(tmp_path: Path, reader: str) -> None:
    dataset, signals, data, raw = card_of(reader, tmp_path)
    card = tmp_path / "cards/card.json"
    figures = [str(card.with_suffix(f".{extension}")) for extension in FORMATS]
    make_cards([asdict(dataset)], [None], [signals], [str(data)], [str(raw)], [str(card)], figures)
    content = json.loads(card.read_text())
    assert content["licence"] == "CC0-1.0"
    assert content["citation"] == "A, B: C"
    assert content["left_out"] == {}
    assert content["recordings"] >= 1 and content["gaps"] == 0 and not content["synthetic"]
    assert len(content["panels"]) == (1 if reader == "author_plots" else 3)
    assert all(panel["series"] for panel in content["panels"])
    for extension in FORMATS:
        assert card.with_suffix(f".{extension}").stat().st_size > 5000
    assert "mine: " + headline(content) in card.with_suffix(".svg").read_text().replace(
        "&#8211;", "-"
    )


def test_poses_without_time_have_no_rate() -> None:
    card = {"recordings": 1, "samples": 100, "left_out": {}}
    still = headline(card | {"duration_s": None, "sample_frequency_hz": None})
    assert still == "1 recordings, 100 samples"
    moved = headline(card | {"duration_s": 2.0, "sample_frequency_hz": 50.0})
    assert moved == "1 recordings, 100 samples, 2 s at 50 Hz"


def test_a_card_counts_what_is_there(tmp_path: Path) -> None:
    *made, raw = card_of("iam", tmp_path)
    card = make_card(*made, raw)
    assert (card["recordings"], card["samples"], card["sample_frequency_hz"]) == (
        1,
        N_FRAMES,
        FREQUENCY,
    )
    assert (
        card["duration_s"]
        == card["longest_s"]
        == pytest.approx((N_FRAMES - 1) / FREQUENCY, rel=1e-5)
    )
    assert card["sha256"] == hashlib.sha256(raw.read_bytes()).hexdigest() and card["files"] == 1
    assert headline(card) == "1 recordings, 150 samples, 0.4139 s at 360 Hz"


def test_a_folder_s_checksum_changes_with_any_file(tmp_path: Path) -> None:
    *made, raw = card_of("squares", tmp_path)
    first = make_card(*made, raw)
    (raw / "traj_1.csv").rename(raw / "traj_2.csv")
    second = make_card(*made, raw)
    assert first["sha256"] != second["sha256"] and first["bytes"] == second["bytes"]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    dataset, signals, data, raw = card_of("arm", tmp_path)
    data.write_bytes(b"")
    with pytest.raises(ContactIdError, match=r"data.nc: not a readable netCDF file"):
        make_card(dataset, signals, data, raw)
