"""Make examples/impact anew: two recordings of the study's simulated arm, one as a .mat file, one
as a table.

``python tests/helpers/arm_examples.py FOLDER`` writes them; a test holds the folder in the
repository against it.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np

from arm_for_tests import lwr4, twin_of
from contactid.arm.readers.impacts import Setting
from contactid.arm.readers.twins import TwinExperiment, record, simulate_experiment, write_mat

BLOCK = twin_of(before=0.2, after=0.25, seed=20261123)
TURN = np.deg2rad(30.0)  # of the second one about joint 1


def experiments() -> list[TwinExperiment]:
    """An oblique impact and a vertical one."""
    robot = lwr4()
    oblique = simulate_experiment(Setting(1, 0.2, 60.0), (0.1, -0.17), BLOCK, robot)
    return [oblique, simulate_experiment(Setting(2, 0.15, 90.0), (0.0, -0.15), BLOCK, robot)]


def make(folder: Path, simulated: list[TwinExperiment]) -> None:
    """Write the recordings: the second with the clock of a computer, in the plane that joint 1 was
    turned to.
    """
    first, second = (record(one, BLOCK) for one in simulated)
    write_mat(folder / "oblique.mat", {"t": first.time, "q": first.joint_position})
    random = np.random.default_rng(7)
    stamps = 1.6e9 + second.time + 5e-6 * random.normal(size=len(second.time))
    joints = second.joint_position + np.array([TURN, *np.zeros(6)])
    with (folder / "vertical_turned.csv").open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["t", *(f"q{k}" for k in range(1, 8))])
        rows.writerows(
            [f"{t:.6f}", *(f"{q:.6f}" for q in row)] for t, row in zip(stamps, joints, strict=True)
        )


if __name__ == "__main__":
    make(Path(sys.argv[1]), experiments())
