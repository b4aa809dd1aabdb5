"""The stored noise samples behind table 1 are whole, and of the throws that the default run shows."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from contactid.core.configuration import restore_numbers
from contactid.output.stored import read_stored
from contactid.planar.identify import cells
from contactid.planar.simulate.throws import true_motion

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "workflow/resources/stored/planar_table1"
SAMPLES, MADE = read_stored([str(FOLDER / name) for name in ("table.csv", "provenance.json")])
FULL = yaml.safe_load((ROOT / "config/full.yaml").read_text())["planar"]["identification"]
PLANAR = restore_numbers(yaml.safe_load((ROOT / "config/default.yaml").read_text())["planar"])
COMPUTED = 0.6  # the largest friction


def is_part(part, whole):
    """Whether every setting of a part is in the whole, too."""
    if isinstance(part, dict):
        return all(key in whole and is_part(value, whole[key]) for key, value in part.items())
    return part == whole


def test_the_default_run_has_their_settings():
    assert is_part(MADE["settings"], PLANAR)
    assert not is_part(MADE["settings"], {**PLANAR, "gravity": 9.8})


def test_every_cell_has_all_of_its_noise_samples():
    rates = PLANAR["identification"]["frames_per_second"]
    frictions = [mu for mu in FULL["noise"]["one_mrad"]["friction_mu"] if mu <= COMPUTED]
    cells = SAMPLES[SAMPLES["mu"] <= COMPUTED].groupby(["mu", "fps"])["seed"].agg(list)
    assert list(cells.index) == list(itertools.product(frictions, rates))
    assert all(seeds == list(range(1, 21)) for seeds in cells) and set(SAMPLES["noise_model"]) == {
        "one_mrad"
    }


@pytest.mark.parametrize("friction", [0.7, 0.8, 0.9])
def test_larger_frictions_are_the_same_throws(friction):
    """So their rows say the same; at 0.5 the body slides, and the throw is another."""
    rows = {
        mu: SAMPLES.loc[SAMPLES["mu"] == mu, "error_pct"].to_numpy() for mu in (COMPUTED, friction)
    }
    assert len(rows[friction]) == 0 or np.array_equal(rows[friction], rows[COMPUTED])
    last = true_motion(PLANAR, COMPUTED).position
    np.testing.assert_array_equal(true_motion(PLANAR, friction).position, last)
    assert np.abs(true_motion(PLANAR, 0.5).position - last).max() > 0.01


def test_throws_of_one_motion_are_identified_once(tmp_path, monkeypatch):
    asked = []

    def identified(block, friction, rates, seeds):
        asked.append(friction)
        return pd.DataFrame({"mu": [friction], "error_pct": [friction]})

    monkeypatch.setattr(cells, "identify_cells", identified)
    cells.write_cells(PLANAR, [0.5, 0.6, 0.7], [1], str(tmp_path / "cells.csv"))
    table = pd.read_csv(tmp_path / "cells.csv")
    assert asked == [0.5, 0.6] and table.to_numpy().tolist() == [[0.5, 0.5], [0.6, 0.6], [0.7, 0.6]]
