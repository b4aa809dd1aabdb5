"""How noise samples are cut into jobs changes no number."""

from pathlib import Path

import pandas as pd
import pytest
import yaml

from contactid.planar.identify.cells import write_cells

pytestmark = pytest.mark.slurm

ROOT = Path(__file__).parents[2]


def test_a_noise_sample_is_the_same_in_whatever_job_it_lies(tmp_path):
    planar = yaml.safe_load((ROOT / "config/default.yaml").read_text())["planar"]
    identification = {
        **planar["identification"],
        "frames_per_second": [120],
        "duration": 0.12,
        "time_step": 1.0e-4,
    }
    block = {
        "gravity": planar["gravity"],
        "bodies": planar["bodies"],
        "identification": identification,
    }
    identification["noise"] = {"one_mrad": {"position": 0.001, "orientation": 0.001}}
    tables = {}
    for seeds in ([1, 2], [2], [1]):
        write_cells(block, [0.7], seeds, str(tmp_path / "cells.csv"))
        tables[tuple(seeds)] = pd.read_csv(tmp_path / "cells.csv").drop(
            columns=["seconds", "build_seconds"]
        )
    apart = pd.concat([tables[(1,)], tables[(2,)]], ignore_index=True)
    pd.testing.assert_frame_equal(tables[(1, 2)], apart)
    assert not apart.loc[0].equals(apart.loc[1]), "the samples differ"
